"""The totals: how many claims that the audited text makes have which verdict.

README's table, the report's first page, the picture of the verdicts and `fairbandits claims` have
no other. A finding is counted once, and what the audited text does not say is not counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairbandits.audit import finding
from fairbandits.audit.ledger import Claim

INCONSISTENCY, ALIAS, JUDGED_BY_OTHERS = "inconsistency", "alias", "judged by other claims"
REPORTED, EXTENSION = "merely reported", "not in the audited text"
#: Why a claim is in no total, in the order in which these are said, and how several are called.
LEFT_OUT = {
    INCONSISTENCY: "inconsistencies",
    ALIAS: "aliases",
    JUDGED_BY_OTHERS: JUDGED_BY_OTHERS,
    REPORTED: REPORTED,
    EXTENSION: EXTENSION,
}
#: A claim whose words stand in the audited text; others are recalled, or lost from it.
PRINTED = "printed"


@dataclass(frozen=True)
class Totals:
    """Totals of some claims.

    Attributes
    ----------
    counted : dict of str to int
        Outcome -> how many claims that the audited text makes have it.
    printed : int or None
        How many of these rest on printed words; None of claims that are of no text.
    others : dict of str to int
        Why claims are left out -> how many.
    """

    counted: dict[str, int]
    printed: int | None
    others: dict[str, int]

    @property
    def claims(self) -> int:
        """How many claims are counted."""
        return sum(self.counted.values())

    def __str__(self) -> str:
        """Return all of it in words."""
        words = f"{self.claims} claim{'s' * (self.claims != 1)}"
        if self.printed is not None:
            rest = f"{self.printed} rest{'s' * (self.printed == 1)} on printed words"
            words += f" that the audited text makes, of which {rest}"
        if self.counted:
            words += ": " + ", ".join(f"{count} {one}" for one, count in self.counted.items())
        return "; ".join(filter(None, [words, self.left_out]))

    @property
    def left_out(self) -> str:
        """What is left out in words; empty if that is nothing."""
        words = ", ".join(
            f"{count} {reason if count == 1 else LEFT_OUT[reason]}"
            for reason, count in self.others.items()
        )
        return f"left out: {words}" if words else ""


def left_out(claim: Claim) -> str:
    """Return why a claim is in no total (one of `LEFT_OUT`); empty for one that counts.

    The verdict on an inconsistency is on no claim of the paper; an alias and a claim that others
    judge have no finding of their own; of what is exploratory the paper claims nothing firm, and
    what differs between machines is of one machine; an extension is of another version of the
    paper, or a question of the audit's own.
    """
    if claim.kind == "inconsistency":
        return INCONSISTENCY
    if claim.alias_of:
        return ALIAS
    if claim.judged_by:
        return JUDGED_BY_OTHERS
    if claim.exploratory or claim.varies:
        return REPORTED
    return EXTENSION if claim.extension else ""


def standing(claim: Claim) -> dict[str, str]:
    """Return what a row of a verdict says of its claim for the totals."""
    return {"left_out": left_out(claim), "basis": claim.basis}


def totals(headlines: Iterable[Mapping[str, Any]]) -> Totals:
    """Return the totals of some claims.

    Parameters
    ----------
    headlines : iterable of mapping
        Of each claim its `standing`, and ``verdict``; without ``basis`` for one that is of no text.

    Examples
    --------
    >>> one = {"left_out": "", "basis": "printed", "verdict": "reproduced"}
    >>> print(totals([one, one | {"basis": "lost"}, one | {"left_out": "alias"}]))
    2 claims that the audited text makes, of which 1 rests on printed words: 2 reproduced; left \
out: 1 alias
    """
    rows = list(headlines)
    counting = [row for row in rows if not row["left_out"]]
    reasons = Counter(row["left_out"] for row in rows)
    bases = [row["basis"] for row in counting if "basis" in row]
    return Totals(
        finding.tally(row["verdict"] for row in counting),
        bases.count(PRINTED) if bases else None,
        {reason: reasons[reason] for reason in LEFT_OUT if reasons[reason]},
    )

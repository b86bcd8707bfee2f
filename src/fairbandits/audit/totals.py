"""Totals: the number of claims with each verdict, among those that the audited text makes.

README's table, the report's first page, the picture of the verdicts and `fairbandits claims` all
use them. A finding is counted once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairbandits.audit import finding
from fairbandits.audit.ledger import Claim

INCONSISTENCY, ALIAS, JUDGED_BY_OTHERS = "inconsistency", "alias", "judged by other claims"
REPORTED, EXTENSION = "merely reported", "not in the audited text"
#: Reasons why claims are in no total, in the order of the text, with their plurals.
LEFT_OUT = {
    INCONSISTENCY: "inconsistencies",
    ALIAS: "aliases",
    JUDGED_BY_OTHERS: JUDGED_BY_OTHERS,
    REPORTED: REPORTED,
    EXTENSION: EXTENSION,
}
#: Basis of a claim whose words stand in the audited text; others are recalled, or lost from it.
PRINTED = "printed"


@dataclass(frozen=True)
class Totals:
    """Totals of some claims.

    `counted` has the number of the audited text's claims by outcome, `printed` how many of these
    rest on printed words (None for claims of no text), `others` the number left out by reason.
    """

    counted: dict[str, int]
    printed: int | None
    others: dict[str, int]

    @property
    def claims(self) -> int:
        """Number of claims counted."""
        return sum(self.counted.values())

    def __str__(self) -> str:
        """Return the totals in words."""
        words = f"{self.claims} claim{'s' * (self.claims != 1)}"
        if self.printed is not None:
            rest = f"{self.printed} rest{'s' * (self.printed == 1)} on printed words"
            words += f" that the audited text makes, of which {rest}"
        if self.counted:
            words += ": " + ", ".join(f"{count} {one}" for one, count in self.counted.items())
        return "; ".join(filter(None, [words, self.left_out]))

    @property
    def left_out(self) -> str:
        """Number of claims left out, by reason, in words; empty if none is."""
        words = ", ".join(
            f"{count} {reason if count == 1 else LEFT_OUT[reason]}"
            for reason, count in self.others.items()
        )
        return f"left out: {words}" if words else ""


def left_out(claim: Claim) -> str:
    """Return why a claim is in no total (one of `LEFT_OUT`); empty for a claim that counts.

    An inconsistency is no claim of the paper; an alias and a claim that others judge have no
    finding of their own; an exploratory statement is no firm claim; a verdict that differs between
    machines holds for one machine; an extension is of another version of the paper, or a question
    of the audit's own.
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
    """Return the columns of a verdict row that totals need."""
    return {"left_out": left_out(claim), "basis": claim.basis}


def totals(headlines: Iterable[Mapping[str, Any]]) -> Totals:
    """Return the totals of claims from their headlines, each with `standing` and ``verdict``.

    Claims of no text, as a user's own, have no ``basis``.

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

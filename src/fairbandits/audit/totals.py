"""Which claims the totals count: each finding once, and what a paper says of its own."""

from collections import Counter
from collections.abc import Iterable

from fairbandits.audit import finding
from fairbandits.audit.ledger import Claim

INCONSISTENCY, ALIAS, JUDGED_BY_OTHERS = "inconsistency", "alias", "judged by other claims"
REPORTED = "merely reported"
#: Why a claim is in no total, in the order in which these are said, and how several are called.
LEFT_OUT = {
    INCONSISTENCY: "inconsistencies",
    ALIAS: "aliases",
    JUDGED_BY_OTHERS: JUDGED_BY_OTHERS,
    REPORTED: REPORTED,
}


def left_out(claim: Claim) -> str:
    """Return why a claim is in no total (one of `LEFT_OUT`); empty for one that counts.

    The verdict on an inconsistency is on no claim of the paper; an alias and a claim that others
    judge have no finding of their own; of what is exploratory the paper claims nothing firm.
    """
    if claim.kind == "inconsistency":
        return INCONSISTENCY
    if claim.alias_of:
        return ALIAS
    if claim.judged_by:
        return JUDGED_BY_OTHERS
    return REPORTED if claim.exploratory else ""


def totals(verdicts: Iterable[tuple[str, str]]) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many claims that count have which verdict, and how many others there are.

    Parameters
    ----------
    verdicts : iterable of (str, str)
        Of each claim why it is left out (`left_out`), and its headline.

    Returns
    -------
    counted, others : dict of str to int
        Outcome -> claims that have it; reason -> claims that are left out for it.
    """
    pairs = list(verdicts)
    reasons = Counter(reason for reason, _ in pairs if reason)
    others = {reason: reasons[reason] for reason in LEFT_OUT if reasons[reason]}
    return finding.tally(outcome for reason, outcome in pairs if not reason), others


def in_words(counted: dict[str, int], others: dict[str, int]) -> str:
    """Return totals in words.

    Examples
    --------
    >>> in_words({"reproduced": 3, "inconclusive": 1}, {"alias": 2})
    '4 claims: 3 reproduced, 1 inconclusive; left out: 2 aliases'
    """
    there = sum(counted.values())
    words = f"{there} claim" + "s" * (there != 1)
    if counted:
        words += ": " + ", ".join(f"{count} {outcome}" for outcome, count in counted.items())
    return "; ".join(filter(None, [words, left_out_in_words(others)]))


def left_out_in_words(others: dict[str, int]) -> str:
    """Return what totals leave out in words; empty if that is nothing."""
    words = ", ".join(
        f"{count} {reason if count == 1 else LEFT_OUT[reason]}" for reason, count in others.items()
    )
    return f"left out: {words}" if words else ""

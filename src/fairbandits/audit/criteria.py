"""Rates of success by several criteria side by side, so that no single rule makes the rate.

A criterion is met by a claim that it applies to when all deciding cases meet it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from fairbandits.audit.finding import REPRODUCED
from fairbandits.audit.ledger import Claim, Test
from fairbandits.audit.records import Row

#: Kinds of tests: of a comparison a positive statistic is the claimed direction.
COMPARING, PUBLISHED, EQUIVALENT, OTHER = "comparison", "published", "equivalent", ""


class Rate(NamedTuple):
    """A criterion, the number of claims that it applies to, and of those that meet it."""

    criterion: str
    claims: int
    met: int


def _reproduced(finding: Row) -> bool:
    return finding["verdict"] == REPRODUCED


def _same_direction(finding: Row) -> bool:
    return finding["statistic"] is not None and finding["statistic"] > (finding["reference"] or 0)


def _kind(test: Test) -> str:
    if test.procedure == "curve" or "printed" in test.inputs:
        return PUBLISHED
    if test.procedure != "mean":
        return OTHER
    if test.settings["claim"] == "equal":
        return EQUIVALENT
    compares = test.settings["claim"] == "at least" and not test.plan.is_bound
    return COMPARING if compares else OTHER


#: Criterion -> the kind of tests that it applies to, and when one case meets it.
CRITERIA: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "a comparison has the claimed direction": (COMPARING, _same_direction),
    "it has, and significantly": (COMPARING, _reproduced),
    "the published number is inside what one more run gives": (PUBLISHED, _reproduced),
    "what is called comparable is equivalent": (EQUIVALENT, _reproduced),
}


def met(
    claims: Mapping[str, Claim], heads: Iterable[Row], findings: Iterable[Row] | None
) -> list[Rate]:
    """Return the rates of the claims whose headlines are given, the ledger's own rule first."""
    counted = {row["claim"]: row for row in heads if row["headline"] and not row["left_out"]}
    own = sum(map(_reproduced, counted.values()))
    rates = [Rate("the ledger's rule", len(counted), own)]
    cases: dict[tuple[str, str], list[Row]] = {}
    for one in findings or ():
        if one["decides"] and one["claim"] in counted:
            kinds = {test.name: _kind(test) for test in claims[one["claim"]].tests}
            cases.setdefault((one["claim"], kinds.get(one["test"], OTHER)), []).append(one)
    for name, (wanted, meets) in CRITERIA.items():
        found: dict[str, list[Row]] = {}
        for (claim, kind), some in cases.items():
            if kind == wanted:
                found.setdefault(claim, []).extend(some)
        rates.append(Rate(name, len(found), sum(all(map(meets, one)) for one in found.values())))
    return rates


def in_words(rates: Iterable[Rate]) -> list[list[str]]:
    """Return a table of rates, its head first; a criterion without claims is left out."""
    head = ["criterion", "claims it applies to", "claims that meet it", "share"]
    rows = [
        [one.criterion, str(one.claims), str(one.met), f"{100 * one.met / one.claims:.0f} %"]
        for one in rates
        if one.claims
    ]
    return [head, *rows]

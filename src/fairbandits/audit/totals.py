"""Totals of the claims that the audited text makes, by verdict and by criteria of success."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairbandits.audit import finding
from fairbandits.audit.claims import Claim, Test

#: A finding or a verdict by its columns.
Row = Mapping[str, Any]
INCONSISTENCY, ALIAS, JUDGED_BY_OTHERS = "inconsistency", "alias", "judged by other claims"
REPORTED, DEFINITION = "merely reported", "definition"
#: Reasons why claims are in no total, in the order of the text, with their plurals.
LEFT_OUT = {
    INCONSISTENCY: "inconsistencies",
    ALIAS: "aliases",
    JUDGED_BY_OTHERS: JUDGED_BY_OTHERS,
    REPORTED: REPORTED,
    DEFINITION: "definitions",
    "later version": "of a later version",
    "project": "of the project's own",
    "assumption": "assumptions",
}


@dataclass(frozen=True)
class Totals:
    """Totals of some claims; each counts once."""

    counted: dict[str, int]  # the audited text's claims by outcome
    printed: int | None  # how many of these rest on printed words; None for claims of no text
    others: dict[str, int]  # those left out, by reason
    grades: dict[str, dict[str, int]]  # `counted` by grade too
    in_part: dict[str, int]  # those of `counted` of which less is tested than the sentence says
    older: int = 0  # how many were judged on data older than their rule

    def __str__(self) -> str:
        words = f"{self.claims} claim{'s' * (self.claims != 1)}"
        if self.printed is not None:
            rest = f"{self.printed} rest{'s' * (self.printed == 1)} on printed words"
            rest += f" and {self.older} were judged on data older than their rule" * bool(
                self.older
            )
            words += f" that the audited text makes, of which {rest}"
        words += f": {', '.join(self.outcomes)}" if self.counted else ""
        return f"{words}; {self.left_out}" if self.others else words

    @property
    def left_out(self) -> str:
        """Number of claims left out, by reason, in words; empty if none is."""
        others = (f"{n} {name if n == 1 else LEFT_OUT[name]}" for name, n in self.others.items())
        return f"left out: {', '.join(others)}" if self.others else ""

    @property
    def outcomes(self) -> list[str]:
        """Number of claims with each outcome, in part, and of each grade, in words."""
        found = []
        for outcome, count in self.counted.items():
            grades = ", ".join(f"{n} {grade}" for grade, n in self.grades[outcome].items())
            part = f", {self.in_part[outcome]} of them in part" if outcome in self.in_part else ""
            found.append(f"{count} {outcome}{part}" + (f" ({grades})" if grades else ""))
        return found

    @property
    def claims(self) -> int:
        return sum(self.counted.values())


def left_out(claim: Claim) -> str:
    """Return why a claim is in no total (one of `LEFT_OUT`); empty for a claim that counts."""
    reasons = {
        INCONSISTENCY: claim.kind == "inconsistency",  # no claim of the paper
        ALIAS: claim.alias_of,  # without a finding of its own, as the next
        JUDGED_BY_OTHERS: claim.judged_by,
        # no firm claim, or a verdict that holds for one machine
        REPORTED: claim.exploratory or claim.varies,
        DEFINITION: claim.kind == "definition",
        claim.about: claim.about != "text",
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def standing(claim: Claim) -> dict[str, str]:
    """Return the columns of a verdict row that totals need."""
    return {"left_out": left_out(claim), "basis": claim.basis}


def totals(headlines: Iterable[Row]) -> Totals:
    """Return the totals of claims from headlines; claims of no text have no ``basis``."""
    rows = list(headlines)
    counting = [row for row in rows if not row["left_out"]]
    reasons = Counter(row["left_out"] for row in rows)
    bases = [row["basis"] for row in counting if "basis" in row]
    graded = Counter((row["verdict"], row.get("grade")) for row in counting)
    counted = finding.tally(row["verdict"] for row in counting)
    grades = {
        outcome: {grade: n for grade in finding.GRADES if (n := graded[outcome, grade])}
        for outcome in counted
    }
    others = {reason: reasons[reason] for reason in LEFT_OUT if reasons[reason]}
    in_part = finding.tally(row["verdict"] for row in counting if "IN-PART" in row.get("tags", ()))
    older = sum(row.get("older", False) for row in counting)
    printed = bases.count("printed") if bases else None
    return Totals(counted, printed, others, grades, in_part, older)


def _kind(test: Test) -> str:
    """Return the kind of tests that criteria tell apart; empty for others."""
    claimed = test.settings.get("claim")
    if test.procedure == "curve" or "printed" in test.inputs:
        return "published"
    if test.procedure != "mean" or (claimed != "equal" and test.is_bound):
        return ""
    # a positive statistic is the claimed direction of a comparison
    return {"equal": "equivalent", "at least": "comparison"}.get(claimed, "")


def _reproduced(row: Row) -> bool:
    return row["verdict"] == finding.REPRODUCED


#: Criterion -> the kind of tests that it applies to, and when one case meets it.
CRITERIA: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "a difference has the claimed sign": (
        "comparison",
        lambda row: row["statistic"] is not None and row["statistic"] > (row["reference"] or 0),
    ),
    "it has the claimed sign and is significant": ("comparison", _reproduced),
    "one more run of ours could give the published number": ("published", _reproduced),
    "policies called comparable are equivalent": ("equivalent", _reproduced),
}


def criteria(
    claims: Mapping[str, Claim], heads: Iterable[Row], findings: Iterable[Row] | None
) -> list[list[str]]:
    """Return rates of success by several criteria; a claim needs all its deciding cases."""
    counted = {row["claim"]: row for row in heads if row["headline"] and not row["left_out"]}
    kinds = {(key, test.name): _kind(test) for key in counted for test in claims[key].tests}
    cases: dict[tuple[str, str], list[Row]] = {}
    for row in findings or ():
        if row["decides"] and row["claim"] in counted:
            kind = kinds.get((row["claim"], row["test"]), "")
            cases.setdefault((row["claim"], kind), []).append(row)
    met = {"reproduced by the rule of its record": list(map(_reproduced, counted.values()))}
    for name, (wanted, meets) in CRITERIA.items():
        met[name] = [all(map(meets, own)) for (_, kind), own in cases.items() if kind == wanted]
    table = [["criterion", "claims it applies to", "claims that meet it", "share"]]
    for name, own in met.items():
        if own:
            share = f"{100 * sum(own) / len(own):.0f}\u00a0%"
            table.append([name, str(len(own)), str(sum(own)), share])
    return table

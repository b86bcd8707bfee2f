"""Totals of the claims that the audited text makes, by verdict."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairbandits.audit import finding
from fairbandits.audit.claims import Claim

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


def grouped(items: Iterable[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    """Return items in groups by their key, in the order in which the keys come first."""
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True)
class Totals:
    """Totals of some claims; each counts once."""

    counted: dict[str, int]  # the audited text's claims by outcome
    printed: int | None  # how many of these rest on printed words; None for claims of no text
    others: dict[str, int]  # those left out, by reason
    grades: dict[str, dict[str, int]]  # `counted` by grade too
    in_part: dict[str, int]  # those of `counted` of which less is tested than the sentence says
    confirmatory: int = 0  # how many of these verdicts came out of the release's run

    def __str__(self) -> str:
        text = f"{self.claims} claim{'s' * (self.claims != 1)}"
        if self.printed is not None:
            rest = f"{self.printed} rest{'s' * (self.printed == 1)} on printed words"
            rest += f" and {self.confirmatory} have a confirmatory verdict"
            text += f" that the audited text makes, of which {rest}"
        text += f": {', '.join(self.outcomes)}" if self.counted else ""
        return f"{text}; {self.left_out}" if self.others else text

    @property
    def left_out(self) -> str:
        """Number of claims left out, by reason, in words; empty if none is."""
        others = (f"{n} {name if n == 1 else LEFT_OUT[name]}" for name, n in self.others.items())
        return f"left out: {', '.join(others)}" if self.others else ""

    @property
    def outcomes(self) -> list[str]:
        """Number of claims with each outcome, in part, and of each grade, in words."""
        parts = []
        for outcome, count in self.counted.items():
            grades = ", ".join(f"{n} {grade}" for grade, n in self.grades[outcome].items())
            part = f", {self.in_part[outcome]} of them in part" if outcome in self.in_part else ""
            parts.append(f"{count} {outcome}{part}" + (f" ({grades})" if grades else ""))
        return parts

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
        REPORTED: claim.reported or claim.varies,
        DEFINITION: claim.kind == "definition",
        claim.about: claim.about != "text",
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def tally(rows: Iterable[Row]) -> Totals:
    """Return the totals of rows of verdicts, each claim by its headline.

    Claims of no text have no ``basis``.
    """
    heads = [row for row in rows if row["headline"]]
    counting = [row for row in heads if not row["left_out"]]
    reasons = Counter(row["left_out"] for row in heads)
    bases = [row["basis"] for row in counting if "basis" in row]
    graded = Counter((row["verdict"], row.get("grade")) for row in counting)
    counted = finding.tally(row["verdict"] for row in counting)
    grades = {
        outcome: {grade: n for grade in finding.GRADES if (n := graded[outcome, grade])}
        for outcome in counted
    }
    others = {reason: reasons[reason] for reason in LEFT_OUT if reasons[reason]}
    in_part = finding.tally(row["verdict"] for row in counting if "IN-PART" in row.get("tags", ()))
    confirmatory = sum(row.get("status") == finding.CONFIRMATORY for row in counting)
    printed = bases.count("printed") if bases else None
    return Totals(counted, printed, others, grades, in_part, confirmatory)

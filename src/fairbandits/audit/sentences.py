"""What terminal and pages say of verdicts and findings: phrases, limits, bounds, what decides."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path

from fairbandits.audit.claims import LEVEL, Claim
from fairbandits.audit.finding import (
    DEPENDS,
    EMPTY,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OUTCOMES,
    REPRODUCED,
    empty_by,
    tally,
)
from fairbandits.audit.grades import NEEDED
from fairbandits.audit.multiplicity import holm_count
from fairbandits.audit.procedures import range_of
from fairbandits.audit.totals import Row, grouped
from fairbandits.data.texts import csv_rows
from fairbandits.numerals import measured, significant
from fairbandits.settings.schemas import ROOT
from fairbandits.settings.seeds import latest

#: Basis of a claim that is not printed -> words.
BASES = {
    "lost": "the text lost the statement",
    "recalled": "the statement is recalled from elsewhere",
}
#: Tag -> why a case is undecided, whatever its bounds.
UNDECIDED = {
    "TRIVIAL": "the control does not fail",
    "VACUOUS": "it could not have failed",
    "CONSTANT": "all replicates are equal",
    "RARE": "too few replicates carry it",
    "IMMATERIAL": "the difference is smaller than what matters",
    "TIE": "it is equal in most replicates",
    "PRE-ASYMPTOTIC": "the claim is about T → ∞, and these horizons are finite",
}
#: Verdicts under other seeds, and what is said of a claim that derivations and enumeration decide.
AGREEMENT = ROOT / "audit" / "agreement.csv"
NOTHING_DRAWN = "What decides it is the same under other seeds: no run of ours is read."
#: Why a case without data has no answer.
UNMET = "no run, arm or round meets the condition of the claim"
BOTH = {"at most": "at least", "at least": "at most"}
SIDES = {"at most": ("upper", "high"), "at least": ("lower", "low")}


# ------------------------------------------------------------------------------ of one number


def number(row: Row) -> str:
    """Return a row's number: of an enumeration how many values are broken; empty without one."""
    if row["statistic"] is None or math.isnan(row["statistic"]):
        return ""
    if is_count(row):
        return f"{significant(row['also']['broken'])} of {significant(row['n'])}"
    return measured(row["statistic"])


def is_count(row: Row) -> bool:
    """Whether a row's number is best told by how many of its values are broken."""
    return bool(row.get("given")) and "broken" in (row.get("also") or {}) and row["n"] > 1


def quantity(row: Row) -> str:
    """Return what a row's number is, with its unit."""
    unit = row["unit"]
    is_said = not unit or re.search(rf"\b{re.escape(unit)}\b", row["phrase"])
    return row["phrase"] if is_said else f"{row['phrase']}, in {unit}"


def limits(row: Row, between: str = " to ") -> str:
    """Return the bounds of a row's number; empty where there are none, or they are the number."""
    low, high = row["low"], row["high"]
    if low is None or high is None or math.isnan(low) or math.isnan(high) or low == high:
        return ""
    if math.isinf(low):
        return "no bounds" if math.isinf(high) else f"up to {measured(high)}, no lower bound"
    if math.isinf(high):
        return f"from {measured(low)}, no upper bound"
    return f"{measured(low)}{between}{measured(high)}"


def claimed(row: Row) -> tuple[float, float]:
    """Return the range of a row's number in which the claim holds."""
    return range_of(row["procedure"], row["settings"], row["against"])


def limit(row: Row) -> str:
    """Return the limit as the claim sets it, "at least 0"; empty without one."""
    if not row["against"] or row["reference"] is None:
        return ""
    if "printed" in row["against"]:
        return f"the printed {chosen(row['against']['printed'])}"
    low, high = claimed(row)
    if low == -math.inf:
        return f"at most {chosen(high)}"
    return (
        f"at least {chosen(low)}" if high == math.inf else f"from {chosen(low)} to {chosen(high)}"
    )


def common_limit(cases: Sequence[Row]) -> str:
    """Return the limit that all cases have; empty if they differ."""
    first, *others = dict.fromkeys(map(limit, cases)) or [""]
    return "" if others else first


def chosen(value: float) -> str:
    """Return a number that was chosen, without zeros at its end."""
    return significant(value, trimmed=True)


def unmet(row: Row) -> str:
    """Return why a row has no data; empty if it has some, or needs none."""
    return UNMET if row["verdict"] == INCONCLUSIVE and row["n"] == 0 else ""


def undecided(row: Row) -> str:
    """Return why a case is inconclusive, if not for its bounds."""
    if row["verdict"] != INCONCLUSIVE:
        return ""
    if "CONSTANT" in row["tags"] and row["n"]:
        return f"{measured(row['statistic'])} in all {row['n']} runs"
    if {"RARE", "TIE"} <= set(row["tags"]):
        return "equal in nearly all runs"
    return unmet(row) or next((why for tag, why in UNDECIDED.items() if tag in row["tags"]), "")


def sample(row: Row) -> str:
    """Return how many replicates or values a number is of."""
    what = "value" if row["procedure"] == "exact" else "replicate"
    return f"{significant(row['n'])} {what}{'s' * (row['n'] != 1)}"


def p_value(value: float | None) -> str:
    """Return a p-value as it is read everywhere, without ``p``; empty if there is none.

    >>> p_value(2.2e-308), p_value(0.01234), p_value(None)
    ('< 0.0001', '= 0.012', '')
    """
    if value is None:
        return ""
    return "< 0.0001" if value < 1e-4 else f"= {value:.2g}"


def replicates_that_decide(row: Row) -> str:
    """Return how many replicates would decide an inconclusive case; empty if unknown."""
    also = row.get("also") or {}
    if row["verdict"] != INCONCLUSIVE or NEEDED not in also:
        return ""
    count = also[NEEDED]
    if count is None or not math.isfinite(count):  # files hold no infinite numbers
        return "no number of replicates would decide it, if the estimate is the true value"
    more = f"{significant(float(f'{count:.2g}'))} replicates"
    return f"about {more} would decide it, if the estimate is the true value"


def bounded(row: Row) -> str:
    """Return a row's number with its name and bounds; empty without one."""
    value, between = number(row), limits(row)
    return value and f"{quantity(row)}: {value}{between and f' ({between})'}"


def evidence(row: Row) -> str:
    """Return a finding's number with its name, bounds and n in words, or why there is none."""
    if row["verdict"] == FAILED:
        return row["message"] or "it failed"
    if why := unmet(row):
        return why
    if not (said := bounded(row)):
        return f"{row['phrase']}: none, since it is not positive at enough horizons"
    return said if is_count(row) or row["n"] == 1 else f"{said}, n = {sample(row)}"


def what_decides(row: Row) -> str:
    """Return what the verdict on a case hangs on, and by how much: it could have been otherwise."""
    if row["statistic"] is None or not row["procedure"] or unmet(row):
        return ""
    value, ends = measured(row["statistic"]), limit(row)
    if row["procedure"] == "exact":
        if "printed" in row["against"]:
            return f"reproduced if it is {ends}, to its digits; it is {value}"
        count = f"none of the {significant(row['n'])} values" if row["n"] > 1 else "the value"
        above = "is not" * (row["n"] == 1) or "is"
        largest = "the largest" if row["n"] > 1 else "it"
        return f"reproduced if {count} {above} above {ends.split()[-1]}; {largest} is {value}"
    if row["procedure"] == "curve":
        return f"reproduced if the largest deviation is {ends}; it is {value}"
    level = f"{100 * row['settings']['level']:g} %"
    low, high = measured(row["low"]), measured(row["high"])
    claim = row["settings"]["claim"]
    if claim == "equal":
        text = f"reproduced if both {level} bounds are {ends}; they are {low} and {high}"
        return "; ".join(filter(None, [text, reach(row)]))
    side, name = SIDES[claim]
    text = f"reproduced if the {side} {level} bound is {ends}; it is {measured(row[name])}"
    if row["verdict"] == NOT_REPRODUCED:
        other, name = SIDES[BOTH[claim]]
        text += f", and even the {other} bound is {measured(row[name])}"
    nothing = f"that is no evidence, {EMPTY[tag]}" if (tag := is_empty(row)) else ""
    return "; ".join(filter(None, [text, nothing or replicates_that_decide(row), reach(row)]))


def reach(row: Row) -> str:
    """Return what one more replicate could have been with the verdict unchanged; else empty."""
    also = row.get("also") or {}
    is_of_number = "reach" in also and not row["settings"].get("ratio")
    if row["verdict"] not in (REPRODUCED, NOT_REPRODUCED) or not is_of_number:
        return ""
    how, sign = ("low", -1) if also["farthest"] < row["statistic"] else ("high", 1)
    far, seen = measured(also["reach"]), measured(also["farthest"])
    if sign * also["reach"] < sign * also["farthest"]:
        return f"one more replicate as {how} as the {how}est seen, {seen}, could undo it"
    return f"one more replicate as {how} as {far} would not change it, the {how}est seen is {seen}"


def against(row: Row) -> tuple[float, ...]:
    """Sort key: the strongest evidence against the claim first."""
    weight = {FAILED: 0, NOT_REPRODUCED: 1, INCONCLUSIVE: 2}.get(row["verdict"], 3)
    numbers = row["statistic"], row["reference"]
    known = all(each is not None and math.isfinite(each) for each in numbers)
    beyond = numbers[0] - numbers[1] if known else 0.0
    if row["verdict"] == NOT_REPRODUCED:
        return weight, row["p"] or 0.0, -abs(beyond)
    # a number without p must not be above its reference
    return weight, -(row["p"] or 0.0), -beyond if row["p"] is None else abs(beyond)


# -------------------------------------------------------------------------------- of one claim


def verdict(row: Row) -> str:
    """Return a verdict with its qualifiers: "reproduced, in part, consistent"."""
    parts = [row["verdict"], "in part" * ("IN-PART" in row["tags"]), row["grade"]]
    return ", ".join(filter(None, parts))


def basis(claim: Claim) -> str:
    if claim.basis == "printed":
        return ""
    return f"{BASES[claim.basis]}. {claim.reconstructed}"


def under_readings(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return a claim's verdicts with the readings of each; `rows` has the headline first."""
    readings: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: OUTCOMES.index(row["verdict"])):
        if row["reading"]:
            readings.setdefault(row["verdict"], []).append(row["reading"])
    return readings


def readings_in_words(rows: Sequence[Row]) -> str:
    """Return in a few words the readings under which a headline holds; empty without any."""
    readings = under_readings(rows)
    names = [name.replace("_", " ") for some in readings.values() for name in some]
    if rows[0]["verdict"] == DEPENDS and readings:
        said = (f"{outcome}: {', '.join(some)}" for outcome, some in readings.items())
        return "; ".join(said).replace("_", " ")
    if len(names) > 1:
        return f"under {'both' if len(names) == 2 else f'all {len(names)}'} readings"
    return f"under {names[0]}" if names else ""


def came_again(tested: Claim, findings: Iterable[Row]) -> str:
    """Return under how many salts a claim's verdict is the same, in words; empty if under none.

    `findings` are those of the claim.
    """
    deciding = [row for row in findings if row["decides"]]
    if deciding and all(row["given"] for row in deciding):
        return NOTHING_DRAWN
    seeds = [row for row in agreement(AGREEMENT) if row["claim"] == tested.id]
    if not seeds:
        return ""
    others = [row["found"] for row in seeds if row["again"] == "no"]
    said = f"The verdict is the same under {len(seeds) - len(others)} of {len(seeds)} other seeds"
    other = f" Under the rest: {' or '.join(dict.fromkeys(others))}." if others else ""
    return f"{said}, each with data of its own.{other}"


@cache
def agreement(table: Path) -> list[dict[str, str]]:
    """Return the primary verdicts of the latest release under its salts, as far as repeated."""
    return [row for row in csv_rows(table) if row.get("release") == latest()["release"]]


def by_test(findings: Iterable[Row]) -> dict[str, list[Row]]:
    """Return findings by their test, in the order of the claim."""
    return grouped(findings, itemgetter("test"))


def cases_in_words(cases: Sequence[Row]) -> str:
    """Return in how many cases a test has which verdict, with what is set aside."""
    said = [f"{n} {outcome}" for outcome, n in tally(row["verdict"] for row in cases).items()]
    set_aside = {
        "identical": sum(map(is_identical, cases)),
        "immaterial": sum("IMMATERIAL" in row["tags"] for row in cases),
    }
    said += [f"{count} of these {name}" for name, count in set_aside.items() if count]
    return f"{len(cases)} cases: {', '.join(said)}"


def is_identical(row: Row) -> bool:
    """Return whether the two policies of a comparison are the same in every run."""
    return row["statistic"] == 0 and "CONSTANT" in row["tags"]


def is_empty(row: Row) -> str:
    """Return the tag for which a case that holds supports nothing; empty if it is no such case."""
    return empty_by(row["verdict"], row["tags"])


def why(row: Row, findings: Iterable[Row]) -> Iterator[str]:
    """Yield why a verdict is as it is: for each deciding test its limit, cases and number."""
    rows = [case for case in findings if case["decides"] and case["verdict"] != FAILED]
    rows = [case for case in rows if not row["reading"] or case["reading"] in ("", row["reading"])]
    for cases in by_test(rows).values():
        ends, phrase = common_limit(cases), cases[0]["phrase"]
        if len(cases) > 1:
            counts = Counter(case["verdict"] for case in cases)
            empty = Counter(filter(None, map(is_empty, cases)))
            held = counts[REPRODUCED] + sum(empty.values())
            said = [f"{phrase}: {ends or 'as claimed'} in {held} of {len(cases)} cases"]
            parts = {
                "not in {}": counts[NOT_REPRODUCED],
                "{} undecided": counts[INCONCLUSIVE] - sum(empty.values()),
                "{} are identical": sum(map(is_identical, cases)),
            }
            said += [part.format(n) for part, n in parts.items() if n]
            weak = (
                f"; {n} {'is' if n == 1 else 'are'} no evidence, {EMPTY[tag]}"
                for tag, n in empty.items()
            )
            yield ", ".join(said) + "".join(weak) + together(cases)
        elif value := number(cases[0]):
            unit = f" {cases[0]['unit']}" if cases[0]["unit"] and not is_count(cases[0]) else ""
            yield f"{phrase}: {value}{unit}{ends and f' (claimed: {ends})'}"
        else:
            yield f"{phrase}: {unmet(cases[0]) or 'no number'}"


def together(cases: Sequence[Row]) -> str:
    """Return what is sure of all cases at once, by Holm's method, where verdicts differ."""
    level = cases[0]["settings"].get("level", LEVEL)
    counts, sure = [], []
    for outcome in (REPRODUCED, NOT_REPRODUCED):
        # what is not random has no p-value
        p = [(case["p"] or 0.0) if case["verdict"] == outcome else 1.0 for case in cases]
        counts.append(sum(case["verdict"] == outcome for case in cases))
        sure.append(holm_count(p, level))
    if sure == counts or max(counts) == len(cases):
        return ""
    held, lost = (f"in at least {count}" for count in sure)
    return f"; all at once, with {100 * level:g} %: it holds {held} and fails {lost}"


def qualifying(findings: Iterable[Row]) -> list[str]:
    """Return a sentence for each test that qualifies a claim's verdict without deciding it."""
    said = []
    for cases in by_test(row for row in findings if not row["decides"]).values():
        worst, ends = min(cases, key=against), common_limit(cases)
        asked = sentence(f"{worst['phrase']}{f': {ends}?' if ends else ':'}")
        value = evidence(worst).removeprefix(f"{quantity(worst)}: ")
        if len(cases) == 1:
            said.append(f"{asked} {worst['verdict']}, {value}.")
            continue
        where = ", ".join(filter(None, [worst["each"], worst["reading"].replace("_", " ")]))
        said.append(f"{asked} {cases_in_words(cases)}. Least in favour: {where}, {value}.")
    return said


def sentence(text: str) -> str:
    """Return text that begins with a capital, unless with a symbol or a function."""
    return text[:1].upper() + text[1:] if re.match(r"a |[^\W\d_]{2,}(?![\w(])", text) else text

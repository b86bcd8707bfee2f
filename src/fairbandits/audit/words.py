"""Words about a claim, for terminal and pages alike."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import yaml

from fairbandits.audit.claims import Claim, Ledger, Test
from fairbandits.audit.finding import DEPENDS, FAILED, INCONCLUSIVE, NOT_REPRODUCED, OUTCOMES
from fairbandits.audit.power import NEEDED
from fairbandits.audit.procedures import STATISTICS

Row = Mapping[str, Any]
Formatter = Callable[[float | None], str]

#: Basis of a claim that is not printed -> words.
BASES = {
    "lost": "the text lost the statement",
    "recalled": "the statement is recalled from elsewhere",
}
#: Tag -> why a limit is infinite.
ENDLESS = {
    "CONSTANT": "all replicates are equal, which says nothing of how far a run may deviate",
    "RARE": "too few replicates carry the number, and no largest value is known",
    "SIGN": "too few horizons are left to fit",
    "VACUOUS": "it could not have failed",
}
#: The same without such a tag.
NO_LIMIT = "the replicates do not give one at this level"


def limits(row: Row, number: Formatter) -> str:
    """Return the limits of a row's number; empty where there are none, or they are the number.

    >>> limits({"low": 0.5, "high": math.inf}, str)
    'from 0.5, no upper limit'
    """
    low, high = row["low"], row["high"]
    if low is None or high is None or math.isnan(low) or math.isnan(high) or low == high:
        return ""
    match math.isinf(low), math.isinf(high):
        case True, True:
            return "no limits"
        case False, True:
            return f"from {number(low)}, no upper limit"
        case True, False:
            return f"up to {number(high)}, no lower limit"
    return f"{number(low)} to {number(high)}"


def endless(row: Row) -> str:
    """Return why a row's number lacks a limit; empty if it has both, or is no number."""
    if not any(math.isinf(row[name] or 0.0) for name in ("low", "high")):
        return ""
    return next((ENDLESS[tag] for tag in row["tags"] if tag in ENDLESS), NO_LIMIT)


def under_readings(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return a claim's verdicts with the readings of each; `rows` has the headline first."""
    found = {outcome: [] for outcome in OUTCOMES}
    for row in rows:
        if row["reading"]:
            found[row["verdict"]].append(row["reading"])
    return {outcome: names for outcome, names in found.items() if names}


def readings_in_words(rows: Sequence[Row]) -> str:
    """Return in a few words the readings under which a claim's headline holds; empty without any.

    >>> head, one, other = ({"reading": name, "verdict": "reproduced"} for name in ("", "a", "b"))
    >>> readings_in_words([head, one, other])
    'under both readings'
    """
    found = under_readings(rows)
    names = [name for some in found.values() for name in some]
    if rows[0]["verdict"] == DEPENDS and found:
        return "; ".join(f"{outcome}: {_names(some)}" for outcome, some in found.items())
    if len(names) == 1:
        return f"under {_names(names)}"
    many = "both" if len(names) == 2 else f"all {len(names)}"
    return f"under {many} readings" if names else ""


def _names(readings: Iterable[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in readings)


def basis(claim: Claim) -> str:
    """Return what the judged statement rests on; empty if it is printed."""
    if claim.basis == "printed":
        return ""
    return f"{BASES.get(claim.basis, claim.basis)}; reconstructed: {claim.reconstructed}"


def qualifying(claim: Claim, findings: Sequence[Row], number: Formatter) -> list[str]:
    """Return a sentence for each test that qualifies a claim's verdict without deciding it."""
    return [
        _sentence(test, own, number)
        for test in claim.tests
        if not test.decides and (own := [one for one in findings if one["test"] == test.name])
    ]


def _sentence(test: Test, found: Sequence[Row], number: Formatter) -> str:
    start = (test.meaning or test.name.replace("_", " ")).rstrip(".")
    start = start[:1].upper() + start[1:]
    worst = min(found, key=against)
    numbers = evidence(worst, number)
    if len(found) == 1:
        return f"{start}: {worst['verdict']} ({numbers})."
    counts = Counter(one["verdict"] for one in found)
    (first, count), *others = [(one, counts[one]) for one in OUTCOMES if counts[one]]
    of_all = f"{count} of {len(found)}" if others else f"all {len(found)}"
    verdicts = [f"{first} in {of_all} cases", *(f"{one} in {counts[one]}" for one, _ in others)]
    where = ", ".join(filter(None, [worst["reading"].replace("_", " "), worst["each"]]))
    return f"{start}: {', '.join(verdicts)}; the weakest, {where}: {numbers}."


def evidence(row: Row, number: Formatter) -> str:
    """Return a finding's number, limits and n in words, or why there is none."""
    if row["verdict"] == FAILED:
        return row["message"] or "it failed"
    statistic = STATISTICS.get(row["procedure"], "number")
    words = [f"{statistic} {number(row['statistic']) or 'not to be had'}"]
    words += [limits(row, number)] if limits(row, number) else []
    return ", ".join([*words, f"n = {row['n']}"])


def against(one: Row) -> tuple[float, ...]:
    """Sort key: the strongest evidence against the claim first."""
    weight = {FAILED: 0, NOT_REPRODUCED: 1, INCONCLUSIVE: 2}.get(one["verdict"], 3)
    numbers = one["statistic"], one["reference"]
    known = all(each is not None and math.isfinite(each) for each in numbers)
    distance = abs(numbers[0] - numbers[1]) if known else 0.0
    sign = 1 if one["verdict"] == NOT_REPRODUCED else -1
    return weight, sign * (one["p"] or 0.0), -sign * distance


def record(claim: Claim, ledger: Ledger) -> str:
    """Return everything that decides a claim as YAML, with what its tests share above them."""
    if not claim.tests:
        return ""
    tests = {test.name: _test(test) for test in claim.tests}
    first, *others = tests.values()
    shared = {
        name: first[name]
        for name in claim.tests[0].asks
        if others and all(one.get(name) == first[name] for one in others)
    }
    for one in tests.values():
        for name in shared:
            del one[name]
    family = ledger.families[claim.family]
    level = {"level": family.level, "correction": family.correction}
    content = {"version": claim.version}
    content |= {"readings": list(claim.readings)} if claim.readings else {}
    content["family"] = {"name": claim.family} | level
    # one test asks each case by itself too: "universal" pools its cases
    content |= {"combine": claim.combine} if len(tests) > 1 or claim.combine != "all" else {}
    # plain: YAML would write shared parts as aliases
    plain = json.loads(json.dumps(content | shared | {"tests": tests}))
    # a mapping or list without nested ones stands in one line
    return yaml.safe_dump(
        plain, sort_keys=False, allow_unicode=True, default_flow_style=None, width=88
    ).rstrip()


def _test(test: Test) -> dict[str, Any]:
    rule = {"rule": test.rule, "version": test.version, "procedure": test.procedure}
    rule |= {"settings": dict(test.settings)} if test.settings else {}
    found = {**rule, **test.asks, "inputs": dict(test.inputs)}
    return found if test.decides else found | {"decides": False}


def replicates_that_decide(row: Row) -> str:
    """Return how many replicates would decide an inconclusive claim; empty if unknown."""
    also = row.get("also") or {}
    if row["verdict"] != INCONCLUSIVE or NEEDED not in also:
        return ""
    count = also[NEEDED]
    if count is None or not math.isfinite(count):  # files hold no infinite numbers
        return "no number of replicates would decide it, if the estimate is the truth"
    return f"about {float(f'{count:.2g}'):.0f} would decide it, if the estimate is the truth"

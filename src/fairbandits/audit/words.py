"""Words about a claim, for terminal and pages alike."""

import json
import math
import re
import textwrap
from collections.abc import Sequence

import yaml

from fairbandits.audit import finding
from fairbandits.audit.claims import Claim, Ledger, Test
from fairbandits.audit.finding import DEPENDS, FAILED, INCONCLUSIVE, NOT_REPRODUCED, OUTCOMES
from fairbandits.audit.grades import NEEDED
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.quantities import NAMES, case, p_value, quantity
from fairbandits.audit.tables import Row, short
from fairbandits.numerals import measured, significant
from fairbandits.settings.formulas import plain

#: Basis of a claim that is not printed -> words.
BASES = NAMES["bases"]
#: Tag -> why a limit is infinite.
ENDLESS = NAMES["endless"]
#: The same without such a tag.
NO_LIMIT = "the replicates are too few for both bounds at this level"
#: Why a question without data has no answer.
UNMET = "no run, arm or round meets the condition of the claim"
#: What is said of a verdict on data that no change of its rule draws anew.
OLDER = "its data are older than its rule"
#: A name, which begins with a capital within a sentence too.
NAME = re.compile(r"(Bernoulli|Eqs?\.?|Instance|Lemma|Section|Theorem)\b|\S*[A-Z]\S*[A-Z]")


def qualified(row: Row) -> str:
    """Return the verdict on a claim, and whether less is tested than the claim says."""
    return row["verdict"] + ", in part" * ("IN-PART" in row["tags"])


def limits(row: Row, between: str = " to ") -> str:
    """Return the limits of a row's number; empty where there are none, or they are the number."""
    low, high = row["low"], row["high"]
    if low is None or high is None or math.isnan(low) or math.isnan(high) or low == high:
        return ""
    if math.isinf(low):
        return "no bounds" if math.isinf(high) else f"up to {measured(high)}, no lower bound"
    if math.isinf(high):
        return f"from {measured(low)}, no upper bound"
    return f"{measured(low)}{between}{measured(high)}"


def interval(row: Row) -> str:
    said = limits(row, ", ")
    return said and f"[{said}]"


def endless(row: Row) -> str:
    """Return why a row's number lacks a limit; empty if it has both, or is no number."""
    if unmet(row) or not any(math.isinf(row[name] or 0.0) for name in ("low", "high")):
        return ""
    return next((ENDLESS[tag] for tag in row["tags"] if tag in ENDLESS), NO_LIMIT)


def unmet(row: Row) -> str:
    """Return why a row has no data; empty if it has some, or needs none."""
    return UNMET if row["verdict"] == INCONCLUSIVE and row["n"] == 0 else ""


def under_readings(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return a claim's verdicts with the readings of each; `rows` has the headline first."""
    found: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: OUTCOMES.index(row["verdict"])):
        if row["reading"]:
            found.setdefault(row["verdict"], []).append(row["reading"])
    return found


def readings_in_words(rows: Sequence[Row]) -> str:
    """Return in a few words the readings under which a headline holds; empty without any."""
    found = under_readings(rows)
    names = [name.replace("_", " ") for some in found.values() for name in some]
    if rows[0]["verdict"] == DEPENDS and found:
        said = (f"{outcome}: {', '.join(some)}" for outcome, some in found.items())
        return "; ".join(said).replace("_", " ")
    if len(names) > 1:
        return f"under {'both' if len(names) == 2 else f'all {len(names)}'} readings"
    return f"under {names[0]}" if names else ""


def basis(claim: Claim) -> str:
    if claim.basis == "printed":
        return ""
    return f"{BASES.get(claim.basis, claim.basis)}. {claim.reconstructed}"


def qualifying(claim: Claim, findings: Sequence[Row], ledger: Ledger) -> list[str]:
    """Return sentences for each test that qualifies a claim's verdict without deciding it."""
    return [
        _sentences(test, own, ledger)
        for test in claim.tests
        if not test.decides and (own := [one for one in findings if one["test"] == test.name])
    ]


def _sentences(test: Test, found: Sequence[Row], ledger: Ledger) -> str:
    start = sentence(test.meaning or test.name.replace("_", " ")).rstrip(".")
    worst = min(found, key=against)
    numbers = sentence(evidence(worst, test, ledger))
    if len(found) == 1:
        return f"{start}: {worst['verdict']}. {numbers}."
    counts = finding.tally(one["verdict"] for one in found)
    (first, count), *others = counts.items()
    of_all = f"{count} of {len(found)}" if others else f"all {len(found)}"
    of_all = "both" if of_all == "all 2" else of_all
    verdicts = [f"{first} in {of_all} cases", *(f"{one} in {count}" for one, count in others)]
    named, where = inside(worst["reading"].replace("_", " ")), case(worst["each"])
    where += f" ({named})" if named and where else named
    return f"{start}: {', '.join(verdicts)}. Least in favour: {where}. {numbers}."


def sentence(text: str) -> str:
    """Return text that begins with a capital, unless with a symbol or a function."""
    return text[:1].upper() + text[1:] if re.match(r"a |[^\W\d_]{2,}(?![\w(])", text) else text


def inside(reading: str) -> str:
    """Return the words of a reading as they are within a sentence."""
    return reading if NAME.match(reading) else reading[:1].lower() + reading[1:]


def sample(row: Row, test: Test) -> str:
    """Return how many replicates or values a number is of."""
    what = "replicate" if test.experiments and row["procedure"] != "exact" else "value"
    return f"{significant(row['n'])} {what}{'s' * (row['n'] != 1)}"


def evidence(row: Row, test: Test, ledger: Ledger) -> str:
    """Return a finding's number with its name, limits and n in words, or why there is none."""
    if row["verdict"] == FAILED:
        return row["message"] or "it failed"
    if why := unmet(row):
        return why
    what, between = quantity(test, ledger, row), limits(row)
    if not (number := what.value(row)):
        return f"no {STATISTICS[row['procedure']]}: not positive at enough horizons"
    said = f"{what}: {number}{between and f' ({between})'}"
    return said if what.right or row["n"] == 1 else f"{said}, n = {sample(row, test)}"


def in_its_case(row: Row, claim: Claim, ledger: Ledger) -> str:
    """Return the number of a claim's verdict with n and its case; empty if no test gave one."""
    for test in claim.tests:
        if test.name == row["test"] and row["statistic"] is not None:
            said = evidence(row | {"procedure": test.procedure}, test, ledger)
            return "; ".join(filter(None, [said, case(row["each"])]))
    return ""


def against(one: Row) -> tuple[float, ...]:
    """Sort key: the strongest evidence against the claim first."""
    weight = {FAILED: 0, NOT_REPRODUCED: 1, INCONCLUSIVE: 2}.get(one["verdict"], 3)
    numbers = one["statistic"], one["reference"]
    known = all(each is not None and math.isfinite(each) for each in numbers)
    beyond = numbers[0] - numbers[1] if known else 0.0
    if one["verdict"] == NOT_REPRODUCED:
        return weight, one["p"] or 0.0, -abs(beyond)
    # a number without p must not be above its reference
    return weight, -(one["p"] or 0.0), -beyond if one["p"] is None else abs(beyond)


def record(claim: Claim, ledger: Ledger) -> str:
    """Return everything that decides a claim as YAML, with what its tests share above them."""
    if not claim.tests:
        return ""
    tests = {
        test.name: {"rule": test.rule, "version": test.version, "procedure": test.procedure}
        | ({"settings": dict(test.settings)} if test.settings else {})
        | test.asks
        | {"inputs": dict(test.inputs)}
        | ({} if test.decides else {"decides": False})
        for test in claim.tests
    }
    first, *others = tests.values()
    shared = {
        name: first[name]
        for name in claim.tests[0].asks
        if others and all(one.get(name) == first[name] for one in others)
    }
    own = {
        name: {key: value for key, value in one.items() if key not in shared}
        for name, one in tests.items()
    }
    family = ledger.families[claim.family]
    content = {
        "version": claim.version,
        "readings": list(claim.readings),
        "family": {"name": claim.family, "level": family.level, "correction": family.correction},
        # one test asks each case by itself too: "universal" pools its cases
        "combine": claim.combine if others or claim.combine != "all" else "",
    }
    content = {name: value for name, value in content.items() if value != "" and value != []}
    # plain: YAML would write shared parts as aliases
    content = json.loads(json.dumps(content | shared | {"tests": own}))
    # a mapping or list without nested ones stands in one line
    form = {"sort_keys": False, "allow_unicode": True, "default_flow_style": None, "width": 88}
    return yaml.safe_dump(content, **form).rstrip()


def replicates_that_decide(row: Row) -> str:
    """Return how many replicates would decide an inconclusive claim; empty if unknown."""
    also = row.get("also") or {}
    if row["verdict"] != INCONCLUSIVE or NEEDED not in also:
        return ""
    count = also[NEEDED]
    if count is None or not math.isfinite(count):  # files hold no infinite numbers
        return "no number of replicates would decide it, if the estimate is the true value"
    more = f"{float(f'{count:.2g}'):.0f} replicates"
    return f"about {more} would decide it, if the estimate is the true value"


def references(row: Row) -> str:
    """Return the reference values of a row's number; 0 without a name; empty without any."""
    values = row.get("against") or {}
    texts = {name: significant(one, trimmed=True) or "none" for name, one in values.items()}
    return "0" if "zero" in texts else ", ".join(map(" ".join, texts.items()))


def questions(found: Sequence[Row], statistic: str, names: Sequence[str] = ()) -> list[list[str]]:
    """Return a table with a line per question, `names` before them, without empty columns."""
    columns = {
        "": names,
        **{name: [one[name] for one in found] for name in ("reading", "each", "verdict", "grade")},
        "of the control": [one["control"] for one in found],
        statistic: [measured(one["statistic"]) for one in found],
        "limits": list(map(interval, found)),
        "against": [significant(one["reference"], trimmed=True) for one in found],
        "tightness": [significant(one["also"].get("tightness")) for one in found],
        "n": [short(one["n"]) for one in found],
        "p": [p_value(one["p"]).removeprefix("= ") for one in found],
        "tags": [one["message"] or unmet(one) or " ".join(one["tags"]) for one in found],
    }
    kept = {title: cells for title, cells in columns.items() if any(cells)}
    return [list(kept), *map(list, zip(*kept.values(), strict=True))]


def fact(width: int, name: str, text: str) -> str:
    """Return a named text as lines of at most this width; empty without a text."""
    if not text:
        return ""
    indent = max(10, len(name) + 2) if name else 4
    filled = textwrap.fill(
        plain(text),
        max(width, 2 * indent),
        initial_indent=f"  {name}".ljust(indent) + "  ",
        subsequent_indent=" " * (indent + 2),
        break_on_hyphens=False,
        break_long_words=False,
    )
    return f"{filled}\n"


def aligned(table: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[str]:
    """Return a table as lines with aligned columns; those named in `right` at their right ends."""
    sizes = [max(map(len, column)) for column in zip(*table, strict=True)]
    signs = [">" if name in right else "<" for name in (table[0] if table else ())]
    form = "".join(f"  {{:{sign}{size}}}" for sign, size in zip(signs, sizes, strict=True))
    return [form.format(*row).rstrip() for row in table]

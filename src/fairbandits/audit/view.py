"""What there is to say of one claim, as sections, set as text for the terminal or as Markdown."""

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from fairbandits.audit import words
from fairbandits.audit.claims import Claim, Ledgers, Test
from fairbandits.audit.finding import GRADES, OF_INCONSISTENCY, TAGS
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.quantities import p_of_claim, p_value, quantity
from fairbandits.audit.rejudge import came_again
from fairbandits.audit.tables import Row, claims_of
from fairbandits.audit.totals import left_out
from fairbandits.settings.formulas import plain

#: Significant digits of numbers.
DIGITS = 4
HOLM = """\
The p of a test is of its question alone; that of a verdict is adjusted by Holm's
method for all claims of its family, and so is larger."""


class Section(NamedTuple):
    """A part of what is said of a claim; its table has its header first, its record is YAML."""

    title: str
    facts: Sequence[tuple[str, str]] = ()
    table: Sequence[Sequence[str]] = ()
    record: str = ""


def number(value: float | None) -> str:
    """Return a number; empty if there is none."""
    if value is None or math.isnan(value):
        return ""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value)}"
    return f"{value:.{DIGITS}g}"


def interval(row: Row) -> str:
    """Return the limits of a row's statistic; empty where they are the statistic itself."""
    said = words.limits(row, number)
    if said and math.isfinite(row["low"]) and math.isfinite(row["high"]):
        said = f"{number(row['low'])}, {number(row['high'])}"
    return said and f"[{said}]"


def count(row: Row) -> str:
    return "" if row["n"] is None else str(row["n"])


def stands_for(claim: Claim, ledgers: Ledgers) -> Claim:
    """Return the claim itself or, for an alias, the claim that it stands for."""
    return claims_of(ledgers)[claim.alias_of] if claim.alias_of else claim


def test_of(row: Row, tested: Claim) -> Test | None:
    """Return the test of a row's number; short tables name its rule alone."""
    own = [one for one in tested.tests if row.get("test", one.name) == one.name]
    return next((one for one in own if one.rule == row["rule"]), None)


def sections(
    claim: Claim, ledgers: Ledgers, rows: Sequence[Row], findings: Sequence[Row] | None
) -> list[Section]:
    """Return all about one claim from its verdicts, headline first, and all findings, if there."""
    ledger, tested = ledgers[claim.paper], stands_for(claim, ledgers)
    own = [one for one in findings or () if one["claim"] == tested.id]
    verdicts = []
    for row in rows:
        under = f" under {row['reading']}" if row["reading"] else ""
        facts = _given(_verdict(row, claim, ledgers))
        verdicts.append(Section(f"verdict: {row['verdict']}{under}", facts))
    if len(rows) > 1:
        verdicts[0].facts.insert(0, ("readings", words.readings_in_words(rows)))
    found = [_head(claim), verdicts[0]]
    if sentences := words.qualifying(tested, own, number):
        found.append(Section("what qualifies it:", [("", sentence) for sentence in sentences]))
    found += verdicts[1:]
    if again := came_again(tested, ledgers[tested.paper]):
        found.append(Section("", [("judged again on other data", again)]))
    if not claim.tests:
        return found
    found.append(Section("the record as it is judged:", record=words.record(claim, ledger)))
    for test in claim.tests:
        role = "" if test.decides else ", qualifies only"
        head = f"test {test.name}: {test.procedure} (rule {test.rule}, version {test.version})"
        of_test = [one for one in own if one["test"] == test.name]
        table = questions(of_test, STATISTICS[test.procedure]) if of_test else ()
        found.append(Section(head + role, [("of what", str(quantity(test, ledger)))], table))
    if ledger.families[claim.family].correction == "holm":
        found.append(Section(HOLM))
    said = {tag for row in rows for tag in row["tags"]}
    more = dict.fromkeys(tag for one in own for tag in one["tags"] if tag not in said)
    if more:
        found.append(Section("of these:", [(tag, TAGS[tag]) for tag in more]))
    if findings is None:
        said = "What each question found is at hand once `fairbandits replicate audit` ran."
        found.append(Section(said))
    return found


def _given(facts: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(name, str(text)) for name, text in facts if text]


def _head(claim: Claim) -> Section:
    roles = [name for name in ("primary", "exploratory") if getattr(claim, name)]
    roles += [claim.about] * (claim.about != "text")
    facts = [
        ("place", claim.place),
        ("claim", claim.statement),
        ("in part", claim.part),
        ("basis", words.basis(claim)),
        ("between", "; ".join(claim.between)),
        ("estimand", claim.estimand),
        ("note", claim.note),
        ("counts", left_out(claim) and f"in no total: {left_out(claim)}"),
        ("same as", claim.alias_of),
    ]
    title = f"{claim.id}  ({claim.paper}; {', '.join([claim.kind, *roles])})"
    return Section(title, _given(facts))


def _verdict(row: Row, claim: Claim, ledgers: Ledgers) -> Iterator[tuple[str, str]]:
    """Yield what a verdict rests on; empty texts say nothing."""
    tested = stands_for(claim, ledgers)
    ledger = ledgers[tested.paper]
    yield "grade", row["grade"] and f"{row['grade']}: {GRADES[row['grade']]}"
    if row["reading"]:
        yield "reading", ledgers[claim.paper].readings.get(row["reading"], row["reading"])
    if number(row["statistic"]):
        test = test_of(row, tested)
        what = quantity(test, ledger) if test else None
        said = f"{number(row['statistic'])} {interval(row)}".rstrip() + f", n = {row['n']}"
        yield "number", ", ".join(filter(None, [said, p_of_claim(row, tested, ledger)]))
        yield "of what", what and str(what)
        yield "if above", what and what.above
        yield "no limit", words.endless(row)
        yield "decided by", words.replicates_that_decide(row)
    against = row.get("against") or {}
    named = (f"{key} {number(value) or 'none'}" for key, value in against.items())
    yield "against", "0" if "zero" in against else ", ".join(named)
    if row["rule"]:
        which = "".join(f", {row[key]}" for key in ("test", "each") if row.get(key))
        yield "rule", f"{row['rule']}, version {row['rule_version']}{which}"
    for tag in row["tags"]:
        yield tag, TAGS[tag]
    yield "failed", row["message"]
    yield "because", claim.untestable
    if claim.kind == "inconsistency":
        yield "that is", OF_INCONSISTENCY.get(row["verdict"], "")
    yield "by", ", ".join(claim.judged_by)


def questions(found: Sequence[Row], statistic: str, names: Sequence[str] = ()) -> list[list[str]]:
    """Return a table with a line per question, without empty columns."""
    same = ("reading", "each", "verdict", "grade")
    columns = {
        "": names,
        **{name: [one[name] for one in found] for name in same},
        "of the control": [one["control"] for one in found],
        statistic: [number(one["statistic"]) for one in found],
        "limits": list(map(interval, found)),
        "against": [number(one["reference"]) for one in found],
        "tightness": [number(one["also"].get("tightness")) for one in found],
        "n": list(map(count, found)),
        "p": [p_value(one["p"]).removeprefix("= ") for one in found],
        "tags": [one["message"] or " ".join(one["tags"]) for one in found],
    }
    kept = {title: cells for title, cells in columns.items() if any(cells)}
    return [list(kept), *map(list, zip(*kept.values(), strict=True))]


def as_text(parts: Iterable[Section], width: int) -> str:
    """Return sections as text of at most `width` columns, where words allow it."""
    texts = []
    for part in parts:
        lines = [part.title] if part.title else []
        lines += [_fact(name, text, width) for name, text in part.facts]
        lines += aligned(part.table)
        lines += textwrap.indent(part.record, "    ").splitlines()
        texts.append("\n".join(lines))
    return "\n\n".join(filter(None, texts))


def _fact(name: str, text: str, width: int) -> str:
    indent = max(10, len(name) + 2) if name else 4
    return textwrap.fill(
        plain(text),
        max(width, 2 * indent),
        initial_indent=f"  {name}".ljust(indent) + "  ",
        subsequent_indent=" " * (indent + 2),
        break_on_hyphens=False,
        break_long_words=False,
    )


def aligned(table: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[str]:
    """Return a table as lines with aligned columns; those named in `right` at their right ends."""
    sizes = [max(map(len, column)) for column in zip(*table, strict=True)]
    signs = [">" if name in right else "<" for name in (table[0] if table else ())]
    form = "".join(f"  {{:{sign}{size}}}" for sign, size in zip(signs, sizes, strict=True))
    return [form.format(*row).rstrip() for row in table]


def as_markdown(parts: Iterable[Section]) -> str:
    """Return sections as Markdown, the first title as a heading."""
    texts = []
    for place, part in enumerate(parts):
        texts.append(f"**{part.title}**" if place else f"## {part.title}")
        facts = (f"- {name}: {text}" if name else f"- {text}" for name, text in part.facts)
        texts += ["\n".join(facts), "\n".join(markdown_table(part.table))]
        texts.append(f"```yaml\n{part.record}\n```" if part.record else "")
    return "\n\n".join(filter(None, texts))


def markdown_table(table: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines of Markdown."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    return [*lines[:1], *(["|" + "---|" * len(table[0])] if table else []), *lines[1:]]

"""Verdicts as text for the terminal, and as JSON.

Rows are those of `fairbandits.audit.records`: a dictionary per claim and reading, or per question.
"""

import json
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fairbandits.audit import words
from fairbandits.audit.finding import INCONCLUSIVE, OF_INCONSISTENCY, OUTCOMES, TAGS
from fairbandits.audit.judge import Answer
from fairbandits.audit.ledger import Claim, Ledger, Test
from fairbandits.audit.power import CEILING
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.quantities import p_of_claim, p_value, quantity, unit
from fairbandits.audit.records import finding_row
from fairbandits.audit.totals import Totals, left_out, totals
from fairbandits.settings.config import Config
from fairbandits.settings.schemas import ConfigError, meant

Row = Mapping[str, Any]
#: Minimum width of the statement column.
LEAST_STATEMENT = 24
#: Closing words about changed settings.
WHAT_IF = """\
Both are computed now, from the data at hand, and nothing is written. What counts is the verdict by
the rule that was fixed before the data."""
#: Significant digits of numbers in the terminal.
DIGITS = 4


def number(value: float | None) -> str:
    """Return a number for the terminal; empty if there is none."""
    if value is None or math.isnan(value):
        return ""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value)}"
    return f"{value:.{DIGITS}g}"


def interval(row: Row) -> str:
    """Return the limits of a row's statistic; empty where they are the statistic itself."""
    low, high = row["low"], row["high"]
    if low is None or high is None or math.isnan(low) or low == high:
        return ""
    if math.isinf(low) or math.isinf(high):
        return f"[{words.limits(row, number)}]"
    return f"[{number(low)}, {number(high)}]"


def tally(rows: Iterable[Row]) -> Totals:
    """Return the totals of some claims."""
    return totals(row for row in rows if row["headline"])


def check_choice(papers: Sequence[str], paper: str | None, verdict: str | None) -> None:
    """Raise ConfigError, naming the nearest, if a paper or verdict does not exist."""
    if paper is not None and paper not in papers:
        raise ConfigError(f"no claims of paper {paper!r}{meant(paper, papers)}")
    if verdict is not None and _plain(verdict) not in OUTCOMES:
        raise ConfigError(f"no verdict {verdict!r}; there are: {', '.join(OUTCOMES)}")


def chosen(
    rows: Sequence[Row], claim: str | None, paper: str | None, verdict: str | None
) -> list[Row]:
    """Return the headlines of a claim, a paper or a verdict, or of all."""
    return [
        row
        for row in rows
        if row["headline"]
        and claim in (None, row["claim"])
        and paper in (None, row["paper"])
        and (verdict is None or _plain(verdict) == row["verdict"])
    ]


def _plain(verdict: str) -> str:
    """Return a verdict's name from the ways in which it may be typed."""
    return verdict.replace("-", " ").replace("_", " ").lower()


def listing(rows: Sequence[Row], width: int, ledgers: Mapping[str, Ledger] = {}) -> str:
    """Return claims as lines of at most `width` columns, with as many of their facts as fit.

    Numbers have units where the ledgers are given.
    """
    if not rows:
        return "no claim"
    lines = []
    for paper in dict.fromkeys(row["paper"] for row in rows):
        own = [row for row in rows if row["paper"] == paper]
        counted = tally(own)
        listed = "" if counted.claims == len(own) else f"{len(own)} below; "
        lines += [f"{paper}: {listed}{counted}", *_table(own, width, ledgers), ""]
    return "\n".join(lines).rstrip()


def _table(rows: Sequence[Row], width: int, ledgers: Mapping[str, Ledger]) -> list[str]:
    cells = [
        [
            *(row["claim"], row["verdict"], number(row["statistic"])),
            *(_unit(row, ledgers), interval(row), _n(row)),
        ]
        for row in rows
    ]
    header = ["claim", "verdict", "number", "unit", "limits", "n"]
    columns = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    # columns that do not fit are dropped from the right; claim and verdict always stand
    kept = 2
    while kept < len(columns) and sum(columns[: kept + 1]) + 2 * (kept + 1) <= width:
        kept += 1
    room = width - sum(columns[:kept]) - 2 * (kept + 1)
    statements = kept == len(columns) and room >= LEAST_STATEMENT
    lines = []
    for place, row in enumerate([header, *cells]):
        parts = [
            word.rjust(size) if header[k] in ("number", "n") else word.ljust(size)
            for k, (word, size) in enumerate(zip(row[:kept], columns, strict=False))
        ]
        if statements:
            text = "statement"
            if place:
                text = rows[place - 1]["message"] or rows[place - 1]["statement"]
            parts.append(textwrap.shorten(text, room, placeholder=" ..."))
        lines.append(("  " + "  ".join(parts)).rstrip())
    return lines


def _unit(row: Row, ledgers: Mapping[str, Ledger]) -> str:
    """Return the unit of a row's number; empty if it has none, or an unknown one."""
    if row["statistic"] is None or row["paper"] not in ledgers:
        return ""
    test = _test_of(row, stands_for(ledgers[row["paper"]].claims[row["claim"]], ledgers))
    return unit(test) if test else ""


def _n(row: Row) -> str:
    return "" if row["n"] is None else str(row["n"])


def explanation(
    claim: Claim,
    ledgers: Mapping[str, Ledger],
    config: Config,
    rows: Sequence[Row],
    findings: Sequence[Row] | None,
    width: int,
) -> str:
    """Return the full text about one claim; its headline is the first of `rows`.

    `config` gives the places of figures and data; `findings` are those of all claims, None if
    missing.
    """
    ledger, tested = ledgers[claim.paper], stands_for(claim, ledgers)
    kinds = [claim.kind, *(k for k in ("primary", "extension", "exploratory") if getattr(claim, k))]
    facts = {
        "place": claim.place,
        "claim": claim.statement,
        "basis": words.basis(claim),
        "between": "; ".join(claim.between),
        "estimand": claim.estimand,
        "note": claim.note,
        "counts": f"in no total: {left_out(claim)}" if left_out(claim) else "",
        "same as": claim.alias_of,
    }
    head = [f"{claim.id}  ({claim.paper}; {', '.join(kinds)})"]
    head += [_fact(name, text, width) for name, text in facts.items() if text]
    own = [one for one in findings or () if one["claim"] == tested.id]
    shown = [_verdict(row, claim, tested, ledgers, width) for row in rows]
    if len(rows) > 1:
        shown[0].insert(1, _fact("readings", words.readings_in_words(rows), width))
    parts = ["\n".join(head), "\n".join(shown[0])]
    if sentences := words.qualifying(tested, own, number):
        lines = [_fact("", sentence, width, 4) for sentence in sentences]
        parts.append("\n".join(["what qualifies it:", *lines]))
    parts += map("\n".join, shown[1:])
    if record := words.record(claim, ledger):
        lines = textwrap.indent(record, "    ").splitlines()
        parts.append("\n".join(["the record as it is judged:", *lines]))
    for test in claim.tests:
        of_test = [one for one in own if one["test"] == test.name]
        parts.append("\n".join(_test(test, of_test, ledger, width)))
    if any(test.decides for test in claim.tests) and _adjusted(claim, ledger):
        parts.append(
            "The p of a test is of its question alone; that of a verdict is adjusted by Holm's\n"
            "method for all claims of its family, and so is larger."
        )
    said = {tag for row in rows for tag in row["tags"]}
    others = dict.fromkeys(tag for one in own for tag in one["tags"] if tag not in said)
    if claim.tests and others:
        lines = [_fact(tag, TAGS[tag], width, max(10, len(tag) + 3)) for tag in others]
        parts.append("\n".join(["of these:", *lines]))
    if claim.tests and findings is None:
        parts.append("What each question found is at hand once `fairbandits replicate audit` ran.")
    if places := _where(claim, config, width):
        parts.append("\n".join(places))
    return "\n\n".join(parts)


def stands_for(claim: Claim, ledgers: Mapping[str, Ledger]) -> Claim:
    """Return the claim itself or, for an alias, the claim that it stands for."""
    if not claim.alias_of:
        return claim
    ledger = next(one for one in ledgers.values() if claim.alias_of in one.claims)
    return ledger.claims[claim.alias_of]


def _fact(name: str, text: str, width: int, indent: int = 10) -> str:
    return textwrap.fill(
        text,
        max(width, 2 * indent),
        initial_indent=f"  {name}".ljust(indent) + "  ",
        subsequent_indent=" " * (indent + 2),
        break_on_hyphens=False,
        break_long_words=False,
    )


def deviations(ledger: Ledger, width: int) -> str:
    """Return the changes of a paper's audit since it was first written, in order of time."""
    parts = [ledger.title]
    for one in ledger.changes:
        version = f", version {one.version}" if one.version else ""
        facts = {
            "where": ", ".join(one.where),
            "from": one.before,
            "to": one.after,
            "why": one.why,
            "verdict": f"before: {one.verdict_before}; after: {one.verdict_after}",
        }
        lines = [_fact(name, text, width) for name, text in facts.items()]
        parts.append("\n".join([f"{one.when}  {one.what}{version}", *lines]))
    return "\n\n".join(parts)


def _adjusted(claim: Claim, ledger: Ledger) -> bool:
    return ledger.families[claim.family].correction == "holm"


def _test_of(row: Row, tested: Claim) -> Test | None:
    """Return the test of a row's number; short tables name its rule alone."""
    own = [one for one in tested.tests if row.get("test", one.name) == one.name]
    return next((one for one in own if one.rule == row["rule"]), None)


def _verdict(
    row: Row, claim: Claim, tested: Claim, ledgers: Mapping[str, Ledger], width: int
) -> list[str]:
    lines, ledger = [f"verdict: {row['verdict']}"], ledgers[tested.paper]
    if row["reading"]:
        lines[0] += f" under {row['reading']}"
        readings = ledgers[claim.paper].readings
        lines.append(_fact("reading", readings.get(row["reading"], row["reading"]), width))
    if row["statistic"] is not None and not math.isnan(row["statistic"]):
        test = _test_of(row, tested)
        what = quantity(test, ledger) if test else None
        text = f"{number(row['statistic'])} {interval(row)}".rstrip() + f", n = {row['n']}"
        p = p_of_claim(row, tested, ledger)
        lines.append(_fact("number", f"{text}, {p}" if p else text, width))
        lines += [_fact("of what", str(what), width)] if what else []
        lines += [_fact("if above", what.above, width)] if what and what.above else []
        lines += [_fact("no limit", why, width)] if (why := words.endless(row)) else []
        enough = words.replicates_that_decide(row)
        lines += [_fact("decided by", enough, width)] if enough else []
    if against := row.get("against"):
        lines.append(_fact("against", "0" if "zero" in against else _named(against), width))
    if row["rule"]:
        which = "".join(f", {row[k]}" for k in ("test", "each") if row.get(k))
        lines.append(_fact("rule", f"{row['rule']}, version {row['rule_version']}{which}", width))
    lines += [_fact(tag, TAGS[tag], width, max(10, len(tag) + 3)) for tag in row["tags"]]
    if row["message"]:
        lines.append(_fact("failed", row["message"], width))
    if claim.untestable:
        lines.append(_fact("because", claim.untestable, width))
    if claim.kind == "inconsistency" and row["verdict"] in OF_INCONSISTENCY:
        lines.append(_fact("that is", OF_INCONSISTENCY[row["verdict"]], width))
    if claim.judged_by:
        lines.append(_fact("by", ", ".join(claim.judged_by), width))
    return lines


def _named(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {number(value) or 'none'}" for key, value in values.items())


def _test(test: Test, found: Sequence[Row], ledger: Ledger, width: int) -> list[str]:
    role = "" if test.decides else ", qualifies only"
    head = f"test {test.name}: {test.procedure} (rule {test.rule}, version {test.version}){role}"
    what = _fact("of what", str(quantity(test, ledger)), width)
    return [head, what, *(_questions(found, STATISTICS[test.procedure]) if found else [])]


def what_if(
    claim: Claim,
    ledger: Ledger,
    changes: Sequence[str],
    before: Sequence[Row],
    after: Sequence[Row],
) -> str:
    """Return the verdicts on a claim with its own settings, and with changed ones, side by side.

    `changes` are the changed settings in words.
    """
    pairs = list(zip(before, after, strict=True))
    rows = [row for pair in pairs for row in pair]
    statistics = {STATISTICS[row["procedure"]] for row in rows if row["procedure"]}
    name = statistics.pop() if len(statistics) == 1 else "number"
    table = _questions(rows, name, ["as it is", "what if"] * len(pairs))
    question = f"What if {'; '.join(changes)}?"
    numbers = dict.fromkeys(str(quantity(one, ledger)) for one in claim.tests if one.decides)
    table = [*(f"  number: {what}" for what in numbers), "", *table]
    return "\n".join([f"{claim.id}: {claim.statement}", "", question, *table, "", WHAT_IF])


def _questions(found: Sequence[Row], statistic: str, names: Sequence[str] = ()) -> list[str]:
    """Return one line per question, without empty columns."""
    header = ["", "reading", "each", "verdict", statistic, "limits", "against", "tightness"]
    header += ["n", "p", "tags"]
    rows = [
        [
            name,
            one["reading"],
            one["each"],
            one["verdict"],
            number(one["statistic"]),
            interval(one),
            number(one["reference"]),
            number(one["also"].get("tightness")),
            _n(one),
            p_value(one["p"]).removeprefix("= "),
            one["message"] or " ".join(one["tags"]),
        ]
        for name, one in zip_longest(names, found, fillvalue="")
    ]
    kept = [k for k in range(len(header)) if any(row[k] for row in rows)]
    sizes = {k: max(len(row[k]) for row in [header, *rows]) for k in kept}
    return [
        ("  " + "  ".join(row[k].ljust(sizes[k]) for k in kept)).rstrip() for row in [header, *rows]
    ]


def found(ledger: Ledger, answers: Sequence[Answer]) -> str:
    """Return findings as text, test by test."""
    parts = []
    for place in dict.fromkeys((one.claim, one.test) for one in answers):
        own = [finding_row(ledger, one) for one in answers if (one.claim, one.test) == place]
        statistic = STATISTICS.get(own[0]["procedure"], "number")
        parts.append("\n".join([" ".join(place).rstrip(), *_questions(own, statistic)]))
    return "\n\n".join(parts) or "no finding"


def power_table(rows: Iterable[Any]) -> str:
    """Return a table of the replicates that each question needs (`fairbandits.audit.run.Needed`).

    Undecided questions come first. Where there is no number, the table says why.
    """
    table = [["claim", "test", "reading", "each", "verdict", "n", "n that decides"]]
    for one in sorted(rows, key=_is_closed):
        answer, finding = one.answer, one.answer.finding
        names = [answer.claim, answer.test, answer.reading, answer.each]
        if finding is None:
            table.append([*names, "failed", "", answer.message])
        else:
            enough = f"none: {one.why}" if one.why else _enough(one.replicates)
            table.append([*names, finding.verdict, str(finding.n), enough])
    sizes = [max(len(row[k]) for row in table) for k in range(len(table[0]) - 1)]
    lines = (
        "  ".join([*(word.ljust(size) for word, size in zip(row, sizes, strict=False)), row[-1]])
        for row in table
    )
    return "\n".join(line.rstrip() for line in lines)


def _is_closed(one: Any) -> bool:
    return one.answer.finding is not None and one.answer.finding.verdict != INCONCLUSIVE


def _enough(replicates: float) -> str:
    return f"over {CEILING}" if replicates > CEILING else f"{replicates:.0f}"


def _where(claim: Claim, config: Config, width: int) -> list[str]:
    lines = []
    if claim.figure:
        place = f"{config.folders['figures']}/{claim.paper}/{claim.figure}.svg"
        lines.append(_fact("figure", place, width))
    lines += [_fact("data", _data(name, claim, config), width) for name in claim.experiments]
    again = [] if claim.untestable else [_fact("again", "fairbandits replicate audit", width)]
    return lines + again


def _data(name: str, claim: Claim, config: Config) -> str:
    (first, *_) = found = config.named(claim.paper, name)
    place = Path(config.folders["results"]) / first.dataset
    others = f" ({len(found) - 1} more of {place.parent} come with it)" if len(found) > 1 else ""
    return f"fairbandits replicate {place}{others}"


def as_json(
    wanted: Sequence[Row],
    rows: Sequence[Row],
    findings: Sequence[Row] | None,
    ledgers: Mapping[str, Ledger],
    source: str,
    scale: str,
    made: Mapping[str, Any],
) -> str:
    """Return claims with their verdicts as JSON (workflow/schemas/verdicts.schema.yaml).

    `wanted` are the headlines of the claims, `rows` all verdicts, `findings` all findings, or None
    if missing; `made` says whether they are ``exploratory``, and why they are ``stale``.
    """
    claims = [ledgers[row["paper"]].claims[row["claim"]] for row in wanted]
    found = [_claim_json(claim, stands_for(claim, ledgers), rows, findings) for claim in claims]
    content = {"source": source, "scale": scale} | dict(made) | {"claims": found}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def _claim_json(
    claim: Claim, tested: Claim, rows: Sequence[Row], findings: Sequence[Row] | None
) -> dict[str, Any]:
    plain = ("id", "paper", "place", "statement", "kind", "primary", "extension", "exploratory")
    head, *others = [row for row in rows if row["claim"] == claim.id]
    own = [one for one in findings or () if one["claim"] == tested.id]
    return {name: getattr(claim, name) for name in plain} | {
        "figure": claim.figure or None,
        "basis": claim.basis,
        "reconstructed": claim.reconstructed or None,
        "alias_of": claim.alias_of or None,
        "judged_by": list(claim.judged_by),
        "left_out": left_out(claim) or None,
        "verdict": head["verdict"],
        "headline": _row_json(head),
        "readings": [_row_json(row) for row in others],
        "qualified_by": None if findings is None else words.qualifying(tested, own, number),
    }


def _row_json(row: Row) -> dict[str, Any]:
    numbers = {name: _finite(row[name]) for name in ("statistic", "low", "high", "n", "p")}
    return (
        {"reading": row["reading"] or None, "verdict": row["verdict"], "tags": list(row["tags"])}
        | numbers
        | {"rule": row["rule"] or None, "rule_version": row["rule_version"]}
        | {"data": list(row["data"])}
        | {name: row.get(name) or None for name in ("data_hash", "code", "rules", "audit_code")}
        | {"message": row["message"] or None}
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

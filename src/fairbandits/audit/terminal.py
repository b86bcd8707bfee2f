"""Verdicts as text for the terminal, and as JSON."""

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from fairbandits.audit import sentences
from fairbandits.audit.claims import OWN, Claim, Papers, stands_for
from fairbandits.audit.finding import (
    CONFIRMATORY,
    EXPLORATORY,
    FAILED,
    GRADES,
    OF_INCONSISTENCY,
    STATUSES,
    TAGS,
)
from fairbandits.audit.rows import FINDINGS_TABLE, NUMBERS, finite, short
from fairbandits.audit.totals import Row, grouped, left_out, tally
from fairbandits.numerals import measured, significant
from fairbandits.settings.formulas import plain

#: Minimum width of the statement column.
LEAST_STATEMENT = 24
#: The most cases of a test that are listed, those least in favour.
MOST = 10
HOLM = (
    "The p of a case is of that case alone; that of a verdict on a primary claim is adjusted by "
    "Holm's method for all primary claims of the paper or study, and so is larger."
)

#: What a confirmatory verdict of a user's study is.
OF_STUDY = "its files were frozen before its data were drawn"


def listing(rows: Sequence[Row], width: int) -> str:
    """Return claims as lines of at most `width` columns, with as many of their facts as fit."""
    heads = [row for row in rows if row["headline"]]
    lines = []
    for paper, of_paper in grouped(heads, itemgetter("paper")).items():
        counting = [row for row in of_paper if not row["left_out"]]
        others = [row for row in of_paper if row["left_out"]]
        below = f"{len(of_paper)} listed; " if others else ""
        lines.append(f"{paper}: {below}{tally(of_paper)}")
        lines += [*_table(counting, width), ""] if counting else []
        lines += ["counted in no total:", *_table(others, width), ""] if others else []
    if any(row["status"] == EXPLORATORY for row in heads):
        lines.append(f"* {EXPLORATORY}: {STATUSES[EXPLORATORY]}")
    return "\n".join(lines).rstrip()


def _table(rows: Sequence[Row], width: int) -> list[str]:
    cells = [["claim", "verdict", "number", "unit", "bounds", "n"]]
    for row in rows:
        facts = measured(row["statistic"]), row["unit"], interval(row), short(row["n"])
        mark = " *" * (row["status"] == EXPLORATORY)
        cells.append([row["claim"], sentences.verdict(row) + mark, *facts])
    sizes = [max(map(len, column)) for column in zip(*cells, strict=True)]
    # columns that do not fit are dropped from the right; claim and verdict always stand
    fitting = (k for k in range(3, len(sizes) + 1) if sum(sizes[:k]) + 2 * k <= width)
    kept = max(fitting, default=2)
    room = width - sum(sizes[:kept]) - 2 * (kept + 1)
    kept_cells = [row[:kept] for row in cells]
    if kept == len(sizes) and room >= LEAST_STATEMENT:
        texts = ["statement", *(row["message"] or plain(row["statement"]) for row in rows)]
        for row, text in zip(kept_cells, texts, strict=True):
            row.append(textwrap.shorten(text, room, placeholder=" ..."))
    return aligned(kept_cells, right=("number", "n"))


def explanation(
    claim: Claim,
    papers: Papers,
    rows: Sequence[Row],
    findings: Sequence[Row] | None,
    width: int,
) -> str:
    """Return all about one claim from its verdicts, headline first, and all findings, if there."""
    paper, tested = papers[claim.paper], stands_for(claim, papers)
    cases = [row for row in findings or () if row["claim"] == tested.id]
    kinds = [claim.paper, claim.kind, "primary" * claim.primary, "merely reported" * claim.reported]
    kinds += [claim.about * (claim.about != "text")]
    lines = [f"{claim.id}: {sentences.verdict(rows[0])}", f"  {'; '.join(filter(None, kinds))}"]
    status = rows[0]["status"]
    of_study = claim.paper == OWN and status == CONFIRMATORY
    facts = {
        "claim": claim.statement,
        "place": claim.place,
        "in part": claim.part,
        "basis": sentences.basis(claim),
        "between": "; ".join(claim.between),
        "note": claim.note,
        "counts": left_out(claim) and f"in no total: {left_out(claim)}",
        "same as": claim.alias_of,
        "by": ", ".join(claim.judged_by),
        "because": claim.untestable,
        "status": f"{status}: {OF_STUDY if of_study else STATUSES[status]}",
        "readings": sentences.readings_in_words(rows) if len(rows) > 1 else "",
        "that is": claim.kind == "inconsistency" and OF_INCONSISTENCY.get(rows[0]["verdict"]),
    }
    for name, text in facts.items():
        lines += fact(width, name, text or "")
    for row in rows if len(rows) == 1 else rows[1:]:
        lines += _of_verdict(row, paper.readings, cases, width)
    for said in sentences.qualifying(cases):
        lines += fact(width, "beside", said)
    lines += fact(width, "other seeds", sentences.came_again(tested, cases))
    for group in sentences.by_test(cases).values():
        beside = "" if group[0]["decides"] else " (does not decide)"
        lines += ["", f"  {plain(sentences.quantity(group[0]))}{beside}"]
        shown = sorted(group, key=sentences.against)[:MOST]
        lines += [f"  {line}" for line in aligned(cases_table(shown))]
        more = f"    and {len(group) - MOST} more in favour; {FINDINGS_TABLE} has all"
        lines += [more] * (len(group) > MOST)
    if claim.primary and cases:
        lines += ["", *textwrap.wrap(HOLM, width)]
    tags = dict.fromkeys(tag for row in [*rows, *cases] for tag in row["tags"])
    lines += [""] * bool(tags)
    for tag in tags:
        lines += fact(width, tag, TAGS[tag])
    if findings is None and tested.of:
        lines += ["", "What each case found is available once `fairbandits replicate audit` ran."]
    if claim.of:
        lines += ["", f"  {paper.file}, line {claim.line}:", "", claim.source.rstrip()]
    return "\n".join(lines)


def _of_verdict(
    row: Row, readings: Mapping[str, str], cases: Sequence[Row], width: int
) -> list[str]:
    under = row["reading"] and f" under {row['reading'].replace('_', ' ')}"
    lines = ["", f"{sentences.verdict(row)}{under}"] if under else [""]
    lines += fact(width, "reading", row["reading"] and readings.get(row["reading"], ""))
    lines += fact(width, "failed", row["message"] if row["verdict"] == FAILED else "")
    for said in sentences.why(row, cases):
        lines += fact(width, "why", said)
    if decides := sentences.what_decides(row):
        where = row["each"] and f" in the case {row['each']}"
        lines += fact(width, "nearest", f"{row['phrase']}{where}: {decides}")
    p = row["p"] is not None and f"p {sentences.p_value(row['p'])}"
    lines += fact(width, "p", p or "")
    grade = row["grade"]
    lines += fact(width, "grade", grade and f"{grade}: {GRADES[grade]}")
    return lines


def found(rows: Sequence[Row]) -> str:
    """Return findings as a table for each test of each claim."""
    tests = grouped(rows, itemgetter("claim", "test"))
    parts = (
        "\n".join([": ".join(filter(None, test)), *aligned(cases_table(cases))])
        for test, cases in tests.items()
    )
    return "\n\n".join(parts) or "no finding"


def as_json(
    wanted: Sequence[Row],
    rows: Sequence[Row],
    findings: Sequence[Row] | None,
    papers: Papers,
    facts: Mapping[str, Any],
) -> str:
    of_claim = ("id", "paper", "place", "statement", "kind", "primary", "about", "reported")
    of_claim += ("part", "figure", "basis", "reconstructed", "alias_of", "judged_by")
    of_row = ("reading", "verdict", "status", "grade", "tags", "phrase", "unit", "each")
    of_row += ("procedure", "settings", *NUMBERS, "data", "data_hash", "code", "rules")
    of_row += ("audit_code", "message")

    def filled(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        return {name: None if value == "" else finite(value) for name, value in values}

    claims = []
    for headline in wanted:
        claim = papers[headline["paper"]].claims[headline["claim"]]
        tested = stands_for(claim, papers)
        head, *readings = (
            filled((name, row.get(name)) for name in of_row)
            for row in rows
            if row["claim"] == claim.id
        )
        cases = [row for row in findings or () if row["claim"] == tested.id]
        qualified = None if findings is None else sentences.qualifying(cases)
        content = filled((name, getattr(claim, name)) for name in of_claim)
        content |= {"left_out": left_out(claim) or None, "verdict": head["verdict"]}
        content |= {"headline": head, "readings": readings, "qualified_by": qualified}
        claims.append(content)
    return json.dumps({**facts, "claims": claims}, indent=2, ensure_ascii=False, allow_nan=False)


# ------------------------------------------------------------------------------------- lines


def interval(row: Row) -> str:
    said = sentences.limits(row, ", ")
    return said and f"[{said}]"


def fact(width: int, name: str, text: str) -> list[str]:
    """Return a named text as lines of at most this width; none without a text."""
    if not text:
        return []
    indent = max(10, len(name) + 2) if name else 4
    return textwrap.wrap(
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


def cases_table(rows: Sequence[Row], names: Sequence[str] = ()) -> list[list[str]]:
    """Return a table with a line per case, `names` before them, without empty columns."""
    columns = {
        "": list(names),
        "case": [plain(row["each"]) for row in rows],
        "reading": [row["reading"].replace("_", " ") for row in rows],
        "verdict": [sentences.verdict(row) for row in rows],
        "number": [sentences.number(row) for row in rows],
        "bounds": list(map(interval, rows)),
        "limit": list(map(sentences.limit, rows)),
        "control": [row["control"] for row in rows],
        "n": [significant(row["n"]) for row in rows],
        "p": [sentences.p_value(row["p"]).removeprefix("= ") for row in rows],
        "why": [row["message"] or sentences.undecided(row) for row in rows],
    }
    kept = {title: cells for title, cells in columns.items() if any(cells)}
    return [list(kept), *map(list, zip(*kept.values(), strict=True))]

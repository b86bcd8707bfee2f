"""Verdicts as text for the terminal, and as JSON."""

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fairbandits.audit import finding, quantities, words
from fairbandits.audit.cells import COORDINATES
from fairbandits.audit.claims import Claim, Ledger, Ledgers
from fairbandits.audit.judge import Answer
from fairbandits.audit.measures import functions, measures
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.records import finding_row, finite
from fairbandits.audit.rejudge import came_again
from fairbandits.audit.tables import NUMBERS, Row, short, stands_for
from fairbandits.audit.totals import Totals, left_out, totals
from fairbandits.audit.words import interval
from fairbandits.numerals import measured
from fairbandits.settings.config import Config
from fairbandits.settings.formulas import plain

#: Minimum width of the statement column.
LEAST_STATEMENT = 24
#: Templates of texts, and what they call.
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    trim_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
)
TEMPLATES.globals |= {one.__name__: one for one in (came_again, left_out, plain, stands_for)}
TEMPLATES.globals |= {"finding": finding, "quantities": quantities, "words": words}
TEMPLATES.globals |= {"statistics": STATISTICS}


def tally(rows: Iterable[Row]) -> Totals:
    return totals(row for row in rows if row["headline"])


def listing(rows: Sequence[Row], width: int, ledgers: Ledgers) -> str:
    """Return claims as lines of at most `width` columns, with as many of their facts as fit."""
    heads = [row for row in rows if row["headline"]]
    table = partial(_table, width=width, ledgers=ledgers)
    template = TEMPLATES.get_template("listing.txt")
    older = words.OLDER if any(row.get("older") for row in heads) else ""
    return template.render(rows=heads, tally=tally, table=table, older=older).rstrip()


def _table(rows: Sequence[Row], width: int, ledgers: Ledgers) -> list[str]:
    cells = [["claim", "verdict", "grade", "number", "unit", "limits", "n"]]
    for row in rows:
        found = measured(row["statistic"]), _unit(row, ledgers), interval(row), short(row["n"])
        verdict = words.qualified(row) + " *" * row.get("older", False)
        cells.append([row["claim"], verdict, row["grade"], *found])
    sizes = [max(map(len, column)) for column in zip(*cells, strict=True)]
    # columns that do not fit are dropped from the right; claim, verdict and grade always stand
    fitting = (k for k in range(4, len(sizes) + 1) if sum(sizes[:k]) + 2 * k <= width)
    kept = max(fitting, default=3)
    room = width - sum(sizes[:kept]) - 2 * (kept + 1)
    kept_cells = [row[:kept] for row in cells]
    if kept == len(sizes) and room >= LEAST_STATEMENT:
        texts = ["statement", *(row["message"] or plain(row["statement"]) for row in rows)]
        for row, text in zip(kept_cells, texts, strict=True):
            row.append(textwrap.shorten(text, room, placeholder=" ..."))
    return words.aligned(kept_cells, right=("number", "n"))


def _unit(row: Row, ledgers: Ledgers) -> str:
    tested = stands_for(ledgers[row["paper"]].claims[row["claim"]], ledgers)
    what = quantities.quantity_of(row, tested, ledgers[tested.paper])
    return what.unit if what else ""


def explanation(
    claim: Claim,
    ledgers: Ledgers,
    rows: Sequence[Row],
    findings: Sequence[Row] | None,
    width: int,
    config: Config | None = None,
) -> str:
    """Return all about one claim from its verdicts, headline first, and all findings, if there.

    With the configuration also its figure and data, and the command that judges it again.
    """
    given = {"claim": claim, "ledgers": ledgers, "rows": rows, "findings": findings}
    given |= {"config": config, "fact": partial(words.fact, width)}
    return TEMPLATES.get_template("claim.txt").render(given).rstrip()


def found(ledger: Ledger, answers: Sequence[Answer]) -> str:
    parts = []
    for place in dict.fromkeys((one.claim, one.test) for one in answers):
        own = [finding_row(ledger, one) for one in answers if (one.claim, one.test) == place]
        table = words.questions(own, STATISTICS.get(own[0]["procedure"], "number"))
        parts.append("\n".join([" ".join(place).rstrip(), *words.aligned(table)]))
    return "\n\n".join(parts) or "no finding"


def as_json(
    wanted: Sequence[Row],
    rows: Sequence[Row],
    findings: Sequence[Row] | None,
    ledgers: Ledgers,
    facts: Mapping[str, Any],
) -> str:
    of_claim = ("id", "paper", "place", "statement", "kind", "primary", "about", "exploratory")
    of_claim += ("part", "figure", "basis", "reconstructed", "alias_of", "judged_by")
    of_row = ("reading", "verdict", "grade", "tags", *NUMBERS, "rule", "rule_version", "data")
    of_row += ("data_hash", "code", "rules", "audit_code", "message")

    def filled(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        return {name: None if value == "" else finite(value) for name, value in values}

    claims = []
    for headline in wanted:
        claim = ledgers[headline["paper"]].claims[headline["claim"]]
        tested = stands_for(claim, ledgers)
        head, *readings = (
            filled((name, row.get(name)) for name in of_row)
            for row in rows
            if row["claim"] == claim.id
        )
        own = [one for one in findings or () if one["claim"] == tested.id]
        said = words.qualifying(tested, own, ledgers[tested.paper])
        qualified = None if findings is None else said
        content = filled((name, getattr(claim, name)) for name in of_claim)
        content |= {"left_out": left_out(claim) or None, "verdict": head["verdict"]}
        content["data_older_than_rule"] = headline["older"]
        content |= {"headline": head, "readings": readings, "qualified_by": qualified}
        claims.append(content)
    return json.dumps({**facts, "claims": claims}, indent=2, ensure_ascii=False, allow_nan=False)


def vocabulary() -> str:
    """Return the page of all words that a ledger's expressions can use, from the registry."""
    known = {"measures": measures(), "functions": functions(), "coordinates": COORDINATES}
    axes = {"r": "replicate", "t": "round", "a": "arm"}
    return TEMPLATES.get_template("vocabulary.md").render(known, axes=axes)

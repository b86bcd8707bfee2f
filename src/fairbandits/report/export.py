"""Verdicts for other programs, as a table, and as a page."""

from pathlib import Path
from typing import Any

from fairbandits.audit.totals import Row
from fairbandits.data.texts import csv_text, write_text
from fairbandits.report.markup import render


def write(form: str, said: Row, out: Path) -> Path:
    """Write the verdicts on the claims that count, of `fairbandits claims --json`, in a form."""
    lines = [_line(claim) for claim in said["claims"] if not claim["left_out"]]
    if form == "csv":
        text = csv_text([*lines[:1], *(line.values() for line in lines)])
    else:
        text = render("verdicts.html", lines=lines, scale=said["scale"])
    file = out / f"verdicts.{form}"
    write_text(file, text)
    return file


def _line(claim: Row) -> dict[str, Any]:
    head = claim["headline"]
    return {
        **{name: claim[name] for name in ("id", "paper", "place", "statement", "basis", "verdict")},
        "grade": head["grade"] or "",
        "tags": " ".join(head["tags"]),
        **{name: head[name] for name in ("statistic", "low", "high", "n", "p")},
        "data": " ".join(head["data"]),
    }

"""Medians of earlier runs, one row per machine, commit and case, and how today's compare."""

import csv
import math
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import HERE, ROOT
from bench.measure import machine_name
from fairbandits.data.store import replacing

FILE = HERE / "history.csv"
COLUMNS = (
    "date",
    "commit",
    "case",
    "ours_median",
    "ours_min",
    "ours_max",
    "c_plain",
    "ratio",
    "eight_median",
    "machine",
)
NUMBERS = COLUMNS[3:9]
OPTIONAL = ("c_plain", "ratio", "eight_median")
#: Rows that agree in these are measurements of the same thing: the later one stays.
KEY = ("machine", "commit", "case")


def git(folder: Path, *arguments: str) -> str:
    """Return what git says in a folder, nothing if it is missing or refuses."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def commit() -> str:
    """Return the short name of the checked-out commit, with a plus if the code differs from it.

    What a run writes, such as the history itself, does not count.
    """
    name = git(ROOT, "rev-parse", "--short=7", "HEAD")
    code = ("src", "benchmarks/*.py", "benchmarks/*.c", "benchmarks/*.h")
    changed = git(ROOT, "status", "--porcelain", "--", *code)
    return name + ("+" if changed else "") if name else "unknown"


def rows_of(report: dict[str, Any]) -> list[dict[str, str]]:
    """Return the rows that a report adds: nanoseconds a round, and the ratio of C to ours."""
    rows = []
    for case in report["cases"]:
        ours, in_c, eight = (case["ns"][way] for way in ("ours", "c", "eight"))
        numbers = (
            ours["median"],
            ours["min"],
            ours["max"],
            in_c and in_c["median"],
            case["c_over_ours"],
            eight and eight["median"],
        )
        rows.append(
            {
                "date": datetime.now(UTC).date().isoformat(),
                "commit": report["commit"],
                "case": case["name"],
                **{
                    name: "" if value is None else f"{value:.4g}"
                    for name, value in zip(NUMBERS, numbers, strict=True)
                },
                "machine": machine_name(report["machine"]),
            }
        )
    return rows


def read(file: Path) -> list[dict[str, str]]:
    """Return the rows of the file, the oldest first; none if there is no file.

    Raises
    ------
    ValueError
        If a column is missing, or a number is none.
    """
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{file}: the columns must be {', '.join(COLUMNS)}")
        rows = list(reader)
    for line, row in enumerate(rows, start=2):
        for name in NUMBERS:
            if not (name in OPTIONAL and row[name] == "") and not _is_positive(row[name]):
                raise ValueError(
                    f"{file}, line {line}: {name} must be a number above 0, got {row[name]!r}"
                )
    return rows


def _is_positive(text: str | None) -> bool:
    try:
        return text is not None and 0 < float(text) < math.inf
    except ValueError:
        return False


def append(file: Path, new: Iterable[dict[str, str]]) -> None:
    """Add rows to the file, whole or not at all, in place of those with the same `KEY`."""
    new = list(new)
    replaced = {tuple(row[name] for name in KEY) for row in new}
    kept = [row for row in read(file) if tuple(row[name] for name in KEY) not in replaced]
    with replacing(file) as partial, Path(partial).open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept + new)


def slower(history: Iterable[dict[str, str]], now: Iterable[dict[str, str]]) -> list[str]:
    """Return a line for each case that has become slower by more than the spread.

    It is compared with the last row of the same case and machine. The spread is the larger one of
    both, from the least to the largest of the repetitions.
    """
    last = {(row["machine"], row["case"]): row for row in history}
    lines = []
    for row in now:
        before = last.get((row["machine"], row["case"]))
        if before is None:
            continue
        was, is_now = float(before["ours_median"]), float(row["ours_median"])
        spread = max(float(r["ours_max"]) - float(r["ours_min"]) for r in (before, row))
        if is_now - was > spread:
            lines.append(
                f"{row['case']}: {is_now:.4g} ns after {was:.4g} ({before['commit']}, "
                f"{before['date']}), spread {spread:.3g}"
            )
    return lines


def comparison(history: list[dict[str, str]], now: list[dict[str, str]]) -> str:
    """Return which cases are slower than the last ones recorded on this machine."""
    known = {(row["machine"], row["case"]) for row in history}
    compared = [row for row in now if (row["machine"], row["case"]) in known]
    if not compared:
        return "History: nothing recorded of these cases on this machine."
    if lines := slower(history, compared):
        return "\n".join(["Slower than recorded, by more than the spread:", *lines])
    return f"History: none of {len(compared)} cases is slower by more than the spread."

"""The report as a table: lines of text, or Markdown."""

from collections.abc import Sequence
from typing import Any

from bench.measure import AGREEMENT, machine_name

WAYS = {
    "ours": "ours",
    "eight": "ours, 8 at once",
    "c": "C",
    "c_lazy": "C, lazy",
    "python": "Python",
}
HEAD = ("case", "target", "met", *WAYS.values())
HEAD += ("C/ours", "C/lazy", "Python/ours", "cold", "cached")
VERDICTS = {True: "met", False: "missed", None: "-"}


def number(value: float | None) -> str:
    """Return a time or a ratio with as many digits as it is worth, a dash for none."""
    if value is None:
        return "-"
    if value < 1:
        return f"{value:.2g}"
    return f"{value:.1f}" if value < 20 else f"{value:,.0f}"


def times(spread: dict[str, Any] | None) -> str:
    """Return median and range."""
    if spread is None:
        return "-"
    low, high = number(spread["min"]), number(spread["max"])
    return number(spread["median"]) + (f" ({low}–{high})" if len(spread["all"]) > 1 else "")


def target(case: dict[str, Any]) -> str:
    """Return what was to be reached."""
    parts = [number(case["target_ns"])] if case["target_ns"] else []
    parts += [f"{case['target_ratio']:g}x C"] if case["target_ratio"] else []
    return ", ".join(parts) or "-"


def case_rows(report: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the cells of the table of cases, its head first."""
    rows = [HEAD]
    for case in report["cases"]:
        numbers = ("c_over_ours", "c_over_lazy", "python_over_ours", "cold_s", "cached_s")
        rows.append(
            (
                case["name"] + ("" if case["agree"] else " DISAGREE"),
                target(case),
                VERDICTS[case["met"]],
                *(times(case["ns"][way]) for way in WAYS),
                *(number(case[name]) for name in numbers),
            )
        )
    return rows


def notes(report: dict[str, Any]) -> list[str]:
    """Return what the numbers are, and where they come from."""
    host, versions = report["machine"], report["versions"]
    lines = [
        "Nanoseconds of processor time a round on one core, median of "
        f"{report['repetitions']} (least–largest); ratios of medians; seconds of a fresh "
        "process's first run with an empty and with a full cache. DISAGREE: outcomes differ by "
        f"more than {AGREEMENT:g}, or lazy C or ours at once is not exact.",
        "A run of several replicates plays eight at once, on one core; the time is that of a round "
        "of one of them. A target is met by the faster of the two.",
        "C asks for all indices in every round; lazy C makes the same choices, bit for bit, "
        "without.",
        f"Machine: {machine_name(host)}, {host['system']}; load "
        f"{report['load']['before']} before, {report['load']['after']} after",
        f"Versions: {', '.join(f'{name} {value}' for name, value in versions.items())}",
        f"C: {report['compiler']}",
        f"Commit: {report['commit']}",
        f"Command: {report['command']}",
    ]
    if report["quick"]:
        lines.insert(0, "A quick run: these times mean nothing.")
    return lines


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows with columns of one width, the first to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]


def markdown(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows as a Markdown table without the columns that are empty."""
    kept = [column for column in zip(*rows, strict=True) if any(cell != "-" for cell in column[1:])]
    head, *body = zip(*kept, strict=True)
    lines = [head, ["---"] * len(head), *body]
    return [f"| {' | '.join(line)} |" for line in lines]


def as_text(report: dict[str, Any]) -> str:
    """Return the report as lines of text."""
    return "\n".join([*aligned(case_rows(report)), "", *notes(report)])


def as_markdown(report: dict[str, Any]) -> str:
    """Return the report as Markdown, for the README."""
    listed = [f"- {line}" for line in notes(report)]
    return "\n".join([*markdown(case_rows(report)), "", *listed])

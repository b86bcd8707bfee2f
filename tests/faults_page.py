"""A plugin of pytest that runs the tests of faults and writes docs/faults.md (`make faults`)."""

from collections import Counter, defaultdict
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "faults.md"
FAULTS = yaml.safe_load((HERE / "faults.yaml").read_text(encoding="utf-8"))
#: A test's outcomes, and how often it tried, over all its parameters.
OUTCOMES: dict[str, Counter] = defaultdict(Counter)

INTRODUCTION = """\
# Faults

What can go wrong, what happens then, and the tests that show it. A *try* is one injected fault,
such as a flipped bit, a killed run or a wrong value. A dash marks a test that was not run.
`make faults` runs the tests, some of which take minutes, and writes this page with the words of
`tests/faults.yaml`.
"""


def names():
    """Return the names of all tests of faults."""
    return {test for rows in FAULTS.values() for row in rows for test in row["tests"]}


def name_of(nodeid):
    """Return the name of a test's function."""
    return nodeid.rpartition("::")[2].partition("[")[0]


def pytest_collection_modifyitems(config, items):
    """Leave out all other tests."""
    wanted = names()
    others = [item for item in items if name_of(item.nodeid) not in wanted]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if name_of(item.nodeid) in wanted]


def pytest_runtest_logreport(report):
    """Count what came of a test, and what it says that it tried."""
    if report.when == "call":
        counts = OUTCOMES[name_of(report.nodeid)]
        counts[report.outcome] += 1
        counts["tries"] += dict(report.user_properties).get("tries", 1)
    elif report.failed:
        OUTCOMES[name_of(report.nodeid)]["failed"] += 1


def pytest_sessionfinish(session):
    """Write the page, where the tests of all processes come together."""
    if OUTCOMES and not hasattr(session.config, "workerinput"):
        PAGE.write_text(page(OUTCOMES), encoding="utf-8")


def page(outcomes):
    """Return the page of some outcomes."""
    total = sum(outcomes.values(), Counter())
    faults = sum(map(len, FAULTS.values()))
    ran = sum(bool(outcomes.get(name)) for name in names())
    lines = [
        INTRODUCTION,
        "| faults | tests | tests run | tries | tries that failed |",
        "|---:|---:|---:|---:|---:|",
        f"| {faults} | {len(names())} | {ran} | {total['tries']} | {total['failed']} |",
    ]
    for kind, rows in FAULTS.items():
        lines += ["", f"## {kind}", ""]
        lines += ["| fault | what happens | tests, with tries |", "|---|---|---|"]
        for row in rows:
            tests = "<br>".join(f"`{name}` {_said(outcomes[name])}" for name in row["tests"])
            lines.append(f"| {row['fault']} | {row['happens']} | {tests} |")
    return "\n".join(lines) + "\n"


def _said(counts):
    if not counts:
        return "–"
    return f"{counts['tries']}" + (f", **{counts['failed']} failed**" if counts["failed"] else "")

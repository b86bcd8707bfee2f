"""Compare all findings and verdict lines with those of another commit, or of another folder.

    python benchmarks/same_findings.py REVISION        the committed tables with those of a commit
    python benchmarks/same_findings.py OLD NEW         the full tables, findings.parquet in folders

A finding is the same by its content: claim and reading, whether it decides, verdict, numbers,
limits, tags, control and grade. What tests and cases are called may differ: that is counted.
Committed tables have six digits; in full tables numbers are equal to 1e-9.
"""

import csv
import io
import json
import math
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

NUMBERS = ("statistic", "low", "high", "n", "p")
WORDS = ("verdict", "tags", "control", "grade")
TABLES = "audit/findings.csv", "audit/verdicts.csv"


def committed(revision=""):
    """Return the lines of the committed tables, now or of a commit."""
    texts = (
        subprocess.check_output(["git", "show", f"{revision}:{file}"], text=True)
        if revision
        else Path(file).read_text(encoding="utf-8")
        for file in TABLES
    )
    return [list(csv.DictReader(io.StringIO(text))) for text in texts]


def full(folder):
    """Return the rows of the full tables in a folder."""
    files = (Path(folder) / f"{name}.parquet" for name in ("findings", "verdicts"))
    return [pq.read_table(file).to_pylist() for file in files]


def values(row):
    """Return the numbers of a row, and the values that they are judged against."""
    against = row["against"]
    if against.startswith("{"):
        limits = json.loads(against).values()
    else:
        limits = (limit.rpartition(" ")[2] for limit in against.split("; ") if limit)
    texts = [*(row[name] for name in NUMBERS), *limits]
    return [math.nan if text in ("", None, "none") else float(text) for text in texts]


def same(before, other):
    """Return whether two rows have the same content, and whether to the last bit."""
    if any((before.get(name) or "") != (other.get(name) or "") for name in WORDS):
        return False, False
    decides = [str(row.get("decides")) in ("True", "yes") for row in (before, other)]
    a, b = values(before), values(other)
    if decides[0] != decides[1] or len(a) != len(b):
        return False, False
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (math.isnan(x) and math.isnan(y))]
    near = all(math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-300) for x, y in pairs)
    return near, all(x == y for x, y in pairs)


def matched(before, now, names):
    """Match rows one to one; return how many, to the last bit, renamed, and those left of both."""
    equal = bits = renamed = 0
    lost, left = [], []
    groups = defaultdict(lambda: ([], []))
    for side, rows in enumerate((before, now)):
        for row in rows:
            groups[tuple(row[name] for name in names)][side].append(row)
    for old, new in groups.values():
        unmatched = list(new)
        for by_label in (True, False):  # first of those with the same label
            for now_row in list(unmatched):
                alike = (r for r in old if not by_label or r.get("each") == now_row.get("each"))
                pick = next(((r, s[1]) for r in alike if (s := same(r, now_row))[0]), None)
                if pick:
                    old.remove(pick[0])
                    unmatched.remove(now_row)
                    equal, bits, renamed = equal + 1, bits + pick[1], renamed + (not by_label)
        lost += old
        left += unmatched
    return equal, bits, renamed, lost, left


def main(arguments):
    """Print the comparison; return 1 unless all is the same."""
    if len(arguments) not in (1, 2):
        raise SystemExit(__doc__)
    both = [full(path) for path in arguments] if len(arguments) == 2 else None
    before, now = both or [committed(arguments[0]), committed()]
    wrong = 0
    for kind, old, new in zip(("findings", "verdict lines"), before, now, strict=True):
        key = "claim" if "claim" in new[0] else "id"
        count, bits, renamed, lost, left = matched(old, new, (key, "reading"))
        for sign, rows in (("-", lost), ("+", left)):
            for row in rows[:40]:
                texts = (row.get(name) for name in (key, "test", "reading", "each", *WORDS))
                print(sign, *filter(None, texts), *values(row), sep="  ")
        same = f"{count} same ({bits} to the last bit, {renamed} under another label)"
        print(f"{len(old)} {kind} before, {len(new)} now: {same}, {len(lost) + len(left)} apart")

        wrong += len(lost) + len(left)
    was, is_now = ({row[key]: row["verdict"] for row in reversed(rows)} for rows in (old, new))
    differ = [claim for claim in was if claim in is_now and was[claim] != is_now[claim]]
    for claim in differ:
        print(f"{claim}: {was[claim]} -> {is_now[claim]}")
    print(f"{len(was.keys() & is_now.keys()) - len(differ)} of {len(was)} claims: same verdict")
    print("all findings and verdict lines equal" if not wrong else f"{wrong} are not equal")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

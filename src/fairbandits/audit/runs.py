"""The history of full runs, audit/runs.csv: lines are only added."""

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from fairbandits.audit.records import Row
from fairbandits.audit.show import tally
from fairbandits.data.provenance import git_commit
from fairbandits.data.store import replacing

TABLE = "runs.csv"
#: `seed` is "ledger" or a chosen number, `commit` that of the code, ``+`` after it if changed.
COLUMNS = ("paper", "rules", "seed", "salt", "totals", "date", "commit")
#: What makes a run another one: the same again adds nothing.
KEY = COLUMNS[:5]


def add(
    folder: Path, paper: str, rules: str, seed: int | str, salt: str, heads: Iterable[Row]
) -> None:
    """Add a line for a paper's run, unless there is one of the same rules, seeds and totals."""
    file = folder / TABLE
    before = file.read_text(encoding="utf-8") if file.is_file() else ""
    known = list(csv.DictReader(io.StringIO(before)))
    now = datetime.now(UTC).strftime("%Y-%m-%d")
    values = (paper, rules, str(seed), salt, str(tally(heads)), now, git_commit())
    line = dict(zip(COLUMNS, values, strict=True))
    if any(all(one[name] == line[name] for name in KEY) for one in known):
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    if not before:
        writer.writeheader()
    writer.writerow(line)
    with replacing(file) as temporary:
        temporary.write_text(before + text.getvalue(), encoding="utf-8")

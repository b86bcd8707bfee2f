"""The history of full runs, audit/runs.csv: lines are only added."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from fairbandits.audit.records import Row, csv_rows, csv_text, write_text
from fairbandits.audit.totals import totals
from fairbandits.data.provenance import git_commit

TABLE = "runs.csv"
#: `seed` is "ledger" or a chosen number, `commit` that of the code, ``+`` after it if changed.
COLUMNS = ("paper", "rules", "seed", "salt", "totals", "date", "commit")


def add(
    folder: Path, paper: str, rules: str, seed: int | str, salt: str, heads: Iterable[Row]
) -> None:
    """Add a line for a paper's run, unless there is one of the same rules, seeds and totals."""
    file = folder / TABLE
    same = [paper, rules, str(seed), salt, str(totals(heads))]
    known = csv_rows(file)
    if any([one[name] for name in COLUMNS[: len(same)]] == same for one in known):
        return
    line = [*same, datetime.now(UTC).strftime("%Y-%m-%d"), git_commit()]
    before = file.read_text(encoding="utf-8") if file.is_file() else csv_text([COLUMNS])
    write_text(file, before + csv_text([line]))

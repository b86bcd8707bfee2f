"""The audit's access to the recorded runs of a paper's experiments, on demand."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from fairbandits.data.provenance import replay_code
from fairbandits.data.store import StoreError, read_footer, read_table
from fairbandits.replication.datasets import (
    expect,
    expect_experiment,
    guard_dataset,
    load_dataset,
    shrunk,
)
from fairbandits.replication.recorded import RunData, runs_of
from fairbandits.settings.config import Config, Experiment


class Recorded(NamedTuple):
    """One experiment's dataset, its runs in the order of the configuration.

    `experiment` is as configured; `footer` says what was run, which is less at the smoke scale.
    """

    experiment: Experiment
    footer: dict[str, Any]
    runs: list[RunData]


class Evidence:
    """The datasets of one paper, checked as they are read, and a list of the files read.

    `seed` is for random numbers drawn while claims are judged. `read` lists each file once since it
    was last emptied; `replays` are those from released programs. `small` says whether any dataset
    has fewer rounds or replicates than configured; `older` is the seed of one that was drawn under
    other rules than the present ones, which is judged all the same.
    """

    def __init__(self, config: Config, paper: str, results: Path) -> None:
        self.config = config
        self.seed = config.seed_of_judging(paper)
        self.paper = paper
        self.results = results
        self.read: list[Path] = []
        self.replays: set[Path] = set()
        self.small = False
        self.older: int | None = None
        self._problems: dict[Path, str] = {}

    def files(self, name: str) -> list[Path]:
        """Return the files of the experiment or suite of this name."""
        return [self.results / one.dataset for one in self.config.named(self.paper, name)]

    def check(self, name: str) -> None:
        """Check all rows of the datasets of this name, each file once."""
        for one in self.config.named(self.paper, name):
            file = self.results / one.dataset
            if file not in self._problems:
                self._problems[file] = self._problem(one, file)
            if self._problems[file]:
                raise StoreError(self._problems[file])

    def _problem(self, experiment: Experiment, file: Path) -> str:
        try:
            footer = read_footer(file)
            expect_experiment(footer, experiment, file)
            seed = self.config.seed_of(experiment)
            follows = not self.config.exploratory and not self.config.salt
            if follows and footer.get("ledger") and footer["seed"] != seed:
                self.older = footer["seed"]
            else:
                expect(footer, {"seed": seed}, file)
            self.small |= shrunk(footer, experiment)
            guard_dataset(file)
        except StoreError as error:
            return str(error)
        return ""

    def recorded(self, name: str, columns: Sequence[str] | None = None) -> Iterator[Recorded]:
        """Yield the experiment of this name, or each instance of the suite of this name.

        A name is an experiment, a suite, or ``PAPER/NAME``. `columns` are read beside those that
        identify a row; all by default.
        """
        for one in self.config.named(self.paper, name):
            file = self._noted(self.results / one.dataset)
            wanted = None if columns is None else ["run", "round", "horizon", *columns]
            table, footer = load_dataset(file, wanted)
            yield Recorded(one, footer, list(runs_of(table, footer)))

    def replay(self, name: str) -> pa.Table:
        """Return the recorded output of a released program, and note its file as read."""
        file = self.results / self.paper / f"{name}.parquet"
        expect(read_footer(file), {"code": replay_code()}, file)
        self.replays.add(file)
        return read_table(self._noted(file))

    def _noted(self, file: Path) -> Path:
        """Return a file, noted as read."""
        if file not in self.read:
            self.read.append(file)
        return file

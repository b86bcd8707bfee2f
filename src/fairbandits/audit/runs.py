"""Recorded runs as arrays: `runs("regret_5_*", policy="lfg", eta_exponent=0.5)`.

`Runs` are a selection: calling it selects further, `each` goes through its groups, and a selection
of one run is that run: `run["regret"]`, `run.end("plays")`, `run.T`. Values are arrays (replicate,
round, arm), without the axes that a measure does not have.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from fairbandits.audit.arrays import late_weights, logspaced
from fairbandits.audit.measures import Cell, Recorded
from fairbandits.audit.tests import LABELS, READINGS, in_words, labelled
from fairbandits.data.provenance import replay_code
from fairbandits.data.store import StoreError, read_footer, read_table
from fairbandits.lookup import nearest
from fairbandits.rationals import rational
from fairbandits.replication.datasets import (
    expect,
    expect_all_rows,
    expect_experiment,
    load_dataset,
    shrunk,
)
from fairbandits.replication.recorded import runs_of
from fairbandits.settings.config import Config, Experiment
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

KEYS = ["run", "round", "horizon"]
#: Bytes of columns that are kept for the next claims.
KEPT = 1_500_000_000


class Points(NamedTuple):
    """What a slope is taken of: positions on its axis, and the replicates at each."""

    x: Sequence[float]
    values: Sequence[np.ndarray]


class Runs(Sequence):
    """A selection of recorded runs; of one, its values."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._cells = tuple(cells)

    # ------------------------------------------------------------------------- selections

    def __call__(self, *names: str | Iterable[str], **coordinates: Any) -> Self:
        """Select by experiment or suite, * for any text, and by coordinates (values or lists)."""
        patterns, cells = _flat(names), list(self._cells)
        if patterns:
            homes = {name for cell in cells for name in _homes(cell)}
            chosen = {home for home in homes for pattern in patterns if fnmatchcase(home, pattern)}
            if not chosen:
                problem = f"no run of {' or '.join(patterns)} here"
                raise ValueError(_unknown(problem, patterns[0], homes))
            cells = [cell for cell in cells if _homes(cell) & chosen]
        for name, wanted in coordinates.items():
            having = [(cell, cell.coordinate(name)) for cell in cells if cell.has(name)]
            kept = [cell for cell, value in having if _is_one_of(value, wanted)]
            if not having:
                keys = ("T", "N", "tau", "law", "policy")
                known = dict.fromkeys(each for cell in cells for each in (*cell.parameters, *keys))
                raise ValueError(_unknown(f"no run has a coordinate {name!r}", name, known))
            if not kept:
                values = dict.fromkeys(str(value) for _, value in having)
                problem = f"no run has {name} = {wanted!r}"
                raise ValueError(_unknown(problem, str(wanted), values))
            cells = kept
        return type(self)(cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Self]:
        return (type(self)([cell]) for cell in self._cells)

    def __add__(self, other: "Runs") -> Self:
        return type(self)([*self._cells, *other._cells])

    def __repr__(self) -> str:
        cells = (
            cell.place + "".join(f" {name} = {value:g}" for name, value in cell.run.cell.items())
            for cell in self._cells
        )
        return f"<Runs: {'; '.join(cells)}>"

    def each(self, *names: str, reading: str = "") -> Iterator[Self]:
        """Loop over groups with the same coordinates, which label cases; one can be a reading."""
        groups: dict[tuple, list[Cell]] = {}
        for cell in self._cells:
            key = tuple(cell.coordinate(name) for name in names)
            under = [cell.coordinate(reading)] if reading else []
            groups.setdefault((key, *under), []).append(cell)
        labels = ([in_words(*pair) for pair in zip(names, key, strict=True)] for key, *_ in groups)
        cases = labelled(LABELS, zip(labels, map(type(self), groups.values()), strict=True))
        under = labelled(READINGS, ((names, None) for _, *names in groups))
        return (group for _, group in zip(under, cases, strict=True))

    @property
    def longest(self) -> Self:
        """The runs with the largest horizon."""
        return self(T=max(cell.horizon for cell in self._cells))

    @property
    def shortest(self) -> Self:
        """The runs with the smallest horizon."""
        return self(T=min(cell.horizon for cell in self._cells))

    def over(self, name: str | Callable, of: str | Callable) -> Points:
        """Return a coordinate of each run, in its order, and the runs' values, for a slope."""
        x = name if callable(name) else lambda run: getattr(run, name)
        value = of if callable(of) else lambda run: run.end(of)
        pairs = sorted(((x(run), run) for run in self), key=itemgetter(0))
        if len({position for position, _ in pairs}) < len(pairs):
            raise ValueError(f"two runs have one value on the axis of the slope: {self}")
        return Points([position for position, _ in pairs], [value(run) for _, run in pairs])

    # -------------------------------------------------------------------------- of one run

    @property
    def config(self) -> Cell:
        """Facts as configured: `means`, `targets`, `quotas`, `spec`."""
        if len(self._cells) != 1:
            raise ValueError(f"one run is wanted, and there are {len(self)}: {self}")
        return self._cells[0]

    def __getattr__(self, name: str) -> Any:
        """Return a coordinate, which all runs share: policy, law, T, N, tau, parameters."""
        if name.startswith("_"):
            raise AttributeError(name)
        values = [cell.coordinate(name) for cell in self._cells]
        if any(value != values[0] for value in values):
            raise ValueError(f"{name} is not one value here: {', '.join(map(str, values))}")
        return values[0]

    @property
    def rounds(self) -> np.ndarray:
        """Recorded rounds, increasing."""
        return self.config.rounds

    def __getitem__(self, name: str | int) -> Any:
        if isinstance(name, int):
            return type(self)([self._cells[name]])
        return self.config[name]

    def at(self, name: str, rounds: Any) -> np.ndarray:
        """Return a measure at the last recorded round at or before one, or each of several."""
        axes, values = self.config.measure(name).axes, self[name]
        return values if "t" not in axes else self.pick(values, rounds, "r" in axes)

    def end(self, name: str) -> np.ndarray:
        """Return a measure at the last round."""
        return self.at(name, self.T)

    def pick(self, values: np.ndarray, rounds: Any, replicates: bool = True) -> np.ndarray:
        """Return values (replicate, round, ...) at a round, or at several."""
        wanted = np.asarray(rounds, float)
        places = np.maximum(np.searchsorted(self.rounds, wanted * (1 + 1e-12), side="right") - 1, 0)
        # a measure without rounds has one place
        places = np.minimum(places, values.shape[int(replicates)] - 1)
        return np.take(values, places, axis=int(replicates))

    def late(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over the rounds T/2 to T."""
        return np.einsum("rt...,t->r...", values, late_weights(self.rounds))

    def late_spread(self, values: np.ndarray) -> np.ndarray:
        """Return the standard deviation over the rounds T/2 to T, in each replicate."""
        return np.sqrt(self.late((values - self.late(values)[:, None]) ** 2))

    def spaced(self, count: int, first: float = 1) -> np.ndarray:
        """Return log-spaced recorded rounds from `first` to T."""
        return logspaced(self.rounds, count, first)


class Evidence:
    """The runs of a paper, `runs("experiment", ...)`; only the columns asked for are read."""

    def __init__(self, config: Config, paper: str, results: Path, root: Path = ROOT) -> None:
        self.config, self.paper, self.results, self.root = config, paper, results, root
        self.seed = config.root_seed  # of numbers drawn while claims are judged
        self.most = config.most  # the largest number of an argument of an enumeration
        self.read: dict[str, None] = {}  # datasets in the order in which they were first read
        self.small = False  # whether a dataset has fewer rounds or replicates than configured
        self._problems: dict[Path, str] = {}
        self._known: dict[str, list[Cell]] = {}

    def __call__(self, *names: str | Iterable[str], **coordinates: Any) -> Runs:
        """Select runs by experiment or suite, * for any text, and by coordinates.

        Without a name they are all runs of the paper, or of the study.
        """
        known = self.named
        blocks: dict[str, Experiment] = {}
        for pattern in _flat(names) or [name for name in known if "/" not in name]:
            if not (matching := [name for name in known if fnmatchcase(name, pattern)]):
                raise ValueError(_unknown(f"no experiment {pattern!r}", pattern, known))
            blocks |= {block.dataset: block for name in matching for block in known[name]}
        cells = [cell for block in blocks.values() for cell in self._of(block)]
        return Runs(cells)(**coordinates)

    @cached_property
    def named(self) -> Mapping[str, list[Experiment]]:
        """The paper's experiments by their names and suites; of others after ``PAPER/``."""
        known: dict[str, list[Experiment]] = {}
        for block in self.config.experiments:
            of = "" if block.paper == self.paper else f"{block.paper}/"
            for name in dict.fromkeys(filter(None, (block.name, block.suite))):
                known.setdefault(f"{of}{name}", []).append(block)
        return known

    @property
    def published(self) -> Mapping[str, Any]:
        """Numbers that were read off the paper's figures, as published.yaml has them."""
        return read_yaml(paper_file(self.paper, "published", self.root))

    def configured(self, experiment: str) -> Experiment:
        """Return an experiment as configured, without its runs: `means`, `targets`, `horizon`."""
        return self.config.experiment(self.paper, experiment)

    def replay(self, name: str) -> pa.Table:
        """Return the recorded output of a released program."""
        dataset = f"{self.paper}/{name}.parquet"
        expect(read_footer(self.results / dataset), {"code": replay_code()}, self.results / dataset)
        self.read[dataset] = None
        return read_table(self.results / dataset)

    def problem(self, experiment: Experiment) -> str:
        """Return why an experiment's dataset cannot be judged, empty if it can; check it once."""
        file = self.results / experiment.dataset
        if file not in self._problems:
            self._problems[file] = ""
            try:
                footer = read_footer(file)
                expect_experiment(footer, experiment, file)
                expect(footer, {"seed": self.config.root_seed}, file)
                self.small |= shrunk(footer, experiment)
                expect_all_rows(file, guarded=True)
            except StoreError as error:
                self._problems[file] = str(error)
        return self._problems[file]

    def _of(self, block: Experiment) -> list[Cell]:
        key = str(block.dataset)
        if key not in self._known:
            if problem := self.problem(block):
                raise StoreError(problem)
            kept = self._known
            while sum(c.run.values.nbytes for cells in kept.values() for c in cells) > KEPT:
                del kept[next(iter(kept))]  # what was read first
            kept[key] = list(self.cells(block))
        self.read[key] = None
        return self._known[key]

    def cells(self, block: Experiment) -> Iterator[Cell]:
        """Yield the cells of an experiment, whose columns are read when they are asked for."""
        file = self.results / block.dataset
        table, footer = load_dataset(file, KEYS)
        columns: dict[str, list[np.ndarray | None]] = {}
        recorded = Recorded(block, footer, list(runs_of(table, footer)))
        for index, run in enumerate(recorded.runs):
            object.__setattr__(run, "values", _Columns(file, columns, index))
            yield Cell(recorded, run)


class _Columns(Mapping):
    """The columns of one run, read from its dataset when they are first asked for."""

    def __init__(self, file: Path, known: dict[str, list[np.ndarray | None]], index: int) -> None:
        self.file, self.place = file, index
        self.known = known  # of all runs of the dataset

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.known:
            table, footer = load_dataset(self.file, [*KEYS, name])
            table = table.combine_chunks()  # so that runs are views of it
            self.known[name] = [run.values.get(name) for run in runs_of(table, footer)]
        if (values := self.known[name][self.place]) is None:
            raise KeyError(name)
        return values

    @property
    def nbytes(self) -> int:
        columns = (runs[self.place] for runs in self.known.values())
        return sum(column.nbytes for column in columns if column is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def _flat(names: Iterable[str | Iterable[str]]) -> list[str]:
    return [item for name in names for item in ([name] if isinstance(name, str) else name)]


def _homes(cell: Cell) -> set[str]:
    return {cell.coordinate("experiment"), cell.coordinate("suite")}


def _unknown(problem: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    return problem + (nearest(name, names) or f", but {', '.join(names)}")


def _is_one_of(value: Any, wanted: Any) -> bool:
    is_number = not isinstance(value, str) and value is not None
    several = wanted if isinstance(wanted, list | tuple) else [wanted]
    return any(
        value == (rational("a coordinate", item) if is_number and isinstance(item, str) else item)
        for item in several
    )


def paired(*values: np.ndarray) -> list[np.ndarray]:
    """Return the replicates that all arrays have."""
    return [array[: min(map(len, values))] for array in values]

"""A tiny generated run: arrays with the names, shapes and coordinates of the real ones.

All claims are asked on it, and nothing is judged: a misspelt experiment, measure, coordinate, arm
or reading, two cases with one label, a test without a control and a wrong shape are found in
seconds, without any data. Values are arbitrary, so what depends on them is not checked.
"""

import ast
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairbandits.audit.answers import answers
from fairbandits.audit.claims import Claim, Paper
from fairbandits.audit.finding import Answer
from fairbandits.audit.measures import Cell, Recorded
from fairbandits.audit.runs import Evidence
from fairbandits.audit.tests import Case, Deferred
from fairbandits.data.dictionary import RECORDED
from fairbandits.library.simulation import probes_of
from fairbandits.observers import make_observer
from fairbandits.policies import make_policy
from fairbandits.replication.recorded import RunData
from fairbandits.replication.simulate import KEPT, _settled, recorded_rounds
from fairbandits.settings.config import Config, Experiment
from fairbandits.settings.schemas import ROOT
from fairbandits.settings.spec import RunSpec, swept

#: Replicates, and the most rounds of a run that are kept.
REPLICATES, ROUNDS = 4, 3000
DEFICITS = [prefix + name for prefix in ("", "floor_") for name in ("deficit", "deficit_sup")]
#: What a paper's claims can import, besides files beside them.
ALLOWED = ("fairbandits", "numpy", "scipy", "math", "fractions", "itertools", "functools", "typing")
ALLOWED += ("collections", "dataclasses", "numba", "sympy")


class Tiny(Evidence):
    """Runs of the configured policies, laws, horizons and rounds, with arbitrary values."""

    def __init__(self, config: Config, paper: str, root: Path = ROOT) -> None:
        super().__init__(config, paper, Path(), root)

    def problem(self, experiment: Experiment) -> str:
        return ""

    def cells(self, block: Experiment) -> Iterator[Cell]:
        footer = block.facts() | {"replicates": REPLICATES}
        runs = [
            RunData(
                run.name,
                run.name.removesuffix(f"-{run.spec.law}"),
                run.spec.law,
                rounds := _few(recorded_rounds(run.spec, run.spec.horizon_of(cell))),
                _Made(run.name, rounds, run.spec, cell),
                {name: swept(value) for name, value in cell.items()},
                run.spec,
            )
            for run in block.runs
            for cell in run.spec.cells
        ]
        recorded = Recorded(block, footer, runs)
        return (Cell(recorded, run) for run in runs)

    def replay(self, name: str) -> pa.Table:
        block = next(block for block in self.config.replays if block.name == name)
        self.read[block.table] = None
        figures = self.published["figures"].values()
        points = [point for figure in figures for point in figure["values"]]
        read_off = [p["round"] for p in points if p.get("round", np.inf) <= block.horizon]
        rounds = np.unique([*read_off, 1, block.horizon])
        names = [f"{quantity}_{k}" for quantity in ("queue", "rate") for k in (1, 2)]
        columns = dict.fromkeys(["regret", *names], rounds.astype(float))
        return pa.table({"round": rounds} | columns)


class _Made(dict):
    """Columns of a run, made up when they are asked for."""

    def __init__(
        self, name: str, rounds: np.ndarray, spec: RunSpec, cell: Mapping[str, Any]
    ) -> None:
        self.name, self.rounds, self.spec, self.cell = name, rounds, spec, cell

    nbytes = 0

    def __contains__(self, column: object) -> bool:
        return column in _columns(self.spec, self.cell)

    def __missing__(self, column: str) -> np.ndarray:
        if column not in self:
            raise KeyError(column)
        rng = np.random.default_rng(zlib.crc32(f"{self.name} {column}".encode()))
        values = rng.random((REPLICATES, self.rounds.size, self.spec.n_arms))
        if column == "quota":  # numerators
            values = np.ones(values.shape, int)
        elif RECORDED[column].grows or column in ("plays", "reward"):
            steps = np.diff(self.rounds, prepend=0)[:, None] / self.spec.n_arms
            part = 0.1 if column == "reward" else 2
            values = np.cumsum(np.rint(part * values * steps), axis=1)
            values = values.astype(np.int64) if column == "plays" else values
        elif RECORDED[column].unit in ("pulls", "rounds"):  # whole numbers
            values = np.rint(9 * values)
        self[column] = values
        return values


#: Columns by what they depend on: all of a specification but its instance and horizons.
_COLUMNS: dict[tuple[str, str], frozenset[str]] = {}


def _columns(spec: RunSpec, cell: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns that a run records, by its policy, observers and quotas."""
    same = {"stream": "", "law": "", "means": (), "horizon": 0, "horizons": ()}
    key = repr(replace(spec, **same)), repr(cell)
    if key not in _COLUMNS:
        policy, observe, *_ = _settled(spec, cell, 0, 0)
        made = make_policy(spec.policy, policy, where="", source=spec.policy_source)
        probes = probes_of(made, [make_observer(*item, where="") for item in observe.items()])
        names = {"plays", "reward", *(name for part in probes for name in part)}
        names |= {"mean"} if spec.drawn_means else set()
        names |= {*DEFICITS} if spec.quotas or spec.drawn_quotas else set()
        names = names if spec.record is None else names & {*KEPT, *spec.record}
        _COLUMNS[key] = frozenset(names | ({"quota"} if spec.drawn_quotas else set()))
    return _COLUMNS[key]


def _few(rounds: np.ndarray) -> np.ndarray:
    """Return some of the rounds, evenly and log-spaced, with the last."""
    if rounds.size <= ROUNDS:
        return rounds
    even = np.linspace(0, rounds.size - 1, ROUNDS // 2).astype(int)
    logged = np.searchsorted(rounds, np.geomspace(1, rounds[-1], ROUNDS // 2))
    return rounds[np.unique([*even, *logged])]


def asked(claim: Claim, paper: Paper, runs: Tiny) -> list[Answer]:
    """Return the answers of a claim without findings; a message says what is wrong."""

    def check(case: Case, answer: Answer, runs: Evidence) -> None:  # what needs no numbers
        if isinstance(case.data, Deferred):
            case.data.expect()

    with np.errstate(all="ignore"):
        return answers(claim, paper, runs, check)


def read_by(paper: Paper, config: Config) -> list[str]:
    """Return the datasets that a paper's claims read, relative to the folder of results."""
    runs = Tiny(config, paper.slug)
    claims = [claim for claim in paper.claims.values() if claim.of]
    return list(dict.fromkeys(file for c in claims for file in asked(c, paper, runs)[-1].data))


def problems(paper: Paper, config: Config) -> Iterator[str]:
    """Yield what is wrong of a paper's claims, with file and line."""
    for file in sorted(paper.file.parent.glob("*.py")):
        yield from _imports(file)
    runs = Tiny(config, paper.slug)
    for claim in paper.claims.values():
        if claim.of:
            messages = (answer.message for answer in asked(claim, paper, runs))
            if problem := next(filter(None, messages), ""):
                yield f"{claim.id}: {problem}"


def _imports(file: Path) -> Iterator[str]:
    """Yield what a file imports that claims must not read, with its line."""
    beside = [path.stem for path in file.parent.glob("*.py")]
    for node in ast.walk(ast.parse(file.read_bytes())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        for name in names:
            if name.partition(".")[0] not in (*ALLOWED, *beside):
                yield f"{file.name}, line {node.lineno}: a claim cannot import {name}"

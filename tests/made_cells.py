"""Cells of made-up columns, for tests of measures and of what claims ask."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np

from fairbandits.audit.claims import load
from fairbandits.audit.measures import Cell, Recorded, measures
from fairbandits.audit.runs import Runs
from fairbandits.rationals import rational
from fairbandits.replication.recorded import RunData
from fairbandits.settings.schemas import ROOT
from fairbandits.settings.spec import RunSpec

#: The measures of a paper's runs, by paper, once they are loaded.
OWN = {}


def claims_module(paper) -> ModuleType:
    """Return the module of a paper's claims, whose measures are registered.

    Another test can have loaded another file of this paper, and with it other measures.
    """
    file = ROOT / "papers" / paper / "claims.py"
    if measures(paper) != OWN.get(paper):
        load(file)
        OWN[paper] = measures(paper)
    return sys.modules[f"claims of {file}"]


def cell_of(paper, values, rounds, *, name="made", targets=(), swept=None, **spec):
    """Return a cell of made-up columns, each of shape (replicates, rounds, arms).

    `swept` has the value of each swept parameter, `spec` what is not as usual in the run.
    """
    claims_module(paper)
    swept = swept or {}
    usual = {"stream": "made", "policy": "fair_learn", "parameters": {}, "law": "bernoulli"}
    usual |= {"horizon": int(rounds[-1]), "checkpoints": {}, "means": (0.9, 0.5)}
    spec = usual | {"sweep": {key: [value] for key, value in swept.items()}} | spec
    arrays = {column: np.asarray(one) for column, one in values.items()}
    replicates = max([1, *map(len, arrays.values())])
    footer = {"replicates": replicates, "labels": {name: name}, "targets": list(targets)}
    at = {key: float(rational(key, value)) for key, value in swept.items()}
    run = RunData(
        f"{name}-bernoulli", name, spec["law"], np.asarray(rounds), arrays, at, RunSpec(**spec)
    )
    experiment = SimpleNamespace(name="made", suite="", instance="", paper=paper)
    return Cell(Recorded(experiment, footer, [run]), run)


def run_of(cell):
    """Return a run of one cell, as claims have it."""
    return Runs([cell])


def value(name, cell):
    """Return a measure of a cell, without axes of size 1."""
    return np.squeeze(cell[name])


def end(name, cell):
    """Return a measure of a cell in the last round, as a list."""
    return np.ravel(run_of(cell).end(name)).tolist()


def asked(paper, claim, *cells):
    """Return the tests of a claim about runs of these cells, whatever it selects them by."""
    function = claims_module(paper).paper.claims[claim].of
    return list(function(lambda *names, **coordinates: Runs(cells)))

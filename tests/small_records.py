"""What the tests of the four ledgers' words share: cells of made-up columns."""

from types import SimpleNamespace

import numpy as np
from fairbandits.audit.expressions import evaluate, parse

import real
from fairbandits.audit import cases
from fairbandits.audit.cells import Cell, Recorded
from fairbandits.rationals import rational
from fairbandits.replication.recorded import RunData
from fairbandits.settings.spec import RunSpec

#: What a scope needs of its evidence.
MADE = SimpleNamespace(paper="made", config=SimpleNamespace(most={}))


def ledger_test(claim, test):
    """Return a test of the ledgers."""
    (ledger,) = (one for one in real.ledgers().values() if claim in one.claims)
    (found,) = (one for one in ledger.claims[claim].tests if one.name == test)
    return found


def written(claim, test, name):
    """Return an input of a ledger's test, as it is written there."""
    return ledger_test(claim, test).inputs[name]


def cell_of(values, rounds, *, name="made", targets=(), swept=None, experiment=None, **spec):
    """Return a cell of made-up columns, each of shape (replicates, rounds, arms).

    `swept` has the value of each swept parameter, `spec` what is not as usual in the run.
    """
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
    experiment = {"name": "made", "suite": "", "instance": ""} | (experiment or {})
    return Cell(Recorded(SimpleNamespace(**experiment), footer, [run]), run)


def evaluated(text, cell, **known):
    """Return what an expression is of a cell, with all its axes."""
    return evaluate(parse(text), cases.CaseScope(MADE, cell, known))


def numbers(text, cell, **known):
    """Return what an expression is of a cell, as a list."""
    return np.ravel(evaluated(text, cell, **known)).tolist()


def value(text, cell, **known):
    """Return what an expression is of a cell, without axes of size 1."""
    return np.squeeze(evaluated(text, cell, **known))

"""Every test of the ledgers has its estimator, and what the audit is made of has a fingerprint."""

import ast

import pytest

from fairbandits.audit.estimates import ESTIMATORS, estimates, load_estimators
from fairbandits.audit.ledger import load_ledgers
from fairbandits.audit.procedures import PROCEDURES, STATISTICS, judged_against
from fairbandits.experiments.config import load_config
from fairbandits.experiments.schemas import ROOT
from fairbandits.provenance import AUDIT, PACKAGE, SIMULATION

LEDGERS = load_ledgers(load_config([ROOT / "config" / "config.yaml"]))
TESTS = {
    (claim.id, test.name): test
    for ledger in LEDGERS.values()
    for claim in ledger.claims.values()
    for test in claim.tests
}
#: What the audit imports and its numbers do not depend on: names, places and records.
WITHOUT = (
    "__init__.py",
    "provenance.py",
    "experiments/__init__.py",
    "experiments/checks.py",
    "experiments/config.py",
    "experiments/schemas.py",
)


def test_every_test_says_what_it_asks_or_has_an_estimator():
    silent = {key for key, test in TESTS.items() if test.plan is None}
    assert sorted(silent - load_estimators().keys()) == []


def test_every_estimator_has_a_test():
    assert sorted(load_estimators().keys() - TESTS.keys()) == []


def test_a_test_has_one_estimator():
    claim = ("t-twice", "mean")
    register = estimates(*claim)
    try:
        register(lambda evidence: iter(()))
        with pytest.raises(ValueError, match="t-twice: test 'mean' has an estimator already"):
            register(lambda evidence: iter(()))
    finally:
        ESTIMATORS.pop(claim)


def test_every_procedure_says_what_its_statistic_is():
    assert STATISTICS.keys() == PROCEDURES.keys()


def files_of(parts):
    """Return the source files below parts of the package."""
    return {
        file
        for part in parts
        for place in [PACKAGE / part]
        for file in ([place] if place.is_file() else place.rglob("*.py"))
    }


def imported(file):
    """Return the package's own source files that a file imports, and those they are in."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        for name in names:
            parts = name.split(".")
            if parts[0] == "fairbandits":
                place = PACKAGE.joinpath(*parts[1:])
                found |= {place.with_suffix(".py"), place / "__init__.py"}
    return {one for one in found if one.is_file()}


def test_the_fingerprint_has_all_that_verdicts_depend_on():
    known = files_of((*AUDIT, *SIMULATION, *WITHOUT))
    for file in sorted(files_of(AUDIT)):
        missing = {one.relative_to(PACKAGE).as_posix() for one in imported(file) - known}
        assert not missing, f"{file.name} imports {missing}; see fairbandits.provenance.AUDIT"


def test_what_is_judged_against_is_a_number_for_each_rule():
    from fairbandits.audit.finding import INCONCLUSIVE, Finding

    finding = Finding(0.0, 0.0, 0.0, 1, None, INCONCLUSIVE, (), {"printed": 1, "allowed rise": 2})
    for ledger in LEDGERS.values():
        for claim in ledger.claims.values():
            for test in claim.tests:
                against = judged_against(test.procedure, {"limit": 3}, test.settings, finding)
                assert against, (claim.id, test.name)
                assert all(isinstance(value, float) for value in against.values())

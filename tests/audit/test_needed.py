"""`fairbandits power`: how many replicates each question has, and how many decide it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import real
from fairbandits.audit import run
from fairbandits.audit.cases import Question
from fairbandits.audit.finding import INCONCLUSIVE, REPRODUCED
from fairbandits.audit.grades import replicates_needed
from fairbandits.audit.procedures import PROCEDURES
from fairbandits.cli.main import main

LEDGER = real.ledgers()["banditq"]
CLAIM = next(claim for claim in LEDGER.claims.values() if claim.tests)


def judged_by(procedure, **settings):
    """Return a deciding test of the ledger that reads runs."""
    tests = (test for claim in LEDGER.claims.values() for test in claim.tests)
    return next(
        test
        for test in tests
        if test.decides and test.reads_runs and test.procedure == procedure
        if settings.items() <= test.settings.items()
    )


@pytest.fixture
def ledgers():
    """A ledger with two claims; one has a test that only qualifies it."""
    mean, exact = judged_by("mean", claim="at most"), judged_by("exact")
    tests = {"t-mean": (mean, replace(mean, name="beside", decides=False)), "t-exact": (exact,)}
    claims = {
        key: replace(CLAIM, id=key, experiments=(), readings=(), tests=own)
        for key, own in tests.items()
    }
    return {"banditq": replace(LEDGER, claims=claims)}


def spread(mean, n=30, sd=0.1):
    values = np.random.default_rng(n).normal(size=n)
    return mean + sd * (values - values.mean())


def ask(claim, test, evidence):
    assert test.decides
    if test.procedure == "exact":
        yield Question({"values": [0, 0, 0]})
    else:
        yield Question({"values": spread(0.98), "against": 1.0}, "T = 1")
        yield Question({"values": np.tile([0.5, 1.5], 15), "against": 1.0}, "T = 2")
        yield Question({"values": [], "against": 1.0}, "T = 3")


@pytest.fixture
def needed(ledgers, tmp_path):
    return list(run.needed(real.config(), ledgers, "banditq", tmp_path, ask=ask))


def test_each_deciding_question_has_its_number(needed, ledgers):
    near, on, none, exact = needed
    assert (near.why, none.why) == ("", "")
    assert on.why == "the estimate is the limit itself"
    assert exact.why == "it does not average replicates"
    assert [one.answer.each for one in needed[:3]] == ["T = 1", "T = 2", "T = 3"]
    (test, _) = ledgers["banditq"].claims["t-mean"].tests
    assert near.answer.finding.verdict == INCONCLUSIVE
    assert near.replicates == replicates_needed("mean", test.settings, near.answer.finding)
    assert near.replicates > near.answer.finding.n
    assert math.isinf(on.replicates)
    assert (none.answer.finding, none.replicates) == (None, None)
    assert (exact.answer.finding.verdict, exact.replicates) == (REPRODUCED, None)


def test_the_number_found_decides(needed, ledgers):
    n = int(needed[0].replicates)
    judge = PROCEDURES["mean"]
    (test, _) = ledgers["banditq"].claims["t-mean"].tests
    assert judge(spread(0.98, n), 1.0, **test.settings).verdict == REPRODUCED


def test_without_datasets_each_claim_says_so(tmp_path):
    result = CliRunner().invoke(
        main, ["power", "fair_ucb", "--results", str(tmp_path), "--only", "fairucb-thm2-bound"]
    )
    assert result.exit_code == 0, result.output
    line = next(one for one in result.output.splitlines() if one.startswith("fairucb-thm2-bound"))
    assert "failed" in line
    assert "does not exist" in line

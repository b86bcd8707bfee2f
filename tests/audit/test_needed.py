"""`fairbandits power`: how many replicates each question has, and how many decide it."""

import math

import numpy as np
import pytest
from click.testing import CliRunner

import real
from fairbandits.audit import cells, run
from fairbandits.audit.cases import Question
from fairbandits.audit.finding import INCONCLUSIVE, REPRODUCED
from fairbandits.audit.grades import replicates_needed
from fairbandits.audit.procedures import PROCEDURES
from fairbandits.cli.main import main
from small_ledgers import claim, ledgers_of, spread


@pytest.fixture
def ledgers(tmp_path):
    """A ledger with two claims; one has a test that only qualifies it."""
    mean = claim()["tests"]["mean"]
    beside = mean | {"decides": False, "meaning": "How large it is"}
    exact = {"rule": "exact", "inputs": {"values": "total(reward) @ T"}}
    claims = {
        "t-mean": claim(tests={"mean": mean | {"each": ["T"]}, "beside": beside}),
        "t-exact": claim(kind="invariant", tests={"exact": exact}),
    }
    return ledgers_of(real.config(), tmp_path, claims)


def ask(claim, test, evidence):
    assert test.decides
    if test.procedure == "exact":
        yield Question({"values": [0, 0, 0]})
    else:
        yield Question({"values": spread(0.98), "against": 1.0}, "T = 1")
        yield Question({"values": np.tile([0.5, 1.5], 15), "against": 1.0}, "T = 2")
        yield Question({"values": [], "against": 1.0}, "T = 3")


@pytest.fixture
def needed(ledgers, tmp_path, monkeypatch):
    monkeypatch.setattr(cells.Evidence, "check", lambda self, name: None)
    evidence = cells.Evidence(real.config(), "banditq", tmp_path)
    return list(run.needed(ledgers["banditq"], evidence, ask=ask))


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

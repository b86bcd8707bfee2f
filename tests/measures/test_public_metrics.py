"""What `fairbandits.metrics` offers: by which names, with which shapes, without a run's code."""

import inspect

import numpy as np
import pandas as pd
import pytest

import fairbandits as fb
from fairbandits.audit.code import JUDGING
from fairbandits.data import provenance

ROUNDS = np.array([10, 40, 60])
QUOTAS = ("1/5", "3/10", "1/4")
TARGETS = (0.1, 0.05, 0.0)
N_REPLICATES, N_ARMS = 4, 3


@pytest.fixture
def plays(rng):
    drawn = [rng.multinomial(t, [0.5, 0.3, 0.2], N_REPLICATES) for t in ROUNDS]
    return np.stack(drawn, axis=1)


def calls(plays, means, rewards):
    """Return each measure of the round, called as its documentation says."""
    m, groups = fb.metrics, ((2, 1), ("1/5", "3/10"))
    return {
        "regret": m.regret(plays, means),
        "r_regret": m.r_regret(ROUNDS, plays, means, QUOTAS),
        "target_regret": m.target_regret(ROUNDS, plays, means, TARGETS),
        "realised_regret": m.realised_regret(ROUNDS, rewards, means, TARGETS),
        "target_violation": m.target_violation(ROUNDS, rewards, TARGETS),
        "group_regret": m.group_regret(ROUNDS, plays, means, *groups),
        "violation": m.violation(ROUNDS, plays, QUOTAS),
        "unfairness": m.unfairness(ROUNDS, plays, QUOTAS),
        "mean_reward": m.mean_reward(plays, means),
        "penalised_loss": m.penalised_loss(ROUNDS, plays, means, QUOTAS, 0.3),
        "penalised_regret": m.penalised_regret(ROUNDS, plays, means, QUOTAS, 0.3),
        "jain_index": m.jain_index(plays),
    }


@pytest.mark.parametrize("drawn", [False, True], ids=["one instance", "one for each"])
def test_measures_of_the_round_have_one_shape(plays, rng, drawn):
    means = rng.uniform(0.4, 0.9, (N_REPLICATES, N_ARMS) if drawn else N_ARMS)
    rewards = plays * means[:, None, :] if drawn else plays * means
    measured = calls(plays, means, rewards)
    for name, values in measured.items():
        assert values.shape == (N_REPLICATES, ROUNDS.size), name
    for r in range(N_REPLICATES):
        alone = calls(plays[r], means[r] if drawn else means, rewards[r])
        for name, values in measured.items():
            assert alone[name].shape == (ROUNDS.size,), name
            np.testing.assert_allclose(values[r], alone[name], rtol=1e-12, atol=1e-12)


def test_violation_of_pulls_is_that_of_a_result():
    result = fb.run(fb.UCB1(), fb.Instance((0.7, 0.5, 0.4)), 60, 3, quotas=QUOTAS)
    violation = fb.metrics.violation(result.rounds, result.plays, QUOTAS)
    assert violation.tolist() == result.violation().tolist()
    with pytest.raises(ValueError, match=r"quotas must have one entry per arm \(3\), got 2"):
        fb.metrics.violation(result.rounds, result.plays, QUOTAS[:2])
    means = pd.Series([0.4, 0.7, 0.5], index=[2, 0, 1])
    with pytest.raises(ValueError, match=r"means .* with labels \[2, 0, 1\]; write sort_index"):
        fb.metrics.regret(result.plays, means)


def test_all_names_are_there_and_documented():
    assert fb.metrics.__all__ == sorted(fb.metrics.__all__)
    for name in fb.metrics.__all__:
        measure = getattr(fb.metrics, name)
        assert name in dir(fb.metrics)
        assert inspect.getdoc(measure)
    with pytest.raises(AttributeError, match=r"'fairbandits.metrics' has no attribute 'bounds'"):
        fb.metrics.bounds  # noqa: B018


def test_the_library_is_part_of_no_run_and_no_verdict():
    parts = (*provenance.RUNNING, *provenance.COMPILED, *JUDGING, "figures")
    used = set(provenance.used_by(*parts))
    for file in ("comparison", "compiling", "instances", "results", "running"):
        assert (provenance.PACKAGE / "library" / f"{file}.py").is_file()
        assert f"library/{file}.py" not in used

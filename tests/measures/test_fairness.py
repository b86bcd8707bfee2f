"""Measures of fairness and the r-Regret, of whole runs, against their naive twins."""

import numpy as np

import fairbandits as fb
import naive_fair_ucb as twins
from drawn import (
    ROUNDS,
    arms_of,
    instance_of,
    one_of,
    random_quotas,
    recorded,
    settings,
    twin_history,
)
from fairbandits.measures.pulls import r_regret, regret


def assert_same_measures(deficits, replicate, arms, quotas, rounds):
    expected = twins.violations(arms, quotas)
    assert {*deficits} == {*expected}
    for name, values in deficits.items():
        rows = [[float(value) for value in expected[name][t - 1]] for t in rounds]
        assert np.array_equal(values[replicate], np.array(rows)), name  # rounded at most once
        assert (values.dtype.kind == "i") == name.startswith("floor")


@settings
def test_violations_at_every_round(setting, rng):
    instance = instance_of(setting, rng)
    quotas = random_quotas(rng, instance.n_arms)
    policy = one_of(rng, fb.Uniform(), fb.Constant(-1), fb.UCB1(), fb.FairLearn(quotas, "1/2"))
    result = recorded(policy, instance, quotas=quotas)
    assert_same_measures(result.deficits, 0, arms_of(result), quotas, range(1, ROUNDS + 1))


def test_suprema_see_the_rounds_between_checkpoints(rng):
    """And all replicates; the quotas need not be the policy's own."""
    instance, quotas = fb.Instance(rng.uniform(0.1, 0.9, 6), "uniform02"), random_quotas(rng, 6)
    policy = fb.FairLearn(random_quotas(rng, 6), 2, learner="thompson")
    rounds = (1, 2, 10, 61, 150)
    every = recorded(policy, instance, 150, [5, 0, 9], quotas=quotas)
    some = recorded(policy, instance, 150, [5, 0, 9], quotas=quotas, checkpoints=rounds)
    for replicate in range(3):
        assert_same_measures(some.deficits, replicate, arms_of(every, replicate), quotas, rounds)


@settings
def test_regrets(setting, rng):
    instance = instance_of(setting, rng, losses=False)
    means, quotas = instance.means, random_quotas(rng, instance.n_arms)
    tolerance = one_of(rng, 0, 3, "5/2", 0.1)
    rounds, uniform = np.arange(1, ROUNDS + 1), twins.Uniform(len(means))
    histories = [twin_history(uniform, instance, replicate=replicate) for replicate in range(2)]
    plays = np.array([[record["pulls"] for record in history] for history in histories])
    plain = [[twins.regret(row, means) for row in rows] for rows in plays.tolist()]
    fair = [
        [twins.r_regret(t, row, means, quotas, tolerance) for t, row in enumerate(rows, 1)]
        for rows in plays.tolist()
    ]
    np.testing.assert_allclose(regret(plays, means), plain, rtol=1e-12, atol=1e-12)
    regrets = r_regret(rounds, plays, means, quotas, tolerance)
    np.testing.assert_allclose(regrets, fair, rtol=1e-12, atol=1e-11)
    last = r_regret(rounds[-1:], plays[:, -1:], means, quotas, tolerance)
    assert np.array_equal(last, regrets[:, -1:])

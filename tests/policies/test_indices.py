"""MOSS, UCB-V and IMED against their formulas, written a second time."""

import math

import numpy as np
import pytest

from fairbandits import IMED, MOSS, UCBV, Instance, run

MEANS = (0.9, 0.7, 0.4)


def kl(p, q):
    parts = [(p, q), (1 - p, 1 - q)]
    if any(a > 0 and b <= 0 for a, b in parts):
        return math.inf
    return sum(a * math.log(a / b) for a, b in parts if a > 0)


def moss(rewards, t, horizon):
    share = horizon / len(rewards)
    return [np.mean(r) + math.sqrt(max(0, math.log(share / len(r))) / len(r)) for r in rewards]


def ucbv(rewards, t, horizon):
    level = 1.2 * math.log(t)
    return [
        np.mean(r) + math.sqrt(2 * np.var(r) * level / len(r)) + 3 * level / len(r) for r in rewards
    ]


def imed(rewards, t, horizon):
    top = max(map(np.mean, rewards))
    return [
        -(len(r) * (kl(np.mean(r), top) if np.mean(r) < top else 0) + math.log(len(r)))
        for r in rewards
    ]


@pytest.mark.parametrize(("policy", "indices"), [(MOSS(), moss), (UCBV(), ucbv), (IMED(), imed)])
@pytest.mark.parametrize("law", ["bernoulli", "uniform02"])
def test_each_pull_is_of_the_best_index(policy, indices, law):
    horizon, spread = 300, law == "uniform02"
    instance = Instance(means=(0.8, 0.7, 0.4) if spread else MEANS, law=law)
    found = run(
        policy, instance, horizon=horizon, seed=3, replicates=1, checkpoints=range(1, horizon + 1)
    )
    pulls = np.diff(found.plays[0], axis=0, prepend=0)
    arms = pulls.argmax(axis=1)
    gains = np.diff(found.reward()[0], prepend=0.0)
    rewards = [[], [], []]
    for t, (arm, gain) in enumerate(zip(arms, gains, strict=True), 1):
        if all(rewards):
            index = indices(rewards, t, horizon)
            assert index[arm] == pytest.approx(max(index), abs=1e-9)
        else:
            assert not rewards[arm]
        rewards[arm].append(gain)

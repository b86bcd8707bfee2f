"""A policy in plain Python to write tests' policies on, and what a result holds."""

import copy

import numpy as np


class Plain:
    """Pulls the arms in turn, and counts pulls and rewards."""

    feedback = "bandit"

    def start(self, n_arms, horizon):
        fresh = copy.copy(self)
        fresh.n_arms, fresh.pulls, fresh.sums = n_arms, np.zeros(n_arms), np.zeros(n_arms)
        return fresh

    def choose(self, t, coin):
        return (t - 1) % self.n_arms

    def learn(self, t, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward


def arrays_of(result):
    """Return type, shape and bytes of all that a result records."""
    records = vars(result) | result.probes | result.deficits
    arrays = {name: one for name, one in records.items() if isinstance(one, np.ndarray)}
    return {name: (one.dtype, one.shape, one.tobytes()) for name, one in arrays.items()}

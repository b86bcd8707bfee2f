"""Policies in plain Python, as one would first write them, for the comparison of speeds.

They play in the loop of ``tests/naive.py``, which also has the others.
"""

import math


class FairUCB:
    """Fair-UCB on integers: quotas are numerators over one denominator."""

    def __init__(self, quotas, denominator, tolerance):
        arms = len(quotas)
        self.quotas = quotas
        self.denominator = denominator
        self.tolerance = tolerance * denominator
        self.pulls = [0] * arms
        self.sums = [0.0] * arms
        self.t = 1
        self.x = [1 / arms] * arms  # the loop notes it; this policy has no use for it

    def choose(self, _u):
        """Return the arm furthest behind its quota, or else UCB1's."""
        past = self.t - 1
        deficits = [
            p * past - self.denominator * n for p, n in zip(self.quotas, self.pulls, strict=True)
        ]
        worst = max(deficits)
        if worst > self.tolerance:
            return deficits.index(worst)
        if 0 in self.pulls:
            return self.pulls.index(0)
        bonus = 2 * math.log(self.t)
        index = [
            total / n + math.sqrt(bonus / n) for total, n in zip(self.sums, self.pulls, strict=True)
        ]
        return index.index(max(index))

    def advance(self, arm, reward):
        """Record the pull."""
        self.pulls[arm] += 1
        self.sums[arm] += reward
        self.t += 1

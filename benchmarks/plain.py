"""Policies in plain Python, as one would first write them, for the comparison of speeds.

They play in the loop of ``tests/naive.py``, which also has the others.
"""

import itertools
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


class BFUCB:
    """BF-UCB as printed, on integers: quotas are numerators over one denominator."""

    def __init__(self, sizes, quotas, denominator, delta):
        arms = sum(sizes)
        ends = [0, *itertools.accumulate(sizes)]
        self.groups = [range(*pair) for pair in itertools.pairwise(ends)]
        self.initial = len(sizes) * max(sizes)
        self.quotas = quotas
        self.denominator = denominator
        self.delta = delta
        self.served = [0] * len(sizes)
        self.pulls = [0] * arms
        self.sums = [0.0] * arms
        self.t = 1
        self.x = [1 / arms] * arms  # as above

    def optimistic_means(self, g):
        """Return the upper corner of a group's confidence box."""
        arms = self.groups[g]
        width = math.sqrt(2 * math.log(4 * self.served[g] * len(arms) / self.delta))
        return [
            min(1.0, self.sums[arm] / self.pulls[arm] + width / math.sqrt(self.pulls[arm]))
            for arm in arms
        ]

    def promise(self, g):
        """Return what a group would earn a round if it were as good as it may be."""
        upper = self.optimistic_means(g)
        return sum(u * u for u in upper) / sum(upper)

    def next_group(self):
        """Return the group in turn; later the one furthest behind, or else the most promising."""
        past = self.t - 1
        if past < self.initial:
            return past % len(self.groups)
        owed = [
            p * past - self.denominator * n for p, n in zip(self.quotas, self.served, strict=True)
        ]
        if max(owed) > 0:
            return owed.index(max(owed))
        promises = [self.promise(g) for g in range(len(self.groups))]
        return promises.index(max(promises))

    def choose(self, u):
        """Return an arm of the group: one not pulled yet, or else one drawn by merit."""
        g = self.next_group()
        arms = self.groups[g]
        for arm in arms:
            if self.pulls[arm] == 0:
                return arm
        upper = self.optimistic_means(g)
        total = sum(upper)
        cumulated = 0.0
        for arm, merit in zip(arms, upper, strict=True):
            cumulated += merit / total
            if cumulated > u:
                return arm
        return arms[-1]

    def advance(self, arm, reward):
        """Record the pull."""
        self.pulls[arm] += 1
        self.sums[arm] += reward
        self.served[[arm in arms for arms in self.groups].index(True)] += 1
        self.t += 1

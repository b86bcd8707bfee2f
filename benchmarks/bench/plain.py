"""Policies in plain Python, as one would first write them, for the comparison of speeds.

They play in the loop of ``tests/naive.py``, which also has the others.
"""

import itertools
import math

import naive


class Counting:
    """Counts pulls and sums rewards, as all of these do."""

    def __init__(self, arms):
        self.pulls = [0] * arms
        self.sums = [0.0] * arms
        self.t = 1
        self.x = [1 / arms] * arms  # the loop notes it; these policies have no use for it

    def advance(self, arm, reward):
        """Record the pull."""
        self.pulls[arm] += 1
        self.sums[arm] += reward
        self.t += 1


class FairUCB(Counting):
    """Fair-UCB on integers: quotas are numerators over one denominator."""

    def __init__(self, quotas, denominator, tolerance):
        super().__init__(len(quotas))
        self.quotas, self.denominator = quotas, denominator
        self.tolerance = tolerance * denominator

    def choose(self, _coin):
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


class HTUCB(Counting):
    """HT-UCB on integers, with one penalty for all arms."""

    def __init__(self, quotas, denominator, penalty):
        super().__init__(len(quotas))
        self.quotas, self.denominator, self.penalty = quotas, denominator, penalty

    def choose(self, _coin):
        """Return the arm of largest index, raised by the penalty while the arm is short."""
        if 0 in self.pulls:
            return self.pulls.index(0)
        bonus = 2 * math.log(self.t)
        index = []
        for p, n, total in zip(self.quotas, self.pulls, self.sums, strict=True):
            raised = self.penalty if p * self.t > self.denominator * n else 0.0
            index.append(total / n + raised + math.sqrt(bonus / n))
        return index.index(max(index))


class LFG(Counting):
    """LFG with queues in integers: fractions are numerators over one denominator."""

    def __init__(self, fractions, denominator, eta):
        super().__init__(len(fractions))
        self.fractions, self.denominator, self.eta = fractions, denominator, eta
        self.missed = [0] * len(fractions)

    def choose(self, _coin):
        """Return the arm of largest queue plus weighted bound, which is 1 at most and at first."""
        bonus = 1.5 * math.log(self.t)
        index = []
        for queue, n, total in zip(self.missed, self.pulls, self.sums, strict=True):
            bound = min(1.0, total / n + math.sqrt(bonus / n)) if n else 1.0
            index.append(queue / self.denominator + self.eta * bound)
        return index.index(max(index))

    def advance(self, arm, reward):
        """Record the pull, and what is missing now."""
        super().advance(arm, reward)
        self.missed[arm] -= self.denominator
        self.missed = [max(0, q + f) for q, f in zip(self.missed, self.fractions, strict=True)]


def draw(merits, coin):
    """Return a place, drawn in proportion to the merits."""
    total = sum(merits)
    u, cumulated = naive.unit(coin), 0.0
    for at, merit in enumerate(merits):
        cumulated += merit / total
        if cumulated > u:
            return at
    return len(merits) - 1


class BFUCB(Counting):
    """BF-UCB as printed, on integers: quotas are numerators over one denominator."""

    def __init__(self, sizes, quotas, denominator, delta):
        super().__init__(sum(sizes))
        ends = [0, *itertools.accumulate(sizes)]
        self.groups = [range(*pair) for pair in itertools.pairwise(ends)]
        self.initial = len(sizes) * max(sizes)
        self.quotas, self.denominator, self.delta = quotas, denominator, delta
        self.served = [0] * len(sizes)

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

    def group_behind(self):
        """Return the group furthest behind its quota, None if none is behind."""
        past = self.t - 1
        owed = [
            p * past - self.denominator * n for p, n in zip(self.quotas, self.served, strict=True)
        ]
        return owed.index(max(owed)) if max(owed) > 0 else None

    def next_group(self):
        """Return the group in turn; later the one furthest behind, or else the most promising."""
        if self.t <= self.initial:
            return (self.t - 1) % len(self.groups)
        behind = self.group_behind()
        if behind is not None:
            return behind
        promises = [self.promise(g) for g in range(len(self.groups))]
        return promises.index(max(promises))

    def choose(self, coin):
        """Return an arm of the group: one not pulled yet, or else one drawn by merit."""
        g = self.next_group()
        arms = self.groups[g]
        for arm in arms:
            if self.pulls[arm] == 0:
                return arm
        return arms[draw(self.optimistic_means(g), coin)]

    def advance(self, arm, reward):
        """Record the pull."""
        super().advance(arm, reward)
        self.served[[arm in arms for arms in self.groups].index(True)] += 1


class GroupUCB(BFUCB):
    """GEF, and with quotas of 0 UCB: BF-UCB's initial rounds, then the arm of largest index."""

    def choose(self, coin):
        """Return the best arm of the group that is behind, or else of all."""
        if self.t <= self.initial:
            return super().choose(coin)
        behind = self.group_behind()
        arms = range(len(self.pulls)) if behind is None else self.groups[behind]
        bonus = 2 * math.log(self.t)
        index = [self.sums[k] / self.pulls[k] + math.sqrt(bonus / self.pulls[k]) for k in arms]
        return arms[index.index(max(index))]


class FairXUCB(BFUCB):
    """MF as printed: BF-UCB's initial rounds, then any arm, drawn by merit."""

    def __init__(self, sizes, delta, horizon):
        super().__init__(sizes, [0] * len(sizes), 1, delta)
        self.width = math.sqrt(2 * math.log(4 * horizon * sum(sizes) / delta))

    def choose(self, coin):
        """Return an arm drawn by the optimistic means."""
        if self.t <= self.initial:
            return super().choose(coin)
        upper = [
            min(1.0, total / n + self.width / math.sqrt(n))
            for total, n in zip(self.sums, self.pulls, strict=True)
        ]
        return draw(upper, coin)

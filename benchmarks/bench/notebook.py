"""The loop of the program released with BF-UCB, told again in plain Python and small arrays.

Four policies play side by side: BF-UCB, UCB, MF and GEF. What the program does otherwise than the
paper is kept, since it is timed as what one runs today: the initial rounds go group after group and
are shared, delta stands outside the logarithm, a running mean counts the new pull before it
averages, random numbers are rounded to thousandths and may let every arm go by, and MF divides by
BF-UCB's pulls. Nothing here is shared with the package.

Arms count from 0 in the program's numbering, rounds from 1.
"""

import math

import numpy as np

POLICIES = BF, UCB, MF, GEF = "BF-UCB", "UCB", "MF", "GEF"
#: The curves have one point in so many rounds.
EVERY = 1000


class Tally:
    """What one policy knows of the arms, and what it has earned."""

    def __init__(self, arms):
        self.pulls = np.zeros(arms)
        self.mean = np.zeros(arms)
        self.rewards = np.zeros(arms)
        self.share = np.zeros(arms)  # the probabilities that arms were last drawn with
        self.earned = 0.0  # without the initial rounds

    def copy(self):
        """Return another one that starts from here."""
        other = Tally(self.pulls.size)
        other.pulls, other.mean = self.pulls.copy(), self.mean.copy()
        other.rewards = self.rewards.copy()
        return other

    def record(self, arm, reward):
        """Record a pull."""
        self.pulls[arm] += 1
        n = self.pulls[arm]
        self.mean[arm] = (n * self.mean[arm] + reward) / (n + 1)
        self.rewards[arm] += reward
        self.earned += reward


def first_rounds(groups, rounds, uniform, reward):
    """Play the rounds that all policies share: each arm once, then any of the group's."""
    most = max(len(arms) for arms in groups)
    tally = Tally(sum(len(arms) for arms in groups))
    for t in range(1, min(rounds, len(groups) * most) + 1):
        arms = groups[(t - 1) // most]
        turn = (t - 1) % most
        arm = arms[turn] if turn < len(arms) else arms[int(uniform(None, t) * len(arms))]
        tally.pulls[arm] += 1
        tally.rewards[arm] += reward(None, t, arm, int(tally.pulls[arm]))
        tally.mean[arm] = tally.rewards[arm] / tally.pulls[arm]
    return tally


def upper(mean, pulls, width):
    """Return the optimistic means."""
    return np.minimum(1.0, mean + width / np.sqrt(pulls))


def fair_value(mean):
    """Return what arms of these means earn a round if they are drawn in proportion to them."""
    return np.sum(mean**2) / np.sum(mean)


def draw(probabilities, arms, u):
    """Return the arm that the rounded number falls on, arm 0 if there is none."""
    number = round(u, 3)
    cumulated = 0.0
    for k in np.argsort(probabilities, kind="stable"):
        cumulated += probabilities[k]
        if number < cumulated:
            return arms[k]
    return 0


def group_behind(quotas, served, t):
    """Return the group furthest behind its quota, None if none is behind."""
    owed = [max(0.0, quota * (t - 1) - count) for quota, count in zip(quotas, served, strict=True)]
    return int(np.argmax(owed)) if max(owed) > 0 else None


def play(groups, quotas, means, delta, rounds, uniform, reward):
    """Play all rounds.

    Parameters
    ----------
    groups : sequence of list of int
        The arms of each group.
    quotas : sequence of float
        Of each group.
    means : sequence of float
        True means of the arms.
    delta : float
        Confidence.
    rounds : int
        With the initial ones.
    uniform : callable (policy, t) -> float
        A policy's number in [0, 1) for a round; policy ``None`` in the initial rounds.
    reward : callable (policy, t, arm, n) -> float
        What a policy earns in round t if it is its n-th pull of the arm.

    Returns
    -------
    tallies : dict of str to Tally
        What each policy did.
    curves : dict to list of float
        Regret of each policy, and, by the number of the group, how far the probabilities that
        BF-UCB last drew its arms with are from the fair ones.
    """
    n = len(means)
    means = np.array(means)
    first = first_rounds(groups, rounds, uniform, reward)
    bf, ucb, mf, gef = (first.copy() for _ in POLICIES)
    tallies = dict(zip(POLICIES, (bf, ucb, mf, gef), strict=True))
    group_of = {arm: g for g, arms in enumerate(groups) for arm in arms}
    served_bf = [int(sum(first.pulls[arms])) for arms in groups]
    served_gef = list(served_bf)
    fair = [means[arms] / sum(means[arms]) for arms in groups]
    values = [fair_value(means[arms]) for arms in groups]
    best = int(np.argmax(values))
    distance = [0.0] * len(groups)
    curves = {name: [] for name in (*POLICIES, *range(len(groups)))}

    for t in range(len(groups) * max(len(arms) for arms in groups) + 1, rounds + 1):
        # BF-UCB
        g_bf = group_behind(quotas, served_bf, t)
        if g_bf is None:
            promised = []
            for g, arms in enumerate(groups):
                width = math.sqrt(2 * math.log(4 * served_bf[g] * len(arms)) / delta)
                promised.append(fair_value(upper(bf.mean[arms], bf.pulls[arms], width)))
            g_bf = int(np.argmax(promised))
        arms = groups[g_bf]
        width = math.sqrt(2 * math.log(4 * served_bf[g_bf] * len(arms)) / delta)
        merit = upper(bf.mean[arms], bf.pulls[arms], width)
        probabilities = merit / np.sum(merit)
        arm_bf = draw(probabilities, arms, uniform(BF, t))
        bf.share[arms] = probabilities
        distance[g_bf] = np.sum(np.abs(probabilities - fair[g_bf]))

        # UCB and MF, over all arms
        width = math.sqrt(2 * math.log(4 * t * n) / delta)
        arm_ucb = int(np.argmax(upper(ucb.mean, ucb.pulls, width)))
        merit = upper(mf.mean, bf.pulls, width)
        mf.share = merit / np.sum(merit)
        arm_mf = draw(mf.share, range(n), uniform(MF, t))

        # GEF
        g_gef = group_behind(quotas, served_gef, t)
        arms = range(n) if g_gef is None else groups[g_gef]
        width = math.sqrt(2 * math.log(4 * t * len(arms)) / delta)
        arm_gef = arms[int(np.argmax(upper(gef.mean[arms], gef.pulls[arms], width)))]

        served_bf[g_bf] += 1
        served_gef[group_of[arm_gef]] += 1
        for (name, tally), arm in zip(
            tallies.items(), (arm_bf, arm_ucb, arm_mf, arm_gef), strict=True
        ):
            tally.record(arm, reward(name, t, arm, int(tally.pulls[arm]) + 1))

        optimum = (t - 1) * values[best]
        for quota, value in zip(quotas, values, strict=True):
            optimum -= math.floor(quota * (t - 1)) * (values[best] - value)
        regrets = [optimum - tally.earned for tally in tallies.values()]
        if t % EVERY == 0:
            for name, value in zip(curves, regrets + distance, strict=True):
                curves[name].append(float(value))
    return tallies, curves

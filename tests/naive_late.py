"""Reference implementations of policies whose feedback is late or comes in batches.

Plain Python from the definitions, and nothing from ``fairbandits``. A policy is told of a pull at
once and of its reward when that arrives, ``pulled(arm)`` and ``heard(arm, reward)``: so are most of
``naive_fair_ucb`` and ``naive_ht_ucb``. Those here also need to know what they had before.
"""

import math

import naive
from naive_bf_ucb import by_eights, split
from naive_fair_ucb import exactly


def arrival(wrappers, t):
    """Return the round at whose end the feedback of round t arrives; the outermost comes first."""
    for kind, number in wrappers:
        t = t + number if kind == "delayed" else -(-t // number) * number
    return t


def play(policy, wrappers, means, rounds, *address):
    """Return the arms pulled, with Bernoulli rewards of the named streams."""
    reward_at, coin = naive.rewards_of(means, "bernoulli", *address), naive.coins_of(*address)
    arms, sent = [], []
    for t in range(1, rounds + 1):
        for due, arm, reward in sent:
            if due == t - 1:
                policy.heard(arm, reward)
        arm = policy.choose(coin(t))
        policy.pulled(arm)
        arms.append(arm)
        sent.append((arrival(wrappers, t), arm, reward_at(arm, arms.count(arm))))
    return arms


class BFUCB:
    """A group's rounds are those played, in the quota, and those seen, in the widths."""

    def __init__(self, sizes, quotas, cut=True):
        self.groups, self.quotas, self.cut = split(sizes), exactly(quotas), cut
        self.made, self.rewards = [], [[] for _ in range(sum(sizes))]

    def pulled(self, arm):
        self.made.append(arm)

    def heard(self, arm, reward):
        self.rewards[arm].append(reward)

    def optimistic(self, g):
        """Return the optimistic means of a group's arms, 1 without a reward."""
        n, k = sum(len(self.rewards[arm]) for arm in self.groups[g]), len(self.groups[g])
        points = []
        for arm in self.groups[g]:
            rewards, u = self.rewards[arm], 1.0
            if rewards:
                root = math.sqrt(2 * math.log(4 * n * k / 0.01)) / math.sqrt(len(rewards))
                u = sum(rewards) / len(rewards) + root
            points.append(min(1.0, u) if self.cut else u)
        return points

    def choose(self, coin):
        turn, g = divmod(len(self.made), len(self.groups))
        arms = self.groups[g]
        if turn < max(map(len, self.groups)):
            if turn < len(arms):
                return arms[turn]
        else:
            served = [sum(arm in arms for arm in self.made) for arms in self.groups]
            past = len(self.made)
            lacks = [r * past - n for r, n in zip(self.quotas, served, strict=True)]
            if max(lacks) <= 0:
                points = map(self.optimistic, range(len(self.groups)))
                lacks = [sum(u * u for u in point) / sum(point) for point in points]
            g = naive.first_argmax(lacks)
        point = self.optimistic(g)
        shares = [u / by_eights(point) for u in point]
        return self.groups[g][naive.sample(shares, coin)]


class Drawing(naive.Policy):
    """A learner that hears of rewards in order, with the probabilities that it then drew from."""

    def __init__(self):
        self.shares = []

    def choose(self, coin):
        self.shares.append(list(self.x))
        return naive.sample(self.x, coin)

    def heard(self, arm, reward):
        self.learn(arm, reward, self.shares.pop(0))


class EXP3(Drawing):
    def __init__(self, arms, horizon):
        super().__init__()
        self.learner = naive.Exp3(arms, horizon)

    @property
    def x(self):
        return self.learner.x

    def learn(self, arm, reward, x):
        self.learner.log_weights[arm] += self.learner.gamma * reward / x[arm] / len(x)


class FTRL(naive.LogBarrierFTRL):
    """With other probabilities than its own for the moment, in which only a reward is weighted."""

    drawn = None

    @property
    def x(self):
        return self.drawn or super().x


class BanditQ(Drawing):
    def __init__(self, targets, V):
        super().__init__()
        self.policy = naive.BanditQBandit(targets, V)
        self.policy.subroutine = FTRL(len(targets))

    @property
    def x(self):
        return self.policy.x

    def learn(self, arm, reward, x):
        self.policy.subroutine.drawn = x
        self.policy.advance(arm, reward)
        self.policy.subroutine.drawn = None


def play_full(targets, V, wrappers, means, rounds, *address):
    """Return BanditQ's distributions with full information, which steps from where it is."""
    reward_at = naive.rewards_of(means, "bernoulli", *address)
    queues, learner = naive.Queues(targets), naive.OnlineGradientAscent(len(targets))
    played, sent = [], []
    for t in range(1, rounds + 1):
        played.append(list(learner.x))
        rewards = [reward_at(arm, t) for arm in range(len(means))]
        sent.append((arrival(wrappers, t), rewards, played[-1]))
        for due, r, x in sent:
            if due == t:
                queues.serve([one * share for one, share in zip(r, x, strict=True)])
                learner.advance([(q + V) * one for q, one in zip(queues.length, r, strict=True)])
    return played

"""Reference implementations of policies whose feedback is late or comes in batches.

Plain Python from the definitions, and nothing from ``fairbandits``. A policy knows all pulls,
``made``, and the rewards that have arrived, ``seen``, as pairs (arm, reward); whatever it needs is
counted anew from these lists. ``choose(t, coin)`` is given the 64-bit word of the round.
"""

import math
from fractions import Fraction

import naive
from naive_bf_ucb import by_eights, split
from naive_fair_ucb import exactly


def arrival(wrappers, t):
    """Return the round at whose end the feedback of round t arrives; the outermost comes first."""
    for kind, number in wrappers:
        t = t + number if kind == "delayed" else -(-t // number) * number
    return t


def play(policy, wrappers, means, rounds, seed, stream, replicate):
    """Return the arms pulled, with Bernoulli rewards of the named streams."""
    policy.made, sent = [], []
    for t in range(1, rounds + 1):
        policy.seen = [(arm, r) for due, arm, r in sent if due < t]
        arm = policy.choose(t, naive.draw(seed, stream, replicate, "coin", 0, t))
        policy.made.append(arm)
        word = naive.draw(seed, stream, replicate, "reward", arm, policy.made.count(arm))
        sent.append((arrival(wrappers, t), arm, naive.reward("bernoulli", means[arm], word)))
    return policy.made


class Log:
    """What all policies here can count."""

    def rewards(self, arm):
        return [reward for pulled, reward in self.seen if pulled == arm]

    def bound(self, arm, constant, t, unseen):
        """Return the mean of what was seen and sqrt(c log t / its number)."""
        own = self.rewards(arm)
        if not own:
            return unseen
        return sum(own) / len(own) + math.sqrt(constant * math.log(t) / len(own))

    def lacks(self, t):
        """Return r (t - 1) - N of every arm, of the pulls made."""
        return [r * (t - 1) - self.made.count(arm) for arm, r in enumerate(self.quotas)]


class FairUCB(Log):
    def __init__(self, quotas):
        self.quotas = exactly(quotas)

    def choose(self, t, coin):
        lacks = self.lacks(t)
        if max(lacks) > 0:
            return naive.first_argmax(lacks)
        return naive.first_argmax(
            [self.bound(arm, 2, t, math.inf) for arm in range(len(self.quotas))]
        )


class LFG(FairUCB):
    def choose(self, t, coin):
        indices = []
        for arm, f in enumerate(self.quotas):
            queue = Fraction(0)
            for pulled in self.made:
                queue = max(Fraction(0), queue + f - (pulled == arm))
            indices.append(float(queue) + 10 * min(1.0, self.bound(arm, 1.5, t, 1.0)))
        return naive.first_argmax(indices)


class HTUCB(FairUCB):
    def choose(self, t, coin):
        raised = [0.3 if self.made.count(arm) < r * t else 0.0 for arm, r in enumerate(self.quotas)]
        return naive.first_argmax(
            [self.bound(arm, 2, t, math.inf) + extra for arm, extra in enumerate(raised)]
        )


class TFairUCB(FairUCB):
    """The arm with the fewest pulls of those that lack some of the whole run's quota, else UCB1."""

    rounds: int

    def choose(self, t, coin):
        lacking = [
            arm for arm, r in enumerate(self.quotas) if self.made.count(arm) < r * self.rounds
        ]
        if lacking:
            return min(lacking, key=self.made.count)
        return naive.first_argmax(
            [self.bound(arm, 2, t, math.inf) for arm in range(len(self.quotas))]
        )


class BFUCB(Log):
    """A group's rounds are those played, in the quota, and those seen, in the widths."""

    def __init__(self, sizes, quotas, cut=True):
        self.groups, self.quotas, self.cut = split(sizes), exactly(quotas), cut

    def optimistic(self, g):
        n, k = sum(arm in self.groups[g] for arm, _ in self.seen), len(self.groups[g])
        points = []
        for arm in self.groups[g]:
            own = self.rewards(arm)
            if own:
                root = math.sqrt(2 * math.log(4 * n * k / 0.01)) / math.sqrt(len(own))
                u = sum(own) / len(own) + root
                points.append(min(1.0, u) if self.cut else u)
            else:
                points.append(1.0)
        return points

    def choose(self, t, coin):
        turn, g = divmod(t - 1, len(self.groups))
        arms = self.groups[g]
        if turn < max(map(len, self.groups)):
            if turn < len(arms):
                return arms[turn]
        else:
            served = [sum(arm in arms for arm in self.made) for arms in self.groups]
            lacks = [r * (t - 1) - n for r, n in zip(self.quotas, served, strict=True)]
            if max(lacks) <= 0:
                points = map(self.optimistic, range(len(self.groups)))
                lacks = [sum(u * u for u in point) / sum(point) for point in points]
            g = naive.first_argmax(lacks)
        point = self.optimistic(g)
        shares = [u / by_eights(point) for u in point]
        return self.groups[g][naive.sample(shares, coin)]


class Drawing(Log):
    """A learner that is told rewards in order, with the probabilities that it then drew from."""

    def __init__(self):
        self.shares, self.told = [], 0

    def choose(self, t, coin):
        for arm, reward in self.seen[self.told :]:
            self.tell(arm, reward, self.shares[self.told])
            self.told += 1
        self.shares.append(list(self.x))
        return naive.sample(self.x, coin)


class EXP3(Drawing):
    def __init__(self, arms, horizon):
        super().__init__()
        self.learner = naive.Exp3(arms, horizon)

    @property
    def x(self):
        return self.learner.x

    def tell(self, arm, reward, x):
        arms = len(x)
        self.learner.log_weights[arm] += self.learner.gamma * reward / x[arm] / arms


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

    def tell(self, arm, reward, x):
        self.policy.subroutine.drawn = x
        self.policy.advance(arm, reward)
        self.policy.subroutine.drawn = None


def play_full(targets, V, wrappers, means, rounds, seed, stream, replicate):
    """Return BanditQ's distributions with full information, which steps from where it is."""
    queues, learner = naive.Queues(targets), naive.OnlineGradientAscent(len(targets))
    played, sent = [], []
    for t in range(1, rounds + 1):
        played.append(list(learner.x))
        words = [naive.draw(seed, stream, replicate, "reward", arm, t) for arm in range(len(means))]
        rewards = [
            naive.reward("bernoulli", mu, word) for mu, word in zip(means, words, strict=True)
        ]
        sent.append((arrival(wrappers, t), rewards, played[-1]))
        for due, r, x in sent:
            if due == t:
                queues.serve([one * share for one, share in zip(r, x, strict=True)])
                learner.advance([(q + V) * one for q, one in zip(queues.length, r, strict=True)])
    return played

"""Reference implementations for fair pulls: Fair-Learn, its learners, LFG, measures of fairness.

Plain Python like ``naive``, from the definitions alone (the tags B1.3 to B1.7 and A1.6 name the
sections of the specification), and nothing from ``fairbandits``. Arms are numbered from 0, rounds
from 1. A learner's ``choose(coin)`` is called at most once in a round, its ``advance(arm, reward)``
in every round. What is owed to an arm is counted anew from the list of all pulls, in exact
fractions, whenever it is asked for.
"""

import math
from fractions import Fraction

import naive

# ---------------------------------------------------------------------------- small tools


def exact(value):
    """Return a number or a text such as '1/3' as a fraction; 0.05 is one twentieth."""
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def exactly(values):
    """Return all of them as fractions."""
    return [exact(value) for value in values]


def pick_largest(values, ties, coin):
    """Return an arm of largest value: the lowest one, or the coin's choice among them."""
    best = max(values)
    tied = [arm for arm, value in enumerate(values) if value == best]
    if ties == "lowest":
        return tied[0]
    assert ties == "random"
    return tied[math.floor(naive.unit(coin) * len(tied))]


# ------------------------------------------------------------------------------- learners


class Sampled(naive.Policy):
    """Counts pulls and adds up rewards: what most learners remember."""

    def __init__(self, arms):
        self.t = 1
        self.pulls = [0] * arms
        self.sums = [0.0] * arms

    def learnt(self, reward):
        """Return the number that a reward is remembered as."""
        return reward

    def means(self):
        """Return the mean of each arm; every arm must have been pulled."""
        return [total / n for total, n in zip(self.sums, self.pulls, strict=True)]

    def pulled(self, arm):
        self.t += 1

    def heard(self, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += self.learnt(reward)


class UCB1(Sampled):
    """UCB1 (B1.3). The clock is the round, or the round before."""

    def __init__(self, arms, scale=1.0, clock="round", ties="lowest"):
        super().__init__(arms)
        self.scale = scale
        self.clock = clock
        self.ties = ties

    def learnt(self, reward):
        """Return the reward as a share of the scale."""
        return reward / self.scale

    def choose(self, coin):
        """Return the first arm never pulled, else an arm of largest index."""
        if 0 in self.pulls:
            return self.pulls.index(0)
        clock = {"round": self.t, "previous": self.t - 1}[self.clock]
        bonuses = [math.sqrt(2 * math.log(clock) / n) for n in self.pulls]
        indices = [mean + bonus for mean, bonus in zip(self.means(), bonuses, strict=True)]
        return pick_largest(indices, self.ties, coin)


class Thompson(Sampled):
    """Thompson sampling with uniform priors; rewards are cut to [0, 1] (B1.3)."""

    def learnt(self, reward):
        """Return the nearest number in [0, 1]."""
        return min(1.0, max(0.0, reward))

    def choose(self, coin):
        samples = []
        for arm, (n, total) in enumerate(zip(self.pulls, self.sums, strict=True)):
            w = naive.inner(coin, arm + 1)
            x, position = naive.standard_gamma(1.0 + total, w, 0)
            y, _ = naive.standard_gamma(1.0 + n - total, w, position)
            samples.append(x / (x + y))
        return naive.first_argmax(samples)


class EpsilonGreedy(Sampled):
    """The best mean, or with probability epsilon any arm (B1.3)."""

    def __init__(self, arms, epsilon=0.1):
        super().__init__(arms)
        self.epsilon = epsilon

    def choose(self, coin):
        """Explore if the coin is below epsilon; if not, arms never pulled go first."""
        u = naive.unit(coin)
        arms = len(self.pulls)
        if u < self.epsilon:
            return min(arms - 1, math.floor(u / self.epsilon * arms))
        if 0 in self.pulls:
            return self.pulls.index(0)
        return naive.first_argmax(self.means())


class Uniform(naive.Policy):
    """Any arm, all alike (B1.3)."""

    def __init__(self, arms):
        self.arms = arms

    def choose(self, coin):
        return math.floor(naive.unit(coin) * self.arms)


class Constant(naive.Policy):
    """One arm for ever: 1 is the first, -1 the last (B1.3)."""

    def __init__(self, arms, arm=1):
        self.arm = arm - 1 if arm > 0 else arms + arm

    def choose(self, _coin):
        return self.arm


# ------------------------------------------------------------------------- what is owed


class Quotas(naive.Policy):
    """Keeps the list of pulls, and counts from it."""

    def __init__(self, quotas):
        self.quotas = exactly(quotas)
        self.arms = len(self.quotas)
        self.history = []

    def count(self, arm):
        """Return N of the arm, the number of its pulls so far."""
        return self.history.count(arm)

    def deficits(self):
        """Return r (t - 1) - N for every arm, before the choice of round t."""
        past = len(self.history)
        return [r * past - self.count(arm) for arm, r in enumerate(self.quotas)]

    def pulled(self, arm):
        self.history.append(arm)


class SmallestDeficit(Quotas):
    """The arm that is owed least: the learner that does most harm (B1.3)."""

    def choose(self, _coin):
        deficits = self.deficits()
        return deficits.index(min(deficits))


class LFG(Quotas):
    """Learning with fairness guarantee (A1.6), the queues recomputed from all pulls each round."""

    def __init__(self, fractions, eta=100, constant=1.5, cap=1.0, arrivals="after", unpulled=1.0):
        super().__init__(fractions)
        self.eta = eta
        self.constant = constant
        self.cap = cap
        self.unpulled = unpulled
        self.arrivals = arrivals
        self.sample = Sampled(self.arms)

    def queue(self, arm):
        """Return Q(t), t being the round to come."""
        f = self.quotas[arm]
        queue = {"after": Fraction(0), "before": f}[self.arrivals]  # Q(1)
        for pulled in self.history:
            queue = max(Fraction(0), queue + f - (1 if pulled == arm else 0))
        return queue

    def estimate(self, arm):
        """Return u(t): `unpulled` before the first pull, then mean plus bonus, at most the cap."""
        n = self.sample.pulls[arm]
        if n == 0 and self.unpulled is None:
            return math.inf if self.eta else 0.0
        if n == 0:
            return self.unpulled
        t = len(self.history) + 1
        u = self.sample.sums[arm] / n + math.sqrt(self.constant * math.log(t) / n)
        return u if self.cap is None else min(self.cap, u)

    def report(self):
        return {"queue": [float(self.queue(arm)) for arm in range(self.arms)]}

    def choose(self, coin):
        """Return an arm of largest queue plus eta times estimate."""
        return naive.first_argmax(
            [float(self.queue(arm)) + self.eta * self.estimate(arm) for arm in range(self.arms)]
        )

    def heard(self, arm, reward):
        self.sample.heard(arm, reward)


class Asking(Quotas):
    """Quotas with a learner, which hears of every pull."""

    def __init__(self, quotas, learner):
        super().__init__(quotas)
        self.learner = learner

    def pulled(self, arm):
        super().pulled(arm)
        self.learner.pulled(arm)

    def heard(self, arm, reward):
        self.learner.heard(arm, reward)


class FairLearn(Asking):
    """Pull the arm owed most if that is more than the tolerance; if not, ask the learner (B1.3).

    With ``first_rounds="round_robin"`` round t <= k is arm t's,
    whatever is owed.
    """

    def __init__(self, quotas, tolerance, learner, first_rounds="learner"):
        super().__init__(quotas, learner)
        self.tolerance = exact(tolerance)
        self.first_rounds = first_rounds

    def choose(self, coin):
        past = len(self.history)
        if self.first_rounds == "round_robin" and past < self.arms:
            return past
        deficits = self.deficits()
        if max(deficits) > self.tolerance:
            return naive.first_argmax(deficits)
        return self.learner.choose(coin)


class Mixture(Asking):
    """Arm i with probability r_i, else the learner's choice."""

    def choose(self, coin):
        u = naive.unit(naive.inner(coin, 2**32))
        for arm in range(self.arms):
            if u < float(sum(self.quotas[: arm + 1])):
                return arm
        return self.learner.choose(coin)


class PlugIn:
    """Fair-Learn with quotas that are targets over estimated means, as last estimated."""

    def __init__(self, targets, learner):
        self.targets = targets
        self.learner = learner
        self.history = []
        self.quotas = [0.0] * len(targets)

    def renewed(self):
        """Return the quotas of what was seen so far."""
        quotas = []
        for arm, target in enumerate(self.targets):
            rewards = [reward for pulled, reward in self.history if pulled == arm]
            total = 0.0
            for reward in rewards:  # in this order, as sums of floats depend on it
                total += reward
            known = 1.0 if total <= 0 else min(1.0, target * len(rewards) / total)
            quotas.append(known if target > 0 else 0.0)
        load = 0.0
        for quota in quotas:
            load += quota
        return [quota / load for quota in quotas] if load > 1 else quotas

    def choose(self, coin):
        past = len(self.history)
        arms = len(self.targets)
        if past < arms:
            return past
        if past == arms or (past + 1) in [2**k for k in range(40)]:
            self.quotas = self.renewed()
        deficits = [
            quota * past - sum(pulled == arm for pulled, _ in self.history)
            for arm, quota in enumerate(self.quotas)
        ]
        if max(deficits) > 0:
            return naive.first_argmax(deficits)
        return self.learner.choose(coin)

    def advance(self, arm, reward):
        self.history.append((arm, reward))
        self.learner.advance(arm, reward)


class TFairLearn(Asking):
    """First the whole horizon's quotas, then the learner, which has seen it all (B1.5)."""

    def __init__(self, quotas, horizon, learner, order="round_robin"):
        super().__init__(quotas, learner)
        self.horizon = horizon
        self.order = order

    def first_phase(self):
        """Return the number of rounds that the quotas take."""
        return sum(math.ceil(r * self.horizon) for r in self.quotas)

    def choose(self, coin):
        if len(self.history) >= self.first_phase():
            return self.learner.choose(coin)
        unsatisfied = [
            arm for arm, r in enumerate(self.quotas) if self.count(arm) < r * self.horizon
        ]
        if self.order == "sequential":
            return unsatisfied[0]
        assert self.order == "round_robin"
        return min(unsatisfied, key=self.count)  # the first of several


def fair_ucb_counts(means, quotas, horizon, seed, stream, replicate):
    """Return the pulls of Fair-UCB on Bernoulli rewards, without tolerance (B1.3).

    The same rule as FairLearn with UCB1, in integers and with running counts: for long runs.
    """
    quotas = exactly(quotas)
    q = math.lcm(*[r.denominator for r in quotas])
    shares = [int(r * q) for r in quotas]
    arms = len(means)
    streams = [naive.key(seed, stream, replicate, "reward", arm) for arm in range(arms)]
    pulls, wins = [0] * arms, [0] * arms
    for t in range(1, horizon + 1):
        deficits = [p * (t - 1) - q * n for p, n in zip(shares, pulls, strict=True)]
        if max(deficits) > 0:
            arm = naive.first_argmax(deficits)
        elif 0 in pulls:
            arm = pulls.index(0)
        else:
            bonus = 2 * math.log(t)
            arm = naive.first_argmax(
                [s / n + math.sqrt(bonus / n) for s, n in zip(wins, pulls, strict=True)]
            )
        pulls[arm] += 1
        wins[arm] += naive.unit(naive.word(*streams[arm], pulls[arm])) < means[arm]
    return pulls


# ------------------------------------------------------------------------------ measures


def violations(arms, quotas):
    """Return the four measures of every arm after every round of these arms, exactly (B1.7).

    By name, a list over rounds of lists over arms. "deficit" is r t - N, "floor_deficit" is
    floor(r t) - N, and those ending in "_sup" the largest so far, from round 1 on.
    """
    quotas = exactly(quotas)
    measures = {"deficit": [], "floor_deficit": []}
    for t in range(1, len(arms) + 1):
        counts = [arms[:t].count(arm) for arm in range(len(quotas))]
        owed = list(zip(quotas, counts, strict=True))
        measures["deficit"].append([r * t - n for r, n in owed])
        measures["floor_deficit"].append([math.floor(r * t) - n for r, n in owed])
    for name in ("deficit", "floor_deficit"):
        rows = measures[name]
        measures[f"{name}_sup"] = [
            [max(column) for column in zip(*rows[: t + 1], strict=True)] for t in range(len(rows))
        ]
    return measures


def regret(pulls, means):
    """Return the sum of gap times pulls (B1.1, Def. 3, one path)."""
    best = max(means)
    return sum((best - mu) * n for mu, n in zip(means, pulls, strict=True))


def r_regret(t, pulls, means, quotas, tolerance=0):
    """Return the r-Regret of one path: pulls that fairness asks for are free (B1.7)."""
    best = max(means)
    total = 0.0
    for mu, n, r in zip(means, pulls, exactly(quotas), strict=True):
        free = max(Fraction(0), math.floor(r * t) - exact(tolerance))
        total += (best - mu) * float(n - free)
    return total


# --------------------------------------------------------------------- what tests are run on


def theorem_learners(quotas, horizon):
    """Return the learners that fairness must not depend on (B1.3).

    By label: the registered name, its parameters, its twin.
    """
    arms = len(quotas)
    return {
        "ucb1": ("ucb1", {}, UCB1(arms)),
        "thompson": ("thompson", {}, Thompson(arms)),
        "epsilon_greedy": ("epsilon_greedy", {}, EpsilonGreedy(arms)),
        "exp3": ("exp3", {}, naive.Exp3(arms, horizon)),
        "uniform": ("uniform", {}, Uniform(arms)),
        "first": ("constant", {"arm": 1}, Constant(arms, 1)),
        "last": ("constant", {"arm": -1}, Constant(arms, -1)),
        "adversary": ("smallest_deficit", {"quotas": tuple(quotas)}, SmallestDeficit(quotas)),
    }


LEARNERS = tuple(theorem_learners(["0", "0"], 1))

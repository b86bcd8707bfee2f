"""Reference implementations of what the audit records of BanditQ: obvious, slow, from the history.

Plain Python on lists, like ``naive``, whose players and policies it uses; nothing is imported from
``fairbandits``. Everything is computed from a whole history, anew for each round, and nothing is
carried from one round to the next. Arms are numbered from 0, rounds from 1.
"""

import math

import naive


def played(history):
    """Return what was played in each round: the distribution, or the point mass on the arm."""
    arms = len(history[0]["x"])
    return [naive.one_hot(one["arm"], arms) if "arm" in one else one["x"] for one in history]


def totals(rows):
    """Return the sum of some lists, entry by entry."""
    return [math.fsum(column) for column in zip(*rows, strict=True)]


# ----------------------------------------------------------------------- sums over the rounds


def squared_queues(history):
    """Return sum over rounds of Q_i(t)^2, of each arm."""
    return totals([[queue * queue for queue in one["queue"]] for one in history])


def summed_plays(history):
    """Return sum over rounds t of the plays of rounds 1 .. t, of each arm."""
    plays = played(history)
    return totals([totals(plays[: t + 1]) for t in range(len(plays))])


def longest_starvation(history, rare=0.01):
    """Return the longest run of rounds with a small probability, or without a pull, of each arm."""
    longest = []
    for arm in range(len(history[0]["x"])):
        letters = [
            "-" if (one["arm"] != arm if "arm" in one else one["x"][arm] <= rare) else "+"
            for one in history
        ]
        longest.append(max(map(len, "".join(letters).split("+"))))
    return longest


# ---------------------------------------------------------------------------- surrogate rewards


def queues_before(history):
    """Return the queues before each round."""
    return [[0.0] * len(history[0]["queue"]), *(one["queue"] for one in history[:-1])]


def surrogates(history, V, index):
    """Return g_i(t) = (Q_i + V) r_i(t) of each round, Q after (post) or before (pre) the update."""
    lengths = [one["queue"] for one in history] if index == "post" else queues_before(history)
    return [
        [(q + V) * r for q, r in zip(queue, one["rewards"], strict=True)]
        for queue, one in zip(lengths, history, strict=True)
    ]


def surrogate_regret(history, V, index):
    """Return max_i sum_t g_i(t) - sum_t <x(t), g(t)>."""
    gains = surrogates(history, V, index)
    earned = [naive.dot(x, g) for x, g in zip(played(history), gains, strict=True)]
    return max(totals(gains)) - math.fsum(earned)


def mean_autocorrelation(values, lags):
    """Return the mean over some lags of C(l) / C(0), C(l) = (1/t) sum of products of deviations."""
    t = len(values)
    mean = math.fsum(values) / t
    off = [value - mean for value in values]
    variance = math.fsum(d * d for d in off)
    if variance == 0:
        return 0.0
    sums = [math.fsum(off[s] * off[s - lag] for s in range(lag, t)) for lag in lags]
    return math.fsum(sums) / variance / len(lags)


# -------------------------------------------------------------------------------- inequalities


def excesses(history, means, targets, V, index, step_c):
    """Return left minus right side of each inequality after the last round of a history.

    Those of Eq. 6 and of the queue's bound are lists, of each arm.
    """
    t, arms = len(history), len(means)
    queue, before = history[-1]["queue"], queues_before(history)
    x_star, _ = naive.static_benchmark(means, targets)
    rewards = [one["rewards"] for one in history]
    plays = [one["x"] for one in history]
    accrued = totals(
        [r * x for r, x in zip(row, shares, strict=True)]
        for row, shares in zip(rewards, plays, strict=True)
    )
    gains = surrogates(history, V, index)
    regret = surrogate_regret(history, V, index)
    norms = math.fsum(naive.dot(g, g) for g in gains)

    phi = [naive.dot(one["queue"], one["queue"]) for one in history]
    drift = phi[-1] - (phi[-2] if t > 1 else 0.0)
    missing = [target - r * x for target, r, x in zip(targets, rewards[-1], plays[-1], strict=True)]
    realised = math.fsum(
        r * (best - p)
        for row, x in zip(rewards, plays, strict=True)
        for r, best, p in zip(row, x_star, x, strict=True)
    )
    weighted = math.fsum(
        q * (target - r * best)
        for lengths, row in zip(before, rewards, strict=True)
        for q, target, r, best in zip(lengths, targets, row, x_star, strict=True)
    )
    pseudo = naive.regret_pseudo(history, x_star, means)[-1]
    return {
        "eq6_excess": [
            target * t - got - q for target, got, q in zip(targets, accrued, queue, strict=True)
        ],
        "eq8_excess": drift - (2 + 2 * naive.dot(before[-1], missing)),
        "eq11_excess": regret - (1 / step_c + step_c) * math.sqrt(norms),
        "eq12_excess": regret - 2 * math.sqrt(2 * math.fsum(phi)) - 2 * V * math.sqrt(2 * arms * t),
        "eq13_excess": phi[-1] + 2 * V * realised - (2 * t + 2 * weighted + 2 * regret),
        "queue_excess": [q - target * t for q, target in zip(queue, targets, strict=True)],
        "floor_excess": -t - pseudo,
    }


# ------------------------------------------------------------------------------------ policies


class Scaled:
    """A learner of either kind that sees all gains times a factor."""

    def __init__(self, learner, factor):
        self.learner = learner
        self.factor = factor

    @property
    def x(self):
        return self.learner.x

    def advance(self, *gain):
        *arm, g = gain
        scaled = [self.factor * one for one in g] if isinstance(g, list) else self.factor * g
        self.learner.advance(*arm, scaled)


class QueueUCB:
    """Queues with UCB1 on surrogate rewards, or max-weight UCB (A1.7, first claim of A3)."""

    def __init__(self, targets, V, index, scale=1.0):
        self.queues = naive.Queues(targets)
        self.V = V
        self.index = index
        self.scale = scale
        self.seen = [[] for _ in targets]

    def report(self):
        return self.queues.report()

    def choose(self, _coin):
        """Return the first arm never pulled, else the lowest arm of largest index."""
        if [] in self.seen:
            return self.seen.index([])
        t = 1 + sum(map(len, self.seen))
        reach = self.scale
        if self.index == "surrogate":
            reach = max(abs(value) for values in self.seen for value in values)
        bounds = [
            sum(values) / len(values) + reach * math.sqrt(2 * math.log(t) / len(values))
            for values in self.seen
        ]
        if self.index == "max_weight":
            lengths = self.queues.length
            bounds = [(q + self.V) * bound for q, bound in zip(lengths, bounds, strict=True)]
        return naive.first_argmax(bounds)

    def advance(self, arm, reward):
        """Serve the queues, then keep the reward, or (Q + V) r with the queue after the update."""
        self.queues.serve([reward if i == arm else 0.0 for i in range(len(self.seen))])
        surrogate = (self.queues.length[arm] + self.V) * reward
        self.seen[arm].append(surrogate if self.index == "surrogate" else reward)


def run_unseen(policy, means, law, horizon, *address, **par):
    """Play a bandit policy on rewards numbered by the round, and keep those of all arms."""
    reward_at = naive.rewards_of(means, law, *address, **par)
    arms = len(means)

    def by_round(t, _n, arm):
        return reward_at(arm, t)

    history = naive.play_bandit(policy, arms, horizon, by_round, naive.coins_of(*address))
    for one in history:
        one["rewards"] = [reward_at(arm, one["t"]) for arm in range(arms)]
    return history

"""Reference implementations of the policies for guaranteed reward rates, and of KL-UCB.

Plain Python like ``naive``, from the descriptions alone, and nothing from ``fairbandits``. Arms are
numbered from 0. A policy keeps every arm's list of rewards and counts anew whenever it is asked.
"""

import math

import naive

# ------------------------------------------------------------------------------ KL limits


def kl_at(p, log_gap):
    """Return the divergence of Bernoulli(p) from Bernoulli(1 - exp(log_gap))."""
    total = -(1 - p) * log_gap
    if p > 0:
        total += p * math.log(p) - p * math.log1p(-math.exp(log_gap))
    if p < 1:
        total += (1 - p) * math.log1p(-p)
    return total


def kl_upper(p, divergence):
    """Return the largest q with kl(p, q) <= divergence, by bisection in log(1 - q)."""
    p = min(max(p, 0.0), 1.0)
    if p == 1 or divergence == 0:
        return p
    low, high = -800.0 - divergence / (1 - p), math.log1p(-p)
    for _ in range(75):
        middle = (low + high) / 2
        if kl_at(p, middle) > divergence:
            low = middle
        else:
            high = middle
    return 1 - math.exp(low)


def kl_lower(p, divergence):
    """Return the smallest such q."""
    return 1 - kl_upper(1 - min(max(p, 0.0), 1.0), divergence)


class Seen:
    """Keeps the rewards of every arm."""

    def __init__(self, targets, constant=2):
        self.targets = list(targets)
        self.constant = constant
        self.rewards = [[] for _ in targets]
        self.arms = range(len(self.targets))

    @property
    def past(self):
        """Number of rounds so far."""
        return sum(map(len, self.rewards))

    @property
    def level(self):
        """Return c log t, t being the rounds so far."""
        return self.constant * math.log(max(self.past, 1))

    def cut(self, arm, value):
        """Return the nearest value from the arm's target to 1."""
        return min(max(value, self.targets[arm]), 1.0)

    def mean(self, arm, rewards=None):
        """Return the mean of some rewards, by default of all that the arm gave."""
        rewards = self.rewards[arm] if rewards is None else rewards
        return sum(rewards) / len(rewards) if rewards else 0.0

    def index(self, arm):
        """Return the upper limit; 1 before the first pull."""
        pulls = len(self.rewards[arm])
        if pulls == 0:
            return 1.0
        return self.cut(arm, kl_upper(self.mean(arm), self.level / pulls))

    def optimist(self):
        """Return the lowest arm of largest upper limit."""
        return naive.first_argmax([self.index(arm) for arm in self.arms])

    def advance(self, arm, reward):
        self.rewards[arm].append(reward)


class KLUCB(Seen):
    """Each arm once, then the largest upper limit."""

    def __init__(self, arms, constant=1.0):
        super().__init__([0.0] * arms, constant)

    def choose(self, _coin):
        return self.rewards.index([]) if [] in self.rewards else self.optimist()


class GuaranteeKLUCB(Seen):
    """Shares lambda / estimate, the rest to KL-UCB."""

    def __init__(self, targets, estimate="mean", constant=2, excess="upper"):
        super().__init__(targets, constant)
        self.estimate = estimate
        self.excess = excess

    def shares(self, estimate):
        """Return lambda / estimate of every arm."""
        found = []
        for arm, target in enumerate(self.targets):
            value = min(max(self.mean(arm), 0.0), 1.0)
            if estimate != "mean":
                limit = {"upper": kl_upper, "lower": kl_lower}[estimate]
                value = limit(value, self.level / len(self.rewards[arm]))
            found.append(target / self.cut(arm, value) if target else 0.0)
        return found

    def choose(self, coin):
        if [] in self.rewards:
            return self.rewards.index([])
        shares = self.shares(self.estimate)
        if sum(shares) >= 1:
            others = self.shares("upper")
            if self.excess == "upper" and sum(others) < 1:
                shares = others
            else:
                return naive.sample([share / sum(shares) for share in shares], coin)
        shares[self.optimist()] += 1 - sum(shares)
        return naive.sample(shares, coin)


class GuaranteeBaseline(Seen):
    """The arm furthest below its guarantee, else KL-UCB."""

    def choose(self, _coin):
        ahead = [
            sum(got) - target * self.past if target else math.inf
            for got, target in zip(self.rewards, self.targets, strict=True)
        ]
        return ahead.index(min(ahead)) if min(ahead) < 0 else self.optimist()


class GuaranteeAnytime(Seen):
    """A mixture of the guarantees, of what estimates add to them, and of KL-UCB."""

    def __init__(self, targets, constant=2):
        super().__init__(targets, constant)
        self.second = [[] for _ in targets]
        self.explores = False

    def choose(self, coin):
        """Return the arm; one number decides on the part and the arm."""
        self.explores = False
        needed = [
            target / self.cut(arm, self.mean(arm, self.second[arm])) if target else 0.0
            for arm, target in enumerate(self.targets)
        ]
        extra = [n - target for n, target in zip(needed, self.targets, strict=True)]
        if sum(needed) > 1:
            extra = [(1 - sum(self.targets)) * e / sum(extra) for e in extra]
        parts = [*self.targets, *extra, 1 - sum(self.targets) - sum(extra)]
        drawn = naive.sample(parts, coin)
        n = len(self.targets)
        if drawn < n:
            return drawn
        if drawn < 2 * n:
            self.explores = True
            return drawn - n
        return self.optimist()

    def advance(self, arm, reward):
        """Keep the reward; those of the second part count for the estimate."""
        super().advance(arm, reward)
        if self.explores:
            self.second[arm].append(reward)


class GuaranteeETC(Seen):
    """Two phases of estimates, the missing pulls, then KL-UCB."""

    def __init__(self, targets, horizon, constant=2):
        super().__init__(targets, constant)
        self.horizon = horizon
        self.phases = [[[] for _ in targets] for _ in range(4)]
        self.phase = 0

    def wanted(self, arm, phase):
        """Return how many pulls of an arm the first or the second phase wants."""
        target = self.targets[arm]
        if target == 0:
            return 0
        if phase == 0:
            return target / 4 * self.horizon
        first = self.cut(arm, self.mean(arm, self.phases[0][arm]))
        return min(target / (6 * first), target / 2) * self.horizon

    def second(self, arm):
        """Return the second estimate."""
        return self.cut(arm, self.mean(arm, self.phases[1][arm]))

    def optimistic(self, arm):
        """Return its upper limit."""
        pulls = len(self.phases[1][arm])
        if pulls == 0:
            return 1.0
        return self.cut(arm, kl_upper(self.second(arm), self.level / pulls))

    def load(self, estimate):
        """Return the sum of lambda / estimate."""
        return sum(t / estimate(arm) for arm, t in enumerate(self.targets) if t)

    def choose(self, _coin):
        for self.phase in (0, 1):
            for arm in self.arms:
                if len(self.phases[self.phase][arm]) < self.wanted(arm, self.phase):
                    return arm
        self.phase = 2
        estimate = self.second
        if self.load(estimate) > 1:
            estimate = self.optimistic
            if self.load(estimate) > 1:
                return naive.first_argmax([estimate(arm) for arm in self.arms])
        for arm, target in enumerate(self.targets):
            if target:
                done = self.wanted(arm, 0) + self.wanted(arm, 1)
                missing = target * self.horizon / estimate(arm) - done
                if len(self.phases[2][arm]) < missing:
                    return arm
        self.phase = 3
        return self.rewards.index([]) if [] in self.rewards else self.optimist()

    def advance(self, arm, reward):
        super().advance(arm, reward)
        self.phases[self.phase][arm].append(reward)


class GuaranteeKnapsack(Seen):
    """EXP3.P against Hedge on the Lagrangian."""

    def __init__(self, targets, horizon):
        super().__init__(targets)
        self.horizon = horizon
        n = len(targets)
        self.gamma = min(3 / 5, 2 * math.sqrt(3 / 5 * n * math.log(n) / horizon))
        self.alpha = 2 * math.sqrt(math.log(n * horizon * horizon))
        self.gains = [0.0] * n
        self.debts = {arm: 0.0 for arm, target in enumerate(targets) if target}

    def distribution(self):
        """Return the probabilities of the arms."""
        n = len(self.gains)
        top = max(self.gains)
        raw = [math.exp(gain - top) for gain in self.gains]
        return [(1 - self.gamma) * one / sum(raw) + self.gamma / n for one in raw]

    def choose(self, coin):
        return naive.sample(self.distribution(), coin)

    def advance(self, arm, reward):
        n, T, shares = len(self.gains), self.horizon, self.distribution()
        gain = reward
        if self.debts:
            least = min(target for target in self.targets if target)
            g = {k: least * ((reward if k == arm else 0) / self.targets[k] - 1) for k in self.debts}
            for k in g:
                self.debts[k] -= math.sqrt(math.log(n) / T) * g[k]
            top = max(self.debts.values())
            raw = {k: math.exp(debt - top) for k, debt in self.debts.items()}
            paid = sum(raw[k] * g[k] for k in g) / sum(raw.values())
            weight = math.sqrt(T / math.sqrt(n * T * math.log(n * T)))
            reach = weight * sum(1 / self.targets[k] - 1 for k in g) + 1
            gain = (reward + weight * paid) / reach
        for k in range(n):
            estimate = self.alpha / (shares[k] * math.sqrt(n * T))
            estimate += gain / shares[k] if k == arm else 0
            self.gains[k] += self.gamma / (3 * n) * estimate


class RewardFairUCB(Seen):
    """Turns, then the linear programme with Hoeffding limits."""

    def __init__(self, targets, horizon, agents):
        super().__init__(targets)
        self.turns = math.ceil(math.sqrt(horizon)) * len(targets)
        self.width = math.log(2 * agents * len(targets) * (horizon + 1))

    def bound(self, arm):
        """Return the upper limit."""
        got = self.rewards[arm]
        if not got:
            return 1.0
        return self.cut(arm, max(0.0, sum(got) / len(got) + math.sqrt(self.width / len(got))))

    def choose(self, coin):
        if self.past < self.turns:
            return self.past % len(self.targets)
        bounds = [self.bound(arm) for arm in self.arms]
        shares = [t / bound if t else 0.0 for t, bound in zip(self.targets, bounds, strict=True)]
        if sum(shares) > 1:
            return naive.sample([share / sum(shares) for share in shares], coin)
        shares[naive.first_argmax(bounds)] += 1 - sum(shares)
        return naive.sample(shares, coin)

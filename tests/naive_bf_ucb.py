"""Reference implementations for arms in groups: BF-UCB, its baselines, its measures.

Plain Python like ``naive``, from the definitions alone (the tags 5 and 6.1 to 6.6 name the
sections of the specification), and nothing from ``fairbandits``. Arms are numbered from 0, those
of a group stand side by side. What a policy reports are the columns of ours and of its observers.
"""

import itertools
import math

import naive
from naive_fair_ucb import exactly, pick_largest

NOBODY = None


def split(sizes):
    """Return the list of arms of each group."""
    arms = iter(range(sum(sizes)))
    return [list(itertools.islice(arms, size)) for size in sizes]


def power(c):
    """Return f(x) = x^c."""
    return lambda x: x**c


def exponential(c):
    """Return f(x) = e^(cx)."""
    return lambda x: math.exp(c * x)


def phi(point, f):
    """Return sum f(x) x / sum f(x) (5)."""
    return sum(f(x) * x for x in point) / sum(f(x) for x in point)


def by_eights(values):
    """Return the sum, added up in eights by pairs: the order matters to rounded draws only."""
    values = [*values, *[0.0] * (-len(values) % 8)]
    total = 0.0
    for o in range(0, len(values), 8):
        a, b, c, d, e, f, g, h = values[o : o + 8]
        total += ((a + b) + (c + d)) + ((e + f) + (g + h))
    return total


def all_vertices(lower, upper, f):
    """Return the largest Phi of all vertices of the box."""
    return max(phi(x, f) for x in itertools.product(*zip(lower, upper, strict=True)) if sum(x) > 0)


def best_of_box(lower, upper, f, identity):
    """Return the point of the box with the largest Phi (6.3), ties going up."""
    lam = phi(upper, f)
    while True:
        if identity:
            up = [low + high >= lam - 1e-13 for low, high in zip(lower, upper, strict=True)]
        else:
            up = [
                f(high) * (high - lam) >= f(low) * (low - lam) - 1e-13
                for low, high in zip(lower, upper, strict=True)
            ]
        point = [
            high if chosen else low for low, high, chosen in zip(lower, upper, up, strict=True)
        ]
        if phi(point, f) <= lam + 1e-15:
            return point
        lam = phi(point, f)


def released_numbering(sizes):
    """Return the arms in the released program's order (6.2.1), for any number of groups."""
    first, *others = split(sizes)
    return [first[0], *itertools.chain(*others), *first[1:]]


def rounded_draw(pi, arms, coin):
    """Return the arm that the rounded number falls on, or nobody (6.2.6).

    `pi` and `arms` belong together; of equal probabilities the one that stands first goes first.
    """
    number = round(naive.unit(coin), 3)
    cumulated = 0.0
    for p, _, arm in sorted((p, place, arm) for place, (p, arm) in enumerate(zip(pi, arms))):  # noqa: B905
        cumulated += p
        if number < cumulated:
            return arm
    return NOBODY


class Means:
    """Counts and means of all arms (6.1; 6.2.7 if released)."""

    def __init__(self, arms, released):
        self.pulls = [0] * arms
        self.mean = [0.0] * arms
        self.sums = [0.0] * arms
        self.released = released

    def advance(self, arm, reward, initial):
        self.pulls[arm] += 1
        self.sums[arm] += reward
        if initial or not self.released:
            self.mean[arm] = self.sums[arm] / self.pulls[arm]
        else:
            n = self.pulls[arm]
            self.mean[arm] = (n * self.mean[arm] + reward) / (n + 1)


class Grouped:
    """What all policies here share: groups, quotas, the initial rounds (6.1, 6.2.3).

    Its switches are attributes of the class, each as the paper has it.
    """

    running_mean = "paper"

    def __init__(self, sizes, quotas, **switches):
        assert all(hasattr(self, name) for name in switches)
        vars(self).update(switches)
        quotas = [0] * len(sizes) if quotas is None else quotas
        self.sizes = sizes
        self.groups = split(sizes)
        self.arms = sum(sizes)
        self.quotas = exactly(quotas)
        self.initial = len(sizes) * max(sizes)
        self.served = [0] * len(sizes)
        self.known = Means(self.arms, self.running_mean == "released")
        self.t = 0
        self.group = None
        self.late = False
        self.x = ()
        self.first = None  # who plays the initial rounds, if it is another policy
        self.optional = [0] * self.arms
        self.most_behind = [-math.inf] * len(sizes)

    def group_with(self, arm):
        """Return the group of an arm."""
        return next(g for g, arms in enumerate(self.groups) if arm in arms)

    def owed(self):
        """Return beta (t - 1) - N of each group in the round to come."""
        return [beta * self.t - n for beta, n in zip(self.quotas, self.served, strict=True)]

    def most_owed(self):
        """Return the group owed most, or nobody if none is owed anything."""
        owed = self.owed()
        return naive.first_argmax(owed) if max(owed) > 0 else NOBODY

    def choose_first(self, coin):
        """Return the arm of an initial round of another policy."""
        arm = self.first.choose(coin)
        self.group = self.first.group
        return arm

    def advance(self, arm, reward):
        self.t += 1
        self.known.advance(arm, reward, self.t <= self.initial)
        if self.t <= self.initial:
            self.early = {"initial_plays": list(self.known.pulls)}
            self.early["initial_reward"] = list(self.known.sums)
            if self.first:
                self.first.advance(arm, reward)
        self.optional[arm] += self.late
        self.served[self.group] += 1
        for g, (beta, n) in enumerate(zip(self.quotas, self.served, strict=True)):
            self.most_behind[g] = max(self.most_behind[g], math.floor(beta * self.t) - n)

    def report(self):
        of_group = [g for g, arms in enumerate(self.groups) for _ in arms]
        return self.early | {
            "optional": list(self.optional),
            "group_plays": [self.served[g] for g in of_group],
            "group_deficit_sup": [self.most_behind[g] for g in of_group],
        }


class BFUCB(Grouped):
    """BF-UCB (6.1, 6.2)."""

    initialisation = width = draw = "paper"
    delta, box, policy_from, learner = 0.01, "upper", "maximiser", "optimistic"
    f = reference = None

    def __init__(self, sizes, quotas, **switches):
        super().__init__(sizes, quotas, **switches)
        self.identity = self.f is None
        self.f = power(1) if self.identity else self.f
        self.last_policy = [0.0] * self.arms
        self.regret = [0.0] * self.arms
        self.outside = [0] * self.arms
        self.roots = [0.0] * self.arms

    def numerator(self, g):
        """Return the numerator of the widths of group g's arms."""
        n, k = self.served[g], len(self.groups[g])
        if self.width == "released":
            return math.sqrt(2 * math.log(4 * n * k) / self.delta)
        return math.sqrt(2 * math.log(4 * n * k / self.delta))

    def maximiser(self, g):
        """Return the optimistic means of group g's arms."""
        spread = [self.numerator(g) / math.sqrt(self.known.pulls[arm]) for arm in self.groups[g]]
        means = [self.known.mean[arm] for arm in self.groups[g]]
        if self.box == "uncut":
            return [m + w for m, w in zip(means, spread, strict=True)]
        upper = [min(1.0, max(0.0, m + w)) for m, w in zip(means, spread, strict=True)]
        if self.box == "upper":
            return upper
        lower = [min(1.0, max(0.0, m - w)) for m, w in zip(means, spread, strict=True)]
        return best_of_box(lower, upper, self.f, self.identity)

    def exposure(self, g, coin):
        """Draw an arm of group g."""
        arms = self.groups[g]
        point = self.maximiser(g)
        if self.policy_from == "mean":
            point = [self.known.mean[arm] for arm in arms]
        merit = [self.f(x) for x in point]
        if sum(merit) == 0:
            merit = [1.0] * len(arms)
        total = by_eights(merit)
        policy = [m / total for m in merit]
        self.x = [0.0] * self.arms
        for arm, p in zip(arms, policy, strict=True):
            self.x[arm] = self.last_policy[arm] = p
        self.measure(g)
        if self.draw == "released":
            arm = rounded_draw(policy, arms, coin)
            return 0 if arm is NOBODY else arm
        return arms[naive.sample(policy, coin)]

    def measure(self, g):
        """Compare the policy with the fair one (5)."""
        if self.reference is None:
            return
        merit = {arm: self.f(self.reference[arm]) for arm in self.groups[g]}
        for arm in self.groups[g]:
            root = 1 / math.sqrt(self.known.pulls[arm])
            self.regret[arm] += abs(self.x[arm] - merit[arm] / sum(merit.values()))
            error = abs(self.known.mean[arm] - self.reference[arm])
            self.outside[arm] += error > self.numerator(g) * root
            self.roots[arm] += self.x[arm] * root

    def report(self):
        return super().report() | {
            "share": list(self.last_policy),
            "merit_regret": list(self.regret),
            "outside": list(self.outside),
            "expected_root": list(self.roots),
        }

    def first_rounds(self, coin):
        """Return the arm of an initial round."""
        most = max(len(arms) for arms in self.groups)
        if self.initialisation == "released":
            self.group = self.t // most
        else:
            self.group = self.t % len(self.groups)
        arms = self.groups[self.group]
        new = [arm for arm in arms if self.known.pulls[arm] == 0]
        if new:
            self.x = [float(arm == new[0]) for arm in range(self.arms)]
            return new[0]
        if self.initialisation == "released":
            self.x = [1 / len(arms) if arm in arms else 0.0 for arm in range(self.arms)]
            return arms[math.floor(naive.unit(coin) * len(arms))]
        return self.exposure(self.group, coin)

    def learn(self, coin):
        """Return the group of a round when nobody is behind."""
        if self.learner == "first":
            return 0
        if self.learner == "random":
            return math.floor(naive.unit(naive.inner(coin, 1)) * len(self.groups))
        if self.learner == "least_owed":
            owed = self.owed()
            return owed.index(min(owed))
        return naive.first_argmax([phi(self.maximiser(g), self.f) for g in range(len(self.groups))])

    def choose(self, coin):
        self.late = False
        if self.t < self.initial:
            return self.first_rounds(coin)
        g = self.most_owed()
        self.late = g is NOBODY
        self.group = self.learn(coin) if self.late else g
        return self.exposure(self.group, coin)


class GroupUCB(Grouped):
    """GEF, and without quotas UCB (6.4)."""

    initialisation = first_width = "paper"
    delta, box, index, cap, ties = 0.01, "upper", "ucb1", False, "lowest"

    def __init__(self, sizes, quotas, **switches):
        super().__init__(sizes, quotas, **switches)
        first = {"width": self.first_width, "draw": self.first_width, "box": self.box}
        first |= {"delta": self.delta, "initialisation": self.initialisation}
        self.first = BFUCB(sizes, quotas or [0] * len(sizes), **first)

    def numerator(self, t, candidates):
        """Return the numerator of the widths in round t."""
        if self.index == "ucb1":
            return math.sqrt(2 * math.log(t))
        if self.index == "paper":
            return math.sqrt(2 * math.log(4 * t * candidates / self.delta))
        return math.sqrt(2 * math.log(4 * t * candidates) / self.delta)

    def choose(self, coin):
        self.late = False
        if self.t < self.initial:
            return self.choose_first(coin)
        due = self.most_owed()
        self.late = due is NOBODY
        candidates = list(range(self.arms)) if self.late else self.groups[due]
        if self.ties == "released":
            order = released_numbering(self.sizes)
            candidates = sorted(candidates, key=order.index)
        w = self.numerator(self.t + 1, len(candidates))
        known = self.known
        indices = [known.mean[arm] + w / math.sqrt(known.pulls[arm]) for arm in candidates]
        if self.cap:
            indices = [min(1.0, index) for index in indices]
        ties = "random" if self.ties == "random" else "lowest"
        arm = candidates[pick_largest(indices, ties, coin)]
        self.group = self.group_with(arm)
        return arm


class FairXUCB(Grouped):
    """MF (6.4)."""

    initialisation = width = first_width = draw = "paper"
    delta, box, clock, counts = 0.01, "upper", "horizon", "own"
    shadow_means = None

    def __init__(self, sizes, horizon, quotas=None, **switches):
        super().__init__(sizes, quotas, **switches)
        same = ("delta", "initialisation", "running_mean", "draw", "box")
        first = {name: getattr(self, name) for name in same} | {"width": self.first_width}
        self.first = BFUCB(sizes, quotas or [0] * len(sizes), **first)
        self.horizon = horizon
        self.cap = math.inf if self.box == "uncut" else 1.0
        self.shadow = self.counts == "bf_ucb"

    def numerator(self, t):
        """Return the numerator of the widths in round t."""
        n = self.horizon if self.clock == "horizon" else t
        if self.width == "released":
            return math.sqrt(2 * math.log(4 * n * self.arms) / self.delta)
        return math.sqrt(2 * math.log(4 * n * self.arms / self.delta))

    def choose(self, coin):
        if self.t < self.initial:
            arm = self.choose_first(coin)
            self.x = self.first.x
            return arm
        counts = self.first.known.pulls if self.shadow else self.known.pulls
        w = self.numerator(self.t + 1)
        upper = [
            min(self.cap, max(0.0, m + w / math.sqrt(n)))
            for m, n in zip(self.known.mean, counts, strict=True)
        ]
        total = by_eights(upper)
        self.x = [u / total for u in upper]
        if self.draw == "released":
            order = released_numbering(self.sizes)
            arm = rounded_draw([self.x[arm] for arm in order], order, coin)
            arm = 0 if arm is NOBODY else arm
        else:
            arm = naive.sample(self.x, coin)
        self.group = self.group_with(arm)
        if self.shadow:
            other = self.first.choose(naive.inner(coin, 1))
            win = naive.unit(naive.inner(coin, 2)) < self.shadow_means[other]
            self.first.advance(other, 1.0 if win else 0.0)
        return arm

    def report(self):
        share = [0.0] * self.arms if self.t <= self.initial else list(self.x)
        return super().report() | {"share": share}


class GroupOracle(Grouped):
    """The controls that know the means (6.4)."""

    def __init__(self, sizes, quotas, means, within="merit", schedule="deficit"):
        super().__init__(sizes, quotas)
        self.means = means
        self.within = within
        self.schedule = schedule
        self.last_policy = [0.0] * self.arms
        values = [phi([means[arm] for arm in arms], power(1)) for arms in self.groups]
        self.favourite = naive.first_argmax(values)

    def report(self):
        return super().report() | {"share": list(self.last_policy)}

    def due(self):
        """Return the group that must be served, or nobody."""
        if self.schedule == "deficit":
            return self.most_owed()
        short = [
            math.floor(beta * (self.t + 1)) - n
            for beta, n in zip(self.quotas, self.served, strict=True)
        ]
        return naive.first_argmax(short) if max(short) > 0 else NOBODY

    def choose(self, coin):
        due = self.due()
        self.x = [0.0] * self.arms
        if self.within == "best":
            arms = range(self.arms) if due is NOBODY else self.groups[due]
            arm = max(arms, key=lambda arm: (self.means[arm], -arm))
            self.group = self.group_with(arm)
            self.x[arm] = self.last_policy[arm] = 1.0
            return arm
        self.group = self.favourite if due is NOBODY else due
        arms = self.groups[self.group]
        merit = [1.0 if self.within == "uniform" else self.means[arm] for arm in arms]
        for arm, m in zip(arms, merit, strict=True):
            self.x[arm] = self.last_policy[arm] = m / sum(merit)
        return arms[naive.sample([self.x[arm] for arm in arms], coin)]


def fair_policy(means, sizes, f):
    """Return the fair probability of each arm within its group (5)."""
    policy = []
    for arms in split(sizes):
        merit = [f(means[arm]) for arm in arms]
        policy += [m / sum(merit) for m in merit]
    return policy


def fair_optimum(t, means, sizes, quotas, f):
    """Return the reward of the best fair policy after t rounds (5, eq. 1), as printed."""
    values = [phi([means[arm] for arm in arms], f) for arms in split(sizes)]
    floors = [math.floor(beta * t) for beta in exactly(quotas)]
    forced = sum(n * value for n, value in zip(floors, values, strict=True))
    return forced + (t - sum(floors)) * max(values)

"""Reference implementations for penalised pulls: HT-UCB, its baselines, regret, oracle, fluid law.

Plain Python from the definitions (the tags 1.1 to 1.5 name the sections of the specification), with
nothing from ``fairbandits``. Arms are numbered from 0, rounds from 1. Quotas are fractions.
"""

import itertools
import math
from fractions import Fraction

import naive
from naive_fair_ucb import Sampled, exact, exactly

# ------------------------------------------------------------------------------- policies


class HTUCB(Sampled):
    """Hard-threshold UCB and its soft variant (1.2, 1.3)."""

    def __init__(self, quotas, penalties, clock="round", threshold="hard"):
        super().__init__(len(quotas))
        self.tau = exactly(quotas)
        self.A = penalties if isinstance(penalties, list | tuple) else [penalties] * len(quotas)
        self.clock = clock
        self.threshold = threshold
        self.made = [0] * len(quotas)

    def pulled(self, arm):
        super().pulled(arm)
        self.made[arm] += 1

    def raised(self, k):
        """Return what is added to the index of an arm for its missing pulls."""
        entitled = self.tau[k] * self.t
        missing = max(entitled - self.made[k], 0)
        if self.threshold == "hard" or missing == 0:
            return self.A[k] if missing > 0 else 0.0
        return self.A[k] * float(missing / entitled)

    def choose(self, coin):
        """Return the first arm without a reward, else an arm of largest index."""
        if 0 in self.pulls:
            return self.pulls.index(0)
        ell = {"round": self.t, "previous": self.t - 1}[self.clock]
        index = []
        for k, N in enumerate(self.pulls):
            bonus = math.sqrt(2 * math.log(ell) / N)
            index.append(self.sums[k] / N + self.raised(k) + bonus)
        return naive.first_argmax(index)


def gaps(means):
    """Return Delta of every arm, exactly."""
    means = exactly(means)
    return [max(means) - mu for mu in means]


def levels(T, N, quotas):
    """Return (tau T - N)+ of every arm, exactly."""
    return [
        max(tau * T - pulls, Fraction(0)) for tau, pulls in zip(exactly(quotas), N, strict=True)
    ]


def loss(T, N, means, quotas, penalties):
    """Return the loss of these pulls (1.1, eq 5), exactly."""
    total = Fraction(0)
    rows = zip(gaps(means), N, exactly(penalties), levels(T, N, quotas), strict=True)
    for gap, pulls, A, missing in rows:
        total += gap * pulls + A * missing
    return total


def oracle_loss(T, means, quotas, penalties):
    """Return L*(T) (1.1, eq 9), exactly."""
    rows = zip(gaps(means), exactly(penalties), exactly(quotas), strict=True)
    return T * sum(min(gap, A) * tau for gap, A, tau in rows)


def regret(T, N, means, quotas, penalties):
    """Return R(T) (1.1, eq 10), exactly."""
    best = oracle_loss(T, means, quotas, penalties)
    return loss(T, N, means, quotas, penalties) - best


def kinds(means, penalties):
    """Return the word for every arm (1.1)."""
    return [
        "optimal" if gap == 0 else "critical" if gap <= A else "non-critical"
        for gap, A in zip(gaps(means), exactly(penalties), strict=True)
    ]


def divisions(T, arms):
    """Return all ways to divide T pulls among the arms."""
    for cuts in itertools.combinations(range(T + arms - 1), arms - 1):
        edges = [-1, *cuts, T + arms - 1]
        yield [b - a - 1 for a, b in itertools.pairwise(edges)]


def least_regret(T, means, quotas, penalties):
    """Return the least R(T) of any numbers of pulls, by trying them all."""
    return min(regret(T, N, means, quotas, penalties) for N in divisions(T, len(means)))


# -------------------------------------------------------------------------------- fluid law


def fluid(means, quotas, penalties, T):
    """Return the pulls of every arm by the fluid law (1.5); the first best arm is the only one."""
    L = math.sqrt(2 * math.log(T))
    best = means.index(max(means))

    def pulls(best_pulls):
        found = []
        for k, mu in enumerate(means):
            gap, A, entitled = means[best] - mu, penalties[k], float(exact(quotas[k]) * T)
            up = (gap / L + best_pulls**-0.5) ** -2
            bracket = (gap - A) / L + best_pulls**-0.5
            low = math.inf if bracket <= 0 else bracket**-2
            found.append(up if up > entitled else min(low, entitled))
        found[best] = best_pulls
        return found

    low, high = 1e-6 * T, float(T)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(pulls(middle)) > T else (middle, high)
    return pulls(low)

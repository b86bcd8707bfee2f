"""How BF-UCB's regret within groups grows, with merits f(mu) = mu, and its proofs' steps.

In a group of means mu_i, M their sum and R = sum mu_i^2 / M its fair reward, the optimistic means
are mu_i + w / sqrt(N_i), w^2 = 2 ln(4 N k / delta). For small widths arms are pulled as merits are,
N_i = N mu_i / M, and a round costs c w / sqrt(N) with c = sum_i (R - mu_i) / sqrt(M mu_i): together
2 c w sqrt(N). c is above 0 unless all means are equal. An arm's probability is d_i w / sqrt(N) off
the fair one, so that the distance from the fair policy grows alike, with sum_i |d_i| for c.
"""

import itertools
import math

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from sympy import log, sqrt

from fairbandits.theory.derivations.steps import (
    Step,
    at_most,
    equal,
    nonnegative,
    not_endless,
    positive,
    tends,
)

T, N, k, delta, step, a, b, least, largest, steepest = positive("T N k d e a b gamma_1 gamma_2 L")
u, v, w = nonnegative("u v w")
mu = positive("mu_1 mu_2 mu_3")
total = sum(mu)
fair = sum(mean**2 for mean in mu) / total
#: What a round costs, c, over w / sqrt(N), of a group with three arms.
LOSS = sum((fair - mean) / sqrt(total * mean) for mean in mu)
width = sqrt(2 * log(4 * N * k / delta))
# optimistic means, with e for w / sqrt(N), and what a round of them earns
raised = [mean + step * sqrt(total / mean) for mean in mu]
earned = sum(index * mean for index, mean in zip(raised, mu, strict=True)) / sum(raised)
#: How far an arm's probability is off the fair one, d_i, over w / sqrt(N).
moved = [sympy.diff(index / sum(raised), step).subs(step, 0) for index in raised]


def pair(mean: sympy.Expr, other: sympy.Expr) -> sympy.Expr:
    """Return the part of two means in c M^(3/2)."""
    return (other - mean) * (other / sqrt(mean) - mean / sqrt(other))


factors = (b - a) ** 2 * (a + b) * (a**2 + a * b + b**2) / (a * b)
# rounds, floors, fair rewards and those of what is played, of three groups; the first is the best
groups = list(zip(*(positive(f"{name}_1 {name}_2 {name}_3") for name in "NFRr"), strict=True))
best = groups[0][2]
# any merit function, and its reward
merit = [sympy.Function("f", positive=True)(mean) for mean in mu]
reward = sum(f * mean for f, mean in zip(merit, mu, strict=True)) / sum(merit)

PROOFS: dict[str, list[Step]] = {
    "first_order": [
        equal(earned.subs(step, 0), fair),
        equal(sympy.Limit(raised[0] / sum(raised), step, 0), mu[0] / total),
        equal(-sympy.diff(earned, step).subs(step, 0), LOSS),
    ],
    # d_i / mu_i differs between arms of different means, so not all are 0
    "distance": [
        equal(sum(moved), 0),
        equal(-sum(d * mean for d, mean in zip(moved, mu, strict=True)), LOSS),
        equal(
            sqrt(total) * (moved[0] / mu[0] - moved[1] / mu[1]),
            mu[0] ** sympy.Rational(-3, 2) - mu[1] ** sympy.Rational(-3, 2),
        ),
    ],
    # c M^(3/2) is a sum over pairs of terms of at least 0; a^2 and b^2 are two means
    "positive": [
        equal(
            sympy.expand(LOSS * total ** sympy.Rational(3, 2)),
            sympy.expand(sum(pair(*two) for two in itertools.combinations(mu, 2))),
        ),
        equal(pair(a**2, b**2), factors),
        at_most(0, factors),
    ],
    "summed": [
        tends(sympy.Derivative(2 * width * sqrt(N), N) / (width / sqrt(N)), 1, N),
        # a group has a share of all rounds at least, so that its rounds grow as T does
        at_most(b * T, b * T + u),
    ],
    # a group with the gap a, a logarithm b and the smallest gap 1 / T
    "tie": [not_endless(8 * k * b * T**2 * a, T)],
    "decomposition": [
        equal(
            sum(f * r + (n - f) * best - n * played for n, f, r, played in groups),
            sum((n - f) * (best - r) + n * (r - played) for n, f, r, played in groups),
        )
    ],
    "lipschitz": [
        equal(
            sympy.diff(reward, mu[0]),
            (merit[0] + sympy.diff(merit[0], mu[0]) * (mu[0] - reward)) / sum(merit),
        ),
        # f, |f' (mu - R)| and the sum of merits are off their bounds by u, v and w
        at_most((largest - u + steepest - v) / (k * least + w), (largest + steepest) / (k * least)),
    ],
}


def rises(number: int, which: int, order: tuple, power: float, seed: int) -> np.ndarray:
    """Return the rise of the fluid regret, or distance (1), over T^a ln^b T for random instances.

    It is from 10^12 to 10^16 rounds, with delta = 0.01 or T^-power, in the high setting's groups.
    """
    rng, (of_t, of_log) = np.random.default_rng(seed), order
    settings = ((0.7, 1.0, 50, 0.6), (0.5, 0.8, 10, 0.4))  # means, arms, share of the rounds
    scaled = np.zeros((2, number))
    for r in range(number):
        means = [rng.uniform(low, high, k) for low, high, k, _ in settings]
        for end, t in enumerate((1e12, 1e16)):
            delta = t**-power if power else 0.01
            rounds = [np.array([part * t]) for *_, part in settings]
            totals = [fluid(*group, delta)[which, 0] for group in zip(means, rounds, strict=True)]
            scaled[end, r] = sum(totals) / (t**of_t * math.log(t) ** of_log)
    return scaled[1] - scaled[0]


def fluid(means: np.ndarray, served: np.ndarray, delta: float) -> np.ndarray:
    """Return regret and distance in a group after numbers of its rounds, by the fluid equation.

    It is dN_i / dN = (mu_i + w / sqrt(N_i)) / sum_j (mu_j + w / sqrt(N_j)), after one pull each,
    whose distance does not count.
    """
    k, fair = len(means), means / means.sum()

    def slopes(logs: float, state: np.ndarray) -> np.ndarray:
        rounds = math.exp(logs)
        raised = means + math.sqrt(2 * math.log(4 * rounds * k / delta)) / np.sqrt(state[:k])
        policy = raised / raised.sum()
        return rounds * np.array([*policy, (fair - policy) @ means, np.abs(policy - fair).sum()])

    first = np.concatenate([[0.0], np.cumsum(fair @ means - means)])
    totals = np.array([np.interp(served, np.arange(k + 1), first), np.zeros(len(served))])
    later = served > k
    if later.any():
        start = np.array([*np.ones(k), first[-1], 0.0])
        ends = np.log(served[later].astype(float))
        span = math.log(k), float(ends.max())
        options = {"method": "LSODA", "dense_output": True, "rtol": 1e-6, "atol": 1e-6}
        totals[:, later] = solve_ivp(slopes, span, start, **options).sol(ends)[-2:]
    return totals

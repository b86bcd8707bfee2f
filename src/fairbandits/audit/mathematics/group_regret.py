"""How BF-UCB's regret within groups grows, with merits f(mu) = mu, and its proofs' steps.

In a group of means mu_i, M their sum and R = sum mu_i^2 / M its fair reward, the optimistic means
are mu_i + w / sqrt(N_i), w^2 = 2 ln(4 N k / delta). For small widths arms are pulled as merits are,
N_i = N mu_i / M, and a round costs c w / sqrt(N) with c = sum_i (R - mu_i) / sqrt(M mu_i): together
2 c w sqrt(N). c is above 0 unless all means are equal.
"""

import itertools
import math

import numpy as np
import sympy
from scipy.integrate import solve_ivp

from fairbandits.audit.mathematics.derivations import (
    above,
    grows,
    named,
    nonnegative,
    positive,
    tends,
    unequal,
    untrue,
)

sqrt, log = sympy.sqrt, sympy.log
T, _N, _K, _DELTA = positive("T N k d")
_MEANS = positive("mu_1 mu_2 mu_3")
_SUM = sum(_MEANS)
_FAIR = sum(mean**2 for mean in _MEANS) / _SUM
#: What a round costs, c, over w / sqrt(N), of a group with three arms.
LOSS = sum((_FAIR - mean) / sqrt(_SUM * mean) for mean in _MEANS)


def _first_order() -> list[int]:
    (step,) = positive("e")  # w / sqrt(N)
    raised = [mean + step * sqrt(_SUM / mean) for mean in _MEANS]
    reward = sum(one * mean for one, mean in zip(raised, _MEANS, strict=True)) / sum(raised)
    return [
        unequal(reward.subs(step, 0), _FAIR),
        unequal(sympy.limit(raised[0] / sum(raised), step, 0), _MEANS[0] / _SUM),
        unequal(-sympy.diff(reward, step).subs(step, 0), LOSS),
    ]


def _pair(one: sympy.Expr, other: sympy.Expr) -> sympy.Expr:
    return (other - one) * (other / sqrt(one) - one / sqrt(other))


def _positive() -> list[int]:
    """Write c M^(3/2) as a sum over pairs of terms of at least 0; a^2 and b^2 are two means."""
    a, b = positive("a b")
    pairs = sum(_pair(one, other) for one, other in itertools.combinations(_MEANS, 2))
    factors = (b - a) ** 2 * (a + b) * (a**2 + a * b + b**2) / (a * b)
    return [
        unequal(sympy.expand(LOSS * _SUM ** sympy.Rational(3, 2)), sympy.expand(pairs)),
        unequal(_pair(a**2, b**2), factors),
        untrue((b - a).is_real and factors.is_nonnegative),
    ]


def _summed() -> list[int]:
    width = sqrt(2 * log(4 * _N * _K / _DELTA))
    (share,), (more,) = positive("b"), nonnegative("u")
    return [
        tends(sympy.diff(2 * width * sqrt(_N), _N) / (width / sqrt(_N)), 1, _N),
        # a group has a share of all rounds at least, so that its rounds grow as T does
        above(share * T, share * T + more),
    ]


def _decomposition() -> list[int]:
    rounds, floors = positive("N_1 N_2 N_3"), positive("F_1 F_2 F_3")
    fair, played = positive("R_1 R_2 R_3"), positive("r_1 r_2 r_3")
    groups = list(zip(rounds, floors, fair, played, strict=True))
    free = sum(rounds) - sum(floors)  # for the first group, the best
    regret = sum(f * r for _, f, r, _ in groups) + free * fair[0]
    regret -= sum(n * own for n, _, _, own in groups)
    parts = sum((n - f) * (fair[0] - r) + n * (r - own) for n, f, r, own in groups)
    return [unequal(regret, parts)]


def _lipschitz() -> list[int]:
    merit = sympy.Function("f", positive=True)
    merits = [merit(mean) for mean in _MEANS]
    reward = sum(f * mean for f, mean in zip(merits, _MEANS, strict=True)) / sum(merits)
    first = _MEANS[0]
    slope = (merits[0] + sympy.diff(merits[0], first) * (first - reward)) / sum(merits)
    largest, steepest, least = positive("gamma_2 L gamma_1")
    lower, flatter, more = nonnegative("u v w")  # f, |f' (mu - R)| and the sum off their bounds
    at_most = (largest - lower + steepest - flatter) / (_K * least + more)
    return [
        unequal(sympy.diff(reward, first), slope),
        above(at_most, (largest + steepest) / (_K * least)),
    ]


PROOFS = named(_first_order, _positive, _summed, _decomposition, _lipschitz)


def beyond_order(order: str, power: str) -> int:
    """Return 1 if sqrt(T) w goes to infinity over an order in T, with delta of order T^-power."""
    over = sympy.sympify(order, locals={"T": T})
    width = sqrt(2 * ((1 + sympy.Rational(power)) * log(T) + log(4 * _K)))
    return grows(sqrt(T) * width / over, T)


def fluid_loss(means: np.ndarray, served: np.ndarray, delta: float) -> np.ndarray:
    """Return the regret within a group after numbers of its rounds, by the fluid equation.

    Each arm is pulled once, then its pulls grow as the optimistic policy has it,
    dN_i / dN = (mu_i + w / sqrt(N_i)) / sum_j (mu_j + w / sqrt(N_j)). `means` has shape (k,),
    `served` shape (n_rounds,), in order.
    """
    k, fair = len(means), (means**2).sum() / means.sum()

    def slopes(logs: float, state: np.ndarray) -> np.ndarray:
        rounds = math.exp(logs)
        raised = means + math.sqrt(2 * math.log(4 * rounds * k / delta)) / np.sqrt(state[:k])
        policy = raised / raised.sum()
        return rounds * np.append(policy, fair - policy @ means)

    first = np.concatenate([[0.0], np.cumsum(fair - means)])
    losses = np.interp(served, np.arange(k + 1), first)
    later = served > k
    if later.any():
        start = np.append(np.ones(k), first[-1])
        ends = np.log(served[later].astype(float))
        span = math.log(k), float(ends.max())
        options = {"method": "LSODA", "dense_output": True, "rtol": 1e-6, "atol": 1e-6}
        losses[later] = solve_ivp(slopes, span, start, **options).sol(ends)[-1]
    return losses

"""Reward laws: a code and two numbers per arm turn a word into a reward, in one loop for all."""

import math

import numpy as np

from fairbandits.engine.elementary import exp, log
from fairbandits.engine.protocol import NOT_INLINED, inlined, not_inlined
from fairbandits.engine.streams import inner, open_unit, standard_normal, unit
from fairbandits.engine.vectors import LANES, Vector
from fairbandits.engine.width import compiled_as, lane, least, where, with_lane

_LAWS = ("uniform02", "uniform02_clipped", "bernoulli", "gaussian", "beta", "deterministic")
CODES = {law: code for code, law in enumerate(_LAWS)}
UNIFORM02, UNIFORM02_CLIPPED, BERNOULLI, GAUSSIAN, BETA, DETERMINISTIC = CODES.values()


def law_parameters(
    law: str, means: np.ndarray, spread: float
) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the code of a law and its two parameters per arm; `spread` as in `Instance`."""
    code = CODES[law]
    first, second = means.copy(), np.full(means.size, float(spread))
    if code in (UNIFORM02, UNIFORM02_CLIPPED):
        first = 2.0 * means
    elif code == BETA:
        first, second = means * spread, (1.0 - means) * spread
    return code, first, second


def law_means(law: str, means: np.ndarray) -> np.ndarray:
    """Return the true means of a law, which differ from `means` only where it clips."""
    if law != "uniform02_clipped":
        return means.copy()
    clipped = means > 0.5
    return np.where(clipped, 1.0 - 1.0 / (4.0 * np.where(clipped, means, 1.0)), means)


@inlined
def reward_of(code, first, second, w):
    """Return the reward that word `w` gives under a law with this code and parameters."""
    if code == UNIFORM02:
        return first * unit(w)
    if code == BERNOULLI:
        return where(unit(w) < first, 1.0, 0.0)
    if code == DETERMINISTIC:
        return first
    if code == GAUSSIAN:
        return first + second * standard_normal(w)
    if code == UNIFORM02_CLIPPED:
        return least(1.0, first * unit(w))
    return beta_of(first, second, w)


def _beta_of_lanes(a, b, w):
    x = a
    for i in range(LANES):
        x = with_lane(x, i, _beta(lane(a, i), lane(b, i), lane(w, i)))
    return x


@compiled_as(lambda a, b, w: _beta(a, b, w), _beta_of_lanes, NOT_INLINED)
def beta_of(a, b, w):
    return _beta_of_lanes(a, b, w) if isinstance(w, Vector) else _beta(a, b, w)


@inlined
def _beta(a, b, w):
    x, j = _gamma(w, 0, a)
    y, j = _gamma(w, j, b)
    return x / (x + y)


@not_inlined
def _gamma(w, j, shape):
    """Draw Gamma(shape) from the inner words of `w` after the j-th; return it and the last used."""
    # G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM
    # Transactions on Mathematical Software 26 (2000), 363-372
    boost = 1.0
    if shape < 1.0:
        j += 1
        boost = exp(log(open_unit(inner(w, j))) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        j += 1
        x = standard_normal(inner(w, j))
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            j += 1
            u = open_unit(inner(w, j))
            # their squeeze, with room for rounding: numbers that pass it also pass the test,
            # without a logarithm
            if u < 1.0 - 0.0331 * x * x * x * x - 1e-6:
                return boost * d * v, j
            if log(u) < 0.5 * x * x + d - d * v + d * log(v):
                return boost * d * v, j

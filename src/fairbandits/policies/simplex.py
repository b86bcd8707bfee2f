"""The probability simplex: projection, the log-barrier step, and sampling from a distribution."""

import math

from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE
from fairbandits.engine.streams import unit


@register_jitable(**INLINE)
def sample(x, coin):
    """Return the first index whose cumulated probability exceeds the coin, else the last one."""
    u = unit(coin)
    cumulated = 0.0
    for k in range(x.size - 1):
        cumulated += x[k]
        if cumulated > u:
            return k
    return x.size - 1


@register_jitable(**INLINE)
def project_step(x, rate, g, threshold, y):
    """Move `x` to the point of the simplex nearest to x + rate * g.

    That point is max(x + rate * g - d, 0). The d that fits any set of entries is never too large,
    and the entries above it fit a larger one: so d climbs from `threshold`, dropping entries until
    the lowest one kept lies above it, to the point that sorting gives, in a few passes. The kept
    entries move to the front of `y`, so that the passes get shorter.

    Parameters
    ----------
    x : ndarray of float, shape (n,)
        A point, changed in place.
    rate : float
        Step size.
    g : ndarray of float, shape (n,)
        Gains.
    threshold : float
        Where d starts: what fits some set of entries, (their sum after the step - 1) / number.
    y : ndarray of float, shape (n,)
        Scratch.

    References
    ----------
    C. Michelot, "A finite algorithm for finding the projection of a point onto the canonical
    simplex of R^n", Journal of Optimization Theory and Applications 50 (1986), 195-200.
    """
    for k in range(y.size):
        y[k] = x[k] + rate * g[k]
    active = y.size
    lowest = -math.inf
    while lowest <= threshold:  # so every pass after the first drops an entry
        kept = 0
        total = 0.0
        lowest = math.inf
        for k in range(active):  # without branches: which entries drop cannot be predicted
            value = y[k]
            keep = value > threshold
            y[kept] = value
            kept += 1 if keep else 0
            total += value if keep else 0.0
            lowest = min(lowest, value if keep else math.inf)
        if kept == 0:  # after a step so long that adding 1 to an entry does not change it
            return
        active = kept
        threshold = (total - 1.0) / active
    for k in range(x.size):
        x[k] = max(x[k] + rate * g[k] - threshold, 0.0)


@register_jitable(**INLINE)
def log_barrier_shift(gaps, shift, tolerance):
    """Return d >= 1 with sum_i 1 / (gaps_i + d) = 1, by Newton's method.

    The maximiser of sum log q + <q, z> over the simplex is q_i = 1 / (gaps_i + d) with
    gaps_i = max z - z_i. Measuring from the maximum keeps full precision however large z is.

    Parameters
    ----------
    gaps : ndarray of float, shape (n,)
        Non-negative, at least one of them 0.
    shift : float
        Where to start, e.g. the last round's root; anything positive will do, since the function
        is concave and increasing: a step from the right lands on the left, and from there the
        steps climb to the root.
    tolerance : float
        Stop after the step that started with |1 - sum| below this.

    References
    ----------
    BanditQ, App. 7.9 (UAI version, Alg. 3, with the sign corrected).
    """
    for _ in range(200):
        total = 0.0
        squares = 0.0
        for k in range(gaps.size):
            q = 1.0 / (gaps[k] + shift)
            total += q
            squares += q * q
        excess = total - 1.0
        shift = max(1.0, shift + excess / squares)
        if abs(excess) < tolerance:
            return shift
    return shift


@register_jitable(**INLINE)
def mass_and_logs(gaps, p):
    """Return sum_i 1 / gaps_i, and sum_i log(gaps_i * p_i) with few logarithms.

    In one loop, because the two sums wait for their own additions only.
    """
    mass = 0.0
    logs = 0.0
    product = 1.0
    for k in range(gaps.size):
        mass += 1.0 / gaps[k]
        product *= gaps[k] * p[k]
        if product > 1e150 or product < 1e-150:
            logs += math.log(product)
            product = 1.0
    return mass, logs + math.log(product)

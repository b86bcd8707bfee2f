"""The probability simplex: projection, the log-barrier step, and sampling from a distribution."""

import math

from fairbandits.engine.elementary import log
from fairbandits.engine.protocol import inlined
from fairbandits.engine.streams import unit
from fairbandits.engine.width import absolute, anywhere, greatest, least, no, where


@inlined
def sample(x, coin):
    """Return the first index whose cumulative probability exceeds the coin, else the last index."""
    u = unit(coin)
    arm, cumulated = 0, 0.0
    for k in range(len(x) - 1):
        cumulated = cumulated + x[k]
        arm = arm + where(cumulated > u, 0, 1)  # once above, always above
    return arm


def choose_from_x(state, t, coin):
    """Choose for a policy whose state has the distribution `x`."""
    return sample(state.x, coin)


@inlined
def project_step(x, rate, g, threshold, moves, y):
    """Move `x` to the point of the simplex nearest to x + rate * g, in place, where it `moves`.

    That point is max(x + rate * g - d, 0). The d that fits any set of entries is never too large:
    it climbs from `threshold`, the d of some set of entries, dropping entries until the lowest one
    kept lies above it (C. Michelot, Journal of Optimization Theory and Applications 50, 1986,
    195-200). `y` is scratch.
    """
    for k in range(len(y)):
        y[k] = x[k] + rate * g[k]
    active = moves
    while anywhere(active):
        kept, total, lowest = 0.0, 0.0, math.inf
        for k in range(len(y)):  # without branches: which entries drop cannot be predicted
            value = y[k]
            keep = value > threshold
            y[k] = where(keep, value, -math.inf)
            kept = kept + where(keep, 1.0, 0.0)
            total = total + where(keep, value, 0.0)
            lowest = least(lowest, where(keep, value, math.inf))
        # none is kept after a step so long that adding 1 to an entry does not change it
        moves = moves & ((kept > 0.0) | no(active))
        threshold = where(active, (total - 1.0) / greatest(kept, 1.0), threshold)
        active = active & moves & (lowest <= threshold)
    for k in range(len(x)):
        after = greatest(x[k] + rate * g[k] - threshold, 0.0)
        x[k] = where(moves, after, x[k])


@inlined
def log_barrier_shift(gaps, shift, tolerance):
    """Return d >= 1 with sum_i 1 / (gaps_i + d) = 1, from any shift > 0 by Newton's method.

    The maximiser of sum log q + <q, z> over the simplex is q_i = 1 / (gaps_i + d) with gaps_i = max
    z - z_i (BanditQ, App. 7.9, with the sign corrected). The last step started with |1 - sum| below
    `tolerance`.
    """
    going = shift > 0.0  # true in every lane
    for _ in range(200):
        total, squares = 0.0, 0.0
        for k in range(len(gaps)):
            q = 1.0 / (gaps[k] + shift)
            total = total + q
            squares = squares + q * q
        excess = total - 1.0
        shift = where(going, greatest(1.0, shift + excess / squares), shift)
        going = going & no(absolute(excess) < tolerance)
        if not anywhere(going):
            break
    return shift


@inlined
def mass_and_logs(gaps, shift, p):
    """Return sum_i 1 / (gaps_i + shift), and sum_i log((gaps_i + shift) p_i) by few logarithms."""
    mass, logs, product = 0.0, 0.0, 1.0
    for k in range(len(gaps)):
        gap = gaps[k] + shift
        mass = mass + 1.0 / gap
        product = product * (gap * p[k])
        far = (product > 1e150) | (product < 1e-150)
        if anywhere(far):
            logs = where(far, logs + log(product), logs)
            product = where(far, 1.0, product)
    return mass, logs + log(product)

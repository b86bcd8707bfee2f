"""The arm of largest index, and what happens when several share it."""

from numba.extending import register_jitable

from fairbandits.engine.arrays import largest
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.streams import unit

RULES = ("lowest", "random")


@register_jitable(**INLINE)
def best_arm(index, random, coin):
    """Return the arm of largest index; of several, the lowest or, if `random`, one by the coin."""
    best = largest(index)
    arm = index.size - 1
    for k in range(index.size - 1):  # bounded, and stopped early: a guess that mostly comes true
        if index[k] == best:
            arm = k
            break
    if not random:
        return arm
    tied = 0
    for k in range(index.size):
        tied += 1 if index[k] == best else 0
    skip = int(unit(coin) * tied)
    for k in range(index.size):
        if index[k] == best:
            if skip == 0:
                return k
            skip -= 1
    return arm

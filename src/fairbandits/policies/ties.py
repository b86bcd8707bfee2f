"""The arm of largest index, and what happens when several share it."""

from numba.extending import register_jitable

from fairbandits.engine.streams import unit

RULES = ("lowest", "random")


@register_jitable
def best_arm(index, random, coin):
    """Return the arm of largest index; of several, the lowest or, if `random`, one by the coin."""
    best = index[0]
    arm = 0
    for k in range(1, index.size):  # no branch: which arm leads is hard to predict
        ahead = index[k] > best
        best = index[k] if ahead else best
        arm = k if ahead else arm
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

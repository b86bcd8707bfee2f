"""The arm of largest index, and the choice among several that share it."""

import math

from fairbandits.engine.protocol import inlined, verb
from fairbandits.engine.streams import unit
from fairbandits.engine.width import nonnegative, where

RULES = ("lowest", "random")

#: Return arm k's index in round t; `bonus` is the factor of 1 / sqrt(N_k), the same for all arms.
index_of = verb("index_of")


@inlined
def best_arm(state, first, last, t, bonus, arm=0, best=-math.inf):
    """Return the lowest arm of largest index in first .. last - 1, by `index_of`, and the index.

    If no index is larger than `best`, return `arm` and `best`.
    """
    # a comparison with the best so far waits for the one before it: so two arms are one of them
    first, pairs = nonnegative(first), nonnegative((last - first) // 2)
    for pair in range(pairs):
        k = first + 2 * pair
        second = index_of(state, k + 1, t, bonus)
        k, index = better(k + 1, second, k, index_of(state, k, t, bonus))
        arm, best = better(k, index, arm, best)
    if first + 2 * pairs < last:
        arm, best = better(last - 1, index_of(state, last - 1, t, bonus), arm, best)
    return arm, best


@inlined
def better(k, index, arm, best):
    """Return arm k and its index if larger than the best so far, else the best so far."""
    higher = index > best
    return where(higher, k, arm), where(higher, index, best)


@inlined
def any_of_best(indices, best, coin):
    """Return one of the arms whose index is `best`, each with the same probability."""
    tied = 0
    for k in range(len(indices)):
        tied = tied + where(indices[k] == best, 1, 0)
    skipped = unit(coin) * tied
    before, arm = 0, 0
    for k in range(len(indices)):
        is_best = indices[k] == best
        arm = where(is_best & (before <= skipped), k, arm)
        before = before + where(is_best, 1, 0)
    return arm

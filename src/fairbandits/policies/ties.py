"""The arm of largest index, and the choice among several that share it."""

from fairbandits.engine.protocol import inlined
from fairbandits.engine.streams import unit
from fairbandits.engine.width import where

RULES = ("lowest", "random")


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
        own = indices[k] == best
        arm = where(own & (before <= skipped), k, arm)
        before = before + where(own, 1, 0)
    return arm

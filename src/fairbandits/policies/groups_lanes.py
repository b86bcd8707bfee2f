"""What the policies for groups of arms share when they are played in blocks of replicates."""

from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE
from fairbandits.engine.vectors import every, load, select


@register_jitable(**INLINE)
def most_owed(quotas, denominator, served, t):
    """Return the group that `groups.most_owed` returns in each lane."""
    group, worst = every(-1.0), every(0.0)
    for g in range(quotas.shape[0]):
        owed = load(quotas, g) * (t - 1.0) - denominator * load(served, g)
        behind = owed > worst
        worst = select(behind, owed, worst)
        group = select(behind, float(g), group)
    return group


@register_jitable(**INLINE)
def served_group(state, t):
    """Return the group that BF-UCB serves in each lane after the initial rounds."""
    group = most_owed(state.quotas, state.denominator, state.served, t)
    best, richest = every(-1.0), every(0.0)
    for g in range(state.value.shape[0]):
        value = load(state.value, g)
        better = value > best
        best = select(better, value, best)
        richest = select(better, float(g), richest)
    return select(group < 0.0, richest, group)


@register_jitable(**INLINE)
def products(v, w):
    """Return the products of eight values and eight others."""
    (a, b, c, d), (e, f, g, h) = v
    (i, j, k, m), (n, o, p, q) = w
    return (a * i, b * j, c * k, d * m), (e * n, f * o, g * p, h * q)


@register_jitable(**INLINE)
def tree(values):
    """Return the sum of eight values, added up as `merit.block_sum` does."""
    (a, b, c, d), (e, f, g, h) = values
    return ((a + b) + (c + d)) + ((e + f) + (g + h))

"""Common parts of the policies for groups of arms: the layout, the quotas, the initial pulls."""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numba.extending import register_jitable

from fairbandits import checks
from fairbandits.engine.inlining import INLINE
from fairbandits.engine.streams import inner, unit
from fairbandits.engine.width import anywhere, where, whole
from fairbandits.policies.parameters import one_of
from fairbandits.policies.ties import better
from fairbandits.rationals import common_denominator

#: Place in a state's `now` of the group that is served.
GROUP = 0
#: Learners that choose the group served if none is behind.
OPTIMISTIC, FIRST, RANDOM, LEAST_OWED = range(4)
LEARNERS = {
    "optimistic": OPTIMISTIC,
    "first": FIRST,
    "random": RANDOM,
    "least_owed": LEAST_OWED,
}
#: Two readings of BF-UCB: as printed, and as in its authors' program.
VERSIONS = ("paper", "released")
#: The type of a switch between them.
Version = Annotated[str, one_of(*VERSIONS)]


def check_groups(groups: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of the groups as ints; ValueError unless all are whole and at least 1."""
    sizes = tuple(groups)
    for g, size in enumerate(sizes):
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise ValueError(
                f"groups must be whole numbers of at least 1, got {size!r} for group {g + 1}"
            )
    if not sizes:
        raise ValueError("groups must name the size of at least 1 group, got none")
    return tuple(int(size) for size in sizes)


def check_layout(groups: Sequence[int], n_arms: int) -> None:
    """Raise ValueError unless the sizes of the groups add up to the number of arms."""
    if sum(groups) != n_arms:
        raise ValueError(
            f"groups must sum to the number of arms ({n_arms}), got {'+'.join(map(str, groups))}"
        )


def group_quotas(
    quotas: Sequence, n_groups: int, rounds: int | None = None
) -> tuple[list[int], int]:
    """Return beta_g as exact numerators over one common denominator; ValueError if invalid.

    Unlike an arm's quotas they may sum to 1, since the paper discusses beta = (1/2, 1/2). `rounds`
    is as in `fairbandits.rationals.common_denominator`.
    """
    if len(quotas) != n_groups:
        raise ValueError(f"quotas must have one entry per group ({n_groups}), got {len(quotas)}")
    numerators, denominator = common_denominator("quotas", quotas, rounds)
    for g, numerator in enumerate(numerators):
        if numerator < 0:
            raise ValueError(f"quotas must be at least 0, got {quotas[g]} for group {g + 1}")
    if sum(numerators) > denominator:
        total = f"{sum(numerators)}/{denominator}"
        raise ValueError(f"quotas must sum to at most 1, got {total}")
    return numerators, denominator


def check_delta(delta: float | None) -> None:
    """Raise ValueError unless `delta` is None or strictly between 0 and 1."""
    if delta is not None and not 0 < delta < 1:
        raise ValueError(f"delta must lie strictly between 0 and 1, got {delta!r}")


def delta_for(delta: float | None, horizon: int) -> float:
    """Return delta, at most 1/2; None stands for 1 / sqrt(T)."""
    return min(0.5, 1.0 / math.sqrt(horizon)) if delta is None else float(delta)


def settle(policy, version: str, **allowed: Sequence[str]) -> None:
    """Give each unset switch of a frozen policy the value `version`, and check all values."""
    checks.one_of("version", version, VERSIONS)
    for name, values in allowed.items():
        if getattr(policy, name) is None:
            object.__setattr__(policy, name, version)
        checks.one_of(name, getattr(policy, name), values)


def starts(groups: Sequence[int]) -> np.ndarray:
    """Return the first arm of each group and the number of arms, shape (n_groups + 1,)."""
    return np.concatenate([[0], np.cumsum(groups)]).astype(np.int64)


def group_of(groups: Sequence[int]) -> np.ndarray:
    """Return the group of each arm, shape (n_arms,)."""
    return np.repeat(np.arange(len(groups)), groups)


def row_of(groups: Sequence[int], columns: int) -> np.ndarray:
    """Return the row of each arm where each group has `columns` rows, shape (n_arms,)."""
    return np.concatenate([columns * g + np.arange(size) for g, size in enumerate(groups)])


def released_rank(groups: Sequence[int]) -> np.ndarray:
    """Return each arm's place in the released program's numbering, shape (n_arms,).

    Its first arm is that of the first group; the other groups come next, and the rest of the first
    group last. Tied arms are tried in this order.
    """
    arms = np.arange(sum(groups))
    order = np.concatenate([arms[:1], arms[groups[0] :], arms[1 : groups[0]]])
    rank = np.empty(arms.size, np.int64)
    rank[order] = arms
    return rank


@register_jitable(**INLINE)
def most_owed(quotas, denominator, served, t):
    """Return the lowest group of largest beta_g (t-1) - N_g if that is above 0, else -1; exact."""
    group, worst = -1, 0
    for g in range(len(quotas)):
        group, worst = better(g, quotas[g] * (t - 1) - denominator * served[g], group, worst)
    return group


@register_jitable(**INLINE)
def served_group(state, t, coin):
    """Return the group that is furthest behind; if none is, the learner's choice."""
    group = most_owed(state.quotas, state.denominator, state.served, t)
    optional = group < 0
    if anywhere(optional):
        group = where(optional, _optional_group(state, t, coin), group)
    return group


@register_jitable(**INLINE)
def _optional_group(state, t, coin):
    """Return the group served in a round when none is behind."""
    n_groups = len(state.quotas)
    if state.learner == FIRST:
        return 0
    if state.learner == RANDOM:
        return whole(unit(inner(coin, 1)) * n_groups)
    group, best = 0, -math.inf
    for g in range(n_groups):
        if state.learner == LEAST_OWED:
            owed = state.quotas[g] * (t - 1) - state.denominator * state.served[g]
            group, best = better(g, -owed, group, best)
        else:
            group, best = better(g, state.value[g], group, best)
    return group


@register_jitable(**INLINE)
def new_mean(state, row, n, reward, released):
    """Return the mean after the n-th reward of the arm in a row, and store it.

    The released program's running mean is updated after the count has grown, (n m + r) / (n + 1),
    so that the mean m of the initial rewards counts once too often. It is computed as there, since
    its rounding decides ties.
    """
    if released:
        return (n * state.mean[row] + reward) / (n + 1)
    sums = state.sums[row] + reward
    state.sums[row] = sums
    return sums / n

"""Groups of arms: their layout and quotas, and which group is served."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairbandits.engine.protocol import inlined, plays_in_lanes
from fairbandits.engine.streams import inner, unit
from fairbandits.engine.width import Shared, anywhere, where, whole
from fairbandits.policies.ties import better
from fairbandits.rationals import Quotas

#: Learners that choose the group served if none is behind.
OPTIMISTIC, FIRST, RANDOM, LEAST_OWED = range(4)
LEARNERS = {"optimistic": OPTIMISTIC, "first": FIRST, "random": RANDOM, "least_owed": LEAST_OWED}


@plays_in_lanes
class Groups(NamedTuple):
    """The first arm of each group, each arm's group, and the quotas and rounds of the groups."""

    start: Shared
    of_arm: np.ndarray
    quotas: np.ndarray  # numerators over `denominator`
    served: np.ndarray  # rounds
    now: np.ndarray  # the group that is served in the round being played
    denominator: int


def begin(sizes: Sequence[int], quotas: Quotas, n_arms: int, horizon: int) -> Groups:
    """Return the groups before the first round; ValueError unless they cover all arms."""
    check_layout(sizes, n_arms)
    numerators, denominator = quotas.over(horizon)
    return Groups(
        start=starts(sizes),
        of_arm=np.repeat(np.arange(len(sizes)), sizes),
        quotas=np.array(numerators, np.int64),
        served=np.zeros(len(sizes), np.int64),
        now=np.zeros(1, np.int64),
        denominator=denominator,
    )


def starts(sizes: Sequence[int]) -> np.ndarray:
    """Return the first arm of each group and the number of arms, shape (n_groups + 1,)."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def check_layout(sizes: Sequence[int], n_arms: int) -> None:
    if sum(sizes) != n_arms:
        raise ValueError(
            f"groups must sum to the number of arms ({n_arms}), got {'+'.join(map(str, sizes))}"
        )


def check_quotas(quotas: Quotas, groups: Sequence[int]) -> None:
    if len(quotas) != len(groups):
        raise ValueError(f"quotas must have one entry per group ({len(groups)}), got {len(quotas)}")


@inlined
def size_of(groups, g):
    return groups.start[g + 1] - groups.start[g]


@inlined
def owed(groups, g, t):
    """Return the numerator of beta_g (t-1) - N_g."""
    return groups.quotas[g] * (t - 1) - groups.denominator * groups.served[g]


@inlined
def most_owed(groups, t):
    """Return the lowest group of largest beta_g (t-1) - N_g if that is above 0, else -1; exact."""
    group, worst = -1, 0
    for g in range(len(groups.served)):
        group, worst = better(g, owed(groups, g, t), group, worst)
    return group


@inlined
def served_group(groups, learner, value, t, coin):
    """Return the group that is furthest behind; if none is, the learner's choice."""
    group = most_owed(groups, t)
    optional = group < 0
    if anywhere(optional):
        group = where(optional, _optional_group(groups, learner, value, t, coin), group)
    return group


@inlined
def _optional_group(groups, learner, value, t, coin):
    """Return the group served in a round when none is behind."""
    n_groups = len(groups.served)
    if learner == FIRST:
        return 0
    if learner == RANDOM:
        return whole(unit(inner(coin, 1)) * n_groups)
    group, best = 0, -math.inf
    for g in range(n_groups):
        if learner == LEAST_OWED:
            group, best = better(g, -owed(groups, g, t), group, best)
        else:
            group, best = better(g, value[g], group, best)
    return group

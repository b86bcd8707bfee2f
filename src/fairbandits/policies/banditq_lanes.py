"""BanditQ for a block of replicates at once, with the numbers of one replicate at a time.

Every lane does the operations of `banditq`, `learners` and `simplex` in their order. Where one
replicate branches, all lanes compute both sides and each keeps its own; where one loops, all go on
until the last has done, and those that have keep what they have.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairbandits.engine.inlining import INLINE
from fairbandits.engine.lanes import copy_rows, plays_in_lanes
from fairbandits.engine.protocol import implements, learn
from fairbandits.engine.vectors import (
    absolute,
    anywhere,
    every,
    greatest,
    least,
    load,
    logarithm,
    pick,
    root,
    select,
    store,
)
from fairbandits.policies import banditq, learners
from fairbandits.policies.learners import BEST, EXPLORED, GAMMA, MIXABILITY, ROOT_M, ROOT_P


class FullState(banditq.FullState):
    """BanditQ with full information in every lane."""


class BanditState(banditq.BanditState):
    """BanditQ with bandit feedback in every lane."""


class OGA(NamedTuple):
    """`learners.OGA` in every lane, which sees all gains times a factor."""

    x: np.ndarray
    step: float
    squares: np.ndarray
    moved: np.ndarray
    factor: float = 1.0


class FTRL(NamedTuple):
    """`learners.FTRL` in every lane, which sees all gains times a factor."""

    x: np.ndarray
    p: np.ndarray
    inverse: np.ndarray
    estimates: np.ndarray
    gaps: np.ndarray
    memory: np.ndarray
    adaptive: bool
    tolerance: float
    factor: float = 1.0


plays_in_lanes(banditq.FullState, FullState)
plays_in_lanes(banditq.BanditState, BanditState)
plays_in_lanes(learners.OGA, OGA)
plays_in_lanes(learners.FTRL, FTRL)
plays_in_lanes(
    learners.Scaled, make=lambda state, wide: wide(state.learner)._replace(factor=state.factor)
)


@implements("distribute", FullState)
def _distribute(state, t, coin, out):
    copy_rows(out, state.learner.x)


@implements("learn", FullState)
def _learn_all(state, t, x, reward):
    factor, surrogate = state.learner.factor, state.surrogate
    for k in range(reward.shape[0]):  # without targets the queues stay 0
        store(surrogate, k, factor * (state.penalty * load(reward, k)))
    for j in range(state.protected.shape[0]):
        k = state.protected[j, 0]
        seen = load(reward, k)
        length = load(state.queue, k)
        level = _clipped(state, k, length + load(state.targets, k) - seen * load(x, k))
        length = level if state.post else length
        store(surrogate, k, factor * ((length + state.penalty) * seen))
    learn(state.learner, t, x, surrogate)


@implements("choose", BanditState)
def _choose_arm(state, t, coin):
    x = state.learner.x
    last = x.shape[0] - 1
    arm, cumulated = every(0.0), every(0.0)
    for k in range(last):
        share = load(x, k)
        store(state.probability, k, load(state.probability, k) + share)
        cumulated = cumulated + share
        arm = arm + select(cumulated > coin, 0.0, 1.0)  # once above, always above
    store(state.probability, last, load(state.probability, last) + load(x, last))
    return arm


@implements("learn", BanditState)
def _learn_one(state, t, arm, reward):
    length = pick(state.queue, arm)
    for j in range(state.protected.shape[0]):
        k = state.protected[j, 0]
        level = load(state.queue, k) + load(state.targets, k)
        own = arm == k
        level = _clipped(state, k, select(own, level - reward, level))
        if state.post:
            length = select(own, level, length)
    learn(state.learner, t, arm, state.learner.factor * ((length + state.penalty) * reward))


@register_jitable(**INLINE)
def _clipped(state, k, level):
    """Store the queue's level, cut off at 0, with its idleness and maximum; return it."""
    below = level < 0.0
    idle = load(state.idleness, k)
    store(state.idleness, k, select(below, idle - level, idle))
    level = select(below, 0.0, level)
    store(state.queue, k, level)
    store(state.queue_max, k, greatest(load(state.queue_max, k), level))
    return level


@implements("learn", OGA)
def _oga(learner, t, x, g):
    x, y = learner.x, learner.moved
    n = x.shape[0]
    squares, played, total = every(0.0), every(0.0), every(0.0)
    for k in range(n):
        gain = load(g, k)
        on = load(x, k) > 0.0
        squares = squares + gain * gain
        played = played + select(on, 1.0, 0.0)
        total = total + select(on, gain, 0.0)
    squares = load(learner.squares, 0) + squares
    store(learner.squares, 0, squares)
    rate = learner.step / root(squares)
    threshold = rate * (total / played)
    for k in range(n):
        store(y, k, load(x, k) + rate * load(g, k))
    # as project_step, where the entries that drop are marked instead of left behind
    moves = squares > 0.0
    active = moves
    while anywhere(active):
        kept, total, lowest = every(0.0), every(0.0), every(math.inf)
        for k in range(n):
            value = load(y, k)
            keep = value > threshold
            store(y, k, select(keep, value, -math.inf))
            kept = kept + select(keep, 1.0, 0.0)
            total = total + select(keep, value, 0.0)
            lowest = least(lowest, select(keep, value, math.inf))
        moves = moves & ((kept > 0.0) | ~active)
        threshold = select(active, (total - 1.0) / kept, threshold)
        active = active & moves & (lowest <= threshold)
    for k in range(n):
        before = load(x, k)
        after = greatest(before + rate * load(g, k) - threshold, 0.0)
        store(x, k, select(moves, after, before))


@implements("learn", FTRL)
def _ftrl(learner, t, arm, g):
    x, p, inverse, gaps = learner.x, learner.p, learner.inverse, learner.gaps
    estimates, memory = learner.estimates, learner.memory
    n = p.shape[0]
    estimate = g / pick(x, arm)
    ahead = estimate >= 0.0
    some_behind = anywhere(~ahead)
    mixability = load(memory, MIXABILITY)
    eta = n / (1.0 + mixability)

    first = eta * estimate - pick(inverse, arm)
    top = select(ahead, greatest(first, -load(memory, ROOT_P)), first)
    if some_behind:
        for k in range(n):
            others = ~ahead & ~(arm == k)
            top = select(others, greatest(top, -load(inverse, k)), top)
    for k in range(n):
        gap = top + load(inverse, k)
        store(gaps, k, select(arm == k, gap - eta * estimate, gap))
    shift = _log_barrier_shift(gaps, load(memory, ROOT_M), learner.tolerance)
    store(memory, ROOT_M, shift)
    # as mass_and_logs
    mass, logs, product = every(0.0), every(0.0), every(1.0)
    for k in range(n):
        gap = load(gaps, k) + shift
        mass = mass + 1.0 / gap
        product = product * (gap * load(p, k))
        far = (product > 1e150) | (product < 1e-150)
        if anywhere(far):
            logs = select(far, logs + logarithm(product), logs)
            product = select(far, 1.0, product)
    logs = logs + logarithm(product)
    supremum = (top + shift) * mass - logs - eta * pick(p, arm) * estimate
    mixability = mixability + greatest(0.0, supremum / eta)
    store(memory, MIXABILITY, mixability)

    if learner.adaptive:
        explored = load(memory, EXPLORED) + load(memory, GAMMA) * absolute(estimate)
        store(memory, EXPLORED, explored)
        gamma = n / (2.0 * n + explored)
    else:
        gamma = every(min(0.5, math.sqrt(n / t)))
    store(memory, GAMMA, gamma)

    eta = n / (1.0 + mixability)
    best = greatest(load(memory, BEST), pick(estimates, arm) + estimate)
    for k in range(n):
        own = load(estimates, k)
        store(estimates, k, select(arm == k, own + estimate, own))
    if some_behind:
        found = load(estimates, 0)
        for k in range(1, n):
            found = greatest(found, load(estimates, k))
        best = select(ahead, best, found)
    store(memory, BEST, best)
    for k in range(n):
        store(gaps, k, eta * (best - load(estimates, k)))
    shift = _log_barrier_shift(gaps, load(memory, ROOT_P), learner.tolerance)
    store(memory, ROOT_P, shift)
    for k in range(n):
        gap = load(gaps, k) + shift
        share = 1.0 / gap
        store(inverse, k, gap)
        store(p, k, share)
        store(x, k, (1.0 - gamma) * share + gamma / n)


@register_jitable(**INLINE)
def _log_barrier_shift(gaps, shift, tolerance):
    going = shift > 0.0  # which holds in every lane
    for _ in range(200):
        total, squares = every(0.0), every(0.0)
        for k in range(gaps.shape[0]):
            q = 1.0 / (load(gaps, k) + shift)
            total = total + q
            squares = squares + q * q
        excess = total - 1.0
        shift = select(going, greatest(1.0, shift + excess / squares), shift)
        going = going & ~(absolute(excess) < tolerance)
        if not anywhere(going):
            break
    return shift


def _probe(state, out):
    copy_rows(out[0], state.queue)
    copy_rows(out[1], state.idleness)
    copy_rows(out[2], state.queue_max)
    copy_rows(out[3], state.probability)


implements("probe", FullState)(_probe)
implements("probe", BanditState)(_probe)

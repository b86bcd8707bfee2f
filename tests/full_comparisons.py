"""Index policies that compare all arms in every round: what the lazy ones must equal, bit for bit.

The formulas are those of the policies, in the same order of operations; nothing is remembered from
round to round but pulls and sums. Arms and rounds are numbered as in the package's loops: arms from
0, rounds from 1. All functions return the arm of each round.
"""

import math

import numpy as np
from numba import njit

from fairbandits.engine.sources import pull, stream_source
from fairbandits.engine.streams import unit, word

HARD, SOFT = range(2)


@njit(error_model="numpy")
def _draw(source, rewards, coins):
    for arm in range(rewards.shape[0]):
        for n in range(1, rewards.shape[1]):
            rewards[arm, n] = pull(source, 0, arm, n)
    for t in range(1, coins.size):
        coins[t] = unit(word(source.coin_base, source.coin_gamma, t))


def drawn(instance, rounds, seed, stream, replicate):
    """Return the rewards of each arm's n-th pull and the uniform number of each round's coin."""
    means = np.array(instance.means)
    source = stream_source(instance.law, means, instance.spread, seed, stream, replicate)
    rewards, coins = np.zeros((means.size, rounds + 1)), np.zeros(rounds + 1)
    _draw(source, rewards, coins)
    return rewards, coins


@njit(error_model="numpy")
def _largest(index, low, high, rank, random, u):
    best = index[low]
    for k in range(low, high):
        best = max(best, index[k])
    tied = 0
    for k in range(low, high):
        tied += 1 if index[k] == best else 0
    skip = int(u * tied) if random else 0
    arm = -1
    for k in range(low, high):
        if index[k] == best:
            if random:
                if skip == 0:
                    return k
                skip -= 1
            elif arm < 0 or rank[k] < rank[arm]:
                arm = k
    return arm


@njit(error_model="numpy")
def penalised(rewards, coins, quotas, denominator, penalties, threshold, previous, random):
    """UCB1 with penalties for missing pulls; without penalties UCB1 itself."""
    n_arms, rounds = rewards.shape[0], rewards.shape[1] - 1
    pulls, sums, index = np.zeros(n_arms, np.int64), np.zeros(n_arms), np.zeros(n_arms)
    rank = np.arange(n_arms)
    arms = np.zeros(rounds, np.int64)
    for t in range(1, rounds + 1):
        arm = t - 1
        if t > n_arms:
            bonus = math.sqrt(2.0 * math.log(t - 1 if previous else t))
            for k in range(n_arms):
                entitled = quotas[k] * t
                missing = entitled - denominator * pulls[k]
                extra = penalties[k] if missing > 0 else 0.0
                if threshold == SOFT:
                    extra = penalties[k] * (max(0, missing) / max(1, entitled))
                width = 1.0 / math.sqrt(pulls[k])
                index[k] = sums[k] / pulls[k] + extra + bonus * width
            arm = _largest(index, 0, n_arms, rank, random, coins[t])
        pulls[arm] += 1
        sums[arm] += rewards[arm, pulls[arm]]
        arms[t - 1] = arm
    return arms


@njit(error_model="numpy")
def overruled(rewards, coins, quotas, denominator, tolerance, clock, random, scale):
    """Fair-Learn with UCB1; the clock is the round (0), the one before (1), own choices (2)."""
    n_arms, rounds = rewards.shape[0], rewards.shape[1] - 1
    pulls, sums, index = np.zeros(n_arms, np.int64), np.zeros(n_arms), np.zeros(n_arms)
    rank = np.arange(n_arms)
    arms = np.zeros(rounds, np.int64)
    asked = 0
    for t in range(1, rounds + 1):
        arm = 0
        worst = quotas[0] * (t - 1) - denominator * pulls[0]
        for k in range(n_arms):
            behind = quotas[k] * (t - 1) - denominator * pulls[k]
            if behind > worst:
                worst = behind
                arm = k
        if worst <= tolerance:
            asked += 1
            arm = -1
            for k in range(n_arms):
                if pulls[k] == 0:
                    arm = k
                    break
            if arm < 0:
                now = t if clock == 0 else (t - 1 if clock == 1 else asked)
                bonus = math.sqrt(2.0 * math.log(now))
                for k in range(n_arms):
                    index[k] = sums[k] / pulls[k] + bonus * (1.0 / math.sqrt(pulls[k]))
                arm = _largest(index, 0, n_arms, rank, random, coins[t])
        pulls[arm] += 1
        sums[arm] += rewards[arm, pulls[arm]] / scale
        arms[t - 1] = arm
    return arms


@njit(error_model="numpy")
def grouped(rewards, coins, first, start, quotas, denominator, kind, inverse, cap, rank, random):
    """UCB over groups after the rounds `first`: UCB1's width (0), delta inside (1), outside (2)."""
    n_arms, rounds = rewards.shape[0], rewards.shape[1] - 1
    pulls, sums, index = np.zeros(n_arms, np.int64), np.zeros(n_arms), np.zeros(n_arms)
    served = np.zeros(quotas.size, np.int64)
    arms = np.zeros(rounds, np.int64)
    for t in range(1, rounds + 1):
        if t <= first.size:
            arm = first[t - 1]
        else:
            low = 0
            high = n_arms
            worst = 0
            for g in range(quotas.size):
                owed = quotas[g] * (t - 1) - denominator * served[g]
                if owed > worst:
                    worst = owed
                    low = start[g]
                    high = start[g + 1]
            a = 2.0 * math.log(t)
            if kind == 1:
                a = 2.0 * math.log(4.0 * t * (high - low) * inverse)
            elif kind == 2:
                a = 2.0 * math.log(4.0 * t * (high - low)) * inverse
            bonus = math.sqrt(a)
            for k in range(low, high):
                width = 1.0 / math.sqrt(pulls[k])
                index[k] = min(cap, sums[k] / pulls[k] + bonus * width)
            arm = _largest(index, low, high, rank, random, coins[t])
        pulls[arm] += 1
        sums[arm] += rewards[arm, pulls[arm]]
        for g in range(quotas.size):
            served[g] += 1 if start[g] <= arm < start[g + 1] else 0
        arms[t - 1] = arm
    return arms

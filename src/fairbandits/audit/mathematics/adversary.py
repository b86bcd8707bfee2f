"""BanditQ with full information on rewards that an adversary fixes beforehand.

Two arms: the first is owed 1/8 a round and pays 1/2 in the first half and 0 after it, the second
pays 1. Playing both equally gives the first 1/8 of all rounds.
"""

import itertools
import math

import numpy as np

TARGET = 1 / 8
EARLY = 1 / 2


def missed(horizon: int) -> float:
    """Return what the first arm misses of its target by the horizon, in rewards.

    Algorithm 1 with V = sqrt(T) and a step of 1 / sqrt(2 S); with two arms the projection onto the
    simplex moves both by the same and cuts at 0 and 1.
    """
    weight = math.sqrt(horizon)
    chance, queue, squares, earned = 0.5, 0.0, 0.0, 0.0
    for t in range(1, horizon + 1):
        reward = EARLY if t <= horizon // 2 else 0.0
        earned += reward * chance
        queue = max(0.0, queue + TARGET - reward * chance)
        gain, other = (queue + weight) * reward, weight
        squares += gain * gain + other * other
        chance += (gain - other) / (2 * math.sqrt(2 * squares))
        chance = min(1.0, max(0.0, chance))
    return TARGET * horizon - earned


def beyond_rate(first: int, doublings: int) -> np.ndarray:
    """Return what is missed at T less 2^(3/4) times that at T / 2, in whole rewards, rounded down.

    T is twice the first horizon, then doubled; above 0 what is missed outgrows T^(3/4).
    """
    found = [missed(first * 2**power) for power in range(doublings + 1)]
    return np.array([math.floor(now - 2**0.75 * half) for half, now in itertools.pairwise(found)])

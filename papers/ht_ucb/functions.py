"""What several claims of hard-threshold UCB ask of a run, or of a proof."""

from typing import NamedTuple

import numpy as np


def broken_steps(proof):
    """1 for each step of a proof of the hard-threshold paper that does not hold, else 0."""
    from fairbandits.theory.derivations import hard_threshold  # SymPy is slow to load

    return [step() for step in hard_threshold.PROOFS[proof]]


def has_quotas(run):
    """Whether all arms have their quota in whole pulls at T."""
    return (run.end("owed") <= run.end("plays")).all(axis=1)


def largest_shortfall(run):
    """Pulls at T that an optimal or critical arm lacks, the most of any."""
    return np.where(run.end("non_critical"), 0, run.end("lack")).max(axis=1)


class Steps(NamedTuple):
    """Rounds n, N_k(n - 1), whether k is pulled in n, and whether N_k(n - 1) < tau_k n, exactly."""

    n: np.ndarray
    before: np.ndarray
    pulled: np.ndarray
    short: np.ndarray


def steps(run):
    """Rounds that are recorded one by one."""
    plays = np.pad(run["plays"], [(0, 0), (1, 0), (0, 0)])
    rounds = np.append(0, run.rounds)
    next_to = np.flatnonzero(np.diff(rounds) == 1)
    n, before = rounds[next_to + 1], plays[:, next_to]
    numerators, denominator = run.config.exact_quotas
    short = before.astype(np.int64) * denominator < numerators * n[:, None]
    return Steps(n, before, plays[:, next_to + 1] > before, short)


def alone(run, least, first):
    """Rounds from `first` on in which one arm alone, with A_k >= Delta_k, is behind its quota.

    All other arms have more than `least` pulls. Also how often that arm is not pulled.
    """
    n, before, pulled, short = steps(run)
    one = short & ~run["non_critical"]
    others = (short | (before <= least)) & ~one
    holds = (one.sum(axis=2) == 1) & ~others.any(axis=2) & (n >= first)
    return holds.sum(axis=1), (holds & ~(one & pulled).any(axis=2)).sum(axis=1)


def outside(run, least, first):
    """Rounds from `first` on in which a non-critical arm with more than `least` pulls is pulled.

    Also in how many of them an arm with A_k >= Delta_k is short of its quota.
    """
    n, before, pulled, short = steps(run)
    taken = (pulled & (before > least) & run["non_critical"]).any(axis=2) & (n >= first)
    return taken.sum(axis=1), (taken & (short & ~run["non_critical"]).any(axis=2)).sum(axis=1)


def straightness(y, x):
    """Correlation of values (replicate, arm) and x over the arms, 0 where all values are equal."""
    if x.size < 3:
        raise ValueError(f"a line needs at least 3 arms, got {x.size}")
    y, x = (one - one.mean(axis=-1, keepdims=True) for one in (y, x))
    size = np.sqrt((y**2).sum(axis=1) * (x**2).sum())
    return np.divide((x * y).sum(axis=1), size, out=np.zeros(len(y)), where=size > 0)


def frontier(x, y, others, level, levels):
    """Height y of one curve, at one of evenly spaced levels of x that another reaches too.

    Values are (replicate, point), and `others` is the other curve's x. A replicate's value is its
    height less the slope times its own x's distance from the level.
    """
    middle, heights, across = x.mean(axis=0), y.mean(axis=0), others.mean(axis=0)
    low, high = max(middle.min(), across.min()), min(middle.max(), across.max())
    at = low + (high - low) * (level - 1) / (levels - 1)
    places = np.lexsort((heights, middle))
    right = int(np.searchsorted(middle[places], at * (1 + 1e-12), side="right"))
    if right == places.size:
        return y[:, places[-1]]
    before, after = places[right - 1], places[right]
    width = middle[after] - middle[before]
    weight = (at - middle[before]) / width
    slope = (heights[after] - heights[before]) / width
    reached, height = ((1 - weight) * one[:, before] + weight * one[:, after] for one in (x, y))
    return height - slope * (reached - at)

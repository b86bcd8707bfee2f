"""Confidence boxes of groups: where Phi(mu) = sum mu^2 / sum mu is largest, in whole numbers."""

import itertools

import numpy as np

from fairbandits.audit.mathematics.chance import generator

PARTS = 1000


def corners_lost(number: int, kind: str, seed: str) -> int:
    """Count random boxes with a vertex whose Phi is larger than that of the upper corner.

    Phi is convex where the sum is positive, so that its maximum over such a box is at a vertex.
    Each box has 2 to 6 arms, around empirical means of at least 1/2, with widths of its own: as it
    is (``uncut``), cut to [0, 1] (``cut``), or to [1/2, 1] (``half``).
    """
    if kind not in ("half", "cut", "uncut"):
        raise ValueError(f"kind must be one of half, cut, uncut, got {kind!r}")
    rng = generator(seed)
    lost = 0
    for trial in range(number):
        arms = 2 + trial % 5
        middle = rng.integers(PARTS // 2, PARTS, arms, endpoint=True)
        width = rng.integers(1, PARTS, arms, endpoint=True)
        lower, upper = middle - width, middle + width
        if kind != "uncut":
            lower = np.maximum(lower, PARTS // 2 if kind == "half" else 0)
            upper = np.minimum(upper, PARTS)
        choices = np.array(list(itertools.product((False, True), repeat=arms)))
        points = np.where(choices, upper, lower)
        sums, squares = points.sum(axis=1), (points**2).sum(axis=1)
        # Phi is undefined where the sum is not positive
        better = (sums > 0) & (squares * upper.sum() > (upper**2).sum() * sums)
        lost += bool(better.any())
    return lost


def optimism_lost(number: int, least: int, cut: bool, seed: str) -> int:
    """Count random boxes with a smaller Phi at their upper corner than at the true means.

    True means are from `least` thousandths to 1, and the upper corner is at or above them; with
    `cut` it is at most 1.
    """
    rng = generator(seed)
    lost = 0
    for trial in range(number):
        arms = 2 + trial % 9
        means = rng.integers(max(least, 1), PARTS, arms, endpoint=True)
        upper = means + rng.integers(0, PARTS, arms, endpoint=True)
        if cut:
            upper = np.minimum(upper, PARTS)
        at_corner = int((upper**2).sum()) * int(means.sum())
        lost += at_corner < int((means**2).sum()) * int(upper.sum())
    return lost

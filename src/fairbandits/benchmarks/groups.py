"""Random instances of arms in groups, as BF-UCB's experiments draw them."""

from collections.abc import Mapping, Sequence

import numpy as np

from fairbandits.engine.streams import stream_key, unit, word


def draw_means(
    groups: Sequence[int],
    ranges: Sequence[tuple[float, float]],
    seed: int,
    stream: str,
    replicate: int,
    *,
    decimals: int | None = None,
    fixed: Mapping[int, float] | None = None,
) -> np.ndarray:
    """Return uniform means for the arms of each group, shape (n_arms,).

    Parameters
    ----------
    groups : sequence of int
        Sizes of the groups.
    ranges : sequence of (float, float)
        Lowest and highest mean of each group, within [0, 1].
    seed, stream, replicate
        Address of the draw (`fairbandits.engine.streams`): the same for all policies.
    decimals : int, optional
        Round to so many decimals; the released program has 3.
    fixed : mapping of int to float, optional
        Means given to arms (from 1) instead. The released program fixes the first arm of each of
        its two groups, at 0.65 and 0.6.

    Raises
    ------
    ValueError
        If there is not one range per group, or one is no part of [0, 1], or an arm does not exist.

    Examples
    --------
    >>> draw_means((2, 1), [(0.5, 0.6), (0.9, 1)], 0, "doctest", 0, decimals=3, fixed={1: 0.65})
    array([0.65 , 0.557, 0.981])
    """
    if len(ranges) != len(groups):
        raise ValueError(f"ranges must have one entry per group ({len(groups)}), got {len(ranges)}")
    for g, (low, high) in enumerate(ranges):
        if not 0 <= low <= high <= 1:
            raise ValueError(
                f"ranges must lie in [0, 1], lowest first, got ({low}, {high}) for group {g + 1}"
            )
    low, high = (np.repeat([pair[end] for pair in ranges], groups) for end in (0, 1))
    keys = [stream_key(seed, stream, replicate, "instance", arm) for arm in range(low.size)]
    means = low + (high - low) * np.array([unit(word(*key, 1)) for key in keys])
    if decimals is not None:
        means = means.round(decimals)
    for arm, mean in (fixed or {}).items():
        if not 1 <= arm <= means.size:
            raise ValueError(f"fixed must name arms in 1..{means.size}, got {arm}")
        means[arm - 1] = mean
    return means

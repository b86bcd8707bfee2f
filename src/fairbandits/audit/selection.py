"""The worst of several arms, instances or policies, chosen and tested on different replicates.

A column chosen because its mean is the largest has a mean that is too large: of five equal ones the
largest is beyond its 99 % limit in 5 % of samples. There are two remedies. Where the claim is a
bound, all columns are tested at once (`fairbandits.audit.means.bound_everywhere`), which takes all
replicates and is preferred. Where what follows takes one column, such as a slope, it is chosen on
one half of the replicates and tested on the other (`held_out`).
"""

from typing import Literal

import numpy as np

from fairbandits.audit.finding import one_of


def held_out(
    samples: np.ndarray, *, worst: Literal["largest", "smallest"] = "largest"
) -> tuple[int, np.ndarray]:
    """Return the worst column, by the first half of the replicates, and its other half.

    Parameters
    ----------
    samples : ndarray, shape (n_replicates, ..., n_columns)
        The statistic of each replicate and column; where there are horizons between, the last one
        decides.
    worst : {"largest", "smallest"}
        Which mean is the worst.

    Returns
    -------
    column : int
        The index of the worst one.
    rest : ndarray, shape (n_replicates - n_replicates // 2, ...)
        That column in the replicates that had no part in the choice.

    Examples
    --------
    >>> held_out(np.array([[1, 5], [2, 6], [3, 0], [4, 0]]))
    (1, array([0, 0]))
    """
    one_of("worst", worst, ("largest", "smallest"))
    samples = np.asarray(samples)
    if samples.ndim < 2 or len(samples) < 4 or not samples.shape[-1]:
        raise ValueError(
            f"samples must have at least 4 replicates, and columns, got shape {samples.shape}"
        )
    half = len(samples) // 2
    means = samples[:half].mean(axis=0).reshape(-1, samples.shape[-1])[-1]
    column = int(means.argmax() if worst == "largest" else means.argmin())
    return column, samples[half:, ..., column]

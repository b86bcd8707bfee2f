"""The worst of several columns, chosen on half of the replicates and tested on the others."""

from typing import Literal

import numpy as np

from fairbandits.audit.finding import one_of


def held_out(
    samples: np.ndarray, *, worst: Literal["largest", "smallest"] = "largest"
) -> tuple[int, np.ndarray]:
    """Return the index of the worst column by the first half of the replicates, and its other half.

    `samples` has shape (n_replicates, ..., n_columns); the last horizon of any between decides.
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

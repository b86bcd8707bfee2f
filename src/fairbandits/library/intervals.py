"""The interval of a mean, for tables and pictures."""

import numpy as np

from fairbandits.measures.summary import summarise


def interval_of(values: np.ndarray) -> tuple[float, float, float]:
    """Return the mean of a sample and its 95 % t interval."""
    (row,) = summarise("", "", np.zeros(1), values[:, None]).itertuples()
    return row.mean, row.mean_low, row.mean_high

"""Curves over replicates: mean, its confidence interval, the spread of runs, and one run."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

#: Level of all intervals in figures.
LEVEL = 0.95


def summarise(
    law: str, series: str, rounds: np.ndarray, curves: np.ndarray, x: str = "round"
) -> pd.DataFrame:
    """Return one quantity's curve over replicates, with `law` and `series` as columns.

    `curves` has shape (n_replicates, n_rounds), the mean a t interval; runs are 95 % of replicates.
    """
    n = curves.shape[0]
    mean = curves.mean(axis=0)
    half = stdtrit(n - 1, (1 + LEVEL) / 2) * curves.std(axis=0, ddof=1) / np.sqrt(n)
    low, high = np.quantile(curves, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return pd.DataFrame(
        {
            "law": law,
            "series": series,
            x: rounds,
            "mean": mean,
            "mean_low": mean - half,
            "mean_high": mean + half,
            "run_low": low,
            "run_high": high,
            "one_run": curves[0],
            "n_replicates": np.int32(n),
        }
    )

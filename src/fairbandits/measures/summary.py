"""Curves over replicates: mean, its confidence interval, the spread of runs, and one run."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

#: Level of all intervals in figures.
LEVEL = 0.95


def interval_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean over the first axis, and the ends of its t interval."""
    n, mean = len(values), values.mean(axis=0)
    half = stdtrit(n - 1, (1 + LEVEL) / 2) * values.std(axis=0, ddof=1) / np.sqrt(n)
    return mean, mean - half, mean + half


def summarise(
    law: str, series: str, rounds: np.ndarray, curves: np.ndarray, x: str = "round"
) -> pd.DataFrame:
    """Return one quantity's curve over replicates, with `law` and `series` as columns.

    `curves` has shape (n_replicates, n_rounds), the mean a t interval; runs are 95 % of replicates.
    """
    mean, mean_low, mean_high = interval_of(curves)
    low, high = np.quantile(curves, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return pd.DataFrame(
        {
            "law": law,
            "series": series,
            x: rounds,
            "mean": mean,
            "mean_low": mean_low,
            "mean_high": mean_high,
            "run_low": low,
            "run_high": high,
            "one_run": curves[0],
            "n_replicates": np.int32(len(curves)),
        }
    )

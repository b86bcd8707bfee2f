"""The fluid equilibrium of BanditQ, (Q_i + V) mu_i = V mu* with an unprotected best arm."""

from collections.abc import Sequence

import numpy as np


def equilibrium_queues(
    means: Sequence[float], targets: Sequence[float], penalty: float
) -> np.ndarray:
    """Return V (mu* / mu_i - 1) for protected arms and 0 for others (E1), shape (n_arms,)."""
    means, targets = np.asarray(means, float), np.asarray(targets, float)
    queues = np.zeros(means.size)
    wanted = targets > 0
    queues[wanted] = penalty * (means.max() / means[wanted] - 1.0)
    return queues


def equilibrium_regret(means: Sequence[float], targets: Sequence[float], penalty: float) -> float:
    """Return -V sum (mu* / mu_i - 1)^2 over protected arms (E4), without idleness."""
    means, targets = np.asarray(means, float), np.asarray(targets, float)
    excess = means.max() / means[targets > 0] - 1.0
    return float(-penalty * (excess**2).sum())

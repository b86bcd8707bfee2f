"""The static benchmark of BanditQ: the best fixed distribution that meets the targets."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairbandits.checks import load


class StaticBenchmark(NamedTuple):
    """The distribution x*, shape (n_arms,), and its mean reward per round b*."""

    distribution: np.ndarray
    reward: float


def static_benchmark(means: Sequence[float], targets: Sequence[float]) -> StaticBenchmark:
    """Return the best distribution with x_i mu_i >= lambda_i (Eqs 1-3); ValueError if none is."""
    means, targets = np.asarray(means, float), np.asarray(targets, float)
    needed = load(means, targets)
    if needed > 1 + 1e-9:
        raise ValueError(
            f"targets cannot be met: sum of target / mean must be at most 1, got {needed:.4f}"
        )
    distribution = np.zeros(means.size)
    wanted = targets > 0
    distribution[wanted] = targets[wanted] / means[wanted]
    best = int(np.argmax(means))
    distribution[best] = 0.0
    distribution[best] = max(0.0, 1.0 - distribution.sum())
    return StaticBenchmark(distribution, float(distribution @ means))

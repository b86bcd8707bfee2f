"""A bandit instance: means and the law of the rewards."""

import math
from dataclasses import dataclass

import numpy as np

from fairbandits.engine import laws


@dataclass(frozen=True)
class Instance:
    """Arms with i.i.d. rewards.

    Parameters
    ----------
    means : sequence of float, length n_arms >= 2
        Mean reward mu_i of each arm: in [0, 1] for ``bernoulli``, in (0, 1) for ``beta``,
        >= 0 for the uniform laws, any finite number otherwise.
    law : {"uniform02", "bernoulli", "beta", "gaussian", "deterministic", "uniform02_clipped"}
        Distribution of the rewards: uniform on [0, 2 mu], Bernoulli(mu),
        Beta(mu m, (1 - mu) m), Normal(mu, sd), always mu, or min(1, uniform on [0, 2 mu]), whose
        mean is below mu where mu > 1/2 (see `true_means`).
    spread : float, optional
        m >= 0.1 of ``beta`` (default 4) or sd of ``gaussian`` (default 1).

    Raises
    ------
    ValueError
        If a value is out of its range.

    Examples
    --------
    >>> Instance((0.5, 0.8), law="uniform02_clipped").true_means
    array([0.5   , 0.6875])
    """

    means: tuple[float, ...]
    law: str = "bernoulli"
    spread: float | None = None

    def __post_init__(self):
        object.__setattr__(self, "means", tuple(float(mean) for mean in self.means))
        if len(self.means) < 2:
            raise ValueError(f"an instance needs at least 2 arms, got {len(self.means)}")
        if self.law not in laws.CODES:
            raise ValueError(f"law must be one of {', '.join(laws.CODES)}, got {self.law!r}")
        if self.spread is None:
            object.__setattr__(self, "spread", 4.0 if self.law == "beta" else 1.0)
        if not (math.isfinite(self.spread) and self.spread > 0):
            raise ValueError(f"spread must be a finite number above 0, got {self.spread!r}")
        if self.law == "beta" and self.spread < 0.1:  # both gamma draws could round to 0
            raise ValueError(f"spread of beta must be at least 0.1, got {self.spread!r}")
        low, high, text = {
            "bernoulli": (0.0, 1.0, "in [0, 1]"),
            "beta": (math.ulp(0.0), 1.0 - 2.0**-53, "in (0, 1)"),
            "uniform02": (0.0, math.inf, "at least 0"),
            "uniform02_clipped": (0.0, math.inf, "at least 0"),
        }.get(self.law, (-math.inf, math.inf, "finite"))
        for k, mean in enumerate(self.means):
            if not (math.isfinite(mean) and low <= mean <= high):
                raise ValueError(
                    f"means under law {self.law} must be {text}, got {mean!r} for arm {k + 1}"
                )

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.means)

    @property
    def true_means(self) -> np.ndarray:
        """Expected rewards, float array of shape (n_arms,)."""
        return laws.law_means(self.law, np.array(self.means))

"""The fluid law of HT-UCB's pulls at the end of a run: our derivation, for figures and tests.

At the end of a long run the arms that are still pulled have the same index, mu* + L x with L =
sqrt(2 ln T). An arm above its quota has (Delta_k / L + x)^(-2) pulls, one below it, by its penalty
rate, ((Delta_k - A_k) / L + x)^(-2). Between the two an arm has exactly its quota.
"""

import math
from collections.abc import Sequence

import numpy as np

from fairbandits.rationals import quota_numerators


def fluid_pulls(
    means: Sequence[float], quotas: Sequence, penalties: float | Sequence[float], horizon: int
) -> np.ndarray:
    """Return each arm's pulls by HT-UCB with the hard threshold; without penalty rates, by UCB1."""
    if horizon < 2:
        raise ValueError(f"horizon must be at least 2, got {horizon!r}")
    means = np.asarray(means, float)
    numerators, denominator = quota_numerators(quotas, horizon)
    entitled = np.array(numerators) * horizon / denominator
    scale = math.sqrt(2.0 * math.log(horizon))
    gaps = (means.max() - means) / scale
    raised = gaps - np.asarray(penalties, float) / scale

    def pulls(x: float) -> np.ndarray:
        above = (gaps + x) ** -2.0
        # the penalty rate keeps an arm at its quota where no number of pulls brings it down
        short = np.maximum(raised + x, 0.0)
        below = np.divide(1.0, short**2, out=np.full(means.size, math.inf), where=short > 0)
        return np.where(above > entitled, above, np.minimum(below, entitled))

    from scipy.optimize import brentq  # most figures do not need it

    # the best arm alone fills the horizon at one end; at the other all arms together leave some
    free = 1.0 - sum(numerators) / denominator
    ends = 1.0 / math.sqrt(horizon), math.sqrt(means.size / (free * horizon))
    x = brentq(lambda x: pulls(x).sum() - horizon, *ends, xtol=1e-15)
    return pulls(x)

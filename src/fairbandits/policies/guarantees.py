"""Common parts of the policies for guaranteed reward rates."""

from numbers import Integral

import numpy as np

from fairbandits import checks
from fairbandits.policies import kl
from fairbandits.policies.parameters import Means, Policy

#: Guaranteed reward rates, of rewards in [0, 1].
Guarantees = Means
#: c in kl(mean, q) = c log t / N, in the published program: 3 (1 + 0.01).
PUBLISHED = 3.03


class Guaranteed(Policy):
    """Base of the policies that play KL-UCB with what the guarantees leave."""

    def _begin(self, n_arms: int) -> tuple[kl.Limits, np.ndarray, np.ndarray]:
        """Return limits without pulls, the guarantees, and the arms that have one."""
        checks.length("targets", self.targets, n_arms)
        targets = np.array(self.targets)
        limits = kl.no_pulls(n_arms, self.constant, self.targets)
        return limits, targets, np.flatnonzero(targets > 0)


def known(horizon: int) -> int:
    """Return the horizon, or raise ValueError if there is none."""
    if isinstance(horizon, bool) or not isinstance(horizon, Integral) or horizon < 1:
        raise ValueError(f"horizon must be a whole number of at least 1, got {horizon!r}")
    return int(horizon)

"""What BF-UCB and its baselines share: groups, quotas, switches, and the initial rounds."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from fairbandits.policies import merit as merits
from fairbandits.policies.groups import check_quotas
from fairbandits.policies.initial_rounds import InitialState, n_rounds, width_factors
from fairbandits.policies.parameters import Policy
from fairbandits.policies.released import VERSIONS


class Grouped(Policy):
    """Base of BF-UCB and its baselines."""

    #: Each switch with its values in the paper's and in the released version.
    switches: ClassVar[Mapping[str, tuple[Any, Any]]]

    def __post_init__(self):
        super().__post_init__()
        if self.quotas is not None:
            check_quotas(self.quotas, self.groups)
        for name, values in self.switches.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, values[VERSIONS.index(self.version)])

    @property
    def initial_rounds(self) -> int:
        """Number of rounds m max k_g of the initial phase."""
        return n_rounds(self.groups)

    def _delta(self, horizon: int) -> float:
        """Return delta, at most 1/2; None stands for 1 / sqrt(T)."""
        return min(0.5, 1.0 / math.sqrt(horizon)) if self.delta is None else float(self.delta)

    def _first(self, horizon: int, outside: bool, rounded: bool) -> InitialState:
        """Return the state before the initial rounds.

        Delta stands `outside` the logarithm of the width, and draws are by a `rounded` number, in
        the released program.
        """
        return InitialState(
            merits.begin(self.groups, self.box == "uncut", rounded),
            np.zeros(len(self.groups), np.int64),
            n_rounds(self.groups),
            max(self.groups),
            *width_factors(self._delta(horizon), outside),
            self.initialisation == "released",
        )

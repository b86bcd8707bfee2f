"""Hedge, the unfair baseline under full information."""

from dataclasses import dataclass
from typing import ClassVar

from fairbandits.policies.banditq import BanditQ, FullState


@dataclass(frozen=True)
class Hedge:
    """Exponential weights on the rewards themselves, tuned as AdaHedge tunes them.

    It is BanditQ with that learner, no targets and V = 1, by the same code.

    References
    ----------
    S. de Rooij, T. van Erven, P. Grunwald and W. Koolen, "Follow the leader if you can, hedge if
    you must", JMLR 15 (2014).
    """

    feedback: ClassVar[str] = "full"
    probes: ClassVar[tuple[str, ...]] = BanditQ.probes

    def start(self, n_arms: int, horizon: int) -> FullState:
        """Return the state before the first round."""
        unfair = BanditQ((0.0,) * n_arms, feedback="full", subroutine="adahedge", V=1.0)
        return unfair.start(n_arms, horizon)

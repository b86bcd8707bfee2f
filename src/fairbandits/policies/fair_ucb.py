"""Policies with a name of their own that are settings of others."""

from dataclasses import dataclass, field

from fairbandits.policies import FairLearn
from fairbandits.policies.parameters import LearnerParameters


@dataclass(frozen=True)
class FairUCB(FairLearn):
    """Fair-UCB: Fair-Learn with UCB1 as the learner.

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        Required fraction of pulls r_i >= 0 of each arm, exact: 0.05, "1/3". They sum to less
        than 1.
    tolerance : number or str
        Allowed deficit alpha >= 0, exact.
    first_rounds : {"learner", "round_robin"}
        Who fills the rounds 1..k.

    Notes
    -----
    It pulls what `FairLearn` with the same quotas pulls. In configuration files it is
    ``fair_learn``.

    References
    ----------
    V. Patil, G. Ghalme, V. Nair and Y. Narahari, "Achieving fairness in the stochastic multi-armed
    bandit problem", section 4.

    Examples
    --------
    >>> FairUCB((0.2, "1/3", 0.25))
    FairUCB(quotas=(0.2, '1/3', 0.25), tolerance=0, first_rounds='learner')
    """

    learner: str = field(default="ucb1", init=False, repr=False)
    learner_parameters: LearnerParameters = field(default=(), init=False, repr=False)

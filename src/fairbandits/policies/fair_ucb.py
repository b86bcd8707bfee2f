"""Policies with a name of their own that are settings of others."""

from dataclasses import dataclass, field

from fairbandits.policies import FairLearn
from fairbandits.policies.parameters import LearnerParameters


@dataclass(frozen=True)
class FairUCB(FairLearn):
    """Fair-UCB: Fair-Learn with UCB1 as the learner.

    Parameters
    ----------
    quotas, tolerance, first_rounds
        As in `FairLearn`, which is the policy in configuration files.

    References
    ----------
    As in `FairLearn`, section 4.

    Examples
    --------
    >>> FairUCB((0.2, "1/3", 0.25))
    FairUCB(quotas=(0.2, '1/3', 0.25), tolerance=0, first_rounds='learner')
    """

    learner: str = field(default="ucb1", init=False, repr=False)
    learner_parameters: LearnerParameters = field(default=(), init=False, repr=False)

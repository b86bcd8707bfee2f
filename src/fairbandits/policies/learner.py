"""A registered policy as the learner inside another one."""

from typing import Any

from fairbandits.lookup import nearest
from fairbandits.policies.parameters import Policy


class HasLearner(Policy):
    """Base of policies with a learner, which `learner` and `learner_parameters` name."""

    def __post_init__(self):
        super().__post_init__()
        self.make_learner()

    def make_learner(self) -> Any:
        """Return the learner; ValueError unless it is registered and takes bandit feedback."""
        from fairbandits.policies import POLICIES, make_policy  # it registers what imports this

        name = self.learner
        if name not in POLICIES:
            hint = nearest(name, POLICIES)
            raise ValueError(f"learner must be one of {', '.join(POLICIES)}, got {name!r}{hint}")
        learner = make_policy(name, dict(self.learner_parameters), where="learner")
        if learner.feedback != "bandit":
            raise ValueError(
                f"learner must learn from bandit feedback, {name} needs full information"
            )
        return learner

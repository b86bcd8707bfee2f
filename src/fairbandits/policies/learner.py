"""A registered policy as the learner inside another one."""

from collections.abc import Mapping
from typing import Any


def frozen(parameters: Mapping[str, Any] | tuple) -> tuple[tuple[str, Any], ...]:
    """Return hyper-parameters as a sorted tuple of pairs, so that a policy can be hashed."""
    pairs = sorted(dict(parameters).items())
    return tuple((key, _frozen_value(value)) for key, value in pairs)


def _frozen_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return frozen(value)
    return tuple(value) if isinstance(value, list) else value


def make_learner(name: str, parameters: tuple[tuple[str, Any], ...]) -> Any:
    """Return the registered policy `name`, or raise ValueError unless it takes bandit feedback."""
    from fairbandits.policies import POLICIES, make_policy  # it registers what imports this module

    if name not in POLICIES:
        raise ValueError(f"learner must be one of {', '.join(POLICIES)}, got {name!r}")
    learner = make_policy(name, dict(parameters), where="learner")
    if learner.feedback != "bandit":
        raise ValueError(f"learner must learn from bandit feedback, {name} needs full information")
    return learner

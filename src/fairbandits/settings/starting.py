"""Whether policies and observers start with their configured parameters.

Starting a policy imports Numba, so what could be started is remembered, also by later processes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fairbandits.data.provenance import key_of, remembered
from fairbandits.observers import make_observer
from fairbandits.policies import HOMES, make_policy
from fairbandits.policies.own import check_arguments, is_own, source_hash
from fairbandits.settings.schemas import ConfigError, meant
from fairbandits.settings.spec import OF_INSTANCE


def source_of(policy: str, place: str) -> str | None:
    """Return the hash of a user's policy file; None for a registered policy."""
    try:
        return source_hash(policy) if is_own(policy) else None
    except ValueError as error:
        raise ConfigError(f"{place}.policy: {error}") from None


def check_start(
    policy: str,
    parameters: Mapping[str, Any],
    observe: Sequence[list],
    n_arms: int,
    horizon: int,
    stand_ins: Mapping[str, Any],
    place: str,
) -> None:
    """Raise ConfigError unless a policy with its observers can be started.

    `stand_ins` are values for what comes from the instance, None for what it does not have.
    """
    where = f"{place}.parameters"
    complete = _with_stand_ins(parameters, stand_ins, where)
    watching = [
        (name, _with_stand_ins(own, stand_ins, f"{place}.observe.{name}")) for name, own in observe
    ]
    if is_own(policy):
        try:
            return check_arguments(policy, dict(parameters))
        except ValueError as error:
            raise ConfigError(f"{place}.policy: {error}") from None
    if policy not in HOMES:
        raise ConfigError(f"{place}.policy: {policy!r} is unknown{meant(policy, list(HOMES))}")
    started = remembered("started", "engine", "observers", "policies")
    same = key_of(repr((policy, complete, watching, n_arms, horizon)).encode())
    if same in started:
        return None
    try:
        made = make_policy(policy, complete, where)
        state = made.start(n_arms, horizon)
        where = f"{place}.observe"
        for name, own in watching:
            make_observer(name, own, where).start(made, state, n_arms, horizon)
    except (TypeError, ValueError) as error:
        text = str(error)
        raise ConfigError(text if text.startswith(where) else f"{where}: {text}") from None
    started[same] = ""
    return None


def _with_stand_ins(
    parameters: Mapping[str, Any], stand_ins: Mapping[str, Any], place: str
) -> dict[str, Any]:
    """Return parameters with stand-ins for the instance's values."""
    complete = dict(parameters)
    for key, value in parameters.items():
        if isinstance(value, dict):
            complete[key] = _with_stand_ins(value, stand_ins, f"{place}.{key}")
        elif value == OF_INSTANCE:
            complete[key] = stand_ins.get(key)
            if key not in stand_ins:
                *others, last = stand_ins
                words = f"only {', '.join(others)} and {last} can be those of the instance"
                raise ConfigError(f"{place}.{key}: {words}")
            if complete[key] is None:
                missing = "quotas" if key == "fractions" else key
                words = "give them there, or here in place of 'instance'"
                raise ConfigError(f"{place}.{key}: the experiment has no {missing}; {words}")
    return complete

"""The policies, one file each, and the one place where they are registered."""

import dataclasses
from typing import Any

from fairbandits.policies.banditq import BanditQ
from fairbandits.policies.exp3 import EXP3
from fairbandits.policies.hedge import Hedge
from fairbandits.policies.lfg import LFG
from fairbandits.policies.static import Static
from fairbandits.policies.ucb1 import UCB1

#: Name in configuration files -> policy.
POLICIES = {
    "banditq": BanditQ,
    "exp3": EXP3,
    "hedge": Hedge,
    "lfg": LFG,
    "static": Static,
    "ucb1": UCB1,
}


def make_policy(name: str, parameters: dict[str, Any], where: str = "") -> Any:
    """Return the registered policy `name` with these hyper-parameters.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, or a value is out of range; the message starts
        with `where`, the place in the configuration.
    """
    place = f"{where}: " if where else ""
    if name not in POLICIES:
        raise ValueError(f"{place}policy must be one of {', '.join(POLICIES)}, got {name!r}")
    known = [field.name for field in dataclasses.fields(POLICIES[name])]
    for key in parameters:
        if key not in known:
            allowed = ", ".join(known) or "none"
            raise ValueError(f"{place}policy {name} has no parameter {key!r}; it takes: {allowed}")
    try:
        return POLICIES[name](**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}policy {name}: {error}") from error

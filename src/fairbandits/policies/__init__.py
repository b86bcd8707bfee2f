"""The policies, one file each, and the one place where they are registered."""

import dataclasses
from typing import Any

from fairbandits.policies import banditq_lanes  # noqa: F401  BanditQ's form for several replicates
from fairbandits.policies.banditq import BanditQ
from fairbandits.policies.bf_ucb import BFUCB
from fairbandits.policies.epsilon_greedy import EpsilonGreedy
from fairbandits.policies.exp3 import EXP3
from fairbandits.policies.fair_learn import FairLearn
from fairbandits.policies.fairx_ucb import FairXUCB
from fairbandits.policies.group_oracle import GroupOracle
from fairbandits.policies.group_ucb import GroupUCB
from fairbandits.policies.hedge import Hedge
from fairbandits.policies.ht_ucb import HTUCB
from fairbandits.policies.lfg import LFG
from fairbandits.policies.mixture import Mixture
from fairbandits.policies.own_reward import OwnReward
from fairbandits.policies.prophet import Prophet
from fairbandits.policies.queue_ucb import QueueUCB
from fairbandits.policies.resampled import Resampled
from fairbandits.policies.simple import Constant, SmallestDeficit, Uniform
from fairbandits.policies.static import Static
from fairbandits.policies.t_fair_learn import TFairLearn
from fairbandits.policies.thompson import Thompson
from fairbandits.policies.ucb1 import UCB1

#: Name in configuration files -> policy.
POLICIES = {
    "banditq": BanditQ,
    "bf_ucb": BFUCB,
    "constant": Constant,
    "epsilon_greedy": EpsilonGreedy,
    "exp3": EXP3,
    "fair_learn": FairLearn,
    "fairx_ucb": FairXUCB,
    "group_oracle": GroupOracle,
    "group_ucb": GroupUCB,
    "hedge": Hedge,
    "ht_ucb": HTUCB,
    "lfg": LFG,
    "mixture": Mixture,
    "own_reward": OwnReward,
    "prophet": Prophet,
    "queue_ucb": QueueUCB,
    "resampled": Resampled,
    "smallest_deficit": SmallestDeficit,
    "static": Static,
    "t_fair_learn": TFairLearn,
    "thompson": Thompson,
    "ucb1": UCB1,
    "uniform": Uniform,
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

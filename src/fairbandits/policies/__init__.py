"""The policies, and the one place where they are registered; a file is imported on first use."""

import dataclasses
import importlib
from collections import UserDict
from collections.abc import Mapping
from typing import Any

from fairbandits.lookup import imported, nearest
from fairbandits.policies import own

#: Name in configuration files -> file and class. This line alone registers a policy. The code
#: fingerprint of a run has the lines of its own policies (`fairbandits.replication.code`), so that
#: a new one leaves all other runs as they are.
HOMES = {
    "banditq": "banditq:BanditQ",
    "bf_ucb": "bf_ucb:BFUCB",
    "constant": "simple:Constant",
    "epsilon_greedy": "baselines:EpsilonGreedy",
    "exp3": "baselines:EXP3",
    "fair_learn": "fair_learn:FairLearn",
    "fairx_ucb": "fairx_ucb:FairXUCB",
    "group_oracle": "group_ucb:GroupOracle",
    "group_ucb": "group_ucb:GroupUCB",
    "guarantee_anytime": "guarantees:GuaranteeAnytime",
    "guarantee_baseline": "guarantees:GuaranteeBaseline",
    "guarantee_etc": "guarantees_by_horizon:GuaranteeETC",
    "guarantee_kl_ucb": "guarantees:GuaranteeKLUCB",
    "guarantee_knapsack": "guarantees_by_horizon:GuaranteeKnapsack",
    "hedge": "banditq:Hedge",
    "ht_ucb": "ht_ucb:HTUCB",
    "kl_ucb": "kl:KLUCB",
    "lfg": "lfg:LFG",
    "mixture": "wrapping:Mixture",
    "own_reward": "wrapping:OwnReward",
    "plug_in": "wrapping:PlugIn",
    "prophet": "simple:Prophet",
    "queue_ucb": "banditq:QueueUCB",
    "reward_fair_ucb": "guarantees_by_horizon:RewardFairUCB",
    "smallest_deficit": "simple:SmallestDeficit",
    "static": "simple:Static",
    "t_fair_learn": "fair_learn:TFairLearn",
    "thompson": "baselines:Thompson",
    "ucb1": "ucb1:UCB1",
    "uniform": "simple:Uniform",
}
#: Class -> the file that it is in.
CLASSES = {home.partition(":")[2]: home.partition(":")[0] for home in HOMES.values()}


class Registry(UserDict[str, type]):
    """Classes of a package by name, imported on first use; `homes` maps names to ``file:Class``."""

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        super().__init__(homes)
        self.package = package

    def __getitem__(self, name: str) -> type:
        file, _, wanted = self.data[name].partition(":")
        return getattr(importlib.import_module(f"{self.package}.{file}"), wanted)


#: Name in configuration files -> policy.
POLICIES = Registry(__name__, HOMES)


def __getattr__(name: str) -> type:
    home_of = {key: f"{__name__}.{file}" for key, file in CLASSES.items()}
    return imported(__name__, home_of, name)


def make_policy(
    name: str, parameters: dict[str, Any], where: str = "", source: str | None = None
) -> Any:
    """Return a registered policy, or a user's by the hash `source`; errors begin with `where`."""
    prefix = f"{where}: " if where else ""
    if own.is_own(name):
        try:
            if source is not None and own.source_hash(name) != source:
                raise ValueError(f"the file of policy {name} has changed since the run was planned")
            return own.make_own(name, parameters)
        except ValueError as error:
            raise ValueError(f"{prefix}{error}") from error
    return make_registered("policy", POLICIES, name, parameters, prefix)


def make_registered(
    kind: str, registry: Mapping[str, type], name: str, parameters: dict[str, Any], prefix: str
) -> Any:
    """Return the dataclass of this `kind` registered under `name`, made with these parameters."""
    if name not in registry:
        hint = nearest(name, registry)
        raise ValueError(f"{prefix}{kind} must be one of {', '.join(registry)}, got {name!r}{hint}")
    fields = dataclasses.fields(registry[name])
    names = [field.name for field in fields]
    for key in parameters:
        if key not in names:
            allowed = ", ".join(names) or "none"
            hint = nearest(key, names)
            raise ValueError(
                f"{prefix}{kind} {name} has no parameter {key!r}; it takes: {allowed}{hint}"
            )
    for field in fields:
        if field.default is dataclasses.MISSING and field.name not in parameters:
            raise ValueError(f"{prefix}{kind} {name}: its parameter {field.name!r} is missing")
    try:
        return registry[name](**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{prefix}{kind} {name}: {error}") from error

"""Regrets and fairness measures, from plays and rewards and the true means."""

import importlib

from fairbandits.lookup import found

_MEASURES = {
    "fairbandits.measures.regrets": (
        "group_deficits",
        "group_regret",
        "policy_distance",
        "r_regret",
        "realised_regret",
        "regret",
        "target_regret",
        "target_violation",
        "violation",
    ),
    "fairbandits.measures.groups": ("jain_index", "per_group"),
    "fairbandits.measures.penalised": (
        "mean_reward",
        "penalised_loss",
        "penalised_regret",
        "regret_parts",
        "unfairness",
        "unfairness_levels",
    ),
    "fairbandits.measures.penalties": ("penalty_rates",),
    "fairbandits.measures.rates": ("reward_rates",),
}
_FILES = ("groups", "penalised", "penalties", "pulls", "rates", "regrets")
_MEASURE_OF = {name: home for home, names in _MEASURES.items() for name in names}

__all__ = sorted(_MEASURE_OF)


def __getattr__(name: str):
    # looked up on first use: a figure or a verdict depends on the measures it imports alone
    if name in _FILES:
        return importlib.import_module(f"{__name__}.{name}")
    return found(__name__, _MEASURE_OF, name, _FILES)


def __dir__():
    return [*globals(), *_FILES, *__all__]

"""Regrets and fairness measures, from plays and rewards and the true means.

All have one convention of shapes. Plays and rewards are arrays as `fairbandits.run` records them,
of shape (n_replicates, n_checkpoints, n_arms), or without the first axis for one replicate.
`rounds` has shape (n_checkpoints,). `means` has shape (n_arms,), or (n_replicates, n_arms) if each
replicate has its own means. A measure has shape (n_replicates, n_checkpoints), with a third axis
for values of arms or groups; three dots stand for the leading axes. No measure averages over
replicates. Arguments come in this order: rounds, recorded arrays, means, then groups, quotas,
targets and penalties. Quotas are exact numbers, or text, and pulls are compared with them in
integers.
"""

from fairbandits.lookup import imported

_MEASURES = {
    "pulls": ("r_regret", "regret", "violation"),
    "rates": ("realised_regret", "reward_rates", "target_regret", "target_violation"),
    "groups": ("group_deficits", "group_regret", "jain_index", "per_group", "policy_distance"),
    "penalised": (
        *("mean_reward", "penalised_loss", "penalised_regret", "regret_parts"),
        *("unfairness", "unfairness_levels"),
    ),
    "penalties": ("penalty_rates",),
}
_HOME_OF = {name: f"{__name__}.{file}" for file, names in _MEASURES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str):
    # looked up on first use: a figure or a verdict depends on the measures it imports alone
    return imported(__name__, _HOME_OF, name, {file: f"{__name__}.{file}" for file in _MEASURES})


def __dir__():
    return [*globals(), *_MEASURES, *__all__]

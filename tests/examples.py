"""Examples of every registered policy and observer, for tests of what holds for all of them."""

import dataclasses
import typing

import numpy as np

import fairbandits as fb
from fairbandits.policies import POLICIES, parameters

MEANS = (0.3352, 0.2031, 0.7816, 0.0625, 0.6177)
TARGETS = (0.1, 0.05, 0, 0.01, 0)
TOO_MUCH = (0.2, 0.2, 0, 0.05, 0.5)  # for these means
QUOTAS = (0.1, "1/7", 0, "2/9", 0.05)
SHARES = (0.1, 0.9, 0.0, 0.6, 1.0)  # means as a policy may be told
#: What a policy is given for a hyper-parameter without a default, by its name or type.
STAND_INS = (
    ("targets", TARGETS),
    ("means", SHARES),
    (parameters.ArmQuotas, QUOTAS),
    (parameters.ArmFractions, (0.2, "1/3", 0, "1/3", "2/15")),
    (parameters.GroupSizes, (3, 2)),
    (parameters.GroupQuotas, (0.4, "1/3")),
    (parameters.Rates, 0.3),
)

SPREADS = {"gaussian": 0.5, "beta": 4.0}
UNEVEN = {"groups": (9, 2, 4), "quotas": ("1/5", "1/3", 0.3)}
FOUR = {"groups": (1, 3, 17, 1), "quotas": (0.25, 0, 0.1, 0.5)}
SHADOW = tuple(np.linspace(0.9, 0.2, 15).tolist())
RELEASED = {"width": "released", "running_mean": "released", "initialisation": "released"}
TOLD = {"quotas": (0.4, 0.4), "shadow_means": SHARES}
INSIDE = {"quotas": (0.1, 0, 0, 0, "1/7"), "learner": "uniform"}
THOMPSON = {"learner": "thompson"}
FULL = {"feedback": "full"}
ADAHEDGE, SQUINT = ({**FULL, "subroutine": name} for name in ("adahedge", "squint"))
EXP3P = {"subroutine": "exp3p"}
PRE = {"surrogate_index": "pre"}
RANDOM = {"ties": "random"}

#: Name -> hyper-parameters of each example beside the stand-ins, for five arms or as many as the
#: groups have; one that is not here has its defaults. Each type of a state is compiled anew, in
#: seconds; readings are run-time values of it. So what has a learner has a cheap one, Fair-Learn
#: also UCB1 and itself.
READINGS = {
    "banditq": [
        {},
        {**PRE, "gamma_rule": 2, "V_exponent": 0.25},
        {"V": 0, "tolerance": 1e-5},
        {"gain": -1e3, "V": 1.0, "gamma_rule": 2},
        EXP3P,
        {**EXP3P, **PRE, "V": 0},
        FULL,
        {**FULL, **PRE, "step_c": 1, "V": 0},
        {**FULL, "targets": (0,) * 5, "step_c": 1e20},  # so long that nothing moves
        {**FULL, "gain": -1e3, "V": 1.0, "step_c": 30.0},  # all but one arm drop
        ADAHEDGE,
        {**ADAHEDGE, **PRE, "V": 0},
        SQUINT,
        {**SQUINT, "V": 1e6},
    ],
    "bf_ucb": [
        {},
        UNEVEN,
        {"quotas": (0.4, 0.4), "version": "released"},
        {"groups": (1, 4), "quotas": (0, 0), "delta": None, "box": "exact"},
        {"groups": (5,), "quotas": (0.5,), "policy_from": "mean", "draw": "released"},
        {**FOUR, "draw": "released"},
        {**FOUR, **RELEASED, "delta": None},
        {**UNEVEN, "learner": "least_owed", "merit": "exponential", "merit_parameter": 2},
        {**UNEVEN, "learner": "first", "policy_from": "mean"},
        {**UNEVEN, "learner": "random", "box": "exact", "merit_parameter": 1.7},
        {**UNEVEN, "box": "uncut"},
        {**FOUR, **RELEASED, "delta": None, "box": "uncut"},
        {**FOUR, "quotas": (0,) * 4, "box": "uncut", "learner": "random"},
        {"groups": (20,), "quotas": (0.5,), "draw": "released", "box": "uncut"},
    ],
    "constant": [{}, {"arm": -1}],
    "epsilon_greedy": [{}, {"epsilon": 0}, {"epsilon": 1}],
    "exp3": [{"scale": 2.0}],
    "fair_learn": [
        {},
        {"tolerance": "5/2", "first_rounds": "round_robin"},
        {"learner_parameters": {"scale": 3, "clock": "previous", **RANDOM}},
        {"tolerance": 1, "learner": "fair_learn", "learner_parameters": INSIDE},
    ],
    "fairx_ucb": [
        {},
        {**TOLD, "version": "released"},
        {**UNEVEN, "version": "released", "shadow_means": SHADOW},
        {"groups": (4, 1), "version": "released", "counts": "own"},
        {"box": "uncut"},
        {**UNEVEN, "counts": "bf_ucb", "shadow_means": SHADOW, "box": "uncut"},
    ],
    "group_oracle": [
        {},
        {"within": "uniform", "schedule": "floor"},
        {"within": "best"},
    ],
    "group_ucb": [
        {},
        UNEVEN,
        {**FOUR, "version": "released"},
        {"groups": (1, 4), "index": "paper", "cap": True, **RANDOM},
        {**UNEVEN, "box": "uncut"},
    ],
    "guarantee_anytime": [{}, {"targets": TOO_MUCH}],
    "guarantee_baseline": [{}, {"targets": TOO_MUCH, "constant": 3.03}],
    "guarantee_etc": [{}, {"targets": TOO_MUCH, "constant": 0.1}],
    "guarantee_kl_ucb": [
        *({"estimate": estimate} for estimate in ("mean", "upper", "lower")),
        {"targets": TOO_MUCH, "constant": 0.1},
        {"targets": TOO_MUCH, "estimate": "lower", "excess": "normalise"},
    ],
    "guarantee_knapsack": [{}, {"targets": (0,) * 5}],
    "ht_ucb": [
        {},
        {"penalties": (0.3, 0, 2.5, 1, 0.1), "clock": "previous", "threshold": "soft"},
        {"penalties": 50},
    ],
    "kl_ucb": [{}, {"constant": 3.03}],
    "lfg": [
        {},
        {"fractions": QUOTAS, "arrivals": "before", "eta_exponent": 0.5},
        {"eta": 1, "constant": 2, "cap": None},
        {"eta": 0},
    ],
    "mixture": [THOMPSON, {**THOMPSON, "quotas": (0,) * 5}],
    "own_reward": [
        THOMPSON,
        {"learner": "banditq", "learner_parameters": {"targets": TARGETS}},
        {"learner": "banditq", "learner_parameters": {"targets": TARGETS, "V": 0, **PRE}},
    ],
    "plug_in": [THOMPSON, {**THOMPSON, "targets": (0,) * 5}],
    "queue_ucb": [{}, {"index": "max_weight", "scale": 1.6}, {"index": "max_weight", "V": 0}],
    "prophet": [{"means": MEANS}],
    "reward_fair_ucb": [{}, {"targets": TARGETS}, {"targets": TOO_MUCH}],
    "static": [{"distribution": (0.2, "1/3", 0, "1/3", "2/15")}],
    "t_fair_learn": [{}, {"order": "sequential"}],
    "ucb1": [{}, {"scale": 1.6, "clock": "previous", **RANDOM}],
}


def made(name, **reading):
    """Return an example of a policy: stand-ins for what has no default, and a reading."""
    kind = POLICIES[name]
    hints = typing.get_type_hints(kind, include_extras=True)
    given = {
        one.name: next(value for of, value in STAND_INS if of in (one.name, hints[one.name]))
        for one in dataclasses.fields(kind)
        if one.default is dataclasses.MISSING and one.name not in reading
    }
    return kind(**given, **reading)


EXAMPLES = {name: [made(name, **one) for one in READINGS.get(name, [{}])] for name in POLICIES}

SUMS = (fb.QueueSquares(), fb.Starvation(), fb.PlaysSum())
GROUPS = (fb.OptionalPulls(), fb.GroupDeficits(), fb.InitialPhase())
MERITS = (*GROUPS, fb.MeritRegret(SHARES))
#: Policies with all that can watch them together: few types, which other tests compile as well.
WATCHED = {
    "banditq": [
        (made("banditq"), *SUMS),
        (made("banditq", **PRE, V=0), *SUMS),
        (made("banditq", **FULL), *SUMS),
        (made("banditq", **FULL, **PRE, V=0), *SUMS),
        (made("banditq", **FULL), fb.SurrogateGains()),
        (made("banditq", **FULL), fb.BanditQInequalities(MEANS)),
        (made("banditq", **FULL, **PRE, V=0, step_c=1), fb.BanditQInequalities(MEANS)),
    ],
    "bf_ucb": [
        (made("bf_ucb", quotas=(0.4, 0.4), version="released"), *MERITS),
        (made("bf_ucb", draw="released", merit="exponential"), *MERITS),
        (made("bf_ucb", groups=(1, 4), quotas=(0, 0), box="uncut"), *MERITS),
    ],
    "fair_learn": [
        (made("fair_learn", tolerance="5/2", first_rounds="round_robin"), fb.PlaysSum()),
        (made("fair_learn", quotas=("9/50",) * 5, tolerance=1), fb.PlaysSum()),
    ],
    "group_ucb": [
        (made("group_ucb", **FOUR, version="released"), *GROUPS),
        (made("group_ucb", groups=(3, 2)), *GROUPS),
    ],
    "own_reward": [(one, fb.SurrogateGains()) for one in EXAMPLES["own_reward"][1:]],
    "uniform": [(made("uniform"), fb.PlaysSum())],
}
#: What is played: (policy, observers) by name.
CASES = {name: [(policy, ()) for policy in policies] for name, policies in EXAMPLES.items()}
CASES |= {
    f"watched {name}": [(policy, observers) for policy, *observers in cases]
    for name, cases in WATCHED.items()
}


#: Each with other notes or counts, or with none.
CASES["late"] = [
    (fb.Delayed(fb.Batched(made("lfg"), 4), 9), ()),
    (fb.Batched(made("bf_ucb", groups=(1, 4), quotas=(0, 0), box="uncut"), 7), (fb.PlaysSum(),)),
    (fb.Delayed(made("banditq"), 5), ()),
    (fb.Delayed(made("banditq", **FULL), 5), ()),
]


def arms_of(policy):
    """Return how many arms an example is for."""
    return sum(getattr(policy, "groups", (len(MEANS),)))


def instance_of(law, n_arms):
    """Return an instance; deterministic arms are alike, so that ties abound."""
    means = MEANS if n_arms == len(MEANS) else np.linspace(0.9, 0.1, n_arms)
    return fb.Instance([0.5] * n_arms if law == "deterministic" else means, law, SPREADS.get(law))

"""Experiments of the papers with settings that do not fit together: refused in one line."""

import time

import pytest

from shrunk import refusal_of, sourced

#: Keys whose values say nothing of where they come from.
PLAIN = ("apart", "checkpoints", "companion_to", "drawn_means", "same_instances_as", "sweep")
HT, FAIR, AUDIT = ("ht_ucb", "experiments"), ("fair_ucb", "experiments"), ("banditq", "audit")
GROUPS = ("bf_ucb", "experiments")
#: Where the places begin; elsewhere with the experiment.
EXPERIMENTS = {HT: "regret_5_02.", FAIR: "fairness."}
DRAWN = {"arms": sourced(5), "low": sourced(0.1), "high": sourced(1)}
DRAWN_WITH_SHARES = {"trade_off.means": None, "trade_off.targets": None}
DRAWN_WITH_SHARES |= {"trade_off.target_shares": ["1/2"], "trade_off.drawn_means": DRAWN}
LFG, FAIR_UCB = "policies.lfg", "policies.fair_ucb.parameters"
OTHER = "high_variants.same_instances_as"
#: Paper and part, changes by place (None takes a key away), and what the message says.
CASES = [
    (HT, {"means": [0.5] * 5}, "means and drawn_means exclude each other; give one of them"),
    (HT, {"drawn_means.low": 1}, "drawn_means.low must be below high (1), got 1"),
    (HT, {"drawn_means.high": 2, "laws": ["gaussian", "beta"]}, "under law beta, got 0 to 2"),
    (HT, {"targets": [0.1] * 5}, "targets need fixed means; give target_shares of drawn ones"),
    (HT, {"spread.beta": 1}, "spread.beta: the experiment has no such law; it has gaussian"),
    (HT, {"spread.gaussian": 0}, "spread.gaussian must be above 0, got 0"),
    (HT, {"penalties": "range"}, "penalties.value must be a number, or half_range, got 'range'"),
    (HT, {"penalties": None}, "penalties: the experiment has no penalties; give them there"),
    (HT, {f"{LFG}.parameters.cap": "instance"}, "cap: only means, penalties, reference, shadow_m"),
    (HT, {f"{LFG}.horizons": [1000, 500]}, f"{LFG}.horizons must increase, got 1000, 500"),
    (HT, {f"{LFG}.horizons": [500, 16001]}, "must be whole numbers in 5..16000, got 16001"),
    (HT, {"checkpoints": {"at": [500, 500, 16000]}}, "at must increase, got 500, 500, 16000"),
    (HT, {"checkpoints": {"at": [500]}}, "must end with the horizon (16000), got 500"),
    (HT, {"checkpoints": {"log": 3}}, "checkpoints: give either at, or linear and log"),
    (HT, {"published_replicates": 501}, "must be at most replicates (500), got 501"),
    (FAIR, {"quotas": ["1/2", "1/4", "2/5"]}, "quotas must sum to less than 1, got 23/20"),
    (FAIR, {"quotas": ["pi/4", 0, 0]}, "quotas.value.0 must be a number such as 0.05 or"),
    (FAIR, {f"{FAIR_UCB}.quotas": ["1/2", "1/4"]}, "quotas must have one entry per arm (3), got 2"),
    (FAIR, {f"{FAIR_UCB}.learner_parameters": {"clok": 1}}, "policy ucb1 has no parameter 'clok'"),
    (FAIR, {f"{LFG}.sweep": {"eta": sourced([1, -10])}}, "finite and at least 0, got -10"),
    (FAIR, {f"{LFG}.sweep": {"cap": sourced([1])}}, "cap is also in sweep; give it once"),
    (FAIR, {"companion_to": ["fig5"]}, "companion_to: 'fig5' is drawn from no experiment; did you"),
    (AUDIT, {"pulls_as_targets.policies.fair_ucb.apart": True}, "apart: there are no horizons"),
    (AUDIT, {"trade_off.checkpoints": {"at": [2000000]}}, "any horizon: linear and log, not at"),
    (AUDIT, DRAWN_WITH_SHARES, "apart needs fixed means; drawn ones belong to the replicate"),
    (
        *(AUDIT, {"arms_low.instances.30.target_shares": {"share": "1/40", "arms": 31}}),
        "experiments.arms_low_30.target_shares must have at most one entry per mean (30), got 31",
    ),
    (GROUPS, {"high.groups": [50, 9]}, "groups must sum to the number of arms (60), got 59"),
    (GROUPS, {"low_released.drawn_means.fixed": [[16, 0.5]]}, "must name arms in 1..15, got 16"),
    (GROUPS, {"low.groups": None}, "groups: the experiment has no groups; give them there"),
    (GROUPS, {OTHER: "hihg"}, "no experiment 'hihg'; did you mean 'high'?"),
    (GROUPS, {OTHER: "low"}, "groups must be those of experiments.low"),
]


@pytest.mark.parametrize(("file", "changes", "words"), CASES, ids=[words for *_, words in CASES])
def test_what_does_not_fit_together_is_refused(file, changes, words, tmp_path):
    paper, part = file
    experiment = EXPERIMENTS.get(file, "")

    def change(experiments):
        for place, value in changes.items():
            *above, key = f"{experiment}{place}".split(".")
            block = experiments
            for name in above:
                block = block[name]
            block[key] = value if key in PLAIN or value is None else sourced(value)
            if value is None:
                del block[key]

    limits = {"horizon": 120} if file in (FAIR, AUDIT) else {}
    assert words in refusal_of(tmp_path, paper, part, change, **limits)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("record", "record.0 must be a column of docs/data-dictionary.md, got 'o0'"),
        ("policies", "policies should be a valid dictionary, got ['o0', 'o1', "),
    ],
)
def test_long_lists_are_refused_in_seconds_and_few_words(place, words, tmp_path):
    names = [f"o{k}" for k in range(30_000)]

    def change(experiments):
        experiments["regret_5_02"][place] = names

    begun = time.process_time()
    refusal = refusal_of(tmp_path, *HT, change)
    assert words in refusal
    assert len(refusal) < 1100
    assert time.process_time() - begun < 20

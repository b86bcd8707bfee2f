"""Settings that cannot be, and experiments that do not fit together: refused in one line."""

import math
import time

import pytest

import shrunk
from fairbandits.settings import experiments
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ConfigError
from shrunk import refusal_of, sourced

SMALL = shrunk.settings(["banditq"], 1)
PUBLISHED = {key: value for key, value in SMALL.items() if key != "limits"} | {"scale": "paper"}
FACTORS = {"horizon": 10, "replicates": 10}
LARGE = {"scale": "large", "factors": FACTORS}
#: Settings in place of those of a run at the published scale, and what the message says.
SETTINGS = [
    ({"seeds": 1}, "unknown key 'seeds'; did you mean 'seed'?"),
    ({"seed": "many"}, "seed must be a whole number of at least 0 or 'frozen', got 'many'"),
    ({"seed": 2.0}, "seed must be a whole number of at least 0 or 'frozen', got 2.0"),
    ({"scale": "big"}, "scale must be one of paper, preview, smoke, large, variant, got 'big'"),
    ({"papers": []}, "papers should have at least 1 item"),
    ({"papers": ["banditq", "banditq"]}, "papers must have each entry once, got 'banditq' twice"),
    ({"papers": ["banditq\n"]}, "papers.0 must be a text that matches [a-z_]+, got 'banditq\\n'"),
    ({"papers": ["bandit"]}, "papers: 'bandit' is unknown; did you mean 'banditq'?"),
    ({"pathvars": SMALL["pathvars"] | {"figures": ""}}, "pathvars.figures should have at least 1"),
    ({"scale": "large"}, "scale large needs the factors of config/large.yaml"),
    ({"scale": "preview"}, "scale preview needs the limits of config/preview.yaml"),
    ({"scale": "variant", "seed": "frozen"}, "scale variant needs changes, replicates or a seed"),
    ({"replicates": 5}, "replicates needs scale variant, got paper"),
    ({"limits": {"replicates": 5}}, "limits need another scale than paper"),
    ({"scale": "variant", "replicates": 1}, "replicates must be a whole number of at least 2"),
    ({"factors": FACTORS}, "factors need another scale than paper, such as large"),
    (SMALL | {"factors": FACTORS}, "limits and factors exclude each other"),
    ({"job_seconds": 0}, "job_seconds must lie in [0.001, 1e+06], got 0"),
    ({"factors": FACTORS | {"horizon": 0}}, "factors.horizon must be a whole number of at least 1"),
]


@pytest.mark.parametrize(("settings", "message"), SETTINGS, ids=[row[-1] for row in SETTINGS])
def test_what_cannot_be_is_refused_in_full_words(settings, message):
    with pytest.raises(ConfigError, match=r"^test: [^\n]*$") as refused:
        build_config(PUBLISHED | settings, "test")
    assert message in str(refused.value)


def test_a_setting_that_is_missing_is_named():
    with pytest.raises(ConfigError, match=r"^test: 'seed' is a required property$"):
        build_config({key: value for key, value in PUBLISHED.items() if key != "seed"}, "test")


def test_a_run_longer_than_its_round_numbers_are_exact_is_refused(monkeypatch):
    monkeypatch.setattr(experiments, "LONGEST", 2_999_999)
    with pytest.raises(ConfigError, match=r": horizon must be at most 2\*\*53, got \d{7,}$"):
        build_config(PUBLISHED | LARGE, "test")


#: Keys whose values say nothing of where they come from.
PLAIN = (
    *("apart", "checkpoints", "companion_to", "drawn_means", "same_instances_as", "sweep"),
    *("title", "record", "policy", "parameters", "provenance"),
)
HT, FAIR, AUDIT = ("ht_ucb", "experiments"), ("fair_ucb", "experiments"), ("banditq", "audit")
BANDITQ, GROUPS = ("banditq", "experiments"), ("bf_ucb", "experiments")
#: Where the places begin; elsewhere with the experiment.
EXPERIMENTS = {HT: "regret_5_02.", FAIR: "fairness.", BANDITQ: "full_information."}
DRAWN = {"arms": sourced(5), "low": sourced(0.1), "high": sourced(1)}
DRAWN_WITH_SHARES = {"trade_off.means": None, "trade_off.targets": None}
DRAWN_WITH_SHARES |= {"trade_off.target_shares": ["1/2"], "trade_off.drawn_means": DRAWN}
LFG, FAIR_UCB = "policies.lfg", "policies.fair_ucb.parameters"
PARAMETERS = "policies.banditq.parameters"
OTHER = "high_variants.same_instances_as"
#: Paper and part, changes by place (None takes a key away), and what the message says.
CASES = [
    (BANDITQ, {"title": 3}, "title must be a text that matches [^<>]*, got 3"),
    (BANDITQ, {"title": "<script>"}, "title must be a text that matches [^<>]*, got '<script>'"),
    (BANDITQ, {"record": ["queue_mx"]}, "record.0 must be a column of docs/data-dictionary.md, go"),
    (BANDITQ, {"horizon": 0}, "horizon.value must be a whole number of at least 1"),
    (BANDITQ, {"horizon": 2**63 - 1}, "horizon.value must be a whole number of at least 1 and at"),
    (BANDITQ, {"horizon": "2e6"}, "got '2e6'; write 2e6 without quotes"),
    (BANDITQ, {"horizon": 4}, "horizon must be at least the number of arms (5), got 4"),
    (BANDITQ, {"replicates": 10**12}, "at least 1 and at most 1000000, got 1000000000000"),
    (BANDITQ, {"laws": ["uniform"]}, "laws.value.0 must be one of"),
    (BANDITQ, {"means": [0.3]}, "means.value should have at least 2 items"),
    (BANDITQ, {"means": [math.nan, 0.2, 0.2, 0.8, 0.6]}, "means.value.0 must be finite, got nan"),
    (BANDITQ, {"means": [0.3, 0.2, 0.2, 1.8, 0.6]}, "means.value.3 must be in [0, 1] under law"),
    (BANDITQ, {"means": [0.3, 0.2, 0.2, 1, 0.6], "laws": ["beta"]}, "in (0, 1) under law beta"),
    (BANDITQ, {"means": [0, 0.2, 0.2, 0.8, 0.6]}, "targets must be at least 0, and 0 where the"),
    (BANDITQ, {"means.provenance": "guessed"}, "means.provenance must be one of stated, derived"),
    (BANDITQ, {"targets": [0.3, 0.1, 0, 0, 0]}, "targets cannot be met: sum of target / mean must"),
    (BANDITQ, {"targets": [0.1, 0.1]}, "targets must have one entry per mean (5), got 2"),
    (BANDITQ, {"targets": [0.1, -0.1, 0, 0, 0]}, "got -0.1 for arm 2 with mean 0.2"),
    (BANDITQ, {"policies.banditq.policy": "bandit"}, "policy: 'bandit' is unknown; did you mean"),
    (BANDITQ, {PARAMETERS: {}}, f"{PARAMETERS}: policy banditq: its parameter 'targets' is missi"),
    (BANDITQ, {PARAMETERS: {"targets": 0.5}}, f"{PARAMETERS}.targets should be a valid dict"),
    (BANDITQ, {f"{PARAMETERS}.targets.val": 3}, "targets: unknown key 'val'; did you mean 'value'"),
    (BANDITQ, {f"{PARAMETERS}.V_exponents": 1}, "has no parameter 'V_exponents'; it takes: "),
    (BANDITQ, {f"{PARAMETERS}.step_c": 0}, "step_c must be a finite number above 0, got 0"),
    (HT, {"means": [0.5] * 5}, "means and drawn_means exclude each other; give one of them"),
    (HT, {"drawn_means.low": 1}, "drawn_means.low must be below high (1), got 1"),
    (HT, {"drawn_means.high": 2, "laws": ["gaussian", "beta"]}, "under law beta, got 0 to 2"),
    (HT, {"drawn_means.decimals": 1, "laws": ["gaussian", "beta"]}, "must be in (0, 1)"),
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


@pytest.mark.parametrize(("file", "changes", "message"), CASES, ids=[row[-1] for row in CASES])
def test_what_does_not_fit_together_is_refused(file, changes, message, tmp_path):
    def change(content):
        for key, value in changes.items():
            plain = value is None or key.rpartition(".")[2] in PLAIN
            key = f"experiments.{EXPERIMENTS.get(file, '')}{key}"
            set_at(content, key, value if plain else sourced(value))

    limits = {"horizon": 120} if file in (FAIR, AUDIT) else {}
    assert message in refusal_of(tmp_path, *file, change, **limits)


def set_at(content, field, value):
    """Set the entry at a dotted place; None takes it away."""
    *above, key = field.split(".")
    for name in above:
        content = content[name]
    content[key] = value
    if value is None:
        del content[key]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("record", "record.0 must be a column of docs/data-dictionary.md, got 'o0'"),
        ("policies", "policies should be a valid dictionary, got ['o0', 'o1', "),
    ],
)
def test_long_lists_are_refused_in_seconds_and_few_words(key, message, tmp_path):
    names, at = [f"o{k}" for k in range(30_000)], f"experiments.regret_5_02.{key}"
    begun = time.process_time()
    refusal = refusal_of(tmp_path, *HT, lambda content: set_at(content, at, names))
    assert message in refusal
    assert len(refusal) < 1100
    assert time.process_time() - begun < 20


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("paper", "bandit", "paper must be 'banditq', got 'bandit'"),
        ("experiments.Full information", {}, "experiments must be a text that matches [a-z0-9_]+"),
        ("replays.replay_1000_full.title", None, "replay_1000_full: 'title' is a required"),
        ("replays.replay_1000_full.figures", ["fig1"], "'fig1' is already drawn from experiments."),
    ],
)
def test_a_file_that_is_no_papers_is_refused(key, value, message, tmp_path):
    assert message in refusal_of(tmp_path, *BANDITQ, lambda content: set_at(content, key, value))

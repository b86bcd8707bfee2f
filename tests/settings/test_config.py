"""The configuration: what it holds at both scales, and how it refuses what cannot be run."""

import functools
import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from fairbandits.engine.laws import CODES
from fairbandits.settings.config import Run, load_config
from fairbandits.settings.papers import LAWS
from fairbandits.settings.schemas import ROOT, ConfigError
from shrunk import sourced

CONFIG = ROOT / "config" / "config.yaml"
SMOKE = ROOT / "config" / "smoke.yaml"
FILES = [*ROOT.glob("papers/*/experiments.yaml"), *ROOT.glob("papers/*/audit.yaml")]

SETTINGS = "config/config.yaml"
BANDITQ, GROUPS = (f"papers/{paper}/experiments.yaml" for paper in ("banditq", "bf_ucb"))
FULL = "experiments.full_information"
PARAMETERS = f"{FULL}.policies.banditq.parameters"
GROUPED = "experiments.high.policies.paper_02.parameters"
MISSING = "nothing"


@functools.cache
def as_json(file):
    return json.dumps(yaml.safe_load(file.read_text(encoding="utf-8")))


def read(file):
    """Return a YAML file as a tree without shared parts, so that one place can be changed."""
    return json.loads(as_json(file))


def set_at(tree, path, value):
    """Set, add or (MISSING) delete the entry at a dotted path."""
    *above, last = path.split(".")
    for key in above:
        tree = tree[key]
    if value is MISSING:
        del tree[last]
    else:
        tree[last] = value


@pytest.fixture
def changed(tmp_path):
    """Return a function that changes one value in a copy of the configuration, and loads it."""
    # what is run for the audit only is as long again, and has tests of its own
    left_out = shutil.ignore_patterns("audit.yaml")
    for folder in ("config", "papers"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=left_out)

    def load(file, path, value):
        tree = read(ROOT / file)
        set_at(tree, path, value)
        (tmp_path / file).write_text(yaml.safe_dump(tree), encoding="utf-8")
        return load_config([tmp_path / "config" / "config.yaml"], root=tmp_path)

    return load


@pytest.fixture(scope="module")
def paper_scale():
    return load_config([CONFIG])


@pytest.fixture(scope="module")
def smoke_scale():
    return load_config([CONFIG, SMOKE])


def message(error):
    """Return the message of a raised error, which must be one line."""
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


# ------------------------------------------------------------------- the real configuration


def numbers(tree, path=()):
    """Yield the path of each number in a tree, and the mapping nearest above it."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if isinstance(value, bool):
                continue
            if isinstance(value, int | float | list):
                yield (*path, key), tree
            else:
                yield from numbers(value, (*path, key))


@pytest.mark.parametrize("file", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_number_says_where_it_comes_from(file):
    paper = read(file)
    found = 0
    for path, around in numbers(paper["experiments"]):
        # how a run is cut into files and what it records decides no published number
        unsourced = {"figures", "companion_to", "checkpoints", "record"}
        if unsourced & set(path) or path[-1] in ("chunk", "observe"):
            continue
        if "value" in path[:-1]:  # inside a value that is a form of its own
            continue
        assert path[-1] == "value", path
        assert around.keys() == {"value", "provenance", "source"}, path
        found += 1
    assert found >= 4 * len(paper["experiments"])


def test_smoke_run_is_smaller_and_lies_elsewhere(paper_scale, smoke_scale):
    limits = read(SMOKE)["limits"]
    assert smoke_scale.scale == "smoke"
    assert smoke_scale.seed == paper_scale.seed
    for name, folder in smoke_scale.folders.items():
        assert Path(folder).is_relative_to("results/smoke"), name
        assert not Path(paper_scale.folders[name]).is_relative_to("results/smoke")
    for small, large in zip(smoke_scale.experiments, paper_scale.experiments, strict=True):
        arms = large.drawn_means.get("arms", len(large.means))
        assert small.horizon == max(limits["horizon"], arms) < large.horizon
        assert small.replicates == min(limits["replicates"], large.replicates)
    for small, large in zip(smoke_scale.runs, paper_scale.runs, strict=True):
        assert small.key == large.key
        assert small.chunk == min(limits["chunk"], large.chunk)
        most = max(limits["horizon"], large.spec.n_arms)
        cut = {"horizon": most, "checkpoints": limits["checkpoints"]}
        if "at" in large.spec.checkpoints:
            cut["checkpoints"] = {"at": cut_rounds(large.spec.checkpoints["at"], most)}
        if large.spec.horizons:
            cut["horizons"] = tuple(cut_rounds(large.spec.horizons, most))
        assert small.spec == replace(large.spec, **cut)


def cut_rounds(rounds, most):
    """Return the rounds that a smoke run keeps, when not all of them."""
    assert rounds[-1] > most
    return [one for one in rounds if one < most] + [most]


def test_runs_of_an_experiment_share_streams_and_nothing_else_does(paper_scale):
    keys = [run.key for run in paper_scale.runs]
    assert len(set(keys)) == len(keys)
    for run in paper_scale.runs:
        shared = {
            "banditq/controls": "banditq/full_information",
            "banditq/lfg_sensitivity": "banditq/oracle_lfg",
            "bf_ucb/high_uniform": "bf_ucb/high",
            "bf_ucb/high_variants": "bf_ucb/high",
            "bf_ucb/low_uniform": "bf_ucb/low",
            "fair_ucb/other_thresholds_smaller_quotas": "fair_ucb/cost_of_fairness",
            "fair_ucb/careless": "fair_ucb/cost_of_fairness",
            "fair_ucb/careless_other_gaps": "fair_ucb/cost_of_fairness_other_gaps",
        }
        shared |= {
            f"ht_ucb/{suite}_{name}": f"ht_ucb/{other}_{name}"
            for suite, other, names in (
                ("regret_open", "regret", ("5_02", "5_04", "5_08", "20_02", "20_04", "20_08")),
                ("paths_uncut", "paths", ("1", "2")),
                ("frontier_uncut", "frontier", ("5_02", "5_05", "20_02", "20_05")),
            )
            for name in names
        }
        own = f"{run.paper}/{run.experiment}"
        if run.paper == "ht_ucb":  # with another index of LFG, and controls
            shared[own] = re.sub("_(open|uncut)_|pulls_control_", "_", own).replace("/_", "/")
        assert run.spec.stream == shared.get(own, own)


@pytest.mark.parametrize(("replicates", "chunk"), [(1, 1), (4, 2), (5, 2), (3, 7), (100, 50)])
def test_chunks_hold_each_replicate_once(replicates, chunk):
    held = []
    for text in Run("paper", "experiment", "run", {}, replicates, chunk).chunks():
        first, last = map(int, text.split("-"))
        assert last - first < chunk
        held += range(first, last + 1)
    assert held == list(range(replicates))


# ------------------------------------------------------------------------ what is refused

#: File, key, value, and what the message says after them: what is allowed, or meant.
REFUSED = [
    (SETTINGS, "seeds", 1, "unknown key 'seeds'; did you mean 'seed'?"),
    (SETTINGS, "seed", MISSING, "'seed' is a required property"),
    (SETTINGS, "seed", -1, "at least 0"),
    (SETTINGS, "seed", "many", "'ledger'"),
    (SETTINGS, "seed", 2.0, "whole number"),
    (SETTINGS, "scale", "big", "smoke"),
    (SETTINGS, "scale", "smoke", "scale smoke needs the limits of config/smoke.yaml"),
    (SETTINGS, "papers", [], "at least 1 item"),
    (SETTINGS, "papers", ["banditq", "banditq"], "each entry once, got 'banditq' twice"),
    (SETTINGS, "papers", ["banditq\n"], "a text that matches"),
    (SETTINGS, "papers", ["bandit"], "'bandit' is unknown; did you mean 'banditq'?"),
    (SETTINGS, "pathvars.figures", "", "at least 1 character"),
    (BANDITQ, "paper", "bandit", "must be 'banditq'"),
    (BANDITQ, "experiments.Full information", {}, "a text that matches [a-z0-9_]+"),
    (BANDITQ, "replays.replay_1000_full.figures", ["fig1"], "drawn from experiments.full_inform"),
    (BANDITQ, f"{FULL}.title", 3, "a text"),
    (BANDITQ, f"{FULL}.title", "<script>", "that matches [^<>]*"),
    (BANDITQ, f"{FULL}.record", ["queue_mx"], "a column of docs/data-dictionary.md, got"),
    (BANDITQ, f"{FULL}.horizon.value", 0, "at least 1"),
    (BANDITQ, f"{FULL}.horizon.value", 2**63 - 1, "at most 9007199254740992"),
    (BANDITQ, f"{FULL}.horizon.value", "2e6", "whole number"),
    (BANDITQ, f"{FULL}.horizon.value", 4, "at least the number of arms (5)"),
    (BANDITQ, f"{FULL}.replicates.value", 10**12, "at most 1000000"),
    (BANDITQ, f"{FULL}.checkpoints.linear", 0, "at least 1"),
    (BANDITQ, f"{FULL}.laws.value", ["uniform"], "did you mean 'uniform02'?"),
    (BANDITQ, f"{FULL}.means.value", [0.3], "at least 2 items"),
    (BANDITQ, f"{FULL}.means.value", 0.3, "a valid list"),
    (BANDITQ, f"{FULL}.means.value", [math.nan, 0.2, 0.2, 0.8, 0.6], "0 must be finite, got nan"),
    (BANDITQ, f"{FULL}.means.value", [0.3, 0.2, 0.2, 1.8, 0.6], "3 must be in [0, 1] under law"),
    (BANDITQ, f"{FULL}.means.value", [0, 0.2, 0.2, 0.8, 0.6], "targets must be at least 0, and"),
    (BANDITQ, f"{FULL}.means.provenance", "guessed", "reconstructed"),
    (BANDITQ, f"{FULL}.targets.value", [0.3, 0.1, 0, 0, 0], "must be at most 1, got 1.3874"),
    (BANDITQ, f"{FULL}.targets.value", [0.1, 0.1], "one entry per mean (5), got 2"),
    (BANDITQ, f"{FULL}.targets.value", [0.1, -0.1, 0, 0, 0], "got -0.1 for arm 2 with mean 0.2"),
    (BANDITQ, f"{FULL}.policies.banditq.policy", "bandit", "did you mean 'banditq'?"),
    (BANDITQ, f"{PARAMETERS}.targets", MISSING, "its parameter 'targets' is missing"),
    (BANDITQ, f"{PARAMETERS}.V_exponent", 0.5, "a valid dictionary"),
    (BANDITQ, f"{PARAMETERS}.V_exponent.val", 3, "unknown key 'val'; did you mean 'value'?"),
    # what the policy's own checks say of its parameters
    *(
        (BANDITQ, f"{PARAMETERS}.{key}", sourced(value), says)
        for key, value, says in [
            ("V_exponents", 1, "has no parameter 'V_exponents'; it takes: targets, feedback, "),
            ("feedback", "ful", "one of bandit, full, got 'ful'; did you mean 'full'?"),
            ("V_exponent", "half", "V_exponent must be a number, got 'half'"),
            ("step_c", 0, "step_c must be a finite number above 0, got 0"),
            ("targets", [0.1, 0.1], "targets must have one entry per arm (5), got 2"),
        ]
    ),
    (GROUPS, f"{GROUPED}.quotas.value", ["2/3", "2/3"], "quotas must sum to at most 1, got 4/3"),
]


@pytest.mark.parametrize(
    ("file", "path", "value", "says"), REFUSED, ids=[f"{row[1]}={row[2]!r}" for row in REFUSED]
)
def test_what_cannot_be_is_refused_in_full_words(changed, file, path, value, says):
    with pytest.raises(ConfigError) as error:
        changed(file, path, value)
    text = message(error)
    place = path.removesuffix(".value")
    block = place.rpartition(".")[0]  # is named where one value does not fit the others
    assert f"{file}: {place}" in text or f"{file}: {block}" in text
    assert says in text


def test_the_laws_are_those_of_the_engine():
    assert sorted(LAWS) == sorted(CODES)


def test_missing_file(tmp_path):
    with pytest.raises(ConfigError) as error:
        load_config([CONFIG, tmp_path / "no.yaml"])
    assert message(error) == f"{tmp_path / 'no.yaml'} does not exist"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seed: [1", "is not valid YAML"),
        ("seed: 1: 2", "is not valid YAML"),
        ("seed: !unknown 1", "has a tag, '!unknown', in line 1"),
        ("seed: 1\nscale: paper\nseed: 2\n", "has key 'seed' twice, again in line 3"),
        ("a: &a {b: 1}\nc:\n  <<: *a\n  d: 1\n  d: 2\n", "has key 'd' twice, again in line 5"),
        ("a: &a {b: 1}\nc:\n  <<: *a\n  <<: *a\n", "has key '<<' twice, again in line 4"),
        ("a: &a {b: 1, b: 2}\nc: {<<: *a}\n", "has key 'b' twice, again in line 1"),
        ("a: 1\nc: {<<: 1}\n", "is not valid YAML"),
        ("seed: 010\n", "has 010 in line 1, which YAML takes for another number"),
        ("seed: 1:30\n", "has 1:30 in line 1, which YAML takes for another number"),
        (f"a: 1\nseed: 1{'0' * 400}\n", "has a number of more than 300 digits in line 2"),
        ("a: 1\nseed: &a [1, *a]\n", "has an alias of what it stands in, in line 2"),
        (f"seed: {'[' * 100}{']' * 100}", "is nested deeper than 100 levels, in line 1"),
        ("- " * 1500, "is nested deeper than 100 levels, in line 1"),
        ("seed: 2026-13-45", "is not valid YAML: month must be in 1..12"),
        ("", "must hold keys and values, got NoneType"),
        ("- seed", "must hold keys and values, got list"),
    ],
)
def test_file_that_is_no_configuration(tmp_path, text, says):
    file = tmp_path / "broken.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        load_config([file])
    assert message(error).startswith(f"{file} {says}")


def test_file_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"seed: \xff")
    for file in (tmp_path, tmp_path / "latin.yaml"):
        with pytest.raises(ConfigError) as error:
            load_config([file])
        assert message(error).startswith(f"{file} cannot be read: ")


def test_looking_up_what_is_not_there(paper_scale):
    wanted = "no experiment 'banditq/fullinformation'; did you mean 'banditq/full_information'?"
    with pytest.raises(ConfigError, match=re.escape(wanted)):
        paper_scale.experiment("banditq", "fullinformation")
    with pytest.raises(ConfigError, match="no figure 'banditq_fig9'; did you mean"):
        paper_scale.shown_in("banditq", "fig9")


def test_claims_that_are_gone_are_missed(changed, tmp_path):
    shutil.copytree(ROOT / "audit", tmp_path / "audit")
    (tmp_path / "papers" / "fair_ucb" / "claims.py").unlink()
    with pytest.raises(ConfigError) as error:
        changed("config/config.yaml", "scale", "paper")
    text = message(error)
    assert text.startswith("papers/fair_ucb/claims.py does not exist, but audit/verdicts.csv has")

"""Claims about one's own policies: the guide to the letter, what is refused, and the history."""

import csv
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import own_policy
from fairbandits.audit.judging import data, run
from fairbandits.audit.judging.rules import load_rules
from fairbandits.cli.main import main
from fairbandits.data.store import StoreError, read_table
from fairbandits.settings.schemas import ROOT, ConfigError

GUIDE = (ROOT / "docs" / "your-own-claims.md").read_text("utf-8")
FILES = dict(re.findall(r"^\*\*`(\S+)`\*\*\n\n```\w+\n(.*?)^```$", GUIDE, re.M | re.S))
FILES[own_policy.NAME] = own_policy.SOURCE
RAISING = """
class Raising:
    feedback = "bandit"
    made = 0

    def start(self, n_arms, horizon):
        Raising.made += 1
        fresh = Raising()
        fresh.number = Raising.made
        return fresh

    def choose(self, t, coin):
        if self.number == 2 and t == 17:
            return {}["no such arm"]
        return 0

    def learn(self, t, arm, reward):
        pass
"""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Compile nothing: all runs are short."""
    for name in ("COMPILING", "LOADING", "FIRST"):
        monkeypatch.setattr(f"fairbandits.engine.kinds.{name}", 10**12)
    monkeypatch.setattr(data, "COMPILING", 10**12)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with the files of the guide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def changed(change):
    """Write the guide's claims with a change, and return their file."""
    content = yaml.safe_load(FILES["my_claims.yaml"])
    change(content)
    file = Path("my_claims.yaml")
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file


def small(content):
    """Leave one instance, one policy and one claim, and few rounds."""
    content |= {"instances": {"three_arms": content["instances"]["three_arms"]}, "horizon": 100}
    content |= {"replicates": 10}
    del content["policies"]["fair_ucb"], content["claims"]["greedy-less-regret"]


def invoke(*words):
    result = CliRunner().invoke(main, ["judge", *words])
    assert result.exit_code == 0, result.output
    return result


def test_the_guide_to_the_letter(folder):
    commands = re.findall(r"^fairbandits judge (.*)$", GUIDE, re.MULTILINE)
    assert commands == ["my_claims.yaml --check", "my_claims.yaml"]
    assert len(GUIDE.splitlines()) <= 100
    checked = invoke(*commands[0].split()).output
    assert {one.name for one in folder.iterdir() if one.name[0] != "_"} == set(FILES)
    digest = re.search(r"rules (\w{16}), seed", checked)[1]
    table = invoke(*commands[1].split()).stdout
    assert "own: 2 claims" in table
    rules = load_rules(Path("my_claims.yaml"))
    results = folder / "my_claims" / digest
    assert sorted(one.name for one in results.iterdir()) == [
        *("findings.csv", "frozen", "own", "report.md", "verdicts.csv")
    ]
    with (results / "verdicts.csv").open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert {row["seed"] for row in rows.values()} == {"ledger"}
    assert {row["rules"] for row in rows.values()} == {digest}
    report = (results / "report.md").read_text()
    for text in (digest, "frozen 20", "in this folder\n\nNone.", "n = 30", "procedure: mean"):
        assert text in report
    with (results / "findings.csv").open() as file:
        found = {row["each"]: row for row in csv.DictReader(file) if row["rule"] == "less 1"}
    number = float(found["three arms"]["statistic"])
    assert np.isclose(number, _difference_by_hand(rules, results), rtol=1e-5)


def _difference_by_hand(rules, results):
    """Return the first claim's number on three_arms from the pulls, some of them played again."""
    from my_policies import FairGreedy

    import fairbandits as fb

    table = read_table(results / "own" / "instances" / "three_arms.parquet").to_pandas()
    last = table[table["round"] == 500]
    quotas, regrets = (0.2,) * 3, {}
    for name, policy in {"greedy": FairGreedy(quotas), "fair_ucb": fb.FairUCB(quotas)}.items():
        plays = last.loc[last["run"] == f"{name}-bernoulli", "plays"].to_numpy().reshape(30, 3)
        again = fb.run(
            *(policy, fb.Instance((0.5, 0.4, 0.3)), 500, [0, 29]),
            seed=rules.seed,
            stream="own/instances_three_arms",
            checkpoints=[500],
        )
        assert np.array_equal(again.plays[:, 0], plays[[0, 29]])
        regrets[name] = plays @ [0, 0.1, 0.2]
    return np.mean(regrets["fair_ucb"] - regrets["greedy"])


def test_a_look_leaves_its_trace(folder):
    changed(small)
    words = ("my_claims.yaml", "--cores", "1")
    first = invoke(*words)
    (before,) = run.read_history(folder / "my_claims")
    again = invoke(*words)
    assert "are used again" in again.stderr
    assert again.stdout == first.stdout
    assert run.read_history(folder / "my_claims") == [before]

    def stricter(content):
        small(content)
        content["claims"]["greedy-small-regret"]["tests"]["at_end"]["inputs"]["against"] = 0.2

    changed(stricter)
    second = invoke(*words)
    change = "claims.greedy-small-regret.tests.at_end.inputs.against: 0.25, then 0.2"
    assert "1 before these in this folder. Verdicts by them were seen" in second.stderr
    assert f"Changed for `{run.read_history(folder / 'my_claims')[1].digest}`" in second.stderr
    assert change in second.stderr
    known = run.read_history(folder / "my_claims")
    assert known[0].digest == before.digest != known[1].digest
    assert all(one.judged for one in known)
    report = (folder / "my_claims" / known[1].key / "report.md").read_text()
    assert f"- `{before.digest}`, frozen {before.frozen}" in report
    assert change in report
    tried = invoke(*words, "--seed", "7")
    assert "Exploratory: the data have seed 7, which does not follow" in tried.stderr
    assert (folder / "my_claims" / f"{known[1].digest}-seed-7" / "report.md").is_file()


def test_the_digest_is_of_all_that_decides(folder):
    before = load_rules(Path("my_claims.yaml")).digest

    def prose(content):
        content["title"] = "Another"
        content["claims"]["greedy-less-regret"]["note"] = "A note."
        content["rules"]["less"]["version"] = 1
        described = {"means": [0.9, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1], "quotas": ["1/16"] * 8}
        described |= {"law": "gaussian", "spread": 0.125}
        content["instances"]["eight_arms"] = described

    def more(content):
        content["replicates"] = 41

    assert load_rules(changed(prose)).digest == before
    assert load_rules(changed(more)).digest != before
    changed(prose)
    (folder / "my_policies.py").write_text(FILES["my_policies.py"] + "\n# tuned\n")
    assert load_rules(Path("my_claims.yaml")).digest != before


def test_the_page_on_guarantees_is_of_these_rules():
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    rules = load_rules(ROOT / "papers" / "arena" / "guarantees.yaml")
    assert re.search(r"digest `(\w{16})`", page)[1] == rules.digest


def put(value, *keys):
    """Return a change that sets something, or with None takes it away."""

    def change(content):
        *above, last = keys
        for key in above:
            content = content[key]
        if value is None:
            del content[last]
        else:
            content[last] = value

    return change


CLAIM = ("claims", "greedy-less-regret")
TEST = (*CLAIM, "tests", "at_end")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (put(1, "replicate"), "unknown key 'replicate'; did you mean 'replicates'?"),
        (put(None, "replicates"), "replicates is missing: .* n,"),
        (put(None, "horizon"), "horizon is missing"),
        (put(2, "horizon"), r": horizon must be at least the number of arms \(8\), got 2"),
        (put([200, 100], "horizon"), "must increase, got 200, 100"),
        (put("fair_ucp", "instances", "eight_arms", "named"), "named: .*mean 'fair_ucb'"),
        (put({"setting": 3}, "instances", "eight_arms", "arguments"), "arguments: setting must be"),
        (put({}, "instances", "three_arms"), "three_arms: exactly one of named, means and arms"),
        (
            put([0.1, 0.2], "instances", "three_arms", "quotas"),
            "three_arms.quotas must have one entry",
        ),
        (
            put([0.5, 2, 0.1], "instances", "three_arms", "means"),
            "instances.three_arms.means.1 must be in .* got 2",
        ),
        (put("fair_lern", "policies", "fair_ucb", "policy"), "fair_ucb.policy: .*'fair_learn'"),
        (put(1, "policies", "fair_ucb", "parameters", "toleranze"), "toleranze'; .* 'tolerance'"),
        (put("other.py:FairGreedy", "policies", "greedy", "policy"), "there is no file other.py"),
        (
            put("my_policies.py:Greed", "policies", "greedy", "policy"),
            "no class 'Greed'.*FairGreedy",
        ),
        (put(None, "policies", "greedy", "parameters"), "missing a required argument: 'quotas'"),
        (put("les", *TEST, "rule"), f"{'.'.join(TEST)}.rule: 'les' is unknown.*'less'"),
        (put("regrett @ T", *TEST, "inputs", "against"), "'regrett'.*'regret'"),
        (put("greddy", *CLAIM, "cells", "policy"), "'greddy' is unknown.*'greedy'"),
        (
            put("three_arm", *CLAIM, "cells", "instance"),
            "instance of instances: 'three_arm' is unknown.*'three_arms'",
        ),
        (put("greedy", *CLAIM, "cells"), "greedy-less-regret.cells should be a valid dictionary"),
        (put(999, *CLAIM, "cells", "T"), "T of instances: 999 is unknown; known: 500"),
        (put(None, *CLAIM, "statement"), "statement is missing"),
        (put(None, "rules", "less", "settings", "claim"), "needs claim in its settings"),
        (put(2, *CLAIM, "figur"), "unknown key 'figur'; did you mean 'figure'"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(folder, change, text):
    with pytest.raises(ConfigError, match=text) as caught:
        load_rules(changed(change))
    assert str(caught.value).startswith("my_claims.yaml: ")


def test_a_question_that_cannot_be_put_is_refused_before_the_freeze(folder):
    def both(content):
        del content["claims"]["greedy-small-regret"]["each"]

    words = "greedy-small-regret.tests.at_end: a case must be one cell, got 2"
    with pytest.raises(ConfigError, match=words):
        run.check(changed(both))


def test_policies_in_files_of_one_name(folder, monkeypatch):
    (folder / "more").mkdir()
    (folder / "more" / "my_policies.py").write_text(RAISING)
    file = changed(put({"policy": "more/my_policies.py:Raising"}, "policies", "raising")).resolve()
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    with pytest.raises(ConfigError, match=r"there is another my_policies\.py, .*; rename one"):
        load_rules(file)
    monkeypatch.chdir(folder)
    with pytest.raises(ConfigError, match=r"my_policies\.py is imported by this name"):
        load_rules(file)


def test_what_was_simulated_before_it_was_stopped_is_used(folder, monkeypatch):
    rules = load_rules(changed(small))
    results = folder / "results"

    def stopped(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(data, "collect", stopped)
        with pytest.raises(KeyboardInterrupt):
            data.simulate(rules.config, results, 1)
    monkeypatch.setattr(data, "_play", stopped)
    assert data.simulate(rules.config, results, 1)
    assert not data.simulate(rules.config, results, 1)
    assert [file.name for file in results.rglob("*.parquet")] == ["three_arms.parquet"]


# with two processes, whichever of them has played its second replicate first
@pytest.mark.parametrize(("cores", "replicate"), [(1, "1"), (2, "(1|9)")])
def test_a_policy_that_raises_is_named_with_replicate_and_round(folder, cores, replicate):
    (folder / "my_policies.py").write_text(RAISING)

    def raising(content):
        small(content)
        content["policies"] = {"greedy": {"policy": "my_policies.py:Raising"}}

    rules = load_rules(changed(raising))
    words = f"greedy on instance three_arms, replicate {replicate}, round 17: KeyError.*, line 14"
    with pytest.raises(ConfigError, match=words):
        data.simulate(rules.config, folder / "results", cores)


def test_a_claim_that_fails_shows_nothing(folder):
    def twice(content):
        small(content)
        content["claims"]["greedy-small-regret"]["tests"]["at_end"]["inputs"]["against"] = (
            "1 / (T - 100)"
        )

    changed(twice)
    result = CliRunner().invoke(main, ["judge", "my_claims.yaml", "--cores", "1"])
    assert result.exit_code == 1
    assert "1 claim failed, so that no verdict is written or shown" in result.output
    (own,) = run.read_history(folder / "my_claims")
    assert not own.judged
    assert not (folder / "my_claims" / own.key / "verdicts.csv").exists()


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"is not empty, and has no history\.json"):
        run.read_history(tmp_path)
    (tmp_path / "history.json").write_text("[{}]")
    with pytest.raises(StoreError, match="cannot be read"):
        run.read_history(tmp_path)

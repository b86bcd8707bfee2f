"""Claims about one's own policies: the guide to the letter, what is refused, and the history."""

import copy
import csv
import multiprocessing
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import own_policy
from commands import invoke, refused
from fairbandits import metrics
from fairbandits.audit import own
from fairbandits.audit.own import check, judged, read_history
from fairbandits.data.store import StoreError, read_table
from fairbandits.engine.streams import stream_key, word
from fairbandits.library import processes
from fairbandits.policies.own import find
from fairbandits.settings.schemas import ROOT, ConfigError

NAME = "my_claims.py"
SOURCE = own_policy.shown("your-own-claims.md")[NAME]
RAISING = """
class FairGreedy:
    feedback = "bandit"
    failing_coin = None

    def start(self, n_arms, horizon):
        return FairGreedy()

    def choose(self, t, coin):
        if coin == self.failing_coin:
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
    monkeypatch.setattr(own, "COMPILING", 10**12)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with the files of the guide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "my_policies", raising=False)  # of the project's own folder
    (tmp_path / NAME).write_text(SOURCE, encoding="utf-8")
    (tmp_path / own_policy.NAME).write_text(own_policy.SOURCE, encoding="utf-8")
    before = {*sys.modules}
    yield tmp_path
    for name in {*sys.modules} - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def changed(*changes, source=SOURCE):
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    Path(NAME).write_text(source, encoding="utf-8")
    for module in ("my_policies", "words", "statistics"):
        sys.modules.pop(module, None)
    return Path(NAME)


#: One instance, one policy, and few rounds.
FEW = [
    ('        "eight_arms": fb.instances.ht_ucb_d(setting=1),\n', ""),
    (', "fair_ucb": fb.FairUCB', ""),
    ("horizon=500", "horizon=100"),
    ("replicates=30", "replicates=10"),
]
(SMALL, CLAIM) = re.split(r"\n\n@study.claim\(\)\n.*?\n\n\n(?=@study)", SOURCE, flags=re.S)
SMALL += "\n\n" + CLAIM


def test_the_guide_to_the_letter(folder):
    page = (own_policy.DOCS / "your-own-claims.md").read_text(encoding="utf-8")
    guide, _, _ = page.partition("\n## From counts to a verdict\n")
    commands = re.findall(r"^fairbandits judge (.*)$", guide, re.MULTILINE)
    assert commands == [f"{NAME} --check", NAME]
    assert len(guide.splitlines()) <= 80
    said = [invoke("judge", *arguments.split()) for arguments in commands]
    assert [result.exit_code for result in said] == [0, 0], said
    digest = re.search(r"2 claims; digest (\w{16}), seed", said[0].output)[1]
    assert "own: 2 claims" in said[1].stdout
    results = folder / "my_claims" / digest
    names = ["findings.csv", "frozen", "own", "report.md", "verdicts.csv"]
    assert sorted(file.name for file in results.iterdir()) == names
    assert sorted(file.name for file in (results / "frozen").iterdir()) == [NAME, own_policy.NAME]
    with (results / "verdicts.csv").open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert {(row["seed"], row["rules"]) for row in rows.values()} == {("frozen", digest)}
    report = (results / "report.md").read_text()
    texts = (digest, "frozen 20", "in this folder\n\nNone.", "def greedy_less_regret(runs)")
    for text in (*texts, "confirmatory: its files were frozen before"):
        assert text in report
    with (results / "findings.csv").open() as file:
        findings = {(row["claim"], row["each"]): row for row in csv.DictReader(file)}
    number = float(findings["greedy-less-regret", "three arms"]["statistic"])
    assert np.isclose(
        number, _difference_by_hand(check(Path(NAME)).config.root_seed, results), rtol=1e-5
    )


def _difference_by_hand(seed, results):
    """Return the first claim's number on three_arms from the pulls, some of them played again."""
    from my_policies import FairGreedy

    import fairbandits as fb

    table = read_table(results / "own" / "instances" / "three_arms.parquet").to_pandas()
    last = table[table["round"] == 500]
    quotas, regrets = (0.2,) * 3, {}
    for name, policy in {"greedy": FairGreedy(quotas), "fair_ucb": fb.FairUCB(quotas)}.items():
        plays = last.loc[last["run"] == f"{name}-bernoulli", "plays"].to_numpy().reshape(30, 3)
        where = {"seed": seed, "stream": "own/instances_three_arms", "checkpoints": [500]}
        again = fb.run(policy, fb.Instance((0.5, 0.4, 0.3)), 500, [0, 29], **where)
        assert np.array_equal(again.plays[:, 0], plays[[0, 29]])
        regrets[name] = plays @ [0, 0.1, 0.2]
    return np.mean(regrets["fair_ucb"] - regrets["greedy"])


def test_a_look_leaves_its_trace(folder):
    said = []
    out, file = folder / "out", changed(*FEW, source=SMALL)
    first = judged(file, out)
    (before,) = read_history(out)
    assert judged(file, out, say=said.append) == first
    assert any("are used again" in line for line in said)
    assert read_history(out) == [before]
    changed(*FEW, ("at_most=0.25", "at_most=0.2"), source=SMALL)
    said.clear()
    judged(file, out, say=said.append)
    assert "1 before these in this folder. Verdicts by them were seen" in "\n".join(said)
    known = read_history(out)
    assert known[0].digest == before.digest != known[1].digest
    assert all(look.judged for look in known)
    report = (out / known[1].key / "report.md").read_text()
    assert f"- `{before.digest}`, frozen {before.frozen}" in report
    said.clear()
    judged(file, out, seed=7, say=said.append)
    assert "Exploratory: the data have seed 7, which does not follow" in said[0]
    assert (out / f"{known[1].digest}-seed-7" / "report.md").is_file()


#: Three arms with quotas, a short run, and one claim.
SHORT = """import fairbandits as fb
from fairbandits.claims import Study, mean, rounded
from my_policies import FairGreedy

study = Study(
    instances={{"three_arms": {instance}}},
    policies={{"greedy": (FairGreedy, {parameters})}},
    horizon=100,
    replicates=10,
)


@study.claim()
def mine_alone(runs):
    \"\"\"What is asked.\"\"\"
    run = runs("instances")
    yield {test}
"""


def with_claim(test, instance="fb.instances.fair_ucb(2)", parameters=None):
    source = SHORT.format(test=test, instance=instance, parameters=parameters or {})
    return changed(source=source)


def verdicts():
    result = invoke("judge", NAME)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("given", [{}, {"quotas": ["1/5", 0.3, 0.25]}])
def test_a_policy_of_ones_own_gets_numbers_from_a_file(folder, given):
    source = own_policy.SOURCE.replace("array(quotas, ", "array([quota * 1 for quota in quotas], ")
    assert source != own_policy.SOURCE
    (folder / own_policy.NAME).write_text(source)
    file = with_claim('mean("regret", run.end("regret"), at_most=1)', parameters=given)
    (block,) = check(file).config.experiments
    assert list(block.runs[0].spec.quotas) == ["1/5", "3/10", "1/4"]


@pytest.mark.parametrize("owed", ["quotas", "targets"])
def test_violation_is_one_thing_in_library_and_claims(folder, owed):
    given = {"quotas": ("1/5",) * 3, "targets": (0.1, 0.2, 0)}[owed]
    instance = f"(fb.Instance((0.5, 0.4, 0.3)), {{{owed!r}: {given!r}}})"
    test = 'mean("violation", run.end("violation"), at_most=0.5)'
    with_claim(test, instance, {"quotas": [0.2, 0.2, 0.2]})
    verdicts()
    (table,) = folder.glob("my_claims/*/own/instances/three_arms.parquet")
    last = read_table(table).to_pandas().query("round == 100")
    plays, rewards = (last[column].to_numpy().reshape(10, 1, 3) for column in ("plays", "reward"))
    if owed == "quotas":
        wanted = metrics.violation([100], plays, given).mean()
    else:
        wanted = metrics.target_violation([100], rewards, given).mean()
    (report,) = folder.glob("my_claims/*/report.md")
    assert re.search(rf"violation: {wanted:.4g}", report.read_text())


def test_of_a_constant_the_exact_test_is_named(folder):
    with_claim('mean("pulls", run.end("plays").sum(axis=1), at_most=100)')
    result = verdicts()
    assert "1 inconclusive" in result.stdout
    assert "use `rounded` (`exact` where it is a whole number)" in result.stderr
    with_claim('rounded("pulls beyond 100", run.end("plays").sum(axis=1) - 100)')
    assert "1 reproduced" in verdicts().stdout


def test_the_digest_is_of_the_files_that_are_imported(folder):
    digests = [check(changed(*FEW, source=SMALL)).study.digest]
    (folder / "words.py").write_text("LIMIT = 0.25\n")
    digests.append(check(changed(source=Path(NAME).read_text())).study.digest)
    assert digests[1] == digests[0]  # not imported
    uses = [("import fairb", "import words\nimport fairb"), ("=0.25", "=words.LIMIT")]
    file = changed(*FEW, *uses, source=SMALL)
    digests.append(check(file).study.digest)
    (folder / "words.py").write_text("LIMIT = 0.2\n")
    digests.append(check(changed(source=file.read_text())).study.digest)
    with (folder / own_policy.NAME).open("a") as more:
        more.write("\n# tuned\n")
    digests.append(check(changed(source=file.read_text())).study.digest)
    assert len(set(digests[1:])) == 4


GREEDY, EIGHT = '"greedy": FairGreedy', '"eight_arms": fb.instances.ht_ucb_d(setting=1)'
WRONG = [
    ("0.5, 0.4, 0.3", 'float("nan"), 0.4, 0.3', r"line 12: .*must be in \[0, 1\], got nan"),
    ("0.5, 0.4, 0.3", "0.5, 2, 0.3", "got 2.0 for arm 2"),
    ("greedy_small_regret", "greedy_less_regret", "line 30: .* two claims .* in line 21"),
    ("".join(SOURCE.partition("\n\n@study")[1:]), "", "there are no claims; `@study.claim"),
    (GREEDY, '"greedy": "FairGreedy"', "policies: 'greedy' must be a class, .* got 'FairGreedy'"),
    (GREEDY, '"greedy": dict', "policies: 'greedy': .*'dict'> is a built-in class"),
    (GREEDY, '"Gree dy": FairGreedy', "policies: a name must be of small letters.* got 'Gree dy'"),
    ("fb.FairUCB", 'fb.UCB1(("1/5",))', "line 14: ValueError: scale must be a number"),
    ("fb.FairUCB", '(fb.FairUCB, {"tolerans": 1})', "fair_ucb.parameters.* mean 'tolerance'"),
    ("fb.FairUCB", '(fb.LFG, {"eta": float("nan")})', "eta must be finite and at least 0, got nan"),
    (EIGHT, '"eight_arms": [0.1, 0.2]', r"'eight_arms' must be an Instance, got \[0.1, 0.2\]"),
    (EIGHT, EIGHT.replace("eight_arms", "EightArms"), "small letters.* got 'EightArms'"),
    (EIGHT, EIGHT.replace("eight_arms", "eight_1000"), "like a horizon.* got 'eight_1000'"),
    (EIGHT, EIGHT.replace('"eight_arms"', "8"), "small letters.* got 8"),
    ('{"quotas"', '{"quotes"', "'three_arms' cannot have 'quotes'; did you mean 'quotas'"),
    ('["1/5"] * 3', '["1/5"] * 2', r"three_arms.quotas must have one entry per mean \(3\), got 2"),
    ("horizon=500", "horizon=0", "horizon must be a whole number of at least 1, got 0"),
    ("horizon=500", 'horizon="500"', "horizon must be a whole number of at least 1, got '500'"),
    ("horizon=500", "horizon=7", r"eight_arms.horizon must be at least the number of arms \(8\)"),
    ("horizon=500", "horizon=[500, 100]", "must increase, got 500, 100"),
    ("horizon=500", "horison=500", "line 8: TypeError: .*'horison'"),
    ("replicates=30", "replicates=1", "replicates must be a whole number of at least 2, got 1"),
    ("replicates=30", "replicates=True", "at least 2, got True"),
    ("level=0.95", "level=95", "level must be at least 0.5 and less than 1, got 95"),
    ("level=0.95", 'observe={"greedi": []}', "observe: .* 'greedi'; did you mean 'greedy'"),
    ("level=0.95", 'observe={"greedy": ["x"]}', "observer must be one of .*, got 'x'"),
    ("        phrase = ", "        raise SystemExit(2)\n        phrase = ", "line 26: SystemExit"),
    ("import fairb", "import statistics\nimport fairb", "statistics.py has the name of another"),
    ("import fairb", "import pandas\nimport fairb", "line 5: a claim cannot import pandas"),
    ('.end("regret") for', '.end("regrets") for', "no measure 'regrets'; did you mean 'regret'"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_what_is_wrong_is_named_with_its_file_and_nothing_is_written(old, new, message, folder):
    (folder / "statistics.py").write_text("")
    file = changed((old, new))
    before = sorted(folder.rglob("*.*"))
    with pytest.raises(ConfigError, match=message) as caught:
        judged(file, folder / "out")
    assert str(caught.value).startswith((NAME, str(folder / NAME), "statistics.py", "greedy-"))
    assert NAME in str(caught.value) or "statistics.py" in str(caught.value)
    assert sorted(folder.rglob("*.*")) == before


def test_the_claims_on_guarantees_are_sound(monkeypatch):
    monkeypatch.setattr(own, "simulate", lambda *given: None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    rules = check(ROOT / "papers" / "arena" / "guarantees.py", 8326786927459065671)
    assert rules.config.exploratory


def test_what_was_simulated_before_it_was_stopped_is_used(folder, monkeypatch):
    config, results = check(changed(*FEW, source=SMALL)).config, folder / "results"

    def stopped(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(own, "collect", stopped)
        with pytest.raises(KeyboardInterrupt):
            own.simulate(config, results, 1)
    monkeypatch.setattr(own, "_play", stopped)
    assert own.simulate(config, results, 1)
    assert not own.simulate(config, results, 1)
    assert [file.name for file in results.rglob("*.parquet")] == ["three_arms.parquet"]


def test_a_policy_that_raises_is_named_with_replicate_and_round(folder, monkeypatch):
    (folder / own_policy.NAME).write_text(RAISING)
    config = check(changed(*FEW, source=SMALL)).config
    (experiment,) = config.experiments
    stream, policy = experiment.runs[0].spec.stream, own_policy.NAME.replace(".py", ":FairGreedy")
    coins = stream_key(config.root_seed, stream, 1, "coin", 0)
    monkeypatch.setattr(find(policy), "failing_coin", word(*coins, 17))
    message = "greedy on instance three_arms, replicate 1, round 17: KeyError.*, line 11"
    with pytest.raises(ConfigError, match=message):
        own.simulate(config, folder / "results", 1)


@pytest.mark.parametrize("drawn", ["CHANCE.integers(9)", "hash(str(t))"])
def test_a_policy_that_cannot_be_repeated_is_refused_before_the_data(drawn, folder):
    source = RAISING.replace("return 0", f"return 2 if t > 60 and {drawn} % 2 else 0")
    source = f"import numpy as np\n\nCHANCE = np.random.default_rng(1)\n{source}"
    (folder / own_policy.NAME).write_text(source)
    place = r"greedy on instance three_arms, replicate 0, round \d+"
    message = f"{place}: ValueError: FairGreedy acts oth"
    with pytest.raises(ConfigError, match=message):
        judged(changed(*FEW, source=SMALL), folder / "out")
    assert not (folder / "out").exists()


def test_a_claim_that_fails_shows_nothing(folder):
    file = changed(*FEW, ("=0.25", '=[0.25][len(run["regret"]) // 10]'), source=SMALL)
    said = []
    with pytest.raises(StoreError, match="1 claim failed, so that no verdict is written or shown"):
        judged(file, folder / "out", say=said.append)
    (frozen,) = read_history(folder / "out")
    assert not frozen.judged
    assert not (folder / "out" / frozen.key / "verdicts.csv").exists()


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"is not empty, and has no history\.json"):
        read_history(tmp_path)
    (tmp_path / "history.json").write_text("[{}]")
    with pytest.raises(StoreError, match="cannot be read"):
        read_history(tmp_path)


ENDS = {
    '__import__("os")._exit(0)': "its process ended with exit status 0, and gave no answer",
    "exit(0)": r"the code raised SystemExit: 0, and gave no answer \(my_policies.py, line 11\)",
    "__import__('os').kill(__import__('os').getpid(), 9)": "its process was ended by SIGKILL",
    "[0 for _ in iter(int, 1)]": "it took more than 1 s, the time limit",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("cores", [1, 2])
def test_a_policy_that_ends_its_process_is_named_and_there_is_no_verdict(folder, end, cores):
    source = RAISING.replace("coin == self.failing_coin", "t == 90")
    source = source.replace('return {}["no such arm"]', end)
    (folder / own_policy.NAME).write_text(source)
    file = changed(*FEW, source=SMALL)
    said = refused("judge", file, "--cores", cores, "--time-limit", 1)
    assert re.search(f"replicate 0, round 90: {ENDS[end]}", said)
    assert "FairGreedy" in said or "policy greedy on instance three_arms" in said


@pytest.mark.parametrize("where", ["import", "claim"])
def test_code_that_never_ends_is_said_and_ended(folder, monkeypatch, where):
    endless, policy = "[0 for _ in iter(int, 1)]", folder / own_policy.NAME
    if where == "import":
        policy.write_text(endless)
    before, after = "    for run in", f"    {endless}\n    for run in"
    file = changed(*FEW, *([(before, after)] if where == "claim" else []), source=SMALL)
    monkeypatch.setattr(processes, "LONG", 0.1)
    result = invoke("judge", file, "--time-limit", 1)
    *lines, error = result.stderr.splitlines()
    at = {"import": f"{file}, while it is imported", "claim": "claim "}[where]
    assert any(line.startswith(at) and ": at work for " in line for line in lines)
    assert error.startswith(f"Error: {file}: {at}")
    assert "it took more than 1 s, the time limit" in error
    assert result.exit_code == 1


def test_only_verdicts_are_on_standard_output(folder):
    source = RAISING.replace("return 0", "print('noise')\n        return 0")
    (folder / own_policy.NAME).write_text(source)
    changed(*FEW, source=SMALL)
    command = [sys.executable, "-m", "fairbandits.cli.main", "judge", NAME]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("own: 1 claim")
    assert "noise" not in done.stdout
    assert "noise" in done.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_judging_with_its_word_and_leaves_nothing_half(folder, name):
    source = RAISING.replace("return 0", "__import__('time').sleep(0.01)\n        return 0")
    (folder / own_policy.NAME).write_text(source)
    command = [sys.executable, "-m", "fairbandits.cli.main", "judge", NAME, "--cores", "2"]
    changed(*FEW, source=SMALL)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while "frozen" not in process.stderr.readline():
            assert process.poll() is None
        time.sleep(1)  # two processes simulate
        process.send_signal(getattr(signal, name))
        said = process.stderr.read()
    assert process.returncode == 128 + getattr(signal, name)
    assert said == "Interrupted. The same command continues.\n"
    assert not [path for path in folder.rglob(".*-????????*") if "__pycache__" not in path.parts]


def test_looks_at_one_moment_are_all_in_the_history(folder):
    rules = check(changed(*FEW, source=SMALL))
    fork = multiprocessing.get_context("fork")

    def look(out, number, barrier):
        study = copy.copy(rules.study)
        study.digest = f"{number:016}"
        barrier.wait()
        own.freeze(out, replace(rules, study=study))

    for turn in range(10):
        out, barrier = folder / f"out{turn}", fork.Barrier(4)
        processes = [fork.Process(target=look, args=(out, k, barrier)) for k in range(4)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert sorted(look.digest for look in read_history(out)) == [f"{k:016}" for k in range(4)]

"""A user's own policy in the arena: beside the stored ones, and when it is wrong."""

import re
import subprocess
import sys
import textwrap
from base64 import b64decode

import pytest

import naive
import small
from commands import invoke, refused
from fairbandits.arena import entrant
from fairbandits.cli.main import REPLICATE
from fairbandits.settings.schemas import ROOT

pytestmark = pytest.mark.slow

GOOD = """
import copy
from fractions import Fraction

import numpy as np

import fairbandits as fb


class Greedy:
    feedback = "bandit"

    def start(self, n_arms, horizon):
        fresh = copy.copy(self)
        fresh.pulls, fresh.sums, fresh.horizon = np.zeros(n_arms), np.zeros(n_arms), horizon
        return fresh

    def choose(self, t, coin):
        n_arms = self.pulls.size
        if t <= n_arms:
            return t - 1
        if fb.unit(coin) < 0.25:
            return int(n_arms * fb.unit(fb.inner(coin, 1)))
        return np.argmax(self.sums / self.pulls)

    def learn(self, t, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward


class Owed(Greedy):
    def __init__(self, quotas=(), scale=1):
        self.owed = np.array([float(Fraction(one)) for one in quotas])

    def choose(self, t, coin):
        assert self.owed.shape == self.pulls.shape
        lacks = self.owed * t - self.pulls
        return np.argmax(lacks) if lacks.max() > 0 else super().choose(t, coin)


class OfGroups(Greedy):
    def __init__(self, groups, quotas):
        assert len(groups) == len(quotas)


class ByHorizon(Greedy):
    def choose(self, t, coin):
        return 0 if self.pulls.size < t < self.horizon // 4 else super().choose(t, coin)


class Strange(Greedy):
    def __init__(self, sizes):
        pass


class NoChoice(Greedy):
    def start(self, n_arms, horizon):
        return object()


class NoFeedback:
    start = Greedy.start
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return small.small_arena(tmp_path_factory)


@pytest.fixture
def entered(stored, tmp_path, monkeypatch):
    """Return what runs a class of a file in the arena, and gives result and page."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def enter(name, *options, source=GOOD, code=0):
        monkeypatch.delitem(sys.modules, "mine", raising=False)
        file, page = tmp_path / "mine.py", tmp_path / "page.html"
        file.write_text(textwrap.dedent(source))
        arguments = ["arena", f"{file}:{name}", "--results", stored, "--out", page, "--jobs", 1]
        result = invoke(*arguments, *options)
        assert result.exit_code == code, result.output
        return result, page.read_text() if page.exists() else ""

    return enter


def test_it_stands_in_table_and_picture(entered):
    result, page = entered("Greedy", "--instances", "fair_ucb_2,tiny_group")
    for contract in ("minimum_pulls", "minimum_reward", "group_exposure", "group_merit"):
        assert contract in result.output
    progress = ["fair_ucb_2: ", "tiny_group: "]
    assert all(line in result.stderr and line not in result.stdout for line in progress)
    assert page.count("Greedy (yours)") >= 6  # two headings and four tables
    pictures = [b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)", page)]
    assert ["Greedy (yours)" in picture for picture in pictures] == [True] * 4
    assert "http-equiv" not in page
    assert set(re.findall('src="([^,]*)', page)) == {"data:image/svg+xml;base64"}


def test_it_is_judged_at_each_stored_horizon(entered):
    for name, needs in (("Greedy", False), ("ByHorizon", True)):
        result, page = entered(name, "--instances", "fair_ucb_2")
        for rounds in (200, 400):
            assert f"{rounds} rounds" in result.stderr
            assert f"{rounds} rounds (n = 3 replicates)" in page
        assert ("one must know T" in result.output) == needs


def test_it_needs_nothing_that_runs_the_papers_again(stored, tmp_path):
    file, page = tmp_path / "mine.py", tmp_path / "page.html"
    file.write_text(GOOD)
    arguments = ["arena", f"{file}:Greedy", "--results", str(stored), "--out", str(page)]
    arguments += ["--jobs", "1", "--instances", "fair_ucb_2"]
    code = f"import sys; sys.modules.update(dict.fromkeys({REPLICATE!r})); "
    code += f"from fairbandits.cli.main import main; main({arguments!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "Greedy (yours)" in page.read_text()


def test_it_gets_what_it_asks_for(entered):
    result, _ = entered("Owed", "--contract", "minimum_pulls", "--instances", "fair_ucb_2,drawn")
    rows = [line for line in result.output.splitlines() if line.startswith("minimum_pulls")]
    assert len(rows) == 2
    assert "true means" not in result.output
    result, page = entered("Owed", "--contract", "minimum_reward", "--instances", "fair_ucb_2")
    assert "Under minimum_reward it receives targets or quotas computed from" in result.output
    row = page.partition("<strong>Owed (yours)</strong></td>")[2].partition("</tr>")[0]
    assert "yours, told the true means" in row
    for shown in (result.output, row):
        assert "oracle" not in shown


def test_where_there_are_no_groups_it_is_not_applicable(entered):
    result, page = entered("OfGroups", "--instances", "fair_ucb_2,tiny_group")
    assert "Not applicable: minimum_pulls on fair_ucb_2: it asks for groups" in result.output
    assert "group_exposure" in result.output
    assert "Not applicable" in page


WRONG = [
    ("Gredy", (), GOOD, "has no class 'Gredy'; its classes: Greedy, Owed"),
    ("Strange", (), GOOD, "it needs 'sizes', which no contract has"),
    ("NoChoice", (), GOOD, "NoChoice.start must return an object with methods choose and learn"),
    ("NoFeedback", (), GOOD, "a policy needs a feedback attribute"),
    ("Greedy", ("--contract", "minimum_pul"), GOOD, "did you mean 'minimum_pulls'?"),
    ("Greedy", ("--instances", "fair_ucb2"), GOOD, "no instance 'fair_ucb2'; did you mean"),
    ("Greedy", ("--contract", "group_merit", "--instances", "drawn"), GOOD, "is not judged on"),
    ("Greedy", (), "import nothing_at_all\n" + GOOD, "cannot be imported: ModuleNotFoundError"),
    ("Greedy", (), "", "has no class 'Greedy'"),
]


@pytest.mark.parametrize(("name", "options", "source", "message"), WRONG, ids=[w[3] for w in WRONG])
def test_what_is_wrong_is_named(entered, name, options, source, message):
    result, page = entered(name, *options, source=source, code=1)
    assert message in result.output
    assert not page


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("return 7", "must return an arm in 0..3, got 7"),
        ("return 0.5", "must return an arm in 0..3, got 0.5"),
    ],
)
def test_a_failure_has_its_place_and_others_stay(entered, code, message):
    """Round 17 of replicate 2, on the one instance with four arms."""
    coin = naive.draw(small.SEED, "arena/arms_1e3_starvation", 2, "coin", 0, 1)
    source = GOOD.replace(
        "        if t <= n_arms:",
        "        self.first = self.first if t > 1 else coin\n"
        f"        if n_arms == 4 and t == 17 and self.first == {coin}:\n"
        f"            {code}\n"
        "        if t <= n_arms:",
    )
    result, page = entered("Greedy", "--instances", "starvation,fair_ucb_2", source=source, code=1)
    assert "Greedy failed on starvation, replicate 2, round 17: " in result.output
    assert message in result.output
    assert re.search(r"minimum_pulls\s+fair_ucb_2", result.output)
    assert "Greedy failed on starvation" in page


def test_without_stored_results_it_says_what_makes_them(tmp_path):
    file = tmp_path / "without_results.py"
    file.write_text(GOOD)
    line = refused("arena", f"{file}:Greedy", "--results", tmp_path / "none")
    assert f"{tmp_path / 'none'}" in line
    assert "run this in the project's folder, or give --results FOLDER" in line
    assert "`fairbandits replicate arena` makes them" in line


LISTS = """
class Lists:
    feedback = "bandit"

    def start(self, n_arms, horizon):
        fresh = Lists()
        fresh.pulls = [0] * n_arms
        return fresh

    def choose(self, t, coin):
        return t % len(self.pulls)

    def learn(self, t, arm, reward):
        self.pulls[arm] += 1
"""


def test_what_cannot_be_compiled_is_said_before_anything_is_played(entered, monkeypatch):
    monkeypatch.setattr("fairbandits.arena.entrant._played", lambda *given: pytest.fail("played"))
    result, page = entered("Lists", "--compiled", source=LISTS, code=1)
    assert "Lists cannot be compiled: self.pulls, used in mine.py, line 11 (" in result.output
    assert not page


def test_a_policy_that_cannot_be_made_for_an_instance_leaves_the_others(entered):
    source = GOOD.replace(
        "        assert len(groups) == len(quotas)",
        "        if len(groups) == 2 and groups[1] == 1:\n"
        "            raise ValueError('a group of one')",
    )
    both = "bf_ucb_notebook,tiny_group"
    result, _ = entered("OfGroups", "--instances", both, source=source, code=1)
    assert "cannot be made for tiny_group: ValueError: a group of one" in result.output
    assert re.search(r"group_exposure\s+bf_ucb_notebook", result.output)


def test_a_compiled_policy_that_fails_is_played_again_in_python_for_the_place(entered):
    failing = "        if t == 17 and n_arms == 4:\n            return 7\n"
    source = GOOD.replace("        if t <= n_arms:", f"{failing}        if t <= n_arms:")
    result, _ = entered("Greedy", "--compiled", "--instances", "starvation", source=source, code=1)
    message = "Greedy failed on starvation, replicate 0, round 17: Greedy.choose must return an arm"
    assert message in result.output
    assert "got 7" in result.output


def test_a_policy_in_plain_python_plays_few_replicates(entered, monkeypatch):
    sentence = f"without it up to 10 000 rounds and {entrant.PLAIN_REPLICATES} replicates"
    assert sentence in (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    monkeypatch.setattr(entrant, "PLAIN_REPLICATES", 2)
    for options, replicates in ((), 2), (("--compiled",), 3):
        result, _ = entered("Greedy", "--instances", "fair_ucb_2", *options)
        assert f"{replicates} replicates" in result.output

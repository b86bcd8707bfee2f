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


class NoChoice:
    feedback = "bandit"

    def start(self, n_arms, horizon):
        return object()


class NoFeedback:
    start = Greedy.start
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return a folder of results with the arena in it."""
    return small.small_arena(tmp_path_factory)


@pytest.fixture
def entered(stored, tmp_path, monkeypatch):
    """Return what runs a class of a file in the arena, and gives result and page."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def enter(name, *options, source=GOOD):
        monkeypatch.delitem(sys.modules, "mine", raising=False)
        file, page = tmp_path / "mine.py", tmp_path / "page.html"
        file.write_text(textwrap.dedent(source))
        words = ["arena", f"{file}:{name}", "--results", stored, "--out", page, "--jobs", 1]
        found = invoke(*words, *options)
        return found, page.read_text() if page.exists() else ""

    return enter


def test_it_stands_in_table_and_picture(entered):
    found, page = entered("Greedy", "--instances", "fair_ucb_2,tiny_group")
    assert found.exit_code == 0, found.output
    for contract in ("minimum_pulls", "minimum_reward", "group_exposure", "group_merit"):
        assert contract in found.output
    progress = ["fair_ucb_2: ", "tiny_group: "]
    assert all(line in found.stderr and line not in found.stdout for line in progress)
    assert page.count("Greedy (yours)") >= 6  # two headings and four tables
    pictures = [b64decode(one).decode() for one in re.findall(r"svg\+xml;base64,([^\"]+)", page)]
    assert ["Greedy (yours)" in one for one in pictures] == [True] * 4
    assert "http-equiv" not in page
    assert set(re.findall('src="([^,]*)', page)) == {"data:image/svg+xml;base64"}


def test_it_is_judged_at_each_stored_horizon(entered):
    for name, needs in (("Greedy", False), ("ByHorizon", True)):
        found, page = entered(name, "--instances", "fair_ucb_2")
        assert found.exit_code == 0, found.output
        for rounds in (200, 400):
            assert f"{rounds} rounds" in found.stderr
            assert f"{rounds} rounds (n = 3 replicates)" in page
        assert ("one must know T" in found.output) == needs


def test_it_needs_nothing_that_runs_the_papers_again(stored, tmp_path):
    file, page = tmp_path / "mine.py", tmp_path / "page.html"
    file.write_text(GOOD)
    words = ["arena", f"{file}:Greedy", "--results", str(stored), "--out", str(page)]
    words += ["--jobs", "1", "--instances", "fair_ucb_2"]
    code = f"import sys; sys.modules.update(dict.fromkeys({REPLICATE!r})); "
    code += f"from fairbandits.cli.main import main; main({words!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "Greedy (yours)" in page.read_text()


def test_it_gets_what_it_asks_for(entered):
    found, _ = entered("Owed", "--contract", "minimum_pulls", "--instances", "fair_ucb_2,drawn")
    assert found.exit_code == 0, found.output
    rows = [line for line in found.output.splitlines() if line.startswith("minimum_pulls")]
    assert len(rows) == 2
    assert "true means" not in found.output
    found, page = entered("Owed", "--contract", "minimum_reward", "--instances", "fair_ucb_2")
    assert "Under minimum_reward it receives targets or quotas computed from" in found.output
    row = page.partition("<strong>Owed (yours)</strong></td>")[2].partition("</tr>")[0]
    assert "yours, told the true means" in row
    for shown in (found.output, row):
        assert "oracle" not in shown


def test_where_there_are_no_groups_it_is_not_applicable(entered):
    found, page = entered("OfGroups", "--instances", "fair_ucb_2,tiny_group")
    assert "Not applicable: minimum_pulls on fair_ucb_2: it asks for groups" in found.output
    assert "group_exposure" in found.output
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


@pytest.mark.parametrize(("name", "options", "source", "words"), WRONG, ids=[w[3] for w in WRONG])
def test_what_is_wrong_is_named(entered, name, options, source, words):
    found, page = entered(name, *options, source=source)
    assert found.exit_code == 1
    assert words in found.output
    assert not page


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("return 7", "must return an arm in 0..3, got 7"),
        ("return 0.5", "must return an arm in 0..3, got 0.5"),
    ],
)
def test_a_failure_has_its_place_and_others_stay(entered, code, words):
    """Round 17 of replicate 2, on the one instance with four arms."""
    source = GOOD.replace(
        "        if t <= n_arms:",
        "        self.first = self.first if t > 1 else coin\n"
        f"        if n_arms == 4 and t == 17 and self.first == {first_coin(2)}:\n"
        f"            {code}\n"
        "        if t <= n_arms:",
    )
    found, page = entered("Greedy", "--instances", "starvation,fair_ucb_2", source=source)
    assert found.exit_code == 1
    assert "Greedy failed on starvation, replicate 2, round 17: " in found.output
    assert words in found.output
    assert re.search(r"minimum_pulls\s+fair_ucb_2", found.output)
    assert "Greedy failed on starvation" in page


def first_coin(replicate):
    return naive.draw(small.SEED, "arena/arms_1e3_starvation", replicate, "coin", 0, 1)


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
    found, page = entered("Lists", "--compiled", source=LISTS)
    assert found.exit_code == 1
    assert "Lists cannot be compiled: self.pulls, used in mine.py, line 11 (" in found.output
    assert not page


def test_a_policy_that_cannot_be_made_for_an_instance_leaves_the_others(entered):
    source = GOOD.replace(
        "        assert len(groups) == len(quotas)",
        "        if len(groups) == 2 and groups[1] == 1:\n"
        "            raise ValueError('a group of one')",
    )
    found, _ = entered("OfGroups", "--instances", "bf_ucb_notebook,tiny_group", source=source)
    assert found.exit_code == 1
    assert "cannot be made for tiny_group: ValueError: a group of one" in found.output
    assert re.search(r"group_exposure\s+bf_ucb_notebook", found.output)


def test_a_compiled_policy_that_fails_is_played_again_in_python_for_the_place(entered):
    failing = "        if t == 17 and n_arms == 4:\n            return 7\n"
    source = GOOD.replace("        if t <= n_arms:", f"{failing}        if t <= n_arms:")
    found, _ = entered("Greedy", "--compiled", "--instances", "starvation", source=source)
    assert found.exit_code == 1
    words = "Greedy failed on starvation, replicate 0, round 17: Greedy.choose must return an arm"
    assert words in found.output
    assert "got 7" in found.output


def test_a_policy_in_plain_python_plays_few_replicates(entered, monkeypatch):
    words = f"without it up to 10 000 rounds and {entrant.PLAIN_REPLICATES} replicates"
    assert words in (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    monkeypatch.setattr(entrant, "PLAIN_REPLICATES", 2)
    for options, replicates in ((), 2), (("--compiled",), 3):
        found, _ = entered("Greedy", "--instances", "fair_ucb_2", *options)
        assert f"{replicates} replicates" in found.output

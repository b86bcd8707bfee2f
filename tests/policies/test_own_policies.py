"""Policies outside the package, named in a configuration as module:Class."""

import json
import sys

import pytest

import fairbandits as fb
import own_policy
import shrunk
from fairbandits import Instance, run
from fairbandits.policies import make_policy
from fairbandits.replication.bundles import jobs_of
from fairbandits.replication.simulate import simulate_chunk
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ConfigError
from shrunk import sourced

ROUND_ROBIN = '''
class InTurn:
    """Pull the arms in turn."""

    feedback = "bandit"

    def __init__(self, first=1, quotas=()):
        self.first, self.quotas = first, quotas

    def start(self, n_arms, horizon):
        fresh = InTurn(self.first)
        fresh.n_arms = n_arms
        return fresh

    def choose(self, t, coin):
        return (t + self.first - 2) % self.n_arms

    def learn(self, t, arm, reward):
        pass


from subprocess import Popen


def function():
    open("run", "w")


class Nothing:
    pass


class NoStart:
    feedback = "bandit"


class NoFeedback:
    start = InTurn.start


class Refusing(InTurn):
    def __init__(self):
        raise ValueError("it is never made")


number = 3
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def configured(folder):
    def load(policy, parameters=None, **others):
        policies = {"mine": shrunk.policy(policy, **parameters or {}) | others}
        block = shrunk.experiment(
            **{"horizon": sourced(30), "checkpoints": {"at": [30]}, "replicates": sourced(2)},
            **{"quotas": sourced(SIXTHS), "policies": policies},
        )
        content = {"paper": "toy", "title": "Toy", "experiments": {"one": block}}
        file = folder / "papers" / "toy" / "experiments.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
        settings = {"seed": 1, "scale": "paper", "papers": ["toy"]}
        settings["pathvars"] = dict.fromkeys(shrunk.FOLDERS, "x")
        return build_config(settings, "test", folder)

    return load


def spec_of(config):
    return config.runs[0].spec


ARMS, SIXTHS = Instance((0.9, 0.5, 0.1), "bernoulli"), ["1/6"] * 3
BY_HAND = {"seed": 1, "checkpoints": [30], "stream": "toy/one", "quotas": SIXTHS}


def test_the_example_of_the_readme_is_run_by_its_name(folder, configured):
    (folder / own_policy.NAME).write_text(own_policy.SOURCE)
    spec = spec_of(configured("my_policies:FairGreedy", {"quotas": "instance"}))
    plays = simulate_chunk(spec, 1, range(2))["plays"]
    greedy = make_policy("my_policies:FairGreedy", {"quotas": SIXTHS})
    assert plays.tolist() == run(greedy, ARMS, 30, 2, **BY_HAND).plays.ravel().tolist()
    assert plays.sum() == 2 * 30


def test_a_class_can_make_a_policy_whose_feedback_is_late(folder, configured):
    (folder / own_policy.NAME).write_text(
        f"{own_policy.SOURCE}\n\nclass Late(FairGreedy):\n    def __new__(cls, quotas):\n"
        "        return fb.Delayed(FairGreedy(quotas), 10)\n"
    )
    several = []
    for name in ("FairGreedy", "Late"):
        spec = spec_of(configured(f"my_policies:{name}", {"quotas": "instance"}))
        several.append(simulate_chunk(spec, 1, range(2))["plays"].tolist())
    late = fb.Delayed(make_policy("my_policies:FairGreedy", {"quotas": SIXTHS}), 10)
    by_hand = run(late, ARMS, 30, 2, **BY_HAND)
    assert several[0] != several[1] == by_hand.plays.ravel().tolist()


def test_an_edit_of_the_file_is_another_run(folder, configured):
    file = folder / "turns.py"
    file.write_text(ROUND_ROBIN)
    first = configured("turns:InTurn")
    assert spec_of(configured("turns:InTurn")) == spec_of(first)
    file.write_text(ROUND_ROBIN + "# edited\n")
    second = configured("turns:InTurn")
    assert spec_of(second).policy_source != spec_of(first).policy_source
    plans = [jobs_of(config)[0][0].plan for config in (first, second)]
    assert plans[0] != plans[1]
    with pytest.raises(ValueError, match=r"^toy/one: the file of policy turns:InTurn has changed"):
        simulate_chunk(spec_of(first), 1, [0])


INSTALLED = "is Python's, or of an installed package that does not declare it in the group"
WRONG = [
    ("turn:InTurn", {}, "policy turn:InTurn: there is no module 'turn' in "),
    ("no.such:InTurn", {}, "a policy of one's own is named module:Class, without dots unless an"),
    ("turns:InTurn.start", {}, "entry points, got 'turns:InTurn.start'"),
    ("turns:In Turn", {}, "entry points, got 'turns:In Turn'"),
    ("turns:", {}, "entry points, got 'turns:'"),
    ("turns:OutOfTurn", {}, "turns.py has no class 'OutOfTurn'; its classes: InTurn, Nothing"),
    ("turns:number", {}, "turns.py has no class 'number'"),
    ("turns:function", {}, "turns.py has no class 'function'"),
    ("turns:Popen", {}, "turns.py has no class 'Popen'"),
    ("turns:Nothing", {}, "policy turns:Nothing needs a method start(n_arms, horizon)"),
    ("deadly:Policy", {}, "deadly.py has no class 'Policy'"),
    ("subprocess:Popen", {"args": ["touch", "run"]}, f"module 'subprocess' {INSTALLED}"),
    ("os:system", {"command": "touch run"}, f"module 'os' {INSTALLED}"),
    ("builtins:exec", {"source": "open('run', 'w')"}, f"module 'builtins' {INSTALLED}"),
    ("pathlib:Path", {}, f"module 'pathlib' {INSTALLED}"),
    ("threading:Thread", {}, f"module 'threading' {INSTALLED}"),
    ("pytest:Module", {}, f"module 'pytest' {INSTALLED}"),
    ("broken:Policy", {}, "broken.py cannot be imported: ZeroDivisionError: division by zero"),
    ("mute:Policy", {}, "mute.py cannot be imported: Mute, whose text cannot be made"),
    ("turns:InTurn", {"last": 1}, "got an unexpected keyword argument 'last'; it is made by "),
]
MUTE = """class Mute(Exception):
    __str__ = None
raise Mute
class Policy: pass
"""


@pytest.mark.parametrize(("policy", "parameters", "text"), WRONG, ids=[row[0] for row in WRONG])
def test_what_cannot_be_found_is_said_at_once(policy, parameters, text, folder, configured):
    (folder / "turns.py").write_text(ROUND_ROBIN)
    (folder / "broken.py").write_text("1 / 0\nclass Policy:\n    pass\n")
    (folder / "deadly.py").write_text("open('run', 'w')\n")
    (folder / "mute.py").write_text(MUTE)
    with pytest.raises(ConfigError) as error:
        configured(policy, parameters)
    message = str(error.value)
    assert message.startswith("papers/toy/experiments.yaml: experiments.one.policies.mine.policy: ")
    assert text in message
    assert "\n" not in message
    assert not (folder / "run").exists()


def test_an_installed_package_declares_its_policies(folder, configured, monkeypatch):
    """Here one is installed into a folder of its own; its other classes are not for settings."""
    for name, text in (
        ("theirs-1.dist-info/entry_points.txt", "[fairbandits.policies]\na=theirs.turns:InTurn\n"),
        ("theirs/__init__.py", "from theirs.turns import NoStart\n"),
        ("theirs/turns.py", ROUND_ROBIN),
    ):
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(text)
    monkeypatch.syspath_prepend(folder / "site")
    monkeypatch.setattr("site.getsitepackages", lambda: [str(folder / "site")])
    assert spec_of(configured("theirs.turns:InTurn")).policy_source
    for name in ("theirs.turns:Refusing", "theirs:NoStart"):
        with pytest.raises(ConfigError, match=r"in the group fairbandits\.policies of its entry"):
            configured(name)


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        ("turns:NoFeedback", "needs an attribute feedback, 'bandit' or 'full', got None"),
        ("turns:NoStart", "needs a method start(n_arms, horizon)"),
        ("turns:Refusing", "it is never made"),
    ],
)
def test_what_is_no_policy_is_refused(policy, text, folder):
    (folder / "turns.py").write_text(ROUND_ROBIN)
    with pytest.raises(ValueError, match=r"^here: policy turns:") as error:
        make_policy(policy, {}, where="here")
    assert str(error.value).endswith(text)

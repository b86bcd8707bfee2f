"""What a run's fingerprint covers: the code that the run goes through, and no more."""

import shutil
import sys
from dataclasses import replace

import pytest

import real
import shrunk
from commands import process
from fairbandits.audit.code import audit_code
from fairbandits.data import provenance
from fairbandits.data.provenance import RUNNING, used_by
from fairbandits.figures import figure_code
from fairbandits.policies import POLICIES
from fairbandits.policies.learner import HasLearner
from fairbandits.replication import code
from fairbandits.replication.code import code_of
from fairbandits.replication.reading import CONFIGURING, collect_code
from fairbandits.replication.simulate import simulate_chunk
from fairbandits.settings.config import load_config
from fairbandits.settings.schemas import ROOT
from fairbandits.settings.spec import RunSpec

CONFIG = real.config()
EVERY = {run.key for run in CONFIG.runs}
CACHED = ("fingerprint", "fingerprint_of_text", "used_by", "_imports", "_contents", "remembered")


def forget():
    for name in CACHED:
        getattr(provenance, name).cache_clear()
    code._code.cache_clear()


@pytest.fixture
def copied(tmp_path, monkeypatch):
    package = tmp_path / "fairbandits"
    shutil.copytree(provenance.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "PACKAGE", package)
    forget()
    yield package
    monkeypatch.undo()
    forget()


def codes():
    forget()
    return {run.key: code_of(run.spec) for run in CONFIG.runs}


def rewrite(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def changed(package, file):
    """Return the runs whose fingerprint changes with a file; the change stays."""
    before = codes()
    with (package / file).open("a") as end:
        end.write("A = 1\n")
    after = codes()
    return {key for key in before if before[key] != after[key]}


def runs_with(*names):
    """Return the configured runs that have a policy, a learner or an observer of these."""

    def has(spec):
        mine = {spec.policy, *(name for name, _ in spec.observe)}
        parameters = spec.parameters
        while parameters:
            mine.add(parameters.get("learner", ""))
            parameters = parameters.get("learner_parameters", {})
        return mine & set(names)

    return {run.key for run in CONFIG.runs if has(run.spec)}


def test_a_new_policy_leaves_all_runs_as_they_are(copied):
    before = codes()
    for folder in ("policies", "observers"):
        (copied / folder / "mine.py").write_text("from fairbandits.engine import laws\n")
    line = '    "mixture": "wrapping:Mixture",\n'
    rewrite(copied / "policies" / "__init__.py", line, f'{line}    "mine": "mine:Mine",\n')
    assert codes() == before


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("policies/wrapping.py", ["mixture", "own_reward", "plug_in", "surrogate_gains"]),
        ("policies/fair_learn.py", ["fair_learn", "t_fair_learn"]),
        ("policies/bf_ucb_sums.py", ["bf_ucb", "fairx_ucb", "merit_regret"]),
        ("policies/group_ucb.py", ["group_oracle", "group_ucb"]),
        ("observers/plays.py", ["plays_sum", "starvation"]),
    ],
)
def test_a_change_reaches_the_runs_that_use_it(copied, file, names):
    wanted = runs_with(*names)
    assert 0 < len(wanted) < len(CONFIG.runs)
    assert changed(copied, file) == wanted


@pytest.mark.parametrize("file", ["engine/laws.py", "library/simulation.py"])
def test_what_all_runs_go_through_reaches_all(copied, file):
    assert changed(copied, file) == EVERY


def test_words_about_the_code_make_nothing_stale(copied):
    def all_codes():
        given = [audit_code(), collect_code(), provenance.replay_code()]
        return [codes(), *given, figure_code("banditq")]

    before = all_codes()
    for path in copied.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        quotes = text.index('"""')
        text = f'# a comment\n\n{text[:quotes]}"""More words: {text[quotes + 3 :]}# another\n'
        path.write_text(text, encoding="utf-8")
    assert all_codes() == before


def test_what_reads_runs_counts_and_what_configures_them_does_not(copied):
    def of_results():
        forget()
        return collect_code(), figure_code("banditq"), audit_code()

    before = of_results()
    reading = ("data/store.py", "replication/datasets.py", "replication/recorded.py")
    for file in (*reading, *CONFIGURING):
        text = (copied / file).read_text(encoding="utf-8")
        (copied / file).write_text(f"{text}A = 1\n", encoding="utf-8")
        changes = [now != then for now, then in zip(of_results(), before, strict=True)]
        assert changes == [file in reading] * 3, file
        (copied / file).write_text(text, encoding="utf-8")


def spec_of(policy):
    return RunSpec(stream="s", policy=policy, parameters={}, law="beta", horizon=9, checkpoints={})


def test_the_learner_that_is_not_named_counts(copied):
    wrapping = [made for made in POLICIES.values() if issubclass(made, HasLearner)]
    assert {made.learner for made in wrapping} == {code.USUAL_LEARNER}
    other = {"learner": "thompson"}
    nested = {"learner": "own_reward", "learner_parameters": other}

    def each():
        forget()
        return [
            code_of(replace(spec_of("mixture"), parameters=parameters))
            for parameters in ({}, {"learner": "ucb1"}, other, nested)
        ]

    before = each()
    assert before[0] == before[1]
    assert len(set(before)) == 3
    (copied / "policies" / "baselines.py").write_text("# nothing\n")
    assert [a == b for a, b in zip(each(), before, strict=True)] == [True, True, False, False]


def test_a_policy_of_ones_own_goes_by_all_policies(copied):
    forget()
    before = code_of(spec_of("mine:Mine"))
    (copied / "policies" / "another.py").write_text("A = 1\n")
    forget()
    assert code_of(spec_of("mine:Mine")) != before


def test_what_is_not_registered_is_refused():
    with pytest.raises(ValueError, match=r"policies/__init__\.py registers no 'none'; known:"):
        code_of(spec_of("none"))


def test_relative_imports_are_refused(copied):
    (copied / "policies" / "wrapping.py").write_text("from . import checks\n")
    forget()
    with pytest.raises(ValueError, match=r"wrapping\.py, line 1: an import inside .* absolute"):
        used_by("policies/wrapping.py")


def test_imports_are_followed_in_every_form(copied):
    (copied / "one.py").write_text(
        "import fairbandits.rationals\n"
        "def f():\n    from fairbandits.policies.ucb1 import UCB1; from fairbandits import checks\n"
        "    from fairbandits.engine.laws import inner\n"
    )
    forget()
    files = used_by("one.py")
    assert {"rationals.py", "policies/ucb1.py", "checks.py", "engine/laws.py"} <= set(files)
    assert "policies/bf_ucb.py" not in files


def kinds():
    """Return a small run for each kind of policy, learner and observers, of every law once."""
    specs = {}
    for paper in dict.fromkeys(experiment.paper for experiment in CONFIG.experiments):
        for run in shrunk.config([paper], 1, horizon=60, replicates=1, chunk=1).runs:
            parameters = run.spec.parameters
            kind = run.spec.policy, parameters.get("learner"), parameters.get("feedback")
            specs.setdefault((*kind, tuple(name for name, _ in run.spec.observe)), run.spec)
    return specs


def test_a_run_goes_through_no_other_code():
    """Every function of the package that a run calls is in a file that its fingerprint has."""
    package = str(provenance.PACKAGE)
    for kind, spec in kinds().items():
        called = set()

        def note(frame, event, argument, called=called):
            if event == "call" and frame.f_code.co_filename.startswith(package):
                called.add(frame.f_code.co_filename[len(package) + 1 :])

        cut = replace(spec, sweep={key: values[:1] for key, values in spec.sweep.items()})
        sys.setprofile(note)
        try:
            simulate_chunk(cut, 1, [0], compiled=False)
        finally:
            sys.setprofile(None)
        policies = code._policies(spec.policy, spec.parameters)
        parts = [code._file("policies", name) for name in policies]
        parts += [code._file("observers", name) for name, _ in spec.observe]
        known = {*used_by(*RUNNING, *parts), "__init__.py"}
        assert "library/simulation.py" in called
        assert called <= known, (kind, called - known)


def test_fingerprints_need_no_numba():
    load_config([ROOT / "config" / "config.yaml"])  # that its policies start is remembered on disk
    script = (
        "import sys; from fairbandits.settings.config import load_config;"
        "from fairbandits.replication.code import code_of_all;"
        "from fairbandits.audit.code import audit_code;"
        "from fairbandits.data.provenance import replay_code;"
        "from fairbandits.figures import figure_code;"
        "from fairbandits.replication.reading import collect_code;"
        f"config = load_config([{str(ROOT / 'config' / 'config.yaml')!r}]);"
        "print(code_of_all(run.spec for run in config.runs), audit_code(), collect_code(),"
        " figure_code('banditq'), replay_code());"
        "assert not {'numba', 'pandas', 'numpy'} & set(sys.modules)"
    )
    assert len(set(process(sys.executable, "-c", script).stdout.split())) == 5

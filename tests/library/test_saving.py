"""Results that are kept: in files, which are read as data alone, and by pickle."""

import pickle
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairbandits as fb
from fairbandits.data.store import StoreError, read_footer, write_table
from fairbandits.report.describing import describe
from plain import Plain, arrays_of

ARMS = fb.Instance((0.7, 0.5, 0.4))
SETTINGS = {"seed": np.int64(3), "checkpoints": [20, 60]}
LOG = {"arm": ["x", "y", "x", "y", "y"], "paid": [0, 1, 1, 0, 2]}


class Weighted(Plain):
    """Pulls the arms in turn; its probe is its weights."""

    probes = ("weight",)

    def __init__(self, weights):
        self.weights = np.asarray(weights, float)

    def probe(self, out):
        out[0] = self.weights


def log():
    return fb.World.from_table(LOG, arm="arm", reward="paid")


def tide(t):
    return (0.5, 0.5 + 0.4 / t, 0.2)


#: Policy, instance, other settings.
RUNS = {
    "quotas": (fb.UCB1(), ARMS, {"quotas": ("1/2", "1/3", 0.05)}),
    "drawn": (fb.FairUCB((0.2, "1/3", 0)), fb.RandomInstance(3), {"observe": [fb.PlaysSum()]}),
    "paper": (fb.BanditQ(fb.instances.banditq().targets), fb.instances.banditq(), {}),
    "full": (fb.Hedge(), ARMS, {}),
    "late": (fb.Delayed(fb.BanditQ((0.1, 0.1, 0)), rounds=5), ARMS, {}),
    "log": (fb.Uniform(), log(), {"quotas": (0.5, 0.5)}),
    "moving": (Weighted((1, np.nan, 3)), fb.World.moving(tide), {}),
    "own": (Weighted((1, 2, 3)), ARMS, {"quotas": (0.2, 0.2, 0.2)}),
    "compiled": (fb.compiled(Weighted((1, 2, 3))), ARMS, {}),
}


def run(name, replicates=(0, 1)):
    policy, instance, others = RUNS[name]
    return fb.run(policy, instance, 60, list(replicates), **SETTINGS, **others)


@pytest.mark.parametrize("name", RUNS)
def test_a_saved_result_is_the_result(name, tmp_path):
    file, result = tmp_path / "a folder" / "result.parquet", run(name)
    result.save(file)
    loaded = fb.Result.load(str(file))
    assert arrays_of(loaded) == arrays_of(result)
    assert (loaded.policy, loaded.instance) == (result.policy, result.instance)
    for key in ("horizon", "seed", "stream", "quotas", "version"):
        assert getattr(loaded, key) == getattr(result, key)
    assert list(loaded.columns()) == list(result.columns())
    assert loaded.regret().tolist() == result.regret().tolist()
    if result.quotas or hasattr(result.policy, "targets"):
        assert loaded.violation().tolist() == result.violation().tolist()
    if name != "moving":
        assert loaded.true_means.tolist() == result.true_means.tolist()
    assert repr(loaded) == repr(result)
    again = tmp_path / "again.parquet"
    loaded.save(again)
    assert again.read_bytes() == file.read_bytes()
    assert describe(file)
    joined = fb.join([run(name, [2]), loaded])
    assert joined.replicates.tolist() == [2, 0, 1]
    assert joined.regret().tolist() == run(name, range(3)).regret()[[2, 0, 1]].tolist()


def test_policies_that_differ_in_a_digit_are_not_joined(tmp_path):
    parts = [fb.run(Weighted((1, 2, 3 + d)), ARMS, 60, [k]) for k, d in enumerate((0, 1e-10))]
    parts[0].save(tmp_path / "first.parquet")
    with pytest.raises(ValueError, match="results must be of one policy, got <saved Weighted"):
        fb.join([fb.Result.load(tmp_path / "first.parquet"), parts[1]])


def test_a_file_says_what_made_it(tmp_path):
    file = tmp_path / "result.parquet"
    run("own").save(file)
    footer = read_footer(file)
    ((label, about),) = footer["results"].items()
    assert (footer["kind"], label, about["seed"]) == ("result", "", 3)
    assert footer["packages"]["fairbandits"] == about["version"] == fb.__version__
    policy = fb.Result.load(file).policy
    assert repr(policy) == "<saved Weighted(weights=[1.0, 2.0, 3.0])>"
    assert policy.weights == [1, 2, 3]
    assert getattr(policy, "class") == f"{__name__}:Weighted"
    with pytest.raises(AttributeError, match="the file of this Weighted keeps no pulls"):
        policy.pulls  # noqa: B018
    for given in ((policy, ARMS), (fb.UCB1(), fb.Result.load(file).instance)):
        with pytest.raises(TypeError, match="of a loaded result describe them; make them again"):
            fb.run(*given, 60)


def pulls_of_the_worst(result):
    return result.plays[:, :, -1]


@pytest.mark.parametrize(
    ("instance", "policies", "others"),
    [
        (ARMS, {"a": Weighted((1, 2, 3)), "b, c": fb.UCB1()}, {"quotas": (0.3, 0.3, 0.4)}),
        (ARMS, {"a\0b": fb.UCB1(), "": fb.Uniform()}, {"quotas": (0.3, 0.3, 0.4)}),
        (fb.RandomInstance(3, 0.3, 0.9), [fb.Hedge(), fb.UCB1()], {"targets": (0.01, 0, 0)}),
        (log(), [fb.UCB1()], {"quotas": (0.3, 0.3)}),
        (fb.World.moving(tide), [fb.UCB1(), Weighted((1, 2, 3))], {"quotas": (0.3, 0.3, 0.3)}),
    ],
    ids=["plain", "labels", "drawn", "log", "moving"],
)
def test_a_saved_comparison_is_the_comparison(instance, policies, others, tmp_path):
    metrics = ["regret", "reward", "violation", pulls_of_the_worst]
    compared = fb.compare(policies, instance, 60, replicates=3, metrics=metrics, **others)
    compared.save(tmp_path / "comparison.parquet")
    loaded = fb.Comparison.load(tmp_path / "comparison.parquet")
    assert repr(loaded) == repr(compared)
    assert loaded.frame.equals(compared.frame)
    assert list(loaded.curves) == list(compared.curves)
    for label, result in compared.results.items():
        assert arrays_of(loaded.results[label]) == arrays_of(result)
        assert loaded.results[label].policy == result.policy
    assert loaded.plot()._repr_png_() == compared.plot()._repr_png_()
    assert "measure regret" in describe(tmp_path / "comparison.parquet")


def test_a_saved_sweep_is_the_sweep(tmp_path):
    given = {"replicates": 2, "quotas": (0.2, 0.3, 0.25)}
    swept = fb.sweep(fb.LFG(given["quotas"]), "eta", [1, 0.5, 10], ARMS, 60, **given)
    swept.save(tmp_path / "sweep.parquet")
    loaded = fb.Sweep.load(tmp_path / "sweep.parquet")
    assert loaded.table.equals(swept.table)
    assert loaded.values == swept.values
    with pytest.raises(StoreError, match=r"holds a 'sweep'.*; write fairbandits\.Sweep\.load"):
        fb.Comparison.load(tmp_path / "sweep.parquet")


@pytest.mark.parametrize("name", RUNS)
def test_results_are_pickled(name):
    result = run(name)
    loaded = pickle.loads(pickle.dumps(result))
    assert arrays_of(loaded) == arrays_of(result)
    assert fb.join([loaded, run(name, [2])]).replicates.tolist() == [0, 1, 2]
    others = RUNS[name][2]
    again = fb.run(loaded.policy, loaded.instance, 60, 2, **SETTINGS, **others)
    assert arrays_of(again) == arrays_of(result)


def rewritten(file, of_table=lambda table: table, about=None, **others):
    """Write a result's file again: with another table, or other entries of its footer."""
    table, footer = of_table(pq.read_table(file)), read_footer(file) | others
    if about:
        footer["results"][""] |= about
    del footer["content"]  # else it says that the file was changed
    write_table(file, table.replace_schema_metadata(None), footer)


def cut(file):
    file.write_bytes(file.read_bytes()[:-100])


NO_RESULT = "is no result of this version"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (cut, "is not a readable Parquet file"),
        (lambda file: file.write_text("replicate,round"), "is not a readable Parquet file"),
        (lambda file: pq.write_table(pa.table({"a": [1]}), file), "was not written by fairbandits"),
        (partial(rewritten, schema=99), "has schema version 99"),
        (partial(rewritten, kind="dataset"), "holds a 'dataset', not a"),
        *((partial(rewritten, results=results), NO_RESULT) for results in (None, {}, 3)),
        *(
            (partial(rewritten, about=about), NO_RESULT)
            for about in (
                *({"policy": {}}, {"horizon": "x"}, {"plays": "code"}, {"probes": ["queue"]}),
                {"quotas": ["__import__"]},
            )
        ),
        (partial(rewritten, of_table=lambda table: table.drop_columns("reward")), NO_RESULT),
        (partial(rewritten, of_table=lambda table: table.slice(1)), "must be all arms of all rou"),
        (partial(rewritten, of_table=lambda table: table.slice(0, 0)), NO_RESULT),
    ],
)
def test_what_is_no_saved_result_is_refused(spoil, says, tmp_path):
    file = tmp_path / "result.parquet"
    run("quotas").save(file)
    spoil(file)
    with pytest.raises(StoreError, match=says) as caught:
        fb.Result.load(file)
    assert str(file) in str(caught.value)
    assert "delete" not in str(caught.value)
    with pytest.raises(StoreError):
        fb.Comparison.load(file)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        fb.Result.load(tmp_path / "other.parquet")


def test_no_code_that_a_file_names_runs(tmp_path, monkeypatch):
    file = tmp_path / "result.parquet"
    run("own").save(file)
    (tmp_path / "named_by_a_file.py").write_text("raise SystemExit('it was imported')")
    monkeypatch.syspath_prepend(tmp_path)

    policy = read_footer(file)["results"][""]["policy"]
    policy["attributes"] |= {"class": "named_by_a_file:Policy", "start": "os:system"}
    policy["value"] = {"made": [{"function": "named_by_a_file:f"}, {"tuple": []}, None]}
    rewritten(file, about={"policy": policy})
    loaded = fb.Result.load(file)
    assert loaded.policy != RUNS["own"][0]
    with pytest.raises(TypeError, match="a loaded result describe them"):
        fb.run(loaded.policy, ARMS, 60)
    with pytest.raises(ValueError, match="results must be of one policy"):
        fb.join([loaded, run("own", [2])])

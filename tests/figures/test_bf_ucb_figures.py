"""BF-UCB's experiments, figures and page: drawn groups, shared instances, and their numbers."""

from dataclasses import replace

import numpy as np
import pytest

import real
import shrunk
import small
from fairbandits.data.store import StoreError
from fairbandits.figures import bf_ucb as figures
from fairbandits.library import simulation
from fairbandits.library.running import run
from fairbandits.measures import groups as measures
from fairbandits.observers import MeritRegret
from fairbandits.policies import make_policy
from fairbandits.replication import simulate
from fairbandits.replication.datasets import collect, load_dataset
from fairbandits.replication.recorded import Dataset
from fairbandits.replication.simulate import instance_of, simulate_chunk, write_chunk
from fairbandits.report import pages
from fairbandits.settings.schemas import ROOT
from shrunk import sourced

FILE = ROOT / "papers" / "bf_ucb" / "experiments.yaml"
SEED = 20240729
HORIZON = 400


@pytest.fixture(autouse=True, scope="module")
def limits():
    with small.short_runs_interpreted():
        yield


@pytest.fixture(scope="module")
def config():
    return real.config()


@pytest.fixture
def paper(tmp_path_factory):
    folder = small.small_results(tmp_path_factory)
    return pages.open_paper("bf_ucb", folder / "results", folder / "figures")


def short(config, key, **changes):
    """Return a run's spec with few rounds."""
    rounds = {"horizon": HORIZON, "checkpoints": {"at": [HORIZON // 2, HORIZON]}}
    return replace(config.run(key).spec, **rounds, **changes)


# what is configured


def test_ranges_are_those_of_the_groups(config):
    arms = instance_of(config.run("bf_ucb/high/paper_02-bernoulli").spec)
    assert arms.low == (0.7,) * 50 + (0.5,) * 10
    assert arms.high == (1.0,) * 50 + (0.8,) * 10
    released = instance_of(config.run("bf_ucb/low_released/released_02-bernoulli").spec)
    means = np.array([released.draw(SEED, "s", k).means for k in range(20)])
    assert (means[:, [0, 10]] == [0.65, 0.6]).all()
    assert np.array_equal(means, means.round(3))
    assert 0.6 <= means.min() < means.max() <= 0.85


def test_the_instance_of_the_notebook(config):
    """Its numbering has the second group after arm 0."""
    printed = [0.65, 0.6, 0.79, 0.751, 0.703, 0.829, 0.799, 0.713]
    printed += [0.62, 0.646, 0.681, 0.693, 0.792, 0.806, 0.621]
    means = config.experiment("bf_ucb", "port_check").means
    assert list(means) == [printed[0], *printed[6:], *printed[1:6]]
    values = measures.group_values(means, (10, 5))
    np.testing.assert_allclose(values, [0.70895, 0.74314], atol=5e-6)


def setting(key, value):
    """Return a change of one of an experiment's settings, ``part.key`` of one inside another."""
    *parts, last = key.split(".")

    def change(block):
        for part in parts:
            block = block[part]
        block[last] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (
            "high",
            setting("groups", sourced([50, 9])),
            "high.groups must sum to the number of arms (60), got 59",
        ),
        (
            "high",
            setting("drawn_means.low", sourced([0.7, 0.5, 0.5])),
            "drawn_means.low must be a number, or have one entry per group (2), got 3",
        ),
        (
            "high",
            setting("drawn_means.high", sourced([1, 0.5])),
            "drawn_means.low must be below high (0.5), got 0.5",
        ),
        (
            "low_released",
            setting("drawn_means.fixed", sourced([[16, 0.5]])),
            "drawn_means.fixed must name arms in 1..15, got 16",
        ),
        (
            "low_released",
            setting("drawn_means.fixed", sourced([[1, 1.5]])),
            "drawn_means.fixed must be in [0, 1] under law bernoulli, got 1.5",
        ),
        (
            "low",
            lambda block: block.pop("groups"),
            "groups: the experiment has no groups; give them there",
        ),
        (
            "high_variants",
            setting("same_instances_as", "hihg"),
            "same_instances_as: there is no experiment 'hihg'; did you mean 'high'?",
        ),
        (
            "high_variants",
            setting("same_instances_as", "low"),
            "same_instances_as: groups must be those of experiments.low",
        ),
        (
            "high",
            setting("record", ["probabilty"]),
            "got 'probabilty'; did you mean 'probability'?",
        ),
    ],
)
def test_what_is_refused(tmp_path, name, change, words):
    message = shrunk.refusal_of(tmp_path, "bf_ucb", "experiments", lambda all_: change(all_[name]))
    assert words in message


# what is simulated


def test_means_of_the_instance_reach_the_observer(config):
    spec = short(config, "bf_ucb/low/paper_02-bernoulli", record=("merit_regret",))
    spec = replace(spec, observe=(["merit_regret", {"reference": "instance"}],))
    found = simulate_chunk(spec, SEED, [0, 4])
    for place, replicate in enumerate((0, 4)):
        drawn = instance_of(spec).draw(SEED, spec.stream, replicate)
        policy = make_policy("bf_ucb", {**spec.parameters, "groups": (10, 5)}, where="test")
        options = {"seed": SEED, "stream": spec.stream, "checkpoints": [HORIZON // 2, HORIZON]}
        options["observe"] = [MeritRegret(drawn.means)]
        alone = run(policy, drawn, HORIZON, [replicate], **options)
        own = found["merit_regret"].reshape(2, 2, 15)[place]
        assert np.array_equal(own, alone.probes["merit_regret"][0])
        assert own[-1].max() > 0


@pytest.mark.parametrize("name", ["paper_04", "released_mf"])
def test_replicates_are_played_together(config, name, monkeypatch):
    """Groups are alike in all replicates; the released MF's second policy knows other means."""
    played = []

    def noting(settings, instance, horizon, replicates, **options):
        played.append(replicates)
        return simulation.play(settings, instance, horizon, replicates, **options)

    monkeypatch.setattr(simulate, "play", noting)
    spec = short(config, f"bf_ucb/high/{name}-bernoulli")
    together = simulate_chunk(spec, SEED, [4, 1, 0])
    assert played == [[4, 1, 0]]
    apart = [simulate_chunk(spec, SEED, [one]) for one in (4, 1, 0)]
    for column, values in together.items():
        assert np.array_equal(values, np.concatenate([one[column] for one in apart]))


def collected(config, tmp_path, name="low_released"):
    """Return the dataset of a short experiment with two replicates, its facts and its chunks."""
    one = config.experiment("bf_ucb", name)
    specs = {each.name: short(config, each.key) for each in one.runs}
    runs = {each: spec.to_json() for each, spec in specs.items()}
    facts = one.facts() | {"replicates": 2, "horizon": HORIZON, "runs": runs}
    files = [tmp_path / each / "0-1.parquet" for each in specs]
    for file, spec in zip(files, specs.values(), strict=True):
        write_chunk(spec, SEED, range(2), file)
    out = tmp_path / f"{name}.parquet"
    collect(files, facts, SEED, out)
    return out, facts, files


def test_fixed_means_are_guarded(config, tmp_path):
    _, facts, files = collected(config, tmp_path)

    def change(columns):  # in the range, but not what is fixed
        return columns | {"mean": np.where(columns["arm"] == 11, 0.7, columns["mean"])}

    shrunk.rewritten(files[0], change)
    with pytest.raises(StoreError, match="that means are in their range fails first"):
        collect(files, facts, SEED, tmp_path / "never.parquet")


# what the figures show


@pytest.mark.slow
def test_regret_is_that_of_the_definition(paper):
    seen = 0
    shown = [("fig1a", one) for one in paper.shown_in("fig1a")]
    shown += [("fig1b", one) for one in paper.shown_in("fig1b")]
    for figure, experiment in shown:
        columns = ["run", "round", "plays", "mean", "probability"]
        rows = figures.rows_of(figures.is_bf_ucb)
        data = Dataset(*paper.dataset(experiment.name, columns, rows))
        for run_, drawn in figures.each_run(data, figures.is_bf_ucb):
            version, quota = figures.version_of(run_.spec), figures.quota_of(run_.spec)
            counted = figures.regret_of(run_, drawn, "plays")
            between = figures.between_of(run_, drawn)
            plays, means = run_.values["plays"][0, -1], run_.values["mean"][0, 0]
            sizes = (50, 10) if figure == "fig1a" else (10, 5)
            values, start = [], 0
            for size in sizes:
                own = means[start : start + size].tolist()
                values.append(sum(mu * mu for mu in own) / sum(own))
                start += size
            owed = round(10 * quota) * small.HORIZON // 10
            best = (small.HORIZON - 2 * owed) * max(values) + owed * sum(values)
            assert counted[0, -1] == pytest.approx(best - float(plays @ means))
            served = [plays[: sizes[0]].sum(), plays[sizes[0] :].sum()]
            extra = [
                (n - owed) * (max(values) - value) for n, value in zip(served, values, strict=True)
            ]
            assert between[0, -1] == pytest.approx(sum(extra), abs=1e-9)
            assert version in figures.VERSIONS
            seen += 1
    assert seen == 12


@pytest.mark.slow
def test_tables_of_the_figures(paper):
    regret, distance, rewards, served, arms = (
        paper.table(name) for name in ("fig1a", "fig2b", "fig3a", "fig3b", "fig3c")
    )
    assert set(zip(regret["version"], regret["quota"], strict=True)) == {
        (version, quota) for version in figures.VERSIONS for quota in (0.2, 0.3, 0.4)
    }
    assert set(distance["series"]) == set(figures.GROUPS)
    assert set(distance["quota"]) == {0.4}
    assert distance["mean"].between(0, 2).all()
    ours = rewards[rewards["baseline"] == "UCB"]
    assert set(ours["series"]) == {"BF-UCB", "GEF", "MF", figures.OPTIMUM}
    others = set(rewards[rewards["baseline"] != "UCB"]["baseline"])
    assert others == {
        "UCB1, cut off at 1",
        "UCB, BF-UCB's width",
        "UCB, BF-UCB's width, random ties",
    }
    for (*_, arms_), part in served.groupby(["version", "series", "arms"]):
        assert part["mean"].sum() == pytest.approx(small.HORIZON), arms_
    assert set(served["arms"]) == {"50 and 10 arms", "30 and 10 arms"}
    assert arms.groupby(["version", "series"]).size().tolist() == [10] * 8
    rotated = arms.set_index("series")["rotated"].to_dict()
    assert rotated == {"BF-UCB": "BF-UCB", "UCB": "MF", "MF": "GEF", "GEF": "UCB"}


@pytest.mark.slow
def test_rewards_are_those_after_the_initial_rounds(paper):
    columns = ["run", "round", "plays", "mean", "initial_plays"]
    datasets = [
        Dataset(*paper.dataset(one.name, columns, figures.rows_of(figures.at_quota)))
        for one in paper.shown_in("fig3a")
    ]
    (found,) = (
        ratio
        for version, label, baseline, _, ratio in figures.ratios_to_ucb(datasets)
        if (version, label, baseline) == ("paper", "GEF", "UCB")
    )
    by_name = {run_.policy: run_ for run_, *_ in figures.each_run(datasets[0], figures.at_quota)}
    earned = [
        (by_name[name].values["plays"] - by_name[name].values["initial_plays"])[1, -1]
        @ by_name[name].values["mean"][1, 0]
        for name in ("paper_gef", "paper_ucb")
    ]
    assert found[1, -1] == pytest.approx(earned[0] / earned[1])
    first = by_name["paper_gef"].values["initial_plays"][:, -1].sum(axis=1)
    assert first.tolist() == [100] * small.REPLICATES


def test_dataset_is_read_by_rows(config, tmp_path):
    out, *_ = collected(config, tmp_path, "low")
    dataset = Dataset(*load_dataset(out, None, figures.rows_of(figures.bf_ucb_at_quota)))
    ((run_, means),) = figures.each_run(dataset, figures.bf_ucb_at_quota)
    assert figures.quota_of(run_.spec) == 0.4
    assert means.shape == (2, 15)
    assert run_.values["plays"].shape == (2, 2, 15)

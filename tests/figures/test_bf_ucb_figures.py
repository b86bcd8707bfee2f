"""BF-UCB's experiments, figures and page: drawn groups, shared instances, and their numbers."""

import copy
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pyarrow as pa
import pytest
import yaml

import real
import small
from fairbandits.data.store import StoreError, read_footer, read_table, write_table
from fairbandits.figures import bf_ucb as figures
from fairbandits.library import simulation
from fairbandits.library.simulation import run
from fairbandits.measures import groups as measures
from fairbandits.observers import MeritRegret
from fairbandits.policies import group_ucb, make_policy
from fairbandits.policies.bf_ucb import BFUCB
from fairbandits.policies.group_ucb import GroupUCB
from fairbandits.policies.initial_rounds import group_width
from fairbandits.replication import simulate
from fairbandits.replication.datasets import collect, load_dataset
from fairbandits.replication.recorded import Dataset
from fairbandits.replication.simulate import instance_of, simulate_chunk, write_chunk
from fairbandits.report import bf_ucb as page
from fairbandits.report import pages
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ROOT, ConfigError

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


def refused(tmp_path, change, name="high"):
    """Return the message for a changed configuration of this paper."""
    content = yaml.safe_load(FILE.read_text())
    content["experiments"][name] = copy.deepcopy(content["experiments"][name])
    change(content["experiments"][name])
    place = tmp_path / "papers" / "bf_ucb" / FILE.name
    place.parent.mkdir(parents=True)
    place.write_text(yaml.safe_dump(content))
    settings = {"seed": 1, "scale": "paper", "papers": ["bf_ucb"]}
    folders = dict.fromkeys(("results", "figures", "logs", "benchmarks"), "x")
    with pytest.raises(ConfigError) as error:
        build_config(settings | {"pathvars": folders}, "test", Path(tmp_path))
    return str(error.value)


def sourced(value):
    return {"value": value, "provenance": "chosen", "source": "test"}


# what is configured


def test_settings_of_the_paper(config):
    high, low = (config.experiment("bf_ucb", name) for name in ("high", "low"))
    assert (high.groups, low.groups) == ((50, 10), (10, 5))
    assert high.drawn_means == {"arms": 60, "low": [0.7, 0.5], "high": [1, 0.8]}
    assert low.drawn_means == {"arms": 15, "low": 0.6, "high": 0.85}
    for one in (high, low, config.experiment("bf_ucb", "low_released")):
        assert (one.horizon, one.replicates) == (10_000_000, 50)
    for one in config.experiments:
        for each in one.runs if one.paper == "bf_ucb" else ():
            assert each.spec.parameters["groups"] == "instance"
            version, box = (each.spec.parameters.get(name) for name in ("version", "box"))
            assert each.name.startswith("released") == (version == "released")
            if each.name.startswith(("paper", "cut")):
                assert box == ("upper" if each.name.startswith("cut") else "uncut")


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


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (
            "high",
            lambda block: block.update(groups=sourced([50, 9])),
            "high.groups must sum to the number of arms (60), got 59",
        ),
        (
            "high",
            lambda block: block["drawn_means"].update(low=sourced([0.7, 0.5, 0.5])),
            "drawn_means.low must be a number, or have one entry per group (2), got 3",
        ),
        (
            "high",
            lambda block: block["drawn_means"].update(high=sourced([1, 0.5])),
            "drawn_means.low must be below high (0.5), got 0.5",
        ),
        (
            "low_released",
            lambda block: block["drawn_means"].update(fixed=sourced([[16, 0.5]])),
            "drawn_means.fixed must name arms in 1..15, got 16",
        ),
        (
            "low_released",
            lambda block: block["drawn_means"].update(fixed=sourced([[1, 1.5]])),
            "drawn_means.fixed must be in [0, 1] under law bernoulli, got 1.5 to 1.5",
        ),
        (
            "low",
            lambda block: [block.pop("groups"), block.update(policies=block["policies"])],
            "groups: the experiment has no groups; give them there",
        ),
        (
            "high_variants",
            lambda block: block.update(same_instances_as="hihg"),
            "same_instances_as: there is no experiment 'hihg'; did you mean 'high'?",
        ),
        (
            "high_variants",
            lambda block: block.update(same_instances_as="low"),
            "same_instances_as: groups must be those of experiments.low",
        ),
        (
            "high",
            lambda block: block.update(record=["probabilty"]),
            "'probabilty' is unknown; did you mean 'probability'?",
        ),
    ],
)
def test_what_is_refused(tmp_path, name, change, words):
    message = refused(tmp_path, change, name)
    assert words in message
    assert message.startswith("papers/bf_ucb/experiments.yaml: experiments.")


# what is simulated


def test_only_chosen_columns_are_kept(config):
    spec = short(config, "bf_ucb/high/paper_04-bernoulli")
    columns = simulate_chunk(spec, SEED, range(2))
    recorded = {"probability", "share", "initial_plays", "group_deficit_sup"}
    usual = {"replicate", "round", "arm", "plays", "reward", "mean"}
    assert columns.keys() == recorded | usual
    spec = replace(spec, record=None)
    whole = simulate_chunk(spec, SEED, range(2))
    assert whole.keys() > columns.keys()
    assert all(np.array_equal(whole[name], values) for name, values in columns.items())


def test_experiments_that_share_instances_meet_the_same_ones(config):
    high, variant = (
        simulate_chunk(short(config, key), SEED, range(2))
        for key in ("bf_ucb/high/paper_ucb-bernoulli", "bf_ucb/high_variants/ucb1_capped-bernoulli")
    )
    assert np.array_equal(high["mean"], variant["mean"])
    assert not np.array_equal(high["plays"], variant["plays"])


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


@pytest.mark.parametrize(("name", "by"), [("paper_04", "run"), ("released_mf", "run_each")])
def test_replicates_are_played_together(config, name, by, monkeypatch):
    """Groups are alike in all replicates; the released MF's second policy knows other means."""
    played = []

    def noted(function):
        def noting(played_by, instance, horizon, replicates, **options):
            played.append((function, replicates))
            return getattr(simulation, function)(
                played_by, instance, horizon, replicates, **options
            )

        return noting

    for function in ("run", "run_each"):
        monkeypatch.setattr(simulate, function, noted(function))
    spec = short(config, f"bf_ucb/high/{name}-bernoulli")
    together = simulate_chunk(spec, SEED, [4, 1, 0])
    assert played == [(by, [4, 1, 0])]
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


def test_dataset_has_the_chunks_below_each_other(config, tmp_path):
    out, facts, files = collected(config, tmp_path)
    table, footer = load_dataset(out)
    assert footer["groups"] == [10, 5]
    parts = [read_table(file) for file in files]
    for name in parts[0].column_names:
        assert (
            table[name].to_pylist()
            == pa.chunked_array(
                [chunk for part in parts for chunk in part[name].chunks]
            ).to_pylist()
        )
    assert list(dict.fromkeys(table["run"].to_pylist())) == list(facts["runs"])
    some, _ = load_dataset(out, ["run", "round"], figures.rows_of(figures.at_quota, last=True))
    assert set(some["run"].to_pylist()) == {"released_04-bernoulli"}
    assert set(some["round"].to_pylist()) == {HORIZON}
    assert some.num_rows == 2 * 15


def test_fixed_means_are_guarded(config, tmp_path):
    _, facts, files = collected(config, tmp_path)
    table = read_table(files[0])
    means = table["mean"].to_numpy().copy()
    means[table["arm"].to_numpy() == 11] = 0.7  # in the range, but not what is fixed
    place = table.column_names.index("mean")
    changed = table.set_column(place, "mean", pa.array(means))
    footer = {key: value for key, value in read_footer(files[0]).items() if key != "schema"}
    write_table(files[0], changed, footer)
    out = tmp_path / "never.parquet"
    with pytest.raises(StoreError, match="that means are in their range fails first"):
        collect(files, facts, SEED, out)
    assert not out.exists()


# what the figures show


@pytest.mark.slow
def test_regret_is_that_of_the_definition(paper):
    seen = 0
    for figure in ("fig1a", "fig1b"):
        for version, quota, run_, _, counted, between in page.regrets(paper, figure):
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
    datasets = page.datasets(paper, "fig3a", ["plays", "mean", "initial_plays"])
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


# what the page says


@pytest.mark.slow
def test_port_check_of_a_short_run_compares_nothing(paper):
    rows = page.port_check(paper)
    assert len(rows) == 8 + 2 * 4
    assert all(np.isnan(row["published"]) for row in rows)
    assert all(row["sd"] > 0 for row in rows)
    assert "not to be said" in page.origin_words(paper).data
    assert "not comparable" in page.port_table(paper).data


@pytest.mark.slow
def test_port_check_at_the_published_horizon(paper, monkeypatch):
    """Ratios are to the published numbers, of each version by itself."""
    known = page.published("bf_ucb")
    monkeypatch.setattr(page, "published", lambda slug: known | {"horizon": small.HORIZON})
    rows = page.port_check(paper)
    values = {
        (row["quota"], row["what"]): row["published"]
        for row in rows
        if row["version"] == "released"
    }
    assert values[0.2, "regret as the notebook counts it"] == 101200
    assert values[0.4, "distance, group 1"] == 0.0134
    assert values[0.4, "distance, group 2"] == 0.009
    assert len(values) == 5
    for row in rows:
        row["mean"] = row["published"] * (1 if row["version"] == "released" else 0.25)
    monkeypatch.setattr(page, "port_check", lambda paper: rows)
    words = page.origin_words(paper).data.replace("\u00a0", " ")
    assert "as released, 1.00 to 1.00" in words
    assert "as printed, 0.25 to 0.25" in words
    assert "as printed but δ outside and cut at 1, 0.25 to 0.25" in words
    assert page.port_table(paper).data.count("101\u202f200") >= 1


@pytest.mark.parametrize("version", ["paper", "released"])
def test_widths_on_the_page_are_those_of_the_policies(version):
    """With the policies' own states; delta outside the logarithm is about nine times as wide."""
    state = BFUCB((3, 2), ("1/5", "1/5"), version=version).start(5, 1000)
    for count in (7, 400):
        expected = group_width(state, count, 3)
        assert page.index_width(version == "released", count, 3) == expected
    for index in ("ucb1", "paper", "released"):
        policy = GroupUCB((3, 2), version=version, index=index)
        expected = group_ucb.bonus_of(policy.start(5, 1000), 5, 900)
        assert page.ucb_width(policy, 900, 5) == pytest.approx(expected, rel=1e-15)
    outside, inside = (page.index_width(one, 4_000_000, 10) for one in (True, False))
    assert 8.5 < outside / inside < 9.5


def runs_at(monkeypatch, *runs, n_arms=5):
    """Let the page read these runs: spec, rounds and values; every mean is 0.75."""
    found = [
        SimpleNamespace(policy=f"p{k}", spec=spec, rounds=np.array(rounds), values=values)
        for k, (spec, rounds, values, _) in enumerate(runs)
    ]
    means = np.full((2, n_arms), 0.75)
    monkeypatch.setattr(page, "each_run", lambda *_: [(run, means) for run in found])
    footer = {"labels": {f"p{k}": label for k, (*_, label) in enumerate(runs)}}
    return SimpleNamespace(
        shown_in=lambda figure: [SimpleNamespace(name=figure)], dataset=lambda *_: (None, footer)
    )


def spec_of(policy, **parameters):
    return SimpleNamespace(policy=policy, groups=(3, 2), parameters=parameters)


def test_ties_are_counted_where_an_index_is_cut_off(monkeypatch):
    """A mean of 3/4 and width w are at 1 up to 16 w^2 pulls, 221 for UCB1 in round 1000."""
    pulls = np.array([[[221, 221, 222, 500, 1]], [[222, 222, 222, 222, 112]]])
    cut = spec_of("group_ucb", version="paper", cap=True)
    uncut, wide = (spec_of("group_ucb", version=one) for one in ("paper", "released"))
    paper = runs_at(
        monkeypatch,
        (uncut, [1000], {"plays": pulls}, "UCB"),
        (cut, [1000], {"plays": pulls}, "UCB1, cut off at 1"),
        (wide, [1000], {"plays": pulls}, "UCB"),
    )
    first, second, third = page.ties(paper)
    assert [one["name"] for one in (first, third)] == ["UCB as printed", "UCB as released"]
    assert np.isnan(first["tied"]).all()
    assert second["tied"].tolist() == [2.0]  # three in the one, one in the other
    assert third["tied"].tolist() == [5.0]
    share = np.mean([501 / 1165, 334 / 1000])
    np.testing.assert_allclose(second["minority"], [share])
    words = page.ties_words(paper).data
    assert "under UCB1, cut off at 1, 2.0 of 5 arms are at 1 in round 1\u202f000" in words
    assert "UCB as printed" not in words
    html = page.ties_table(paper).data
    assert html.count("nothing cut off") == 3  # three rounds of the one without
    assert f"<td>{share:.4f}</td>" in html


def test_regret_stands_beside_the_width(monkeypatch):
    served = np.array([[[100, 100, 200, 50, 50]], [[200, 100, 100, 50, 50]]])
    monkeypatch.setattr(page, "regret_of", lambda run, means: run.values["regret"])
    printed, released = (spec_of("bf_ucb", version=one) for one in ("paper", "released"))
    outside = spec_of("bf_ucb", version="paper", width="released")
    paper = runs_at(
        monkeypatch,
        (released, [500], {"plays": served, "regret": np.array([[60.0], [80.0]])}, "BF-UCB"),
        (outside, [500], {"plays": served, "regret": np.array([[20.0], [22.0]])}, "BF-UCB, wide"),
        (printed, [500], {"plays": served, "regret": np.array([[6.0], [8.0]])}, "BF-UCB"),
    )
    found = page.by_width(paper)
    assert [one["name"] for one in found] == ["as printed", "as printed but wide", "as released"]
    width = np.sqrt(2 * np.log(4 * 400 * 3 / 0.01))
    assert found[0]["width"] == pytest.approx(width)
    assert found[0]["half"] == pytest.approx(width / np.sqrt(400 / 3))
    assert found[1]["width"] == found[2]["width"] == pytest.approx(page.index_width(True, 400, 3))
    words = page.width_words(paper).data
    times = f"{found[1]['width'] / width:.1f} times as wide"
    assert f"as printed but wide, {times} and 3.0 times the regret; as released, {times}" in words
    html = page.width_table(paper).data
    assert "n = 2" in html
    assert html.count("<td>10.0</td>") == 1


@pytest.mark.slow
def test_guarantee_holds_as_stated_and_not_as_released(paper):
    words = page.deficit_words(paper).data
    counts = {
        version: re.search(rf"{text} in (\d+) of (\d+) runs", words.replace("\u00a0", " "))
        for version, text in figures.VERSIONS.items()
    }
    assert counts["paper"][1] == "0"
    assert counts["released"][1] == counts["released"][2] != "0"


@pytest.mark.slow
def test_page_shows_all_it_should(tmp_path_factory):
    made = small.executed_page(tmp_path_factory, "bf_ucb")
    notebook = nbformat.read(made, as_version=4)
    shown = "".join(
        str(output.get("data", {})) for cell in notebook.cells for output in cell.get("outputs", [])
    )
    for name in figures.FIGURES:
        assert shown.count(f'<figure class="fb-figure" id="{name}">') == 1
        assert f'id="values-{name}"' in shown
    for name in ("port-check", "deficits", "settings"):
        assert f'id="{name}"' in shown
    assert "<td>nan</td>" not in shown


def test_dataset_is_read_by_rows(config, tmp_path):
    out, *_ = collected(config, tmp_path, "low")
    dataset = Dataset(*load_dataset(out, None, figures.rows_of(figures.bf_ucb_at_quota)))
    ((run_, means),) = figures.each_run(dataset, figures.bf_ucb_at_quota)
    assert figures.quota_of(run_.spec) == 0.4
    assert means.shape == (2, 15)
    assert run_.values["plays"].shape == (2, 2, 15)

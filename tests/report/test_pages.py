"""The numbers on the pages: computed from results, compared with what was published."""

import dataclasses
import itertools
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import small
from fairbandits.data.store import read_footer, read_table, table_hash, write_table
from fairbandits.replication.datasets import load_dataset
from fairbandits.report import banditq, bf_ucb, comparison, landing, pages
from fairbandits.report.comparison import Curve, compare, observe, published
from fairbandits.settings.config import load_config
from fairbandits.settings.schemas import ROOT, ConfigError

FIGURES = [f"fig{n}" for n in range(1, 8)]


def curve(*values, law="uniform02", series="arm 1", rounds=None, peaks=None):
    """Return a curve of these replicates at rounds 10, 20, ..., or at the given ones."""
    values = np.array(values, float)
    rounds = np.arange(1, values.shape[1] + 1) * 10 if rounds is None else np.array(rounds)
    return Curve(law, series, rounds, values, peaks)


def figure(*values, horizon=40):
    """Return an entry of config/published with such values of arm 1."""
    return {"horizon": horizon, "values": [{"series": "arm 1", **one} for one in values]}


@pytest.fixture
def paper(tmp_path_factory):
    folder = small.small_results(tmp_path_factory)
    return pages.open_paper("banditq", folder / "results", folder / "figures")


# what was published


@pytest.mark.parametrize("slug", ["banditq"])
def test_published_values_are_of_figures_that_are_drawn(slug):
    known = published(slug)
    config = load_config([pages.CONFIG])
    blocks = [one for one in (*config.experiments, *config.replays) if one.paper == slug]
    figures = {name: one for one in blocks for name in one.figures}
    assert known["paper"] == slug
    assert known["figures"].keys() == figures.keys()
    for name, entry in known["figures"].items():
        assert entry["horizon"] == figures[name].horizon
        places = [(one["series"], one["quantity"], one.get("round")) for one in entry["values"]]
        assert len(set(places)) == len(places)
        for one in entry["values"]:
            assert one.keys() <= {"series", "quantity", "round", "value"}
            assert 0 < one.get("round", 1) <= entry["horizon"]


def test_published_numbers_of_banditq_are_consistent():
    """A curve is between its extremes, and the drawn targets are near those we run."""
    known = published("banditq")
    for entry in known["figures"].values():
        for one, other in itertools.permutations(entry["values"], 2):
            if one["series"] == other["series"] and one["quantity"] == "maximum":
                assert other["value"] <= one["value"]
            if one["series"] == other["series"] and one["quantity"] == "minimum":
                assert other["value"] >= one["value"]
    config = load_config([pages.CONFIG]).experiment("banditq", "full_information")
    drawn = list(known["drawn_targets"]["value"].values())
    np.testing.assert_allclose(drawn, config.targets[:2], atol=1e-5)


# comparison


@pytest.mark.parametrize(
    ("quantity", "at", "expected"),
    [
        ("value", 40, [2, 8]),
        ("value", 25, [4.5, 4]),
        ("maximum", 0, [5, 10]),
        ("minimum", 0, [1, -2]),
        ("late maximum", 0, [5, 10]),
        ("late minimum", 0, [2, -2]),
        ("late mean", 0, [(4.5 + 3) / 2, (4 + 9) / 2]),  # rounds 20, 30 and 40
    ],
)
def test_observed_quantities(quantity, at, expected):
    found = observe(curve([1, 5, 4, 2], [3, -2, 10, 8]), quantity, at)
    np.testing.assert_allclose(found, expected)


def test_late_mean_minds_the_distance_of_rounds():
    found = observe(curve([0, 0, 1, 1], rounds=[1, 20, 21, 40]), "late mean", 0)
    np.testing.assert_allclose(found, [(0.5 * 1 + 1 * 19) / 20])


def test_recorded_peaks_are_the_maximum_where_there_are_any():
    one = curve([1, 5, 4, 2], peaks=np.array([7.0]))
    assert observe(one, "maximum", 0) == [7]
    assert observe(one, "late maximum", 0) == [5]


def test_unknown_quantity():
    for name in ("mean", "late value", "median"):
        with pytest.raises(ValueError, match=f"no quantity '{name}'"):
            observe(curve([1, 2]), name, 0)


def test_published_number_stands_beside_the_range_of_runs():
    values = np.linspace(0, 100, 101)[:, None] * [1, 1, 1, 1]
    one = figure({"quantity": "value", "round": 40, "value": 99.5})
    (row,) = compare([curve(*values)], one).to_dict("records")
    assert (row["run_low"], row["run_high"]) == pytest.approx((2.5, 97.5))
    assert row["published"] == 99.5
    html = comparison.comparison_table(compare([curve(*values)], one), 1, "t").data
    assert "2.5 to 97.5" in html
    assert ">99.5<" in html


@pytest.mark.parametrize("name", [f"fig{k}" for k in range(1, 8)])
def test_a_claim_judges_the_published_curves(name):
    html = comparison.judged_by("banditq", name).data
    (claim,) = set(re.findall(r'data-page="claims/([\w-]+)"', html))
    assert claim in (ROOT / "papers" / "banditq" / "claims.yaml").read_text()


def test_questions_lead_to_the_claims_that_answer_them():
    one = comparison.judged("Whether 1 < 2", "a-b").data
    link = '<a data-page="claims/a-b" href="../results/site/claims/a-b.html">a-b</a>'
    assert one == f"<p>Whether 1 &lt; 2 is judged as claim {link}.</p>"
    two = comparison.judged("Who wins", "a", "b").data
    assert "Who wins is judged as claims <a " in two
    assert "</a> and <a " in two


def test_other_horizons_are_not_compared():
    read = [{"quantity": "value", "round": 20, "value": 5}, {"quantity": "maximum", "value": 9}]
    one = figure(*read, horizon=50)
    found = compare([curve([1, 2, 3, 4], [2, 3, 4, 5])], one)
    assert found["published"].isna().all()
    assert list(found["quantity"]) == ["value", "maximum"]
    assert list(found["round"]) == [40, 40]


def test_last_round_is_always_there():
    found = compare([curve([1, 2, 3, 4], [2, 3, 4, 6], series="regret")], figure())
    assert list(found["quantity"]) == ["value"]
    assert list(found["mean"]) == [5]
    assert found["published"].isna().all()


# from results


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_tables_agree_with_the_drawn_curves(paper, name):
    drawn = paper.table(name).groupby(["law", "series"]).last()
    found = compare(banditq.curves(paper, name), published("banditq")["figures"][name])
    last = found[found["quantity"] == "value"].set_index(["law", "series"])
    assert set(last.index) <= set(drawn.index)
    assert len(last) >= 2
    for column in ("mean", "mean_low", "mean_high", "run_low", "run_high", "n_replicates"):
        np.testing.assert_allclose(last[column], drawn.loc[last.index, column])


@pytest.mark.slow
def test_shortfalls_by_hand(paper):
    table, footer = load_dataset(paper.results / "banditq" / "oracle_lfg.parquet")
    frame = table.to_pandas()
    frame = frame[frame["round"] == small.HORIZON]
    for row in banditq.shortfalls(paper, "oracle_lfg").itertuples():
        policy = {label: key for key, label in footer["labels"].items()}[row.policy]
        chosen = frame[(frame["run"] == f"{policy}-{row.law}") & (frame["arm"] == row.arm)]
        rates = chosen["reward"].to_numpy() / small.HORIZON
        assert rates.size == row.n == small.REPLICATES
        assert row.rate == pytest.approx(rates.mean())
        assert row.short == pytest.approx(100 * (row.target - rates.mean()) / row.target)
        assert row.below == sum(rate < row.target for rate in rates)
        assert row.short_low <= row.short <= row.short_high


@pytest.mark.slow
def test_words_follow_the_numbers(paper):
    short = banditq.shortfalls(paper, "full_information")
    words = banditq.target_words(paper, "fig1").data.replace("\u00a0", " ")
    for row in short.itertuples():
        side = "below" if row.short > 0 else "above"
        assert f"arm {row.arm} ends {pages.number(abs(row.short), 2)} % {side} its target" in words
    lead = banditq.lead_words(paper).data
    curves = {(one.law, one.series): one.values[:, -1] for one in banditq.curves(paper, "fig7")}
    ahead = curves["bernoulli", "BanditQ"] - curves["bernoulli", "oracle LFG"]
    assert pages.number(abs(ahead.mean())) in lead
    assert f"higher in {(ahead > 0).sum()} of 3 replicates" in lead


@pytest.mark.slow
def test_replay_is_compared_where_it_has_all_rounds(paper, tmp_path):
    assert banditq.compare_replay(paper).empty
    assert "Not compared" in banditq.replay_words(paper, banditq.compare_replay(paper)).data

    horizon, known = 2_000_000, published("banditq")["figures"]
    read = [one for one in known["fig5"]["values"] if one["quantity"] == "value"]
    last = {one["series"]: one["value"] for one in read}
    rounds = np.array([horizon // 2, horizon])
    columns = {"round": rounds, "regret": [-1e4, 5.0]}
    for k in (1, 2):
        columns |= {f"queue_{k}": [8e3, last[f"arm {k}"] + 0.5], f"rate_{k}": [0.1, 0.5]}
    complete = pages.Paper("banditq", tmp_path, paper.figures, paper.experiments, paper.footers)
    write_table(tmp_path / "banditq" / "replay_5_bandit.parquet", pa.table(columns), {})
    compared = banditq.compare_replay(complete)
    words = banditq.replay_words(complete, compared).data
    assert "Figure 5's last round and the replay's are 0.5 and 0.5 apart, no more than" in words
    assert words.count("it shows another run") == 2
    html = banditq.replay_table(complete, compared).data
    assert "8\u202f000.0 (round 1\u202f000\u202f000)" in html


@pytest.mark.slow
def test_a_thousand_arms_are_compared_where_the_replays_have_all_rounds(paper, tmp_path):
    assert banditq.compare_thousand(paper).empty
    assert "Not compared" in banditq.thousand_words(paper, banditq.compare_thousand(paper)).data
    assert "Smoke scale" in pages.replay_figure(paper, "fig8", "Rates").data

    for one in paper.replays:
        table, footer = (f(paper.results / one.table) for f in (read_table, read_footer))
        columns = {name: table[name].to_numpy()[-2:] for name in table.column_names}
        columns["round"] = np.array([one.horizon // 2, one.horizon])
        columns["rate_1"] = np.full(2, 0.9 * footer["targets"][0])
        columns["regret"] = np.array([-12.0, 30.0])
        table = pa.table(columns)
        write_table(tmp_path / one.table, table, footer | {"content": table_hash(table)})
        for name in one.figures:
            known = {
                row["series"]: row["value"]
                for row in published("banditq")["figures"][name]["values"]
                if row["round"] == one.horizon
            }
            off = 1.0 if name == "fig12" else 0.0
            frame = pd.concat(
                pd.DataFrame(
                    {
                        "series": series,
                        "round": columns["round"],
                        "value": [0.0, value + off],
                        "published": [np.nan, value],
                    }
                )
                for series, value in known.items()
            )
            file = tmp_path / "banditq" / f"{name}.parquet"
            write_table(file, pa.Table.from_pandas(frame, preserve_index=False), {})
    full = dataclasses.replace(paper, results=tmp_path)
    compared = banditq.compare_thousand(full)
    assert len(compared) == 10
    assert set(compared["points"]) == {1}
    off = compared.set_index("figure")["off_end"]
    assert off.drop("fig12").max() == 0
    np.testing.assert_allclose(off["fig12"], 1)
    words = banditq.thousand_words(full, compared).data.replace("\u00a0", " ")
    assert (
        "In Figures 8, 9, 10, 11 and 13 that is no more than can be misread, 0.1 millionths"
        in words
    )
    assert "In Figure 12 they are 2.6e+02 millionths apart, more than" in words
    assert "3\u202f918.9043" in banditq.thousand_table(full, compared).data
    for name in ("replay_1000_full", "replay_1000_bandit"):
        words = banditq.thousand_ends(full, name).data.replace("\u00a0", " ")
        assert "Arm 1 ends 10.00 % below its target of 0.2717" in words
        assert "the regret is lowest in 1\u202f500\u202f000, −12, and ends at 30" in words
    assert "Smoke scale" not in pages.replay_figure(full, "fig8", "Rates").data.partition("<img")[2]


# from configuration


@pytest.mark.slow
def test_settings_have_every_configured_number_and_its_source(paper):
    shown = pages.settings(paper)
    known = {"stated", "derived", "released code", "reconstructed", "chosen"}
    assert set(shown["provenance"]) <= known
    assert (shown != "").all(axis=None)
    for block in paper.content["experiments"].values():
        for policy in block["policies"].values():
            for key, entry in policy["parameters"].items():
                rows = shown[shown["setting"] == f"{policy['label']}: {key}"]
                assert entry["source"].strip() in set(rows["source"])
    rounds = shown[shown["setting"] == "rounds T"]
    assert list(rounds["figures"]) == ["1–6", "7", "8–13"]
    values = ["2\u202f000\u202f000", "300\u202f000", "3\u202f000\u202f000"]
    assert list(rounds["value"]) == values


@pytest.mark.slow
def test_a_card_leads_to_its_paper_and_shows_a_figure_that_is_drawn(paper, monkeypatch):
    markup = landing.cards([paper], None).data
    assert markup.count("<img") == markup.count('data-page="banditq"') == 1
    assert 'data-figure="banditq/fig1.svg"' in markup
    monkeypatch.setattr(landing, "read_yaml", lambda file: {"card": {"figure": "fig99"}})
    with pytest.raises(ConfigError, match=r"glossary\.yaml: card: no figure 'fig99'"):
        landing.cards([paper], None)


@pytest.mark.slow
def test_versions_come_from_footers(paper):
    footer = read_footer(paper.results / "banditq" / "oracle_lfg.parquet")
    shown = pages.versions([paper]).data
    for fact in (footer["seed"], footer["packages"]["numpy"]):
        assert f"<td>{fact}</td>" in shown
    assert footer["code"] in shown  # each experiment has its own
    assert footer["commit"] not in shown


@pytest.mark.slow
def test_published_scale_has_no_banner(paper):
    assert "smoke scale: not results" in pages.banner([paper]).data
    footers = {
        one.name: paper.footers[one.name] | {"horizon": one.horizon, "replicates": one.replicates}
        for one in paper.experiments
    }
    full = pages.Paper("banditq", paper.results, paper.figures, paper.experiments, footers)
    assert pages.banner([full]) is None
    assert "Smoke scale" in pages.figure(paper, "fig1", "Rates").data
    assert "Smoke scale" not in pages.figure(full, "fig1", "Rates").data
    more = {
        name: footer | {"horizon": 10 * footer["horizon"], "scale": "large"}
        for name, footer in footers.items()
    }
    large = dataclasses.replace(full, footers=more)
    assert "large scale: larger than published" in pages.banner([large]).data
    assert "not results" not in pages.banner([large]).data
    assert "Large scale: larger than published." in pages.figure(large, "fig1", "Rates").data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"code": "0" * 16}, "is stale"),
        ({"means": [0.5] * 5}, "its means is"),
        ({"runs": {}}, "was run with other settings than papers/banditq/experiments.yaml has"),
    ],
)
def test_results_of_something_else_are_refused(paper, tmp_path, change, says):
    (tmp_path / "results").mkdir()
    for file in (paper.results / "banditq").iterdir():
        (tmp_path / "results" / "banditq").mkdir(exist_ok=True)
        (tmp_path / "results" / "banditq" / file.name).symlink_to(file)
    changed = tmp_path / "results" / "banditq" / "oracle_lfg.parquet"
    table, footer = load_dataset(changed)
    changed.unlink()
    write_table(changed, table, footer | change)
    with pytest.raises(pages.NotReady, match=says) as caught:
        pages.open_paper("banditq", tmp_path / "results", paper.figures)
    assert "make replicate" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["seed", "code"])
def test_figures_of_another_dataset_are_refused(paper, tmp_path, key):
    folder = tmp_path / "results" / "banditq"
    folder.mkdir(parents=True)
    for file in (paper.results / "banditq").iterdir():
        (folder / file.name).symlink_to(file)
    table, footer = (f(folder / "fig7.parquet") for f in (read_table, read_footer))
    footer["datasets"][0][key] = "another"
    (folder / "fig7.parquet").unlink()
    write_table(folder / "fig7.parquet", table, footer)
    says = f"fig7.parquet is stale: oracle_lfg had {key} another when it was drawn, now "
    with pytest.raises(pages.NotReady, match=says):
        pages.open_paper("banditq", tmp_path / "results", paper.figures)


# for reading


@pytest.mark.parametrize(
    ("value", "digits", "words"),
    [
        (0, 0, "0"),
        (-0.4, 0, "0"),
        (-13982.4, 0, "−13\u202f982"),
        (1234567.891, 2, "1\u202f234\u202f567.89"),
        (0.16651, 5, "0.16651"),
    ],
)
def test_numbers(value, digits, words):
    assert pages.number(value, digits) == words


def test_lists():
    assert pages.listed(["a"]) == "a"
    assert pages.listed(["a", "b"]) == "a and b"
    assert pages.listed(["a", "b", "c"]) == "a, b and c"


def test_files_are_shown_without_what_lies_above(tmp_path):
    file = tmp_path / "results" / "banditq" / "fig1.parquet"
    assert pages.shown(file) == "results/banditq/fig1.parquet"
    inside = pages.ROOT / "results" / "smoke" / "banditq" / "fig1.parquet"
    assert pages.shown(inside) == "results/smoke/banditq/fig1.parquet"


def test_titles_and_labels_are_text_in_the_table_of_deficits(monkeypatch):
    run = SimpleNamespace(
        policy="one", values={"group_deficit_sup": np.zeros((2, 1, 2))}, spec=None
    )
    monkeypatch.setattr(bf_ucb, "each_run", lambda *_: [(run, None)])
    monkeypatch.setattr(bf_ucb, "quota_of", lambda _: 0.5)
    monkeypatch.setattr(bf_ucb, "version_of", lambda _: next(iter(bf_ucb.SHORT)))
    footer = {"replicates": 2, "labels": {"one": "<script>label</script>"}}
    page = SimpleNamespace(
        experiments=[SimpleNamespace(name="e", title="<script>title</script>")],
        content={"experiments": {"e": {"record": ["group_deficit_sup"]}}},
        dataset=lambda *_: (None, footer),
    )
    html = bf_ucb.deficit_table(page).data
    assert "<script>" not in html
    assert "&lt;script&gt;title" in html
    assert "&lt;script&gt;label" in html

"""The arena at a small scale: its configuration, its tables and what they must agree with."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

import fairbandits as fb
import shrunk
import small
from fairbandits.arena import decisions, standings, which
from fairbandits.arena.roles import TOLD, load_arena
from fairbandits.arena.settings import TABLES, arena_config
from fairbandits.data.store import StoreError, read_table
from fairbandits.policies import make_policy
from fairbandits.replication.simulate import instance_of
from fairbandits.report import arena as page
from fairbandits.settings.schemas import ROOT, ConfigError, read_yaml
from fairbandits.settings.spec import filled, of_instance

FULL = arena_config(read_yaml(ROOT / "config" / "config.yaml"), "config/config.yaml")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = small.small_arena(tmp_path_factory) / "arena"
    return {name: read_table(folder / f"{name}.parquet").to_pandas() for name in TABLES}


def test_there_are_a_dozen_instances_each_with_a_reason():
    arena = load_arena(FULL)
    assert len(arena.reasons) >= 12
    assert all(len(reason) > 30 for reason in arena.reasons.values())
    runs = {(experiment.horizon, experiment.replicates) for experiment in FULL.experiments}
    assert runs == {(1_000, 32), (10_000, 32), (100_000, 32), (1_000_000, 16)}


def test_targets_are_quotas_times_means_everywhere():
    """So that one run serves both contracts of arms."""
    asked = 0
    for run in FULL.runs:
        if any(keys[-1] == "targets" for keys in of_instance(run.spec.parameters)):
            shares = standings.shares_of(run.spec.target_shares, [1.0] * run.spec.n_arms)
            assert shares == standings.shares_of(run.spec.quotas, [1.0] * run.spec.n_arms)
            asked += 1
    assert asked > 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["policies"]["ucb1"].pop("minimum_pulls"), "needs the key minimum_pulls"),
        (lambda c: c["policies"]["ucb1"].update(minimum_pulls="controls"), "you mean 'control'"),
        (lambda c: c["policies"].update(ucb2={}), "no suite runs 'ucb2'; did you mean"),
        (lambda c: c["policies"]["gef"].update(minimum_pulls="own"), "does not run it; say none"),
        (lambda c: c["contracts"]["group_merit"].update(suites=["a"]), "suites: 'a' is unknown"),
        (lambda c: c["contracts"].update(minimum_pull={}), "minimum_pull"),
    ],
)
def test_what_does_not_fit_the_suites_is_said(change, message, tmp_path):
    folder = tmp_path / "papers" / "arena"
    folder.mkdir(parents=True)
    for name in ("arena", "experiments"):
        content = read_yaml(ROOT / "papers" / "arena" / f"{name}.yaml")
        if name == "arena":
            change(content)
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=message):
        load_arena(FULL, tmp_path)


def test_standings_have_every_policy_that_applies(tables):
    arena = load_arena(FULL)
    rows = tables["standings"]
    for terms in arena.terms:
        for experiment in arena.instances(terms.name):
            labels, name = experiment.labels, experiment.instance
            shown = rows[(rows["contract"] == terms.name) & (rows["instance"] == name)]
            applies = {labels[key] for key in labels if terms.roles[key].translation}
            assert set(shown["label"]) == applies
            assert shown.groupby("label")["usual"].sum().eq(1).all()
    assert rows["price"].ge(-1e-12).all()
    assert (rows["shortfall"] >= 0).all()
    assert (rows["worst_shortfall"] >= rows["shortfall"] - 1e-9).all()
    assert rows["kept"].any()
    assert not rows["kept"].all()
    assert (rows["kept_always"] <= rows["kept"]).all()


def test_who_knows_all_has_no_regret(tables):
    """The static optimum, in closed form: whole pulls are all that it can lose."""
    rows = tables["standings"]
    oracle = rows[(rows["policy"] == "prophet") & (rows["contract"] == "minimum_pulls")]
    assert len(oracle) == 10
    arms = {block.instance: block.runs[0].spec.n_arms for block in FULL.experiments}
    assert (oracle["contract_regret"].abs() <= oracle["instance"].map(arms)).all()
    assert (oracle["shortfall"] <= 1).all()


def score(name, regret, shortfall, kind="own", worst=None, horizon=10_000, setting=""):
    values = {"contract_regret": regret, "shortfall": shortfall}
    values["worst_shortfall"] = worst or shortfall
    values = {key: np.array(numbers, float) for key, numbers in values.items()}
    translation = "known_quotas" if kind == "oracle" else "own"
    return standings.Score(name, name, setting, True, kind, translation, horizon, values)


def test_who_dominates_whom():
    told = {
        "good": ([10, 11, 12], [0, 0, 0], "own"),
        "dear": ([20, 21, 23], [0, 0, 0], "own"),
        "unfair": ([1, 2, 1], [50, 51, 52], "own"),
        "worse": ([12, 13, 15], [60, 61, 62], "own"),
        "unsure": ([8, 14, 11], [0, 0, 0], "own"),
        "knowing": ([0, 1, 0], [0, 0, 0], "oracle"),
        "told": ([0, 1, 0], [0, 0, 0], TOLD),
    }
    judged = standings.standings([score(name, *scores) for name, scores in told.items()])
    by = dict(zip(judged["label"], judged["dominated_by"], strict=True))
    assert by == dict.fromkeys(told, "") | {"dear": "good", "worse": "unfair"}


def test_missing_datasets_are_named(tmp_path):
    config = arena_config(shrunk.settings([], 1, tmp_path), "test")
    with pytest.raises(StoreError, match=r"fair_ucb_1.parquet does not exist"):
        standings.write(config, tmp_path / "arena", tmp_path / "arena.csv")


def test_who_plays_by_the_horizon_in_the_arena_does_so_with_other_ones():
    """And who does not is the same in the first rounds, however many are to come."""
    arena = load_arena(FULL)
    differs = {}
    for contract, index, horizon in (("minimum_pulls", 1, 400), ("group_exposure", 2, 4_000)):
        labels = arena.instances(contract)[index].labels
        for run in arena.instances(contract)[index].runs:
            name = run.name.removesuffix(f"-{run.spec.law}")
            parameters = run.spec.parameters_of(run.spec.cells[0])
            means = run.spec.means
            given = {"quotas": run.spec.quotas, "fractions": run.spec.quotas, "means": means}
            given |= {"targets": tuple(standings.shares_of(run.spec.quotas, means))}
            given |= {"groups": run.spec.groups}
            policy = make_policy(run.spec.policy, filled(parameters, given))
            arms = instance_of(run.spec)
            short = fb.run(policy, arms, horizon, 2, checkpoints=[horizon])
            long = fb.run(policy, arms, 3 * horizon, 2, checkpoints=[horizon])
            label = labels[name]
            differs[label] = differs.get(label, False) or (short.plays != long.plays).any()
    rows = which.committed(FULL)
    told = rows[rows["told"]]["label"].unique()
    assert {label for label, other in differs.items() if other} == {*told}


KEPT, BROKEN = [0, 0, 0], [20, 21, 22]


@pytest.fixture
def small_standings():
    """Return standings of two instances with a policy for each demand."""
    parts = []
    for instance, lacks in (("one", KEPT), ("two", BROKEN)):
        rows = standings.standings(
            [
                score("always", [10, 11, 12], KEPT),
                score("later", [5, 6, 7], KEPT, worst=BROKEN),
                score("told", [1, 2, 3], KEPT, worst=BROKEN),
                score("sometimes", [4, 5, 6], lacks),
                score("unfair", [-9, -8, -9], BROKEN, kind="control"),
                score("knowing", [0, 1, 0], KEPT, kind="oracle"),
            ]
        )
        rows = rows.assign(instance=instance, contract="minimum_pulls")
        parts.append(rows.assign(told=rows["label"] == "told"))
    return pd.concat(parts, ignore_index=True)


def chosen(rows):
    return {
        (use.kept, use.known, use.unknown): (use.name, sum(use.counts.values()), use.least)
        for use in decisions.choices(rows)
    }


def test_the_policy_to_use_is_the_cheapest_that_keeps_the_contract(small_standings):
    assert chosen(small_standings) == {
        ("kept", False, True): ("later", 2, 0),
        ("kept", True, False): ("told", 2, 2),
        ("kept_always", True, True): ("always", 2, 1),
    }
    anytime = small_standings.assign(told=False)
    assert chosen(anytime)["kept", True, True][0] == "told"
    without = small_standings[small_standings["label"] != "always"]  # then the nearest is named
    assert chosen(without)["kept_always", True, True] == ("sometimes", 1, 1)


HORIZONS = (1_000, 10_000, 100_000, 1_000_000)


def over_horizons(**policies):
    """Return standings of one instance; policies have a regret and, by horizon, shortfalls."""
    parts = []
    for k, horizon in enumerate(HORIZONS):
        scores = []
        for name, (regret, *lacks) in policies.items():
            label, _, setting = name.partition("_")
            lack = lacks[k % len(lacks)]
            values = [regret, regret + 1, regret + 2], [lack] * 3
            scores.append(score(label, *values, horizon=horizon, setting=setting))
        told = [name.startswith("told") for name in policies]
        parts.append(standings.standings(scores).assign(told=told))
    return pd.concat(parts, ignore_index=True).assign(instance="one", contract="minimum_pulls")


def test_a_constant_shortfall_keeps_the_contract_in_long_runs_alone():
    """At most a thousandth of the rounds may be missing, so 24 pulls are too many in short ones."""
    rows = over_horizons(dear=(90, 0), lagging=(10, 24))
    assert rows[rows["label"] == "lagging"]["kept"].tolist() == [False, False, True, True]
    always, short, long = (choice for choice in decisions.choices(rows) if choice.kept == "kept")
    assert (always.name, always.unknown, always.needs_horizon) == ("dear", True, False)
    assert (short.name, short.horizons) == ("dear", HORIZONS[:2])
    assert (long.name, long.horizons, long.least) == ("lagging", HORIZONS[2:], 2)
    assert long.needs_horizon
    assert decisions.kept_for(long) == (
        "100\u202f000, 1\u202f000\u202f000",
        "on 0 of 1 instances for T = 1\u202f000, 10\u202f000",
    )
    assert decisions.kept_for(always) == (
        "all: 1\u202f000, 10\u202f000, 100\u202f000, 1\u202f000\u202f000",
        "",
    )


def test_who_needs_the_horizon_follows_from_the_runs():
    """By playing otherwise, or since no single setting does for all horizons."""
    rows = over_horizons(
        **{"tuned_low": (10, 0, 0, 2_000, 2_000), "tuned_high": (9, 20, 20, 0, 0)},
        **{"settled_low": (50, 0), "settled_high": (5, 2_000)},
        **{"told": (1, 0), "broken": (1, 2_000)},
    )
    reasons = {"told": "it plays by T", "tuned": "for its setting"}
    assert decisions.needs_horizon(rows, "kept") == reasons
    choices = decisions.choices(rows[rows["label"] != "told"])
    kept = [use for use in choices if use.kept == "kept"]
    unknown, *known = ((use.name, use.horizons, use.needs_horizon) for use in kept)
    assert unknown == ("settled, low", HORIZONS, False)
    assert known == [("tuned, low", HORIZONS[:2], True), ("tuned, high", HORIZONS[2:], True)]


def test_a_longer_run_shows_whether_a_policy_plays_by_the_horizon():
    plays = np.arange(12).reshape(2, 3, 2)
    short = standings.Pulls(np.array([1, 5, 10]), plays)
    longer = np.concatenate([plays[:1, 1:], plays[:1, -1:] + 3], axis=1)  # fewer replicates
    long = standings.Pulls(np.array([5, 10, 100]), longer)
    assert not standings.plays_otherwise([short, long])
    longer[0, 1] += 1  # in round 10
    assert standings.plays_otherwise([short, long])
    assert not standings.plays_otherwise([short])


def test_the_summary_counts_what_the_standings_say(small_standings):
    summary = decisions.summary(small_standings).set_index("name")
    assert "knowing" not in summary.index
    assert summary[["kept", "kept_always", "least"]].to_dict("index") == {
        "always": {"kept": 2, "kept_always": 2, "least": 0},
        "later": {"kept": 2, "kept_always": 0, "least": 0},
        "told": {"kept": 2, "kept_always": 0, "least": 2},
        "sometimes": {"kept": 1, "kept_always": 1, "least": 0},
        "unfair": {"kept": 0, "kept_always": 0, "least": 0},
    }
    assert summary.loc["unfair", ["pareto", "breaking"]].tolist() == [2, 2]
    assert summary.loc["later", "by"] == {"told": 2}
    assert summary.loc["told", "contract_regret"] == pytest.approx(0.2)
    assert summary.loc["sometimes", "shortfall"] == pytest.approx(21 / 20)


def test_who_breaks_the_contract_is_not_called_pareto_optimal_without_saying_so(small_standings):
    said = {row.label: decisions.pareto(row) for row in small_standings.itertuples()}
    assert said["told"] == "yes"
    assert said["unfair"] == "yes, but only by breaking the contract"
    assert said["later"] == "no: told dominates it"


def test_page_says_how_to_make_what_is_missing(tmp_path):
    with pytest.raises(page.NotReady, match="fairbandits replicate arena"):
        page.open_arena(tmp_path)


def test_banditq_is_counted_beside_each_policy_by_hand(small_standings):
    rows = small_standings.replace({"label": "always"}, page.BANDITQ)
    regret, shortfall = "contract_regret", "shortfall"
    pairs = [
        (page.BANDITQ, "later", regret, -3, -1, "one"),  # surely less
        (page.BANDITQ, "later", shortfall, 1, 2, "one"),
        ("told", page.BANDITQ, regret, -2, -1, "one"),  # BanditQ has surely more
        ("told", page.BANDITQ, regret, -2, 1, "two"),  # open
        ("told", page.BANDITQ, shortfall, 1, 2, "two"),
        (page.BANDITQ, "knowing", regret, -2, -1, "one"),  # an oracle has no row
        ("later", "told", regret, -2, -1, "two"),  # BanditQ is neither
        ("later", "told", regret, -2, -1, "three"),
    ]
    columns = ["policy", "other", "measure", "low", "high", "instance"]
    tables = {"standings": rows, "pairs": pd.DataFrame(pairs, columns=columns)}
    where = {"contract": page.REWARDS, "horizon": 10_000}
    tables = {name: table.assign(**where) for name, table in tables.items()}
    shown = page.banditq(page.Shown(load_arena(FULL), tables, "", ROOT))
    counted = re.findall(r'<th scope="row">(\w+)</th>((?:<td>\d+</td>)+)', shown)
    assert {name: re.findall(r"\d+", counts) for name, counts in counted} == {
        "later": ["1", "1", "0", "0", "1"],
        "told": ["2", "0", "1", "1", "0"],
    }

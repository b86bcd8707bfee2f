"""The arena at a small scale: its configuration, its tables and what they must agree with."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml

import fairbandits as fb
import shrunk
import small
from fairbandits.arena import decisions, standings
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
def results(tmp_path_factory):
    """Return a folder of results with the arena in it."""
    return small.small_arena(tmp_path_factory)


@pytest.fixture(scope="module")
def tables(results):
    """Return the tables."""
    return {name: read_table(results / "arena" / f"{name}.parquet").to_pandas() for name in TABLES}


def test_there_are_a_dozen_instances_each_with_a_reason():
    arena = load_arena(FULL)
    assert len(arena.reasons) >= 12
    assert all(len(reason) > 30 for reason in arena.reasons.values())
    assert {(one.horizon, one.replicates) for one in FULL.experiments} == {(100_000, 100)}


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
    ("change", "words"),
    [
        (lambda c: c["policies"]["ucb1"].pop("minimum_pulls"), "needs the key minimum_pulls"),
        (
            lambda c: c["policies"]["ucb1"].update(minimum_pulls="controls"),
            "did you mean 'control'",
        ),
        (lambda c: c["policies"].update(ucb2={}), "no suite runs 'ucb2'; did you mean"),
        (lambda c: c["policies"]["gef"].update(minimum_pulls="own"), "does not run it; say none"),
        (lambda c: c["contracts"]["group_merit"].update(suite="group"), "did you mean 'groups'"),
        (lambda c: c["contracts"].update(minimum_pull={}), "minimum_pull"),
        (lambda c: c["needs_horizon"].update(bf_ucv="δ"), "no suite runs 'bf_ucv'; did you mean"),
    ],
)
def test_what_does_not_fit_the_suites_is_said(change, words, tmp_path):
    folder = tmp_path / "papers" / "arena"
    folder.mkdir(parents=True)
    for name in ("arena", "experiments"):
        content = read_yaml(ROOT / "papers" / "arena" / f"{name}.yaml")
        if name == "arena":
            change(content)
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=words):
        load_arena(FULL, tmp_path)


def test_standings_have_every_policy_that_applies(tables):
    arena = load_arena(FULL)
    rows = tables["standings"]
    for terms in arena.terms:
        for one in arena.instances(terms.name):
            own = rows[(rows["contract"] == terms.name) & (rows["instance"] == one.instance)]
            applies = {one.labels[key] for key in one.labels if terms.roles[key].translation}
            assert set(own["label"]) == applies
            assert own.groupby("label")["usual"].sum().eq(1).all()
    assert rows["price"].ge(-1e-12).all()
    assert (rows["shortfall"] >= 0).all()
    assert (rows["worst_shortfall"] >= rows["shortfall"] - 1e-9).all()
    assert rows["kept"].any()
    assert not rows["kept"].all()
    assert (rows["kept_always"] <= rows["kept"]).all()


def test_who_knows_all_has_no_regret(tables):
    """The static optimum, in closed form: whole pulls are all that it can lose."""
    rows = tables["standings"]
    own = rows[(rows["policy"] == "prophet") & (rows["contract"] == "minimum_pulls")]
    assert len(own) == 10
    n_arms = own["instance"].map(
        {one.instance: one.runs[0].spec.n_arms for one in FULL.experiments}
    )
    assert (own["contract_regret"].abs() <= n_arms).all()
    assert (own["shortfall"] <= 1).all()


def score(name, regret, shortfall, kind="own", worst=None):
    values = {"contract_regret": regret, "shortfall": shortfall}
    values["worst_shortfall"] = worst or shortfall
    values = {key: np.array(one, float) for key, one in values.items()}
    translation = "known_quotas" if kind == "oracle" else "own"
    return standings.Score(name, name, "", True, kind, translation, 10_000, values)


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
    found = standings.standings([score(name, *one) for name, one in told.items()])
    by = dict(zip(found["label"], found["dominated_by"], strict=True))
    assert by == dict.fromkeys(told, "") | {"dear": "good", "worse": "unfair"}


def test_missing_datasets_are_named(tmp_path):
    config = arena_config(shrunk.settings([], 1, tmp_path), "test")
    with pytest.raises(StoreError, match=r"fair_ucb_1.parquet does not exist"):
        standings.write(config, tmp_path / "arena")


def test_who_needs_the_horizon_plays_otherwise_with_another_one():
    """And who does not is the same in the first rounds, however many are to come."""
    arena = load_arena(FULL)
    found = {}
    for contract, place, horizon in (("minimum_pulls", 1, 400), ("group_exposure", 2, 4_000)):
        for run in arena.instances(contract)[place].runs:
            name = run.name.removesuffix(f"-{run.spec.law}")
            parameters = run.spec.parameters_of(run.spec.cells[0])
            means = run.spec.means
            given = {"quotas": run.spec.quotas, "fractions": run.spec.quotas, "means": means}
            given |= {"targets": tuple(standings.shares_of(run.spec.quotas, means))}
            given |= {"groups": run.spec.groups}
            policy = make_policy(run.spec.policy, filled(parameters, given))
            arms = instance_of(run.spec)
            short, long = (
                fb.run(policy, arms, rounds, 2, checkpoints=[horizon])
                for rounds in (horizon, 3 * horizon)
            )
            found[name] = found.get(name, False) or (short.plays != long.plays).any()
    assert {name for name, other in found.items() if other} == set(arena.needs_horizon)


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
                score("tuned", [1, 2, 3], KEPT, worst=BROKEN),
                score("sometimes", [4, 5, 6], lacks),
                score("unfair", [-9, -8, -9], BROKEN, kind="control"),
                score("knowing", [0, 1, 0], KEPT, kind="oracle"),
            ]
        )
        parts.append(rows.assign(instance=instance, contract="minimum_pulls"))
    return pd.concat(parts, ignore_index=True)


def chosen(rows, needs_horizon=("tuned",)):
    arena = replace(load_arena(FULL), needs_horizon=dict.fromkeys(needs_horizon, "tuning"))
    return {
        (one["always"], one["horizon"]): (
            one["rows"]["label"].iloc[0],
            *(one[key] for key in ("kept", "least", "total")),
        )
        for one in decisions.choices(arena, rows)
    }


def test_the_policy_to_use_is_the_cheapest_that_keeps_the_contract(small_standings):
    assert chosen(small_standings) == {
        (False, "known"): ("tuned", 2, 2, 2),
        (False, "not known"): ("later", 2, 0, 2),
        (True, "known or not"): ("always", 2, 1, 2),
    }
    assert chosen(small_standings, ())[False, "known or not"][0] == "tuned"


def test_where_nobody_keeps_the_contract_everywhere_the_nearest_is_named(small_standings):
    rows = small_standings[small_standings["label"] != "always"]
    assert chosen(rows)[True, "known or not"] == ("sometimes", 1, 1, 2)


def test_the_summary_counts_what_the_standings_say(small_standings):
    found = decisions.summary(small_standings).set_index("label")
    assert "knowing" not in found.index
    assert found[["kept", "kept_always", "least"]].to_dict("index") == {
        "always": {"kept": 2, "kept_always": 2, "least": 0},
        "later": {"kept": 2, "kept_always": 0, "least": 0},
        "tuned": {"kept": 2, "kept_always": 0, "least": 2},
        "sometimes": {"kept": 1, "kept_always": 1, "least": 0},
        "unfair": {"kept": 0, "kept_always": 0, "least": 0},
    }
    assert found.loc["unfair", ["pareto", "breaking"]].tolist() == [2, 2]
    assert found.loc["later", "by"] == {"tuned": 2}
    assert found.loc["tuned", "contract_regret"] == pytest.approx(0.2)
    assert found.loc["sometimes", "shortfall"] == pytest.approx(21 / 20)


def test_who_breaks_the_contract_is_not_called_pareto_optimal_without_saying_so(small_standings):
    said = {one.label: decisions.pareto(one) for one in small_standings.itertuples()}
    assert said["tuned"] == "yes"
    assert said["unfair"] == "yes, but only by breaking the contract"
    assert said["later"] == "no: tuned dominates it"


def test_page_says_how_to_make_what_is_missing(tmp_path):
    with pytest.raises(page.NotReady, match="fairbandits replicate arena"):
        page.open_arena(tmp_path)


def test_banditq_is_counted_beside_each_policy_by_hand(small_standings):
    rows = small_standings.replace({"label": "always"}, page.BANDITQ)
    regret, shortfall = "contract_regret", "shortfall"
    pairs = [
        (page.BANDITQ, "later", regret, -3, -1, "one"),  # surely less
        (page.BANDITQ, "later", shortfall, 1, 2, "one"),
        ("tuned", page.BANDITQ, regret, -2, -1, "one"),  # BanditQ has surely more
        ("tuned", page.BANDITQ, regret, -2, 1, "two"),  # open
        ("tuned", page.BANDITQ, shortfall, 1, 2, "two"),
        (page.BANDITQ, "knowing", regret, -2, -1, "one"),  # an oracle has no row
        ("later", "tuned", regret, -2, -1, "two"),  # BanditQ is neither
        ("later", "tuned", regret, -2, -1, "three"),
    ]
    columns = ["policy", "other", "measure", "low", "high", "instance"]
    tables = {"standings": rows, "pairs": pd.DataFrame(pairs, columns=columns)}
    tables = {name: table.assign(contract=page.REWARDS) for name, table in tables.items()}
    shown = page.banditq(page.Shown(load_arena(FULL), tables, "", ROOT))
    found = re.findall(r'<th scope="row">(\w+)</th>((?:<td>\d+</td>)+)', shown)
    assert {name: re.findall(r"\d+", counts) for name, counts in found} == {
        "later": ["1", "1", "0", "0", "1"],
        "tuned": ["2", "0", "1", "1", "0"],
    }

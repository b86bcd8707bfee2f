"""The arena at a small scale: its configuration, its tables and what they must agree with."""

import numpy as np
import pandas as pd
import pytest
import yaml

import fairbandits as fb
import real
import shrunk
import small
from fairbandits.arena import findings, picture, scores, standings
from fairbandits.arena.roles import Role, load_arena
from fairbandits.arena.settings import TABLES, arena_config
from fairbandits.experiments.schemas import ROOT, ConfigError, read_yaml
from fairbandits.experiments.spec import depends_on_instance
from fairbandits.optima.fluid import fluid_pulls
from fairbandits.site import arena as page
from fairbandits.store import StoreError, read_table

FULL = arena_config(read_yaml(ROOT / "config" / "config.yaml"), "config/config.yaml")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder of results with the arena in it."""
    return small.small_arena(tmp_path_factory)


@pytest.fixture(scope="module")
def tables(results):
    """Return the tables."""
    return {name: read_table(results / "arena" / f"{name}.parquet").to_pandas() for name in TABLES}


# as configured


def test_there_are_a_dozen_instances_each_with_a_reason():
    arena = load_arena(FULL)
    assert len(arena.names) >= 12
    assert len(set(arena.names)) == len(arena.names)
    assert all(len(arena.reasons[name]) > 30 for name in arena.names)
    assert {one.horizon for one in FULL.experiments} == {100_000}
    assert {one.replicates for one in FULL.experiments} == {100}


def test_every_contract_can_be_kept_on_every_instance():
    arena = load_arena(FULL)
    for terms in arena.terms:
        for one in arena.instances(terms.name):
            spec = one.runs[0].spec
            means = np.array(spec.means or spec.ranges[1], float)
            contract = scores.maker_of(terms.name, spec)(means)
            assert contract.price(means) >= -1e-12


def test_targets_are_quotas_times_means_everywhere():
    """So that one run serves both contracts of arms."""
    asked = 0
    for run in FULL.runs:
        if depends_on_instance(run.spec.parameters, "targets"):
            shares = scores.shares_of(run.spec.target_shares, [1.0] * run.spec.n_arms)
            assert shares == scores.shares_of(run.spec.quotas, [1.0] * run.spec.n_arms)
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


# the tables


def test_standings_have_every_policy_that_applies(tables):
    arena = load_arena(FULL)
    rows = tables["standings"]
    for terms in arena.terms:
        for one in arena.instances(terms.name):
            own = rows[(rows["contract"] == terms.name) & (rows["instance"] == one.instance)]
            applies = {one.labels[key] for key in one.labels if terms.roles[key].applies}
            assert set(own["label"]) == applies
            assert own.groupby("label")["usual"].sum().eq(1).all()
    assert rows["price"].ge(-1e-12).all()
    assert (rows["violation"] >= 0).all()
    assert (rows["supremum"] >= rows["violation"] - 1e-9).all()


def test_who_knows_all_has_no_regret(tables):
    """The static optimum, in closed form: whole pulls are all that it can lose."""
    rows = tables["standings"]
    own = rows[(rows["policy"] == "prophet") & (rows["contract"] == "minimum_pulls")]
    assert len(own) == 10
    n_arms = own["instance"].map(
        {one.instance: one.runs[0].spec.n_arms for one in FULL.experiments}
    )
    assert (own["regret"].abs() <= n_arms).all()
    assert (own["violation"] <= 1).all()


def test_pairs_are_of_the_same_rewards(tables):
    pairs = tables["pairs"]
    assert ((pairs["low"] <= pairs["difference"]) & (pairs["difference"] <= pairs["high"])).all()
    rows = tables["standings"]
    own = rows[(rows["contract"] == "minimum_pulls") & rows["usual"]]
    means = own[own["instance"] == "fair_ucb_2"].set_index("label")["regret"]
    one = pairs[(pairs["contract"] == "minimum_pulls") & (pairs["instance"] == "fair_ucb_2")]
    for row in one[one["measure"] == "regret"].itertuples():
        assert row.difference == pytest.approx(means[row.policy] - means[row.other])


def test_ranks_are_shared_out(tables):
    rows = tables["standings"]
    usual = rows[rows["usual"]]
    for _, own in usual.groupby(["contract", "instance"]):
        n = len(own)
        assert own["regret_rank"].sum() == pytest.approx(n * (n + 1) / 2)
    assert rows[~rows["usual"]]["regret_rank"].isna().all()


def score(name, regret, violation, kind="own"):
    values = {"regret": regret, "violation": violation, "supremum": violation}
    values = {key: np.array(one, float)[:, None] for key, one in values.items()}
    role = Role("known_quotas" if kind == "oracle" else "own", kind, "")
    return scores.Score(name, name, "", True, role, np.array([10]), values)


def test_who_dominates_whom():
    found = standings.standings(
        [
            score("good", [10, 11, 12], [0, 0, 0]),
            score("dear", [20, 21, 23], [0, 0, 0]),
            score("unfair", [1, 2, 1], [50, 51, 52]),
            score("worse", [12, 13, 15], [60, 61, 62]),
            score("unsure", [8, 14, 11], [0, 0, 0]),
            score("knowing", [0, 1, 0], [0, 0, 0], kind="oracle"),
        ]
    )
    by = dict(zip(found["label"], found["dominated_by"], strict=True))
    assert by == {
        "good": "",
        "dear": "good",
        "unfair": "",
        "worse": "unfair",
        "unsure": "",
        "knowing": "",
    }


def test_missing_datasets_are_named(tmp_path):
    config = arena_config(shrunk.settings([], 1, tmp_path), "test")
    with pytest.raises(StoreError, match=r"fair_ucb_1.parquet does not exist"):
        standings.write(config, tmp_path / "arena")


# closed forms and papers


def test_fluid_law_of_ucb1():
    """UCB1's regret in the arena's cell is that of its fluid law, within a third."""
    arms = fb.Instance((0.9, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), "gaussian", 1 / 8)
    found = fb.run(fb.UCB1(), arms, 20_000, 3, checkpoints=[20_000])
    law = fluid_pulls(arms.means, (0,) * 8, 0, 20_000)
    contract = fb.contracts.MinimumPulls((0,) * 8)
    wanted = float(law @ (max(arms.means) - np.array(arms.means)))
    assert contract.regret(found)[:, -1] == pytest.approx(wanted, rel=1 / 3)


REPEATED = [
    ("fair_ucb_2", "fair_ucb", "fairness", "fair_ucb", {"tolerance": 0}),
    ("fair_ucb_2", "fair_ucb", "fairness", "lfg", {"eta": 100}),
    ("fair_ucb_1", "fair_ucb", "r_regret", "fair_ucb", {}),
    ("ht_ucb_d", "ht_ucb", "paths_1", "ht_ucb", {"penalties": 0.3}),
]


@pytest.mark.parametrize(("instance", "paper", "experiment", "policy", "cell"), REPEATED)
def test_cells_that_repeat_a_paper_agree_with_it(instance, paper, experiment, policy, cell):
    """The same policy on the same arms, on other streams: their intervals overlap."""
    own = next(one for one in FULL.experiments if one.instance == instance)
    theirs = real.config().experiment(paper, experiment)
    ours, published = (
        next(run.spec for run in one.runs if run.name.startswith(f"{policy}-"))
        for one in (own, theirs)
    )
    horizon, replicates = 1_000, 8
    means = []
    for seed, spec in ((1, ours), (2, published)):
        settled = {**spec.cells[0], **{k: v for k, v in cell.items() if k in spec.sweep}}
        settled = {"horizon": horizon, **settled}
        means.append(played(spec, settled, seed, horizon, replicates, own))
    for measure in ("regret", "violation"):
        one, other = (standings.interval(each[measure]) for each in means)
        gap = abs(one["mean"][0] - other["mean"][0])
        assert gap <= 2 * (one["high"] - one["low"] + other["high"] - other["low"])[0] + 1


def played(spec, cell, seed, horizon, replicates, own):
    """Return regret and violation of a run with other streams."""
    from fairbandits.experiments.simulate import instance_of
    from fairbandits.experiments.spec import filled
    from fairbandits.policies import make_policy

    quotas = own.runs[0].spec.quotas
    parameters = filled(spec.parameters_of(cell), {"quotas": quotas, "fractions": quotas})
    policy = make_policy(spec.policy, parameters)
    found = fb.run(
        policy,
        instance_of(spec),
        horizon,
        replicates,
        seed=seed,
        checkpoints=[horizon],
        quotas=quotas,
    )
    contract = fb.contracts.MinimumPulls(quotas)
    return {"regret": contract.regret(found), "violation": contract.violation(found).astype(float)}


# what is shown


def test_findings_are_sentences_with_numbers(tables):
    found = list(findings.findings(load_arena(FULL), tables))
    assert {contract for contract, _ in found} == {one.name for one in load_arena(FULL).terms}
    for _, words in found:
        assert words.endswith(".")
        assert "nan" not in words
    assert any(
        words.startswith("BanditQ beside another policy on an instance") for _, words in found
    )


def test_banditq_beside_others_is_counted_from_the_pairs(tables):
    rows, pairs = (
        tables[name].query("contract == 'minimum_reward'") for name in ("standings", "pairs")
    )
    found = findings.beside("BanditQ", rows, pairs).set_index("label")
    assert "BanditQ" not in found.index
    assert {"UCB1", "KL-UCB with guarantees", "furthest behind first"} <= set(found.index)
    for label, row in found.iterrows():
        for measure in ("regret", "violation"):
            less = more = 0
            for one in pairs[pairs["measure"] == measure].itertuples():
                if {one.policy, one.other} == {"BanditQ", label}:
                    sign = 1 if one.policy == "BanditQ" else -1
                    less += max(sign * one.low, sign * one.high) < 0
                    more += min(sign * one.low, sign * one.high) > 0
            assert (row[f"less_{measure}"], row[f"more_{measure}"]) == (less, more)
            assert less + more <= row["instances"]


def test_page_shows_all(results):
    found = page.open_arena(results)
    assert "smoke" in page.banner(found).data
    assert "instances" in page.what_ran(found).data
    markup = "".join(one.data for one in page.each_contract(found))
    assert markup.count("<svg") >= 26
    assert "not applicable" in page.translations(found).data
    texts = (page.contracts, page.instances, page.sentences, page.banditq, page.all_standings)
    for shown in (*texts, page.cost):
        assert len(shown(found).data) > 200
    folds = [one.data for one in page.duels(found)]
    assert len(folds) == len(found.arena.terms)
    for fold, terms in zip(folds, found.arena.terms, strict=True):
        assert terms.title in fold
        assert f"duels_{terms.name}" in fold
    assert "standings.parquet" in page.files(found).data


def test_page_says_how_to_make_what_is_missing(tmp_path):
    with pytest.raises(page.NotReady, match="fairbandits replicate arena"):
        page.open_arena(tmp_path)


def test_panel_is_drawn_whatever_the_size():
    for scale in (0.0, 1e-3, 1.0, 1e6):
        rows = standings.standings(
            [
                score("one", [scale, scale, 2 * scale], [0, 0, 0]),
                score("two", [-scale] * 3, [scale] * 3),
            ]
        )
        drawn = picture.panel("A & B", rows, picture.looks(["one", "two"]), "pulls", ["two"])
        assert "A &amp; B" in drawn
        assert "nan" not in drawn


def test_looks_differ():
    labels = [one.labels[key] for one in FULL.experiments for key in one.labels]
    look = picture.looks(labels)
    assert len(set(look.values())) == len(look) == len(set(labels))


def test_costs_are_of_every_policy(tables):
    arena = load_arena(FULL)
    labels = {one.labels[key] for one in arena.config.experiments for key in one.labels}
    assert set(tables["costs"]["label"]) == labels
    assert (tables["costs"]["nanoseconds"] > 0).all()
    assert isinstance(tables["costs"], pd.DataFrame)

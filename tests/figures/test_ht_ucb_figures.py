"""What the figures of hard-threshold UCB compute from the datasets."""

import numpy as np
import pytest

import naive_ht_ucb as naive
import real
import small
from fairbandits.figures import ht_ucb as figures
from fairbandits.replication.datasets import load_dataset
from fairbandits.replication.recorded import Dataset, joined, runs_of
from fairbandits.report import pages


@pytest.fixture
def paper(tmp_path_factory):
    folder = small.small_results(tmp_path_factory)
    return pages.open_paper("ht_ucb", folder / "results", folder / "figures")


def test_fluid_curve_meets_the_fluid_law_of_the_arms():
    for name in ("non_critical_1", "non_critical_2", "critical_1", "critical_3"):
        footer = real.config().experiment("ht_ucb", name).facts()
        arms, inverse = figures.inverse_gaps(footer)
        x, y = figures._fluid_curve(footer).to_numpy().T
        expected = figures.fluid_law(footer)[arms]
        np.testing.assert_allclose(np.interp(inverse, x, y), expected, rtol=5e-3)


def regrets(paper):
    """Yield the footer of each part of Figure 2, and each policy's run and regret."""
    columns = ["run", "round", "plays", "mean", "horizon", "eta_exponent"]
    for experiment in paper.shown_in("fig2"):
        data, footer = load_dataset(paper.file(experiment.name), columns)
        runs = joined(runs_of(data, footer))
        yield (
            footer,
            {figures.name_of(run, footer): (run, figures.regret_of(run, footer)) for run in runs},
        )


@pytest.mark.slow
def test_regret_is_that_of_the_naive_twin(paper):
    seen = 0
    for footer, by_policy in regrets(paper):
        for name, (run, values) in by_policy.items():
            for replicate in range(len(values)):
                means = run.values["mean"][replicate, 0].tolist()
                rate = (max(means) - min(means)) / 2
                pulls = run.values["plays"][replicate, -1].tolist()
                rates, horizon = [rate] * len(means), int(run.rounds[-1])
                expected = naive.regret(horizon, pulls, means, footer["quotas"], rates)
                assert values[replicate, -1] == pytest.approx(float(expected), abs=1e-9), name
                seen += 1
    assert seen == small.REPLICATES * (6 * 7 + 6 * 6)


def test_scale_is_recovered_from_what_is_swept():
    etas = np.arange(101) / 100
    for name, tolerance in (("paths_1", 625), ("paths_2", 1000)):
        runs = {run.name: run.spec for run in real.config().experiment("ht_ucb", name).runs}
        swept = {
            "HT-UCB": runs["ht_ucb-gaussian"].sweep["penalties"],
            "Flearn": runs["flearn-gaussian"].sweep["tolerance"],
            "LFG": runs["lfg-gaussian"].sweep["eta"],
        }
        assert max(swept["Flearn"]) == tolerance
        assert max(swept["LFG"]) == 10_000
        for policy, values in swept.items():
            scales = figures.scale_of(policy, np.array(values, float))
            expected = etas if policy != "LFG" else np.sort([*etas, 0.999, 0.9999])
            np.testing.assert_allclose(np.sort(scales), expected, atol=1e-12)


@pytest.mark.slow
def test_paths_are_those_of_the_dataset(paper):
    drawn = paper.table("fig3")
    data, footer = load_dataset(paper.file("paths_2"), ["run", "round", "plays", "tolerance"])
    runs = (run for run in runs_of(data, footer) if run.policy == "flearn")
    (run,) = (run for run in runs if run.cell.get("tolerance") == 250)
    part = drawn[(drawn["panel"] == "paths_2") & (drawn["policy"] == "Flearn")]
    part = part[part["parameter"] == 250]
    assert set(part["eta"]) == {0.75}
    for arm in range(8):
        quota = (1 / 10, 1 / 25)[arm >= 4]
        lacking = np.maximum(0, quota * footer["horizon"] - run.values["plays"][:, -1, arm])
        (mean,) = part[part["series"] == f"arm {arm + 1}"]["mean"]
        assert mean == pytest.approx(lacking.mean())


@pytest.mark.slow
def test_balance_is_unfairness_and_reward(paper):
    columns = ["run", "round", "plays", "mean", "penalties", "tolerance", "eta"]
    dataset = Dataset(*load_dataset(paper.file("frontier_5_05"), columns))
    run = next(runs_of(*dataset))
    balance = figures.balance_of(run, dataset.footer)
    plays, means = run.values["plays"][:, -1], run.values["mean"][:, 0]
    lacking = np.maximum(0, dataset.footer["horizon"] / 10 - plays).sum(axis=1)
    np.testing.assert_allclose(balance, np.stack([lacking, (plays * means).sum(axis=1)], axis=1))

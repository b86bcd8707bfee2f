"""BF-UCB's experiments, figures and page: drawn groups, shared instances, and their numbers."""

import pytest

import naive_bf_ucb as twins
import small
from fairbandits.figures import bf_ucb as figures
from fairbandits.figures import draw
from fairbandits.replication.datasets import load_dataset
from fairbandits.replication.recorded import Dataset
from fairbandits.report import pages


@pytest.fixture
def paper(tmp_path_factory):
    folder = small.small_results(tmp_path_factory)
    return pages.open_paper("bf_ucb", folder / "results", folder / "figures")


@pytest.mark.slow
def test_regret_is_that_of_the_definition(paper):
    seen = 0
    shown = [(name, block) for name in ("fig1a", "fig1b") for block in paper.shown_in(name)]
    for figure, experiment in shown:
        columns = ["run", "round", "plays", "mean", "probability"]
        rows = figures.rows_of(lambda spec: spec.policy == "bf_ucb")
        data = Dataset(*load_dataset(paper.file(experiment.name), columns, rows))
        for _, run_, drawn in figures.each_run([data]):
            version, quota = figures.version_of(run_.spec), figures.quota_of(run_.spec)
            regrets = figures.regrets_of(run_, drawn)
            counted, between = regrets["regret, pulls"], regrets["regret between groups"]
            plays, means = run_.values["plays"][0, -1], run_.values["mean"][0, 0].tolist()
            sizes = (50, 10) if figure == "fig1a" else (10, 5)
            best = twins.fair_optimum(small.HORIZON, means, sizes, (quota,) * 2, twins.power(1))
            assert counted[0, -1] == pytest.approx(best - float(plays @ means))
            of_groups, extra = twins.split(sizes), 0.0
            values = [twins.phi([means[arm] for arm in arms], twins.power(1)) for arms in of_groups]
            for arms, value in zip(of_groups, values, strict=True):
                extra += (plays[arms].sum() - quota * small.HORIZON) * (max(values) - value)
            assert between[0, -1] == pytest.approx(extra, abs=1e-9)
            assert version in figures.VERSIONS
            seen += 1
    assert seen == 12


@pytest.mark.slow
def test_rewards_are_those_after_the_initial_rounds(paper):
    columns = ["run", "round", "plays", "mean", "initial_plays"]
    files = [paper.file(shown.name) for shown in paper.shown_in("fig3a")]
    rows = figures.rows_of(figures.at_quota)
    datasets = [Dataset(*load_dataset(file, columns, rows)) for file in files]
    (ratios,) = (
        ratio
        for label, baseline, run_, ratio in figures.ratios_to_ucb(datasets)
        if (figures.version_of(run_.spec), label, baseline) == ("paper", "GEF", "UCB")
    )
    by_name = {run_.policy: run_ for _, run_, _ in figures.each_run(datasets[:1])}
    values = [by_name[name].values for name in ("paper_gef", "paper_ucb")]
    earned = [(v["plays"] - v["initial_plays"])[1, -1] @ v["mean"][1, 0] for v in values]
    assert ratios[1, -1] == pytest.approx(earned[0] / earned[1])
    first = by_name["paper_gef"].values["initial_plays"][:, -1].sum(axis=1)
    assert first.tolist() == [100] * small.REPLICATES


@pytest.mark.slow
def test_groups_have_a_line_of_distances_and_ratios_of_rewards_one_scale(paper):
    def panels_of(figure):
        files = [paper.file(experiment.name) for experiment in paper.shown_in(figure)]
        return draw.drawn(draw.function_of("bf_ucb", figure), files, None)[0].axes

    assert [len(axis.get_lines()) for axis in panels_of("fig2a")] == [2, 2, 2, 2]
    assert len({axis.get_ylim() for axis in panels_of("fig3a")}) == 1

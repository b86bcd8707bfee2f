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
    shown = [("fig1a", one) for one in paper.shown_in("fig1a")]
    shown += [("fig1b", one) for one in paper.shown_in("fig1b")]
    for figure, experiment in shown:
        columns = ["run", "round", "plays", "mean", "probability"]
        rows = figures.rows_of(lambda spec: spec.policy == "bf_ucb")
        data = Dataset(*load_dataset(paper.file(experiment.name), columns, rows))
        for _, run_, drawn in figures.each_run([data]):
            version, quota = figures.version_of(run_.spec), figures.quota_of(run_.spec)
            found = figures.regrets_of(run_, drawn)
            counted, between = found["regret, pulls"], found["regret between groups"]
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
    datasets = [
        Dataset(*load_dataset(paper.file(one.name), columns, figures.rows_of(figures.at_quota)))
        for one in paper.shown_in("fig3a")
    ]
    (found,) = (
        ratio
        for label, baseline, run_, ratio in figures.ratios_to_ucb(datasets)
        if (figures.version_of(run_.spec), label, baseline) == ("paper", "GEF", "UCB")
    )
    by_name = {run_.policy: run_ for _, run_, _ in figures.each_run(datasets[:1])}
    earned = [
        (by_name[name].values["plays"] - by_name[name].values["initial_plays"])[1, -1]
        @ by_name[name].values["mean"][1, 0]
        for name in ("paper_gef", "paper_ucb")
    ]
    assert found[1, -1] == pytest.approx(earned[0] / earned[1])
    first = by_name["paper_gef"].values["initial_plays"][:, -1].sum(axis=1)
    assert first.tolist() == [100] * small.REPLICATES


@pytest.fixture
def panels_of(paper):
    """Return a function that draws a figure and gives its panels."""

    def drawn_panels(figure):
        files = [paper.file(one.name) for one in paper.shown_in(figure)]
        return draw.drawn(draw.function_of("bf_ucb", figure), files, None)[0].axes

    return drawn_panels


@pytest.mark.slow
def test_distances_have_one_line_for_each_group(panels_of):
    assert [len(axis.get_lines()) for axis in panels_of("fig2a")] == [2, 2, 2, 2]


@pytest.mark.slow
def test_ratios_of_rewards_share_their_scale(panels_of):
    assert len({axis.get_ylim() for axis in panels_of("fig3a")}) == 1

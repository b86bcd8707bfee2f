"""Tables and words of the page of Fair-Learn and Fair-UCB."""

from collections.abc import Iterator

import numpy as np
from IPython.display import HTML, Markdown

from fairbandits.figures.fair_ucb import reading_of, regret_at_end, violation_so_far
from fairbandits.measures.pulls import r_regret, violation
from fairbandits.rationals import below_equal_share
from fairbandits.replication.recorded import RunData, runs_of
from fairbandits.report.comparison import over_replicates
from fairbandits.report.pages import Paper, listed, number, prose, span, value_table

#: Tolerances in the table of Figure 2; the figure and its curves have more.
TABLED = (0, 0.5, 10_000, 20_000, 30_000, 40_000, 46_000, 50_000, 60_000)
READINGS = ("cost_of_fairness", "cost_of_fairness_other_gaps")


def runs(paper: Paper, experiment: str, columns: list[str]) -> Iterator[tuple[str, RunData, dict]]:
    """Yield name, data and footer of an experiment's runs, one for each value of a sweep."""
    data, footer = paper.dataset(experiment, ["run", "round", *columns])
    for run in runs_of(data, footer):
        values = "".join(f", {_NAMES[name]} = {value:g}" for name, value in run.cell.items())
        yield footer["labels"][run.policy] + values, run, footer


_NAMES = {"eta": "η", "tolerance": "α"}


def costs(paper: Paper, experiment: str) -> dict[str, list[tuple[float, np.ndarray, np.ndarray]]]:
    """Return tolerance (NaN without one), regret and largest violation per replicate, by policy."""
    found: dict[str, list] = {}
    for _, run, footer in runs(paper, experiment, ["plays", "deficit_sup"]):
        tolerance = run.cell.get("tolerance", np.nan)
        measured = (tolerance, regret_at_end(run, footer), violation_so_far(run, footer))
        found.setdefault(footer["labels"][run.policy], []).append(measured)
    return found


def cost_table(paper: Paper) -> HTML:
    """Return regret and violation at some tolerances, and UCB1's."""
    groups = {}
    for experiment in READINGS:
        footer = paper.footers[experiment]
        n, horizon = footer["replicates"], footer["horizon"]
        heading = f"{reading_of(footer)}: n = {n} runs of {number(horizon)} rounds"
        found = costs(paper, experiment)
        rows = [
            _cost_row(f"Fair-UCB, α = {number(tolerance, 1 if tolerance % 1 else 0)}", *measured)
            for tolerance, *measured in found["Fair-UCB"]
            if tolerance in TABLED
        ]
        rows += [_cost_row("UCB1", *measured) for _, *measured in found["UCB1"]]
        groups[heading] = rows
    header = ["", "regret, mean", "95 % interval", "largest violation, mean", "95 % interval"]
    return value_table(groups, header, "values-fig2")


def _cost_row(name: str, regrets: np.ndarray, violations: np.ndarray) -> list[str]:
    cells = [name]
    for values, digits in ((regrets, 0), (violations, 1)):
        over = over_replicates(values)
        cells += [
            number(over["mean"], digits),
            span(over["mean_low"], over["mean_high"], digits),
        ]
    return cells


def cost_words(paper: Paper) -> Markdown:
    """Return how regret falls and violation rises with the tolerance."""
    sentences = []
    for experiment in READINGS:
        footer = paper.footers[experiment]
        found = costs(paper, experiment)
        ((_, control, free),) = found["UCB1"]
        points = found["Fair-UCB"]
        regrets = np.array([measured.mean() for _, measured, _ in points])
        (_, strictest, _), (widest, loosest, _) = points[0], points[-1]
        same = over_replicates(loosest - control)
        steps = np.diff(regrets)
        sentences.append(
            f"With {reading_of(footer)}, the mean regret is {number(strictest.mean())} at "
            f"tolerance 0 and {number(loosest.mean())} at {number(widest)}, where it differs from "
            f"UCB1's by {number(same['mean'])} (95 % interval of the paired difference "
            f"{span(same['mean_low'], same['mean_high'])}). It falls from one tolerance of the "
            f"grid to the next in {(steps < 0).sum()} of {steps.size} steps. UCB1 by itself lets "
            f"the violation grow to {number(free.mean())} in the mean"
        )
    return prose(f"**What the tolerance buys.** {'. '.join(sentences)}.")


def regret_table(paper: Paper) -> HTML:
    """Return the r-Regret at powers of ten."""
    groups: dict[str, list[list[str]]] = {}
    for experiment in (one.name for one in paper.shown_in("fig3")):
        footer = paper.footers[experiment]
        marks = [10**power for power in range(3, 8) if 10**power <= footer["horizon"]]
        if experiment.startswith("r_regret_long"):
            marks = marks[-1:]
        n, horizon = footer["replicates"], footer["horizon"]
        rows = groups.setdefault(
            f"{reading_of(footer)}: n = {n} runs of {number(horizon)} rounds", []
        )
        for name, run, _ in runs(paper, experiment, ["plays", "eta"]):
            values = r_regret(run.rounds, run.values["plays"], footer["means"], footer["quotas"])
            for mark in marks:
                over = over_replicates(_at(run, values, mark))
                rows.append(
                    [
                        name,
                        number(mark),
                        number(over["mean"], 1),
                        span(over["mean_low"], over["mean_high"], 1),
                        span(over["run_low"], over["run_high"], 1),
                    ]
                )
    header = ["", "round", "r-Regret, mean", "95 % interval", "95 % of our runs"]
    return value_table(groups, header, "values-fig3")


def _at(run: RunData, values: np.ndarray, round_: int) -> np.ndarray:
    """Return the values at the last recorded round up to `round_`, shape (n_replicates,)."""
    return values[:, np.searchsorted(run.rounds, round_, side="right") - 1]


def regret_words(paper: Paper) -> Markdown:
    """Return the round of Fair-UCB's largest r-Regret, and what remains at the end."""
    sentences = []
    for experiment in (one.name for one in paper.shown_in("fig3")):
        footer = paper.footers[experiment]
        for name, run, _ in runs(paper, experiment, ["plays", "eta"]):
            if name != "Fair-UCB":
                continue
            values = r_regret(run.rounds, run.values["plays"], footer["means"], footer["quotas"])
            mean = values.mean(axis=0)
            peak = int(mean.argmax())
            sentences.append(
                f"With {reading_of(footer)} and {number(footer['horizon'])} rounds, its mean is "
                f"largest at round {number(run.rounds[peak])}, where it is "
                f"{number(mean[peak], 1)}, and {number(mean[-1], 1)} in the end; it is below zero "
                f"at some recorded round in {(values < 0).any(axis=1).sum()} of {len(values)} runs"
            )
    return prose(f"**How Fair-UCB's r-Regret moves.** {'. '.join(sentences)}.")


#: The measures of unfairness: column, and words.
MEASURES = {
    "deficit": "of the round",
    "deficit_sup": "largest so far",
    "floor_deficit": "of the round, floored",
    "floor_deficit_sup": "largest so far, floored",
}


def fairness_table(paper: Paper) -> HTML:
    """Return all four measures of unfairness at the last round."""
    groups = {}
    for experiment in (one.name for one in paper.shown_in("fig4")):
        footer = paper.footers[experiment]
        rows = []
        for name, run, _ in runs(paper, experiment, ["eta", *MEASURES]):
            ends = {column: violation(run.values[column])[:, -1] for column in MEASURES}
            broken = int((ends["floor_deficit_sup"] > 0).sum())
            means = [number(values.mean(), 2) for values in ends.values()]
            rows.append([name, *means, f"{broken} of {footer['replicates']}"])
        heading = f"n = {footer['replicates']} runs of {number(footer['horizon'])} rounds, means"
        groups[heading] = rows
    header = ["", *MEASURES.values(), "runs with a pull missing in some round"]
    return value_table(groups, header, "values-fig4")


def fairness_words(paper: Paper) -> Markdown:
    """Return whether LFG's violation returns to 0, in words."""
    (long,) = (one.name for one in paper.shown_in("fig4") if one.name.endswith("_long"))
    footer = paper.footers[long]
    words = []
    for name, run, _ in runs(paper, long, ["eta", "deficit"]):
        values = violation(run.values["deficit"])
        half, last = over_replicates(_at(run, values, footer["horizon"] // 2)), values[:, -1]
        over = over_replicates(last)
        words.append(
            f"{name}: {number(over['mean'], 1)} (95 % interval "
            f"{span(over['mean_low'], over['mean_high'], 1)}; {number(half['mean'], 1)} at half "
            f"the rounds; {number(1e6 * over['mean'] / footer['horizon'], 2)} per million rounds)"
        )
    return prose(
        f"**Does the violation fall to 0?** In round {number(footer['horizon'])} it is, in the "
        f"mean over n = {footer['replicates']} runs, {listed(words)}."
    )


def range_words(paper: Paper) -> Markdown:
    """Return whether the quotas that were run lie in the paper's stated range."""
    sentences = []
    for figure in ("fig2", "fig4"):
        quotas = paper.footers[paper.of_figure(figure).name]["quotas"]
        inside = below_equal_share(quotas)
        sentences.append(
            f"the quotas {', '.join(dict.fromkeys(map(str, quotas)))} of the {len(quotas)} arms of "
            f"Figure {figure.removeprefix('fig')} are {'all' if inside else 'not all'} below "
            f"1/{len(quotas)}"
        )
    return prose(
        f"The paper's model has every quota below one over the number of arms: {listed(sentences)}."
    )

"""Tables and words of the page of hard-threshold UCB."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from IPython.display import HTML, Markdown

from fairbandits.figures.ht_ucb import (
    LAW_NAMES,
    RIVALS,
    along_sweeps,
    balance_of,
    fluid_law,
    frontier_differences,
    inverse_gaps,
    name_of,
    panel_of,
    readings_of,
    regret_of,
    shared_range,
)
from fairbandits.rationals import rational
from fairbandits.replication.recorded import Dataset, RunData, joined, runs_of
from fairbandits.report.comparison import over_replicates
from fairbandits.report.pages import Paper, listed, number, prose, span, value_table

#: An arm is unfair if it lacks more pulls than this on average, or 0.2 % of its quota.
UNFAIR = 1.0


def cases(paper: Paper) -> Iterator[tuple[str, dict, dict[str, np.ndarray]]]:
    """Yield experiment, footer and pulls (n_replicates, n_arms) by law of Experiments A and B."""
    for one in paper.shown_in("fig1"):
        data, footer = paper.dataset(one.name, ["run", "round", "plays"])
        runs = runs_of(data, footer)
        yield one.name, footer, {run.law: run.values["plays"][:, -1] for run in runs}


def pulls_table(paper: Paper) -> HTML:
    """Return the pulls of the arms that Figure 1 shows, beside the fluid law."""
    groups = {}
    for _, footer, found in cases(paper):
        case = inverse_gaps(footer)
        fluid = fluid_law(footer)
        rows = []
        for arm, inverse in zip(case.arms, case.inverse, strict=True):
            cells = [f"arm {arm + 1}", number(inverse, 1), number(fluid[arm])]
            for pulled in found.values():
                over = over_replicates(pulled[:, arm])
                cells += [number(over["mean"], 1), span(over["mean_low"], over["mean_high"], 1)]
            rows.append(cells)
        groups[f"{footer['title']}: n = {footer['replicates']}"] = rows
    header = ["", "1 / gap²", "fluid law"]
    header += [
        words for law in next(iter(found for *_, found in cases(paper))) for words in _heads(law)
    ]
    return value_table(groups, header, "values-fig1")


def _heads(law: str) -> list[str]:
    return [f"{LAW_NAMES[law]}, mean", "95 % interval"]


def slopes(paper: Paper) -> Iterator[dict[str, Any]]:
    """Yield the log-log slope of each case's pulls in Figure 1, and the fluid law's.

    Slopes are over the ``off_level`` arms, of ``arms``, that the law has more than 1 % off the
    level, since at the level it makes no slope; pulls proportional to 1 / gap^2 have slope 1.
    ``means`` is the slope of the mean pulls under the first reward law, ``fluid`` that of the fluid
    law, NaN for fewer than two arms; ``rest`` is, for each arm that counts, the share of 1 /
    sqrt(N*) in gap / L + 1 / sqrt(N*); ``apart`` the largest relative distance of the means from
    the law, over all arms.
    """
    for _, footer, found in cases(paper):
        case = inverse_gaps(footer)
        mean = next(iter(found.values()))[:, case.arms].mean(axis=0)
        whole = fluid_law(footer)
        fluid, level = whole[case.arms], owed_of(footer)[case.arms]
        off = fluid < 0.99 * level if case.raised else fluid > 1.01 * level
        gaps = 1 / np.sqrt(case.inverse[off]) / np.sqrt(2 * np.log(footer["horizon"]))
        best = whole.max() ** -0.5
        yield {
            "title": footer["title"],
            "arms": off.size,
            "off_level": int(off.sum()),
            "means": _slope(case.inverse[off], mean[off]),
            "fluid": _slope(case.inverse[off], fluid[off]),
            "rest": best / (gaps + best),
            "apart": float(np.abs(mean / fluid - 1).max()),
        }


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    """Return the slope of points on logarithmic axes, NaN for less than two points."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0]) if x.size > 1 else np.nan


def slopes_table(paper: Paper) -> HTML:
    """Return the slopes of the mean pulls beside those of the fluid law."""
    rows = []
    for one in slopes(paper):
        cells = [
            number(one[key], 2) if np.isfinite(one[key]) else "none" for key in ("means", "fluid")
        ]
        rest = f"{span(*(100 * np.sort(one['rest'])[[0, -1]]))} %" if one["off_level"] else "none"
        rows.append(
            [
                one["title"],
                f"{one['off_level']} of {one['arms']}",
                *cells,
                rest,
                f"{number(100 * one['apart'], 1)} %",
            ]
        )
    header = [
        "",
        "arms off the level",
        "slope of the means",
        "of the fluid law",
        "part of N<sub>*</sub><sup>−1/2</sup> in the sum",
        "means from the law, at most",
    ]
    return value_table({"": rows}, header, "slopes-fig1")


def slope_words(paper: Paper) -> Markdown:
    """Return why pulls are not proportional to 1 / gap^2: the best arm's share."""
    sloped = [one for one in slopes(paper) if one["off_level"] > 1]
    text = (
        "**How steep are they?** If pulls were proportional to the inverse square of the gap, the "
        "slope on logarithmic axes would be 1. The fluid law adds $N_*^{-1/2}$ to "
        "$\\mathrm{gap}_k / L$ before it takes the inverse square, and what is added flattens the "
        "curve, the more so the smaller the gap. At the level an arm has no slope."
    )
    if sloped:
        own, law = ([one[key] for one in sloped] for key in ("means", "fluid"))
        rest = np.concatenate([one["rest"] for one in sloped])
        text += (
            f" Of the sum, {span(100 * rest.min(), 100 * rest.max())} % is $N_*^{{-1/2}}$; the "
            f"law's slopes are {listed([number(one, 2) for one in law])}, those of the mean pulls "
            f"{listed([number(one, 2) for one in own])}."
        )
    return prose(text)


def regrets(paper: Paper) -> Iterator[tuple[dict, dict[str, tuple[RunData, np.ndarray]]]]:
    """Yield the footer of each part of Experiment C, and each policy's run and regret."""
    for one in paper.shown_in("fig2"):
        data, footer = paper.dataset(
            one.name, ["run", "round", "plays", "mean", "horizon", "eta_exponent"]
        )
        runs = joined(runs_of(data, footer))
        yield footer, {name_of(run, footer): (run, regret_of(run, footer)) for run in runs}


def regret_table(paper: Paper) -> HTML:
    """Return the penalised regret at the last horizons, over all replicates and published n."""
    groups: dict[str, list[list[str]]] = {}
    for footer, found in regrets(paper):
        rows = groups.setdefault(panel_of(footer), [])
        for name, (run, values) in found.items():
            for some in readings_of(values[:, -1], footer):
                over = over_replicates(some)
                rows.append(
                    [
                        name,
                        number(run.rounds[-1]),
                        str(len(some)),
                        number(over["mean"], 1),
                        span(over["mean_low"], over["mean_high"], 1),
                    ]
                )
    header = ["", "T", "n", "penalised regret, mean", "95 % interval"]
    return value_table(groups, header, "values-fig2")


def duels_table(paper: Paper) -> HTML:
    """Return the paired differences of HT-UCB's regret from the others' at the last horizon."""
    groups: dict[str, list[list[str]]] = {}
    for footer, found in regrets(paper):
        run, own = found["HT-UCB"]
        rows = groups.setdefault(panel_of(footer), [])
        for name, (_, values) in found.items():
            if name in ("HT-UCB", "prophet"):
                continue
            over = over_replicates(own[:, -1] - values[:, -1])
            rows.append(
                [
                    name,
                    number(run.rounds[-1]),
                    str(len(own)),
                    number(over["mean"], 1),
                    span(over["mean_low"], over["mean_high"], 1),
                ]
            )
    header = ["HT-UCB less", "T", "n", "paired difference", "95 % interval"]
    return value_table(groups, header, "duels-fig2")


def regret_words(paper: Paper) -> Markdown:
    """Return the number of cells in which HT-UCB's mean regret is the lower one."""
    counts: dict[str, list[int]] = {}
    lowest = np.inf
    for footer, found in regrets(paper):
        if "_long_" in footer["experiment"]:
            continue
        _, own = found["HT-UCB"]
        for name, (run, values) in found.items():
            lowest = min(lowest, values.min())
            if name in ("HT-UCB", "prophet"):
                continue
            for place in range(len(run.rounds)):
                tally = counts.setdefault(name, [0, 0])
                tally[0] += own[:, place].mean() < values[:, place].mean()
                tally[1] += 1
    words = [f"{name} in {lower} of {cells} cells" for name, (lower, cells) in counts.items()]
    return prose(
        "**Who has the lower penalised regret?** A cell is one panel at one of the published "
        "horizons. HT-UCB's mean regret, over all replicates, is below that of "
        f"{listed(words)}. LFG's index is cut off at 1 here; without the cut it is a "
        "reading of the claims. The smallest regret of any policy in any replicate is "
        f"{number(lowest, 2)}; none can be below 0."
    )


def paths(paper: Paper) -> Iterator[tuple[str, str, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield setting, policy, etas, mean missing pulls (n_etas, n_arms) and quotas times T."""
    drawn = paper.table("fig3")
    for (panel, policy), part in drawn.groupby(["panel", "policy"], sort=False):
        wide = part.pivot(index="eta", columns="series", values="mean")
        footer = paper.footers[panel]
        yield footer["title"], policy, wide.index.to_numpy(), wide.to_numpy(), owed_of(footer)


def owed_of(footer: dict) -> np.ndarray:
    """Return quota times rounds of each arm, shape (n_arms,)."""
    quotas = [float(rational("quotas", quota)) for quota in footer["quotas"]]
    return np.array(quotas) * footer["horizon"]


def paths_table(paper: Paper) -> HTML:
    """Return the largest eta at which each arm is unfair."""
    groups: dict[str, list[list[str]]] = {}
    for title, policy, etas, lacking, owed in paths(paper):
        unfair = lacking > np.maximum(UNFAIR, 0.002 * owed)
        ends = [
            f"{etas[np.flatnonzero(column)[-1]]:g}" if column.any() else "never"
            for column in unfair.T
        ]
        groups.setdefault(title, []).append([policy, *ends])
    arms = max(len(row) for rows in groups.values() for row in rows)
    return value_table(groups, ["", *(f"arm {k}" for k in range(1, arms))], "values-fig3")


def direction_words(paper: Paper) -> Markdown:
    """Return how all arms' unfairness changes with eta."""
    words = []
    for title, policy, _, lacking, _ in paths(paper):
        total = lacking.sum(axis=1)
        setting = title.rpartition(", ")[2]
        words.append(f"{policy} ({setting}) from {number(total[0])} to {number(total[-1])}")
    return _direction(words)


def _direction(words: list[str]) -> Markdown:
    return prose(
        "**Which way does η go?** The appendix says that all three policies exploit more as η "
        "nears 1, and put fairness first as η nears 0; section 6 and the caption of Figure 3 have "
        "it the other way round. The paper's own maps from η to the parameters are what is run "
        "here. The pulls that all arms together lack "
        f"go, from the smallest η to the largest: {listed(words)}."
    )


def frontier_table(paper: Paper) -> HTML:
    """Return HT-UCB's reward minus its rivals' at equal unfairness."""
    groups: dict[str, list[list[str]]] = {}
    for heading, law, rival, found in duels(paper):
        low, high = shared_range(found, law, ("HT-UCB", rival))
        compared = frontier_differences(found, law, rival)
        middle = compared.iloc[len(compared) // 2]
        groups.setdefault(heading, []).append(
            [
                f"{LAW_NAMES[law]}, {rival}",
                span(low, high, 1),
                number(middle["difference"], 1),
                span(middle["low"], middle["high"], 1),
                span(compared["difference"].min(), compared["difference"].max(), 1),
            ]
        )
    header = [
        "HT-UCB less",
        "shared range of unfairness",
        "reward, in its middle",
        "95 % interval",
        "least to most",
    ]
    return value_table(groups, header, "values-fig4")


def duels(paper: Paper) -> Iterator[tuple[str, str, str, dict]]:
    """Yield panel, law, rival and all policies' points of Experiment E."""
    columns = ["run", "round", "plays", "mean", "penalties", "tolerance", "eta"]
    for one in paper.shown_in("fig4"):
        dataset = Dataset(*paper.dataset(one.name, columns))
        found = along_sweeps(dataset, balance_of)
        heading = f"{panel_of(dataset.footer)}: n = {dataset.footer['replicates']}"
        for law in dict.fromkeys(law for _, law in found):
            for rival in RIVALS:
                yield heading, law, rival, found


def frontier_words(paper: Paper) -> Markdown:
    """Return how much higher HT-UCB's curve is, and the effect of an even grid."""
    ends: dict[str, list[float]] = {rival: [] for rival in RIVALS}
    even = None
    for _, law, rival, found in duels(paper):
        compared = frontier_differences(found, law, rival)
        ends[rival] += [compared["difference"].min(), compared["difference"].max()]
        if even is None and rival == "LFG" and ("LFG, even grid", law) in found:
            true, coarse = (
                frontier_differences(found, law, name)["difference"].max()
                for name in ("LFG", "LFG, even grid")
            )
            even = true, coarse
    words = [
        f"that of {rival} by {number(min(own), 1)} to {number(max(own), 1)}"
        for rival, own in ends.items()
    ]
    grid = ""
    if even:
        grid = (
            " On LFG's even grid the first step leaves η₀ = 0, which is blind to rewards, for a "
            "large weight, and the straight line between the two is no policy's: in the first "
            f"panel it would make HT-UCB's lead up to {number(even[1])}, where with a log-spaced "
            f"grid it is at most {number(even[0])}."
        )
    return prose(
        "**Whose frontier is higher?** At evenly spaced levels of unfairness within the range "
        "that both curves reach, over all panels, HT-UCB's mean reward is above "
        f"{listed(words)}.{grid}"
    )

"""Figures 1 to 4 of the hard-threshold paper: pulls, penalised regret, paths, frontiers.

Beside each stand additions to the paper: the law that the pulls follow, controls and longer
horizons, and the grid on which a frontier is compared.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from fairbandits.library.style import COLOURS, LAW_TITLES, draw_curve, shades, sns
from fairbandits.measures.penalised import (
    mean_reward,
    penalised_regret,
    unfairness,
    unfairness_levels,
)
from fairbandits.measures.penalties import penalty_rates
from fairbandits.measures.summary import summarise
from fairbandits.rationals import rational
from fairbandits.replication.recorded import Dataset, RunData, joined, runs_of
from fairbandits.theory.fluid import fluid_pulls
from fairbandits.theory.penalised import arm_sets

Drawing = tuple[Figure, pd.DataFrame]
#: Reward laws; the paper states a range for rewards, but not for these experiments.
LAW_NAMES = LAW_TITLES | {"bernoulli": "Bernoulli rewards"}
#: Marker of each reward law; the first of an experiment is the primary reading.
MARKERS = {"gaussian": "o", "bernoulli": "^", "deterministic": "x"}
#: Published policies of Figure 2; LFG's exponent of eta_0 in the paper is 1/2.
PUBLISHED = ("HT-UCB", "LFG, η₀ = √T", "Flearn")
#: Each policy's own parameter in place of the scale parameter.
SCALES = {"HT-UCB": "penalties", "Flearn": "tolerance", "LFG": "eta", "LFG, even grid": "eta"}
RIVALS = ("Flearn", "LFG")
#: Levels of unfairness at which frontiers are compared, and resamples for their intervals.
LEVELS, RESAMPLES = 20, 1000


# ----------------------------------------------------------------------------- pulls (Figure 1)


def pulls(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the pulls of non-critical and of critical arms against inverse gaps (Fig. 1)."""
    del published
    cases = [inverse_gaps(dataset.footer) for dataset in datasets]
    curves = pd.concat(
        part
        for dataset, case in zip(datasets, cases, strict=True)
        for part in _pulls_of(dataset, case)
    )
    figure, axes = plt.subplots(2, 3, figsize=(10.4, 6.6), layout="constrained")
    for axis, dataset, case in zip(axes.flat, datasets, cases, strict=True):
        footer = dataset.footer
        part = curves[curves["panel"] == footer["experiment"]]
        _points(axis, part[part["n_replicates"] == footer["replicates"]])
        _fluid_curve(axis, footer, case)
        axis.axhline(_level(footer), color="tab:blue", lw=2.5, alpha=0.5, label="level τT")
        axis.set_title(f"{case.kind} arms, case {footer['experiment'][-1]}", fontsize="medium")
        axis.set_xlabel("1 / (Δ − A)²" if case.raised else "1 / Δ²")
        axis.set_xlim(left=0)
        axis.set_ylim(bottom=0 if case.raised else 0.9 * _level(footer))
    for row in axes:
        row[0].set_ylabel(f"pulls in {datasets[0].footer['horizon']} rounds")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=6)
    return figure, curves


class InverseGaps(NamedTuple):
    """Arms in a case of Experiment A or B, 0-based, in order of their inverse gaps 1 / gap^2.

    `kind` is ``non-critical`` (A; `raised`: the gap is Delta - A) or ``critical`` (B; it is Delta).
    """

    kind: str
    arms: np.ndarray
    inverse: np.ndarray
    raised: bool


def inverse_gaps(footer: dict) -> InverseGaps:
    """Return the arms shown in a case of Experiment A or B."""
    raised = footer["experiment"].startswith("non_critical")
    sets = arm_sets(footer["means"], footer["penalties"])
    arms = np.flatnonzero(sets.non_critical if raised else sets.critical)
    exact = [rational("means", mean) for mean in footer["means"]]
    cost = rational("penalties", footer["penalties"]) if raised else 0
    inverse = np.array([float(1 / (max(exact) - exact[arm] - cost) ** 2) for arm in arms])
    order = np.argsort(inverse, kind="stable")
    kind = "non-critical" if raised else "critical"
    return InverseGaps(kind, arms[order], inverse[order], raised)


def fluid_law(footer: dict) -> np.ndarray:
    """Return the pulls of each arm by the fluid law of HT-UCB, shape (n_arms,)."""
    return fluid_pulls(footer["means"], footer["quotas"], footer["penalties"], footer["horizon"])


def _level(footer: dict) -> float:
    return float(rational("quotas", footer["quotas"][0]) * footer["horizon"])


def _pulls_of(dataset: Dataset, case: InverseGaps) -> Iterator[pd.DataFrame]:
    footer = dataset.footer
    fluid = fluid_law(footer)[case.arms]
    for run in runs_of(*dataset):
        values = run.values["plays"][:, -1, case.arms]
        for some in readings_of(values, footer):
            curve = summarise(run.law, "pulls", case.inverse, some, "inverse_gap")
            yield curve.assign(
                arm=case.arms + 1, fluid=fluid, policy="HT-UCB", panel=footer["experiment"]
            )


def readings_of(values: np.ndarray, footer: dict) -> Iterator[np.ndarray]:
    """Yield the values of all replicates, and of as many as the paper has."""
    yield values
    published = footer.get("published_replicates", len(values))
    if 1 < published < len(values):
        yield values[:published]


def _points(axis: Axes, part: pd.DataFrame) -> None:
    colour = COLOURS["HT-UCB"]
    for place, (law, rows) in enumerate(part.groupby("law", sort=False)):
        first, x = place == 0, rows["inverse_gap"]
        bars = np.abs(rows[["mean_low", "mean_high"]].to_numpy().T - rows["mean"].to_numpy())
        axis.errorbar(
            *(x, rows["mean"], bars),
            fmt=MARKERS[law],
            ms=7 if first else 5,
            color=colour if first else "0.35",
            mfc=colour if first else "none",
            capsize=3,
            label=LAW_NAMES[law],
            zorder=3 if first else 4,
        )
        if first:
            axis.plot(x, rows["one_run"], "+", ms=9, color="k", mew=0.6, label="one run", zorder=5)


def _fluid_curve(axis: Axes, footer: dict, case: InverseGaps) -> None:
    """Draw the fluid law for all gaps, with the best arm's pulls of this instance."""
    level = _level(footer)
    scale = np.sqrt(2 * np.log(footer["horizon"]))
    most = case.inverse[-1] * 1.05
    inverse = np.linspace(most / 400, most, 400)
    free = 1 / (1 / np.sqrt(inverse) / scale + fluid_law(footer).max() ** -0.5) ** 2
    law = np.minimum(free, level) if case.raised else np.maximum(free, level)
    axis.plot(inverse, law, color=COLOURS["HT-UCB"], lw=1.2, label="fluid law")


# ------------------------------------------------------------------ penalised regret (Figure 2)


def penalised(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the penalised regret against the number of rounds, with controls (Fig. 2)."""
    del published
    curves = pd.concat(
        curve for dataset in datasets for _, curve in regret_curves(dataset.table, dataset.footer)
    )
    columns = len(datasets) // 4
    figure, axes = plt.subplots(4, columns, figsize=(11, 10.8), layout="constrained")
    panels = list(dict.fromkeys(curves["panel"]))
    colours = dict(zip(["LFG, η₀ = √T", "LFG, η₀ = T"], shades("LFG", 3)[1:], strict=True))
    decisive = [max(rows["n_replicates"]) for _, rows in curves.groupby("experiment", sort=False)]
    most = dict(zip(dict.fromkeys(curves["experiment"]), decisive, strict=True))
    shown = curves[curves["n_replicates"] == curves["experiment"].map(most)]
    for place, panel in enumerate(panels):
        row, column = divmod(place, columns)
        part = shown[shown["panel"] == panel]
        short = ~part["experiment"].str.contains("_long_")
        for axis, rows in (
            (axes[row, column], part[short & part["policy"].isin(PUBLISHED)]),
            (axes[row + 2, column], part),
        ):
            for name, curve in rows.groupby("policy", sort=False):
                label = name.partition(",")[0] if name.startswith("LFG") else name
                draw_curve(
                    axis,
                    curve.sort_values("round", kind="stable"),
                    label,
                    name=name,
                    colour=colours.get(name),
                    dash="--" if name == "LFG, η₀ = T" else None,
                    one_run=False,
                    spread=False,
                    marker=".",
                )
            axis.set_title(panel, fontsize="medium")
        axes[row, column].set_xlim(left=0)
        axes[row, column].set_ylim(bottom=0)
        axes[row, column].xaxis.set_major_formatter(EngFormatter(sep=""))
        axes[row + 2, column].set_xscale("log")
        axes[row + 2, column].set_yscale("symlog", linthresh=10, linscale=0.3)
        axes[row + 2, column].set_ylim(bottom=0)
        axes[row + 2, column].set_xlabel("number of rounds T")
    for row in range(4):
        axes[row, 0].set_ylabel("penalised regret R(T)" + "\n(log axes)" * (row >= 2))
    handles, names = axes[2, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure, curves


def regret_curves(table: object, footer: dict) -> Iterator[tuple[np.ndarray, pd.DataFrame]]:
    """Yield each policy's penalised regret, (n_replicates, n_rounds), and its summary.

    The summary is over all replicates, and over as many as the paper has.
    """
    for run in joined(runs_of(table, footer)):
        values = regret_of(run, footer)
        for some in readings_of(values, footer):
            curve = summarise(run.law, "R(T)", run.rounds, some)
            yield (
                some,
                curve.assign(
                    policy=name_of(run, footer),
                    panel=panel_of(footer),
                    experiment=footer["experiment"],
                ),
            )


def regret_of(run: RunData, footer: dict) -> np.ndarray:
    """Return the penalised regret of a run, shape (n_replicates, n_rounds)."""
    means = run.values["mean"][:, 0]
    rates = penalty_rates(footer["penalties"], means)
    return penalised_regret(run.rounds, run.values["plays"], means, footer["quotas"], rates)


def name_of(run: RunData, footer: dict) -> str:
    """Return a policy's name, for LFG with its weight."""
    label = footer["labels"][run.policy]
    exponent = run.cell.get("eta_exponent")
    weights = {0.5: "√T", 1.0: "T"}
    return label if exponent is None else f"{label}, η₀ = {weights[exponent]}"


def panel_of(footer: dict) -> str:
    """Return a panel's title: the number of arms and the sum of the quotas."""
    total = sum(rational("quotas", quota) for quota in footer["quotas"])
    return f"K = {len(footer['quotas'])}, τ = {float(total):g}"


# ------------------------------------------------------------------- unfairness paths (Figure 3)


def unfairness_paths(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the pulls that each arm lacks against the scale parameter (Fig. 3)."""
    del published
    curves = pd.concat(part for dataset in datasets for part in _paths_of(dataset))
    policies = list(dict.fromkeys(curves["policy"]))
    settings = list(dict.fromkeys(curves["panel"]))
    figure, axes = plt.subplots(
        *(len(settings), len(policies)),
        figsize=(10.4, 6.8),
        layout="constrained",
        sharey="row",
        sharex=True,
    )
    arms = list(dict.fromkeys(curves["series"]))
    colours = dict(zip(arms, sns.color_palette("viridis", len(arms)), strict=True))
    for row, setting in zip(axes, settings, strict=True):
        for axis, policy in zip(row, policies, strict=True):
            part = curves[(curves["panel"] == setting) & (curves["policy"] == policy)]
            for arm, curve in part.groupby("series", sort=False):
                draw_curve(axis, curve, arm, name=arm, colour=colours[arm], one_run=False)
            axis.set_title(f"{policy}, setting {setting[-1]}", fontsize="medium")
            axis.set_xlim(0, 1)
            axis.set_ylim(bottom=0)
        row[0].set_ylabel("pulls that the arm lacks")
    words = {"HT-UCB": "A = η", "Flearn": "α = (1 − η) τ₁T", "LFG": "η₀ = (1 − η) T"}
    for axis, policy in zip(axes[-1], policies, strict=True):
        axis.set_xlabel(f"scale parameter η ({words[policy]})")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=8)
    return figure, curves


def _paths_of(dataset: Dataset) -> Iterator[pd.DataFrame]:
    footer = dataset.footer
    for (policy, law), (parameters, values) in along_sweeps(dataset, _levels_of).items():
        etas = scale_of(policy, parameters)
        order = np.argsort(etas, kind="stable")
        for arm in range(values.shape[-1]):
            curve = summarise(law, f"arm {arm + 1}", etas[order], values[:, order, arm], "eta")
            yield curve.assign(
                policy=policy, panel=footer["experiment"], parameter=parameters[order]
            )


def scale_of(policy: str, parameters: np.ndarray) -> np.ndarray:
    """Return Experiment D's scale parameter eta for each value of a policy's own parameter.

    The penalty rate is eta; the tolerance is (1 - eta) tau_1 T and LFG's weight (1 - eta) T, and
    their largest values are those of eta = 0.
    """
    if policy == "HT-UCB":
        return parameters
    return np.round(1 - parameters / parameters.max(), 12)


def _levels_of(run: RunData, footer: dict) -> np.ndarray:
    return unfairness_levels(run.rounds, run.values["plays"], footer["quotas"])[:, -1]


def along_sweeps(
    dataset: Dataset, measure: Callable[[RunData, dict], np.ndarray]
) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """Return a measure along each policy's sweep of one parameter, by label and law.

    Each entry has the values of the parameter, shape (n_values,), and the measure, shape
    (n_replicates, n_values, ...). `measure` takes a run and the footer.
    """
    found: dict[tuple[str, str], list[tuple[float, np.ndarray]]] = {}
    for run in runs_of(*dataset):
        label = dataset.footer["labels"][run.policy]
        found.setdefault((label, run.law), []).append(
            (run.cell[SCALES[label]], measure(run, dataset.footer))
        )
    return {
        key: (np.array([value for value, _ in points]), np.stack([one for _, one in points], 1))
        for key, points in found.items()
    }


# ------------------------------------------------------------------------- frontiers (Figure 4)


def frontiers(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw reward against unfairness along each policy's sweep (Fig. 4)."""
    del published
    points = [along_sweeps(dataset, balance_of) for dataset in datasets]
    laws = list(dict.fromkeys(law for found in points for _, law in found))
    curves = pd.concat(
        frontier_curve(policy, law, *found[policy, law]).assign(panel=panel_of(dataset.footer))
        for law in laws
        for dataset, found in zip(datasets, points, strict=True)
        for policy in dict.fromkeys(name for name, _ in found)
    )
    figure, axes = plt.subplots(
        len(datasets), len(laws), figsize=(10.4, 10.4), layout="constrained", squeeze=False
    )
    for row, dataset, found in zip(axes, datasets, points, strict=True):
        panel = panel_of(dataset.footer)
        for axis, law in zip(row, laws, strict=True):
            part = curves[(curves["law"] == law) & (curves["panel"] == panel)]
            for policy, curve in part.groupby("policy", sort=False):
                if policy != "LFG, even grid":
                    _frontier(axis, curve, policy)
            _near(axis, part)
            if axis is axes[0, 0]:
                _even_grid(axis, part)
            low, high = shared_range(found, law)
            axis.axvspan(low, high, color="0.93", lw=0, zorder=0, label="range that all reach")
            axis.set_title(f"{panel}, {LAW_NAMES[law]}", fontsize="medium")
            axis.yaxis.set_major_formatter(EngFormatter(sep=""))
        row[0].set_ylabel("expected reward")
    for axis in axes[-1]:
        axis.set_xlabel("unfairness, pulls lacking in all")
    inset = axes[0, 0].child_axes
    drawn = [axis.get_legend_handles_labels() for axis in (axes[0, 0], *inset)]
    legend = dict(pair for handles, names in drawn for pair in zip(names, handles, strict=True))
    figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=5)
    return figure, curves


def _near(axis: Axes, part: pd.DataFrame) -> None:
    """Cut the axis off below the rewards of HT-UCB and Flearn; LFG without rewards is far below."""
    reward = part[part["policy"].isin(["HT-UCB", "Flearn"])]["mean"]
    low, high = reward.min(), reward.max()
    axis.set_ylim(low - 0.4 * (high - low) - 1, high + 0.1 * (high - low) + 1)


def _even_grid(axis: Axes, part: pd.DataFrame) -> None:
    """Draw the whole of LFG's curve, and its version on an even grid, inside a panel."""
    inset = axis.inset_axes((0.52, 0.12, 0.46, 0.36))
    for policy in ("HT-UCB", "LFG", "LFG, even grid"):
        _frontier(inset, part[part["policy"] == policy], policy)
    inset.yaxis.set_major_formatter(EngFormatter(sep=""))
    inset.tick_params(labelsize=6)


def balance_of(run: RunData, footer: dict) -> np.ndarray:
    """Return unfairness and expected reward at the last round, shape (n_replicates, 2)."""
    plays, means = run.values["plays"], run.values["mean"][:, 0]
    both = unfairness(run.rounds, plays, footer["quotas"]), mean_reward(plays, means)
    return np.stack([one[:, -1] for one in both], axis=1)


def frontier_curve(
    policy: str, law: str, parameters: np.ndarray, values: np.ndarray
) -> pd.DataFrame:
    """Return mean reward against mean unfairness, in order of the unfairness."""
    lacking = values[:, :, 0].mean(axis=0)
    order = np.argsort(lacking, kind="stable")
    curve = summarise(law, "reward", lacking[order], values[:, order, 1], "unfairness")
    return curve.assign(policy=policy, parameter=parameters[order])


def _frontier(axis: Axes, curve: pd.DataFrame, policy: str) -> None:
    even = policy == "LFG, even grid"
    axis.plot(
        *(curve["unfairness"], curve["mean"]),
        color=COLOURS[policy],
        ls=":" if even else "-",
        lw=1.2,
        marker="s" if even else "o",
        ms=3 if even else 2.5,
        mfc="none" if even else None,
        label=policy,
    )


def shared_range(
    found: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]],
    law: str,
    policies: tuple[str, ...] = ("HT-UCB", *RIVALS),
) -> tuple[float, float]:
    """Return the range of mean unfairness that the curves of all these policies reach."""
    reached = [found[policy, law][1][:, :, 0].mean(axis=0) for policy in policies]
    return max(one.min() for one in reached), min(one.max() for one in reached)


def frontier_differences(
    found: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]], law: str, rival: str
) -> pd.DataFrame:
    """Return HT-UCB's reward less a rival's at the same unfairness, within their shared range.

    Both curves of means are interpolated at evenly spaced levels of unfairness; the 95 % interval
    is that of the percentile bootstrap over replicates, the same for both, since both policies
    meet the same instances and rewards.
    """
    low, high = shared_range(found, law, ("HT-UCB", rival))
    levels = np.linspace(low, high, LEVELS)
    own, other = found["HT-UCB", law][1], found[rival, law][1]
    n = len(own)
    generator = np.random.default_rng(n)
    drawn = generator.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) / n
    weights = np.vstack([np.full(n, 1 / n), drawn])
    differences = _interpolated(own, weights, levels) - _interpolated(other, weights, levels)
    interval = np.quantile(differences[1:], [0.025, 0.975], axis=0)
    return pd.DataFrame(
        {
            "unfairness": levels,
            "difference": differences[0],
            "low": interval[0],
            "high": interval[1],
            "reward": _interpolated(own, weights[:1], levels)[0],
        }
    )


def _interpolated(values: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the reward at these levels for each row of weights of the replicates."""
    means = np.einsum("bn,nmk->bmk", weights, values)
    rows = []
    for lacking, reward in means.transpose(0, 2, 1):
        order = np.argsort(lacking, kind="stable")
        rows.append(np.interp(levels, lacking[order], reward[order]))
    return np.array(rows)


#: Name of each figure -> the function that draws it, and the recorded columns that it needs.
FIGURES = {
    "fig1": (pulls, ["plays"]),
    "fig2": (penalised, ["plays", "mean", "horizon", "eta_exponent"]),
    "fig3": (unfairness_paths, ["plays", "penalties", "tolerance", "eta"]),
    "fig4": (frontiers, ["plays", "mean", "penalties", "tolerance", "eta"]),
}

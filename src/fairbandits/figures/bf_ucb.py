"""Figures 1 to 3 of the BF-UCB paper, with the policies as printed beside those as released."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairbandits.figures import figure, panels
from fairbandits.library.style import COLOURS, PALETTE, draw_curve, legend, named, shades
from fairbandits.measures import groups as measures
from fairbandits.measures.pulls import pseudo_reward
from fairbandits.measures.summary import summarise
from fairbandits.rationals import rational
from fairbandits.replication.recorded import Dataset, RunData, runs_of, specs_of
from fairbandits.settings.spec import RunSpec

VERSIONS = {"paper": "as printed, nothing cut off at 1", "released": "as in the released program"}
GROUP_COLOURS = {"majority": PALETTE[0], "minority": PALETTE[1]}
#: The policies of Figures 3b and 3c, in the order of its bars.
POLICIES = ("BF-UCB", "GEF", "MF", "UCB")
#: The best fair policy with known means, which is not in the paper's Figure 3a.
OPTIMUM = "best fair policy"
#: The name that the notebook's cell for Figure 3c writes below the bars of each policy.
ROTATED = {"BF-UCB": "BF-UCB", "UCB": "MF", "MF": "GEF", "GEF": "UCB"}


def version_of(spec: RunSpec) -> str:
    return spec.parameters.get("version", "paper")


def quota_of(spec: RunSpec) -> float:
    """Return the quota of every group, NaN for a policy without quotas."""
    quotas = spec.parameters.get("quotas")
    return float(rational("quotas", quotas[0])) if quotas else np.nan


def at_quota(spec: RunSpec) -> bool:
    """Return whether a run has the quota of Figures 2 and 3, or none."""
    return quota_of(spec) == 0.4 or np.isnan(quota_of(spec))


def rows_of(keep: Callable[[RunSpec], bool], last: bool = False) -> Callable[[dict], pc.Expression]:
    """Return a filter of a dataset's rows: selected runs, in all rounds or in their last."""

    def rows(footer: dict) -> pc.Expression:
        names = [name for name, spec in specs_of(footer).items() if keep(spec)]
        runs = pc.field("run").isin(names)
        return runs & (pc.field("round") == footer["horizon"]) if last else runs

    return rows


def each_run(datasets: list[Dataset]) -> Iterator[tuple[str, RunData, np.ndarray]]:
    """Yield label, run and true means, (n_replicates, n_arms), of the runs whose rows were read."""
    for table, footer in datasets:
        for run in runs_of(table, footer):
            if run.rounds.size:
                fixed = np.tile(footer["means"], (footer["replicates"], 1))
                drawn = run.values["mean"][:, 0] if "mean" in run.values else fixed
                yield footer["labels"][run.policy], run, drawn


def regrets_of(run: RunData, means: np.ndarray) -> dict[str, np.ndarray]:
    """Return the regrets of probabilities and pulls, and the part of groups beyond their quotas."""
    plays, probability = run.values["plays"], run.values["probability"]
    given = means, run.spec.groups, run.spec.parameters["quotas"]
    return {
        "regret": measures.group_regret(run.rounds, probability, *given),
        "regret, pulls": measures.group_regret(run.rounds, plays, *given),
        "regret between groups": measures.decomposition(run.rounds, plays, probability, *given)[0],
    }


@figure(
    fig1a="reward regret, high separation",
    fig1b="reward regret, low separation",
    reads=["plays", "mean", "probability"],
    rows=rows_of(lambda spec: spec.policy == "bf_ucb"),
    quantity="the reward regret up to round t, of probabilities or of pulls, or its part between "
    "groups",
    unit="reward",
)
def regret(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the reward regret of BF-UCB for three quotas.

    Reward regret of BF-UCB for three quotas, computed from the probabilities with which arms were
    drawn. Groups have {{ groups | join(" and ") }} arms. {{ version }}{% if shows | length > 1 %},
    on its own instances, where the first mean of each group is fixed{% endif %}. Thick line:
    {{ mean }}; narrow band: 95 % t interval of the mean; dashed lines: 95 % of the replicates. The
    axes of the two panels differ.

    Columns
    -------
    version
        Version of the policies: as printed in the paper (`paper`) or as in the authors' program
        (`released`).
    quota
        Quota beta of each group, a fraction of the rounds (in a dataset `quota` is a numerator).
        Range: 0 to 1; none for policies without quotas.
    """
    curves = pd.concat(
        _curve(run, series, run.rounds, values, quota=quota_of(run.spec))
        for _, run, means in each_run(datasets)
        for series, values in regrets_of(run, means).items()
    )
    drawing, axes = _two_versions()
    quotas = sorted(curves["quota"].unique())
    colours = dict(zip(quotas, shades("BF-UCB", len(quotas)), strict=True))
    regrets = panels.of(curves, series="regret")
    for axis, part in panels.each(axes[0], regrets, version=VERSIONS):
        for quota, curve in part.groupby("quota"):
            name, colour = f"β = ({quota:g}, {quota:g})", colours[quota]
            draw_curve(axis, curve, "BF-UCB", name=name, colour=colour, one_run=False, spread=False)
            for edge in ("run_low", "run_high"):  # bands of three shades would hide each other
                axis.plot(curve["round"], curve[edge], color=colour, lw=0.8, ls=(0, (4, 2)))
        panels.rounds_axis(axis, part)
        panels.zero_line(axis)
        panels.thousands(axis.yaxis)
    axes[0, 0].set_ylabel("reward regret, in reward")
    legend(axes[0, 1], named(*axes.flat), loc="upper left")  # dashed lines cross the other side
    return drawing, curves


def _curve(run: RunData, series: str, *summarised: Any, **more: Any) -> pd.DataFrame:
    return summarise(run.law, series, *summarised).assign(version=version_of(run.spec), **more)


def _two_versions(rows: int = 1, **options: Any) -> tuple[Figure, np.ndarray]:
    drawing, axes = panels.grid(rows, 2, 3.2 * rows + 0.4, **options)
    for axis, title in zip(axes[0], VERSIONS.values(), strict=True):
        axis.set_title(title)
    return drawing, axes


def distance_of(run: RunData, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounds in which both groups are drawn from by merit, and each one's distance."""
    groups = run.spec.groups
    drawn = (measures.per_group(run.values["share"], groups) > 0.5).all(axis=(0, 2))
    drawn[-1] = True  # a very short run has initial rounds only
    policy = run.values["share"][:, drawn]
    return run.rounds[drawn], measures.policy_distance(policy, means, groups)


@figure(
    fig2a="distance to the fair policy, high separation",
    fig2b="distance to the fair policy, low separation",
    reads=["mean", "share"],
    rows=rows_of(lambda spec: spec.policy == "bf_ucb" and at_quota(spec)),
    quantity="the distance sum_k |p_k - p*_k| of the group's probabilities from the fair ones, "
    "0 to 2",
)
def policy_distances(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the distance of BF-UCB's policy in each group from the fair policy.

    Distance between BF-UCB's probabilities and those of the fair policy, summed over a group's
    arms, in the group's last round so far, with quotas of 0.4 and groups of
    {{ groups | join(" and ") }} arms. {{ version }}. Above: the published axes; below: logarithmic
    axes. Thick line: {{ mean }}; {{ spread }}.
    """
    curves = pd.concat(
        _curve(run, group, rounds, values[:, :, g], quota=quota_of(run.spec))
        for _, run, means in each_run(datasets)
        for rounds, values in [distance_of(run, means)]
        for g, group in enumerate(GROUP_COLOURS)
    )
    drawing, axes = _two_versions(2, sharey="row")
    for log, row in enumerate(axes):
        for axis, part in panels.each(row, curves, version=VERSIONS):
            for group, colour in GROUP_COLOURS.items():
                draw_curve(axis, panels.of(part, series=group), group, colour=colour, one_run=False)
            panels.rounds_axis(axis, part, bool(log))
            axis.set(**({"yscale": "log"} if log else {"ylim": (0, None)}))
    panels.label_rows(axes, "distance of the policy from the fair one")
    legend(axes[0, 1], named(*axes.flat))
    return drawing, curves


def ratios_to_ucb(datasets: list[Dataset]) -> Iterator[tuple[str, str, RunData, np.ndarray]]:
    """Yield policy, name of a UCB, run and its expected rewards over that UCB's, run by run."""
    rewards: dict[tuple[str, str], tuple[RunData, np.ndarray]] = {}
    others: dict[str, np.ndarray] = {}
    for label, run, means in each_run(datasets):
        version = version_of(run.spec)
        played = run.values["plays"] - run.values["initial_plays"]
        earned = pseudo_reward(played, means)
        if label in POLICIES:
            rewards[version, label] = run, earned
        elif label.startswith("UCB"):
            others[label] = earned
        if label == "BF-UCB":
            given = means, run.spec.groups, run.spec.parameters["quotas"]
            optimum = measures.fair_optimum(run.rounds, *given)
            rewards[version, OPTIMUM] = run, played.sum(axis=-1) * optimum / run.rounds
    for (version, label), (run, earned) in rewards.items():
        bases = {"UCB": rewards[version, "UCB"][1]} if label != "UCB" else {}
        bases |= others if label == "BF-UCB" else {}
        for name, base in bases.items():
            own, none = earned[: len(base)], np.full(base.shape, np.nan)  # before UCB has any
            yield label, name, run, np.divide(own, base, out=none, where=base > 0)


@figure(
    fig3a="rewards over UCB's",
    reads=["plays", "mean", "initial_plays"],
    rows=rows_of(at_quota),
    quantity="the expected reward after the initial rounds over that of the baseline",
)
def normalised_rewards(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the rewards of three policies, and the best fair one's, over UCB's.

    Expected rewards of the pulls after the initial rounds divided by those of UCB, run by run, with
    quotas of 0.4. {{ versions }}. Above: as published; middle: on a logarithmic axis; below: BF-UCB
    over other readings of a conventional UCB. {{ mean | capitalize }}, over
    {{ shows[1].replicates }} for the other readings; {{ spread }}.

    Columns
    -------
    baseline
        Label of the UCB that the rewards are divided by.
    """
    curves = pd.concat(
        _curve(run, label, run.rounds[started], ratio[:, started], baseline=baseline)
        for label, baseline, run, ratio in ratios_to_ucb(datasets)
        for started in [np.isfinite(ratio).all(axis=0) | (run.rounds == run.rounds[-1])]
    )
    drawing, axes = _two_versions(3, sharey=True)
    for (above, middle, below), version in zip(axes.T, VERSIONS, strict=True):
        part = panels.of(curves, version=version)
        for axis in (above, middle):
            for label in (*POLICIES[:-1], OPTIMUM):
                curve = panels.of(part, series=label, baseline="UCB")
                draw_curve(axis, curve, label, one_run=False, spread=label != OPTIMUM)
        for baseline, curve in panels.of(part, series="BF-UCB").groupby("baseline", sort=False):
            colour = COLOURS["BF-UCB" if baseline == "UCB" else baseline]
            look = {"name": f"over {baseline}", "colour": colour, "spread": False}
            draw_curve(below, curve, "BF-UCB", one_run=False, **look)
        for axis in (above, middle, below):
            axis.axhline(1, color=COLOURS["UCB"], lw=1.2, label="UCB")
            panels.rounds_axis(axis, part)
        for axis in (middle, below):
            axis.set_xscale("log")
            axis.set_xlim(min(1000, part["round"].max() / 2), part["round"].max())
    axes[0, 0].set_ylabel("rewards over UCB's")
    axes[1, 0].set_ylabel("rewards over UCB's\n(logarithmic axis)")
    axes[2, 0].set_ylabel("BF-UCB's rewards\nover those of several UCBs")
    for row in (0, 2):
        legend(axes[row, 1], named(*axes[row]), fontsize="small")
    return drawing, curves


def _exposure(label: str, run: RunData, x: str, pulls: np.ndarray, **more: Any) -> pd.DataFrame:
    """Return the pulls of arms or groups at the end, with their standard deviation."""
    at = np.arange(1, pulls.shape[1] + 1)
    return _curve(run, label, at, pulls, x, **more, sd=pulls.std(axis=0, ddof=1))


@figure(
    fig3b="pulls of the groups",
    reads=["plays"],
    rows=rows_of(at_quota, last=True),
    quantity="the group's pulls at the last round",
    unit="pulls",
)
def group_exposure(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the pulls of each group under four policies.

    Pulls of the majority and the minority after {{ horizon }} rounds, with quotas of 0.4.
    {{ versions }}. Above: {{ groups | join(" and ") }} arms, {{ replicates }} replicates; below:
    {{ shows[1].groups | join(" and ") }} arms, {{ shows[1].replicates }} replicates. Thin bars:
    standard deviation over replicates; thick bars: 95 % t interval of the mean.

    Columns
    -------
    arms
        Sizes of the groups, in words.
    group
        Number g of the group; the minority is the last one. Range: whole number, counted from 1.
    sd : {unit}
        Standard deviation of the value over the replicates. Range: at least 0.
    """
    curves = pd.concat(
        _exposure(label, run, "group", pulls, arms=f"{' and '.join(map(str, groups))} arms")
        for label, run, _ in each_run(datasets)
        if label in POLICIES
        for groups in [run.spec.groups]
        for pulls in [measures.per_group(run.values["plays"][:, -1], groups)]
    )
    sizes = panels.different(curves, "arms")
    drawing, axes = _two_versions(len(sizes), sharey=True)
    places = np.arange(len(POLICIES))
    for axis, part in panels.each(axes, curves, arms=sizes, version=VERSIONS):
        for g, (group, colour) in enumerate(GROUP_COLOURS.items()):
            bars = panels.of(part, group=g + 1).set_index("series").loc[list(POLICIES)]
            _bars(axis, places + 0.4 * g - 0.2, bars, 0.38, colour, group)
        axis.set_xticks(places, POLICIES)
        panels.thousands(axis.yaxis)
    for row, words in zip(axes, sizes, strict=True):
        row[0].set_ylabel(f"pulls of the group\n({words})")
    legend(axes[0, 0], named(*axes.flat), loc="upper left")
    return drawing, curves


def _bars(axis: Axes, x: np.ndarray, bars: pd.DataFrame, width: float, colour: Any, name: str):
    axis.bar(x, bars["mean"], width, color=colour, label=name)
    half = bars["mean_high"] - bars["mean"]
    axis.errorbar(x, bars["mean"], bars["sd"], fmt="none", ecolor="0.25", lw=0.8, capsize=2)
    axis.errorbar(x, bars["mean"], half, fmt="none", ecolor=".1", lw=2.2)


@figure(
    fig3c="pulls of the minority's arms",
    reads=["plays"],
    rows=rows_of(at_quota, last=True),
    quantity="the arm's pulls at the last round",
    unit="pulls",
)
def arm_exposure(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the pulls of each minority arm, with true and with rotated labels.

    Pulls of each arm of the minority after {{ horizon }} rounds, with quotas of 0.4.
    {{ versions }}. Above: true labels; below, as a hypothesis: with the labels that the notebook's
    cell for this figure writes. Mean over {{ replicates }} replicates; thin bars: standard
    deviation; thick bars: 95 % t interval of the mean.

    Columns
    -------
    rotated
        Label that the authors' notebook writes below the bars of this policy.
    """
    curves = pd.concat(
        _exposure(label, run, "arm", pulls, rotated=ROTATED[label])
        for label, run, _ in each_run(datasets)
        if label in POLICIES
        for pulls in [run.values["plays"][:, -1, run.spec.groups[0] :]]
    )
    drawing, axes = _two_versions(2, sharey=True)
    words = {"series": "true labels", "rotated": "labels of the notebook's cell"}
    for row, (column, labels) in zip(axes, words.items(), strict=True):
        for axis, part in panels.each(row, curves, version=VERSIONS):
            for place, label in enumerate(POLICIES):
                bars = panels.of(part, **{column: label})
                x = bars["arm"].to_numpy() + 0.2 * place - 0.3
                _bars(axis, x, bars, 0.19, COLOURS[label], label)
            axis.set_xticks(sorted(part["arm"].unique()), [f"A{k}" for k in part["arm"].unique()])
            panels.thousands(axis.yaxis)
            axis.set_ylim(bottom=0)
        row[0].set_ylabel(f"pulls of the minority's arms\n({labels})")
    panels.legend_below(drawing, axes, 4)
    return drawing, curves

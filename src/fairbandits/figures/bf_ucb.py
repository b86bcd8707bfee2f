"""Figures 1 to 3 of the BF-UCB paper, with the policies as printed beside those as released."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import seaborn.objects as so

from fairbandits.figures import figure, panels
from fairbandits.library import style
from fairbandits.measures import groups as measures
from fairbandits.measures.pulls import pseudo_reward
from fairbandits.measures.summary import summarise
from fairbandits.rationals import rational
from fairbandits.replication.recorded import Dataset, RunData, runs_of, specs_of
from fairbandits.settings.spec import RunSpec

VERSIONS = {"paper": "as printed, nothing cut off at 1", "released": "as in the released program"}
GROUPS = ("majority", "minority")
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
    facts = means, run.spec.groups, run.spec.parameters["quotas"]
    return {
        "regret": measures.group_regret(run.rounds, probability, *facts),
        "regret, pulls": measures.group_regret(run.rounds, plays, *facts),
        "regret between groups": measures.decomposition(run.rounds, plays, probability, *facts)[0],
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
    on its own instances, where the first mean of each group is fixed{% endif %}. Line:
    {{ mean }}; {{ spread }}. The axes of the two panels differ.

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
    shown = panels.of(curves, series="regret").sort_values("quota", kind="stable")
    shown = shown.assign(name=[f"BF-UCB, β = ({quota:g}, {quota:g})" for quota in shown["quota"]])
    plots = [
        plot.label(y="reward regret (reward units)").limit(x=(0, None), y=(0, None))
        for plot in _by_version(shown, by="name", layers=style.SPREAD)
    ]
    said = style.note(curves, style.SPREAD, "the vertical axes differ")
    return style.drawn((style.PAGE, 2.7), said, *plots, columns=2), curves


def _by_version(curves: pd.DataFrame, **options: Any) -> list[so.Plot]:
    """Return a panel of curves over rounds for each version of the policies."""
    return [
        style.curves(panels.of(curves, version=version), **options).label(
            x=style.ROUNDS, title=title
        )
        for version, title in VERSIONS.items()
    ]


def _curve(run: RunData, series: str, *summarised: Any, **more: Any) -> pd.DataFrame:
    return summarise(run.law, series, *summarised).assign(version=version_of(run.spec), **more)


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
    axes. Line: {{ mean }}; {{ spread }}.
    """
    curves = pd.concat(
        _curve(run, group, rounds, values[:, :, g], quota=quota_of(run.spec))
        for _, run, means in each_run(datasets)
        for rounds, values in [distance_of(run, means)]
        for g, group in enumerate(GROUPS)
    )
    plots = [
        plot.label(y="distance from the fair policy").limit(x=(0, None))
        for plot in _by_version(curves, layers=style.SPREAD) * 2
    ]
    said = style.note(curves, style.SPREAD, "a, b: axes as published", "c, d: logarithmic axes")
    drawing = style.drawn((style.PAGE, 4.4), said, *plots, columns=2, share="row")
    panels.log_rounds(drawing.axes[2:])
    style.scale(drawing.axes[2:], y="log")
    drawing.axes[0].set_ylim(bottom=0)
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
            facts = means, run.spec.groups, run.spec.parameters["quotas"]
            optimum = measures.fair_optimum(run.rounds, *facts)
            rewards[version, OPTIMUM] = run, played.sum(axis=-1) * optimum / run.rounds
    for (version, label), (run, earned) in rewards.items():
        bases = {"UCB": rewards[version, "UCB"][1]} if label != "UCB" else {}
        bases |= others if label == "BF-UCB" else {}
        for name, base in bases.items():
            part, none = earned[: len(base)], np.full(base.shape, np.nan)  # before UCB has any
            yield label, name, run, np.divide(part, base, out=none, where=base > 0)


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
    usual = curves[(curves["baseline"] == "UCB") & curves["series"].isin((*POLICIES[:-1], OPTIMUM))]
    others = panels.of(curves, series="BF-UCB")
    others = others.assign(series=[f"BF-UCB over {baseline}" for baseline in others["baseline"]])
    looks = {"colours": style.palette(pd.concat([usual, others])["series"].unique())}
    near = _by_version(usual, layers=style.SPREAD, **looks)
    far = _by_version(others, layers=style.MEANS, **looks)
    plots = [plot.label(y="rewards (ratio to UCB's)") for plot in [*near, *near]]
    plots += [plot.label(y="BF-UCB's rewards (ratio)") for plot in far]
    notes = (
        "grey line: as much as UCB",
        "a, b: axes as published",
        "e, f: over several UCBs, without light bands",
    )
    said = style.note(curves, style.SPREAD, *notes)
    plots = [plot.limit(x=(0, None)) for plot in plots]
    drawing = style.drawn((style.PAGE, 6.4), said, *plots, columns=2, share="all")
    panels.log_rounds(drawing.axes[2:], 1000)
    for axes in drawing.axes:
        axes.axhline(1, color=".6", linewidth=0.8, zorder=0)
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
    rows = curves.assign(name=[GROUPS[group - 1] for group in curves["group"]])
    drawing = _bars(rows, "series", POLICIES, by="name").facet("version", "arms")
    drawing = drawing.label(x="", y="pulls of the group", title=_title)
    return style.drawn((style.PAGE, 4.0), _note(curves), drawing), curves


def _title(name: str) -> str:
    return VERSIONS.get(name, name)


def _note(curves: pd.DataFrame, *more: str) -> list[str]:
    mean, *_ = style.note(curves, style.POINTS)
    deviation = "thin line: standard deviation over replicates"
    return [
        mean.replace("line", "bar"),
        deviation,
        "thick line: 95 % t interval of the mean",
        *more,
    ]


def _bars(rows: pd.DataFrame, x: str, order: Iterable[str], by: str) -> so.Plot:
    """Return bars side by side, each with its standard deviation and its interval."""
    rows = rows.assign(sd_low=rows["mean"] - rows["sd"], sd_high=rows["mean"] + rows["sd"])
    beside = so.Dodge(by=["color"])
    drawing = style.plot(rows, by, x=x).add(so.Bar(alpha=1, edgewidth=0), beside, y="mean")
    for width, prefix in ((0.6, "sd"), (1.6, "mean")):
        line = so.Range(color=".1", linestyle="-", linewidth=width)
        ends = {"ymin": f"{prefix}_low", "ymax": f"{prefix}_high"}
        drawing = drawing.add(line, beside, **ends, legend=False)
    return drawing.scale(x=so.Nominal(order=[*order])).limit(y=(0, None))


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
    titles = {"series": "true labels", "rotated": "labels of the notebook's cell"}
    rows = pd.concat(
        curves.assign(name=curves[column], labels=label) for column, label in titles.items()
    )
    rows = rows.assign(place=[f"A{arm}" for arm in rows["arm"]])
    drawing = _bars(rows, "place", rows["place"].unique(), by="name")
    drawing = drawing.facet("version", "labels").label(x="", y="pulls of the arm", title=_title)
    rotated = ", ".join(f"{name} for {true}" for true, name in ROTATED.items() if name != true)
    said = (
        f"c, d, a hypothesis: each policy under the name that the notebook's cell writes, {rotated}"
    )
    return style.drawn((style.PAGE, 4.2), _note(curves, said), drawing), curves

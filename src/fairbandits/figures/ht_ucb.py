"""Figures 1 to 4 of the hard-threshold paper: pulls, penalised regret, paths, frontiers."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fairbandits.figures import figure, panels
from fairbandits.library.style import COLOURS, LAW_TITLES, draw_curve, shades, viridis
from fairbandits.measures import penalised as measures
from fairbandits.measures.penalties import penalty_rates
from fairbandits.measures.summary import summarise
from fairbandits.rationals import rational
from fairbandits.replication.recorded import Dataset, RunData, joined, runs_of
from fairbandits.theory.penalised import arm_sets, fluid_pulls

#: Reward laws; the paper states a range for rewards, but not for these experiments.
LAW_NAMES = LAW_TITLES | {"bernoulli": "Bernoulli rewards"}
#: Marker of each reward law; the first of an experiment is the primary reading.
MARKERS = {"gaussian": "o", "bernoulli": "^", "deterministic": "x"}
#: Published policies of Figure 2; LFG's exponent of eta_0 in the paper is 1/2.
PUBLISHED = ("HT-UCB", "LFG, η₀ = √T", "Flearn")


@figure(
    fig1="pulls against inverse gaps",
    reads=["plays"],
    quantity="the arm's pulls at the last round",
    unit="pulls",
)
def pulls(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the pulls of non-critical and of critical arms against inverse gaps.

    Pulls of an arm after {{ horizon }} rounds of HT-UCB against its inverse gap. Above:
    non-critical arms (Experiment A, gap minus penalty rate), below: critical arms (Experiment B), a
    column for each case. Large points: mean over {{ replicates }} replicates with Gaussian rewards,
    bars: 95 % t interval of the mean; crosses: one replicate; small marks: other reward laws. The
    laws are reconstructed. Horizontal line: quota times rounds. Curve: fluid law of HT-UCB.

    Columns
    -------
    inverse_gap : rounds squared per reward squared
        1 / (gap)^2 of the arm, for a non-critical one 1 / (gap - penalty rate)^2. Range: above 0.
    arm
        Number of the arm. Range: whole number from 1 to the number of arms, counted from 1.
    fluid : pulls
        Pulls of the arm by the fluid law of HT-UCB. Range: at least 0.
    """
    curves = pd.concat(part for dataset in datasets for part in _pulls_of(dataset))
    drawing, axes = panels.grid(2, 3, 6.6)
    for axis, (_, footer) in zip(axes.flat, datasets, strict=True):
        shown = {"panel": footer["experiment"], "n_replicates": footer["replicates"]}
        _points(axis, panels.of(curves, **shown))
        _fluid_curve(axis, footer)
        axis.axhline(_level(footer), color="tab:blue", lw=2.5, alpha=0.5, label="level τT")
        kind, gap, lowest = "critical", "Δ²", 0.9 * _level(footer)
        if is_raised(footer):
            kind, gap, lowest = "non-critical", "(Δ − A)²", 0
        title = f"{kind} arms, case {footer['experiment'][-1]}"
        axis.set(title=title, xlabel=f"1 / {gap}", xlim=(0, None), ylim=(lowest, None))
    panels.label_rows(axes, f"pulls in {datasets[0].footer['horizon']} rounds")
    panels.legend_below(drawing, axes, 6)
    return drawing, curves


def is_raised(footer: dict) -> bool:
    """Return whether gaps are Delta - A, as in Experiment A, and not Delta, as in Experiment B."""
    return footer["experiment"].startswith("non_critical")


def inverse_gaps(footer: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return the arms of Experiment A or B, 0-based, and 1 / gap^2, in order of the latter."""
    sets = arm_sets(footer["means"], footer["penalties"])
    arms = np.flatnonzero(sets.non_critical if is_raised(footer) else sets.critical)
    exact = [rational("means", mean) for mean in footer["means"]]
    cost = rational("penalties", footer["penalties"]) if is_raised(footer) else 0
    inverse = np.array([float(1 / (max(exact) - exact[arm] - cost) ** 2) for arm in arms])
    order = np.argsort(inverse, kind="stable")
    return arms[order], inverse[order]


def fluid_law(footer: dict) -> np.ndarray:
    return fluid_pulls(footer["means"], footer["quotas"], footer["penalties"], footer["horizon"])


def _level(footer: dict) -> float:
    return float(rational("quotas", footer["quotas"][0]) * footer["horizon"])


def _pulls_of(dataset: Dataset) -> Iterator[pd.DataFrame]:
    footer = dataset.footer
    arms, inverse = inverse_gaps(footer)
    facts = {"arm": arms + 1, "fluid": fluid_law(footer)[arms]}
    facts |= {"policy": "HT-UCB", "panel": footer["experiment"]}
    for run in runs_of(*dataset):
        for some in readings_of(run.values["plays"][:, -1, arms], footer):
            yield summarise(run.law, "pulls", inverse, some, "inverse_gap").assign(**facts)


def readings_of(values: np.ndarray, footer: dict) -> Iterator[np.ndarray]:
    """Yield the values of all replicates, and of as many as the paper has."""
    yield values
    published = footer.get("published_replicates", len(values))
    if 1 < published < len(values):
        yield values[:published]


def _points(axis: Axes, part: pd.DataFrame) -> None:
    colour = COLOURS["HT-UCB"]
    look = {"ms": 7, "color": colour, "mfc": colour, "zorder": 3}  # of the primary law
    for law, rows in part.groupby("law", sort=False):
        x, mean = rows["inverse_gap"], rows["mean"].to_numpy()
        bars = np.abs(rows[["mean_low", "mean_high"]].to_numpy().T - mean)
        axis.errorbar(x, mean, bars, fmt=MARKERS[law], capsize=3, label=LAW_NAMES[law], **look)
        if look["color"] == colour:
            axis.plot(x, rows["one_run"], "+", ms=9, color=".1", mew=0.6, label="one run", zorder=5)
        look = {"ms": 5, "color": "0.35", "mfc": "none", "zorder": 4}


def _fluid_curve(axis: Axes, footer: dict) -> None:
    """Draw the fluid law for all gaps, with the best arm's pulls of this instance."""
    scale = np.sqrt(2 * np.log(footer["horizon"]))
    most = inverse_gaps(footer)[1][-1] * 1.05
    inverse = np.linspace(most / 400, most, 400)
    free = 1 / (1 / np.sqrt(inverse) / scale + fluid_law(footer).max() ** -0.5) ** 2
    law = (np.minimum if is_raised(footer) else np.maximum)(free, _level(footer))
    axis.plot(inverse, law, color=COLOURS["HT-UCB"], lw=1.2, label="fluid law")


@figure(
    fig2="penalised regret",
    reads=["plays", "mean", "horizon", "eta_exponent"],
    quantity="the penalised regret R(T)",
    unit="reward",
)
def penalised(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the penalised regret against the number of rounds, with controls.

    Penalised regret against the number of rounds for 5 and 20 arms and three sums of quotas. Above:
    the published curves, up to {{ horizon }} rounds; below: with controls that the paper does not
    have, up to {{ shows[6].horizon }} rounds, on logarithmic axes. Mean over {{ replicates }}
    replicates ({{ published_replicates }} in the paper), beyond {{ horizon }} rounds over
    {{ shows[6].replicates }}; band: 95 % t interval of the mean. The means of the arms are drawn
    uniformly for each replicate, which is reconstructed.
    """
    curves = pd.concat(curve for dataset in datasets for curve in _regret_curves(dataset))
    drawing, axes = panels.grid(4, len(datasets) // 4, figsize=(11, 10.8))
    colours = dict(zip(["LFG, η₀ = √T", "LFG, η₀ = T"], shades("LFG", 3)[1:], strict=True))
    most = curves.groupby("experiment")["n_replicates"].transform("max")
    shown = curves[curves["n_replicates"] == most]
    short = ~shown["experiment"].str.contains("_long_")
    published = shown[short & shown["policy"].isin(PUBLISHED)]
    titles = panels.different(curves, "panel")
    above, below = axes[:2], axes[2:]
    for rows, kept in ((above, published), (below, shown)):
        for axis, part in panels.each(rows, kept, panel=titles):
            for name, curve in part.groupby("policy", sort=False):
                label = name.partition(",")[0] if name.startswith("LFG") else name
                look = {"colour": colours.get(name), "marker": "."}
                look |= {"dash": "--"} if name == "LFG, η₀ = T" else {}
                curve = curve.sort_values("round", kind="stable")
                draw_curve(axis, curve, label, name=name, one_run=False, spread=False, **look)
            axis.set_title(part["panel"].iloc[0])
    for axis in above.flat:
        axis.set(xlim=(0, None), ylim=(0, None))
        panels.thousands(axis.xaxis)
    for axis in below.flat:
        axis.set_xscale("log")
        axis.set_yscale("symlog", linthresh=10, linscale=0.3)
        axis.set(ylim=(0, None), xlabel="number of rounds T")
    panels.label_rows(above, "penalised regret\nR(T), in reward")
    panels.label_rows(below, "penalised regret\nR(T), log axes")
    panels.legend_below(drawing, below, 4)
    return drawing, curves


def _regret_curves(dataset: Dataset) -> Iterator[pd.DataFrame]:
    """Yield each policy's penalised regret, over all replicates and over as many as published."""
    footer = dataset.footer
    facts = {"panel": panel_of(footer), "experiment": footer["experiment"]}
    for run in joined(runs_of(*dataset)):
        for some in readings_of(regret_of(run, footer), footer):
            curve = summarise(run.law, "R(T)", run.rounds, some)
            yield curve.assign(policy=name_of(run, footer), **facts)


def regret_of(run: RunData, footer: dict) -> np.ndarray:
    means = run.values["mean"][:, 0]
    rates = penalty_rates(footer["penalties"], means)
    given = run.values["plays"], means, footer["quotas"], rates
    return measures.penalised_regret(run.rounds, *given)


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


@figure(
    fig3="unfairness paths",
    reads=["plays", "penalties", "tolerance", "eta"],
    quantity="the shortfall (tau_k T - N_k(T))+ of the arm at the last round",
    unit="pulls",
)
def unfairness_paths(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the shortfall of each arm against the scale parameter.

    Shortfall of each arm, in pulls, after {{ horizon }} rounds against the scale parameter η, for
    two settings (rows) and three policies (columns). Mean over {{ replicates }} replicates;
    {{ spread }}. The steps of η are reconstructed.

    Columns
    -------
    parameter
        Value of the policy's swept parameter: penalty rate (HT-UCB), tolerance (Flearn) or weight
        eta (LFG). Range: at least 0.
    """
    curves = pd.concat(part for dataset in datasets for part in _paths_of(dataset))
    policies, settings, arms = (
        panels.different(curves, one) for one in ("policy", "panel", "series")
    )
    drawing, axes = panels.grid(len(settings), len(policies), 6.8, sharey="row", sharex=True)
    colours = dict(zip(arms, viridis(len(arms)), strict=True))
    for axis, part in panels.each(axes, curves, panel=settings, policy=policies):
        for arm, curve in part.groupby("series", sort=False):
            draw_curve(axis, curve, arm, name=arm, colour=colours[arm], one_run=False)
        setting, policy = part[["panel", "policy"]].iloc[0]
        axis.set(title=f"{policy}, setting {setting[-1]}", xlim=(0, 1), ylim=(0, None))
    panels.label_rows(axes, "shortfall of the arm, in pulls")
    words = {"HT-UCB": "A = η", "Flearn": "α = (1 − η) τ₁T", "LFG": "η₀ = (1 − η) T"}
    for axis, policy in zip(axes[-1], policies, strict=True):
        axis.set_xlabel(f"scale parameter η ({words[policy]})")
    panels.legend_below(drawing, axes, 8)
    return drawing, curves


def _paths_of(dataset: Dataset) -> Iterator[pd.DataFrame]:
    for (policy, law), (parameters, values) in panels.along_sweeps(dataset, _levels).items():
        etas = scale_of(policy, parameters)
        order = np.argsort(etas, kind="stable")
        facts = {"policy": policy, "panel": dataset.footer["experiment"]}
        for arm in range(values.shape[-1]):
            curve = summarise(law, f"arm {arm + 1}", etas[order], values[:, order, arm], "eta")
            yield curve.assign(**facts, parameter=parameters[order])


def _levels(run: RunData, footer: dict) -> np.ndarray:
    return measures.unfairness_levels(run.rounds, run.values["plays"], footer["quotas"])[:, -1]


def scale_of(policy: str, parameters: np.ndarray) -> np.ndarray:
    """Return Experiment D's scale parameter eta for each value of a policy's own parameter."""
    if policy == "HT-UCB":  # the penalty rate
        return parameters
    # the tolerance is (1 - eta) tau_1 T, LFG's weight (1 - eta) T; the largest are of eta = 0
    return np.round(1 - parameters / parameters.max(), 12)


@figure(
    fig4="reward against unfairness",
    reads=["plays", "mean", "penalties", "tolerance", "eta"],
    quantity="the expected reward sum_k mu_k N_k(T) of the pulls",
    unit="reward",
)
def frontiers(datasets: list[Dataset]) -> panels.Drawing:
    """Draw reward against unfairness along each policy's sweep.

    Expected reward of all pulls against the unfairness, the summed shortfall of all arms, after
    {{ horizon }} rounds, for 4 instances (rows) and 3 reward laws (columns). Each point is a value
    of the policy's parameter. Means over {{ replicates }} replicates. Grey: levels of unfairness
    that all policies reach, the only ones where they can be compared. LFG's points with small
    weights are below the axes; the inset shows all of them, and LFG on an even grid of weights. The
    parameters, the number of rounds and the law of the means are reconstructed.

    Columns
    -------
    unfairness : pulls
        Mean over the replicates of sum_k (tau_k T - N_k(T))+, the shortfall of all arms together.
        Range: at least 0.
    """
    curves = pd.concat(part for dataset in datasets for part in _frontiers_of(dataset))
    laws = panels.different(curves, "law")
    curves = curves.sort_values("law", key=lambda own: own.map(laws.index), kind="stable")
    drawing, axes = panels.grid(len(datasets), len(laws), 10.4)
    titles = [panel_of(dataset.footer) for dataset in datasets]
    for axis, part in panels.each(axes, curves, panel=titles, law=laws):
        for policy, curve in part.groupby("policy", sort=False):
            if policy != "LFG, even grid":
                _frontier(axis, curve, policy)
        # LFG without rewards is far below
        reward = part[part["policy"].isin(["HT-UCB", "Flearn"])]["mean"]
        low, high = reward.min(), reward.max()
        axis.set_ylim(low - 0.4 * (high - low) - 1, high + 0.1 * (high - low) + 1)
        if axis is axes[0, 0]:
            inset = axis.inset_axes((0.52, 0.12, 0.46, 0.36))
            for policy in ("HT-UCB", "LFG", "LFG, even grid"):
                _frontier(inset, panels.of(part, policy=policy), policy)
            panels.thousands(inset.yaxis)
            inset.tick_params(labelsize=6)
        reached = part[part["policy"] != "LFG, even grid"].groupby("policy")["unfairness"]
        look = {"color": "0.93", "lw": 0, "zorder": 0, "label": "range that all reach"}
        axis.axvspan(reached.min().max(), reached.max().min(), **look)
        panel, law = part[["panel", "law"]].iloc[0]
        axis.set_title(f"{panel}, {LAW_NAMES[law]}")
        panels.thousands(axis.yaxis)
    panels.label_rows(axes, "expected reward")
    for axis in axes[-1]:
        axis.set_xlabel("summed shortfall, in pulls")
    panels.legend_below(drawing, [*axes.flat, inset], 5)
    return drawing, curves


def _frontiers_of(dataset: Dataset) -> Iterator[pd.DataFrame]:
    """Yield mean reward against mean unfairness of each policy, in order of the unfairness."""
    for (policy, law), (parameters, values) in panels.along_sweeps(dataset, balance_of).items():
        lacking = values[:, :, 0].mean(axis=0)
        order = np.argsort(lacking, kind="stable")
        curve = summarise(law, "reward", lacking[order], values[:, order, 1], "unfairness")
        facts = {"policy": policy, "parameter": parameters[order]}
        yield curve.assign(**facts, panel=panel_of(dataset.footer))


def balance_of(run: RunData, footer: dict) -> np.ndarray:
    """Return unfairness and expected reward at the last round, shape (n_replicates, 2)."""
    plays, means = run.values["plays"], run.values["mean"][:, 0]
    lacking = measures.unfairness(run.rounds, plays, footer["quotas"])
    return np.stack([lacking[:, -1], measures.mean_reward(plays, means)[:, -1]], axis=1)


def _frontier(axis: Axes, curve: pd.DataFrame, policy: str) -> None:
    look = {"ls": "-", "marker": "o", "ms": 2.5}
    if policy == "LFG, even grid":
        look = {"ls": ":", "marker": "s", "ms": 3, "mfc": "none"}
    x, y, colour = curve["unfairness"], curve["mean"], COLOURS[policy]
    axis.plot(x, y, color=colour, lw=1.2, label=policy, **look)

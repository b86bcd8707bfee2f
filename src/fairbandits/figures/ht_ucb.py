"""Figures 1 to 4 of the hard-threshold paper: pulls, penalised regret, paths, frontiers."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
import seaborn.objects as so

from fairbandits.figures import figure, panels
from fairbandits.library import style
from fairbandits.measures import penalised as measures
from fairbandits.measures.penalties import penalty_rates
from fairbandits.measures.summary import summarise
from fairbandits.rationals import rational
from fairbandits.replication.recorded import Dataset, RunData, joined, runs_of
from fairbandits.theory.penalised import arm_sets, fluid_pulls

#: Reward laws; the paper states a range for rewards, but not for these experiments.
LAW_NAMES = style.LAW_TITLES | {"bernoulli": "Bernoulli rewards"}
#: Published policies of Figure 2; LFG's exponent of eta_0 in the paper is 1/2.
PUBLISHED = ("HT-UCB", "LFG, η = √T", "Flearn")
FRONTIERS = ("HT-UCB", "Flearn", "LFG", "LFG, even grid")


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
    column for each case. Marks: mean over {{ replicates }} replicates, an arm's laws side
    by side; bars: 95 % t interval of the mean; crosses: one replicate with Gaussian rewards. The
    laws are reconstructed. Dotted: quota times rounds. Curve: fluid law of HT-UCB.

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
    plots = [_points(curves, footer) for _, footer in datasets]
    n = datasets[0].footer["replicates"]
    said = [
        f"mark: mean over n = {n} replicates, bar: its 95 % t interval",
        "marks of an arm stand side by side, the first at its gap",
        "cross: one replicate of the first law",
        "curve: fluid law of HT-UCB",
        "dotted: quota times rounds",
        "d-f begin near it",
    ]
    return style.drawn((style.PAGE, 4.6), said, *plots, columns=3), curves


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
        for values in readings_of(run.values["plays"][:, -1, arms], footer):
            yield summarise(run.law, "pulls", inverse, values, "inverse_gap").assign(**facts)


def readings_of(values: np.ndarray, footer: dict) -> Iterator[np.ndarray]:
    """Yield the values of all replicates, and of as many as the paper has."""
    yield values
    published = footer.get("published_replicates", len(values))
    if 1 < published < len(values):
        yield values[:published]


def _points(curves: pd.DataFrame, footer: dict) -> so.Plot:
    """Return a panel of an experiment: each law's pulls side by side, and the fluid law."""
    shown = {"panel": footer["experiment"], "n_replicates": footer["replicates"]}
    part, fluid, level = panels.of(curves, **shown), _fluid_curve(footer), _level(footer)
    first, *_ = laws = [*part["law"].unique()]
    kind, gap, lowest = "critical", "Δ²", 0.9 * level
    if is_raised(footer):
        kind, gap, lowest = "non-critical", "(Δ − A)²", 0
    beside = 0.03 * fluid["inverse_gap"].max() * part["law"].map(laws.index)
    part = part.assign(inverse_gap=part["inverse_gap"] + beside)
    part = part.assign(one=part["one_run"].where(part["law"] == first))
    rows = pd.concat([part, fluid.assign(law=first, level=level)])
    rows["law"] = rows["law"].map(LAW_NAMES)
    drawing = style.plot(rows, "law", x="inverse_gap", marker="law")
    for dashes, column in (("-", "law_of_pulls"), (style.LEVEL.linestyle, "level")):
        line = so.Line(color=".5", linestyle=dashes, marker="", linewidth=0.8)
        drawing = drawing.add(line, y=column, legend=False)
    drawing = drawing.add(style.BAR, **style.MEAN, legend=False)
    drawing = drawing.add(so.Dot(pointsize=4, artist_kws={"clip_on": False}), y="mean")
    drawing = drawing.add(so.Dot(pointsize=4, marker="+", color=".1"), y="one", legend=False)
    drawing = drawing.label(
        title=f"{kind} arms, case {footer['experiment'][-1]}",
        x=f"1 / {gap}",
        y=f"pulls in {style.in_short(footer['horizon'])} rounds",
    )
    return drawing.limit(x=(0, None), y=(lowest, None))


def _fluid_curve(footer: dict) -> pd.DataFrame:
    """Return the fluid law for all gaps, with the best arm's pulls of this instance."""
    scale = np.sqrt(2 * np.log(footer["horizon"]))
    most = inverse_gaps(footer)[1][-1] * 1.05
    inverse = np.linspace(most / 400, most, 400)
    free = 1 / (1 / np.sqrt(inverse) / scale + fluid_law(footer).max() ** -0.5) ** 2
    law = (np.minimum if is_raised(footer) else np.maximum)(free, _level(footer))
    return pd.DataFrame({"inverse_gap": inverse, "law_of_pulls": law})


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
    most = curves.groupby("experiment")["n_replicates"].transform("max")
    shown = curves[curves["n_replicates"] == most]
    shown = shown.assign(policy=shown["policy"].str.replace("η₀", "η"))
    short = ~shown["experiment"].str.contains("_long_")
    published = shown[short & shown["policy"].isin(PUBLISHED)]
    titles = curves["panel"].unique()
    plots = [
        style.curves(
            panels.of(kept, panel=title),
            by="policy",
            colours=style.palette(shown["policy"].unique()),
            layers=style.MEANS,
            mean=so.Line(marker="o", pointsize=2),
        ).label(x="number of rounds T", y="penalised regret\n(reward units)", title=title)
        for kept in (published, shown)
        for title in titles
    ]
    notes = "a-f: as published", "g-l: with controls, on axes that are logarithmic from 10 on"
    said = style.note(shown, style.MEANS, *notes)
    drawing = style.drawn((style.PAGE, 7.4), said, *plots, columns=len(titles) // 2)
    for axes in drawing.axes[: len(titles)]:
        axes.set(xlim=(0, None), ylim=(0, None))
    style.scale(drawing.axes[len(titles) :], x="log", y=10)
    for axes in drawing.axes[len(titles) :]:
        axes.set_ylim(bottom=-5)  # the prophet's regret is 0
    return drawing, curves


def _regret_curves(dataset: Dataset) -> Iterator[pd.DataFrame]:
    """Yield each policy's penalised regret, over all replicates and over as many as published."""
    footer = dataset.footer
    facts = {"panel": panel_of(footer), "experiment": footer["experiment"]}
    for run in joined(runs_of(*dataset)):
        for values in readings_of(regret_of(run, footer), footer):
            curve = summarise(run.law, "R(T)", run.rounds, values)
            yield curve.assign(policy=name_of(run, footer), **facts)


def regret_of(run: RunData, footer: dict) -> np.ndarray:
    means = run.values["mean"][:, 0]
    rates = penalty_rates(footer["penalties"], means)
    inputs = run.values["plays"], means, footer["quotas"], rates
    return measures.penalised_regret(run.rounds, *inputs)


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
    formulas = {"HT-UCB": "A = η", "Flearn": "α = (1 − η) τ₁T", "LFG": "η₀ = (1 − η) T"}
    by_panel = curves.groupby(["panel", "policy"], sort=False)
    plots = [
        style.curves(part, x="eta", layers=style.SPREAD, colours="viridis")
        .label(
            x=f"scale parameter η ({formulas[policy]})",
            y="shortfall of the arm (pulls)",
            title=f"{policy}, setting {setting[-1]}",
        )
        .limit(x=(0, 1), y=(0, None))
        for (setting, policy), part in by_panel
    ]
    none = [arm for arm, lacks in curves.groupby("series")["mean"] if not lacks.any()]
    said = style.note(curves, style.SPREAD, f"0 throughout: {', '.join(none)}" * bool(none))
    return style.drawn((style.PAGE, 4.6), said, *plots, columns=len(formulas)), curves


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
    weights are below the axes; the last row shows all of them,
    and LFG on an even grid of weights. The parameters, the
    number of rounds and the law of the means are reconstructed.

    Columns
    -------
    unfairness : pulls
        Mean over the replicates of sum_k (tau_k T - N_k(T))+, the shortfall of all arms together.
        Range: at least 0.
    """
    curves = pd.concat(part for dataset in datasets for part in _frontiers_of(dataset))
    laws = [*curves["law"].unique()]
    curves = curves.sort_values("law", key=lambda column: column.map(laws.index), kind="stable")
    titles = [panel_of(dataset.footer) for dataset in datasets]
    compared = curves[curves["policy"] != "LFG, even grid"]
    parts = {
        f"{title}, {LAW_NAMES[law].removesuffix(' rewards')}": panels.of(
            compared, panel=title, law=law
        )
        for title, law in product(titles, laws)
    }
    whole = panels.of(curves[curves["policy"] != "Flearn"], panel=titles[0])
    plots = [_frontier(part).label(title=title) for title, part in parts.items()]
    plots += [
        _frontier(panels.of(whole, law=law)).label(title=f"{titles[0]}, all weights")
        for law in laws
    ]
    said = [
        f"mean over n = {datasets[0].footer['replicates']} replicates",
        "a point for each value of the policy's parameter",
        "grey: levels that all policies reach",
        "m-o: as a-c with LFG's whole range",
    ]
    drawing = style.drawn((style.PAGE, 8.4), said, *plots, columns=len(laws))
    for axes in drawing.axes:
        axes.set_xlim(0, 1.03 * axes.get_xlim()[1])
    for axes, part in zip(drawing.axes, parts.values(), strict=False):
        reached = part.groupby("policy")["unfairness"]
        axes.axvspan(reached.min().max(), reached.max().min(), color="0.93", lw=0, zorder=0)
        # LFG without rewards is far below
        reward = part["mean"][part["policy"] != "LFG"]
        low, high = reward.min(), reward.max()
        axes.set_ylim(low - 0.4 * (high - low) - 1, high + 0.1 * (high - low) + 1)
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


def _frontier(part: pd.DataFrame) -> so.Plot:
    drawing = style.plot(part, "policy", style.palette(FRONTIERS), x="unfairness", y="mean")
    drawing = drawing.add(so.Path(marker="o", pointsize=1.8, linewidth=0.8))
    return drawing.label(x="summed shortfall (pulls)", y="expected reward\n(reward units)")

"""Figures of BanditQ: 1-7 with five arms, 8-13 the released program replayed with a thousand."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so

from fairbandits.figures import figure, panels
from fairbandits.library import style
from fairbandits.measures.rates import realised_regret, reward_rates
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import Dataset, RunData, runs_of
from fairbandits.settings.schemas import paper_file, read_yaml
from fairbandits.theory.equilibrium import equilibrium_queues, equilibrium_regret
from fairbandits.theory.static import static_benchmark

#: The protected arms, 0-based.
PROTECTED = (0, 1)
#: What dotted lines are.
EQUILIBRIUM = (
    "dotted: fluid equilibrium, where the curve would settle without noise (our derivation)"
)
BENCHMARK = "b* t: reward in t rounds of the best fair policy, which knows the means"
LEVELS = {"rates": "dotted: targets", "queues": EQUILIBRIUM, "regret": EQUILIBRIUM}
#: Quantity -> label of its axis; its columns in a replay, and figures of replays by feedback.
QUANTITIES = {
    "rates": ("reward rate\n(reward units per round)", "rate", {"full": 8, "bandit": 11}),
    "queues": ("queue length (reward units)", "queue", {"full": 9, "bandit": 12}),
    "regret": ("regret (reward units)", "regret", {"full": 10, "bandit": 13}),
}


def measured(run: RunData, footer: Mapping[str, Any], quantity: str) -> dict[str, np.ndarray]:
    """Return a quantity of a run by series, each of shape (n_replicates, n_rounds)."""
    if quantity == "regret":
        setting = run.values["reward"], footer["means"], footer["targets"]
        return {"regret": realised_regret(run.rounds, *setting)}
    if quantity == "rewards":
        return {footer["labels"][run.policy]: run.values["reward"].sum(axis=-1)}
    is_rate = quantity == "rates"
    of_arms = reward_rates(run.rounds, run.values["reward"]) if is_rate else run.values["queue"]
    return {f"arm {k + 1}": of_arms[:, :, k] for k in PROTECTED}


def _by_law(datasets: list[Dataset], replay: pd.DataFrame | None, quantity: str) -> panels.Drawing:
    """Draw a quantity by reward law, or of a replay alone."""
    if not datasets:
        return _replayed(replay, quantity)
    ((table, footer),) = datasets
    curves = pd.concat(
        summarise(run.law, series, run.rounds, values)
        for run in runs_of(table, footer)
        for series, values in measured(run, footer, quantity).items()
    )
    laws = curves["law"].unique()
    # the first rounds' rates are those of single rewards
    first = footer["horizon"] / 200 if quantity == "rates" else 0
    shown = curves[curves["round"] >= first]
    levels = _levels(footer, quantity, curves["series"].unique(), shown["round"])
    others = [levels.merge(pd.DataFrame({"law": laws}), how="cross")]
    layers, by_arm, published = style.ALL, {}, ""
    if replay is not None:
        layers, by_arm, published = (
            style.SPREAD,
            {"row": "series"},
            "black: the published run, replayed",
        )
        queues = {f"queue_{k + 1}": f"arm {k + 1}" for k in PROTECTED}
        run = replay.rename(columns=queues).melt("round", [*queues.values()], "series", "replayed")
        others.append(run.assign(law=laws[0]))
    drawing = style.curves(shown, *others, layers=layers).add(style.LEVEL, y="level", legend=False)
    if published:
        thin = so.Line(color="black", linestyle="-", linewidth=0.5)
        drawing = drawing.add(thin, y="replayed", legend=False)
    drawing = drawing.facet("law", **by_arm).share(y=True)
    drawing = drawing.label(x=style.ROUNDS, y=QUANTITIES[quantity][0], title=panels.law_title)
    drawing = drawing.limit(x=(0, None), y=(None if quantity == "regret" else 0, None))
    said = style.note(curves, layers, LEVELS[quantity], published)
    return style.drawn((style.PAGE, 4.2 if published else 2.4), said, drawing), curves


def _levels(
    footer: Mapping[str, Any], quantity: str, names: Iterable[str], rounds: pd.Series
) -> pd.DataFrame:
    """Return arms' targets, or the levels where their queues or the regret settle."""
    setting = footer["means"], footer["targets"], _penalty(footer)
    if quantity == "regret":
        levels = [equilibrium_regret(*setting)]
    else:
        of_arms = footer["targets"] if quantity == "rates" else equilibrium_queues(*setting)
        levels = [of_arms[k] for k in PROTECTED]
    ends = pd.DataFrame({"round": [rounds.min(), rounds.max()]})
    return pd.DataFrame({"series": names, "level": levels}).merge(ends, how="cross")


def _penalty(footer: Mapping[str, Any]) -> float:
    """Return BanditQ's V, which variants change."""
    run, *_ = footer.get("runs", {"": {"parameters": {}}}).values()  # all have the same
    settings, penalty = run["parameters"], run["parameters"].get("V")
    return footer["horizon"] ** settings.get("V_exponent", 0.5) if penalty is None else penalty


@figure(
    fig1="reward rates, full information",
    fig4="reward rates, bandit feedback",
    fig8="reward rates, a thousand arms, full information",
    fig11="reward rates, a thousand arms, bandit feedback",
    reads=["reward"],
    quantity="the arm's reward rate R_k(t) / t",
    unit="reward per round",
)
def rates(datasets: list[Dataset], published: pd.DataFrame | None) -> panels.Drawing:
    """Draw the reward accrual rates of the protected arms.

    Reward accrual rates of the protected arms, {{ what }}. Lines: {{ lines }}; dotted lines: the
    targets. The first rounds, whose rates are those of single rewards, are left out.

    Columns
    -------
    value : {unit}
        Value of {quantity} in the authors' own run, replayed.
    published : {unit}
        The number read off the published figure; none if none was read off.
    """
    return _by_law(datasets, published, "rates")


@figure(
    fig2="queue lengths, full information",
    fig5="queue lengths, bandit feedback",
    fig9="queue lengths, a thousand arms, full information",
    fig12="queue lengths, a thousand arms, bandit feedback",
    reads=["queue"],
    beside={"fig5": "replay_5_bandit"},
    quantity="the arm's queue length Q_k(t)",
    unit="reward",
)
def queues(datasets: list[Dataset], published: pd.DataFrame | None) -> panels.Drawing:
    """Draw the queue lengths, with the published run where it can be replayed.

    Queue lengths of the protected arms, {{ what }}. Lines:
    {% if beside %}{{ mean }}; {{ spread }}{% else %}{{ lines }}{% endif %}; dotted: the fluid
    equilibrium (our derivation). {% if beside %} Black: the published run, replayed with its own
    random numbers.{% endif %}
    """
    return _by_law(datasets, published, "queues")


@figure(
    fig3="regret, full information",
    fig6="regret, bandit feedback",
    fig10="regret, a thousand arms, full information",
    fig13="regret, a thousand arms, bandit feedback",
    reads=["reward"],
    quantity="the regret b* t - sum_k R_k(t), b* being the best fair reward of a round",
    unit="reward",
)
def regret(datasets: list[Dataset], published: pd.DataFrame | None) -> panels.Drawing:
    """Draw the regret.

    Regret of the reward received against the static benchmark, {{ what }}. Line: {{ lines }}
    {%- if replicates is defined %}; dotted: the fluid equilibrium (our derivation){% endif %}.
    """
    return _by_law(datasets, published, "regret")


@figure(
    fig7="cumulative rewards beside oracle LFG",
    reads=["reward"],
    quantity="the cumulative reward sum_k R_k(t), minus b* t in series that say so",
    unit="reward",
)
def rewards(datasets: list[Dataset]) -> panels.Drawing:
    """Draw the cumulative rewards and, below, their difference to the benchmark's.

    {{ title }}: cumulative rewards; below, the same minus the reward b* t of the static benchmark.
    Lines: {{ lines }}. As a control, which the published figure does not have, the static benchmark
    is also played as a policy.
    """
    ((table, footer),) = datasets
    benchmark = static_benchmark(footer["means"], footer["targets"]).reward
    both = {"": 0, ", less benchmark": benchmark}
    curves = pd.concat(
        summarise(run.law, label + suffix, run.rounds, total - less * run.rounds)
        for run in runs_of(table, footer)
        for label, total in measured(run, footer, "rewards").items()
        for suffix, less in both.items()
    )
    laws, names = curves["law"].unique(), footer["labels"].values()
    plots = []
    for suffix, law in product(both, laws):
        part = panels.of(curves, law=law)
        part = part.assign(series=part["series"].map({name + suffix: name for name in names}))
        drawing = style.curves(part.dropna(subset="series"))
        drawing = drawing.limit(x=(0, None))
        quantity = f"reward{' minus b* t' * bool(suffix)} (reward units)"
        plots.append(drawing.label(x=style.ROUNDS, y=quantity, title=panels.law_title(law)))
    said, columns = style.note(curves, style.ALL, BENCHMARK), len(laws)
    drawing = style.drawn((style.PAGE, 4.4), said, *plots, columns=columns, share="row")
    drawing.axes[0].set_ylim(bottom=0)
    return drawing, curves


def _replayed(replay: pd.DataFrame, quantity: str) -> panels.Drawing:
    """Draw a replay as lines, and the numbers read off the published figure as circles."""
    label, kind, figures = QUANTITIES[quantity]
    figure = f"fig{figures[replay.attrs['feedback']]}"
    published = read_yaml(paper_file("banditq", "published"))["figures"]
    read_off = pd.DataFrame(published[figure]["values"])
    read_off = panels.of(read_off, quantity="value").set_index(["series", "round"])["value"]
    arms = {f"arm {k + 1}": f"{kind}_{k + 1}" for k in PROTECTED}
    columns = {kind: kind} if kind == "regret" else arms
    parts = (
        replay[["round"]].assign(
            series=series, value=replay[column], published=replay["round"].map(read_off[series])
        )
        for series, column in columns.items()
    )
    curves = pd.concat(parts, ignore_index=True)[["series", "round", "value", "published"]]
    levels = [] if kind == "regret" else [_levels(replay.attrs, quantity, [*arms], curves["round"])]
    drawing = style.plot(pd.concat([curves, *levels]), "series", x="round")
    drawing = drawing.add(so.Line(linewidth=0.8), y="value")
    if levels:
        drawing = drawing.add(style.LEVEL, y="level", legend=False).limit(y=(0, None))
    drawing = drawing.add(style.CIRCLE, y="published", legend=False)
    drawing = drawing.label(x=style.ROUNDS, y=label).limit(x=(0, None))
    said = ["lines: one run, replayed", "circles: read off the published figure"]
    said += [LEVELS[quantity]] * len(levels)
    return style.drawn((style.COLUMN, 2.6), said, drawing), curves

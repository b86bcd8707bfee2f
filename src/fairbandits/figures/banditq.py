"""Figures of BanditQ: 1-7 with five arms, 8-13 the released program replayed with a thousand."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fairbandits.figures import figure, panels
from fairbandits.library.style import COLOURS, draw_curve, legend, named
from fairbandits.measures.rates import realised_regret, reward_rates
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import Dataset, RunData, runs_of
from fairbandits.settings.schemas import paper_file, read_yaml
from fairbandits.theory.equilibrium import equilibrium_queues, equilibrium_regret
from fairbandits.theory.static import static_benchmark

#: The protected arms, 0-based, and how their targets are drawn.
PROTECTED = {0: ":", 1: "--"}
EQUILIBRIUM = "fluid equilibrium"
#: Quantity -> label of its axis; its columns in a replay, and figures of replays by feedback.
QUANTITIES = {
    "rates": ("reward accrual rate, per round", "rate", {"full": 8, "bandit": 11}),
    "queues": ("queue length, in reward", "queue", {"full": 9, "bandit": 12}),
    "regret": ("regret, in reward", "regret", {"full": 10, "bandit": 13}),
}


def measured(run: RunData, footer: Mapping[str, Any], quantity: str) -> dict[str, np.ndarray]:
    """Return a quantity of a run by series, each of shape (n_replicates, n_rounds)."""
    if quantity == "regret":
        given = run.values["reward"], footer["means"], footer["targets"]
        return {"regret": realised_regret(run.rounds, *given)}
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
    laws = panels.different(curves, "law")
    drawing, (axes,) = panels.law_panels(laws, sharey=True)
    for axis, part in panels.each(axes, curves, law=laws):
        for series, curve in part.groupby("series", sort=False):
            draw_curve(axis, curve, series)
            _levels(axis, footer, quantity, series)
        if replay is not None and axis is axes[0]:
            for name, words in (("queue_1", "the published run, replayed"), ("queue_2", None)):
                axis.plot(replay["round"], replay[name], color="black", lw=0.7, label=words)
        if quantity == "rates":
            axis.set_ylim(0, 0.25)
        elif quantity == "queues":  # a smoke run is shorter than the published one
            axis.set(xlim=(0, footer["horizon"]), ylim=(0, None))
    axes[0].set_ylabel(QUANTITIES[quantity][0])
    place, columns = axes[0 if quantity == "queues" else -1], 1 if quantity == "regret" else 2
    legend(place, named(*axes), ncols=columns)
    return drawing, curves


def _levels(axis: Axes, footer: Mapping[str, Any], quantity: str, series: str) -> None:
    """Draw an arm's target, or the level where its queue or the regret settles."""
    given = footer["means"], footer["targets"], _penalty(footer)
    if quantity == "regret":
        panels.zero_line(axis)
        axis.axhline(equilibrium_regret(*given), label=EQUILIBRIUM, **panels.LEVEL_LINE)
        return
    k = int(series[-1]) - 1
    if quantity == "queues":
        label = EQUILIBRIUM if k == 0 else None
        axis.axhline(equilibrium_queues(*given)[k], label=label, **panels.LEVEL_LINE)
    else:
        look = {"color": COLOURS[series], "lw": 1.2, "ls": PROTECTED[k]}
        axis.axhline(footer["targets"][k], label=f"target of {series}", **look)


def _penalty(footer: Mapping[str, Any]) -> float:
    """Return BanditQ's V, which variants change."""
    run, *_ = footer.get("runs", {"": {"parameters": {}}}).values()  # all have the same
    given, penalty = run["parameters"], run["parameters"].get("V")
    return footer["horizon"] ** given.get("V_exponent", 0.5) if penalty is None else penalty


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

    Reward accrual rates of the protected arms, {{ what }}. Lines: {{ lines }}; dashed lines: the
    targets.

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

    Queue lengths of the protected arms, {{ what }}. Lines: {{ lines }}; dotted: the fluid
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
        summarise(run.law, label + words, run.rounds, total - less * run.rounds)
        for run in runs_of(table, footer)
        for label, total in measured(run, footer, "rewards").items()
        for words, less in both.items()
    )
    laws = panels.different(curves, "law")
    drawing, axes = panels.law_panels(laws, rows=2, sharex=True, sharey="row")
    for row, words in zip(axes, both, strict=True):
        for axis, part in panels.each(row, curves, law=laws):
            for label in footer["labels"].values():
                draw_curve(axis, panels.of(part, series=label + words), label)
            if words:
                panels.zero_line(axis)
    axes[0, 0].set_ylabel("cumulative reward")
    axes[1, 0].set_ylabel("cumulative reward\nminus b*t")
    legend(axes[0, 0], named(*axes.flat))
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
    drawing, ((axis,),) = panels.grid(1, 1, figsize=(7.2, 3.7))
    parts = []
    for series, column in columns.items():
        x, y = replay["round"], replay[column]
        part = {"series": series, "round": x, "value": y, "published": x.map(read_off[series])}
        parts.append(pd.DataFrame(part))
        axis.plot(x, y, color=COLOURS[series], lw=1.0, label=f"{series}, replayed")
    curves = pd.concat(parts, ignore_index=True)
    panels.rounds_axis(axis, curves)
    axis.set_ylabel(label)
    if kind == "regret":
        panels.zero_line(axis)
    else:
        for series in columns:
            _levels(axis, replay.attrs, quantity, series)
        most = 1.1 * max(curves["value"].max(), *replay.attrs["targets"])
        axis.set_ylim(0, most if kind == "rate" else None)
    read = curves.dropna(subset="published")
    circles = {"ls": "", "marker": "o", "ms": 5.5, "mfc": "none", "mec": "black"}
    circles |= {"clip_on": False, "zorder": 3, "label": "published curve"}
    axis.plot(read["round"], read["published"], **circles)
    legend(drawing, named(axis), loc="outside right center")
    return drawing, curves

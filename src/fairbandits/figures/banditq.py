"""Figures 1 to 7 of BanditQ, and the names of all.

Figures 1-3 (full information) and 4-6 (bandit feedback) show the same three quantities: reward
rates of the protected arms, queue lengths, regret. Figure 7 compares BanditQ with oracle LFG.
Figures 8-13 are in `fairbandits.figures.banditq_replays`.
"""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fairbandits.figures import banditq_replays
from fairbandits.library.style import COLOURS, draw_curve, law_panels
from fairbandits.measures.rates import realised_regret, reward_rates
from fairbandits.measures.summary import summarise
from fairbandits.replication.recorded import Dataset, runs_of
from fairbandits.theory.equilibrium import equilibrium_queues, equilibrium_regret
from fairbandits.theory.static import static_benchmark

#: The protected arms, 0-based.
PROTECTED = (0, 1)
LEVEL_LINE = {"color": "0.35", "lw": 0.9, "ls": (0, (1, 2))}

Drawing = tuple[Figure, pd.DataFrame]


def rates(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the reward accrual rates of the protected arms (Figs 1 and 4)."""
    ((table, footer),) = datasets
    curves = pd.concat(
        summarise(run.law, f"arm {k + 1}", run.rounds, accrued[:, :, k])
        for run in runs_of(table, footer)
        for accrued in [reward_rates(run.rounds, run.values["reward"])]
        for k in PROTECTED
    )
    laws = list(dict.fromkeys(curves["law"]))
    figure, axes = law_panels(laws, sharey=True)
    for axis, law in zip(axes[0], laws, strict=True):
        for k, dash in zip(PROTECTED, (":", "--"), strict=True):
            arm = f"arm {k + 1}"
            draw_curve(axis, _curve(curves, law, arm), arm)
            target = footer["targets"][k]
            axis.axhline(target, color=COLOURS[arm], lw=1.2, ls=dash, label=f"target of {arm}")
        axis.set_ylim(0, 0.25)
    axes[0, 0].set_ylabel("reward accrual rate")
    axes[0, -1].legend(ncols=2)
    return figure, curves


def queues(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the queue lengths (Figs 2 and 5), with the published run where it can be replayed."""
    ((table, footer),) = datasets
    curves = pd.concat(
        summarise(run.law, f"arm {k + 1}", run.rounds, run.values["queue"][:, :, k])
        for run in runs_of(table, footer)
        for k in PROTECTED
    )
    laws = list(dict.fromkeys(curves["law"]))
    figure, axes = law_panels(laws, sharey=True)
    levels = equilibrium_queues(footer["means"], footer["targets"], _penalty(footer))
    for axis, law in zip(axes[0], laws, strict=True):
        for k in PROTECTED:
            draw_curve(axis, _curve(curves, law, f"arm {k + 1}"), f"arm {k + 1}")
            axis.axhline(levels[k], label="fluid equilibrium" if k == 0 else None, **LEVEL_LINE)
        if published is not None and law == laws[0]:
            for k in PROTECTED:
                axis.plot(
                    published["round"],
                    published[f"queue_{k + 1}"],
                    color="black",
                    lw=0.7,
                    label="the published run, replayed" if k == 0 else None,
                )
        axis.set_xlim(0, footer["horizon"])  # a smoke run is shorter than the published one
        axis.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("queue length")
    axes[0, 0].legend(ncols=2)
    return figure, curves


def regret(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the regret (Figs 3 and 6)."""
    ((table, footer),) = datasets
    means, targets = footer["means"], footer["targets"]
    curves = pd.concat(
        summarise(
            run.law,
            "regret",
            run.rounds,
            realised_regret(run.rounds, run.values["reward"], means, targets),
        )
        for run in runs_of(table, footer)
    )
    laws = list(dict.fromkeys(curves["law"]))
    figure, axes = law_panels(laws, sharey=True)
    level = equilibrium_regret(means, targets, _penalty(footer))
    for axis, law in zip(axes[0], laws, strict=True):
        draw_curve(axis, _curve(curves, law, "regret"), "regret")
        axis.axhline(0, color="0.6", lw=0.8)
        axis.axhline(level, label="fluid equilibrium", **LEVEL_LINE)
    axes[0, 0].set_ylabel("regret")
    axes[0, -1].legend()
    return figure, curves


def _penalty(footer: dict[str, Any]) -> float:
    """Return BanditQ's V, which variants change."""
    given = next(iter(footer["runs"].values()))["parameters"]  # all runs have the same
    penalty = given.get("V")
    return footer["horizon"] ** given.get("V_exponent", 0.5) if penalty is None else penalty


def _curve(curves: pd.DataFrame, law: str, series: str) -> pd.DataFrame:
    return curves[(curves["law"] == law) & (curves["series"] == series)]


def rewards(datasets: list[Dataset], published: pd.DataFrame | None) -> Drawing:
    """Draw the cumulative rewards and, below, their difference to the benchmark's (Fig. 7)."""
    ((table, footer),) = datasets
    benchmark = static_benchmark(footer["means"], footer["targets"]).reward
    parts = []
    for run in runs_of(table, footer):
        label = footer["labels"][run.policy]
        total = run.values["reward"].sum(axis=-1)
        parts.append(summarise(run.law, label, run.rounds, total))
        ahead = f"{label}, less benchmark"
        parts.append(summarise(run.law, ahead, run.rounds, total - benchmark * run.rounds))
    curves = pd.concat(parts)
    laws = list(dict.fromkeys(curves["law"]))
    figure, axes = law_panels(laws, rows=2, sharex=True, sharey="row")
    for column, law in enumerate(laws):
        for label in footer["labels"].values():
            draw_curve(axes[0, column], _curve(curves, law, label), label)
            ahead = _curve(curves, law, f"{label}, less benchmark")
            draw_curve(axes[1, column], ahead, label)
        axes[1, column].axhline(0, color="0.6", lw=0.8)
    axes[0, 0].set_ylabel("cumulative reward")
    axes[1, 0].set_ylabel("cumulative reward\nless benchmark b*t")
    axes[0, 0].legend()
    return figure, curves


#: Name of each figure -> the function that draws it, and the recorded columns that it needs.
FIGURES = {
    "fig1": (rates, ["reward"]),
    "fig2": (queues, ["queue"]),
    "fig3": (regret, ["reward"]),
    "fig4": (rates, ["reward"]),
    "fig5": (queues, ["queue"]),
    "fig6": (regret, ["reward"]),
    "fig7": (rewards, ["reward"]),
    "fig8": (banditq_replays.rates, []),
    "fig9": (banditq_replays.queues, []),
    "fig10": (banditq_replays.regret, []),
    "fig11": (banditq_replays.rates, []),
    "fig12": (banditq_replays.queues, []),
    "fig13": (banditq_replays.regret, []),
}

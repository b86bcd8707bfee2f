"""Figures 8 to 13 of BanditQ: a thousand arms, one run, and numbers read off the published curves.

Figures 8-10 (full information) and 11-13 (bandit feedback) show the quantities of Figures 1-6. The
released program is replayed with its own random numbers, so that there are no replicates.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from fairbandits.library.style import COLOURS
from fairbandits.replication.recorded import Dataset
from fairbandits.settings.schemas import paper_file, read_yaml
from fairbandits.theory.equilibrium import equilibrium_queues

#: The protected arms, 0-based, and how their targets are drawn.
PROTECTED = {0: ":", 1: "--"}
LEVEL_LINE = {"color": "0.35", "lw": 0.9, "ls": (0, (1, 2))}
#: Feedback -> the figures of rates, queues and regret.
NAMES = {"full": ("fig8", "fig9", "fig10"), "bandit": ("fig11", "fig12", "fig13")}

Drawing = tuple[Figure, pd.DataFrame]


def rates(datasets: list[Dataset], published: pd.DataFrame) -> Drawing:
    """Draw the reward accrual rates of the protected arms (Figs 8 and 11)."""
    figure, axis = _panel("reward accrual rate")
    columns = {f"arm {k + 1}": f"rate_{k + 1}" for k in PROTECTED}
    curves = _draw(axis, published, _name(published, 0), columns)
    for k, dash in PROTECTED.items():
        target = published.attrs["targets"][k]
        arm = f"arm {k + 1}"
        axis.axhline(target, color=COLOURS[arm], lw=1.2, ls=dash, label=f"target of {arm}")
    axis.set_ylim(0, 1.1 * max(curves["value"].max(), *published.attrs["targets"]))
    return _finished(figure, axis, curves), curves


def queues(datasets: list[Dataset], published: pd.DataFrame) -> Drawing:
    """Draw the queue lengths of the protected arms (Figs 9 and 12)."""
    figure, axis = _panel("queue length")
    columns = {f"arm {k + 1}": f"queue_{k + 1}" for k in PROTECTED}
    curves = _draw(axis, published, _name(published, 1), columns)
    footer = published.attrs
    levels = equilibrium_queues(footer["means"], footer["targets"], footer["horizon"] ** 0.5)
    for k in PROTECTED:
        axis.axhline(levels[k], label="fluid equilibrium" if k == 0 else None, **LEVEL_LINE)
    axis.set_ylim(bottom=0)
    return _finished(figure, axis, curves), curves


def regret(datasets: list[Dataset], published: pd.DataFrame) -> Drawing:
    """Draw the regret (Figs 10 and 13)."""
    figure, axis = _panel("regret")
    curves = _draw(axis, published, _name(published, 2), {"regret": "regret"})
    axis.axhline(0, color="0.6", lw=0.8)
    return _finished(figure, axis, curves), curves


def replayed_beside(
    replay: pd.DataFrame, entry: Mapping[str, Any], columns: Mapping[str, str]
) -> pd.DataFrame:
    """Return the replayed curves of a figure: ``series``, ``round``, ``value``, and ``published``.

    ``published`` is NaN at rounds where nothing was read off. `entry` is the figure's in
    papers/banditq/published.yaml; `columns` maps each series to its column of the replay.
    """
    parts = []
    for series, column in columns.items():
        read = {
            one["round"]: one["value"]
            for one in entry["values"]
            if (one["series"], one["quantity"]) == (series, "value")
        }
        part = pd.DataFrame({"series": series, "round": replay["round"], "value": replay[column]})
        parts.append(part.assign(published=replay["round"].map(read).astype(float)))
    return pd.concat(parts, ignore_index=True)


def _name(replay: pd.DataFrame, quantity: int) -> str:
    return NAMES[replay.attrs["feedback"]][quantity]


def _panel(label: str) -> tuple[Figure, Axes]:
    figure, axis = plt.subplots(figsize=(7.2, 3.7), layout="constrained")
    axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    axis.set_xlabel("number of rounds")
    axis.set_ylabel(label)
    return figure, axis


def _draw(axis: Axes, replay: pd.DataFrame, name: str, columns: Mapping[str, str]) -> pd.DataFrame:
    """Draw the replay as lines; return it with the numbers read off the published figure."""
    entry = read_yaml(paper_file("banditq", "published"))["figures"][name]
    curves = replayed_beside(replay, entry, columns)
    for series in columns:
        part = curves[curves["series"] == series]
        label = f"{series}, replayed"
        axis.plot(part["round"], part["value"], color=COLOURS[series], lw=1.0, label=label)
    axis.set_xlim(0, curves["round"].max())
    return curves


def _finished(figure: Figure, axis: Axes, curves: pd.DataFrame) -> Figure:
    """Draw the numbers read off as circles, and the legend."""
    read = curves.dropna(subset="published")
    circles = {"ls": "", "marker": "o", "ms": 5.5, "mfc": "none", "mec": "black"}
    label = "published curve"
    axis.plot(read["round"], read["published"], clip_on=False, zorder=3, label=label, **circles)
    figure.legend(loc="outside right center")
    return figure

"""Measures of results by name, and their pictures: `Comparison.plot`."""

import inspect
import io
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from fairbandits.lookup import nearest
from fairbandits.measures.summary import summarise


class Picture(Figure):
    """A figure without a window; a notebook shows it once, with any settings for plots."""

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=100)
        return image.getvalue()


#: Methods of `Result` that are measures: their titles on an axis, and the inputs that they need.
METRICS = {
    "regret": ("regret",),
    "violation": ("violation", "quotas or targets"),
    "r_regret": ("regret beyond the quotas", "quotas"),
    "target_regret": ("regret beyond the targets", "targets"),
    "penalised_regret": ("penalised regret", "quotas", "penalties"),
    "unfairness": ("unfairness", "quotas"),
    "reward": ("reward",),
}
#: How to provide each input that a measure needs.
EXAMPLES = {
    "quotas": 'quotas=("1/5", "3/10", ...)',
    "targets": "targets=(0.1, 0.2, ...)",
    "penalties": "penalties=0.5",
    "quotas or targets": 'quotas=("1/5", "3/10", ...) or targets=(0.1, 0.2, ...)',
}
STYLE = {"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False}
#: Policies with other names in the papers' figures than their classes.
SHOWN = {"FairUCB": "Fair-UCB", "HTUCB": "HT-UCB", "BFUCB": "BF-UCB", "GroupUCB": "UCB"}


def metrics_of(metrics: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return measures, methods of `Result` or functions, by their names in the table, checked."""
    if isinstance(metrics, Mapping):
        named = dict(metrics)
    else:
        listed = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
        named = {}
        for metric in listed:
            name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
            if name in named:
                raise ValueError(f"metrics must have each name once, got {name!r} twice")
            named[name] = metric
    if not named:
        raise ValueError(f"metrics must name at least one of {', '.join(METRICS)}, got none")
    for metric in (one for one in named.values() if not callable(one)):
        if not isinstance(metric, str) or metric not in METRICS:
            meant = nearest(str(metric), METRICS) or f"; known are {', '.join(METRICS)}"
            raise ValueError(f"metric {metric!r} is unknown{meant}")
        for need in METRICS[metric][1:]:
            if all(given[one] is None or not np.size(given[one]) for one in need.split(" or ")):
                others = ", ".join(repr(name) for name, (_, *needs) in METRICS.items() if not needs)
                raise ValueError(
                    f"metric {metric!r} needs {need}: give {EXAMPLES[need]}, or ask for metrics "
                    f"that need nothing, such as {others}"
                )
    return named


def curves_of(
    results: Mapping[str, Any], metrics: Mapping[str, Any], inputs: Mapping[str, Any]
) -> tuple[dict[tuple[str, str], np.ndarray], dict[str, str]]:
    """Return each measure of each policy, and titles; `inputs` are targets and penalties."""
    curves = {}
    for name, metric in metrics.items():
        for label, result in results.items():
            if callable(metric):
                values = np.asarray(metric(result), float)
            else:
                method = getattr(result, metric)
                takes = inspect.signature(method).parameters.keys() & inputs.keys()
                values = method(**{one: inputs[one] for one in takes}).astype(float)
            wanted = (result.replicates.size, result.rounds.size)
            if values.shape != wanted:
                raise ValueError(
                    f"metric {name} must return an array of shape (n_replicates, n_checkpoints), "
                    f"here {wanted}, got {values.shape}; average or sum over arms, not replicates"
                )
            curves[name, label] = values
    return curves, {
        name: METRICS[name][0] if name == metric else name for name, metric in metrics.items()
    }


def tradeoff_of(curves: Mapping[tuple[str, str], np.ndarray], titles: Mapping[str, str]) -> Picture:
    """Return a figure of the price of fairness, as `Comparison.plot` does with ``"tradeoff"``."""
    if len(titles) < 2:
        raise ValueError(
            "a trade-off needs two measures; compare(..., metrics=('regret', 'violation'))"
        )
    cost, lack = list(titles)[:2]
    with mpl.rc_context(STYLE):
        figure = Picture(figsize=(5.6, 4.2), layout="constrained")
        axis = figure.subplots()
        for label, (colour, _) in _looks(curves).items():
            ends = np.maximum(curves[lack, label][:, -1], 0), curves[cost, label][:, -1]
            (x, a, b), (y, c, d) = map(interval_of, ends)
            bars = {"xerr": [[x - a], [b - x]], "yerr": [[y - c], [d - y]]}
            axis.errorbar(x, y, fmt="o", color=colour, capsize=2, label=label, **bars)
        axis.set_xlabel(f"{titles[lack]} where above 0")
        axis.set_ylabel(titles[cost])
        axis.legend()
        figure.suptitle("At the last round: means with 95 % t intervals", fontsize="medium")
    return figure


def interval_of(values: np.ndarray) -> tuple[float, float, float]:
    """Return the mean of a sample and its 95 % t interval."""
    (row,) = summarise("", "", np.zeros(1), values[:, None]).itertuples()
    return row.mean, row.mean_low, row.mean_high


def _looks(curves: Mapping[tuple[str, str], Any]) -> dict[str, tuple[Any, Any]]:
    """Return each policy's colour and its line."""
    from fairbandits.library.style import COLOURS, OTHER_DASHES, PALETTE, dash_of

    labels = list(dict.fromkeys(label for _, label in curves))
    known = {one: SHOWN.get(one, one) for one in labels if SHOWN.get(one, one) in COLOURS}
    looks = {one: (COLOURS[name], dash_of(name)) for one, name in known.items()}
    taken = [colour for colour, _ in looks.values()]
    free = [one for one in PALETTE if one not in taken] or PALETTE
    for k, label in enumerate(one for one in labels if one not in known):
        again, place = divmod(k, len(free))
        looks[label] = free[place], OTHER_DASHES[again % len(OTHER_DASHES)]
    return {one: looks[one] for one in labels}


def picture_of(
    rounds: np.ndarray, curves: Mapping[tuple[str, str], np.ndarray], titles: Mapping[str, str]
) -> Picture:
    """Return a figure with a panel for each measure, as `Comparison.plot` does."""
    from fairbandits.library.style import draw_curve

    looks = _looks(curves)
    n = len(next(iter(curves.values())))
    with mpl.rc_context(STYLE):
        figure = Picture(figsize=(5.2 * len(titles), 3.7), layout="constrained")
        axes = figure.subplots(1, len(titles), squeeze=False)[0]
        for axis, (name, title) in zip(axes, titles.items(), strict=True):
            for label, (colour, dash) in looks.items():
                bands = {"one_run": False, "spread": False}
                summary = summarise("", label, rounds, curves[name, label])
                draw_curve(axis, summary, label, colour=colour, dash=dash, **bands)
            axis.set_xlabel("number of rounds")
            axis.set_ylabel(title)
            axis.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes[0].legend()
        figure.suptitle(f"means of {n} replicates with 95 % t intervals", fontsize="medium")
    return figure

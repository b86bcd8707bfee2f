"""Common parts of drawings: panels, the rows of a curve, the legend below."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from fairbandits.library.style import LAW_TITLES, Picture, legend, named
from fairbandits.replication.recorded import Dataset, RunData, runs_of

#: The value of a figure's function: the figure, and its curves as a table.
Drawing = tuple[Figure, pd.DataFrame]
#: A level that a curve tends to.
LEVEL_LINE = {"color": "0.35", "lw": 0.9, "ls": (0, (1, 2))}


def grid(rows: int, columns: int, height: float = 0.0, **options: Any) -> tuple[Figure, np.ndarray]:
    """Return a figure across a page, and its axes of shape (rows, columns)."""
    size = options.pop("figsize", (10.4, height))
    drawing = Picture(figsize=size, layout="constrained")
    return drawing, drawing.subplots(rows, columns, squeeze=False, **options)


def law_panels(laws: list[str], rows: int = 1, **options: Any) -> tuple[Figure, np.ndarray]:
    """Return a figure with one column of panels per reward law, axes of shape (rows, n_laws)."""
    size = (5.2 * len(laws), 3.4 * rows + 0.3)
    figure, axes = grid(rows, len(laws), figsize=size, **options)
    for axis, law in zip(axes[0], laws, strict=True):
        axis.set_title(LAW_TITLES.get(law, law))
    thousands(*(axis.xaxis for axis in axes.flat))
    for axis in axes[-1]:
        axis.set_xlabel("number of rounds")
    return figure, axes


def of(curves: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows with these values."""
    for name, value in values.items():
        curves = curves[curves[name] == value]
    return curves


def each(axes: np.ndarray, curves: pd.DataFrame, **columns: Iterable) -> Iterator[tuple]:
    """Yield each panel, and the curves with its values: one column of values for each axis."""
    values = itertools.product(*columns.values())
    for axis, chosen in zip(axes.flat, values, strict=True):
        yield axis, of(curves, **dict(zip(columns, chosen, strict=True)))


def different(curves: pd.DataFrame, name: str) -> list:
    """Return the values of a column, in their order."""
    return list(dict.fromkeys(curves[name]))


def zero_line(axis: Axes) -> None:
    axis.axhline(0, color="0.6", lw=0.8)


def label_rows(axes: np.ndarray, words: str) -> None:
    """Label the vertical axis of the first panel in each row."""
    for row in axes:
        row[0].set_ylabel(words)


def thousands(*axes: Any) -> None:
    """Write the numbers along some axes with k and M."""
    for one in axes:
        one.set_major_formatter(EngFormatter(sep=""))


def rounds_axis(axis: Axes, curves: pd.DataFrame, log: bool = False) -> None:
    """Let the horizontal axis be the rounds up to the last one of some curves."""
    last = curves["round"].max()
    axis.set_xlabel("number of rounds")
    if log:
        axis.set_xscale("log")
        axis.set_xlim(min(100, last / 10), last)
    else:
        axis.set_xlim(0, last)
        thousands(axis.xaxis)


def legend_below(figure: Figure, axes: Any, columns: int, order: Sequence[str] = ()) -> None:
    """Put the names of the curves of all panels below them, in an order."""
    curves = named(*np.ravel(axes))
    curves = {name: curves[name] for name in order or curves}
    legend(figure, curves, loc="outside lower center", ncols=columns)


#: Parameters, (n_values,), and a measure, (n_replicates, n_values, ...), by label and law.
Sweeps = dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]


def along_sweeps(dataset: Dataset, measure: Callable[[RunData, dict], np.ndarray]) -> Sweeps:
    """Return a measure of runs along each policy's sweep, at NaN where it has none."""
    found: dict[tuple[str, str], list[tuple[float, np.ndarray]]] = {}
    for run in runs_of(*dataset):
        key = dataset.footer["labels"][run.policy], run.law
        point = next(iter(run.cell.values()), np.nan), measure(run, dataset.footer)
        found.setdefault(key, []).append(point)
    return {
        key: (np.array([value for value, _ in points]), np.stack([one for _, one in points], 1))
        for key, points in found.items()
    }

"""Common parts of drawings: some rows of curves, axes of rounds, and the runs of a sweep."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fairbandits.library import style
from fairbandits.replication.recorded import Dataset, RunData, runs_of

#: The value of a figure's function: the picture, and its curves as a table.
Drawing = tuple[style.Picture, pd.DataFrame]
#: Parameters, (n_values,), and a measure, (n_replicates, n_values, ...), by label and law.
Sweeps = dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]


def of(curves: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows with these values."""
    return curves[curves[[*values]].eq(values).all(axis=1)]


def log_rounds(panels: Iterable[Axes], first: float = 100) -> None:
    """Let rounds be on a logarithmic axis, from a round on if a run is much longer."""
    style.scale(panels, x="log")
    for axes in panels:
        axes.set_xlim(left=max(1, min(first, axes.get_xlim()[1] / 10)))


def law_title(law: str) -> str:
    return style.LAW_TITLES.get(law, law)  # an arm, where panels are of both


def along_sweeps(dataset: Dataset, measure: Callable[[RunData, dict], np.ndarray]) -> Sweeps:
    """Return a measure of runs along each policy's sweep, at NaN where it has none."""
    points: dict[tuple[str, str], list[tuple[float, np.ndarray]]] = {}
    for run in runs_of(*dataset):
        swept = next(iter(run.cell.values()), np.nan), measure(run, dataset.footer)
        points.setdefault((dataset.footer["labels"][run.policy], run.law), []).append(swept)
    measured = {key: [*zip(*pairs, strict=True)] for key, pairs in points.items()}
    return {key: (np.array(at), np.stack(values, 1)) for key, (at, values) in measured.items()}

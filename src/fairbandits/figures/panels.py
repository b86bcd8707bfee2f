"""Common parts of drawings: the rows of a curve, levels, and the runs of a sweep."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairbandits.library import style
from fairbandits.replication.recorded import Dataset, RunData, runs_of

#: The value of a figure's function: the figure, and its curves as a table.
Drawing = tuple[Figure, pd.DataFrame]
ROUNDS = "number of rounds"


def of(curves: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Return the rows with these values."""
    for name, value in values.items():
        curves = curves[curves[name] == value]
    return curves


def different(curves: pd.DataFrame, name: str) -> list:
    """Return the values of a column, in their order."""
    return list(dict.fromkeys(curves[name]))


def log_rounds(panels: Sequence[Axes], first: float = 100) -> None:
    """Let rounds be on a logarithmic axis, from a round on if a run is much longer."""
    style.scale(panels, x="log")
    for one in panels:
        last = one.get_xlim()[1]
        one.set_xlim(max(1, min(first, last / 10)), last)


def law_title(law: str) -> str:
    return style.LAW_TITLES.get(law, law)


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

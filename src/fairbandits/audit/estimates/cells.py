"""The cells of recorded runs, as estimators choose them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np

from fairbandits.audit.evidence import Evidence, Recorded
from fairbandits.experiments.recorded import RunData
from fairbandits.experiments.spec import RunSpec


@dataclass(frozen=True)
class Cell:
    """One cell of a run on an instance that is the same in all replicates.

    A paper's estimators extend it by that paper's measures.

    Attributes
    ----------
    recorded : Recorded
        The dataset that it is of.
    run : RunData
        Its recorded values.
    """

    recorded: Recorded
    run: RunData

    @property
    def footer(self) -> dict[str, Any]:
        """Of the dataset."""
        return self.recorded.footer

    @property
    def spec(self) -> RunSpec:
        """All that decides the run."""
        return self.run.spec

    @property
    def law(self) -> str:
        """The law of the rewards."""
        return self.run.law

    @property
    def values(self) -> dict[str, np.ndarray]:
        """Recorded columns, each of shape (n_replicates, n_rounds, n_arms)."""
        return self.run.values

    @property
    def rounds(self) -> np.ndarray:
        """Recorded rounds t, shape (n_rounds,)."""
        return self.run.rounds

    @property
    def horizon(self) -> int:
        """Last round T of the cell."""
        return int(self.rounds[-1])

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        experiment: str,
        columns: Sequence[str] | None = None,
        **chosen: Any,
    ) -> Iterator[Self]:
        """Yield the cells of an experiment or suite, in the order of the configuration.

        Parameters
        ----------
        evidence : Evidence
            What is read.
        experiment : str
            Its name.
        columns : sequence of str, optional
            Of the dataset; all by default.
        **chosen
            As in `inside`.
        """
        for recorded in evidence.recorded(experiment, columns):
            yield from cls.inside(recorded, **chosen)

    @classmethod
    def inside(
        cls,
        recorded: Recorded,
        *,
        policy: str | None = None,
        law: str | None = None,
        **wanted: float,
    ) -> Iterator[Self]:
        """Yield the cells of one dataset, in the order of the configuration.

        Parameters
        ----------
        recorded : Recorded
            The dataset.
        policy, law : str, optional
            The policy's name in the experiment, and the law; all by default.
        **wanted
            Values of swept parameters; all cells by default.
        """
        for run in recorded.runs:
            same = all(run.cell.get(name) == value for name, value in wanted.items())
            if policy in (None, run.policy) and law in (None, run.law) and same:
                yield cls(recorded, run)


OneOf = TypeVar("OneOf", bound=Cell)


def only(cells: Iterable[OneOf]) -> OneOf:
    """Return the one cell that there is."""
    (cell,) = cells
    return cell

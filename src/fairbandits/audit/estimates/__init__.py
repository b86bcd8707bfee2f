"""Estimators: what each test of the ledger hands to its procedure, from recorded runs.

An estimator is registered for a claim's test and yields one `Question` for each thing that the
test is repeated for, and for each reading that the claim is judged under. What it yields is data
alone: margins, levels and rules stand in the ledger.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fairbandits.audit.evidence import Evidence


@dataclass(frozen=True)
class Question:
    """One question that a test puts to its procedure.

    Attributes
    ----------
    data : mapping of str
        The procedure's data parameters.
    each : str
        Which of the things that the test is repeated for, for reading; empty if it is not.
    reading : str
        Of the ledger's readings; empty where the claim names none. A question without one, of a
        claim that names some, belongs to all of them.
    """

    data: Mapping[str, Any]
    each: str = ""
    reading: str = ""


Estimator = Callable[[Evidence], Iterator[Question]]

#: Claim and test -> its estimator.
ESTIMATORS: dict[tuple[str, str], Estimator] = {}


def estimates(claim: str, test: str) -> Callable[[Estimator], Estimator]:
    """Register the estimator of a claim's test; one can be that of several."""

    def register(estimator: Estimator) -> Estimator:
        if (claim, test) in ESTIMATORS:
            raise ValueError(f"{claim}: test {test!r} has an estimator already")
        ESTIMATORS[claim, test] = estimator
        return estimator

    return register


def load_estimators() -> Mapping[tuple[str, str], Estimator]:
    """Return all estimators, after importing every module of this package."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return ESTIMATORS

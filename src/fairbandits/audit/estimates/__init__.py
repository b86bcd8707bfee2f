"""Estimators: what each test of the ledger hands to its procedure, from recorded runs.

An estimator is registered for a claim's test and yields one `Question` for each thing that the
test is repeated for, and for each reading that the claim is judged under. What it yields is data
alone: margins, levels and rules stand in the ledger.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping

from fairbandits.audit.cases import Question as Question
from fairbandits.audit.evidence import Evidence

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

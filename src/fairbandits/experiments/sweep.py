"""Runs of several cells: one for each horizon and for each value of a swept parameter."""

import itertools
from collections.abc import Sequence
from typing import Any

from fairbandits.rationals import rational

#: A parameter with this value has that of the instance.
OF_INSTANCE = "instance"


def cells(sweep: dict[str, list]) -> list[dict[str, Any]]:
    """Return what each cell of a sweep sets; without a sweep there is one cell that sets nothing.

    Examples
    --------
    >>> cells({"eta": [1, 10]})
    [{'eta': 1}, {'eta': 10}]
    """
    return [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]


def cells_of(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of a run's block: every horizon that it has, each with the whole sweep.

    Examples
    --------
    >>> cells_of({"horizon": 90, "horizons": [30, 90], "sweep": {"eta": [1]}})
    [{'horizon': 30, 'eta': 1}, {'horizon': 90, 'eta': 1}]
    """
    horizons = {"horizon": block["horizons"]} if "horizons" in block else {}
    return cells(horizons | block.get("sweep", {}))


def swept(value: float | str) -> float:
    """Return a swept value as the number that stands in its column."""
    return float(rational("a swept value", value))


def filled(parameters: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return parameters, a learner's among them, with those of the instance in their places.

    Examples
    --------
    >>> filled({"quotas": "instance", "learner_parameters": {"arm": 1}}, {"quotas": [0, 0.5]})
    {'quotas': [0, 0.5], 'learner_parameters': {'arm': 1}}
    """
    return {
        key: filled(value, known)
        if isinstance(value, dict)
        else (known[key] if value == OF_INSTANCE else value)
        for key, value in parameters.items()
    }


def asks(parameters: dict[str, Any], name: str | None = None) -> bool:
    """Return whether a parameter (of this name), perhaps a learner's, is that of the instance."""
    return any(
        asks(value, name)
        if isinstance(value, dict)
        else value == OF_INSTANCE and name in (None, key)
        for key, value in parameters.items()
    )


def arms_of(block: dict[str, Any]) -> int:
    """Return the number of arms of a run's block."""
    return block["drawn_means"]["arms"] if "drawn_means" in block else len(block["means"])


def ranges_of(block: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Return the lowest and the highest mean of each arm of a block with drawn means.

    Either is one number, or one per group.

    Examples
    --------
    >>> ranges_of({"groups": [2, 1], "drawn_means": {"arms": 3, "low": [0.5, 0], "high": 1}})
    ([0.5, 0.5, 0], [1, 1, 1])
    """
    drawn = block["drawn_means"]
    low, high = (
        [one for one, size in zip(ends, block["groups"], strict=True) for _ in range(size)]
        if isinstance(ends, list)
        else [ends] * drawn["arms"]
        for ends in (drawn["low"], drawn["high"])
    )
    return low, high


def targets_of(block: dict[str, Any], means: Sequence[float]) -> list[float]:
    """Return the targets of a block whose policy has those of the instance.

    They are given, or are shares of the means, of the first arms; the others have none.

    Examples
    --------
    >>> targets_of({"target_shares": ["1/2"]}, [0.5, 0.25])
    [0.25, 0.0]
    """
    if "targets" in block:
        return block["targets"]
    shares = [swept(share) for share in block["target_shares"]]
    shares += [0.0] * (len(means) - len(shares))
    return [share * mean for share, mean in zip(shares, means, strict=True)]


def rounds_of(block: dict[str, Any]) -> int:
    """Return the number of rounds that one replicate of a run's block takes, all cells together."""
    return sum(cell.get("horizon", block["horizon"]) for cell in cells_of(block))

"""The specification of a run: all that decides its numbers, except the seed and the replicates."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Self

from fairbandits.rationals import rational

#: Parameter value that stands for the instance's own.
OF_INSTANCE = "instance"


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """One policy under one law on one instance, in cells: horizons with values of the sweep."""

    stream: str  # name of the streams of rewards and coins
    policy: str  # a registered name, or "module:Class"
    parameters: Mapping[str, Any]  # those that are not swept
    law: str
    horizon: int  # number of rounds T, the largest of `horizons`
    checkpoints: Mapping[str, Any]  # "at", or "linear" and "log"
    policy_source: str | None = None  # hash of the file of a user's policy
    spread: float | str | None = None  # of a law that has one
    horizons: tuple[int, ...] = ()  # further rounds at which pulls are recorded; may be empty
    apart: bool = False  # whether each horizon is a run on streams of its own
    means: tuple[float, ...] = ()  # true means; empty where each replicate draws its own
    #: arms, low, high, [decimals, fixed]
    drawn_means: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[int, ...] = ()  # sizes, in the order of the arms; may be empty
    quotas: tuple[float | str, ...] = ()  # required fractions of pulls; may be empty
    drawn_quotas: Mapping[str, Any] = field(default_factory=dict)  # span, denominator
    targets: tuple[float, ...] = ()  # reward rates, for policies that take the instance's
    target_shares: tuple[float | str, ...] = ()  # targets as shares of the first arms' means
    penalties: Any = None  # see fairbandits.measures.penalties.penalty_rates
    sweep: Mapping[str, list] = field(default_factory=dict)  # values of each swept parameter
    record: tuple[str, ...] | None = None  # columns kept besides the common ones; None: all
    observe: tuple[list, ...] = ()  # name and parameters of each observer

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return the specification that `to_json` wrote; ValueError for wrong or missing keys."""
        values = content.items()
        try:
            return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in values})
        except TypeError as error:  # which names the key
            raise ValueError(f"a run's specification: {error}") from None

    def to_json(self) -> dict[str, Any]:
        usual = {
            part.name: part.default if part.default_factory is MISSING else part.default_factory()
            for part in fields(self)
        }
        return {key: listed(value) for key, value in vars(self).items() if value != usual[key]}

    @property
    def n_arms(self) -> int:
        return self.drawn_means["arms"] if self.drawn_means else len(self.means)

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The settings of each cell: every horizon with every value of the sweep."""
        horizons = {"horizon": self.horizons} if self.horizons else {}
        return cells_of_sweep({**horizons, **self.sweep})

    @property
    def total_rounds(self) -> int:
        return sum(self.horizon_of(cell) for cell in self.cells)

    def horizon_of(self, cell: Mapping[str, Any]) -> int:
        return cell.get("horizon", self.horizon)

    def stream_of(self, cell: Mapping[str, Any]) -> str:
        """Return the stream's name of a cell; horizons apart have their own."""
        return f"{self.stream}/{self.horizon_of(cell)}" if self.apart else self.stream

    def parameters_of(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Return the policy's parameters in a cell; one can be "instance"."""
        swept = {key: value for key, value in cell.items() if key != "horizon"}
        return {**self.parameters, **swept}

    @property
    def ranges(self) -> tuple[list[float], list[float]]:
        """Lowest and highest mean of each arm, where means are drawn."""
        return ranges_of(self.drawn_means, self.groups)


def listed(value: Any) -> Any:
    """Return a tuple as a list, as JSON has it, and anything else unchanged."""
    return list(value) if isinstance(value, tuple) else value


def cells_of_sweep(sweep: Mapping[str, Sequence]) -> list[dict[str, Any]]:
    """Return the settings of each cell of a sweep; without a sweep, one empty cell."""
    return [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]


def swept(value: float | str) -> float:
    """Return a swept value as the number in its column."""
    return float(rational("a swept value", value))


def filled(parameters: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters, also a learner's, with the instance's values filled in."""
    return {
        key: filled(value, known)
        if isinstance(value, dict)
        else (known[key] if value == OF_INSTANCE else value)
        for key, value in parameters.items()
    }


def of_instance(parameters: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the keys of parameters that come from the instance; a learner's follow its own."""
    for key, value in parameters.items():
        if isinstance(value, dict):
            yield from ((key, *inside) for inside in of_instance(value))
        elif value == OF_INSTANCE:
            yield (key,)


def ranges_of(drawn: Mapping[str, Any], groups: Sequence[int]) -> tuple[list[float], list[float]]:
    """Return lowest and highest mean of each arm; a range has one number, or one per group."""

    def each(ends: float | list[float]) -> list[float]:
        if not isinstance(ends, list):
            return [ends] * drawn["arms"]
        return [end for end, size in zip(ends, groups, strict=True) for _ in range(size)]

    return each(drawn["low"]), each(drawn["high"])


def shares_of(shares: Sequence[float | str], means: Sequence[float]) -> list[float]:
    """Return targets that are shares of the first arms' means; other arms get none."""
    given = [swept(share) for share in shares]
    given += [0.0] * (len(means) - len(given))
    return [share * mean for share, mean in zip(given, means, strict=True)]

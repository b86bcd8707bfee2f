"""The specification of a run: all that decides its numbers, but for the seed and the replicates.

It is built once, from the configuration. Plans and footers hold it as JSON (`RunSpec.to_json`,
`RunSpec.from_json`); everything else takes the specification itself. The workflow reads it on every
start, so neither Numba nor pandas is imported here.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Self

from fairbandits.rationals import rational

#: A parameter with this value has that of the instance.
OF_INSTANCE = "instance"


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """One policy under one reward law on one instance, in one or several cells.

    A cell is a horizon together with values of the swept parameters.

    Attributes
    ----------
    stream : str
        Name of the streams of rewards and coins.
    policy : str
        Name of the policy: a registered one, or ``module:Class``.
    policy_source : str, optional
        Of a policy of one's own, the hash of its file.
    parameters : mapping of str
        Its parameters, but for those that are swept. One can be "instance".
    law : str
        Law of the rewards.
    spread : float or str, optional
        Of a law that has one.
    horizon : int
        Number of rounds T; the largest of `horizons` where there are such.
    horizons : tuple of int
        Further numbers of rounds after which the pulls are recorded; empty where there are none.
    apart : bool
        Whether each of `horizons` is run by itself, on streams of its own.
    checkpoints : mapping of str
        Recorded rounds: ``at``, or ``linear`` and ``log``.
    means : tuple of float
        True means of the arms; empty where they are drawn.
    drawn_means : mapping of str
        ``arms``, ``low`` and ``high``, and ``decimals`` and ``fixed`` where there are such, if each
        replicate draws its means.
    groups : tuple of int
        Sizes of the groups that the arms stand in; empty where there are none.
    quotas : tuple of float or str
        Required fractions of pulls; empty where there are none.
    drawn_quotas : mapping of str
        ``span`` and ``denominator``, if each replicate draws its quotas.
    targets : tuple of float
        Reward rates of the arms, for a policy that has those of the instance.
    target_shares : tuple of float or str
        The same as shares of the means of the first arms.
    penalties : float, tuple of float, or "half_range", optional
        Penalty rates of the arms (`fairbandits.metrics.penalties.penalty_rates`).
    sweep : mapping of str to list
        Values of each swept parameter.
    record : tuple of str, optional
        Columns that are kept besides those that every run has; all where it is not given.
    observe : tuple of [str, mapping]
        Name and parameters of each observer; a parameter can be "instance".
    """

    stream: str
    policy: str
    parameters: Mapping[str, Any]
    law: str
    horizon: int
    checkpoints: Mapping[str, Any]
    policy_source: str | None = None
    spread: float | str | None = None
    horizons: tuple[int, ...] = ()
    apart: bool = False
    means: tuple[float, ...] = ()
    drawn_means: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[int, ...] = ()
    quotas: tuple[float | str, ...] = ()
    drawn_quotas: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[float, ...] = ()
    target_shares: tuple[float | str, ...] = ()
    penalties: Any = None
    sweep: Mapping[str, list] = field(default_factory=dict)
    record: tuple[str, ...] | None = None
    observe: tuple[list, ...] = ()

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return the specification that `to_json` made.

        Raises
        ------
        ValueError
            If a key is unknown or missing.
        """
        known = {one.name for one in fields(cls)}
        needed = {one.name for one in fields(cls) if _default(one) is MISSING}
        for wrong, what in (
            (content.keys() - known, "has no key"),
            (needed - content.keys(), "needs the key"),
        ):
            if wrong:
                raise ValueError(f"a run's specification {what} {min(wrong)!r}")
        return cls(
            **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in content.items()
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is given as plain values, in which a JSON text can hold it."""
        found = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if value != _default(one):
                found[one.name] = list(value) if isinstance(value, tuple) else value
        return found

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return self.drawn_means["arms"] if self.drawn_means else len(self.means)

    @property
    def cells(self) -> list[dict[str, Any]]:
        """What each cell sets: every horizon, each with the whole sweep."""
        horizons = {"horizon": self.horizons} if self.horizons else {}
        return cells_of_sweep({**horizons, **self.sweep})

    @property
    def total_rounds(self) -> int:
        """Number of rounds of one replicate, all cells together."""
        return sum(self.horizon_of(cell) for cell in self.cells)

    def horizon_of(self, cell: Mapping[str, Any]) -> int:
        """Return the number of rounds of a cell."""
        return cell.get("horizon", self.horizon)

    def stream_of(self, cell: Mapping[str, Any]) -> str:
        """Return the name of a cell's streams: its own for horizons apart."""
        return f"{self.stream}/{self.horizon_of(cell)}" if self.apart else self.stream

    def parameters_of(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Return the policy's parameters in a cell; one can be "instance"."""
        swept = {key: value for key, value in cell.items() if key != "horizon"}
        return {**self.parameters, **swept}

    @property
    def ranges(self) -> tuple[list[float], list[float]]:
        """Lowest and highest mean of each arm, where means are drawn."""
        return ranges_of(self.drawn_means, self.groups)

    def targets_for(self, means: Sequence[float]) -> list[float]:
        """Return the targets of an instance with these means.

        They are given, or are shares of the means, of the first arms; the others have none.
        """
        return list(self.targets) or shares_of(self.target_shares, means)


def _default(one: Any) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


def cells_of_sweep(sweep: Mapping[str, Sequence]) -> list[dict[str, Any]]:
    """Return what each cell of a sweep sets; without a sweep there is one cell that sets nothing.

    Examples
    --------
    >>> cells_of_sweep({"eta": [1, 10]})
    [{'eta': 1}, {'eta': 10}]
    """
    return [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]


def swept(value: float | str) -> float:
    """Return a swept value as the number that stands in its column."""
    return float(rational("a swept value", value))


def filled(parameters: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
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


def depends_on_instance(parameters: Mapping[str, Any], name: str = "") -> bool:
    """Return whether a parameter, perhaps of a learner, is that of the instance.

    `name` is the one that is asked about; any, if it is empty.
    """
    return any(
        depends_on_instance(value, name)
        if isinstance(value, dict)
        else value == OF_INSTANCE and name in ("", key)
        for key, value in parameters.items()
    )


def ranges_of(drawn: Mapping[str, Any], groups: Sequence[int]) -> tuple[list[float], list[float]]:
    """Return the lowest and the highest mean of each arm, where means are drawn.

    Either is one number, or one per group.

    Examples
    --------
    >>> ranges_of({"arms": 3, "low": [0.5, 0], "high": 1}, [2, 1])
    ([0.5, 0.5, 0], [1, 1, 1])
    """
    low, high = (
        [one for one, size in zip(ends, groups, strict=True) for _ in range(size)]
        if isinstance(ends, list)
        else [ends] * drawn["arms"]
        for ends in (drawn["low"], drawn["high"])
    )
    return low, high


def shares_of(shares: Sequence[float | str], means: Sequence[float]) -> list[float]:
    """Return targets that are shares of the means of the first arms; the others have none.

    Examples
    --------
    >>> shares_of(["1/2"], [0.5, 0.25])
    [0.25, 0.0]
    """
    given = [swept(share) for share in shares]
    given += [0.0] * (len(means) - len(given))
    return [share * mean for share, mean in zip(given, means, strict=True)]

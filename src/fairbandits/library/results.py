"""The result of a run, with the measures as methods; joining results."""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from os import PathLike
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from fairbandits.library.identity import Saved, same
from fairbandits.library.inputs import MeasuredQuotas, checked, shown
from fairbandits.library.instance import Instance, RandomInstance
from fairbandits.library.late import name_of
from fairbandits.library.repeating import by_value
from fairbandits.library.simulation import columns_of
from fairbandits.library.worlds import LOST, World
from fairbandits.measures import penalised, penalties, pulls, rates

MEASURES = (
    *(pulls.regret, pulls.r_regret, rates.target_regret, rates.target_violation),
    *(penalised.unfairness, penalised.penalised_regret, penalties.penalty_rates),
)
#: Measures by name; they check their arguments.
metrics = SimpleNamespace(**{measure.__name__: checked(measure) for measure in MEASURES})


@dataclass(frozen=True, eq=False)
class Result:
    """The records of a run, and its measures: arrays of shape (n_replicates, n_checkpoints).

    Results are equal if all that they hold is, by value.

    Attributes
    ----------
    policy, instance, horizon, seed, stream
        The arguments of the run.
    replicates : ndarray of int64, shape (n_replicates,)
        0-based replicate numbers.
    rounds : ndarray of int64, shape (n_checkpoints,)
        1-based rounds of the checkpoints.
    plays : ndarray, shape (n_replicates, n_checkpoints, n_arms)
        Pulls so far (int64); under full information the summed probabilities (float64).
    rewards : ndarray of float, same shape
        Reward accrued so far by each arm.
    probes : dict of str to ndarray of float, same shape
        Reports of the policy and its observers.
    deficits : dict of str to ndarray, same shape
        With quotas: ``deficit`` is r_k t - N_k(t), and ``floor_deficit`` is floor(r_k t) - N_k(t)
        (int64). ``deficit_sup`` and ``floor_deficit_sup`` are their maxima over the rounds 1..t.
    means : ndarray of float, shape (n_replicates, n_arms), optional
        True means of each replicate of a random instance.
    quotas : tuple of Fraction, optional
        The quotas that deficits refer to, exact.
    version : str
        Version of the package that ran it.

    Examples
    --------
    >>> from fairbandits import UCB1, Instance, run
    >>> arms = Instance((0.9, 0.4))
    >>> result = run(UCB1(), arms, 200, 3, checkpoints=[100, 200], quotas=(0, "1/4"))
    >>> result.regret().shape, result.violation().shape
    ((3, 2), (3, 2))
    """

    policy: Any
    instance: Instance | RandomInstance | World
    horizon: int
    seed: int
    stream: str
    replicates: np.ndarray
    rounds: np.ndarray
    plays: np.ndarray
    rewards: np.ndarray
    probes: dict[str, np.ndarray]
    deficits: dict[str, np.ndarray] = field(default_factory=dict)
    means: np.ndarray | None = None
    quotas: tuple | None = None
    version: str = metadata.version("fairbandits")

    def __repr__(self) -> str:
        """Return what was run in one line, without the arrays."""
        name = self.policy.name if isinstance(self.policy, Saved) else name_of(self.policy)
        replicates, checkpoints, arms = self.plays.shape
        columns = ", ".join(["plays", "rewards", *self.probes, *self.deficits])
        return (
            f"<Result of {name}: n_replicates = {replicates}, horizon = {self.horizon}, "
            f"n_checkpoints = {checkpoints}, n_arms = {arms}; {columns}>"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and same(vars(self), vars(other))

    __hash__ = None

    @property
    def true_means(self) -> np.ndarray:
        """True means, shape (n_arms,), or (n_replicates, n_arms) where the instance is random."""
        return np.array(self.instance.true_means) if self.means is None else self.means

    def columns(self) -> dict[str, np.ndarray]:
        """Return the tidy columns, one row per replicate, round and arm, with drawn means."""
        return columns_of(vars(self))

    def to_frame(self) -> Any:
        """Return the tidy columns as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def __reduce__(self) -> tuple:
        """Return what pickle needs; functions and classes of a session are kept by value."""
        return _unpickled, (by_value(vars(self)),)

    def save(self, path: str | PathLike) -> None:
        """Write a Parquet file that `load` reads: all that is recorded, and what made it.

        Columns are those of `columns`; the footer has policy, instance, seed and versions. The file
        is written whole or not at all.
        """
        from fairbandits.library.saving import save

        save(path, "result", {"": self}, {}, {})

    @classmethod
    def load(cls, path: str | PathLike) -> Self:
        """Return a result from a file that `save` has written; no code of the file runs.

        It has all measures, and `join` takes it. `policy` and `instance` are descriptions: they
        equal the objects that were saved, have those of their parameters that are numbers or texts
        as attributes, and cannot run. Raise `fairbandits.store.StoreError` for a file that is
        damaged, or that is none of `save`.
        """
        from fairbandits.library.saving import load

        (result,) = load(path, "result", cls)[0].values()
        return result

    def reward(self) -> np.ndarray:
        """Return the reward of all arms so far."""
        return self.rewards.sum(axis=-1)

    def regret(self) -> np.ndarray:
        """Return the conventional pseudo-regret, `fairbandits.metrics.regret`.

        In a `World` with moving means it is against the best arm of each round.
        """
        if getattr(self.instance, "moves", False):
            return self.probes[LOST].sum(axis=-1)
        return metrics.regret(self.plays, self.true_means)

    def r_regret(self, tolerance: Any = 0) -> np.ndarray:
        """Return the regret beyond the cost of the quotas, `fairbandits.metrics.r_regret`."""
        quotas = self._quotas("r_regret")
        return metrics.r_regret(self.rounds, self.plays, self.true_means, quotas, tolerance)

    def target_regret(self, targets: Sequence[float] | None = None) -> np.ndarray:
        """Return `fairbandits.metrics.target_regret`, by default for the policy's own targets."""
        targets = self._targets(targets, "target_regret")
        return metrics.target_regret(self.rounds, self.plays, self.true_means, targets)

    def violation(self, targets: Sequence[float] | None = None) -> np.ndarray:
        """Return the largest shortfall of any arm; negative if no arm is behind.

        Parameters
        ----------
        targets : sequence of float, length n_arms, optional
            Targets, for `fairbandits.metrics.target_violation`. Without them the shortfall is in
            pulls if the run has quotas, else in reward, by the policy's own targets.
        """
        if targets is None and self.deficits:
            return self.deficits["deficit"].max(axis=-1)
        own_targets = getattr(self.policy, "targets", None)  # perhaps an array
        if targets is None and (own_targets is None or not np.size(own_targets)):
            raise ValueError(
                "violation needs quotas or targets; measure quotas with "
                'run(..., quotas=("1/5", "3/10", ...)), or give violation(targets=(0.1, 0.2, ...))'
            )
        targets = self._targets(targets, "violation")
        return metrics.target_violation(self.rounds, self.rewards, targets)

    def unfairness(self) -> np.ndarray:
        """Return the shortfall of all arms together, `fairbandits.metrics.unfairness`."""
        return metrics.unfairness(self.rounds, self.plays, self._quotas("unfairness"))

    def penalised_regret(self, penalties: float | Sequence[float] | str) -> np.ndarray:
        """Return `fairbandits.metrics.penalised_regret`; `penalties` as in `penalty_rates`."""
        quotas, means = self._quotas("penalised_regret"), self.true_means
        costs = metrics.penalty_rates(penalties, means)
        return metrics.penalised_regret(self.rounds, self.plays, means, quotas, costs)

    def _quotas(self, measure: str) -> tuple:
        if self.quotas is None:
            raise ValueError(f'{measure} needs quotas; run(..., quotas=("1/5", "3/10", ...))')
        return MeasuredQuotas(self.quotas)

    def _targets(self, given: Sequence[float] | None, measure: str) -> Sequence[float]:
        targets = getattr(self.policy, "targets", ()) if given is None else given
        if not np.size(targets):
            raise ValueError(f"{measure} needs targets; {measure}(targets=(0.1, 0.2, ...))")
        return targets


def _unpickled(kept: bytes) -> Result:
    return Result(**pickle.loads(kept))


def join(results: Iterable[Result]) -> Result:
    """Return one result of several that have different replicates of the same run.

    The replicates are in the order of the results. Raise ValueError if there is no result, if two
    results share a replicate, or if they differ in another setting. Policies and instances are
    compared by value: class, parameters, and the code of your own functions and classes.

    Examples
    --------
    >>> from fairbandits import UCB1, Instance, run
    >>> arms = Instance((0.9, 0.4))
    >>> parts = [run(UCB1(), arms, 50, [0, 1]), run(UCB1(), arms, 50, [2])]
    >>> join(parts).replicates.tolist()
    [0, 1, 2]
    """
    if isinstance(results, Result) or not isinstance(results, Iterable):
        raise TypeError("results must be a list: join([first, second])")
    results = list(results)
    if not results:
        raise ValueError("results must hold at least one, got none")
    first = results[0]
    for result in results:
        if not isinstance(result, Result):
            raise TypeError(f"results must be those of fairbandits.run, got {result!r}")
        for name in ("instance", "horizon", "seed", "stream", "quotas", "version"):
            mine, its = getattr(first, name), getattr(result, name)
            if not same(mine, its):
                raise ValueError(f"results must be of one run; {name} is {mine!r} and {its!r}")
        if not same(first.policy, result.policy):
            raise ValueError(
                f"results must be of one policy, got {shown(first.policy)} and "
                f"{shown(result.policy)}; run both parts with the same code and parameters"
            )
        if not np.array_equal(first.rounds, result.rounds):
            raise ValueError("results must have the same checkpoints")
        if list(first.probes) != list(result.probes):
            raise ValueError(
                f"results must have the same probes, got {', '.join(first.probes) or 'none'} and "
                f"{', '.join(result.probes) or 'none'}"
            )
    numbers = np.concatenate([result.replicates for result in results])
    distinct, counts = np.unique(numbers, return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"results must have different replicates; {distinct[counts > 1][0]} is in two of them, "
            "so give the second run others: run(..., replicates=range(10, 20))"
        )
    return replace(first, **joined([vars(result) for result in results]))


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the records of parts that differ in their replicates, as one."""
    whole = {"rounds": parts[0]["rounds"]}
    for name in ("replicates", "plays", "rewards", "probes", "deficits", "means"):
        records = [part[name] for part in parts]
        if isinstance(records[0], dict):
            whole[name] = {key: np.concatenate([rec[key] for rec in records]) for key in records[0]}
        else:
            whole[name] = None if records[0] is None else np.concatenate(records)
    return whole

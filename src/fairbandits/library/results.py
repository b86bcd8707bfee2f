"""The result of a run, with the measures as methods; joining results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fairbandits import checks
from fairbandits.library import simulation
from fairbandits.measures import penalised, pulls
from fairbandits.measures import regrets as measures
from fairbandits.measures.penalties import penalty_rates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Fields with one entry per replicate on their first axis.
OF_REPLICATES = ("replicates", "plays", "rewards", "probes", "deficits", "means")
#: Fields that must agree when results are joined, besides policy, checkpoints and probes.
OF_RUN = ("instance", "horizon", "seed", "stream", "quotas")


@dataclass(frozen=True)
class Result(simulation.Result):
    """What a run recorded, and its measures: arrays of shape (n_replicates, n_checkpoints).

    Attributes
    ----------
    policy, instance, horizon, seed, stream
        What was run.
    replicates : ndarray of int64, shape (n_replicates,)
        0-based replicate numbers.
    rounds : ndarray of int64, shape (n_checkpoints,)
        1-based rounds of the checkpoints.
    plays : ndarray, shape (n_replicates, n_checkpoints, n_arms)
        Pulls so far (int64); under full information the summed probabilities (float64).
    rewards : ndarray of float, same shape
        Reward accrued so far by each arm.
    probes : dict of str to ndarray of float, same shape
        What the policy reports of itself, and its observers of it.
    deficits : dict of str to ndarray, same shape
        Where quotas were given, how far each arm is behind its own: ``deficit`` r_k t - N_k(t) and
        ``floor_deficit`` floor(r_k t) - N_k(t) (int64), and the largest of either in the rounds
        1..t, ``deficit_sup`` and ``floor_deficit_sup``.
    means : ndarray of float, shape (n_replicates, n_arms), optional
        Where the instance is random, the true means of each replicate.
    quotas : tuple of Fraction, optional
        The quotas that were measured, exact.

    Examples
    --------
    >>> from fairbandits import UCB1, Instance, run
    >>> arms = Instance((0.9, 0.4))
    >>> result = run(UCB1(), arms, 200, 3, checkpoints=[100, 200], quotas=(0, "1/4"))
    >>> result.regret().shape, result.violation().shape
    ((3, 2), (3, 2))
    """

    quotas: tuple | None = None

    @property
    def true_means(self) -> np.ndarray:
        """True means, shape (n_arms,), or (n_replicates, n_arms) where the instance is random."""
        return self.instance.true_means if self.means is None else self.means

    def reward(self) -> np.ndarray:
        """Return the reward of all arms so far, shape (n_replicates, n_checkpoints)."""
        return self.rewards.sum(axis=-1)

    def regret(self) -> np.ndarray:
        """Return the conventional pseudo-regret, shape (n_replicates, n_checkpoints).

        That is `fairbandits.metrics.regret`: what all pulls of other arms than the best cost,
        those that quotas or targets demand among them.
        """
        return measures.regret(self.plays, self.true_means)

    def r_regret(self, tolerance: Any = 0) -> np.ndarray:
        """Return the regret beyond what the quotas cost, shape (n_replicates, n_checkpoints).

        That is `fairbandits.metrics.r_regret` with the quotas of the run.

        Raises
        ------
        ValueError
            If the run measured no quotas.
        """
        return measures.r_regret(
            self.rounds, self.plays, self.true_means, self._quotas("r_regret"), tolerance
        )

    def target_regret(self, targets: Sequence[float] | None = None) -> np.ndarray:
        """Return the regret against the best distribution that meets the targets.

        That is `fairbandits.metrics.target_regret`, shape (n_replicates, n_checkpoints).

        Parameters
        ----------
        targets : sequence of float, length n_arms, optional
            Reward rates; those of the policy if it has such.

        Raises
        ------
        ValueError
            If there are no targets, or nobody can meet them.
        """
        return measures.target_regret(
            self.rounds, self.plays, self.true_means, self._targets("target_regret", targets)
        )

    def violation(self, targets: Sequence[float] | None = None, of: str = "deficit") -> np.ndarray:
        """Return by how much the worst arm is behind, shape (n_replicates, n_checkpoints).

        Negative where no arm is behind.

        Parameters
        ----------
        targets : sequence of float, length n_arms, optional
            Reward rates; then it is the reward that an arm lacks
            (`fairbandits.metrics.target_violation`). Without them it is the pulls that an arm
            lacks where the run measured quotas, else the reward by the targets of the policy.
        of : {"deficit", "floor_deficit", "deficit_sup", "floor_deficit_sup"}
            Which deficit of the quotas: real or of whole pulls, now or the largest so far.

        Raises
        ------
        ValueError
            If there are neither quotas nor targets.
        """
        if targets is None and self.deficits:
            checks.one_of("of", of, simulation.DEFICITS)
            return pulls.violation(self.deficits[of])
        if targets is None and not getattr(self.policy, "targets", ()):
            raise ValueError(
                "violation needs quotas or targets; measure quotas with "
                'run(..., quotas=("1/5", "3/10", ...)), or give violation(targets=(0.1, 0.2, ...))'
            )
        wanted = self._targets("violation", targets)
        return measures.target_violation(self.rounds, self.rewards, wanted)

    def unfairness(self) -> np.ndarray:
        """Return the pulls that all arms together lack, shape (n_replicates, n_checkpoints).

        That is `fairbandits.metrics.unfairness` with the quotas of the run.

        Raises
        ------
        ValueError
            If the run measured no quotas.
        """
        return penalised.unfairness(self.rounds, self.plays, self._quotas("unfairness"))

    def penalised_regret(self, penalties: float | Sequence[float] | str) -> np.ndarray:
        """Return the regret where each missing pull costs, shape (n_replicates, n_checkpoints).

        That is `fairbandits.metrics.penalised_regret` with the quotas of the run.

        Parameters
        ----------
        penalties : float, sequence of float, or "half_range"
            What a missing pull costs: the same for all arms, or for each its own; half the range of
            the true means.

        Raises
        ------
        ValueError
            If the run measured no quotas, or there is not one penalty per arm.
        """
        quotas = self._quotas("penalised_regret")
        rates = penalty_rates(penalties, self.true_means)
        return penalised.penalised_regret(self.rounds, self.plays, self.true_means, quotas, rates)

    def plot(self, metric: Any = "regret", **settings: Any) -> Figure:
        """Return a figure of one measure by round: its mean with a 95 % t interval.

        Parameters
        ----------
        metric : str or callable
            A measure's name, as in `fairbandits.compare`, or a function of the result that returns
            an array of shape (n_replicates, n_checkpoints).
        **settings
            ``targets`` or ``penalties`` for a measure that needs them.

        Returns
        -------
        matplotlib.figure.Figure
            It belongs to no window: save it with ``savefig``; a notebook shows it.
        """
        from fairbandits.library import plots

        return plots.plot_of({type(self.policy).__name__: self}, [metric], **settings)

    def _quotas(self, name: str) -> tuple:
        if self.quotas is None:
            raise ValueError(f'{name} needs quotas; run(..., quotas=("1/5", "3/10", ...))')
        return self.quotas

    def _targets(self, name: str, targets: Sequence[float] | None) -> Sequence[float]:
        found = getattr(self.policy, "targets", ()) if targets is None else targets
        if not np.size(found):
            raise ValueError(f"{name} needs targets; {name}(targets=(0.1, 0.2, ...))")
        checks.length("targets", found, self.plays.shape[-1])
        checks.non_negative("targets", found)
        return found


def join(results: Iterable[simulation.Result]) -> Result:
    """Return one result of several that have different replicates of the same run.

    Parameters
    ----------
    results : iterable of Result
        Of `fairbandits.run`, with the same policy, instance, horizon, seed, stream, checkpoints and
        quotas.

    Returns
    -------
    Result
        The replicates in the order of the results.

    Raises
    ------
    ValueError
        If there is no result, a replicate is in two of them, or they are of different runs.

    Examples
    --------
    >>> from fairbandits import UCB1, Instance, run
    >>> arms = Instance((0.9, 0.4))
    >>> parts = [run(UCB1(), arms, 50, [0, 1]), run(UCB1(), arms, 50, [2])]
    >>> join(parts).replicates.tolist()
    [0, 1, 2]
    """
    results = list(results)
    if not results:
        raise ValueError("results must hold at least one, got none")
    for one in results:
        if not isinstance(one, simulation.Result):
            raise TypeError(f"results must be those of fairbandits.run, got {one!r}")
    first = results[0]
    for other in results[1:]:
        for name in OF_RUN:
            mine, its = (getattr(one, name, None) for one in (first, other))
            if mine != its:
                raise ValueError(f"results must be of one run; {name} is {mine!r} and {its!r}")
        if not _same_policy(first.policy, other.policy):
            raise ValueError(
                "results must be of one policy, got "
                f"{first.policy!r} and {other.policy!r}; run both parts with the same object"
            )
        if not np.array_equal(first.rounds, other.rounds):
            raise ValueError("results must have the same checkpoints")
        if list(first.probes) != list(other.probes):
            raise ValueError(
                f"results must have the same probes, got {', '.join(first.probes) or 'none'} and "
                f"{', '.join(other.probes) or 'none'}"
            )
    numbers = np.concatenate([one.replicates for one in results])
    known, counts = np.unique(numbers, return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"results must have different replicates; {known[counts > 1][0]} is in two of them, "
            "so give the second run others: run(..., replicates=range(10, 20))"
        )
    return made_of(first, [{name: getattr(one, name) for name in OF_REPLICATES} for one in results])


def made_of(run: Any, parts: Sequence[dict[str, Any]], **others: Any) -> Result:
    """Assemble a Result from per-replicate parts (`OF_REPLICATES`).

    All other fields come from `others`, else from `run`.
    """
    found = {}
    for name in OF_REPLICATES:
        first = parts[0][name]
        if len(parts) == 1 or first is None:
            found[name] = first
        elif isinstance(first, dict):
            found[name] = {
                key: np.concatenate([part[name][key] for part in parts]) for key in first
            }
        else:
            found[name] = np.concatenate([part[name] for part in parts])
    for one in fields(Result):
        if one.name not in OF_REPLICATES:
            found[one.name] = others.get(one.name, getattr(run, one.name, None))
    return Result(**found)


def _same_policy(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one).__eq__ is not object.__eq__:
        return bool(one == other)
    # classes without an own __eq__ are compared by their attributes
    return repr(getattr(one, "__dict__", None)) == repr(getattr(other, "__dict__", None))

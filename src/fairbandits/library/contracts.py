"""Contracts of fairness: what is owed, how much of it is lacking, and what keeping it costs.

A contract is a small object: `MinimumPulls`, `MinimumReward`, `GroupExposure` or `GroupMerit`. It
measures whatever has ``rounds``, ``plays``, ``rewards`` and ``true_means``, such as the result of
`fairbandits.run`; arrays have shape (n_replicates, n_checkpoints, n_arms), what comes back
(n_replicates, n_checkpoints).

Examples
--------
>>> import fairbandits as fb
>>> contract = fb.contracts.MinimumPulls(("1/5", "3/10", "1/4"))
>>> best = contract.optimum((0.7, 0.5, 0.4))
>>> best.distribution.round(3).tolist(), round(contract.price((0.7, 0.5, 0.4)), 3)
([0.45, 0.3, 0.25], 0.135)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.measures import groups as of_groups
from fairbandits.measures import pulls
from fairbandits.measures import regrets as measures
from fairbandits.rationals import common_denominator, quota_numerators

__all__ = ["CONTRACTS", "Contract", "GroupExposure", "GroupMerit", "MinimumPulls", "MinimumReward"]


class Optimum(NamedTuple):
    """The best fixed distribution, shape (n_arms,), and its mean reward a round."""

    distribution: np.ndarray
    reward: float


class Contract:
    """What all contracts have in common."""

    #: The name in tables and on the command line, and the unit of a shortfall.
    name: ClassVar[str]
    unit: ClassVar[str]

    def optimum(self, means: Sequence[float]) -> Optimum:
        """Return the best fixed distribution that keeps the contract, by a linear programme.

        Parameters
        ----------
        means : sequence of float, length n_arms
            True means.

        Returns
        -------
        Optimum

        Raises
        ------
        ValueError
            If no distribution keeps it.
        """
        from scipy.optimize import linprog  # which those who only measure do without

        means = np.asarray(means, float)
        self.check(means.size)
        at_least, equal = self._rows(means)
        everywhere = np.ones((1, means.size))
        bounds = np.array([bound for _, bound in at_least])
        found = linprog(
            -means,
            A_ub=-np.array([row for row, _ in at_least]),
            b_ub=-bounds,
            A_eq=np.concatenate([everywhere, *([equal] if len(equal) else [])]),
            b_eq=np.append(1.0, np.zeros(len(equal))),
            bounds=(0, 1),
        )
        if not found.success:
            raise ValueError(
                f"contract {self.name} cannot be kept on means {tuple(means.tolist())}: "
                f"{self._reason(means)}"
            )
        return Optimum(found.x, float(found.x @ means))

    def feasible(self, means: Sequence[float]) -> bool:
        """Return whether some distribution keeps the contract."""
        try:
            self.optimum(means)
        except ValueError:
            return False
        return True

    def price(self, means: Sequence[float]) -> float:
        """Return the reward a round that the contract costs whoever knows the means."""
        return float(np.max(means)) - self.optimum(means).reward

    def shortfall(self, seen: Any) -> np.ndarray:
        """Return how much is lacking now where most is lacking; 0 where nothing is.

        Parameters
        ----------
        seen : object
            A `fairbandits.Result`, or what else has the same attributes.

        Returns
        -------
        ndarray, shape (n_replicates, n_checkpoints)
            In the contract's `unit`.
        """
        raise NotImplementedError

    def worst_shortfall(self, seen: Any) -> np.ndarray:
        """Return the largest shortfall so far: of all rounds where the run kept it, else recorded.

        Parameters
        ----------
        seen : object
            As in `shortfall`.
        """
        return np.maximum.accumulate(self.shortfall(seen), axis=-1)

    def contract_regret(self, seen: Any) -> np.ndarray:
        """Return the regret against the best that keeps the contract; negative where that is not.

        Parameters
        ----------
        seen : object
            As in `shortfall`.
        """
        raise NotImplementedError

    def check(self, n_arms: int) -> None:
        """Raise ValueError unless the contract is for so many arms."""
        raise NotImplementedError

    def _rows(self, means: np.ndarray) -> tuple[list[tuple[np.ndarray, float]], np.ndarray]:
        """Return rows with their lower bounds, and rows that must be 0."""
        raise NotImplementedError

    def _reason(self, means: np.ndarray) -> str:
        """Return why nobody can keep the contract."""
        raise NotImplementedError


@dataclass(frozen=True)
class MinimumPulls(Contract):
    """Arm i is owed floor(r_i t) pulls of the first t, counted in integers.

    Parameters
    ----------
    quotas : sequence of number or str, length n_arms
        r_i, exact: 0.05, "1/3". They sum to less than 1.

    References
    ----------
    V. Patil, G. Ghalme, V. Nair and Y. Narahari, "Achieving fairness in the stochastic multi-armed
    bandit problem", Definition 2.
    """

    quotas: tuple
    name: ClassVar[str] = "minimum_pulls"
    unit: ClassVar[str] = "pulls"

    def __post_init__(self):
        object.__setattr__(self, "quotas", tuple(self.quotas))
        quota_numerators(self.quotas)

    def shortfall(self, seen: Any) -> np.ndarray:
        """Return the whole pulls that the worst arm lacks, as in `Contract.shortfall`."""
        owed = pulls.floors(seen.rounds, *quota_numerators(self.quotas, np.max(seen.rounds)))
        return np.maximum(pulls.violation(owed - seen.plays), 0)

    def worst_shortfall(self, seen: Any) -> np.ndarray:
        """Return the same of the worst round so far, as in `Contract.worst_shortfall`."""
        recorded = quota_numerators(seen.quotas) if "floor_deficit_sup" in seen.deficits else None
        if recorded == quota_numerators(self.quotas):
            return np.maximum(pulls.violation(seen.deficits["floor_deficit_sup"]), 0)
        return super().worst_shortfall(seen)

    def contract_regret(self, seen: Any) -> np.ndarray:
        """Return `fairbandits.metrics.r_regret`."""
        return measures.r_regret(seen.rounds, seen.plays, seen.true_means, self.quotas)

    def check(self, n_arms: int) -> None:
        """Raise ValueError unless there is one quota per arm."""
        checks.length("quotas", self.quotas, n_arms)

    def _rows(self, means: np.ndarray) -> tuple[list[tuple[np.ndarray, float]], np.ndarray]:
        numerators, denominator = quota_numerators(self.quotas)
        floats = [float(Fraction(one, denominator)) for one in numerators]
        return list(zip(np.eye(means.size), floats, strict=True)), np.empty((0, means.size))

    def _reason(self, means: np.ndarray) -> str:
        return "quotas must sum to at most 1"


@dataclass(frozen=True)
class MinimumReward(Contract):
    """Arm i is owed the reward lambda_i t in the first t rounds.

    Parameters
    ----------
    targets : sequence of float, length n_arms
        lambda_i, 0 for unprotected arms.

    References
    ----------
    BanditQ, Eqs 1-3.
    """

    targets: tuple
    name: ClassVar[str] = "minimum_reward"
    unit: ClassVar[str] = "reward"

    def __post_init__(self):
        object.__setattr__(self, "targets", tuple(float(one) for one in self.targets))
        checks.non_negative("targets", self.targets)
        if not any(self.targets):
            raise ValueError("targets must be above 0 for one arm at least, got none")

    def shortfall(self, seen: Any) -> np.ndarray:
        """Return the reward that the worst protected arm lacks, as in `Contract.shortfall`."""
        lacking = measures.target_violation(seen.rounds, seen.rewards, self.targets)
        return np.maximum(lacking, 0.0)

    def contract_regret(self, seen: Any) -> np.ndarray:
        """Return `fairbandits.metrics.target_regret`."""
        return measures.target_regret(seen.rounds, seen.plays, seen.true_means, self.targets)

    def check(self, n_arms: int) -> None:
        """Raise ValueError unless there is one target per arm."""
        checks.length("targets", self.targets, n_arms)

    def _rows(self, means: np.ndarray) -> tuple[list[tuple[np.ndarray, float]], np.ndarray]:
        return list(zip(np.diag(means), self.targets, strict=True)), np.empty((0, means.size))

    def _reason(self, means: np.ndarray) -> str:
        return (
            f"sum of target / mean must be at most 1, got {checks.load(means, self.targets):.4f} "
            f"with targets {self.targets}"
        )


@dataclass(frozen=True)
class GroupExposure(Contract):
    """Group g is owed floor(beta_g t) of the first t pulls, whichever of its arms gets them.

    Parameters
    ----------
    groups : sequence of int
        Sizes of the groups, in the order of the arms.
    quotas : sequence of number or str, one per group
        beta_g, exact, with a sum of at most 1.

    References
    ----------
    BF-UCB, Definition 2.
    """

    groups: tuple
    quotas: tuple
    name: ClassVar[str] = "group_exposure"
    unit: ClassVar[str] = "pulls"

    def __post_init__(self):
        object.__setattr__(self, "groups", tuple(self.groups))
        object.__setattr__(self, "quotas", tuple(self.quotas))
        checks.length("quotas", self.quotas, len(self.groups))
        fractions = self._fractions
        checks.non_negative("quotas", fractions)
        if sum(fractions) > 1:
            raise ValueError(f"quotas must sum to at most 1, got {sum(fractions)}")

    @property
    def _fractions(self) -> list[Fraction]:
        numerators, denominator = common_denominator("quotas", self.quotas)
        return [Fraction(one, denominator) for one in numerators]

    def shortfall(self, seen: Any) -> np.ndarray:
        """Return the whole pulls that the worst group lacks, as in `Contract.shortfall`."""
        lacking = measures.group_deficits(seen.rounds, seen.plays, self.groups, self.quotas)
        return np.maximum(lacking.max(axis=-1), 0)

    def contract_regret(self, seen: Any) -> np.ndarray:
        """Return the regret beyond that of each group's quota on its best arm."""
        means = np.asarray(seen.true_means, float)
        gaps = means.max(axis=-1, keepdims=True) - means
        least = np.minimum.reduceat(gaps, self._first, axis=-1)
        owed = of_groups.owed(seen.rounds, self.quotas)
        return measures.regret(seen.plays, means) - least @ owed.T

    def check(self, n_arms: int) -> None:
        """Raise ValueError unless the groups have so many arms."""
        if sum(self.groups) != n_arms:
            raise ValueError(
                f"groups must sum to the number of arms ({n_arms}), got {sum(self.groups)}"
            )

    @property
    def _first(self) -> list[int]:
        return [sum(self.groups[:g]) for g in range(len(self.groups))]

    def _rows(self, means: np.ndarray) -> tuple[list[tuple[np.ndarray, float]], np.ndarray]:
        rows = [
            ((np.arange(means.size) >= first) & (np.arange(means.size) < first + size)).astype(
                float
            )
            for first, size in zip(self._first, self.groups, strict=True)
        ]
        bounds = [float(one) for one in self._fractions]
        return list(zip(rows, bounds, strict=True)), np.empty((0, means.size))

    def _reason(self, means: np.ndarray) -> str:
        return "quotas must sum to at most 1"


@dataclass(frozen=True)
class GroupMerit(GroupExposure):
    """Group exposure, and within each group pulls in proportion to merit f(mu_i).

    Parameters
    ----------
    groups, quotas
        As in `GroupExposure`.
    merit, c
        f is mu**c for "power", exp(c mu) for "exponential".

    References
    ----------
    BF-UCB, Section 3.2 and Definition 5.
    """

    merit: str = "power"
    c: float = 1.0
    name: ClassVar[str] = "group_merit"
    unit: ClassVar[str] = "pulls"

    def shortfall(self, seen: Any) -> np.ndarray:
        """Return the larger of two: whole pulls that a group lacks, pulls of a group misplaced.

        What is misplaced is 1/2 sum_i |N_i - pi_i N_g|: as many pulls of group g are one of its
        arms' that another one was due. See `Contract.shortfall`.
        """
        means = np.asarray(seen.true_means, float)
        if means.ndim == 1:
            fair = of_groups.fair_policy(means, self.groups, self.merit, self.c)
        else:
            fair = np.stack(
                [of_groups.fair_policy(one, self.groups, self.merit, self.c) for one in means]
            )[:, None, :]
        plays = np.asarray(seen.plays)
        served = np.repeat(of_groups.per_group(plays, self.groups), self.groups, axis=-1)
        misplaced = of_groups.per_group(np.abs(plays - fair * served), self.groups) / 2
        return np.maximum(misplaced.max(axis=-1), super().shortfall(seen))

    def contract_regret(self, seen: Any) -> np.ndarray:
        """Return `fairbandits.metrics.group_regret`."""
        return measures.group_regret(
            *(seen.rounds, seen.plays, seen.true_means),
            *(self.groups, self.quotas, self.merit, self.c),
        )

    def _rows(self, means: np.ndarray) -> tuple[list[tuple[np.ndarray, float]], np.ndarray]:
        at_least, _ = super()._rows(means)
        fair = of_groups.fair_policy(means, self.groups, self.merit, self.c)
        owner = np.repeat(np.arange(len(self.groups)), self.groups)
        in_group = (owner[:, None] == owner[None, :]).astype(float)
        return at_least, np.eye(means.size) - fair[:, None] * in_group


#: Name -> contract.
CONTRACTS = {one.name: one for one in (MinimumPulls, MinimumReward, GroupExposure, GroupMerit)}

"""Contracts of fairness: the shortfall of each arm or group, and the price of keeping the contract.

A contract measures whatever has ``rounds``, ``plays``, ``rewards`` and ``true_means``, such as the
result of `fairbandits.run`, and returns arrays of shape (n_replicates, n_checkpoints).

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
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairbandits import checks
from fairbandits.library import inputs
from fairbandits.measures import groups as of_groups
from fairbandits.measures import pulls, rates
from fairbandits.policies.parameters import ArmQuotas, Checked, GroupQuotas, GroupSizes, Targets
from fairbandits.rationals import Quotas

__all__ = ["CONTRACTS", "Contract", "GroupExposure", "GroupMerit", "MinimumPulls", "MinimumReward"]


class Optimum(NamedTuple):
    """The best fixed distribution, shape (n_arms,), and its mean reward per round."""

    distribution: np.ndarray
    reward: float


class Contract(Checked):
    """What all contracts have in common."""

    name: ClassVar[str]  # in tables and on the command line
    unit: ClassVar[str]  # of a shortfall

    def optimum(self, means: Sequence[float]) -> Optimum:
        """Return the best fixed distribution that keeps the contract; ValueError if none does."""
        from scipy.optimize import linprog  # imported here: only the optimum needs it

        means = np.array(inputs.per_arm("means", means, at_least=-np.inf))
        self.check(means.size)
        rows, least = self._at_least(means)  # constraints, and their lower bounds
        equal = np.concatenate([np.ones((1, means.size)), self._equal(means)])
        sums = np.append(1.0, np.zeros(len(equal) - 1))
        solution = linprog(-means, -rows, -np.array(least, float), equal, sums, bounds=(0, 1))
        if not solution.success:
            raise ValueError(
                f"contract {self.name} cannot be kept on means {tuple(means.tolist())}: "
                f"{self._reason(means)}"
            )
        return Optimum(solution.x, float(solution.x @ means))

    def price(self, means: Sequence[float]) -> float:
        """Return the price in reward per round of keeping the contract if the means are known."""
        means = inputs.per_arm("means", means, at_least=-np.inf)
        return max(means, default=0.0) - self.optimum(means).reward

    def shortfall(self, seen: Any) -> np.ndarray:
        """Return the largest shortfall of any arm or group now, in the contract's `unit`."""
        self.check(np.shape(seen.plays)[-1])
        return self._shortfall(seen)

    def worst_shortfall(self, seen: Any) -> np.ndarray:
        """Return the largest shortfall so far: of all rounds if recorded, else of checkpoints."""
        return np.maximum.accumulate(self.shortfall(seen), axis=-1)

    def contract_regret(self, seen: Any) -> np.ndarray:
        """Return the regret against the best policy that keeps the contract; it can be below 0."""
        self.check(np.shape(seen.plays)[-1])
        return self._contract_regret(seen)

    def check(self, n_arms: int) -> None:
        """Raise ValueError unless the contract is for so many arms."""
        raise NotImplementedError

    def _shortfall(self, seen: Any) -> np.ndarray:
        raise NotImplementedError

    def _contract_regret(self, seen: Any) -> np.ndarray:
        raise NotImplementedError

    def _equal(self, means: np.ndarray) -> np.ndarray:
        """Return rows that must be 0."""
        return np.empty((0, means.size))

    def _reason(self, means: np.ndarray) -> str:
        """Return why no policy can keep the contract."""
        return "quotas must sum to at most 1"


@dataclass(frozen=True)
class MinimumPulls(Contract):
    """Arm i gets at least floor(r_i t) of the first t pulls, exact (Fair-Learn, Definition 2).

    `quotas` are the r_i, exact: 0.05, "1/3"; they sum to less than 1.
    """

    quotas: ArmQuotas
    name: ClassVar[str] = "minimum_pulls"
    unit: ClassVar[str] = "pulls"

    def _shortfall(self, seen: Any) -> np.ndarray:
        owed = pulls.floors(seen.rounds, *self.quotas.over(np.max(seen.rounds)))
        return np.maximum((owed - seen.plays).max(axis=-1), 0)

    def worst_shortfall(self, seen: Any) -> np.ndarray:
        self.check(np.shape(seen.plays)[-1])
        recorded = Quotas(seen.quotas).fractions if "floor_deficit_sup" in seen.deficits else None
        if recorded == self.quotas.fractions:
            return np.maximum(seen.deficits["floor_deficit_sup"].max(axis=-1), 0)
        return super().worst_shortfall(seen)

    def _contract_regret(self, seen: Any) -> np.ndarray:
        return pulls.r_regret(seen.rounds, seen.plays, seen.true_means, self.quotas)

    def check(self, n_arms: int) -> None:
        checks.length("quotas", self.quotas, n_arms)

    def _at_least(self, means: np.ndarray) -> tuple[np.ndarray, Sequence[float]]:
        return np.eye(means.size), [float(quota) for quota in self.quotas.fractions]


@dataclass(frozen=True)
class MinimumReward(Contract):
    """Arm i earns at least the reward lambda_i t in the first t rounds (BanditQ, Eqs 1-3).

    `targets` are the lambda_i, 0 for unprotected arms.
    """

    targets: Targets
    name: ClassVar[str] = "minimum_reward"
    unit: ClassVar[str] = "reward"

    def __post_init__(self):
        super().__post_init__()
        if not any(self.targets):
            raise ValueError("targets must be above 0 for one arm at least, got none")

    def _shortfall(self, seen: Any) -> np.ndarray:
        return np.maximum(rates.target_violation(seen.rounds, seen.rewards, self.targets), 0.0)

    def _contract_regret(self, seen: Any) -> np.ndarray:
        return rates.target_regret(seen.rounds, seen.plays, seen.true_means, self.targets)

    def check(self, n_arms: int) -> None:
        checks.length("targets", self.targets, n_arms)

    def _at_least(self, means: np.ndarray) -> tuple[np.ndarray, Sequence[float]]:
        return np.diag(means), self.targets

    def _reason(self, means: np.ndarray) -> str:
        return (
            f"sum of target / mean must be at most 1, got {checks.load(means, self.targets):.4f} "
            f"with targets {self.targets}"
        )


@dataclass(frozen=True)
class GroupExposure(Contract):
    """Group g gets at least floor(beta_g t) of the first t pulls (BF-UCB, Definition 2).

    `groups` are their sizes, in the order of the arms, `quotas` the beta_g, exact, at most 1 in
    sum. Its regret is the excess over the regret of serving each group's quota by its best arm.
    """

    groups: GroupSizes
    quotas: GroupQuotas
    name: ClassVar[str] = "group_exposure"
    unit: ClassVar[str] = "pulls"

    def __post_init__(self):
        super().__post_init__()
        checks.length("quotas", self.quotas, len(self.groups))

    @property
    def _owner(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.groups)), self.groups)

    def _shortfall(self, seen: Any) -> np.ndarray:
        lacking = of_groups.group_deficits(seen.rounds, seen.plays, self.groups, self.quotas)
        return np.maximum(lacking.max(axis=-1), 0)

    def _contract_regret(self, seen: Any) -> np.ndarray:
        first = np.cumsum([0, *self.groups[:-1]])
        least = np.minimum.reduceat(pulls.gaps(seen.true_means), first, axis=-1)
        owed = of_groups.owed(seen.rounds, self.quotas)
        return pulls.regret(seen.plays, seen.true_means) - least @ owed.T

    def check(self, n_arms: int) -> None:
        if sum(self.groups) != n_arms:
            raise ValueError(
                f"groups must sum to the number of arms ({n_arms}), got {sum(self.groups)}"
            )

    def _at_least(self, means: np.ndarray) -> tuple[np.ndarray, Sequence[float]]:
        rows = self._owner == np.arange(len(self.groups))[:, None]
        return rows.astype(float), [float(quota) for quota in self.quotas.fractions]


@dataclass(frozen=True)
class GroupMerit(GroupExposure):
    """Group exposure, and pulls within groups in proportion to the means (BF-UCB, 3.2).

    The shortfall is in pulls of a group, or within one: 1/2 sum_i |N_i - pi_i N_g| of its pulls
    were of the wrong arm.
    """

    name: ClassVar[str] = "group_merit"

    def _shortfall(self, seen: Any) -> np.ndarray:
        fair_policy = of_groups.fair_policy(seen.true_means, self.groups)
        plays, fair = pulls.fitted(seen.plays, fair_policy)
        served = np.repeat(of_groups.per_group(plays, self.groups), self.groups, axis=-1)
        misplaced = of_groups.per_group(np.abs(plays - fair * served), self.groups) / 2
        return np.maximum(misplaced.max(axis=-1), super()._shortfall(seen))

    def _contract_regret(self, seen: Any) -> np.ndarray:
        groups = self.groups, self.quotas
        return of_groups.group_regret(seen.rounds, seen.plays, seen.true_means, *groups)

    def _equal(self, means: np.ndarray) -> np.ndarray:
        in_group = (self._owner[:, None] == self._owner).astype(float)
        if (means < 0).any() or not of_groups.per_group(means, self.groups).all():
            raise ValueError(
                f"means must be at least 0, with one above 0 in each group, got {means.tolist()}"
            )
        fair = of_groups.fair_policy(means, self.groups)
        return np.eye(means.size) - fair[:, None] * in_group


#: Name -> contract.
CONTRACTS = {kind.name: kind for kind in (MinimumPulls, MinimumReward, GroupExposure, GroupMerit)}

"""The cells of recorded runs: what measures are functions of."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fairbandits.audit.evidence import Evidence, Recorded
from fairbandits.policies import POLICIES
from fairbandits.policies.own import is_own
from fairbandits.rationals import quota_numerators, rational
from fairbandits.replication.recorded import RunData
from fairbandits.settings.spec import OF_INSTANCE, RunSpec, swept

#: Coordinates of a cell that are no policy's parameters -> description.
COORDINATES = {
    "arm": "number of an arm, from 1; a case has one if it is of one arm, or repeated for arms",
    "experiment": "name of the experiment",
    "feedback": "what the policy sees: bandit, or full",
    "instance": "name of a suite's instance, without the horizon if that is part of it",
    "label": "the policy as the figures call it",
    "law": "law of the rewards",
    "N": "number of arms",
    "policy": "name of the policy in the experiment",
    "reading": "the reading that is asked about",
    "round": "a round; a case has one if it is repeated for rounds",
    "suite": "name of the suite, or of the experiment that is none",
    "tau": "sum of the quotas of all arms",
    "T": "horizon, in rounds",
}


@dataclass(frozen=True)
class Cell:
    """One cell of a run; `replicates` limits it to the first so many (default: all)."""

    evidence: Evidence
    recorded: Recorded
    run: RunData
    replicates: int | None = None

    @property
    def spec(self) -> RunSpec:
        """All that decides the run."""
        return self.run.spec

    @property
    def rounds(self) -> np.ndarray:
        """Recorded rounds t, int64 of shape (n_rounds,)."""
        return self.run.rounds

    @property
    def horizon(self) -> int:
        """Last round T."""
        return int(self.rounds[-1])

    @property
    def n_replicates(self) -> int:
        """Number of replicates that are used."""
        return self.replicates or int(self.recorded.footer["replicates"])

    def column(self, name: str) -> np.ndarray:
        """Return a recorded column, shape (n_replicates, n_rounds, n_arms)."""
        if name not in self.run.values:
            raise ValueError(
                f"{self.recorded.experiment.name}: run {self.run.name} does not record {name!r}"
            )
        return self.run.values[name][: self.replicates]

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of the policy, those left out with their defaults."""
        given = {**self.spec.parameters, **self.exact_cell}
        if is_own(self.spec.policy):
            return given
        fields = dataclasses.fields(POLICIES[self.spec.policy])
        defaults = {
            one.name: one.default for one in fields if one.default is not dataclasses.MISSING
        }
        return {**defaults, **given}

    @cached_property
    def exact_cell(self) -> Mapping[str, Any]:
        """Values of the swept parameters, exact where they are configured as text."""
        return {
            name: next(
                (
                    rational(name, value) if isinstance(value, str) else value
                    for value in self.spec.sweep.get(name, [])
                    if swept(value) == number
                ),
                number,
            )
            for name, number in self.run.cell.items()
        }

    def coordinate(self, name: str) -> Any:
        """Return a coordinate, or raise KeyError."""
        experiment = self.recorded.experiment
        match name:
            case "T":
                return self.horizon
            case "N":
                return self.spec.n_arms
            case "experiment":
                return experiment.name
            case "suite":
                return experiment.suite or experiment.name
            case "instance":
                # a short number is the instance's own value
                return re.sub(r"_\d{3,}$", "", experiment.instance)
            case "law":
                return self.run.law
            case "policy":
                return self.run.policy
            case "label":
                return self.recorded.footer["labels"][self.run.policy]
            case "tau":
                return float(sum(rational("quotas", one) for one in self.quotas))
            case "tolerance":
                return self.tolerance
            case "feedback":
                default = "" if is_own(self.spec.policy) else POLICIES[self.spec.policy].feedback
                return self.parameters.get("feedback", default)
        return self.parameters[name]

    # ---------------------------------------------------------------------- the instance

    @cached_property
    def means(self) -> np.ndarray:
        """True means mu_i, shape (n_arms,), of an instance shared by all replicates."""
        if not self.spec.means:
            raise ValueError(f"{self.recorded.experiment.name}: each replicate draws its means")
        return np.array(self.spec.means, float)

    @cached_property
    def targets(self) -> np.ndarray:
        """The instance's target rates lambda_i, shape (n_arms,); 0 for unprotected arms."""
        targets = self.recorded.footer["targets"]
        return np.array(targets or [0.0] * self.spec.n_arms, float)

    @property
    def exact_gaps(self) -> list[Fraction]:
        """Delta_i as fractions, each mean read as its shortest decimal."""
        exact = [rational("means", mean) for mean in self.spec.means]
        return [max(exact) - mean for mean in exact]

    @cached_property
    def gaps(self) -> np.ndarray:
        """Delta_i, shape (n_arms,), without the rounding error of a difference of decimals."""
        return np.array([float(gap) for gap in self.exact_gaps])

    @property
    def quotas(self) -> list:
        """r_i as configured, of the policy if it has its own; 0 where there are none."""
        own = self.spec.parameters.get("quotas", OF_INSTANCE)
        given = list(self.spec.quotas) or [0] * self.spec.n_arms
        return given if own == OF_INSTANCE else own

    @cached_property
    def exact_quotas(self) -> tuple[np.ndarray, int]:
        """Numerators of r_i, shape (n_replicates or 1, 1, n_arms), and their denominator."""
        drawn = self.spec.drawn_quotas
        if drawn and self.spec.parameters.get("quotas", OF_INSTANCE) == OF_INSTANCE:
            return self.column("quota")[:, :1], drawn["denominator"]
        numerators, denominator = quota_numerators(self.quotas)
        return np.array(numerators)[None, None], denominator

    @property
    def tolerance(self) -> Fraction:
        """alpha, exact; 0 for a policy without."""
        return rational("tolerance", self.parameters.get("tolerance", 0))

"""What a type checker sees: a parameter can be given as any sequence, whatever it is kept as."""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

_Several: TypeAlias = Sequence[Any] | np.ndarray

class Checked: ...

class Policy(Checked):
    feedback: ClassVar[str]
    probes: ClassVar[tuple[str, ...]]

    def start(self, n_arms: int, horizon: int) -> Any: ...

Targets: TypeAlias = _Several
ArmQuotas: TypeAlias = _Several
ArmFractions: TypeAlias = _Several
GroupQuotas: TypeAlias = _Several
ArmNumbers: TypeAlias = _Several
Means: TypeAlias = _Several
GroupSizes: TypeAlias = _Several
Rates: TypeAlias = float | _Several
Version: TypeAlias = str
Confidence: TypeAlias = float | None
Exponent: TypeAlias = float
Positive: TypeAlias = float
NonNegative: TypeAlias = float
Learner: TypeAlias = str
LearnerParameters: TypeAlias = Any

def __getattr__(name: str) -> Any: ...

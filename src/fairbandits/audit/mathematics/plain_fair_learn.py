"""Fair-Learn as a plain program: in floating-point numbers, and with an arm that sleeps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, NamedTuple

from fairbandits.engine.protocol import learn
from fairbandits.library.instance import Instance
from fairbandits.library.simulation import run
from fairbandits.policies import UCB1, FairLearn
from fairbandits.rationals import rational


class _State:
    """Fair-Learn over UCB1 as a plain program, with quotas and tolerance of any kind of number."""

    def __init__(self, policy: "PlainFairLearn", n_arms: int, horizon: int) -> None:
        self.policy = policy
        self.known = UCB1().start(n_arms, horizon)
        self.pulls = [0] * n_arms

    def choose(self, t: int, coin: int) -> int:
        del coin
        awake = [arm for arm in range(len(self.pulls)) if not self.policy.sleeps(arm, t)]
        deficits = {arm: self.policy.quotas[arm] * (t - 1) - self.pulls[arm] for arm in awake}
        furthest = max(deficits, key=deficits.__getitem__)
        if deficits[furthest] > self.policy.tolerance:
            return furthest
        unpulled = [arm for arm in awake if not self.pulls[arm]]
        if unpulled:
            return unpulled[0]
        bonus = math.sqrt(2.0 * math.log(t))
        known = self.known.means
        return max(awake, key=lambda arm: known.mean[arm] + bonus * known.inverse_root[arm])

    def learn(self, t: int, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        learn(self.known, t, arm, reward)


@dataclass(frozen=True)
class PlainFairLearn:
    """Fair-Learn with UCB1 as a plain program, in floats or in exact fractions, as it is given.

    `asleep` is an arm, counted from 0, and the round until which it cannot be pulled.
    """

    quotas: tuple
    tolerance: Any = 0
    asleep: tuple[int, int] = (-1, 0)
    feedback: ClassVar[str] = "bandit"

    def start(self, n_arms: int, horizon: int) -> _State:
        """Return the state before the first round."""
        return _State(self, n_arms, horizon)

    def sleeps(self, arm: int, t: int) -> bool:
        """Whether an arm cannot be pulled in a round."""
        return arm == self.asleep[0] and t <= self.asleep[1]


class FloatRun(NamedTuple):
    """Result of Fair-Learn with quotas as doubles.

    `violation` is the largest floor(r_i t) - N of any arm and round, in exact integers; `differs`
    the first round in which it pulls another arm than with exact quotas, 0 for none.
    """

    violation: int
    differs: int


@cache
def float_run(
    means: tuple[float, ...], quotas: tuple[str, ...], horizon: int, seed: int
) -> FloatRun:
    """Compare Fair-Learn over UCB1 with quotas as doubles and as fractions, on the same rewards."""
    exact = [rational("quotas", one) for one in quotas]
    plain, ours = (
        run(
            policy,
            Instance(means),
            horizon,
            seed=seed,
            stream="audit/float_quotas",
            checkpoints=range(1, horizon + 1),
            quotas=quotas,
        )
        for policy in (PlainFairLearn(tuple(map(float, exact))), FairLearn(quotas))
    )
    other = (plain.plays != ours.plays)[0].any(axis=1)
    differs = int(plain.rounds[other.argmax()]) if other.any() else 0
    return FloatRun(int(plain.deficits["floor_deficit_sup"][0, -1].max()), differs)


def violation_asleep(
    means: Sequence[float],
    quotas: Sequence[Fraction],
    arm: int,
    until: int,
    rounds: int,
    seed: int,
) -> int:
    """Return Fair-Learn's largest floored violation where an arm (from 1) sleeps until a round.

    While it sleeps the other arms are chosen from in the same way.
    """
    found = run(
        PlainFairLearn(tuple(quotas), asleep=(arm - 1, until)),
        Instance(tuple(means)),
        rounds,
        seed=seed,
        stream="audit/sleeping_arm",
        quotas=quotas,
    )
    return int(found.deficits["floor_deficit_sup"][0, -1].max())


class _Counted(Fraction):
    """A fraction that counts its operations."""

    done: ClassVar[int] = 0

    @classmethod
    def _count(cls, found: Any) -> Any:
        cls.done += 1
        return cls(found) if isinstance(found, Fraction) else found

    def __mul__(self, other: Any) -> Any:
        return self._count(super().__mul__(other))

    def __sub__(self, other: Any) -> Any:
        return self._count(super().__sub__(other))

    def __gt__(self, other: Any) -> bool:
        return self._count(super().__gt__(other))


def check_operations(arms: int) -> int:
    """Return the number of operations that the check of fairness takes in a round.

    Counted are products, differences and comparisons of quotas and deficits in a round in which an
    arm is behind, so that nothing but the check is done.

    Examples
    --------
    >>> check_operations(10)
    30
    """
    state = PlainFairLearn(tuple([_Counted(1, 2 * arms)] * arms)).start(arms, 2)
    before = _Counted.done
    state.choose(2, 0)
    return _Counted.done - before

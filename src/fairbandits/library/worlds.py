"""Rewards defined by the user: by a function, by a table, or with moving means.

The n-th pull of an arm, or the arm in round t, pays every policy the same: all chance is in a coin
for each replicate, arm and number. Policies run interpreted here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from fairbandits import checks
from fairbandits.engine import laws
from fairbandits.engine.streams import stream_key, stream_keys, word
from fairbandits.library.instance import Instance
from fairbandits.policies.parameters import shown

#: Probe of runs with moving means: the regret of an arm's pulls against the best arm of each round.
LOST = "lost"


@dataclass(frozen=True)
class World:
    """Arms whose rewards are computed by a function; see `fairbandits.World`."""

    pay: Callable[[int, int, int], float]
    means: Sequence[float] | Callable[[int], Sequence[float]]
    by: Literal["pull", "round"] = "pull"
    law: str = "rewards of one's own"
    rows: int | None = None

    def __post_init__(self):
        checks.one_of("by", self.by, ("pull", "round"))
        if not callable(self.pay):
            raise TypeError(f"pay must be a function of arm, number and coin, got {self.pay!r}")
        if callable(self.means):
            if self.by != "round":
                raise ValueError("means that are a function of the round need by='round'")
        else:
            object.__setattr__(self, "means", tuple(map(float, self.means)))
        self.means_at(1)

    @classmethod
    def moving(
        cls,
        means: Callable[[int], Sequence[float]],
        law: str = "bernoulli",
        spread: float | None = None,
    ) -> "World":
        """Return a world whose means are a function of the round, with a law as in `Instance`."""

        @lru_cache(maxsize=4)
        def at(t: int) -> tuple:
            try:
                now = Instance(means(t), law, spread)
                if t > 1:
                    checks.length("means", now.means, len(at(1)[0]))
            except ValueError as error:
                raise ValueError(f"round {t}: {error}") from error
            return now.true_means, laws.law_parameters(law, np.array(now.means), now.spread)

        def pay(arm: int, number: int, coin: int) -> float:
            _, (code, first, second) = at(number)
            return laws.reward_of(code, first[arm], second[arm], np.uint64(coin))

        return cls(pay, lambda t: at(t)[0], "round", f"{law}, means that move")

    @property
    def moves(self) -> bool:
        """Whether the means are a function of the round."""
        return callable(self.means)

    @cached_property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.means_at(1))

    @property
    def true_means(self) -> np.ndarray:
        """Expected rewards, float array of shape (n_arms,); ValueError if they move."""
        if self.moves:
            raise ValueError(
                "this measure needs fixed means, and those of this World move; regret, violation "
                "of quotas and reward do not"
            )
        return np.array(self.means)

    def means_at(self, t: int) -> np.ndarray:
        """Return the means of round `t`, checked."""
        given = self.means(t) if self.moves else self.means
        means = checks.floats(given)
        if means.ndim != 1 or means.size < 2 or not np.isfinite(means).all():
            where = f" in round {t}" if self.moves else ""
            raise ValueError(
                f"means must be finite numbers of at least 2 arms, got {shown(given)}{where}"
            )
        if t > 1 and means.size != self.n_arms:
            raise ValueError(
                f"means must be those of {self.n_arms} arms, got {given!r} in round {t}"
            )
        return means

    def check_run(self, horizon: int, compiled: bool | None) -> None:
        """Raise ValueError for a run that is too long, or that asks for compiled loops."""
        if compiled:
            raise ValueError("in a World policies are interpreted; leave compiled away")
        if self.rows is not None and horizon > self.rows:
            raise ValueError(
                f"horizon must be at most the number of rows of the table ({self.rows}), "
                f"got {horizon}"
            )

    def source(self, seed: int, stream: str, replicate: int) -> "_Source":
        """Return the rewards and coins of a replicate."""
        return _Source(self, seed, stream, replicate)

    @property
    def observers(self) -> tuple:
        """The observer that a run needs for its regret."""
        return (_Lost(self),) if self.moves else ()


class _Source:
    """The rewards and coins of a replicate, in the form that the round loops need."""

    def __init__(self, world: World, seed: int, stream: str, replicate: int) -> None:
        self._world = world
        self._keys = stream_keys(seed, stream, replicate, "reward", world.n_arms)
        self._coin = stream_key(seed, stream, replicate, "coin", 0)
        self._taken = [0] * world.n_arms

    def coin_at(self, t: int) -> int:
        return word(*self._coin, t)

    def pull(self, t: int, arm: int) -> float:
        self._taken[arm] += 1
        return self._paid(arm, t if self._world.by == "round" else self._taken[arm])

    def observe(self, t: int, out: np.ndarray) -> None:
        for arm in range(out.size):
            out[arm] = self._paid(arm, t)

    def _paid(self, arm: int, number: int) -> float:
        base, gamma = self._keys
        reward = self._world.pay(arm, number, word(int(base[arm]), int(gamma[arm]), number))
        try:
            fits = math.isfinite(reward)  # takes no text, as `float` does
        except (TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            of = "round" if self._world.by == "round" else "pull"
            raise ValueError(
                f"pay must return a finite number, got {shown(reward)} for arm {arm + 1}, "
                f"{of} {number}"
            )
        return float(reward)


class _Lost:
    """An observer of the regret of each arm's pulls against the best arm of the round."""

    probes = (LOST,)

    def __init__(self, world: World, n_arms: int = 0) -> None:
        self._world, self.lost = world, np.zeros(n_arms)

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> "_Lost":
        return _Lost(self._world, n_arms)

    def watch(self, state: Any, t: int, action: Any, reward: Any) -> None:
        means = self._world.means_at(t)
        if isinstance(action, np.ndarray):
            self.lost += action * (means.max() - means)
        else:
            self.lost[action] += means.max() - means[action]

    def report(self, state: Any, out: np.ndarray) -> None:
        out[0] = self.lost

"""Bandit instances, with fixed or random means, and the laws of their rewards."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairbandits import checks
from fairbandits.engine import laws
from fairbandits.engine.streams import open_unit, stream_key, word


@dataclass(frozen=True)
class Instance:
    """Arms with i.i.d. rewards; `fairbandits.Instance` says what the fields are."""

    means: tuple[float, ...]
    law: str = "bernoulli"
    spread: float | None = None

    def __post_init__(self):
        object.__setattr__(self, "means", tuple(float(mean) for mean in self.means))
        if len(self.means) < 2:
            raise ValueError(f"an instance needs at least 2 arms, got {len(self.means)}")
        checks.one_of("law", self.law, tuple(laws.CODES))
        if self.spread is None:
            object.__setattr__(self, "spread", 4.0 if self.law == "beta" else 1.0)
        if not (math.isfinite(self.spread) and self.spread > 0):
            raise ValueError(f"spread must be a finite number above 0, got {self.spread!r}")
        if self.law == "beta" and self.spread < 0.1:  # both gamma draws could round to 0
            raise ValueError(f"spread of beta must be at least 0.1, got {self.spread!r}")
        low, high, text = {
            "bernoulli": (0.0, 1.0, "in [0, 1]"),
            "beta": (math.ulp(0.0), 1.0 - 2.0**-53, "in (0, 1)"),
            "uniform02": (0.0, math.inf, "at least 0"),
            "uniform02_clipped": (0.0, math.inf, "at least 0"),
        }.get(self.law, (-math.inf, math.inf, "finite"))
        for k, mean in enumerate(self.means):
            if not (math.isfinite(mean) and low <= mean <= high):
                raise ValueError(
                    f"means under law {self.law} must be {text}, got {mean!r} for arm {k + 1}"
                )

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.means)

    @property
    def true_means(self) -> np.ndarray:
        """Expected rewards, float array of shape (n_arms,)."""
        return laws.law_means(self.law, np.array(self.means))


@dataclass(frozen=True)
class RandomInstance:
    """An instance whose means are drawn for each replicate; see `fairbandits.RandomInstance`."""

    n_arms: int
    low: float | Sequence[float] = 0.0
    high: float | Sequence[float] = 1.0
    law: str = "bernoulli"
    spread: float | None = None
    decimals: int | None = None
    fixed: Sequence[tuple[int, float]] = ()

    def __post_init__(self):
        checks.whole("n_arms", self.n_arms, at_least=2)
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, Sequence | np.ndarray):
                object.__setattr__(self, name, tuple(float(bound) for bound in value))
                checks.length(name, value, self.n_arms)
        if self.decimals is not None:
            checks.whole("decimals", self.decimals)
        for low, high in dict.fromkeys(self._ranges()):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ValueError(f"low must be below high, both finite; got {low}, {high}")
            # whether the law takes all means of the range, and the spread
            middle = (low + high) / 2
            for mean in (low, high):
                inside = mean + 1e-9 * (middle - mean)
                end = inside if self.decimals is None else round(mean, self.decimals)
                drawn = Instance((end, middle), self.law, self.spread)
        object.__setattr__(self, "spread", drawn.spread)
        object.__setattr__(self, "fixed", tuple((arm, float(mean)) for arm, mean in self.fixed))
        for arm, mean in self.fixed:
            if not 1 <= arm <= self.n_arms:
                raise ValueError(f"fixed must name arms in 1..{self.n_arms}, got {arm}")
            Instance((mean, mean), self.law, self.spread)

    def _ranges(self) -> list[tuple[float, float]]:
        ends = (self.low, self.high)
        low, high = (end if isinstance(end, tuple) else (end,) * self.n_arms for end in ends)
        return list(zip(low, high, strict=True))

    def draw(self, seed: int, stream: str, replicate: int) -> Instance:
        """Return the instance of one replicate, which all policies on the same stream meet."""
        base, gamma = stream_key(seed, stream, replicate, "instance", 0)
        means = []
        for k, (low, high) in enumerate(self._ranges(), start=1):
            mean = low + (high - low) * open_unit(word(base, gamma, k))
            means.append(mean if self.decimals is None else round(mean, self.decimals))
        for arm, mean in self.fixed:
            means[arm - 1] = mean
        return Instance(tuple(means), self.law, self.spread)


def draw_quotas(
    n_arms: int, span: str, denominator: int, seed: int, stream: str, replicate: int
) -> list[int]:
    """Return numerators of random quotas with a sum below 1; `span` says where the largest lies."""
    key = stream_key(seed, stream, replicate, "quotas", 0)
    words = (int(word(*key, n)) for n in itertools.count(1))
    ends = {"kth": (0, n_arms), "wider": (n_arms, n_arms - 1), "beyond": (n_arms - 1, 1)}
    least, most = ends[span]
    above = -(-denominator // most)  # quotas are below this
    if span == "kth":
        return [next(words) % above for _ in range(n_arms)]
    low = -(-denominator // least)
    while True:
        largest = low + next(words) % (above - low)
        # with twice their share of what is left, the sum is below 1 half the time
        rest = max(1, 2 * (denominator - largest) // (n_arms - 1))
        quotas = [next(words) % min(rest, above) for _ in range(n_arms - 1)]
        quotas.insert(next(words) % n_arms, largest)
        if sum(quotas) < denominator:
            return quotas

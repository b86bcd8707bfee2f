"""Feedback that is late or comes in batches: `fairbandits.Delayed` and `fairbandits.Batched`."""

from collections import deque
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairbandits import checks
from fairbandits.engine.protocol import VERBS, is_implemented
from fairbandits.library.own_code import refuse_other_chance
from fairbandits.library.simulation import _Guarded, feedback_of, not_fresh
from fairbandits.numerals import counted
from fairbandits.policies import late


@dataclass(frozen=True)
class Late:
    """Base of the wrappers; other attributes of a wrapper, such as targets, are the policy's."""

    policy: Any

    def __post_init__(self) -> None:
        refuse_class(self.policy)
        feedback_of(self.policy)

    def __getattr__(self, name: str) -> Any:
        # methods belong to the states alone; a copy being made has no policy yet
        if name in VERBS or name.startswith("__") or "policy" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return getattr(self.policy, name)

    @property
    def feedback(self) -> str:
        """The policy's feedback, "bandit" or "full"."""
        return self.policy.feedback

    def start(self, n_arms: int, horizon: int) -> Any:
        """Return the state before round 1."""
        rows, policy = [], self  # the rounds of a batch and of a delay, the inner wrapper first
        while isinstance(policy, Late):
            rows.insert(0, policy._row(horizon))
            policy = policy.policy
        first, second = policy.start(n_arms, horizon), policy.start(n_arms, horizon)
        if first is second:
            raise not_fresh(policy, first)
        at_once, noted = (_named(policy, first, kind) for kind in ("at_once", "noted"))
        schedule = np.array(rows, np.int64)
        if is_implemented(type(first)):
            arms = n_arms if policy.feedback == "full" else None
            return late.begin((first, second), schedule, arms, horizon, at_once, noted)
        refuse_other_chance(policy, first)
        return _Plain(policy, (first, second), schedule, n_arms, horizon, at_once, noted)


@dataclass(frozen=True)
class Delayed(Late):
    """A policy that sees a round's reward only some rounds later.

    The reward of round t arrives at the end of round t + `rounds`; until then the policy chooses
    without it. Quotas count pulls at once: queues of missing pulls (LFG), thresholds (HT-UCB),
    deficits (Fair-Learn) and a group's rounds (BF-UCB) follow the pulls made. Everything learnt
    from rewards follows those that have arrived, also the counts in confidence bounds, as in
    Delayed-UCB1, and targets of reward (BanditQ). If rewards are divided by the probability of the
    draw, it is that of the pull's round. Under full information the rewards of all arms are late.
    Policies that do not learn from rewards, such as `Prophet`, play as without delay. `PlugIn`,
    whose quotas are estimates, and phases of exploration (`GuaranteeETC`) count observed pulls.

    Parameters
    ----------
    policy : object
        Any policy as in `run`. One in plain Python learns all of a round late, apart from what it
        names (docs/adding-a-policy.md). It can be `Delayed` or `Batched` itself: feedback reaches
        the outer wrapper first.
    rounds : int
        Delay d >= 0. With 0 the policy plays as without the wrapper, bit for bit; feedback that
        would arrive after the horizon never does.

    References
    ----------
    P. Joulani, A. György and C. Szepesvári, "Online learning under delayed feedback", ICML 2013.

    Examples
    --------
    >>> import fairbandits as fb
    >>> slow = fb.Delayed(fb.LFG(("1/5", "1/5")), rounds=100)
    >>> slow.label
    'LFG, delayed by 100 rounds'
    >>> fb.run(slow, fb.Instance((0.9, 0.5)), 100, checkpoints=[100]).plays.tolist()
    [[[50, 50]]]
    """

    rounds: int

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rounds", checks.whole("rounds", self.rounds, at_least=0))

    @property
    def label(self) -> str:
        """The policy's name and its delay, for tables."""
        return f"{name_of(self.policy)}, delayed by {counted(self.rounds, 'round')}"

    def _row(self, horizon: int) -> tuple[int, int]:
        return 1, min(self.rounds, horizon)


@dataclass(frozen=True)
class Batched(Late):
    """A policy that sees rewards in batches: those of `size` rounds at the end of the last one.

    It is otherwise like `Delayed`: quotas count pulls at once.

    Parameters
    ----------
    policy : object
        As in `Delayed`.
    size : int
        Rounds of a batch, at least 1. With 1 the policy plays as without the wrapper, bit for bit.

    Examples
    --------
    >>> import fairbandits as fb
    >>> fb.Batched(fb.UCB1(), size=50).label
    'UCB1, in batches of 50 rounds'
    """

    size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "size", checks.whole("size", self.size))

    @property
    def label(self) -> str:
        """The policy's name and its batches, for tables."""
        return f"{name_of(self.policy)}, in batches of {counted(self.size, 'round')}"

    def _row(self, horizon: int) -> tuple[int, int]:
        return min(self.size, horizon + 1), 0


def refuse_class(policy: Any) -> None:
    """Raise TypeError for a class in place of a policy."""
    if isinstance(policy, type):
        name = policy.__name__
        raise TypeError(f"a policy is an object, and {name} is its class; write {name}(...)")


def _named(policy: Any, state: Any, kind: str) -> tuple[str, ...]:
    """Return the attributes of a state that a policy names in one of its own; TypeError if none."""
    names = getattr(policy, kind, ())
    fits = isinstance(names, Iterable) and not isinstance(names, str)
    if not fits or not all(isinstance(name, str) and hasattr(state, name) for name in names):
        raise TypeError(
            f"{type(policy).__name__}.{kind} must be a tuple of attributes of the object that "
            f"start returns, got {names!r}"
        )
    return tuple(names)


def name_of(policy: Any) -> str:
    """Return how tables name a policy: by its class, and by the feedback if that is late."""
    return policy.label if isinstance(policy, Late) else type(policy).__name__


class _Plain:
    """The state of a policy in plain Python, by the rules of `fairbandits.policies.late`."""

    def __init__(
        self,
        policy: Any,
        states: tuple[Any, Any],
        schedule: np.ndarray,
        n_arms: int,
        horizon: int,
        at_once: tuple[str, ...],
        noted: tuple[str, ...],
    ) -> None:
        self._learner, self._counter = states
        self._guarded = [_Guarded(state, policy, n_arms) for state in states]
        self._full, self._n_arms = policy.feedback == "full", n_arms
        self._schedule, self._last = schedule, late.seen(schedule, horizon)
        self._at_once, self._noted = at_once, noted
        self._observed = _values(self._learner, at_once)
        self._waiting: deque[tuple] = deque()
        self._share_counts()

    def __getattr__(self, name: str) -> Any:
        # probes, and what observers look at, are the policy's own
        return getattr(self.__dict__["_learner"], name)

    def choose(self, t: int, coin: int) -> Any:
        if not self._full:
            return self._guarded[0].choose(t, coin)
        x = np.zeros(self._n_arms)
        self._guarded[0].distribute(t, coin, x)
        return x

    def learn(self, t: int, action: Any, reward: Any) -> None:
        notes = deepcopy(_values(self._learner, self._noted))
        if t <= self._last:
            self._waiting.append((t, action, reward, notes))
        if self._at_once:
            _set(self._counter, deepcopy(notes))
            self._guarded[1].learn(t, action, reward)
        arrived = late.seen(self._schedule, t)
        while self._waiting and self._waiting[0][0] <= arrived:
            *event, notes = self._waiting.popleft()
            _set(self._learner, notes | self._observed)
            self._guarded[0].learn(*event)
            self._observed = _values(self._learner, self._at_once)
        self._share_counts()

    def _share_counts(self) -> None:
        _set(self._learner, _values(self._counter, self._at_once))


def _values(state: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(state, name) for name in names}


def _set(state: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(state, name, value)

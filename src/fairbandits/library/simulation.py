"""Play one policy on one instance: validation, the round loops, and tidy columns.

Users call `fairbandits.run` (`fairbandits.library.running`), recorded runs this module.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import config

from fairbandits import checks
from fairbandits.engine.kinds import chosen as chosen_loop
from fairbandits.engine.lanes import MOST_ROUNDS, block_of, lane_of
from fairbandits.engine.loops import LOOPS, Record, new_record
from fairbandits.engine.protocol import VERBS, WATCHING, is_implemented
from fairbandits.engine.sources import stream_source
from fairbandits.engine.vectors import LANES
from fairbandits.engine.watching import watched
from fairbandits.library import chance
from fairbandits.library.instance import Instance, RandomInstance
from fairbandits.rationals import LONGEST, quota_numerators

if TYPE_CHECKING:
    import pandas as pd

DEFICITS = ("deficit", "floor_deficit", "deficit_sup", "floor_deficit_sup")
#: Column names of results and datasets, which no probe can have.
TAKEN = (
    *("replicate", "round", "arm", "plays", "reward", *DEFICITS, "mean"),
    *("quota", "horizon", "run", "policy", "law"),
)
#: Methods of a policy's state -> their arguments.
METHODS = {"choose": ("t", "coin"), "learn": ("t", "action", "reward")}
#: Upper limit of replicate numbers, which are recorded in 32 bits.
REPLICATES = 2**31


@dataclass(frozen=True)
class Result:
    """The record of a run: cumulated quantities at checkpoints, per replicate and arm.

    The attributes are those of `fairbandits.Result`.
    """

    policy: Any
    instance: Instance | RandomInstance
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

    def columns(self) -> dict[str, np.ndarray]:
        """Return the tidy columns, one row per replicate, round and arm (arms from 1).

        A random instance adds the column ``mean``, the arm's true mean in that replicate.
        """
        n_replicates, n_rounds, n_arms = self.plays.shape
        arms = np.arange(1, n_arms + 1, dtype=np.int32)
        drawn = {}
        if self.means is not None:
            drawn["mean"] = np.repeat(self.means[:, None, :], n_rounds, axis=1).reshape(-1)
        columns = {
            "replicate": np.repeat(self.replicates.astype(np.int32), n_rounds * n_arms),
            "round": np.tile(np.repeat(self.rounds, n_arms), n_replicates),
            "arm": np.tile(arms, n_replicates * n_rounds),
            "plays": self.plays.reshape(-1),
            "reward": self.rewards.reshape(-1),
        }
        recorded = self.deficits | self.probes
        return columns | drawn | {name: values.reshape(-1) for name, values in recorded.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return the tidy columns as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.columns())


def checkpoint_grid(horizon: int, linear: int = 2000, log: int = 200) -> np.ndarray:
    """Return evenly spaced rounds joined with log-spaced ones, always with the last round.

    Parameters
    ----------
    horizon : int
        Last round T >= 1.
    linear : int
        The evenly spaced ones are the multiples of max(1, T // linear).
    log : int
        Number of log-spaced ones, before rounding makes some coincide.
    """
    evenly = np.arange(max(1, horizon // linear), horizon + 1, max(1, horizon // linear))
    logged = np.rint(np.geomspace(1, horizon, log)).astype(np.int64)
    return np.union1d(np.union1d(evenly, logged), [horizon])


def run(
    policy: Any,
    instance: Instance | RandomInstance,
    horizon: int,
    replicates: int | Sequence[int] = 1,
    *,
    seed: int = 0,
    checkpoints: Sequence[int] | None = None,
    stream: str = "run",
    quotas: Sequence | None = None,
    observe: Sequence[Any] = (),
    compiled: bool | None = None,
) -> Result:
    """Run a policy on an instance in this process; parameters are those of `fairbandits.run`."""
    chosen = _replicates(replicates)
    settings = [Setting(policy, observe, quotas)] * chosen.size
    address = (settings, instance, horizon, chosen, seed, stream)
    return _result(*address, *_play(*address, checkpoints, compiled))


class Setting(NamedTuple):
    """The policy, observers and quotas of one replicate; `quotas` only measure."""

    policy: Any
    observe: Sequence[Any] = ()
    quotas: Sequence | None = None


def run_each(
    settings: Sequence[Setting],
    instance: Instance | RandomInstance,
    horizon: int,
    replicates: Sequence[int],
    *,
    seed: int,
    stream: str,
    checkpoints: Sequence[int],
    compiled: bool | None = None,
) -> list[Result]:
    """Run replicates that have settings of their own, in blocks where possible.

    All policies are of one class, as are all replicates' observers; other parameters as in `run`.
    """
    chosen = _replicates(replicates)
    address = (settings, instance, horizon, chosen, seed, stream)
    rounds, records, means = _play(*address, checkpoints, compiled)
    results = []
    for one in range(chosen.size):
        own = slice(one, one + 1)
        address = (settings[own], instance, horizon, chosen[own], seed, stream)
        results.append(_result(*address, rounds, records[own], means[own]))
    return results


def _play(
    settings: Sequence[Setting],
    instance: Instance | RandomInstance,
    horizon: int,
    chosen: np.ndarray,
    seed: int,
    stream: str,
    checkpoints: Sequence[int] | None,
    compiled: bool | None,
) -> tuple[np.ndarray, list[Record], list[np.ndarray]]:
    """Return the checkpoints, and each replicate's record and true means."""
    feedback = _feedback(settings[0].policy)
    horizon = _whole("horizon", horizon)
    if horizon > LONGEST:
        raise ValueError(f"horizon must be at most 2**53, got {horizon}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}")
    n_arms = instance.n_arms
    if horizon < n_arms:
        raise ValueError(f"horizon must be at least the number of arms ({n_arms}), got {horizon}")
    rounds = _checkpoints(checkpoints, horizon)
    if compiled is None and getattr(settings[0].policy, "always_compiled", False):
        compiled = True
    random = isinstance(instance, RandomInstance)
    means, sources = [], []
    for replicate in chosen.tolist():
        drawn = instance.draw(seed, stream, replicate) if random else instance
        means.append(drawn.true_means)
        address = (seed, stream, replicate)
        sources.append(stream_source(drawn.law, np.array(drawn.means), drawn.spread, *address))

    def empty(setting: Setting) -> Record:
        n_probes = sum(map(len, _probes(setting.policy, setting.observe)))
        required = _required(setting, feedback, n_arms, horizon)
        return new_record(feedback, n_arms, rounds, n_probes, required)

    def begun(setting: Setting, before: list[Any]) -> tuple[list[Any], Any, bool]:
        started = _started(setting.policy, setting.observe, n_arms, horizon, before)
        probes = _probes(setting.policy, setting.observe)
        return started, *_joined(setting.policy, started, probes, n_arms)

    records: list[Record] = []
    loop, started, play = None, [], LOOPS[feedback]
    while len(records) < len(sources):
        some = slice(len(records), len(records) + LANES)
        setting, *others = settings[some]
        record = empty(setting)
        started, state, ours = begun(setting, started)
        if ours and not records:
            _say_if_unmet(settings if random else settings[:1], means)
        force = compiled if ours else False
        to_come = horizon * (len(sources) - len(records))
        together = loop is None and force is not False and horizon <= MOST_ROUNDS
        # a block takes as long as two or three replicates, however few it has
        if together and len(others) >= 2 and not config.DISABLE_JIT:
            pairs = [
                (state, record) if other is setting else (begun(other, [])[1], empty(other))
                for other in others
            ]
            missing = LANES - 1 - len(others)
            states, lanes = zip((state, record), *pairs, *[(state, record)] * missing, strict=True)
            block, several = block_of(states), block_of(lanes)
            if block is not None and several is not None:
                source = block_of([*sources[some], *sources[some][:1] * missing])
                if chosen_loop(play, block, source, several, to_come, force) is play:
                    play(block, source, several, 0, horizon)
                    records += [lane_of(several, lane, record) for lane in range(len(others) + 1)]
                    continue
                force = False
        if loop is None:
            loop = chosen_loop(play, state, sources[some][0], record, to_come, force)
        before = () if ours else chance.position()
        loop(state, sources[some][0], record, 0, horizon)
        if before:
            chance.refuse_if_moved(setting.policy, before)
        records.append(record)
    return rounds, records, means


def _required(
    setting: Setting, feedback: str, n_arms: int, horizon: int
) -> tuple[list[int], int] | None:
    """Return the quotas that a replicate measures: numerators, denominator."""
    return None if setting.quotas is None else _quotas(setting.quotas, feedback, n_arms, horizon)


def _result(
    settings: Sequence[Setting],
    instance: Instance | RandomInstance,
    horizon: int,
    chosen: np.ndarray,
    seed: int,
    stream: str,
    rounds: np.ndarray,
    records: Sequence[Record],
    means: Sequence[np.ndarray],
) -> Result:
    """Return the result of replicates with the same setting."""
    policy, observe, _ = settings[0]
    plays = np.array([record.plays_at for record in records])
    deficits = {}
    required = _required(settings[0], policy.feedback, instance.n_arms, horizon)
    if required:
        numerators, denominator = required
        now = np.array(numerators) * rounds[:, None] - denominator * plays
        largest = np.array([record.deficit_sup_at for record in records])
        for name, exact in (("deficit", now), ("deficit_sup", largest)):
            deficits[name] = exact / denominator
            deficits[f"floor_{name}"] = exact // denominator
    probed = np.array([record.probes_at for record in records])
    probes = [name for names in _probes(policy, observe) for name in names]
    return Result(
        policy,
        instance,
        int(horizon),
        seed,
        stream,
        chosen,
        rounds,
        plays,
        np.array([record.rewards_at for record in records]),
        {name: probed[:, :, p] for p, name in enumerate(probes)},
        deficits,
        np.array(means) if isinstance(instance, RandomInstance) else None,
    )


def _started(
    policy: Any, observe: Sequence[Any], n_arms: int, horizon: int, before: list[Any]
) -> list[Any]:
    """Return the states of policy and observers before round 1.

    `before` are the states of the previous replicate, if any: a policy must not hand out the same
    object again.
    """
    states = [policy.start(n_arms, horizon)]
    states += [one.start(policy, states[0], n_arms, horizon) for one in observe]
    for one, state, last in zip((policy, *observe), states, before or states, strict=True):
        if before and state is last:
            raise TypeError(
                f"{type(one).__name__}.start must return a fresh object for each replicate, or "
                "what one has learnt is known to the next; it returned the same "
                f"{type(state).__name__} twice"
            )
        verbs = VERBS if one is policy else WATCHING
        own = [verb for verb in verbs if callable(getattr(one, verb, None))]
        if own and is_implemented(type(state), verbs[0]):
            raise TypeError(
                f"{type(one).__name__} has a method {own[0]} that would never be called: its start "
                f"returns {type(state).__name__}, which goes by functions of its own; return an "
                f"object with methods {verbs[1]} and {verbs[0]} from start"
            )
    return states


def _say_if_unmet(settings: Sequence[Setting], means: Sequence[np.ndarray]) -> None:
    """Warn if no policy can meet the targets under some of the means."""
    targets = [getattr(setting.policy, "targets", ()) for setting in settings]
    pairs = zip(targets, means, strict=False)
    worst = max((checks.load(own, one) for one, own in pairs if one), default=0.0)
    if worst > 1 + checks.SLACK:
        warnings.warn(
            "targets cannot be met on this instance: "
            f"sum of target / mean must be at most 1, got {worst:.4f}",
            stacklevel=4,
        )


def _joined(
    policy: Any, states: list[Any], probes: list[tuple[str, ...]], n_arms: int
) -> tuple[Any, bool]:
    """Return a policy's state with those of its observers, and whether it can be compiled."""
    state, *observers = states
    ours = is_implemented(type(state))
    if not ours:
        chance.refuse_other_chance(policy, state)
        state = _Guarded(state, policy, n_arms)
    if not observers:
        return state, ours
    ours = ours and all(is_implemented(type(one), "watch") for one in observers)
    return watched(state, observers, [len(names) for names in probes[:-1]]), ours


class _Guarded:
    """A user's policy whose actions are checked before the loop acts on them."""

    def __init__(self, state: Any, policy: Any, n_arms: int):
        probed = {"probe": ("out",)} if getattr(policy, "probes", ()) else {}
        for method, given in (METHODS | probed).items():
            if not callable(getattr(state, method, None)):
                raise TypeError(
                    f"{type(policy).__name__}.start must return an object with a method "
                    f"{method}; {type(state).__name__} has none"
                )
            check_takes(state, method, given)
        self._state = state
        self._name = type(policy).__name__
        self._n_arms = n_arms
        self.choose = self._arm
        self.distribute = self._probabilities
        self.learn = self._learn
        self.probe = getattr(state, "probe", None)

    def __getattr__(self, name: str) -> Any:
        # observers look at the state itself
        return getattr(self.__dict__["_state"], name)

    def _arm(self, t: int, coin: int) -> int:
        arm = self._state.choose(t, coin)
        if not isinstance(arm, int | np.integer) or not 0 <= arm < self._n_arms:
            raise ValueError(
                f"{self._name}.choose must return an arm in 0..{self._n_arms - 1}, "
                f"got {arm!r} in round {t}"
            )
        return int(arm)

    def _learn(self, t: int, action: Any, reward: Any) -> None:
        if isinstance(reward, np.ndarray):  # the loop fills these arrays anew in every round
            action, reward = action.copy(), reward.copy()
        self._state.learn(t, action, reward)

    def _probabilities(self, t: int, coin: int, out: np.ndarray) -> None:
        x = np.asarray(self._state.choose(t, coin), dtype=float)
        if x.shape != (self._n_arms,) or not (x.min() >= 0 and abs(x.sum() - 1) < 1e-9):
            raise ValueError(
                f"{self._name}.choose must return {self._n_arms} probabilities that sum to 1, "
                f"got {x!r} in round {t}"
            )
        out[:] = x


def check_takes(one: Any, method: str, given: Sequence[str]) -> None:
    """Raise TypeError unless a user's method takes this number of arguments."""
    try:
        signature = inspect.signature(getattr(one, method))
    except (TypeError, ValueError):  # of what is written in C nothing is known
        return
    try:
        signature.bind(*given)
    except TypeError:
        raise TypeError(
            f"{type(one).__name__}.{method} must take ({', '.join(given)}), it takes {signature}; "
            f"write def {method}(self, {', '.join(given)})"
        ) from None


def _feedback(policy: Any) -> str:
    feedback, name = getattr(policy, "feedback", None), type(policy).__name__
    if feedback not in LOOPS:
        raise TypeError(
            f"a policy needs a feedback attribute, {' or '.join(map(repr, LOOPS))}; {name} has "
            + ("none" if feedback is None else repr(feedback))
        )
    if not callable(getattr(policy, "start", None)):
        raise TypeError(f"a policy needs a method start(n_arms, horizon); {name} has none")
    check_takes(policy, "start", ("n_arms", "horizon"))
    return feedback


def _probes(policy: Any, observe: Sequence[Any]) -> list[tuple[str, ...]]:
    """Return the names of the policy's probes and of each observer's."""
    for one in observe:
        if not (hasattr(one, "probes") and callable(getattr(one, "start", None))):
            raise TypeError(
                "an observer needs probes (names) and a method start(policy, state, n_arms, "
                f"horizon), got {one!r}"
            )
    given = [getattr(policy, "probes", ()), *(one.probes for one in observe)]
    for one, part in zip((policy, *observe), given, strict=True):
        if isinstance(part, str) or not all(isinstance(name, str) for name in part):
            raise TypeError(f"{type(one).__name__}.probes must be a tuple of names, got {part!r}")
        if taken := [name for name in part if name in TAKEN]:
            raise ValueError(
                f"{type(one).__name__}.probes must have other names than the columns "
                f"{', '.join(TAKEN)}, got {taken[0]!r}"
            )
    probes = [tuple(part) for part in given]
    names = [name for part in probes for name in part]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"observe must have each column once, got {repeated[0]} twice")
    return probes


def _quotas(quotas: Sequence, feedback: str, n_arms: int, horizon: int) -> tuple[list[int], int]:
    if feedback != "bandit":
        raise ValueError(
            "quotas count pulls, and a policy with full information pulls no arm; leave them away, "
            "or give targets in their place; an instance of a paper brings its quotas, and "
            "Instance(arms.means, arms.law, arms.spread) is the same without"
        )
    checks.length("quotas", quotas, n_arms)
    return quota_numerators(quotas, horizon)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def _replicates(replicates: int | Sequence[int]) -> np.ndarray:
    if isinstance(replicates, int | np.integer):
        if _whole("replicates", replicates) > REPLICATES:
            raise ValueError(f"replicates must be at most 2**31, got {replicates}")
        return np.arange(replicates)
    chosen = np.asarray(list(replicates) if isinstance(replicates, Iterable) else replicates)
    whole = chosen.ndim == 1 and chosen.size > 0 and np.issubdtype(chosen.dtype, np.integer)
    if not whole or chosen.min() < 0 or np.unique(chosen).size != chosen.size:
        raise ValueError(
            f"replicates must be a number or distinct whole numbers of at least 0, "
            f"got {replicates!r}"
        )
    if chosen.max() >= REPLICATES:
        raise ValueError(f"replicates must have numbers below 2**31, got {chosen.max()}")
    return chosen.astype(np.int64)


def _checkpoints(checkpoints: Sequence[int] | None, horizon: int) -> np.ndarray:
    if checkpoints is None:
        return checkpoint_grid(horizon)
    rounds = np.asarray(checkpoints)
    whole = rounds.ndim == 1 and rounds.size > 0 and np.issubdtype(rounds.dtype, np.integer)
    if not whole or rounds[0] < 1 or rounds[-1] > horizon or (rounds[1:] <= rounds[:-1]).any():
        raise ValueError(
            f"checkpoints must be increasing whole numbers in 1..{horizon}, got {checkpoints!r}"
        )
    return rounds.astype(np.int64)

"""Play a policy on an instance; users call `fairbandits.run`, which checks the arguments."""

import inspect
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import config

from fairbandits import checks
from fairbandits.engine.kinds import chosen as chosen_loop
from fairbandits.engine.lanes import block_of, lane_of
from fairbandits.engine.loops import LOOPS, Record, new_record
from fairbandits.engine.protocol import MOST_ROUNDS, VERBS, WATCHING, is_implemented
from fairbandits.engine.sources import stream_source
from fairbandits.engine.vectors import LANES
from fairbandits.engine.watching import watched
from fairbandits.library import at_work, own_code
from fairbandits.library.instance import Instance, RandomInstance
from fairbandits.library.worlds import World
from fairbandits.policies.parameters import shown
from fairbandits.rationals import quota_numerators

DEFICITS = ("deficit", "floor_deficit", "deficit_sup", "floor_deficit_sup")
#: Column names of results and datasets, which no probe can have.
TAKEN = (
    *("replicate", "round", "arm", "plays", "reward", *DEFICITS, "mean"),
    *("quota", "horizon", "run", "policy", "law"),
)
#: What users' methods are given.
GIVEN = {
    "choose": ("t", "coin"),
    "learn": ("t", "action", "reward"),
    "probe": ("out",),
    "watch": ("state", "t", "action", "reward"),
    "report": ("state", "out"),
}


class Setting(NamedTuple):
    """The policy, observers and quotas of one replicate; `quotas` only measure."""

    policy: Any
    observe: Sequence[Any] = ()
    quotas: Sequence | None = None


def columns_of(played: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the tidy columns: a row per replicate, round and arm, from 1."""
    n_replicates, n_rounds, n_arms = played["plays"].shape
    arms = np.arange(1, n_arms + 1, dtype=np.int32)
    columns = {
        "replicate": np.repeat(played["replicates"].astype(np.int32), n_rounds * n_arms),
        "round": np.tile(np.repeat(played["rounds"], n_arms), n_replicates),
        "arm": np.tile(arms, n_replicates * n_rounds),
        "plays": played["plays"],
        "reward": played["rewards"],
    }
    if played["means"] is not None:
        columns["mean"] = np.repeat(played["means"][:, None, :], n_rounds, axis=1)
    columns |= played["deficits"] | played["probes"]
    return {name: values.reshape(-1) for name, values in columns.items()}


def checkpoint_grid(horizon: int, linear: int = 2000, log: int = 200) -> np.ndarray:
    """Return evenly spaced and log-spaced rounds together, always with the last round.

    The evenly spaced rounds are the multiples of max(1, T // linear); `log` is the number of the
    others, before rounding makes some coincide.
    """
    evenly = np.arange(max(1, horizon // linear), horizon + 1, max(1, horizon // linear))
    logged = np.rint(np.geomspace(1, horizon, log)).astype(np.int64)
    return np.union1d(np.union1d(evenly, logged), [horizon])


def play(
    settings: Setting | Sequence[Setting],
    instance: Instance | RandomInstance | World,
    horizon: int,
    replicates: Sequence[int],
    *,
    checkpoints: Sequence[int],
    seed: int = 0,
    stream: str = "run",
    compiled: bool | None = None,
) -> dict[str, Any]:
    """Play replicates, in blocks where possible, with one setting for all or one for each.

    Return the records, named as the attributes of `fairbandits.Result`. An error has the attribute
    ``place``: the replicate and, if known, the round.
    """
    chosen, rounds = np.array(list(replicates), np.int64), np.array(checkpoints, np.int64)
    in_world, random = isinstance(instance, World), isinstance(instance, RandomInstance)
    if in_world:
        instance.check_run(horizon, compiled)
        compiled = False
        settings = settings._replace(observe=(*settings.observe, *instance.observers))
    if isinstance(settings, Setting):
        settings = [settings] * chosen.size
    policy, n_arms = settings[0].policy, instance.n_arms
    feedback = feedback_of(policy)
    own_loop = getattr(policy, "own_loop_", None)
    if compiled is None and own_loop:
        compiled = True
    any_loop = own_loop or LOOPS[feedback]
    addresses = [(seed, stream, replicate) for replicate in chosen.tolist()]
    drawn = [instance.draw(*address) if random else instance for address in addresses]
    means = [] if in_world else [arms.true_means for arms in drawn]
    sources = [
        arms.source(*address)
        if in_world
        else stream_source(arms.law, np.array(arms.means), arms.spread, *address)
        for arms, address in zip(drawn, addresses, strict=True)
    ]
    required = [_quotas(setting.quotas, feedback, n_arms, horizon) for setting in settings]
    probes = probes_of(*settings[0][:2])

    def empty(n: int) -> Record:
        return new_record(feedback, n_arms, rounds, sum(map(len, probes)), required[n])

    def begun(setting: Setting, before: list[Any]) -> tuple[list[Any], Any, bool]:
        states = started(setting.policy, setting.observe, n_arms, horizon, before)
        return states, *_joined(setting.policy, states, probes, n_arms)

    records: list[Record] = []
    loop, states = None, []
    try:
        while len(records) < len(sources):
            first = len(records)
            block = slice(first, first + LANES)
            setting, *others = settings[block]
            at_work.begin(setting.policy, chosen[first : first + 1])
            record = empty(first)
            states, state, ours = begun(setting, states)
            after = math.inf if ours and not (in_world or own_loop) else 0.0
            at_work.begin(setting.policy, chosen[first : first + 1], after)
            if ours and not records:
                _say_if_unmet(settings if random else settings[:1], means)
            force = compiled if ours else False
            to_come = horizon * (len(sources) - first)
            together = loop is None and force is not False and horizon <= MOST_ROUNDS
            # a block takes as long as two or three replicates, however few it has; after another
            # block it is compiled, and the loop of one replicate is not
            enough = 1 if records else 2
            if together and len(others) >= enough and not config.DISABLE_JIT:
                pairs = [(state, record)]
                for n, other in enumerate(others, start=first + 1):
                    same = other is setting
                    pairs.append(pairs[0] if same else (begun(other, [])[1], empty(n)))
                at_work.begin(setting.policy, chosen[block], after)
                lanes = _in_block(any_loop, pairs, sources[block], horizon, to_come, force)
                if lanes:
                    records += lanes
                    continue
                force = force if lanes is None else False
                at_work.begin(setting.policy, chosen[first : first + 1], after)
            if loop is None:
                loop = chosen_loop(any_loop, state, sources[first], record, to_come, force)
            before = () if ours and not in_world else own_code.position()
            loop(state, sources[first], record, 0, horizon)
            if before:
                theirs = [] if is_implemented(type(states[0])) else [setting.policy]
                theirs += [each for each in setting.observe if own_code.is_theirs(type(each))]
                theirs += [instance] if in_world and own_code.is_theirs(type(instance.pay)) else []
                own_code.refuse_if_moved(theirs, before)
            records.append(record)
    except BaseException as error:
        seen = at_work.HERE[-1].read()
        asked = f", round {seen.round}" if seen.round else ""
        error.at, error.place = seen.place, f"replicate {chosen[len(records)]}{asked}"
        if isinstance(error, Exception | KeyboardInterrupt):
            raise
        raise own_code.ended(error) from error
    finally:
        at_work.HERE[-1].write("")
    probed = np.array([record.probes_at for record in records])
    names = [name for part in probes for name in part]
    owed = [_deficits(*measured) for measured in zip(records, required, strict=True)]
    return {
        "replicates": chosen,
        "rounds": rounds,
        "plays": np.array([record.plays_at for record in records]),
        "rewards": np.array([record.rewards_at for record in records]),
        "probes": {name: probed[:, :, p] for p, name in enumerate(names)},
        "deficits": {name: np.array([part[name] for part in owed]) for name in owed[0]},
        "means": np.array(means) if random else None,
    }


def _in_block(
    loop: Any,
    pairs: list[tuple],
    sources: list[Any],
    horizon: int,
    to_come: int,
    force: bool | None,
) -> list[Record] | None:
    """Play states and records side by side; None if impossible, [] if not worth compiling."""
    missing = LANES - len(pairs)
    block, several = map(block_of, zip(*pairs, *[pairs[0]] * missing, strict=True))
    if block is None or several is None:
        return None
    source = block_of([*sources, *sources[:1] * missing])
    if chosen_loop(loop, block, source, several, to_come, force) is not loop:
        return []
    loop(block, source, several, 0, horizon)
    return [lane_of(several, lane, pairs[0][1]) for lane in range(len(pairs))]


def _deficits(record: Record, required: tuple[list[int], int] | None) -> dict[str, np.ndarray]:
    """Return by how much the arms of a replicate are behind their quotas, exact and floored."""
    if required is None:
        return {}
    numerators, denominator = required
    now = np.array(numerators) * record.checkpoints[:, None] - denominator * record.plays_at
    exact = ((now, "deficit"), (record.deficit_sup_at, "deficit_sup"))
    return {
        prefix + name: value
        for values, name in exact
        for prefix, value in (("", values / denominator), ("floor_", values // denominator))
    }


def started(
    policy: Any, observe: Sequence[Any], n_arms: int, horizon: int, before: list[Any]
) -> list[Any]:
    """Return the first states of policy and observers, which must not be those `before`."""
    states = [policy.start(n_arms, horizon)]
    states += [observer.start(policy, states[0], n_arms, horizon) for observer in observe]
    for player, state, last in zip((policy, *observe), states, before or states, strict=True):
        if before and state is last:
            raise not_fresh(player, state)
        verbs = VERBS if player is policy else WATCHING
        named = [verb for verb in verbs if callable(getattr(player, verb, None))]
        if named and is_implemented(type(state), verbs[0]):
            raise TypeError(
                f"{type(player).__name__} has a method {named[0]} that would never be called: its "
                f"start returns {type(state).__name__}, which goes by functions of its own; return "
                f"an object with methods {verbs[1]} and {verbs[0]} from start"
            )
        if verbs is WATCHING and not is_implemented(type(state), verbs[0]):
            check_methods(player, state, verbs)
    return states


def not_fresh(policy: Any, state: Any) -> TypeError:
    """Return the error of a policy whose replicates share a state."""
    return TypeError(
        f"{type(policy).__name__}.start must return a fresh object for each replicate, or what one "
        f"has learnt is known to the next; it returned the same {type(state).__name__} twice"
    )


def _say_if_unmet(settings: Sequence[Setting], means: Sequence[np.ndarray]) -> None:
    """Warn if no policy can meet the targets under some of the means."""
    targets = [getattr(setting.policy, "targets", None) for setting in settings]
    pairs = [(mu, owed) for owed, mu in zip(targets, means, strict=False) if owed is not None]
    worst = max((checks.load(mu, owed) for mu, owed in pairs if np.size(owed)), default=0.0)
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
        own_code.refuse_other_chance(policy, state)
        state = _Guarded(state, policy, n_arms)
    if not observers:
        return state, ours
    ours = ours and all(is_implemented(type(observer), "watch") for observer in observers)
    return watched(state, observers, [len(names) for names in probes[:-1]]), ours


class _Guarded:
    """A user's policy whose actions are checked before the loop acts on them."""

    def __init__(self, state: Any, policy: Any, n_arms: int):
        methods = ("choose", "learn", *(["probe"] if getattr(policy, "probes", ()) else []))
        check_methods(policy, state, methods)
        self._state = state
        self._name = type(policy).__name__
        self._n_arms = n_arms
        self._round = at_work.HERE[-1].round

    def __getattr__(self, name: str) -> Any:
        # observers look at the state itself
        return getattr(self.__dict__["_state"], name)

    def choose(self, t: int, coin: int) -> int:
        self._round[0] = t
        arm = self._state.choose(t, coin)
        is_whole = isinstance(arm, int | np.integer) and not isinstance(arm, bool)
        if not is_whole or not 0 <= arm < self._n_arms:
            raise ValueError(
                f"{self._name}.choose must return an arm in 0..{self._n_arms - 1}, "
                f"got {arm!r} in round {t}"
            )
        return int(arm)

    def learn(self, t: int, action: Any, reward: Any) -> None:
        if isinstance(reward, np.ndarray):  # the loop fills these arrays anew in every round
            action, reward = action.copy(), reward.copy()
        self._state.learn(t, action, reward)

    def distribute(self, t: int, coin: int, out: np.ndarray) -> None:
        self._round[0] = t
        given = self._state.choose(t, coin)
        x = checks.floats(given)
        if x.shape != (self._n_arms,) or not (x.min() >= 0 and abs(x.sum() - 1) < 1e-9):
            raise ValueError(
                f"{self._name}.choose must return {self._n_arms} probabilities that sum to 1, "
                f"got {shown(given)} in round {t}"
            )
        out[:] = x


def check_methods(player: Any, state: Any, methods: Iterable[str]) -> None:
    """Raise TypeError unless what a user's `start` returns has these methods, as `GIVEN`."""
    for method in methods:
        if not callable(getattr(state, method, None)):
            raise TypeError(
                f"{type(player).__name__}.start must return an object with a method "
                f"{method}; {type(state).__name__} has none"
            )
        check_takes(state, method, GIVEN[method])


def check_takes(player: Any, method: str, given: Sequence[str]) -> None:
    """Raise TypeError unless a user's method takes this number of arguments."""
    try:
        signature = inspect.signature(getattr(player, method))
    except (TypeError, ValueError):  # of what is written in C nothing is known
        return
    try:
        signature.bind(*given)
    except TypeError:
        raise TypeError(
            f"{type(player).__name__}.{method} must take ({', '.join(given)}), it takes "
            f"{signature}; write def {method}(self, {', '.join(given)})"
        ) from None


def feedback_of(policy: Any) -> str:
    """Return a policy's feedback; TypeError for what is no policy."""
    feedback, name = getattr(policy, "feedback", None), type(policy).__name__
    if not isinstance(feedback, str) or feedback not in LOOPS:
        raise TypeError(
            f"a policy needs a feedback attribute, {' or '.join(map(repr, LOOPS))}; {name} has "
            + ("none" if feedback is None else repr(feedback))
        )
    if not callable(getattr(policy, "start", None)):
        raise TypeError(f"a policy needs a method start(n_arms, horizon); {name} has none")
    check_takes(policy, "start", ("n_arms", "horizon"))
    return feedback


def probes_of(policy: Any, observe: Sequence[Any]) -> list[tuple[str, ...]]:
    """Return the names of the policy's probes and of each observer's."""
    for observer in observe:
        if not (hasattr(observer, "probes") and callable(getattr(observer, "start", None))):
            raise TypeError(
                "an observer needs probes (names) and a method start(policy, state, n_arms, "
                f"horizon), got {observer!r}"
            )
    given = [getattr(policy, "probes", ()), *(observer.probes for observer in observe)]
    for player, part in zip((policy, *observe), given, strict=True):
        if isinstance(part, str) or not all(isinstance(name, str) for name in part):
            kind = type(player).__name__
            raise TypeError(f"{kind}.probes must be a tuple of names, got {part!r}")
        if taken := [name for name in part if name in TAKEN]:
            raise ValueError(
                f"{type(player).__name__}.probes must have other names than the columns "
                f"{', '.join(TAKEN)}, got {taken[0]!r}"
            )
    probes = [tuple(part) for part in given]
    names = [name for part in probes for name in part]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"observe must have each column once, got {repeated[0]} twice")
    return probes


def _quotas(
    quotas: Sequence | None, feedback: str, n_arms: int, horizon: int
) -> tuple[list[int], int] | None:
    """Return the quotas that a replicate measures, as numerators and denominator."""
    if quotas is None:
        return None
    if feedback != "bandit":
        raise ValueError(
            "quotas count pulls, and a policy with full information pulls no arm; leave them away, "
            "or give targets in their place; an instance of a paper brings its quotas, and "
            "Instance(arms.means, arms.law, arms.spread) is the same without"
        )
    checks.length("quotas", quotas, n_arms)
    return quota_numerators(quotas, horizon)

"""A replicate depends on its address alone: one is played again, here and in other processes.

Code does not tell what a policy in plain Python, an observer or a World depends on besides. It
can be a generator in a list, the time, the order of a set, or what an earlier replicate left.
"""

import gc
import os
import pickle
import subprocess
import sys
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import _lru_cache_wrapper, lru_cache
from io import BytesIO
from tempfile import TemporaryFile
from types import FunctionType, ModuleType
from typing import Any, BinaryIO

import numpy as np
from numba import cloudpickle

from fairbandits.engine.protocol import is_implemented
from fairbandits.library import at_work
from fairbandits.library.compiling import Compiled
from fairbandits.library.identity import code_of
from fairbandits.library.late import Late, name_of
from fairbandits.library.own_code import _GENERATORS, INSTEAD
from fairbandits.library.processes import end_with, said_if_long
from fairbandits.library.simulation import Setting, checkpoint_grid, play, probes_of, started
from fairbandits.library.worlds import World

#: A replicate is played three times for `LEAST` rounds, compiled ones more, or more if that takes a
#: twentieth of the run. What differs between replicates from the start shows in a few rounds, in
#: which it is played `OFTEN` times more.
LEAST, LEAST_COMPILED, SHARE = 1_000, 10_000, 60
OFTEN, FEW = 4, 30
#: Rounds of all replicates from which other processes cost less than a twentieth of a run.
LONG = 2_000_000
#: Seeds of Python's hashes in other processes: the order of a few texts can be the same by chance.
HASH_SEEDS = ("1", "2", "3")
#: Objects of a policy among which a generator is looked for.
MOST_OBJECTS = 10_000
ELSEWHERE = " in another process"
#: Seconds that such a process can take to start.
STARTING = 60.0
#: What makes replicates differ, by where they do, and of the rewards of a World.
CAUSES = {
    "": (
        "a generator, a clock, or what replicates share: a list that start copies, a variable of "
        "the class or the module"
    ),
    ELSEWHERE: (
        "hash() of a text, the order of a set, the number of the process, or a variable of the "
        "module that was set or drawn before"
    ),
    "is paid": "a pay that takes more than arm, number and coin: a generator, a clock, a list",
}

#: Policies and worlds that were the same in other processes; None there, where nothing is asked.
_same_elsewhere: set | None = set()


class _Enough(Exception):
    """Ends a run after the rounds that are compared."""


class _Noted:
    """An observer of what is done and paid in each round, which ends the run after some rounds."""

    probes = (__name__,)  # one, since an array without rows has no base

    def __init__(self, rounds: int) -> None:
        self.rounds, self.told, self.reported = rounds, {}, None

    def start(self, policy: Any, state: Any, n_arms: int, horizon: int) -> "_Noted":
        self.state = state  # kept, so that no later state has its address
        return self

    def watch(self, state: Any, t: int, action: Any, reward: Any) -> None:
        if t > self.rounds:
            raise _Enough
        self.told |= {(t, "acts"): _content(action), (t, "is paid"): _content(reward)}

    def report(self, state: Any, out: np.ndarray) -> None:
        self.reported = out.base  # of all that report, at all checkpoints


def _content(values: Any) -> bytes:
    return np.asarray(values, float).tobytes()


@contextmanager
def repeated(
    setting: Setting,
    instance: Any,
    horizon: int,
    numbers: Sequence[int],
    *,
    elsewhere: bool,
    **how: Any,
) -> Iterator[None]:
    """Play the first replicate before and after a run, and compare; ValueError if it differs.

    If users' code is in the run, the replicate is played in this process and, with `elsewhere` or
    in a long run, in others, whose hashes of texts are others. `how` are arguments of `play`.
    """
    policy, begin = setting.policy, (*setting[:2], instance.n_arms, horizon)
    probes_of(*setting[:2])
    states = started(*begin, [])
    if len(numbers) > 1:  # replicates that share a state would not show in separate processes
        started(*begin, states)
    verbs = ["learn", *["watch"] * len(setting.observe)]
    implemented = all(map(is_implemented, map(type, states), verbs))
    inside = _inside(policy)
    if implemented and not isinstance(instance, World) and not isinstance(inside, Compiled):
        yield
        return
    fast = isinstance(inside, Compiled) and how.get("compiled") is not False
    if not fast:  # what is compiled holds numbers and arrays
        _refuse_generator(policy, states[0], numbers[0])
    least = LEAST_COMPILED if fast else LEAST
    rounds = min(horizon, max(least, horizon * len(numbers) // SHARE))
    asked = setting, instance, horizon, int(numbers[0]), how
    told, kept = _told(*asked, rounds)
    shorter = () if fast else [min(rounds, FEW)] * OFTEN
    again = [_told(*asked, length) for length in (rounds, *shorter)]
    _compare(policy, asked[3], told, [replay for replay, _ in again])
    arms = (instance.pay, instance.means) if isinstance(instance, World) else type(instance)
    key = arms, *map(_class_and_code, (inside, *setting.observe))
    elsewhere |= horizon * len(numbers) >= LONG
    with ExitStack() as stack:
        others = []
        if elsewhere and not fast and _same_elsewhere is not None and key not in _same_elsewhere:
            others = _asked_elsewhere(stack, (*asked, rounds))
        yield
        _compare(policy, asked[3], told, [_told(*asked, rounds)[0]])
        for process, answer in others:
            at_work.begin(policy, asked[3:4], STARTING)
            with said_if_long():
                code = process.wait()
            at_work.HERE[-1].write("")
            # it cannot be sent there, as what a notebook holds open, or has ended the process
            if code == 0 and answer.seek(0, os.SEEK_END):
                answer.seek(0)
                _compare(policy, asked[3], told, pickle.load(answer), ELSEWHERE)
        if others:
            _same_elsewhere.add(key)
    del kept


def _inside(policy: Any) -> Any:
    """Return the policy itself, whose feedback can be late."""
    return _inside(policy.policy) if isinstance(policy, Late) else policy


def _class_and_code(made: Any) -> tuple:
    """Return the class of a policy or an observer, and the code of the functions that it keeps."""
    kept = getattr(made, "__dict__", {}).values()
    return type(made), *(code_of(held.__code__) for held in kept if isinstance(held, FunctionType))


def _told(
    setting: Setting, instance: Any, horizon: int, number: int, how: dict[str, Any], rounds: int
) -> tuple[dict[tuple, bytes], Any]:
    """Return what a replicate does in its first rounds, by round and verb, and its state.

    What is compiled is not observed: its horizon is shorter, and its sums are compared.
    """
    noted, checkpoints = _Noted(rounds), np.asarray(how["checkpoints"])
    checkpoints = np.union1d(checkpoints[checkpoints <= rounds], rounds)
    fast = isinstance(_inside(setting.policy), Compiled) and how.get("compiled") is not False
    if fast:
        checkpoints, horizon = checkpoint_grid(rounds), rounds
    else:
        setting = setting._replace(observe=(*setting.observe, noted))
    with warnings.catch_warnings(), said_if_long(), suppress(_Enough):
        warnings.simplefilter("ignore")  # the run gives them
        played = play(setting, instance, horizon, [number], **how | {"checkpoints": checkpoints})
    parts = [("reports", noted.reported)]
    if fast:
        parts = [("acts", played["plays"][0]), ("is paid", played["rewards"][0])]
        parts += [("reports", values[0]) for values in played["probes"].values()]
    noted.told |= {
        (t, verb, k): _content(values[mark])
        for mark, t in enumerate(checkpoints.tolist())
        for k, (verb, values) in enumerate(parts)
    }
    return noted.told, noted


def _compare(policy: Any, number: int, told: dict, others: Sequence[dict], where: str = "") -> None:
    """Raise ValueError, with the place of the first difference, if a replicate differs."""
    for replay in others:
        for key, content in told.items():
            if replay.get(key, content) != content:
                t, verb, *_ = key
                causes = CAUSES["is paid" if verb == "is paid" else where]
                error = ValueError(
                    f"{name_of(policy)} {verb} otherwise in round {t} when replicate "
                    f"{number} is played again{where}, as if by {causes}, so that {INSTEAD}"
                )
                error.place = f"replicate {number}, round {t}"
                raise error


def _refuse_generator(policy: Any, state: Any, number: int) -> None:
    """Raise ValueError if a policy or its state holds a generator, at whatever depth."""
    left, seen = [("self", policy), ("self", state)], set()
    while left and len(seen) < MOST_OBJECTS:
        path, held = left.pop(0)
        if isinstance(held, _GENERATORS):
            error = ValueError(
                f"{name_of(policy)} keeps a generator in {path}, which goes on from replicate to "
                f"replicate or is the same in all, so that {INSTEAD}"
            )
            error.place = f"replicate {number}"
            raise error
        if id(held) in seen:
            continue
        seen.add(id(held))
        if isinstance(held, dict):
            left += [(f"{path}[{key!r}]", value) for key, value in held.items()]
        elif isinstance(held, list | tuple | set | frozenset | deque):
            left += [(f"{path}[{k}]", value) for k, value in enumerate(held)]
        elif not isinstance(held, type | ModuleType) and not hasattr(held, "py_func"):
            named = getattr(held, "__dict__", {})
            left += [(f"{path}.{key}", value) for key, value in named.items()]
            # what a function closes over, slots, the object of a bound method; no whole module
            left += [
                (path, value)
                for value in gc.get_referents(held)
                if not isinstance(value, dict) or ("__builtins__" not in value)
            ]


def _caching(function: Any, maxsize: int | None, typed: bool) -> Any:
    return lru_cache(maxsize, typed)(function)


class _Sending(cloudpickle.Pickler):
    """Pickles functions with a cache by value, too, and the cache empty."""

    dispatch_table = cloudpickle.Pickler.dispatch_table.new_child(
        {
            _lru_cache_wrapper: lambda cached: (
                _caching,
                (cached.__wrapped__, *cached.cache_parameters().values()),
            )
        }
    )


def by_value(held: Any) -> bytes:
    """Return a pickle that has what a notebook or a script defines, which cannot be imported."""
    pickled = BytesIO()
    _Sending(pickled).dump(held)
    return pickled.getvalue()


def _asked_elsewhere(stack: ExitStack, asked: tuple) -> list[tuple[subprocess.Popen, BinaryIO]]:
    """Start processes that play a replicate; return them with the files for what they tell."""
    try:
        question = by_value(asked)
    except Exception:  # whatever a user's policy holds
        return []
    seeds = [seed for seed in HASH_SEEDS if seed != os.environ.get("PYTHONHASHSEED")][:2]
    others = []
    for seed in seeds:
        sent, answer = TemporaryFile(), TemporaryFile()  # noqa: SIM115
        sent.write(pickle.dumps(sys.path) + question)
        sent.seek(0)
        call = f"from {__name__} import _answer; _answer({os.getpid()})"
        command = [sys.executable, "-c", call]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        files = {"stdin": sent, "stdout": answer, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, env=environment, **files)
        for end in (answer.close, sent.close, process.wait, process.kill):  # in reverse
            stack.callback(end)
        others.append((process, answer))
    return others


def _answer(parent: int) -> None:
    """Play the replicate that standard input describes, twice, and write what it does."""
    global _same_elsewhere
    end_with(parent)
    _same_elsewhere = None
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a policy prints
    sys.path[:] = pickle.load(sys.stdin.buffer)
    *asked, rounds = pickle.load(sys.stdin.buffer)
    pickle.dump([_told(*asked, length)[0] for length in (rounds, min(rounds, FEW))], answer)
    answer.close()

"""The round loops' view of a policy: a state, and small functions found by the state's type.

A state is a NamedTuple of arrays. Its functions are written once, as plain Python, and registered
with `implements`; Numba resolves the calls while it compiles a loop, the interpreter when it runs
one. An object of any other class is asked for a method of the same name, so a policy in plain
Python runs through the same loops.

The verbs, with ``t`` the 1-based round and ``coin`` the round's 64-bit word
(`fairbandits.engine.streams.unit` makes a uniform number of it):

===================================  ===========================================================
``choose(state, t, coin)``           bandit feedback: the arm to pull
``distribute(state, t, coin, out)``  full information: write the probabilities of the arms
``learn(state, t, action, reward)``  take the reward of the pulled arm (float) or, under full
                                     information, the rewards of all arms (array); the action is
                                     the arm, or the probabilities
``probe(state, out)``                write the policy's own report at a checkpoint,
                                     ``out[p, k]`` for its p-th probe and arm k
===================================  ===========================================================

An observer's state has two verbs of its own (`fairbandits.engine.watching` asks for them):

=============================================  =================================================
``watch(observer, state, t, action, reward)``  take note of round `t`, after the policy, whose
                                               state it is, has learnt from it
``report(observer, state, out)``               write the observer's columns at a checkpoint, as
                                               ``probe`` does
=============================================  =================================================
"""

from collections.abc import Callable

from numba.core import types
from numba.extending import overload

from fairbandits.data.provenance import COMPILED
from fairbandits.engine.inlining import INLINE

#: The verbs of a policy and of an observer; each has the first one.
VERBS = ("learn", "choose", "distribute", "probe")
WATCHING = ("watch", "report")

HOMES = tuple(f"fairbandits.{part}" for part in COMPILED)
FOLDERS = tuple(f"{home}." for home in HOMES)
_FUNCTIONS: dict[tuple[str, type], Callable] = {}


def implements(verb: str, state_class: type) -> Callable[[Callable], Callable]:
    """Register a function as a verb of the states of a class.

    Raises
    ------
    TypeError
        If the function lies outside the folders of the fingerprint: its later edits would not
        change the name of Numba's cache folder, and a stale compiled copy could run. A policy
        elsewhere is a plain Python object with methods instead.
    """

    def register(function: Callable) -> Callable:
        if not function.__module__.startswith(FOLDERS):
            raise TypeError(
                f"{function.__qualname__} of {function.__module__} cannot be compiled with the "
                f"round loops: only functions inside {' and '.join(HOMES)} can; give a policy "
                "methods choose and learn instead, an observer watch and report"
            )
        _FUNCTIONS[verb, state_class] = function
        return function

    return register


def is_implemented(state_class: type, verb: str = "learn") -> bool:
    """Return whether functions are registered for a class, so that it can be compiled."""
    return (verb, state_class) in _FUNCTIONS


def _call(verb: str, state, *arguments):
    function = _FUNCTIONS.get((verb, type(state)))
    if function is not None:
        return function(state, *arguments)
    return getattr(state, verb)(*arguments)


def _resolve(verb: str, state):
    if isinstance(state, types.BaseNamedTuple):
        return _FUNCTIONS.get((verb, state.instance_class))
    return None


def choose(state, t, coin):
    """Return the arm to pull in round `t`."""
    return _call("choose", state, t, coin)


@overload(choose, jit_options=INLINE)
def _compiled_choose(state, t, coin):
    return _resolve("choose", state)


def distribute(state, t, coin, out):
    """Write the probabilities of the arms in round `t`."""
    return _call("distribute", state, t, coin, out)


@overload(distribute, jit_options=INLINE)
def _compiled_distribute(state, t, coin, out):
    return _resolve("distribute", state)


def learn(state, t, action, reward):
    """Let the policy learn from the reward of its action in round `t`."""
    return _call("learn", state, t, action, reward)


@overload(learn, jit_options=INLINE, strict=False)  # policies say arm or x for the action
def _compiled_learn(state, t, action, reward):
    return _resolve("learn", state)


def probe(state, out):
    """Write the policy's present probes, shape (n_probes, n_arms)."""
    return _call("probe", state, out) if len(out) else None


@overload(probe, jit_options=INLINE)
def _compiled_probe(state, out):
    return _resolve("probe", state) or (lambda state, out: None)


def watch(observer, state, t, action, reward):
    """Let an observer take note of round `t`, from which the policy has learnt."""
    return _call("watch", observer, state, t, action, reward)


@overload(watch, jit_options=INLINE, strict=False)  # observers say arm or x for the action
def _compiled_watch(observer, state, t, action, reward):
    return _resolve("watch", observer)


def report(observer, state, out):
    """Write the observer's present columns, shape (n_probes, n_arms)."""
    return _call("report", observer, state, out)


@overload(report, jit_options=INLINE)
def _compiled_report(observer, state, out):
    return _resolve("report", observer)

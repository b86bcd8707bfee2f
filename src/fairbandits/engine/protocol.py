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
from typing import Any

from numba.core import types
from numba.extending import overload, register_jitable

from fairbandits.data.provenance import COMPILED
from fairbandits.engine.inlining import INLINE

#: The verbs of a policy and of an observer; each has the first one.
VERBS = ("learn", "choose", "distribute", "probe")
WATCHING = ("watch", "report")

HOMES = tuple(f"fairbandits.{part}" for part in COMPILED)
FOLDERS = tuple(f"{home}." for home in HOMES)
_FUNCTIONS: dict[tuple[str, type], Callable] = {}


def implements(name: str, state_class: type) -> Callable[[Callable], Callable]:
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
        _FUNCTIONS[name, state_class] = function
        return function

    return register


def is_implemented(state_class: type, name: str = "learn") -> bool:
    """Return whether functions are registered for a class, so that it can be compiled."""
    return (name, state_class) in _FUNCTIONS


def verb(name: str, otherwise: Callable | None = None) -> Callable:
    """Return the function of a verb, which calls what is registered for its first argument.

    Where nothing is, it calls the method of that name, compiled `otherwise`.
    """

    def call(state: Any, *arguments: Any) -> Any:
        function = _FUNCTIONS.get((name, type(state)))
        if function is None:
            return getattr(state, name)(*arguments)
        return function(state, *arguments)

    @overload(call, jit_options=INLINE, strict=False)  # policies say arm or x for the action
    def _compiled(state, *arguments):
        if isinstance(state, types.BaseNamedTuple):
            return _FUNCTIONS.get((name, state.instance_class), otherwise)

    return call


choose, distribute, learn, watch, report = map(
    verb, ("choose", "distribute", "learn", "watch", "report")
)
_probe = verb("probe", lambda state, out: None)


@register_jitable(**INLINE)
def probe(state, out):
    """Write the policy's present probes, shape (n_probes, n_arms), if it has any."""
    if len(out):
        _probe(state, out)

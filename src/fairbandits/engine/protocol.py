"""The round loops' view of a policy: a state, and its methods.

A state is a NamedTuple of arrays and numbers, whose methods Numba resolves while it compiles a
loop. It can also be any object with such methods: a policy in plain Python runs in the same loops.
With ``t`` the 1-based round and ``coin`` the round's 64-bit word, the methods are

- ``choose(t, coin)``, bandit feedback: return the arm to pull;
- ``distribute(t, coin, out)``, full information: write the probabilities of the arms;
- ``learn(t, action, reward)``: take the reward of the pulled arm or, under full information, the
  rewards of all arms, the action being their probabilities;
- ``probe(out)``: write ``out[p, k]``, the p-th probe for arm k, at a checkpoint.

An observer has ``watch(state, t, action, reward)``, called after the policy, whose state it is
given, has learnt from round `t`, and ``report(state, out)``, which works like ``probe``.
"""

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.extending import overload, register_jitable

from fairbandits.data.provenance import COMPILED

#: States are passed field by field, as dozens of arguments, and LLVM then declines to inline many
#: of our functions. Each round would pay for the calls, and nothing could stay in registers between
#: them. So inlining is forced. Numba also makes a C entry point for each function; nothing here
#: uses it, and it takes time to compile, so it is switched off.
INLINE = {"forceinline": True, "no_cfunc_wrapper": True}
#: A function without its own options inherits those of its caller, also forced inlining. A large
#: function that is called from several places, or rarely, therefore has its own.
NOT_INLINED = {"forceinline": False, "no_cfunc_wrapper": True}
#: Decorators of functions that the round loops call.
inlined, not_inlined = register_jitable(**INLINE), register_jitable(**NOT_INLINED)

#: The verbs of a policy and of an observer; each has the first one.
VERBS = ("learn", "choose", "distribute", "probe")
WATCHING = ("watch", "report")

FOLDERS = tuple(f"fairbandits.{part}." for part in COMPILED)
#: Classes made by this process, whose compiled methods are not kept on the disk.
PASSING: set[type] = set()


def is_implemented(state_class: type, name: str = "learn") -> bool:
    """Return whether a class has a method that the loops can be compiled with."""
    # edits elsewhere do not change the name of Numba's cache folder: a stale copy could run
    ours = state_class.__module__.startswith(FOLDERS) or state_class in PASSING
    return ours and hasattr(state_class, name)


def verb(name: str, otherwise: Callable | None = None) -> Callable:
    """Return the function that calls this method of its first argument."""

    def call(state: Any, *arguments: Any) -> Any:
        return getattr(state, name)(*arguments)

    @overload(call, jit_options=INLINE, strict=False)  # policies say arm or x for the action
    def _compiled(state, *arguments):
        if isinstance(state, types.BaseNamedTuple):
            return getattr(state.instance_class, name, otherwise)

    return call


choose, distribute, learn, watch, report = map(
    verb, ("choose", "distribute", "learn", "watch", "report")
)
_probe = verb("probe", lambda state, out: None)


@inlined
def probe(state, out):
    """Write the policy's present probes, shape (n_probes, n_arms), if it has any."""
    if len(out):
        _probe(state, out)


#: In a block whole numbers are numbers in floating point. Limits of a run's rounds and of the
#: denominator of quotas keep all their multiples exact, below 2**53.
MOST_ROUNDS, FINEST = 2**33, 2**20
#: Class of a state -> whether replicates that start with such a state can be played together.
IN_LANES: dict[type, Callable[[Any], bool]] = {}
#: Class of a state -> whether `choose` leaves such a state as it is.
_UNCHANGED: dict[type, Callable[[Any], bool]] = {}


def plays_in_lanes(state_class: type, when: Callable[[Any], bool] = lambda state: True) -> type:
    """Declare that states of a class, or those for which `when` holds, can be played in lanes.

    Numbers, except of the type `Own`, and arrays of the type `Shared` must be the same in all.
    """
    IN_LANES[state_class] = lambda state: getattr(state, "denominator", 0) <= FINEST and when(state)
    return state_class


def unchanged_when_asked(state_class: type, when: Callable = lambda state: True) -> type:
    """Declare that `choose` leaves a state as it is, so that a block may ask lanes needlessly."""
    _UNCHANGED[state_class] = when
    return state_class


def may_ask(state: Any) -> bool:
    """Return whether `choose` leaves this state of a learner as it is."""
    return type(state) in _UNCHANGED and _UNCHANGED[type(state)](state)

"""Compile a policy that is written in plain Python, outside this package: `fairbandits.compiled`.

Its loop is compiled again in each process, and not as for policies of this package: the methods may
allocate, and their array indices are checked.
"""

import dis
import linecache
import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from types import CodeType
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.extending import overload, register_jitable

from fairbandits.engine.loops import LOOPS
from fairbandits.engine.protocol import PASSING, VERBS
from fairbandits.engine.watching import unwatched
from fairbandits.library.late import Late, refuse_class
from fairbandits.library.own_code import codes, refuse_other_chance
from fairbandits.library.simulation import Setting, feedback_of, not_fresh, play

#: As for our own loops, a division by zero gives inf as in NumPy; but allocation is allowed, and an
#: index out of range is an error.
OPTIONS = {"error_model": "numpy", "boundscheck": True}
WAY_OUT = (
    "compiled code knows numbers, NumPy arrays, loops, and functions of NumPy and math; other "
    "functions need @numba.njit"
)


class Compiled:
    """A policy in plain Python whose methods run in the compiled loops; made by `compiled`."""

    def __init__(self, policy: Any) -> None:
        self._policy, self._name = policy, type(policy).__name__
        self._fresh: Any = None
        self._state_class: Any = None
        self.feedback = feedback_of(policy)
        # short runs go through it too, or errors of compiling would only show in long ones
        self.own_loop_ = _loop_of(self)

    def __getattr__(self, name: str) -> Any:
        # methods belong to the states alone
        if name in VERBS or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return getattr(self.__dict__["_policy"], name)

    def __reduce__(self) -> tuple:
        return compiled, (self._policy,)

    def __repr__(self) -> str:
        return f"compiled({self._policy!r})"

    def start(self, n_arms: int, horizon: int) -> Any:
        """Return the state before round 1, a type that the loops can be compiled for."""
        fresh = self._policy.start(n_arms, horizon)
        if fresh is self._policy or fresh is self._fresh:
            raise not_fresh(self._policy, fresh)
        self._fresh = fresh
        refuse_other_chance(self._policy, fresh)
        methods = self._methods(fresh)
        named = _named(methods.values(), ("LOAD_ATTR", "LOAD_METHOD"))
        known = (name for name in sorted(named) if hasattr(fresh, name) and name[:2] != "__")
        fields = {name: getattr(fresh, name) for name in known}
        if wrong := [*_unfit(methods, fields, named)]:
            raise TypeError(f"{self._name} cannot be compiled: {'; '.join(wrong)}")
        fields["number_of_arms_"] = n_arms  # besides the policy's attributes
        if self._state_class is None or self._state_class._fields != tuple(fields):
            self._state_class = namedtuple(f"{self._name}State", fields)
            for verb, function in _guarded(methods, self.feedback, self._name).items():
                setattr(self._state_class, verb, function)
            PASSING.add(self._state_class)
        return self._state_class(**fields)

    def compile(self, instance: Any, **settings: Any) -> None:
        """Compile by a short run; TypeError if that is impossible, other errors are left."""
        rounds = instance.n_arms
        try:
            setting = Setting(self, **settings)
            play(setting, instance, rounds, [0], checkpoints=[rounds], compiled=True)
        except TypeError:
            raise
        except Exception:  # whatever a user's policy does
            return

    def of(self, policy: Any) -> "Compiled":
        """Return another policy of the same class, which needs no new compilation."""
        other = type(self)(policy)
        other._state_class, other.own_loop_ = self._state_class, self.own_loop_
        return other

    def _methods(self, fresh: Any) -> dict[str, Callable]:
        wanted = ("choose", "learn", *(["probe"] if getattr(self, "probes", ()) else []))
        methods = {verb: getattr(type(fresh), verb, None) for verb in wanted}
        for verb, method in methods.items():
            if not hasattr(method, "__code__"):
                raise TypeError(
                    f"{self._name}.start must return an object with a method {verb}; "
                    f"{type(fresh).__name__} has none that is written in Python"
                )
        return methods

    def _reason(self, state: Any, reason: NumbaError) -> str:
        """Return the method that cannot be compiled, and why."""
        of_state, is_bandit = numba.typeof(state), self.feedback == "bandit"
        each = types.float64[::1]
        seen = (types.int64, types.float64) if is_bandit else (each, each)
        signatures = {
            "choose": (of_state, types.int64, types.uint64),
            "learn": (of_state, types.int64, *seen),
            "probe": (of_state, types.float64[:, ::1]),
        }
        for verb, method in self._methods(self._fresh).items():
            try:
                numba.njit(method).compile(signatures[verb])
            except NumbaError as error:
                where = _place_of(error, method.__code__)
                return f"{self._name}.{verb} cannot be compiled{where}: {_short(error)}; {WAY_OUT}"
        kind = "an array of probabilities"
        if is_bandit:
            kind = (
                "the number of an arm (signed in one line and unsigned, as what is made of a coin, "
                "in another is a float for Numba: write np.int64(...))"
            )
        return (
            f"{self._name} cannot be compiled: choose must return {kind}; {_short(reason)}; "
            f"{WAY_OUT}"
        )


def compiled(policy: Any) -> Compiled:
    """Return a policy in plain Python as one whose methods are compiled, with the same numbers.

    Compiling takes some seconds in each process; nothing is kept on disk. A division by zero gives
    inf or nan, as in NumPy.

    Parameters
    ----------
    policy : object
        A policy as in `run`. Its attributes are numbers and NumPy arrays of numbers, and Numba can
        compile its methods. In them ``self`` is a tuple of these attributes: entries of arrays can
        change, numbers cannot.

    Raises
    ------
    TypeError
        If it is no policy. If an attribute or a method cannot be compiled, the run raises it before
        the first round, with the line.

    Examples
    --------
    >>> import numpy as np
    >>> import fairbandits as fb
    >>> class InTurn:
    ...     feedback = "bandit"
    ...
    ...     def start(self, n_arms, horizon):
    ...         fresh = InTurn()
    ...         fresh.pulls = np.zeros(n_arms)
    ...         return fresh
    ...
    ...     def choose(self, t, coin):
    ...         return (t - 1) % self.pulls.size
    ...
    ...     def learn(self, t, arm, reward):
    ...         self.pulls[arm] += 1
    >>> fb.run(fb.compiled(InTurn()), fb.Instance((0.9, 0.5)), 100, checkpoints=[100]).plays
    array([[[50, 50]]])
    """
    if isinstance(policy, Compiled):
        return policy
    if isinstance(policy, Late):
        return replace(policy, policy=compiled(policy.policy))
    refuse_class(policy)
    # results, messages and figures name a policy by its class
    return type(type(policy).__name__, (Compiled,), {})(policy)


def _loop_of(policy: Compiled) -> Callable:
    """Return the loop of a policy's feedback, compiled with the options for users' policies."""
    loop = LOOPS[policy.feedback]
    if not hasattr(loop, "py_func"):  # Numba is switched off
        return loop
    fast = numba.njit(**OPTIONS)(loop.py_func)

    @wraps(loop.py_func)
    def play(state, *arguments):
        try:
            fast(state, *arguments)
        except NumbaError as error:
            raise TypeError(policy._reason(unwatched(state), error)) from None

    play.py_func = loop.py_func
    return play


def _unfit(
    methods: dict[str, Callable], fields: dict[str, Any], places: dict[str, str]
) -> Iterator[str]:
    """Yield the attributes that methods assign, or that compiled code cannot hold, with lines."""
    for name, where in _named(methods.values(), ("STORE_ATTR",)).items():
        yield (
            f"self.{name} is set {where}, and what changes must stand in an array: write "
            f"self.{name} = np.zeros(1) in start, and self.{name}[0] in the methods"
        )
    for name, value in fields.items():
        what = f"self.{name}, used {places[name]},"
        numbers = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
        if name.startswith("_"):
            yield f"{what} needs a name that does not begin with an underscore"
        elif callable(value):
            yield (
                f"{what} is a method of one's own; write it as a function outside the class, with "
                "@numba.njit, and give it the arrays that it needs"
            )
        elif not numbers and not isinstance(value, bool | int | float | np.number | np.bool_):
            yield (
                f"{what} must be a number or a NumPy array of numbers, got {value!r}; write "
                "np.zeros(n_arms), or np.array(..., float) of it, in start"
            )


def _named(methods: Iterable[Callable], operations: Sequence[str]) -> dict[str, str]:
    """Return the attributes that methods load or store, with their first lines."""
    lines: dict[str, str] = {}
    for method in methods:
        for code in codes(method.__code__):
            for instr in dis.get_instructions(code):
                if instr.opname in operations:
                    lines.setdefault(instr.argval, f"in {_place(code, instr.positions.lineno)}")
    return lines


def _place(code: CodeType, line: int | None) -> str:
    """Return a file's name and line, with the line's text if that is known."""
    text = linecache.getline(code.co_filename, line or 0).strip()
    return f"{Path(code.co_filename).name}, line {line}" + (f" ({text})" if text else "")


def _guarded(methods: dict[str, Callable], feedback: str, name: str) -> dict[str, Callable]:
    """Return the functions that the loops call, which check each action first."""
    inner = {verb: _inlined(method) for verb, method in methods.items()}
    choose_, learn_, probe_ = (inner.get(verb) for verb in ("choose", "learn", "probe"))
    # a compiled message is a constant
    no_arm = f"{name}.choose must return an arm, a whole number from 0 to the number of arms less 1"
    no_share = f"{name}.choose must return one probability for each arm, and their sum must be 1"

    def choose(state, t, coin):
        arm = choose_(state, t, coin)
        if not _is_whole(arm) or arm < 0 or arm >= state.number_of_arms_:
            raise ValueError(no_arm)
        return arm

    def distribute(state, t, coin, out):
        x = choose_(state, t, coin)
        total = 0.0
        if len(x) != out.size:
            raise ValueError(no_share)
        for k in range(out.size):
            if not x[k] >= 0:
                raise ValueError(no_share)
            total += x[k]
            out[k] = x[k]
        if not abs(total - 1) < 1e-9:
            raise ValueError(no_share)

    def learn(state, t, action, reward):
        learn_(state, t, action, reward)

    def probe(state, out):
        probe_(state, out)

    functions = {"choose": choose} if feedback == "bandit" else {"distribute": distribute}
    return functions | {"learn": learn} | ({"probe": probe} if probe_ else {})


#: A class can be compiled more than once.
_inlined = cache(register_jitable(**OPTIONS))


def _is_whole(arm):
    return isinstance(arm, int | np.integer) and not isinstance(arm, bool)


@overload(_is_whole)
def _compiled_is_whole(arm):
    is_whole = isinstance(arm, types.Integer)
    return lambda arm: is_whole


def _place_of(error: NumbaError, code: CodeType) -> str:
    """Return the line of a method that Numba's message names, or an empty text."""
    name = re.escape(Path(code.co_filename).name)
    lines = {instr.positions.lineno for part in codes(code) for instr in dis.get_instructions(part)}
    for line in re.findall(rf'File "[^"]*{name}", line (\d+)', str(error)):
        if int(line) in lines:
            return f" in {_place(code, int(line))}"
    return ""


def _short(error: NumbaError) -> str:
    """Return the line of Numba's message that says what is wrong."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # without colours
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    noise = ("Failed in", "During", "File", "-", "<", "There", "Of which", "Overload", "Rejected")
    telling = [line for line in lines if not line.startswith(noise)]
    return (telling or lines or ["no reason given"])[0].rstrip(".:")

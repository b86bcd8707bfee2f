"""User code: import it from a file, name the line that failed, check its source of chance."""

import dis
import random
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fairbandits.data.provenance import PACKAGE
from fairbandits.policies import own

#: The global generators behind the functions of `random` and `numpy.random`.
_SHARED = (random.getstate.__self__, np.random.get_state.__self__)
#: Constructors of generators, which are seeded at random without an argument.
_MAKERS = (np.random.default_rng, np.random.RandomState, random.Random)
_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
_METHODS = ("start", "choose", "learn", "probe")
INSTEAD = (
    "the run could not be repeated; take fairbandits.unit(coin), a number in (0, 1), "
    "fairbandits.unit(fairbandits.inner(coin, 1)) for another one, or "
    "numpy.random.default_rng(coin) for other laws"
)


class Ended(RuntimeError):
    """Users' code ended its process, or was ended, and gave no answer."""

    def __init__(self, words: str, at: str = "") -> None:
        super().__init__(words, at)
        self.words, self.at = words, at  # `at`: policy, replicate and round, as far as known
        self.question: Any = None  # what was asked of its process

    def __str__(self) -> str:
        return f"{self.at}: {self.words}" if self.at else self.words

    @property
    def place(self) -> str:
        """Replicate and round."""
        return self.at.partition(", ")[2]


def ended(error: BaseException) -> Ended:
    """Return the error of users' code that raised what ends a process, such as SystemExit."""
    said = f": {error}" if str(error) else ""
    message = f"the code raised {type(error).__name__}{said}, and gave no answer"
    end = Ended(message, getattr(error, "at", ""))
    return end.with_traceback(error.__traceback__)


def refuse_other_chance(policy: Any, state: Any) -> None:
    """Raise ValueError if the code of a plain Python policy draws from anything but the coin."""
    name = type(policy).__name__
    for holder in (policy, state):
        for key, value in getattr(holder, "__dict__", {}).items():
            if isinstance(value, _GENERATORS):
                raise ValueError(
                    f"{name} keeps a generator in self.{key}, which goes on from replicate to "
                    f"replicate or is the same in all, so that {INSTEAD}"
                )
    for kind in (type(policy), type(state)):
        if source := _drawing(kind):
            raise ValueError(f"{name} draws from {source}, so that {INSTEAD}")


def position() -> tuple:
    """Return the state of the generators of `random` and `numpy.random`."""
    _, keys, index, *_ = np.random.get_state()  # noqa: NPY002
    state = random.getstate()[1]
    return index, int(keys[0]), state[-1], state[0]


def is_theirs(kind: type) -> bool:
    """Return whether a class is none of this package's."""
    return kind.__module__.partition(".")[0] != PACKAGE.name


def refuse_if_moved(theirs: Sequence[Any], before: tuple) -> None:
    """Raise ValueError if a replicate, in which these have users' code, advanced a generator."""
    if position() != before:
        names = " or ".join(type(each).__name__ for each in theirs)
        raise ValueError(
            f"{names}, or what it calls, draws from random or numpy.random, so that {INSTEAD}"
        )


@cache
def _drawing(kind: type) -> str:
    """Return a class's source of chance with file and line; empty if it is only the coin."""
    left = [getattr(kind, name, None) for name in _METHODS]
    seen = set()
    while left:
        function = left.pop(0)
        function = getattr(function, "py_func", function)  # of what is compiled, the Python
        if not isinstance(function, FunctionType) or function in seen:
            continue
        seen.add(function)
        named = [name for code in codes(function.__code__) for name in code.co_names]
        left += [getattr(kind, name, None) for name in named]
        for dotted, value, line, is_empty in _named(function):
            if any(getattr(value, "__self__", None) is generator for generator in _SHARED) or (
                is_empty and any(value is maker for maker in _MAKERS)
            ):
                file = Path(function.__code__.co_filename).name
                return f"{dotted} in {function.__qualname__} ({file}, line {line})"
            if isinstance(value, type):
                value = vars(value).get("__init__")
            home = str(getattr(value, "__module__", ""))
            if home.partition(".")[0] == kind.__module__.partition(".")[0]:
                left.append(value)
    return ""


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and, recursively, those of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def _named(function: FunctionType) -> Iterator[tuple[str, Any, int, bool]]:
    """Yield a function's global names: word, value, line, whether called without arguments."""
    namespaces = {"LOAD_GLOBAL": function.__globals__, "LOAD_DEREF": _closed_over(function)}
    for code in codes(function.__code__):
        dotted, value, line = "", None, 0
        for step in dis.get_instructions(code):
            if step.opname in ("PUSH_NULL", "PRECALL"):
                continue
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                dotted, value = f"{dotted}.{step.argval}", getattr(value, step.argval, None)
                continue
            if dotted:
                yield dotted, value, line, step.opname == "CALL" and step.arg == 0
            dotted, value, line = "", None, step.positions.lineno
            if step.argval in namespaces.get(step.opname, ()):
                dotted, value = step.argval, namespaces[step.opname][step.argval]


def _closed_over(function: FunctionType) -> dict[str, Any]:
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not yet bound
            values[name] = cell.cell_contents
    return values


def importable(name: str, folder: Path) -> str:
    """Return ``module:Class`` for ``FILE.py:CLASS``, and make it importable from `folder`."""
    path, _, wanted = name.rpartition(":")
    if not path.endswith(".py"):
        return name
    file = (folder / path).resolve()
    if not file.is_file():
        raise ValueError(f"there is no file {folder / path}")
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    home = f"{file.stem}:{wanted}"
    if (imported := own._file(home).resolve()) != file:
        raise ValueError(f"{name}: {imported} is imported by this name; give {path} another one")
    return home


def line_of(error: BaseException) -> str:
    """Return the line of the user's file that raised an error, if one did."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        ours = any(map(file.is_relative_to, (PACKAGE, sys.prefix, sys.base_prefix)))
        if not ours and not frame.filename.startswith("<frozen"):
            return f" ({file.name}, line {frame.lineno})"
    return ""

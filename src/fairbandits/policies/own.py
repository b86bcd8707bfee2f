"""Users' policies outside the package, ``module:Class``; neither Numba nor NumPy is imported."""

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairbandits.rationals import exact

#: Parameters that are the quotas of an instance.
ARE_QUOTAS = ("quotas", "fractions")


def is_own(name: str) -> bool:
    """Return whether a policy's name is ``module:Class``."""
    return ":" in name


def source_hash(name: str) -> str:
    """Return a hash of the file of a user's policy, without importing it; ValueError if missing."""
    return hashlib.sha256(_file(name).read_bytes()).hexdigest()[:16]


def find(name: str) -> Any:
    """Return the object ``module:Class``, from the current folder first; ValueError if missing."""
    module, found = _parts(name)
    file = _file(name)
    try:
        with _current_folder():
            imported = importlib.import_module(module)
    except Exception as error:  # a user's module can raise anything on import
        raise ValueError(f"{file} cannot be imported: {type(error).__name__}: {error}") from error
    made = getattr(imported, found, None)
    if not callable(made):
        there = [key for key, one in vars(imported).items() if inspect.isclass(one)]
        known = f"; its classes: {', '.join(there)}" if there else ""
        raise ValueError(f"{file} has no class {found!r}{known}")
    return made


def check_arguments(name: str, parameters: dict[str, Any]) -> None:
    """Raise ValueError unless a user's policy takes parameters of these names."""
    try:
        signature = inspect.signature(find(name))
    except TypeError:  # nothing is known of code in C
        return
    try:
        signature.bind(**parameters)
    except TypeError as error:
        raise ValueError(f"policy {name}: {error}; it is made by {name}{signature}") from error


def make_own(name: str, parameters: dict[str, Any]) -> Any:
    """Return a user's policy with these parameters; ValueError if it fails or is incomplete."""
    check_arguments(name, parameters)
    try:
        policy = find(name)(**with_numbers(parameters))
    except (TypeError, ValueError) as error:
        raise ValueError(f"policy {name}: {error}") from error
    feedback = getattr(policy, "feedback", None)
    if feedback not in ("bandit", "full"):
        raise ValueError(
            f"policy {name} needs an attribute feedback, 'bandit' or 'full', got {feedback!r}"
        )
    if not callable(getattr(policy, "start", None)):
        raise ValueError(f"policy {name} needs a method start(n_arms, horizon)")
    return policy


def with_numbers(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a user's parameters with quotas as exact numbers: 1/5 in place of "1/5"."""
    given = {key: parameters.get(key) for key in ARE_QUOTAS}
    listed = {key: one for key, one in given.items() if isinstance(one, list | tuple)}
    return parameters | {key: exact(key, values) for key, values in listed.items()}


def _parts(name: str) -> tuple[str, str]:
    module, _, found = name.partition(":")
    if not (found.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise ValueError(f"a policy of one's own is named module:Class, got {name!r}")
    return module, found


def _file(name: str) -> Path:
    """Return the file of a user's policy."""
    module, _ = _parts(name)
    importlib.invalidate_caches()  # the file can be new
    try:
        with _current_folder():
            spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise ValueError(
            f"policy {name}: there is no module {module!r} in {os.getcwd()} or on Python's path"
        )
    if not spec.has_location:
        raise ValueError(f"policy {name}: module {module!r} is no file")
    return Path(spec.origin)


@contextmanager
def _current_folder() -> Iterator[None]:
    """Add the current folder to the search path of modules, which installed commands lack."""
    sys.path.insert(0, os.getcwd())
    try:
        yield
    finally:
        sys.path.pop(0)

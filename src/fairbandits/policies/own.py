"""Users' policies outside the package, ``module:Class``; neither Numba nor NumPy is imported.

A file of settings names such a class. So only classes of the user's own files are imported, or
those that a package offers, and only policies are called.
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from fairbandits.rationals import exact

#: Parameters that are the quotas of an instance.
ARE_QUOTAS = ("quotas", "fractions")
#: Group of entry points in which installed packages declare their policies, ``module:Class``.
GROUP = "fairbandits.policies"


def is_own(name: str) -> bool:
    """Return whether a policy's name is ``module:Class``."""
    return ":" in name


def described(error: BaseException) -> str:
    """Return an error's kind and text; that of a user can fail to give one."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return f"{type(error).__name__}, whose text cannot be made"


def source_hash(name: str) -> str:
    """Return a hash of the file of a user's policy, without importing it; ValueError if missing."""
    return hashlib.sha256(_file(name).read_bytes()).hexdigest()[:16]


def find(name: str) -> type:
    """Return the class ``module:Class``, from the current folder first; ValueError without it.

    It is a class with a method ``start``. Nothing is called, and its module is imported only if
    the class is in it, or a package declares it.
    """
    module, wanted = _parts(name)
    file = _file(name)
    try:
        tree = ast.parse(file.read_bytes())
        classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        is_there = wanted in classes or _is_declared(name)
        with _current_folder():
            made = vars(importlib.import_module(module)).get(wanted) if is_there else None
    except Exception as error:  # a user's module can raise anything on import
        raise ValueError(f"{file} cannot be imported: {described(error)}") from error
    if not inspect.isclass(made):
        listing = f"; its classes: {', '.join(classes)}" if classes else ""
        raise ValueError(f"{file} has no class {wanted!r}{listing}")
    if not callable(getattr(made, "start", None)):
        raise ValueError(f"policy {name} needs a method start(n_arms, horizon)")
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
    return policy


def with_numbers(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a user's parameters with quotas as exact numbers: 1/5 in place of "1/5"."""
    given = {key: parameters.get(key) for key in ARE_QUOTAS}
    listed = {key: value for key, value in given.items() if isinstance(value, list | tuple)}
    return parameters | {key: exact(key, values) for key, values in listed.items()}


def _parts(name: str) -> tuple[str, str]:
    module, _, wanted = name.partition(":")
    if not (wanted.isidentifier() and (module.isidentifier() or _is_declared(name))):
        raise ValueError(
            f"a policy of one's own is named module:Class, without dots unless an installed "
            f"package declares it in the group {GROUP} of its entry points, got {name!r}"
        )
    return module, wanted


def _is_declared(name: str) -> bool:
    return any(entry.value == name for entry in metadata.entry_points(group=GROUP))


def _file(name: str) -> Path:
    """Return the file of a user's policy; ValueError if it is nobody's to name."""
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
    if module in sys.stdlib_module_names or (_is_installed(spec) and not _is_declared(name)):
        raise ValueError(
            f"policy {name}: module {module!r} is Python's, or of an installed package that does "
            f"not declare it in the group {GROUP} of its entry points"
        )
    if not (spec.has_location and spec.origin.endswith(".py")):
        raise ValueError(f"policy {name}: module {module!r} is no file in Python")
    return Path(spec.origin)


def _is_installed(spec: importlib.machinery.ModuleSpec) -> bool:
    """Return whether a module comes with Python or a package, and is in no folder of the user."""
    paths = sysconfig.get_paths()
    folders = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    file = Path(spec.origin or "").resolve()
    return any(file.is_relative_to(Path(folder).resolve()) for folder in folders)


@contextmanager
def _current_folder() -> Iterator[None]:
    """Add the current folder to the search path of modules, which installed commands lack."""
    sys.path.insert(0, os.getcwd())
    try:
        yield
    finally:
        sys.path.pop(0)

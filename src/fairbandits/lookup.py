"""Names of a package that are imported on first use."""

import difflib
import importlib
from collections.abc import Iterable


def found(module: str, home_of: dict[str, str], name: str, modules: Iterable[str]):
    """Return what a name of a package stands for, from the module that has it.

    Parameters
    ----------
    module : str
        The package.
    home_of : dict of str to str
        Name -> module.
    name : str
        What is looked up.
    modules : iterable of str
        What else the package has by name.

    Raises
    ------
    AttributeError
        If there is no such name.
    """
    if name not in home_of:
        # what Python asks of every module is not compared
        close = "" if name[0] == "_" else nearest(name, [*home_of, *modules])
        raise AttributeError(f"module {module!r} has no attribute {name!r}{close}")
    return getattr(importlib.import_module(home_of[name]), name)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the question after a name that is unknown, or nothing where none is near."""
    spelt = {one.lower().replace("_", ""): one for one in known}
    close = difflib.get_close_matches(name.lower().replace("_", ""), spelt, n=1)
    return f"; did you mean {spelt[close[0]]!r}?" if close else ""

"""Import the names of a package on first use."""

import difflib
import importlib
from collections.abc import Iterable, Mapping


def imported(module: str, home_of: Mapping[str, str], name: str, modules: Mapping[str, str] = {}):
    """Return a package's attribute, imported from its home; or one of its `modules`."""
    if name in modules:
        return importlib.import_module(modules[name])
    if name not in home_of:
        # no hint for attributes that Python itself looks up in modules
        close = "" if name[0] == "_" else nearest(name, [*home_of, *modules])
        raise AttributeError(f"module {module!r} has no attribute {name!r}{close}")
    return getattr(importlib.import_module(home_of[name]), name)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return "did you mean ...?" for an unknown name, or nothing without a near one."""
    spelt = {candidate.lower().replace("_", ""): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower().replace("_", ""), spelt, n=1)
    return f"; did you mean {spelt[close[0]]!r}?" if close else ""

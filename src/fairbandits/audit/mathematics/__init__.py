"""Mathematics that expressions of a ledger call: programmes, searches and solvers, without runs.

Its modules are imported when they are asked for: a ledger is checked on every start of the
workflow, and needs neither Numba nor SciPy's optimisers for that.
"""

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_"):
        raise AttributeError(name)
    return importlib.import_module(f"{__name__}.{name}")

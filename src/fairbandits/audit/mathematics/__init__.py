"""Mathematics that expressions of a ledger call: programmes, searches and solvers, without runs.

The modules load on first use: the ledgers are checked on every start of the workflow, which then
needs neither Numba nor SciPy's optimisers.
"""

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_"):
        raise AttributeError(name)
    return importlib.import_module(f"{__name__}.{name}")

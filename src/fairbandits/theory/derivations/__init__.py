"""Derivations that SymPy checks; it is slow to load, so only for one that is asked for."""

from importlib import import_module


def failed_steps(module: str, proof: str) -> list[int]:
    """Return 1 for each step of a module's proof that does not hold, else 0."""
    return [step() for step in import_module(f"{__name__}.{module}").PROOFS[proof]]

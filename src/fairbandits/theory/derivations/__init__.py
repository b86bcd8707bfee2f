"""Derivations that SymPy checks; words import them when they are asked for one."""

"""Refuse chance that is not the coin's: what a policy of one's own draws must come again."""

import dis
import importlib
import random
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

#: The generators behind the functions of `random` and `numpy.random`.
_SHARED = (random.getstate.__self__, np.random.get_state.__self__)
#: What makes a generator, one that starts anywhere if it is given nothing.
_MAKERS = (np.random.default_rng, np.random.RandomState, random.Random, random.SystemRandom)
_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
INSTEAD = (
    "write fairbandits.unit(coin) for a number in (0, 1), fairbandits.unit(fairbandits.inner(coin, "
    "1)) for another, or numpy.random.default_rng(coin) for other laws"
)


def refuse_other_chance(policy: Any, state: Any) -> None:
    """Raise ValueError if a policy in plain Python draws from anything but the round's coin.

    What its methods, and the functions that they call, name is looked at, and what its objects
    hold; nothing is run.
    """
    name = type(policy).__name__
    for one in (policy, state):
        for key, value in getattr(one, "__dict__", {}).items():
            if isinstance(value, _GENERATORS):
                raise ValueError(
                    f"{name}.{key} is a generator, which goes on from replicate to replicate or is "
                    f"the same in all of them; {INSTEAD}"
                )
    for kind in dict.fromkeys((type(policy), type(state))):
        if found := _found(kind):
            raise ValueError(
                f"{found} is not the round's coin, so that the run could not be repeated; {INSTEAD}"
            )


@cache
def _found(kind: type) -> str:
    """Return what draws from elsewhere in a class, and the line."""
    left = [one for base in kind.__mro__ for one in vars(base).values()]
    seen = set()
    while left:
        function = getattr(left.pop(0), "__func__", None) or (left_of := None)
    return ""

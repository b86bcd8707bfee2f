"""The measures of `fairbandits.measures`, with arguments that are checked.

NaN, infinite and negative inputs, rounds before the first and shapes that do not fit raise a
ValueError.
"""

from typing import Any

from fairbandits import measures
from fairbandits.lookup import imported

HOME_OF = measures._HOME_OF
__all__ = sorted(HOME_OF)


def __getattr__(name: str) -> Any:
    measure = imported(__name__, HOME_OF, name)
    # imported on first use, with NumPy
    from fairbandits.library.inputs import checked

    return globals().setdefault(name, checked(measure))


def __dir__() -> list[str]:
    return __all__

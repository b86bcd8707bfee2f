"""Common parts of the policies for guaranteed reward rates."""

from collections.abc import Sequence
from numbers import Integral
from typing import Annotated

from fairbandits import checks
from fairbandits.policies.parameters import number, per_arm

#: Guaranteed reward rates, of rewards in [0, 1].
Guarantees = Annotated[tuple[float, ...], per_arm(number(at_least=0, at_most=1))]
#: c in kl(mean, q) = c log t / N.
Constant = Annotated[float, number(above=0)]
#: c in the published program: 3 (1 + 0.01).
PUBLISHED = 3.03


def rates(targets: Sequence[float]) -> tuple[float, ...]:
    """Return guaranteed rates as floats, or raise ValueError unless all are in [0, 1]."""
    found = tuple(float(target) for target in targets)
    checks.means("targets", found)
    return found


def possible(targets: Sequence[float]) -> None:
    """Raise ValueError if the rates cannot be met by any means in [0, 1]."""
    if sum(targets) > 1 + checks.SLACK:
        raise ValueError(
            f"targets must sum to at most 1, which is all that rewards in [0, 1] can give, got "
            f"{sum(targets):.6g}"
        )


def known(horizon: int) -> int:
    """Return the horizon, or raise ValueError if there is none."""
    if isinstance(horizon, bool) or not isinstance(horizon, Integral) or horizon < 1:
        raise ValueError(f"horizon must be a whole number of at least 1, got {horizon!r}")
    return int(horizon)

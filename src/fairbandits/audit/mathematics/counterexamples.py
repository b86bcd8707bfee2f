"""The smallest runs in which Theorem 1 of the Fair-Learn paper fails, found by counting.

Nothing here draws a number or uses the rest of the package: quotas and tolerance are whole
numerators over one denominator, the learner always asks for the same arm, and every comparison is
of whole numbers. So each example can be followed with a pencil.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

#: Limits of a search: the common denominator of quotas and tolerance, and the number of arms.
LARGEST_DENOMINATOR = 12
MOST_ARMS = 6


def fair_learn(
    quotas: Sequence[int], denominator: int, tolerance: int, learner: int, rounds: int
) -> Iterator[tuple[int, list[int], bool]]:
    """Yield round, pulls, and whether a tie mattered, of Fair-Learn over a one-arm learner.

    `quotas` are numerators of r_i over `denominator`, `tolerance` that of alpha; the learner always
    asks for the arm `learner`, counted from 0. A tie matters once a choice after the first round
    rested on one: of two arms furthest behind, or of an arm exactly at the tolerance.
    """
    pulls = [0] * len(quotas)
    tie = False
    for t in range(1, rounds + 1):
        behind = [quota * (t - 1) - denominator * n for quota, n in zip(quotas, pulls, strict=True)]
        worst = max(behind)
        if t > 1:
            tie |= worst == tolerance or (worst > tolerance and behind.count(worst) > 1)
        pulls[behind.index(worst) if worst > tolerance else learner] += 1
        yield t, pulls, tie


def first_violation(
    quotas: Sequence[int],
    denominator: int,
    tolerance: int,
    learner: int,
    rounds: int | None = None,
) -> dict[str, Any] | None:
    """Return the first round in which an arm has more than alpha pulls fewer than floor(r t).

    Returns
    -------
    dict or None
        ``arms`` k, ``quotas`` and ``alpha`` as text, ``learner`` and ``arm`` counted from 1,
        ``round``, ``owed`` floor(r t), ``pulls`` N, ``missing`` floor(r t) - N, and
        ``tie``, whether a choice rested on one. None if no round up to `rounds` is such; by default
        that is twice the period of the pulls, and a few rounds for the tolerance.

    Examples
    --------
    >>> found = first_violation([9] * 10, 100, 50, learner=0)
    >>> found["round"], found["arm"], found["owed"], found["pulls"]
    (12, 8, 1, 0)
    """
    limit = rounds or 2 * denominator + 2 * tolerance * len(quotas)
    for t, pulls, tie in fair_learn(quotas, denominator, tolerance, learner, limit):
        for arm, (quota, n) in enumerate(zip(quotas, pulls, strict=True)):
            owed = quota * t // denominator
            if denominator * (owed - n) > tolerance:
                return {
                    "arms": len(quotas),
                    "quotas": [_text(one, denominator) for one in quotas],
                    "alpha": _text(tolerance, denominator),
                    "learner": learner + 1,
                    "round": t,
                    "arm": arm + 1,
                    "owed": owed,
                    "pulls": n,
                    "missing": owed - n,
                    "tie": tie,
                }
    return None


def smallest_with_fraction() -> dict[str, Any]:
    """Return the smallest violation with a tolerance that is no whole number.

    All arms have the same quota, below 1/k as the model has it, the learner always asks for arm 1,
    and alpha is below 1. Smallest: fewest arms, then smallest common denominator, then earliest
    round; violations that rest on a tie are left out.
    """
    for n_arms, denominator in _sizes(2):
        found = _earliest(
            first_violation([quota] * n_arms, denominator, tolerance, 0)
            for quota in range(1, -(-denominator // n_arms))
            for tolerance in range(1, denominator)
        )
        if found:
            return found
    raise LookupError(_NONE)


def smallest_beyond_range() -> dict[str, Any]:
    """Return the smallest violation with tolerance 0 and a quota of 1 / (k - 1) or more.

    The quotas sum to less than 1, and the learner always asks for the last arm, the worst. Smallest
    is defined as in `smallest_with_fraction`.
    """
    for n_arms, denominator in _sizes(3):
        least = -(-denominator // (n_arms - 1))
        found = _earliest(
            first_violation(quotas, denominator, 0, n_arms - 1)
            for quotas in itertools.product(range(denominator), repeat=n_arms)
            if max(quotas) >= least and sum(quotas) < denominator
        )
        if found:
            return found
    raise LookupError(_NONE)


_NONE = f"no violation with up to {MOST_ARMS} arms and denominators up to {LARGEST_DENOMINATOR}"


def counterexamples() -> dict[str, dict[str, Any]]:
    """Return the smallest example against each claim that has one, by the claim's id."""
    return {
        "fairucb-thm1-alpha-nonint": smallest_with_fraction(),
        "fairucb-thm1-range": smallest_beyond_range(),
    }


def _sizes(fewest: int) -> Iterator[tuple[int, int]]:
    return itertools.product(range(fewest, MOST_ARMS + 1), range(2, LARGEST_DENOMINATOR + 1))


def _earliest(found: Iterable[dict[str, Any] | None]) -> dict[str, Any] | None:
    clear = (one for one in found if one and not one["tie"])
    return min(clear, key=lambda one: one["round"], default=None)


def _text(numerator: int, denominator: int) -> str:
    """Return a fraction in lowest terms."""
    common = math.gcd(numerator, denominator)
    if denominator == common:
        return str(numerator // common)
    return f"{numerator // common}/{denominator // common}"

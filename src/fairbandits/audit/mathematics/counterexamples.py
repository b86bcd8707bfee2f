"""Fair-Learn by counting, and the smallest runs in which Theorem 1 of its paper fails.

Nothing here draws a number or uses the rest of the package: quotas and tolerance are numerators
over one denominator, and every comparison is of exact numbers. So each example can be followed with
a pencil.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

#: Limits of a search: the common denominator of quotas and tolerance, and the number of arms.
LARGEST_DENOMINATOR = 12
MOST_ARMS = 6


def fair_learn(
    quotas: Sequence[int],
    denominator: int,
    tolerance: int | Fraction,
    learner: Callable[[int, list[int]], int],
    rounds: int,
    in_turn: int = 0,
) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield round, pulls, and the deficits before the round, of Fair-Learn.

    `quotas` are numerators of r_i over `denominator`, as are `tolerance` of alpha and the deficits.
    The arm furthest behind is pulled, the lowest on ties, if it is behind by more than alpha, else
    the arm, from 0, that the learner returns for round and deficits; in the rounds up to `in_turn`
    each in its turn.
    """
    pulls = [0] * len(quotas)
    for t in range(1, rounds + 1):
        behind = [quota * (t - 1) - denominator * n for quota, n in zip(quotas, pulls, strict=True)]
        worst = max(behind)
        if t <= in_turn:
            arm = (t - 1) % len(quotas)
        else:
            arm = behind.index(worst) if worst > tolerance else learner(t, behind)
        pulls[arm] += 1
        yield t, pulls, behind


def largest_lack(quotas: Sequence[int], denominator: int, *rest: Any, **others: Any) -> int:
    """Return Fair-Learn's largest floor(r_i t) - N_i(t); arguments as in `fair_learn`."""
    return max(
        quota * t // denominator - n
        for t, pulls, _ in fair_learn(quotas, denominator, *rest, **others)
        for quota, n in zip(quotas, pulls, strict=True)
    )


#: Learners that look at deficits, or at nothing.
LEARNERS: dict[str, Callable[[int, list[int]], int]] = {
    "first arm": lambda t, behind: 0,
    "last arm": lambda t, behind: len(behind) - 1,
    "smallest deficit": lambda t, behind: behind.index(min(behind)),
}


def first_violation(
    quotas: Sequence[int],
    denominator: int,
    tolerance: int,
    learner: int,
    rounds: int | None = None,
) -> dict[str, Any] | None:
    """Return the first round in which an arm has more than alpha pulls fewer than floor(r t).

    The learner always asks for one arm, from 0; in what is returned arms count from 1. ``owed`` is
    floor(r t), ``missing`` that less the pulls, and ``tie`` says whether a choice after the first
    round rested on one: of two arms furthest behind, or of an arm exactly at the tolerance. None if
    no round up to `rounds` is such, by default twice the period of the pulls and some more.

    Examples
    --------
    >>> found = first_violation([9] * 10, 100, 50, learner=0)
    >>> found["round"], found["arm"], found["owed"], found["pulls"]
    (12, 8, 1, 0)
    """
    limit = rounds or 2 * denominator + 2 * tolerance * len(quotas)
    tie = False
    for t, pulls, behind in fair_learn(
        quotas, denominator, tolerance, lambda t, behind: learner, limit
    ):
        worst = max(behind)
        if t > 1:
            tie |= worst == tolerance or (worst > tolerance and behind.count(worst) > 1)
        for arm, (quota, n) in enumerate(zip(quotas, pulls, strict=True)):
            owed = quota * t // denominator
            if denominator * (owed - n) > tolerance:
                return {
                    "arms": len(quotas),
                    "quotas": [str(Fraction(one, denominator)) for one in quotas],
                    "alpha": str(Fraction(tolerance, denominator)),
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

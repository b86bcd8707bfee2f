"""Fair-Learn with quotas beyond those that the package's policy accepts, in whole numbers."""

from collections.abc import Callable, Sequence

#: Learners that look at deficits, or at nothing: deficits -> the arm asked for, 0-based.
LEARNERS: dict[str, Callable[[list[int]], int]] = {
    "first arm": lambda behind: 0,
    "last arm": lambda behind: len(behind) - 1,
    "smallest deficit": lambda behind: behind.index(min(behind)),
}


def keeps_quotas(
    numerators: Sequence[int], denominator: int, rounds: int, learner: Callable[[list[int]], int]
) -> bool:
    """Return whether Fair-Learn without tolerance keeps quotas in each round; they may sum to 1.

    It pulls the arm that is furthest behind, the lowest on ties, if one is behind, else the arm
    that the learner returns for the deficits before the round, as numerators over the denominator.
    """
    pulls = [0] * len(numerators)
    for t in range(1, rounds + 1):
        behind = [f * (t - 1) - denominator * n for f, n in zip(numerators, pulls, strict=True)]
        worst = max(behind)
        pulls[behind.index(worst) if worst > 0 else learner(behind)] += 1
        floors = [f * t // denominator for f in numerators]
        if any(due > n for due, n in zip(floors, pulls, strict=True)):
            return False
    return True

"""Fair-Learn against every learner at once, in integers.

A state is the deficits r_i t - N_i after a round, as numerators. They have no lower end, so a first
search allows more than can happen: it forgets how far an arm is ahead by more than one pull. What
occurs in it is looked for in runs as they are, up to a round, by a second.
"""

import functools
import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, gcd

#: Periods of the quotas that runs are looked at for, per unit of tolerance and one more.
PERIODS = 4
#: Units ahead of its quota from where on an arm is only known to be so far ahead.
FAR = 1
#: Units above the tolerance at which a run is not followed further.
BEYOND = 2

State = tuple[int, ...]


def quotas_within(n: int, denominator: int, span: str) -> Iterator[State]:
    """Yield numerators of n quotas of sum below 1; "kth" are below 1 / n, "wider" 1 / (n - 1)."""
    limits = {"kth": n, "wider": max(n - 1, 1), "all": 1}
    if span not in limits:
        raise ValueError(f"span must be one of {', '.join(limits)}, got {span!r}")
    below = -(-denominator // limits[span])
    for quotas in itertools.combinations_with_replacement(range(below - 1, -1, -1), n):
        if 0 < sum(quotas) < denominator:
            yield quotas


def worst_learner(statement, arms, largest, span, tolerance, forces=1):
    """Amounts by which a statement on Fair-Learn is broken by the worst learner; for all quotas.

    - "fair": no floor(r_i t) - N_i is above the tolerance;
    - "partition": no deficit is tolerance + 1 or more;
    - "pulled": the deficit of the arm pulled is below the tolerance;
    - "crowding k": at most j arms are at tolerance + (m - j) / m or above, for each j up to m;
    - "rise k": an arm that is not pulled passes at most one of these thresholds.
    """
    return [
        worst_amounts(quotas, denominator, Fraction(tolerance), bool(forces))[statement]
        for denominator in range(2, largest + 1)
        for quotas in quotas_within(arms, denominator, span)
        if gcd(denominator, *quotas) == 1
    ]


@functools.cache
def worst_amounts(quotas: State, denominator: int, alpha: Fraction, forces: bool) -> dict[str, int]:
    """Return by how much the worst learner breaks each statement."""
    search = _Search(quotas, denominator, alpha, forces)
    allowed = search.all_that_is_allowed()
    if all(amount <= 0 for amount in allowed.values()):
        return allowed
    examples = search.examples()
    for statement, amount in allowed.items():
        if amount > 0 >= examples[statement]:
            raise ArithmeticError(
                f"no run decides {statement!r} with quotas {quotas} over {denominator} and"
                f" tolerance {alpha}"
            )
        if amount > 0:
            allowed[statement] = examples[statement]
    return allowed


class _Search:
    """All that Fair-Learn with some quotas and a tolerance does, over any learner."""

    def __init__(self, quotas: State, denominator: int, alpha: Fraction, forces: bool) -> None:
        self.quotas, self.denominator, self.alpha, self.forces = quotas, denominator, alpha, forces
        self.limit = alpha * denominator
        self.far = -FAR * denominator - 1
        self.worst: dict[str, int] = {}

    def pulls(self, state: State) -> list[int]:
        worst = max(state)
        forced = self.forces and worst > self.limit
        return [i for i, deficit in enumerate(state) if deficit == worst or not forced]

    def follows(self, before: State, arm: int, after: State) -> bool:
        """Note the amounts of a round; return whether the run is followed further."""
        for statement, amount in self.amounts(before, arm, after).items():
            self.worst[statement] = max(amount, self.worst.get(statement, amount))
        return max(after) < self.limit + BEYOND * self.denominator

    def all_that_is_allowed(self) -> dict[str, int]:
        """Return the largest amounts where an arm that is far ahead may return at any time."""
        start = (0, (0,) * len(self.quotas))
        reached, unfollowed, self.worst = {start}, [start], {}
        while unfollowed:
            phase, state = unfollowed.pop()
            phase = (phase + 1) % self.denominator
            for arm in self.pulls(state):
                ends = [self.ends(i, deficit, i == arm, phase) for i, deficit in enumerate(state)]
                for after in itertools.product(*ends):
                    new = phase, after
                    if self.follows(state, arm, after) and new not in reached:
                        reached.add(new)
                        unfollowed.append(new)
        return self.worst

    def ends(self, i: int, deficit: int, pulled: bool, phase: int) -> tuple[int, ...]:
        """Return the deficits of an arm that are possible after a round; `self.far` if so low."""
        if deficit > self.far:
            after = deficit + self.quotas[i] - self.denominator * pulled
            return (max(after, self.far),)
        back = self.quotas[i] * phase % self.denominator + self.far + 1
        back -= (self.far + 1) % self.denominator
        back += self.denominator * (back <= self.far)
        if pulled or back - self.quotas[i] > self.far:
            return (self.far,)
        return (self.far, back)

    def examples(self) -> dict[str, int]:
        """Return the largest amounts of runs as they are, up to a round."""
        level, self.worst = {(0,) * len(self.quotas)}, {}
        for _ in range(PERIODS * self.denominator * (1 + ceil(self.alpha))):
            following = set()
            for state in level:
                for arm in self.pulls(state):
                    after = tuple(
                        deficit + quota - self.denominator * (i == arm)
                        for i, (deficit, quota) in enumerate(zip(state, self.quotas, strict=True))
                    )
                    if self.follows(state, arm, after):
                        following.add(after)
            level = following
        return self.worst

    def amounts(self, before: State, arm: int, after: State) -> dict[str, int]:
        k, parts, largest = len(after), self.alpha.denominator, max(after)
        amounts = {
            "fair": parts * (largest // self.denominator) - self.alpha.numerator,
            # below a limit, in whole numerators: one more than the difference is at most 0
            "partition": int(parts * (largest - self.limit - self.denominator)) + 1,
            "pulled": int(parts * (after[arm] - self.limit)) + 1,
        }
        for name, m in (("k", k), ("k - 1", k - 1)):
            classes = [self.classes(deficit, m) for deficit in after]
            amounts[f"crowding {name}"] = max(
                sum(level > m - j for level in classes) - j for j in range(1, m + 1)
            )
            amounts[f"rise {name}"] = max(
                classes[i] - self.classes(before[i], m) - 1 for i in range(k) if i != arm
            )
        return amounts

    @functools.cache  # noqa: B019 - lives as long as its search
    def classes(self, deficit: int, m: int) -> int:
        """Return how many of the m thresholds alpha + (m - j) / m, j = 1 to m, a deficit has."""
        return sum(
            m * (deficit - self.limit) >= (m - j) * self.denominator for j in range(1, m + 1)
        )


def lack_asleep(arms, denominator, tolerance):
    """Least amounts by which any policy exceeds its tolerance if an arm is unavailable at first.

    It sleeps ceil((alpha + 1) / r_i) rounds; quotas are below 1 / k.
    """
    alpha = Fraction(tolerance)
    return [
        int((_least_lack(quotas, denominator, alpha, asleep) - alpha) * alpha.denominator)
        for quotas in quotas_within(arms, denominator, "kth")
        for asleep in range(arms)
        if quotas[asleep]
    ]


def _least_lack(quotas: State, denominator: int, alpha: Fraction, asleep: int) -> int:
    least = {(0,) * len(quotas): -denominator}
    for t in range(1, ceil((alpha + 1) * denominator / quotas[asleep]) + 1):
        following: dict[State, int] = {}
        for pulls, so_far in least.items():
            for arm in range(len(quotas)):
                if arm != asleep:
                    after = (*pulls[:arm], pulls[arm] + 1, *pulls[arm + 1 :])
                    lack = max(q * t // denominator - n for q, n in zip(quotas, after, strict=True))
                    following[after] = min(following.get(after, t), max(so_far, lack))
        least = following
    return min(least.values())

"""The cases of the benchmark: the same policies on the same instance, written several times."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import fairbandits as fb
import naive
import naive_fair_ucb
from bench import notebook, plain

SEED, STREAM = 0, "bench"

#: What a policy did, by name: pulls (or plays, their expectation), rewards, and its probes.
Outcome = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """One row of the table.

    Attributes
    ----------
    name : str
        What it is called in the table.
    policies : tuple
        Our policies, one or several; a round of the case is a round of each.
    means : sequence of float
        Means of the arms.
    rounds, python_rounds : int
        Rounds of a timed run of ours and of C, and of plain Python.
    in_python : callable (case, rounds) -> list of dict, optional
        Plays in plain Python; returns the outcome of each policy.
    in_c : tuple, optional
        Name of a function of the C files, and its own arguments: floats, or sequences of them.
    lazy : bool
        Whether C also has a lazy loop, by the same name with ``_lazy`` behind it.
    law : str
        Law of the rewards.
    compared : callable (case, rounds) -> list of dict, optional
        The outcomes to compare with ours where those of `in_python` have other random numbers, or
        where there is no `in_python`.
    target : float, optional
        Nanoseconds a round to reach.
    faster : float, optional
        How many times faster than C's plain loop to be.
    """

    name: str
    policies: tuple[Any, ...]
    means: tuple[float, ...]
    rounds: int
    python_rounds: int
    in_python: Callable[["Case", int], list[Outcome]] | None = None
    in_c: tuple | None = None
    lazy: bool = False
    law: str = "bernoulli"
    compared: Callable[["Case", int], list[Outcome]] | None = None
    target: float | None = None
    faster: float | None = None

    @property
    def feedback(self) -> str:
        """What the policies see."""
        (feedback,) = {policy.feedback for policy in self.policies}
        return feedback

    @property
    def compiled(self) -> frozenset:
        """What must be compiled for it: the same whatever the arms and the parameters."""
        return frozenset((type(policy), policy.feedback) for policy in self.policies)


def twin(fresh: Callable[[int], Any]) -> Callable[[Case, int], list[Outcome]]:
    """Return how to play, in the loops of tests/naive.py, what `fresh` makes for a horizon."""

    def play(case: Case, rounds: int) -> list[Outcome]:
        loop = {"bandit": naive.run_bandit, "full": naive.run_full}[case.feedback]
        policy = fresh(max(rounds, len(case.means)))
        last = loop(policy, case.means, case.law, rounds, SEED, STREAM, 0)[-1]
        names = {"pulls": "pulls", "rewards": "accrued", "queue": "queue", "idleness": "idleness"}
        return [{name: np.array(last[theirs]) for name, theirs in names.items() if theirs in last}]

    return play


def of_policy(
    name: str, policy: Any, means: Sequence[float], in_c: tuple, fresh: Callable, **rest
) -> Case:
    """Return a case of one policy; `fresh` makes its twin in plain Python for a horizon."""
    name, in_python = f"{name}, N={len(means)}", twin(fresh)
    return Case(name, (policy,), tuple(means), in_c=in_c, in_python=in_python, **rest)


def banditq(feedback: str, means: Sequence[float], horizon: int, **rest) -> Case:
    """Return a case of BanditQ on the paper's kind of instance, with V of its horizon."""
    targets = [means[0] / 2, means[1] / 3] + [0.0] * (len(means) - 2)
    V = math.sqrt(horizon)
    plain_policy = {"full": naive.BanditQFull, "bandit": naive.BanditQBandit}[feedback]
    constant = {"full": math.sqrt(0.5), "bandit": 1e-10}[feedback]  # step, tolerance
    policy = fb.BanditQ(targets, feedback=feedback, V=V)
    in_c, rest = (f"banditq_{feedback}", targets, V, constant), {"law": "uniform02", **rest}
    return of_policy(
        f"BanditQ, {feedback}", policy, means, in_c, lambda _: plain_policy(targets, V), **rest
    )


def ucb1(means: Sequence[float], **rest) -> Case:
    """Return a case of UCB1."""
    return of_policy(
        "UCB1", fb.UCB1(), means, ("ucb1",), lambda _: naive_fair_ucb.UCB1(len(means)), **rest
    )


def equal_quotas(arms: int, denominator: int) -> tuple[list[str], list[int]]:
    """Return quotas of one part each, as our policies have them and as numerators."""
    return [f"1/{denominator}"] * arms, [1] * arms


def fair_ucb(means: Sequence[float], denominator: int, **rest) -> Case:
    """Return a case of Fair-UCB, every arm having the same quota."""
    quotas, ones = equal_quotas(len(means), denominator)
    policy, of = fb.FairLearn(quotas), (ones, denominator, 0)
    return of_policy(
        "Fair-UCB", policy, means, ("fair_ucb", *of), lambda _: plain.FairUCB(*of), **rest
    )


def ht_ucb(means: Sequence[float], denominator: int, **rest) -> Case:
    """Return a case of HT-UCB, every arm having the same quota and the penalty 1."""
    quotas, ones = equal_quotas(len(means), denominator)
    policy, of = fb.HTUCB(quotas, penalties=1), (ones, denominator, 1)
    return of_policy("HT-UCB", policy, means, ("ht_ucb", *of), lambda _: plain.HTUCB(*of), **rest)


def lfg(means: Sequence[float], denominator: int, **rest) -> Case:
    """Return a case of LFG, every arm having the same fraction, with the weight 100."""
    fractions, ones = equal_quotas(len(means), denominator)
    policy, of = fb.LFG(fractions, eta=100), (ones, denominator, 100)
    return of_policy("LFG", policy, means, ("lfg", *of), lambda _: plain.LFG(*of), **rest)


#: Of the groups, as the paper has them, the quotas over 5.
GROUP_QUOTAS, QUOTA_NUMERATORS, DELTA = ("2/5", "2/5"), (2, 2), 0.01


def bf_ucb(sizes: Sequence[int], means: Sequence[float], **rest) -> Case:
    """Return a case of BF-UCB as the paper states it."""
    policy, of = fb.BFUCB(sizes, GROUP_QUOTAS, delta=DELTA), (QUOTA_NUMERATORS, 5, DELTA)
    in_c = ("bf_ucb", sizes, len(sizes), *of)
    return of_policy("BF-UCB", policy, means, in_c, lambda _: plain.BFUCB(sizes, *of), **rest)


def group_ucb(name: str, sizes: Sequence[int], means: Sequence[float], **rest) -> Case:
    """Return a case of GEF, or of UCB without its quotas, as the paper states them."""
    quotas = {"GEF": QUOTA_NUMERATORS, "group UCB": (0,) * len(sizes)}[name]
    policy = fb.GroupUCB(sizes, GROUP_QUOTAS if name == "GEF" else None, delta=DELTA)
    of = (quotas, 5, DELTA)
    in_c = ("group_ucb", sizes, len(sizes), *of)
    return of_policy(name, policy, means, in_c, lambda _: plain.GroupUCB(sizes, *of), **rest)


def mf(sizes: Sequence[int], means: Sequence[float], **rest) -> Case:
    """Return a case of MF as the paper states it."""
    in_c = ("fairx_ucb", sizes, len(sizes), (0,) * len(sizes), 1, DELTA)
    policy = fb.FairXUCB(sizes, delta=DELTA)
    return of_policy("MF", policy, means, in_c, lambda T: plain.FairXUCB(sizes, DELTA, T), **rest)


def released(
    sizes: Sequence[int],
    means: Sequence[float],
    names: Sequence[str] = notebook.POLICIES,
    delta: float = DELTA,
    **rest,
) -> Case:
    """Return a case of BF-UCB and the policies beside it, all as its authors' program has them.

    The program plays all four at once: of fewer there is no time in plain Python.
    """
    shadow = {"quotas": GROUP_QUOTAS, "shadow_means": means}
    settings = {"delta": delta, "version": "released"}
    policies = {
        notebook.BF: fb.BFUCB(sizes, GROUP_QUOTAS, **settings),
        notebook.UCB: fb.GroupUCB(sizes, **settings),
        notebook.MF: fb.FairXUCB(sizes, **shadow, **settings),
        notebook.GEF: fb.GroupUCB(sizes, GROUP_QUOTAS, **settings),
    }
    play = functools.partial(play_notebook, sizes=sizes, delta=delta)
    return Case(
        name=f"{', '.join(names)} as released, N={sum(sizes)}",
        policies=tuple(policies[name] for name in names),
        means=tuple(means),
        in_python=play if tuple(names) == notebook.POLICIES else None,
        compared=functools.partial(play_notebook_twice, names=names, play=play),
        **rest,
    )


def play_notebook(
    case: Case, rounds: int, sizes: Sequence[int], delta: float, *, as_shadow: bool = False
) -> list[Outcome]:
    """Play the released program's loop on our streams.

    In ours MF has a BF-UCB of its own, with random numbers of its own; the loop's BF-UCB gets
    those if it is to play `as_shadow`.
    """
    # The program's numbering: the first arm of the first group, the second group, the rest.
    first, second = sizes
    order = [0, *range(first, first + second), *range(1, first)]
    groups = [[0, *range(1 + second, first + second)], list(range(1, 1 + second))]

    def word(t):
        return naive.draw(SEED, STREAM, 0, "coin", 0, t)

    def uniform(policy, t):
        shadow = as_shadow and policy == notebook.BF
        return naive.unit(naive.inner(word(t), 1) if shadow else word(t))

    def reward(policy, t, arm, n):
        if as_shadow and policy == notebook.BF:
            coin = naive.inner(word(t), 2)
        else:
            coin = naive.draw(SEED, STREAM, 0, "reward", order[arm], n)
        return naive.reward(case.law, case.means[order[arm]], coin)

    means = [case.means[arm] for arm in order]
    tallies, _ = notebook.play(groups, [0.4, 0.4], means, delta, rounds, uniform, reward)
    ours = np.argsort(order)
    return [
        {name: getattr(tallies[policy], name)[ours] for name in ("pulls", "rewards", "share")}
        for policy in notebook.POLICIES
    ]


def play_notebook_twice(
    case: Case, rounds: int, names: Sequence[str], play: Callable
) -> list[Outcome]:
    """Return the released loop's outcomes: that of MF beside the BF-UCB that ours has."""
    outcomes = dict(zip(notebook.POLICIES, play(case, rounds), strict=True))
    if notebook.MF in names:
        beside_shadow = dict(
            zip(notebook.POLICIES, play(case, rounds, as_shadow=True), strict=True)
        )
        outcomes[notebook.MF] = beside_shadow[notebook.MF]
    return [outcomes[name] for name in names]


def drawn_means(count: int) -> list[float]:
    """Return means drawn uniformly from [0, 1)."""
    coins = (naive.draw(SEED, STREAM, 0, "instance", 0, n) for n in range(1, count + 1))
    return [naive.unit(word) for word in coins]


SMALL, LARGE = naive.CODE4, drawn_means(1000)
TEN = tuple(k / 20 for k in range(1, 11))
SIXTY = tuple((90 - k) / 100 for k in range(60))
INSTANCE_1 = (0.8, *((80 - i) / 100 for i in range(2, 11)))
# The last instance of BF-UCB's program, and one of its paper's setting with 50 and 10 arms.
LOW = (0.65, 0.799, 0.713, 0.62, 0.646, 0.681, 0.693, 0.792, 0.806, 0.621)
LOW += (0.6, 0.79, 0.751, 0.703, 0.829)
HIGH = [low + 0.3 * u for low, u in zip([0.7] * 50 + [0.5] * 10, LARGE[:60], strict=True)]

#: With so many rounds the set-up of a run, 1 ms, is less than 1 % of its time.
USUAL = {"rounds": 4_000_000, "python_rounds": 2000}
#: What policies can reach that need all indices in few rounds only.
TEN_LAZY = USUAL | {"lazy": True, "target": 8, "faster": 4}
SIXTY_LAZY = USUAL | {"lazy": True, "target": 15, "faster": 6}

# Targets are nanoseconds a round on one core of the 2-core machine they were set on.
CASES = (
    banditq("full", SMALL, 2_000_000, rounds=1_000_000, python_rounds=2000, target=150),
    banditq("bandit", SMALL, 2_000_000, rounds=500_000, python_rounds=2000, target=350),
    banditq("full", LARGE, 3_000_000, rounds=10_000, python_rounds=30, target=17_000),
    banditq("bandit", LARGE, 3_000_000, rounds=10_000, python_rounds=30, target=40_000),
    ucb1(TEN, **TEN_LAZY),
    ucb1(SIXTY, **SIXTY_LAZY),
    fair_ucb(INSTANCE_1, 20, **TEN_LAZY),
    fair_ucb(SIXTY, 200, **SIXTY_LAZY),
    ht_ucb(INSTANCE_1, 25, **TEN_LAZY),
    ht_ucb(SIXTY, 150, **SIXTY_LAZY),
    lfg(INSTANCE_1, 20, **USUAL),
    bf_ucb((10, 5), LOW, **USUAL, target=40),
    bf_ucb((50, 10), HIGH, **USUAL, target=60),
    group_ucb("GEF", (10, 5), LOW, **USUAL),
    group_ucb("GEF", (50, 10), HIGH, **USUAL),
    group_ucb("group UCB", (10, 5), LOW, **USUAL),
    group_ucb("group UCB", (50, 10), HIGH, **USUAL),
    mf((10, 5), LOW, **USUAL),
    released((10, 5), LOW, [notebook.BF], **USUAL, target=100),
    released((10, 5), LOW, [notebook.MF], **USUAL, target=217),
    released((10, 5), LOW, **USUAL),
)

"""The instances of the papers by name, each with the paper's quotas, targets and penalties.

Each is an `Instance` or a `RandomInstance` that also has the ``horizon``, ``quotas``, ``targets``,
``penalties`` and ``groups`` of its experiment, empty if the paper has none. ``source`` says where
the paper has its numbers; ``papers/*/experiments.yaml`` has the provenance of each number. A
setting that the paper does not have raises a ValueError.

Examples
--------
>>> import fairbandits as fb
>>> arms = fb.instances.fair_ucb(2)
>>> arms.means, arms.quotas, arms.horizon
((0.7, 0.5, 0.4), (1/5, 3/10, 1/4), 100000)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fairbandits import checks
from fairbandits.library.arms import Instance, RandomInstance
from fairbandits.lookup import nearest
from fairbandits.rationals import exact, rational

__all__ = [
    "PublishedInstance",
    "PublishedRandomInstance",
    "banditq",
    "bf_ucb_high",
    "bf_ucb_low",
    "bf_ucb_notebook",
    "fair_ucb",
    "ht_ucb_a",
    "ht_ucb_b",
    "ht_ucb_c",
    "ht_ucb_d",
    "ht_ucb_e",
]


@dataclass(frozen=True)
class _Published:
    """The settings of a paper's instance besides means and law; empty if the paper has none."""

    horizon: int = 0  # published number of rounds
    quotas: tuple[Fraction, ...] = ()  # required fractions of pulls, one per arm, exact
    targets: tuple[float, ...] = ()  # required reward rates, one per arm
    penalties: float | str | None = None  # what a missing pull costs, a number or "half_range"
    groups: tuple[int, ...] = ()  # sizes of the groups, in the order of the arms
    source: str = ""  # paper and section

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "quotas", exact("quotas", self.quotas))


@dataclass(frozen=True)
class PublishedInstance(_Published, Instance):
    """An instance with fixed means that a paper runs."""


@dataclass(frozen=True)
class PublishedRandomInstance(_Published, RandomInstance):
    """A paper's instance whose means are drawn for each replicate."""


def banditq(law: str = "uniform02") -> PublishedInstance:
    """Return the five arms of BanditQ's section 5, with targets for the first two.

    The paper names no law; the released program, whose numbers these are, draws uniform02.
    """
    return PublishedInstance(
        means=(0.3352, 0.2031, 0.2411, 0.7816, 0.6177),
        law=law,
        horizon=2_000_000,
        targets=(0.1676, 0.0677, 0.0, 0.0, 0.0),
        source="BanditQ (UAI 2024), section 5, numbers of the released program",
    )


def fair_ucb(number: int = 1, *, other_gaps: bool = False) -> PublishedInstance:
    """Return Instance 1 or 2 of the paper on Fair-Learn, section 6; both are reconstructed.

    Instance 1 has ten arms with a quota of 1/20 each, and with `other_gaps` gaps of 0.01 (i - 1) in
    place of 0.01 i; Instance 2 has three, with large quotas.
    """
    checks.one_of("number", number, (1, 2))
    if number == 2 and other_gaps:
        raise ValueError("other_gaps is a reading of Instance 1; leave it out for Instance 2")
    source = f"Fair-Learn (Patil et al.), section 6, Instance {number}, reconstructed"
    if number == 2:
        quotas = ("1/5", "3/10", "1/4")
        return PublishedInstance((0.7, 0.5, 0.4), horizon=100_000, quotas=quotas, source=source)
    others = (0.79, 0.78, 0.77, 0.76, 0.75, 0.74, 0.73, 0.72, 0.71, 0.7)
    means = (0.8, *(others[:-1] if other_gaps else others[1:]))
    return PublishedInstance(means, horizon=1_000_000, quotas=("1/20",) * 10, source=source)


#: Means and penalty rates of the cases of Experiments A and B.
CASES_A = {
    1: ((0.9, 0.8, 0.7, 0.6, 0.6, 0.4, 0.3, 0.2, 0.1), 0.45),
    2: ((0.95, 0.8, 0.7, 0.6, 0.6, 0.4, 0.3, 0.2, 0.1), 0.41),
    3: ((0.9, 0.8, 0.7, 0.6, 0.6, 0.425, 0.4, 0.375, 0.35), 0.45),
}
CASES_B = {
    1: ((0.9, 0.86, 0.84, 0.82, 0.6, 0.4, 0.3, 0.2, 0.1), 0.45),
    2: ((0.95, 0.85, 0.84, 0.83, 0.82, 0.4, 0.3, 0.2, 0.1), 0.45),
    3: ((0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), 0.45),
}
#: Means and quotas of Experiment D's settings.
SETTINGS_D = {
    1: ((0.9, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), ("1/16",) * 8),
    2: ((0.95, 0.7, 0.65, 0.6, 0.2, 0.15, 0.1, 0.05), ("1/10",) * 4 + ("1/25",) * 4),
}


def ht_ucb_a(case: int = 1, law: str = "gaussian") -> PublishedInstance:
    """Return case 1, 2 or 3 of the paper's Experiment A, where no arm is critical.

    The paper names no law; gaussian is that of its Experiments C and D.
    """
    return _nine_arms(CASES_A, case, law, "A")


def ht_ucb_b(case: int = 1, law: str = "gaussian") -> PublishedInstance:
    """Return a case of Experiment B, where some arms are critical; parameters as in `ht_ucb_a`."""
    return _nine_arms(CASES_B, case, law, "B")


def ht_ucb_c(n_arms: int = 5, tau: Any = 0.2) -> PublishedRandomInstance:
    """Return an instance of Experiment C: K arms, equal quotas of sum `tau`, 0.2, 0.4 or 0.8.

    K is 5 or 20. Means are uniform on [0, 1], drawn for each replicate; rewards have the standard
    deviation 1/K, the penalty rate is half the range of the means.
    """
    settled = {"horizon": 16_000, "penalties": "half_range"}
    return _drawn(n_arms, tau, (0.2, 0.4, 0.8), "gaussian", "Experiment C", **settled)


def ht_ucb_d(setting: int = 1) -> PublishedInstance:
    """Return a setting, 1 or 2, of Experiment D of the paper on hard-threshold UCB: eight arms."""
    checks.one_of("setting", setting, tuple(SETTINGS_D))
    return _fixed(f"D, setting {setting}", *SETTINGS_D[setting], horizon=10_000)


def ht_ucb_e(n_arms: int = 5, tau: Any = 0.2, law: str = "gaussian") -> PublishedRandomInstance:
    """Return an instance of Experiment E: K arms, equal quotas of sum `tau`, 0.2 or 0.5.

    K is 5 or 20. The law is gaussian, whose standard deviation is 1/K, beta, which is
    Beta(mu, 1 - mu), or bernoulli.
    """
    return _drawn(n_arms, tau, (0.2, 0.5), law, "Experiment E", horizon=10_000)


def bf_ucb_high() -> PublishedRandomInstance:
    """Return the high separation of BF-UCB's paper: 50 arms in the majority, 10 in the minority.

    The paper's quotas are of groups, 1/5, 3/10 or 2/5 for each, so ``quotas``, which are of arms,
    are empty. The law is that of the released notebook.
    """
    return PublishedRandomInstance(
        n_arms=60,
        low=(0.7,) * 50 + (0.5,) * 10,
        high=(1.0,) * 50 + (0.8,) * 10,
        horizon=10_000_000,
        groups=(50, 10),
        source="BF-UCB (AAMAS 2024), section 6.2, setting 2",
    )


def bf_ucb_low(*, released: bool = False) -> PublishedRandomInstance:
    """Return the low separation of BF-UCB's paper: 10 arms in the majority, 5 in the minority.

    The notebook (`released`) rounds means to three digits and fixes the first of either group.
    """
    return PublishedRandomInstance(
        n_arms=15,
        low=0.6,
        high=0.85,
        decimals=3 if released else None,
        fixed=((1, 0.65), (11, 0.6)) if released else (),
        horizon=10_000_000,
        groups=(10, 5),
        source=f"BF-UCB (AAMAS 2024), {'notebook' if released else 'section 6.2'}, setting 1",
    )


def bf_ucb_notebook() -> PublishedInstance:
    """Return the instance whose curves BF-UCB's released notebook draws: the last of its ten."""
    majority = (0.65, 0.799, 0.713, 0.62, 0.646, 0.681, 0.693, 0.792, 0.806, 0.621)
    return PublishedInstance(
        means=(*majority, 0.6, 0.79, 0.751, 0.703, 0.829),
        horizon=10_000_000,
        groups=(10, 5),
        source="BF-UCB (AAMAS 2024), released notebook",
    )


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{nearest(name, __all__)}")


def _nine_arms(cases: dict, case: int, law: str, experiment: str) -> PublishedInstance:
    checks.one_of("case", case, tuple(cases))
    means, penalty = cases[case]
    others = {"law": law, "horizon": 20_000, "penalties": penalty}
    return _fixed(f"{experiment}, case {case}", means, ("1/20",) * 9, **others)


def _fixed(
    experiment: str, means: Sequence[float], quotas: Sequence, law: str = "gaussian", **others: Any
) -> PublishedInstance:
    """Return arms of an experiment, whose gaussian rewards have the standard deviation 1/K."""
    spread = 1 / len(means) if law == "gaussian" else None
    source = f"HT-UCB (ICLR 2022 submission), Experiment {experiment}"
    return PublishedInstance(means, law, spread, quotas=quotas, source=source, **others)


def _drawn(
    n_arms: int, tau: Any, sums: Sequence[float], law: str, experiment: str, **others: Any
) -> PublishedRandomInstance:
    """Return arms with means uniform on [0, 1] and quotas of one of some sums."""
    checks.one_of("n_arms", n_arms, (5, 20))
    if rational("tau", tau) not in [Fraction(str(each)) for each in sums]:  # however it is written
        raise ValueError(f"tau must be one of {', '.join(map(str, sums))}, got {tau!r}")
    spreads = {"gaussian": 1 / n_arms, "beta": 1.0, "bernoulli": None}
    checks.one_of("law", law, tuple(spreads))
    return PublishedRandomInstance(
        n_arms=n_arms,
        law=law,
        spread=spreads[law],
        quotas=(rational("tau", tau) / n_arms,) * n_arms,
        source=f"HT-UCB (ICLR 2022 submission), {experiment}, {n_arms} arms, quotas of sum {tau}",
        **others,
    )

"""How often each procedure is wrong where the truth is on its border, and right beyond it.

On the border both verdicts are wrong, each with at most the nominal probability. Run this file with
`pytest -m slow -s` to see the sizes and the powers.
"""

from typing import NamedTuple

import numpy as np
import pytest

from fairbandits.audit.finding import NOT_REPRODUCED, REPRODUCED, Finding
from fairbandits.audit.multiplicity import combine, within_family
from fairbandits.audit.procedures import PROCEDURES

LEVEL = 0.95
SIMULATIONS = 1000
GRID = (1e3, 1e4, 1e5)
DECADE = np.geomspace(1e5, 1e6, 6)
DECADES = np.geomspace(1e4, 1e6, 7)
GROWTH = {"level": LEVEL, "clustered": False, "resamples": 499}
EXPONENT = GROWTH | {
    "claim": "at most",
    "exponent": 0.5,
    "margin": 0,
    "fit": "weighted",
    "of": "T",
    "window": "all",
    "points": 3,
    "loose": 0.1,
}


class Case(NamedTuple):
    """A procedure, data with a truth (on the border, claim true, claim false), and settings.

    `exact` sizes are nominal on both sides; others may be smaller.
    """

    procedure: str
    draw: object
    border: float
    true: float
    false: float
    settings: dict
    exact: bool = True
    power: float = 0.8


def powers(rng, exponent, horizons=GRID, n=50):
    """Return skewed samples whose means are T ** exponent."""
    return horizons, [t**exponent * rng.gamma(4, 0.25, size=n) for t in horizons]


def few(rng, exponent):
    """Return exponential samples as a grid has them: fewer at the longest horizon."""
    sizes = (50, 50, 50, 50, 50, 20)
    horizons = np.geomspace(2e4, 6.3e6, 6)
    return horizons, [
        t**exponent * rng.exponential(size=n) for t, n in zip(horizons, sizes, strict=True)
    ]


def walks(rng, exponent):
    """Return samples that share half of their noise between horizons."""
    common = rng.gamma(4, 0.25, size=50)
    return GRID, [t**exponent * (common + rng.gamma(4, 0.25, size=50)) / 2 for t in GRID]


def remainder(rng, rise):
    """Return samples with the mean sqrt(T) + 5 up to the median horizon, `rise` more at the end."""
    up = np.maximum(np.arange(7) - 3, 0) / 3
    reference = np.sqrt(DECADES)
    means = reference + 5 + rise * up
    return DECADES, [m + rng.normal(size=50) for m in means], reference


def pair(rng, difference):
    common = rng.normal(scale=10, size=50)
    return common + difference + rng.normal(size=50), common


def many(rng, mean):
    """Return correlated columns of which two are on the border when mean is 0."""
    common = rng.normal(size=(50, 1))
    return common + rng.normal(size=(50, 4)) + [mean, mean, -3, -3], np.zeros(4)


BOUND = {"side": "at most", "level": LEVEL}
CASES = {
    "bound, t": Case(
        "bound", lambda rng, m: (rng.normal(m, 1, 30), 1), 1, 0.5, 1.5, BOUND | {"method": "t"}
    ),
    "bound, BCa, skewed": Case(
        "bound",
        lambda rng, m: (m * rng.gamma(4, 0.25, 100), 1),
        1,
        0.8,
        1.2,
        BOUND | {"method": "bca", "resamples": 499},
    ),
    "bound, bootstrap-t, skewed": Case(
        "bound",
        lambda rng, m: (m * rng.exponential(size=50), 1),
        1,
        0.5,
        2,
        BOUND | {"method": "bootstrap-t", "resamples": 499},
    ),
    "bounds everywhere": Case(
        "bound_everywhere", many, 0, -0.7, 0.7, {"level": LEVEL, "resamples": 499}, exact=False
    ),
    "bounded remainder": Case(
        "bounded_remainder",
        remainder,
        1,
        0,
        12,
        GROWTH | {"level_against": 0.99, "slack": 1, "slack_part": 0.1, "points": 6},
        exact=False,
    ),
    "growth exponent": Case("growth_exponent", powers, 0.5, 0.4, 0.6, EXPONENT),
    "growth exponent, few, skewed": Case(
        "growth_exponent", few, 0.5, 0.3, 0.7, EXPONENT | {"level": 0.99, "resamples": 999}
    ),
    "growth exponent, clustered": Case(
        "growth_exponent", walks, 0.5, 0.4, 0.6, EXPONENT | {"clustered": True}
    ),
    "growth exponent, ordinary": Case(
        "growth_exponent", powers, 0.5, 0.4, 0.6, EXPONENT | {"fit": "ordinary"}
    ),
    "growth exponent, at least": Case(
        "growth_exponent", powers, 0.5, 0.6, 0.4, EXPONENT | {"claim": "at least"}
    ),
    "growth exponent, equal": Case(
        "growth_exponent",
        powers,
        0.6,
        0.5,
        0.75,
        EXPONENT | {"claim": "equal", "margin": 0.1},
    ),
    "logarithmic growth": Case(
        "logarithmic_growth",
        lambda rng, a: powers(rng, a, DECADE, 100),
        0.25,
        0.1,
        0.5,
        GROWTH | {"ceiling": 0.25, "refuted_above": 0.25, "points": 6},
    ),
    "proportionality": Case(
        "proportionality",
        lambda rng, a: powers(rng, a, (1, 2, 4, 8)),
        1.2,
        1,
        1.5,
        GROWTH | {"inside": (0.8, 1.2), "outside": (0.8, 1.2)},
    ),
    "paired comparison, t": Case(
        "paired_comparison",
        pair,
        0,
        0.5,
        -0.5,
        {"level": LEVEL, "materiality": 0, "method": "t"},
    ),
    "equivalence, paired": Case(
        "equivalence",
        lambda rng, ratio: (rng.normal(ratio, 0.3, 50), rng.normal(1, 0.3, 50)),
        2,
        1.2,
        2.6,
        {"ratio": (0.5, 2), "level": LEVEL, "paired": True},
    ),
    "equivalence, apart": Case(
        "equivalence",
        lambda rng, ratio: (rng.normal(ratio, 0.3, 50), rng.normal(1, 0.3, 30)),
        0.5,
        1.2,
        0.2,
        {"ratio": (0.5, 2), "level": LEVEL, "paired": False},
    ),
    "shape": Case(
        "shape",
        lambda rng, m: (rng.normal((0, m, 0), 1, (50, 3)), [[-1, 1, 0], [0, 1, -1]]),
        0,
        1,
        -1,
        {"level": LEVEL},
        exact=False,
    ),
    "spread comparison": Case(
        "spread_comparison",
        lambda rng, ratio: (rng.normal(3, ratio, 50), rng.normal(size=50)),
        1,
        2,
        0.5,
        {"level": LEVEL, "resamples": 499},
    ),
    "proportion": Case(
        "proportion",
        lambda rng, share: (rng.uniform(size=50) < share,),
        0.5,
        0.75,
        0.25,
        {"side": "at least", "limit": 0.5, "level": LEVEL},
        exact=False,
    ),
}
BOOTSTRAPPED = {
    "bound_everywhere",
    "bounded_remainder",
    "growth_exponent",
    "logarithmic_growth",
    "proportionality",
    "spread_comparison",
}


def rates(case, truth, rng):
    """Return how often each verdict is given when `truth` is the truth."""
    judge = PROCEDURES[case.procedure]
    settings = dict(case.settings)
    if case.procedure in BOOTSTRAPPED or "resamples" in settings:
        settings["rng"] = rng
    verdicts = [judge(*case.draw(rng, truth), **settings).verdict for _ in range(SIMULATIONS)]
    return [verdicts.count(verdict) / SIMULATIONS for verdict in (REPRODUCED, NOT_REPRODUCED)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_size_and_power(name, rng, record_property):
    case = CASES[name]
    sizes = rates(case, case.border, rng)
    power = rates(case, case.true, rng)[0], rates(case, case.false, rng)[1]
    print(f"\n| {name} | {case.border} | {sizes} | {case.true}, {case.false} | {power} |")
    record_property("size", sizes)
    record_property("power", power)
    nominal = 1 - case.settings["level"]
    tolerance = 3 * np.sqrt(nominal * (1 - nominal) / SIMULATIONS)
    for size in sizes:
        assert size <= nominal + tolerance
        if case.exact:
            assert size >= nominal - tolerance
    assert min(power) >= case.power


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 10])
def test_prediction_intervals_hold_what_comes(runs, rng):
    judge = PROCEDURES["prediction_interval"]
    verdicts = [
        judge(
            rng.normal(size=20),
            rng.normal(size=runs).mean(),
            level=LEVEL,
            runs=runs,
            reading_error=0,
        ).verdict
        for _ in range(4 * SIMULATIONS)
    ]
    size = verdicts.count(NOT_REPRODUCED) / len(verdicts)
    assert abs(size - (1 - LEVEL)) <= 3 * np.sqrt(LEVEL * (1 - LEVEL) / len(verdicts))


@pytest.mark.slow
def test_families_have_a_wrong_verdict_no_more_often_than_said(rng):
    """Half of the claims lie on their borders, the others are clear."""
    judge = PROCEDURES["paired_comparison"]
    wrong = 0
    for _ in range(SIMULATIONS):
        findings: dict[str, Finding] = {}
        for k in range(8):
            mean = 3.0 if k % 2 else 0.0
            findings[str(k)] = judge(
                rng.normal(mean, 1, 20), 0, level=LEVEL, materiality=0, method="t"
            )
        corrected = within_family(findings, level=LEVEL)
        # on a border either verdict is wrong, so that each claim there has two chances
        wrong += any(corrected[str(k)].verdict == REPRODUCED for k in range(0, 8, 2))
        assert all(corrected[str(k)].verdict == REPRODUCED for k in range(1, 8, 2))
    assert wrong / SIMULATIONS <= 1 - LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / SIMULATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["all", "any"])
def test_claims_of_several_tests_are_wrong_no_more_often_than_said(how, rng):
    """Each of five findings lies on its border."""
    judge = PROCEDURES["paired_comparison"]
    settings = {"level": LEVEL, "materiality": 0, "method": "t"}
    verdicts = []
    for _ in range(SIMULATIONS):
        findings = [judge(rng.normal(size=20), 0, **settings) for _ in range(5)]
        verdicts.append(combine(findings, how=how, level=LEVEL).verdict)
    for verdict in (REPRODUCED, NOT_REPRODUCED):
        size = verdicts.count(verdict) / SIMULATIONS
        assert size <= 1 - LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / SIMULATIONS)

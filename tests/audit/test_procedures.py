"""The audit's procedures: closed forms, every verdict, bad input; size and power by simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from fairbandits.audit.finding import (
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Finding,
    decide,
)
from fairbandits.audit.multiplicity import combine, holm, within_family
from fairbandits.audit.procedures import PROCEDURES, parameters_of

GRID = (1e3, 1e4, 1e5)
DECADE = tuple(np.geomspace(1e5, 1e6, 6))
DECADES = tuple(np.geomspace(1e4, 1e6, 7))

#: Settings that a test changes one of.
SETTINGS = {
    "invariant": {"exact": True, "tolerance": 0, "small": "inconclusive"},
    "bound": {"side": "at most", "level": 0.99},
    "bound_everywhere": {"level": 0.95, "resamples": 999},
    "growth_exponent": {
        "claim": "at most",
        "exponent": 0.75,
        "margin": 0.03,
        "level": 0.95,
        "fit": "weighted",
        "of": "T",
        "window": "all",
        "points": 3,
        "clustered": False,
        "loose": 0.1,
        "resamples": 999,
    },
    "logarithmic_growth": {
        "level": 0.95,
        "ceiling": 0.25,
        "refuted_above": 0.4,
        "points": 6,
        "clustered": False,
        "resamples": 999,
    },
    "paired_comparison": {"level": 0.99, "materiality": 0},
    "equivalence": {"ratio": (0.5, 2), "level": 0.99, "paired": True},
    "proportionality": {
        "inside": (0.9, 1.1),
        "outside": (0.8, 1.25),
        "level": 0.95,
        "clustered": False,
        "resamples": 999,
    },
    "proportion": {"side": "at least", "limit": 0.5, "level": 0.99},
    "printed_number": {},
    "prediction_interval": {"level": 0.99, "runs": 1, "reading_error": 0},
    "curve_inside": {"level": 0.99},
    "shape": {"level": 0.99},
    "spread_comparison": {"level": 0.95, "resamples": 999},
}


def judge(name, *data, rng=None, **changes):
    settings = SETTINGS[name] | changes
    if rng is not None:
        settings["rng"] = rng
    return PROCEDURES[name](*data, **settings)


def around(rng, mean, sd, n=50):
    """Return a sample with exactly this mean and standard deviation."""
    sample = rng.normal(size=n)
    sample = (sample - sample.mean()) / sample.std(ddof=1)
    return mean + sd * sample


def powers(rng, horizons, exponent, spread=0.1, n=50, factor=1.0):
    """Return samples whose means are exactly factor * T ** exponent."""
    return [factor * t**exponent * around(rng, 1, spread, n) for t in horizons]


def test_vocabulary():
    assert set(SETTINGS) == set(PROCEDURES)
    for name, settings in SETTINGS.items():
        takes = parameters_of(name)
        assert set(takes.settings) <= set(settings) <= {*takes.settings, *takes.optional_settings}
        assert takes.data


# ---------------------------------------------------------------------------------- invariant


def test_invariant_that_holds():
    found = judge("invariant", np.array([[-3, 0], [-1, -2]]))
    assert found == Finding(0, 0, 0, 4, None, REPRODUCED, (), {"broken": 0.0})


def test_invariant_names_the_first_violation():
    found = judge("invariant", np.array([-3, 0, 2, 5]))
    assert (found.verdict, found.statistic) == (NOT_REPRODUCED, 5)
    assert found.also == {"broken": 2.0, "first": 2.0}


def test_whole_numbers_stay_exact():
    large = 2**60
    assert judge("invariant", np.array([large]) - (large + 1)).statistic == -1
    assert judge("invariant", np.array([large + 1]) - large).verdict == NOT_REPRODUCED


@pytest.mark.parametrize(
    ("excess", "small", "verdict", "tags"),
    [
        (-1e-12, "inconclusive", REPRODUCED, ()),
        (1e-12, "inconclusive", INCONCLUSIVE, ("ROUNDING",)),
        (1e-12, "reproduced", REPRODUCED, ("ROUNDING",)),
        (1e-5, "reproduced", NOT_REPRODUCED, ()),
    ],
)
def test_invariant_in_floating_point(excess, small, verdict, tags):
    found = judge("invariant", [excess, -1.0], 100.0, exact=False, tolerance=1e-9, small=small)
    assert (found.verdict, found.tags) == (verdict, tags)


# -------------------------------------------------------------------------------------- bound


def test_bound_is_students_t_with_an_allowance_for_skewness(rng):
    sample = around(rng, 10, 2, 200)
    half = stats.t.ppf(0.99, 199) * 2 / math.sqrt(200)
    found = judge("bound", sample, 10.5)
    assert found.statistic == pytest.approx(10)
    assert 10 + half <= found.high < 10 + 1.1 * half
    assert 10 - 1.1 * half < found.low <= 10 - half
    assert stats.t.cdf(-0.5 / 2 * math.sqrt(200), 199) <= found.p < 1e-3
    assert found.also["tightness"] == pytest.approx(10 / 10.5)


def test_the_allowance_is_that_of_the_l_moments(rng):
    """By hand, with SciPy's L-moments; the p-value of a limit is that of its level."""
    sample = rng.gamma(2, 0.5, size=60)
    n, mean, l_skewness = 60, sample.mean(), stats.lmoment(sample, order=3)
    skew, t = min(0.3 + 6 * l_skewness, 2.05) / math.sqrt(n), stats.t.ppf(0.99, n - 1)
    up = t + skew * (2 * t * t + 1) / 6 + skew**2 * t**3 / 5
    found = judge("bound", sample, 1.5)
    assert found.high == pytest.approx(mean + up * sample.std(ddof=1) / math.sqrt(n))
    assert judge("bound", sample, found.high).p == pytest.approx(0.01)
    assert judge("bound", sample, found.low, side="at least").p == pytest.approx(0.01)


def test_a_tail_heavier_than_an_exponential_is_given_more(rng):
    sample = np.exp(1.5 * rng.normal(size=100))
    assert stats.lmoment(sample, order=3) > 0.47
    error = sample.std(ddof=1) / 10
    exponential = stats.t.ppf(0.99, 99) + 0.205 * (2 * 2.365**2 + 1) / 6 + 0.205**2 * 2.365**3 / 5
    assert judge("bound", sample, 9).high > sample.mean() + 1.2 * exponential * error


@pytest.mark.parametrize(
    ("mean", "side", "verdict"),
    [
        (9, "at most", REPRODUCED),
        (10.1, "at most", INCONCLUSIVE),
        (11, "at most", NOT_REPRODUCED),
        (9, "at least", NOT_REPRODUCED),
        (9.9, "at least", INCONCLUSIVE),
        (11, "at least", REPRODUCED),
    ],
)
def test_verdicts_of_a_bound(mean, side, verdict, rng):
    found = judge("bound", around(rng, mean, 1), 10, side=side)
    assert found.verdict == verdict
    assert found.low < mean < found.high
    assert (found.p <= 0.01) == (verdict != INCONCLUSIVE)


@pytest.mark.parametrize("value", [9, 10, 11])
def test_what_does_not_vary_is_never_certain(value):
    found = judge("bound", [value] * 20, 10)
    assert (found.verdict, found.tags, found.p) == (INCONCLUSIVE, ("CONSTANT", "RARE"), 1.0)
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert found.also["runs that may deviate"] == pytest.approx(1 - 0.01 ** (1 / 20))


def test_what_does_not_vary_is_decided_by_its_range():
    """A bet on an event that never came is the exact binomial statement, but for its share."""
    low, most = judge("bound", [0] * 100, 6, 0, 100), judge("bound", [0] * 100, 5, 0, 100)
    assert low.verdict == REPRODUCED
    assert low.p == pytest.approx(2 * 0.94**100, rel=0.1)
    assert most.verdict == INCONCLUSIVE
    assert low.high == pytest.approx(100 * (1 - 0.005 ** (1 / 100)), rel=0.02)
    assert judge("bound", [0] * 100, 6, side="at least", least=0, most=100).verdict == (
        NOT_REPRODUCED
    )
    assert judge("bound", [0] * 100, -1, -50).verdict == INCONCLUSIVE
    assert judge("bound", [0] * 100, -1, -2).verdict == NOT_REPRODUCED


def test_a_bet_by_hand():
    from fairbandits.audit.limits import SHARES, STAKES, betting_p_value

    sample = np.array([0, 0, 1, 0, 3.0])
    capital = 0.0
    for stake, share in zip(STAKES, SHARES, strict=True):
        own = share
        for x in sample:
            own *= 1 + stake * (2 - x) / (4 - 2)
        capital += own
    assert capital == pytest.approx(1 / min(1, betting_p_value(sample, 2, 4)), rel=1) or capital < 1
    assert betting_p_value(np.zeros(3), 2, 4) == pytest.approx(
        1 / sum(share * (1 + stake) ** 3 for stake, share in zip(STAKES, SHARES, strict=True))
    )
    assert SHARES.sum() == pytest.approx(1)


def test_rare_events_are_not_averaged():
    """Two of 50 runs had the event; nothing is known of how large the next one is."""
    sample = np.zeros(50)
    sample[:2] = 1, 3
    found = judge("bound", sample, 10)
    assert (found.verdict, found.tags, found.high) == (INCONCLUSIVE, ("RARE",), math.inf)
    known = judge("bound", sample, 10, 0, 20)
    assert (known.verdict, known.tags) == (REPRODUCED, ("RARE",))
    lower = judge("bound", sample, -1, -10)
    assert (lower.verdict, lower.tags) == (NOT_REPRODUCED, ("RARE",))
    # away from events of which there are some more the mean has a limit
    sample[:8] = np.linspace(1, 1.5, 8)
    assert judge("bound", sample, -1).verdict == NOT_REPRODUCED


def test_possible_values_are_checked():
    with pytest.raises(ValueError, match="the most possible, got 3"):
        judge("bound", [1.0, 3.0], 1, 0, 2)
    with pytest.raises(ValueError, match="the least possible, got 1"):
        judge("bound", [1.0, 3.0], 1, 2)


@pytest.mark.parametrize(
    ("limit", "side", "tags"),
    [
        (20, "at most", ("VACUOUS",)),
        (25, "at most", ("VACUOUS",)),
        (19, "at most", ()),
        (0, "at least", ("VACUOUS",)),
        (1, "at least", ()),
    ],
)
def test_a_bound_that_nothing_can_break_is_no_evidence(limit, side, tags, rng):
    found = judge("bound", around(rng, 10, 1), limit, 0, 20, side=side)
    assert (found.verdict == INCONCLUSIVE, found.tags) == (bool(tags), tags)


def test_points_that_nothing_can_break_are_left_out(rng):
    samples = np.stack([around(rng, 1, 0.1), around(rng, 5, 1)], axis=1)
    found = judge("bound_everywhere", samples, [30, 6], most=[20, 20], rng=rng)
    assert found.verdict == REPRODUCED
    assert found.also["vacuous points"] == 1
    assert found.statistic == pytest.approx(-1)
    assert found.also["tightness"] == pytest.approx(5 / 6)
    none = judge("bound_everywhere", samples, [30, 60], most=20, rng=rng)
    assert (none.verdict, none.tags, none.p) == (INCONCLUSIVE, ("VACUOUS",), 1.0)


@pytest.mark.parametrize(
    ("worst", "verdict"), [(-1, REPRODUCED), (-0.1, INCONCLUSIVE), (1, NOT_REPRODUCED)]
)
def test_verdicts_of_bounds_everywhere(worst, verdict, rng):
    samples = np.stack([around(rng, 0, 1), around(rng, 5 + worst, 1)], axis=1)
    found = judge("bound_everywhere", samples, [4, 5], rng=rng)
    assert found.verdict == verdict
    assert found.statistic == pytest.approx(worst)
    assert found.low <= found.statistic <= found.high


def test_bounds_everywhere_of_one_point_are_nearly_students(rng):
    sample = around(rng, 0, 1, 200)
    found = judge("bound_everywhere", sample[:, None], [0.1], rng=rng, resamples=9999)
    t = judge("bound", sample, 0.1, level=0.95)
    assert found.statistic == pytest.approx(-0.1)
    assert (found.low + 0.1, found.high + 0.1) == pytest.approx((t.low, t.high), abs=0.02)
    assert found.p == pytest.approx(t.p, abs=0.03)


def test_bounds_everywhere_are_kept_where_each_is(rng):
    """The p-value of all is that of the worst, at its own full level."""
    samples = np.stack([around(rng, -k, 1, 100) for k in range(4)], axis=1)
    alone = judge("bound_everywhere", samples[:, :1], [0.3], resamples=9999, rng=rng)
    found = judge("bound_everywhere", samples, [0.3] * 4, resamples=9999, rng=rng)
    assert found.p == pytest.approx(alone.p, rel=0.3)
    assert found.high == pytest.approx(alone.high, abs=0.01)
    assert found.low < alone.low + 0.01


@pytest.mark.parametrize(
    ("limit", "verdict"), [(1, REPRODUCED), (0.1, INCONCLUSIVE), (-1, NOT_REPRODUCED)]
)
def test_bounds_everywhere_of_what_does_not_vary(limit, verdict, rng):
    still = np.zeros((100, 2))
    found = judge("bound_everywhere", still, [3, limit], rng=rng)
    assert (found.verdict, found.tags) == (INCONCLUSIVE, ("CONSTANT", "RARE"))
    known = {"least": [0, -1.5], "most": [10, 10], "rng": rng}
    found = judge("bound_everywhere", still, [3, limit], **known)
    assert found.verdict == verdict
    mixed = np.stack([around(rng, 0, 1, 100), np.zeros(100)], axis=1)
    assert judge("bound_everywhere", mixed, [5, limit], rng=rng).tags == ("RARE",)
    found = judge("bound_everywhere", mixed, [5, limit], least=-100, most=[20, 10], rng=rng)
    assert found.verdict == (INCONCLUSIVE if verdict == NOT_REPRODUCED else verdict)


# ------------------------------------------------------------------------------------- growth


@pytest.mark.parametrize(
    ("exponent", "claim", "verdict", "tags"),
    [
        (0.5, "at most", REPRODUCED, ("LOOSE",)),
        (0.75, "at most", REPRODUCED, ()),
        (0.78, "at most", INCONCLUSIVE, ()),
        (0.9, "at most", INCONCLUSIVE, ("PRE-ASYMPTOTIC",)),
        (0.9, "at least", REPRODUCED, ()),
        (0.72, "at least", INCONCLUSIVE, ()),
        (0.5, "at least", INCONCLUSIVE, ("PRE-ASYMPTOTIC",)),
        (0.75, "equal", REPRODUCED, ()),
        (0.78, "equal", INCONCLUSIVE, ()),
        (0.5, "equal", NOT_REPRODUCED, ()),
        (0.9, "equal", NOT_REPRODUCED, ()),
    ],
)
def test_verdicts_of_an_exponent(exponent, claim, verdict, tags, rng):
    samples = powers(rng, GRID, exponent)
    found = judge("growth_exponent", GRID, samples, claim=claim, rng=rng)
    assert (found.verdict, found.tags) == (verdict, tags)
    assert found.statistic == pytest.approx(exponent)
    assert found.low < exponent < found.high
    assert found.also["exponent from 1000 to 10000"] == pytest.approx(exponent)
    assert found.also["curvature"] == pytest.approx(0, abs=1e-9)
    assert (found.also["first horizon"], found.also["last horizon"]) == (1e3, 1e5)
    here = judge("growth_exponent", GRID, samples, claim=claim, asymptotic=False, rng=rng)
    assert (here.verdict == NOT_REPRODUCED) == (
        verdict == NOT_REPRODUCED or "PRE-ASYMPTOTIC" in found.tags
    )


def test_curvature_is_the_change_of_the_exponent_in_a_decade(rng):
    horizons = np.array(DECADES)
    means = 10 ** (0.5 * np.log10(horizons) + 0.05 * np.log10(horizons) ** 2)
    samples = [mean * around(rng, 1, 0.01) for mean in means]
    found = judge("growth_exponent", horizons, samples, rng=rng)
    assert found.also["curvature"] == pytest.approx(0.1)
    first, last = (v for k, v in found.also.items() if k.startswith("exponent from 1") and "e" in k)
    assert last - first == pytest.approx(0.1, rel=0.3)


def test_growth_of_what_hardly_varies_is_not_known(rng):
    samples = powers(rng, GRID, 0.5)
    for last in (np.full(50, 300.0), 300 + np.r_[9000.0, 20000, np.zeros(48)]):
        found = judge("growth_exponent", GRID, [*samples[:2], last], rng=rng)
        assert (found.verdict, found.tags) == (INCONCLUSIVE, ("RARE",))
        assert (found.low, found.high, found.p) == (-math.inf, math.inf, 1.0)


def test_falling_means_have_a_negative_exponent(rng):
    found = judge("growth_exponent", GRID, powers(rng, GRID, -0.5), exponent=-0.25, rng=rng)
    assert (found.verdict, found.tags) == (REPRODUCED, ("LOOSE",))


def test_power_of_the_logarithm(rng):
    samples = [7 * math.log(t) * around(rng, 1, 0.05) for t in GRID]
    found = judge("growth_exponent", GRID, samples, of="ln T", exponent=1, margin=0.1, rng=rng)
    assert found.statistic == pytest.approx(1)
    assert found.verdict == REPRODUCED


def test_precise_means_weigh_more(rng):
    samples = [t * around(rng, 1, sd) for t, sd in zip(GRID, (0.1, 0.1, 5), strict=True)]
    samples[-1] = samples[-1] * 2
    weighted = judge("growth_exponent", GRID, samples, rng=rng).statistic
    ordinary = judge("growth_exponent", GRID, samples, fit="ordinary", rng=rng).statistic
    assert ordinary == pytest.approx(1 + math.log(2) / math.log(100))
    assert abs(weighted - 1) < abs(ordinary - 1) / 10


def test_only_the_top_decade(rng):
    samples = powers(rng, DECADES, 0.5)
    samples[0] = samples[0] * 100
    found = judge("growth_exponent", DECADES, samples, window="top decade", rng=rng)
    assert found.statistic == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("claim", "verdict", "tags"),
    [
        ("at most", REPRODUCED, ("SIGN",)),
        ("at least", INCONCLUSIVE, ("SIGN", "PRE-ASYMPTOTIC")),
        ("equal", NOT_REPRODUCED, ("SIGN",)),
    ],
)
def test_exponent_of_what_is_never_positive(claim, verdict, tags, rng):
    samples = [around(rng, -1, 1)] * 3
    found = judge("growth_exponent", GRID, samples, claim=claim, rng=rng)
    assert (found.verdict, found.tags) == (verdict, tags)
    assert found.also["mean at 1000"] == pytest.approx(-1)
    noise = judge("growth_exponent", GRID, [around(rng, -0.1, 1)] * 3, claim=claim, rng=rng)
    assert noise.verdict == INCONCLUSIVE


def test_exponent_of_what_is_sometimes_positive(rng):
    few = [around(rng, mean, 0.1) for mean in (-1, 2, 3)]
    found = judge("growth_exponent", GRID, few, rng=rng)
    assert (found.verdict, found.tags) == (INCONCLUSIVE, ("SIGN",))
    grid = (1e2, *GRID)
    found = judge("growth_exponent", grid, [around(rng, -1, 0.1), *powers(rng, GRID, 0.7)], rng=rng)
    assert (found.verdict, found.tags) == (REPRODUCED, ("SIGN",))
    assert found.statistic == pytest.approx(0.7)


def test_resamples_without_a_slope_count_against_a_verdict(rng):
    # in many resamples no two means are above 0; SciPy would warn of the interval that it has then
    found = judge("growth_exponent", GRID, [around(rng, 0.1, 3, n=10) for _ in GRID], rng=rng)
    assert (found.verdict, found.low, found.high) == (INCONCLUSIVE, -math.inf, math.inf)


def test_clustered_exponents_know_what_is_shared(rng):
    common = around(rng, 1, 0.3)
    samples = [t**0.5 * common for t in GRID]
    together = judge("growth_exponent", GRID, samples, clustered=True, rng=rng)
    apart = judge("growth_exponent", GRID, samples, clustered=False, rng=rng)
    assert together.high - together.low < 1e-9 < apart.high - apart.low


@pytest.mark.parametrize(
    ("exponent", "verdict"), [(0.0, REPRODUCED), (0.3, INCONCLUSIVE), (0.5, NOT_REPRODUCED)]
)
def test_verdicts_of_logarithmic_growth(exponent, verdict, rng):
    samples = powers(rng, DECADE, exponent)
    here = judge("logarithmic_growth", DECADE, samples, asymptotic=False, rng=rng)
    assert (here.verdict, here.tags) == (verdict, ())
    found = judge("logarithmic_growth", DECADE, samples, rng=rng)
    if verdict == NOT_REPRODUCED:
        assert (found.verdict, found.tags) == (INCONCLUSIVE, ("PRE-ASYMPTOTIC",))
    else:
        assert (found.verdict, found.tags) == (verdict, ())
    assert found.also["last horizon"] == 1e6
    assert found.statistic == pytest.approx(exponent, abs=1e-9)


def test_a_logarithm_grows_logarithmically(rng):
    samples = [math.log(t) * around(rng, 1, 0.1) for t in DECADE]
    found = judge("logarithmic_growth", DECADE, samples, rng=rng)
    assert found.verdict == REPRODUCED
    assert found.statistic == pytest.approx(found.also["exponent of ln T"], rel=0.1)


@pytest.mark.parametrize(("mean", "verdict"), [(-1, REPRODUCED), (None, INCONCLUSIVE)])
def test_logarithmic_growth_without_positive_means(mean, verdict, rng):
    means = [mean] * 6 if mean else [-1] * 4 + [1] * 2
    samples = [around(rng, m, 0.1) for m in means]
    found = judge("logarithmic_growth", DECADE, samples, rng=rng)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("exponent", "verdict"),
    [(1, REPRODUCED), (1.15, INCONCLUSIVE), (0.5, NOT_REPRODUCED), (1.5, NOT_REPRODUCED)],
)
def test_verdicts_of_proportionality(exponent, verdict, rng):
    x = (1, 2, 4, 8)
    found = judge("proportionality", x, powers(rng, x, exponent), rng=rng)
    assert found.verdict == verdict
    assert found.statistic == pytest.approx(exponent)
    if exponent == 1:
        assert found.also["R2 of b x"] == pytest.approx(1)
        assert found.also["a"] == pytest.approx(0, abs=1e-9)


# -------------------------------------------------------------------------------- comparisons


@pytest.mark.parametrize(
    ("mean", "verdict"), [(1, REPRODUCED), (0.1, INCONCLUSIVE), (-1, NOT_REPRODUCED)]
)
def test_verdicts_of_a_paired_comparison(mean, verdict, rng):
    other = rng.normal(scale=100, size=50)  # pairing takes this out
    difference = around(rng, mean, 1)
    found = judge("paired_comparison", other + difference, other)
    assert found.verdict == verdict
    assert found.statistic == pytest.approx(mean)
    assert found.also["share larger"] == (difference > 0).mean()


def test_comparison_with_a_number(rng):
    sample = around(rng, -3, 1)
    assert judge("paired_comparison", -sample, 0).verdict == REPRODUCED
    assert judge("paired_comparison", sample, 0).verdict == NOT_REPRODUCED


def test_a_tie_refutes_nothing(rng):
    found = judge("paired_comparison", [2.0] * 5, 2.0)
    assert (found.verdict, found.tags) == (INCONCLUSIVE, ("CONSTANT", "RARE", "TIE"))
    assert "sign p" not in found.also
    coupled = rng.normal(size=100)
    moved = coupled.copy()
    moved[:3] -= 1
    found = judge("paired_comparison", moved, coupled)
    assert found.verdict == INCONCLUSIVE
    assert "TIE" in found.tags
    moved[:30] -= rng.uniform(1, 2, 30)  # but a difference that is shown does
    assert judge("paired_comparison", moved, coupled).verdict == NOT_REPRODUCED
    samples = np.stack([coupled, coupled, coupled + 3 + rng.normal(size=100)], axis=1)
    found = judge("shape", samples, [[-1, 1, 0], [-1, 0, 1]])
    assert (found.verdict, found.tags) == (INCONCLUSIVE, ("CONSTANT", "RARE", "TIE"))


def test_comparisons_may_know_their_range():
    found = judge("paired_comparison", [2.0] * 100, 0.0, -10, 10)
    assert found.verdict == REPRODUCED
    assert judge("paired_comparison", [2.0] * 100, 0.0).verdict == INCONCLUSIVE


@pytest.mark.parametrize(
    ("mean", "sd", "verdict", "tags"),
    [
        (5, 1, REPRODUCED, ()),
        (-5, 1, NOT_REPRODUCED, ()),
        (0.5, 0.1, INCONCLUSIVE, ("IMMATERIAL", "TIE")),
        (0, 1, INCONCLUSIVE, ("TIE",)),
        (0, 30, INCONCLUSIVE, ()),
    ],
)
def test_material_differences(mean, sd, verdict, tags, rng):
    larger = 100 + around(rng, mean, sd)
    found = judge("paired_comparison", larger, 100.0, materiality=0.01)
    assert (found.verdict, found.tags) == (verdict, tags)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(
    ("mean", "verdict"),
    [
        (1, REPRODUCED),
        (1.99, INCONCLUSIVE),
        (0.51, INCONCLUSIVE),
        (3, NOT_REPRODUCED),
        (0.2, NOT_REPRODUCED),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_verdicts_of_equivalence(paired, mean, verdict, sign, rng):
    one, other = sign * around(rng, mean, 0.3), sign * around(rng, 1, 0.3)
    found = judge("equivalence", one, other, paired=paired)
    assert found.verdict == verdict
    assert found.statistic == pytest.approx(mean)
    assert found.low < mean < found.high


def test_limits_of_a_ratio_are_fiellers_or_beyond(rng):
    one, other = around(rng, 3, 1), around(rng, 2, 0.5)
    found = judge("equivalence", one, other)
    for ratio in (found.low, found.high):
        p = stats.ttest_1samp(one - ratio * other, 0).pvalue / 2
        assert 0.003 < p <= 0.01 * (1 + 1e-9)
    edge = judge("equivalence", one, other, ratio=(0.5, found.high))
    assert edge.p == pytest.approx(0.01)


def test_equivalence_to_a_number(rng):
    found = judge("equivalence", around(rng, 102, 5), 100, ratio=(0.9, 1.1))
    assert found.verdict == REPRODUCED
    half = stats.t.ppf(0.99, 49) * 5 / np.sqrt(50) / 100
    assert (found.low, found.high) == pytest.approx((1.02 - half, 1.02 + half), abs=0.2 * half)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(
    ("mean", "verdict"), [(0, REPRODUCED), (0.99, INCONCLUSIVE), (-3, NOT_REPRODUCED)]
)
def test_equivalence_by_a_difference(paired, mean, verdict, rng):
    """Both means are about 0, where a ratio says nothing."""
    one, other = around(rng, mean, 0.3), around(rng, 0, 0.3)
    margins = {"ratio": None, "difference": (-1, 1)}
    found = judge("equivalence", one, other, paired=paired, **margins)
    assert found.verdict == verdict
    assert found.statistic == pytest.approx(mean, abs=1e-9)
    assert found.low < mean < found.high < mean + 0.5


def test_a_degenerate_ratio_is_not_decided(rng):
    nothing = np.zeros(50)
    hardly = np.r_[1.0, 2, np.zeros(48)]
    for one, other in (
        (around(rng, 5, 1), nothing),
        (nothing, nothing),
        (hardly, hardly[::-1]),
        (hardly, around(rng, 5, 1)),
    ):
        for paired in (True, False):
            found = judge("equivalence", one, other, paired=paired)
            assert (found.verdict, found.p) == (INCONCLUSIVE, 1.0)
            assert "RARE" in found.tags
    found = judge("equivalence", around(rng, 5, 1), around(rng, 0.01, 100))
    assert (found.verdict, found.low, found.high) == (INCONCLUSIVE, -math.inf, math.inf)


@pytest.mark.parametrize(
    ("means", "verdict"),
    [((1, 3, 2), REPRODUCED), ((1, 3, 2.95), INCONCLUSIVE), ((1, 2, 3), NOT_REPRODUCED)],
)
def test_verdicts_of_a_shape(means, verdict, rng):
    samples = np.stack([around(rng, mean, 0.5) for mean in means], axis=1)
    found = judge("shape", samples, [[-1, 1, 0], [0, 1, -1]])
    assert found.verdict == verdict
    assert found.also["contrast 2"] == pytest.approx(means[1] - means[2])


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(3, REPRODUCED), (1, INCONCLUSIVE), (1 / 3, NOT_REPRODUCED)]
)
def test_verdicts_of_a_spread_comparison(ratio, verdict, rng):
    one = around(rng, 0, 1)
    found = judge("spread_comparison", 7 + ratio * one, one, rng=rng)
    assert found.verdict == verdict
    assert found.statistic == pytest.approx(ratio)
    assert found.low < ratio < found.high
    assert found.also["ratio of standard deviations"] == pytest.approx(ratio)


# ----------------------------------------------------------------------- proportions, numbers


@pytest.mark.parametrize(
    ("successes", "side", "verdict"),
    [
        (40, "at least", REPRODUCED),
        (27, "at least", INCONCLUSIVE),
        (10, "at least", NOT_REPRODUCED),
        (10, "at most", REPRODUCED),
        (40, "at most", NOT_REPRODUCED),
    ],
)
def test_verdicts_of_a_proportion(successes, side, verdict):
    outcomes = np.arange(50) < successes
    found = judge("proportion", outcomes, side=side)
    assert found.verdict == verdict
    assert found.statistic == successes / 50
    # Clopper and Pearson's limits are quantiles of beta distributions
    assert found.low == pytest.approx(stats.beta.ppf(0.01, successes, 51 - successes))
    assert found.high == pytest.approx(stats.beta.ppf(0.99, successes + 1, 50 - successes))


@pytest.mark.parametrize(
    ("value", "printed", "verdict", "tags"),
    [
        (0.1676, "0.168", REPRODUCED, ()),
        (0.1676, "0.167", NOT_REPRODUCED, ("TRUNCATED",)),
        (0.1676, "0.169", NOT_REPRODUCED, ()),
        (0.125, "0.12", REPRODUCED, ()),
        (0.125, "0.13", REPRODUCED, ()),
        (-0.1676, "-0.167", NOT_REPRODUCED, ("TRUNCATED",)),
        (1414.2136, "1414", REPRODUCED, ()),
        (4, "4", REPRODUCED, ()),
        (1234567, "1.23e6", REPRODUCED, ()),
    ],
)
def test_printed_numbers(value, printed, verdict, tags):
    found = judge("printed_number", value, printed)
    assert (found.verdict, found.tags, found.p) == (verdict, tags, None)


@pytest.mark.parametrize(
    ("printed", "verdict"), [(12, REPRODUCED), (2.5, NOT_REPRODUCED), (17.5, NOT_REPRODUCED)]
)
def test_verdicts_of_a_prediction_interval(printed, verdict, rng):
    sample = around(rng, 10, 2, 25)
    found = judge("prediction_interval", sample, printed)
    half = stats.t.ppf(0.995, 24) * 2 * math.sqrt(1 + 1 / 25)
    assert found.verdict == verdict
    assert (found.low, found.high) == pytest.approx((10 - half, 10 + half))
    assert (found.p <= 0.01) == (verdict == NOT_REPRODUCED)


def test_prediction_of_a_mean_and_reading_error(rng):
    sample = around(rng, 10, 2, 25)
    mean = judge("prediction_interval", sample, 14, runs=25)
    assert mean.verdict == NOT_REPRODUCED
    assert judge("prediction_interval", sample, 14, runs=25, reading_error=3).verdict == REPRODUCED
    assert judge("prediction_interval", [3.0] * 4, 3).verdict == REPRODUCED
    found = judge("prediction_interval", [3.0] * 4, 3.1)
    assert (found.verdict, found.tags) == (INCONCLUSIVE, ("CONSTANT", "UNDERPOWERED"))
    assert found.p == 1 / 5
    assert judge("prediction_interval", [3.0] * 99, 3.1).verdict == NOT_REPRODUCED


def curves(rng, n, points=5):
    """Return skewed, correlated curves that grow."""
    walk = rng.exponential(size=(n, points)).cumsum(axis=1)
    return walk * rng.lognormal(size=(n, 1))


@pytest.mark.parametrize(
    ("n", "factor", "verdict", "tags"),
    [
        (100, 1, REPRODUCED, ()),
        (100, 40, NOT_REPRODUCED, ()),
        (99, 40, NOT_REPRODUCED, ()),
        (98, 40, INCONCLUSIVE, ("UNDERPOWERED",)),
        (20, 1, REPRODUCED, ()),
    ],
)
def test_verdicts_of_a_curve(n, factor, verdict, tags, rng):
    samples = curves(rng, n)
    printed = factor * np.median(samples, axis=0)
    found = judge("curve_inside", samples, printed)
    assert (found.verdict, found.tags) == (verdict, tags)
    assert found.p >= 1 / (n + 1)
    assert (found.p == 1 / (n + 1)) == (factor > 1)
    assert (found.statistic > found.high) == (verdict == NOT_REPRODUCED)


def test_one_point_outside_is_a_curve_outside(rng):
    samples = rng.normal(size=(150, 6))
    printed = np.array([0, 0, 0, 7, 0, 0.0])
    found = judge("curve_inside", samples, printed)
    assert (found.verdict, found.also["worst point"]) == (NOT_REPRODUCED, 3)
    assert (found.also["printed"], found.also["t tail p"] < 1e-6) == (7, True)
    assert judge("curve_inside", samples, printed, 5).verdict == REPRODUCED
    reading = [0, 0, 0, 5, 0, 0]
    assert judge("curve_inside", samples, printed, reading).verdict == REPRODUCED


def test_rank_of_a_curve_by_leaving_one_out(rng):
    """Deviations from the others, in their standard deviations, rank the curves alike."""
    samples, printed = curves(rng, 60), curves(rng, 1)[0]
    pool = np.vstack([samples, printed])
    scores = []
    for k, curve in enumerate(pool):
        others = np.delete(pool, k, axis=0)
        scores.append(np.max(np.abs(curve - others.mean(0)) / others.std(0, ddof=1)))
    wanted = np.mean(np.array(scores) >= scores[-1])
    assert judge("curve_inside", samples, printed).p == pytest.approx(wanted)


# --------------------------------------------------------------------------------------- Holm


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])


def test_holm_is_never_below_and_keeps_the_order(rng):
    p = rng.uniform(size=20) ** 3
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


def test_family():
    findings = {
        "strong": Finding(1, 1, 1, 9, 0.001, REPRODUCED),
        "weak": Finding(1, 1, 1, 9, 0.009, NOT_REPRODUCED, ("SIGN",)),
        "none": Finding(1, 1, 1, 9, 0.3, INCONCLUSIVE),
        "certain": Finding(1, 1, 1, 9, None, REPRODUCED),
    }
    found = within_family(findings, level=0.99)
    assert [one.verdict for one in found.values()] == [
        REPRODUCED,
        INCONCLUSIVE,
        INCONCLUSIVE,
        REPRODUCED,
    ]
    assert found["strong"].p == pytest.approx(0.003)
    assert found["weak"].tags == ("SIGN", "HOLM")
    assert found["none"].tags == ()
    assert found["certain"] is findings["certain"]
    certain = {"certain": findings["certain"]}
    assert within_family(certain, level=0.99) == certain


def test_readings_with_the_same_finding_count_once():
    one, other = Finding(1, 1, 1, 9, 0.004, REPRODUCED), Finding(2, 1, 1, 9, 0.002, REPRODUCED)
    family = {("a", "first"): one, ("a", "second"): one, ("b", ""): other}
    corrected = within_family(family, level=0.99)
    assert [value.p for value in corrected.values()] == pytest.approx([0.004, 0.004, 0.004])
    # but two claims with the same finding are two
    family = {("a", ""): one, ("b", ""): one, ("c", ""): one}
    assert within_family(family, level=0.99)["a", ""].verdict == INCONCLUSIVE
    nothing = Finding(math.nan, -math.inf, math.inf, 9, 0.004, REPRODUCED)
    family = {("a", reading): replace(nothing) for reading in "xyz"}
    assert within_family(family, level=0.99)["a", "x"].verdict == REPRODUCED


def found(letter, p, n=9):
    verdict = {"R": REPRODUCED, "N": NOT_REPRODUCED, "I": INCONCLUSIVE}[letter]
    return Finding(1.0, 0.0, 2.0, n, p, verdict)


@pytest.mark.parametrize(
    ("rows", "how", "verdict", "p"),
    [
        ([("R", 0.001), ("R", 0.008)], "all", REPRODUCED, 0.008),
        ([("R", None), ("R", None)], "all", REPRODUCED, None),
        ([("R", None), ("R", 0.002)], "all", REPRODUCED, 0.002),
        ([("R", 0.001), ("I", 0.2)], "all", INCONCLUSIVE, 0.2),
        ([("R", 0.001), ("N", 0.002)], "all", NOT_REPRODUCED, 0.002),
        ([("I", 0.3), ("N", 0.004)], "all", NOT_REPRODUCED, 0.008),
        ([("I", 0.3), ("I", 0.4), ("N", 0.009)], "all", INCONCLUSIVE, 0.4),
        ([("R", 0.001), ("N", None)], "all", NOT_REPRODUCED, None),
        ([("R", None), ("N", None)], "all", NOT_REPRODUCED, None),
        ([("N", 0.001), ("N", 0.008)], "any", NOT_REPRODUCED, 0.008),
        ([("N", 0.001), ("R", 0.001)], "any", REPRODUCED, 0.002),
        ([("I", 0.3), ("R", 0.004)], "any", REPRODUCED, 0.008),
        ([("N", 0.001), ("I", 0.3)], "any", INCONCLUSIVE, 0.3),
        ([("R", 0.001), ("R", 0.002), ("I", 0.3)], "universal", REPRODUCED, 0.004),
        ([("R", 0.001), ("R", 0.009), ("I", 0.3)], "universal", INCONCLUSIVE, 0.018),
        ([("R", 0.001), ("I", 0.3), ("I", 0.2)], "universal", INCONCLUSIVE, 1),
        ([("R", None), ("R", None), ("I", 0.2)], "universal", REPRODUCED, None),
        ([("R", 0.001), ("R", 0.001), ("N", 0.001)], "universal", NOT_REPRODUCED, 0.003),
        ([("R", 0.001), ("R", 0.001), ("N", 0.008)], "universal", NOT_REPRODUCED, 0.008),
        ([("R", 0.2), ("R", 0.2), ("I", 0.5), ("N", 0.009)], "universal", INCONCLUSIVE, 0.5),
    ],
)
def test_claims_with_several_findings(rows, how, verdict, p):
    combined = combine([found(*row) for row in rows], how=how, level=0.99)
    assert combined.verdict == verdict
    assert combined.p == (None if p is None else pytest.approx(p))


def test_one_finding_is_the_claims():
    for letter, p in (("R", 0.001), ("N", 0.001), ("R", None), ("N", None)):
        one = found(letter, p)
        for how in ("all", "any", "universal"):
            assert combine([one], how=how, level=0.99) == one


def test_a_refutation_that_does_not_stand_says_so():
    rows = [found("N", 0.009), *[found("R", 0.3 / k, n=7) for k in range(1, 3)]]
    combined = combine(rows, how="all", level=0.99)
    assert (combined.verdict, combined.tags, combined.n) == (INCONCLUSIVE, ("HOLM",), 7)


def test_combinations_need_findings():
    with pytest.raises(ValueError, match="at least 1"):
        combine([], how="all", level=0.99)
    with pytest.raises(ValueError, match="how must be one of"):
        combine([found("R", 0.1)], how="most", level=0.99)


# ------------------------------------------------------------------------------------ refused

TEN = [float(k) for k in range(10)]
REFUSED = [
    ("invariant", [np.array([], int)], {}, "at least 1"),
    ("invariant", [np.array([0.0])], {}, "whole numbers"),
    ("invariant", [np.array([0])], {"tolerance": 1e-9}, "whole numbers"),
    ("invariant", [[math.nan]], {"exact": False, "tolerance": 1e-9}, "excess must be finite"),
    ("invariant", [[1.0], math.inf], {"exact": False, "tolerance": 1e-9}, "scale"),
    ("invariant", [[1.0]], {"exact": False}, "tolerance must be above 0"),
    ("invariant", [np.array([0])], {"small": "ignored"}, "'ignored'"),
    ("bound", [[], 1], {}, "at least 1"),
    ("bound", [[1.0], 1], {}, "at least 2 replicates, got 1"),
    ("bound", [TEN, math.nan], {}, "limit must be finite"),
    ("bound", [[*TEN, math.inf], 1], {}, r"sample must be finite, got inf at \[10\]"),
    ("bound", [["many"], 1], {}, "sample must be numbers"),
    ("bound", [[TEN], 1], {}, "1 dimension"),
    ("bound", [TEN, [1, 2]], {}, "limit must be one number"),
    ("bound", [TEN, 1], {"side": "below"}, "side must be one of"),
    ("bound", [TEN, 1], {"level": 1}, "level must be"),
    ("bound", [TEN, 1], {"level": 0.01}, "level must be"),
    ("bound_everywhere", [np.ones((10, 2)), [1, 1]], {"most": [1], "rng": 1}, "one entry per poi"),
    ("bound_everywhere", [np.ones((10, 2)), [1, 1]], {"most": 0, "rng": 1}, "most possible"),
    ("bound_everywhere", [np.ones((10, 2)), [1]], {}, "one entry per point"),
    ("bound_everywhere", [np.ones((9, 2)), [1, 1]], {}, "at least 10"),
    ("bound_everywhere", [np.eye(10), np.ones(10)], {}, "needs rng"),
    ("growth_exponent", [GRID, [TEN] * 2], {}, "one entry per horizon"),
    ("growth_exponent", [GRID, [TEN, TEN, TEN[:9]]], {}, "samples at 100000 must have at least 10"),
    ("growth_exponent", [GRID[::-1], [TEN] * 3], {}, "increase"),
    ("growth_exponent", [GRID, [TEN] * 3], {"points": 6}, "at least 6 horizons"),
    ("growth_exponent", [GRID, [TEN] * 3], {"points": 2, "window": "top decade"}, "at least 3"),
    ("growth_exponent", [GRID, [TEN, TEN, [*TEN, 1]]], {"clustered": True}, "same replicates"),
    ("growth_exponent", [GRID, [TEN] * 3], {"claim": "about"}, "claim must be one of"),
    ("growth_exponent", [GRID, [TEN] * 3], {"margin": -1}, "margin"),
    ("growth_exponent", [GRID, [TEN] * 3], {}, "needs rng"),
    ("growth_exponent", [(0.5, 2, 3), [TEN] * 3], {"of": "ln T"}, "above 1"),
    ("logarithmic_growth", [DECADE, [TEN] * 6], {"ceiling": 0.5}, "ceiling"),
    ("logarithmic_growth", [np.array(DECADE) / 1e6, [TEN] * 6], {}, "above 1"),
    ("paired_comparison", [TEN, TEN[:9]], {}, "one entry per replicate"),
    ("paired_comparison", [TEN, math.nan], {}, "smaller must be finite"),
    ("paired_comparison", [TEN, TEN], {"materiality": 1}, "materiality"),
    ("equivalence", [TEN, TEN[:9]], {}, "one entry per replicate"),
    ("equivalence", [TEN, TEN], {"ratio": (2, 3)}, "around 1"),
    ("equivalence", [[1.0], 1], {}, "at least 2"),
    ("equivalence", [TEN, TEN], {"difference": (-1, 1)}, "not both"),
    ("equivalence", [TEN, TEN], {"ratio": None}, "either ratio or difference"),
    ("equivalence", [TEN, TEN], {"ratio": None, "difference": (1, 2)}, "around 0"),
    ("curve_inside", [np.ones((10, 2)), [1]], {}, "one entry per point"),
    ("curve_inside", [np.ones((9, 2)), [1, 1]], {}, "at least 10"),
    ("curve_inside", [np.ones((10, 2)), [1, 1], -1], {}, "within must be at least 0"),
    ("proportionality", [(1, 2), [TEN] * 2], {}, "at least 3"),
    ("proportionality", [(1, 2, 3), [[-one for one in TEN]] * 3], {"rng": 1}, "above 0"),
    ("proportionality", [(1, 2, 3), [TEN] * 3], {"outside": (0.95, 1.05)}, "outside"),
    ("proportion", [[]], {}, "not empty"),
    ("proportion", [[0, 2]], {}, "true and false"),
    ("proportion", [[True]], {"limit": 2}, "limit must be in"),
    ("printed_number", [1.0, "about 1"], {}, "printed must be a number"),
    ("printed_number", [1.0, 1.0], {}, "printed must be a number"),
    ("printed_number", [1.0, "nan"], {}, "printed must be a number"),
    ("printed_number", [math.nan, "1"], {}, "value must be finite"),
    ("prediction_interval", [[1.0], 1], {}, "at least 2"),
    ("prediction_interval", [TEN, 1], {"runs": 0}, "runs"),
    ("shape", [np.ones((5, 3)), [[1, -1]]], {}, "one weight per point"),
    ("shape", [np.ones((5, 2)), [[1, -1]] * 4], {}, "1 to 3"),
    ("shape", [np.ones((1, 2)), [[1, -1]]], {}, "at least 2"),
    ("spread_comparison", [TEN, TEN[:5]], {}, "at least 10"),
    ("spread_comparison", [TEN, [1.0] * 10], {"rng": 1}, "no spread"),
]


@pytest.mark.parametrize(
    ("name", "data", "changes", "words"),
    REFUSED,
    ids=[f"{row[0]}-{k}" for k, row in enumerate(REFUSED)],
)
def test_bad_input_is_no_verdict(name, data, changes, words):
    with pytest.raises(ValueError, match=words) as error:
        judge(name, *data, **changes)
    assert "\n" not in str(error.value)


def test_findings_know_their_words():
    with pytest.raises(ValueError, match="verdict must be one of"):
        Finding(1, 1, 1, 1, None, "true")
    with pytest.raises(ValueError, match="tag must be one of"):
        Finding(1, 1, 1, 1, None, REPRODUCED, ("LOSE",))


@pytest.mark.parametrize("p", [[], [1.5], [math.nan]])
def test_holm_refuses(p):
    with pytest.raises(ValueError, match="p_values"):
        holm(p)


def test_decisions():
    assert decide(0.01, 0.99, 0.99) == (REPRODUCED, 0.01)
    assert decide(0.99, 0.01, 0.99) == (NOT_REPRODUCED, 0.01)
    assert decide(0.4, 0.6, 0.99) == (INCONCLUSIVE, 0.4)


def test_a_few_replicates_that_differ_leave_it_open(rng):
    """97 replicates agree to rounding, 3 do not: how far the next goes is known from its range."""
    samples = np.full((100, 2), -10.0) + 1e-9 * rng.standard_normal((100, 2))
    samples[:3] += 1.0
    samples[:, 1] = -12 + rng.standard_normal(100)
    band = PROCEDURES["bound_everywhere"]
    found = band(samples, [0, 0], level=0.99, resamples=2000, rng=rng)
    assert (found.verdict, found.tags, found.high) == (INCONCLUSIVE, ("RARE",), math.inf)
    found = band(samples, [0, 0], None, 20, level=0.99, resamples=2000, rng=rng)
    assert found.verdict == REPRODUCED
    assert -10 < found.high < -6


def test_p_values_go_beyond_the_resamples(rng):
    """Holm's correction needs p-values that counting resamples cannot give."""
    sample = rng.exponential(size=80)
    band = judge("bound_everywhere", sample[:, None], [6], resamples=999, rng=rng)
    assert 0 < band.p < 1 / 1000
    slope = judge("growth_exponent", GRID, powers(rng, GRID, 0.5), rng=rng)
    assert 0 < slope.p < 1 / 1000


def test_a_fitted_tail_meets_the_counted_one(rng):
    from fairbandits.audit.resampling import tail

    drawn = stats.t.rvs(20, size=100_000, random_state=rng)
    few = drawn[:2000]
    for value in (1, 3, 4, 5):
        wanted = stats.t.sf(value, 20)
        assert tail(drawn, value, 20) == pytest.approx(wanted, rel=0.5)
        assert tail(few, value, 20) >= 0.3 * wanted
    assert tail(1.5 * few, 6, 20) > 5 * stats.t.sf(6, 20)
    endless = np.r_[few, [np.inf] * 5]
    assert tail(endless, 1e6, 20) >= 5 / 2005
    assert tail(np.r_[few, [np.nan] * 5], 1e6, 20) == tail(endless, 1e6, 20)

"""The audit's procedures: closed forms, every verdict, bad input."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from fairbandits.audit.finding import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding
from fairbandits.audit.limits import (
    SHARES,
    STAKES,
    Reach,
    betting_p_value,
    l_skewness,
    mean_test,
    tail,
)
from fairbandits.audit.multiplicity import combine, holm, holm_count, within_family
from fairbandits.audit.procedures import PROCEDURES, settings_of

GRID = (1e3, 1e4, 1e5)
DECADES = tuple(np.geomspace(1e4, 1e6, 7).round(6))
#: Settings that a test changes one of.
SETTINGS = {
    "mean": {"claim": "at most", "level": 0.99},
    "slope": {
        **{"claim": "at most", "exponent": 0.75, "margin": 0.05, "level": 0.99},
        **{"window": "all", "asymptotic": True},
    },
    "share": {"claim": "at least", "limit": 0.5, "level": 0.99},
    "curve": {"level": 0.99},
    "exact": {"tolerance": 0},
}
EQUAL = {"claim": "equal", "ratio": (0.5, 2)}


def judge(name, *data, **changes):
    return PROCEDURES[name](*data, **SETTINGS[name] | changes)


def at_least(*data, **changes):
    return judge("mean", *data, claim="at least", **changes)


def around(rng, mean, sd, n=50):
    """Return a sample with exactly this mean and standard deviation."""
    sample = rng.normal(size=n)
    sample = (sample - sample.mean()) / sample.std(ddof=1)
    return mean + sd * sample


def powers(rng, horizons, exponent, spread=0.1, n=50):
    """Return samples whose means are exactly T ** exponent."""
    return [t**exponent * around(rng, 1, spread, n) for t in horizons]


def test_what_holds_exactly_and_the_first_violation():
    finding = judge("exact", np.array([[-3, 0], [-1, -2]]))
    assert finding == Finding(0, 0, 0, 4, None, REPRODUCED, (), {"broken": 0.0})
    finding = judge("exact", np.array([-3, 0, 2, 5]))
    assert finding == Finding(5, 5, 5, 4, None, NOT_REPRODUCED, (), {"broken": 2.0})


def test_whole_numbers_stay_exact():
    large = 2**60
    assert judge("exact", np.array([large]) - (large + 1)).statistic == -1
    assert judge("exact", np.array([large + 1]) - large).verdict == NOT_REPRODUCED


@pytest.mark.parametrize(
    ("value", "verdict", "tags"),
    [(-1e-12, REPRODUCED, ()), (1e-12, REPRODUCED, ("ROUNDING",)), (1e-5, NOT_REPRODUCED, ())],
)
def test_up_to_rounding(value, verdict, tags):
    finding = judge("exact", [value, -1.0], 100.0, tolerance=1e-9)
    assert (finding.verdict, finding.tags) == (verdict, tags)


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
    finding = judge("exact", value, printed=printed)
    assert (finding.verdict, finding.tags, finding.p) == (verdict, tags, None)
    assert (finding.statistic, finding.also["printed"]) == (value, float(printed))


def test_the_allowance_is_that_of_the_l_moments(rng):
    """By hand, with SciPy's L-moments; the p-value of a limit is that of its level."""
    sample = rng.gamma(2, 0.5, size=60)
    n, mean, l_skewness = 60, sample.mean(), stats.lmoment(sample, order=3)
    skew, t = min(0.25 + 5.8 * l_skewness, 2.0) / math.sqrt(n), stats.t.ppf(0.99, n - 1)
    up = t + skew * (2 * t * t + 1) / 6 + skew**2 * t**3 / 5
    finding = judge("mean", sample, 1.5)
    assert finding.also.items() >= {"limit": 1.5, "tightness": pytest.approx(mean / 1.5)}.items()
    assert finding.high == pytest.approx(mean + up * sample.std(ddof=1) / math.sqrt(n))
    assert judge("mean", sample, finding.high).p == pytest.approx(0.01)
    assert at_least(sample, finding.low).p == pytest.approx(0.01)


def test_where_most_replicates_agree_the_others_decide(rng):
    """By hand: the skewness of a sum of few events, of which each has that of its third moment."""
    events = rng.uniform(1, 2, size=40)
    sample, n = 3 + np.concatenate([np.zeros(160), events]), 200
    by_moments = (events**3).mean() / (events**2).mean() ** 1.5
    skew = max(by_moments, 0.25 + 5.8 * stats.lmoment(events, order=3))
    skew, t = skew * math.sqrt(n / 40) / math.sqrt(n), stats.t.ppf(0.99, n - 1)
    up = t + skew * (2 * t * t + 1) / 6 + skew**2 * t**3 / 5
    finding = judge("mean", sample, 1.5)
    assert finding.high == pytest.approx(sample.mean() + up * sample.std(ddof=1) / math.sqrt(n))


def test_a_tail_heavier_than_an_exponential_is_given_more(rng):
    """By hand: three times the sample's skewness, and its error."""
    sample = np.exp(1.5 * rng.normal(size=100))
    assert stats.lmoment(sample, order=3) > 0.49
    t, error = stats.t.ppf(0.99, 99), sample.std(ddof=1) / 10

    def high(skewness):
        skew = skewness / 10
        return sample.mean() + error * (t + skew * (2 * t * t + 1) / 6 + skew**2 * t**3 / 5)

    exponential, found = high(2) - sample.mean(), judge("mean", sample, 9).high
    assert found == pytest.approx(high(3 * (stats.skew(sample) + math.sqrt(6 / 100))))
    assert found > sample.mean() + 1.2 * exponential


@pytest.mark.parametrize("value", [9, 10, 11])
def test_what_does_not_vary_is_never_certain(value):
    finding = judge("mean", [value] * 20, 10)
    assert (finding.verdict, finding.p) == (INCONCLUSIVE, 1.0)
    assert finding.tags[:2] == ("CONSTANT", "RARE")
    assert (finding.low, finding.high) == (-math.inf, math.inf)


def test_what_does_not_vary_is_decided_by_its_range():
    """A bet on an event that never came is the exact binomial statement, but for its share."""
    low, most = judge("mean", [0] * 100, 6, 0, 100), judge("mean", [0] * 100, 5, 0, 100)
    assert low.verdict == REPRODUCED
    assert low.p == pytest.approx(2 * 0.94**100, rel=0.1)
    assert most.verdict == INCONCLUSIVE
    assert low.high == pytest.approx(100 * (1 - 0.005 ** (1 / 100)), rel=0.02)
    assert at_least([0] * 100, 6, least=0, most=100).verdict == NOT_REPRODUCED
    assert judge("mean", [0] * 100, -1, -50).verdict == INCONCLUSIVE
    assert judge("mean", [0] * 100, -1, -2).verdict == NOT_REPRODUCED
    assert judge("mean", [10] * 100, 5, 0, 10).verdict == NOT_REPRODUCED
    # of a comparison the difference has the range
    same, other = np.arange(100.0) + 2, np.arange(100.0)
    assert at_least(same, other, -10, 10).verdict == REPRODUCED
    assert at_least(same, other).verdict == INCONCLUSIVE


def test_a_bet_by_hand():
    won = sum(share * (1 + stake) ** 3 for stake, share in zip(STAKES, SHARES, strict=True))
    assert betting_p_value(np.zeros(3), 2, 4) == pytest.approx(1 / won)
    assert SHARES.sum() == pytest.approx(1)
    assert betting_p_value(np.full(3, 3.0), 2, 4) == 1


def test_rare_events_are_not_averaged():
    """Two of 50 runs had the event; nothing is known of how large the next one is."""
    sample = np.zeros(50)
    sample[:2] = 1, 3
    finding = judge("mean", sample, 10)
    assert (finding.verdict, finding.tags, finding.high) == (INCONCLUSIVE, ("RARE",), math.inf)
    known = judge("mean", sample, 10, 0, 20)
    assert (known.verdict, known.tags) == (REPRODUCED, ("RARE",))
    lower = judge("mean", sample, -1, -10)
    assert (lower.verdict, lower.tags) == (NOT_REPRODUCED, ("RARE",))
    # away from events of which there are some more the mean has a limit
    sample[:8] = np.linspace(1, 1.5, 8)
    assert judge("mean", sample, -1).verdict == NOT_REPRODUCED


def test_random_weights_by_simulation_and_of_two_points(rng):
    sample = rng.exponential(size=32)
    weights = rng.standard_exponential((100_000, 32))
    means = weights @ sample / weights.sum(axis=1)
    for end in (sample.max() + 2, sample.max() + 5):
        gaps = end - sample
        border = end - stats.hmean(gaps)
        assert tail(gaps) == pytest.approx((means >= border).mean(), rel=0.1)
    # of k events in n runs the p-value is Clopper and Pearson's
    for events in (0, 3):
        far = Reach.of(np.repeat([0.0, 1.0], [32 - events, events]), 0.4, 0.01, 1).value
        if not events:
            assert far == pytest.approx(0.4 / (1 - 0.01 ** (1 / 32)), rel=0.03)
    p = stats.binom.cdf(3, 32, 0.4)
    assert Reach.of(np.repeat([0.0, 1.0], [29, 3]), 0.4, p, 1).value == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n", [40, 500])
def test_the_reach_is_where_a_verdict_ends(sign, n, rng):
    """With one more replicate there, means with random weights are beyond the limit in 1 %."""
    sample = sign * np.sort(around(rng, 0, 1, n))
    finding = judge("mean", sample, sign, claim="at most" if sign > 0 else "at least")
    far, farthest = finding.also["reach"], finding.also["farthest"]
    assert (finding.verdict, farthest) == (REPRODUCED, sample[-1])
    assert sign * far > sign * farthest
    weights = rng.standard_exponential((100_000, n + 1))
    means = weights @ np.append(sample, far) / weights.sum(axis=1)
    assert (sign * means >= 1).mean() == pytest.approx(0.01, abs=0.0015)
    other = judge("mean", sample, -sign, claim="at most" if sign > 0 else "at least")
    assert (other.verdict, other.also["farthest"]) == (NOT_REPRODUCED, sample[0])
    assert sign * other.also["reach"] < sign * sample[0]


def test_a_short_reach_makes_a_verdict_thin(rng):
    sample = around(rng, 0, 1, 64)
    near, far = (judge("mean", sample, limit) for limit in (0.45, 1.5))
    assert (near.verdict, near.tags) == (REPRODUCED, ("THIN",))
    assert near.also["reach"] < 3 * near.also["farthest"]
    assert (far.tags, far.also["reach"] > 3 * far.also["farthest"]) == ((), True)
    # no farther replicate is possible, or one of several points decides
    known = judge("mean", sample, 0.45, most=4)
    assert (known.tags, known.also["reach"]) == ((), 4)
    several = judge("mean", np.stack([sample, sample - 0.1], axis=1), [1.5, 0.45])
    assert several.tags == ("THIN",)
    assert "reach" not in judge("mean", sample, 0.1).also


def test_the_reach_of_an_equality_is_that_of_its_nearer_side(rng):
    sample = around(rng, 0, 1, 100)
    finding = judge("mean", sample, 0, claim="equal", difference=(-0.35, 2))
    assert finding.also["reach"] == at_least(sample, -0.35).also["reach"]
    assert finding.tags == ("THIN",)
    larger = judge("mean", sample + 3, 0, claim="equal", difference=(-0.35, 2))
    assert larger.also["reach"] == pytest.approx(judge("mean", sample + 3, 2).also["reach"])
    twice = judge("mean", sample + 9, 3, **EQUAL)
    assert twice.also["reach"] == pytest.approx(judge("mean", sample + 3, 0).also["reach"])


@pytest.mark.parametrize(
    ("limit", "claim", "tags"),
    [
        (20, "at most", ("VACUOUS",)),
        (25, "at most", ("VACUOUS",)),
        (19, "at most", ()),
        (0, "at least", ("VACUOUS",)),
        (1, "at least", ()),
    ],
)
def test_a_bound_that_nothing_can_break_is_no_evidence(limit, claim, tags, rng):
    finding = judge("mean", around(rng, 10, 1), limit, 0, 20, claim=claim)
    assert (finding.verdict == INCONCLUSIVE, finding.tags) == (bool(tags), tags)


def test_points_that_nothing_can_break_are_left_out(rng):
    samples = np.stack([around(rng, 1, 0.1), around(rng, 5, 1)], axis=1)
    finding = judge("mean", samples, [30, 6], most=[20, 20])
    assert (finding.verdict, finding.statistic) == (REPRODUCED, pytest.approx(5))
    assert (finding.also["vacuous points"], finding.also["worst point"]) == (1, 1)
    assert (finding.also["limit"], finding.also["tightness"]) == (6, pytest.approx(5 / 6))
    none = judge("mean", samples, [30, 60], most=20)
    assert (none.verdict, none.tags, none.p) == (INCONCLUSIVE, ("VACUOUS",), 1.0)


@pytest.mark.parametrize(
    ("worst", "verdict"), [(-1, REPRODUCED), (-0.1, INCONCLUSIVE), (1, NOT_REPRODUCED)]
)
@pytest.mark.parametrize("claim", ["at most", "at least"])
def test_verdicts_at_several_points(worst, claim, verdict, rng):
    sign = 1 if claim == "at most" else -1
    samples = sign * np.stack([around(rng, 0, 1), around(rng, 5 + worst, 1)], axis=1)
    finding = judge("mean", samples, [sign * 4, sign * 5], claim=claim)
    assert (finding.verdict, finding.tags) == (verdict, ())
    assert finding.statistic == pytest.approx(sign * (5 + worst))
    assert finding.low < finding.statistic < finding.high
    assert (finding.p <= 0.01) == (verdict != INCONCLUSIVE)


def test_several_points_are_each_held_at_the_full_level_and_broken_at_its_part(rng):
    samples = np.stack([around(rng, mean, 1, 100) for mean in (0, -1, -2, -3)], axis=1)
    alone, finding = judge("mean", samples[:, 0], 0.3), judge("mean", samples, 0.3)
    assert (finding.p, finding.high) == (alone.p, alone.high)
    alone, finding = judge("mean", samples[:, 0], -0.4), judge("mean", samples, [-0.4, 3, 3, 3])
    assert finding.p == pytest.approx(4 * alone.p)
    assert finding.low == judge("mean", samples[:, 0], -0.4, level=0.9975).low
    # three quarters of a percent are no refutation of one of four
    edge = judge("mean", samples[:, 0], -0.25)
    assert edge.p < 0.01 < 4 * edge.p
    assert judge("mean", samples, [-0.25, 3, 3, 3]).verdict == INCONCLUSIVE


def test_one_point_of_several_that_does_not_vary(rng):
    mixed = np.stack([around(rng, 0, 1, 100), np.zeros(100)], axis=1)
    assert judge("mean", mixed, [5, 1]).tags[:2] == ("CONSTANT", "RARE")
    assert judge("mean", mixed, [5, 1], most=[20, 10]).verdict == REPRODUCED
    few = np.full(100, -10.0) + 1e-9 * rng.standard_normal(100)
    few[:2] += 1.0
    finding = judge("mean", few, 0)
    assert (finding.verdict, finding.tags, finding.high) == (INCONCLUSIVE, ("RARE",), math.inf)
    assert -10 < judge("mean", few, 0, None, 20).high < -6


@pytest.mark.parametrize(
    ("mean", "verdict"), [(1, REPRODUCED), (0.1, INCONCLUSIVE), (-1, NOT_REPRODUCED)]
)
def test_verdicts_of_a_comparison(mean, verdict, rng):
    other = rng.normal(scale=100, size=50)  # pairing takes this out
    difference = around(rng, mean, 1)
    finding = at_least(other + difference, other)
    assert finding.verdict == verdict
    assert finding.statistic == pytest.approx(mean)
    assert judge("mean", other, other + difference).p == pytest.approx(finding.p)


@pytest.mark.parametrize(("mean", "verdict"), [(3, REPRODUCED), (-3, NOT_REPRODUCED)])
def test_replicates_that_do_not_belong_together(mean, verdict, rng):
    """The test is Welch's, but for the allowance for skewness."""
    sample, other = around(rng, mean, 1, 80), around(rng, 0, 4, 60)
    finding = at_least(sample, other, paired=False)
    assert (finding.verdict, finding.n) == (verdict, 60)
    half = stats.ttest_ind(sample, other, equal_var=False).confidence_interval(0.98)
    assert half.low * 1.1 - 0.1 * mean < finding.low <= half.low
    for still in ([0.0] * 20, [*[0.0] * 18, 1, 2]):
        assert at_least(sample, still, paired=False).tags == ("RARE",)


def test_a_tie_refutes_nothing(rng):
    finding = at_least([2.0] * 5, 2.0)
    assert (finding.verdict, finding.tags) == (INCONCLUSIVE, ("CONSTANT", "RARE", "TIE"))
    coupled = rng.normal(size=100)
    moved = coupled.copy()
    moved[:3] -= 1
    finding = at_least(moved, coupled)
    assert finding.verdict == INCONCLUSIVE
    assert "TIE" in finding.tags
    moved[:30] -= rng.uniform(1, 2, 30)  # but a difference that is shown does
    assert at_least(moved, coupled).verdict == NOT_REPRODUCED
    moved[:50] = coupled[:50] + around(rng, 0, 1)  # half of the replicates are not most
    assert at_least(moved, coupled).tags == ()


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
    finding = at_least(100 + around(rng, mean, sd), np.full(50, 100.0), materiality=0.01)
    assert (finding.verdict, finding.tags) == (verdict, tags)


@pytest.mark.parametrize(
    ("means", "verdict"),
    [((1, 3, 2), REPRODUCED), ((1, 3, 2.95), INCONCLUSIVE), ((1, 2, 3), NOT_REPRODUCED)],
)
def test_verdicts_of_a_shape(means, verdict, rng):
    """It rises and falls again."""
    first, second, third = (around(rng, mean, 0.5) for mean in means)
    finding = at_least(np.stack([second, second], 1), np.stack([first, third], 1))
    assert finding.verdict == verdict
    assert finding.also["worst point"] == 1


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
def test_verdicts_of_equality(paired, mean, verdict, sign, rng):
    sample, other = sign * around(rng, 2 * mean, 0.6), sign * around(rng, 2, 0.6)
    finding = judge("mean", sample, other, paired=paired, **EQUAL)
    assert finding.verdict == verdict
    assert finding.statistic == pytest.approx(mean)
    assert finding.low < mean < finding.high


def test_limits_of_a_ratio_are_those_that_the_test_does_not_refute(rng):
    sample, other = around(rng, 3, 1), around(rng, 2, 0.5)
    finding = judge("mean", sample, other, **EQUAL)
    for ratio in (finding.low, finding.high):
        p = stats.ttest_1samp(sample - ratio * other, 0).pvalue / 2
        assert 0.003 < p <= 0.01 * (1 + 1e-9)
    edge = judge("mean", sample, other, claim="equal", ratio=(0.5, finding.high))
    assert edge.p == pytest.approx(0.01)


def test_equality_with_a_number(rng):
    finding = judge("mean", around(rng, 102, 5), 100, claim="equal", ratio=(0.9, 1.1))
    assert finding.verdict == REPRODUCED
    half = stats.t.ppf(0.99, 49) * 5 / np.sqrt(50) / 100
    assert (finding.low, finding.high) == pytest.approx((1.02 - half, 1.02 + half), abs=0.2 * half)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(
    ("mean", "verdict"), [(0, REPRODUCED), (0.99, INCONCLUSIVE), (-3, NOT_REPRODUCED)]
)
def test_equality_by_a_difference(paired, mean, verdict, rng):
    """Both means are about 0, where a ratio says nothing."""
    sample, other = around(rng, mean, 0.3), around(rng, 0, 0.3)
    finding = judge("mean", sample, other, claim="equal", paired=paired, difference=(-1, 1))
    assert finding.verdict == verdict
    assert finding.statistic == pytest.approx(mean, abs=1e-9)
    assert finding.low < mean < finding.high < mean + 0.5


def test_a_degenerate_ratio_is_not_decided(rng):
    nothing = np.zeros(50)
    hardly = np.r_[1.0, 2, np.zeros(48)]
    for sample, other in (
        (around(rng, 5, 1), nothing),
        (nothing, nothing),
        (hardly, hardly[::-1]),
        (hardly, around(rng, 5, 1)),
    ):
        for paired in (True, False):
            finding = judge("mean", sample, other, paired=paired, **EQUAL)
            assert (finding.verdict, finding.p) == (INCONCLUSIVE, 1.0)
            assert "RARE" in finding.tags
    finding = judge("mean", around(rng, 5, 1), around(rng, 0.01, 100), **EQUAL)
    assert (finding.verdict, finding.low, finding.high) == (INCONCLUSIVE, -math.inf, math.inf)


@pytest.mark.parametrize(
    ("exponent", "claim", "verdict", "tags"),
    [
        (0.5, "at most", REPRODUCED, ("LOOSE",)),
        (0.75, "at most", REPRODUCED, ()),
        (0.8, "at most", INCONCLUSIVE, ()),
        (0.9, "at most", INCONCLUSIVE, ("PRE-ASYMPTOTIC",)),
        (0.9, "at least", REPRODUCED, ()),
        (0.7, "at least", INCONCLUSIVE, ()),
        (0.5, "at least", INCONCLUSIVE, ("PRE-ASYMPTOTIC",)),
        (0.75, "equal", REPRODUCED, ()),
        (0.8, "equal", INCONCLUSIVE, ()),
        (0.5, "equal", NOT_REPRODUCED, ()),
        (0.9, "equal", NOT_REPRODUCED, ()),
    ],
)
def test_verdicts_of_a_slope(exponent, claim, verdict, tags, rng):
    samples = powers(rng, GRID, exponent)
    finding = judge("slope", samples, GRID, claim=claim)
    assert (finding.verdict, finding.tags) == (verdict, tags)
    assert finding.statistic == pytest.approx(exponent)
    assert finding.low < exponent < finding.high
    here = judge("slope", samples, GRID, claim=claim, asymptotic=False)
    refuted = verdict == NOT_REPRODUCED or "PRE-ASYMPTOTIC" in finding.tags
    assert (here.verdict == NOT_REPRODUCED) == refuted


def test_the_error_of_a_slope_by_hand(rng):
    """Of three equally precise log means the slope is that between the ends, with two errors."""
    apart = [*powers(rng, GRID[:2], 0.5), GRID[2] ** 0.5 * around(rng, 1, 0.1, 40)]
    for samples in (powers(rng, GRID, 0.5), apart):
        error = math.hypot(*(stats.sem(sample) / sample.mean() for sample in samples[::2]))
        if samples is not apart:  # replicates belong together
            parts = samples[2] / samples[2].mean() - samples[0] / samples[0].mean()
            error = parts.std(ddof=1) / math.sqrt(50)
        finding = judge("slope", samples, GRID)
        half = 2.41 * error / math.log(100)
        assert finding.statistic == pytest.approx(0.5, abs=1e-3)
        assert finding.high - finding.statistic == pytest.approx(half, rel=0.2)


def test_growth_of_what_hardly_varies_is_not_known(rng):
    samples = powers(rng, GRID, 0.5)
    for last in (np.full(50, 300.0), 300 + np.r_[9000.0, 20000, np.zeros(48)]):
        finding = judge("slope", [*samples[:2], last], GRID)
        assert (finding.verdict, finding.tags) == (INCONCLUSIVE, ("RARE",))
        assert (finding.low, finding.high, finding.p) == (-math.inf, math.inf, 1.0)


def test_precise_means_weigh_more(rng):
    samples = [t * around(rng, 1, sd) for t, sd in zip(GRID, (0.1, 0.1, 5), strict=True)]
    samples[-1] = samples[-1] * 2
    ordinary = 1 + math.log(2) / math.log(100)
    assert abs(judge("slope", samples, GRID).statistic - 1) < (ordinary - 1) / 10
    few = [t**2 * around(rng, 1, 0.2, n) for t, n in zip(GRID, (50, 20, 12), strict=True)]
    few[-1] = few[-1] * 2
    means, errors = np.array([(sample.mean(), stats.sem(sample)) for sample in few]).T
    line = np.polyfit(np.log(GRID), np.log(means), 1, w=means / errors)
    assert judge("slope", few, GRID).statistic == pytest.approx(line[0])
    precise = [t * around(rng, 1, 0.01) for t in GRID]
    precise[-1] = precise[-1] * 2
    assert judge("slope", precise, GRID).statistic == pytest.approx(ordinary)


def test_only_the_top_decade(rng):
    samples = powers(rng, DECADES, 0.5)
    samples[0] = samples[0] * 100
    finding = judge("slope", samples, DECADES, window="top decade")
    assert finding.statistic == pytest.approx(0.5)
    samples[DECADES.index(1e5)] *= 2  # on the edge, and inside
    assert judge("slope", samples, DECADES, window="top decade").statistic < 0.4


def test_horizons_may_begin_at_1_and_be_1_apart(rng):
    horizons = (1.0, 2.0, 3.0)
    assert judge("slope", powers(rng, horizons, 0.5), horizons).statistic == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("claim", "verdict", "tags"),
    [
        ("at most", REPRODUCED, ("SIGN",)),
        ("at least", INCONCLUSIVE, ("SIGN", "PRE-ASYMPTOTIC")),
        ("equal", NOT_REPRODUCED, ("SIGN",)),
    ],
)
def test_slope_of_what_is_never_positive(claim, verdict, tags, rng):
    finding = judge("slope", [around(rng, -1, 1)] * 3, GRID, claim=claim)
    assert (finding.verdict, finding.tags) == (verdict, tags)
    noise = judge("slope", [around(rng, -0.1, 1)] * 3, GRID, claim=claim)
    assert noise.verdict == INCONCLUSIVE


def test_slope_of_what_is_sometimes_positive(rng):
    few = [around(rng, mean, 0.1) for mean in (-1, 2, 3)]
    finding = judge("slope", few, GRID)
    assert (finding.verdict, finding.tags) == (INCONCLUSIVE, ("SIGN",))
    for first in (around(rng, -1, 0.1), np.tile([-1.0, 1.0], 25)):
        finding = judge("slope", [first, *powers(rng, GRID, 0.7)], (1e2, *GRID))
        assert (finding.verdict, finding.tags) == (REPRODUCED, ("SIGN",))
        assert finding.statistic == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("successes", "claim", "verdict"),
    [
        (40, "at least", REPRODUCED),
        (27, "at least", INCONCLUSIVE),
        (10, "at least", NOT_REPRODUCED),
        (10, "at most", REPRODUCED),
        (40, "at most", NOT_REPRODUCED),
    ],
)
def test_verdicts_of_a_share(successes, claim, verdict):
    finding = judge("share", np.arange(50) < successes, claim=claim)
    assert finding.verdict == verdict
    assert finding.statistic == successes / 50
    # Clopper and Pearson's limits are quantiles of beta distributions
    assert finding.low == pytest.approx(stats.beta.ppf(0.01, successes, 51 - successes))
    assert finding.high == pytest.approx(stats.beta.ppf(0.99, successes + 1, 50 - successes))


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
    finding = judge("curve", samples, printed)
    assert (finding.verdict, finding.tags) == (verdict, tags)
    assert finding.p >= 1 / (n + 1)
    assert (finding.p == 1 / (n + 1)) == (factor > 1)
    assert (finding.statistic > finding.high) == (verdict == NOT_REPRODUCED)


def test_one_point_outside_is_a_curve_outside(rng):
    samples = rng.normal(size=(150, 6))
    printed = np.array([0, 0, 0, 7, 0, 0.0])
    finding = judge("curve", samples, printed)
    assert (finding.verdict, finding.also["worst point"]) == (NOT_REPRODUCED, 3)
    assert finding.also["printed"] == 7
    assert judge("curve", samples, printed, 5).verdict == REPRODUCED
    reading = [0, 0, 0, 5, 0, 0]
    assert judge("curve", samples, printed, reading).verdict == REPRODUCED


def test_rank_of_a_curve_by_leaving_one_out(rng):
    """Deviations from the others, in their standard deviations, rank the curves alike."""
    samples, printed = curves(rng, 60), curves(rng, 1)[0]
    pool = np.vstack([samples, printed])
    scores = []
    for k, curve in enumerate(pool):
        others = np.delete(pool, k, axis=0)
        scores.append(np.max(np.abs(curve - others.mean(0)) / others.std(0, ddof=1)))
    wanted = np.mean(np.array(scores) >= scores[-1])
    assert judge("curve", samples, printed).p == pytest.approx(wanted)


def test_a_number_is_a_curve_of_one_point(rng):
    sample = around(rng, 10, 2, 120)
    for printed, verdict in ((12, REPRODUCED), (2.5, NOT_REPRODUCED), (17.5, NOT_REPRODUCED)):
        assert judge("curve", sample, printed).verdict == verdict
    assert judge("curve", sample, 17.5, 3).verdict == REPRODUCED
    pool = np.append(sample, 12)
    inside = np.abs(sample - pool.mean()).max() / pool.std()
    assert judge("curve", sample, 12).high == pytest.approx(inside)
    last = sample[np.abs(sample - 10).argmax()]  # which deviates as much, but for rounding
    assert judge("curve", sample, last).p == pytest.approx(2 / 121)
    assert judge("curve", [3.0] * 99, 3.0).verdict == REPRODUCED
    assert judge("curve", [3.0] * 99, 3.1).verdict == NOT_REPRODUCED
    assert judge("curve", [3.0] * 98, 3.1).tags == ("UNDERPOWERED",)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])


def test_family():
    findings = {
        "strong": Finding(1, 1, 1, 9, 0.001, REPRODUCED),
        "weak": Finding(1, 1, 1, 9, 0.009, NOT_REPRODUCED, ("SIGN",)),
        "none": Finding(1, 1, 1, 9, 0.3, INCONCLUSIVE),
        "certain": Finding(1, 1, 1, 9, None, REPRODUCED),
    }
    corrected = within_family(findings, level=0.99)
    verdicts = [finding.verdict for finding in corrected.values()]
    assert verdicts == [REPRODUCED, INCONCLUSIVE, INCONCLUSIVE, REPRODUCED]
    assert corrected["strong"].p == pytest.approx(0.003)
    assert corrected["weak"].tags == ("SIGN", "HOLM")
    assert corrected["none"].tags == ()
    assert corrected["certain"] is findings["certain"]
    certain = {"certain": findings["certain"]}
    assert within_family(certain, level=0.99) == certain


def test_readings_with_the_same_finding_count_once():
    first, other = Finding(1, 1, 1, 9, 0.004, REPRODUCED), Finding(2, 1, 1, 9, 0.002, REPRODUCED)
    family = {("a", "first"): first, ("a", "second"): first, ("b", ""): other}
    corrected = within_family(family, level=0.99)
    assert [value.p for value in corrected.values()] == pytest.approx([0.004, 0.004, 0.004])
    # but two claims with the same finding are two
    family = {("a", ""): first, ("b", ""): first, ("c", ""): first}
    assert within_family(family, level=0.99)["a", ""].verdict == INCONCLUSIVE
    nothing = Finding(math.nan, -math.inf, math.inf, 9, 0.004, REPRODUCED)
    family = {("a", reading): replace(nothing) for reading in "xyz"}
    assert within_family(family, level=0.99)["a", "x"].verdict == REPRODUCED


def made(letter, p, n=9):
    verdict = {"R": REPRODUCED, "N": NOT_REPRODUCED, "I": INCONCLUSIVE}[letter]
    return Finding(1.0, 0.0, 2.0, n, p, verdict)


@pytest.mark.parametrize(
    ("rows", "how", "verdict", "p"),
    [
        ([("R", 0.001), ("R", 0.008)], "all", REPRODUCED, 0.008),
        ([("R", None), ("R", None)], "all", REPRODUCED, None),
        ([("R", None), ("R", 0.002)], "all", REPRODUCED, 0.002),
        ([("R", 0.001), ("I", 0.2)], "all", INCONCLUSIVE, 0.2),
        ([("R", 0.001), ("N", 1 - 0.99)], "all", NOT_REPRODUCED, 0.01),
        ([("I", 0.3), ("N", 0.004)], "all", NOT_REPRODUCED, 0.008),
        ([("I", 0.3), ("I", 0.4), ("N", 0.009)], "all", INCONCLUSIVE, 0.4),
        ([("R", 0.001), ("N", None)], "all", NOT_REPRODUCED, None),
        ([("R", None), ("N", None)], "all", NOT_REPRODUCED, None),
        ([("N", 0.001), ("N", 0.008)], "any", NOT_REPRODUCED, 0.008),
        ([("N", 0.001), ("R", 0.001)], "any", REPRODUCED, 0.002),
        ([("I", 0.3), ("R", 0.004)], "any", REPRODUCED, 0.008),
        ([("N", 0.001), ("I", 0.3)], "any", INCONCLUSIVE, 0.3),
    ],
)
def test_claims_with_several_findings(rows, how, verdict, p):
    combined = combine([made(*row) for row in rows], how=how, level=0.99)
    assert combined.verdict == verdict
    assert combined.p == (None if p is None else pytest.approx(p))


def test_how_many_cases_are_sure_at_once():
    sure = [0.0, 0.001, 0.004, 0.009, 1.0]
    assert [holm_count(sure[:n], 0.99) for n in range(1, 6)] == [1, 2, 3, 4, 2]
    assert holm_count([0.009, 0.009], 0.99) == 0


def test_one_finding_is_the_claims():
    for letter, p in (("R", 0.001), ("N", 0.001), ("R", None), ("N", None)):
        finding = made(letter, p)
        for how in ("all", "any"):
            assert combine([finding], how=how, level=0.99) == finding


def test_a_refutation_that_does_not_stand_says_so():
    rows = [made("N", 0.009), *[made("R", 0.3 / k, n=7) for k in range(1, 3)]]
    combined = combine(rows, how="all", level=0.99)
    assert (combined.verdict, combined.tags, combined.n) == (INCONCLUSIVE, ("HOLM",), 9)


TEN = [float(k) for k in range(10)]
REFUSED = [
    ("exact", [np.array([], int)], {}, "at least 1"),
    ("exact", [np.array([0.0])], {}, "whole numbers"),
    ("exact", [[math.nan]], {"tolerance": 1e-9}, "values must be finite"),
    ("exact", [[1.0], math.inf], {"tolerance": 1e-9}, "scale"),
    ("exact", [[1.0]], {"tolerance": -1}, "tolerance must be at least 0"),
    ("exact", [1.0, 1, "about 1"], {}, "printed must be a number"),
    ("exact", [1.0, 1, 1.0], {}, "printed must be a number"),
    ("exact", [1.0, 1, "nan"], {}, "printed must be a number"),
    ("exact", [math.nan, 1, "1"], {}, "values must be finite"),
    ("mean", [[], 1], {}, "at least 2"),
    ("mean", [[1.0], 1], {}, "at least 2 entries, got 1"),
    ("mean", [TEN, math.nan], {}, "against must be finite"),
    ("mean", [[*TEN, math.inf], 1], {}, r"values must be finite, got inf at \[10\]"),
    ("mean", [["many", "more"], 1], {}, "values must be numbers"),
    ("mean", [TEN, [1, 2]], {}, "one entry per replicate"),
    ("mean", [TEN, 1], {"claim": "below"}, "claim must be one of"),
    ("mean", [TEN, 1], {"level": 1}, "level must be"),
    ("mean", [TEN, 1], {"level": 0.01}, "level must be"),
    ("mean", [[1.0, 3.0], 1, 0, 2], {}, "the most possible, got 3"),
    ("mean", [[1.0, 3.0], 1, 2], {}, "the least possible, got 1"),
    ("mean", [np.ones((10, 2)), [1, 1]], {"most": [1]}, "one entry per point"),
    ("mean", [np.ones((10, 2)), [1, 1]], {"most": 0}, "most possible"),
    ("mean", [np.ones((10, 2)), [1]], {}, "one entry per point"),
    ("mean", [np.ones((10, 2)), np.ones((10, 3))], {}, "one entry per point"),
    ("mean", [TEN, TEN], {"materiality": 1}, "materiality"),
    ("mean", [TEN, TEN], {"ratio": (0.5, 2)}, "margins of a claim of equal"),
    ("mean", [TEN, TEN[:9]], EQUAL, "one entry per replicate"),
    ("mean", [np.ones((10, 2)), TEN], EQUAL, "choose a round, and an arm"),
    ("mean", [TEN, TEN], EQUAL | {"ratio": (2, 3)}, "around 1"),
    ("mean", [TEN, TEN], EQUAL | {"difference": (-1, 1)}, "not both"),
    ("mean", [TEN, TEN], {"claim": "equal"}, "either ratio or difference"),
    ("mean", [TEN, TEN], {"claim": "equal", "difference": (1, 2)}, "around 0"),
    ("slope", [[TEN] * 2, GRID], {}, "one entry per horizon"),
    ("slope", [[TEN, TEN, TEN[:9]], GRID], {}, "values at 100000 must have at least 10"),
    ("slope", [[TEN] * 3, GRID[::-1]], {}, "increase"),
    ("slope", [[TEN] * 3, (0, *GRID[1:])], {}, "horizons must be above 0"),
    ("slope", [[TEN] * 3, GRID], {"window": "top decade"}, "at least 3"),
    ("slope", [[TEN] * 3, GRID], {"claim": "about"}, "claim must be one of"),
    ("slope", [[TEN] * 3, GRID], {"margin": -1}, "margin"),
    ("share", [[]], {}, "not empty"),
    ("share", [[0, 2]], {}, "true and false"),
    ("share", [[True]], {"limit": 2}, "limit must be in"),
    ("curve", [np.ones((10, 2)), [1]], {}, "one entry per point"),
    ("curve", [np.ones((9, 2)), [1, 1]], {}, "at least 10"),
    ("curve", [np.ones((10, 2)), [1, 1], -1], {}, "within must be at least 0"),
]


@pytest.mark.parametrize(
    ("name", "data", "changes", "message"),
    REFUSED,
    ids=[f"{row[0]}-{k}" for k, row in enumerate(REFUSED)],
)
def test_bad_input_is_no_verdict(name, data, changes, message):
    with pytest.raises(ValueError, match=message) as error:
        judge(name, *data, **changes)
    assert "\n" not in str(error.value)


def test_findings_know_their_words():
    with pytest.raises(ValueError, match="verdict must be one of"):
        Finding(1, 1, 1, 1, None, "true")
    with pytest.raises(ValueError, match="tag must be one of"):
        Finding(1, 1, 1, 1, None, REPRODUCED, ("LOSE",))


@pytest.mark.parametrize("unit", [1e-90, 1, 1e90])
def test_few_replicates_that_carry_the_variance_are_rare(unit):
    assert mean_test(np.array([0.0] * 39 + [unit]), unit / 2, 0.99).rare
    assert not mean_test(np.arange(40.0) * unit, unit / 2, 0.99).rare


@pytest.mark.parametrize("n", [3, 4, 7, 60])
def test_skewness_by_l_moments_is_that_of_scipy(n):
    sample = np.random.default_rng(n).exponential(size=n)
    assert l_skewness(sample) == pytest.approx(stats.lmoment(sample, order=3), abs=1e-12)
    assert np.isnan(l_skewness(sample[:2]))


def test_vocabulary():
    assert set(SETTINGS) == set(PROCEDURES)
    assert all(set(settings) <= {*settings_of(name)} for name, settings in SETTINGS.items())

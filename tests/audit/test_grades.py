"""What a finding is worth: controls, grades, and how many replicates it would need."""

import math
from dataclasses import replace

import numpy as np
import pytest

import real
from fairbandits.audit.finding import GRADES, INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding
from fairbandits.audit.grades import fails, replicates_needed, weakest, weighed
from fairbandits.audit.limits import mean_test
from fairbandits.audit.means import mean
from fairbandits.audit.planning import power_of_mean
from fairbandits.audit.procedures import PROCEDURES
from fairbandits.claims import n_for
from fairbandits.data.texts import csv_rows
from fairbandits.settings.schemas import ROOT


def asked():
    """Yield all tests of the claims, on a tiny run."""
    for key in real.every():
        yield from real.asked(key)


def of_procedure(name, **settings):
    """Return a test of the claims that reads runs."""
    return next(
        test
        for test in asked()
        if test.procedure == name and not test.given and settings.items() <= test.settings.items()
    )


BOUND = of_procedure("mean", claim="at most")
LARGER = of_procedure("mean", claim="at least")
GROWTH = of_procedure("slope")
#: Settings of a mean that should be at most a number, and of others.
AT_MOST = {"claim": "at most", "level": 0.99}
RATE = AT_MOST | {"exponent": 0.5, "margin": 0.1, "asymptotic": True}
RATIO = {"claim": "equal", "ratio": (0.5, 2), "level": 0.99}
GIVEN = next(test for test in asked() if test.given)


def made(verdict=REPRODUCED, *tags, value=1.0, **also):
    return Finding(value, 0.0, 2.0, 32, 0.001, verdict, tags, also)


NO = made(NOT_REPRODUCED)


@pytest.mark.parametrize(
    ("test", "finding", "control", "grade"),
    [
        (BOUND, made(), NO, "measured"),
        (BOUND, made(), None, "consistent"),
        (BOUND, made(value=-0.5), made(INCONCLUSIVE), "consistent"),
        (BOUND, made(tightness=0.05), NO, "consistent"),
        (GROWTH, made(), NO, "consistent"),
        (BOUND, made(REPRODUCED, "THIN"), NO, "consistent"),
        (BOUND, made(NOT_REPRODUCED), None, "measured"),
        (BOUND, made(NOT_REPRODUCED, "THIN"), None, "consistent"),
        (BOUND, made(NOT_REPRODUCED), made(), "measured"),
        (of_procedure("exact"), made(NOT_REPRODUCED), None, "exact"),
        (GIVEN, made(), None, "exact"),
        (BOUND, made(INCONCLUSIVE), NO, ""),
    ],
)
def test_grades(test, finding, control, grade):
    judged = weighed(test, finding, control, {})
    assert (judged.verdict, judged.grade, judged.tags) == (finding.verdict, grade, finding.tags)
    assert judged.control == (control.verdict if control else "")


def test_what_the_control_passes_too_supports_nothing():
    judged = weighed(BOUND, made(), made(), {})
    assert (judged.verdict, judged.tags) == (INCONCLUSIVE, ("TRIVIAL",))
    assert (judged.p, judged.grade) == (1.0, "")


@pytest.mark.parametrize(
    "finding",
    [
        *(made(tightness=0.005), made(tightness=-3.0), made(REPRODUCED, "CONSTANT")),
        made(REPRODUCED, "SIGN", value=np.nan),
    ],
)
def test_what_could_not_have_failed_supports_nothing(finding):
    judged = weighed(BOUND, finding, None, None)
    assert (judged.verdict, judged.tags[-1]) == (INCONCLUSIVE, "VACUOUS")
    # unless the control fails, which shows that it could have
    assert weighed(BOUND, finding, NO, {}).verdict == REPRODUCED


@pytest.mark.parametrize(
    ("centre", "against", "value", "failed"),
    [
        *((0.9, 1, None, False), (1.1, 1, None, True)),
        # two policies that are the same one differ by chance; an effect that is larger stays
        *((0.1, 0, None, True), (-0.1, 0, None, False), (0.1, 0, -5, True), (-0.1, 0, -5, True)),
    ],
)
def test_a_control_that_cannot_decide_fails_by_its_estimate(centre, against, value, failed):
    data = {"values": centre + np.linspace(-3, 3, 40), "against": float(against)}
    control = mean(*data.values(), **AT_MOST)
    assert control.verdict == INCONCLUSIVE
    finding = made(value=control.statistic if value is None else value)
    assert fails(BOUND, finding, control, data) is failed


@pytest.mark.parametrize(("value", "failed"), [(0.9, False), (1.1, True)])
def test_a_control_with_one_value_in_all_runs_fails_by_that(value, failed):
    data = {"values": [value] * 40, "against": 1.0, "most": 2.0}
    control = mean(**data, **AT_MOST)
    assert control.verdict == INCONCLUSIVE
    judged = weighed(BOUND, made(value=0.5), control, data)
    expected = (NOT_REPRODUCED, "measured") if failed else (INCONCLUSIVE, "")
    assert (judged.control, judged.grade) == expected


def test_a_difference_of_0_in_all_runs_is_none():
    control = made(INCONCLUSIVE, "CONSTANT", "RARE", value=0.0)
    control = replace(control, low=-np.inf, high=np.inf)
    judged = weighed(LARGER, made(value=1.0), control, {})
    assert (judged.control, judged.grade) == (NOT_REPRODUCED, "measured")


def test_the_weakest_of_several():
    assert weakest(reversed(GRADES)) == "consistent"
    assert weakest(["exact", "measured"]) == "measured"
    assert weakest([]) == ""


def test_each_measured_verdict_changes_under_its_control():
    deciding = [row for row in csv_rows(ROOT / "audit" / "findings.csv") if row["decides"] == "yes"]
    reproduced = [row for row in deciding if row["verdict"] == "reproduced"]
    measured = [row["control"] for row in reproduced if row["grade"] == "measured"]
    assert len(measured) > 50
    assert set(measured) == {"not reproduced"}
    # and what a control passes is reproduced nowhere
    assert "reproduced" not in {row["control"] for row in reproduced}


def rate(procedure, draw, settings, verdict, trials=500):
    """Return how often a procedure gives a verdict."""
    judge = PROCEDURES[procedure]
    return np.mean([judge(*draw(), **settings).verdict == verdict for _ in range(trials)])


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "verdict"), [(0.6, REPRODUCED), (1.3, NOT_REPRODUCED)])
def test_power_of_a_bound(mean, verdict, rng):
    pilot = rng.normal(size=200)
    pilot = mean + (pilot - pilot.mean()) / pilot.std(ddof=1)
    finding = PROCEDURES["mean"](pilot, 1, **AT_MOST)
    n = int(replicates_needed("mean", AT_MOST, finding))
    wanted = ((2.326 + 1.2816) / (mean - 1)) ** 2
    assert wanted <= n < 1.3 * wanted
    share = rate("mean", lambda: (rng.normal(mean, 1, n), 1), AT_MOST, verdict)
    assert abs(share - 0.9) < 0.06


@pytest.mark.parametrize("skewness", [0, 1, 2, -2])
def test_the_power_is_as_planned(skewness, rng):
    n, trials = n_for(0.5, 1, skewness), 400
    if skewness:
        shape = 4 / skewness**2
        samples = np.sign(skewness) * (rng.gamma(shape, size=(trials, n)) / shape - 1)
        samples *= np.sqrt(shape)
    else:
        samples = rng.normal(size=(trials, n))
    share = sum(mean_test(sample, 0.5, 0.99).below <= 0.01 for sample in samples) / trials
    assert share == pytest.approx(0.95, abs=0.035)
    assert power_of_mean(n, 0.5, skewness, 0.99) >= 0.95
    assert power_of_mean(n - 1, 0.5, skewness, 0.99) < 0.95


def test_more_is_needed_for_what_is_small_skewed_or_wanted_surely():
    least = n_for(0.4, 1)
    assert n_for(4, 10) == least < min(n_for(0.3, 1), n_for(0.4, 1, 1), n_for(0.4, 1, power=0.99))
    assert n_for(0.4, 1, level=0.9975) > least > n_for(0.4, 1, -1)
    assert (n_for(5, 1), n_for(5, 1, 1.5)) == (32, 64)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"effect": 0}, "above 0"),
        ({"sd": -1}, "above 0"),
        ({"skewness": 2.1}, "at most 2"),
        ({"level": 1}, "level must be"),
        ({"power": 1}, "power must be"),
        ({"effect": 1e-9}, "more than"),
    ],
)
def test_what_no_number_answers_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        n_for(**{"effect": 1, "sd": 1} | changes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "claim", "limit", "verdict"),
    [
        (0.7, "at least", 0.5, REPRODUCED),
        (0.7, "at most", 0.5, NOT_REPRODUCED),
        (0.02, "at most", 0.1, REPRODUCED),
    ],
)
def test_power_of_a_proportion(share, claim, limit, verdict, rng):
    settings = {"claim": claim, "limit": limit, "level": 0.99}
    finding = Finding(share, 0, 1, 50, 0.5, INCONCLUSIVE)
    n = int(replicates_needed("share", settings, finding))

    def draws(n):
        return lambda: (rng.uniform(size=n) < share,)

    assert rate("share", draws(n), settings, verdict) == pytest.approx(0.92, abs=0.06)
    assert rate("share", draws(n * 2 // 3), settings, verdict) < 0.85


@pytest.mark.parametrize(
    ("procedure", "settings", "estimate", "least", "most"),
    [
        ("share", {"claim": "at least", "limit": 0.5, "level": 0.99}, (1, 0, 1), 7, 7),  # 0.5^n
        ("share", AT_MOST | {"limit": 0.5}, (0.5, 0, 1), math.inf, math.inf),
        ("mean", AT_MOST, (1, 0.5, 1.5), math.inf, math.inf),
        ("mean", AT_MOST, (0.5, -math.inf, math.inf), math.inf, math.inf),
        ("mean", RATIO, (1.9, 1.5, 2.3), 501, 10**6),
        # a slope beyond the rate of a limit is not decided by more replicates; other claims are
        ("slope", RATE, (0.8, 0.7, 0.9), math.inf, math.inf),
        ("slope", RATE, (0.5, 0.3, 0.7), 21, 399),
        ("slope", RATE | {"asymptotic": False}, (0.8, 0.7, 0.9), 1, 19),
        ("slope", RATE | {"claim": "equal"}, (0.8, 0.7, 0.9), 1, 19),
    ],
)
def test_replicates_that_decide_an_estimate(procedure, settings, estimate, least, most):
    finding = Finding(*estimate, 20, 0.5, INCONCLUSIVE, (), {"limit": 1.0})
    assert least <= replicates_needed(procedure, settings, finding) <= most
    assert replicates_needed("exact", {}, finding) is None

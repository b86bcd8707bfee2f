"""What a finding is worth: controls, grades, and how many replicates it would need."""

import math
from dataclasses import replace

import numpy as np
import pytest

import real
from fairbandits.audit.finding import GRADES, INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding
from fairbandits.audit.grades import fails, replicates_needed, weakest, weighed
from fairbandits.audit.means import mean
from fairbandits.audit.procedures import PROCEDURES
from fairbandits.data.texts import csv_rows
from fairbandits.settings.schemas import ROOT

#: All tests of the claims, on a tiny run.
ASKED = {(one.claim, one.test): one for own in real.asked().values() for one in own}


def of_procedure(name, **settings):
    """Return a test of the claims that reads runs."""
    return next(
        one
        for one in ASKED.values()
        if one.procedure == name and not one.given and settings.items() <= one.settings.items()
    )


BOUND = of_procedure("mean", claim="at most")
LARGER = of_procedure("mean", claim="at least")
GROWTH = of_procedure("slope")
GIVEN = next(one for one in ASKED.values() if one.given)


def found(verdict=REPRODUCED, *tags, value=1.0, **also):
    return Finding(value, 0.0, 2.0, 32, 0.001, verdict, tags, also)


NO = found(NOT_REPRODUCED)


@pytest.mark.parametrize(
    ("test", "finding", "control", "grade"),
    [
        (BOUND, found(), NO, "measured"),
        (BOUND, found(), None, "consistent"),
        (BOUND, found(value=-0.5), found(INCONCLUSIVE), "consistent"),
        (BOUND, found(tightness=0.05), NO, "consistent"),
        (GROWTH, found(), NO, "consistent"),
        (BOUND, found(REPRODUCED, "THIN"), NO, "consistent"),
        (BOUND, found(NOT_REPRODUCED), None, "measured"),
        (BOUND, found(NOT_REPRODUCED, "THIN"), None, "consistent"),
        (BOUND, found(NOT_REPRODUCED), found(), "measured"),
        (of_procedure("exact"), found(NOT_REPRODUCED), None, "exact"),
        (GIVEN, found(), None, "exact"),
        (BOUND, found(INCONCLUSIVE), NO, ""),
    ],
)
def test_grades(test, finding, control, grade):
    one = weighed(test, finding, control, {})
    assert (one.verdict, one.grade, one.tags) == (finding.verdict, grade, finding.tags)
    assert one.control == (control.verdict if control else "")


def test_what_the_control_passes_too_supports_nothing():
    one = weighed(BOUND, found(), found(), {})
    assert (one.verdict, one.tags, one.p, one.grade) == (INCONCLUSIVE, ("TRIVIAL",), 1.0, "")


@pytest.mark.parametrize(
    "finding",
    [
        *(found(tightness=0.005), found(tightness=-3.0), found(REPRODUCED, "CONSTANT")),
        found(REPRODUCED, "SIGN", value=np.nan),
    ],
)
def test_what_could_not_have_failed_supports_nothing(finding):
    one = weighed(BOUND, finding, None, None)
    assert (one.verdict, one.tags[-1]) == (INCONCLUSIVE, "VACUOUS")
    # unless the control fails, which shows that it could have
    assert weighed(BOUND, finding, NO, {}).verdict == REPRODUCED


@pytest.mark.parametrize(("centre", "failed"), [(0.9, False), (1.1, True)])
def test_a_control_that_cannot_decide_fails_by_its_estimate(centre, failed):
    sample = centre + np.linspace(-3, 3, 40)
    data = {"values": sample, "against": 1.0}
    control = mean(sample, 1.0, claim="at most", level=0.99)
    assert control.verdict == INCONCLUSIVE
    assert fails(BOUND, found(value=control.statistic), control, data) is failed


def test_a_control_without_effect_fails_where_the_effect_is_larger():
    """Of two policies that are the same one, the difference is on either side of 0 by chance."""
    for sign in (1, -1):
        sample = sign * 0.1 + np.linspace(-3, 3, 40)
        data = {"values": sample, "against": 0.0}
        control = mean(sample, 0.0, claim="at most", level=0.99)
        assert control.verdict == INCONCLUSIVE
        assert fails(BOUND, found(value=-5.0), control, data)
        assert fails(BOUND, found(value=control.statistic), control, data) is (sign > 0)


@pytest.mark.parametrize(("value", "failed"), [(0.9, False), (1.1, True)])
def test_a_control_with_one_value_in_all_runs_fails_by_that(value, failed):
    control = mean([value] * 40, 1.0, claim="at most", level=0.99, most=2.0)
    assert control.verdict == INCONCLUSIVE
    data = {"values": [value] * 40, "against": 1.0, "most": 2.0}
    one = weighed(BOUND, found(value=0.5), control, data)
    expected = (NOT_REPRODUCED, "measured") if failed else (INCONCLUSIVE, "")
    assert (one.control, one.grade) == expected


def test_a_difference_of_0_in_all_runs_is_none():
    control = found(INCONCLUSIVE, "CONSTANT", "RARE", value=0.0)
    control = replace(control, low=-np.inf, high=np.inf)
    one = weighed(LARGER, found(value=1.0), control, {})
    assert (one.control, one.grade) == (NOT_REPRODUCED, "measured")


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


# ---------------------------------------------------- how many replicates are needed, simulated

#: Settings of a mean that should be at most a number.
AT_MOST = {"claim": "at most", "level": 0.99}


def simulated(procedure, draw, settings, verdict, trials=500):
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
    found = simulated("mean", lambda: (rng.normal(mean, 1, n), 1), AT_MOST, verdict)
    assert abs(found - 0.9) < 0.06


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
    found = simulated("share", lambda: (rng.uniform(size=n) < share,), settings, verdict)
    assert found == pytest.approx(0.92, abs=0.06)
    fewer = n * 2 // 3
    draw = lambda: (rng.uniform(size=fewer) < share,)  # noqa: E731
    assert simulated("share", draw, settings, verdict) < 0.85


def test_power_where_all_succeed():
    """0.5^n must be at most 0.01."""
    settings = {"claim": "at least", "limit": 0.5, "level": 0.99}
    finding = Finding(1.0, 0, 1, 3, 0.1, INCONCLUSIVE)
    assert replicates_needed("share", settings, finding) == 7


def test_power_without_an_answer():
    against = {"limit": 1.0}
    on = Finding(1.0, 0.5, 1.5, 20, 0.5, INCONCLUSIVE, (), against)
    assert replicates_needed("mean", AT_MOST, on) == math.inf
    endless = Finding(0.5, -math.inf, math.inf, 20, 1.0, INCONCLUSIVE, (), against)
    assert replicates_needed("mean", AT_MOST, endless) == math.inf
    exact = {"claim": "at most", "limit": 0.5, "level": 0.99}
    assert replicates_needed("share", exact, Finding(0.5, 0, 1, 9, 1, INCONCLUSIVE)) == (math.inf)
    assert replicates_needed("exact", {}, on) is None


def test_power_of_a_rate():
    """A slope beyond the rate of a limit is not decided by more replicates; other claims are."""
    rate = {"claim": "at most", "exponent": 0.5, "margin": 0.1, "level": 0.99, "asymptotic": True}
    steep = Finding(0.8, 0.7, 0.9, 20, 0.01, INCONCLUSIVE)
    flat = Finding(0.5, 0.3, 0.7, 20, 0.1, INCONCLUSIVE)
    assert replicates_needed("slope", rate, steep) == math.inf
    assert 20 < replicates_needed("slope", rate, flat) < 400
    here = rate | {"asymptotic": False}
    assert replicates_needed("slope", here, steep) < 20
    equal = rate | {"claim": "equal"}
    assert replicates_needed("slope", equal, steep) < 20
    ratio = {"claim": "equal", "ratio": (0.5, 2), "level": 0.99}
    between = Finding(1.9, 1.5, 2.3, 20, 0.3, INCONCLUSIVE)
    assert replicates_needed("mean", ratio, between) > 500

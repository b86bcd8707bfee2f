"""How often each procedure is wrong where the truth is on its border (benchmarks/sizes.py).

The page's tables have all cases at length; here are those that a defect would show in soon.
"""

import re

import numpy as np
import pytest
from sizes import (
    AT_LEAST,
    CASES,
    LAWS,
    LEVEL,
    MANY,
    OF_MEANS,
    VERDICTS,
    means,
    rates,
    worst,
    written,
)

from fairbandits.audit.finding import REPRODUCED
from fairbandits.audit.multiplicity import combine, within_family
from fairbandits.audit.procedures import PROCEDURES

#: Hard cases of one mean.
HARD = [name for name, case in CASES.items() if not case.power and case.procedure == "mean"]


def allowed(simulations, level=LEVEL):
    """Return the nominal size and three standard errors of it."""
    return 1 - level + 3 * np.sqrt(level * (1 - level) / simulations)


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_size_in_hard_cases(name, rng):
    *sizes, _ = rates(CASES[name], CASES[name].border, rng, 200)
    assert max(sizes) <= allowed(200)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.power])
def test_size_and_power_are_not_off_by_a_factor(name, rng):
    """At 90 %, where some dozens of trials tell twice the nominal size from it."""
    case = CASES[name]
    *sizes, _ = rates(case, case.border, rng, 60, level=0.9)
    assert max(sizes) <= allowed(60, 0.9)
    power = (rates(case, getattr(case, which), rng, 10, level=0.9) for which in ("true", "false"))
    assert min(next(power)[0], next(power)[1]) >= 0.6


def test_the_table_has_all_cases_and_they_keep_their_level():
    rows = written()
    assert list(rows) == list(CASES)
    for name, row in rows.items():
        sizes = [float(number) / 100 for number in re.findall(r"[\d.]+", row.split("|")[3])]
        assert len(sizes) == 2
        assert max(sizes) <= allowed(1000) + 5e-4, name  # rounded


#: Law -> power in per cent that is required 5 standard errors away, by the number of replicates.
POWER = {
    **{law: {32: 90, 64: 95} for law in ("normal", "gamma, skewness 0.7", "gamma, skewness 1")},
    "exponential": {64: 90},
    "exponential, mirrored": {64: 90},
}


def test_limits_of_means_have_the_size_and_power_that_is_required():
    rows = written(OF_MEANS)
    assert list(rows) == list(LAWS)
    for law, wanted in POWER.items():
        cells = zip((16, 32, 64, 128), rows[law].split("|")[2:6], strict=True)
        shown = {n: [*map(float, re.findall(r"[\d.]+", cell))] for n, cell in cells}
        for n in (32, 64, 128):
            assert shown[n][0] <= 100 * allowed(MANY) + 0.05, (law, n)
        for n, power in wanted.items():
            assert shown[n][1] >= power, (law, n)


def test_the_worst_size_is_that_of_rare_large_values():
    size, where = worst()
    assert where.startswith("normal + ")
    assert f"| {size:g}, " in written(OF_MEANS)[where.partition(", n")[0]]


@pytest.mark.slow
def test_limits_of_means_as_in_the_table(rng):
    size, five, _ = means("gamma, skewness 1", 64, rng, 300)
    assert size <= allowed(300)
    assert five >= 0.92


@pytest.mark.slow
def test_families_have_a_wrong_verdict_no_more_often_than_said(rng):
    """Half of the claims lie on their borders, the others are clear."""
    judge, wrong = PROCEDURES["mean"], 0
    for _ in range(200):
        samples = {str(k): rng.normal(3.0 * (k % 2), 1, 50) for k in range(8)}
        findings = {key: judge(sample, 0, **AT_LEAST) for key, sample in samples.items()}
        corrected = within_family(findings, level=LEVEL)
        # on a border either verdict is wrong, so that each claim there has two chances
        wrong += any(corrected[str(k)].verdict == REPRODUCED for k in range(0, 8, 2))
        assert all(corrected[str(k)].verdict == REPRODUCED for k in range(1, 8, 2))
    assert wrong / 200 <= allowed(200)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["all", "any"])
def test_claims_of_several_tests_are_wrong_no_more_often_than_said(how, rng):
    """Each of five findings lies on its border."""
    judge, verdicts = PROCEDURES["mean"], []
    for _ in range(200):
        findings = [judge(rng.normal(size=20), 0, **AT_LEAST) for _ in range(5)]
        verdicts.append(combine(findings, how=how, level=LEVEL).verdict)
    assert max(verdicts.count(verdict) for verdict in VERDICTS) / 200 <= allowed(200)

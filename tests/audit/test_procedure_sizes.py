"""How often each procedure is wrong where the truth is on its border (benchmarks/sizes.py).

The page's table has all cases at length; here are those that a defect would show in soon.
"""

import re

import numpy as np
import pytest
from sizes import CASES, LEVEL, PAIRED, VERDICTS, T, arms, rates, written

from fairbandits.audit.finding import NOT_REPRODUCED, REPRODUCED
from fairbandits.audit.multiplicity import combine, within_family
from fairbandits.audit.procedures import PROCEDURES

#: Hard cases of which some hundred trials take a second or two.
QUICK = [
    name
    for name, case in CASES.items()
    if not case.power and case.procedure in ("bound", "paired_comparison", "equivalence")
]


def allowed(simulations, level=LEVEL):
    """Return the nominal size and three standard errors of it."""
    return 1 - level + 3 * np.sqrt(level * (1 - level) / simulations)


@pytest.mark.parametrize("name", QUICK)
def test_size_in_hard_cases(name, rng):
    *sizes, _ = rates(CASES[name], CASES[name].border, rng, 400)
    assert max(sizes) <= allowed(400)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.power])
def test_size_and_power_are_not_off_by_a_factor(name, rng):
    """At 90 %, where some dozens of trials tell twice the nominal size from it."""
    case, quick = CASES[name], {"level": 0.9, "level_against": 0.9, "resamples": 199}
    *sizes, _ = rates(case, case.border, rng, 60, **quick)
    assert max(sizes) <= allowed(60, 0.9)
    power = (rates(case, getattr(case, which), rng, 10, **quick) for which in ("true", "false"))
    assert min(next(power)[0], next(power)[1]) >= 0.6


def test_the_hard_cases_are_hard(rng):
    """Student's t alone would be wrong far more often than said; so would the worst arm in-sample.

    Without this the cases would show nothing.
    """
    from scipy import stats

    wrong = {}
    for name in QUICK:
        if CASES[name].procedure == "bound":
            draws = [CASES[name].draw(rng, 1) for _ in range(400)]
            with np.errstate(divide="ignore", invalid="ignore"):
                p = [stats.t.cdf(_score(*draw[:2]), len(draw[0]) - 1) for draw in draws]
            wrong[name] = np.mean(np.nan_to_num(p, nan=0) <= 1 - LEVEL)
    assert min(wrong.values()) > allowed(400), wrong
    judge = PROCEDURES["bound"]
    worst = [max(arms(rng, 0).T, key=np.mean) for _ in range(400)]
    assert np.mean([judge(one, 0, **T).verdict == NOT_REPRODUCED for one in worst]) > allowed(400)


def _score(sample, limit):
    return (sample.mean() - limit) / (sample.std(ddof=1) / np.sqrt(sample.size))


def test_the_table_has_all_cases_and_they_keep_their_level():
    rows = written()
    assert list(rows) == list(CASES)
    for name, row in rows.items():
        cells = row.split("|")
        sizes = [float(one) for one in re.findall(r"[\d.]+", cells[5])]
        assert len(sizes) == 2
        assert max(sizes) <= allowed(int(cells[2])) + 5e-4, name  # rounded


@pytest.mark.parametrize("runs", [1, 10])
def test_prediction_intervals_hold_what_comes(runs, rng):
    judge, settings = PROCEDURES["prediction_interval"], {"level": LEVEL, "reading_error": 0}
    verdicts = [
        judge(rng.normal(size=20), rng.normal(size=runs).mean(), runs=runs, **settings).verdict
        for _ in range(2000)
    ]
    assert abs(verdicts.count(NOT_REPRODUCED) / 2000 - 0.01) <= allowed(2000) - 0.01


def test_families_have_a_wrong_verdict_no_more_often_than_said(rng):
    """Half of the claims lie on their borders, the others are clear."""
    judge, wrong = PROCEDURES["paired_comparison"], 0
    for _ in range(200):
        means = {str(k): 3.0 if k % 2 else 0.0 for k in range(8)}
        findings = {key: judge(rng.normal(mean, 1, 50), 0, **PAIRED) for key, mean in means.items()}
        corrected = within_family(findings, level=LEVEL)
        # on a border either verdict is wrong, so that each claim there has two chances
        wrong += any(corrected[str(k)].verdict == REPRODUCED for k in range(0, 8, 2))
        assert all(corrected[str(k)].verdict == REPRODUCED for k in range(1, 8, 2))
    assert wrong / 200 <= allowed(200)


@pytest.mark.parametrize("how", ["all", "any"])
def test_claims_of_several_tests_are_wrong_no_more_often_than_said(how, rng):
    """Each of five findings lies on its border."""
    judge, verdicts = PROCEDURES["paired_comparison"], []
    for _ in range(200):
        findings = [judge(rng.normal(size=20), 0, **PAIRED) for _ in range(5)]
        verdicts.append(combine(findings, how=how, level=LEVEL).verdict)
    assert max(verdicts.count(one) for one in VERDICTS) / 200 <= allowed(200)

"""How often each procedure is wrong where the truth is on its border, and right beyond it.

On the border both verdicts are wrong, each with at most the nominal probability. The hard cases are
what means of a simulation are like at their worst: events in 2 or 3 % of the runs, heavy tails,
coupled pairs, bands with points that hardly vary, the worst of several arms. There a procedure must
keep its level or say that it cannot judge (RARE).

`python tests/audit/test_procedure_sizes.py` makes the table of docs/procedures.md again; with names
of cases it makes their rows only.
"""

import argparse
import re
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from fairbandits.audit.finding import NOT_REPRODUCED, REPRODUCED, Finding
from fairbandits.audit.multiplicity import combine, within_family
from fairbandits.audit.procedures import PROCEDURES
from fairbandits.audit.selection import held_out

LEVEL = 0.99
RESAMPLES = 2000
SIMULATIONS = 1000
#: Of procedures that resample, which take a hundred times as long; the page's table has more.
QUICK_SIMULATIONS, QUICK_RESAMPLES = 200, 499
#: On the alternatives, where a rough number will do.
FEWER = 100
GRID = (1e3, 1e4, 1e5)
DECADE = np.geomspace(1e5, 1e6, 6)
DECADES = np.geomspace(1e4, 1e6, 7)
GROWTH = {"level": LEVEL, "clustered": False, "resamples": RESAMPLES}
EXPONENT = GROWTH | {
    "claim": "at most",
    "exponent": 0.5,
    "margin": 0,
    "fit": "weighted",
    "of": "T",
    "window": "all",
    "points": 3,
    "loose": 0.1,
    "asymptotic": False,
}
PAGE = Path(__file__).parents[2] / "docs" / "procedures.md"
MARKS = ("<!-- sizes -->\n", "<!-- end of sizes -->\n")


class Case(NamedTuple):
    """A procedure, data with a truth (on the border, claim true, claim false), and settings.

    `power` is what is demanded of both alternatives; none of the hard cases, in which it is often
    right not to judge.
    """

    procedure: str
    draw: object
    border: float
    true: float
    false: float
    settings: dict
    power: float = 0.0


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


def events(rng, mean, n, share, method_size="equal"):
    """Return samples that are 0 but in a share of replicates."""
    size = np.ones(n) if method_size == "equal" else rng.exponential(size=n)
    return mean * (rng.uniform(size=n) < share) / share * size


def heavy(rng, mean, size, sigma=1.5):
    """Return lognormal samples."""
    return mean * np.exp(sigma * rng.normal(size=size) - sigma**2 / 2)


def coupled(rng, difference, n=100):
    """Return pairs that are equal nine times of ten, and differ by a skewed amount else."""
    common = rng.normal(size=n)
    apart = (rng.uniform(size=n) < 0.1) * (rng.exponential(size=n) - 1 + 10 * difference)
    return common + apart, common


def uneven(rng, mean, n=100):
    """Return correlated columns: heavy tails, events in 3 %, and one that hardly varies."""
    common = rng.normal(size=(n, 1))
    tails = mean * np.exp(0.7 * (common + rng.normal(size=(n, 2))) - 0.49)
    still = np.full((n, 1), 0.5) + 1e-6 * rng.normal(size=(n, 1))
    return np.hstack([tails, events(rng, mean, n, 0.03)[:, None], still]), np.ones(4)


def arms(rng, mean, n=100):
    """Return five arms with the same mean, of runs that share something."""
    return mean + (rng.normal(size=(n, 1)) + rng.normal(size=(n, 5))) / np.sqrt(2)


def late_events(rng, exponent, n=100):
    """Return samples of which those at the last horizon are 0 but in 5 % of the runs."""
    first = [t**exponent * rng.gamma(4, 0.25, size=n) for t in GRID[:2]]
    return GRID, [*first, events(rng, GRID[-1] ** exponent, n, 0.05)]


BOUND = {"side": "at most", "level": LEVEL}
T, BCA, BOOT = (
    BOUND | {"method": method, "resamples": RESAMPLES} for method in ("t", "bca", "bootstrap-t")
)
EVERYWHERE = {"level": LEVEL, "resamples": RESAMPLES}
PAIRED = {"level": LEVEL, "materiality": 0, "method": "t"}
CASES = {
    "bound, t, normal, n = 30": Case(
        "bound", lambda rng, m: (rng.normal(m, 1, 30), 1), 1, 0, 2, T, 0.8
    ),
    "bound, BCa, gamma, n = 100": Case(
        "bound", lambda rng, m: (m * rng.gamma(4, 0.25, 100), 1), 1, 0.8, 1.3, BCA, 0.8
    ),
    "bound, bootstrap-t, exponential, n = 50": Case(
        "bound", lambda rng, m: (m * rng.exponential(size=50), 1), 1, 0.4, 2, BOOT, 0.8
    ),
    "bounds everywhere, 4 points, n = 50": Case(
        "bound_everywhere", many, 0, -1, 1, EVERYWHERE, 0.8
    ),
    "bounded remainder, 7 horizons": Case(
        "bounded_remainder",
        remainder,
        1,
        0,
        12,
        GROWTH
        | {
            "level_against": LEVEL,
            "slack": 1,
            "slack_part": 0.1,
            "points": 6,
            "asymptotic": False,
        },
        0.8,
    ),
    "growth exponent, 3 horizons, n = 50": Case(
        "growth_exponent", powers, 0.5, 0.4, 0.6, EXPONENT, 0.8
    ),
    "growth exponent, exponential, n = 50 and 20": Case(
        "growth_exponent", few, 0.5, 0.3, 0.7, EXPONENT, 0.8
    ),
    "growth exponent, clustered": Case(
        "growth_exponent", walks, 0.5, 0.4, 0.6, EXPONENT | {"clustered": True}, 0.8
    ),
    "growth exponent, ordinary fit": Case(
        "growth_exponent", powers, 0.5, 0.4, 0.6, EXPONENT | {"fit": "ordinary"}, 0.8
    ),
    "growth exponent, at least": Case(
        "growth_exponent", powers, 0.5, 0.6, 0.4, EXPONENT | {"claim": "at least"}, 0.8
    ),
    "growth exponent, equal within 0.1": Case(
        "growth_exponent",
        powers,
        0.6,
        0.5,
        0.75,
        EXPONENT | {"claim": "equal", "margin": 0.1},
        0.8,
    ),
    "logarithmic growth": Case(
        "logarithmic_growth",
        lambda rng, a: powers(rng, a, DECADE),
        0.25,
        0.1,
        0.5,
        GROWTH | {"ceiling": 0.25, "refuted_above": 0.25, "points": 6, "asymptotic": False},
        0.8,
    ),
    "proportionality": Case(
        "proportionality",
        lambda rng, a: powers(rng, a, (1, 2, 4, 8)),
        1.2,
        1,
        1.5,
        GROWTH | {"inside": (0.8, 1.2), "outside": (0.8, 1.2)},
        0.8,
    ),
    "paired comparison, t, n = 50": Case("paired_comparison", pair, 0, 1, -1, PAIRED, 0.8),
    "equivalence, paired, n = 50": Case(
        "equivalence",
        lambda rng, ratio: (rng.normal(ratio, 0.3, 50), rng.normal(1, 0.3, 50)),
        2,
        1.2,
        2.8,
        {"ratio": (0.5, 2), "level": LEVEL, "paired": True},
        0.8,
    ),
    "equivalence, unpaired, n = 50 and 30": Case(
        "equivalence",
        lambda rng, ratio: (rng.normal(ratio, 0.3, 50), rng.normal(1, 0.3, 30)),
        0.5,
        1.2,
        0.1,
        {"ratio": (0.5, 2), "level": LEVEL, "paired": False},
        0.8,
    ),
    "equivalence, by the difference": Case(
        "equivalence",
        lambda rng, mean: (rng.normal(mean, 1, 50), rng.normal(0, 1, 50)),
        1,
        0,
        2.5,
        {"difference": (-1, 1), "level": LEVEL, "paired": False},
        0.8,
    ),
    "shape, two contrasts, n = 50": Case(
        "shape",
        lambda rng, m: (rng.normal((0, m, 0), 1, (50, 3)), [[-1, 1, 0], [0, 1, -1]]),
        0,
        1.5,
        -1.5,
        {"level": LEVEL},
        0.8,
    ),
    "spread comparison, n = 50": Case(
        "spread_comparison",
        lambda rng, ratio: (rng.normal(3, ratio, 50), rng.normal(size=50)),
        1,
        2.5,
        0.4,
        {"level": LEVEL, "resamples": RESAMPLES},
        0.8,
    ),
    "proportion, n = 50": Case(
        "proportion",
        lambda rng, share: (rng.uniform(size=50) < share,),
        0.5,
        0.8,
        0.2,
        {"side": "at least", "limit": 0.5, "level": LEVEL},
        0.8,
    ),
    "bound, t, events in 2 %, n = 30": Case(
        "bound", lambda rng, m: (events(rng, m, 30, 0.02), 1), 1, 0.1, 10, T
    ),
    "bound, t, events in 2 %, n = 100": Case(
        "bound", lambda rng, m: (events(rng, m, 100, 0.02), 1), 1, 0.1, 10, T
    ),
    "bound, t, events in 2 %, the most known, n = 300": Case(
        "bound", lambda rng, m: (events(rng, m, 300, 0.02), 1, 0, 50 * max(1, m)), 1, 0, 10, T
    ),
    "bound, BCa, events in 3 %, n = 100": Case(
        "bound", lambda rng, m: (events(rng, m, 100, 0.03), 1), 1, 0.1, 10, BCA
    ),
    "bound, bootstrap-t, events in 3 %, n = 100": Case(
        "bound", lambda rng, m: (events(rng, m, 100, 0.03), 1), 1, 0.1, 10, BOOT
    ),
    "bound, t, uneven events in 3 %, n = 100": Case(
        "bound", lambda rng, m: (events(rng, m, 100, 0.03, "uneven"), 1), 1, 0.1, 10, T
    ),
    "bound, t, uneven events in 10 %, n = 50": Case(
        "bound", lambda rng, m: (events(rng, m, 50, 0.1, "uneven"), 1), 1, 0.1, 10, T
    ),
    "bound, t, lognormal 1.5, n = 30": Case(
        "bound", lambda rng, m: (heavy(rng, m, 30), 1), 1, 0.1, 10, T
    ),
    "bound, t, lognormal 1.5, n = 100": Case(
        "bound", lambda rng, m: (heavy(rng, m, 100), 1), 1, 0.1, 10, T
    ),
    "bound, BCa, lognormal 1.5, n = 100": Case(
        "bound", lambda rng, m: (heavy(rng, m, 100), 1), 1, 0.1, 10, BCA
    ),
    "bound, bootstrap-t, lognormal 1.5, n = 50": Case(
        "bound", lambda rng, m: (heavy(rng, m, 50), 1), 1, 0.1, 10, BOOT
    ),
    "paired comparison, nine of ten tied, n = 100": Case(
        "paired_comparison", coupled, 0, 0.3, -0.3, PAIRED
    ),
    "equivalence, both 0 in 96 %, n = 100": Case(
        "equivalence",
        lambda rng, ratio: (events(rng, ratio, 100, 0.04), events(rng, 1, 100, 0.04)),
        2,
        1,
        20,
        {"ratio": (0.5, 2), "level": LEVEL, "paired": True},
    ),
    "bounds everywhere, uneven points, n = 100": Case(
        "bound_everywhere", uneven, 1, 0.2, 4, EVERYWHERE
    ),
    "bounds everywhere, lognormal 1.5, n = 100": Case(
        "bound_everywhere",
        lambda rng, m: (heavy(rng, m, (100, 4)), np.ones(4)),
        1,
        0.1,
        10,
        EVERYWHERE,
    ),
    "worst of five arms, all tested, n = 100": Case(
        "bound_everywhere", lambda rng, m: (arms(rng, m), np.zeros(5)), 0, -1, 1, EVERYWHERE, 0.8
    ),
    "worst of five arms, other half, n = 100": Case(
        "bound", lambda rng, m: (held_out(arms(rng, m))[1], 0), 0, -1, 1, T, 0.8
    ),
    "growth exponent, lognormal 1.5, n = 50": Case(
        "growth_exponent",
        lambda rng, a: (GRID, [heavy(rng, t**a, 50) for t in GRID]),
        0.5,
        0.0,
        1.0,
        EXPONENT,
    ),
    "growth exponent, late events in 5 %, n = 100": Case(
        "growth_exponent", late_events, 0.5, 0, 1.0, EXPONENT | {"fit": "ordinary"}
    ),
}
HARD = [name for name, case in CASES.items() if not case.power]
#: Of these some hundred trials take a second or two.
QUICK = [
    name
    for name in HARD
    if CASES[name].procedure in ("bound", "paired_comparison", "equivalence")
    and CASES[name].settings.get("method", "t") == "t"
]


def rates(case, truth, rng, simulations=SIMULATIONS):
    """Return how often a claim is reproduced, not reproduced, and not judged for being rare."""
    judge = PROCEDURES[case.procedure]
    settings = dict(case.settings)
    if "resamples" in settings:
        settings["rng"] = rng
    found = [judge(*case.draw(rng, truth), **settings) for _ in range(simulations)]
    counts = [sum(one.verdict == verdict for one in found) for verdict in VERDICTS]
    counts.append(sum("RARE" in one.tags and one.verdict not in VERDICTS for one in found))
    return [count / simulations for count in counts]


VERDICTS = (REPRODUCED, NOT_REPRODUCED)


def allowed(simulations, level=LEVEL):
    """Return the nominal size and three standard errors of it."""
    nominal = 1 - level
    return nominal + 3 * np.sqrt(nominal * (1 - nominal) / simulations)


@pytest.mark.parametrize("name", QUICK)
def test_size_in_hard_cases(name, rng):
    *sizes, _ = rates(CASES[name], CASES[name].border, rng, 400)
    assert max(sizes) <= allowed(400)


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


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_size_and_power(name, rng):
    case, simulations = CASES[name], SIMULATIONS
    if "resamples" in case.settings and case.settings.get("method") != "t":
        case = case._replace(settings=case.settings | {"resamples": QUICK_RESAMPLES})
        simulations = QUICK_SIMULATIONS
    *sizes, _ = rates(case, case.border, rng, simulations)
    assert max(sizes) <= allowed(simulations)
    if case.power:
        fewer = min(FEWER, simulations // 4)
        power = rates(case, case.true, rng, fewer)[0], rates(case, case.false, rng, fewer)[1]
        assert min(power) >= case.power


def test_the_table_has_all_cases_and_they_keep_their_level():
    rows = written()
    assert list(rows) == list(CASES)
    for name, row in rows.items():
        cells = row.split("|")
        simulations = int(cells[2])
        sizes = [float(one) for one in re.findall(r"[\d.]+", cells[5])]
        assert len(sizes) == 2
        assert max(sizes) <= allowed(simulations) + 5e-4, name  # rounded


def written():
    """Return the rows of the table as they stand in the page."""
    text = PAGE.read_text(encoding="utf-8")
    table = text[text.index(MARKS[0]) + len(MARKS[0]) : text.index(MARKS[1])]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return {line.split("|")[1].strip(): line for line in lines}


def row_of(name, simulations, resamples):
    """Return a case as a row of the table; seeded by its name."""
    case, rng = CASES[name], np.random.default_rng(zlib.crc32(name.encode()))
    drawn = "resamples" in case.settings and case.settings.get("method") != "t"
    if drawn:
        case = case._replace(settings=case.settings | {"resamples": resamples})
    *sizes, rare = rates(case, case.border, rng, simulations)
    true, *_ = rates(case, case.true, rng, FEWER)
    _, false, _ = rates(case, case.false, rng, FEWER)
    cells = [
        name,
        f"{simulations}",
        f"{resamples}" if drawn else "",
        f"{case.border:g}",
        f"{sizes[0]:.3f}, {sizes[1]:.3f}",
        f"{rare:.2f}",
        f"{case.true:g}, {case.false:g}",
        f"{true:.2f}, {false:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def write(rows):
    """Put rows into the page's table, in the order of the cases."""
    rows = written() | rows
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
    head = [
        "| case | simulations | resamples | border | wrongly reproduced, wrongly not "
        "| left open as RARE | alternatives: true, false | right there |",
        "|---|---|---|---|---|---|---|---|",
    ]
    table = "\n".join(head + [rows[name] for name in CASES if name in rows])
    PAGE.write_text(text[:start] + table + "\n" + text[end:], encoding="utf-8")


def main():
    """Simulate the cases named, or all, and write their rows."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("cases", nargs="*", help="names of cases, or what they begin with")
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    options = parser.parse_args()
    for name in CASES:
        if not options.cases or name.startswith(tuple(options.cases)):
            row = row_of(name, options.simulations, options.resamples)
            print(row, flush=True)
            write({name: row})


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
                rng.normal(mean, 1, 50), 0, level=LEVEL, materiality=0, method="t"
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


if __name__ == "__main__":
    main()

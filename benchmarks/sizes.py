"""How often each procedure is wrong where the truth is on its border, and right beyond it.

On the border both verdicts are wrong, each with at most the nominal probability. The hard cases are
what means of a simulation are like at their worst: events in 2 or 3 % of the runs, heavy tails,
coupled pairs, bands with points that hardly vary, the worst of several arms. There a procedure must
keep its level or say that it cannot judge (RARE).

`make sizes` makes the table of docs/procedures.md again; `python benchmarks/sizes.py` with names of
cases, or what they begin with, makes their rows only.
"""

import sys
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairbandits.audit.finding import NOT_REPRODUCED, REPRODUCED
from fairbandits.audit.limits import mean_test
from fairbandits.audit.procedures import PROCEDURES
from fairbandits.audit.selection import held_out

LEVEL, RESAMPLES = 0.99, 1000
#: Simulations of a case, and of one that resamples, which takes a hundred times as long.
SIMULATIONS, FEW = 1000, 300
#: Simulations of the alternatives, where a rough number will do.
FEWER = 100
#: Samples of each law and number of replicates.
MANY = 10_000
GRID = (1e3, 1e4, 1e5)
DECADE, DECADES = np.geomspace(1e5, 1e6, 6), np.geomspace(1e4, 1e6, 7)
VERDICTS = (REPRODUCED, NOT_REPRODUCED)
PAGE = Path(__file__).parents[1] / "docs" / "procedures.md"
MARKS = ("<!-- sizes -->\n", "<!-- end of sizes -->\n")
OF_MEANS = ("<!-- means -->\n", "<!-- end of means -->\n")


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


def pair(rng, difference):
    common = rng.normal(scale=10, size=50)
    return common + difference + rng.normal(size=50), common


def many(rng, mean):
    """Return correlated columns of which two are on the border when mean is 0."""
    common = rng.normal(size=(50, 1))
    return common + rng.normal(size=(50, 4)) + [mean, mean, -3, -3], np.zeros(4)


def events(rng, mean, n, share, even=True):
    """Return samples that are 0 but in a share of replicates."""
    size = np.ones(n) if even else rng.exponential(size=n)
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


def sampled(draw, *arguments):
    """Return a function that draws a sample of a mean, to be held against 1."""
    return lambda rng, mean: (draw(rng, mean, *arguments), 1)


RESAMPLED = {"level": LEVEL, "resamples": RESAMPLES}
T = {"side": "at most", "level": LEVEL}
PAIRED = {"level": LEVEL, "materiality": 0}
RATIO = {"ratio": (0.5, 2), "level": LEVEL, "paired": True}
DIFFERENCE = {"difference": (-1, 1), "level": LEVEL, "paired": False}
GROWTH = RESAMPLED | {"clustered": False}
LOGARITHM = GROWTH | {"ceiling": 0.25, "refuted_above": 0.25, "points": 6, "asymptotic": False}
PROPORTIONAL = GROWTH | {"inside": (0.8, 1.2), "outside": (0.8, 1.2)}
EXPONENT = GROWTH | {"claim": "at most", "exponent": 0.5, "margin": 0, "fit": "weighted"}
EXPONENT |= {"of": "T", "window": "all", "points": 3, "loose": 0.1, "asymptotic": False}
EQUAL = EXPONENT | {"claim": "equal", "margin": 0.1}
CASES = {
    "bound, normal, n = 30": Case(
        *("bound", lambda rng, m: (rng.normal(m, 1, 30), 1), 1, 0, 2, T, 0.8)
    ),
    "bounds everywhere, 4 points, n = 50": Case(
        *("bound_everywhere", many, 0, -1, 1, RESAMPLED, 0.8)
    ),
    "growth exponent, 3 horizons, n = 50": Case(
        *("growth_exponent", powers, 0.5, 0.4, 0.6, EXPONENT, 0.8)
    ),
    "growth exponent, exponential, n = 50 and 20": Case(
        *("growth_exponent", few, 0.5, 0.3, 0.7, EXPONENT, 0.8)
    ),
    "growth exponent, clustered": Case(
        *("growth_exponent", walks, 0.5, 0.4, 0.6, EXPONENT | {"clustered": True}, 0.8)
    ),
    "growth exponent, ordinary fit": Case(
        *("growth_exponent", powers, 0.5, 0.4, 0.6, EXPONENT | {"fit": "ordinary"}, 0.8)
    ),
    "growth exponent, at least": Case(
        *("growth_exponent", powers, 0.5, 0.6, 0.4, EXPONENT | {"claim": "at least"}, 0.8)
    ),
    "growth exponent, equal within 0.1": Case(
        *("growth_exponent", powers, 0.6, 0.5, 0.75, EQUAL, 0.8)
    ),
    "logarithmic growth": Case(
        *("logarithmic_growth", lambda rng, a: powers(rng, a, DECADE), 0.25, 0.1, 0.5),
        *(LOGARITHM, 0.8),
    ),
    "proportionality": Case(
        *("proportionality", lambda rng, a: powers(rng, a, (1, 2, 4, 8)), 1.2, 1, 1.5),
        *(PROPORTIONAL, 0.8),
    ),
    "paired comparison, n = 50": Case("paired_comparison", pair, 0, 1, -1, PAIRED, 0.8),
    "equivalence, paired, n = 50": Case(
        *("equivalence", lambda rng, r: (rng.normal(r, 0.3, 50), rng.normal(1, 0.3, 50))),
        *(2, 1.2, 2.8, RATIO, 0.8),
    ),
    "equivalence, unpaired, n = 50 and 30": Case(
        *("equivalence", lambda rng, r: (rng.normal(r, 0.3, 50), rng.normal(1, 0.3, 30))),
        *(0.5, 1.2, 0.1, RATIO | {"paired": False}, 0.8),
    ),
    "equivalence, by the difference": Case(
        *("equivalence", lambda rng, m: (rng.normal(m, 1, 50), rng.normal(0, 1, 50))),
        *(1, 0, 2.5, DIFFERENCE, 0.8),
    ),
    "shape, two contrasts, n = 50": Case(
        *("shape", lambda rng, m: (rng.normal((0, m, 0), 1, (50, 3)), [[-1, 1, 0], [0, 1, -1]])),
        *(0, 1.5, -1.5, {"level": LEVEL}, 0.8),
    ),
    "spread comparison, n = 50": Case(
        *("spread_comparison", lambda rng, r: (rng.normal(3, r, 50), rng.normal(size=50))),
        *(1, 2.5, 0.4, RESAMPLED, 0.8),
    ),
    "proportion, n = 50": Case(
        *("proportion", lambda rng, share: (rng.uniform(size=50) < share,), 0.5, 0.8, 0.2),
        *({"side": "at least", "limit": 0.5, "level": LEVEL}, 0.8),
    ),
    "bound, events in 2 %, n = 30": Case(*("bound", sampled(events, 30, 0.02), 1, 0.1, 10, T)),
    "bound, events in 2 %, n = 100": Case(*("bound", sampled(events, 100, 0.02), 1, 0.1, 10, T)),
    "bound, events in 2 %, the most known, n = 300": Case(
        *("bound", lambda rng, m: (events(rng, m, 300, 0.02), 1, 0, 50 * max(1, m)), 1, 0, 10, T)
    ),
    "bound, events in 3 %, n = 100": Case(*("bound", sampled(events, 100, 0.03), 1, 0.1, 10, T)),
    "bound, uneven events in 3 %, n = 100": Case(
        *("bound", sampled(events, 100, 0.03, False), 1, 0.1, 10, T)
    ),
    "bound, uneven events in 10 %, n = 50": Case(
        *("bound", sampled(events, 50, 0.1, False), 1, 0.1, 10, T)
    ),
    "bound, lognormal 1.5, n = 30": Case(*("bound", sampled(heavy, 30), 1, 0.1, 10, T)),
    "bound, lognormal 1.5, n = 100": Case(*("bound", sampled(heavy, 100), 1, 0.1, 10, T)),
    "paired comparison, nine of ten tied, n = 100": Case(
        *("paired_comparison", coupled, 0, 0.3, -0.3, PAIRED)
    ),
    "equivalence, both 0 in 96 %, n = 100": Case(
        *("equivalence", lambda rng, r: (events(rng, r, 100, 0.04), events(rng, 1, 100, 0.04))),
        *(2, 1, 20, RATIO),
    ),
    "bounds everywhere, uneven points, n = 100": Case(
        *("bound_everywhere", uneven, 1, 0.2, 4, RESAMPLED)
    ),
    "bounds everywhere, lognormal 1.5, n = 100": Case(
        *("bound_everywhere", lambda rng, m: (heavy(rng, m, (100, 4)), np.ones(4))),
        *(1, 0.1, 10, RESAMPLED),
    ),
    "worst of five arms, all tested, n = 100": Case(
        *("bound_everywhere", lambda rng, m: (arms(rng, m), np.zeros(5)), 0, -1, 1),
        *(RESAMPLED, 0.8),
    ),
    "worst of five arms, other half, n = 100": Case(
        *("bound", lambda rng, m: (held_out(arms(rng, m))[1], 0), 0, -1, 1, T, 0.8)
    ),
    "growth exponent, lognormal 1.5, n = 50": Case(
        *("growth_exponent", lambda rng, a: (GRID, [heavy(rng, t**a, 50) for t in GRID])),
        *(0.5, 0, 1, EXPONENT),
    ),
    "growth exponent, late events in 5 %, n = 100": Case(
        *("growth_exponent", late_events, 0.5, 0, 1, EXPONENT | {"fit": "ordinary"})
    ),
}


#: Laws of replicates whose mean is bounded from above: draw, mean and standard deviation.
LAWS = {
    "normal": (lambda rng, size: rng.normal(size=size), 0, 1),
    "gamma, skewness 0.7": (lambda rng, size: rng.gamma(8.163, size=size), 8.163, 8.163**0.5),
    "gamma, skewness 1": (lambda rng, size: rng.gamma(4, size=size), 4, 2),
    "exponential": (lambda rng, size: rng.exponential(size=size), 1, 1),
    "exponential, mirrored": (lambda rng, size: -rng.exponential(size=size), -1, 1),
    **{
        f"lognormal {sigma}": (
            lambda rng, size, sigma=sigma: rng.lognormal(sigma=sigma, size=size),
            np.exp(sigma**2 / 2),
            np.sqrt(np.expm1(sigma**2)) * np.exp(sigma**2 / 2),
        )
        for sigma in (0.7, 1, 1.5)
    },
}
COUNTS = (16, 32, 64, 128)


def means(law, n, rng, simulations):
    """Return a bound's size, and its power 5 and 7 standard errors away."""
    draw, mean, spread = LAWS[law]
    tests = [mean_test(draw(rng, n), mean, LEVEL) for _ in range(simulations)]
    highs = np.array([one.high for one in tests])
    return [float((highs < mean + k * spread / np.sqrt(n)).mean()) for k in (0, 5, 7)]


def row_of_means(law):
    """Return a law as a row of the table of means; seeded by its name."""
    rng = np.random.default_rng(zlib.crc32(law.encode()))
    found = (means(law, n, rng, MANY) for n in COUNTS)
    cells = (
        f"{100 * size:.1f}, {100 * five:.0f}, {100 * seven:.0f}" for size, five, seven in found
    )
    return f"| {law} | " + " | ".join(cells) + " |"


def rates(case, truth, rng, simulations=SIMULATIONS, **other):
    """Return how often a claim is reproduced, not reproduced, and not judged for being rare."""
    settings = case.settings | {name: one for name, one in other.items() if name in case.settings}
    if "resamples" in settings:
        settings["rng"] = rng
    judge = PROCEDURES[case.procedure]
    found = [judge(*case.draw(rng, truth), **settings) for _ in range(simulations)]
    counts = [sum(one.verdict == verdict for one in found) for verdict in VERDICTS]
    counts.append(sum("RARE" in one.tags and one.verdict not in VERDICTS for one in found))
    return [count / simulations for count in counts]


def written(marks=MARKS):
    """Return the rows of a table as they stand in the page."""
    text = PAGE.read_text(encoding="utf-8")
    table = text[text.index(marks[0]) + len(marks[0]) : text.index(marks[1])]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return {line.split("|")[1].strip(): line for line in lines}


def row_of(name):
    """Return a case as a row of the table; seeded by its name."""
    case, rng = CASES[name], np.random.default_rng(zlib.crc32(name.encode()))
    drawn = "resamples" in case.settings
    simulations = FEW if drawn else SIMULATIONS
    *sizes, rare = rates(case, case.border, rng, simulations)
    true, *_ = rates(case, case.true, rng, FEWER)
    _, false, _ = rates(case, case.false, rng, FEWER)
    cells = [
        name,
        f"{simulations}",
        f"{RESAMPLES}" if drawn else "",
        f"{case.border:g}",
        f"{sizes[0]:.3f}, {sizes[1]:.3f}",
        f"{rare:.2f}",
        f"{case.true:g}, {case.false:g}",
        f"{true:.2f}, {false:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def write(rows, head, names, marks=MARKS):
    """Put rows into one of the page's tables, in the order of their names."""
    rows = written(marks) | rows
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(marks[0]) + len(marks[0]), text.index(marks[1])
    rule = "|---" * (head.count("|") - 1) + "|"
    table = "\n".join([head, rule] + [rows[name] for name in names if name in rows])
    PAGE.write_text(text[:start] + table + "\n" + text[end:], encoding="utf-8")


HEAD = (
    "| case | simulations | resamples | border | wrongly reproduced, wrongly not "
    "| left open as RARE | alternatives: true, false | right there |"
)
HEAD_OF_MEANS = "| law | " + " | ".join(f"n = {n}" for n in COUNTS) + " |"


def main():
    """Simulate the laws and cases named, or all, and write their rows."""
    named = tuple(sys.argv[1:])
    tables = (
        (LAWS, row_of_means, HEAD_OF_MEANS, OF_MEANS),
        (CASES, row_of, HEAD, MARKS),
    )
    for names, make, head, marks in tables:
        for name in names:
            if not named or name.startswith(named):
                row = make(name)
                print(row, flush=True)
                write({name: row}, head, names, marks)


if __name__ == "__main__":
    main()

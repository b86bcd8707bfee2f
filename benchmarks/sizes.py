"""How often each procedure is wrong where the truth is on its border, and right beyond it.

On the border both verdicts are wrong, each with at most the nominal probability. The hard cases are
what means of a simulation are like at their worst: events in 2 or 3 % of the runs, heavy tails,
coupled pairs, points that hardly vary, the worst of several arms. There a procedure must keep its
level or say that it cannot judge (RARE).

`make sizes` makes the tables of docs/procedures.md again; `python benchmarks/sizes.py` with names
of laws and cases, or what they begin with, makes their rows only.
"""

import sys
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairbandits.audit.arrays import held_out
from fairbandits.audit.finding import NOT_REPRODUCED, REPRODUCED
from fairbandits.audit.limits import mean_test
from fairbandits.audit.procedures import PROCEDURES

LEVEL = 0.99
#: Simulations of a case, of its alternatives, where a rough number will do, and of a law.
SIMULATIONS, FEWER, MANY = 1000, 100, 2000
GRID = (1e3, 1e4, 1e5)
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


def powers(rng, exponent, sizes=(50, 50, 50)):
    """Return skewed samples whose means are T ** exponent."""
    return [
        t**exponent * rng.gamma(4, 0.25, size=n) for t, n in zip(GRID, sizes, strict=True)
    ], GRID


def few(rng, exponent):
    """Return exponential samples as a grid has them: fewer at the longest horizon."""
    horizons, sizes = np.geomspace(2e4, 6.3e6, 6), (50, 50, 50, 50, 50, 20)
    pairs = zip(horizons, sizes, strict=True)
    return [t**exponent * rng.exponential(size=n) for t, n in pairs], horizons


def walks(rng, exponent):
    """Return samples that share half of their noise between horizons."""
    common = rng.gamma(4, 0.25, size=50)
    return [t**exponent * (common + rng.gamma(4, 0.25, size=50)) / 2 for t in GRID], GRID


def late_events(rng, exponent):
    """Return samples of which the last has events in 5 % of the replicates."""
    samples = [t**exponent * rng.gamma(4, 0.25, size=100) for t in GRID[:2]]
    return [*samples, events(rng, GRID[2] ** exponent, 100, 0.05)], GRID


def pair(rng, difference):
    common = rng.normal(scale=10, size=50)
    return common + difference + rng.normal(size=50), common


def many(rng, mean):
    """Return correlated columns of which two are on the border when mean is 0."""
    common = rng.normal(size=(50, 1))
    return common + rng.normal(size=(50, 4)) + [mean, mean, -3, -3], 0


def shape(rng, mean):
    """Return columns whose mean is in the middle larger than on both sides."""
    left, middle, right = (rng.normal(location, 1, 50) for location in (0, mean, 0))
    return np.stack([middle, middle], 1), np.stack([left, right], 1)


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
    return np.hstack([tails, events(rng, mean, n, 0.03)[:, None], still]), 1


def spreads(rng, ratio):
    """Return the distances from the median of two samples."""
    samples = rng.normal(3, ratio, 50), rng.normal(size=50)
    return tuple(np.abs(sample - np.median(sample)) for sample in samples)


def arms(rng, mean, n=100):
    """Return five arms with the same mean, of runs that share something."""
    return mean + (rng.normal(size=(n, 1)) + rng.normal(size=(n, 5))) / np.sqrt(2)


def sampled(draw, *settings):
    """Return a case's data: a sample of a law with mean m, and the limit 1."""
    return lambda rng, m: (draw(rng, m, *settings), 1)


def pairs(size, other):
    """Return two normal samples of these sizes, the first with mean r, the second with mean 1."""
    return lambda rng, r: (rng.normal(r, 0.3, size), rng.normal(1, 0.3, other))


AT_MOST = {"claim": "at most", "level": LEVEL}
AT_LEAST = AT_MOST | {"claim": "at least"}
RATIO = AT_MOST | {"claim": "equal", "ratio": (0.5, 2)}
DIFFERENCE = AT_MOST | {"claim": "equal", "difference": (-1, 1)}
SLOPE = AT_MOST | {"exponent": 0.5, "margin": 0, "window": "all", "asymptotic": False}
EQUAL = SLOPE | {"claim": "equal", "margin": 0.1}
SHARE = AT_LEAST | {"limit": 0.5}
CASES = {
    "bound, normal, n = 32": Case(
        "mean", sampled(lambda rng, m: rng.normal(m, 1, 32)), 1, 0, 2, AT_MOST, 0.8
    ),
    "bounds at 4 points, n = 50": Case("mean", many, 0, -1, 1, AT_MOST, 0.8),
    "comparison, n = 50": Case("mean", pair, 0, 1, -1, AT_LEAST, 0.8),
    "shape, two contrasts, n = 50": Case("mean", shape, 0, 1.5, -1.5, AT_LEAST, 0.8),
    "spreads, n = 50": Case("mean", spreads, 1, 2.5, 0.4, AT_LEAST | {"paired": False}, 0.8),
    "equal, ratio, n = 50": Case("mean", pairs(50, 50), 2, 1.2, 2.8, RATIO, 0.8),
    "equal, ratio, apart, n = 50 and 30": Case(
        "mean", pairs(50, 30), 0.5, 1.2, 0.1, RATIO | {"paired": False}, 0.8
    ),
    "equal, difference, n = 50": Case("mean", pairs(50, 50), 2, 1, 2.5, DIFFERENCE, 0.8),
    "slope, 3 horizons, n = 50": Case("slope", powers, 0.5, 0.4, 0.6, SLOPE, 0.8),
    "slope, n = 50, 50 and 32": Case(
        "slope", lambda rng, a: powers(rng, a, (50, 50, 32)), 0.5, 0.4, 0.6, SLOPE, 0.8
    ),
    "slope, exponential, n = 50 and 20": Case("slope", few, 0.5, 0.3, 0.7, SLOPE, 0.8),
    "slope, of the same runs": Case("slope", walks, 0.5, 0.4, 0.6, SLOPE, 0.8),
    "slope, at least": Case("slope", powers, 0.5, 0.6, 0.4, SLOPE | {"claim": "at least"}, 0.8),
    "slope, equal within 0.1": Case("slope", powers, 0.6, 0.5, 0.75, EQUAL, 0.8),
    "share, n = 50": Case(
        "share", lambda rng, p: (rng.uniform(size=50) < p,), 0.5, 0.8, 0.2, SHARE, 0.8
    ),
    "worst of five arms, all tested, n = 100": Case(
        "mean", lambda rng, m: (arms(rng, m), 0), 0, -1, 1, AT_MOST, 0.8
    ),
    "worst of five arms, other half, n = 100": Case(
        "mean", lambda rng, m: (held_out(arms(rng, m))[1], 0), 0, -1, 1, AT_MOST, 0.8
    ),
    "events in 2 %, n = 32": Case("mean", sampled(events, 32, 0.02), 1, 0.1, 10, AT_MOST),
    "events in 2 %, n = 100": Case("mean", sampled(events, 100, 0.02), 1, 0.1, 10, AT_MOST),
    "events in 2 %, the most known, n = 300": Case(
        "mean",
        lambda rng, m: (events(rng, m, 300, 0.02), 1, 0, 50 * max(1, m)),
        *(1, 0, 10, AT_MOST),
    ),
    "uneven events in 3 %, n = 100": Case(
        "mean", sampled(events, 100, 0.03, False), 1, 0.1, 10, AT_MOST
    ),
    "uneven events in 10 %, n = 50": Case(
        "mean", sampled(events, 50, 0.1, False), 1, 0.1, 10, AT_MOST
    ),
    "lognormal 1.5, n = 32": Case("mean", sampled(heavy, 32), 1, 0.1, 10, AT_MOST),
    "lognormal 1.5, n = 100": Case("mean", sampled(heavy, 100), 1, 0.1, 10, AT_MOST),
    "lognormal 1.5 at 4 points, n = 100": Case(
        "mean", sampled(heavy, (100, 4)), 1, 0.1, 10, AT_MOST
    ),
    "uneven points, n = 100": Case("mean", uneven, 1, 0.2, 4, AT_MOST),
    "nine of ten pairs equal, n = 100": Case("mean", coupled, 0, 0.3, -0.3, AT_LEAST),
    "ratio of what is 0 in 96 %, n = 100": Case(
        "mean",
        lambda rng, r: (events(rng, r, 100, 0.04), events(rng, 1, 100, 0.04)),
        *(2, 1, 20, RATIO),
    ),
    "slope, lognormal 1.5, n = 50": Case(
        "slope", lambda rng, a: ([heavy(rng, t**a, 50) for t in GRID], GRID), 0.5, 0, 1, SLOPE
    ),
    "slope, late events in 5 %, n = 100": Case("slope", late_events, 0.5, 0, 1, SLOPE),
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
    # rare large values, which samples without one do not show
    **{
        f"normal + {100 * rate:g} % Exp({scale})": (
            lambda rng, size, rate=rate, scale=scale: (
                rng.normal(1, 1, size)
                + (rng.uniform(size=size) < rate) * rng.exponential(scale, size)
            ),
            1 + rate * scale,
            np.sqrt(1 + 2 * rate * scale**2 - (rate * scale) ** 2),
        )
        for rate, scale in ((0.1, 5), (0.05, 10), (0.02, 30))
    },
}
COUNTS = (16, 32, 64, 128)


def means(law, n, rng, simulations):
    """Return a bound's size, and its power 5 and 7 standard errors away."""
    draw, mean, spread = LAWS[law]
    tests = [mean_test(draw(rng, n), mean, LEVEL) for _ in range(simulations)]
    highs = np.array([test.high for test in tests])
    return [float((highs < mean + k * spread / np.sqrt(n)).mean()) for k in (0, 5, 7)]


def row_of_means(law):
    """Return a law as a row of the table of means; seeded by its name."""
    rng = np.random.default_rng(zlib.crc32(law.encode()))
    of_counts = (means(law, n, rng, MANY) for n in COUNTS)
    cells = (
        f"{100 * size:.1f}, {100 * five:.0f}, {100 * seven:.0f}" for size, five, seven in of_counts
    )
    return f"| {law} | " + " | ".join(cells) + " |"


def rates(case, truth, rng, simulations=SIMULATIONS, **other):
    """Return how often a claim is reproduced, not reproduced, and not judged for being rare."""
    judge, settings = PROCEDURES[case.procedure], case.settings | other
    findings = [judge(*case.draw(rng, truth), **settings) for _ in range(simulations)]
    counts = [sum(finding.verdict == verdict for finding in findings) for verdict in VERDICTS]
    counts.append(sum("RARE" in f.tags and f.verdict not in VERDICTS for f in findings))
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
    *sizes, rare = rates(case, case.border, rng)
    true, *_ = rates(case, case.true, rng, FEWER)
    _, false, _ = rates(case, case.false, rng, FEWER)
    cells = [
        name,
        f"{case.border:g}",
        f"{100 * sizes[0]:.1f}, {100 * sizes[1]:.1f}",
        f"{100 * rare:.0f}",
        f"{case.true:g}, {case.false:g}".replace("-", "−"),
        f"{100 * true:.0f}, {100 * false:.0f}",
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


def worst():
    """Return the largest size in the page's tables, in per cent, and where it is."""
    of_means = (
        (cell.split(",")[0], f"{law}, n = {n}")
        for law, row in written(OF_MEANS).items()
        for n, cell in zip(COUNTS, row.split("|")[2:], strict=False)
    )
    of_cases = (
        (size, name) for name, row in written().items() for size in row.split("|")[3].split(",")
    )
    return max((float(size), where) for size, where in (*of_means, *of_cases))


HEAD = (
    "| case | border | wrongly reproduced, not (%) | RARE (%) | alternatives: true, false "
    "| right there (%) |"
)
HEAD_OF_MEANS = "| law | " + " | ".join(f"n = {n}" for n in COUNTS) + " |"


def main():
    """Simulate the laws and cases named, or all, and write their rows."""
    named = tuple(sys.argv[1:])
    tables = ((LAWS, row_of_means, HEAD_OF_MEANS, OF_MEANS), (CASES, row_of, HEAD, MARKS))
    for names, make, head, marks in tables:
        for name in names:
            if not named or name.startswith(named):
                row = make(name)
                print(row, flush=True)
                write({name: row}, head, names, marks)
    print("The worst size is {:g} % ({}).".format(*worst()))


if __name__ == "__main__":
    main()

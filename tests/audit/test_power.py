"""How many replicates are needed, against simulation."""

import math

import numpy as np
import pytest

from fairbandits.audit.finding import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding
from fairbandits.audit.grades import replicates_needed
from fairbandits.audit.procedures import PROCEDURES

BOUND = {"claim": "at most", "level": 0.99}


def simulated(procedure, draw, settings, verdict, trials=500):
    judge = PROCEDURES[procedure]
    return np.mean([judge(*draw(), **settings).verdict == verdict for _ in range(trials)])


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "verdict"), [(0.6, REPRODUCED), (1.3, NOT_REPRODUCED)])
def test_power_of_a_bound(mean, verdict, rng):
    pilot = rng.normal(size=200)
    pilot = mean + (pilot - pilot.mean()) / pilot.std(ddof=1)
    finding = PROCEDURES["mean"](pilot, 1, **BOUND)
    n = int(replicates_needed("mean", BOUND, finding))
    wanted = ((2.326 + 1.2816) / (mean - 1)) ** 2
    assert wanted <= n < 1.3 * wanted
    found = simulated("mean", lambda: (rng.normal(mean, 1, n), 1), BOUND, verdict)
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
    assert replicates_needed("mean", BOUND, on) == math.inf
    endless = Finding(0.5, -math.inf, math.inf, 20, 1.0, INCONCLUSIVE, (), against)
    assert replicates_needed("mean", BOUND, endless) == math.inf
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

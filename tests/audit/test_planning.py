"""How many replicates a mean needs: by simulation, and what cannot be answered."""

import numpy as np
import pytest

from fairbandits.audit.limits import mean_test
from fairbandits.audit.planning import power_of_mean
from fairbandits.claims import n_for


@pytest.mark.parametrize("skewness", [0, 1, 2, -2])
def test_the_power_is_as_planned(skewness, rng):
    n, trials = n_for(0.5, 1, skewness), 400
    if skewness:
        shape = 4 / skewness**2
        samples = np.sign(skewness) * (rng.gamma(shape, size=(trials, n)) / shape - 1)
        samples *= np.sqrt(shape)
    else:
        samples = rng.normal(size=(trials, n))
    found = sum(mean_test(sample, 0.5, 0.99).below <= 0.01 for sample in samples) / trials
    assert found == pytest.approx(0.95, abs=0.035)
    assert power_of_mean(n, 0.5, skewness, 0.99) >= 0.95
    assert power_of_mean(n - 1, 0.5, skewness, 0.99) < 0.95


def test_more_is_needed_for_what_is_small_skewed_or_wanted_surely():
    least = n_for(0.4, 1)
    assert n_for(4, 10) == least < min(n_for(0.3, 1), n_for(0.4, 1, 1), n_for(0.4, 1, power=0.99))
    assert n_for(0.4, 1, level=0.9975) > least > n_for(0.4, 1, -1)
    assert (n_for(5, 1), n_for(5, 1, 1.5)) == (32, 64)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"effect": 0}, "above 0"),
        ({"sd": -1}, "above 0"),
        ({"skewness": 2.1}, "at most 2"),
        ({"level": 1}, "level must be"),
        ({"power": 1}, "power must be"),
        ({"effect": 1e-9}, "more than"),
    ],
)
def test_what_no_number_answers_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        n_for(**{"effect": 1, "sd": 1} | changes)

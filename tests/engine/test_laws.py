"""The reward laws: against the naive twin, against SciPy's distributions, and their checks."""

import math
import re

import numpy as np
import pytest
from scipy import stats

import naive
from fairbandits import Instance
from fairbandits.engine import laws, streams

#: Laws that go through the normal quantile, where the two round differently now and then.
SMOOTH = ("gaussian", "beta")
#: Marsaglia and Tsang's method multiplies such differences a little.
TOLERANCE = 1e-13

CASES = [
    *[("uniform02", mu, None) for mu in (0.0, 0.03, 0.5, 0.7816, 3.0)],
    *[("uniform02_clipped", mu, None) for mu in (0.0, 0.2, 0.5, 0.8, 5.0)],
    *[("bernoulli", mu, None) for mu in (0.0, 0.03, 0.5, 0.97, 1.0)],
    *[("gaussian", mu, sd) for mu, sd in ((0.0, 1.0), (-2.5, 0.1), (0.3352, 3.0))],
    *[("beta", mu, m) for mu, m in ((0.03, 4.0), (0.5, 4.0), (0.97, 4.0), (0.5, 1.0), (0.2, 50.0))],
    *[("deterministic", mu, None) for mu in (-1.0, 0.0, 0.4)],
]
CONTINUOUS = [
    *(("uniform02", 0.03, None), ("uniform02", 0.5, None)),
    *(("gaussian", 0.3, 0.25), ("gaussian", -1.0, 2.0)),
    *(("beta", mu, m) for mu, m in ((0.03, 4.0), (0.5, 4.0), (0.8, 4.0), (0.5, 1.0), (0.3, 40.0))),
]


def name(value):
    return value if isinstance(value, str) else f"{value:g}" if value is not None else "-"


def parameters(law, mu, spread):
    spread = Instance((mu, mu), law, spread).spread
    code, first, second = laws.law_parameters(law, np.array([mu, mu]), spread)
    return code, first[1], second[1]


def rewards(law, mu, spread, words):
    code, first, second = parameters(law, mu, spread)
    return np.array([laws.reward_of(code, first, second, w) for w in words])


def test_every_law_has_a_case():
    assert {law for law, *_ in CASES} == set(laws.CODES)
    assert sorted(laws.CODES.values()) == list(range(len(laws.CODES)))


@pytest.mark.parametrize(("law", "mu", "spread"), CASES, ids=name)
def test_reward_equals_naive(law, mu, spread, rng):
    extremes = [0, 1, 2**11, 2**63, streams.MASK]
    words = extremes + rng.integers(0, streams.MASK, size=300, dtype=np.uint64).tolist()
    extra = {"gaussian": {"sd": spread}, "beta": {"m": spread}}.get(law, {})
    expected = np.array([naive.reward(law, mu, w, **extra) for w in words])
    values = rewards(law, mu, spread, words)
    if law in SMOOTH:
        np.testing.assert_allclose(values, expected, rtol=TOLERANCE, atol=TOLERANCE)
    else:
        assert values.tobytes() == expected.astype(float).tobytes()


# Statistics, on fixed words; a false alarm in ten thousand for each.
def sample_of(law, mu, spread, index):
    count = 4000
    base, gamma = streams.stream_key(11, "laws", 0, "reward", index)
    words = [streams.word(base, gamma, n) for n in range(1, count + 1)]
    return rewards(law, mu, spread, words)


def distribution(law, mu, spread):
    if law == "uniform02":
        return stats.uniform(0, 2 * mu)
    if law == "gaussian":
        return stats.norm(mu, spread)
    return stats.beta(mu * spread, (1 - mu) * spread)


@pytest.mark.parametrize(("law", "mu", "spread"), CONTINUOUS, ids=name)
def test_continuous_laws_follow_scipy(law, mu, spread):
    expected = distribution(law, mu, spread)
    drawn = sample_of(law, mu, spread, CONTINUOUS.index((law, mu, spread)))
    assert stats.kstest(drawn, expected.cdf).pvalue > 1e-4
    deviation = (drawn.mean() - mu) / (expected.std() / math.sqrt(drawn.size))
    assert abs(deviation) < 3.9
    assert drawn.std() == pytest.approx(expected.std(), rel=0.1)
    assert expected.mean() == pytest.approx(mu)


def test_true_means():
    means = (0.0, 0.3, 0.5, 0.500001, 0.7816, 2.0)
    for law in ("uniform02", "gaussian", "deterministic"):
        assert Instance(means, law).true_means.tolist() == list(means)
    clipped = Instance(means, "uniform02_clipped").true_means
    assert clipped.tolist() == [naive.true_mean("uniform02_clipped", mu) for mu in means]
    assert clipped[4] == pytest.approx(1 - 1 / (4 * 0.7816))
    assert clipped[3] == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "phrases"),
    [
        (((0.5,),), ["at least 2 arms", "got 1"]),
        (((0.5, 0.5), "normal"), ["law must be one of", *laws.CODES, "'normal'"]),
        (((0.5, 1.5),), ["bernoulli", "in [0, 1]", "1.5", "arm 2"]),
        (((0.5, math.nan),), ["bernoulli", "in [0, 1]", "nan", "arm 2"]),
        (((0.5, 0.0), "beta"), ["beta", "in (0, 1)", "0.0", "arm 2"]),
        (((0.5, -0.5), "uniform02"), ["uniform02", "at least 0", "-0.5", "arm 2"]),
        (((0.5, math.inf), "uniform02"), ["uniform02", "at least 0", "inf", "arm 2"]),
        (((0.5, -1.0), "uniform02_clipped"), ["uniform02_clipped", "at least 0", "-1.0", "arm 2"]),
        (((math.inf, 0.5), "gaussian"), ["gaussian", "finite", "inf", "arm 1"]),
        (((0.5, 0.5), "gaussian", 0.0), ["spread", "above 0", "0.0"]),
        (((0.5, 0.5), "beta", math.inf), ["spread", "finite", "inf"]),
    ],
)
def test_instance_errors_name_the_value_and_the_range(arguments, phrases):
    with pytest.raises(ValueError, match=r"must|needs") as caught:
        Instance(*arguments)
    for word in phrases:
        assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", str(caught.value)), caught.value

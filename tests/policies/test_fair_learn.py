"""Fair-Learn: its guarantee in exact integers, where it ends, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import naive_fair_ucb as twins
from drawn import arms_of, recorded
from fairbandits import Constant, FairLearn, Instance, TFairLearn, run
from fairbandits.measures.pulls import r_regret, regret

ROUNDS = 600
SEED = 20240817

few = settings(deadline=None, derandomize=True, max_examples=20)

INSTANCE_1 = Instance((0.8, *(0.8 - 0.01 * i for i in range(2, 11))))
QUOTAS_1 = ("1/20",) * 10
QUOTAS_2 = ("0.2", "0.3", "0.25")


def played(policy, instance, rounds, replicates=1, **options):
    """Return the pulls N of every round, integers of shape (replicates, rounds, arms)."""
    plays = recorded(policy, instance, rounds, replicates, **options).plays
    pulls = plays.astype(np.int64)
    assert np.array_equal(pulls, plays)
    assert (pulls.sum(axis=2) == np.arange(1, rounds + 1)).all()
    return pulls


def owed(pulls, quotas):
    """Return p t - q N, the deficits times their denominator, floor(p t / q) - N, and q."""
    quotas = twins.exactly(quotas)
    q = int(np.lcm.reduce([r.denominator for r in quotas]))
    p, t = np.array([int(r * q) for r in quotas]), np.arange(1, pulls.shape[1] + 1)[:, None]
    return p * t - q * pulls, p * t // q - pulls, q


# Theorem 1, for every learner, where it holds: (a) r < 1/k; (b) r < 1/(k - 1), sum < 1 (B4.2).
@st.composite
def fair_quotas(draw, kind):
    """Return rational quotas; the largest ones allowed are frequent."""
    arms = draw(st.integers(2, 10))
    denominator = draw(st.integers(arms + 1, 400))
    parts = arms if kind == "a" else arms - 1
    largest = (denominator - 1) // parts
    share = st.integers(0, largest) | st.just(largest)
    shares = draw(st.lists(share, min_size=arms, max_size=arms))
    excess = max(0, sum(shares) - (denominator - 1))
    for arm in draw(st.permutations(range(arms))):
        cut = min(excess, shares[arm])
        shares[arm] -= cut
        excess -= cut
    if draw(st.booleans()):  # as large a sum as there can be
        for arm in draw(st.permutations(range(arms))):
            shares[arm] += min(largest - shares[arm], denominator - 1 - sum(shares))
    quotas = [Fraction(share, denominator) for share in shares]
    assert sum(quotas) < 1
    assert max(quotas) < Fraction(1, parts)
    return tuple(str(r) for r in quotas)


def fair_pulls(quotas, tolerance, learner, means, replicates=1, rounds=ROUNDS):
    name, parameters, _ = twins.theorem_learners(quotas, rounds)[learner]
    policy = FairLearn(quotas, tolerance, learner=name, learner_parameters=parameters)
    return played(policy, Instance(means), rounds, replicates)


MEANS = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])


@pytest.mark.parametrize("kind", ["a", "b"])
@pytest.mark.parametrize("learner", twins.LEARNERS)
@few
@given(data=st.data())
def test_theorem_1(learner, kind, data):
    """With any tolerance: floor violations up to its ceiling, deficits below it plus 1 (B4.1)."""
    quotas = data.draw(fair_quotas(kind))
    tolerance = data.draw(st.sampled_from([0, 1, 2, 5, "1/2", "9/10", "5/2", "1/7"]))
    means = data.draw(st.lists(MEANS, min_size=len(quotas), max_size=len(quotas)))
    pulls = fair_pulls(quotas, tolerance, learner, means, replicates=2)
    deficits, floors, q = owed(pulls, quotas)
    assert floors.max() <= np.ceil(float(Fraction(tolerance)))
    assert deficits.max() < q * (Fraction(tolerance) + 1)


@pytest.mark.parametrize("parts", ["k - 1", "k"])
@few
@given(data=st.data())
def test_lemma_1(parts, data):
    """Few arms are owed much: at most j of them alpha + (m - j) / m or more."""
    quotas = data.draw(fair_quotas("a" if parts == "k" else "b"))
    learner = data.draw(st.sampled_from(twins.LEARNERS))
    tolerance = data.draw(st.sampled_from([0, 1, 2]))
    pulls = fair_pulls(quotas, tolerance, learner, [0.5] * len(quotas), rounds=200)
    deficits, _, q = owed(pulls, quotas)
    m = len(quotas) - (parts == "k - 1")
    for j in range(1, m + 1):
        late = m * deficits >= q * (m * tolerance + m - j)
        assert late.sum(axis=2).max() <= j


@pytest.mark.slow
def test_instance_1_ends_with_the_quotas():
    """After a million rounds every arm but the best has just its quota, in most runs (B2).

    In the third of these UCB1 still explores the second arm; about one run in twenty does.
    """
    rounds = 10**6
    result = run(FairLearn(QUOTAS_1), INSTANCE_1, rounds, 3, seed=SEED, quotas=QUOTAS_1)
    plays, means = result.plays[:, -1], INSTANCE_1.means
    usual, rest = [550_000, *[50_000] * 9], [50_000] * 8
    assert plays.tolist() == [usual, usual, [549_849, 50_151, *rest]]
    assert twins.fair_ucb_counts(means, QUOTAS_1, rounds, SEED, "run", 2) == plays[2].tolist()
    assert (result.deficits["floor_deficit_sup"][:, -1].max(axis=-1) == 0).all()
    assert result.deficits["deficit_sup"][:, -1].max() == 0.45
    free = r_regret(np.array([rounds]), plays[:, None], means, QUOTAS_1)
    np.testing.assert_allclose(free, [[0], [0], [0.02 * 151]], rtol=0, atol=1e-6)
    cost = regret(plays, means)
    np.testing.assert_allclose(cost, [27_000, 27_000, 27_003.02], rtol=1e-12)


# Floats would be wrong (B1.3).
def test_measures_are_not_those_of_floats():
    """A quota of 0.29 asks for 29 pulls in 100 rounds, which floats make 28.999..."""
    assert (int(0.29 * 100), 0.09 * 5 != 0.45, 0.07 * 100 != 7) == (28, True, True)
    options = {"quotas": (0.29, 0.09, 0.07, 0.0), "checkpoints": (5, 7, 100)}
    deficits = run(Constant(-1), Instance((0.5,) * 4), 100, 1, **options).deficits
    last = [29, 9, 7, -100]
    assert deficits["floor_deficit"][0].tolist() == [[1, 0, 0, -5], [2, 0, 0, -7], last]
    exact = [[1.45, 0.45, 0.35, -5], [2.03, 0.63, 0.49, -7], last]
    assert deficits["deficit"][0].tolist() == exact
    for name in ("deficit_sup", "floor_deficit_sup"):
        assert deficits[name][0, -1].tolist() == [29, 9, 7, -1]


def test_a_deficit_of_the_tolerance_is_tolerated():
    """After 3 rounds arm 1 is owed 0.3, not more; floats make it 0.30000000000000004."""
    assert 0.1 * 3 > 0.3
    policy = FairLearn((0.1, 0.0), 0.3, "constant", {"arm": 2})
    arms = arms_of(recorded(policy, Instance((0.5, 0.5)), 20))
    assert [t for t, arm in enumerate(arms, start=1) if arm == 0] == [5, 15]


def test_equal_deficits_are_ties():
    """In round 3 arms 1 and 2 are owed 0.02 each; floats make it 0.020000000000000018 for 2."""
    assert 2 * 0.51 - 1 > 2 * 0.01
    policy = FairLearn((0.01, 0.51, 0.0), 0, "constant", {"arm": 3})
    assert arms_of(recorded(policy, Instance((0.5,) * 3), 3)) == [2, 1, 0]


@pytest.mark.parametrize("order", ["round_robin", "sequential"])
@pytest.mark.parametrize("learner", ["ucb1", "uniform"])
@few
@given(quotas=fair_quotas("b"), horizon=st.integers(10, 200))
@example(quotas=QUOTAS_2, horizon=100)
@example(quotas=("0", "0"), horizon=2)
def test_t_fair_learn_is_fair_at_the_horizon(learner, order, quotas, horizon):
    """Already when the first phase ends, if the rounds suffice for it."""
    first = [-(-r.numerator * horizon // r.denominator) for r in twins.exactly(quotas)]
    assume(sum(first) <= horizon)
    policy = TFairLearn(quotas, learner=learner, order=order)
    instance = Instance((0.5,) * len(quotas))
    pulls = played(policy, instance, horizon, compiled=learner == "ucb1")
    assert owed(pulls, quotas)[1][:, -1].max() <= 0
    assert not any(first) or pulls[0, sum(first) - 1].tolist() == first


def test_a_tolerance_of_more_than_64_bits_is_cut():
    assert FairLearn(("1/3", 0), 1e30).start(2, 9).tolerance == 2**62

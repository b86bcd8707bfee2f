"""BF-UCB and its baselines: naive twins, the guarantee in exact integers, the released quirks."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numba import config, njit

import fairbandits as fb
import naive
import naive_bf_ucb as twins
from drawn import arms_of, assert_same_run, one_of, recorded
from fairbandits.engine import protocol
from fairbandits.measures import groups as measures
from fairbandits.policies import merit

SEED = 20250113
ROUNDS = 150 if config.DISABLE_JIT else 400

few = settings(deadline=None, derandomize=True, max_examples=30)

#: Sizes, quotas, means, law. Rewards of two values make ties that rounding alone decides.
SCENARIOS = {
    "low": ((10, 5), (0.4, 0.4), None, "uniform02_clipped"),
    "uneven": ((2, 11, 1), ("1/5", "3/10", "1/3"), None, "bernoulli"),
    "threes": ((3,) * 5, ("1/10",) * 5, None, "beta"),
    "single": ((1, 1), ("1/2", "1/2"), None, "uniform02_clipped"),
    "one_group": ((4,), ("1/2",), None, "uniform02_clipped"),
    "poor": ((3, 4), (0.3, "1/7"), (0.05, 0.4, 0.0, 0.3, 0.1, 0.45, 0.2), "bernoulli"),
    "sure": ((2, 3), (0, 0.25), (0.0, 1.0, 1.0, 0.5, 0.0), "deterministic"),
    "no_quotas": ((19, 3), (0, 0), None, "uniform02_clipped"),
}
scenarios = pytest.mark.parametrize("scenario", SCENARIOS)

#: The policy's merit function, and the twin's.
MERITS = {
    **{c: ({"merit_parameter": c}, twins.power(c)) for c in (0, 0.5, 2, 3)},
    "steep": ({"merit": "exponential", "merit_parameter": 2}, twins.exponential(2)),
}
#: Parameters that policy and twin share.
SWITCHES = {
    "paper": {},
    "delta": {"delta": 0.3},
    "initialisation": {"initialisation": "released"},
    "width": {"width": "released"},
    "running_mean": {"running_mean": "released"},
    "draw": {"draw": "released"},
    "all_released": dict.fromkeys(("initialisation", "width", "running_mean", "draw"), "released"),
    "exact": {"box": "exact"},
    "uncut": {"box": "uncut"},
    "uncut_released": {"box": "uncut"}
    | dict.fromkeys(("initialisation", "width", "running_mean", "draw"), "released"),
    "from_mean": {"policy_from": "mean"},
    "first": {"learner": "first"},
    "random": {"learner": "random"},
    "least_owed": {"learner": "least_owed"},
}


def problem(scenario, rng):
    sizes, quotas, means, law = SCENARIOS[scenario]
    if means is None:
        means = rng.uniform(0.5, 0.95, sum(sizes)).round(3).tolist()
    return sizes, quotas, means, fb.Instance(means, law)


def observers_of(policy, reference=None):
    """Return all observers of groups that can watch a policy."""
    observers = []
    if isinstance(policy, fb.BFUCB | fb.GroupUCB):
        observers += [fb.OptionalPulls(), fb.GroupDeficits()]
    if hasattr(policy, "initial_rounds"):
        observers.append(fb.InitialPhase())
    if reference is not None:
        observers.append(fb.MeritRegret(reference))
    return observers


def assert_same(policy, twin, instance, reference=None, **options):
    observe = observers_of(policy, reference)
    assert_same_run(policy, twin, instance, ROUNDS, observe=observe, **options)


@pytest.mark.parametrize("name", SWITCHES)
def test_bf_ucb_is_its_twin(name, rng):
    """With any merit function, and the released version by its name."""
    given = {"version": "released"} if name == "all_released" else SWITCHES[name]
    for scenario in rng.permutation(list(SCENARIOS))[:4]:
        sizes, quotas, means, instance = problem(scenario, rng)
        merits = [({}, None)]  # the first merit function has a form of its own
        merits += MERITS.values() if scenario in ("low", "uneven", "poor") else ()
        ours, f = merits[rng.integers(len(merits))]
        twin = twins.BFUCB(sizes, quotas, reference=means, f=f, **SWITCHES[name])
        assert_same(fb.BFUCB(sizes, quotas, **given, **ours), twin, instance, reference=means)


INDICES = {
    "ucb1": {},
    "ucb1_capped": {"cap": True},
    "paper_capped": {"index": "paper", "cap": True},
    "paper_random_ties": {"index": "paper", "cap": True, "ties": "random"},
    "released_index": {"index": "released", "cap": True, "ties": "released"},
    "uncut": {"box": "uncut"},
    "released": {"index": "released", "cap": True, "ties": "released", "first_width": "released"}
    | dict.fromkeys(("initialisation", "running_mean"), "released"),
}


@pytest.mark.parametrize("quoted", [True, False], ids=["gef", "ucb"])
@pytest.mark.parametrize("name", INDICES)
def test_gef_and_ucb_are_their_twins(name, quoted, rng):
    for scenario in rng.permutation(list(SCENARIOS))[:3]:
        sizes, quotas, _, instance = problem(scenario, rng)
        quotas = quotas if quoted else None
        given = {"version": "released"} if name == "released" else INDICES[name]
        twin = twins.GroupUCB(sizes, quotas, **INDICES[name])
        assert_same(fb.GroupUCB(sizes, quotas, **given), twin, instance)


FAIRX = {
    "paper": {},
    "clock": {"clock": "round"},
    "uncut": {"box": "uncut"},
    "uncut_by_round": {"box": "uncut", "clock": "round"},
    "uncut_counts": {"box": "uncut", "counts": "bf_ucb"},
    "counts": {"counts": "bf_ucb"},
    "counts_by_round": {"counts": "bf_ucb", "clock": "round"},
    "released": {"version": "released", "counts": "bf_ucb", "clock": "round"},
    "released_own_counts": {"version": "released", "counts": "own", "clock": "round"},
    "released_uncut": {"version": "released", "counts": "own", "clock": "horizon", "box": "uncut"},
}
AS_RELEASED = dict.fromkeys(
    ("width", "initialisation", "running_mean", "draw", "first_width"), "released"
)


@pytest.mark.parametrize("name", FAIRX)
def test_fairx_ucb_is_its_twin(name, rng):
    for scenario in rng.permutation(list(SCENARIOS))[:3]:
        sizes, quotas, means, instance = problem(scenario, rng)
        switches = dict(FAIRX[name])
        shadow = switches.get("counts") == "bf_ucb"
        told = {"quotas": quotas, "shadow_means": means} if shadow else {}
        policy = fb.FairXUCB(sizes, **switches, **told)
        of_version = AS_RELEASED if switches.pop("version", "paper") == "released" else {}
        twin = twins.FairXUCB(sizes, ROUNDS, **switches, **of_version, **told)
        assert_same(policy, twin, instance, compiled=False)  # watched it is a kind of its own


@scenarios
@pytest.mark.parametrize("within", ["merit", "uniform", "best"])
def test_oracles_are_their_twins(within, scenario, rng):
    sizes, quotas, means, instance = problem(scenario, rng)
    for schedule in ("deficit", "floor"):
        policy, twin = (
            kind(sizes, quotas, means, within, schedule)
            for kind in (fb.GroupOracle, twins.GroupOracle)
        )
        assert_same(policy, twin, instance)


def test_the_value_of_arms_without_merit_is_0():
    for size in (0, 3):
        assert merit.fair_value(np.zeros(3), size, merit.MERITS["power"], 1.0) == 0.0


# The box (spec 6.3).
def random_box(rng, size):
    ends = np.sort(rng.uniform(0, 1, (2, size)), axis=0)
    if rng.random() < 0.4:
        middle, half = rng.uniform(0, 1, size), rng.exponential(0.3, size)
        ends = np.clip([middle - half, middle + half], 0, 1)
    return ends[0], np.maximum(ends[1], 1e-6)


@pytest.mark.parametrize("name", [1, *MERITS])
def test_best_vertex_is_that_of_all_vertices(name, rng):
    parameters, f = MERITS.get(name, ({}, twins.power(1)))
    kind = merit.MERITS[parameters.get("merit", "power")]
    c = float(parameters.get("merit_parameter", 1.0))
    moved = 0
    for _ in range(60):
        size = int(rng.integers(1, 9))
        lower, upper = random_box(rng, size)
        out = np.zeros(size)
        value = merit.best_vertex(lower, upper, size, kind, c, out)
        assert value == pytest.approx(twins.all_vertices(lower, upper, f), rel=1e-12)
        assert value == pytest.approx(twins.phi(out[:size], f), rel=1e-12)
        assert ((out[:size] == lower) | (out[:size] == upper)).all()
        moved += not np.array_equal(out[:size], upper)
        inside = [twins.phi(rng.uniform(lower, upper), f) for _ in range(20)]
        assert max(inside) <= value * (1 + 1e-12)
    assert (moved > 0) == (name != 0)  # without merit the upper corner is always best


def test_ties_of_the_box_go_up():
    out = np.zeros(8)
    assert merit.best_vertex(np.zeros(5), np.ones(5), 5, merit.POWER, 1.0, out) == 1
    assert out.tolist() == [1] * 5 + [0] * 3


@njit
def draw_rounded_compiled(group, coin):
    return merit.draw_rounded(group, 0, True, 1.0, coin)


def drawn_rounded(p, order, u):
    """Return the arm drawn from p by a kernel whose arms stand in this order, ties by arm."""
    arms = merit.begin((len(p),), False, True)
    arms.rank[: len(p)] = order
    arms.place_of[order] = np.arange(len(p))
    arms.placed_weight[: len(p)] = np.array(p)[order]
    arm = draw_rounded_compiled(arms, np.uint64(naive.word_of(u)))
    assert arms.policy[arms.place_of[: len(p)]].tolist() == list(p)
    return arm


def test_rounded_draw():
    """In increasing order: arms 1 and 3 with 1/8 each, arm 2 with 1/4, arm 0 with 1/2."""
    drawn = {0.0: 1, 0.124: 1, 0.1244: 1, 0.13: 3, 0.26: 2, 0.49: 2, 0.51: 0, 0.9994: 0}
    drawn |= {0.1254: 3, 0.12549: 3}  # rounded to 0.125, which is not below 1/8
    drawn |= {0.9996: -1}  # rounded to 1.000
    p = [0.5, 0.125, 0.25, 0.125]
    assert {u: drawn_rounded(p, [2, 0, 3, 1], u) for u in drawn} == drawn


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 50, 61])
def test_rounded_draw_is_its_twin_where_sums_meet_the_number(size, rng):
    equal = np.full(size, 1 / size)
    thousandths = rng.multinomial(1000, equal) / 1000
    few_values = rng.integers(1, 4, size)
    for p in (equal, thousandths, few_values / few_values.sum(), rng.dirichlet(equal)):
        for number in rng.integers(0, 1001, 50) / 1000:
            u = min(number, 1 - 2**-53)
            expected = twins.rounded_draw(p.tolist(), range(size), naive.word_of(u))
            expected = -1 if expected is twins.NOBODY else expected
            assert drawn_rounded(p, rng.permutation(size), u) == expected


# Group exposure fairness, in exact integers (Theorem 2).
@st.composite
def fair_problems(draw):
    """Return sizes and quotas of at most 1/m, as fractions."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    assume(sum(sizes) > 1)
    denominator = draw(st.integers(len(sizes), 400))
    most = denominator // len(sizes)
    shares = draw(st.lists(st.integers(0, most), min_size=len(sizes), max_size=len(sizes)))
    return tuple(sizes), tuple(Fraction(share, denominator) for share in shares)


def worst(policy, sizes, rounds, seed):
    """Return the largest floor(beta_g t) - N_g(t), by arithmetic and by the observer."""
    means = np.random.default_rng(seed).uniform(0.1, 0.9, sum(sizes))
    every = range(1, rounds + 1)
    observe = observers_of(policy, means if isinstance(policy, fb.BFUCB) else None)
    options = {"seed": seed, "checkpoints": every, "observe": observe}
    result = fb.run(policy, fb.Instance(means), rounds, **options)
    behind = measures.group_deficits(result.rounds, result.plays, sizes, policy.quotas)
    assert behind.dtype == np.int64
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sup = result.probes["group_deficit_sup"][..., first]
    assert np.array_equal(sup, np.maximum.accumulate(behind, axis=1))
    return int(behind.max())


@few
@given(
    fair_problems(),
    st.sampled_from(["optimistic", "first", "random", "least_owed"]),
    st.sampled_from(["upper", "exact", "uncut"]),
    st.integers(0, 10**6),
)
@example(((3, 3), (Fraction(1, 2), Fraction(1, 2))), "least_owed", "upper", 0)
def test_group_exposure_is_fair_in_every_round(problem, learner, box, seed):
    sizes, quotas = problem
    policy = fb.BFUCB(sizes, quotas, learner=learner, box=box)
    assert worst(policy, sizes, max(len(sizes) * max(sizes) + 100, sum(sizes)), seed) <= 0


@few
@given(fair_problems(), st.integers(0, 10**6))
def test_gef_is_fair_in_every_round(problem, seed):
    sizes, quotas = problem
    policy = fb.GroupUCB(sizes, quotas)
    assert worst(policy, sizes, len(sizes) * max(sizes) + 100, seed) <= 0


def test_quotas_above_one_over_m_break_the_guarantee():
    assert worst(fb.BFUCB((4, 4, 4), ("4/5", "1/20", "1/20")), (4, 4, 4), 60, 1) > 0


# What each deviation of the released program does.
@pytest.mark.parametrize(("sizes", "pairs", "most"), [((10, 5), 13, 4), ((50, 10), 79, 20)])
def test_released_initialisation_breaks_the_guarantee(sizes, pairs, most):
    quotas, rounds = (0.4, 0.4), 2 * max(sizes) + 50
    assert worst(fb.BFUCB(sizes, quotas), sizes, rounds, 4) <= 0
    # after max k_g rounds for the first group alone, floor(0.4 max k_g) are owed to the second
    released = fb.BFUCB(sizes, quotas, initialisation="released")
    assert worst(released, sizes, rounds, 4) == most
    arms = arms_of(recorded(released, fb.Instance((0.7,) * sum(sizes)), rounds))
    served = np.cumsum([[arm < sizes[0], arm >= sizes[0]] for arm in arms], axis=0)
    every = np.arange(1, rounds + 1)
    behind = measures.group_deficits(every, served, (1,) * len(quotas), quotas) > 0
    assert behind.sum() == pairs
    assert not behind[2 * max(sizes) :].any()


def test_released_running_mean_counts_the_initial_mean_twice():
    state, means = fb.BFUCB((1, 1), (0, 0), running_mean="released").start(2, 100), []
    for t, (arm, reward) in enumerate([(0, 1.0), (1, 0.5), (0, 0.0), (0, 0.0), (0, 1.0)], start=1):
        state.groups.now[0] = arm
        protocol.learn(state, t, arm, reward)
        means.append(state.first.arms.mean[0])
    assert means[1:] == pytest.approx([1, 2 / 3, 2 / 4, 3 / 5])  # the mean of 1, 1, 0, 0, 1
    assert state.first.arms.pulls[0] == 4


def test_rounded_draw_credits_another_group():
    sizes, quotas = (2, 2), (0.3, 0.3)
    instance = fb.Instance((0.6, 0.7, 0.65, 0.8))
    rounds = 2000 if config.DISABLE_JIT else 50_000
    policy = fb.BFUCB(sizes, quotas, draw="released")
    observe = observers_of(policy, instance.means)  # as the twins are watched: no kind of its own
    options = {"checkpoints": [rounds], "seed": 11, "observe": observe}
    result = fb.run(policy, instance, rounds, **options)
    counted = result.probes["group_plays"][0, 0, [0, 2]]
    pulled = measures.per_group(result.plays[0, 0], sizes)
    assert counted.sum() == pulled.sum() == rounds
    moved = pulled[0] - counted[0]
    assert moved >= 0
    if not config.DISABLE_JIT:  # at most the 0.0005 of the second group's rounds with 1.000
        assert 0 < moved < 0.001 * counted[1]
    exact = fb.run(fb.BFUCB(sizes, quotas), instance, rounds, **options)
    counted = exact.probes["group_plays"][0, 0, [0, 2]]
    assert counted.tolist() == measures.per_group(exact.plays[0, 0], sizes).tolist()


@scenarios
def test_measures_are_those_of_the_definitions(scenario, rng):
    sizes, quotas, means, _ = problem(scenario, rng)
    means = [max(mu, 0.05) for mu in means]
    for name, c, f in (("power", 1.0, twins.power(1)), ("exponential", 2.0, twins.exponential(2))):
        expected = twins.fair_policy(means, sizes, f)
        np.testing.assert_allclose(measures.fair_policy(means, sizes, name, c), expected)
        rounds = np.array([1, 7, 100, 12_345])
        optimum = [twins.fair_optimum(int(t), means, sizes, quotas, f) for t in rounds]
        optima = measures.fair_optimum(rounds, means, sizes, quotas, name, c)
        np.testing.assert_allclose(optima, optimum, rtol=1e-12)
        policy = np.array([p for n in sizes for p in rng.dirichlet(np.ones(n))])
        apart = np.split(abs(policy - expected), np.cumsum(sizes)[:-1])
        distances = measures.policy_distance(policy, means, sizes, name, c)
        np.testing.assert_allclose(distances, [*map(sum, apart)], atol=1e-15)


@scenarios
def test_regret_is_the_sum_of_its_two_parts(scenario, rng):
    sizes, quotas, means, instance = problem(scenario, rng)
    means = [max(mu, 0.05) for mu in means]
    version = one_of(rng, "paper", "released")
    result = recorded(fb.BFUCB(sizes, quotas, version=version, draw="paper"), instance)
    for played in (result.plays, result.probes["probability"]):
        regret = measures.group_regret(result.rounds, played, means, sizes, quotas)
        given = result.rounds, result.plays, played, means, sizes, quotas
        between, within = measures.decomposition(*given)
        np.testing.assert_allclose(regret, between + within, rtol=0, atol=1e-9)
    both = result.probes["probability"], result.plays
    of_groups = (measures.per_group(plays, sizes) for plays in both)
    np.testing.assert_allclose(*of_groups, rtol=0, atol=1e-9)


def test_released_regret_by_hand():
    sizes, quotas, means = (2, 1), (0.5, 0.25), (0.5, 1.0, 0.5)
    rounds = np.array([9])
    rewards, initial = np.array([[1.0, 4.0, 0.5]]), np.array([[1.0, 1.0, 0.5]])
    regret = measures.released_regret(rounds, rewards, initial, means, sizes, quotas)
    # R* of the groups: (1/4 + 1) / (3/2) = 5/6 and 1/2; of the 8 rounds 2 are the second's
    assert regret == pytest.approx([6 * 5 / 6 + 2 * 1 / 2 - 3.0])


def test_drawn_means():
    """Each group has a range of its own; the released program rounds, and fixes the first arms."""
    low, high = (np.repeat(ends, (50, 10)) for ends in ((0.7, 0.5), (1.0, 0.8)))
    address = (SEED, "instances", 3)
    words = [naive.draw(*address, "instance", 0, k) for k in range(1, 61)]
    means = low + (high - low) * [naive.open_unit(word) for word in words]
    assert fb.RandomInstance(60, low, high).draw(*address).means == tuple(means)
    released = fb.RandomInstance(60, low, high, decimals=3, fixed=[(1, 0.65), (51, 0.6)])
    means = means.round(3)
    means[[0, 50]] = 0.65, 0.6
    assert released.draw(*address).means == tuple(means)


#: The notebook's last instance in its numbering; group 1 is arm 0 and those from 6 on.
NOTEBOOK = (
    *(0.65, 0.6, 0.79, 0.751, 0.703, 0.829, 0.799, 0.713),
    *(0.62, 0.646, 0.681, 0.693, 0.792, 0.806, 0.621),
)
MEANS_9 = (NOTEBOOK[0], *NOTEBOOK[6:], *NOTEBOOK[1:6])


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="ten million rounds")
@pytest.mark.parametrize(
    ("beta", "plotted"), [(0.2, 101_200), (0.3, 66_200), (0.4, 34_700)], ids=["0.2", "0.3", "0.4"]
)
def test_released_version_gives_the_plotted_regret(beta, plotted):
    """Compare with values read off the program's plots, +-600, of one run each."""
    horizon, sizes, quotas = 10_000_000, (10, 5), (beta, beta)
    policy = fb.BFUCB(sizes, quotas, version="released")
    options = {"checkpoints": [100_000, 200_000, horizon], "observe": [fb.InitialPhase()]}
    result = fb.run(policy, fb.Instance(MEANS_9), horizon, 8, seed=SEED, **options)
    pathwise = measures.released_regret(
        *(result.rounds, result.rewards, result.probes["initial_reward"]), *(MEANS_9, sizes, quotas)
    )[:, -1]
    # one run's rewards have a standard deviation of sqrt(T mu (1 - mu)), about 1400
    spread = math.sqrt(horizon * 0.2)
    assert pathwise.mean() == pytest.approx(plotted, abs=600 + 2.5 * spread * math.sqrt(1 + 1 / 8))
    noiseless = measures.group_regret(
        *(result.rounds, result.probes["probability"]), *(MEANS_9, sizes, quotas)
    )[:, -1]
    assert noiseless.mean() == pytest.approx(plotted, rel=0.05 + 2.5 * spread / plotted)
    distances = measures.policy_distance(result.probes["share"], MEANS_9, sizes).mean(axis=0)
    np.testing.assert_allclose(distances[0], [0.086, 0.0905], rtol=0.01)  # the plateaus
    if beta == 0.4:
        np.testing.assert_allclose(distances[-1], [0.0134, 0.0090], rtol=0.1)

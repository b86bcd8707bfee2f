"""What the number of a finding is, in words."""

import ast
import re

import pytest

from fairbandits.audit import measures, quantities
from fairbandits.audit.expressions import parse
from fairbandits.audit.ledger import load_ledgers
from fairbandits.audit.procedures import STATISTICS
from fairbandits.settings.config import load_config
from fairbandits.settings.schemas import ROOT


@pytest.fixture(scope="module")
def ledgers():
    return load_ledgers(load_config([ROOT / "config" / "config.yaml"]))


@pytest.fixture(scope="module")
def found(ledgers):
    """Return the quantity of each test, by claim and test."""
    return {
        (claim.id, test.name): (test, quantities.quantity(test, ledger))
        for ledger in ledgers.values()
        for claim in ledger.claims.values()
        for test in claim.tests
    }


@pytest.mark.parametrize(
    ("claim", "test", "name", "above"),
    [
        (
            *("htucb-expC-good-under-penalty", "than_ucb1"),
            "penalised regret of UCB1 minus that of HT-UCB, in reward",
            "UCB1 has more",
        ),
        (
            *("banditq-prop2-violation", "in_arms"),
            "growth exponent of largest missing reward of an arm with a target, in N",
            "more than is claimed",
        ),
        (
            *("banditq-greater-variance", "queues_over_runs"),
            "spread over the runs of queue under bandit feedback minus that with full information"
            ", in reward",
            "more under bandit feedback",
        ),
        (
            *("bf-fig1-beta-order-high", "two_to_three"),
            "reward regret with β = 0.2 minus that with β = 0.3, in reward",
            "more with β = 0.2",
        ),
        (
            *("bf-fig3a-initial-rise", "to_million"),
            "reward after the initial rounds of the policy divided by that of UCB "
            "at round T / 10 minus that at round 1000",
            "more at round T / 10",
        ),
        (
            *("banditq-eq22-follows", "sum_with_5_to_1000_arms"),
            "largest N² − T, above 0 where Eq. 21 put back once does not give Eq. 22",
            "the claim fails",
        ),
        (
            *("banditq-fig7-beats-lfg", "at_horizon"),
            "sum of reward over the arms of BanditQ minus that of LFG, in reward",
            "BanditQ has more",
        ),
        (
            *("fairucb-appd-i1-gap-choice", "more_pulls"),
            "sum of pulls over the suboptimal arms in Instance 1 minus that with doubled gaps",
            "more in Instance 1",
        ),
        (
            *("htucb-lfg-notfair", "on_every_instance"),
            "whether LFG's queues are proven to be o(T) on every instance",
            "the claim fails",
        ),
        (
            *("htucb-thm1-treats-every-arm-fairly", "up_to_k_pulls"),
            "share of the runs in which no arm is more than K pulls short",
            "as is claimed",
        ),
        (
            *("bf-inconsistency-08", "same_regret"),
            "reward regret of BF-UCB with the cut at 1 divided by that of BF-UCB",
            "BF-UCB with the cut at 1 has more",
        ),
        (
            *("htucb-expE-monotone", "lfg"),
            "expected reward at one of ten levels of the shortfall minus that at the level below, "
            "in reward",
            "as is claimed",
        ),
        (
            *("htucb-lem1", "bound_in_runs"),
            "shortfall minus (2 × quota × (K × T^(2 / 3) + K) + 1), in pulls",
            "more than is claimed",
        ),
        (
            *("banditq-fig3-negative", "negative"),
            "gain over the best distribution that meets the targets, in reward",
            "BanditQ earns more",
        ),
    ],
)
def test_whose_number_it_is(found, claim, test, name, above):
    one = found[claim, test][1]
    assert (str(one), one.above) == (name, above)


def test_a_number_of_0_or_1_is_a_count_or_an_answer(found):
    steps = found["banditq-prop1-moment", "derivation"][1]
    row = {"statistic": 1.0, "n": 8, "also": {"broken": 2.0}}
    assert (steps.right, steps.value(row)) == ("none", "2 of 8")
    assert steps.value(row | {"statistic": 0.0, "also": {}}) == "0 of 8"
    order = found["bf-lem6", "printed"][1]
    assert (order.right, order.value(row), order.value({"statistic": None})) == ("no", "yes", "")
    loss = found["htucb-eq10-nonneg", "reached"][1]
    assert (loss.right, loss.value({"statistic": 2e-13})) == ("", "0")


def test_every_difference_says_which_way_is_more(found):
    for test, one in found.values():
        if test.procedure == "mean" and not test.is_bound:
            assert one.above
            sides = one.name.split(" minus ")
            assert len(set(sides)) == len(sides)


def test_names_are_words(found):
    words = {*measures.measures(), *measures.functions()}
    for given, one in found.values():
        assert "@" not in one.name
        assert not {name for name in words if "_" in name} & set(re.findall(r"\w+", one.name))
        assert len(one.name) <= 160
        assert one.name.startswith(STATISTICS[given.procedure]) or "{" not in one.name


def test_each_expression_with_words_of_its_own_is_in_a_ledger(found):
    inputs = [text for test, _ in found.values() for key in test.inputs for text in test.texts(key)]
    nodes = (ast.dump(node) for text in inputs for node in ast.walk(parse(text)))
    assert quantities.WHOLE.keys() <= set(nodes)


def test_it_is_said_that_a_p_value_is_adjusted(ledgers):
    ledger = ledgers["ht_ucb"]
    by_family = {claim.family: claim for claim in ledger.claims.values() if claim.tests}
    row = {"p": 2.2e-308}
    assert "adjusted by Holm's" in quantities.p_of_claim(row, by_family["primary"], ledger)
    assert quantities.p_of_claim(row, by_family["single"], ledger) == "p < 0.0001"

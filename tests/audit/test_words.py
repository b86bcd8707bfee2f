"""What is said of a claim: limits, readings, what qualifies a verdict, the record as judged."""

import math

import pytest
import yaml

import real
from fairbandits.audit import totals, words
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OUTCOMES,
    REPRODUCED,
)
from fairbandits.audit.quantities import quantity
from fairbandits.audit.tables import committed
from fairbandits.audit.words import (
    against,
    endless,
    interval,
    limits,
    qualifying,
    readings_in_words,
    record,
)

LEDGERS = real.ledgers()
CLAIMS = {key: one for ledger in LEDGERS.values() for key, one in ledger.claims.items()}


@pytest.mark.parametrize(
    ("low", "high", "said", "short"),
    [
        (0.5, 2.0, "0.5000 to 2", "[0.5000, 2]"),
        (0.5, math.inf, "from 0.5000, no upper bound", "[from 0.5000, no upper bound]"),
        (-math.inf, 2.0, "up to 2, no lower bound", "[up to 2, no lower bound]"),
        (-math.inf, math.inf, "no bounds", "[no bounds]"),
        (1.0, 1.0, "", ""),
        (None, None, "", ""),
        (math.nan, math.nan, "", ""),
    ],
)
def test_limits(low, high, said, short):
    row = {"low": low, "high": high}
    assert limits(row) == said
    assert interval(row) == short


def test_an_infinite_limit_has_its_reason():
    row = {"low": 0.0, "high": math.inf, "tags": ["LOOSE", "RARE"]}
    row |= {"verdict": INCONCLUSIVE, "n": 9}
    assert endless(row) == words.ENDLESS["RARE"]
    assert endless(row | {"tags": []}) == words.NO_LIMIT
    assert endless(row | {"high": 1.0}) == endless(row | {"n": 0}) == ""
    assert endless(row | {"low": None, "high": None}) == ""


def test_questions_that_are_compared_have_names_and_others_none():
    row = {"reading": "", "each": "", "verdict": REPRODUCED, "grade": "consistent", "control": ""}
    row |= {"statistic": 0.25, "low": 0.1, "high": 0.5, "reference": 1.0, "p": 0.5, "n": 9}
    row |= {"also": {}, "tags": [], "message": ""}
    head, *lines = words.questions([row, row], "mean", ["as it is", "what if"])
    assert [line[0] for line in lines] == ["as it is", "what if"]
    assert head[:3] == ["", "verdict", "grade"]
    assert words.questions([row], "mean")[0] == head[1:]


def headed(head, **readings):
    own = [{"reading": name, "verdict": verdict} for name, verdict in readings.items()]
    return [{"reading": "", "verdict": head}, *own]


def test_readings():
    assert readings_in_words(headed(REPRODUCED)) == ""
    assert readings_in_words([{"reading": "a_b", "verdict": REPRODUCED}]) == "under a b"
    three = dict.fromkeys("abc", REPRODUCED)
    assert readings_in_words(headed(REPRODUCED, **three)) == "under all 3 readings"
    mixed = headed(DEPENDS, one_way=INCONCLUSIVE, other=REPRODUCED, third=INCONCLUSIVE)
    assert readings_in_words(mixed) == "reproduced: other; inconclusive: one way, third"


def qualified():
    """Return a claim that a test qualifies, and that test."""
    return next(
        (claim, test) for claim in CLAIMS.values() for test in claim.tests if not test.decides
    )


def found(test, statistic, verdict=NOT_REPRODUCED, **more):
    return {
        "test": test.name,
        "procedure": "share",
        "reading": "",
        "each": "",
        "verdict": verdict,
        "statistic": statistic,
        "low": statistic - 0.1,
        "high": statistic + 0.1,
        "reference": 0.5,
        "n": 100,
        "p": 0.001,
        "message": "",
        "tags": [],
    } | more


def test_several_cases_are_one_sentence_with_the_weakest():
    claim, test = qualified()
    rows = [
        found(test, 0.9, REPRODUCED, each="arm 1"),
        found(test, 0.25, each="arm 2"),
        found(test, 0.75, REPRODUCED, each="arm 3", reading="a_reading"),
    ]
    name = words.sentence(str(quantity(test, LEDGERS[claim.paper])))
    (said,) = qualifying(claim, rows, LEDGERS[claim.paper])
    assert said.partition(": ")[2] == (
        "reproduced in 2 of 3 cases, not reproduced in 1. Least in favour: arm 2. "
        f"{name}: 0.2500 (0.1500 to 0.3500), n = 100 replicates."
    )
    (said,) = qualifying(claim, [rows[0], rows[2]], LEDGERS[claim.paper])
    assert said.partition(": ")[2] == (
        "reproduced in both cases. Least in favour: arm 3 (a reading). "
        f"{name}: 0.7500 (0.6500 to 0.8500), n = 100 replicates."
    )


def test_what_failed_says_why():
    claim, test = qualified()
    none = found(test, 0.0, FAILED, message="too few") | {"statistic": None, "p": None}
    (said,) = qualifying(claim, [none], LEDGERS[claim.paper])
    assert said.endswith("failed. Too few.")


def test_what_speaks_against_a_claim_comes_first():
    _, test = qualified()
    rows = [
        found(test, 0.9, REPRODUCED, p=0.001),
        found(test, 0.6, REPRODUCED, p=0.009),
        found(test, 0.5, INCONCLUSIVE, p=0.3),
        found(test, 0.3, p=0.002),
        found(test, 0.1, p=0.001),
    ]
    assert sorted(rows, key=against) == rows[::-1]


def shape(claim):
    """Return what a claim's record has blocks for."""
    decide = {test.decides for test in claim.tests}
    asks = {key for test in claim.tests for key in test.asks}
    return claim.family, bool(claim.readings), claim.combine, *map(frozenset, (decide, asks))


@pytest.mark.parametrize("name", {shape(one): key for key, one in CLAIMS.items()}.values())
def test_a_record_has_all_that_decides(name):
    claim = CLAIMS[name]
    text = record(claim, LEDGERS[claim.paper])
    if not claim.tests:
        assert text == ""
        return
    content = yaml.safe_load(text)
    assert list(content["tests"]) == [test.name for test in claim.tests]
    assert content["family"]["name"] == claim.family
    assert content.get("readings", []) == list(claim.readings)
    assert content.get("combine", "all") == claim.combine
    for test in claim.tests:
        block = content | content["tests"][test.name]
        assert (block["rule"], block["version"]) == (test.rule, test.version)
        assert (block["procedure"], block.get("decides", True)) == (test.procedure, test.decides)
        assert block.get("settings", {}) == test.settings
        assert block["inputs"] == test.inputs
        for key in ("cells", "with", "each", "over", "arms", "rounds", "keep", "reading"):
            assert block.get(key) == test.asks.get(key)
    assert "*id" not in text
    assert "&id" not in text


def test_each_claim_is_counted_or_left_out():
    found = totals.totals(
        totals.standing(claim) | {"verdict": REPRODUCED} for claim in CLAIMS.values()
    )
    assert found.claims + sum(found.others.values()) == len(CLAIMS)
    assert set(found.others) <= set(totals.LEFT_OUT)
    assert 0 < found.printed < found.claims


def test_what_differs_between_machines_is_in_no_total_and_no_committed_table():
    varying = {key for key, claim in CLAIMS.items() if claim.varies}
    assert varying == {"banditq-optimizer-speedup"}
    assert set(committed(LEDGERS)) == set(CLAIMS) - varying
    firm = CLAIMS["banditq-optimizer-speedup"].model_copy(update={"exploratory": False})
    assert totals.left_out(firm.model_copy(update={"about": "text"})) == totals.REPORTED


def test_totals_in_words():
    def said(*rows, **standing):
        return str(totals.totals({"verdict": one} | {"left_out": ""} | standing for one in rows))

    printed = {"basis": "printed"}
    assert said(*OUTCOMES, REPRODUCED, **printed) == (
        "7 claims that the audited text makes, of which 7 rest on printed words: 2 reproduced, "
        "1 not reproduced, 1 depends on the reading, 1 inconclusive, 1 not testable, 1 failed"
    )
    assert said(REPRODUCED, basis="lost") == (
        "1 claim that the audited text makes, of which 0 rest on printed words: 1 reproduced"
    )
    assert said(REPRODUCED, REPRODUCED, DEPENDS, tags=["IN-PART"], older=True, **printed) == (
        "3 claims that the audited text makes, of which 3 rest on printed words and 3 were judged "
        "on data older than their rule: 2 reproduced, 2 of them in part, "
        "1 depends on the reading, 1 of them in part"
    )
    left = printed | {"left_out": totals.INCONSISTENCY}
    assert said(REPRODUCED, DEPENDS, **left) == "0 claims; left out: 2 inconsistencies"
    # claims of one's own are of no text
    assert said(REPRODUCED) == "1 claim: 1 reproduced"

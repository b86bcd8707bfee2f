"""What is said of verdicts and findings: phrases, limits, readings, what decides, totals."""

import math
from dataclasses import replace

import pytest

import real
from fairbandits.audit import sentences, totals
from fairbandits.audit.claims import committed
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OUTCOMES,
    REPRODUCED,
)
from fairbandits.audit.sentences import (
    against,
    cases_in_words,
    evidence,
    limit,
    limits,
    qualifying,
    quantity,
    readings_in_words,
    what_decides,
    why,
)
from fairbandits.audit.terminal import cases_table, interval


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


def headed(head, **readings):
    rows = [{"reading": name, "verdict": verdict} for name, verdict in readings.items()]
    return [{"reading": "", "verdict": head}, *rows]


def test_readings():
    assert readings_in_words(headed(REPRODUCED)) == ""
    assert readings_in_words([{"reading": "a_b", "verdict": REPRODUCED}]) == "under a b"
    three = dict.fromkeys("abc", REPRODUCED)
    assert readings_in_words(headed(REPRODUCED, **three)) == "under all 3 readings"
    mixed = headed(DEPENDS, one_way=INCONCLUSIVE, other=REPRODUCED, third=INCONCLUSIVE)
    assert readings_in_words(mixed) == "reproduced: other; inconclusive: one way, third"


def made(statistic, outcome=NOT_REPRODUCED, **more):
    """Return a finding's row: a mean that should be at most a half."""
    row = {"test": "number", "phrase": "number", "unit": "pulls", "reading": "", "each": ""}
    row |= {"decides": True, "given": False, "procedure": "mean", "verdict": outcome}
    row |= {"settings": {"claim": "at most", "level": 0.99}, "against": {"limit": 0.5}}
    row |= {"reference": 0.5, "statistic": statistic, "n": 100, "p": 0.001, "also": {}}
    row |= {"low": statistic - 0.1, "high": statistic + 0.1, "tags": [], "message": ""}
    return row | {"grade": "", "control": ""} | more


EQUAL = {"settings": {"claim": "equal", "level": 0.95}}
EQUAL |= {"against": {"equal": 1.0, "smallest": 0.9, "largest": 1.1}, "reference": 1.0}
SLOPE = {"procedure": "slope", "settings": {"claim": "at least", "level": 0.99}}
SLOPE |= {"against": {"exponent": 0.75, "margin": 0.05}, "reference": 0.75}
EXACT = {"procedure": "exact", "settings": {"tolerance": 1e-9}, "against": {"zero": 0.0}}
EXACT |= {"reference": 0.0, "low": 3.0, "high": 3.0, "given": True, "also": {"broken": 2.0}}
UPPER = "reproduced if the upper 99 % bound is at most 0.5;"
PRINTED = EXACT | {"against": {"printed": 0.335}, "reference": 0.335, "n": 1, "also": {}}


@pytest.mark.parametrize(
    ("row", "its_limit", "decides"),
    [
        (made(0.25, REPRODUCED), "at most 0.5", f"{UPPER} it is 0.3500"),
        (made(0.75), "at most 0.5", f"{UPPER} it is 0.8500, and even the lower bound is 0.6500"),
        (
            made(0.25, REPRODUCED, also={"reach": 9.0, "farthest": 1.5}),
            "at most 0.5",
            f"{UPPER} it is 0.3500; one more replicate as high as 9 would not change it, the "
            "highest seen is 1.500",
        ),
        (
            made(0.75, also={"reach": -8.0, "farthest": 0.5}),
            "at most 0.5",
            f"{UPPER} it is 0.8500, and even the lower bound is 0.6500; one more replicate as low "
            "as −8 would not change it, the lowest seen is 0.5000",
        ),
        (
            made(0.5, INCONCLUSIVE, also={sentences.NEEDED: 1234.0}),
            "at most 0.5",
            f"{UPPER} it is 0.6000; about 1\u202f200 replicates would decide it, if the estimate "
            "is the true value",
        ),
        (
            made(1.0, REPRODUCED, **EQUAL),
            "from 0.9 to 1.1",
            "reproduced if both 95 % bounds are from 0.9 to 1.1; they are 0.9000 and 1.100",
        ),
        (
            made(0.8, REPRODUCED, **SLOPE),
            "at least 0.7",
            "reproduced if the lower 99 % bound is at least 0.7; it is 0.7000",
        ),
        (
            made(3.0, **EXACT),
            "at most 1·10⁻⁹",
            "reproduced if none of the 100 values is above 1·10⁻⁹; the largest is 3",
        ),
        (
            made(0.335, REPRODUCED, **PRINTED),
            "the printed 0.335",
            "reproduced if it is the printed 0.335, to its digits; it is 0.3350",
        ),
        (made(math.nan, INCONCLUSIVE, n=0), "at most 0.5", ""),
        (made(0.0, FAILED) | {"statistic": None, "against": {}, "reference": None}, "", ""),
    ],
)
def test_a_row_says_its_limit_and_what_decides(row, its_limit, decides):
    assert (limit(row), what_decides(row)) == (its_limit, decides)


def test_a_reach_is_said_of_what_is_decided_and_is_in_its_unit():
    also = {"reach": 2.0, "farthest": 1.2}
    assert "as high as 2 " in what_decides(made(1.0, REPRODUCED, **EQUAL, also=also))
    for side in (1, -1):  # a reach that is nearer than what is seen, on either side of the number
        said = what_decides(made(0.0, REPRODUCED, also={"reach": -side * 3.0, "farthest": side}))
        assert said.endswith(f"est seen, {'−' * (side < 0)}1, could undo it")
    ratio = EQUAL["settings"] | {"ratio": [0.9, 1.1]}
    of_ratio = made(1.0, REPRODUCED, **EQUAL | {"settings": ratio}, also=also)
    for row in (of_ratio, made(0.25, INCONCLUSIVE, also=also)):
        assert "one more" not in what_decides(row)


def test_a_number_is_said_with_its_unit_bounds_and_sample():
    said = "number, in pulls: 0.2500 (0.1500 to 0.3500), n = 100 replicates"
    assert evidence(made(0.25)) == said
    assert quantity(made(1, phrase="lost pulls")) == "lost pulls"
    assert evidence(made(3.0, **EXACT)) == "number, in pulls: 2 of 100"
    assert evidence(made(0, FAILED, message="no such arm")) == "no such arm"
    assert evidence(made(math.nan, INCONCLUSIVE, n=0)) == sentences.UNMET
    assert "not positive at enough horizons" in evidence(made(math.nan, REPRODUCED))


def test_cases_are_told_apart():
    rows = [made(0.9, each="arm 1"), made(0.0, INCONCLUSIVE, each="arm 2", tags=["CONSTANT"])]
    head, *lines = cases_table(rows)
    assert head == ["case", "verdict", "number", "bounds", "limit", "n", "p", "why"]
    assert [line[0] for line in lines] == ["arm 1", "arm 2"]
    assert lines[1][-1] == "0 in all 100 runs"
    assert cases_table(rows, ["as it is", "what if"])[1][0] == "as it is"
    assert cases_in_words(rows) == "2 cases: 1 not reproduced, 1 inconclusive, 1 of these identical"


def test_why_a_verdict_is_as_it_is():
    cases = [made(0.2, REPRODUCED, each="a"), made(0.9, each="b"), made(0.5, INCONCLUSIVE)]
    head = {"reading": ""}
    beside = made(1.0, test="other", decides=False)
    (said,) = why(head, [*cases, beside])
    assert said == "number: at most 0.5 in 1 of 3 cases, not in 1, 1 undecided"
    empty = made(0.2, INCONCLUSIVE, tags=["TRIVIAL"], also={sentences.NEEDED: 9.0})
    (said,) = why(head, [*cases, empty, empty | {"tags": ["VACUOUS"]}])
    assert said == (
        "number: at most 0.5 in 3 of 5 cases, not in 1, 1 undecided; 1 is no evidence, as the "
        "same holds of the control; 1 is no evidence, as nothing could have failed"
    )
    assert what_decides(empty).endswith("; that is no evidence, as the same holds of the control")
    assert list(why(head, cases[:1])) == ["number: 0.2000 pulls (claimed: at most 0.5)"]
    under = [case | {"reading": name} for case, name in zip(cases, ("one", "two", ""), strict=True)]
    (said,) = why({"reading": "one"}, under)
    assert said == "number: at most 0.5 in 1 of 2 cases, 1 undecided"
    several = [made(0.2, REPRODUCED, p=p) for p in (None, 0.001, 0.009)] + [made(0.9, p=0.009)]
    (said,) = why(head, several)
    assert said == (
        "number: at most 0.5 in 3 of 4 cases, not in 1; all at once, with 99 %: it holds in at "
        "least 2 and fails in at least 0"
    )


def test_what_does_not_decide_is_one_sentence_with_the_weakest():
    beside = {"decides": False}
    rows = [
        made(0.1, REPRODUCED, each="arm 1", **beside),
        made(0.75, each="arm 2", **beside),
        made(0.25, REPRODUCED, each="arm 3", reading="a_reading", **beside),
    ]
    assert qualifying([*rows, made(9.0)]) == [
        "Number: at most 0.5? 3 cases: 2 reproduced, 1 not reproduced. Least in favour: arm 2, "
        "0.7500 (0.6500 to 0.8500), n = 100 replicates."
    ]
    (said,) = qualifying([rows[0], rows[2]])
    assert "Least in favour: arm 3, a reading, 0.2500" in said
    (said,) = qualifying([made(0, FAILED, message="too few", **beside)])
    assert said == "Number: at most 0.5? failed, too few."


def test_what_speaks_against_a_claim_comes_first():
    rows = [made(0.1, REPRODUCED, p=0.001), made(0.4, REPRODUCED, p=0.009)]
    rows += [made(0.5, INCONCLUSIVE, p=0.3), made(0.7, p=0.002), made(0.9, p=0.001)]
    assert sorted(rows, key=against) == rows[::-1]


def test_what_differs_between_machines_is_in_no_total_and_no_committed_table():
    varying = {key for key, claim in real.every().items() if claim.varies}
    assert varying == {"banditq-optimizer-speedup"}
    assert set(committed(real.papers())) == set(real.every()) - varying
    firm = replace(real.every()["banditq-optimizer-speedup"], reported=False, about="text")
    assert totals.left_out(firm) == totals.REPORTED


def test_totals_in_words():
    def said(*verdicts, **standing):
        standing = {"headline": True, "left_out": ""} | standing
        return str(totals.tally({"verdict": verdict} | standing for verdict in verdicts))

    printed = {"basis": "printed"}
    audited = "{} that the audited text makes, of which {} rest on printed words and {} have a "
    audited += "confirmatory verdict: {}"
    each = "2 reproduced, 1 not reproduced, 1 depends on the reading, 1 inconclusive, "
    each += "1 not testable, 1 failed"
    assert said(*OUTCOMES, REPRODUCED, **printed) == audited.format("7 claims", 7, 0, each)
    lost = audited.format("1 claim", 0, 0, "1 reproduced")
    assert said(REPRODUCED, basis="lost") == lost
    parts = "2 reproduced, 2 of them in part, 1 depends on the reading, 1 of them in part"
    confirmed = {"tags": ["IN-PART"], "status": "confirmatory"} | printed
    of_three = audited.format("3 claims", 3, 3, parts)
    assert said(REPRODUCED, REPRODUCED, DEPENDS, **confirmed) == of_three
    left = printed | {"left_out": totals.INCONSISTENCY}
    assert said(REPRODUCED, DEPENDS, **left) == "0 claims; left out: 2 inconsistencies"
    # claims of one's own are of no text
    assert said(REPRODUCED) == "1 claim: 1 reproduced"


def test_each_claim_is_counted_or_left_out():
    counted = totals.tally(
        {"left_out": totals.left_out(claim), "basis": claim.basis}
        | {"verdict": REPRODUCED, "headline": True}
        for claim in real.every().values()
    )
    assert counted.claims + sum(counted.others.values()) == len(real.every())
    assert set(counted.others) <= set(totals.LEFT_OUT)
    assert 0 < counted.printed < counted.claims

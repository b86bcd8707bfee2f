"""The ledgers: complete, and refused when a rule, a name or an id is wrong."""

import copy
import functools

import pytest
import yaml

import real
from fairbandits.audit.ledger import load_ledgers
from fairbandits.audit.procedures import PROCEDURES, parameters_of
from fairbandits.settings.schemas import ROOT, ConfigError, paper_file

PAPERS = tuple(sorted(file.parent.name for file in ROOT.glob("papers/*/claims.yaml")))


@functools.cache
def claims():
    return {
        key: claim for ledger in real.ledgers().values() for key, claim in ledger.claims.items()
    }


# ------------------------------------------------------------------------------ the real ledgers


def test_every_claim_is_judged_or_says_why_not():
    for claim in claims().values():
        ways = [claim.tests, claim.alias_of, claim.judged_by, claim.untestable]
        assert sum(map(bool, ways)) == 1, claim.id
        assert bool(claim.between) == (claim.kind == "inconsistency"), claim.id
        if claim.primary:
            assert claim.tests or claim.judged_by, claim.id
        if claim.tests:
            assert claim.family == ("primary" if claim.primary else "single"), claim.id


def test_every_rule_is_complete():
    seen = set()
    for claim in claims().values():
        for test in claim.tests:
            takes = parameters_of(test.procedure)
            for kind, given in (("settings", test.settings), ("inputs", test.inputs)):
                needed = {name for name, is_needed in takes[kind].items() if is_needed}
                assert needed <= set(given), (claim.id, test.name)
            assert test.version >= 1
            seen.add(test.procedure)
    assert set(PROCEDURES) == seen


def test_level_of_a_test_is_that_of_its_family():
    for claim in claims().values():
        for test in claim.tests:
            level = test.settings.get("level")
            family = real.ledgers()[claim.paper].families[claim.family]
            assert level in (None, family.level), (claim.id, test.name)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_reading_is_used(paper):
    ledger = real.ledgers()[paper]
    used = {reading for claim in ledger.claims.values() for reading in claim.readings}
    assert used == set(ledger.readings)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_and_experiment_is_claimed_of(paper):
    ledger = real.ledgers()[paper]
    own = [one for one in real.config().experiments if one.paper == paper]
    figures = {figure for one in own for figure in one.figures}
    replayed = {name for of, name in real.config().figures if of == paper} - figures
    claimed = {claim.figure for claim in ledger.claims.values()} - {""}
    assert figures <= claimed <= figures | replayed
    texts = " ".join(str(test) for claim in ledger.claims.values() for test in claim.tests)
    assert [name for name in replayed if f"'{name}'" not in texts] == []
    named = {name for claim in ledger.claims.values() for name in claim.experiments}
    read = {one.name for name in named for one in real.config().named(paper, name)}
    # a longer look at the other reading's curve, which no claim is about
    names = {one.name for one in own}
    assert names - read <= {"r_regret_long", "r_regret_long_other_gaps"}


# --------------------------------------------------------------------------------------- refused


def small():
    """Return a small ledger that is right."""
    return {
        "paper": "banditq",
        "title": "A test",
        "readings": {"post": "after", "pre": "before"},
        "families": {"single": {"what": "all", "level": 0.99, "correction": "none"}},
        "rules": {"at_most": {"version": 1, "procedure": "mean", "settings": {"level": 0.99}}},
        "claims": {
            "t-bound": {
                "place": "Theorem 1",
                "statement": "Regret is small.",
                "kind": "bound",
                "primary": False,
                "version": 1,
                "estimand": "regret",
                "cells": {"experiments": ["full_information", "fair_ucb/r_regret"]},
                "readings": ["post"],
                "family": "single",
                "figure": "fig1",
                "tests": {
                    "explicit": {
                        "rule": "at_most",
                        "settings": {"claim": "at most"},
                        "inputs": {"values": "regret @ T", "against": 3},
                    }
                },
            },
            "t-same": {
                "place": "abstract",
                "statement": "The same.",
                "kind": "bound",
                "primary": False,
                "alias_of": "t-bound",
            },
            "t-clash": {
                "place": "Eqs 1 and 2",
                "statement": "They differ.",
                "kind": "inconsistency",
                "primary": False,
                "between": ["Eq. 1", "Eq. 2"],
                "judged_by": ["t-bound"],
            },
        },
    }


def load(tmp_path, **contents):
    for paper, content in contents.items():
        text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        file = paper_file(paper, "claims", tmp_path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return load_ledgers(real.config(), tmp_path)


def refusal(tmp_path, **contents):
    with pytest.raises(ConfigError) as error:
        load(tmp_path, **contents)
    text = str(error.value)
    assert "\n" not in text
    return text


def test_small_ledger(tmp_path):
    (ledger,) = load(tmp_path, banditq=small()).values()
    assert list(ledger.claims) == ["t-bound", "t-same", "t-clash"]
    (test,) = ledger.claims["t-bound"].tests
    assert test.settings == {"claim": "at most", "level": 0.99}


def set_at(content, path, value):
    *above, last = path
    for key in above:
        content = content[key]
    if value is None:
        del content[last]
    else:
        content[last] = value


BOUND = ("claims", "t-bound")
EXPLICIT = (*BOUND, "tests", "explicit")
PLACE = "claims.t-bound.tests.explicit"
RULE = ("rules", "at_most")
GIVEN = (*RULE, "settings")
#: Path, value (None: taken away), and what the message says.
WRONG = [
    ((*RULE, "procedure"), "meann", "rules.at_most: procedure: 'meann' is unknown; did"),
    ((*GIVEN, "leveel"), 1, "mean has no setting 'leveel'; did you mean 'le"),
    ((*GIVEN, "level"), 99, "rules.at_most.settings.level must lie in [0.5, 1), got 99"),
    ((*GIVEN, "level"), "all", "level must be a number, got 'all'"),
    (
        (*GIVEN, "claim"),
        "at mots",
        "must be one of at most, at least, equal, got 'at mots'; did you mean 'at most'?",
    ),
    (
        RULE,
        {"version": 1, "procedure": "mean", "settings": {"paired": 1.5}},
        "paired must be true or false",
    ),
    ((*RULE, "version"), 2, "rules.at_most: changes must give the reason"),
    ((*RULE, "vversion"), 2, "rules.at_most: unknown key 'vversion'; did you mean"),
    ((*EXPLICIT, "settings"), None, f"{PLACE}: mean needs claim in its settings"),
    ((*EXPLICIT, "settings", "claim"), "z", f"{PLACE}.settings.claim must be one of at most, at l"),
    ((*EXPLICIT, "rule"), "at_mst", f"{PLACE}.rule: 'at_mst' is unknown; did you mean 'at_most'?"),
    ((*EXPLICIT, "inputs", "against"), None, f"{PLACE}: mean needs against in its inputs"),
    (
        (*EXPLICIT, "inputs", "againstt"),
        3,
        f"{PLACE}.inputs: mean has no data 'againstt'; did you mean",
    ),
    ((*EXPLICIT, "decides"), False, "claims.t-bound.tests: at least one must decide"),
    ((*EXPLICIT, "margin"), 3, f"{PLACE}: unknown key 'margin'"),
    (
        (*BOUND, "cells", "experiments"),
        ["full_infomation"],
        "t-bound.experiments: 'full_infomation' is unknown; did you mean 'full_information",
    ),
    (
        (*BOUND, "cells", "experiments"),
        ["r_regret"],
        "'r_regret' is unknown; did you mean 'fair_ucb/r_reg",
    ),
    ((*EXPLICIT, "inputs", "values"), "regrt @ T", f"{PLACE}: no measure or coordinate 'regrt'; d"),
    (
        (*EXPLICIT, "inputs", "against"),
        "plays @ T",
        "values and against: units do not fit: pulls and",
    ),
    ((*EXPLICIT, "inputs", "values"), "regret @ T / 2", "needs parentheses before '/'"),
    ((*EXPLICIT, "cells"), {"policy": "banditk"}, "policy of full_information, fair_ucb/r_regret"),
    ((*EXPLICIT, "cells"), {"law": "bernouli"}, "'bernouli' is unknown; did you mean 'bernoulli'"),
    ((*EXPLICIT, "reading"), {"pots": "T > 1"}, f"{PLACE}.reading: 'pots' is unknown; did you"),
    ((*EXPLICIT, "reading"), "law", f"{PLACE}.reading: nobody runs it: 'post' is unknown; known"),
    ((*EXPLICIT, "each"), ["lawn"], f"{PLACE}: no measure or coordinate 'lawn'; did you mean"),
    ((*EXPLICIT, "control"), {"polcy": "banditq"}, f"{PLACE}: no measure or coordinate 'polcy'"),
    (
        (*EXPLICIT, "control"),
        {"policy": "banditk"},
        "policy of full_information, fair_ucb/r_regret",
    ),
    ((*EXPLICIT, "control"), {"experiments": ["r_regret"]}, "experiments: 'r_regret' is unknown"),
    ((*EXPLICIT, "over"), "horizn", f"{PLACE}: no measure or coordinate 'horizn'"),
    ((*BOUND, "basis"), "lost", "t-bound: a claim that is not printed, and no other, says what"),
    ((*BOUND, "figure"), "fig99", "t-bound.figure: 'fig99' is unknown; did you mean"),
    ((*BOUND, "readings"), ["pots"], "t-bound.readings: 'pots' is unknown; did you mean 'post'?"),
    ((*BOUND, "family"), "singlle", "t-bound.family: 'singlle' is unknown; did you mean 'single'?"),
    ((*BOUND, "kind"), "bond", "got 'bond'; did you mean 'bound'?"),
    ((*BOUND, "family"), None, "claims.t-bound: 'family' is a required property beside 'tests'"),
    ((*BOUND, "untestable"), "it is not", "exactly one of tests, alias_of, judged_by, untestable"),
    ((*BOUND, "untestable"), "it is not", "is needed, got tests and untestable"),
    ((*BOUND, "tests"), None, "claims.t-bound: 'tests' is a required property beside"),
    (("claims", "t-same", "alias_of"), None, "is needed, got none"),
    ((*BOUND, "version"), 2, "claims.t-bound: changes must give the reason of each version"),
    ((*BOUND, "changes"), [{"version": 2, "reason": "new"}], "wanted [], got [2]"),
    ((*BOUND, "between"), ["Eq. 1", "Eq. 2"], "kind is 'bound', between is ['Eq. 1'"),
    (("claims", "t-clash", "between"), None, "kind is 'inconsistency', between is 'not given'"),
    (("claims", "t-clash", "judged_by"), ["t-bond"], "t-clash.judged_by: 't-bond' is unknown; did"),
    (("claims", "t-clash", "judged_by"), ["t-same"], "'t-same' has no tests of its own"),
    (("claims", "t-same", "alias_of"), "t-bond", "t-same.alias_of: 't-bond' is unknown; did you"),
    (("claims", "t-same", "alias_of"), "t-same", "alias_of: 't-same' is an alias itself"),
    (("paper",), "bandit", "paper must be 'banditq', got 'bandit'"),
]


@pytest.mark.parametrize(
    ("path", "value", "words"), WRONG, ids=[f"{'.'.join(row[0])}-{row[1]!r}" for row in WRONG]
)
def test_wrong_ledger(path, value, words, tmp_path):
    content = small()
    set_at(content, path, value)
    text = refusal(tmp_path, banditq=content)
    assert text.startswith("papers/banditq/claims.yaml: ")
    assert words in text


def test_id_twice_in_a_file(tmp_path):
    text = yaml.safe_dump(small(), sort_keys=False)
    again = '\n  t-same: {place: "", statement: "", kind: bound, primary: false}\n'
    position = text.index("\n", text.index("\nclaims:") + 1)
    text = text[:position] + again + text[position + 1 :]
    assert "has key 't-same' twice, again in line" in refusal(tmp_path, banditq=text)


def test_id_in_two_files(tmp_path):
    other = copy.deepcopy(small()) | {"paper": "fair_ucb"}
    other["claims"]["t-bound"]["cells"] = {"experiments": ["r_regret"]}
    del other["claims"]["t-bound"]["figure"]
    text = refusal(tmp_path, banditq=small(), fair_ucb=other)
    assert text == (
        "papers/fair_ucb/claims.yaml: claims.t-bound: this id is already in "
        "papers/banditq/claims.yaml"
    )


# ------------------------------------------------------------------------- what a claim rests on


def resting(**rests_on):
    """Return the small ledger with these claims resting on others; `_` stands for `-`."""
    content = copy.deepcopy(small())
    for key, others in rests_on.items():
        content["claims"][key.replace("_", "-")]["rests_on"] = others
    return content


def test_a_claim_rests_on_others(tmp_path):
    claims = load(tmp_path, banditq=resting(t_clash=["t-same"]))["banditq"].claims
    assert claims["t-same"].bases == ("t-bound",)  # what it says again
    assert claims["t-bound"].bases == ()
    assert claims["t-clash"].bases == ("t-same",)  # what judges it is no argument for it


@pytest.mark.parametrize(
    ("rests_on", "words"),
    [
        ({"t_bound": ["t-clsh"]}, "t-bound.rests_on: 't-clsh' is unknown; did you mean 't-clash'?"),
        ({"t_bound": ["t-bound"]}, "t-bound.rests_on: 't-bound' cannot rest on itself"),
        ({"t_bound": ["t-clash"], "t_clash": ["t-bound"]}, "rests_on: a circle: 't-"),
        (
            {"t_bound": ["t-same"]},  # an alias of it
            "t-bound.rests_on: a circle: 't-bound' rests on 't-same' rests on 't-bound'",
        ),
        ({"t_bound": []}, "t-bound.rests_on"),
        ({"t_bound": ["t-clash", "t-clash"]}, "t-bound.rests_on"),
    ],
    ids=["unknown", "itself", "two", "by way of an alias", "nothing", "twice"],
)
def test_what_a_claim_cannot_rest_on(rests_on, words, tmp_path):
    text = refusal(tmp_path, banditq=resting(**rests_on))
    assert text.startswith("papers/banditq/claims.yaml: claims.t-")
    assert words in text


def test_real_claims_rest_on_what_exists():
    resting_ = [claim for claim in claims().values() if claim.rests_on]
    assert len({claim.paper for claim in resting_}) > 1
    for claim in resting_:
        assert set(claim.rests_on) <= set(claims()), claim.id
        assert not set(claim.rests_on) & {*claim.judged_by, claim.alias_of}, claim.id


# -------------------------------------------------------------------------- what records can ask


@pytest.mark.parametrize(
    ("of_record", "of_test", "message"),
    [
        (
            {"readings": ["post", "pre"], "reading": {"post": "T > 1"}},
            {},
            "claims.t-bound: no test decides under reading 'pre'",
        ),
        (
            {},
            {"inputs": {"values": "worst(cells(reward)) @ T", "against": 1}},
            f"{PLACE}: cells(x) needs cells that are stacked: say `over` what",
        ),
        (
            {},
            {"control": {"policy": "lfg"}, "uncontrolled": "none"},
            f"{PLACE}: a test has a control, or says why there is none, not both",
        ),
    ],
)
def test_questions_that_cannot_be_put(of_record, of_test, message, tmp_path):
    content = small()
    record = content["claims"]["t-bound"]
    record["cells"] = {"experiments": ["full_information"]}
    record["tests"]["explicit"]["inputs"] = {"values": "total(reward) @ T", "against": 1}
    load(tmp_path, banditq=content)
    record |= of_record
    record["tests"]["explicit"] |= of_test
    assert message in refusal(tmp_path, banditq=content)

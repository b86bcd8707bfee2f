"""What of a ledger decides: its digest, and the seed that follows from it."""

import copy
import hashlib

import pytest
import yaml

import real
from fairbandits.audit.ledger import load_ledgers
from fairbandits.settings.canonical import (
    PROSE,
    UNJUDGED_SEED,
    canonical,
    rules_digest,
    seed_of_rules,
)
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import LOADER, ROOT, ConfigError, paper_file, read_yaml

PAPERS = ("banditq", "fair_ucb", "ht_ucb", "bf_ucb")
FILES = {paper: paper_file(paper, "claims") for paper in PAPERS}
LEDGER = """
paper: toy  # a comment
title: A paper
readings: {one: The first., two: The second.}
families: {all: {what: Everything., level: 0.99, correction: holm}}
rules:
  small:
    version: 2
    procedure: bound
    settings: {side: at most, level: 0.99, margin: 1}
    changes: [{version: 2, reason: It was too wide.}]
claims:
  toy-small:
    place: Theorem 1
    statement: It is small.
    kind: bound
    primary: true
    version: 1
    estimand: The mean.
    experiments: [a, b]
    readings: [one, two]
    family: all
    note: Not very.
    tests:
      mean: {rule: small, inputs: {sample: regret @ T, limit: 0.05 * target}, each: arm}
  toy-open:
    {place: section 2, statement: It is open., kind: opinion, primary: false,
     untestable: It is an opinion.}
"""


def content(text=LEDGER):
    return yaml.load(text, LOADER)


def digest(old="", new=""):
    assert old in LEDGER
    return rules_digest(content(LEDGER.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a comment", "# another"),
        ("A paper", "The paper"),
        ("The first.", "The other."),
        ("Everything.", "All."),
        ("It was too wide.", "It was far too wide."),
        ("Theorem 1", "Theorem 1, page 3"),
        ("It is small.", "It is tiny."),
        ("The mean.", "The mean regret."),
        ("    note: Not very.\n", ""),
        ("It is an opinion.", "An opinion has no verdict."),
        ("side: at most, level: 0.99", "level: 0.990, side: at most"),
        ("margin: 1", "margin: 1.0"),
        ("0.05 * target", "'0.05  *\n        target'"),
        ("readings: {one: The first., two: The second.}", "readings: {two: B., one: A.}"),
    ],
)
def test_prose_order_and_comments_do_not_decide(old, new):
    assert digest(old, new) == digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("level: 0.99, correction", "level: 0.95, correction"),
        ("correction: holm", "correction: none"),
        ("procedure: bound", "procedure: equivalence"),
        ("margin: 1", "margin: 2"),
        ("margin: 1", "margin: true"),
        ("0.05 * target", "0.1 * target"),
        ("rule: small", "rule: large"),
        ("each: arm", "each: policy"),
        ("each: arm", "each: arm, decides: false"),
        ("[one, two]", "[two, one]"),
        ("[one, two]", "[one]"),
        ("[a, b]", "[a]"),
        ("family: all", "family: none"),
        ("    family: all\n", "    family: all\n    combine: any\n"),
        # what a later edition of the records may have is not known here, and decides
        ("    family: all\n", "    family: all\n    cells: {experiments: [a], arm: protected}\n"),
        ("    family: all\n", "    family: all\n    over: T\n"),
        ("each: arm", "each: arm, reading: law"),
        ("each: arm", "each: arm, with: {note: 1}"),
        ("each: arm", "each: arm, fn: theorem_2"),
        ("toy-small:", "toy-tiny:"),
        ("paper: toy", "paper: other"),
        ("untestable: It is an opinion.", "judged_by: [toy-small]"),
    ],
)
def test_rules_decide(old, new):
    assert digest(old, new) != digest()


def test_prose_is_named_by_the_record_that_it_stands_in():
    inside = content()
    inside["claims"]["toy-small"]["tests"]["mean"]["inputs"]["note"] = "an input of that name"
    assert rules_digest(inside) != digest()
    prose = ("place", "statement", "estimand", "note", "between", "changes", "reconstructed")
    assert PROSE["claims"] == (*prose, "rests_on")


def test_what_a_claim_rests_on_does_not_decide():
    other = content()
    other["claims"]["toy-small"]["rests_on"] = ["toy-open"]
    assert rules_digest(other) == digest()


def test_the_canonical_form_leaves_the_content_alone():
    given = content()
    before = copy.deepcopy(given)
    found = canonical(given)
    assert given == before
    assert found["claims"]["toy-open"] == {"kind": "opinion", "primary": False, "untestable": True}


def test_what_is_no_plain_value_is_refused():
    wrong = content()
    wrong["rules"]["small"]["settings"]["margin"] = {1, 2}
    with pytest.raises(ValueError, match=r"rules\.small\.settings\.margin: \{1, 2\} is no number"):
        rules_digest(wrong)


def test_a_rule_of_a_real_ledger_decides_and_its_prose_does_not():
    for file in FILES.values():
        given = read_yaml(file)
        before = rules_digest(given)
        for claim in given["claims"].values():
            claim["statement"] = claim["place"] = "Another."
        assert rules_digest(given) == before
        name = next(key for key, one in given["claims"].items() if "tests" in one)
        next(iter(given["claims"][name]["tests"].values()))["inputs"]["limit"] = 0.123
        assert rules_digest(given) != before


# ---------------------------------------------------------------------------------- the seeds


def settings(seed, papers=PAPERS):
    base = read_yaml(ROOT / "config" / "config.yaml")
    return base | {"seed": seed, "papers": list(papers)}


def test_the_seed_is_as_documented():
    made = hashlib.sha256(b"0123456789abcdef banditq").digest()[:8]
    seed = seed_of_rules("banditq", "0123456789abcdef")
    assert seed == int.from_bytes(made, "big") // 2
    assert 0 <= seed < 2**63
    assert seed_of_rules("ht_ucb", "") == UNJUDGED_SEED


def test_seeds_of_the_ledgers():
    config = build_config(settings("ledger"), "test")
    assert not config.exploratory
    ledgers = load_ledgers(config)
    assert config.rules == {paper: rules_digest(read_yaml(file)) for paper, file in FILES.items()}
    for paper, digest in config.rules.items():
        assert ledgers[paper].digest == config.ledger_of(paper) == digest
        assert config.seed_of(paper) == seed_of_rules(paper, digest)
    assert len({config.seed_of(paper) for paper in PAPERS}) == 4


def test_a_number_is_exploratory():
    config = build_config(settings(7), "test")
    assert config.exploratory
    assert [config.seed_of(paper) for paper in ("banditq", "ht_ucb")] == [7, 7]
    assert config.ledger_of("banditq") is None
    assert config.rules


def test_another_word_is_refused():
    with pytest.raises(ConfigError) as error:
        build_config(settings("ledgers"), "test.yaml")
    words = "test.yaml: seed: 'ledgers' is neither a whole number of at least 0 nor 'ledger'"
    assert str(error.value) == words


def test_the_published_scale_has_seeds_of_the_ledgers():
    config = real.config()
    assert not config.exploratory
    for paper, digest in config.rules.items():
        assert config.seed_of(paper) == seed_of_rules(paper, digest)

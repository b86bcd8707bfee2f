"""What of a ledger decides: its digest, and the seed that follows from it."""

import hashlib
from dataclasses import replace

import pytest
import yaml

import real
import small
from fairbandits.settings.canonical import rules_digest, seed_of_digest
from fairbandits.settings.config import build_config
from fairbandits.settings.deciding import decided
from fairbandits.settings.schemas import LOADER, ROOT, ConfigError, read_yaml

PAPERS = small.PAPERS
LEDGER = """
paper: toy  # a comment
title: A paper
readings: {one: The first., two: The second.}
families: {all: {what: Everything., level: 0.99, correction: holm}}
rules:
  small:
    version: 2
    procedure: mean
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
        ("Everything.", "All."),
        ("It was too wide.", "It was far too wide."),
        ("Theorem 1", "Theorem 1, page 3"),
        ("mean: {rule", "average: {rule"),
        ("small:\n    version: 2", "small:\n    version: 3"),
        ("    version: 1\n", "    version: 2\n"),
        ("The second.}", "The second., three: The third.}"),
        ("rule: small, inputs", "note: By the way., rule: small, inputs"),
        ("    note: Not very.\n", "    rests_on: [toy-open]\n"),
        ("It is an opinion.", "An opinion has no verdict."),
        ("side: at most, level: 0.99", "level: 0.990, side: at most"),
        ("margin: 1", "margin: 1.0"),
        ("0.05 * target", "'0.05  *\n        target'"),
        ("{one: The first., two: The second.}", "{two: The second., one: The first.}"),
    ],
)
def test_prose_order_and_comments_do_not_decide(old, new):
    assert digest(old, new) == digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It is small.", "It is tiny."),
        ("It is open.", "It is closed."),
        ("The mean.", "The mean regret."),
        ("The first.", "The other."),
        ("level: 0.99, correction", "level: 0.95, correction"),
        ("correction: holm", "correction: none"),
        ("procedure: mean", "procedure: slope"),
        ("margin: 1", "margin: true"),
        ("0.05 * target", "0.1 * target"),
        ("rule: small", "rule: large"),
        ("each: arm", "each: arm, decides: false"),
        ("[one, two]", "[two, one]"),
        ("[a, b]", "[a]"),
        ("family: all", "family: none"),
        ("    family: all\n", "    family: all\n    combine: any\n"),
        # what a later edition of the records may have is not known here, and decides
        ("    family: all\n", "    family: all\n    cells: {experiments: [a], arm: protected}\n"),
        ("each: arm", "each: arm, with: {note: 1}"),
        ("each: arm", "each: arm, fn: theorem_2"),
        ("toy-small:", "toy-tiny:"),
        ("untestable: It is an opinion.", "judged_by: [toy-small]"),
    ],
)
def test_rules_decide(old, new):
    assert digest(old, new) != digest()


def test_what_is_no_plain_value_is_refused():
    wrong = content()
    wrong["rules"]["small"]["settings"]["margin"] = {1, 2}
    with pytest.raises(
        ValueError, match=r"tests\.mean\.rule\.settings\.margin: \{1, 2\} is no number"
    ):
        rules_digest(wrong)


#: What followed from the rules of the second edition, as the figures were drawn.
OF_FIGURES = {
    "banditq": 991403885200061101,
    "fair_ucb": 5042599712177706709,
    "ht_ucb": 597758261109628631,
    "bf_ucb": 5418944914315363884,
}


def settings(seed, papers=PAPERS):
    base = read_yaml(ROOT / "config" / "config.yaml")
    return base | {"seed": seed, "papers": list(papers)}


def test_the_seed_is_as_documented():
    for salt, text in (("", "0123456789abcdef banditq"), ("any words", "... any words")):
        made = hashlib.sha256(text.replace("...", "0123456789abcdef banditq").encode()).digest()
        seed = seed_of_digest("0123456789abcdef", "banditq", salt)
        assert seed == int.from_bytes(made[:8], "big") // 2
        assert 0 <= seed < 2**63


def test_what_figures_show_keeps_its_seed():
    config = real.config()
    shown = [one for one in config.experiments if not one.audit]
    assert {one.paper for one in shown} >= {*OF_FIGURES}
    for one in (one for one in shown if one.paper in OF_FIGURES):
        assert config.seed_of(one) == OF_FIGURES[one.paper]
        assert config.ledger_of(one) is None
    for one in config.experiments:  # and what meets the same rewards
        if one.paper in OF_FIGURES and (one.figures or one.companion_to):
            assert config.seed_of(one) == OF_FIGURES[one.paper]
            assert one.dataset in config.pinned
    assert not replace(config, salt="any words").pinned


def test_evidence_has_seeds_of_the_records_that_read_it():
    config = real.config()
    assert not config.exploratory
    assert config.rules == {paper: decided(paper).digest for paper in PAPERS}
    assert {paper: one.digest for paper, one in real.ledgers().items()} == config.rules
    drawn = {paper: decided(paper).drawn for paper in PAPERS}
    seeds = set()
    for one in config.experiments:
        if digest := config.ledger_of(one):
            assert digest == drawn[one.paper][one.suite or one.name]
            seeds.add(config.seed_of(one))
            assert config.seed_of(one) == seed_of_digest(digest, one.paper)
    assert len(seeds) > 60


def test_runs_that_share_streams_share_seeds():
    config, seeds = real.config(), {}
    for one in config.experiments:
        for run in one.runs:
            seeds.setdefault(run.spec.stream, set()).add(config.seed_of(one))
    assert {len(some) for some in seeds.values()} == {1}


def test_a_salt_changes_every_seed():
    salted = build_config(settings("ledger") | {"salt": "any words"}, "test")
    other = build_config(settings("ledger") | {"salt": "other words"}, "test")
    for one in salted.experiments:
        assert len({config.seed_of(one) for config in (real.config(), salted, other)}) == 3
        assert salted.seed_of(one) == seed_of_digest(str(one.origin), one.paper, "any words")
    for paper in PAPERS:
        assert salted.seed_of_judging(paper) != real.config().seed_of_judging(paper)


def test_another_word_is_refused():
    with pytest.raises(ConfigError) as error:
        build_config(settings("ledgers"), "test.yaml")
    words = "test.yaml: seed must be a whole number of at least 0 or 'ledger', got 'ledgers'"
    assert str(error.value) == words

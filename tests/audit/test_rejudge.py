"""Verdicts under a salt: what is simulated for them, what is kept, and what a page says of it."""

import pytest
from click.testing import CliRunner

import real
from fairbandits.audit import rejudge
from fairbandits.audit.finding import FAILED, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from fairbandits.audit.rejudge import Again, came_again, data_of, judged_again, record, verdicts_on
from fairbandits.cli.main import main

CONFIG = real.config()
LEDGERS = real.ledgers()
CLAIM = next(
    key for key, one in LEDGERS["ht_ucb"].claims.items() if one.primary and one.experiments
)


@pytest.mark.parametrize("paper", LEDGERS)
def test_primary_claims_draw_only_what_they_read(paper):
    ledger = LEDGERS[paper]
    few = judged_again(ledger, primary_of(ledger))
    assert {key for key, one in ledger.claims.items() if one.primary} <= few.claims.keys()
    for one in few.claims.values():
        assert {*one.judged_by, *filter(None, [one.alias_of])} <= few.claims.keys()
        if one.tests and ledger.families[one.family].correction == "holm":
            of_family = [key for key, other in ledger.claims.items() if other.family == one.family]
            assert set(of_family) <= few.claims.keys()
    read = {place for one in few.claims.values() for place in files_of(paper, one.experiments)}
    assert set(data_of(few, CONFIG)) - {one.table for one in CONFIG.replays} == read
    assert set(data_of(few, CONFIG)) <= set(data_of(ledger, CONFIG))
    assert judged_again(ledger, ledger.claims) == ledger


def primary_of(ledger):
    return [key for key, one in ledger.claims.items() if one.primary]


def files_of(paper, names):
    return [one.dataset for name in names for one in CONFIG.named(paper, name)]


def test_a_salt_has_a_folder_of_its_own():
    one, other = (rejudge.settings_of("ht_ucb", salt, "results") for salt in ("a", "b"))
    assert one["pathvars"]["results"].startswith("results/rejudge/ht_ucb/")
    assert not set(one["pathvars"].values()) & set(other["pathvars"].values())
    assert rejudge.settings_of("ht_ucb", "a", "results") == one


def test_verdicts_stand_beside_the_committed_ones(tmp_path):
    """Without data all that needs some has failed."""
    ledger = judged_again(LEDGERS["ht_ucb"], primary_of(LEDGERS["ht_ucb"]))
    found = {one.claim: one for one in verdicts_on(ledger, CONFIG, tmp_path)}
    assert found.keys() <= ledger.claims.keys()
    assert (found[CLAIM].found, found[CLAIM].primary, found[CLAIM].agrees) == (FAILED, True, False)
    agreeing = {key for key, one in found.items() if one.agrees}
    untestable = {key for key in found if ledger.claims[key].untestable}
    assert untestable <= agreeing
    lines = rejudge.summary("x", list(found.values()))
    assert len(lines) == 1 + len(found) - len(agreeing)
    assert {found[key].found for key in untestable} <= {NOT_TESTABLE}


@pytest.mark.parametrize(
    ("paper", "key", "is_given"),
    [
        ("banditq", "banditq-prop3-regret", False),
        ("banditq", "banditq-eq8-drift", True),
        ("banditq", "banditq-inconsistency-12", True),  # judged by another
        ("ht_ucb", "htucb-thm2-cr-count", False),
    ],
)
def test_where_derivations_decide_no_seed_does(paper, key, is_given):
    ledger = LEDGERS[paper]
    said = came_again(ledger.claims[key], ledger)
    assert (said == rejudge.NOTHING_DRAWN) is is_given


def test_agreement_is_kept_by_salt_and_shown(tmp_path, monkeypatch):
    table = tmp_path / "agreement.csv"
    monkeypatch.setattr(rejudge, "TABLE", table)
    ledger = LEDGERS["ht_ucb"]
    claim = ledger.claims[CLAIM]
    assert came_again(claim, ledger) == ""
    for salt, found in (("b", NOT_REPRODUCED), ("a", NOT_REPRODUCED), ("b", REPRODUCED)):
        one = Again(CLAIM, True, REPRODUCED, found)
        record("ht_ucb", salt, [one, one._replace(claim="htucb-other", primary=False)], table)
    lines = table.read_text().splitlines()
    assert lines[0] == ",".join(rejudge.COLUMNS)
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["no", "yes"]
    assert lines[1].startswith(f"{CLAIM},a,")
    assert came_again(claim, ledger).startswith("The verdict is the same under 1 of 2 other seeds")
    assert rejudge.recorded("ht_ucb", "a", table) == {CLAIM}
    primary = judged_again(ledger, primary_of(ledger))
    assert CLAIM not in judged_again(ledger, primary.claims, but=[CLAIM]).claims
    assert len(judged_again(ledger, primary.claims, but=primary.claims).claims) == 0
    # of other rules than now
    table.write_text(table.read_text().replace(lines[1].split(",")[2], "0" * 16))
    rejudge._agreement.cache_clear()
    assert came_again(claim, ledger) == ""
    assert not rejudge.recorded("ht_ucb", "a", table)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--salt", "x"], "name either CLAIMS or a --paper"),
        (
            ["htucb-thm1-fair", "--paper", "ht_ucb", "--salt", "x"],
            "name either CLAIMS or a --paper",
        ),
        (["htucb-thm1-fair", "--primary", "--salt", "x"], "are about a --paper, not about CLAIMS"),
        (["htucb-thm1-fair", "bf-thm3-rate", "--salt", "x"], "bf-thm3-rate is not of ht_ucb"),
        (["htucb-thm1-fai", "--salt", "x"], "did you mean 'htucb-thm1-fair'"),
        (["htucb-thm1-fair"], "says which data are drawn"),
    ],
)
def test_what_is_judged_again_is_said_once(words, message):
    ran = CliRunner().invoke(main, ["rejudge", *words])
    assert ran.exit_code
    assert message in f"{ran.output}{ran.exception}"


def test_a_claim_that_derivations_decide_runs_nothing():
    ran = CliRunner().invoke(main, ["rejudge", "banditq-eq8-drift", "--salt", "x"])
    assert ran.output == "Under the salt 'x' 1 of 1 verdicts came again.\n"

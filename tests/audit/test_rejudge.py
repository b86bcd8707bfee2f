"""Verdicts under a salt: what is simulated for them, what is kept, and what a page says of it."""

from functools import partial

import pytest

import real
from commands import invoke, said
from fairbandits.audit import rejudge, sentences
from fairbandits.audit.finding import FAILED, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from fairbandits.audit.rejudge import Again, judged_again, record, verdicts_on
from fairbandits.audit.sentences import AGREEMENT, NOTHING_DRAWN, came_again
from fairbandits.audit.tiny import read_by
from fairbandits.cli import launch
from fairbandits.data.texts import csv_rows
from fairbandits.settings.config import load_config
from fairbandits.settings.seeds import latest

CONFIG = real.config()
PAPERS = real.papers()
PAPER = PAPERS["ht_ucb"]
CLAIM = "htucb-thm1-fair"


def primary_of(paper):
    return [key for key, claim in paper.claims.items() if claim.primary]


@pytest.mark.parametrize("slug", PAPERS)
def test_primary_claims_need_their_family_and_its_judges(slug):
    paper = PAPERS[slug]
    few = judged_again(paper, primary_of(paper))
    assert {*primary_of(paper)} <= few.claims.keys()
    for claim in few.claims.values():
        assert {*claim.judged_by, *filter(None, [claim.alias_of])} <= few.claims.keys()
    others = [key for key, claim in paper.claims.items() if claim.of and not claim.primary]
    alone = judged_again(paper, others[:1])
    assert [key for key, claim in alone.claims.items() if claim.of] == others[:1]
    assert judged_again(paper, paper.claims).claims == paper.claims


def test_only_what_claims_read_is_drawn():
    few = judged_again(PAPER, ["htucb-intro-user-knob"])
    assert read_by(few, CONFIG) == ["ht_ucb/user_rates.parquet"]
    both = judged_again(PAPER, ["htucb-intro-user-knob", CLAIM])
    assert {*read_by(few, CONFIG), "ht_ucb/edge.parquet"} <= set(read_by(both, CONFIG))


def test_a_salt_has_a_folder_of_its_own():
    settings, other = (rejudge.settings_of("ht_ucb", salt, "results") for salt in ("a", "b"))
    assert settings["pathvars"]["results"].startswith("results/rejudge/ht_ucb/")
    assert not set(settings["pathvars"].values()) & set(other["pathvars"].values())
    assert rejudge.settings_of("ht_ucb", "a", "results") == settings


def test_verdicts_stand_beside_the_committed_ones(tmp_path):
    """Without data all that needs some has failed."""
    paper = judged_again(PAPER, primary_of(PAPER))
    verdicts = {verdict.claim: verdict for verdict in verdicts_on(paper, CONFIG, tmp_path)}
    assert verdicts.keys() <= paper.claims.keys()
    again = verdicts[CLAIM]
    assert (again.found, again.primary, again.agrees) == (FAILED, True, False)
    agreeing = {key for key, verdict in verdicts.items() if verdict.agrees}
    untestable = {key for key in verdicts if paper.claims[key].untestable}
    assert untestable <= agreeing
    assert {verdicts[key].found for key in untestable} <= {NOT_TESTABLE}
    lines = rejudge.summary("x", list(verdicts.values()))
    assert len(lines) == 1 + len(verdicts) - len(agreeing)
    (line,) = (line for line in lines if line.startswith(f"  {CLAIM}: "))
    assert line.startswith(f"  {CLAIM}: {again.verdict} -> failed: ")
    assert again.why in line
    assert ".parquet" in again.why


def test_where_derivations_decide_no_seed_does():
    rows = [{"decides": True, "given": True}, {"decides": False, "given": False}]
    claim = PAPER.claims[CLAIM]
    assert came_again(claim, rows) == NOTHING_DRAWN
    rows[1]["decides"] = True
    assert came_again(claim, rows) != NOTHING_DRAWN
    assert came_again(claim, []) != NOTHING_DRAWN


def test_agreement_is_kept_by_salt_and_shown(tmp_path, monkeypatch):
    table, release = tmp_path / "agreement.csv", latest()["release"]
    monkeypatch.setattr(sentences, "AGREEMENT", table)
    claim = PAPER.claims[CLAIM]
    assert came_again(claim, []) == ""
    sentences.agreement.cache_clear()
    for salt, verdict in (("b", NOT_REPRODUCED), ("a", NOT_REPRODUCED), ("b", REPRODUCED)):
        again = Again(CLAIM, True, REPRODUCED, verdict)
        others = again._replace(primary=False), again._replace(found=FAILED)
        others = [row._replace(claim="htucb-other") for row in others]
        record(salt, [again, *others], table)
    assert table.read_text().splitlines() == [
        "release,claim,salt,verdict,found,again",
        f"{release},{CLAIM},a,reproduced,not reproduced,no",
        f"{release},{CLAIM},b,reproduced,reproduced,yes",
    ]
    assert came_again(claim, []) == (
        "The verdict is the same under 1 of 2 other seeds, each with data of its own. "
        "Under the rest: not reproduced."
    )
    assert rejudge.recorded(PAPER, "a", table) == {CLAIM}
    primary = judged_again(PAPER, primary_of(PAPER))
    assert CLAIM not in judged_again(PAPER, primary.claims, but=[CLAIM]).claims
    assert judged_again(PAPER, primary.claims, but=primary.claims).claims == {}


def test_the_committed_agreement_is_of_primary_claims():
    rows = csv_rows(AGREEMENT)
    claims = real.every()
    assert all(claims[row["claim"]].primary for row in rows)
    said = {(row["verdict"] == row["found"], row["again"]) for row in rows}
    assert said <= {(True, "yes"), (False, "no")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--salt", "x"], "name either CLAIMS or a --paper"),
        ([CLAIM, "--paper", "ht_ucb", "--salt", "x"], "name either CLAIMS or a --paper"),
        (["htucb-thm1-fair", "--release"], "for a --paper --release"),
        (["--paper", "ht_ucb", "--release", "--salt", "x"], "for a --paper --release"),
        (["htucb-thm1-fair", "bf-thm3-rate", "--salt", "x"], "bf-thm3-rate is not of ht_ucb"),
        (["htucb-thm1-fai", "--salt", "x"], "near: htucb-thm1-fair"),
        (["htucb-thm1-fair"], "says which data are drawn"),
    ],
)
def test_what_is_judged_again_is_said_once(arguments, message):
    ran = invoke("rejudge", *arguments)
    assert ran.exit_code
    assert message in f"{ran.output}{ran.exception}"


def test_a_claim_that_derivations_decide_runs_nothing():
    ran = said("rejudge", "banditq-eq8-drift", "--salt", "x")
    assert ran == "Under the salt 'x' 1 of 1 verdicts came again.\n"


def test_what_is_recorded_is_not_judged_again(monkeypatch, tmp_path):
    salts, table = latest()["salts"], tmp_path / "agreement.csv"
    for salt in salts:
        made = [Again(key, True, REPRODUCED, REPRODUCED) for key in primary_of(PAPERS["bf_ucb"])]
        record(salt, made, table)
    monkeypatch.setattr(rejudge, "recorded", partial(rejudge.recorded, table=table))
    ran = said("rejudge", "--paper", "bf_ucb", "--release")
    has_all = "Under the salt {!r} audit/agreement.csv has all verdicts already.".format
    assert ran.splitlines() == [has_all(salt) for salt in salts]


def test_a_claim_that_fails_is_named_with_its_reason(monkeypatch):
    monkeypatch.setattr(launch, "launch", lambda *_, **__: 0)  # so that there are no data
    ran = invoke("rejudge", CLAIM, "--salt", "no data")
    assert ran.exit_code == 1
    (line,) = (line for line in ran.output.splitlines() if line.startswith(f"  {CLAIM}: "))
    assert " -> failed: " in line
    assert line.endswith(".parquet does not exist; `fairbandits replicate` makes it")
    assert "claims could not be judged, as said above" in ran.output


def test_a_run_under_a_salt_has_the_settings_of_the_project(monkeypatch):
    started = []

    def start(targets, cores, files, root, stay):
        started.append((targets, load_config(files)))
        return 1

    monkeypatch.setattr(launch, "launch", start)
    ran = invoke("rejudge", "htucb-intro-user-knob", "--salt", "x")
    ((targets, config),) = started
    assert "the run under the salt 'x' ended with 1" in ran.output
    assert (config.salt, config.seed) == ("x", CONFIG.seed)
    assert targets == [f"{config.folders['results']}/ht_ucb/user_rates.parquet"]

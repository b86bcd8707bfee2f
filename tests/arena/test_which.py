"""Which policy to use: the answer in words, from the committed table."""

import pytest

import commands
from commands import refused
from fairbandits.arena import decisions, which
from fairbandits.arena.roles import load_arena
from fairbandits.arena.settings import arena_config
from fairbandits.settings.schemas import ROOT, read_yaml

CONFIG = arena_config(read_yaml(ROOT / "config" / "config.yaml"), "config/config.yaml")


def said(*arguments):
    return commands.said("which", *arguments).replace("\u202f", "")


def test_it_is_the_row_of_the_page():
    """The table in text has what the page's table shows, and the same choices follow from it."""
    rows = which.committed(CONFIG)
    assert {*rows["horizon"]} == {1_000, 10_000, 100_000, 1_000_000}
    for terms in load_arena(CONFIG).terms:
        of_contract = rows[rows["contract"] == terms.name]
        for horizon, known in (("unknown", False), ("10000", True)):
            shown = said("--contract", terms.name, "--horizon", horizon)
            at = [10_000] if known else sorted({*of_contract["horizon"]})
            for kept in decisions.KEPT:
                choice = decisions.choice(of_contract, kept, at, known)
                assert decisions.with_symbols(choice.name) in shown
                assert ("none; nearest is" in shown) or choice.keeps


def test_a_policy_that_keeps_the_contract_in_long_runs_is_for_these_alone():
    """LFG's shortfall is about its weight times a gap, however long the run is."""
    rows = which.committed(CONFIG)
    lfg = rows[(rows["contract"] == "minimum_pulls") & (rows["name"] == "LFG, eta 100")]
    kept = lfg.groupby("horizon")["kept"].all()
    assert kept.to_dict() == {1_000: False, 10_000: False, 100_000: True, 1_000_000: True}
    unknown = said("--quota", "0.05", "--horizon", "unknown")
    assert "LFG, η = 100" not in unknown
    assert "Fair-UCB, α = 0" in unknown


def test_it_says_what_the_answer_rests_on():
    judged = said("--quota", "0.05")
    assert "with the quota 1/20 for each: Ten arms, small gaps" in judged
    other = said("--quota", "0.07")
    assert "None of them has the quota 7/100 for each; some have 1/400, 1/20, 1/16, 1/10" in other
    between = said("--horizon", "30000")
    assert "T = 30000 was not judged: the answer is that for 10000 and 100000" in between
    assert "that for 1000000." in said("--horizon", "1e7")
    assert "all 3 instances" in said("--contract", "group_exposure", "--quota", "0.3")


def test_between_two_horizons_the_contract_is_kept_at_both():
    rows = which.committed(CONFIG)
    rows = rows[rows["contract"] == "minimum_pulls"]
    at_long = decisions.choice(rows, "kept", [100_000]).name
    choice = decisions.choice(rows, "kept", [10_000, 100_000])
    assert choice.keeps
    assert choice.name != at_long


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--quota", "0.7"), "--quota must be above 0 and below 1/2"),
        (("--quota", "0"), "--quota must be above 0 and below 1/2"),
        (("--quota", "5%"), "--quota must be a number such as 0.05"),
        (("--horizon", "ten"), "must be a whole number of rounds such as 10000, or unknown"),
        (("--horizon", "0"), "must be a whole number of rounds"),
        (("--horizon", "0.5"), "must be a whole number of rounds"),
        (("--contract", "minimum"), "did you mean 'minimum_pulls'?"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    assert message in refused("which", *arguments)


def test_without_the_table_it_says_what_makes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(which, "ROOT", tmp_path)
    message = "arena.csv does not exist; `fairbandits replicate arena` makes it"
    assert message in refused("which")


def test_a_run_of_the_arena_ends_with_its_answer():
    rows = which.committed(CONFIG)
    first, *lines = which.answer(load_arena(CONFIG), rows)
    assert "T is not known" in first
    titles = [terms.title for terms in load_arena(CONFIG).terms]
    assert [line.strip().partition(":")[0] for line in lines] == titles
    assert "Fair-UCB, α = 0" in lines[0]
    _, line, *_ = which.answer(load_arena(CONFIG), rows.assign(kept=False))
    assert "none; nearest is" in line

"""The page across papers: shared statements, what rests on what, and what a broken one carries."""

import dataclasses
import re
import shutil

import pytest
import yaml

import small
from fairbandits.audit.finding import NOT_REPRODUCED, REPRODUCED
from fairbandits.report import across
from fairbandits.settings.schemas import ROOT, ConfigError

LINK = re.compile(r'<a data-page="claims/([^"]+)" href="../results/site/claims/\1.html">')


def with_verdicts(judged, **verdicts):
    """Return the audit with other headlines; `_` stands for `-`, all others are reproduced."""
    named = {key.replace("_", "-"): verdict for key, verdict in verdicts.items()}
    heads = (row for row in judged.rows if row["headline"])
    rows = [row | {"verdict": named.get(row["claim"], REPRODUCED)} for row in heads]
    return dataclasses.replace(judged, rows=rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("claims", ["bf-thm2-geff", "fairucb-obs2"]), "'bf-thm2-geff' is unknown; did you mean"),
        (("claims", ["fairucb-obs2", "fairucb-obs3"]), "all are of 'fair_ucb'; two papers are"),
        (("claim", []), "statements.one: unknown key 'claim'; did you mean 'claims'?"),
    ],
    ids=["unknown", "one paper", "key"],
)
def test_wrong_statements(judged, change, message, tmp_path):
    statement = {"title": "One", "statement": "It is.", "claims": ["bf-thm2-gef", "fairucb-obs2"]}
    shutil.copytree(ROOT / "papers", tmp_path / "papers", ignore=shutil.ignore_patterns("*.yaml"))
    (tmp_path / across.FILE).write_text(yaml.safe_dump({"statements": {"one": statement}}))
    assert across.load_shared(judged.papers, tmp_path)["one"].claims == statement["claims"]
    some = {"fair_ucb": judged.papers["fair_ucb"]}  # the other one is not configured
    assert across.load_shared(some, tmp_path)["one"].claims == ["fairucb-obs2"]
    key, value = change
    content = {"statements": {"one": statement | {key: value}}}
    (tmp_path / across.FILE).write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError) as error:
        across.load_shared(judged.papers, tmp_path)
    assert str(error.value).startswith("papers/across.yaml: statements.one")
    assert message in str(error.value)


@pytest.mark.parametrize("paper", small.PAPERS)
def test_all_that_rests_on_something_stands_below_it(judged, paper):
    listed, below, last = set(), [], ""
    for mark, key in re.findall(r'(</?ul>)|data-page="claims/([^"]+)"', across.tree(judged, paper)):
        if mark == "<ul>":
            below.append(last)
        elif mark:
            below.pop()
        else:
            last = key
            listed |= {(base, key) for base in below[-1:]}
    papers = {key: claim.paper for key, claim in judged.claims.items()}
    pairs = {(base, key) for base, keys in across.resting(judged).items() for key in keys}
    assert listed == {pair for pair in pairs if paper in {papers[key] for key in pair}}


def test_all_that_rests_on_a_claim_is_found():
    above = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["e"]}
    assert across.carried("a", above) == ["b", "c", "d", "e"]
    assert across.carried("d", above) == ["e"]
    assert across.carried("e", above) == []


def test_a_broken_lemma_takes_its_theorem_along(judged):
    broken = with_verdicts(judged, fairucb_lemma1_partition=NOT_REPRODUCED)
    markup = across.taken_along(broken, "fair_ucb")
    first, *others = LINK.findall(markup)
    assert first == "fairucb-lemma1-partition"
    assert "fairucb-thm1-alpha0" in others
    assert "fairucb-abs-anytime-fair" in others  # by way of the theorem
    assert "bf-thm2-gef" in others  # of another paper
    assert "fairucb-obs2" not in others  # which it rests on itself
    assert markup.count(f">{NOT_REPRODUCED}<") == 1
    assert "None that others rest on" in across.taken_along(broken, "banditq")

"""Pictures of the arena: what they say, and that equal standings give equal bytes."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

import fairbandits.report.entrant  # noqa: F401  offers the marks
from fairbandits.arena import picture
from fairbandits.arena.roles import CONTROL, ORACLE
from fairbandits.report.markup import render
from settings_of_a_user import set_otherwise

TERMS = SimpleNamespace(title="minimum pulls", unit="pulls")
KINDS = {"A": "own", "B & C": "own", "UCB1": CONTROL, "optimum": ORACLE, "mine": "yours"}


@pytest.fixture
def rows():
    """Return standings of five policies on two instances, the first with two settings."""
    found = []
    for instance in ("one", "two"):
        for k, (label, kind) in enumerate(KINDS.items()):
            for setting in ("", "eta 2")[: 1 + (label == "A")]:
                row = {"instance": instance, "label": label, "kind": kind, "horizon": 1000}
                row |= {"name": f"{label} {setting}".strip(), "usual": not setting}
                row |= {"dominated_by": "" if k < 2 else "A", "shortfall": k / 2}
                row["contract_regret"] = 10.0 - 3 * k
                for name in ("shortfall", "contract_regret"):
                    row |= {f"{name}_low": row[name] - 1, f"{name}_high": row[name] + 1}
                found.append(row)
    return pd.DataFrame(found)


def test_each_policy_has_a_look_of_its_own(rows):
    look = picture.looks([*KINDS, "elsewhere"], rows, ["mine"])
    assert list(look) == list(KINDS)
    assert len(set(look.values())) == len(look)
    assert look["UCB1"][0] == picture.IGNORES
    assert look["mine"][0] == picture.YOURS
    many = picture.looks([f"p{k}" for k in range(30)], rows.assign(label="p0"))
    assert set(many) == {"p0"}


def test_an_instance_names_every_setting_and_writes_the_own_policy(rows):
    look = picture.looks(list(KINDS), rows, ["mine"])
    one = rows[rows["instance"] == "one"]
    shown = picture.panel("<One>", one, look, "pulls", ["mine"])
    label = "&lt;One&gt;: contract regret against shortfall of 5 policies"
    assert f'role="img" aria-label="{label}"' in shown
    titles = re.findall("<title>(.*?)</title>", shown)
    assert len(titles) == 6
    assert "A η = 2: contract regret 10, shortfall 0" in titles
    assert "B &amp; C: contract regret 7, shortfall 0.5" in titles
    written = re.findall("<text[^>]*>(.*?)</text>", shown)
    assert "mine" in written
    assert "A" not in written
    assert "stroke-dasharray" in shown
    with set_otherwise():
        assert shown == picture.panel("<One>", one, look, "pulls", ["mine"])


def test_a_contract_names_all_policies_but_those_that_know_the_means(rows):
    look = picture.looks(list(KINDS), rows)
    shown = picture.overview(TERMS, rows, look)
    written = re.findall("<text[^>]*>(.*?)</text>", shown)
    assert {"A", "B &amp; C", "UCB1", "Minimum pulls"} <= set(written)
    assert "optimum" not in shown
    assert "A: contract regret 10, shortfall 0 in 1\u202f000 rounds" in shown
    with set_otherwise():
        assert shown == picture.overview(TERMS, rows, look)


@pytest.mark.parametrize("name", ["_Mine", "$5 to $10", "$x^^$", r"\frac 50 %", "a 0.00012345"])
def test_names_are_written_as_they_are(rows, name):
    rows = rows.replace({"A": name, "A eta 2": f"{name} 2"})
    look = picture.looks([name, *KINDS], rows, [name])
    panel = picture.panel(name, rows[rows["instance"] == "one"], look, "pulls", [name])
    for shown in (picture.overview(TERMS, rows, look), panel):
        assert name in re.findall("<text[^>]*>(.*?)</text>", shown)
        assert f"<title>{name}: contract regret" in shown


def test_pages_have_no_identifier_twice(rows):
    look = picture.looks(list(KINDS), rows)
    shown = picture.panel("One", rows[rows["instance"] == "one"], look, "pulls")
    assert not re.findall(r'<g id="', shown)
    assert "&lt;A&gt;" in render("arena_legend.html", look={"<A>": ("#000000", "o")}, yours=["<A>"])

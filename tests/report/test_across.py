"""The page across papers: shared statements, the graph of claims, and what a broken one carries."""

import dataclasses
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
import yaml
from markupsafe import escape

import small
from fairbandits.audit.finding import DEPENDS, NOT_REPRODUCED, OUTCOMES, REPRODUCED
from fairbandits.report import across, audit, graph
from fairbandits.report.markup import typeset
from fairbandits.settings.schemas import ROOT, ConfigError

SVG = "{http://www.w3.org/2000/svg}"
LINK = re.compile(r'<a data-page="claims/([^"]+)" href="../results/site/claims/\1.html">')


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return audit.open_audit(small.audited(tmp_path_factory) / "results")


@pytest.fixture(scope="module")
def half(found):
    """Return the verdicts without those of two papers."""
    rows = [row for row in found.rows if row["paper"] in ("banditq", "fair_ucb")]
    return dataclasses.replace(found, rows=rows)


def with_verdicts(found, **verdicts):
    """Return the audit with other headlines; `_` stands for `-`, all others are reproduced."""
    named = {key.replace("_", "-"): verdict for key, verdict in verdicts.items()}
    rows = [
        row | {"verdict": named.get(row["claim"], REPRODUCED)}
        for row in found.rows
        if row["headline"]
    ]
    return dataclasses.replace(found, rows=rows)


def drawn(found, paper):
    markup = across.graph(found, paper)
    return ElementTree.fromstring(re.search("<svg.*</svg>", markup)[0])


# ----------------------------------------------------------------------------- what is shared


def test_every_shared_claim_is_beside_its_verdict(found):
    parts = [getattr(one, "data", one) for one in across.shared(found)]
    statements = across.load_shared(found.ledgers)
    assert len(parts) == 3 * len(statements)
    for (name, one), heading, said, rows in zip(
        statements.items(), parts[::3], parts[1::3], parts[2::3], strict=True
    ):
        assert f'<h3 id="{name}">' in heading
        assert said == one.statement
        assert LINK.findall(rows) == list(one.claims)
        cells = re.findall(r"<tr><th scope=\"row\">.*?</tr>", rows)
        for key, row in zip(one.claims, cells, strict=True):
            verdict, *others = re.findall(r'class="fb-badge fb-[a-z]+">([^<]+)<', row)
            assert verdict == found.headlines[key]
            readings = [one["verdict"] for one in found.under_readings(key)[1:]]
            assert set(others) == (set(readings) if verdict == DEPENDS else set())
            assert ("under both readings" in row) == (len(readings) == 2 and verdict != DEPENDS)
            assert typeset(found.claims[key].statement) in row
            head = found.under_readings(key)[0]
            assert escape(audit.quantity_of(found, head)) in row


def test_papers_that_are_not_judged_say_so(half):
    text = "".join(getattr(one, "data", one) for one in across.shared(half))
    named = {key for one in across.load_shared(half.ledgers).values() for key in one.claims}
    without = [key for key in named if half.claims[key].paper in ("ht_ucb", "bf_ucb")]
    assert without
    assert text.count(across.NOT_JUDGED) >= len(without)
    assert "Not judged yet." in across.taken_along(half, "bf_ucb")
    letters = {one.text for one in drawn(half, "bf_ucb").iter(f"{SVG}text") if one.get("class")}
    assert "?" in letters


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            ("claims", ["bf-thm2-geff", "fairucb-obs2"]),
            "'bf-thm2-geff' is unknown; did you mean 'b",
        ),
        (("claims", ["fairucb-obs2", "fairucb-obs3"]), "all are of 'fair_ucb'; two papers are"),
        (("claim", []), "statements.one: unknown key 'claim'; did you mean 'claims'?"),
    ],
    ids=["unknown", "one paper", "key"],
)
def test_wrong_statements(found, change, words, tmp_path):
    one = {"title": "One", "statement": "It is.", "claims": ["bf-thm2-gef", "fairucb-obs2"]}
    for file in (across.FILE, *(f"papers/{paper}/claims.yaml" for paper in found.ledgers)):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes((ROOT / file).read_bytes())
    (tmp_path / across.FILE).write_text(yaml.safe_dump({"statements": {"one": one}}))
    assert across.load_shared(found.ledgers, tmp_path)["one"].claims == tuple(one["claims"])
    some = {"fair_ucb": found.ledgers["fair_ucb"]}  # the other one is not configured
    assert across.load_shared(some, tmp_path)["one"].claims == ("fairucb-obs2",)
    key, value = change
    content = {"statements": {"one": one | {key: value}}}
    (tmp_path / across.FILE).write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError) as error:
        across.load_shared(found.ledgers, tmp_path)
    assert str(error.value).startswith("papers/across.yaml: statements.one")
    assert words in str(error.value)


# ---------------------------------------------------------------------------------- the graph


@pytest.mark.parametrize("paper", small.PAPERS)
def test_all_that_rests_on_something_is_drawn(found, paper):
    root = drawn(found, paper)
    links = [one.get("data-page").removeprefix("claims/") for one in root.iter(f"{SVG}a")]
    assert len(links) == len(set(links))
    joined = {
        key
        for claim in found.claims.values()
        for base in claim.bases
        for key in (base, claim.id)
        if paper in (found.claims[base].paper, claim.paper)
    }
    assert set(links) == joined
    arrows = sum(
        paper in (found.claims[base].paper, claim.paper)
        for claim in found.claims.values()
        for base in claim.bases
    )
    assert len(root.findall(f"{SVG}path")) == arrows
    letters = [one.text for one in root.iter(f"{SVG}text") if one.get("class") == "fb-letter"]
    assert letters == [across.MARKS[found.headlines[key]][0] for key in links]


@pytest.mark.parametrize("paper", small.PAPERS)
def test_boxes_are_apart_and_inside(found, paper):
    root = drawn(found, paper)
    width, height = map(float, root.get("viewBox").split()[2:])
    boxes: dict[str, list[tuple[float, float]]] = {}
    for box in root.iter(f"{SVG}rect"):
        x, y, wide, tall = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert x + wide <= width
        assert y >= 0
        assert y + tall <= height
        boxes.setdefault(box.get("x"), []).append((y, y + tall))
    for column in boxes.values():
        column.sort()
        assert all(a[1] < b[0] for a, b in pairwise(column))
    assert width < 930, "wider than a page"


def test_marks_are_told_apart_without_colours():
    assert set(across.MARKS) == {*OUTCOMES, across.NOT_JUDGED}
    letters = [letter for letter, _ in across.MARKS.values()]
    assert len(set(letters)) == len(letters)
    for words in across.MARKS:
        assert words in across.legend()


def test_what_rests_stands_to_the_right():
    bases = {"c": ["a", "b"], "b": ["a"], "a": [], "e": ["d", "c"], "d": []}
    columns = graph.columns_of(bases)
    assert columns == {"a": 0, "b": 1, "c": 2, "d": 2, "e": 3}
    assert graph._parts(bases | {"y": ["x"], "x": []}) == [set("abcde"), {"x", "y"}]


# -------------------------------------------------------------------- what is taken along


def test_all_that_rests_on_a_claim_is_found():
    above = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["e"]}
    assert across.carried("a", above) == ["b", "c", "d", "e"]
    assert across.carried("d", above) == ["e"]
    assert across.carried("e", above) == []


def test_a_broken_lemma_takes_its_theorem_along(found):
    one = with_verdicts(found, fairucb_lemma1_partition=NOT_REPRODUCED)
    markup = across.taken_along(one, "fair_ucb")
    first, *others = LINK.findall(markup)
    assert first == "fairucb-lemma1-partition"
    assert "fairucb-thm1-alpha0" in others
    assert "fairucb-abs-anytime-fair" in others  # by way of the theorem
    assert "bf-thm2-gef" in others  # of another paper
    assert "fairucb-obs2" not in others  # which it rests on itself
    assert markup.count(f">{NOT_REPRODUCED}<") == 1
    assert "None that others rest on" in across.taken_along(one, "banditq")
    thick = [
        path for path in drawn(one, "fair_ucb").iter(f"{SVG}path") if "broken" in path.get("class")
    ]
    assert len(thick) == len(across.resting(found)["fairucb-lemma1-partition"])

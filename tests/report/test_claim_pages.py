"""The pages of the claims, the table of all of them, and the table of what verdicts turn on."""

import html
import re

import pytest
import yaml

import small
from fairbandits.audit import sentences
from fairbandits.audit.finding import FAILED, GRADES, REPRODUCED, TAGS
from fairbandits.report import audit, claims, listing
from fairbandits.report.claims import symbols
from fairbandits.report.markup import Html, typeset
from fairbandits.settings.records import load_glossary
from fairbandits.settings.schemas import ConfigError
from small import plain

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(found, tmp_path_factory):
    """Return the page of each claim."""
    made = listing.write_pages(found, "../..", tmp_path_factory.mktemp("source"))
    assert made.keys() == found.claims.keys()
    return {key: one.body for key, one in made.items()}


def badges(markup):
    return re.findall(r'class="fb-badge fb-[a-z]+">([^<]+)<', markup)


def test_a_page_says_its_verdict_with_what_qualifies_it(found, pages):
    for name, page in pages.items():
        claim, said = found.claims[name], plain(page)
        rows = found.under_readings(name)
        assert typeset(claim.statement) in page
        verdicts = [audit.called(one["verdict"], claim.kind) for one in rows]
        verdicts = [
            f"{verdict}{', in part' * ('IN-PART' in one['tags'])}"
            for verdict, one in zip(verdicts, rows, strict=True)
        ]
        assert badges(page)[0] == verdicts[0]
        assert set(verdicts) <= set(badges(page))
        assert plain(claims.linked(rows[0]["message"], found)) in said
        assert f"· {rows[0]['status']}" in page
        assert not rows[0]["grade"] or f"{GRADES[rows[0]['grade']]}." in said
        for tag in {tag for one in rows for tag in one["tags"]} - {"IN-PART", "CONDITIONAL"}:
            assert TAGS[tag] in said
        assert ("Only a part is tested" in said) == any("IN-PART" in one["tags"] for one in rows)
        assert ("Only as reconstructed" in said) == (claim.basis != "printed")


def test_a_page_says_why_and_what_would_change_it(found, pages):
    for name, page in pages.items():
        tested = found.tested(name)
        if not tested.of or found.headlines[name] == FAILED:
            continue
        rows, own = found.under_readings(name), found.found(name)
        for row in rows[1:] or rows:
            for why in sentences.why(row, own):
                assert typeset(f"{sentences.sentence(why)}.") in page
            what = sentences.what_decides(row).removeprefix(f"{REPRODUCED} ")
            assert str(typeset(what)) in page
        for one in own:
            phrase = one["phrase"], sentences.sentence(one["phrase"])
            assert any(typeset(said) in page for said in phrase)


def test_a_page_has_the_function_and_the_claims_that_judge(found, pages):
    for name, page in pages.items():
        claim, tested = found.claims[name], found.tested(name)
        assert f"papers/{tested.paper}/claims.py, line {tested.line}" in page
        assert Html.escape(tested.source) in page
        for other in (*claim.judged_by, *claim.rests_on, *filter(None, [claim.alias_of])):
            assert f'data-page="claims/{other}"' in page
        assert f"<pre>fairbandits claims {name}</pre>" in page


def test_the_symbols_below_a_page_are_those_of_its_texts(found, pages):
    for name, page in pages.items():
        claim = found.claims[name]
        formula = load_glossary(claim.paper, found.papers[claim.paper].claims).formulas.get(name)
        texts = [claim.statement, claim.reconstructed, claim.note, f"${formula}$" * bool(formula)]
        texts += [row["phrase"] for row in found.found(name)]
        used = set().union(*map(symbols, texts))
        words = page.partition('<section id="words">')[2]
        for term in re.findall(r"<dt>(.*?)</dt>", words):
            assert symbols(html.unescape(re.sub(r"\\\(|\\\)", "$", term))) <= used, (name, term)


def test_a_case_is_named_in_symbols_and_by_the_words_of_its_reading(found):
    paper = found.papers["banditq"]
    row = {"each": "five arms, uniform02, eta = 2"}
    assert claims.case_of(row, paper) == "five arms, rewards uniform on [0,\u00a02μ], η = 2"


def test_the_table_has_every_claim_with_numbers_to_sort_by(found):
    markup = listing.all_of_them(found)
    assert re.findall(r'<tr id="([^"]+)">', markup) == list(found.claims)
    assert len(markup) < 335_000
    for name in ("paper", "kind", "role", "basis", "grade"):
        assert f'<th scope="col" data-filter="select">{name}</th>' in markup
    assert 'data-filter="reproduced|not reproduced|' in markup
    for value in re.findall(r'class="fb-number" data-value="([^"]*)"', markup):
        assert value == "" or float(value) is not None


def test_what_verdicts_turn_on_is_counted(found):
    for slug, paper in found.papers.items():
        said = plain(listing.robustness(found, slug))
        own = {key: found.under_readings(key) for key, one in paper.claims.items() if one.of}
        several = [rows for rows in own.values() if len(rows) > 2]
        assert f"{len(several)} claims have several readings" in said


@pytest.mark.parametrize("paper", small.PAPERS)
def test_a_statement_can_be_read_alone(found, paper):
    """Each symbol of a statement of a paper is in its glossary, but those that are common."""
    glossary = listing.load_glossary(paper, found.papers[paper].claims)
    assert glossary.setting
    common = {"i", "j", "k", "g", "e", "b", "c", "pi", "ln", "log", "max", "min", "sum", "sqrt"}
    common |= {"exp", "lfloor", "rfloor", "lceil", "rceil", "le", "ge", "cdot", "O", "f", "C"}
    common |= {"E", "n", "p"}
    known = set().union(*(symbols(term) for term in glossary.terms))
    for claim in found.papers[paper].claims.values():
        used = {one for one in symbols(claim.statement) if len(one) < 9} - common
        missing = {one for one in used - known if claim.kind != "inconsistency"}
        assert not missing, (claim.id, missing)


def test_formulas_are_of_claims(tmp_path):
    folder = tmp_path / "papers" / "banditq"
    folder.mkdir(parents=True)
    content = {"setting": "s", "terms": {"T": "rounds"}, "formulas": {"banditq-thm": "x"}}
    (folder / "glossary.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=r"glossary\.yaml: formulas: no claim 'banditq-thm'; did"):
        listing.load_glossary("banditq", ["banditq-thm1"], tmp_path)
    assert listing.load_glossary("other", [], tmp_path).terms == {}

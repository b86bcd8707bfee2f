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
def pages(judged, tmp_path_factory):
    made = listing.write_pages(judged, "../..", tmp_path_factory.mktemp("source"))
    assert made.keys() == judged.claims.keys()
    return {key: page.body for key, page in made.items()}


def badges(markup):
    return re.findall(r'class="fb-badge fb-[a-z]+">([^<]+)<', markup)


def test_a_page_says_its_verdict_with_what_qualifies_it(judged, pages):
    for name, page in pages.items():
        claim, said = judged.claims[name], plain(page)
        rows = judged.under_readings(name)
        assert typeset(claim.statement) in page
        verdicts = [
            audit.called(row["verdict"], claim.kind) + ", in part" * ("IN-PART" in row["tags"])
            for row in rows
        ]
        assert badges(page)[0] == verdicts[0]
        assert set(verdicts) <= set(badges(page))
        assert plain(claims.linked(rows[0]["message"], judged)) in said
        assert f"· {rows[0]['status']}" in page
        assert not rows[0]["grade"] or f"{GRADES[rows[0]['grade']]}." in said
        for tag in {tag for row in rows for tag in row["tags"]} - {"IN-PART", "CONDITIONAL"}:
            assert TAGS[tag] in said
        assert ("Only a part is tested" in said) == any("IN-PART" in row["tags"] for row in rows)
        assert ("Only as reconstructed" in said) == (claim.basis != "printed")


def test_a_page_says_why_and_what_would_change_it(judged, pages):
    for name, page in pages.items():
        tested = judged.tested(name)
        if not tested.of or judged.headlines[name] == FAILED:
            continue
        rows, findings = judged.under_readings(name), judged.found(name)
        for row in rows[1:] or rows:
            for why in sentences.why(row, findings):
                assert typeset(f"{sentences.sentence(why)}.") in page
            what = sentences.what_decides(row).removeprefix(f"{REPRODUCED} ")
            assert str(typeset(what)) in page
        for finding in findings:
            phrase = finding["phrase"], sentences.sentence(finding["phrase"])
            assert any(typeset(said) in page for said in phrase)


def test_a_page_has_the_function_and_the_claims_that_judge(judged, pages):
    for name, page in pages.items():
        claim, tested = judged.claims[name], judged.tested(name)
        assert f"papers/{tested.paper}/claims.py, line {tested.line}" in page
        assert Html.escape(tested.source) in page
        for other in (*claim.judged_by, *claim.rests_on, *filter(None, [claim.alias_of])):
            assert f'data-page="claims/{other}"' in page
        assert f"<pre>fairbandits claims {name}</pre>" in page


def test_the_symbols_below_a_page_are_those_of_its_texts(judged, pages):
    for name, page in pages.items():
        claim = judged.claims[name]
        formula = load_glossary(claim.paper, judged.papers[claim.paper].claims).formulas.get(name)
        texts = [claim.statement, claim.reconstructed, claim.note, f"${formula}$" * bool(formula)]
        texts += [row["phrase"] for row in judged.found(name)]
        used = set().union(*map(symbols, texts))
        glossary = page.partition('<section id="words">')[2]
        for term in re.findall(r"<dt>(.*?)</dt>", glossary):
            assert symbols(html.unescape(re.sub(r"\\\(|\\\)", "$", term))) <= used, (name, term)


def test_a_case_is_named_in_symbols_and_by_the_words_of_its_reading(judged):
    paper = judged.papers["banditq"]
    row = {"each": "five arms, uniform02, eta = 2"}
    assert claims.case_of(row, paper) == "five arms, rewards uniform on [0,\u00a02μ], η = 2"


def test_the_table_has_every_claim_with_numbers_to_sort_by(judged):
    markup = listing.all_of_them(judged)
    assert re.findall(r'<tr id="([^"]+)">', markup) == list(judged.claims)
    assert len(markup) < 335_000
    for name in ("paper", "kind", "role", "basis", "grade"):
        assert f'<th scope="col" data-filter="select">{name}</th>' in markup
    assert 'data-filter="reproduced|not reproduced|' in markup
    for value in re.findall(r'class="fb-number" data-value="([^"]*)"', markup):
        assert value == "" or float(value) is not None


def test_what_verdicts_turn_on_is_counted(judged):
    for slug, paper in judged.papers.items():
        said = plain(listing.robustness(judged, slug))
        tested = [key for key, claim in paper.claims.items() if claim.of]
        several = [key for key in tested if len(judged.under_readings(key)) > 2]
        assert f"{len(several)} claims have several readings" in said


@pytest.mark.parametrize("paper", small.PAPERS)
def test_a_statement_can_be_read_alone(judged, paper):
    """Each symbol of a statement of a paper is in its glossary, but those that are common."""
    glossary = listing.load_glossary(paper, judged.papers[paper].claims)
    assert glossary.setting
    common = {"i", "j", "k", "g", "e", "b", "c", "pi", "ln", "log", "max", "min", "sum", "sqrt"}
    common |= {"exp", "lfloor", "rfloor", "lceil", "rceil", "le", "ge", "cdot", "O", "f", "C"}
    common |= {"E", "n", "p"}
    known = set().union(*(symbols(term) for term in glossary.terms))
    for claim in judged.papers[paper].claims.values():
        used = {symbol for symbol in symbols(claim.statement) if len(symbol) < 9} - common
        missing = {symbol for symbol in used - known if claim.kind != "inconsistency"}
        assert not missing, (claim.id, missing)


def test_formulas_are_of_claims(tmp_path):
    folder = tmp_path / "papers" / "banditq"
    folder.mkdir(parents=True)
    content = {"setting": "s", "terms": {"T": "rounds"}, "formulas": {"banditq-thm": "x"}}
    (folder / "glossary.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=r"glossary\.yaml: formulas: no claim 'banditq-thm'; did"):
        listing.load_glossary("banditq", ["banditq-thm1"], tmp_path)
    assert listing.load_glossary("other", [], tmp_path).terms == {}

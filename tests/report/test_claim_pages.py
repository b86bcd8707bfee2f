"""The pages of the claims, the table of all of them, and the table of what verdicts turn on."""

import html
import re

import pytest
import yaml

import small
from fairbandits.audit import words
from fairbandits.audit.finding import INCONCLUSIVE, TAGS
from fairbandits.numerals import number
from fairbandits.report import audit, claims, markup
from fairbandits.report.claims import symbols
from fairbandits.report.markup import typeset
from fairbandits.settings.schemas import ConfigError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return audit.open_audit(small.audited(tmp_path_factory) / "results")


@pytest.fixture(scope="module")
def pages(found, tmp_path_factory):
    """Return the page of each claim."""
    made = claims.write_pages(found, "../..", tmp_path_factory.mktemp("source"))
    assert made.keys() == found.claims.keys()
    return {key: one.body for key, one in made.items()}


def plain(markup):
    """Return the text of some HTML."""
    return html.unescape(re.sub(r"[ \n]+", " ", re.sub(r"<[^>]+>", " ", markup))).strip()


def badges(markup):
    return re.findall(r'class="fb-badge fb-[a-z]+">([^<]+)<', markup)


def test_a_page_says_what_a_verdict_rests_on(found, pages):
    for name, page in pages.items():
        claim, said = found.claims[name], plain(page)
        row, *others = found.under_readings(name)
        assert claim.place in said
        assert typeset(claim.statement) in page
        verdicts = [
            words.qualified(one | {"verdict": audit.called(one["verdict"], claim.kind)})
            for one in (row, *others)
        ]
        assert badges(page)[0] == verdicts[0]
        assert any(one["older"] for one in (row, *others)) == (words.OLDER in page)
        assert row["message"] in said
        assert set(verdicts) <= set(badges(page))
        if row["statistic"] is not None:
            assert f"{row['rule'].replace('_', ' ')}, version {row['rule_version']}" in said
            what = audit.quantity_of(found, row)
            assert f" number {what.value(row)}" in said
            assert plain(typeset(str(what))) in said
            assert what.right or f"n {number(row['n'])}" in said
            assert words.endless(row) in said
        for one in (row, *others):
            for tag in one["tags"]:
                in_part = "Only a part is tested:" in said or "counts neither for" in said
                assert in_part if tag == "IN-PART" else TAGS[tag] in said
                assert f"<dt>{tag}</dt>" not in page
            assert ("CONDITIONAL" in one["tags"]) <= ("<dt>reconstructed</dt>" in page)
        for other in (*claim.judged_by, *claim.rests_on):
            assert f'data-page="claims/{other}"' in page
        assert f"<pre>fairbandits claims {name}</pre>" in page


def test_the_table_has_every_claim_with_numbers_to_sort_by(found):
    markup = claims.all_of_them(found)
    assert re.findall(r'<tr id="([^"]+)">', markup) == list(found.claims)
    assert len(markup) < 320_000
    for name in ("paper", "kind", "role", "basis", "grade"):
        assert f'<th scope="col" data-filter="select">{name}</th>' in markup
    assert 'data-filter="reproduced|not reproduced|' in markup
    for value in re.findall(r'class="fb-number" data-value="([^"]*)"', markup):
        assert value == "" or float(value) is not None


@pytest.mark.parametrize("paper", small.PAPERS)
def test_a_statement_can_be_read_alone(found, paper):
    """Each symbol of a statement of a paper is in its glossary, but those that are common."""
    glossary = claims.load_glossary(paper, found.ledgers[paper].claims)
    assert glossary.setting
    common = {"i", "j", "k", "g", "e", "b", "c", "pi", "ln", "log", "max", "min", "sum", "sqrt"}
    common |= {"exp", "lfloor", "rfloor", "lceil", "rceil", "le", "ge", "cdot", "O", "f", "C"}
    common |= {"E", "n", "p"}
    known = set().union(*(symbols(term) for term in glossary.terms))
    for claim in found.ledgers[paper].claims.values():
        used = {one for one in symbols(claim.statement) if len(one) < 9} - common
        missing = {one for one in used - known if claim.kind != "inconsistency"}
        assert not missing, (claim.id, missing)


def test_a_row_without_data_says_why():
    reasons = markup._templates(escape=True).get_template("reasons.html").module
    assert reasons.because({"verdict": INCONCLUSIVE, "n": 0}).strip() == words.UNMET


def test_formulas_are_of_claims(tmp_path):
    folder = tmp_path / "papers" / "banditq"
    folder.mkdir(parents=True)
    content = {"setting": "s", "terms": {"T": "rounds"}, "formulas": {"banditq-thm": "x"}}
    (folder / "glossary.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=r"glossary\.yaml: formulas: no claim 'banditq-thm'; did"):
        claims.load_glossary("banditq", ["banditq-thm1"], tmp_path)
    assert claims.load_glossary("other", [], tmp_path).terms == {}

"""The reproduction report: all that does not hold is in it, with the numbers of the tables."""

import csv

import pytest

import real
from fairbandits.audit.totals import left_out
from fairbandits.report import article
from fairbandits.settings.schemas import ROOT

PAPERS = real.papers()


@pytest.fixture(scope="module")
def text():
    return article.markdown(PAPERS, ROOT)


def test_each_claim_that_does_not_hold_is_listed_under_its_paper(text):
    with (ROOT / "audit" / "verdicts.csv").open(encoding="utf-8") as opened:
        heads = {row["id"]: row["verdict"] for row in csv.DictReader(opened) if not row["reading"]}
    for paper in PAPERS.values():
        part = text.partition(f"# {paper.title}\n")[2].partition("\n# ")[0]
        verdicts = {heads.get(key) for key, claim in paper.claims.items() if not left_out(claim)}
        for verdict, heading in article.LISTED.items():
            assert (f"## {heading}\n" in part) == (verdict in verdicts)
        for key, claim in paper.claims.items():
            listed = heads.get(key) in article.LISTED and not left_out(claim)
            assert (f"[`{key}`" in part) == listed, key


def test_a_verdict_that_depends_on_the_reading_names_the_readings(text):
    part = text.partition("[`fairucb-fig4-lfg-to-zero`]")[2].partition("\n-")[0]
    assert "*Reproduced:* Violation in pulls per round." in part
    assert "*Not reproduced:* Violation in pulls." in part


def test_totals_findings_and_references_are_there(text):
    assert text.count("*Against.*") == 7
    told = text.partition("# Method")[0].replace("{=typst}", "")
    assert "{" not in told  # no number is left a name
    assert "| all | " in text
    assert "Sinha" in text.partition("# References")[2]


def test_every_heading_and_list_stands_apart(text):
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if line.startswith("#"):
            assert not lines[index - 1], line

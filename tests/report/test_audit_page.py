"""The page of the audit: every claim once, its evidence in numbers and in a picture."""

import dataclasses
import html
import itertools
import math
import re
from xml.etree import ElementTree

import pytest

import real
from fairbandits.audit import rows as audit_rows
from fairbandits.audit import sentences, totals
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
)
from fairbandits.report import audit, evidence, pages
from fairbandits.settings.schemas import ROOT
from settings_of_a_user import set_otherwise
from small import plain


def test_stale_verdicts_are_refused(judged, monkeypatch):
    monkeypatch.setattr(audit_rows, "audit_code", lambda: "0" * 16)
    with pytest.raises(pages.NotReady, match=r"is stale: audit code .*; `make audit` makes it"):
        audit.open_audit(judged.results)


def test_small_runs_are_marked(judged):
    assert "smoke scale: not results" in audit.banner(judged)
    preview = dataclasses.replace(judged, scale="preview")
    assert "preview scale: not results" in audit.banner(preview)
    large = plain(audit.banner(dataclasses.replace(judged, scale="large")))
    assert large.startswith("large scale: larger than published More rounds and replicates")
    assert "smoke" not in large
    rows = [row | {"seed": "frozen"} for row in judged.rows]
    assert audit.banner(dataclasses.replace(judged, scale="paper", rows=rows)) is None
    rows = [judged.rows[0] | {"seed": "7"}]
    exploratory = dataclasses.replace(judged, scale="paper", rows=rows)
    assert "Exploratory: the data have seed 7, which" in audit.banner(exploratory)


def test_tally_counts_every_claim_that_counts_once(judged):
    counted, others = audit.tally(judged).split('id="left-out">')
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", counted)
    pattern = r"<td>(?:<div><strong>)?(\d*)(?:</strong>.*?)?</td>"
    cells = [re.findall(pattern, row) for row in rows]
    counting = [claim for claim in judged.claims.values() if not totals.left_out(claim)]
    assert sum(int(row[0]) for row in cells) == len(counting)
    assert sum(int(row[1]) for row in cells) == sum(claim.basis == "printed" for claim in counting)
    assert sum(int(row[2]) for row in cells) == totals.tally(judged.heads).confirmatory
    for row in cells:
        assert sum(int(cell) for cell in row[3:] if cell) == int(row[0])
    heads = re.findall(r'<th scope="col">(.*?)</th>', counted)
    order = [REPRODUCED, NOT_REPRODUCED, DEPENDS, INCONCLUSIVE, NOT_TESTABLE, FAILED]
    assert heads == ["", "claims", "on printed words", "confirmatory", *order]
    total = sum(int(row[4]) for row in cells if row[4])
    wanted = [r["verdict"] for r in judged.rows if r["headline"] and not r["left_out"]]
    assert total == wanted.count(NOT_REPRODUCED)
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", others)
    left_out = sum(int(re.search(r"<td>(\d+)</td>", row)[1]) for row in rows)
    assert left_out + len(counting) == len(judged.claims)


def test_the_consequential_are_chosen_by_rule(judged):
    markup = audit.consequential(judged)
    links = re.findall(r'data-page="claims/([^"]+)" href="../results/site/claims/\1.html"', markup)
    primary = [r for r in judged.rows if r["headline"] and r["primary"] and not r["left_out"]]
    order = (NOT_REPRODUCED, DEPENDS, INCONCLUSIVE)
    counted = [[r["claim"] for r in primary if r["verdict"] == verdict] for verdict in order]
    assert all(counted)
    linked = [name for name in links if not totals.left_out(judged.claims[name])]
    assert linked == [*itertools.chain(*counted)]
    said = plain(markup)
    names = pages.listed([paper.title.partition(":")[0] for paper in judged.papers.values()])
    assert f"{names} stand on {len(primary)} primary claims, each finding counted" in said
    assert f"{len(counted[0])} not reproduced" in said
    for name in links:
        if judged.under_readings(name)[1:]:
            rows = judged.in_words(name)
            of_it = sentences.under_readings(rows) if rows[0]["verdict"] == DEPENDS else {}
            assert all(". Or: ".join(some) in said for some in of_it.values())
            assert of_it or sentences.readings_in_words(rows) in said


def judged_by_others(judged, judge, *, primary=True):
    """Return an audit in which only a judge and the claim that it judges are not reproduced."""
    claim = next(claim for claim in judged.claims.values() if claim.judged_by and claim.primary)
    judge = judge or claim.judged_by[0]
    paper = judged.papers[claim.paper]
    claims = paper.claims | {claim.id: dataclasses.replace(claim, judged_by=(judge,))}
    papers = judged.papers | {claim.paper: dataclasses.replace(paper, claims=claims)}
    changes = {judge: {"verdict": NOT_REPRODUCED, "primary": primary}}
    changes[claim.id] = {"verdict": NOT_REPRODUCED}
    sound = {"verdict": REPRODUCED}
    rows = [row | changes.get(row["claim"], sound) for row in judged.rows]
    return dataclasses.replace(judged, papers=papers, rows=rows), claim.id, judge


@pytest.mark.parametrize("primary", [True, False])
def test_no_finding_is_listed_twice(judged, primary):
    """A claim that others judge stands for them where they are not primary, and else they do."""
    changed, claim, judge = judged_by_others(judged, "", primary=primary)
    markup = audit.consequential(changed)
    links = re.findall(r'data-page="claims/([^"]+)"', markup)
    assert links == ([judge] if primary else [claim])
    total = sum(r["headline"] and r["primary"] and not r["left_out"] for r in changed.rows)
    assert f"stand on {total} primary claims" in plain(markup)


def row(statistic, verdict=REPRODUCED, half=1.0, reference=0.0, **more):
    values = {"test": "mean", "phrase": "pulls of A minus those of B", "unit": "pulls", "also": {}}
    values |= {"decides": True, "verdict": verdict, "reading": "", "each": "an arm", "n": 9}
    values |= {"procedure": "mean", "settings": {"level": 0.99, "claim": "at most"}, "p": 0.001}
    values |= {"statistic": statistic, "low": statistic - half, "high": statistic + half}
    values |= {"reference": reference, "against": {"limit": reference}, "tags": [], "message": ""}
    return values | {"uncontrolled": ""} | more


def drawn(rows, kind=""):
    """Return the picture of some findings of one test of a kind of claim."""
    return evidence.picture(evidence.in_order(rows), kind)


@pytest.mark.parametrize("thin", [False, True])
def test_names_of_cases_are_no_formulas(thin):
    names = ["_Mine", "$5 to $10", "$x^^$", r"\frac{1} 50 %", "<b>"]
    rows = [row(float(k), each=f"{name}, case {k}") for name in names for k in range(1, 9)]
    markup = drawn(rows if thin else rows[::8])
    assert "math" not in markup
    for name in names:
        assert html.escape(name) in markup


def test_a_case_without_a_number_says_so():
    nothing = row(math.nan, half=0.0)
    failed = row(1.0, message="too few") | {"verdict": FAILED, "statistic": None}
    assert drawn([nothing | {"message": ""}, failed]) == ""
    markup = drawn([row(1.0), nothing | {"message": ""}, failed])
    assert markup.count("<g class=") == 1
    assert ">no number<" in markup
    assert ">too few<" in markup
    assert ". 2 without a number." in markup


EQUAL = {"settings": {"level": 0.99, "claim": "equal"}}
SLOPE = EQUAL | {"procedure": "slope", "against": {"exponent": 0.75, "margin": 0.03}}
SLOPE |= {"reference": 0.75}


@pytest.mark.parametrize(
    "rows",
    [
        [row(1e-6, half=1e-8, reference=1e-6), row(1e9, half=1e3, reference=1e-6)],
        [row(-1e9), row(0.001), row(1e9)],
        [*2 * [row(2.00001, half=1e-6, reference=2.0)], row(2.5, half=0.01, reference=2.0)],
        [row(2.0, half=0.0)],
        [row(5.0, half=math.inf)],
        [row(1.0, reference=1.0), row(2.0, reference=3.0)],
        [row(0.7, **SLOPE)],
    ],
)
def test_any_size_can_be_drawn(rows):
    markup = drawn(rows)
    with set_otherwise():
        assert markup == drawn(rows)
    assert markup.count("an arm") == len(rows)
    for number in re.findall(r'(?:c?x|x[12])="([^"]+)%"', markup):
        assert 0 <= float(number) <= 100
    for image in re.findall("<svg.*?</svg>", markup):
        ElementTree.fromstring(image)
    ticks = re.findall('<text x="([^"]+)%" y="16"', markup)
    assert 2 <= len(ticks) <= evidence.TICKS + 3
    assert ticks == sorted(ticks, key=float)


ROUNDED = {"procedure": "exact", "tags": ["ROUNDING"], "half": 0.0}


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        ([row(1.0)], "", "Shaded: the claim holds."),
        ([row(1.0)], "inconsistency", "Shaded: the ways agree, or the paper's"),
        (2 * [row(0.0, half=0.0)], "", "0 in both cases: ● 2 reproduced."),
        (2 * [row(1e-16, **ROUNDED)], "", "in both cases, which is within the"),
        ([row(1.0, decides=False)], "", "Pulls of A minus those of B: at most 0? It does not dec"),
        ([row(1.0, uncontrolled="no policy could fail it")], "", "No control: no policy could"),
    ],
)
def test_what_is_shown_is_said(rows, kind, message):
    assert plain(drawn(rows, kind)).count(message) == 1
    assert message.startswith("No control") or "No control" not in drawn(rows, kind)


def test_a_test_is_headed_by_its_number_and_what_is_claimed():
    rows = [row(1.0, reference=2.0), row(1.5, reference=2.0)]
    assert evidence.heading(rows) == "Pulls of A minus those of B: at most 2?"
    rows[1] = row(1.5, reference=3.0)
    assert evidence.heading(rows) == "Pulls of A minus those of B"


def test_findings_that_differ_in_their_reading_alone_are_one():
    rows = [row(1.0, reading="with floor"), row(1.0, reading="even gaps"), row(2.0)]
    readings = [finding["reading"] for finding in evidence.under_readings(rows)]
    assert readings == ["with floor or even gaps", "every reading"]
    assert [finding["reading"] for finding in evidence.under_readings(rows[2:])] == [""]
    assert rows[0]["reading"] == "with floor"


def test_one_reason_for_all_open_cases_is_said_once():
    open_one = row(1.0, INCONCLUSIVE, tags=["VACUOUS"])
    said = plain(drawn([row(-1.0), open_one, open_one]))
    assert said.count("could not have failed") == 1
    assert plain(drawn([open_one, row(1.0, INCONCLUSIVE)])).count("could not have failed") == 2


def test_an_axis_says_the_claimed_value_or_the_limits_those_that_would_overlap_as_a_range():
    both = EQUAL | {"reference": 1.0, "against": {"smallest": 0.9, "largest": 1.1}}
    for rows, names in (
        ([row(0.7, **SLOPE)], ["0.75"]),
        ([row(3.0, reference=7476.0), row(9000.0, reference=7476.0)], ["7\u202f476"]),
        ([row(-19.0, half=0.1, **both), row(21.0, half=0.1, **both)], ["0.9 to 1.1"]),
        ([row(0.5, half=0.1, **both), row(1.5, half=0.1, **both)], ["0.9", "1.1"]),
    ):
        assert re.findall(r'class="fb-limit [^"]*">([^<]+)<', drawn(rows)) == names


def test_what_is_shaded_is_where_the_verdicts_are():
    """Of all committed findings those that are reproduced are where it is claimed, and no other."""
    count = 0
    committed = audit_rows.read(ROOT / "audit" / "findings.csv", real.papers(), "findings")
    for finding in committed.rows:
        verdict, value = finding["verdict"], finding["statistic"]
        decided = verdict in (REPRODUCED, NOT_REPRODUCED) and value is not None
        if decided and "printed" not in finding["against"] and "ROUNDING" not in finding["tags"]:
            low, high = sentences.claimed(finding)
            assert (low <= value <= high) == (verdict == REPRODUCED), finding
            count += 1
    assert count > 1000

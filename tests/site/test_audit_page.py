"""The page of the audit: every claim once, its evidence in numbers and in a picture."""

import dataclasses
import html
import math
import re
from xml.etree import ElementTree

import pytest

import small
from fairbandits.audit import totals, words
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
)
from fairbandits.site import audit, deviations, evidence, pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small.audited(tmp_path_factory) / "results"


@pytest.fixture(scope="module")
def found(folder):
    return audit.open_audit(folder)


def plain(markup):
    """Return the text of some HTML."""
    return html.unescape(re.sub(r"[ \n]+", " ", re.sub(r"<[^>]+>", " ", markup))).strip()


def badges(markup):
    return re.findall(r'class="fb-badge fb-[a-z]+">([^<]+)<', markup)


# --------------------------------------------------------------------------------- opened


def test_missing_verdicts_name_the_way_out(tmp_path):
    with pytest.raises(pages.NotReady, match=r"verdicts\.parquet does not exist; `make audit`"):
        audit.open_audit(tmp_path)


def test_stale_verdicts_are_refused(folder, monkeypatch):
    from fairbandits.audit import records

    monkeypatch.setattr(records, "_audit_code", lambda: "0" * 16)
    with pytest.raises(pages.NotReady, match=r"is stale: audit code .*; `make audit` makes it"):
        audit.open_audit(folder)


def test_without_a_ledger_there_is_nothing_to_show(monkeypatch):
    monkeypatch.setattr(audit, "load_ledgers", lambda config: {})
    none = audit.open_audit("nowhere")
    assert none is None
    for function in (audit.banner, audit.tally, audit.consequential):
        assert function(none) is None
    assert audit.summary(none, "banditq") is None
    assert audit.for_each_paper(none, deviations.deviations) is None
    assert audit.links(none) is None


def test_a_paper_without_a_ledger_has_no_verdicts(found):
    assert audit.summary(found, "toy") is None


def test_small_runs_are_marked(found):
    assert "smoke scale: not results" in audit.banner(found).data
    preview = dataclasses.replace(found, scale="preview")
    assert "preview scale: not results" in audit.banner(preview).data
    large = plain(audit.banner(dataclasses.replace(found, scale="large")).data)
    assert large.startswith("large scale: larger than published More rounds and replicates")
    assert "smoke" not in large
    rows = [row | {"seed": "ledger"} for row in found.rows]
    assert audit.banner(dataclasses.replace(found, scale="paper", rows=rows)) is None
    rows = [found.rows[0] | {"seed": "7"}]
    exploratory = dataclasses.replace(found, scale="paper", rows=rows)
    assert "Exploratory: the seed 7 was chosen" in audit.banner(exploratory).data


# -------------------------------------------------------------------------------- the whole


def test_tally_counts_every_claim_that_counts_once(found):
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", audit.tally(found).data)
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in rows]
    counting = [one for one in found.claims.values() if not totals.left_out(one)]
    assert sum(int(row[0]) for row in cells) == len(counting)
    assert sum(int(row[1]) for row in cells) == sum(one.basis == "printed" for one in counting)
    for row in cells:
        assert sum(int(cell) for cell in row[2:] if cell) == int(row[0])
    heads = re.findall(r'<th scope="col">(.*?)</th>', audit.tally(found).data)
    order = [REPRODUCED, NOT_REPRODUCED, DEPENDS, INCONCLUSIVE, NOT_TESTABLE, FAILED]
    assert heads == ["", "claims", "on printed words", *order]
    total = sum(int(row[3]) for row in cells if row[3])
    wanted = [r["verdict"] for r in found.rows if r["headline"] and not r["left_out"]]
    assert total == wanted.count(NOT_REPRODUCED)


def test_what_is_left_out_is_said(found):
    rows = (totals.standing(one) | {"verdict": ""} for one in found.claims.values())
    assert totals.totals(rows).left_out in plain(audit.tally(found).data)
    for paper in found.ledgers:
        said = totals.totals(found.of(paper)).left_out
        assert f"({said})" in plain(audit.summary(found, paper).data)


def test_the_consequential_are_chosen_by_rule(found):
    markup = audit.consequential(found).data
    links = re.findall(r'data-page="claims/([^"]+)" href="../results/site/claims/\1.html"', markup)
    primary = [r for r in found.rows if r["headline"] and r["primary"] and not r["left_out"]]
    order = (NOT_REPRODUCED, DEPENDS, INCONCLUSIVE)
    counted = [[r["claim"] for r in primary if r["verdict"] == one] for one in order]
    assert all(counted)
    assert [name for name in links if not totals.left_out(found.claims[name])] == [
        name for some in counted for name in some
    ]
    said = plain(markup)
    names = pages.listed([one.title.partition(":")[0] for one in found.ledgers.values()])
    assert f"{names} stand on {len(primary)} primary claims, each finding counted" in said
    assert f"{len(counted[0])} not reproduced" in said
    for name in links:
        head, *others = found.under_readings(name)
        if others:
            assert words.readings_in_words([head, *others]) in said


def judged_by_others(found, judge, *, primary=True):
    """Return an audit in which only a judge and the claim that it judges are not reproduced."""
    claim = next(one for one in found.claims.values() if one.judged_by and one.primary)
    judge = judge or claim.judged_by[0]
    ledger = found.ledgers[claim.paper]
    claims = ledger.claims | {claim.id: dataclasses.replace(claim, judged_by=(judge,))}
    ledgers = found.ledgers | {claim.paper: dataclasses.replace(ledger, claims=claims)}
    rows = [
        row
        | {"verdict": NOT_REPRODUCED if row["claim"] in (judge, claim.id) else REPRODUCED}
        | ({"primary": primary} if row["claim"] == judge else {})
        for row in found.rows
    ]
    return dataclasses.replace(found, ledgers=ledgers, rows=rows), claim.id, judge


@pytest.mark.parametrize("primary", [True, False])
def test_no_finding_is_listed_twice(found, primary):
    """A claim that others judge stands for them where they are not primary, and else they do."""
    changed, claim, judge = judged_by_others(found, "", primary=primary)
    markup = audit.consequential(changed).data
    links = re.findall(r'data-page="claims/([^"]+)"', markup)
    assert links == ([judge] if primary else [claim])
    total = sum(r["headline"] and r["primary"] and not r["left_out"] for r in changed.rows)
    assert f"stand on {total} primary claims" in plain(markup)


def test_nothing_consequential_is_said_in_short(found):
    rows = [row | {"verdict": REPRODUCED} for row in found.rows]
    markup = audit.consequential(dataclasses.replace(found, rows=rows)).data
    assert "<table" not in markup
    assert plain(markup).endswith("reproduced.")


# ---------------------------------------------------------------------------- claim by claim


def test_a_verdict_that_depends_on_the_reading_gives_both(found):
    name = next(r["claim"] for r in found.rows if r["headline"] and r["verdict"] == DEPENDS)
    said = plain(audit.headline(found, name))
    assert said.startswith(DEPENDS)
    for row in found.under_readings(name)[1:]:
        assert row["verdict"] in said
        assert row["reading"].replace("_", " ") in said


def test_paper_page_links_to_the_evidence(found):
    markup = audit.summary(found, "fair_ucb").data
    links = re.findall(r'data-page="claims/([^"]+)"', markup)
    assert links == [row["claim"] for row in found.of("fair_ucb") if row["primary"]]
    assert 'data-page="claims?paper=Fair-UCB"' in markup
    assert 'href="#fig3"' in markup


# ------------------------------------------------------------------------------- the picture


def row(statistic, verdict=REPRODUCED, half=1.0, reference=0.0, **more):
    return {
        "test": "mean",
        "decides": True,
        "verdict": verdict,
        "reading": "",
        "each": "an arm",
        "procedure": "bound",
        "settings": {"level": 0.99},
        "statistic": statistic,
        "low": statistic - half,
        "high": statistic + half,
        "reference": reference,
        "against": {"limit": reference},
        "p": 0.001,
    } | more


def drawn(rows):
    """Return the pictures of some findings, for wide and for narrow screens."""
    _, files = evidence.picture("t-a", rows)
    assert list(files) == ["t-a.svg", "t-a-narrow.svg"]
    return list(files.values())


def test_a_picture_shows_each_question():
    rows = [row(k, each=f"arm {k}") for k in range(3)]
    markup, _ = evidence.picture("t-a", rows)
    for image in drawn(rows):
        for k in range(3):
            assert f">arm {k}<" in image
        assert ">mean<" in image
        assert len(image) < 3000
    assert 'srcset="../evidence/t-a-narrow.svg"' in markup
    assert '<img src="../evidence/t-a.svg"' in markup
    alt = html.unescape(re.search('alt="([^"]*)"', markup)[1])
    assert (
        alt == "t-a: Test mean: mean of 3 of 3 questions, 0 to 2, beside the limit 0; 3 reproduced."
    )
    assert "with 99\u00a0% limits, each one-sided; line: the limit 0." in markup


def test_of_many_questions_those_that_speak_against_the_claim_are_shown():
    many = [row(k, each=f"arm {k}", p=0.001 * k) for k in range(40)]
    many[5] |= {"verdict": NOT_REPRODUCED, "p": 0.0}
    many[7] |= {"verdict": INCONCLUSIVE, "p": 0.4}
    several = [row(-k, each=f"arm {k}", p=None, half=0.0) for k in range(40)]
    assert evidence.most_telling(several) == several[:12]  # nearest to being broken
    markup, _ = evidence.picture("t-a", many)
    image, _ = drawn(many)
    shown = [k for k in range(40) if f">arm {k}<" in image]
    assert shown == [5, 7, *range(30, 40)]
    assert "; shown are 12 of 40 questions, those that speak most against the claim." in markup
    assert "12 of 40 questions" in markup


def test_of_many_readings_each_is_shown():
    many = [
        row(k, each=f"arm {k}", reading=f"reading {r}", p=0.001 * k)
        for r in range(8)
        for k in range(5)
    ]
    shown = evidence.most_telling(many)
    assert [(one["reading"], one["each"]) for one in shown] == [
        (f"reading {r}", f"arm {k}") for r in range(8) for k in (3, 4)
    ]
    words = (
        "shown are 16 of 40 questions, those that speak most against the claim under each reading"
    )
    assert words in evidence.picture("t-a", many)[0]


def test_what_does_not_decide_or_has_no_number_is_not_drawn():
    nothing = row(math.nan, half=0.0)
    failed = row(1.0) | {"verdict": FAILED, "statistic": None, "low": None, "high": None}
    reported = row(1.0, decides=False, test="other")
    assert evidence.picture("t-a", [nothing, failed, reported]) == ("", {})
    assert "other" not in evidence.picture("t-a", [row(1.0), reported])[0]


@pytest.mark.parametrize(
    "rows",
    [
        [row(1e-6, half=1e-8, reference=1e-6), row(1e9, half=1e3, reference=1e-6)],
        [row(-1e9), row(0.001), row(1e9)],
        [row(0.0, half=0.0)],
        [row(5.0, half=math.inf)],
        [row(1.0, reference=1.0), row(2.0, reference=3.0)],
        [row(0.7, procedure="growth_exponent", against={"exponent": 0.75, "margin": 0.03},
             settings={"level": 0.99, "claim": "equal"}, reference=0.75)],
    ],
    ids=["positive", "signs", "one point", "no limits", "own references", "margins"],
)  # fmt: skip
def test_any_size_can_be_drawn(rows):
    first, second = (evidence.picture("t-a", rows) for _ in range(2))
    assert first == second
    for image in drawn(rows):
        assert image.count("an arm") == len(rows)
        root = ElementTree.fromstring(image)
        width, height = float(root.get("width")), float(root.get("height"))
        for number in re.findall(r'(?:x|translate\()="?([-0-9.e]+)', image):
            assert -1 <= float(number) <= width + 1
        for words_ in root.iter("{http://www.w3.org/2000/svg}text"):
            assert 0 <= float(words_.get("y")) <= height


def test_what_has_no_limit_has_an_arrow():
    markup, _ = evidence.picture("t-a", [row(5.0) | {"high": math.inf}])
    assert "; arrow: no limit on that side." in markup
    arrows = [
        len(re.findall("l-?6 4 ", drawn([row(5.0) | ends])[0]))
        for ends in ({}, {"high": math.inf}, {"high": math.inf, "low": -math.inf})
    ]
    assert arrows == [0, 1, 2]


@pytest.mark.parametrize(
    ("value", "step", "said"),
    [
        (0.0, 1.0, "0"),
        (1e-17, 0.1, "0"),
        (0.30000000000000004, 0.1, "0.3"),
        (-2.5, 2.5, "−2.5"),
        (100.25, 0.25, "100.25"),
        (1_000_000.5, 0.5, "1.0000005·10^6"),
        (2e8, 2e8, "2·10^8"),
        (1e-6, 0.0, "1·10^-6"),
        (1000.0, 0.0, "1000"),
    ],
)
def test_ticks_are_told_apart(value, step, said):
    assert evidence._label(value, step) == said.replace("-", "−")


# -------------------------------------------------------------------------------- for reading


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""),
        (math.nan, ""),
        (0.0, "0"),
        (3.0, "3"),
        (-13982.4, "−13\u202f982"),
        (0.123456, "0.1235"),
        (0.000123456, "0.0001235"),
        (1.5e-9, "1.500·10^−9"),
        (2.5e15, "2.500·10^15"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
    ],
)
def test_numbers_have_four_digits(value, words):
    assert audit.significant(value) == words

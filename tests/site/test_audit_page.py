"""The page of the audit: every claim once, its evidence in numbers and in a picture."""

import base64
import dataclasses
import html
import math
import re

import pytest

import small
from fairbandits.audit.finding import (
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
)
from fairbandits.site import audit, evidence, pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    small.write_audit(folder)
    return folder / "results"


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

    monkeypatch.setattr(records, "_code", lambda: "0" * 16)
    with pytest.raises(
        pages.NotReady, match=r"is stale: simulation code .*; `make audit` makes it"
    ):
        audit.open_audit(folder)


def test_without_a_ledger_there_is_nothing_to_show(monkeypatch):
    monkeypatch.setattr(audit, "load_ledgers", lambda config: {})
    none = audit.open_audit("nowhere")
    assert none is None
    for function in (audit.banner, audit.tally, audit.consequential):
        assert function(none) is None
    assert audit.summary(none, "banditq") is None
    assert audit.for_each_paper(none, audit.verdicts) is None


def test_a_paper_without_a_ledger_has_no_verdicts(found):
    assert audit.summary(found, "ht_ucb") is None


def test_small_runs_are_marked(found):
    assert "smoke scale: not results" in audit.banner(found).data
    assert audit.banner(dataclasses.replace(found, scale="paper")) is None
    rows = [found.rows[0] | {"seed": "7"}]
    exploratory = dataclasses.replace(found, scale="paper", rows=rows)
    assert "Exploratory: the seed 7 was chosen" in audit.banner(exploratory).data


# -------------------------------------------------------------------------------- the whole


def test_tally_counts_every_claim_once(found):
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", audit.tally(found).data)
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in rows]
    assert sum(int(row[0]) for row in cells) == len(found.claims)
    for row in cells:
        assert sum(int(cell) for cell in row[1:] if cell) == int(row[0])
    heads = re.findall(r'<th scope="col">(.*?)</th>', audit.tally(found).data)
    order = [REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, NOT_TESTABLE, FAILED]
    assert heads == ["", "claims", *order]
    total = sum(int(row[2]) for row in cells if row[2])
    assert total == sum(row["headline"] and row["verdict"] == NOT_REPRODUCED for row in found.rows)


def test_the_consequential_are_chosen_by_rule(found):
    markup = audit.consequential(found).data
    links = re.findall(r'data-page="audit#claim-([^"]+)" href="audit.ipynb#claim-\1"', markup)
    primary = [row for row in found.rows if row["headline"] and row["primary"]]
    counted = {
        outcome: [r["claim"] for r in primary if r["verdict"] == outcome]
        for outcome in (NOT_REPRODUCED, INCONCLUSIVE)
    }
    assert all(counted.values())
    assert links == [*counted[NOT_REPRODUCED], *counted[INCONCLUSIVE]]
    words = plain(markup)
    assert f"BanditQ and Fair-UCB stand on {len(primary)} claims." in words
    assert f"{len(counted[NOT_REPRODUCED])} not reproduced" in words


def test_nothing_consequential_is_said_in_short(found):
    rows = [row | {"verdict": REPRODUCED} for row in found.rows]
    markup = audit.consequential(dataclasses.replace(found, rows=rows)).data
    assert "<table" not in markup
    assert plain(markup).endswith("reproduced.")


@pytest.mark.parametrize("paper", ["banditq", "fair_ucb"])
def test_table_has_every_claim(found, paper):
    markup = audit.verdicts(found, paper).data
    claims = list(found.ledgers[paper].claims)
    assert re.findall(r'href="#claim-([^"]+)"', markup) == claims
    assert badges(markup) == [row["verdict"] for row in found.of(paper)]
    assert f'id="verdicts-{paper}"' in markup


def test_every_claim_has_one_place_to_lead_to(found):
    markup = "".join(
        audit.for_each_paper(found, part).data for part in (audit.primary, audit.others)
    )
    places = re.findall(r'id="claim-([^"]+)"', markup)
    assert sorted(places) == sorted(found.claims)
    everything = markup + "".join(
        audit.for_each_paper(found, part).data for part in (audit.readings, audit.inconsistencies)
    )
    assert set(re.findall(r'href="#claim-([^"]+)"', everything)) <= set(places)


# ---------------------------------------------------------------------------- claim by claim


def blocks(found, paper):
    """Return the block of each claim of a paper."""
    both = audit.primary(found, paper).data + audit.others(found, paper).data
    parts = re.findall(r"<(?:section|details) class=.*?</(?:section|details)>", both, re.DOTALL)
    return {re.search('id="claim-([^"]+)"', part)[1]: part for part in parts}


@pytest.mark.parametrize("paper", ["banditq", "fair_ucb"])
def test_a_block_says_what_a_verdict_rests_on(found, paper):
    for name, block in blocks(found, paper).items():
        claim, words = found.claims[name], plain(block)
        (row, *others) = found.under_readings(name)
        for part in (claim.place, claim.statement, claim.estimand, claim.note, claim.untestable):
            assert " ".join(part.split()) in words
        assert row["verdict"] in badges(block)
        assert row["message"] in words
        for other in others:
            assert f"{other['reading'].replace('_', ' ')} {other['verdict']}" in words
        if row["statistic"] is not None:
            assert f"{row['rule'].replace('_', ' ')}, version {row['rule_version']}" in words
            assert f" {audit.significant(row['statistic'])}" in words
            assert f"n {row['n']}" in words
        for tag in row["tags"]:
            assert audit.TAGS[tag] in words
        for judge in claim.judged_by:
            assert f'href="#claim-{judge}"' in block
        drawn = claim.primary and any(
            one["decides"] and one["verdict"] != FAILED and math.isfinite(one["statistic"])
            for one in found.found(name)
        )
        assert ("<img" in block) == drawn


def test_readings_have_their_verdicts(found):
    markup = audit.for_each_paper(found, audit.readings).data
    wanted = [
        row["verdict"]
        for claim in found.claims.values()
        if len(found.under_readings(claim.id)) > 1 and not claim.alias_of
        for row in found.under_readings(claim.id)
    ]
    assert badges(markup) == wanted


def test_inconsistencies_are_all_there(found):
    markup = audit.for_each_paper(found, audit.inconsistencies).data
    wanted = [key for key, claim in found.claims.items() if claim.between]
    assert re.findall(r'href="#claim-([^"]+)"', markup) == wanted


def test_paper_page_links_to_the_evidence(found):
    markup = audit.summary(found, "fair_ucb").data
    links = re.findall(r'data-page="audit#claim-([^"]+)"', markup)
    assert links == [row["claim"] for row in found.of("fair_ucb") if row["primary"]]
    assert 'data-page="audit#verdicts-fair_ucb"' in markup
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


def drawn(markup):
    """Return the picture in some HTML as text."""
    return base64.b64decode(re.search('base64,([^"]+)', markup)[1]).decode()


def test_a_picture_shows_each_question():
    markup = evidence.picture("t-a", [row(k, each=f"arm {k}") for k in range(3)])
    image = drawn(markup)
    for k in range(3):
        assert f">arm {k}<" in image
    assert ">mean<" in image
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
    markup = evidence.picture("t-a", many)
    image = drawn(markup)
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
    assert words in evidence.picture("t-a", many)


def test_what_does_not_decide_or_has_no_number_is_not_drawn():
    nothing = row(math.nan, half=0.0)
    failed = row(1.0) | {"verdict": FAILED, "statistic": None, "low": None, "high": None}
    reported = row(1.0, decides=False, test="other")
    assert evidence.picture("t-a", [nothing, failed, reported]) == ""
    assert "other" not in evidence.picture("t-a", [row(1.0), reported])


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
    assert drawn(first).count("an arm") == len(rows)


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

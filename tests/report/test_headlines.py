"""The findings that matter most: in docs/findings.md, and on the first page of the report."""

import dataclasses
import re
import shutil

import pytest
import yaml

from fairbandits.audit.totals import tally
from fairbandits.report import audit, headlines, landing
from fairbandits.report.markup import minus
from fairbandits.report.numbers import MARK
from fairbandits.settings.schemas import ROOT, ConfigError

PAGE = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def committed(judged):
    return audit.committed(judged.papers, ROOT / "audit", ROOT / "results")


@pytest.fixture
def project(tmp_path):
    """Return a function from findings to a copy of the project that has these."""
    for file in ROOT.glob("papers/*/numbers.yaml"):
        (tmp_path / "papers" / file.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / "papers" / file.parent.name)
    (tmp_path / "figures").symlink_to(ROOT / "figures")

    def write(*blocks):
        text = yaml.safe_dump({"headlines": blocks}, allow_unicode=True)
        (tmp_path / headlines.FILE).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def blocks():
    return yaml.safe_load((ROOT / headlines.FILE).read_text(encoding="utf-8"))["headlines"]


def test_the_page_has_the_findings_of_the_file(judged):
    all_of_them = headlines.load_headlines(judged.papers)
    assert 5 <= len(all_of_them) <= 7
    again = headlines.written(PAGE, all_of_them)
    assert MARK.sub(r"\1", again) == MARK.sub(r"\1", PAGE)
    for part in ("*Setting.*", "*What speaks against it.*"):
        assert again.count(part) == len(all_of_them)


def test_no_finding_leaves_out_what_its_claims_say(judged, committed):
    all_of_them = headlines.load_headlines(judged.papers)
    headlines.refuse(all_of_them, committed)
    assert sum(len(headline.qualified_by) for headline in all_of_them) > 3


NO_UNIT = "the number {} stands without a unit (its unit is {!r})"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"figure": "banditq/fig99", "shows": "regret"}, "no figure 'banditq/fig99'"),
        ({"figure": "banditq/fig2"}, "shows"),
        ({"figure": "banditq/fig2", "shows": "queue length"}, "the sentence does not speak"),
        ({"claims": {"banditq-prop2-violation": "reprodused"}}, "did you mean 'reproduced'"),
        ({"claims": {"banditq-prop2-violatio": "reproduced"}}, "did you mean 'banditq-prop2-"),
        ({"claims": {}}, "claims"),
        ({"remark": "more"}, "remark"),
        ({"against": ""}, "against"),
        ({"setting": "n = {banditq_hard_m}"}, "no number 'banditq_hard_m'; did you mean"),
        ({"setting": "Of {banditq_hard_n} runs."}, NO_UNIT.format("banditq_hard_n", "replicates")),
        (
            {"qualified_by": {"banditq-prop2-violation": {"hard_family": "it is worse"}}},
            "banditq-prop2-violation: hard_family: it does not say 'it is worse'",
        ),
        ({"qualified_by": {"banditq-prop6": {"TRIVIAL": "says"}}}, "does not stand on"),
    ],
)
def test_what_is_refused(judged, project, changes, said):
    with pytest.raises(ConfigError) as error:
        headlines.load_headlines(judged.papers, project(blocks()[0] | changes))
    assert str(headlines.FILE) in str(error.value)
    assert said in str(error.value)


def test_a_cited_number_has_a_unit(judged, project):
    root = project(blocks()[0])
    cited = re.findall(r"{(\w+)}", blocks()[0]["says"])
    file = root / "papers" / "banditq" / "numbers.yaml"
    entries = yaml.safe_load(file.read_text())
    (name, *_) = (name for name in cited if "unit" in entries.get(name, ()))
    del entries[name]["unit"]
    file.write_text(yaml.safe_dump(entries))
    with pytest.raises(ConfigError, match=rf"headline 1: .* {name} .* unit \(it has none\)"):
        headlines.load_headlines(judged.papers, root)


def test_a_finding_stands_on_its_verdicts(judged, committed):
    headline, *_ = headlines.load_headlines(judged.papers)
    claim = "banditq-prop2-violation"
    other = {"verdict": "inconclusive"}
    rows = [row | (other if row["claim"] == claim else {}) for row in committed.rows]
    with pytest.raises(ConfigError, match=f"{claim} is 'inconclusive', not 'reproduced'"):
        headlines.refuse([headline], dataclasses.replace(committed, rows=rows))


def test_no_qualifier_is_named_that_a_claim_does_not_carry(judged, committed):
    headline, *_ = headlines.load_headlines(judged.papers)
    claim = "banditq-prop2-violation"
    named = headline.qualified_by | {claim: {"PRE-ASYMPTOTIC": headline.says}}
    other = headline.model_copy(update={"qualified_by": named})
    lines = headlines.missing(other, committed)
    assert lines == [f"{claim}: it does not carry 'PRE-ASYMPTOTIC'"]


def test_findings_about_claims_that_are_not_there_are_left_out(judged):
    papers = {"banditq": judged.papers["banditq"]}
    shown = [headline for headline in headlines.load_headlines(papers) if headline.claims]
    (claims,) = (list(headline.claims) for headline in shown)
    assert claims == ["banditq-prop2-attained", "banditq-prop2-violation"]


def test_a_small_run_has_the_totals_and_no_findings(judged):
    shown = landing.first_screen(judged)
    total = tally(judged.heads)
    assert f"<p>The {len(judged.papers)} papers make {total.claims} claims." in shown
    for verdict, count in total.counted.items():
        assert f">{count} {verdict}<" in shown
    assert "<ol" not in shown


def test_findings_are_shown_with_numbers_figures_and_verdicts(judged, project):
    key = "banditq-prop2-violation"
    sound = {"verdict": "reproduced", "tags": []}
    rows = [row | (sound if row["claim"] == key else {}) for row in judged.rows]
    number = next(row for row in judged.findings if row["claim"] == key)
    others = [row for row in judged.findings if row["claim"] != key] + [number | {"tags": []}]
    block = {"says": "The queue length has the exponent T<sup>{one_number}</sup>, if 1 < 2."}
    block |= {"setting": "Set.", "against": "Against.", "figure": "banditq/fig2"}
    block |= {"shows": "queue length", "claims": {key: "reproduced"}}
    chosen = {name: number[name] for name in ("claim", "test", "reading", "each")}
    root = project(block)
    file = root / "papers" / "banditq" / "numbers.yaml"
    entry = {"finding": chosen, "format": ".3f", "unit": "exponent"}
    file.write_text(yaml.safe_dump({"one_number": entry}))
    published = dataclasses.replace(judged, rows=rows, findings=others, scale="paper")
    shown = landing.first_screen(published, root)
    exponent = minus(f"{number['statistic']:,.3f}")
    for text in (
        *(f"T<sup>{exponent}</sup>, if 1 &lt; 2.", "Set.", "Against.", 'data-page="banditq#fig2"'),
        *("Figure 2: queue length", f'data-page="claims/{key}"', 'fb-good">reproduced<'),
    ):
        assert text in shown
    tagged = [row | ({"tags": ["TRIVIAL"]} if row["claim"] == key else {}) for row in rows]
    other = dataclasses.replace(published, rows=tagged)
    assert "<ol" not in landing.first_screen(other, root)

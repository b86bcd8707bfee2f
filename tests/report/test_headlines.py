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
def committed(found):
    """The committed verdicts, and what every test found."""
    return audit.committed(found.papers, ROOT / "audit", ROOT / "results")


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


def test_the_page_has_the_findings_of_the_file(found):
    all_of_them = headlines.load_headlines(found.papers)
    assert 5 <= len(all_of_them) <= 7
    again = headlines.written(PAGE, all_of_them)
    assert MARK.sub(r"\1", again) == MARK.sub(r"\1", PAGE)
    for part in ("*Setting.*", "*What speaks against it.*"):
        assert again.count(part) == len(all_of_them)


def test_no_finding_leaves_out_what_its_claims_say(found, committed):
    all_of_them = headlines.load_headlines(found.papers)
    headlines.refuse(all_of_them, committed)
    assert sum(len(one.qualified_by) for one in all_of_them) > 3


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
def test_what_is_refused(found, project, changes, said):
    with pytest.raises(ConfigError) as error:
        headlines.load_headlines(found.papers, project(blocks()[0] | changes))
    assert str(headlines.FILE) in str(error.value)
    assert said in str(error.value)


def test_a_cited_number_has_a_unit(found, project):
    root = project(blocks()[0])
    cited = re.findall(r"{(\w+)}", blocks()[0]["says"])
    file = root / "papers" / "banditq" / "numbers.yaml"
    entries = yaml.safe_load(file.read_text())
    (name, *_) = (one for one in cited if "unit" in entries.get(one, ()))
    del entries[name]["unit"]
    file.write_text(yaml.safe_dump(entries))
    with pytest.raises(ConfigError, match=rf"headline 1: .* {name} .* unit \(it has none\)"):
        headlines.load_headlines(found.papers, root)


def test_a_finding_stands_on_its_verdicts(found, committed):
    one, *_ = headlines.load_headlines(found.papers)
    claim = "banditq-prop2-violation"
    other = {"verdict": "inconclusive"}
    rows = [row | (other if row["claim"] == claim else {}) for row in committed.rows]
    with pytest.raises(ConfigError, match=f"{claim} is 'inconclusive', not 'reproduced'"):
        headlines.refuse([one], dataclasses.replace(committed, rows=rows))


def test_no_qualifier_is_named_that_a_claim_does_not_carry(found, committed):
    one, *_ = headlines.load_headlines(found.papers)
    claim = "banditq-prop2-violation"
    named = one.qualified_by | {claim: {"PRE-ASYMPTOTIC": one.says}}
    other = one.model_copy(update={"qualified_by": named})
    lines = headlines.missing(other, committed)
    assert lines == [f"{claim}: it does not carry 'PRE-ASYMPTOTIC'"]


def test_findings_about_claims_that_are_not_there_are_left_out(found):
    own = {"banditq": found.papers["banditq"]}
    shown = [one for one in headlines.load_headlines(own) if one.claims]
    assert [list(one.claims) for one in shown] == [
        ["banditq-prop2-attained", "banditq-prop2-violation"]
    ]


def test_a_small_run_has_the_totals_and_no_findings(found):
    shown = landing.first_screen(found)
    total = tally(found.heads)
    assert f"<p>The {len(found.papers)} papers make {total.claims} claims." in shown
    for verdict, count in total.counted.items():
        assert f">{count} {verdict}<" in shown
    assert "<ol" not in shown


def test_findings_are_shown_with_numbers_figures_and_verdicts(found, project):
    key = "banditq-prop2-violation"
    rows = [row | {"verdict": "reproduced", "tags": []} if row["claim"] == key else row
            for row in found.rows]  # fmt: skip
    (number, *_) = (one for one in found.findings if one["claim"] == key)
    others = [one for one in found.findings if one["claim"] != key] + [number | {"tags": []}]
    block = {
        "says": "The queue length has the exponent T<sup>{one_number}</sup>, if 1 < 2.",
        "setting": "Set.",
        "against": "Against.",
        "figure": "banditq/fig2",
        "shows": "queue length",
        "claims": {key: "reproduced"},
    }
    chosen = {name: number[name] for name in ("claim", "test", "reading", "each")}
    root = project(block)
    file = root / "papers" / "banditq" / "numbers.yaml"
    entry = {"finding": chosen, "format": ".3f", "unit": "exponent"}
    file.write_text(yaml.safe_dump({"one_number": entry}))
    judged = dataclasses.replace(found, rows=rows, findings=others, scale="paper")
    shown = landing.first_screen(judged, root)
    exponent = minus(f"{number['statistic']:,.3f}")
    assert f"T<sup>{exponent}</sup>, if 1 &lt; 2." in shown
    assert "Set." in shown
    assert "Against." in shown
    assert 'data-page="banditq#fig2"' in shown
    assert "Figure 2: queue length" in shown
    assert f'data-page="claims/{key}"' in shown
    assert 'fb-good">reproduced<' in shown
    tagged = [row | ({"tags": ["TRIVIAL"]} if row["claim"] == key else {}) for row in rows]
    other = dataclasses.replace(judged, rows=tagged)
    assert "<ol" not in landing.first_screen(other, root)

"""The findings that matter most: in README, and on the first page of the report."""

import dataclasses
import re

import pytest
import yaml

import real
import small
from fairbandits.audit.records import read_csv
from fairbandits.experiments.schemas import ROOT, ConfigError
from fairbandits.site import audit, findings, landing
from fairbandits.site.numbers import MARK, texts_of

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return audit.open_audit(small.audited(tmp_path_factory) / "results")


@pytest.fixture(scope="module")
def committed(found):
    """The committed verdict on each claim."""
    rows = read_csv(ROOT / "audit" / "verdicts.csv", found.ledgers)
    return {row["claim"]: row["verdict"] for row in rows if row["headline"]}


@pytest.fixture
def edited(tmp_path):
    """Return a function that changes the first finding of a copy, and returns the copy's root."""

    def edit(**changes):
        content = yaml.safe_load((ROOT / findings.FILE).read_text(encoding="utf-8"))
        content["findings"][0] |= changes
        (tmp_path / "papers").mkdir(exist_ok=True)
        (tmp_path / findings.FILE).write_text(yaml.safe_dump(content, allow_unicode=True))
        return tmp_path

    return edit


def test_readme_has_the_findings_of_the_file(found, committed):
    all_of_them = findings.load_findings(found.ledgers)
    assert len(all_of_them) == 5
    again = findings.written(README, all_of_them, committed)
    assert MARK.sub(r"\1", again) == MARK.sub(r"\1", README)


def test_every_number_of_a_finding_is_known(found):
    known = texts_of(ROOT / "audit" / "numbers.csv")
    names = {name for one in findings.load_findings(found.ledgers) for name in one.numbers}
    assert len(names) > 5
    assert names <= known.keys()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"figure": "banditq/fig99"}, "finding 1: no figure 'banditq/fig99'"),
        ({"claims": {"banditq-prop2-violation": "reprodused"}}, "did you mean 'reproduced'"),
        ({"claims": {}}, "claims"),
        ({"remark": "more"}, "remark"),
    ],
)
def test_what_is_refused(found, edited, changes, said):
    with pytest.raises(ConfigError) as error:
        findings.load_findings(found.ledgers, edited(**changes))
    assert str(findings.FILE) in str(error.value)
    assert said in str(error.value)


def test_a_finding_stands_on_its_verdicts(found, committed):
    one, *_ = findings.load_findings(found.ledgers)
    (claim,) = one.claims
    with pytest.raises(ConfigError, match=f"{claim} is 'inconclusive', not 'reproduced'"):
        findings.written(README, [one], committed | {claim: "inconclusive"})


def test_findings_about_claims_that_are_not_there_are_left_out(found):
    ledgers = {"banditq": found.ledgers["banditq"]}
    assert [one.figure for one in findings.load_findings(ledgers)] == ["banditq/fig2"]


def test_a_small_run_has_the_picture_and_no_findings(found):
    shown = landing.first_screen(found).data
    words = re.search(r'alt="([^"]+)"', shown)[1]
    for ledger in found.ledgers.values():
        assert f"{ledger.title.partition(':')[0]}: " in words
    assert "<ol" not in shown


def test_findings_are_shown_with_numbers_figures_and_verdicts(found, edited):
    key = "banditq-prop2-violation"
    rows = [row | ({"verdict": "reproduced"} if row["claim"] == key else {}) for row in found.rows]
    ((finding, *_),) = ([one for one in found.findings if one["claim"] == key],)
    number = {"finding": {name: finding[name] for name in ("claim", "test", "reading", "each")}}
    root = edited(says="Grows as T<sup>{one_number}</sup>, if 1 < 2.")
    (root / "papers" / "banditq").mkdir()
    file = root / "papers" / "banditq" / "numbers.yaml"
    file.write_text(yaml.safe_dump({"one_number": number | {"format": ".3f"}}))
    content = yaml.safe_load((root / findings.FILE).read_text(encoding="utf-8"))
    content["findings"] = content["findings"][:1]
    (root / findings.FILE).write_text(yaml.safe_dump(content))
    judged = dataclasses.replace(found, rows=rows, scale="paper")
    shown = landing.first_screen(judged, root).data
    assert f"T<sup>{finding['statistic']:,.3f}</sup>, if 1 &lt; 2." in shown
    assert 'data-page="banditq#fig2"' in shown
    assert f'data-page="claims/{key}"' in shown
    assert 'fb-good">reproduced<' in shown
    rows = [row | ({"verdict": "failed"} if row["claim"] == key else {}) for row in rows]
    other = dataclasses.replace(judged, rows=rows)
    assert "<ol" not in landing.first_screen(other, root).data


def test_the_picture_of_the_totals_is_committed():
    folder = ROOT / real.config().folders["figures"]
    drawn = (folder / "verdicts.svg").read_text(encoding="utf-8")
    numbers = texts_of(ROOT / "audit" / "numbers.csv")
    for paper in ("banditq", "fair_ucb", "ht_ucb", "bf_ucb"):
        assert f">{numbers[f'{paper}_reproduced']}</text>" in drawn

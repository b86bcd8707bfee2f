"""The page of the third edition: what referees found, what was done, verdicts on both sides."""

import pytest
import yaml

import real
from fairbandits.report import edition
from fairbandits.settings.schemas import ROOT, ConfigError

pytestmark = pytest.mark.slow

LEDGERS = real.ledgers()
FOUND = {
    "classes": {"sound": "it follows", "wrong": "it is false"},
    "claims": {
        "banditq-prop6": {"class": "wrong", "said": "It grows.", "done": "Derived."},
        "banditq-optimizer-speedup": {"class": "sound", "said": "Fine.", "done": "Nothing."},
    },
    "uncovered": {"banditq": [{"said": "Nobody asked.", "done": "`banditq-prop6`."}]},
}


def test_a_class_that_is_not_there_is_refused(tmp_path):
    claims = {"banditq-prop6": FOUND["claims"]["banditq-prop6"] | {"class": "wrongg"}}
    file = tmp_path / "referees.yaml"
    file.write_text(yaml.safe_dump(FOUND | {"claims": claims}))
    with pytest.raises(ConfigError, match="'wrongg' is unknown; did you mean 'wrong'"):
        edition.page({"banditq": LEDGERS["banditq"]}, tmp_path, file)


def test_the_referees_judged_claims_that_exist():
    claims = {key for ledger in LEDGERS.values() for key in ledger.claims}
    content = edition.read_yaml(ROOT / edition.REFEREES)
    assert content["claims"].keys() <= claims


def test_the_page_is_that_of_the_committed_tables():
    text = (ROOT / edition.PAGE).read_text(encoding="utf-8")
    assert text == edition.page(LEDGERS, ROOT / "audit"), "fairbandits numbers"

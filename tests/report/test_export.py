"""Verdicts in the forms that other programs read."""

import json
from types import SimpleNamespace

import pytest

from fairbandits.report import export

HEAD = {"grade": "measured", "tags": [], "statistic": 0.5, "low": 0.4, "high": 0.6, "n": 30}
HEAD |= {"p": 0.001, "data": ["a.parquet"]}
CLAIM = {"id": "one", "paper": "toy", "place": "p. 1", "statement": "a < b", "kind": "rate"}
CLAIM |= {"basis": "printed", "left_out": None, "verdict": "reproduced", "headline": HEAD}
SAID = {"scale": "paper", "claims": [CLAIM, CLAIM | {"id": "two", "left_out": "alias"}]}
AUDITED = SimpleNamespace(estimand="a - b")
LEDGERS = {"toy": SimpleNamespace(title="Toy", claims={"one": AUDITED})}


def written(form, tmp_path):
    return export.write(form, SAID, LEDGERS, tmp_path)


def test_a_review_names_claim_and_rating(tmp_path):
    (file,) = written("jsonld", tmp_path)
    content = json.loads(file.read_text())
    assert content["@context"] == "https://schema.org"
    (review,) = content["@graph"]
    assert review["@type"] == "ClaimReview"
    assert review["itemReviewed"]["@type"] == "Claim"
    assert review["reviewRating"]["alternateName"] == "reproduced"
    assert 1 <= review["reviewRating"]["ratingValue"] <= 5


def test_a_chain_has_all_its_forms(tmp_path, monkeypatch):
    records = {"claims": {"one": {"changes": [{"reason": "a slip"}]}}}
    monkeypatch.setattr(export, "read_yaml", lambda file: records)
    (file,) = written("forrt", tmp_path)
    chain = json.loads(file.read_text())
    assert list(chain) == ["Quote", "Claim", "Replication Study", "Outcome", "CiTO"]
    assert chain["Outcome"]["status"] == "Validated"
    assert chain["Replication Study"]["deviations"] == ["a slip"]
    assert "a < b" not in json.dumps(chain["Quote"])


@pytest.mark.parametrize(
    ("verdict", "tags", "grade", "basis", "word", "confidence"),
    [
        ("reproduced", "", "exact", "printed", "Validated", "VeryHighConfidence"),
        ("reproduced", "IN-PART", "consistent", "printed", "PartiallySupported", "Moderate"),
        ("not reproduced", "", "measured", "recalled", "Contradicted", "Moderate"),
        ("depends on the reading", "", "", "printed", "PartiallySupported", "Moderate"),
        ("inconclusive", "", "", "recalled", "Inconclusive", "LowConfidence"),
        ("not testable", "", "", "lost", "NotTested", "VeryLowConfidence"),
    ],
)
def test_each_verdict_has_a_word_and_a_confidence(verdict, tags, grade, basis, word, confidence):
    assert export.outcome(verdict, tags) == word
    assert export.confidence(word, grade, basis) == confidence

"""The page of the third edition: the verdicts before and after, and why they differ."""

import real
from fairbandits.report import edition
from fairbandits.settings.schemas import ROOT

LEDGERS = real.ledgers()


def test_claims_with_another_verdict_stand_beside_their_reason(tmp_path):
    (tmp_path / "second-edition.csv").write_text(
        "id,verdict\nbanditq-prop6,inconclusive\nbanditq-prop1-moment,reproduced\nx,y\n"
    )
    (tmp_path / "verdicts.csv").write_text(
        "id,reading,verdict,grade\nbanditq-prop6,,reproduced,exact\nbanditq-prop6,a,b,c\n"
        "banditq-prop1-moment,,reproduced,consistent\nbanditq-prop2-violation,,reproduced,\n"
    )
    text = edition.page({"banditq": LEDGERS["banditq"]}, tmp_path)
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    reason = " ".join(edition.reasons_of("banditq")["banditq-prop6"][-1].split())
    assert sorted(rows) == sorted(
        [
            f"| `banditq-prop6` | inconclusive | reproduced, exact | {reason} |".replace(
                reason, reason.replace("|", r"\|")
            ),
            "| `banditq-prop2-violation` | not there | reproduced | New. |",
        ]
    )
    assert "3 claims, 1 of which have another verdict and 1 are new" in text


def test_the_page_is_that_of_the_committed_tables():
    text = (ROOT / edition.PAGE).read_text(encoding="utf-8")
    assert text == edition.page(LEDGERS, ROOT / "audit"), "fairbandits numbers"

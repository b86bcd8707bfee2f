"""Controls: what is supported by measurement is what a policy that should fail does not do."""

import csv

import pytest

import real
from fairbandits.audit.totals import left_out
from fairbandits.settings.schemas import ROOT

CLAIMS = {key: one for ledger in real.ledgers().values() for key, one in ledger.claims.items()}


def findings():
    with (ROOT / "audit" / "findings.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["decides"] == "yes"]


def test_each_measured_verdict_changes_under_its_control():
    measured = [
        row for row in findings() if row["grade"] == "measured" and row["verdict"] == "reproduced"
    ]
    assert len(measured) > 50
    assert {row["control"] for row in measured} <= {"not reproduced", "inconclusive"}


def test_what_a_control_passes_is_reproduced_nowhere():
    passed = [row for row in findings() if row["control"] == "reproduced"]
    assert {row["verdict"] for row in passed} <= {"inconclusive", "not reproduced"}


@pytest.mark.parametrize(
    "key", [key for key, one in CLAIMS.items() if one.primary and not left_out(one) and one.tests]
)
def test_a_primary_claim_has_a_control_or_says_why_not(key):
    """A test of means of runs; mathematics, counts without error and published curves have none."""
    bare = [
        test.name
        for test in CLAIMS[key].tests
        if test.decides and test.reads_runs and test.procedure not in ("exact", "curve")
        if test.control is None and not test.uncontrolled
    ]
    assert bare == []

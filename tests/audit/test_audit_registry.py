"""Every procedure says what it judges by, and what the audit is made of has a fingerprint."""

import real
from fairbandits.audit.procedures import PROCEDURES, STATISTICS, judged_against
from fairbandits.data.provenance import AUDIT, CONFIGURING, PACKAGE, READING, WITHOUT, used_by

LEDGERS = real.ledgers()
TESTS = {
    (claim.id, test.name): test
    for ledger in LEDGERS.values()
    for claim in ledger.claims.values()
    for test in claim.tests
}


def test_every_procedure_says_what_its_statistic_is():
    assert STATISTICS.keys() == PROCEDURES.keys()


def test_the_fingerprint_has_all_that_verdicts_depend_on():
    without = tuple(one for one in (*WITHOUT, *CONFIGURING) if one not in READING)
    used = set(used_by(*AUDIT, *READING, without=without))
    every = {
        file.relative_to(PACKAGE).as_posix()
        for file in (PACKAGE / "audit").rglob("*.py")
        if file.parent.name != "judging"
    }
    # what checks a ledger, lists its words or tries other settings makes no recorded verdict
    assert every - used == {f"audit/{name}.py" for name in ("checking", "vocabulary", "whatif")}
    assert {"theory/static.py", "measures/pulls.py", "replication/banditq_uai2024.py"} <= used
    assert {"data/store.py", "replication/datasets.py", "replication/recorded.py"} <= used
    assert {"library/simulation.py", "policies/fair_learn.py"} <= used  # a function runs Fair-Learn
    assert not {"policies/bf_ucb.py", "policies/mixture.py", "figures/draw.py"} & used


def test_what_is_judged_against_is_a_number_for_each_rule():
    from fairbandits.audit.finding import INCONCLUSIVE, Finding

    also = {"printed": 1, "allowed rise": 2, "largest inside": 3}
    finding = Finding(0.0, 0.0, 0.0, 1, None, INCONCLUSIVE, (), also)
    for ledger in LEDGERS.values():
        for claim in ledger.claims.values():
            for test in claim.tests:
                against = judged_against(test.procedure, {"limit": 3}, test.settings, finding)
                assert against, (claim.id, test.name)
                assert all(isinstance(value, float) for value in against.values())

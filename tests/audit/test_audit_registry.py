"""Every procedure says what it judges by, and what the audit is made of has a fingerprint."""

import re

import pytest

import real
from fairbandits.audit.code import AUDIT
from fairbandits.audit.expressions import called, names_in, parse
from fairbandits.audit.measures import OF_THE_LIBRARY, function, functions, measures
from fairbandits.audit.procedures import judged_against
from fairbandits.data.provenance import PACKAGE, WITHOUT, used_by
from fairbandits.replication.reading import CONFIGURING, READING
from fairbandits.settings.schemas import ROOT

LEDGERS = real.ledgers()
TESTS = {
    (claim.id, test.name): test
    for ledger in LEDGERS.values()
    for claim in ledger.claims.values()
    for test in claim.tests
}


def test_every_word_is_used():
    """By a ledger, or it is a measure of the library; a recorded column is a word by itself."""
    used = set()
    for test in TESTS.values():
        selections = [one.where for one in test.companions.values() if one.where]
        for one in (*test.expressions, *map(parse, selections)):
            used |= {name for name, _ in names_in(one)} | set(called(one))
    words = {**measures(), **functions()}
    recorded = {name for name, one in measures().items() if one.columns == (name,)}
    library = re.findall(r"`(\w+)`", (ROOT / "docs" / "library.md").read_text(encoding="utf-8"))
    of_the_library = {*library, *OF_THE_LIBRARY.values()}
    assert words.keys() - recorded - used - of_the_library == set()


def test_a_word_reads_what_its_arguments_read():
    """By way of other words too; means are read where replicates may draw their own."""
    assert measures()["regret"].columns == ("plays", "mean")
    assert measures()["keeps_nearest"].columns == ("quota", "plays", "mean")
    assert measures()["t"].columns == measures()["V"].columns == ()
    assert functions()["share_to_short"].columns == ("plays", "quota", "mean")
    assert functions()["late"].columns == functions()["published"].columns == ()
    assert functions()["worst_at_end"].arguments == (0, 99)
    assert functions()["published"].arguments == (3, 4)


def test_no_two_words_have_one_name():
    with pytest.raises(ValueError, match="there are two measures or functions 'log'"):
        function(name="log")(lambda x: x)


def test_the_fingerprint_has_all_that_verdicts_depend_on():
    without = tuple(one for one in (*WITHOUT, *CONFIGURING) if one not in READING)
    used = set(used_by(*AUDIT, *READING, without=without))
    every = {
        file.relative_to(PACKAGE).as_posix()
        for file in (PACKAGE / "audit").rglob("*.py")
        if file.parent.name != "judging"
    }
    assert every <= used
    assert {"theory/static.py", "measures/pulls.py", "replication/banditq_uai2024.py"} <= used
    assert {"data/store.py", "replication/datasets.py", "replication/recorded.py"} <= used
    assert not {"policies/bf_ucb.py", "policies/wrapping.py", "figures/draw.py"} & used


def test_what_is_judged_against_is_a_number_for_each_rule():
    from fairbandits.audit.finding import INCONCLUSIVE, Finding

    also = {"printed": 1, "largest inside": 3}
    finding = Finding(0.0, 0.0, 0.0, 1, None, INCONCLUSIVE, (), also)
    for ledger in LEDGERS.values():
        for claim in ledger.claims.values():
            for test in claim.tests:
                against = judged_against(test.procedure, test.settings, finding)
                assert against, (claim.id, test.name)
                assert all(isinstance(value, float) for value in against.values())
                known = {"zero": 0.0, "equal": 1.0 if test.settings.get("ratio") else 0.0}
                assert all(against[name] == known[name] for name in known.keys() & against)

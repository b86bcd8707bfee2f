"""What decides a verdict is named when it changes, and what does not draws no new seed."""

import re
import shutil
from functools import cache
from pathlib import Path

import pytest

import real
from fairbandits.audit import records
from fairbandits.data import definitions
from fairbandits.data.definitions import behind, source
from fairbandits.data.provenance import PACKAGE
from fairbandits.settings.deciding import Deciding, changed, decided, deciding
from fairbandits.settings.schemas import ROOT

#: What decides each paper's verdicts, as it is.
before = cache(deciding)


@pytest.fixture
def edited(tmp_path):
    """Return a function that edits a file in a copy of papers and package, and says what differs.

    The place of the copy must not count.
    """
    package = tmp_path / "src" / "fairbandits"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, package, ignore=ignored)
    shutil.copytree(ROOT / "papers", tmp_path / "papers")

    def edit(file, old, new, paper):
        path = tmp_path / file
        text = path.read_text(encoding="utf-8")
        after, count = re.subn(old, new, text, count=1, flags=re.M | re.S)
        assert count == 1, f"{file} has no {old!r}"
        assert after != text
        path.write_text(after, encoding="utf-8")
        now = deciding(paper, tmp_path, package)
        drawn = {name for name, one in now.drawn.items() if one != before(paper).drawn.get(name)}
        return changed(before(paper).parts, now.parts), drawn

    return edit


def first(paper, pattern):
    """Return the first match in a paper's ledger."""
    return re.search(pattern, (ROOT / "papers" / paper / "claims.yaml").read_text("utf-8"), re.M)


ATTACKS = {
    "a statement rewritten": (
        *("papers/fair_ucb/claims.yaml", "Fair-Learn gives each arm at least", "nonsense"),
        *("fair_ucb", "claim fairucb-"),
    ),
    "an estimand rewritten": (
        *("papers/ht_ucb/claims.yaml", "^    estimand: .", "    estimand: Not ", "ht_ucb"),
        "claim htucb-",
    ),
    "an instance deleted": (
        *("papers/ht_ucb/audit.yaml", r"^(    instances:\n)(      \w+:.*?\n)(?=      \w)"),
        *(r"\1", "ht_ucb", "experiment "),
    ),
    "a published number edited": (
        *("papers/banditq/published.yaml", "value: {arm 1: 0.167604", "value: {arm 1: 0.2"),
        *("banditq", "published drawn_targets"),
    ),
    "a bound's constant edited": (
        *("src/fairbandits/theory/bounds.py", r"8 \* np.log", "9 * np.log"),
        *("fair_ucb", "code of learning_pulls"),
    ),
    "a procedure edited": (
        *("src/fairbandits/audit/limits.py", r"LEAST_SKEW, PER_L_SKEW, EXPONENTIAL, HEAVY = 0.25"),
        *("LEAST_SKEW, PER_L_SKEW, EXPONENTIAL, HEAVY = 0.2", "ht_ucb", "code of LEAST_SKEW"),
    ),
    "a word edited": (
        *("src/fairbandits/audit/measures/common.py", r"np.maximum\(x, y\)"),
        *("np.minimum(x, y)", "ht_ucb", "code of max"),
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_decides_is_named(name, edited):
    file, old, new, paper, said = ATTACKS[name]
    names, drawn = edited(file, old, new, paper)
    assert any(said in one for one in names), names
    assert drawn or "published" in file or "statement" in name


NOTHING = {
    "a comment": ("papers/ht_ucb/claims.yaml", "^claims:", "# a comment\nclaims:"),
    "a note": ("papers/ht_ucb/claims.yaml", "^    note: >-\n      ", r"\g<0>By the way, "),
    "a place": ("papers/ht_ucb/claims.yaml", "^    place: ", "    place: In the text, "),
    "a title": ("papers/ht_ucb/audit.yaml", "^    title: ", "    title: Once more, "),
    "a docstring": ("src/fairbandits/theory/bounds.py", '^    """', '    """Or so, '),
    "a comment in code": ("src/fairbandits/audit/limits.py", "^CARRIERS = 3", "CARRIERS = 3  # !"),
    "code of something else": ("src/fairbandits/report/pages.py", r"\Z", "\nOTHER = 1\n"),
    "an unused word": (
        *("src/fairbandits/audit/measures/common.py", r"\Z"),
        '\n\n@function()\ndef unused(x):\n    """Nothing."""\n    return x\n',
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_decides_nothing_changes_nothing(name, edited):
    assert edited(*NOTHING[name], "ht_ucb") == ([], set())


def test_code_that_moves_to_another_file_changes_nothing(edited, tmp_path):
    theory = tmp_path / "src" / "fairbandits" / "theory"
    (theory / "penalised_instances.py").rename(theory / "elsewhere.py")
    other = "import bounds, elsewhere as penalised_instances"
    reader = "src/fairbandits/audit/measures/ht_ucb.py"
    assert edited(reader, "import bounds, penalised_instances", other, "ht_ucb") == ([], set())


def test_a_new_claim_draws_anew_what_it_reads_and_no_more(edited):
    name = first("ht_ucb", r"^  htucb-\S+:$").group(0)
    copied = "  htucb-new:\n    judged_by: [htucb-thm1]\n    kind: bound\n    primary: false\n"
    names, drawn = edited("papers/ht_ucb/claims.yaml", f"^{name}", copied + name, "ht_ucb")
    assert names == ["claim htucb-new"]
    assert drawn == set()


def test_committed_verdicts_of_other_rules_are_refused_by_name(tmp_path):
    ledgers = real.ledgers()
    for name in (records.VERDICTS_TABLE, records.FINDINGS_TABLE):
        shutil.copy(ROOT / "audit" / name, tmp_path)
    records.write_parts(tmp_path, ledgers)
    own = records._parts_beside(tmp_path / records.VERDICTS_TABLE)
    assert {paper: dict(before(paper).parts) for paper in ledgers} == own
    assert records.digest_of(own["banditq"]) == ledgers["banditq"].digest
    other = own["banditq"] | {"claim banditq-prop6": "0" * 16}
    said = records._names(other, records.digest_of(other), ledgers["banditq"])
    assert said == ": claim banditq-prop6"


def test_a_paper_without_a_ledger_has_no_digest(tmp_path):
    assert decided("banditq", tmp_path) == Deciding()
    assert Deciding().digest == ""


def test_the_code_behind_a_name(tmp_path):
    package = tmp_path / "pack"
    package.mkdir()
    (package / "one.py").write_text(
        "from pack import two\nfrom pack.two import used as other\n\nLIMIT = 3\n\n\ndef top(x):\n"
        '    """Say."""\n    return other(x) + two.also(LIMIT)\n\n\ndef apart():\n    return 1\n'
    )
    (package / "two.py").write_text(
        "def used(x):\n    return deep(x)\n\n\ndef also(x):\n    return x\n\n\ndef deep(x):\n"
        "    return x\n"
    )
    found = behind((("one.py", "top"),), package=Path(package))
    assert list(found) == ["LIMIT", "also", "deep", "top", "used"]
    assert list(behind((("one.py", "top"),), ("two.py",), Path(package))) == ["LIMIT", "top"]


def test_a_file_counts_by_what_it_imports_not_by_its_name(tmp_path):
    same = "def word(x):\n    return used(x)\n"
    for name, value in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.py").write_text(f"from {tmp_path.name}.{name}_ import used\n\n{same}")
        (tmp_path / f"{name}_.py").write_text(f"def used(x):\n    return x + {value}\n")
    one, other = (behind(((f"{name}.py", "word"),), (), tmp_path) for name in "ab")
    assert one["word"] == other["word"]
    assert one["used"] != other["used"]
    both = behind((("a.py", "word"), ("b.py", "word")), (), tmp_path)
    assert both["used"] == "-".join(sorted((one["used"], other["used"])))
    (tmp_path / "b.py").write_text(
        f"def word(x):\n    from {tmp_path.name}.a_ import used\n\n    return used(x)\n"
    )
    for kept in (source, behind, definitions._used):
        kept.cache_clear()
    assert behind((("b.py", "word"),), (), tmp_path) == one


def test_statements_that_give_one_name_count_together(tmp_path):
    """Whatever the order of a set: a registry can give a word to several functions."""
    (tmp_path / "a.py").write_text(
        "import b\n\nmeasure(b.one, 'word')\nmeasure(b.two, 'word')\nmeasure(b.one, b.two)\n"
    )
    (tmp_path / "b.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    found = behind((("a.py", "word"),), (), tmp_path)
    assert set(found) == {"one", "two"}
    either = behind((("a.py", "one"),), (), tmp_path)["one"]
    assert len(either.split("-")) == 2

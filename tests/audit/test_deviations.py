"""What changed since it was first written down: well-formed, in true order, and complete."""

import copy
import re

import pytest
import yaml

import real
from fairbandits.audit.ledger import load_ledger
from fairbandits.settings.schemas import (
    ROOT,
    SHARED_RULES,
    ConfigError,
    paper_file,
    read_yaml,
    with_shared_rules,
)

CONFIG = real.config()
LEDGERS = real.ledgers()
PAPERS = tuple(LEDGERS)


def content(paper):
    return read_yaml(paper_file(paper, "claims", ROOT))


@pytest.fixture(scope="module")
def one():
    """Return one change, which is right."""
    return [
        {
            "when": "2026-11-21 09:44",
            "what": "margin",
            "where": ["banditq-abs-targets", "full_information", "rate", "formerly lfg_matched"],
            "before": "0.99",
            "after": "0.5",
            "why": "Not recorded.",
        }
    ]


@pytest.fixture
def load(tmp_path, one):
    """Return a function that loads BanditQ's ledger with these changes, edited."""

    def loaded(edit):
        changes = copy.deepcopy(one)
        edit(changes)
        file = paper_file("banditq", "claims", tmp_path)
        file.parent.mkdir(parents=True)
        file.write_text(paper_file("banditq", "claims", ROOT).read_text("utf-8"), encoding="utf-8")
        (tmp_path / SHARED_RULES).write_text((ROOT / SHARED_RULES).read_text("utf-8"), "utf-8")
        history = yaml.safe_dump({"changes": changes}, sort_keys=False)
        paper_file("banditq", "deviations", tmp_path).write_text(history, encoding="utf-8")
        return load_ledger(file, CONFIG, tmp_path)

    return loaded


def test_a_change_is_read(load, one):
    (change,) = load(lambda changes: None).changes
    assert one[0].items() <= dict(change).items()
    assert change.verdict_before == change.verdict_after == "no verdict yet"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("what", "wording", "wording"),
        ("when", "2026-11-21", "2026-11-21"),
        ("where", [], "where"),
        ("where", ["full_informatio"], "did you mean 'full_information'"),
        ("where", ["lfg_matched"], "'lfg_matched' is unknown"),
        ("where", ["formerly rate"], "there still is 'rate'"),
        ("why", "", "why"),
        ("version", 1, "version"),
    ],
)
def test_a_wrong_value_is_refused(load, key, value, words):
    with pytest.raises(ConfigError, match=re.escape(words)) as error:
        load(lambda changes: changes[0].update({key: value}))
    assert "changes.0" in str(error.value)


def test_another_order_than_the_true_one_is_refused(load):
    def edit(changes):
        changes.append(changes[0] | {"when": "2026-11-21 09:43"})

    with pytest.raises(ConfigError, match=r"changes\.1\.when: .* true order, got 2026-11-21 09:43"):
        load(edit)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_version_has_its_entry(paper):
    """A rule or record that has a new version is found in the list under that version."""
    whole = with_shared_rules(content(paper))
    entries = {(name, change.version) for change in LEDGERS[paper].changes for name in change.where}
    records = whole["rules"] | whole["claims"]
    wanted = {
        (name, version)
        for name, record in records.items()
        for version in range(2, record.get("version", 1) + 1)
    }
    assert wanted <= entries
    # and none is listed that was never made; claims that others judge now have no versions any more
    versioned = {name for name, record in whole["claims"].items() if "version" in record}
    assert {one for one in entries if one[1] and one[0] in versioned} <= wanted

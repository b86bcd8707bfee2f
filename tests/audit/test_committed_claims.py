"""Claims of others that are judged as one's own: the page says what was frozen."""

import re

from fairbandits.audit.judging.rules import load_rules
from fairbandits.settings.schemas import ROOT

PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")


def test_the_page_on_guarantees_is_of_these_rules():
    rules = load_rules(ROOT / "papers" / "arena" / "guarantees.yaml")
    assert re.search(r"digest `(\w{16})`", PAGE)[1] == rules.digest

"""Formulas in the prose of claims: what is between dollar signs is LaTeX, and nothing else is."""

import re

import pytest
import yaml

import real
from fairbandits.report.markup import typeset
from fairbandits.settings.formulas import FORMULA, plain
from fairbandits.settings.schemas import ROOT


def texts(content):
    if isinstance(content, dict):
        content = [*content, *content.values()]
    if isinstance(content, list):
        for part in content:
            yield from texts(part)
    elif isinstance(content, str):
        yield content


def prose():
    files = ROOT.glob("papers/*/glossary.yaml")
    contents = [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files]
    for paper in real.papers().values():
        contents += [paper.readings, *map(vars, paper.claims.values())]
    return [text for content in contents for text in texts(content) if "$" in text]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (r"no faster than $T^{3/4}$, it is said", "no faster than T^(3/4), it is said"),
        (r"$8 \ln T / \Delta_i^2 + 1 + \pi^2/3$", "8 ln T / Delta_i^2 + 1 + pi^2/3"),
        (r"at most $\lfloor r_i t \rfloor - \alpha$", "at most floor(r_i t) - alpha"),
        (r"the sum of $(\tau T - N)^+$ is", "the sum of (tau T - N)+ is"),
        (r"$x^*$ at $2\cdot 10^6$ rounds", "x* at 2e6 rounds"),
        (r"$\Delta_{\mathrm{min}}$ of $10^{-7}$", "Delta_min of 10^-7"),
        (r"$2 \cdot \sqrt{N T} \le C$ for $T^{-b}$", "2 * sqrt(N T) <= C for T^-b"),
        ("nothing {of} the \\kind", "nothing {of} the \\kind"),
    ],
)
def test_a_terminal_shows_formulas_in_plain_letters(said, shown):
    assert plain(said) == shown


def test_html_is_escaped_inside_and_outside():
    said = typeset("<img> if $r_i T < 8$ & more")
    assert said.startswith("&lt;img&gt; if <span")
    assert r"\(r_i T &lt; 8\)</span> &amp; more" in said


def test_prose_has_whole_formulas_and_no_notation_outside_of_them():
    all_texts = prose()
    assert len(all_texts) > 400
    for text in all_texts:
        assert text.count("$") % 2 == 0, text
        for formula in FORMULA.findall(text):
            assert formula.count("{") == formula.count("}"), text
            assert formula.count("(") == formula.count(")"), text
        outside = FORMULA.sub("", text)
        assert not re.search(r"[\\^]|\b(sqrt|Delta|lambda|mu|tau)\b|\b\w_\w\b", outside), text
        assert not re.search(r"[\\{}$]", plain(text)), text

"""Formulas in the ledgers' plain notation, as they are typeset."""

import re

import pytest
import yaml

from fairbandits.report.formulas import names, plain_latex, typeset
from fairbandits.settings.schemas import ROOT


@pytest.mark.parametrize(
    ("said", "latex"),
    [
        ("It grows no faster than T^(3/4), it is said.", r"It grows no faster than $T ^{3/4}$, it"),
        (
            "8 ln T / Delta_i^2 + 1 + pi^2/3 times",
            r"$8 \ln  T  / \Delta_{i} ^{2} + 1 + \pi ^{2}/3$",
        ),
        ("at most floor(r_i t) - alpha", r"at most $\lfloor r_{i}  t\rfloor  - \alpha$"),
        ("the sum of (tau T - N)+ is", r"the sum of $(\tau  T  - N)^{+}$ is"),
        ("A queue is at most A (tau T).", r"A queue is at most $A  (\tau  T)$."),
        ("the best distribution x* at 2e6 rounds", r"$x^*$ at $2\cdot 10^{6}$ rounds"),
        ("never below -t", "never below $-t$"),
        ("O(sqrt T) for T^-b", r"$O (\sqrt{T})$ for $T ^{-b}$"),
        ("Delta_min of 1e-7", r"$\Delta_{\mathrm{min}}$ of $10^{-7}$"),
    ],
)
def test_formulas_are_found(said, latex):
    assert latex in plain_latex(said)


@pytest.mark.parametrize(
    "said",
    [
        "A policy with i.i.d. rewards in [0, 1], e.g. UCB1, pulls 2 arms (all of them).",
        "Experiments A and B, Experiments A to D, App. B.1 and Instance 1 of T-Fair-UCB",
        "papers/ht_ucb/experiments.yaml, as_read, Theorem 2's and the group's log-log slope",
        "the sum over the rounds, at most 40 - or less - in max",
    ],
)
def test_words_stay_words(said):
    assert plain_latex(said) == said
    assert names(said) == set()


def test_html_is_escaped_inside_and_outside():
    said = typeset("<img> if r_i T < 8 & more")
    assert said.startswith("&lt;img&gt; if ")
    assert r"\(r_{i}  T  &lt; 8\)</span> &amp; more" in said


def test_no_formula_of_a_ledger_is_left_half():
    """What brackets, roots and powers open is closed, and no power stands outside of a formula."""
    for file in ROOT.glob("papers/*/claims.yaml"):
        for key, record in yaml.load(file.read_text(), yaml.CSafeLoader)["claims"].items():
            latex = plain_latex(record["statement"])
            for formula in re.findall(r"\$([^$]+)\$", latex):
                assert formula.count("{") == formula.count("}"), key
                assert formula.count("(") == formula.count(")"), key
            assert "^" not in re.sub(r"\$[^$]+\$", "", latex), key

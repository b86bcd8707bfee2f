"""Formulas in prose: LaTeX between dollar signs, as pages typeset it and a terminal shows it."""

import re
from functools import cache, reduce

FORMULA = re.compile(r"\$([^$]+)\$")
#: LaTeX -> plain text, in this order.
PLAIN = (
    (r"\\lfloor (.*?) \\rfloor", r"floor(\1)"),
    (r"\\lceil (.*?) \\rceil", r"ceil(\1)"),
    (r"\\mathrm{(\w+)}", r"\1"),
    (r"(\d)\\cdot 10\^", r"\1e"),
    (r"\\cdot ", "* "),
    (r"\\le ", "<= "),
    (r"\\ge ", ">= "),
    (r"\^([*+])", r"\1"),
    (r"([_e]){([^{}]+)}", r"\1\2"),
    (r"\^{(-?\\?\w+)}", r"^\1"),
    (r"[{}\\]", lambda match: {"{": "(", "}": ")"}.get(match[0], "")),
)


@cache
def plain(text: str) -> str:
    """Return text with its formulas in letters that any terminal has."""

    def said(formula: re.Match[str]) -> str:
        return reduce(lambda text, rule: re.sub(*rule, text), PLAIN, formula[1])

    return FORMULA.sub(said, text)

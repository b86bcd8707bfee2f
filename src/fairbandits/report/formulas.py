"""Typeset the ledgers' plain notation: ``8 ln T / Delta_i^2`` inside a sentence.

Ledgers are read in editors and terminals, so that formulas are plain text. A formula in a sentence
is recognised by its names: Greek letters, functions, single letters, and operators between them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

GREEK = ("alpha", "beta", "gamma", "delta", "Delta", "eta", "lambda", "mu", "pi", "tau")
FUNCTIONS = ("sqrt", "ln", "log", "exp", "max", "min", "sum", "floor", "ceil")
OPERATORS = {"<=": r"\le ", ">=": r"\ge ", "<": "<", ">": ">", "=": "=", "+": "+", "-": "-"}
OPERATORS |= {"*": r"\cdot ", "/": "/", "|": "|"}
#: Letters that are words: names of appendices, experiments or cases, and abbreviations.
NAMED = (
    r"(?:Experiments?|Apps?\.|[Aa]ppendix|Instances?) [A-I]\b(?:\.\d+)?(?:(?:,| and| to) [A-I]\b)*"
)
TOKEN = re.compile(
    rf"(?P<word>{NAMED}|i\.i\.d\.|[ei]\.[ge]\.|UAI App\. [A-Z](?:\.\d)?"
    r"|(?:[A-Za-z]+\d*[-'])+[A-Za-z]+\d*"
    r"|-th\b|[A-Za-z]+\d+\b|\d+'s)"
    r"|(?P<power>\b\d+(?:\.\d+)?e-?\d+\b)|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z]+(?:\*(?![A-Za-z\d(]))?(?:_(?:[A-Za-z]+|\d+))?)"
    r"|(?P<hat>\^-?(?:[A-Za-z]+|\d+(?:\.\d+)?)|\^(?=\())"
    r"|(?P<plus>(?<=\))\+(?=[\s.,;:)]|$))|(?P<op><=|>=|[<>=+*/|-])"
    r"|(?P<open>[(\[])|(?P<close>[)\]])|(?P<comma>,)|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)


@dataclass
class Part:
    """A token, or a bracketed group of tokens."""

    kind: str
    text: str
    inside: tuple["Part", ...] = ()

    @property
    def base(self) -> str:
        """The name without its index and star."""
        return self.text.partition("_")[0].rstrip("*")


def typeset(text: str) -> str:
    """Return text as HTML with typeset formulas."""
    parts = []
    for formula, said in _runs(" ".join(text.split())):
        if formula:
            said = rf"\({formula}\)"
            parts.append(f'<span class="math notranslate nohighlight">{escape(said)}</span>')
        else:
            parts.append(escape(said))
    return "".join(parts)


def plain_latex(text: str) -> str:
    r"""Return text with its formulas between dollar signs.

    Examples
    --------
    >>> plain_latex("A queue is at most 2 sqrt(N T), i.e. not above it.")
    'A queue is at most $2 \\sqrt{N  T}$, i.e. not above it.'
    """
    return "".join(f"${one}$" if one else said for one, said in _runs(" ".join(text.split())))


def names(text: str) -> set[str]:
    """Return the names in a text's formulas, without indices: ``{"T", "Delta"}``."""
    found: set[str] = set()

    def look(parts: tuple[Part, ...] | list[Part]) -> None:
        for part in parts:
            if part.kind == "name":
                found.add(part.base)
            look(part.inside)

    for run in _marked(_tree(text)):
        if isinstance(run, list):
            look(run)
    return found


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """Yield (LaTeX, "") for each formula and ("", text) for the text between."""
    for run in _marked(_tree(text)):
        yield (_latex(run).strip(), "") if isinstance(run, list) else ("", run)


def _tree(text: str) -> list[Part]:
    """Return a text's tokens, each matching pair of brackets as one part."""
    stack: list[list[Part]] = [[]]
    for found in TOKEN.finditer(text):
        kind, word = str(found.lastgroup), found.group()
        if kind == "open":
            stack.append([Part("open", word)])
        elif kind == "close" and len(stack) > 1:
            first, *inside = stack.pop()
            fits = first.text + word in ("()", "[]")
            parts = [first, *inside, Part("other", word)]
            stack[-1] += [Part("group", first.text + word, tuple(inside))] if fits else parts
        else:
            stack[-1].append(Part(kind, word))
    while len(stack) > 1:  # a bracket without its end
        unfinished = stack.pop()
        stack[-1] += unfinished
    return stack[0]


def _is_name(part: Part, before: Part | None, after: Part | None) -> bool:
    """Return whether a token is a name in a formula, given its neighbours."""
    text, base = part.text, part.base
    if base in FUNCTIONS:
        follows = after is not None and (
            (after.kind == "group" and _is_formula(after.inside))
            or (after.kind == "name" and after.base not in FUNCTIONS and _is_letter(after))
            or (after.kind == "name" and after.base in FUNCTIONS)
            or (after.kind == "number" and base not in ("sum", "max", "min"))
        )
        a_word = before is not None and before.text in ("the", "of", "a") and base == "sum"
        return "_" in text or (follows and not a_word)
    if after is not None and after.kind == "hat":
        return True
    if text in ("A", "I", "a"):
        joined = [one for one in (before, after) if one is not None]
        near = any(one.kind == "op" or one.text in ("max", "[]") for one in joined)
        near = near or (before is not None and before.kind == "comma")
        follows = after is not None and (
            after.base in GREEK or (after.kind == "group" and _is_formula(after.inside))
        )
        return text == "A" and (near or follows)
    return _is_letter(part)


def _is_letter(part: Part) -> bool:
    base, _, index = part.text.partition("_")
    if index and len(base) > 1 and base not in GREEK:  # rate_i is, and ht_ucb is a file's name
        return len(index) < 3
    return (base in GREEK and (index or base != "beta")) or "*" in base or len(base) == 1


def _is_formula(parts: tuple[Part, ...] | list[Part]) -> bool:
    """Return whether the content of brackets is one formula."""
    solid = [part for part in parts if part.kind != "space"]
    allowed = ("number", "power", "op", "hat", "plus", "comma")
    return bool(solid) and all(
        part.kind in allowed
        or (part.kind == "group" and _is_formula(part.inside))
        or (
            part.kind == "name"
            and _is_name(
                part,
                solid[place - 1] if place else None,
                solid[place + 1] if place + 1 < len(solid) else None,
            )
        )
        for place, part in enumerate(solid)
    )


def _marked(parts: list[Part]) -> Iterator[str | list[Part]]:
    """Yield texts, and lists of parts that are formulas."""
    solid = [k for k, part in enumerate(parts) if part.kind != "space"]
    at = {k: place for place, k in enumerate(solid)}

    def near(k: int, step: int) -> Part | None:
        place = at[k] + step
        return parts[solid[place]] if 0 <= place < len(solid) else None

    def fits(k: int) -> bool:
        part = parts[k]
        if part.kind == "name":
            return _is_name(part, near(k, -1), near(k, 1))
        if part.kind == "group":
            return _is_formula(part.inside)
        return part.kind in ("number", "power", "op", "hat", "plus")

    run: list[int] = []
    for k in [*range(len(parts)), None]:
        if k is not None and (parts[k].kind == "space" or fits(k)):
            run.append(k)
            continue
        yield from _trimmed([parts[one] for one in run])
        run = []
        if k is not None:
            yield _text(parts[k])


def _trimmed(run: list[Part]) -> Iterator[str | list[Part]]:
    """Yield a run of parts as a formula, with leading and trailing non-formula parts as text."""
    if not _has_name(run):
        yield "".join(map(_text, run))
        return
    first, last = 0, len(run)
    while run[first].kind == "space" or (
        run[first].kind == "op" and run[first + 1].kind == "space"
    ):
        first += 1
    while run[last - 1].kind in ("space", "op"):
        last -= 1
    yield "".join(map(_text, run[:first]))
    yield run[first:last]
    yield "".join(map(_text, run[last:]))


def _has_name(parts: tuple[Part, ...] | list[Part]) -> bool:
    return any(part.kind in ("name", "power") or _has_name(part.inside) for part in parts)


def _text(part: Part) -> str:
    if part.kind == "group":
        return part.text[0] + "".join(map(_text, part.inside)) + part.text[1]
    return part.text


def _latex(parts: list[Part] | tuple[Part, ...]) -> str:
    made, k = "", 0
    while k < len(parts):
        part = parts[k]
        following = next((j for j in range(k + 1, len(parts)) if parts[j].kind != "space"), None)
        argument = None if following is None else parts[following]
        if part.kind == "name" and part.text in ("sqrt", "floor", "ceil") and argument is not None:
            inner = _latex(argument.inside if argument.kind == "group" else [argument])
            ends = {"floor": (r"\lfloor ", r"\rfloor "), "ceil": (r"\lceil ", r"\rceil ")}
            left, right = ends.get(part.text, (r"\sqrt{", "}"))
            made += left + inner.strip() + right
            k = following
        elif part.kind == "hat" and part.text == "^" and argument is not None:
            made += "^{" + _latex(argument.inside).replace(" ", "") + "}"
            k = following
        else:
            made += _one(part)
        k += 1
    return made


def _one(part: Part) -> str:
    if part.kind == "group":
        return part.text[0] + _latex(part.inside).strip() + part.text[1]
    if part.kind == "name":
        base, _, index = part.text.partition("_")
        star = "^*" * base.endswith("*")
        base = base.rstrip("*")
        if base in GREEK or base in FUNCTIONS:
            base = rf"\{base} "
        elif len(base) > 1:
            base = rf"\mathrm{{{base}}}"
        below = rf"\mathrm{{{index}}}" if len(index) > 1 and not index.isdigit() else index
        return base.rstrip() + star + ("_{" + below + "}" if index else "") + " "
    if part.kind == "power":
        digits, _, power = part.text.partition("e")
        return (r"10^{%s}" if digits == "1" else digits + r"\cdot 10^{%s}") % int(power)
    if part.kind == "hat":
        power = part.text[1:]
        sign, letters = ("-", power[1:]) if power.startswith("-") else ("", power)
        return "^{" + sign + (rf"\{letters}" if letters in GREEK else letters) + "}"
    if part.kind == "plus":
        return "^{+}"
    if part.kind == "space":
        return " "
    return OPERATORS.get(part.text, part.text)

"""The page of the library: every public name with its docstring."""

import inspect
import operator
import re
from collections.abc import Iterator
from typing import Any

from markupsafe import escape

import fairbandits
from fairbandits.report.markup import Html, render

#: Sections of a docstring that are lists of terms.
LISTS = ("Parameters", "Attributes", "Returns", "Raises", "Warns", "Columns")
#: A term of a section, the line that is not indented, and what is said of it.
TERM = re.compile(r"^(\S.*)((?:\n(?:[ ].*)?)*)", re.MULTILINE)


def reference(*names: str) -> Html:
    """Return the docstrings of public names ("metrics.regret"), folded below their first lines."""
    return render(
        "library.html",
        entries=[(name, list(_blocks(name))) for name in names],
        lists=LISTS,
        terms=TERM.findall,
        paragraphs=lambda text: [part for part in re.split(r"\n\s*\n", text) if part.strip()],
        in_line=_in_line,
    )


def module(name: str) -> Html:
    public = getattr(fairbandits, name)
    return reference(*(f"{name}.{member}" for member in public.__all__ if member[0].islower()))


def _blocks(name: str) -> Iterator[tuple[str, str, list]]:
    """Yield name, signature and sections of a public name, then of a class's own members."""
    public = operator.attrgetter(name)(fairbandits)
    blocks = {f"fb.{name}": public}
    if inspect.isclass(public):
        blocks |= {
            key: value
            for key, value in vars(public).items()
            if key[0] != "_" and value.__doc__ and (callable(value) or isinstance(value, property))
        }
    for title, member in blocks.items():
        call = "" if isinstance(member, property) else _signature(member)
        yield title, call, list(_sections(inspect.getdoc(member) or ""))


def _signature(public: Any) -> str:
    signature = inspect.signature(public)
    plain = [
        p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"
    ]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the title (empty for the first) and text of each section of a docstring."""
    first, *rest = re.split(r"^(\S.*)\n-+(?:\n|$)", text, flags=re.MULTILINE)
    yield from zip(["", *rest[::2]], [first, *rest[1::2]], strict=True)


def _in_line(text: str) -> Html:
    line = str(escape(" ".join(text.split())))
    return Html(re.sub(r"(`{1,2})([^`]+)\1", r"<code>\2</code>", line))

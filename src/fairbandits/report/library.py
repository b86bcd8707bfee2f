"""The page of the library: every public name with its docstring."""

import inspect
import operator
import re
from collections.abc import Iterator
from html import escape
from typing import Any

import fairbandits
from fairbandits.report.markup import Html

#: Sections of a docstring that are lists of terms.
LISTS = ("Parameters", "Attributes", "Returns", "Raises", "Warns")


def reference(*names: str) -> Html:
    """Return the docstrings of public names, given without ``fairbandits.``: "metrics.regret"."""
    return Html(f'<div class="fb-scroll">{"".join(map(_entry, names))}</div>')


def module(name: str) -> Html:
    """Return the docstrings of a public module's functions."""
    public = getattr(fairbandits, name)
    return reference(*(f"{name}.{one}" for one in public.__all__ if one[0].islower()))


def _entry(name: str) -> str:
    public = operator.attrgetter(name)(fairbandits)
    shown = f'<section class="fb-entry" id="fb-{name}">{_block(f"fb.{name}", public)}'
    if inspect.isclass(public):
        members = [key for key, value in vars(public).items() if _is_public(key, value)]
        shown += "".join(_block(key, vars(public)[key]) for key in members)
    return f"{shown}</section>"


def _is_public(key: str, value: Any) -> bool:
    return key[0] != "_" and (inspect.isfunction(value) or isinstance(value, property))


def _block(name: str, public: Any) -> str:
    """Return the signature and the docstring of one name."""
    call = "" if isinstance(public, property) else _signature(public)
    parts = [f'<p class="fb-name"><code><strong>{escape(name)}</strong>{escape(call)}</code></p>']
    for title, lines in _sections(inspect.getdoc(public) or ""):
        if title:
            parts.append(f"<p><strong>{title}</strong></p>")
        if title in LISTS:
            parts.append(_list(lines))
        elif title == "Examples":
            parts.append(f"<pre>{escape(chr(10).join(lines))}</pre>")
        else:
            paragraphs = re.split(r"\n\s*\n", "\n".join(lines))
            parts += [f"<p>{_inline(text)}</p>" for text in paragraphs if text.strip()]
    return f"<div>{''.join(parts)}</div>"


def _signature(public: Any) -> str:
    """Return a signature without types, which the docstring has."""
    signature = inspect.signature(public)
    plain = [
        p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"
    ]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the title (empty for the first) and lines of each section of a docstring."""
    lines = text.splitlines()
    starts = [k for k, line in enumerate(lines[1:]) if line and set(line) == {"-"}]
    for first, end in zip([-2, *starts], [*starts, len(lines)], strict=True):
        body = "\n".join(lines[first + 2 : end]).strip("\n").splitlines()
        yield ("" if first < 0 else lines[first]), body


def _list(lines: list[str]) -> str:
    """Return a definition list of a section's terms, the lines that are not indented."""
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        if line and not line[0].isspace():
            items.append((line, []))
        elif items:
            items[-1][1].append(line)
    terms = (
        f"<dt><code>{escape(term)}</code></dt><dd>{_inline(' '.join(words))}</dd>"
        for term, words in items
    )
    return f"<dl>{''.join(terms)}</dl>"


def _inline(text: str) -> str:
    return re.sub(r"(`{1,2})([^`]+)\1", r"<code>\2</code>", escape(" ".join(text.split())))

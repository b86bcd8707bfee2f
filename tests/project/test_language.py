"""README, docs, pages, help texts, claims and docstrings keep to docs/writing.md."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import real
from fairbandits.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "fairbandits"
GUIDE = ROOT / "docs" / "writing.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/decisions/*.md")),
]
#: Texts of a claim; its tests have phrases, and say why they have no control.
SAID = ("statement", "part", "note", "untestable")
#: Folders whose docstrings users read, captions of figures among them.
READ = ("cli", "engine", "figures", "library", "measures", "observers", "policies", "theory")
LONGEST = 35
#: What is no prose, and what replaces it.
STRIPPED = [
    (r"^```[\s\S]*?^```$", "\n\n"),
    (r"^ *>>>[\s\S]*?(?=\n\n|\Z)|^.*\n-+$|^\S.*$(?=\n {4}\S)", "\n\n"),
    (r"<!--.*?-->|</?\w+/?>|\*", ""),
    (r"^\s*\|.*$|^#.*$|^- Before:.*$", "\n"),
    (r"`[^`]+`|\$\$[^$]+\$\$|\$[^$]+\$", "X"),
    (r"!?\[(?:\S+[-/.]\S*|X)\]\([^)]*\)", "X"),
    (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"^\s*(?:- |\d+\. )|<br>", "\n\n"),
    (r"\b(e\.g|Figs?|Eqs?)\. ", r"\1 "),
]


def prose(text: str) -> list[str]:
    """Return the paragraphs and list items of a text, each on one line."""
    for pattern, instead in STRIPPED:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n", text) if block.strip()]


def texts(kind: str) -> Iterator[tuple[str, str]]:
    """Yield place and text of pages, notebooks, help texts, docstrings, or claims."""
    if kind == "pages":
        yield from ((page.name, page.read_text(encoding="utf-8")) for page in PAGES)
    elif kind == "notebooks":
        for file in sorted(ROOT.glob("notebooks/*.ipynb")):
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            told = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
            yield file.name, "\n\n".join(told)
    elif kind == "help":
        for name in main.commands:
            command = main.get_command(None, name)
            told = [command.help, *(getattr(parameter, "help", "") for parameter in command.params)]
            yield name, "\n\n".join(filter(None, told))
    elif kind == "docstrings":
        for file in (path for folder in READ for path in SOURCE.glob(f"{folder}/*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    where = f"{file.relative_to(SOURCE)}:{getattr(node, 'lineno', 1)}"
                    yield where, ast.get_docstring(node) or ""
    else:
        for paper in real.papers().values():
            yield from ((f"{paper.slug}: {name}", told) for name, told in paper.readings.items())
            for name, claim in paper.claims.items():
                told = [getattr(claim, key) for key in SAID]
                for answer in real.asked(name):
                    told += [answer.phrase, answer.uncontrolled]
                yield name, "\n\n".join(dict.fromkeys(filter(None, told)))


@pytest.mark.parametrize("kind", ["pages", "notebooks", "help", "docstrings", "claims"])
def test_sentences_are_short_and_words_are_those_of_the_list(kind):
    rows = re.findall(r"^\| .+ \| .+ \| (.+) \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    avoided = [word for row in rows[1:] for word in row.split(", ")]
    assert len(avoided) > 20
    avoid = re.compile(rf"\b({'|'.join(map(re.escape, avoided))})\b", re.IGNORECASE)
    wrong = []
    for where, text in texts(kind):
        for block in prose(text):
            wrong += [f"{where}: write other words than {word!r}" for word in avoid.findall(block)]
            for sentence in re.split(r"(?<=[.!?])[\")]*\s+(?=[A-Z\"(\d])", block):
                length = len(re.findall(r"[^\W\d_][\w'’-]*|\d[\d.,/]*", sentence))
                if length > LONGEST:
                    wrong.append(f"{where}: {length} words: {sentence}")
    assert not wrong, "\n".join(wrong)

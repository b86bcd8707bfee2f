"""README, docs, pages, help texts and claims keep the words and the length of docs/writing.md."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fairbandits.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "writing.md"
#: Pages that commands write, and the page that mirrors the audit's tables.
ELSEWHERE = ("data-dictionary", "faults", "procedures", "third-edition", "words-of-the-ledgers")
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(page for page in sorted(ROOT.glob("docs/*.md")) if page.stem not in ELSEWHERE),
]
LEDGERS = sorted(ROOT.glob("papers/*/claims.yaml"))
LONGEST = 35
#: What is no prose, and what replaces it.
STRIPPED = [
    (r"^```[\s\S]*?^```$", "\n\n"),
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
    """Yield place and text of pages, notebooks, help texts, or the statements of claims."""
    if kind == "pages":
        yield from ((page.name, page.read_text(encoding="utf-8")) for page in PAGES)
    elif kind == "notebooks":
        for file in sorted(ROOT.glob("notebooks/*.ipynb")):
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            told = ["".join(one["source"]) for one in cells if one["cell_type"] == "markdown"]
            yield file.name, "\n\n".join(told)
    elif kind == "help":
        for name, command in main.commands.items():
            told = [command.help, *(getattr(one, "help", "") for one in command.params)]
            yield name, "\n\n".join(filter(None, told))
    else:
        for file in LEDGERS:
            claims = yaml.safe_load(file.read_text(encoding="utf-8"))["claims"]
            yield from ((name, claim["statement"]) for name, claim in claims.items())


@pytest.mark.parametrize("kind", ["pages", "notebooks", "help", "statements"])
def test_sentences_are_short_and_words_are_those_of_the_list(kind):
    rows = re.findall(r"^\| .+ \| .+ \| (.+) \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    avoided = [word for row in rows[1:] for word in row.split(", ")]
    assert len(avoided) > 20
    avoid = re.compile(rf"\b({'|'.join(map(re.escape, avoided))})\b", re.IGNORECASE)
    wrong = []
    for place, text in texts(kind):
        for block in prose(text):
            wrong += [f"{place}: write other words than {word!r}" for word in avoid.findall(block)]
            for sentence in re.split(r"(?<=[.!?])[\")]*\s+(?=[A-Z\"(\d])", block):
                length = len(re.findall(r"[^\W\d_][\w'’-]*|\d[\d.,/]*", sentence))
                if length > LONGEST:
                    wrong.append(f"{place}: {length} words: {sentence}")
    assert not wrong, "\n".join(wrong)

"""The reproduction report as an article: Markdown from the committed tables, and its PDF."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from fairbandits.audit.claims import Papers
from fairbandits.audit.finding import DEPENDS, INCONCLUSIVE, NOT_REPRODUCED
from fairbandits.data.texts import csv_rows
from fairbandits.figures import PAPERS
from fairbandits.report.audit import committed
from fairbandits.report.headlines import NUMBER, load_headlines
from fairbandits.report.markup import minus, render_text
from fairbandits.report.numbers import texts_of
from fairbandits.settings.papers import PROVENANCES
from fairbandits.settings.records import load_glossary
from fairbandits.settings.schemas import ConfigError, paper_file, read_yaml

#: Verdicts whose claims are listed one by one, and their headings.
LISTED = {
    NOT_REPRODUCED: "What does not hold",
    DEPENDS: "What depends on the reading",
    INCONCLUSIVE: "What is open",
}
#: Pictures move to the top of a page, so that text fills the page before.
FLOATING = "#show figure.where(kind: image): set figure(placement: auto)"


def markdown(papers: Papers, root: Path) -> str:
    """Return the article; its verdicts and numbers are those of the committed tables."""
    audit = committed(papers, root / "audit", root / "results")
    settings = json.dumps([read_yaml(paper_file(paper, "experiments")) for paper in papers])
    sources = Counter(re.findall(r'"provenance": "([\w-]+)"', settings))
    texts = texts_of(root / "audit" / "numbers.csv")
    return render_text(
        "article.md",
        citation=read_yaml(root / "CITATION.cff"),
        version=version("fairbandits"),
        date=max(row["date"] for row in csv_rows(root / "audit" / "runs.csv")),
        figures=len(list((root / "figures").glob("*/fig*.svg"))),
        papers=papers,
        glossaries={slug: load_glossary(slug, paper.claims) for slug, paper in papers.items()},
        audit=audit,
        headlines=load_headlines(papers, root),
        filled=lambda text: _filled(text, texts),
        lists=LISTED,
        shows=PAPERS,
        provenance=", ".join(f"{sources[key]} are {key}" for key in PROVENANCES if sources[key]),
    )


def write_pdf(text: str, out: Path, root: Path) -> None:
    """Set an article as PDF, with pictures relative to `root`; ConfigError without Typst."""
    try:
        import pypandoc
        import typst
    except ModuleNotFoundError as error:
        raise ConfigError(f"this needs {error.name}; `make report-pdf` installs it") from error
    options = ["--standalone", "--number-sections", "-V", "papersize=a4", "-V", "fontsize=10pt"]
    options += ["-V", f"header-includes={FLOATING}"]
    out.parent.mkdir(parents=True, exist_ok=True)
    source, part = out.with_suffix(".typ"), out.with_suffix(".part.pdf")
    converted = pypandoc.convert_text(
        text, "typst", "markdown+tex_math_dollars", extra_args=options
    )
    unprimed = re.sub(r"(?<=\d)'s\b", r"\\u{2019}s", converted)  # Typst takes it for a prime
    source.write_text(unprimed, encoding="utf-8")
    typst.compile(source, output=part, root=root)
    part.replace(out)
    source.unlink()


def _filled(text: str, texts: Mapping[str, str]) -> str:
    """Return a finding's text with its numbers, and superscripts as Markdown has them."""
    filled = minus(NUMBER.sub(lambda name: texts[name[1]], text))
    return re.sub("</?su([bp])>", lambda tag: {"b": "~", "p": "^"}[tag[1]], filled)

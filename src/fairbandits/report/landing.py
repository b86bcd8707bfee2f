"""The report's first page: how many claims hold, and the findings that matter most."""

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from fairbandits.arena.picture import price_of_quotas
from fairbandits.figures import PAPERS
from fairbandits.report import pages
from fairbandits.report.audit import Audit
from fairbandits.report.headlines import NUMBER, load_headlines, missing, texts_of
from fairbandits.report.markup import Html, as_figure, minus, render
from fairbandits.report.numbers import ARENA, numbers_of, shown_first
from fairbandits.settings.models import expect_known
from fairbandits.settings.records import Headline
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

#: HTML tags that a headline may use.
_TAG = re.compile(r"&lt;(/?su[bp])&gt;")


def first_screen(audit: Audit, root: Path = ROOT) -> Html | None:
    if not audit.papers:
        return None
    headlines = _headlines(audit, root) if audit.scale == "paper" else []  # a small run has others
    picture = None
    if audit.scale == "paper" and _has_arena(audit) and len(rows := shown_first(audit.results)):
        drawing = price_of_quotas(rows)
        picture = as_figure(drawing, pages.NAMES["captions"]["price_of_quotas"])
    return render("landing.html", audit=audit, headlines=headlines, picture=picture)


def _has_arena(audit: Audit) -> bool:
    return (audit.results / ARENA / "standings.parquet").is_file()


def _headlines(audit: Audit, root: Path) -> list[tuple[Headline, list[Html]]]:
    standing = [
        headline
        for headline in load_headlines(audit.papers, root)
        if not missing(headline, audit) and (not headline.arena or _has_arena(audit))
    ]
    cited = {name for head in standing for text in texts_of(head) for name in NUMBER.findall(text)}
    numbers = {
        number.name: number.text
        for paper in (*audit.papers, ARENA)
        for number in numbers_of(paper, audit, root, only=cited)
    }

    def html(text: str) -> Html:
        filled = minus(NUMBER.sub(lambda name: numbers[name[1]], text))
        for apart in (" %", "n = ", "η = ", "β = "):  # no line ends within these
            filled = filled.replace(apart, apart.replace(" ", "\u00a0"))
        return Html(_TAG.sub(r"<\1>", escape(filled, quote=False)))

    return [(headline, [html(text) for text in texts_of(headline)]) for headline in standing]


def cards(papers: Iterable[pages.Paper], audit: Audit) -> Html:
    return render("cards.html", audit=audit, shows=PAPERS, cards=[_card(paper) for paper in papers])


def _card(paper: pages.Paper) -> tuple[pages.Paper, str, str]:
    """Return a paper with the words and the figure that its glossary has for the first page."""
    file = paper_file(paper.slug, "glossary")
    card = read_yaml(file).get("card", {}) if file.is_file() else {}
    figure = card.get("figure", paper.drawn[0])
    expect_known(figure, paper.drawn, f"{pages.shown(file)}: card: no figure {figure!r}")
    return paper, card.get("says", ""), figure

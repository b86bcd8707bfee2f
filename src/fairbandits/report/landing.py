"""The report's first page: how many claims hold, and the findings that matter most."""

import base64
import io
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt

from fairbandits.audit import show
from fairbandits.library import style
from fairbandits.report import overview, pages
from fairbandits.report.audit import Audit, headline
from fairbandits.report.findings import NUMBER, Notable, load_findings, missing
from fairbandits.report.markup import Html, joined, link, link_to_claim
from fairbandits.report.numbers import ARENA, numbers_of
from fairbandits.settings.schemas import ROOT, ConfigError, meant, paper_file, read_yaml

#: HTML tags that a finding may use.
_TAG = re.compile(r"&lt;(/?su[bp])&gt;")


def first_screen(audit: Audit | None, root: Path = ROOT) -> Html | None:
    """Return the totals of each paper's claims and the most important findings."""
    return None if audit is None else _picture(audit) + _notable(audit, root)


def cards(papers: Iterable[pages.Paper], audit: Audit | None) -> Html:
    """Return a card for each paper: a figure that links to its page, its subject, its verdicts."""
    shown = joined(_card(one, audit) for one in papers)
    return Html('<div class="fb-gallery">{}</div>').format(shown)


def _card(paper: pages.Paper, audit: Audit | None) -> Html:
    figures = [name for _, name in paper.drawn]
    file = paper_file(paper.slug, "glossary")
    card = read_yaml(file).get("card", {}) if file.is_file() else {}
    figure = card.get("figure", figures[0])
    if figure not in figures:
        raise ConfigError(
            f"{pages.shown(file)}: card: no figure {figure!r}{meant(figure, figures)}"
        )
    title = Html("<strong>{}</strong>").format(paper.title.partition(":")[0])
    parts = [link(paper.slug, pages.image(paper, figure, "") + title)]
    parts.append(Html("<p>{}</p>").format(card.get("says", "")))
    if audit is not None and paper.slug in audit.ledgers:
        counted = ", ".join(show.tally(audit.of(paper.slug)).outcomes)
        every = link(f"claims?paper={audit.ledgers[paper.slug].short_title}", "all claims")
        parts.append(Html("<p><small>{}; {}</small></p>").format(counted, every))
    return Html("<div>{}</div>").format(joined(parts))


def _picture(audit: Audit) -> Html:
    totals = {
        ledger.short_title: show.tally(audit.of(paper)) for paper, ledger in audit.ledgers.items()
    }
    style.apply_style()
    image = io.BytesIO()
    drawing = overview.verdicts(totals)
    drawing.savefig(image, format="svg", metadata={"Date": None})
    plt.close(drawing)  # else the notebook shows it once more
    code = base64.b64encode(image.getvalue()).decode("ascii")
    shown = Html('<img class="fb-overview" alt="{}" src="data:image/svg+xml;base64,{}">')
    return shown.format(overview.in_words(totals), code)


def _notable(audit: Audit, root: Path) -> Html:
    """Return the list of findings that stand; empty for a small run, which they are not about."""
    if audit.scale != "paper":
        return Html()
    found = [
        one
        for one in load_findings(audit.ledgers, root)
        if not missing(one, audit.ledgers, audit.rows, audit.findings)
        and (not one.arena or (audit.results / ARENA).is_dir())
    ]
    cited = {name for finding in found for name in finding.numbers}
    texts = {
        one.name: one.text
        for paper in (*audit.ledgers, ARENA)
        for one in numbers_of(paper, audit.results, audit.findings, root, only=cited)
    }
    items = joined(_item(audit, one, texts) for one in found)
    return Html('<ol class="fb-notable">{}</ol>').format(items) if items else items


def _item(audit: Audit, one: Notable, texts: Mapping[str, str]) -> Html:
    shown: list[str] = []
    if one.figure:
        paper, _, figure = one.figure.partition("/")
        name = f"Figure {figure.removeprefix('fig')}: {one.shows}"
        shown.append(link(f"{paper}#{figure}", name))
    if one.arena:
        shown.append(link(f"arena#{one.arena}", "Arena"))
    shown += [link_to_claim(key) + " " + headline(audit, key) for key in one.claims]
    return Html(
        "<li><strong>{}</strong><p><em>Setting.</em> {}</p>"
        "<p><em>What speaks against it.</em> {}</p><p><small>{}</small></p></li>"
    ).format(*(_html(text, texts) for text in one.texts), joined(shown, " · "))


def _html(text: str, texts: Mapping[str, str]) -> Html:
    """Return a finding's text with its numbers, as HTML."""
    filled = NUMBER.sub(lambda name: texts[name.group(1)], text)
    return Html(_TAG.sub(r"<\1>", escape(filled, quote=False)))

"""The report's first page: how many claims hold, and the findings that matter most."""

import base64
import io
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.display import HTML

from fairbandits.audit import show
from fairbandits.library import style
from fairbandits.report import overview, pages
from fairbandits.report.audit import Audit, headline
from fairbandits.report.findings import NUMBER, Notable, load_findings, missing
from fairbandits.report.numbers import ARENA, numbers_of
from fairbandits.settings.schemas import ROOT, ConfigError, meant, paper_file, read_yaml

#: HTML tags that a finding may use.
_TAG = re.compile(r"&lt;(/?su[bp])&gt;")


def first_screen(audit: Audit | None, root: Path = ROOT) -> HTML | None:
    """Return the totals of each paper's claims and the most important findings."""
    return None if audit is None else HTML(_picture(audit) + _notable(audit, root))


def cards(papers: Iterable[pages.Paper], audit: Audit | None) -> HTML:
    """Return a card for each paper: a figure that links to its page, its subject, its verdicts."""
    return HTML(f'<div class="fb-gallery">{"".join(_card(one, audit) for one in papers)}</div>')


def _card(paper: pages.Paper, audit: Audit | None) -> str:
    figures = [name for _, name in paper.drawn]
    file = paper_file(paper.slug, "glossary")
    card = read_yaml(file).get("card", {}) if file.is_file() else {}
    figure = card.get("figure", figures[0])
    if figure not in figures:
        raise ConfigError(
            f"{pages.shown(file)}: card: no figure {figure!r}{meant(figure, figures)}"
        )
    image = pages.image(paper, figure, "")
    title = f"<strong>{escape(paper.title.partition(':')[0])}</strong>"
    shown = pages.link(paper.slug, f"{image}{title}") + f"<p>{escape(card.get('says', ''))}</p>"
    if audit is None or paper.slug not in audit.ledgers:
        return f"<div>{shown}</div>"
    counts = show.tally(audit.of(paper.slug)).counted
    counted = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    short = audit.ledgers[paper.slug].short_title
    every = pages.link(f"claims?paper={short}", "all claims")
    return f"<div>{shown}<p><small>{counted}; {every}</small></p></div>"


def _picture(audit: Audit) -> str:
    totals = {
        ledger.short_title: show.tally(audit.of(paper)) for paper, ledger in audit.ledgers.items()
    }
    style.apply_style()
    image = io.BytesIO()
    drawing = overview.verdicts(totals)
    drawing.savefig(image, format="svg", metadata={"Date": None})
    plt.close(drawing)  # else the notebook shows it once more
    code = base64.b64encode(image.getvalue()).decode("ascii")
    return (
        f'<img class="fb-overview" alt="{escape(overview.in_words(totals))}" '
        f'src="data:image/svg+xml;base64,{code}">'
    )


def _notable(audit: Audit, root: Path) -> str:
    """Return the list of findings that stand; empty for a small run, which they are not about."""
    if audit.scale != "paper":
        return ""
    found = [
        one
        for one in load_findings(audit.ledgers, root)
        if not missing(one, audit.ledgers, audit.rows, audit.findings)
        and (not one.arena or (audit.results / ARENA).is_dir())
    ]
    texts = {
        one.name: one.text
        for paper in (*audit.ledgers, ARENA)
        for one in numbers_of(
            paper,
            audit.results,
            audit.findings,
            root,
            only={name for finding in found for name in finding.numbers},
        )
    }
    items = [_item(audit, one, texts) for one in found]
    return f'<ol class="fb-notable">{"".join(items)}</ol>' if items else ""


def _item(audit: Audit, one: Notable, texts: Mapping[str, str]) -> str:
    says, setting, against = (_html(text, texts) for text in one.texts)
    shown = []
    if one.figure:
        paper, _, figure = one.figure.partition("/")
        name = f"Figure {figure.removeprefix('fig')}: {one.shows}"
        shown.append(pages.link(f"{paper}#{figure}", name))
    if one.arena:
        shown.append(pages.link(f"arena#{one.arena}", "Arena"))
    shown += [f"{pages.link_to_claim(key, key)} {headline(audit, key)}" for key in one.claims]
    return (
        f"<li><strong>{says}</strong>"
        f"<p><em>Setting.</em> {setting}</p><p><em>What speaks against it.</em> {against}</p>"
        f"<p><small>{' · '.join(shown)}</small></p></li>"
    )


def _html(text: str, texts: Mapping[str, str]) -> str:
    """Return a finding's text with its numbers, as HTML."""
    filled = NUMBER.sub(lambda name: texts[name.group(1)], text)
    return _TAG.sub(r"<\1>", escape(filled, quote=False))

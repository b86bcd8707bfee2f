"""The table of all claims, the table of what verdicts turn on, and the pages of the claims."""

from pathlib import Path, PurePosixPath

from fairbandits.audit import sentences
from fairbandits.audit.finding import DEPENDS, OUTCOMES
from fairbandits.audit.totals import tally
from fairbandits.numerals import measured
from fairbandits.report import audit as of_audit
from fairbandits.report.across import resting
from fairbandits.report.audit import MARKS, Audit, judged, role
from fairbandits.report.claims import BODY, TITLE, Page, count_of, page_of, raised
from fairbandits.report.markup import Html, data_table, link_to_claim, render
from fairbandits.report.pages import reconstructed
from fairbandits.settings.records import load_glossary

#: Words for each basis of a claim.
BASES = {"printed": "printed", "lost": "lost, reconstructed", "recalled": "recalled"}


def all_of_them(audit: Audit) -> Html:
    filters = dict.fromkeys(("paper", "kind", "role", "basis", "grade"), "select")
    filters["verdict"] = "|".join(OUTCOMES)
    cell = Html('{}<br>{}<br><span class="fb-place">{}</span>')
    rows = [
        {
            "claim": (cell.format(link_to_claim(key), raised(claim.statement), claim.place), key),
            "paper": audit.papers[claim.paper].short_title,
            "kind": claim.kind,
            "role": role(row),
            "basis": BASES[claim.basis],
            "verdict": (judged(row, grade=False), row["verdict"]),
            "grade": row["grade"],
            "quantity": raised(sentences.quantity(row)),
            "number": (measured(row["statistic"]), row["statistic"]),
            "bounds": sentences.limits(row),
            "replicates or values": (count_of(row), row["n"]),
        }
        for row in audit.heads
        for key, claim in [(row["claim"], audit.claims[row["claim"]])]
    ]
    return data_table(rows, "claims", filters, audit.headlines)


def robustness(audit: Audit, slug: str) -> Html:
    """Return a paper's verdicts under each reading, and what they depend on."""
    paper, unknown = audit.papers[slug], reconstructed(slug)
    lines = []
    for key, claim in paper.claims.items():
        if claim.of:
            head, *rows = audit.under_readings(key)
            read = {PurePosixPath(path).parts[1].partition(".")[0] for path in head["data"]}
            line = {"claim": key, "head": head["verdict"]}
            line["under"] = {row["reading"]: row["verdict"] for row in rows}
            line["rests"] = set().union(*(unknown.get(name, ()) for name in read))
            lines.append(line)
    shown = [line for line in lines if line["under"] or line["rests"]]
    return render(
        "robustness.html",
        audit=audit,
        paper=paper,
        lines=shown,
        several=sum(len(line["under"]) > 1 for line in shown),
        apart=[line["claim"] for line in shown if line["head"] == DEPENDS],
        alone=len(lines) - len(shown),
        readings=[key for key in paper.readings if any(key in line["under"] for line in shown)],
        settings=sorted(set().union(*(line["rests"] for line in shown))),
    )


def write_pages(audit: Audit, data: str, source: Path) -> dict[str, Page]:
    """Write the sources of Sphinx's pages; return the claims' pages, which are made without it."""
    glossaries = {key: load_glossary(key, paper.claims) for key, paper in audit.papers.items()}
    above = resting(audit)
    pages = {
        key: page_of(claim, audit, glossaries[claim.paper], above, data)
        for key, claim in audit.claims.items()
    }
    robust = {paper.title: robustness(audit, key) for key, paper in audit.papers.items()}
    verdicts = {row["verdict"] for row in audit.rows}
    marks = {verdict: mark for verdict, mark in MARKS.items() if verdict in verdicts}
    sources = {
        "claims": {"totals": tally(audit.rows), "table": all_of_them(audit)},
        "robustness": {"tables": robust, "marks": marks},
        "claims/claim": {"title": TITLE, "body": BODY},
    }
    for name, given in sources.items():
        (source / name).parent.mkdir(exist_ok=True)
        text = render(f"{Path(name).name}.md", banner=of_audit.banner(audit) or "", **given)
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    return pages

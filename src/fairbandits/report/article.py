"""The reproduction report as an article: Markdown from the committed tables, and its PDF."""

from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fairbandits.audit.finding import DEPENDS, INCONCLUSIVE, NOT_REPRODUCED
from fairbandits.audit.ledger import Ledger
from fairbandits.audit.tables import VERDICTS_TABLE
from fairbandits.audit.totals import left_out, standing, totals
from fairbandits.report.edition import rows_of
from fairbandits.report.findings import NUMBER, load_findings
from fairbandits.report.markup import render_text
from fairbandits.report.numbers import texts_of
from fairbandits.settings.papers import PROVENANCES
from fairbandits.settings.schemas import ConfigError, paper_file, read_yaml

#: Verdicts whose claims are listed one by one, and their headings.
LISTED = {
    NOT_REPRODUCED: "What does not hold",
    DEPENDS: "What depends on the reading",
    INCONCLUSIVE: "What is open",
}
Row = Mapping[str, Any]


def markdown(ledgers: Mapping[str, Ledger], root: Path) -> str:
    """Return the article; its verdicts and numbers are those of the committed tables."""
    table = rows_of(root / "audit" / VERDICTS_TABLE)
    heads = {row["id"]: row for row in table if not row["reading"]}
    rows = {
        paper: [heads[key] | standing(one) for key, one in ledger.claims.items() if key in heads]
        for paper, ledger in ledgers.items()
    }
    counted = {paper: totals(of_paper) for paper, of_paper in rows.items()}
    texts = texts_of(root / "audit" / "numbers.csv")
    citation = read_yaml(root / "CITATION.cff")
    return render_text(
        "article.md",
        authors=", ".join(one["name"] for one in citation["authors"]),
        version=version("fairbandits"),
        date=max(row["date"] for row in rows_of(root / "audit" / "runs.csv")),
        figures=len(list((root / "figures").glob("*/fig*.svg"))),
        all=totals(row for of_paper in rows.values() for row in of_paper),
        totals={ledger.short_title: counted[paper] for paper, ledger in ledgers.items()},
        findings=[
            {name: _filled(getattr(one, name), texts) for name in ("says", "setting", "against")}
            for one in load_findings(ledgers, root)
        ],
        changes=sum(len(read_yaml(paper_file(one, "deviations"))["changes"]) for one in ledgers),
        papers=[_paper(one, counted[paper].outcomes, heads) for paper, one in ledgers.items()],
        provenance=_provenance(ledgers),
        references=[_reference(one) for one in citation["references"]],
    )


def write_pdf(text: str, out: Path, root: Path) -> None:
    """Set an article as PDF, with pictures relative to `root`; ConfigError without Typst."""
    try:
        import pypandoc
        import typst
    except ModuleNotFoundError as error:
        raise ConfigError(f"this needs {error.name}; `make report-pdf` installs it") from error
    options = ["--standalone", "--number-sections", "-V", "papersize=a4", "-V", "fontsize=10pt"]
    out.parent.mkdir(parents=True, exist_ok=True)
    source, part = out.with_suffix(".typ"), out.with_suffix(".part.pdf")
    converted = pypandoc.convert_text(
        text, "typst", "markdown+tex_math_dollars", extra_args=options
    )
    source.write_text(converted, encoding="utf-8")
    typst.compile(source, output=part, root=root)
    part.replace(out)
    source.unlink()


def _filled(text: str, texts: Mapping[str, str]) -> str:
    """Return a finding's text with its numbers, and superscripts as Markdown has them."""
    filled = NUMBER.sub(lambda name: texts[name.group(1)], text)
    for tag, sign in (("sup", "^"), ("sub", "~")):
        filled = filled.replace(f"<{tag}>", sign).replace(f"</{tag}>", sign)
    return filled


def _paper(ledger: Ledger, outcomes: list[str], heads: Mapping[str, Row]) -> dict[str, Any]:
    glossary = read_yaml(paper_file(ledger.paper, "glossary"))
    figure = glossary["card"]["figure"]
    counting = [(one, heads[one.id]) for one in ledger.claims.values() if not left_out(one)]
    return {
        "title": ledger.title,
        "setting": glossary["setting"],
        "figure": f"../figures/{ledger.paper}/{figure}.png",
        "caption": f"Figure {figure.removeprefix('fig')}, redrawn at the published scale.",
        "counts": "Verdicts: " + ", ".join(outcomes) + ".",
        "lists": {
            heading: [(one, row) for one, row in counting if row["verdict"] == verdict]
            for verdict, heading in LISTED.items()
        },
    }


def _provenance(ledgers: Mapping[str, Ledger]) -> str:
    """Return how many values of all experiments have which provenance, in words."""

    def sources(block: Any) -> Iterator[str]:
        if isinstance(block, Mapping) and "provenance" in block:
            yield block["provenance"]
        elif isinstance(block, Mapping | list):
            for one in block.values() if isinstance(block, Mapping) else block:
                yield from sources(one)

    files = (read_yaml(paper_file(paper, "experiments")) for paper in ledgers)
    count = Counter(source for file in files for source in sources(file))
    return ", ".join(f"{count[one]} are {one}" for one in PROVENANCES if count[one])


def _reference(one: Row) -> str:
    names = ", ".join(name.get("family-names", name.get("name", "")) for name in one["authors"])
    where = one.get("journal") or one.get("collection-title") or ""
    return f"{names} ({one['year']}). {one['title']}. {where}".strip()

"""A page for each claim, the table of all claims, and the table of robustness.

None is a notebook: `fairbandits.report.build` adds them to the site, from the same verdicts and
findings.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from fairbandits.audit import quantities, show, words
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    NOT_REPRODUCED,
    OF_INCONSISTENCY,
    OUTCOMES,
    REPRODUCED,
    TAGS,
    tally,
)
from fairbandits.audit.ledger import Claim
from fairbandits.audit.quantities import p_of_claim, p_value, quantity
from fairbandits.audit.rejudge import came_again
from fairbandits.audit.tables import in_short, written_out
from fairbandits.report.across import MARKS, carried, resting
from fairbandits.report.audit import (
    Audit,
    Row,
    badge,
    banner,
    figure_link,
    limits,
    quantity_of,
    role,
    significant,
)
from fairbandits.report.evidence import LIMITS, heading, in_order, picture
from fairbandits.report.export import as_review
from fairbandits.report.markup import Cell, Html, data_table, link, link_to_claim, render
from fairbandits.report.pages import reconstructed
from fairbandits.settings.formulas import FORMULA, plain
from fairbandits.settings.records import check
from fairbandits.settings.schemas import ROOT, ConfigError, meant, paper_file, read_yaml

#: Marks in the page that Sphinx makes for all claims.
TITLE, BODY = "TITLE-OF-A-CLAIM", "BODY-OF-A-CLAIM"
#: Words for each basis of a claim.
BASES = {"printed": "printed", "lost": "lost, reconstructed", "recalled": "recalled"}
#: What has letters in a formula and is no symbol of its own.
NO_SYMBOL = re.compile(r"\\mathrm\{\w+\}|_(\{[^}]*\}|\\?[A-Za-z]+|\d)")
#: Beyond the first number cases are folded, beyond the second not all are shown.
MANY, MOST = 25, 250


def symbols(text: str) -> set[str]:
    r"""Return the symbols in a text's formulas, without their indices.

    Examples
    --------
    >>> sorted(symbols(r"a queue is $2 \sqrt{NT} + \Delta_i^2$"))
    ['Delta', 'N', 'T', 'sqrt']
    """
    formulas = NO_SYMBOL.sub(" ", " ".join(FORMULA.findall(text)))
    return {found.lstrip("\\") for found in re.findall(r"\\[a-zA-Z]+|[a-zA-Z]", formulas)}


@dataclass(frozen=True)
class Glossary:
    """What a reader must know of a paper to read one of its claims: papers/SLUG/glossary.yaml."""

    setting: str  # the paper's model, in the ledgers' notation
    terms: Mapping[str, str]  # words and symbols -> meanings
    formulas: Mapping[str, str]  # claim -> its formula in LaTeX

    def of(self, text: str) -> dict[str, str]:
        """Return the terms that a text uses, in the order of the glossary."""
        used, said = symbols(text), plain(text)
        return {
            term: meaning
            for term, meaning in self.terms.items()
            if (symbols(term) & used)
            or ("$" not in term and re.search(rf"\b{re.escape(term)}", said, re.IGNORECASE))
        }


def load_glossary(paper: str, claims: Iterable[str], root: Path = ROOT) -> Glossary:
    """Return a paper's glossary (empty without a file); ConfigError for unknown claims in it."""
    file = paper_file(paper, "glossary", root)
    if not file.is_file():
        return Glossary("", {}, {})
    content = read_yaml(file)
    where = str(file.relative_to(root))
    check(content, "glossary", where)
    claims = list(claims)
    for key in content.get("formulas", {}):
        if key not in claims:
            raise ConfigError(f"{where}: formulas: no claim {key!r}{meant(key, claims)}")
    return Glossary(content["setting"], content["terms"], content.get("formulas", {}))


class Page(NamedTuple):
    """A claim's page: text for the search, and HTML."""

    statement: str
    body: str


# --------------------------------------------------------------------------------- one claim


@dataclass(frozen=True)
class Claims:
    """All claims, with the content of their pages."""

    audit: Audit
    data: str  # the results, relative to the folder of the claims' pages: ``../..``

    @cached_property
    def glossaries(self) -> dict[str, Glossary]:
        """Paper -> its glossary."""
        return {
            paper: load_glossary(paper, ledger.claims)
            for paper, ledger in self.audit.ledgers.items()
        }

    @cached_property
    def above(self) -> dict[str, list[str]]:
        """Claim -> claims that rest directly on it."""
        return resting(self.audit)

    def page(self, claim: Claim) -> Html:
        """Return the HTML below the title of a claim's page."""
        audit, glossary = self.audit, self.glossaries[claim.paper]
        rows, tested = audit.under_readings(claim.id), audit.tested(claim.id)
        head, ledger = rows[0], audit.judging(claim.id)
        found = [
            row | {"reading": row["reading"] and ledger.reading(row["reading"])}
            for row in in_order(tested.tests, audit.found(claim.id))
        ]
        deciding = [row["verdict"] for row in found if row["decides"]]
        named = {test.name: quantity(test, ledger) for test in tested.tests}
        formula = glossary.formulas.get(claim.id, "")
        said = [claim.statement, claim.estimand, claim.reconstructed, f"${formula}$"]
        near = self.above.get(claim.id, [])
        above = [key for key in carried(claim.id, self.above) if key in audit.headlines]
        is_inconsistency = claim.kind == "inconsistency"
        return render(
            "claim.html",
            audit=audit,
            claim=claim,
            head=head,
            rows=rows,
            readings=ledger.readings,
            formula=formula,
            places=self._places(claim, head),
            deciding=len(deciding),
            counted=_counted(deciding) if len(set(deciding)) > 1 else "",
            conditions=[*self.only_if(claim)],
            meaning=OF_INCONSISTENCY.get(head["verdict"], "") if is_inconsistency else "",
            number=[] if head["statistic"] is None else list(self._number(head)),
            tags=tags(audit.in_words(claim.id)),
            cases=f"all {len(found)} cases" if len(found) > 1 else "the case",
            picture=picture(tested.tests, found, named),
            table=_cases(tested, found),
            bases=[key for key in claim.bases if key in audit.headlines],
            near=[key for key in above if key in near],
            further=[key for key in above if key not in near],
            data=[_files(self.data, place) for place in in_short(head["data"])],
            setting=glossary.setting,
            terms=glossary.of(" ".join(said)),
            record=words.record(claim, audit.ledgers[claim.paper]),
            again=came_again(tested, ledger),
            review=Html(as_review(claim, head)),
        )

    def _places(self, claim: Claim, head: Row) -> list[str]:
        """Return paper, place and kind of a claim, and its figure."""
        kinds = ", ".join(dict.fromkeys([claim.kind.replace("_", " "), role(head)]))
        places = [link(claim.paper, self.audit.ledgers[claim.paper].title), claim.place, kinds]
        figure = figure_link(head)
        return [*places, "Figure " + figure] if figure else places

    def only_if(self, claim: Claim) -> Iterator[tuple[str, str]]:
        """Yield what the verdict depends on: readings, and reconstructed settings."""
        rows = self.audit.under_readings(claim.id)
        readings = self.audit.judging(claim.id).readings
        if rows[0]["verdict"] == DEPENDS:
            sorts = {REPRODUCED: "Holds only if", NOT_REPRODUCED: "Does not hold if"}
            for outcome, under in words.under_readings(rows).items():
                each = (readings.get(one, one).rstrip(".") for one in under)
                yield sorts.get(outcome, f"Is {outcome} if"), f"{'; or '.join(each)}."
        if claim.part:
            yield "In part", claim.part.rstrip(".") + "."
        if claim.basis != "printed":
            yield "Only as reconstructed", words.basis(claim).rstrip(".") + "."
        tested, cases = self.audit.tested(claim.id), self.audit.found(claim.id)
        for one in words.qualifying(tested, cases, significant):
            yield "Qualified by", one

    def _number(self, row: Row) -> Iterator[tuple[str, str]]:
        """Yield number, limits, reference, replicates and rule of the deciding finding."""
        level = row["settings"].get("level")
        tested, ledger = self.audit.tested(row["claim"]), self.audit.judging(row["claim"])
        what = quantities.quantity_of(row, tested, ledger)
        case = f", in the case that decides ({row['each']})" * bool(row["each"])
        said = f"{what}{case}: {significant(row['statistic']) or 'not to be had'}"
        if limits(row):
            kind = LIMITS.get(row["procedure"], "one-sided limits")
            said += f"; {100 * level:g}\u00a0% {kind}: " if level else "; "
            said += limits(row)
        why = words.endless(row)
        yield "number", said + (f" ({why})" if why else "")
        above = f"; above it, {what.above}" if what and what.above else ""
        yield "judged against", against(row) + above
        more = [p_of_claim(row, tested, ledger), words.replicates_that_decide(row)]
        yield "n", "; ".join(filter(None, [str(row["n"]), *more]))
        which = f", {row['test']}" * bool(row["test"])
        rule = f"{row['rule']}, version {row['rule_version']} ({row['procedure']}){which}"
        yield "rule", rule.replace("_", " ")


def _cases(tested: Claim, rows: Sequence[Row]) -> Html:
    """Return a table of the questions of a claim's tests; of very many, the most telling."""
    if not rows:
        return Html()
    said = f"{len(rows)} cases: {_counted(row['verdict'] for row in rows)}"
    if len(rows) > MOST:
        said += f"; here are {MOST}, those that speak most against the claim"
        kept = set(sorted(range(len(rows)), key=lambda k: words.against(rows[k]))[:MOST])
        rows = [row for k, row in enumerate(rows) if k in kept]
    headings = {test.name: plain(heading(test)) for test in tested.tests}
    columns = {
        "test": [headings[row["test"]] if len(headings) > 1 else "" for row in rows],
        "reading": [row["reading"] for row in rows],
        "case": [row["each"] for row in rows],
        "verdict": [Cell(badge(row["verdict"], row["grade"]), row["verdict"]) for row in rows],
        "of the control": [row["control"] for row in rows],
        "number": [_number_cell(row, "statistic") for row in rows],
        "lower limit": [_number_cell(row, "low") for row in rows],
        "upper limit": [_number_cell(row, "high") for row in rows],
        "judged against": [Cell(against(row), row["reference"]) for row in rows],
        "n": [_count_cell(row) for row in rows],
        "p of the case alone": [
            Cell(p_value(row["p"]).removeprefix("= "), row["p"]) for row in rows
        ],
    }
    columns = {name: cells for name, cells in columns.items() if any(map(str, cells))}
    lines = list(zip(*columns.values(), strict=True))
    if len(rows) <= MANY:
        return data_table(list(columns), lines, "cases")
    shown = data_table(list(columns), lines, "cases", buttons={"verdict": OUTCOMES})
    return Html("<details><summary>{}</summary>{}</details>").format(said, shown)


def _counted(verdicts: Iterable[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in tally(verdicts).items())


def _number_cell(row: Row, name: str) -> Cell:
    return Cell(significant(row[name]), row[name])


def _count_cell(row: Row) -> Cell:
    return Cell("" if row["n"] is None else str(row["n"]), row["n"])


def _files(folder: str, place: str) -> dict[str, str]:
    """Return the files that match a place of data by their names, the first with its folder."""
    first, *others = written_out([place])
    files = {first: first} | {Path(file).stem: file for file in others}
    return {name: f"{folder}/{file}" for name, file in files.items()}


def tags(rows: Sequence[Row]) -> dict[str, str]:
    """Return the meanings of a claim's tags and, for tags of some readings only, those readings."""
    head, *others = rows
    meanings = {tag: TAGS[tag] for tag in head["tags"]}
    for tag in dict.fromkeys(tag for row in others for tag in row["tags"]):
        under = [row["reading"] for row in others if tag in row["tags"]]
        meanings.setdefault(tag, f"{TAGS[tag]} (under {', '.join(under)})")
    return meanings


def against(row: Row) -> str:
    """Return the reference that a row's number is judged against, in words."""
    return ", ".join(
        f"{name} {show.number(value) or 'none'}" if name != "zero" else "0"
        for name, value in row["against"].items()
    )


# -------------------------------------------------------------------------------- all claims


def all_of_them(audit: Audit) -> Html:
    """Return one table of all claims of all papers."""
    header = ["claim", "paper", "place", "kind", "role", "basis", "verdict", "grade"]
    header += ["quantity", "number", "limits", "n"]
    rows = [
        [
            Cell(link_to_claim(claim.id) + Html("<br>") + plain(claim.statement), claim.id),
            audit.ledgers[claim.paper].short_title,
            claim.place,
            claim.kind.replace("_", " "),
            role(row),
            BASES[claim.basis],
            Cell(badge(row["verdict"]), row["verdict"]),
            row["grade"],
            quantity_of(audit, row),
            _number_cell(row, "statistic"),
            limits(row),
            _count_cell(row),
        ]
        for row in audit.heads
        for claim in [audit.claims[row["claim"]]]
    ]
    return data_table(
        header,
        rows,
        "claims",
        ids=list(audit.headlines),
        buttons={"verdict": OUTCOMES},
        selects=("paper", "kind", "role", "basis", "grade"),
    )


def robustness(audit: Audit, paper: str) -> Html:
    """Return a paper's verdicts under each reading, and what they depend on."""
    ledger = audit.ledgers[paper]
    unknown = reconstructed(paper)
    lines, alone = [], 0
    for claim in ledger.claims.values():
        if not claim.tests or claim.id not in audit.headlines:
            continue
        rows = audit.under_readings(claim.id)
        under = {row["reading"]: row["verdict"] for row in rows if row["reading"]}
        rests = {key for name in claim.experiments for key in unknown.get(name, ())}
        if under or rests:
            lines.append((claim, rows[0]["verdict"], under, rests))
        else:
            alone += 1
    readings = [key for key in ledger.readings if any(key in under for _, _, under, _ in lines)]
    settings = sorted(set().union(*(rests for *_, rests in lines)))
    heads = [(ledger.reading(key), plain(ledger.readings[key])) for key in readings]
    heads += [(key, f"{key}: printed nowhere, reconstructed") for key in settings]
    several = [head for _, head, under, _ in lines if len(under) > 1]
    return render(
        "robustness.html",
        ledger=ledger,
        lines=lines,
        alone=alone,
        readings=readings,
        settings=settings,
        heads=heads,
        several=len(several),
        apart=several.count(DEPENDS),
        marks=MARKS,
    )


def write_pages(audit: Audit, data: str, source: Path) -> dict[str, Page]:
    """Write the sources of Sphinx's pages; return the claims' pages, which Sphinx does not make.

    Sphinx would take a minute for hundreds of pages: it makes one with the marks `TITLE` and
    `BODY`. `data` is the results' place relative to the claims' folder.
    """
    claims = Claims(audit, data)
    pages = {
        key: Page(plain(claim.statement), claims.page(claim))
        for key, claim in audit.claims.items()
        if key in audit.headlines
    }
    robust = {ledger.title: robustness(audit, key) for key, ledger in audit.ledgers.items()}
    marks = {words: mark for words, mark in MARKS.items() if words != FAILED}
    sources = {
        "claims": {"totals": show.tally(audit.rows), "table": all_of_them(audit)},
        "robustness": {"tables": robust, "marks": marks},
        "claims/claim": {"title": TITLE, "body": BODY},
    }
    for name, given in sources.items():
        (source / name).parent.mkdir(exist_ok=True)
        template = f"{Path(name).name}.md"
        text = render(template, banner=banner(audit) or "", **given)
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    return pages

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
from fairbandits.audit.records import in_short, written_out
from fairbandits.audit.rejudge import came_again
from fairbandits.report.across import MARKS, carried, resting
from fairbandits.report.audit import (
    Audit,
    Row,
    badge,
    banner,
    figure_link,
    headline,
    limits,
    numbers,
    quantity_of,
    role,
    significant,
)
from fairbandits.report.evidence import LIMITS, heading, in_order, picture
from fairbandits.report.export import as_review
from fairbandits.report.markup import (
    Cell,
    Html,
    data_table,
    joined,
    link,
    link_to_claim,
    render,
    typeset,
)
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
MANY, MOST = 25, 400


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


# --------------------------------------------------------------------------------- the pages


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

    # ------------------------------------------------------------------------- one claim

    def page(self, claim: Claim) -> Html:
        """Return the HTML below the title of a claim's page."""
        audit, glossary = self.audit, self.glossaries[claim.paper]
        rows = audit.under_readings(claim.id)
        tested = audit.tested(claim.id)
        ledger = audit.ledgers[tested.paper]
        found = [
            one | {"reading": one["reading"] and ledger.reading(one["reading"])}
            for one in in_order(tested.tests, audit.found(claim.id))
        ]
        named = {test.name: quantity(test, ledger) for test in tested.tests}
        formula = glossary.formulas.get(claim.id, "")
        deciding = [one["verdict"] for one in audit.found(claim.id) if one["decides"]]
        said = [claim.statement, claim.estimand, claim.reconstructed, f"${formula}$"]
        near = self.above.get(claim.id, [])
        above = self._judged(carried(claim.id, self.above))
        is_inconsistency = claim.kind == "inconsistency"
        return render(
            "claim.html",
            me=self,
            badge=badge,
            numbers=numbers,
            claim=claim,
            head=rows[0],
            rows=rows,
            readings=ledger.readings,
            formula=formula,
            places=self._places(claim, rows[0]),
            deciding=len(deciding),
            counted=_counted(deciding) if len(set(deciding)) > 1 else "",
            conditions=self.only_if(claim),
            meaning=OF_INCONSISTENCY.get(rows[0]["verdict"], "") if is_inconsistency else "",
            number=[] if rows[0]["statistic"] is None else list(self._number(rows[0])),
            tags=tags(audit.in_words(claim.id)),
            cases=f"all {len(found)} cases" if len(found) > 1 else "the case",
            picture=Html(picture(tested.tests, found, named)),
            table=self._cases(tested, found),
            bases=self._judged(claim.bases),
            near=[key for key in above if key in near],
            further=[key for key in above if key not in near],
            data=[_files(place) for place in in_short(rows[0]["data"])],
            setting=glossary.setting,
            terms=glossary.of(" ".join(said)),
            record=words.record(claim, audit.ledgers[claim.paper]),
            again=came_again(tested, ledger),
            review=Html(as_review(claim, rows[0])),
        )

    def _places(self, claim: Claim, head: Row) -> list[str]:
        """Return paper, place and kind of a claim, and its figure."""
        kinds = ", ".join(dict.fromkeys([claim.kind.replace("_", " "), role(head)]))
        places = [link(claim.paper, self.audit.ledgers[claim.paper].title), claim.place, kinds]
        figure = figure_link(head)
        return [*places, "Figure " + figure] if figure else places

    def _judged(self, claims: Iterable[str]) -> list[str]:
        return [key for key in claims if key in self.audit.headlines]

    def only_if(self, claim: Claim) -> list[Html]:
        """Return what the verdict depends on: readings, and reconstructed settings."""
        rows = self.audit.under_readings(claim.id)
        tested, cases = self.audit.tested(claim.id), self.audit.found(claim.id)
        readings = self.audit.ledgers[tested.paper].readings
        found = []
        if rows[0]["verdict"] == DEPENDS:
            sorts = {REPRODUCED: "Holds only if", NOT_REPRODUCED: "Does not hold if"}
            for outcome, under in words.under_readings(rows).items():
                each = (readings.get(one, one).rstrip(".") for one in under)
                found.append((sorts.get(outcome, f"Is {outcome} if"), f"{'; or '.join(each)}."))
        if claim.part:
            found.append(("In part", claim.part.rstrip(".") + "."))
        if claim.basis != "printed":
            found.append(("Only as reconstructed", words.basis(claim).rstrip(".") + "."))
        found += [("Qualified by", one) for one in words.qualifying(tested, cases, significant)]
        said = Html("<strong>{}:</strong> {}")
        return [said.format(start, typeset(text)) for start, text in found]

    def _number(self, row: Row) -> Iterator[tuple[str, str]]:
        """Yield number, limits, reference, replicates and rule of the deciding finding."""
        level = row["settings"].get("level")
        tested = self.audit.tested(row["claim"])
        ledger = self.audit.ledgers[tested.paper]
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

    def _cases(self, tested: Claim, rows: Sequence[Row]) -> Html:
        """Return a table of the questions of a claim's tests; of very many, the most telling."""
        if not rows:
            return Html()
        said = f"{len(rows)} cases: {_counted(row['verdict'] for row in rows)}"
        if len(rows) > MOST:
            said += f"; here are {MOST}, those that speak most against the claim"
            kept = set(sorted(range(len(rows)), key=lambda k: words.against(rows[k]))[:MOST])
            rows = [row for k, row in enumerate(rows) if k in kept]
        headings = {test.name: plain(heading(test)) for test in tested.tests}
        numbered = {"number": "statistic", "lower limit": "low", "upper limit": "high"}
        columns: dict[str, list[Cell | str]] = {
            "test": [headings[row["test"]] for row in rows] if len(headings) > 1 else [],
            "reading": [row["reading"] for row in rows],
            "case": [row["each"] for row in rows],
            "verdict": [_verdict_cell(row) for row in rows],
            "of the control": [row["control"] for row in rows],
            **{
                title: [Cell(significant(row[name]), row[name]) for row in rows]
                for title, name in numbered.items()
            },
            "judged against": [Cell(against(row), row["reference"]) for row in rows],
            "n": [_count_cell(row) for row in rows],
            "p of the case alone": [
                Cell(p_value(row["p"]).removeprefix("= "), row["p"]) for row in rows
            ],
        }
        columns = {name: cells for name, cells in columns.items() if any(map(str, cells))}
        shown = data_table(
            list(columns),
            list(zip(*columns.values(), strict=True)),
            "cases",
            buttons={"verdict": OUTCOMES} if len(rows) > MANY else {},
        )
        unfolds = Html("<details><summary>{}</summary>{}</details>")
        return shown if len(rows) <= MANY else unfolds.format(said, shown)

    def named(self, claim: str) -> Html:
        """Return a link to a claim, with its verdict and its title."""
        said = typeset(self.audit.claims[claim].statement)
        return joined([link_to_claim(claim), headline(self.audit, claim), said], " ")

    # ------------------------------------------------------------------------ all claims

    def all_of_them(self) -> Html:
        """Return one table of all claims of all papers."""
        header = ["claim", "paper", "place", "kind", "role", "basis", "verdict", "grade"]
        header += ["quantity", "number", "limits", "n"]
        heads = [row for row in self.audit.rows if row["headline"]]
        rows = [
            [
                Cell(
                    link_to_claim(claim.id) + Html("<br>") + plain(claim.statement),
                    claim.id,
                ),
                self.audit.ledgers[claim.paper].short_title,
                claim.place,
                claim.kind.replace("_", " "),
                role(row),
                BASES[claim.basis],
                Cell(badge(row["verdict"]), row["verdict"]),
                row["grade"],
                quantity_of(self.audit, row),
                Cell(significant(row["statistic"]), row["statistic"]),
                limits(row),
                _count_cell(row),
            ]
            for row in heads
            for claim in [self.audit.claims[row["claim"]]]
        ]
        return data_table(
            header,
            rows,
            "claims",
            ids=[row["claim"] for row in heads],
            buttons={"verdict": OUTCOMES},
            selects=("paper", "kind", "role", "basis", "grade"),
        )

    # ------------------------------------------------------------------------ robustness

    def robustness(self, paper: str) -> Html:
        """Return a paper's verdicts under each reading, and what they depend on."""
        ledger = self.audit.ledgers[paper]
        unknown = reconstructed(paper)
        lines, alone = [], 0
        for claim in ledger.claims.values():
            if not claim.tests or claim.id not in self.audit.headlines:
                continue
            rows = self.audit.under_readings(claim.id)
            under = {one["reading"]: one["verdict"] for one in rows if one["reading"]}
            rests = {key for name in claim.experiments for key in unknown.get(name, ())}
            if under or rests:
                lines.append((claim, rows[0]["verdict"], under, rests))
            else:
                alone += 1
        readings = [key for key in ledger.readings if any(key in one[2] for one in lines)]
        settings = sorted(set().union(*(one[3] for one in lines)))
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
            mark=_mark,
        )


def _counted(verdicts: Iterable[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in tally(verdicts).items())


def _verdict_cell(row: Row) -> Cell:
    return Cell(badge(row["verdict"], row["grade"]), row["verdict"])


def _count_cell(row: Row) -> Cell:
    return Cell("" if row["n"] is None else str(row["n"]), row["n"])


def _files(place: str) -> dict[str, str]:
    """Return the files that match a place of data by their names, the first with its folder."""
    first, *others = written_out([place])
    return {first: first} | {Path(one).stem: one for one in others}


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
    robust = "".join(
        f"## {ledger.title}\n\n{_raw(claims.robustness(paper))}"
        for paper, ledger in audit.ledgers.items()
    )
    said = banner(audit)
    warning = _raw(said) if said else ""
    sources = {
        "claims": _ALONE
        + _ALL.format(
            banner=warning, totals=show.tally(audit.rows), table=_raw(claims.all_of_them())
        ),
        "robustness": _ALONE
        + _ROBUST.format(banner=warning, legend=_raw(legend()), tables=robust)
        + _MATHEMATICS,
        "claims/claim": _ORPHAN + f"# {TITLE}\n\n{warning}{_raw(BODY)}{_MATHEMATICS}",
    }
    for name, text in sources.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    return pages


def _raw(html: str) -> str:
    """Return HTML as a block of a Markdown page."""
    return f"``````{{raw}} html\n{html}\n``````\n\n"


#: Front matter of a page without a table of contents.
_ALONE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n"
#: Loads the typesetting, which Sphinx leaves out of a page without formulas.
_MATHEMATICS = "```{div} fb-none\n$x$\n```\n"
_ORPHAN = _ALONE.replace("---\n", "---\norphan: true\n", 1)
_ALL = """# All claims

Every claim of every paper, with its verdict and the number that decides it. A claim's name leads to
its own page: what is claimed, where, how it was judged, and the evidence. What verdicts turn on is
said under [Robustness](robustness.md). Where a number has no limit on a side, the claim's page says
why.

The totals count {totals}.

{banner}{table}"""
_ROBUST = """# Robustness

Each verdict under every reading of what a paper leaves open, and which verdicts rest on settings
that nobody printed and that were reconstructed. A letter stands where a claim was judged under that
reading, a dot where its data have that setting.

{banner}{legend}{tables}"""


def legend() -> Html:
    """Return the legend of the table of robustness."""
    marks = joined((_mark(mark) + " " + mark for mark in MARKS if mark != FAILED), " ")
    return Html('<p class="fb-legend">{}</p>').format(marks)


def _mark(verdict: str) -> Html:
    letter, look = MARKS[verdict]
    return Html(
        '<span class="fb-key fb-node-{}" title="{}"><b aria-hidden="true">{}</b>'
        '<span class="fb-unseen">{}</span></span>'
    ).format(look, verdict, letter, verdict)


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

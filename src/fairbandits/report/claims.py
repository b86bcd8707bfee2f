"""A page for each claim, the table of all claims, and the table of robustness.

None is a notebook: `fairbandits.report.build` adds them to the site, from the same verdicts and
findings.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
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
from fairbandits.report.formulas import names, typeset
from fairbandits.report.pages import Cell, data_table, link, link_to_claim, reconstructed
from fairbandits.settings.schemas import ROOT, ConfigError, check, meant, paper_file, read_yaml

#: Marks in the page that Sphinx makes for all claims.
TITLE, BODY = "TITLE-OF-A-CLAIM", "BODY-OF-A-CLAIM"
#: Words for each basis of a claim.
BASES = {"printed": "printed", "lost": "lost, reconstructed", "recalled": "recalled"}
#: The cell of the robustness table where a claim's data have a reconstructed setting.
RESTS = '●<span class="fb-unseen">rests on it</span>'
#: Beyond the first number cases are folded, beyond the second not all are shown.
MANY, MOST = 25, 400


@dataclass(frozen=True)
class Glossary:
    """What a reader must know of a paper to read one of its claims: papers/SLUG/glossary.yaml."""

    setting: str  # the paper's model, in the ledgers' notation
    terms: Mapping[str, str]  # words and symbols -> meanings
    formulas: Mapping[str, str]  # claim -> its formula in LaTeX

    def of(self, text: str) -> dict[str, str]:
        """Return the terms that a text uses, in the order of the glossary."""
        symbols = names(text)
        return {
            term: meaning
            for term, meaning in self.terms.items()
            if names(term) & symbols
            or (not names(term) and re.search(rf"\b{re.escape(term)}", text, re.IGNORECASE))
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

    def page(self, claim: Claim) -> str:
        """Return the HTML below the title of a claim's page."""
        audit, glossary = self.audit, self.glossaries[claim.paper]
        head, *_ = audit.under_readings(claim.id)
        tested = audit.tested(claim.id)
        ledger = audit.ledgers[tested.paper]
        found = [
            one | {"reading": one["reading"] and ledger.reading(one["reading"])}
            for one in in_order(tested.tests, audit.found(claim.id))
        ]
        named = {test.name: quantity(test, ledger) for test in tested.tests}
        formula = glossary.formulas.get(claim.id, "")
        cases = f"all {len(found)} cases" if len(found) > 1 else "the case"
        parts = [self._top(claim, head, formula)]
        parts.append(_section("verdict", "How it was judged", _facts(self._verdict(claim, head))))
        image = picture(tested.tests, found, named)
        parts.append(_section("evidence", f"The evidence: {cases} in one picture", image))
        table = self._cases(tested, found)
        parts.append(_section("cases", f"The numbers of {cases}", table))
        rests = _facts(self._rests(claim))
        parts.append(_section("rests-on", "Claims that it rests on, or that rest on it", rests))
        again = self._again(claim, head)
        parts.append(_section("again", "Show it, or judge it again", again))
        terms = glossary.of(
            " ".join([claim.statement, claim.estimand, claim.reconstructed, formula])
        )
        said = f"<p>{typeset(glossary.setting)}</p>" if glossary.setting else ""
        said += _facts((typeset(term), typeset(meaning)) for term, meaning in terms.items())
        parts.append(_section("words", "Words and symbols", said))
        parts.append(_section("record", "The record by which it is judged", self._record(claim)))
        return "".join(parts)

    def _top(self, claim: Claim, head: Row, formula: str) -> str:
        """Return statement, verdict, and the place in the paper."""
        title = escape(self.audit.ledgers[claim.paper].title)
        kinds = ", ".join(dict.fromkeys([claim.kind.replace("_", " "), role(head)]))
        places = [link(claim.paper, title), escape(claim.place), escape(kinds)]
        if figure := figure_link(head):
            places.append(f"Figure {figure}")
        shown = rf'<div class="math notranslate nohighlight">\[{escape(formula)}\]</div>'
        conditions = "".join(f"<li>{one}</li>" for one in self.only_if(claim))
        return (
            f'<p class="fb-lead">{typeset(claim.statement)}</p>{shown * bool(formula)}'
            f'<p class="fb-place">{" · ".join(places)}</p>'
            f'<p class="fb-verdict">{badge(head["verdict"])} {self._counted(claim)}</p>'
            + (f'<ul class="fb-only-if">{conditions}</ul>' if conditions else "")
        )

    def _counted(self, claim: Claim) -> str:
        """Return how many of several deciding cases have each verdict."""
        found = [one["verdict"] for one in self.audit.found(claim.id) if one["decides"]]
        counts = tally(found)
        if len(counts) < 2:
            return ""
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        return f"<small>of {len(found)} cases {said}</small>"

    def only_if(self, claim: Claim) -> list[str]:
        """Return as HTML what the verdict depends on: readings, and reconstructed settings."""
        rows = self.audit.under_readings(claim.id)
        readings = self.audit.ledgers[self.audit.tested(claim.id).paper].readings
        conditions = []
        if rows[0]["verdict"] == DEPENDS:
            sorts = {REPRODUCED: "Holds only if", NOT_REPRODUCED: "Does not hold if"}
            for outcome, under in words.under_readings(rows).items():
                start = sorts.get(outcome, f"Is {outcome} if")
                said = "; or ".join(typeset(readings.get(one, one)).rstrip(".") for one in under)
                conditions.append(f"<strong>{start}:</strong> {said}.")
        if claim.basis != "printed":
            said = typeset(words.basis(claim)).rstrip(".")
            conditions.append(f"<strong>Only as reconstructed:</strong> {said}.")
        tested, cases = self.audit.tested(claim.id), self.audit.found(claim.id)
        sentences = words.qualifying(tested, cases, significant)
        return conditions + [f"<strong>Qualified by:</strong> {typeset(one)}" for one in sentences]

    def _verdict(self, claim: Claim, row: Row) -> Iterator[tuple[str, str]]:
        """Yield names and HTML of a verdict's grounds and qualifications."""
        audit = self.audit
        if row["message"]:
            yield "failed", escape(row["message"])
        if claim.untestable:
            yield "no verdict", typeset(claim.untestable)
        if claim.alias_of:
            yield "same as", self.named(claim.alias_of)
        if claim.between:
            yield "between", escape("; ".join(claim.between))
        if claim.kind == "inconsistency" and row["verdict"] in OF_INCONSISTENCY:
            yield "that is", escape(OF_INCONSISTENCY[row["verdict"]])
        if claim.judged_by:
            yield "judged by", "<br>".join(self.named(one) for one in claim.judged_by)
            yield "rule", "reproduced if all of these are, not reproduced if one is not"
        if claim.estimand:
            yield "measured", typeset(claim.estimand)
        if row["statistic"] is not None:
            yield from self._number(row)
        rows = audit.under_readings(claim.id)
        if len(rows) > 1:
            readings = audit.ledgers[audit.tested(claim.id).paper].readings
            each = (
                f"{badge(one['verdict'])} {typeset(readings.get(one['reading'], one['reading']))} "
                f"{numbers(one)}"
                for one in rows[1:]
            )
            yield "each reading", "<br>".join(each)
        for tag, said in tags(audit.in_words(claim.id)).items():
            yield tag, escape(said)
        if claim.note:
            yield "note", typeset(claim.note)

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
        yield "number", escape(said + (f" ({why})" if why else ""))
        above = f"; above it, {what.above}" if what and what.above else ""
        yield "judged against", escape(against(row) + above)
        p = p_of_claim(row, tested, ledger)
        n = f"{row['n']}" + f"; {p}" * bool(p)
        n += f"; {enough}" if (enough := words.replicates_that_decide(row)) else ""
        yield "n", escape(n)
        which = f", {row['test']}" * bool(row["test"])
        rule = f"{row['rule']}, version {row['rule_version']} ({row['procedure']}){which}"
        yield "rule", escape(rule.replace("_", " "))

    def _cases(self, tested: Claim, rows: Sequence[Row]) -> str:
        """Return a table of the questions of a claim's tests; of very many, the most telling."""
        if not rows:
            return ""
        counts = tally(row["verdict"] for row in rows)
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        said = f"{len(rows)} cases: {said}"
        if len(rows) > MOST:
            said += f"; here are {MOST}, those that speak most against the claim"
            kept = set(sorted(range(len(rows)), key=lambda k: words.against(rows[k]))[:MOST])
            rows = [row for k, row in enumerate(rows) if k in kept]
        headings = {test.name: heading(test) for test in tested.tests}
        columns = {
            "test": [headings[row["test"]] for row in rows],
            "reading": [row["reading"] for row in rows],
            "case": [row["each"] for row in rows],
            "verdict": [Cell(badge(row["verdict"]), row["verdict"], html=True) for row in rows],
            **{
                title: [Cell(significant(row[name]), row[name]) for row in rows]
                for title, name in (
                    ("number", "statistic"),
                    ("lower limit", "low"),
                    ("upper limit", "high"),
                )
            },
            "judged against": [Cell(against(row), row["reference"]) for row in rows],
            "n": [Cell("" if row["n"] is None else str(row["n"]), row["n"]) for row in rows],
            "p of the case alone": [
                Cell(p_value(row["p"]).removeprefix("= "), row["p"]) for row in rows
            ],
        }
        if len(headings) == 1:
            del columns["test"]
        columns = {name: cells for name, cells in columns.items() if any(map(str, cells))}
        shown = data_table(
            list(columns),
            list(zip(*columns.values(), strict=True)),
            "cases",
            buttons={"verdict": OUTCOMES} if len(rows) > MANY else {},
        )
        if len(rows) <= MANY:
            return shown
        return f"<details><summary>{said}</summary>{shown}</details>"

    def _rests(self, claim: Claim) -> Iterator[tuple[str, str]]:
        """Yield the claims that a claim rests on, and those that rest on it."""
        if bases := [key for key in claim.bases if key in self.audit.headlines]:
            yield "rests on", "<br>".join(self.named(key) for key in bases)
        others = [key for key in carried(claim.id, self.above) if key in self.audit.headlines]
        if others:
            near = self.above.get(claim.id, [])
            yield (
                "carries",
                "<br>".join(self.named(key) for key in others if key in near),
            )
            if further := [key for key in others if key not in near]:
                yield "by way of these", "<br>".join(self.named(key) for key in further)

    def _again(self, claim: Claim, head: Row) -> str:
        """Return the commands that show and judge a claim again, and links to its data."""
        commands = [f"fairbandits claims {claim.id}"]
        if not claim.untestable:
            commands.append("fairbandits replicate audit")
        shown = "".join(
            f'<div class="fb-command"><pre>{escape(one)}</pre></div>' for one in commands
        )
        said = (
            "The first command prints this page, the second simulates what is missing and judges "
        )
        said += "all claims again."
        if claim.untestable:
            said = "The command prints this page."
        files = [self._files(place) for place in in_short(head["data"])]
        data = _facts([("data", "<br>".join(files))]) if files else ""
        return f"<p>{said}</p>{shown}{data}"

    def _files(self, place: str) -> str:
        """Return links to the files that match a place of data."""
        files = written_out([place])
        links = [
            f'<a href="{self.data}/{escape(one)}">{escape(Path(one).stem if k else one)}</a>'
            for k, one in enumerate(files)  # the first one with its folder
        ]
        return ", ".join(links)

    def _record(self, claim: Claim) -> str:
        """Return the claim's record from the ledger."""
        own = self.audit.ledgers[claim.paper]
        place = f"<code>papers/{claim.paper}/claims.yaml</code>"
        said = f"<p>Its words in {place}: “{escape(claim.statement)}”</p>"
        if record := words.record(claim, own):
            said += "<details><summary>Tests, rules and inputs</summary>"
            said += f"<pre>{escape(record)}</pre></details>"
        return said

    def named(self, claim: str) -> str:
        """Return a link to a claim, with its verdict and its title."""
        said = typeset(self.audit.claims[claim].statement)
        return f"{link_to_claim(claim, escape(claim))} {headline(self.audit, claim)} {said}"

    # ------------------------------------------------------------------------ all claims

    def all_of_them(self) -> str:
        """Return one table of all claims of all papers."""
        header = ["claim", "paper", "place", "kind", "role", "basis", "verdict", "quantity"]
        header += ["number", "limits", "n"]
        rows, ids = [], []
        for row in (one for one in self.audit.rows if one["headline"]):
            claim = self.audit.claims[row["claim"]]
            ids.append(claim.id)
            name = link_to_claim(claim.id, escape(claim.id))
            rows.append(
                [
                    Cell(f"{name}<br>{escape(claim.statement)}", claim.id, html=True),
                    self.audit.ledgers[claim.paper].short_title,
                    claim.place,
                    claim.kind.replace("_", " "),
                    role(row),
                    BASES[claim.basis],
                    Cell(badge(row["verdict"]), row["verdict"], html=True),
                    quantity_of(self.audit, row),
                    Cell(significant(row["statistic"]), row["statistic"]),
                    limits(row),
                    Cell("" if row["n"] is None else str(row["n"]), row["n"]),
                ]
            )
        return data_table(
            header,
            rows,
            "claims",
            ids=ids,
            buttons={"verdict": OUTCOMES},
            selects=("paper", "kind", "role", "basis"),
        )

    # ------------------------------------------------------------------------ robustness

    def robustness(self, paper: str) -> str:
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
                lines.append((claim, rows[0], under, rests))
            else:
                alone += 1
        readings = [key for key in ledger.readings if any(key in one[2] for one in lines)]
        settings = sorted(set().union(*(one[3] for one in lines)))
        said = f"{alone} more tested claims have one reading and rest on nothing reconstructed."
        if not lines:
            return f"<p>{said}</p>"
        heads = [(ledger.reading(key), ledger.readings[key]) for key in readings]
        heads += [(key, f"{key}: printed nowhere, reconstructed") for key in settings]
        top = "".join(
            f'<th scope="col" class="fb-turned"><abbr title="{escape(title)}">{escape(name)}'
            "</abbr></th>"
            for name, title in heads
        )
        body = "".join(
            f'<tr><th scope="row">{link_to_claim(claim.id, escape(claim.id))}</th>'
            f"<td>{_mark(head['verdict'])}</td>"
            + "".join(f"<td>{_mark(under[key]) if key in under else ''}</td>" for key in readings)
            + "".join(f"<td>{RESTS * (key in rests)}</td>" for key in settings)
            + "</tr>"
            for claim, head, under, rests in lines
        )
        groups = '<th rowspan="2" scope="col">claim</th><th rowspan="2" scope="col">verdict</th>'
        for many, name in ((readings, "under each reading"), (settings, "rests on, reconstructed")):
            if many:
                groups += f'<th colspan="{len(many)}" scope="colgroup">{name}</th>'
        explained = "".join(f"<li>{typeset(ledger.readings[key])}</li>" for key in readings)
        explained = f"<p>The readings, column by column:</p><ul>{explained}</ul>" * bool(readings)
        several = [head["verdict"] for _, head, under, _ in lines if len(under) > 1]
        apart = several.count(DEPENDS)
        result = (
            f"<p>Of {len(several)} claims with several readings {len(several) - apart} have the "
            f"same verdict under all of them; for {apart} it depends on the reading.</p>"
        )
        title = escape(ledger.short_title)
        return (
            f'{result}{explained}<div class="fb-scroll" tabindex="0" role="region" '
            f'aria-label="Robustness of {title}"><table class="fb-robust" id="robustness-{paper}">'
            f"<thead><tr>{groups}</tr><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
            f"<p>{said}</p>"
        )


def write_pages(audit: Audit, data: str, source: Path) -> dict[str, Page]:
    """Write the sources of Sphinx's pages; return the claims' pages, which Sphinx does not make.

    Sphinx would take a minute for hundreds of pages: it makes one with the marks `TITLE` and
    `BODY`. `data` is the results' place relative to the claims' folder.
    """
    claims = Claims(audit, data)
    pages = {
        key: Page(claim.statement, claims.page(claim))
        for key, claim in audit.claims.items()
        if key in audit.headlines
    }
    robust = "".join(
        f"## {ledger.title}\n\n{_raw(claims.robustness(paper))}"
        for paper, ledger in audit.ledgers.items()
    )
    said = banner(audit)
    warning = _raw(said.data) if said else ""
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


def legend() -> str:
    """Return the legend of the table of robustness."""
    marks = " ".join(f"{_mark(mark)} {escape(mark)}" for mark in MARKS if mark != FAILED)
    return f'<p class="fb-legend">{marks}</p>'


def _mark(verdict: str) -> str:
    letter, look = MARKS[verdict]
    said = escape(verdict)
    return (
        f'<span class="fb-key fb-node-{look}" title="{said}"><b aria-hidden="true">{letter}</b>'
        f'<span class="fb-unseen">{said}</span></span>'
    )


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


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    """Return a list of names and facts, both HTML; empty without facts."""
    cells = "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in facts)
    return f'<dl class="fb-facts">{cells}</dl>' if cells else ""


def _section(name: str, title: str, body: str) -> str:
    """Return a section of a page under its heading; empty without a body."""
    return f'<section id="{name}"><h2>{escape(title)}</h2>{body}</section>' if body else ""

"""A page for each claim, the table of all claims, and the table of robustness."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fairbandits.audit import finding, quantities, show, words
from fairbandits.audit.finding import OUTCOMES, TAGS
from fairbandits.audit.ledger import Claim, Ledger, Test
from fairbandits.audit.quantities import Quantity, p_value
from fairbandits.audit.rejudge import NOTHING_DRAWN, came_again
from fairbandits.audit.tables import in_short, written_out
from fairbandits.numerals import measured, number
from fairbandits.report import audit as of_audit
from fairbandits.report import evidence, markup
from fairbandits.report.across import carried, resting
from fairbandits.report.audit import MARKS, Audit, Row, badge, called, judged, limits, role
from fairbandits.report.markup import Html, data_table, in_symbols, link_to_claim, offer, render
from fairbandits.report.pages import reconstructed
from fairbandits.settings.formulas import FORMULA, plain
from fairbandits.settings.records import GlossaryFile, load_glossary

#: Marks in the page that Sphinx makes for all claims.
TITLE, BODY = "TITLE-OF-A-CLAIM", "BODY-OF-A-CLAIM"
#: Words for each basis of a claim.
BASES = {"printed": "printed", "lost": "lost, reconstructed", "recalled": "recalled"}
#: What has letters in a formula and is no symbol of its own.
NO_SYMBOL = re.compile(r"\\(mathrm|text|operatorname)\{[^}]*\}|_(\{[^}]*\}|\\?[A-Za-z]+|\d)")
#: Words in which a term of a glossary means something else.
COMPOUND = re.compile(r"\b(learning rates?|missing (from|inside|appendi\w+))\b", re.IGNORECASE)
#: Beyond the first number cases are folded, beyond the second not all are shown.
MANY, MOST = 25, 250


def symbols(text: str) -> set[str]:
    r"""Return the symbols in a text's formulas, without their indices.

    >>> sorted(symbols(r"a queue is $2 \sqrt{NT} + \Delta_i^2$"))
    ['Delta', 'N', 'T', 'sqrt']
    """
    formulas = NO_SYMBOL.sub(" ", " ".join(FORMULA.findall(text)))
    found = re.findall(r"\\[a-zA-Z]+|[a-zA-Z](?: *\^\*)?", formulas)
    return {symbol.lstrip("\\").replace(" ", "") for symbol in found}


def terms_of(glossary: GlossaryFile, text: str) -> dict[str, str]:
    """Return the terms that a text uses; of symbols that differ by index, those with its index."""
    used, said = symbols(text), COMPOUND.sub("", plain(text))
    of = {term: symbols(term) for term in glossary.terms}
    as_is = [one for one in of if re.search(rf"{re.escape(one.strip('$'))}(?![\w{{])", text)]
    return {
        term: meaning
        for term, meaning in glossary.terms.items()
        if (of[term] and of[term] <= used and (term in as_is or of[term] not in map(of.get, as_is)))
        or (
            "$" not in term
            and re.search(rf"(?<![\w-]){re.escape(term)}", said, re.IGNORECASE * term.islower())
        )
    }


class Page(NamedTuple):
    """A claim's page: text for the search, and HTML."""

    statement: str
    body: str


def page_of(
    claim: Claim,
    audit: Audit,
    glossary: GlossaryFile,
    resting_on: Mapping[str, list[str]],
    data: str,
) -> Html:
    """Return the HTML below the title of a claim's page; `data` is the place of the results."""
    rows, tested = audit.under_readings(claim.id), audit.tested(claim.id)
    head, ledger, found = rows[0], audit.judging(claim.id), audit.found(claim.id)
    cases = audit.with_readings(claim.id, evidence.in_order(tested.tests, found))
    cases = evidence.under_readings(cases)
    tests = {test.name: test for test in tested.tests}
    named = {row["test"]: row for row in cases}
    named = {key: quantities.quantity(tests[key], ledger, row) for key, row in named.items()}
    formula = glossary.formulas.get(claim.id, "")
    picture, questions = evidence.picture(tested.tests, cases, named, claim.kind)
    # of tests that qualify only, too
    read = dict.fromkeys([*head["data"], *(place for row in found for place in row["data"])])
    said = [claim.statement, claim.estimand, claim.reconstructed, f"${formula}$"]
    said += {quantities.case(row["each"]) for row in cases}.union(map(str, named.values()))
    return render(
        "claim.html",
        audit=audit,
        claim=claim,
        head=head,
        rows=rows,
        formula=formula,
        ledger=ledger,
        tested=tested,
        open_to=[key for key in claim.judged_by if audit.headlines.get(key) == finding.DEPENDS],
        in_words=cases,
        picture=picture,
        table=_cases(tests, cases, named, claim.kind),
        questions=questions,
        near=resting_on.get(claim.id, []),
        above=[key for key in carried(claim.id, resting_on) if key in audit.headlines],
        data=[written_out([place]) for place in in_short(read)],
        folder=data,
        setting=glossary.setting,
        terms=terms_of(glossary, " ".join(said)),
    )


def _cases(
    tests: Mapping[str, Test], rows: Sequence[Row], named: Mapping[str, Quantity], kind: str
) -> Html:
    if not rows:
        return Html()
    said = f"{len(rows)} cases: {_counted((row['verdict'] for row in rows), kind)}"
    if len(rows) > MOST:
        said += f"; here are {MOST}, those that speak most against the claim"
        kept = sorted(sorted(range(len(rows)), key=lambda k: words.against(rows[k]))[:MOST])
        rows = [rows[k] for k in kept]
    lines = [
        {
            "test": (quantities.test_name(row["test"]) * (len(tests) > 1), ""),
            "reading": (row["reading"], ""),
            "case": (markup.typeset(quantities.case(row["each"])), ""),
            "verdict": _verdict(row, kind if row["decides"] else ""),
            "control": (row["control"], ""),
            "number": (what.value(row), row["statistic"]),
            "lower bound": ("", None) if row["low"] == row["high"] else _number(row, "low"),
            "upper bound": ("", None) if row["low"] == row["high"] else _number(row, "high"),
            "judged against": (what.right or evidence.within(row, test), row["reference"]),
            "n": (_count(row), row["n"]),
            "p of the case alone": (p_value(row["p"]).removeprefix("= "), row["p"]),
        }
        for row in rows
        for what, test in [(named[row["test"]], tests[row["test"]])]
    ]
    header = [name for name in lines[0] if any(line[name][0] for line in lines)]
    cells = [[line[name] for name in header] for line in lines]
    if len(rows) <= MANY:
        return data_table(header, cells, "cases")
    called_so = dict.fromkeys(called(one, of) for of in (kind, "") for one in OUTCOMES)
    shown = data_table(header, cells, "cases", {"verdict": "|".join(called_so)})
    return Html("<details><summary>{}</summary>{}</details>").format(said, shown)


def _verdict(row: Row, kind: str) -> tuple[Html, str]:
    why = evidence.undecided(row)
    more = Html("<br><small>{}</small>").format(why) if why else ""
    return badge(row["verdict"], row["grade"], kind) + more, called(row["verdict"], kind)


def part_of(claim: Claim, audit: Audit) -> str:
    """Return what is tested of a claim that is tested in part, or of those that judge it."""
    if part := claim.part or audit.tested(claim.id).part:
        return f"{part.rstrip('.')}."
    others = [key for key in claim.judged_by if key in audit.headlines]
    rows = [row for key in others for row in audit.under_readings(key) if "IN-PART" in row["tags"]]
    untold = "those tests that could have failed, and whose control fails"
    parts = {row["claim"]: audit.tested(row["claim"]).part or untold for row in rows}
    alike = {part: [key for key in parts if parts[key] == part] for part in parts.values()}
    return "; ".join(f"{one} ({', '.join(alike[one])})" for one in alike) + "." * bool(alike)


def _counted(verdicts: Iterable[str], kind: str) -> str:
    found = finding.tally(verdicts).items()
    said = (f"{count} {called(verdict, kind)}" for verdict, count in found)
    return re.sub(r"(?<!\b1 )makes", "make", ", ".join(said))


def _number(row: Row, name: str) -> tuple[str, float | None]:
    return measured(row[name]), row[name]


def case_of(row: Row, ledger: Ledger) -> Html:
    """Return the name of a headline's case, which can end with a reading."""
    readings = {
        key.replace("_", " "): words.inside(in_symbols(ledger.reading(key)))
        for key in ledger.readings
    }
    said = map(quantities.case, row["each"].split(", "))
    return markup.typeset(", ".join(readings.get(one, one) for one in said))


def _count(row: Row) -> str:
    alone = row["procedure"] == "exact" and row["n"] == 1  # one number, of any number of draws
    return "" if row["n"] is None or alone else number(row["n"])


def raised(text: str) -> Html:
    """Return prose as one line of HTML, with formulas in letters and raised powers."""
    return markup.raised(in_symbols(text))


def linked(text: str, audit: Audit) -> Html:
    """Return typeset prose in which names of claims lead to their pages."""
    names = rf"(?<![\w-])({'|'.join(audit.headlines)})(?![\w-])"
    return Html(re.sub(names, lambda found: link_to_claim(found[0]), markup.typeset(text)))


def all_of_them(audit: Audit) -> Html:
    filters = dict.fromkeys(("paper", "kind", "role", "basis", "grade"), "select")
    filters["verdict"] = "|".join(OUTCOMES)
    header = ("claim", "paper", "kind", "role", "basis", "verdict", "grade")
    header += ("quantity", "number", "bounds", "replicates or values")
    said = Html('{}<br>{}<br><span class="fb-place">{}</span>')
    rows = [
        [
            (said.format(link_to_claim(key), raised(claim.statement), claim.place), key),
            audit.ledgers[claim.paper].short_title,
            claim.kind.replace("_", " "),
            role(row),
            BASES[claim.basis],
            (judged(row, grade=False), row["verdict"]),
            row["grade"],
            str(of_audit.quantity_of(audit, row)),
            _number(row, "statistic"),
            limits(row),
            (_count(row), row["n"]),
        ]
        for row in audit.heads
        for key, claim in [(row["claim"], audit.claims[row["claim"]])]
    ]
    return data_table(header, rows, "claims", filters, audit.headlines)


def robustness(audit: Audit, paper: str) -> Html:
    """Return a paper's verdicts under each reading, and what they depend on."""
    ledger, unknown = audit.ledgers[paper], reconstructed(paper)
    lines = []
    for key, claim in ledger.claims.items():
        if claim.tests and key in audit.headlines:
            head, *rows = audit.under_readings(key)
            line = {"claim": key, "head": head["verdict"]}
            line["under"] = {row["reading"]: row["verdict"] for row in rows}
            line["rests"] = set().union(*(unknown.get(name, ()) for name in claim.experiments))
            lines.append(line)
    shown = [line for line in lines if line["under"] or line["rests"]]
    readings = [key for key in ledger.readings if any(key in line["under"] for line in shown)]
    settings = sorted(set().union(*(line["rests"] for line in shown)))
    given = {"audit": audit, "ledger": ledger, "readings": readings, "settings": settings}
    return render("robustness.html", lines=shown, alone=len(lines) - len(shown), **given)


# what the page of a claim asks by itself
offer(came_again, case_of, limits, linked, part_of, raised)
offer(counted=_counted, quantities=quantities, TAGS=TAGS, NOTHING_DRAWN=NOTHING_DRAWN)
offer(OF_INCONSISTENCY=finding.OF_INCONSISTENCY)


def write_pages(audit: Audit, data: str, source: Path) -> dict[str, Page]:
    """Write the sources of Sphinx's pages; return those of the claims, too many for it."""
    glossaries = {key: load_glossary(key, one.claims) for key, one in audit.ledgers.items()}
    above = resting(audit)
    pages = {
        key: Page(plain(one.statement), page_of(one, audit, glossaries[one.paper], above, data))
        for key, one in audit.claims.items()
        if key in audit.headlines
    }
    robust = {ledger.title: robustness(audit, key) for key, ledger in audit.ledgers.items()}
    given = {row["verdict"] for row in audit.rows}
    marks = {verdict: mark for verdict, mark in MARKS.items() if verdict in given}
    sources = {
        "claims": {"totals": show.tally(audit.rows), "table": all_of_them(audit)},
        "robustness": {"tables": robust, "marks": marks},
        "claims/claim": {"title": TITLE, "body": BODY},
    }
    for name, given in sources.items():
        (source / name).parent.mkdir(exist_ok=True)
        text = render(f"{Path(name).name}.md", banner=of_audit.banner(audit) or "", **given)
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    return pages

"""The page of a claim."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from fairbandits.audit import finding, sentences
from fairbandits.audit.claims import Claim, Paper
from fairbandits.audit.rows import in_short, written_out
from fairbandits.audit.sentences import NOTHING_DRAWN, came_again, p_value, sentence
from fairbandits.audit.totals import Row
from fairbandits.numerals import measured, number
from fairbandits.report import evidence, markup
from fairbandits.report.across import carried
from fairbandits.report.audit import Audit, badge, called, counted, judged, named, role
from fairbandits.report.markup import (
    Html,
    data_table,
    in_symbols,
    link,
    link_to_claim,
    minus,
    render,
    typeset,
)
from fairbandits.settings.formulas import FORMULA, plain
from fairbandits.settings.records import GlossaryFile

#: Marks in the page that Sphinx makes for all claims.
TITLE, BODY = "TITLE-OF-A-CLAIM", "BODY-OF-A-CLAIM"
#: Words for each role of a claim.
ROLES = {
    "primary": "a main claim of the paper",
    "other": "a secondary claim",
    "reported": "reported by the paper without a firm claim",
    "project": "our own question",
    "later version": "only in the UAI version",
}
#: How the verdicts of tests make one, where not all must be reproduced.
ANY = "One reproduced test is enough."
UNCOUNTED = (
    "A case that could not have failed, or whose control does not fail, counts neither for the "
    "claim nor against it."
)
#: What is tested of a claim of which some cases are set aside.
NOT_EMPTY = "those cases that differ and could have failed, and whose control fails"
#: What has letters in a formula and is no symbol of its own.
NO_SYMBOL = re.compile(r"\\(mathrm|text|operatorname)\{[^}]*\}|_(\{[^}]*\}|\\?[A-Za-z]+|\d)")
#: Words in which a term of a glossary means something else.
COMPOUND = re.compile(r"\b(learning rates?|missing (from|inside|appendi\w+))\b", re.IGNORECASE)
#: A name, which begins with a capital within a sentence too.
NAME = re.compile(r"(Bernoulli|Eqs?\.?|Instance|Lemma|Section|Theorem)\b|\S*[A-Z]\S*[A-Z]")
#: Beyond the first number cases are folded, beyond the second not all are shown.
MANY, MOST = 25, 250


def symbols(text: str) -> set[str]:
    r"""Return the symbols in a text's formulas, without their indices.

    >>> sorted(symbols(r"a queue is $2 \sqrt{NT} + \Delta_i^2$"))
    ['Delta', 'N', 'T', 'sqrt']
    """
    formulas = NO_SYMBOL.sub(" ", " ".join(FORMULA.findall(text)))
    tokens = re.findall(r"\\[a-zA-Z]+|[a-zA-Z](?: *\^\*)?", formulas)
    return {symbol.lstrip("\\").replace(" ", "") for symbol in tokens}


def terms_of(glossary: GlossaryFile, text: str) -> dict[str, str]:
    """Return the terms that a text uses; of symbols that differ by index, those with its index."""
    used, prose = symbols(text), COMPOUND.sub("", plain(text))
    of = {term: symbols(term) for term in glossary.terms}
    as_is = [term for term in of if re.search(rf"{re.escape(term.strip('$'))}(?![\w{{])", text)]
    return {
        term: meaning
        for term, meaning in glossary.terms.items()
        if (of[term] and of[term] <= used and (term in as_is or of[term] not in map(of.get, as_is)))
        or (
            "$" not in term
            and re.search(rf"(?<![\w-]){re.escape(term)}", prose, re.IGNORECASE * term.islower())
        )
    }


class Page(NamedTuple):
    """A claim's page: text for the search, and HTML."""

    statement: str
    body: str


#: Why a verdict is as it is: the readings under which, if several, and sentences.
Reason = tuple[Html, list[Html]]


def page_of(
    claim: Claim,
    audit: Audit,
    glossary: GlossaryFile,
    resting_on: Mapping[str, list[str]],
    data: str,
) -> Page:
    """Return a claim's page; `data` is the place of the results."""
    rows, findings = audit.under_readings(claim.id), audit.found(claim.id)
    head, paper, tested = rows[0], audit.judging(claim.id), audit.tested(claim.id)
    cases = audit.with_readings(claim.id, evidence.in_order(findings))
    cases = evidence.under_readings([row | {"each": case_of(row, paper)} for row in cases])
    formula = glossary.formulas.get(claim.id, "")
    # of tests that do not decide, too
    read = dict.fromkeys([*head["data"], *(path for row in findings for path in row["data"])])
    texts = [claim.statement, claim.reconstructed, claim.note, formula and f"${formula}$"]
    texts += dict.fromkeys(row[name] for name in ("each", "phrase") for row in cases)
    again = came_again(tested, findings)
    body = render(
        "claim.html",
        statement=typeset(claim.statement),
        formula=formula,
        place=_place(claim, audit.papers[claim.paper], head),
        verdict=judged(head),
        reasons=list(_reasons(claim, audit, rows, findings)),
        conditions=list(_conditions(claim, audit, rows, cases)),
        picture=evidence.picture(cases, claim.kind),
        cases=_cases(cases, claim.kind),
        note=linked(claim.note, audit),
        related=_related(claim, audit, resting_on),
        other_seeds=again,
        checks=list(_checks(claim, head, bool(read) and again != NOTHING_DRAWN)),
        data=[_files(written_out([path]), data) for path in in_short(read)],
        setting=typeset(glossary.setting),
        terms=[
            (typeset(term), typeset(meaning))
            for term, meaning in terms_of(glossary, " ".join(texts)).items()
        ],
        source=tested.source,
        file=f"papers/{tested.paper}/claims.py",
        line=tested.line,
    )
    return Page(plain(claim.statement), body)


def _place(claim: Claim, paper: Paper, head: Row) -> Html:
    kinds = [claim.kind, *(ROLES.get(name, name) for name in role(head).split(", "))]
    line = Html("{} · {} · kind of claim: {}").format(
        link(claim.paper, paper.title), minus(claim.place), "; ".join(dict.fromkeys(kinds))
    )
    if claim.figure:
        shown = link(f"{claim.paper}#{claim.figure}", claim.figure.removeprefix("fig"))
        line += Html(" · Figure {}").format(shown)
    return line


def _reasons(
    claim: Claim, audit: Audit, rows: Sequence[Row], findings: Sequence[Row]
) -> Iterator[Reason]:
    """Yield why a claim has its verdict: other claims, or its tests under each reading."""
    head, tested = rows[0], audit.tested(claim.id)
    if claim.kind == "inconsistency" and head["verdict"] in finding.OF_INCONSISTENCY:
        meaning = f"{sentence(finding.OF_INCONSISTENCY[head['verdict']])}."
        yield Html(), [typeset(meaning)]
        yield typeset("What each says:"), list(map(raised, claim.between))
    if alone := head["message"] or claim.untestable:
        yield Html(), [linked(alone, audit)]
    if claim.alias_of:
        yield typeset("It carries the verdict of:"), [named(audit, claim.alias_of)]
    if claim.judged_by:
        yes, no = (_is(word, claim.kind) for word in (finding.REPRODUCED, finding.NOT_REPRODUCED))
        rule = f"It {yes} if all of these are reproduced, and it {no} if one is not:"
        yield typeset(rule), [named(audit, key) for key in claim.judged_by]
    if tested.of or len(rows) > 1:
        yield from _under_readings(tested, audit, rows, findings)


def _under_readings(
    tested: Claim, audit: Audit, rows: Sequence[Row], findings: Sequence[Row]
) -> Iterator[Reason]:
    paper, deciding = audit.papers[tested.paper], [row for row in findings if row["decides"]]
    same: dict[tuple[str, ...], list[Row]] = {}
    for row in rows[1:] or rows:
        lines = [f"{sentence(reason)}." for reason in sentences.why(row, findings)]
        lines += filter(None, [what_would_change(row, paper, len(deciding) > 1)])
        same.setdefault((row["verdict"], *lines), []).append(row)
    for (_, *lines), alike in same.items():
        readings = [paper.readings.get(row["reading"], row["reading"]) for row in alike]
        shown = Html(" or ").join(map(typeset, readings))
        under = Html()
        if len(rows) > 1:
            under = Html("{} {}").format(judged(alike[0], status=False), shown)
        if under or lines:
            yield under, list(map(typeset, lines))
    uncounted = any(map(sentences.is_empty, deciding))
    lines = [ANY] * (tested.combine == "any" and len(sentences.by_test(deciding)) > 1)
    lines += [UNCOUNTED] * (uncounted and rows[0]["verdict"] == finding.REPRODUCED)
    if lines:
        yield Html(), list(map(typeset, lines))


def what_would_change(row: Row, paper: Paper, several: bool) -> str:
    """Return what the verdict hangs on in the case that decides; empty without a number."""
    if not (condition := sentences.what_decides(row)):
        return ""
    condition = condition.removeprefix(f"{finding.REPRODUCED} ")
    condition = f"it {_is(finding.REPRODUCED, row['kind'])} {condition}"
    case = ", ".join(filter(None, [row["phrase"], case_of(row, paper)]))
    start = f"The case that decides is {case}: " if several else ""
    adjusted = ", adjusted by Holm's method" if row["primary"] else ""
    facts = [sentences.sample(row)] * (row["procedure"] != "exact")
    facts += [f"p {p_value(row['p'])}{adjusted}"] * (row["p"] is not None)
    more = f" ({'; '.join(facts)})" if facts else ""
    return sentence(f"{start}{condition}{more}.")


def _is(verdict: str, kind: str) -> str:
    phrase = called(verdict, kind)
    return phrase if phrase.startswith("makes") else f"is {phrase}"


def case_of(row: Row, paper: Paper) -> str:
    """Return a case's name in symbols, with the words for what is a reading of the paper."""
    readings = {key.replace("_", " "): inside(paper.reading(key)) for key in paper.readings}
    parts = (in_symbols(readings.get(key, key), key in readings) for key in row["each"].split(", "))
    return ", ".join(part.replace(", ", ",\u00a0") for part in parts)


def inside(text: str) -> str:
    """Return the words of a reading as they are within a sentence."""
    return text if NAME.match(text) else text[:1].lower() + text[1:]


def _conditions(
    claim: Claim, audit: Audit, rows: Sequence[Row], cases: Sequence[Row]
) -> Iterator[tuple[str, Html]]:
    """Yield what qualifies a verdict."""
    yield (sentence(rows[0]["status"]), typeset(f"{finding.STATUSES[rows[0]['status']]}."))
    if grade := rows[0]["grade"]:
        yield (sentence(grade), typeset(f"{finding.GRADES[grade]}."))
    tags: dict[str, list[str]] = {}
    for row in audit.in_words(claim.id):
        for tag in row["tags"]:
            tags.setdefault(tag, []).append(row["reading"])
    if tags.pop("IN-PART", ()):
        yield ("Only a part is tested", linked(part_of(claim, audit), audit))
    if claim.basis != "printed":
        tags.pop("CONDITIONAL", None)
        yield ("Only as reconstructed", linked(sentences.basis(claim), audit))
    if judges := [key for key in claim.judged_by if audit.headlines.get(key) == finding.DEPENDS]:
        links = Html(", ").join(map(link_to_claim, judges))
        yield ("It depends on the reading of", links)
    if "ROUNDING" in tags and {measured(row["statistic"]) for row in rows} <= {"", "0"}:
        tags.pop("ROUNDING")
    for tag, readings in tags.items():
        under = "" if "" in readings else f' (under "{", ".join(readings)}")'
        name = {"HOLM": "Holm"}.get(tag, tag.lower().replace("-", " "))
        yield (sentence(name), typeset(f"{finding.TAGS[tag]}{under}."))
    for line in sentences.qualifying(cases):
        yield ("Also asked", linked(line, audit))


def part_of(claim: Claim, audit: Audit) -> str:
    """Return what is tested of a claim that is tested in part, or of those that judge it."""
    if part := claim.part or audit.tested(claim.id).part:
        return f"{part.rstrip('.')}."
    others = [key for key in claim.judged_by if key in audit.headlines]
    rows = [row for key in others for row in audit.under_readings(key) if "IN-PART" in row["tags"]]
    parts = {row["claim"]: audit.tested(row["claim"]).part or NOT_EMPTY for row in rows}
    alike = {part: [key for key in parts if parts[key] == part] for part in parts.values()}
    text = "; ".join(f"{part.rstrip('.')} ({', '.join(alike[part])})" for part in alike)
    return f"{text or NOT_EMPTY}."


def _related(
    claim: Claim, audit: Audit, resting_on: Mapping[str, list[str]]
) -> list[tuple[str, Html]]:
    shown = {claim.alias_of, *claim.judged_by}
    near, above = resting_on.get(claim.id, []), carried(claim.id, resting_on)
    groups = {
        "rests on": [key for key in claim.bases if key in audit.claims and key not in shown],
        "supports": [key for key in above if key in near],
        "by way of those": [key for key in above if key not in near],
    }
    return [
        (name, Html("<br>").join(named(audit, key) for key in keys))
        for name, keys in groups.items()
        if keys
    ]


def _checks(claim: Claim, head: Row, is_drawn: bool) -> Iterator[tuple[str, str, str]]:
    yield "Print this page:", f"claims {claim.id}", ""
    if not claim.untestable:
        yield "Simulate what is missing, and judge all claims again:", "replicate audit", ""
    if is_drawn:
        label = "Judge the claim on other data, which your words choose:"
        yield label, f"rejudge {claim.id}", '--salt "any words"'
    if "level" in head["settings"]:
        label = "See what another level would change; nothing is written:"
        yield label, f"claims {claim.id}", "--set level=0.95"


def _files(files: Sequence[str], folder: str) -> list[tuple[str, Html]]:
    first, *others = files
    names = [Html("/<wbr>").join(first.split("/"))]
    names += [Html.escape(PurePosixPath(file).stem) for file in others]
    return [(f"{folder}/{file}", name) for file, name in zip(files, names, strict=True)]


def _cases(rows: Sequence[Row], kind: str) -> Html:
    """Return the table of all cases, folded if they are many."""
    if not rows:
        return Html()
    summary = f"{len(rows)} cases: {counted((row['verdict'] for row in rows), kind)}"
    several = len(sentences.by_test(rows)) > 1
    if len(rows) > MOST:
        summary += f"; here are {MOST}, those that speak most against the claim"
        kept = sorted(sorted(range(len(rows)), key=lambda k: sentences.against(rows[k]))[:MOST])
        rows = [rows[k] for k in kept]
    lines = [
        {
            "number of": (typeset(sentences.quantity(row)) if several else "", ""),
            "reading": (row["reading"], ""),
            "case": (typeset(row["each"]), ""),
            "verdict": _verdict(row, kind if row["decides"] else ""),
            "control": (row["control"], ""),
            "number": (sentences.number(row), row["statistic"]),
            "lower bound": _bound(row, "low"),
            "upper bound": _bound(row, "high"),
            "limit": (sentences.limit(row), row["reference"]),
            "n": (count_of(row), row["n"]),
            "p of the case alone": (p_value(row["p"]).removeprefix("= "), row["p"]),
        }
        for row in rows
    ]
    filled = [name for name in lines[0] if any(line[name][0] for line in lines)]
    lines = [{name: line[name] for name in filled} for line in lines]
    if len(rows) <= MANY:
        return data_table(lines, "cases")
    called_so = dict.fromkeys(called(word, of) for of in (kind, "") for word in finding.OUTCOMES)
    shown = data_table(lines, "cases", {"verdict": "|".join(called_so)})
    return Html("<details><summary>{}</summary>{}</details>").format(summary, shown)


def _verdict(row: Row, kind: str) -> tuple[Html, str]:
    why = sentences.undecided(row)
    more = Html("<br><small>{}</small>").format(why) if why else ""
    return badge(row["verdict"], row["grade"], kind) + more, called(row["verdict"], kind)


def _bound(row: Row, name: str) -> tuple[str, float | None]:
    return ("", None) if row["low"] == row["high"] else (measured(row[name]), row[name])


def count_of(row: Row) -> str:
    alone = row["procedure"] == "exact" and row["n"] == 1  # one number, of any number of draws
    return "" if row["n"] is None or alone else number(row["n"])


def raised(text: str) -> Html:
    """Return prose as one line of HTML, with formulas in letters and raised powers."""
    return markup.raised(in_symbols(text))


def linked(text: str, audit: Audit) -> Html:
    """Return typeset prose in which names of claims lead to their pages."""
    names = rf"(?<![\w-])({'|'.join(audit.headlines)})(?![\w-])"
    return Html(re.sub(names, lambda match: link_to_claim(match[0]), typeset(text)))

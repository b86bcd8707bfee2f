"""Verdicts on pages: badges, numbers in words, tables, the tally, and changes of the rules."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fairbandits.audit import criteria, quantities, show, totals, words
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    GRADES,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OUTCOMES,
    REPRODUCED,
)
from fairbandits.audit.ledger import ALL_CLAIMS, FORMERLY, Claim, Ledger, load_ledgers
from fairbandits.audit.records import read
from fairbandits.audit.run import exploratory_words
from fairbandits.audit.staleness import chosen_seed
from fairbandits.data.store import StoreError, read_footer
from fairbandits.report.markup import (
    Html,
    folded,
    joined,
    link,
    link_to_claim,
    render,
    small,
    table,
    typeset,
)
from fairbandits.report.pages import CONFIG, NotReady, listed, number, other_scale, scale_of
from fairbandits.settings.config import load_config

Row = Mapping[str, Any]

#: CSS class of each verdict: good, bad, or neither.
LOOKS = {REPRODUCED: "good", NOT_REPRODUCED: "off", FAILED: "failed"}
#: Significant digits shown.
DIGITS = 4
#: Heading of each group of claims in the tally.
GROUPS = ("primary", "others")


@dataclass(frozen=True)
class Audit:
    """The verdicts of all papers that have a ledger."""

    ledgers: dict[str, Ledger]
    rows: list[dict[str, Any]]
    findings: list[dict[str, Any]]  # one for each question behind a verdict
    scale: str  # "paper" or a key of settings.marks.SCALES
    results: Path

    @property
    def seed(self) -> str:
        """The seed, where one was chosen; empty where seeds follow from the ledgers."""
        return chosen_seed(self.rows)

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """All claims by their ids."""
        return {key: one for ledger in self.ledgers.values() for key, one in ledger.claims.items()}

    def of(self, paper: str) -> list[dict[str, Any]]:
        """Return a paper's headline verdicts."""
        return [row for row in self.rows if row["headline"] and row["paper"] == paper]

    def under_readings(self, claim: str) -> list[dict[str, Any]]:
        """Return a claim's headline verdict, then those under each of its readings."""
        return self._rows[claim]

    def in_words(self, claim: str) -> list[dict[str, Any]]:
        """Return the same rows, with readings called by their words."""
        ledger = self.ledgers[self.tested(claim).paper]
        rows = self.under_readings(claim)
        return [
            row | {"reading": row["reading"] and ledger.reading(row["reading"])} for row in rows
        ]

    @cached_property
    def headlines(self) -> dict[str, str]:
        """The headline verdict of each judged claim."""
        return {row["claim"]: row["verdict"] for row in self.rows if row["headline"]}

    @cached_property
    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        return _by_claim(self.rows)

    def tested(self, claim: str) -> Claim:
        """Return the claim whose tests judge a claim: itself, or the target of an alias."""
        return show.stands_for(self.claims[claim], self.ledgers)

    def found(self, claim: str) -> list[dict[str, Any]]:
        """Return the findings of a claim's tests; for an alias, those of its target."""
        return self._found.get(self.tested(claim).id, [])

    @cached_property
    def _found(self) -> dict[str, list[dict[str, Any]]]:
        return _by_claim(self.findings)


def _by_claim(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["claim"], []).append(row)
    return found


def open_audit(results: str | Path) -> Audit | None:
    """Return the verdicts; None without ledgers, NotReady where they are missing or stale."""
    config = load_config([CONFIG])
    ledgers = load_ledgers(config)
    if not ledgers:
        return None
    folder = Path(results) / "audit"
    try:
        rows, scale, _ = read(folder / "verdicts.parquet", ledgers)
        findings = read(folder / "findings.parquet", ledgers, "findings").rows
    except StoreError as error:
        reason = str(error).partition("; ")[0]
        raise NotReady(f"{reason}; `make audit` makes it") from None
    if scale != "paper":
        files = (Path(results, one.dataset) for one in config.experiments)
        scale = scale_of(read_footer(file) for file in files if file.is_file())
    return Audit(ledgers, rows, findings, scale, Path(results))


def banner(audit: Audit | None) -> Html | None:
    """Return the notice above verdicts of another scale or of an exploratory run."""
    if audit is None:
        return None
    if audit.scale == "paper":
        said = exploratory_words(audit.seed) if audit.seed else ""
        exploratory = Html('<p class="fb-exploratory"><em>{}</em></p>')
        return exploratory.format(said) if said else None
    more = "A claim whose test asks for more replicates than there are has failed."
    return other_scale(audit.scale, Html("<p>{}</p>").format(more))


# ------------------------------------------------------------------------------ for reading


def badge(outcome: str, grade: str = "") -> Html:
    """Return a verdict as a coloured badge, with the grade of its evidence."""
    look = LOOKS.get(outcome, "open")
    shown = Html('<span class="fb-badge fb-{}">{}</span>').format(look, outcome)
    said = Html(' <small class="fb-grade" title="{}">{}</small>')
    return shown + said.format(GRADES[grade], grade) if grade else shown


def significant(value: float | None) -> str:
    """Return a number with about four significant digits; empty if there is none.

    Examples
    --------
    >>> significant(0.123456), significant(-1234.56), significant(3.0)
    ('0.1235', '−1\u202f235', '3')
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0 or (float(value).is_integer() and abs(value) < 1e12):
        return number(value)
    size = math.floor(math.log10(abs(value)))
    if -5 < size < 12:
        return number(value, max(0, DIGITS - 1 - size))
    digits, _, power = f"{value:.{DIGITS - 1}e}".partition("e")
    return f"{digits}·10^{int(power)}".replace("-", "−")


def limits(row: Row) -> str:
    """Return the limits of a row's number; empty where they equal the number."""
    return words.limits(row, significant)


def numbers(row: Row) -> str:
    """Return a verdict's number and limits; empty without a number."""
    if row["statistic"] is None:
        return ""
    value = significant(row["statistic"]) or "no number"
    return f"{value} ({limits(row)})" if limits(row) else value


def quantity_of(audit: Audit, row: Row) -> str:
    """Return the name and unit of a row's number; empty without a number."""
    tested = audit.tested(row["claim"])
    found = quantities.quantity_of(row, tested, audit.ledgers[tested.paper])
    return "" if found is None else str(found)


def number_of(audit: Audit, row: Row) -> str:
    """Return a row's number with its name, unit and limits; empty if it has none."""
    name, value = quantity_of(audit, row), numbers(row)
    return f"{name}: {value}" if name and value else value


def headline(audit: Audit, claim: str, *, always: bool = False) -> Html:
    """Return a claim's verdict as a badge, with its readings where they differ, or `always`."""
    rows = audit.in_words(claim)
    under = words.readings_in_words(rows)
    shown = badge(rows[0]["verdict"], rows[0]["grade"])
    return shown + " " + small(under) if under and (always or _depends(rows[0])) else shown


def _depends(row: Row) -> bool:
    return row["verdict"] == DEPENDS


def role(row: Row) -> str:
    """Return a claim's role in its paper."""
    roles = [name for name in ("primary", "exploratory") if row[name]]
    roles += [row["about"]] * (row["about"] != "text")
    return ", ".join(roles) or "other"


def figure_link(row: Row, page: str = "audit") -> str:
    """Return a link to the figure that a claim is about."""
    name, paper = row["figure"], row["paper"]
    short = name.removeprefix("fig")
    if not name:
        return ""
    here = Html('<a href="#{}">{}</a>').format(name, short)
    return here if page == paper else link(f"{paper}#{name}", short)


def _linked(row: Row) -> Html:
    """Return a claim's statement as a link to its page."""
    return link_to_claim(row["claim"], typeset(row["statement"]))


# -------------------------------------------------------------------------------- the whole


def _group(row: Row) -> str:
    """Return the tally's group of a claim; empty for claims outside all totals."""
    return "" if row["left_out"] else GROUPS[not row["primary"]]


def tally(audit: Audit | None) -> Html | None:
    """Return each paper's totals: primary claims, other claims; and of those left out."""
    if audit is None:
        return None
    there = {row["verdict"] for row in audit.rows if row["headline"] and _group(row)}
    outcomes = [one for one in OUTCOMES if one != FAILED or FAILED in there]
    groups: dict[str, list[list[Any]]] = {}
    for paper, ledger in audit.ledgers.items():
        rows = groups.setdefault(ledger.title, [])
        for group in GROUPS:
            own = [row for row in audit.of(paper) if _group(row) == group]
            found = show.tally(own)
            if own:
                counts = (_counted(found, one) for one in outcomes)
                rows.append([group, found.claims, found.printed, *counts])
    html = table(groups, ["", "claims", "on printed words", *outcomes], "tally")
    grades = "; ".join(f"{grade}: {when}" for grade, when in GRADES.items())
    html += Html("<p>Of each number, how many are of which grade. {}.</p>").format(grades)
    return html + _others(audit, outcomes)


def _counted(found: totals.Totals, outcome: str) -> Html | str:
    grades = found.grades.get(outcome, {})
    said = small(", ".join(f"{count} {grade}" for grade, count in grades.items()))
    count = found.counted.get(outcome, "")
    return Html("{}<br>{}").format(count, said) if grades else count


def _others(audit: Audit, outcomes: list[str]) -> Html:
    """Return the table of the claims that are in no total, by the reason."""
    groups: dict[str, list[list[Any]]] = {}
    for paper, ledger in audit.ledgers.items():
        for reason, plural in totals.LEFT_OUT.items():
            own = [row["verdict"] for row in audit.of(paper) if row["left_out"] == reason]
            if own:
                counts = (own.count(one) or "" for one in outcomes)
                groups.setdefault(ledger.title, []).append([plural, len(own), *counts])
    said = Html('<p id="left-out">Each finding is counted once. In no total are:</p>')
    return said + table(groups, ["", "claims", *outcomes], "others") if groups else Html()


def links(audit: Audit | None) -> Html | None:
    """Return links to the table of all claims and to the table of robustness."""
    if audit is None:
        return None
    return Html(
        "<p>{}: a table to sort and to filter, and a page for each claim with its evidence. "
        "{}: each verdict under every reading, and what rests on reconstructed numbers.</p>"
    ).format(link("claims", "All claims"), link("robustness", "Robustness"))


def consequential(audit: Audit | None) -> Html | None:
    """Return the primary claims not reproduced, then those open or reading-dependent.

    Claims that only restate others are left out, unless no primary claim stands for them.
    """
    if audit is None:
        return None
    primary = [row for row in audit.rows if row["headline"] and _group(row) == GROUPS[0]]
    titles = listed([ledger.short_title for ledger in audit.ledgers.values()])
    said = (
        f"{titles} stand{'s' * (len(audit.ledgers) == 1)} on {len(primary)} primary claims, each "
        "finding counted once. By the rules of the ledgers they are judged: "
        f"{listed(show.tally(primary).outcomes)}."
    )
    cells = [
        [
            _linked(row),
            headline(audit, row["claim"], always=True),
            audit.ledgers[row["paper"]].short_title,
            row["place"],
        ]
        for outcome in (NOT_REPRODUCED, DEPENDS, INCONCLUSIVE)
        for row in _not_reproduced(audit, outcome)
    ]
    shown: str = ""
    if cells:
        said += " Those that are not reproduced, those for which it depends on the reading, and "
        said += "those that are not decided, each with its evidence:"
        header = ["what is claimed", "verdict", "paper", "place"]
        shown = table({"": cells}, header, "consequential")
    return Html('<div class="fb-wrap"><p>{}</p>{}</div>').format(said, shown)


def _not_reproduced(audit: Audit, outcome: str) -> list[Row]:
    """Return primary claims with a verdict, no finding twice."""
    rows = [
        row
        for row in audit.rows
        if row["headline"] and row["primary"] and row["verdict"] == outcome
    ]
    chosen = [row for row in rows if _group(row) == GROUPS[0]]
    said = {row["claim"] for row in chosen}
    for row in rows:
        claim = audit.claims[row["claim"]]
        if row["left_out"] not in (totals.ALIAS, totals.JUDGED_BY_OTHERS) or (
            claim.about != "text"
        ):
            continue
        judges = claim.judged_by or (claim.alias_of,)
        found = {name for name in judges if audit.headlines[name] == outcome}
        if not found & said:
            chosen.append(row)
            said |= found
    order = {row["claim"]: place for place, row in enumerate(audit.rows)}
    return sorted(chosen, key=lambda row: order[row["claim"]])


# --------------------------------------------------------------------------- a paper's page


def summary(audit: Audit | None, paper: str) -> Html | None:
    """Return a paper's verdicts in short, for the paper's page."""
    if audit is None or paper not in audit.ledgers:
        return None
    rows = audit.of(paper)
    found = show.tally(rows)
    counted = listed(found.outcomes)
    without = f" ({found.left_out})" if found.left_out else ""
    short = audit.ledgers[paper].title.partition(":")[0]
    cells = [
        [
            _linked(row),
            headline(audit, row["claim"]),
            row["place"],
            figure_link(row, page=paper),
        ]
        for row in rows
        if row["primary"]
    ]
    header, name = ["what is claimed", "verdict", "place", "figure"], "verdict-table"
    head, *lines = criteria.in_words(criteria.met(audit.claims, rows, audit.findings))
    return Html(
        '<div class="fb-wrap"><p>Of {} claims that the audited text makes, {} of them on printed '
        "words, {}. Below are those that the paper stands on; {}.</p>{}"
        "<p>By other criteria of success, each where it can be asked of a claim:</p>{}</div>"
    ).format(
        found.claims,
        found.printed,
        counted + without,
        link(f"claims?paper={short}", "all of them, to sort and to filter"),
        folded(f"{len(cells)} claims that the paper stands on", table({"": cells}, header, name)),
        table({"": lines}, head, "criteria"),
    )


def about(audit: Audit | None, paper: str, figure: str, *claims: str) -> Html | None:
    """Return the claims about a figure, and those named, with verdict, number and objections."""
    if audit is None or paper not in audit.ledgers:
        return None
    own = audit.ledgers[paper].claims.values()
    keys = dict.fromkeys([*(one.id for one in own if figure and one.figure == figure), *claims])
    item = Html("<li>{}</li>")
    items = joined(item.format(_in_short(audit, key)) for key in keys if key in audit.headlines)
    return Html('<ul class="fb-about">{}</ul>').format(items)


def _in_short(audit: Audit, key: str) -> Html:
    row, *_ = rows = audit.in_words(key)
    shown = badge(row["verdict"], row["grade"]) + " " + _linked(row)
    said = words.readings_in_words(rows) if _depends(row) else number_of(audit, row)
    against = objections(audit, key)
    if said:
        shown += Html("<br>") + small(said)
    if against:
        count = f"{len(against)} further {'question' if len(against) == 1 else 'questions'}"
        summary = Html("<details><summary>{}</summary>{}</details>")
        lines = joined(map(small, map(typeset, against)), "<br>")
        shown += summary.format(small(f"But {count} came out otherwise"), lines)
    return shown


def objections(audit: Audit, key: str) -> list[str]:
    """Return a sentence for each test that qualifies a claim's verdict with another one."""
    tested, found = audit.tested(key), audit.found(key)
    other = {one["test"] for one in found if one["verdict"] != audit.headlines[key]}
    tests = tuple(one for one in tested.tests if one.name in other)
    return words.qualifying(replace(tested, tests=tests), found, significant)


def for_each_paper(audit: Audit | None, function: Callable[[Audit, str], Html]) -> Html | None:
    """Return the outputs of a function of audit and paper, one paper below the other."""
    return None if audit is None else joined(function(audit, paper) for paper in audit.ledgers)


# ------------------------------------------------------------------------- changes of the rules


def deviations(audit: Audit, paper: str) -> Html:
    """Return the changes of a paper's rules since they were first written down, oldest first."""
    ledger = audit.ledgers[paper]
    return render("deviations.html", ledger=ledger, all_claims=ALL_CLAIMS, formerly=FORMERLY)

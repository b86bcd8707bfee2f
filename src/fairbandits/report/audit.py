"""Verdicts on pages: badges, numbers in words, tables and the tally."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from IPython.display import HTML

from fairbandits.audit import quantities, show, totals, words
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OUTCOMES,
    REPRODUCED,
)
from fairbandits.audit.ledger import Claim, Ledger, load_ledgers
from fairbandits.audit.records import read_verdicts
from fairbandits.audit.run import chosen_seed, exploratory_words
from fairbandits.data.store import StoreError, read_footer
from fairbandits.report.pages import (
    CONFIG,
    NotReady,
    link,
    link_to_claim,
    listed,
    number,
    other_scale,
    scale_of,
    table,
)
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
        rows, scale = read_verdicts(folder / "verdicts.parquet", ledgers)
        findings, _ = read_verdicts(folder / "findings.parquet", ledgers, "findings")
    except StoreError as error:
        reason = str(error).partition("; ")[0]
        raise NotReady(f"{reason}; `make audit` makes it") from None
    if scale != "paper":
        files = (Path(results, one.dataset) for one in config.experiments)
        scale = scale_of(read_footer(file) for file in files if file.is_file())
    return Audit(ledgers, rows, findings, scale, Path(results))


def banner(audit: Audit | None) -> HTML | None:
    """Return the notice above verdicts of another scale or of an exploratory run."""
    if audit is None:
        return None
    if audit.scale == "paper":
        said = exploratory_words(audit.seed) if audit.seed else ""
        return HTML(f'<p class="fb-exploratory"><em>{escape(said)}</em></p>') if said else None
    more = "<p>A claim whose test asks for more replicates than there are has failed.</p>"
    return other_scale(audit.scale, more)


# ------------------------------------------------------------------------------ for reading


def badge(outcome: str) -> str:
    """Return a verdict as a coloured badge."""
    look = LOOKS.get(outcome, "open")
    return f'<span class="fb-badge fb-{look}">{escape(outcome)}</span>'


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


def quantity_of(audit: Audit, row: Row) -> str:
    """Return the name and unit of a row's number; empty without a number."""
    tested = audit.tested(row["claim"])
    found = quantities.quantity_of(row, tested, audit.ledgers[tested.paper])
    return "" if found is None else str(found)


def _group(row: Row) -> str:
    """Return the tally's group of a claim; empty for claims outside all totals."""
    return "" if row["left_out"] else GROUPS[not row["primary"]]


def _left_out(rows: Iterable[Row], name: str = "") -> str:
    """Return a paragraph that counts the claims outside all totals."""
    others = show.tally(rows).left_out
    if not others:
        return ""
    identity = f' id="{name}"' if name else ""
    return f"<p{identity}>Each finding is counted once; {escape(others)}.</p>"


def headline(audit: Audit, claim: str) -> str:
    """Return a claim's verdict as a badge, with those of its readings where they differ."""
    head, *others = audit.in_words(claim)
    if head["verdict"] != DEPENDS or not others:
        return badge(head["verdict"])
    return f"{badge(DEPENDS)} <small>{escape(words.readings_in_words([head, *others]))}</small>"


def _marked(audit: Audit, claim: str) -> str:
    """Return a verdict as a badge with the readings that it holds under."""
    rows = audit.in_words(claim)
    if rows[0]["verdict"] == DEPENDS:
        return headline(audit, claim)
    under = words.readings_in_words(rows)
    return badge(rows[0]["verdict"]) + (f" <small>{escape(under)}</small>" if under else "")


def numbers(row: Row) -> str:
    """Return a verdict's number, limits and replicates in words, as HTML."""
    if row["statistic"] is None:
        return ""
    value = significant(row["statistic"]) or "no number"
    return f"{value} ({limits(row)})" if limits(row) else value


# -------------------------------------------------------------------------------- the whole


def tally(audit: Audit | None) -> HTML | None:
    """Return each paper's totals: primary claims, other claims, claims left out."""
    if audit is None:
        return None
    there = {row["verdict"] for row in audit.rows if row["headline"] and _group(row)}
    outcomes = [one for one in OUTCOMES if one != FAILED or FAILED in there]
    groups = {}
    for paper, ledger in audit.ledgers.items():
        rows = []
        for group in GROUPS:
            own = [row for row in audit.of(paper) if _group(row) == group]
            found = show.tally(own)
            if own:
                counts = (found.counted.get(one, "") for one in outcomes)
                rows.append([group, found.claims, found.printed, *counts])
        groups[escape(ledger.title)] = [[str(cell) for cell in row] for row in rows]
    html = table(groups, ["", "claims", "on printed words", *outcomes], "tally").data
    return HTML(html + _left_out(audit.rows, "left-out"))


def links(audit: Audit | None) -> HTML | None:
    """Return links to the table of all claims and to the table of robustness."""
    if audit is None:
        return None
    return HTML(
        f"<p>{link('claims', 'All claims')}: a table to sort and to filter, and a page for each "
        f"claim with its evidence. {link('robustness', 'Robustness')}: each verdict under every "
        "reading, and what rests on reconstructed numbers.</p>"
    )


def consequential(audit: Audit | None) -> HTML | None:
    """Return the primary claims not reproduced, then those open or reading-dependent.

    Claims that only restate others are left out, unless no primary claim stands for them.
    """
    if audit is None:
        return None
    primary = [row for row in audit.rows if row["headline"] and _group(row) == GROUPS[0]]
    counts = show.tally(primary).counted
    names = listed([ledger.short_title for ledger in audit.ledgers.values()])
    verb = "stand" if len(audit.ledgers) > 1 else "stands"
    counted = listed([f"{count} {outcome}" for outcome, count in counts.items()])
    said = (
        f"{escape(names)} {verb} on {len(primary)} primary claims, each finding counted once. By "
        f"the rules of the ledgers they are judged: {counted}."
    )
    cells = [
        [
            link_to_claim(row["claim"], escape(row["statement"])),
            _marked(audit, row["claim"]),
            escape(audit.ledgers[row["paper"]].short_title),
            escape(row["place"]),
        ]
        for outcome in (NOT_REPRODUCED, DEPENDS, INCONCLUSIVE)
        for row in _not_reproduced(audit, outcome)
    ]
    if not cells:
        return HTML(f'<div class="fb-wrap"><p>{said}</p></div>')
    said += " Those that are not reproduced, those for which it depends on the reading, and those "
    said += "that are not decided, each with its evidence:"
    header = ["what is claimed", "verdict", "paper", "place"]
    html = f"<p>{said}</p>" + table({"": cells}, header, "consequential").data
    return HTML(f'<div class="fb-wrap">{html}</div>')


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
        if row["left_out"] not in (totals.ALIAS, totals.JUDGED_BY_OTHERS) or claim.extension:
            continue
        found = {
            name
            for name in (claim.judged_by or (claim.alias_of,))
            if audit.under_readings(name)[0]["verdict"] == outcome
        }
        if not found & said:
            chosen.append(row)
            said |= found
    order = {row["claim"]: place for place, row in enumerate(audit.rows)}
    return sorted(chosen, key=lambda row: order[row["claim"]])


def summary(audit: Audit | None, paper: str) -> HTML | None:
    """Return a paper's verdicts in short, for the paper's page."""
    if audit is None or paper not in audit.ledgers:
        return None
    rows = audit.of(paper)
    found = show.tally(rows)
    counted = listed([f"{count} {outcome}" for outcome, count in found.counted.items()])
    without = f" ({found.left_out})" if found.left_out else ""
    primary = [row for row in rows if row["primary"]]
    html = (
        f"<p>Of {found.claims} claims that the audited text makes, {found.printed} of them on "
        f"printed words, {counted}{without}. Below are those that the paper stands on; "
        f"{link(f'claims?paper={_short(audit, paper)}', 'all of them, to sort and to filter')}.</p>"
    )
    cells = [
        [
            link_to_claim(row["claim"], escape(row["statement"])),
            headline(audit, row["claim"]),
            escape(row["place"]),
            figure_link(row, page=paper),
        ]
        for row in primary
    ]
    header = ["what is claimed", "verdict", "place", "figure"]
    html += table({"": cells}, header, "verdict-table").data
    return HTML(f'<div class="fb-wrap">{html}</div>')


def _short(audit: Audit, paper: str) -> str:
    """Return the first words of a paper's title."""
    return audit.ledgers[paper].title.partition(":")[0]


def figure_link(row: Row, page: str = "audit") -> str:
    """Return a link to the figure that a claim is about."""
    name, paper = row["figure"], row["paper"]
    if not name:
        return ""
    short = name.removeprefix("fig")
    if page == paper:
        return f'<a href="#{name}">{short}</a>'
    return link(f"{paper}#{name}", short)


def role(row: Row) -> str:
    """Return a claim's role in its paper."""
    roles = [name for name in ("primary", "extension", "exploratory") if row[name]]
    return ", ".join(roles) or "other"


def under_each_reading(audit: Audit, claim: Claim) -> str:
    """Return the verdicts under the readings of a claim, each with its readings."""
    under = words.under_readings(audit.in_words(claim.id))
    return "; ".join(
        f"{badge(outcome)} {escape(', '.join(names))}" for outcome, names in under.items()
    )


def for_each_paper(audit: Audit | None, function: Callable[[Audit, str], HTML]) -> HTML | None:
    """Return the outputs of a function of audit and paper, one paper below the other."""
    if audit is None:
        return None
    return HTML("".join(function(audit, paper).data for paper in audit.ledgers))

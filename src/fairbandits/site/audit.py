"""Verdicts on the pages: tables, a block for each claim, and the tally."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML

from fairbandits.audit import show, totals, words
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    OF_INCONSISTENCY,
    OUTCOMES,
    REPRODUCED,
    TAGS,
)
from fairbandits.audit.ledger import Claim, Ledger, load_ledgers
from fairbandits.audit.procedures import STATISTICS
from fairbandits.audit.records import in_short, read_verdicts
from fairbandits.audit.run import chosen_seed, exploratory_words
from fairbandits.experiments.config import load_config
from fairbandits.site.evidence import picture
from fairbandits.site.pages import (
    CONFIG,
    NotReady,
    link,
    link_to_claim,
    listed,
    number,
    searchable,
    shown,
    table,
)
from fairbandits.store import StoreError

Row = Mapping[str, Any]

#: How a verdict looks: good, bad, or neither.
LOOKS = {REPRODUCED: "good", NOT_REPRODUCED: "off", FAILED: "failed"}
#: Significant digits of a number for reading.
DIGITS = 4
#: What a group of claims is called in the tally.
GROUPS = ("primary", "others", "exploratory, or of another version")


@dataclass(frozen=True)
class Audit:
    """The verdicts of all papers that have a ledger.

    Attributes
    ----------
    ledgers : dict of str to Ledger
        Paper -> ledger.
    rows, findings : list of dict
        Of verdicts, and of the questions behind them.
    scale : str
        Of the datasets, ``paper`` or ``smoke``.
    results : Path
        Folder of the results.
    """

    ledgers: dict[str, Ledger]
    rows: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    scale: str
    results: Path

    @property
    def seed(self) -> str:
        """The seed that was chosen for the datasets; empty where it follows from the ledgers."""
        return chosen_seed(self.rows)

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """All claims by their ids."""
        return {key: one for ledger in self.ledgers.values() for key, one in ledger.claims.items()}

    def of(self, paper: str) -> list[dict[str, Any]]:
        """Return the headlines of a paper."""
        return [row for row in self.rows if row["headline"] and row["paper"] == paper]

    def under_readings(self, claim: str) -> list[dict[str, Any]]:
        """Return the verdicts on a claim: its headline, then those under each of several."""
        return self._rows[claim]

    @cached_property
    def headlines(self) -> dict[str, str]:
        """The verdict on each claim that has one."""
        return {row["claim"]: row["verdict"] for row in self.rows if row["headline"]}

    @cached_property
    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        return _by_claim(self.rows)

    def tested(self, claim: str) -> Claim:
        """Return the claim whose tests are those of a claim: itself, unless it is an alias."""
        return show.stands_for(self.claims[claim], self.ledgers)

    def found(self, claim: str) -> list[dict[str, Any]]:
        """Return what the questions of a claim found; of an alias those of what it stands for."""
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
    """Return the verdicts, made by the present code and rules; None without any ledger.

    Raises
    ------
    NotReady
        If they are missing or stale, with the way out.
    """
    ledgers = load_ledgers(load_config([CONFIG]))
    if not ledgers:
        return None
    folder = Path(results) / "audit"
    try:
        rows, scale = read_verdicts(folder / "verdicts.parquet", ledgers)
        findings, _ = read_verdicts(folder / "findings.parquet", ledgers, "findings")
    except StoreError as error:
        reason = str(error).partition("; ")[0]
        raise NotReady(f"{reason}; `make audit` makes it") from None
    return Audit(ledgers, rows, findings, scale, Path(results))


def banner(audit: Audit | None) -> HTML | None:
    """Return what is said first of verdicts of a small run, or of an exploratory one."""
    if audit is None:
        return None
    if audit.scale == "paper":
        said = exploratory_words(audit.seed) if audit.seed else ""
        return HTML(f'<p class="fb-exploratory"><em>{escape(said)}</em></p>') if said else None
    return HTML(
        '<div class="fb-smoke" role="alert" style="border: 3px solid #c00; padding: 1em">'
        '<p class="fb-smoke-title" style="font-size: 1.6em"><strong>smoke scale: not results'
        "</strong></p><p>The runs behind these verdicts are small ones, to test the machinery. "
        "They say nothing about the papers; a claim whose test asks for more replicates has failed."
        "</p></div>"
    )


# ------------------------------------------------------------------------------ for reading


def badge(outcome: str) -> str:
    """Return a verdict on its colour."""
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
    """Return the limits of a row's number; empty where they are the number itself."""
    return words.limits(row, significant)


def _here(claim: str, html: str) -> str:
    """Return a link to a claim's block on the audit's own page."""
    return f'<a href="#claim-{claim}">{html}</a>'


def _group(row: Row) -> str:
    """Return which group of the tally a claim is counted in; empty if it is in no total."""
    if row["left_out"]:
        return ""
    if row["extension"] or row["exploratory"]:
        return GROUPS[2]
    return GROUPS[0] if row["primary"] else GROUPS[1]


def _left_out(rows: Iterable[Row], name: str = "") -> str:
    """Return a paragraph on which of some claims are in no total."""
    others = totals.left_out_in_words(show.tally(rows)[1])
    if not others:
        return ""
    identity = f' id="{name}"' if name else ""
    return f"<p{identity}>Each finding is counted once; {escape(others)}.</p>"


def headline(audit: Audit, claim: str) -> str:
    """Return a claim's verdict on its colour, with those of its readings where they differ."""
    head, *others = audit.under_readings(claim)
    if head["verdict"] != DEPENDS or not others:
        return badge(head["verdict"])
    return f"{badge(DEPENDS)} <small>{escape(words.readings_in_words([head, *others]))}</small>"


def _marked(audit: Audit, claim: str) -> str:
    """Return a verdict with the readings that it holds under."""
    rows = audit.under_readings(claim)
    if rows[0]["verdict"] == DEPENDS:
        return headline(audit, claim)
    under = words.readings_in_words(rows)
    return badge(rows[0]["verdict"]) + (f" <small>{escape(under)}</small>" if under else "")


def numbers(row: Row) -> str:
    """Return what a verdict rests on in words, as HTML: number, limits, replicates."""
    if row["statistic"] is None:
        return ""
    value = significant(row["statistic"]) or "no number"
    return f"{value} ({limits(row)})" if limits(row) else value


# -------------------------------------------------------------------------------- the whole


def tally(audit: Audit | None) -> HTML | None:
    """Return how many claims of each paper have which verdict, and how many are left out."""
    if audit is None:
        return None
    there = {row["verdict"] for row in audit.rows if row["headline"] and _group(row)}
    outcomes = [one for one in OUTCOMES if one != FAILED or FAILED in there]
    groups = {}
    for paper, ledger in audit.ledgers.items():
        rows = []
        for group in GROUPS:
            own = [row for row in audit.of(paper) if _group(row) == group]
            counts, _ = show.tally(own)
            if own:
                rows.append([group, len(own), *(counts.get(one, "") for one in outcomes)])
        groups[escape(ledger.title)] = [[str(cell) for cell in row] for row in rows]
    html = table(groups, ["", "claims", *outcomes], "tally").data
    return HTML(html + _left_out(audit.rows, "left-out"))


def consequential(audit: Audit | None) -> HTML | None:
    """Return the primary claims that are not reproduced, then those that are not decided.

    None is there beside a claim that judges it; where these are not primary it stands for them.
    """
    if audit is None:
        return None
    primary = [row for row in audit.rows if row["headline"] and _group(row) == GROUPS[0]]
    counts, _ = show.tally(primary)
    names = listed([ledger.title.partition(":")[0] for ledger in audit.ledgers.values()])
    verb = "stand" if len(audit.ledgers) > 1 else "stands"
    counted = listed([f"{count} {outcome}" for outcome, count in counts.items()])
    said = (
        f"{escape(names)} {verb} on {len(primary)} claims, each finding counted once. By the rules "
        f"of the ledgers they are judged: {counted}."
    )
    cells = [
        [
            link_to_claim(row["claim"], escape(row["statement"])),
            _marked(audit, row["claim"]),
            escape(audit.ledgers[row["paper"]].title.partition(":")[0]),
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
    """Return a paper's verdicts in short, for its own page."""
    if audit is None or paper not in audit.ledgers:
        return None
    rows = audit.of(paper)
    counts, others = show.tally(rows)
    counted = listed([f"{count} {outcome}" for outcome, count in counts.items()])
    without = totals.left_out_in_words(others)
    primary = [row for row in rows if row["primary"]]
    html = (
        f"<p>Of {sum(counts.values())} claims, {counted}{f' ({without})' if without else ''}. "
        "Below are those that the paper stands on; "
        f"{link(f'audit#verdicts-{paper}', 'all of them, with rules and evidence')}.</p>"
    )
    cells = [
        [
            link_to_claim(row["claim"], escape(row["statement"])),
            headline(audit, row["claim"]),
            escape(row["place"]),
            _figure_link(row, page=paper),
        ]
        for row in primary
    ]
    header = ["what is claimed", "verdict", "place", "figure"]
    html += table({"": cells}, header, "verdicts").data
    return HTML(f'<div class="fb-wrap">{html}</div>')


def _figure_link(row: Row, page: str = "audit") -> str:
    """Return a link to the figure that shows a claim."""
    name, paper = row["figure"], row["paper"]
    if not name:
        return ""
    short = name.removeprefix("fig")
    if page == paper:
        return f'<a href="#{name}">{short}</a>'
    return link(f"{paper}#{name}", short)


def verdicts(audit: Audit, paper: str) -> HTML:
    """Return all verdicts of a paper, to sort and to filter."""
    rows = audit.of(paper)
    frame = pd.DataFrame(
        {
            "claim": _here(row["claim"], escape(row["claim"])),
            "statement": escape(row["statement"]),
            "place": escape(row["place"]),
            "kind": row["kind"],
            "role": _role(row),
            "verdict": headline(audit, row["claim"]),
            "number": numbers(row),
            "n": "" if row["n"] is None else str(row["n"]),
        }
        for row in rows
    )
    html = _left_out(rows)
    html += searchable(frame, f"verdicts-{paper}", [17, 23, 12, 11, 9, 12, 12, 4], html=True).data
    title = escape(audit.ledgers[paper].title)
    return HTML(f"<h3>{title}</h3>{html}")


def _role(row: Row) -> str:
    roles = [name for name in ("primary", "extension", "exploratory") if row[name]]
    return ", ".join(roles) or "other"


# ---------------------------------------------------------------------------- claim by claim


def primary(audit: Audit, paper: str) -> HTML:
    """Return a block for each claim that a paper stands on."""
    own = [row for row in audit.of(paper) if row["primary"]]
    blocks = "".join(
        f'<section class="fb-claim">{_block(audit, row, True)}</section>' for row in own
    )
    return HTML(f"<h3>{escape(audit.ledgers[paper].title)}</h3>{blocks}")


def others(audit: Audit, paper: str) -> HTML:
    """Return a folded block for each other claim of a paper."""
    own = [row for row in audit.of(paper) if not row["primary"]]
    blocks = "".join(
        f'<details class="fb-claim"><summary>{badge(row["verdict"])} '
        f"{escape(row['statement'])}</summary>{_block(audit, row, False)}</details>"
        for row in own
    )
    return HTML(f"<h3>{escape(audit.ledgers[paper].title)}</h3>{blocks}")


def _block(audit: Audit, row: Row, whole: bool) -> str:
    """Return what is known of a claim, with a picture; `whole` with its statement."""
    claim = audit.claims[row["claim"]]
    # a link to it opens the block that it is in
    head = (
        f'<p class="fb-claim-id" id="claim-{claim.id}"><code>{claim.id}</code> '
        f"{escape(claim.place)}</p>"
    )
    if whole:
        head += (
            f'<p class="fb-statement"><strong>{escape(claim.statement)}</strong> '
            f"{headline(audit, claim.id)}</p>"
        )
    facts = _facts(audit, claim, row)
    cells = "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in facts)
    # an alias leads to the picture of what it stands for
    image = picture(claim.id, audit.found(claim.id)) if claim.tests else ""
    return f"{head}<dl>{cells}</dl>{image}{_record(claim, audit.ledgers[claim.paper])}"


def _record(claim: Claim, ledger: Ledger) -> str:
    """Return the record of a claim as it is judged, folded."""
    record = words.record(claim, ledger)
    if not record:
        return ""
    return (
        '<details class="fb-record"><summary>The record as it is judged</summary>'
        f"<pre>{escape(record)}</pre></details>"
    )


def _facts(audit: Audit, claim: Claim, row: Row) -> list[tuple[str, str]]:
    """Return what is said of a claim beside its statement: names, and HTML."""
    facts = []
    if row["message"]:
        facts.append(("failed", escape(row["message"])))
    if claim.untestable:
        facts.append(("no verdict", escape(claim.untestable)))
    if claim.alias_of:
        facts.append(("same as", _here(claim.alias_of, escape(claim.alias_of))))
    if claim.between:
        facts.append(("between", escape("; ".join(claim.between))))
    if claim.kind == "inconsistency" and row["verdict"] in OF_INCONSISTENCY:
        facts.append(("that is", escape(OF_INCONSISTENCY[row["verdict"]])))
    if claim.judged_by:
        facts.append(("judged by", ", ".join(_judge(audit, one) for one in claim.judged_by)))
        facts.append(("rule", "reproduced if all of these are, not reproduced if one is not"))
    if bases := [one for one in claim.rests_on if one in audit.headlines]:
        facts.append(("rests on", ", ".join(_judge(audit, one) for one in bases)))
    if row["statistic"] is not None:
        facts += _evidence(row)
    sentences = words.qualifying(audit.tested(claim.id), audit.found(claim.id), significant)
    if sentences:
        facts.append(("qualified by", "<br>".join(map(escape, sentences))))
    if claim.estimand:
        facts.append(("estimand", escape(claim.estimand)))
    if claim.basis != "printed":
        facts.append(("basis", escape(words.basis(claim))))
    if len(audit.under_readings(claim.id)) > 1:
        facts.append(("readings", under_each_reading(audit, claim)))
    facts += [(tag, escape(said)) for tag, said in _tags(audit.under_readings(claim.id)).items()]
    if claim.note:
        facts.append(("note", escape(claim.note)))
    if row["figure"]:
        facts.append(("figure", _figure_link(row)))
    if row["data"]:
        files = in_short(row["data"])
        places = [f"<code>{escape(shown(audit.results / file))}</code>" for file in files]
        facts.append(("data", ", ".join(places)))
    return facts


def _tags(rows: Sequence[Row]) -> dict[str, str]:
    """Return what the tags of a claim say; of those that only some readings have, which."""
    head, *others = rows
    found = {tag: TAGS[tag] for tag in head["tags"]}
    for tag in dict.fromkeys(tag for row in others for tag in row["tags"]):
        under = [row["reading"].replace("_", " ") for row in others if tag in row["tags"]]
        found.setdefault(tag, f"{TAGS[tag]} (under {', '.join(under)})")
    return found


def _judge(audit: Audit, claim: str) -> str:
    return f"{_here(claim, escape(claim))} {headline(audit, claim)}"


def _evidence(row: Row) -> list[tuple[str, str]]:
    """Return number, replicates and rule of what decides."""
    said = f"{STATISTICS[row['procedure']]} {significant(row['statistic']) or 'not to be had'}"
    level = row["settings"].get("level")
    if limits(row):
        kind = "interval" if row["procedure"] == "prediction_interval" else "one-sided limits"
        said += f", {100 * level:g} % {kind}: {limits(row)}" if level else f", {limits(row)}"
    why = words.endless(row)
    said += f" ({why})" if why else ""
    against = ", ".join(
        f"{name} {show.number(value) or 'none'}" if name != "zero" else "0"
        for name, value in row["against"].items()
    )
    n = f"{row['n']}" + ("" if row["p"] is None else f"; p {_p(row['p'])}")
    n += f"; {enough}" if (enough := words.replicates_that_decide(row)) else ""
    which = "".join(f", {row[name]}" for name in ("test", "each") if row[name])
    rule = f"{row['rule']}, version {row['rule_version']} ({row['procedure']}){which}"
    return [
        ("number", escape(said).replace(" %", "\u00a0%")),
        ("judged against", escape(against)),
        ("n", escape(n)),
        ("rule", escape(rule.replace("_", " "))),
    ]


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"= {value:.2g}"


def under_each_reading(audit: Audit, claim: Claim) -> str:
    """Return the verdicts under the readings of a claim, each with its readings."""
    under = words.under_readings(audit.under_readings(claim.id))
    return "; ".join(
        f"{badge(outcome)} {escape(', '.join(names).replace('_', ' '))}"
        for outcome, names in under.items()
    )


# -------------------------------------------------------------------------- what is left open


def readings(audit: Audit, paper: str) -> HTML:
    """Return the verdicts under each reading of what a paper leaves open."""
    ledger = audit.ledgers[paper]
    groups = {}
    for claim in ledger.claims.values():
        head, *rows = audit.under_readings(claim.id)
        if rows and not claim.alias_of:
            heading = f"{escape(claim.statement)} {_here(claim.id, escape(claim.place))}"
            if head["verdict"] == DEPENDS:
                heading += f" {badge(DEPENDS)}"
            groups[heading] = [
                [
                    escape(ledger.readings.get(row["reading"], row["reading"])),
                    badge(row["verdict"]),
                    numbers(row),
                    "" if row["n"] is None else str(row["n"]),
                ]
                for row in rows
            ]
    title = f"<h3>{escape(ledger.title)}</h3>"
    if not groups:
        return HTML(f"{title}<p>No claim has more than one reading.</p>")
    header = ["reading", "verdict", "number", "n"]
    return HTML(title + table(groups, header, f"readings-{paper}").data)


def inconsistencies(audit: Audit, paper: str) -> HTML:
    """Return where a paper contradicts itself, and what the runs say of it."""
    rows = [row for row in audit.of(paper) if row["kind"] == "inconsistency"]
    cells = [
        [
            _here(row["claim"], escape(row["statement"])),
            escape("; ".join(audit.claims[row["claim"]].between)),
            headline(audit, row["claim"]),
        ]
        for row in rows
    ]
    title = f"<h3>{escape(audit.ledgers[paper].title)}</h3>"
    if not cells:
        return HTML(f"{title}<p>None was found.</p>")
    header = ["what does not agree", "between", "verdict"]
    wide = table({"": cells}, header, f"inconsistencies-{paper}").data
    return HTML(f'{title}<div class="fb-wrap">{wide}</div>')


def for_each_paper(audit: Audit | None, function: Callable[[Audit, str], HTML]) -> HTML | None:
    """Return what a function of audit and paper gives for each paper, below each other."""
    if audit is None:
        return None
    return HTML("".join(function(audit, paper).data for paper in audit.ledgers))

"""Verdicts on the pages: tables, a block for each claim, and the tally."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML

from fairbandits.audit import show
from fairbandits.audit.finding import (
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
from fairbandits.site.pages import CONFIG, NotReady, listed, number, searchable, shown, table
from fairbandits.store import StoreError

Row = Mapping[str, Any]

#: How a verdict looks: good, bad, or neither.
LOOKS = {REPRODUCED: "good", NOT_REPRODUCED: "off", FAILED: "failed"}
#: Significant digits of a number for reading.
DIGITS = 4
#: What a group of claims is called in the tally.
GROUPS = ("primary", "others", "inconsistencies", "exploratory, or of another version")


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
        """Return the verdicts on a claim, one for each reading."""
        return [row for row in self.rows if row["claim"] == claim]

    def found(self, claim: str) -> list[dict[str, Any]]:
        """Return what the questions of a claim found; of an alias those of what it stands for."""
        own = self.claims[claim].alias_of or claim
        return [one for one in self.findings if one["claim"] == own]


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
        words = exploratory_words(audit.seed) if audit.seed else ""
        return HTML(f'<p class="fb-exploratory"><em>{escape(words)}</em></p>') if words else None
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
    low, high = row["low"], row["high"]
    if low is None or math.isnan(low) or low == high:
        return ""
    return f"{significant(low)} to {significant(high)}"


def _here(claim: str, words: str) -> str:
    """Return a link to a claim's block on the audit's own page; words are HTML."""
    return f'<a href="#claim-{claim}">{words}</a>'


def _there(claim: str, words: str) -> str:
    """Return the same from another page."""
    return f'<a data-page="audit#claim-{claim}" href="audit.ipynb#claim-{claim}">{words}</a>'


def _group(row: Row) -> str:
    """Return which group of the tally a claim is counted in."""
    if row["kind"] == "inconsistency":
        return GROUPS[2]
    if row["extension"] or row["exploratory"]:
        return GROUPS[3]
    return GROUPS[0] if row["primary"] else GROUPS[1]


def _numbers(row: Row) -> str:
    """Return what a verdict rests on in words, as HTML: number, limits, replicates."""
    if row["statistic"] is None:
        return ""
    words = significant(row["statistic"]) or "no number"
    return f"{words} ({limits(row)})" if limits(row) else words


# -------------------------------------------------------------------------------- the whole


def tally(audit: Audit | None) -> HTML | None:
    """Return how many claims of each paper have which verdict."""
    if audit is None:
        return None
    there = {row["verdict"] for row in audit.rows}
    outcomes = [one for one in OUTCOMES if one != FAILED or FAILED in there]
    groups = {}
    for paper, ledger in audit.ledgers.items():
        rows = []
        for group in GROUPS:
            own = [row for row in audit.of(paper) if _group(row) == group]
            counts = show.tally(own)
            if own:
                rows.append([group, len(own), *(counts.get(one, "") for one in outcomes)])
        groups[escape(ledger.title)] = [[str(cell) for cell in row] for row in rows]
    return table(groups, ["", "claims", *outcomes], "tally")


def consequential(audit: Audit | None) -> HTML | None:
    """Return the primary claims that are not reproduced, then those that are inconclusive."""
    if audit is None:
        return None
    primary = [row for row in audit.rows if row["headline"] and _group(row) == GROUPS[0]]
    counts = show.tally(primary)
    names = listed([ledger.title.partition(":")[0] for ledger in audit.ledgers.values()])
    verb = "stand" if len(audit.ledgers) > 1 else "stands"
    counted = listed([f"{count} {outcome}" for outcome, count in counts.items()])
    words = (
        f"{escape(names)} {verb} on {len(primary)} claims. By the rules that were fixed "
        f"beforehand, they are judged: {counted}."
    )
    cells = [
        [
            _there(row["claim"], escape(row["statement"])),
            badge(row["verdict"]),
            escape(audit.ledgers[row["paper"]].title.partition(":")[0]),
            escape(row["place"]),
        ]
        for outcome in (NOT_REPRODUCED, INCONCLUSIVE)
        for row in primary
        if row["verdict"] == outcome
    ]
    if cells:
        words += " Those that are not reproduced, and then those that are not decided, each with "
        words += "its evidence:"
    html = f"<p>{words}</p>"
    if cells:
        header = ["what is claimed", "verdict", "paper", "place"]
        html += table({"": cells}, header, "consequential").data
    return HTML(f'<div class="fb-wrap">{html}</div>')


def summary(audit: Audit | None, paper: str) -> HTML | None:
    """Return a paper's verdicts in short, for its own page."""
    if audit is None or paper not in audit.ledgers:
        return None
    rows = audit.of(paper)
    counts = [f"{count} {outcome}" for outcome, count in show.tally(rows).items()]
    primary = [row for row in rows if row["primary"]]
    html = (
        f"<p>Of {len(rows)} claims, {listed(counts)}. Below are those that the paper stands on; "
        f'<a data-page="audit#verdicts-{paper}" href="audit.ipynb#verdicts-{paper}">all of them, '
        "with rules and evidence</a>.</p>"
    )
    cells = [
        [
            _there(row["claim"], escape(row["statement"])),
            badge(row["verdict"]),
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
    there = f'data-page="{paper}#{name}" href="{paper}.ipynb#{name}"'
    link = f'href="#{name}"' if page == paper else there
    return f"<a {link}>{name.removeprefix('fig')}</a>"


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
            "verdict": badge(row["verdict"]),
            "number": _numbers(row),
            "n": "" if row["n"] is None else str(row["n"]),
        }
        for row in rows
    )
    html = searchable(frame, f"verdicts-{paper}", [17, 23, 12, 11, 9, 12, 12, 4], html=True).data
    title = escape(audit.ledgers[paper].title)
    return HTML(f"<h3>{title}</h3>{html}")


def _role(row: Row) -> str:
    roles = [name for name in ("primary", "extension", "exploratory") if row[name]]
    return ", ".join(roles) or "other"


# ---------------------------------------------------------------------------- claim by claim


def primary(audit: Audit, paper: str) -> HTML:
    """Return a block for each claim that a paper stands on, with a picture of its evidence."""
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
    """Return what is known of a claim; `whole` with its statement and a picture."""
    claim = audit.claims[row["claim"]]
    # a link to it opens the block that it is in
    head = (
        f'<p class="fb-claim-id" id="claim-{claim.id}"><code>{claim.id}</code> '
        f"{escape(claim.place)}</p>"
    )
    if whole:
        head += (
            f'<p class="fb-statement"><strong>{escape(claim.statement)}</strong> '
            f"{badge(row['verdict'])}</p>"
        )
    facts = _facts(audit, claim, row)
    cells = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in facts)
    image = picture(claim.id, audit.found(claim.id)) if whole else ""
    return f"{head}<dl>{cells}</dl>{image}"


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
    if row["statistic"] is not None:
        facts += _evidence(row)
    if claim.estimand:
        facts.append(("estimand", escape(claim.estimand)))
    if len(audit.under_readings(claim.id)) > 1:
        facts.append(("readings", _under_readings(audit, claim)))
    facts += [(tag, escape(TAGS[tag])) for tag in row["tags"]]
    if claim.note:
        facts.append(("note", escape(claim.note)))
    if row["figure"]:
        facts.append(("figure", _figure_link(row)))
    if row["data"]:
        files = in_short(row["data"])
        places = [f"<code>{escape(shown(audit.results / file))}</code>" for file in files]
        facts.append(("data", ", ".join(places)))
    return facts


def _judge(audit: Audit, claim: str) -> str:
    (headline, *_) = audit.under_readings(claim)
    return f"{_here(claim, escape(claim))} {badge(headline['verdict'])}"


def _evidence(row: Row) -> list[tuple[str, str]]:
    """Return number, replicates and rule of what decides."""
    words = f"{STATISTICS[row['procedure']]} {significant(row['statistic']) or 'not to be had'}"
    level = row["settings"].get("level")
    if limits(row):
        kind = "interval" if row["procedure"] == "prediction_interval" else "one-sided limits"
        words += f", {100 * level:g} % {kind} {limits(row)}" if level else f", {limits(row)}"
    against = ", ".join(
        f"{name} {value:.{DIGITS}g}" if name != "zero" else "0"
        for name, value in row["against"].items()
    )
    n = f"{row['n']}" + ("" if row["p"] is None else f"; p {_p(row['p'])}")
    which = "".join(f", {row[name]}" for name in ("test", "each") if row[name])
    rule = f"{row['rule']}, version {row['rule_version']} ({row['procedure']}){which}"
    return [
        ("number", escape(words).replace(" %", "\u00a0%")),
        ("judged against", escape(against)),
        ("n", escape(n)),
        ("rule", escape(rule.replace("_", " "))),
    ]


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"= {value:.2g}"


def _under_readings(audit: Audit, claim: Claim) -> str:
    words = [
        f"{escape(row['reading'].replace('_', ' '))} {badge(row['verdict'])}"
        for row in audit.under_readings(claim.id)
    ]
    return ", ".join(words)


# -------------------------------------------------------------------------- what is left open


def readings(audit: Audit, paper: str) -> HTML:
    """Return the verdicts under each reading of what a paper leaves open."""
    ledger = audit.ledgers[paper]
    groups = {}
    for claim in ledger.claims.values():
        rows = audit.under_readings(claim.id)
        if len(rows) > 1 and not claim.alias_of:
            heading = f"{escape(claim.statement)} {_here(claim.id, escape(claim.place))}"
            groups[heading] = [
                [
                    escape(ledger.readings.get(row["reading"], row["reading"])),
                    badge(row["verdict"]),
                    _numbers(row),
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
            badge(row["verdict"]),
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

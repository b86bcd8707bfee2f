"""Changes of the rules since they were first written down, on the audit's page."""

from html import escape

from IPython.display import HTML

from fairbandits.audit.ledger import ALL_CLAIMS, FORMERLY, Change, Ledger
from fairbandits.report.audit import Audit
from fairbandits.report.pages import link_to_claim, table

#: A list of at least this many names is folded.
MANY = 5


def deviations(audit: Audit, paper: str) -> HTML:
    """Return a paper's changes, the oldest first."""
    ledger = audit.ledgers[paper]
    title = f"<h3>{escape(ledger.title)}</h3>"
    if not ledger.changes:
        return HTML(f"{title}<p>Nothing was changed since it was first written down.</p>")
    cells = [
        [
            f"{one.when} {_what(one)}",
            _where(one, ledger),
            _pair("from", one.before, "to", one.after),
            escape(one.why),
            _pair("before", one.verdict_before, "after", one.verdict_after),
        ]
        for one in ledger.changes
    ]
    header = ["when (UTC), what", "where", "change", "why", "verdict"]
    wide = table({"": cells}, header, f"deviations-{paper}").data
    summary = f"<summary>{len(ledger.changes)} changes</summary>"
    return HTML(f'{title}<details>{summary}<div class="fb-wrap">{wide}</div></details>')


def _what(change: Change) -> str:
    """Return the kind of a change, and the version that it made."""
    return f"<br>{change.what}" + (f", version {change.version}" if change.version else "")


def _pair(one: str, first: str, other: str, second: str) -> str:
    """Return two labelled texts, one below the other."""
    return f"<em>{one}</em> {escape(first)}<br><em>{other}</em> {escape(second)}"


def _where(change: Change, ledger: Ledger) -> str:
    """Return links to the claims that a change is about; many names are folded."""
    names = ", ".join(_name(one, ledger) for one in change.where)
    if len(change.where) < MANY:
        return names
    return f"<details><summary>{len(change.where)} places</summary>{names}</details>"


def _name(name: str, ledger: Ledger) -> str:
    if name in ledger.claims:
        return link_to_claim(name, escape(name))
    if name == ALL_CLAIMS:
        return name
    past = FORMERLY if name.startswith(FORMERLY) else ""
    return f"{past}<code>{escape(name.removeprefix(FORMERLY))}</code>"

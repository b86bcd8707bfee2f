"""The page across papers: statements that several papers make, and claims that rest on claims."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from IPython.display import Markdown

from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
)
from fairbandits.audit.ledger import Ledger, claims_elsewhere
from fairbandits.audit.words import readings_in_words, under_readings
from fairbandits.report.audit import Audit, badge, headline, number_of
from fairbandits.report.graph import Mark, draw
from fairbandits.report.markup import Html, folded, joined, link_to_claim, small, table, typeset
from fairbandits.settings.formulas import plain
from fairbandits.settings.records import check
from fairbandits.settings.schemas import ROOT, ConfigError, meant, read_yaml

FILE = Path("papers") / "across.yaml"
NOT_JUDGED = "not judged yet"
#: Letter (for those who see no colours) and CSS class of each verdict in a graph.
MARKS = {
    REPRODUCED: ("R", "good"),
    NOT_REPRODUCED: ("N", "off"),
    DEPENDS: ("D", "part"),
    INCONCLUSIVE: ("I", "open"),
    NOT_TESTABLE: ("–", "none"),
    FAILED: ("F", "failed"),
    NOT_JUDGED: ("?", "none"),
}
#: Verdicts with which a claim does not hold as stated.
BROKEN = (NOT_REPRODUCED, DEPENDS)


@dataclass(frozen=True)
class Shared:
    """A statement that several papers make."""

    title: str
    statement: str  # one sentence, formulas between dollar signs
    claims: tuple[str, ...]  # ids of the claims that make it or bear on it


def load_shared(ledgers: Mapping[str, Ledger], root: Path = ROOT) -> dict[str, Shared]:
    """Return the statements of papers/across.yaml by name, with these ledgers' claims alone.

    Raises ConfigError for a bad file, an unknown claim, or a statement that one paper alone makes.
    """
    content = read_yaml(root / FILE)
    check(content, "across", str(FILE))
    papers = {key: paper for paper, ledger in ledgers.items() for key in ledger.claims}
    named = {key for block in content["statements"].values() for key in block["claims"]}
    elsewhere = claims_elsewhere(ledgers, root) if not named <= set(papers) else []
    found = {}
    for name, block in content["statements"].items():
        place = f"{FILE}: statements.{name}.claims"
        for key in block["claims"]:
            if key not in papers and key not in elsewhere:
                known = [*papers, *elsewhere]
                raise ConfigError(f"{place}: {key!r} is unknown{meant(key, known)}")
        own = tuple(key for key in block["claims"] if key in papers)
        if len(own) == len(block["claims"]) and len({papers[key] for key in own}) < 2:
            raise ConfigError(f"{place}: all are of {papers[own[0]]!r}; two papers are needed")
        if own:
            found[name] = Shared(block["title"], block["statement"], own)
    return found


def outcome(audit: Audit, claim: str) -> str:
    """Return a claim's verdict, or the words for a claim without one."""
    return audit.headlines.get(claim, NOT_JUDGED)


# ----------------------------------------------------------------------------- what is shared


def shared(audit: Audit | None) -> Iterator[Html | Markdown]:
    """Yield each statement that several papers make, and a table of its claims."""
    if audit is None:
        return
    for name, one in load_shared(audit.ledgers).items():
        yield Html('<h3 id="{}">{}</h3>').format(name, one.title)
        yield Markdown(one.statement)
        rows = [_row(audit, key) for key in one.claims]
        header = ["paper", "place", "what is claimed", "verdict", "number"]
        counts = Counter(outcome(audit, key) for key in one.claims)
        said = ", ".join(f"{counts[key]} {key}" for key in MARKS if counts[key])
        yield folded(f"{len(rows)} claims: {said}", table({"": rows}, header, f"claims-{name}"))


def _row(audit: Audit, key: str) -> list[str]:
    claim = audit.claims[key]
    verdict, number = badge(NOT_JUDGED), ""
    if key in audit.headlines:
        head, *others = audit.in_words(key)
        verdict, number = badge(head["verdict"], head["grade"]), number_of(audit, head)
        if others and head["verdict"] == DEPENDS:
            under = under_readings(audit.in_words(key)).items()
            each = (badge(outcome) + " " + ", ".join(names) for outcome, names in under)
            verdict += Html("<br>") + small(joined(each, "; "))
        elif others:
            verdict += Html("<br>") + small(readings_in_words([head, *others]))
        if others and not number:
            values = ((row["reading"], number_of(audit, row)) for row in others)
            number = joined((f"{name}: {value}" for name, value in values if value), "<br>")
    said = link_to_claim(key, typeset(claim.statement))
    return [audit.ledgers[claim.paper].short_title, claim.place, said, verdict, number]


# -------------------------------------------------------------------------- what rests on what


def resting(audit: Audit) -> dict[str, list[str]]:
    """Return the claims that rest directly on each claim, for claims that carry any."""
    found: dict[str, list[str]] = {}
    for key, claim in audit.claims.items():
        for base in claim.bases:
            if base in audit.claims:  # and not of a paper that is not configured
                found.setdefault(base, []).append(key)
    return found


def carried(claim: str, above: Mapping[str, list[str]]) -> list[str]:
    """Return all claims that rest on a claim, directly or through others, the nearest first."""
    found = dict.fromkeys(above.get(claim, []))
    queue = list(found)
    for one in queue:  # grows on the way
        queue += [key for key in above.get(one, []) if key not in found]
        found |= dict.fromkeys(queue)
    return list(found)


def legend() -> Html:
    """Return the legend of the graphs: letters and colours."""
    key = Html('<span class="fb-key fb-node-{}"><b>{}</b> {}</span> ')
    marks = joined(key.format(look, letter, words) for words, (letter, look) in MARKS.items())
    return Html('<p class="fb-legend">{}</p>').format(marks)


def graph(audit: Audit, paper: str) -> Html:
    """Return the graph of a paper's claims that rest on others or carry others.

    An arrow leads from a claim to one that rests on it; claims of other papers appear at the end of
    an arrow only.
    """
    title = Html("<h3>{}</h3>").format(audit.ledgers[paper].title)
    bases: dict[str, list[str]] = {}
    for base, others in resting(audit).items():
        for key in others:
            if paper in (audit.claims[base].paper, audit.claims[key].paper):
                bases.setdefault(base, [])
                bases.setdefault(key, []).append(base)
    if not bases:
        return title + Html("<p>No claim is recorded to rest on another one.</p>")
    marks = {key: _mark(audit, key, paper) for key in audit.claims if key in bases}
    broken = {key for key in marks if outcome(audit, key) in BROKEN}
    words = f"Claims of {audit.ledgers[paper].short_title} and what they rest on; as a table below"
    drawn = Html(draw(bases, marks, broken, words))
    return title + Html('<div class="fb-scroll">{}</div>').format(drawn)


def _mark(audit: Audit, key: str, paper: str) -> Mark:
    claim = audit.claims[key]
    name = key.partition("-")[2]
    elsewhere = claim.paper != paper
    if elsewhere:
        name = f"{audit.ledgers[claim.paper].short_title}: {name}"
    letter, look = MARKS[outcome(audit, key)]
    said = f"{key}, {outcome(audit, key)}: {plain(claim.statement)}"
    return Mark(name, letter, look, said, lambda svg: link_to_claim(key, Html(svg)), elsewhere)


def taken_along(audit: Audit, paper: str) -> Html:
    """Return a paper's claims that do not hold as said, with all claims that rest on each."""
    above, own = resting(audit), audit.ledgers[paper].claims
    title = Html("<h3>{}</h3>").format(audit.ledgers[paper].title)
    rows = [
        [
            link_to_claim(key) + Html("<br>") + typeset(audit.claims[key].statement),
            headline(audit, key),
            joined((link_to_claim(one) + " " + _marked(audit, one) for one in over), "<br>"),
        ]
        for key in own
        if outcome(audit, key) in BROKEN and (over := carried(key, above))
    ]
    if not rows:
        judged = any(key in audit.headlines for key in own)
        said = "None that others rest on was found." if judged else f"{NOT_JUDGED.capitalize()}."
        return title + Html("<p>{}</p>").format(said)
    header = ["does not hold as said", "verdict", "rests on it, also by way of others"]
    wide = table({"": rows}, header, f"taken-along-{paper}")
    return title + folded(f"{len(rows)} claims that others rest on", wide)


def _marked(audit: Audit, claim: str) -> Html:
    """Return a claim's verdict as a badge, with those of its readings where they differ."""
    return headline(audit, claim) if claim in audit.headlines else badge(NOT_JUDGED)

"""Verdicts on pages: badges, numbers in words, tables, and the tally."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fairbandits.audit import finding, sentences, totals
from fairbandits.audit.claims import Claim, Paper, Papers, claims_of, stands_for
from fairbandits.audit.rows import FINDINGS_TABLE, VERDICTS_TABLE, read
from fairbandits.audit.run import exploratory_words, load
from fairbandits.audit.staleness import chosen_seed
from fairbandits.audit.totals import Row, grouped
from fairbandits.data.store import StoreError, read_footer
from fairbandits.report.markup import Html, in_symbols, link_to_claim, offer, render, typeset
from fairbandits.report.pages import CONFIG, NotReady, in_project, other_scale, scale_of

#: Letter (for those who see no colours) and CSS class of each verdict.
MARKS = {
    finding.REPRODUCED: ("R", "good"),
    finding.NOT_REPRODUCED: ("N", "off"),
    finding.DEPENDS: ("D", "part"),
    finding.INCONCLUSIVE: ("I", "open"),
    finding.NOT_TESTABLE: ("–", "none"),
    finding.FAILED: ("F", "failed"),
}
#: What pages say of an inconsistency in place of the first outcomes; data have the verdict.
DIFFERENCE = {
    finding.REPRODUCED: "makes no difference",
    finding.NOT_REPRODUCED: "makes a difference",
    finding.INCONCLUSIVE: "undecided",
}


@dataclass(frozen=True)
class Audit:
    """The verdicts of all papers that have claims."""

    papers: Papers
    rows: list[dict[str, Any]]
    findings: list[dict[str, Any]]  # one for each question behind a verdict
    scale: str  # "paper" or a key of settings.marks.SCALES
    results: Path

    @cached_property
    def claims(self) -> dict[str, Claim]:
        return claims_of(self.papers)

    @cached_property
    def heads(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["headline"]]

    @cached_property
    def headlines(self) -> dict[str, str]:
        return {row["claim"]: row["verdict"] for row in self.heads}

    def of(self, paper: str) -> list[dict[str, Any]]:
        return [row for row in self.heads if row["paper"] == paper]

    def under_readings(self, claim: str) -> list[dict[str, Any]]:
        """Return a claim's headline verdict, then those under each of its readings."""
        return self._verdicts.get(claim, [])

    def in_words(self, claim: str) -> list[dict[str, Any]]:
        """Return the same rows, with readings called by their words."""
        return self.with_readings(claim, self.under_readings(claim))

    def with_readings(self, claim: str, rows: Iterable[Row]) -> list[dict[str, Any]]:
        """Return rows of a claim with readings called by their words."""
        of = self.judging(claim).reading
        return [
            row | {"reading": row["reading"] and in_symbols(of(row["reading"]))} for row in rows
        ]

    def tested(self, claim: str) -> Claim:
        """Return the claim whose tests judge a claim: itself, or the target of an alias."""
        return stands_for(self.claims[claim], self.papers)

    def judging(self, claim: str) -> Paper:
        return self.papers[self.tested(claim).paper]

    def found(self, claim: str) -> list[dict[str, Any]]:
        """Return the findings of a claim's tests; for an alias, those of its target."""
        return self._findings.get(self.tested(claim).id, [])

    @cached_property
    def _verdicts(self) -> Mapping[str, list[dict[str, Any]]]:
        return grouped(self.rows, itemgetter("claim"))

    @cached_property
    def _findings(self) -> Mapping[str, list[dict[str, Any]]]:
        return grouped(self.findings, itemgetter("claim"))


def open_audit(results: str | Path) -> Audit:
    """Return the verdicts, none without claims; NotReady where they are missing or stale."""
    config, papers = load([CONFIG])
    results = in_project(results)
    if not papers:
        return Audit({}, [], [], "paper", results)
    folder = results / "audit"
    try:
        rows, scale, _ = read(folder / "verdicts.parquet", papers)
        findings = read(folder / "findings.parquet", papers, "findings").rows
    except StoreError as error:
        raise NotReady.of(error, "`make audit` makes it") from None
    if scale != "paper":
        files = (results / experiment.dataset for experiment in config.experiments)
        scale = scale_of(read_footer(file) for file in files if file.is_file())
    return Audit(papers, rows, findings, scale, results)


def committed(papers: Papers, folder: Path, results: Path) -> Audit:
    """Return the verdicts of the committed tables; StoreError if there are other claims."""
    verdicts, findings = folder / VERDICTS_TABLE, folder / FINDINGS_TABLE
    rows = read(findings, papers, "findings").rows
    return Audit(papers, read(verdicts, papers).rows, rows, "paper", results)


def banner(audit: Audit) -> Html | None:
    """Return the notice above verdicts of another scale or of an exploratory run."""
    if audit.scale != "paper":
        more = "A claim whose test asks for more replicates than there are has failed."
        return other_scale(audit.scale, Html("<p>{}</p>").format(more))
    seed = chosen_seed(audit.rows)  # empty at the published seeds
    notice = exploratory_words(seed) if seed else ""
    return Html('<p class="fb-exploratory"><em>{}</em></p>').format(notice) if notice else None


def called(outcome: str, kind: str) -> str:
    return DIFFERENCE.get(outcome, outcome) if kind == "inconsistency" else outcome


def badge(outcome: str, grade: str = "", kind: str = "", more: str = "") -> Html:
    shown = Html('<span class="fb-badge fb-{}">{}{}</span>')
    shown = shown.format(MARKS[outcome][1], called(outcome, kind), more)
    graded = Html(' <small class="fb-grade" title="{}">{}</small>')
    return shown + graded.format(finding.GRADES[grade], grade) if grade else shown


def judged(row: Row, grade: bool = True, status: bool = True) -> Html:
    """Return the badge of a claim's verdict with what qualifies it: part, grade, status."""
    more = ", in part" * ("IN-PART" in row["tags"])
    marked = Html(" <small>· {}</small>").format(row["status"])
    return badge(row["verdict"], row["grade"] * grade, row["kind"], more) + marked * status


def counted(
    verdicts: Iterable[str], kind: str = "", signs: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return how many cases have which verdict, in the words for a kind of claim."""
    pairs = finding.tally(verdicts).items()
    parts = (f"{signs.get(outcome, '')}{count} {called(outcome, kind)}" for outcome, count in pairs)
    return re.sub(r"(?<!\b1 )makes", "make", ", ".join(parts))


def number_of(row: Row) -> Html:
    """Return a row's number with what it is, and its bounds; empty without one."""
    return typeset(sentences.bounded(row))


def named(audit: Audit, key: str) -> Html:
    """Return a link to a claim, with its verdict and its statement."""
    verdict, statement = judged(audit.under_readings(key)[0]), audit.claims[key].statement
    return Html("{} {}<br>{}").format(link_to_claim(key), verdict, typeset(statement))


def role(row: Row) -> str:
    roles = [name for name in ("primary", "reported") if row[name]]
    roles += [row["about"]] * (row["about"] != "text")
    return ", ".join(roles) or "other"


def tally(audit: Audit) -> Html:
    """Return each paper's totals: primary claims, other claims; and of those left out."""
    return render("tally.html", audit=audit, left_out=totals.LEFT_OUT)


def links(audit: Audit) -> Html | None:
    return render("links.html") if audit.papers else None


def consequential(audit: Audit) -> Html:
    """Return the primary claims not reproduced, then those open or reading-dependent."""
    shown = (finding.NOT_REPRODUCED, finding.DEPENDS, finding.INCONCLUSIVE)
    by_outcome = {outcome: _not_reproduced(audit, outcome) for outcome in shown}
    return render("consequential.html", audit=audit, found=by_outcome)


def _not_reproduced(audit: Audit, outcome: str) -> list[Row]:
    """Return primary claims with a verdict; restatements only if no primary claim has it too."""
    rows = [row for row in audit.heads if row["primary"] and row["verdict"] == outcome]
    stated = {row["claim"] for row in rows if not row["left_out"]}
    shown = []
    for row in rows:
        claim = audit.claims[row["claim"]]
        restates = row["left_out"] in (totals.ALIAS, totals.JUDGED_BY_OTHERS)
        judges = claim.judged_by or (claim.alias_of,)
        agreeing = {name for name in judges if audit.headlines.get(name) == outcome}
        if not row["left_out"] or (restates and claim.about == "text" and not agreeing & stated):
            shown.append(row)
            stated |= agreeing
    return shown


def summary(audit: Audit, paper: str) -> Html | None:
    if paper not in audit.papers:
        return None
    rows = audit.of(paper)
    counts = totals.tally(rows)
    return render(
        "summary.html",
        paper=paper,
        found=counts,
        left_out=[[totals.LEFT_OUT[reason], count] for reason, count in counts.others.items()],
        audit=audit,
        primary=[row for row in rows if row["primary"]],
    )


def about(audit: Audit, paper: str, figure: str, *claims: str) -> Html | None:
    if paper not in audit.papers:
        return None
    claims_of_paper = audit.papers[paper].claims.values()
    shown = [claim.id for claim in claims_of_paper if figure and claim.figure == figure]
    rows = [audit.under_readings(key)[0] for key in dict.fromkeys([*shown, *claims])]
    return render("about.html", audit=audit, rows=rows)


def reason(audit: Audit, key: str) -> Html:
    """Return what a claim's verdict follows from: other claims, or a number and its case."""
    if judges := audit.claims[key].judged_by:
        return Html("follows from {}").format(Html(", ").join(map(link_to_claim, judges)))
    row, *_ = audit.in_words(key)
    if row["statistic"] is None:
        return Html()
    return typeset("; ".join(filter(None, [sentences.evidence(row), row["each"]])))


def objections(audit: Audit, key: str) -> list[str]:
    """Return a sentence for each test that qualifies a claim's verdict with another one."""
    findings = audit.with_readings(key, audit.found(key))
    differing = {row["test"] for row in findings if row["verdict"] != audit.headlines[key]}
    return sentences.qualifying(row for row in findings if row["test"] in differing)


def for_each_paper(audit: Audit, function: Callable[[Audit, str], Html]) -> Html:
    """Return the outputs of a function of audit and paper, one paper below the other."""
    return Html().join(function(audit, paper) for paper in audit.papers)


offer(badge, called, judged, named, number_of, objections, reason, role, totals.tally)
offer(words=sentences)
offer(MARKS=MARKS, GRADES=finding.GRADES, OUTCOMES=finding.OUTCOMES)

"""The audit's commands: their input, their order, their output."""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from fairbandits.audit import freeze, rows, terminal
from fairbandits.audit.answers import answers
from fairbandits.audit.claims import (
    Claim,
    Paper,
    Papers,
    claims_of,
    committed,
    load_papers,
    without,
)
from fairbandits.audit.finding import FAILED, OUTCOMES, Answer
from fairbandits.audit.judge import judge
from fairbandits.audit.procedures import settings_of
from fairbandits.audit.rows import ANEW, Made, answer_of, read, verdict_row
from fairbandits.audit.runs import Evidence
from fairbandits.audit.staleness import chosen_seed, latest_verdicts
from fairbandits.audit.totals import Row, grouped, tally
from fairbandits.data.provenance import git_commit
from fairbandits.data.store import StoreError, read_footer
from fairbandits.data.texts import csv_rows, write_csv
from fairbandits.data.whole import alone
from fairbandits.settings.config import FROZEN, Config, load_config
from fairbandits.settings.formulas import plain
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import ROOT, ConfigError, meant
from fairbandits.settings.seeds import latest
from fairbandits.settings.variants import setting_of

#: The history of full runs, to which lines are only added. `seed` is "frozen" ("ledger" before the
#: first release) or a chosen number, `commit` that of the code, ``+`` after it if changed, `frozen`
#: the hash of the release's files, `now` that of the files that ran.
RUNS_TABLE = "runs.csv"
OF_RUNS = ("paper", "rules", "seed", "salt", "totals", "release", "frozen", "findings", "now")
OF_RUNS += ("date", "commit")
#: What lists the claims, for messages.
LISTING = "`fairbandits claims` lists all"
#: Where in a file of claims a message comes from.
PLACE = re.compile(r"^\S+\.py, line \d+: ")
#: Width where there is no terminal.
WIDTH = 120


def width() -> int:
    return shutil.get_terminal_size((WIDTH, 24)).columns


def load(configs: Sequence[Path]) -> tuple[Config, Papers]:
    """Return a configuration and its papers; a process reads them once while no file changes."""
    files = (file for end in ("yaml", "py") for file in ROOT.glob(f"papers/**/*.{end}"))
    stats = [file.stat() for file in (*configs, *files) if file.is_file()]
    return _loaded(tuple(configs), tuple((stat.st_mtime_ns, stat.st_size) for stat in stats))


@lru_cache(1)
def _loaded(configs: tuple[Path, ...], _: tuple[tuple, ...]) -> tuple[Config, Papers]:
    return (config := load_config(configs)), load_papers(config)


def find(
    config: Config,
    paper: Paper,
    results: Path | None = None,
    only: Sequence[str] = (),
    /,
    **changes: Any,
) -> tuple[list[Answer], str, Made]:
    """Return the findings of a paper's tests, the scale of its datasets, and their origin."""
    for key in only:
        lists = f"`fairbandits claims --paper {paper.slug}` lists all"
        expect_known(key, paper.claims, f"{paper.slug} has no claim {key!r}", lists)
    evidence = Evidence(config, paper.slug, results or ROOT / config.results)
    claims = [c for c in paper.claims.values() if c.of and (not only or c.id in only)]
    findings = [answer for claim in claims for answer in answers(claim, paper, evidence, **changes)]
    scale = "smoke" if evidence.small or config.scale == "smoke" else "paper"
    return findings, scale, Made.of(config.seed, evidence.results, findings)


def failures(findings: Sequence[Answer]) -> Iterator[str]:
    """Yield a line for each reason of failures: its first claim, and how many it has."""
    failed = (finding for finding in findings if finding.verdict == FAILED)
    reasons = grouped(failed, lambda finding: PLACE.sub("", finding.message))
    for first, *others in reasons.values():
        where = ", ".join(filter(None, (first.claim, first.test, first.reading, first.each)))
        more = len({finding.claim for finding in others} - {first.claim})
        yield f"{where}{f', and {more} more claims' if more else ''}: {first.message}"


def write_verdicts(
    files: Sequence[Path], papers: Papers, joint: Path, out: Path
) -> tuple[list[str], bool]:
    """Judge the claims of all papers; return a line for each failed claim, and whether it wrote."""
    tables = [read(file, papers, "findings") for file in files]
    there = [paper for file in files for paper in read_footer(file)["rules"]]
    if sorted(there) != sorted(papers):
        raise StoreError(
            f"findings of {', '.join(papers)} are needed, each once; got {', '.join(there)}"
        )
    scale = "smoke" if any(table.scale == "smoke" for table in tables) else "paper"
    made = dict(zip(there, (table.made for table in tables), strict=True))
    findings = [row for table in tables for row in table.rows]
    verdicts = judge(papers, map(answer_of, findings))
    heads = (verdict for verdict in verdicts if verdict.headline and verdict.verdict == FAILED)
    failed = [f"{verdict.claim.id}: {verdict.message}" for verdict in heads]
    if failed and scale == "paper":  # at the published scale all stays as it was
        return failed, False
    # a seed that is a number wins
    seed = next((part.seed for part in made.values() if part.seed != FROZEN), FROZEN)
    origin = Made(seed, {key: data for part in made.values() for key, data in part.sources.items()})
    rows.write(joint, "findings", findings, papers, scale, origin)
    judged = [verdict_row(papers, verdict, made[verdict.claim.paper]) for verdict in verdicts]
    if scale == "paper" and seed == FROZEN:
        lines = freeze.released(papers, judged, findings)
        status = freeze.statuses(lines, ROOT / "audit" / freeze.RELEASED)
        judged = [row | {"status": status[row["claim"]]} for row in judged]
    rows.write(out, "verdicts", judged, papers, scale, origin)
    return failed, True


def record(verdicts: Path, findings: Path, papers: Papers, folder: Path) -> None:
    """Write the committed tables from the full ones, and a line of history unless it is there."""
    table, cases = read(verdicts, papers), read(findings, papers, "findings")
    kept = committed(papers)
    both = [[row for row in full.rows if row["claim"] in kept] for full in (table, cases)]
    rows.write_committed(folder, *both, table.scale)
    history, lines = folder / RUNS_TABLE, freeze.released(papers, table.rows, cases.rows)
    with alone(history):
        if table.scale == "paper" and not table.made.exploratory:
            freeze.record(folder, lines)
        add_runs(history, papers, table.rows, lines)


def add_runs(
    history: Path, papers: Papers, verdicts: Sequence[Row], lines: Sequence[Mapping[str, str]]
) -> None:
    """Add a line for each paper to the history of runs, unless the same is there."""
    known, frozen, new = csv_rows(history), latest(), []
    for slug, paper in papers.items():
        heads = [row for row in verdicts if row["headline"] and row["paper"] == slug]
        content = sorted(line["content"] for line in lines if line["claim"] in paper.claims)
        line = {"paper": slug, "rules": paper.digest, "seed": chosen_seed(heads) or FROZEN}
        line |= {"salt": "", "totals": str(tally(heads)), "release": frozen["release"]}
        line |= {"frozen": frozen["hash"][:16], "findings": freeze.digest_of(content, " ")}
        if not any(line.items() <= row.items() for row in known):  # code may be mended
            new.append(line)
    if new:
        now = {"now": freeze.joint(freeze.hashes())[:16], "commit": git_commit()}
        now |= {"date": datetime.now(UTC).strftime("%Y-%m-%d")}
        write_csv(history, OF_RUNS, [*known, *(line | now for line in new)])


def claims_words(
    configs: Sequence[Path],
    claim: str | None,
    paper: str | None,
    verdict: str | None,
    as_json: bool,
    results: Path | None,
) -> str:
    """Return a list of claims with their verdicts, or an explanation of one claim."""
    config, papers = load(configs)
    every = claims_of(papers)
    if claim is not None:
        expect_known(claim, every, f"no claim {claim!r}", LISTING)
    if paper is not None:
        expect_known(paper, papers, f"no claims of paper {paper!r}")
    outcome = verdict and verdict.replace("-", " ").replace("_", " ").lower()
    if outcome not in (None, *OUTCOMES):
        raise ConfigError(f"no verdict {verdict!r}; there are: {', '.join(OUTCOMES)}")
    verdicts = latest_verdicts(config, papers, results)
    asked = [every[claim].paper] if claim else [paper] if paper else list(papers)
    left_out = [slug for slug in asked if verdicts.problems[slug]]
    if left_out and (claim or as_json or len(left_out) == len(asked)):
        reasons = dict.fromkeys(why for slug in left_out for why in verdicts.problems[slug])
        raise StoreError(_refusal(list(reasons), claim, asked[0]))
    wanted = {"headline": True, "claim": claim, "paper": paper, "verdict": outcome}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    chosen = [row for row in verdicts.rows if wanted.items() <= row.items()]
    chosen = [row for row in chosen if row["paper"] not in left_out]
    seed = chosen_seed(chosen)
    findings = verdicts.findings(papers) if claim or as_json else None
    if as_json:
        facts = {"source": verdicts.place, "scale": verdicts.scale}
        facts["exploratory"] = bool(seed)
        return terminal.as_json(chosen, verdicts.rows, findings, papers, facts)
    if claim is None:
        text = terminal.listing(chosen, width())
        if not text:
            text = f"No claim{' of ' + paper if paper else ''} has the verdict {outcome}."
        elif len(papers) > 1 and paper is None:
            text += f"\n\nIn all {tally(chosen)}"
    elif chosen:
        claim_rows = [row for row in verdicts.rows if row["claim"] == claim]
        text = terminal.explanation(every[claim], papers, claim_rows, findings, width())
    else:
        raise StoreError(f"{verdicts.place} has no verdict on {claim}; {ANEW}")
    text += f"\n\nFrom {verdicts.place}."
    if verdicts.scale == "smoke":
        text += " Smoke scale: these are not results."
    above = [f"{slug} is left out: {_refusal(verdicts.problems[slug])}." for slug in left_out]
    if seed:
        where = {row["paper"] for row in chosen if row["seed"] == seed}
        above.insert(0, exploratory_words(seed, where if len(papers) > len(where) else ()))
    return "\n\n".join(filter(None, ["\n".join(above), text]))


def _refusal(reasons: Sequence[str], claim: str | None = None, paper: str = "") -> str:
    more = f" ({len(reasons)} reasons in all)" if len(reasons) > 1 else ""
    alone = f", and `fairbandits audit {paper} --only {claim}` judges it on the results on disk"
    return f"{reasons[0]}{more}; {ANEW}{alone if claim else ''}"


def exploratory_words(seed: str, papers: Iterable[str] = ()) -> str:
    """Return the warning above exploratory verdicts: their data can be older than their rules."""
    of = f" of {', '.join(papers)}" if papers else ""
    return (
        f"Exploratory: the data{of} have seed {seed}, which does not follow from frozen rules; the "
        "rules can be younger than the data."
    )


# ------------------------------------------------------------------------- what if


def what_if(
    config: Config,
    papers: Papers,
    claim: str,
    changes: Iterable[str],
    results: Path | None = None,
) -> str:
    """Return the verdicts on a claim with its settings and with changed ones; an alias is resolved.

    A change is ``SETTING=VALUE``, for all deciding tests that have the setting.
    """
    claims = claims_of(papers)
    expect_known(claim, claims, f"no claim {claim!r}", LISTING)
    asked = claims[claims[claim].alias_of or claim]
    if not asked.of:
        why = f"{', '.join(asked.judged_by)} judge it" if asked.judged_by else "it is not testable"
        raise ConfigError(f"{asked.id} has no tests of its own whose settings could change: {why}")
    given = dict(setting_of(change, "margin=0.05") for change in changes)
    paper, results = papers[asked.paper], results or ROOT / config.results
    primary = [key for key, member in paper.claims.items() if member.primary and member.of]
    others = [key for key in primary if key != asked.id] if asked.primary else []
    as_it_is, _, made = find(config, paper, results, [asked.id])
    _check(given, [finding for finding in as_it_is if finding.decides], asked)
    rest = find(config, paper, results, others)[0] if others else []  # Holm's family, asked once
    changed = find(config, paper, results, [asked.id], **given)[0]
    alone = {paper.slug: without(paper, [asked.id, *others])}
    both = (judge(alone, [*findings, *rest]) for findings in (as_it_is, changed))
    judged = [[answer for answer in verdicts if answer.claim.id == asked.id] for verdicts in both]
    if failed := next((side[0].message for side in judged if side[0].verdict == FAILED), ""):
        raise StoreError(f"{asked.id} cannot be judged: {failed}")
    pairs = [verdict_row(alone, case, made) for pair in zip(*judged, strict=True) for case in pair]
    names = ["as it is", "what if"] * len(judged[0])
    said = ", ".join(f"{name} = {value}" for name, value in given.items())
    lines = [exploratory_words(made.seed), ""] if made.exploratory else []
    lines += [f"{asked.id}: {plain(asked.statement)}", "", f"What if {said}?"]
    lines += [f"  {phrase}" for phrase in dict.fromkeys(r["phrase"] for r in pairs if r["phrase"])]
    lines += ["", *terminal.aligned(terminal.cases_table(pairs, names)), ""]
    lines.append("Both are computed now, from the results on disk, and nothing is written.")
    return "\n".join(lines)


def _check(given: dict[str, Any], deciding: Sequence[Answer], claim: Claim) -> None:
    """Raise ConfigError unless each changed setting is one of a deciding test, with a new value."""
    for name, value in given.items():
        having = [finding for finding in deciding if name in finding.settings]
        if not having:
            known = {setting for answer in deciding for setting in answer.settings}
            takes = {setting for a in deciding for setting in settings_of(a.procedure)}
            message = f"--set {name}: no deciding test of {claim.id} has this setting"
            raise ConfigError(f"{message}{meant(name, sorted(known & takes))}")
        if all(finding.settings[name] == value for finding in having):
            raise ConfigError(f"--set {name}: in {claim.id} it is {value} already")

"""The audit's commands: their input, their order, their output."""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from fairbandits.audit import rows, sentences, terminal
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
from fairbandits.audit.rows import ANEW, Made, answer_of, csv_rows, csv_text, read, verdict_row
from fairbandits.audit.runs import Evidence
from fairbandits.audit.staleness import chosen_seed, latest_verdicts
from fairbandits.audit.totals import tally
from fairbandits.data.provenance import git_commit
from fairbandits.data.store import StoreError, read_footer
from fairbandits.data.whole import alone
from fairbandits.settings.config import LEDGER, Config, load_config
from fairbandits.settings.formulas import plain
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import ROOT, ConfigError, meant
from fairbandits.settings.variants import setting_of

#: The history of full runs, to which lines are only added. `seed` is "ledger" or a chosen number,
#: `commit` that of the code, ``+`` after it if changed.
RUNS_TABLE = "runs.csv"
OF_RUNS = ("paper", "rules", "seed", "salt", "totals", "date", "commit")
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
    own = (file for end in ("yaml", "py") for file in ROOT.glob(f"papers/**/*.{end}"))
    stats = [one.stat() for one in (*configs, *own) if one.is_file()]
    return _loaded(tuple(configs), tuple((one.st_mtime_ns, one.st_size) for one in stats))


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
    for one in only:
        lists = f"`fairbandits claims --paper {paper.slug}` lists all"
        expect_known(one, paper.claims, f"{paper.slug} has no claim {one!r}", lists)
    evidence = Evidence(config, paper.slug, results or ROOT / config.results)
    claims = [one for one in paper.claims.values() if one.of and (not only or one.id in only)]
    found = [answer for one in claims for answer in answers(one, paper, evidence, **changes)]
    scale = "smoke" if evidence.small or config.scale == "smoke" else "paper"
    seed = config.seed if evidence.older is None else evidence.older
    return found, scale, Made.of(seed, evidence.results, found)


def failures(found: Sequence[Answer]) -> Iterator[str]:
    """Yield a line for each reason of failures: its first claim, and how many it has."""
    reasons: dict[str, list[Answer]] = {}
    for one in found:
        if one.verdict == FAILED:
            reasons.setdefault(PLACE.sub("", one.message), []).append(one)
    for first, *others in reasons.values():
        where = ", ".join(filter(None, (first.claim, first.test, first.reading, first.each)))
        more = len({one.claim for one in others} - {first.claim})
        yield f"{where}{f', and {more} more claims' if more else ''}: {first.message}"


def write_verdicts(
    files: Sequence[Path], papers: Papers, joint: Path, out: Path
) -> tuple[list[str], bool]:
    """Judge the claims of all papers; return a line for each failed claim, and whether it wrote."""
    tables = [read(file, papers, "findings") for file in files]
    there = [paper for file in files for paper in read_footer(file)["ledgers"]]
    if sorted(there) != sorted(papers):
        raise StoreError(
            f"findings of {', '.join(papers)} are needed, each once; got {', '.join(there)}"
        )
    scale = "smoke" if any(table.scale == "smoke" for table in tables) else "paper"
    made = dict(zip(there, (table.made for table in tables), strict=True))
    found = [row for table in tables for row in table.rows]
    verdicts = judge(papers, map(answer_of, found))
    heads = (one for one in verdicts if one.headline and one.verdict == FAILED)
    failed = [f"{one.claim.id}: {one.message}" for one in heads]
    if failed and scale == "paper":  # at the published scale all stays as it was
        return failed, False
    # a seed that is a number wins
    seed = next((one.seed for one in made.values() if one.seed != LEDGER), LEDGER)
    origin = Made(seed, {key: one for own in made.values() for key, one in own.sources.items()})
    rows.write(joint, "findings", found, papers, scale, origin)
    judged = (verdict_row(papers, one, made[one.claim.paper]) for one in verdicts)
    rows.write(out, "verdicts", judged, papers, scale, origin)
    return failed, True


def record(verdicts: Path, findings: Path, papers: Papers, folder: Path) -> None:
    """Write the committed tables from the full ones, and a line of history unless it is there."""
    table, found = read(verdicts, papers), read(findings, papers, "findings")
    kept = committed(papers)
    both = ([row for row in one.rows if row["claim"] in kept] for one in (table, found))
    rows.write_committed(folder, *both, table.scale)
    history = folder / RUNS_TABLE
    with alone(history):
        for slug, paper in papers.items():
            heads = [row for row in table.rows if row["headline"] and row["paper"] == slug]
            same = [slug, paper.digest, chosen_seed(heads) or LEDGER, "", str(tally(heads))]
            if not any([one[name] for name in OF_RUNS[:5]] == same for one in csv_rows(history)):
                known = history.is_file()
                before = history.read_text(encoding="utf-8") if known else csv_text([OF_RUNS])
                line = [*same, datetime.now(UTC).strftime("%Y-%m-%d"), git_commit()]
                rows.write_text(history, before + csv_text([line]))


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
    left_out = [one for one in asked if verdicts.problems[one]]
    if left_out and (claim or as_json or len(left_out) == len(asked)):
        reasons = dict.fromkeys(why for one in left_out for why in verdicts.problems[one])
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
        own = [row for row in verdicts.rows if row["claim"] == claim]
        text = terminal.explanation(every[claim], papers, own, findings, width())
    else:
        raise StoreError(f"{verdicts.place} has no verdict on {claim}; {ANEW}")
    text += f"\n\nFrom {verdicts.place}."
    if verdicts.scale == "smoke":
        text += " Smoke scale: these are not results."
    above = [f"{one} is left out: {_refusal(verdicts.problems[one])}." for one in left_out]
    if seed:
        where = {row["paper"] for row in chosen if row["seed"] == seed}
        above.insert(0, exploratory_words(seed, where if len(papers) > len(where) else ()))
    return "\n\n".join(filter(None, ["\n".join(above), text]))


def _refusal(reasons: Sequence[str], claim: str | None = None, paper: str = "") -> str:
    more = f" ({len(reasons)} reasons in all)" if len(reasons) > 1 else ""
    alone = f", and `fairbandits audit {paper} --only {claim}` judges it on the data at hand"
    return f"{reasons[0]}{more}; {ANEW}{alone if claim else ''}"


def exploratory_words(seed: str, papers: Iterable[str] = ()) -> str:
    """Return the warning above exploratory verdicts: their data can be older than their rules."""
    of = f" of {', '.join(papers)}" if papers else ""
    return (
        f"Exploratory: the data{of} have seed {seed}, which does not follow from the present "
        "rules; the rules can be younger than the data."
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
    own = claims[claims[claim].alias_of or claim]
    if not own.of:
        why = f"{', '.join(own.judged_by)} judge it" if own.judged_by else "it is not testable"
        raise ConfigError(f"{own.id} has no tests of its own whose settings could change: {why}")
    given = dict(setting_of(change, "margin=0.05") for change in changes)
    paper, results = papers[own.paper], results or ROOT / config.results
    primary = [key for key, one in paper.claims.items() if one.primary and one.of]
    others = [key for key in primary if key != own.id] if own.primary else []
    as_it_is, _, made = find(config, paper, results, [own.id])
    _check(given, [one for one in as_it_is if one.decides], own)
    rest = find(config, paper, results, others)[0] if others else []  # Holm's family, asked once
    changed = find(config, paper, results, [own.id], **given)[0]
    alone = {paper.slug: without(paper, [own.id, *others])}
    both = (judge(alone, [*one, *rest]) for one in (as_it_is, changed))
    judged = [[one for one in verdicts if one.claim.id == own.id] for verdicts in both]
    if failed := next((one[0].message for one in judged if one[0].verdict == FAILED), ""):
        raise StoreError(f"{own.id} cannot be judged: {failed}")
    pairs = [verdict_row(alone, one, made) for pair in zip(*judged, strict=True) for one in pair]
    names = ["as it is", "what if"] * len(judged[0])
    said = ", ".join(f"{name} = {value}" for name, value in given.items())
    lines = [exploratory_words(made.seed), ""] if made.exploratory else []
    lines += [f"{own.id}: {plain(own.statement)}", "", f"What if {said}?"]
    lines += [f"  {one}" for one in dict.fromkeys(row["phrase"] for row in pairs if row["phrase"])]
    lines += ["", *sentences.aligned(sentences.cases_table(pairs, names)), ""]
    lines.append("Both are computed now, from the data at hand, and nothing is written.")
    return "\n".join(lines)


def _check(given: dict[str, Any], deciding: Sequence[Answer], claim: Claim) -> None:
    """Raise ConfigError unless each changed setting is one of a deciding test, with a new value."""
    for name, value in given.items():
        having = [one for one in deciding if name in one.settings]
        if not having:
            known = {one for answer in deciding for one in answer.settings}
            takes = {one for a in deciding for one in settings_of(a.procedure)}
            words = f"--set {name}: no deciding test of {claim.id} has this setting"
            raise ConfigError(f"{words}{meant(name, sorted(known & takes))}")
        if all(one.settings[name] == value for one in having):
            raise ConfigError(f"--set {name}: in {claim.id} it is {value} already")

"""The audit's commands: their input, their order, their output."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from fairbandits.audit import criteria, runs, show
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.finding import FAILED
from fairbandits.audit.judge import Answer, Asking, answers, asked, judge
from fairbandits.audit.ledger import Ledger, load_ledgers
from fairbandits.audit.power import replicates_needed, why_none
from fairbandits.audit.records import (
    ANEW,
    Made,
    answer_of,
    claims_of,
    committed,
    read,
    write,
    write_committed,
    write_parts,
)
from fairbandits.audit.records import write_verdicts as write_verdict_table
from fairbandits.audit.staleness import chosen_seed, latest_verdicts
from fairbandits.data.store import StoreError, read_footer
from fairbandits.settings.config import LEDGER, Config, load_config
from fairbandits.settings.schemas import ROOT, ConfigError, meant

#: Default power, the probability of a verdict, for which replicates are counted.
POWER = 0.9
#: Width where there is no terminal.
WIDTH = 120


def load(configs: Sequence[Path]) -> tuple[Config, dict[str, Ledger]]:
    """Return the configuration and the ledgers of the papers that have one."""
    config = load_config(configs)
    return config, load_ledgers(config)


def find(
    config: Config,
    ledgers: dict[str, Ledger],
    paper: str,
    results: Path | None = None,
    only: Sequence[str] = (),
) -> tuple[list[Answer], str, Made]:
    """Return the findings of a paper's tests, the scale of its datasets, and their hashes.

    `config` must have the seed of the datasets; `only` restricts this to some claims.
    """
    ledger = _ledger(ledgers, paper, only)
    results = results or ROOT / config.folders["results"]
    evidence = Evidence(config, paper, results)
    found = list(answers(ledger, evidence, only))
    scale = "smoke" if evidence.small or config.scale == "smoke" else "paper"
    made = config.seed if evidence.older is None else evidence.older
    return found, scale, Made.of(made, results, found)


def _ledger(ledgers: Mapping[str, Ledger], paper: str, only: Sequence[str]) -> Ledger:
    """Return a paper's ledger, if it has these claims."""
    if paper not in ledgers:
        raise ConfigError(f"no claims of paper {paper!r}{meant(paper, list(ledgers))}")
    ledger = ledgers[paper]
    for one in only:
        if one not in ledger.claims:
            raise ConfigError(f"{paper} has no claim {one!r}{meant(one, list(ledger.claims))}")
    return ledger


class Needed(NamedTuple):
    """Number of replicates that a question has, and that would decide it.

    `replicates` is infinite if no number decides it (`why` says why), None if the procedure does
    not average replicates, or has found nothing.
    """

    answer: Answer
    replicates: float | None
    why: str = ""


def needed(
    config: Config,
    ledgers: Mapping[str, Ledger],
    paper: str,
    results: Path | None = None,
    only: Sequence[str] = (),
    power: float = POWER,
    ask: Asking = asked,
) -> Iterator[Needed]:
    """Yield for each question of a paper's deciding tests how many replicates it needs.

    `power` is the wanted probability of the verdict that the estimate points to; `ask` returns the
    questions of a claim's test.
    """
    ledger = _ledger(ledgers, paper, only)
    deciding = {
        key: replace(claim, tests=tuple(test for test in claim.tests if test.decides))
        for key, claim in ledger.claims.items()
    }
    results = results or ROOT / config.folders["results"]
    evidence = Evidence(config, paper, results)
    for one in answers(replace(ledger, claims=deciding), evidence, only, ask):
        count, why = None, ""
        if one.finding is not None:
            tests = deciding[one.claim].tests
            test = next(test for test in tests if test.name == one.test)
            question = test.procedure, test.settings, one.finding
            count = replicates_needed(*question, power)
            why = "" if count is not None and isfinite(count) else why_none(*question)
        yield Needed(one, count, why)


def power_words(
    config: Config,
    ledgers: Mapping[str, Ledger],
    paper: str,
    results: Path | None = None,
    only: Sequence[str] = (),
    verdict: str | None = None,
) -> str:
    """Return a table of the replicates that a paper's tests have and need.

    It covers all claims, those of `only`, or those with a `verdict`.
    """
    if verdict is not None:
        show.check_choice(list(ledgers), paper, verdict)
        latest = latest_verdicts(config, ledgers, results)
        if reasons := latest.problems[paper]:
            raise StoreError(_refusal(reasons))
        claims = (row["claim"] for row in show.chosen(latest.rows, None, paper, verdict))
        only = [claim for claim in claims if ledgers[paper].claims[claim].tests]
        if not only:
            return f"{paper} has no claim with tests of its own that is {verdict}."
    table = show.power_table(needed(config, ledgers, paper, results, only))
    return f"{table}\n\nn decides with {100 * POWER:g} % power, if the estimate is the truth."


def failures(found: Sequence[Answer]) -> Iterator[str]:
    """Yield a line for each reason of failures: its first claim, and how many it has."""
    reasons: dict[str, list[Answer]] = {}
    for one in found:
        if one.finding is None:
            reasons.setdefault(one.message, []).append(one)
    for message, (first, *others) in reasons.items():
        where = ", ".join(filter(None, (first.claim, first.test, first.reading, first.each)))
        more = len({one.claim for one in others} - {first.claim})
        yield f"{where}{f', and {more} more claims' if more else ''}: {message}"


def write_verdicts(
    files: Sequence[Path], ledgers: dict[str, Ledger], joint: Path, out: Path
) -> tuple[list[str], bool]:
    """Judge the claims of all papers; return a line for each failed claim, and whether it wrote.

    `files` have the findings of a paper each. At the published scale nothing is written if a claim
    failed.
    """
    tables = [read(file, ledgers, "findings") for file in files]
    papers = [paper for file in files for paper in read_footer(file)["ledgers"]]
    if sorted(papers) != sorted(ledgers):
        raise StoreError(
            f"findings of {', '.join(ledgers)} are needed, each once; got {', '.join(papers)}"
        )
    scale = "smoke" if any(table.scale == "smoke" for table in tables) else "paper"
    made = dict(zip(papers, (table.made for table in tables), strict=True))
    rows = [row for table in tables for row in table.rows]
    verdicts = judge(ledgers, map(answer_of, rows))
    failed = [
        f"{one.claim.id}: {one.message}"
        for one in verdicts
        if one.headline and one.outcome == FAILED
    ]
    if failed and scale == "paper":
        return failed, False
    write(joint, "findings", rows, ledgers, scale, Made.joined(made.values()))
    write_verdict_table(out, ledgers, verdicts, scale, made)
    return failed, True


def record(verdicts: Path, findings: Path, ledgers: dict[str, Ledger], folder: Path) -> None:
    """Write the committed tables from the full ones, both or neither, and note the run."""
    tables = read(verdicts, ledgers), read(findings, ledgers, "findings")
    kept = committed(ledgers)
    rows = ([row for row in table.rows if row["claim"] in kept] for table in tables)
    write_committed(folder, *rows, tables[0].scale)
    write_parts(folder, ledgers)
    for paper, ledger in ledgers.items():
        own = [row for row in tables[0].rows if row["paper"] == paper]
        runs.add(
            *(folder, paper, ledger.digest, chosen_seed(own) or LEDGER, ""),
            [row for row in own if row["headline"]],
        )


def claims_words(
    configs: Sequence[Path],
    claim: str | None,
    paper: str | None,
    verdict: str | None,
    as_json: bool,
    results: Path | None,
    anyway: bool = False,
) -> str:
    """Return a list of claims with their verdicts, or an explanation of one claim.

    Raises ConfigError, with the nearest name, for an unknown claim, paper or verdict; StoreError if
    there are no verdicts, or stale ones without `anyway`.
    """
    config, ledgers = load(configs)
    every = claims_of(ledgers)
    if claim is not None and claim not in every:
        raise ConfigError(f"no claim {claim!r}{meant(claim, list(every))}")
    show.check_choice(list(ledgers), paper, verdict)
    verdicts = latest_verdicts(config, ledgers, results)
    papers = [every[claim].paper] if claim else [paper] if paper else list(ledgers)
    stale_ones = [one for one in papers if verdicts.problems[one]]
    reasons = list(dict.fromkeys(why for one in stale_ones for why in verdicts.problems[one]))
    left_out = [] if anyway else stale_ones
    if left_out and (claim or as_json or len(left_out) == len(papers)):
        raise StoreError(_refusal(reasons, claim, papers[0]))
    chosen = show.chosen(verdicts.rows, claim, paper, verdict)
    chosen = [row for row in chosen if row["paper"] not in left_out]
    seed = chosen_seed(chosen)
    if as_json:
        made = {"exploratory": bool(seed), "stale": reasons}
        place, scale = verdicts.place, verdicts.scale
        findings = verdicts.findings(ledgers)
        return show.as_json(chosen, verdicts.rows, findings, ledgers, place, scale, made)
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    if claim is None:
        text = show.listing(chosen, width, ledgers)
        if len(ledgers) > 1 and paper is None:
            text += f"\n\nIn all {show.tally(chosen)}"
    elif not chosen:
        raise StoreError(f"{verdicts.place} has no verdict on {claim}; {ANEW}")
    else:
        own = [row for row in verdicts.rows if row["claim"] == claim]
        findings = verdicts.findings(ledgers)
        text = show.explanation(every[claim], ledgers, config, own, findings, width)
    text += f"\n\nFrom {verdicts.place}."
    if verdicts.scale == "smoke":
        text += " Smoke scale: these are not results."
    above = [f"Stale: {why}." for why in reasons] if anyway else []
    above += [f"{one} is left out: {_refusal(verdicts.problems[one])}." for one in left_out]
    if seed:
        where = {row["paper"] for row in chosen if row["seed"] == seed}
        above.insert(0, exploratory_words(seed, where if len(papers) > len(where) else ()))
    return "\n\n".join(filter(None, ["\n".join(above), text]))


def criteria_words(configs: Sequence[Path], paper: str | None, results: Path | None) -> str:
    """Return a table of each paper's rates by several criteria of success, or of one paper."""
    config, ledgers = load(configs)
    show.check_choice(list(ledgers), paper, None)
    verdicts = latest_verdicts(config, ledgers, results)
    findings, claims, parts = verdicts.findings(ledgers), claims_of(ledgers), []
    for one in [paper] if paper else ledgers:
        if reasons := verdicts.problems[one]:
            raise StoreError(_refusal(reasons))
        heads = show.chosen(verdicts.rows, None, one, None)
        table = criteria.in_words(criteria.met(claims, heads, findings or ()))
        parts.append("\n".join([ledgers[one].title, *show.view.aligned(table)]))
    return "\n\n".join([*parts, f"From {verdicts.place}."])


def _refusal(reasons: Sequence[str], claim: str | None = None, paper: str = "") -> str:
    """Return why verdicts are not shown, and the remedy."""
    more = f" ({len(reasons)} reasons in all)" if len(reasons) > 1 else ""
    ways = [ANEW, "--anyway shows it as it is"]
    if claim:
        ways.insert(1, f"`fairbandits audit {paper} --only {claim}` judges it on the data at hand")
    return f"{reasons[0]}{more}; {', '.join(ways[:-1])}, and {ways[-1]}"


def exploratory_words(seed: str, papers: Iterable[str] = ()) -> str:
    """Return the warning above exploratory verdicts: their data can be older than their rules."""
    of = f" of {', '.join(papers)}" if papers else ""
    return (
        f"Exploratory: the data{of} have seed {seed}, which does not follow from the present "
        "rules; the rules can be younger than the data."
    )


def deviations_words(configs: Sequence[Path], paper: str | None) -> str:
    """Return the changes made to the audit of all papers, or of one."""
    _, ledgers = load(configs)
    show.check_choice(list(ledgers), paper, None)
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    chosen = [one for name, one in ledgers.items() if paper in (None, name)]
    return "\n\n".join(show.deviations(one, width) for one in chosen)

"""The audit's commands: their input, their order, their output."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.audit import show
from fairbandits.audit.cases import Question
from fairbandits.audit.committed import (
    FINDINGS_TABLE,
    VERDICTS_TABLE,
    apart,
    read_findings_csv,
    stale_findings_csv,
    write_tables,
)
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.finding import FAILED
from fairbandits.audit.judge import Answer, Asking, answers, asked, judge
from fairbandits.audit.ledger import Claim, Ledger, Test, load_ledgers
from fairbandits.audit.power import replicates_needed, why_none
from fairbandits.audit.records import (
    ANEW,
    Made,
    committed,
    hash_of,
    made_of,
    read_csv,
    read_findings,
    read_verdicts,
    source_of,
    stale,
    stale_csv,
    write_joint_findings,
    written_out,
)
from fairbandits.audit.records import write_verdicts as write_verdict_table
from fairbandits.data.provenance import replay_code
from fairbandits.data.store import StoreError, read_footer
from fairbandits.replication.datasets import locked_content, refuse_stale
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
    of_data = of_the_data(config, results)
    evidence = Evidence(of_data, paper, results)
    found = list(answers(ledger, evidence, only))
    scale = "smoke" if evidence.small or config.scale == "smoke" else "paper"
    seed = of_data.seed_of(paper)
    made = config.seed if seed == config.seed_of(paper) else seed
    return found, scale, Made.of(made, results, found)


def of_the_data(config: Config, results: Path) -> Config:
    """Return a configuration with each paper's rules as they were when its data were drawn.

    A new claim, or a change of a rule, gives its paper another seed. Until its runs are drawn anew
    it is judged on the present ones, if all of them are of the same rules.
    """
    if config.exploratory:
        return config
    of_paper: dict[str, set[str | None]] = {}
    for one in config.experiments:
        file = results / one.dataset
        if file.is_file():
            with suppress(StoreError):  # the error is raised where the file is read
                of_paper.setdefault(one.paper, set()).add(read_footer(file).get("ledger"))
    digests = {paper: next(iter(some)) for paper, some in of_paper.items() if len(some) == 1}
    known = {paper: digest for paper, digest in digests.items() if digest}
    return replace(config, rules={**config.rules, **known})


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
    test: Test
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
    tests = {
        (claim.id, test.name): test
        for claim in ledger.claims.values()
        for test in claim.tests
        if test.decides
    }
    deciding = {
        key: replace(claim, tests=tuple(one for one in claim.tests if (key, one.name) in tests))
        for key, claim in ledger.claims.items()
    }
    data: dict[tuple[str, str], Mapping[str, Any]] = {}

    def remembered(claim: Claim, test: Test, evidence: Evidence) -> Iterator[Question]:
        data.clear()  # the datasets of one test at a time
        for question in ask(claim, test, evidence):
            data[question.reading, question.each] = question.data
            yield question

    results = results or ROOT / config.folders["results"]
    evidence = Evidence(of_the_data(config, results), paper, results)
    for one in answers(replace(ledger, claims=deciding), evidence, only, remembered):
        test = tests.get((one.claim, one.test))
        if test is None:  # the claim fails before any
            test = deciding[one.claim].tests[0]
        count, why = None, ""
        if one.finding is not None:
            question = test.procedure, data[one.reading, one.each], test.settings, one.finding
            count = replicates_needed(*question, power)
            why = "" if count is not None and isfinite(count) else why_none(*question)
        yield Needed(one, test, count, why)


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
        found = latest_verdicts(config, ledgers, results)
        if reasons := found.problems[paper]:
            raise StoreError(_refusal(reasons))
        wanted = show.chosen(found.rows, None, paper, verdict)
        only = [row["claim"] for row in wanted if ledgers[paper].claims[row["claim"]].tests]
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

    At the published scale nothing is written if a claim failed.
    """
    found, table, scale = read_findings(files, ledgers)
    made = {paper: made_of(file) for file in files for paper in read_footer(file)["ledgers"]}
    verdicts = judge(ledgers, found)
    failed = [
        f"{one.claim.id}: {one.message}"
        for one in verdicts
        if one.headline and one.outcome == FAILED
    ]
    if failed and scale == "paper":
        return failed, False
    write_joint_findings(joint, ledgers, table, scale, made)
    write_verdict_table(out, ledgers, verdicts, scale, made)
    return failed, True


def record(verdicts: Path, findings: Path, ledgers: dict[str, Ledger], folder: Path) -> None:
    """Write the committed tables (`records.committed`) from the full ones, both or neither."""
    rows, scale = read_verdicts(verdicts, ledgers)
    found, _ = read_verdicts(findings, ledgers, "findings")
    kept = committed(ledgers)
    both = ([one for one in some if one["claim"] in kept] for some in (rows, found))
    write_tables(folder, *both, scale)


class Verdicts(NamedTuple):
    """Rows of verdicts, the file that they come from, and the scale of their datasets.

    `problems` maps each paper to the reasons why its verdicts are stale.
    """

    rows: list[dict[str, Any]]
    source: Path
    scale: str
    problems: dict[str, list[str]]

    @property
    def place(self) -> str:
        """The file as it is called inside the project."""
        return _shown(self.source)


def chosen_seed(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the seed of verdicts if it does not follow from their rules, else an empty text."""
    seeds = (row.get("seed", "") for row in rows)
    return next((seed for seed in seeds if seed not in ("", LEDGER)), "")


def _shown(file: Path) -> str:
    return str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file)


def latest_verdicts(
    config: Config, ledgers: dict[str, Ledger], results: Path | None = None
) -> Verdicts:
    """Return the verdicts of the results on disk or, where there are none, the committed ones.

    They are stale if the ledgers have other rules, or the datasets on disk other data, or other
    code made them. Raises StoreError if there are no verdicts.
    """
    results = results or ROOT / config.folders["results"]
    source = results / "audit" / "verdicts.parquet"
    recorded = source.is_file()
    if recorded:
        rows, scale = read_verdicts(source, ledgers, anyway=True)
    else:
        source = ROOT / config.folders.get("audit", "audit") / VERDICTS_TABLE
        rows, scale = read_csv(source, ledgers, anyway=True), config.scale
    problems = {}
    for paper in ledgers:
        own = [row for row in rows if row["paper"] == paper]
        if recorded:
            found = [*stale(source, ledgers, paper), *of_other_data(source, own, results)]
        else:
            found = [*stale_csv(source, ledgers, paper), *_of_findings(source, own, ledgers, paper)]
            found += committed_of_other_data(source, own, results)
        problems[paper] = found
    return Verdicts(rows, source, scale, problems)


def _of_findings(
    source: Path, rows: Sequence[Mapping[str, Any]], ledgers: Mapping[str, Ledger], paper: str = ""
) -> Iterator[str]:
    """Yield the defects of the committed findings; a missing table is none."""
    table = source.with_name(FINDINGS_TABLE)
    if not table.is_file():
        return
    problems = list(stale_findings_csv(table, ledgers, paper))
    yield from problems
    if not problems:
        for one in apart(rows, read_findings_csv(table, ledgers, paper, anyway=True)):
            yield f"{_shown(table)} is not of the same run as {_shown(source)}: {one}"


def findings_behind(
    verdicts: Verdicts, ledgers: Mapping[str, Ledger]
) -> list[dict[str, Any]] | None:
    """Return the findings that verdicts rest on, from the file beside them; None without it."""
    if verdicts.source.suffix == ".parquet":
        file = verdicts.source.with_name("findings.parquet")
        return read_verdicts(file, ledgers, "findings", anyway=True)[0]
    file = verdicts.source.with_name(FINDINGS_TABLE)
    return read_findings_csv(file, ledgers, anyway=True) if file.is_file() else None


def of_other_data(source: Path, rows: Iterable[Mapping[str, Any]], results: Path) -> Iterator[str]:
    """Yield the datasets on disk that verdicts were not made from, or that are stale."""
    sources = made_of(source).sources
    for place in dict.fromkeys(place for row in rows for place in row["data"]):
        file, was = results / place, sources.get(place)
        if was is None or not file.is_file():
            continue
        try:
            now = source_of(file)
            if now["content"] != was["content"]:
                hashes = f"{was['content'] or 'none'}, now {now['content'] or 'none'}"
                yield (
                    f"{_shown(source)} is stale: {_shown(file)} has other content than its "
                    f"verdicts were made from (hash {hashes})"
                )
                continue
            footer = read_footer(file)
            if footer["kind"] == "dataset":
                refuse_stale(footer, file)
            elif footer["code"] != replay_code():
                yield f"{_shown(file)} is stale: code {footer['code']} made it"
        except StoreError as error:
            yield f"{_shown(source)} is stale: {str(error).partition('; ')[0]}"


def committed_of_other_data(
    source: Path, rows: Sequence[Mapping[str, Any]], results: Path
) -> Iterator[str]:
    """Yield the datasets on disk that differ from those behind the committed table.

    It has one hash for all datasets of a verdict, so that they are compared only where all exist.
    """
    said = set()
    for row in rows:
        data = tuple(row["data"])
        places = written_out(data)
        if data in said or not all((results / place).is_file() for place in places):
            continue
        said.add(data)
        now = hash_of({place: source_of(results / place)["content"] for place in places})
        if now != row["data_hash"]:
            yield (
                f"{_shown(source)} is stale: {' '.join(data)} in {_shown(results)} has other "
                f"content than the verdict on {row['claim']} was made from (hash "
                f"{row['data_hash'] or 'not recorded'}, now {now or 'none'})"
            )


def committed_of_other_lock(
    source: Path, rows: Sequence[Mapping[str, Any]], config: Config, lock: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the verdicts of the committed table that rest on other results than the locked ones.

    Recorded runs of released programs are in no lock and not compared.
    """
    for row, now in zip(rows, locked_hashes(rows, config, lock), strict=True):
        if now and row["data_hash"] != now:
            yield (
                f"{_shown(source)}: the verdict on {row['claim']} was made from data with hash "
                f"{row['data_hash'] or 'not recorded'}, results.lock has {now}"
            )


def locked_hashes(
    rows: Sequence[Mapping[str, Any]], config: Config, lock: Mapping[str, Any]
) -> Iterator[str]:
    """Yield each verdict's data hash by the lock; empty if the lock lacks a dataset."""
    contents = {one.dataset: locked_content(one, lock) for one in config.experiments}
    for row in rows:
        yield hash_of({place: contents.get(place, "") for place in written_out(row["data"])})


def problems_of(config: Config, lock: Mapping[str, Any]) -> list[str]:
    """Return the problems of the verdicts on disk, and of the committed ones.

    `lock` is the lock of results (`fairbandits.replication.verify.read_lock`).
    """
    ledgers = load_ledgers(config)
    results = Path(config.folders["results"])
    found = []
    for name in ("verdicts", "findings", *ledgers):
        file = results / "audit" / f"{name}.parquet"
        if not (ledgers and file.is_file()):
            continue
        try:
            kind = "verdicts" if name == "verdicts" else "findings"
            rows, _ = read_verdicts(file, ledgers, kind, anyway=True)
            found += stale(file, ledgers)
            if name == "verdicts":
                found += of_other_data(file, rows, results)
        except StoreError as error:
            found.append(str(error))
    table = Path(config.folders.get("audit", "")) / VERDICTS_TABLE
    if ledgers and "audit" in config.folders and table.is_file():
        try:
            found += stale_csv(table, ledgers)
            rows = read_csv(table, ledgers, anyway=True)
            found += _of_findings(table, rows, ledgers)
            if not table.with_name(FINDINGS_TABLE).is_file():
                found.append(f"{_shown(table)} has no {FINDINGS_TABLE} beside it; {ANEW}")
            found += committed_of_other_lock(table, rows, config, lock)
        except StoreError as error:
            found.append(str(error))
    return found


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
    every = {key: one for ledger in ledgers.values() for key, one in ledger.claims.items()}
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
        findings = findings_behind(verdicts, ledgers)
        return show.as_json(chosen, verdicts.rows, findings, ledgers, place, scale, made)
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    if claim is None:
        text = show.listing(chosen, width, ledgers)
        if len(ledgers) > 1 and paper is None:
            text += f"\n\nIn all {show.tally(chosen)}"
    elif not chosen:
        raise StoreError(f"{verdicts.place} has no verdict on {claim}; {ANEW}")
    else:
        text = _explained(every[claim], ledgers, config, verdicts, width)
    text += f"\n\nFrom {verdicts.place}."
    if verdicts.scale == "smoke":
        text += " Smoke scale: these are not results."
    above = [f"Stale: {why}." for why in reasons] if anyway else []
    above += [f"{one} is left out: {_refusal(verdicts.problems[one])}." for one in left_out]
    if seed:
        where = {row["paper"] for row in chosen if row["seed"] == seed}
        above.insert(0, exploratory_words(seed, where if len(papers) > len(where) else ()))
    return "\n\n".join(filter(None, ["\n".join(above), text]))


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


def _explained(
    claim: Claim, ledgers: dict[str, Ledger], config: Config, verdicts: Verdicts, width: int
) -> str:
    own = [row for row in verdicts.rows if row["claim"] == claim.id]
    findings = findings_behind(verdicts, ledgers)
    return show.explanation(claim, ledgers, config, own, findings, width)

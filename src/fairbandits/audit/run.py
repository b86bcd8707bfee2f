"""The audit's commands: their input, their order, their output."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from fairbandits.audit import records, show, words
from fairbandits.audit.cells import Evidence
from fairbandits.audit.claims import Claim, Ledger, Ledgers
from fairbandits.audit.finding import FAILED, OUTCOMES
from fairbandits.audit.judge import Answer, answers, judge
from fairbandits.audit.ledger import load_ledgers, with_settings
from fairbandits.audit.procedures import STATISTICS, parameters_of
from fairbandits.audit.quantities import quantity
from fairbandits.audit.records import Made, answer_of, read, verdict_row
from fairbandits.audit.staleness import chosen_seed, latest_verdicts
from fairbandits.audit.tables import ANEW, claims_of, committed, csv_rows, csv_text, write_text
from fairbandits.data.provenance import git_commit
from fairbandits.data.store import StoreError, read_footer
from fairbandits.settings.config import LEDGER, Config, load_config
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import ROOT, ConfigError, meant
from fairbandits.settings.variants import setting_of

#: The history of full runs, to which lines are only added. `seed` is "ledger" or a chosen number,
#: `commit` that of the code, ``+`` after it if changed.
RUNS_TABLE = "runs.csv"
OF_RUNS = ("paper", "rules", "seed", "salt", "totals", "date", "commit")
#: Width where there is no terminal.
WIDTH = 120


def width() -> int:
    return shutil.get_terminal_size((WIDTH, 24)).columns


def load(configs: Sequence[Path]) -> tuple[Config, Ledgers]:
    """Return a configuration and its ledgers; a process reads them once while no file changes."""
    stats = [one.stat() for one in (*configs, *ROOT.glob("papers/**/*.yaml")) if one.is_file()]
    return _loaded(tuple(configs), tuple((one.st_mtime_ns, one.st_size) for one in stats))


@lru_cache(1)
def _loaded(configs: tuple[Path, ...], _: tuple[tuple, ...]) -> tuple[Config, Ledgers]:
    return (config := load_config(configs)), load_ledgers(config)


def find(
    config: Config, ledger: Ledger, results: Path | None = None, only: Sequence[str] = ()
) -> tuple[list[Answer], str, Made]:
    """Return the findings of a paper's tests, the scale of its datasets, and their origin."""
    for one in only:
        expect_known(one, ledger.claims, f"{ledger.paper} has no claim {one!r}")
    evidence = Evidence(config, ledger.paper, results or ROOT / config.results)
    found = list(answers(ledger, evidence, only))
    scale = "smoke" if evidence.small or config.scale == "smoke" else "paper"
    seed = config.seed if evidence.older is None else evidence.older
    return found, scale, Made.of(seed, evidence.results, found)


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
    files: Sequence[Path], ledgers: Ledgers, joint: Path, out: Path
) -> tuple[list[str], bool]:
    """Judge the claims of all papers; return a line for each failed claim, and whether it wrote."""
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
    heads = (one for one in verdicts if one.headline and one.outcome == FAILED)
    failed = [f"{one.claim.id}: {one.message}" for one in heads]
    if failed and scale == "paper":  # at the published scale all stays as it was
        return failed, False
    # a seed that is a number wins
    seed = next((one.seed for one in made.values() if one.seed != LEDGER), LEDGER)
    origin = Made(seed, {key: one for own in made.values() for key, one in own.sources.items()})
    records.write(joint, "findings", rows, ledgers, scale, origin)
    judged = (verdict_row(ledgers, one, made[one.claim.paper]) for one in verdicts)
    records.write(out, "verdicts", judged, ledgers, scale, origin)
    return failed, True


def record(verdicts: Path, findings: Path, ledgers: Ledgers, folder: Path) -> None:
    """Write the committed tables from the full ones, and a line of history unless it is there."""
    table, found = read(verdicts, ledgers), read(findings, ledgers, "findings")
    kept = committed(ledgers)
    rows = ([row for row in one.rows if row["claim"] in kept] for one in (table, found))
    records.write_committed(folder, *rows, table.scale)
    records.write_parts(folder, ledgers)
    history = folder / RUNS_TABLE
    for paper, ledger in ledgers.items():
        heads = [row for row in table.rows if row["headline"] and row["paper"] == paper]
        same = [paper, ledger.digest, chosen_seed(heads) or LEDGER, "", str(show.tally(heads))]
        if not any([one[name] for name in OF_RUNS[:5]] == same for one in csv_rows(history)):
            known = history.is_file()
            before = history.read_text(encoding="utf-8") if known else csv_text([OF_RUNS])
            line = [*same, datetime.now(UTC).strftime("%Y-%m-%d"), git_commit()]
            write_text(history, before + csv_text([line]))


def claims_words(
    configs: Sequence[Path],
    claim: str | None,
    paper: str | None,
    verdict: str | None,
    as_json: bool,
    results: Path | None,
) -> str:
    """Return a list of claims with their verdicts, or an explanation of one claim."""
    config, ledgers = load(configs)
    every = claims_of(ledgers)
    if claim is not None:
        expect_known(claim, every, f"no claim {claim!r}")
    if paper is not None:
        expect_known(paper, ledgers, f"no claims of paper {paper!r}")
    outcome = verdict and verdict.replace("-", " ").replace("_", " ").lower()
    if outcome not in (None, *OUTCOMES):
        raise ConfigError(f"no verdict {verdict!r}; there are: {', '.join(OUTCOMES)}")
    verdicts = latest_verdicts(config, ledgers, results)
    papers = [every[claim].paper] if claim else [paper] if paper else list(ledgers)
    left_out = [one for one in papers if verdicts.problems[one]]
    if left_out and (claim or as_json or len(left_out) == len(papers)):
        reasons = dict.fromkeys(why for one in left_out for why in verdicts.problems[one])
        raise StoreError(_refusal(list(reasons), claim, papers[0]))
    wanted = {"headline": True, "claim": claim, "paper": paper, "verdict": outcome}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    rows = [row for row in verdicts.rows if wanted.items() <= row.items()]
    rows = [row for row in rows if row["paper"] not in left_out]
    seed = chosen_seed(rows)
    findings = verdicts.findings(ledgers) if claim or as_json else None
    if as_json:
        facts = {"source": verdicts.place, "scale": verdicts.scale}
        facts["exploratory"] = bool(seed)
        return show.as_json(rows, verdicts.rows, findings, ledgers, facts)
    if claim is None:
        text = show.listing(rows, width(), ledgers)
        if not text:
            text = f"No claim{' of ' + paper if paper else ''} has the verdict {outcome}."
        elif len(ledgers) > 1 and paper is None:
            text += f"\n\nIn all {show.tally(rows)}"
    elif rows:
        own = [row for row in verdicts.rows if row["claim"] == claim]
        text = show.explanation(every[claim], ledgers, own, findings, width(), config)
    else:
        raise StoreError(f"{verdicts.place} has no verdict on {claim}; {ANEW}")
    text += f"\n\nFrom {verdicts.place}."
    if verdicts.scale == "smoke":
        text += " Smoke scale: these are not results."
    above = [f"{one} is left out: {_refusal(verdicts.problems[one])}." for one in left_out]
    if seed:
        where = {row["paper"] for row in rows if row["seed"] == seed}
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
    ledgers: Ledgers,
    claim: str,
    changes: Iterable[str],
    results: Path | None = None,
) -> str:
    """Return the verdicts on a claim, or on what it is an alias of, as it is and with changes.

    A change is ``SETTING=VALUE``, for all deciding tests that have it, or ``TEST.SETTING=VALUE``.
    """
    claims = claims_of(ledgers)
    expect_known(claim, claims, f"no claim {claim!r}")
    own = claims[claims[claim].alias_of or claim]
    changed, said = _with_changes(own, changes)
    results = results or ROOT / config.results
    judged, made = _judged(config, ledgers[own.paper], (own, changed), results)
    rows = [row for pair in zip(*judged, strict=True) for row in pair]
    statistics = {STATISTICS[row["procedure"]] for row in rows if row["procedure"]}
    name = statistics.pop() if len(statistics) == 1 else "number"
    deciding = (one for one in own.tests if one.decides)
    numbers = dict.fromkeys(str(quantity(one, ledgers[own.paper])) for one in deciding)
    table = words.questions(rows, name, ["as it is", "what if"] * len(judged[0]))
    given = {"claim": own, "changes": said, "numbers": numbers, "table": table}
    given["exploratory"] = made.exploratory and exploratory_words(made.seed)
    return show.TEMPLATES.get_template("what_if.txt").render(given).rstrip()


def _with_changes(claim: Claim, changes: Iterable[str]) -> tuple[Claim, list[str]]:
    """Return a claim with changed settings of its deciding tests, and the changes in words."""
    if not claim.tests:
        why = f"{', '.join(claim.judged_by)} judge it" if claim.judged_by else "it is not testable"
        raise ConfigError(f"{claim.id} has no rule of its own whose settings could change: {why}")
    tests = {test.name: test for test in claim.tests}
    said = []
    for change in changes:
        name, value = setting_of(change, "margin=0.05")
        setting = name.rpartition(".")[2]
        for test in _meant(claim, name):
            before = tests[test].settings.get(setting, "the procedure's own")
            if before == value:
                raise ConfigError(f"--set {name}: in {claim.id} it is {value} already")
            tests[test] = with_settings(tests[test], {setting: value}, claim.id)
            said.append(f"{setting} = {value} in place of {before} (test {test})")
    return claim.model_copy(update={"tests": tuple(tests.values())}), said


def _meant(claim: Claim, name: str) -> list[str]:
    """Return the names of the deciding tests with a setting; ConfigError if there are none."""
    takes = ((test.name, parameters_of(test.procedure)) for test in claim.tests if test.decides)
    allowed = [f"{test}.{one}" for test, given in takes for one in given["settings"]]
    own = [one.partition(".")[0] for one in allowed if name in (one, one.partition(".")[2])]
    if not own:
        near = meant(name, allowed).partition("; known")[0]
        raise ConfigError(
            f"--set {name}: no deciding test of {claim.id} has this setting{near}"
            f"{' Allowed' if near else '; allowed'}: {', '.join(allowed)}"
        )
    return own


def _judged(
    config: Config, ledger: Ledger, claims: Sequence[Claim], results: Path
) -> tuple[list[list[dict[str, Any]]], Made]:
    """Return the verdict rows on versions of a claim, judged with its family, and their origin."""
    same = claims[0]
    family = {key: one for key, one in ledger.claims.items() if one.family == same.family}
    others: list[Answer] = []
    if ledger.families[same.family].correction == "holm":
        found, _, _ = find(config, replace(ledger, claims=family), results)
        others = [one for one in found if one.claim != same.id]
    judged = []
    for claim in claims:
        changed = replace(ledger, claims=family | {claim.id: claim})
        alone = {ledger.paper: changed}
        own, _, made = find(config, changed, results, [claim.id])
        verdicts = [one for one in judge(alone, [*own, *others]) if one.claim is claim]
        if verdicts[0].outcome == FAILED:
            raise StoreError(f"{claim.id} cannot be judged: {verdicts[0].message}")
        judged.append([verdict_row(alone, one, made) for one in verdicts])
    return judged, made

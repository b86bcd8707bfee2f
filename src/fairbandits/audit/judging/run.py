"""From a file of a user's own claims to verdicts: checked, frozen, simulated, judged, written."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fairbandits.audit.finding import FAILED
from fairbandits.audit.judge import Verdict, judge
from fairbandits.audit.judging import data
from fairbandits.audit.judging.history import Frozen, freeze, note_judged, others
from fairbandits.audit.judging.report import as_json, exact_instead, report, seed_words, seen_words
from fairbandits.audit.judging.rules import OWN, Rules, load_rules
from fairbandits.audit.records import (
    FINDINGS_TABLE,
    VERDICTS_TABLE,
    finding_row,
    verdict_row,
    write_committed,
    write_text,
)
from fairbandits.audit.run import find, width
from fairbandits.audit.show import listing, tally
from fairbandits.audit.totals import left_out
from fairbandits.data.store import StoreError
from fairbandits.settings.config import LEDGER

REPORT = "report.md"


class Checked(NamedTuple):
    """Checked rules, and roughly how many seconds their data take."""

    rules: Rules
    seconds: float


def check(file: Path, seed: int | str = LEDGER, *, cores: int = 1, long: bool = False) -> Checked:
    """Return the rules of a file, after everything that can be checked without data."""
    rules = load_rules(file, seed)
    costs = data.rehearse(rules)
    if not long:
        data.refuse_long(rules, costs, cores)
    return Checked(rules, sum(data.seconds(rules, costs).values()) / cores)


def checked_words(found: Checked) -> str:
    """Return the message about rules that passed the check."""
    rules = found.rules
    tests = sum(len(claim.tests) for claim in rules.ledger.claims.values())
    return (
        f"{rules.file}: {len(rules.ledger.claims)} claims, {tests} tests; rules {rules.digest}, "
        f"seed {rules.seed}; to simulate takes about {data.in_words(found.seconds)}"
    )


def judged(
    file: Path,
    out: Path,
    *,
    seed: int | str = LEDGER,
    cores: int = 1,
    long: bool = False,
    json: bool = False,
    say: Callable[[str], None] = lambda words: None,
    progress: bool = False,
) -> str:
    """Freeze a file's rules, simulate, judge its claims, write all of it, and return the verdicts.

    A number as `seed` makes them exploratory. If a claim fails, StoreError is raised and no verdict
    is written.
    """
    rules, seconds = check(file, seed, cores=cores, long=long)
    own, history = freeze(out, rules)
    for line in frozen_words(rules, own, history):
        say(line)
    if not own.judged:
        say(f"To simulate takes about {data.in_words(seconds)}.")
    results = out / own.key
    if not data.simulate(rules.config, results, cores, progress=progress):
        say(f"The data of these rules are in {results}, and are used again.")
    ledgers = {OWN: rules.ledger}
    found, _, made = find(rules.config, ledgers, OWN, results)
    verdicts = judge(ledgers, found)
    _refuse_failed(verdicts)
    rows = [verdict_row(ledgers, one, made) | {"left_out": left_out(one.claim)} for one in verdicts]
    findings = [finding_row(rules.ledger, one, made) for one in found]
    # recorded before anything is shown, so that every look at results leaves a trace
    own = note_judged(out, own, tally(rows).counted)
    text = report(rules, own, history, rows, findings)
    write_committed(results, rows, findings, "paper")
    write_text(results / REPORT, text)
    for claim in rules.ledger.claims.values():
        for line in exact_instead(claim, findings):
            say(line)
    files = [results / name for name in (REPORT, VERDICTS_TABLE, FINDINGS_TABLE)]
    say(f"Written: {', '.join(map(str, files))}.")
    if json:
        return as_json(rules, own, history, rows, findings)
    return listing([row for row in rows if row["headline"]], width())


def frozen_words(rules: Rules, own: Frozen, history: list[Frozen]) -> list[str]:
    """Return the message before simulation: which rules, frozen when, and what was seen since."""
    lines = [f"Rules {own.digest}, frozen {own.frozen}. {seed_words(own, rules.seed)}"]
    before, _ = others(history, own)
    if before and not own.judged:
        last = before[-1]
        lines.append(f"{len(before)} before these in this folder. {seen_words(before)}")
        since = f"{last.digest}, which was frozen {last.frozen}"
        lines.append(f"Changed since {since}, so that new data are drawn:")
        lines += [f"  {one}" for one in last.changes_to(own)]
    return lines


def _refuse_failed(verdicts: list[Verdict]) -> None:
    failed = [one for one in verdicts if one.headline and one.outcome == FAILED]
    if failed:
        lines = "\n".join(f"{one.claim.id}: {one.message}" for one in failed)
        many = f"{len(failed)} claims" if len(failed) > 1 else "1 claim"
        raise StoreError(
            f"{many} failed, so that no verdict is written or shown; the data stay\n{lines}"
        )

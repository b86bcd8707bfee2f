"""The verdict on a claim with other settings of its rules, from the data at hand."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairbandits.audit.claims import Claim, Ledger, Ledgers
from fairbandits.audit.finding import FAILED
from fairbandits.audit.judge import Answer, judge
from fairbandits.audit.ledger import with_settings
from fairbandits.audit.procedures import STATISTICS, parameters_of
from fairbandits.audit.quantities import quantity
from fairbandits.audit.records import Made, answer_of, read, verdict_row
from fairbandits.audit.run import exploratory_words, find
from fairbandits.audit.tables import ANEW, claims_of
from fairbandits.audit.words import aligned, questions
from fairbandits.data.store import StoreError
from fairbandits.settings.config import Config
from fairbandits.settings.formulas import plain
from fairbandits.settings.schemas import ROOT, ConfigError, meant, parse_yaml

#: Closing words about changed settings.
WHAT_IF = """\
Both are computed now, from the data at hand, and nothing is written. What counts is the verdict by
the rule that was fixed before the data."""


def answer(
    config: Config,
    ledgers: Ledgers,
    claim: str,
    changes: Iterable[str],
    results: Path | None = None,
) -> str:
    """Return the verdicts on a claim, or on what it is an alias of, as it is and with changes.

    A change is ``SETTING=VALUE``, for all deciding tests that have it, or ``TEST.SETTING=VALUE``,
    with a value in YAML; ConfigError for an unknown setting, and an invalid or unchanged value.
    """
    claims = claims_of(ledgers)
    if claim not in claims:
        raise ConfigError(f"no claim {claim!r}{meant(claim, list(claims))}")
    own = claims[claims[claim].alias_of or claim]
    changed, words = _with_changes(own, changes)
    results = results or ROOT / config.folders["results"]
    judged, made = _judged(config, ledgers[own.paper], (own, changed), results)
    rows = [row for pair in zip(*judged, strict=True) for row in pair]
    statistics = {STATISTICS[row["procedure"]] for row in rows if row["procedure"]}
    name = statistics.pop() if len(statistics) == 1 else "number"
    deciding = (one for one in own.tests if one.decides)
    numbers = dict.fromkeys(str(quantity(one, ledgers[own.paper])) for one in deciding)
    table = questions(rows, name, ["as it is", "what if"] * len(judged[0]))
    lines = [
        *([exploratory_words(made.seed), ""] if made.exploratory else []),
        *(f"{own.id}: {plain(own.statement)}", "", f"What if {'; '.join(words)}?"),
        *(f"  number: {what}" for what in numbers),
        *("", *aligned(table), "", WHAT_IF),
    ]
    return "\n".join(lines)


def _with_changes(claim: Claim, changes: Iterable[str]) -> tuple[Claim, list[str]]:
    """Return a claim with changed settings of its deciding tests, and the changes in words."""
    if not claim.tests:
        why = f"{', '.join(claim.judged_by)} judge it" if claim.judged_by else "it is not testable"
        raise ConfigError(f"{claim.id} has no rule of its own whose settings could change: {why}")
    tests = {test.name: test for test in claim.tests}
    words = []
    for change in changes:
        name, equals, text = change.partition("=")
        if not (name and equals and text.strip()):
            raise ConfigError(
                f"--set needs a setting and a value, as in margin=0.05; got {change!r}"
            )
        value = parse_yaml(text, f"--set {name}")
        setting = name.rpartition(".")[2]
        for test in _meant(claim, name):
            before = tests[test].settings.get(setting, "the procedure's own")
            if before == value:
                raise ConfigError(f"--set {name}: in {claim.id} it is {value} already")
            tests[test] = with_settings(tests[test], {setting: value}, claim.id)
            words.append(f"{setting} = {value} in place of {before} (test {test})")
    return replace(claim, tests=tuple(tests.values())), words


def _meant(claim: Claim, name: str) -> list[str]:
    """Return the names of the deciding tests with a setting; ConfigError if there are none."""
    takes = {test.name: parameters_of(test.procedure) for test in claim.tests if test.decides}
    allowed = [
        f"{test}.{one}"
        for test, given in takes.items()
        for one in (*given.settings, *given.optional_settings)
    ]
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
    """Return the verdict rows on each version of a claim by the data at hand, and their origin.

    Findings on the other claims of a family that is corrected together are of the last audit.
    """
    same, paper = claims[0], ledger.paper
    family = {key: one for key, one in ledger.claims.items() if one.family == same.family}
    of_family = replace(ledger, claims=family)
    others: list[Answer] = []
    if ledger.families[same.family].correction == "holm":
        file = results / "audit" / "findings.parquet"
        if not file.is_file():
            raise StoreError(
                f"{file} does not exist, and {same.id} is judged together with the other claims of "
                f"its family; {ANEW}"
            )
        rows = read(file, {paper: of_family}, "findings", anyway=True).rows
        rows = [row for row in rows if of_family.test(row["claim"], row["test"])]
        others = [answer_of(row) for row in rows if row["claim"] != same.id]
    judged = []
    for claim in claims:
        alone = {paper: replace(ledger, claims=family | {claim.id: claim})}
        own, _, made = find(config, alone, paper, results, [claim.id])
        verdicts = [one for one in judge(alone, [*own, *others]) if one.claim is claim]
        if verdicts[0].outcome == FAILED:
            raise StoreError(f"{claim.id} cannot be judged: {verdicts[0].message}")
        judged.append([verdict_row(alone, one, made) for one in verdicts])
    return judged, made

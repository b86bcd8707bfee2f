"""The verdict on a claim with other settings of its rules, from the data at hand."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairbandits.audit.claims import Claim, Ledger, Test
from fairbandits.audit.finding import FAILED
from fairbandits.audit.judge import judge
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


def with_changes(claim: Claim, changes: Iterable[str]) -> tuple[Claim, list[str]]:
    """Return a claim with changed settings of its deciding tests, and the changes in words.

    Changes are ``SETTING=VALUE``, for all deciding tests that have it, or ``TEST.SETTING=VALUE``,
    with values in YAML. Raises ConfigError for an unknown setting, and an invalid or unchanged
    value.
    """
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
        own, setting = _meant(claim, tests, name)
        for test in own:
            before = test.settings.get(setting, "the procedure's own")
            if before == value:
                raise ConfigError(f"--set {name}: in {claim.id} it is {value} already")
            tests[test.name] = with_settings(test, {setting: value}, claim.id)
            words.append(f"{setting} = {value} in place of {before} (test {test.name})")
    return replace(claim, tests=tuple(tests.values())), words


def _meant(claim: Claim, tests: Mapping[str, Test], name: str) -> tuple[list[Test], str]:
    """Return the deciding tests that a change is for, and the setting."""
    takes = {one.name: parameters_of(one.procedure) for one in claim.tests if one.decides}
    known = {test: [*of.settings, *of.optional_settings] for test, of in takes.items()}
    test, _, setting = name.rpartition(".")
    own = [tests[one] for one in known if test in ("", one) and setting in known[one]]
    if not own:
        allowed = [f"{one}.{key}" for one, keys in known.items() for key in keys]
        near = meant(name, allowed).partition("; known")[0]
        raise ConfigError(
            f"--set {name}: no deciding test of {claim.id} has this setting{near}"
            f"{' Allowed' if near else '; allowed'}: {', '.join(allowed)}"
        )
    return own, setting


def answer(
    config: Config,
    ledgers: Mapping[str, Ledger],
    claim: str,
    changes: Iterable[str],
    results: Path | None = None,
) -> str:
    """Return the verdicts on a claim, judged anew, with its own settings and with changed ones.

    An alias is replaced by the claim that it stands for; `changes` are as in `with_changes`.
    """
    claims = claims_of(ledgers)
    if claim not in claims:
        raise ConfigError(f"no claim {claim!r}{meant(claim, list(claims))}")
    own = claims[claims[claim].alias_of or claim]
    changed, words = with_changes(own, changes)
    before, made = judged(config, ledgers, own, results)
    after, _ = judged(config, ledgers, changed, results)
    rows = [row for pair in zip(before, after, strict=True) for row in pair]
    statistics = {STATISTICS[row["procedure"]] for row in rows if row["procedure"]}
    name = statistics.pop() if len(statistics) == 1 else "number"
    table = questions(rows, name, ["as it is", "what if"] * len(before))
    deciding = (one for one in own.tests if one.decides)
    numbers = dict.fromkeys(str(quantity(one, ledgers[own.paper])) for one in deciding)
    head = [f"{own.id}: {plain(own.statement)}", "", f"What if {'; '.join(words)}?"]
    lines = [*head, *(f"  number: {what}" for what in numbers), "", *aligned(table), ""]
    text = "\n".join([*lines, WHAT_IF])
    return f"{exploratory_words(made.seed)}\n\n{text}" if made.exploratory else text


def judged(
    config: Config, ledgers: Mapping[str, Ledger], claim: Claim, results: Path | None
) -> tuple[list[dict[str, Any]], Made]:
    """Return the verdict rows on a claim by the data at hand, and what they were made from.

    The claim's settings can differ from its ledger's. Findings of the other claims of its family
    come from the last audit; StoreError if its family is corrected together and there has been
    none.
    """
    results = results or ROOT / config.folders["results"]
    ledger = ledgers[claim.paper]
    family = {key: one for key, one in ledger.claims.items() if one.family == claim.family}
    own = replace(ledger, claims=family | {claim.id: claim})
    alone = {claim.paper: own}
    found, _, made = find(config, alone, claim.paper, results, [claim.id])
    if ledger.families[claim.family].correction == "holm":
        file = results / "audit" / "findings.parquet"
        if not file.is_file():
            raise StoreError(
                f"{file} does not exist, and {claim.id} is judged together with the other claims "
                f"of its family; {ANEW}"
            )
        rows = read(file, alone, "findings", anyway=True).rows
        found += [
            answer_of(row)
            for row in rows
            if row["claim"] != claim.id and own.test(row["claim"], row["test"])
        ]
    rows = [verdict_row(alone, one, made) for one in judge(alone, found) if one.claim is claim]
    if rows[0]["verdict"] == FAILED:
        raise StoreError(f"{claim.id} cannot be judged: {rows[0]['message']}")
    return rows, made

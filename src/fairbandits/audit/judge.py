"""From the ledger and the recorded runs to findings, and from findings to verdicts.

Both steps are pure functions. A procedure's random numbers are seeded from the question's own name,
so that a finding does not depend on which others are made, or in what order. A claim fails where a
dataset is missing, a test breaks or a procedure refuses its data: that is no verdict, and leaves
the other claims alone.
"""

import hashlib
import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairbandits.audit.cases import Question, questions
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Finding,
)
from fairbandits.audit.ledger import Claim, Ledger, Test
from fairbandits.audit.multiplicity import combine, within_family
from fairbandits.audit.power import NEEDED, replicates_needed
from fairbandits.audit.procedures import PROCEDURES, judged_against, parameters_of
from fairbandits.data.store import StoreError
from fairbandits.settings.schemas import ConfigError, meant

#: Most resamples at a smaller scale, where runs only show that everything works.
SMALL_RESAMPLES = 500

Asking = Callable[[Claim, Test, Evidence], Iterator[Question]]


@dataclass(frozen=True)
class Answer:
    """A test's finding on one question, or the reason why there is none.

    `test` is empty where the claim fails before any test. `against` holds the reference values of
    the statistic, the main one first; `data` the datasets read, relative to the folder of results.
    """

    claim: str
    test: str = ""
    reading: str = ""
    each: str = ""
    finding: Finding | None = None
    against: Mapping[str, float] = field(default_factory=dict)
    data: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True)
class Verdict:
    """Verdict on a claim under one reading.

    `reading` is empty for a claim without readings, and for the joint verdict of several;
    `headline` says whether this verdict stands for the claim. `finding`, of `test` and `each`,
    decides it, after the correction for its family; it is None where other claims judge, or nothing
    can. `data` are the datasets of the deciding tests; `message` says why the claim failed.
    """

    claim: Claim
    reading: str
    headline: bool
    outcome: str
    tags: tuple[str, ...] = ()
    finding: Finding | None = None
    test: str = ""
    each: str = ""
    against: Mapping[str, float] = field(default_factory=dict)
    data: tuple[str, ...] = ()
    message: str = ""


# ---------------------------------------------------------------------------- from data to findings


def asked(claim: Claim, test: Test, evidence: Evidence) -> Iterator[Question]:
    """Yield the questions of a test, as its record says."""
    yield from questions(test.plan, claim.readings, evidence)


def answers(
    ledger: Ledger, evidence: Evidence, only: Sequence[str] = (), ask: Asking = asked
) -> Iterator[Answer]:
    """Yield the findings of each test of a paper's claims, in the order of the ledger.

    `only` restricts this to some claims; `ask` returns the questions of a claim's test.
    """
    for claim in ledger.claims.values():
        if not claim.tests or (only and claim.id not in only):
            continue
        if problem := _unusable(claim, evidence):
            yield Answer(claim.id, message=problem)
            continue
        for test in claim.tests:
            yield from _of_test(claim, test, evidence, ask)


def _unusable(claim: Claim, evidence: Evidence) -> str:
    """Return the defects of the datasets that a claim names, or nothing."""
    for name in claim.experiments:
        try:
            evidence.check(name)
        except (ConfigError, StoreError) as error:
            return str(error)
    return ""


def _of_test(claim: Claim, test: Test, evidence: Evidence, ask: Asking) -> list[Answer]:
    evidence.read.clear()
    found: list[Answer] = []
    put: set[tuple[str, str]] = set()
    try:
        for question in ask(claim, test, evidence):
            found.append(_put(claim, test, question, put, evidence.small))
            put.add((question.reading, question.each))
        _need_all_readings(claim, test, put)
        _need_named(claim, evidence)
    except Exception as error:  # a failing test leaves the other claims alone
        found.append(Answer(claim.id, test.name, message=_words(error)))
    read = tuple(file.relative_to(evidence.results).as_posix() for file in evidence.read)
    return [replace(one, data=read) for one in found]


def _put(
    claim: Claim, test: Test, question: Question, put: set[tuple[str, str]], small: bool
) -> Answer:
    """Run a test's procedure on a question; a finding from `small` runs is no result."""
    _check_question(claim, test, question, put)
    answer = Answer(claim.id, test.name, question.reading, question.each)
    procedure = PROCEDURES[test.procedure]
    takes = inspect.signature(procedure).parameters
    rng = {"rng": _generator(claim, test, question)} if "rng" in takes else {}
    settings = dict(test.settings)
    if small and "resamples" in takes:
        usual = settings.get("resamples", takes["resamples"].default)
        settings["resamples"] = min(usual, SMALL_RESAMPLES)
    try:
        finding = procedure(**question.data, **settings, **rng)
    except ValueError as error:
        return replace(answer, message=_words(error))
    if test.decides and finding.verdict == INCONCLUSIVE:
        count = replicates_needed(test.procedure, question.data, settings, finding)
        if count is not None:
            finding = replace(finding, also=finding.also | {NEEDED: count})
    against = judged_against(test.procedure, question.data, test.settings, finding)
    return replace(answer, finding=finding, against=against)


def _generator(claim: Claim, test: Test, question: Question) -> np.random.Generator:
    """Return random numbers that belong to this question alone."""
    place = (f"{name}={value}" for name, value in question.coordinates)
    name = "\0".join((claim.id, test.name, question.reading, *place))
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(name.encode()).digest(), "little"))


def _check_question(
    claim: Claim, test: Test, question: Question, put: set[tuple[str, str]]
) -> None:
    """Raise ValueError unless a question is one that the ledger plans."""
    if question.reading and question.reading not in claim.readings:
        known = meant(question.reading, claim.readings) if claim.readings else ""
        raise ValueError(f"{question.reading!r} is not a reading of the claim{known}")
    if bool(question.each) != bool(test.each):
        planned = f"for each {test.each}" if test.each else "not repeated"
        raise ValueError(f"the ledger says that it is {planned}, got each = {question.each!r}")
    if (question.reading, question.each) in put:
        raise ValueError(
            f"there are two questions with reading {question.reading!r} and each {question.each!r}"
        )
    takes = parameters_of(test.procedure)
    for name in question.data:
        if name not in (*takes.data, *takes.optional_data):
            raise ValueError(f"{test.procedure} has no data {name!r}{meant(name, takes.data)}")
    if missing := [name for name in takes.data if name not in question.data]:
        raise ValueError(f"{test.procedure} needs {', '.join(missing)}")


def _need_all_readings(claim: Claim, test: Test, put: set[tuple[str, str]]) -> None:
    """Raise ValueError unless a deciding test has questions under every reading."""
    given = {reading for reading, _ in put}
    if not given:
        raise ValueError("nothing was asked")
    missing = [one for one in test.under(claim.readings) if not given & {one, ""}]
    if test.decides and missing:
        raise ValueError(f"nothing was asked under reading {missing[0]!r}")


def _need_named(claim: Claim, evidence: Evidence) -> None:
    """Raise ValueError if a test read data that its claim does not name, as the workflow needs."""
    named = {file for name in claim.experiments for file in evidence.files(name)} | evidence.replays
    for file in evidence.read:
        if file not in named:
            raise ValueError(
                f"it reads {file.relative_to(evidence.results)}, which the claim does "
                "not name among its experiments"
            )


def _words(error: Exception) -> str:
    """Return an error as one line, with its place unless its words are meant for a reader."""
    text = " ".join(str(error).split())
    if isinstance(error, ConfigError | StoreError | ValueError):
        return text
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({Path(place.filename).name}, line {place.lineno})"


# ------------------------------------------------------------------------ from findings to verdicts


@dataclass(frozen=True)
class _Of(Finding):
    """A finding with its answer, kept through joining and correction."""

    answer: Answer | None = None


def judge(ledgers: Mapping[str, Ledger], found: Iterable[Answer]) -> list[Verdict]:
    """Return the verdicts on all claims in the ledgers' order, each claim's headline first.

    The verdicts under its readings follow, in the order of its record. Answers may come in any
    order.
    """
    of_claim: dict[str, list[Answer]] = {}
    for one in found:
        of_claim.setdefault(one.claim, []).append(one)
    rows: dict[str, list[Verdict]] = {}
    for ledger in ledgers.values():
        rows |= _tested(ledger, of_claim)
    claims = {key: claim for ledger in ledgers.values() for key, claim in ledger.claims.items()}
    for key, claim in claims.items():
        if claim.untestable:
            rows[key] = [Verdict(claim, "", True, NOT_TESTABLE)]
        elif claim.judged_by:
            rows[key] = _judged_by_others(claim, [rows[judge] for judge in claim.judged_by])
    for key, claim in claims.items():
        if claim.alias_of:
            rows[key] = [replace(row, claim=claim) for row in rows[claim.alias_of]]
    return [row for key in claims for row in rows[key]]


def _tested(ledger: Ledger, of_claim: Mapping[str, Sequence[Answer]]) -> dict[str, list[Verdict]]:
    """Return the verdicts on the claims of one ledger that have tests."""
    claims = [claim for claim in ledger.claims.values() if claim.tests]
    failures = {claim.id: _failure(claim, of_claim.get(claim.id, ())) for claim in claims}
    decided = {
        (claim.id, reading): None
        if failures[claim.id]
        else _decided(claim, reading, of_claim[claim.id], ledger.families[claim.family].level)
        for claim in claims
        for reading in claim.readings or ("",)
    }
    for name, family in ledger.families.items():
        own = {
            key: finding or _UNKNOWN
            for key, finding in decided.items()
            if ledger.claims[key[0]].family == name
        }
        if own and family.correction == "holm":
            corrected = within_family(own, level=family.level)
            decided |= {key: one for key, one in corrected.items() if decided[key]}
    return {
        claim.id: _rows(claim, decided, of_claim.get(claim.id, ()), failures[claim.id])
        for claim in claims
    }


#: A claim that failed still counts in its family: the others must not gain by it.
_UNKNOWN = Finding(np.nan, -np.inf, np.inf, 0, 1.0, INCONCLUSIVE)


def _failure(claim: Claim, found: Sequence[Answer]) -> str:
    """Return why a claim cannot be judged, or nothing."""
    missing = [test.name for test in claim.tests if not any(one.test == test.name for one in found)]
    failed = [one for one in found if one.finding is None]
    if failed:
        first = failed[0]
        place = f"test {first.test}" if first.test else ""
        place += "".join(f", {words}" for words in (first.reading, first.each) if words)
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return f"{place}: {first.message}{more}" if place else first.message
    return f"test {missing[0]}: it was not run" if missing else ""


def _decided(claim: Claim, reading: str, found: Sequence[Answer], level: float) -> Finding:
    """Return the finding that decides a claim under a reading."""
    tests = []
    for test in claim.tests:
        if test.decides and (not reading or test.under([reading])):
            own = [
                _Of(**vars(one.finding), answer=one)
                for one in found
                if one.test == test.name and one.reading in ("", reading)
            ]
            # "always" is about the cases: none lost, most won
            tests += own if claim.combine == "universal" else [_together(own, "all", level)]
    return _together(tests, claim.combine, level)


def _together(found: list[_Of], how: str, level: float) -> _Of:
    """Return the deciding finding of several, with the tags that all cases share."""
    found.sort(key=lambda one: _first(one, one.answer.against))
    joined = combine(found, how=how, level=level)
    own = [one for one in found if one.verdict == joined.verdict] or found
    shared = set.intersection(*(set(one.tags) for one in own))
    before = {tag for one in found for tag in one.tags}
    # tags set by joining itself stay
    tags = tuple(tag for tag in joined.tags if tag in shared or tag not in before)
    return replace(joined, tags=tags)


def _first(finding: Finding, against: Mapping[str, float]) -> tuple[float, str, str]:
    """Sort key that puts the deciding finding first among findings with one verdict.

    Of claims that hold that is the one nearest to its margin, of others the one farthest beyond, in
    units of its own uncertainty.
    """
    distances = [abs(finding.statistic - value) for value in against.values()]
    spread = (finding.high - finding.low) / 2
    distance = min(distances, default=0.0)
    if np.isfinite(spread) and spread > 0:
        distance /= spread
    elif finding.verdict == REPRODUCED and not np.isfinite(spread):
        distance = 0.0
    sign = -1.0 if finding.verdict == NOT_REPRODUCED else 1.0
    answer = getattr(finding, "answer", None)
    return sign * distance, answer.each if answer else "", answer.reading if answer else ""


def _rows(
    claim: Claim,
    decided: Mapping[tuple[str, str], Any],
    found: Sequence[Answer],
    failure: str,
) -> list[Verdict]:
    rows = []
    decides = {test.name for test in claim.tests if test.decides}
    for reading in claim.readings or ("",):
        row = Verdict(claim, reading, False, FAILED, message=failure)
        finding = decided[claim.id, reading]
        if finding is not None:
            read = dict.fromkeys(
                file
                for one in found
                if one.test in decides and one.reading in ("", reading)
                for file in one.data
            )
            answer = finding.answer
            conditional = ("CONDITIONAL",) if claim.basis != "printed" else ()
            row = replace(
                row,
                outcome=finding.verdict,
                tags=(*conditional, *finding.tags),
                finding=finding,
                test=answer.test,
                each=answer.each,
                against=answer.against,
                data=tuple(read),
            )
        rows.append(row)
    return _headed(rows)


def _headed(rows: list[Verdict]) -> list[Verdict]:
    """Return the verdicts under a claim's readings, with the joint verdict before them.

    Where readings disagree the claim stays open: only the paper can say which one it means, and the
    order in the ledger means nothing. Where they agree, the deciding case of all stands for the
    claim.
    """
    if len(rows) == 1:
        return [replace(rows[0], headline=True)]
    outcomes = {row.outcome for row in rows}
    first = rows[0]
    if FAILED in outcomes:
        head = next(row for row in rows if row.outcome == FAILED)
    elif len(outcomes) > 1:
        head = Verdict(first.claim, "", True, DEPENDS, data=_data_of(rows))
    else:
        answers = [row for row in rows if row.finding is not None]
        decides = min(answers, key=lambda row: _first(row.finding, row.against), default=first)
        shared = set.intersection(*(set(row.tags) for row in rows))
        tags = tuple(tag for tag in decides.tags if tag in shared)
        words = ", ".join(filter(None, [decides.each, decides.reading.replace("_", " ")]))
        head = replace(decides, tags=tags, data=_data_of(rows), each=words)
    return [replace(head, reading="", headline=True), *rows]


def _data_of(rows: Iterable[Verdict]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file for row in rows for file in row.data))


def _judged_by_others(claim: Claim, judges: Sequence[Sequence[Verdict]]) -> list[Verdict]:
    """Return the verdicts on a claim that other claims decide.

    Under a reading, those count that have this reading, or none at all; where none has it, and
    where the claim names no reading, their headlines count.
    """
    return _headed([_joined(claim, judges, reading) for reading in claim.readings or ("",)])


def _joined(claim: Claim, judges: Sequence[Sequence[Verdict]], reading: str) -> Verdict:
    """Return the joint verdict of the judges under a reading."""
    headlines = [judge[0] for judge in judges]
    under = [[row for row in judge if row.reading == reading] for judge in judges]
    if not reading or not any(under):
        chosen = headlines
    else:
        chosen = [
            row
            for own, judge in zip(under, judges, strict=True)
            for row in own or [judge[0]] * (len(judge) == 1 and not judge[0].reading)
        ]
    outcomes = {row.outcome for row in chosen}
    tags = ("CONDITIONAL",) if claim.basis != "printed" else ()
    row = Verdict(claim, reading, False, INCONCLUSIVE, tags=tags, data=_data_of(chosen))
    if FAILED in outcomes:
        failed = next(one for one in chosen if one.outcome == FAILED)
        return replace(
            row,
            outcome=FAILED,
            tags=(),
            data=(),
            message=f"judged by {failed.claim.id}: {failed.message}",
        )
    for outcome in (NOT_REPRODUCED, DEPENDS):
        if outcome in outcomes:
            return replace(row, outcome=outcome)
    return replace(row, outcome=REPRODUCED) if outcomes == {REPRODUCED} else row

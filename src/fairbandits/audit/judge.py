"""From the ledger and the recorded runs to findings, and from findings to verdicts."""

import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from fairbandits.audit.cases import Question, questions
from fairbandits.audit.cells import Evidence
from fairbandits.audit.claims import Claim, Ledger, Ledgers, Test
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Finding,
)
from fairbandits.audit.grades import NEEDED, replicates_needed, weakest, weighed
from fairbandits.audit.multiplicity import combine, within_family
from fairbandits.audit.procedures import PROCEDURES, judged_against
from fairbandits.audit.tables import claims_of
from fairbandits.data.store import StoreError
from fairbandits.settings.schemas import ConfigError

DECIDED = (REPRODUCED, NOT_REPRODUCED)
#: Finding on a question without data: nothing meets the condition of the claim.
UNMET = Finding(
    *(np.nan, -np.inf, np.inf, 0, 1.0, INCONCLUSIVE, ("VACUOUS",)), also={"largest inside": np.inf}
)


@dataclass(frozen=True)
class Answer:
    """A test's finding on one question, or the reason why there is none."""

    claim: str
    test: str = ""  # empty where the claim fails before any
    reading: str = ""
    each: str = ""
    finding: Finding | None = None
    against: Mapping[str, float] = field(default_factory=dict)  # references, the main one first
    data: tuple[str, ...] = ()  # datasets read, relative to the folder of results
    message: str = ""


@dataclass(frozen=True)
class Verdict(Answer):
    """Verdict on a claim under a reading, or the joint one; no finding where others judge."""

    claim: Claim
    outcome: str = ""
    tags: tuple[str, ...] = ()
    grade: str = ""  # the weakest that it needs
    headline: bool = False  # whether it stands for the claim


def answers(
    ledger: Ledger, evidence: Evidence, only: Sequence[str] = (), ask: Callable = questions
) -> Iterator[Answer]:
    """Yield the findings on a paper's claims, or on some, in the order of the ledger."""
    for claim in ledger.claims.values():
        if not claim.tests or (only and claim.id not in only):
            continue
        try:
            for name in claim.experiments:
                evidence.check(name)
        except (ConfigError, StoreError) as error:
            yield Answer(claim.id, message=str(error))
            continue
        for test in claim.tests:
            yield from _of_test(claim, test, evidence, ask)


def _of_test(claim: Claim, test: Test, evidence: Evidence, ask: Callable) -> list[Answer]:
    evidence.read.clear()
    found: list[Answer] = []
    try:
        for question in ask(test, claim.readings, evidence):
            if any((one.reading, one.each) == (question.reading, question.each) for one in found):
                raise ValueError(
                    f"there are two questions with reading {question.reading!r} and each "
                    f"{question.each!r}"
                )
            found.append(_answer(claim, test, question))
        under = {one.reading for one in found}
        for reading in test.under(claim.readings) if test.decides else ():
            if under.isdisjoint({reading, ""}):
                raise ValueError(f"nothing was asked under reading {reading!r}")
    except Exception as error:  # a failing test leaves the other claims alone
        found.append(Answer(claim.id, test.name, message=_words(error)))
    read = tuple(file.relative_to(evidence.results).as_posix() for file in evidence.read)
    return [replace(one, data=read) for one in found]


def _answer(claim: Claim, test: Test, question: Question) -> Answer:
    answer = Answer(claim.id, test.name, question.reading, question.each)
    if not question.data:
        against = judged_against(test.procedure, test.settings, UNMET)
        return replace(answer, finding=UNMET, against=against)
    find = partial(PROCEDURES[test.procedure], **test.settings)
    try:
        finding = find(**question.data)
        control = find(**question.control) if question.control else None
    except ValueError as error:
        return replace(answer, message=_words(error))
    against = judged_against(test.procedure, test.settings, finding)
    if test.decides and finding.verdict == INCONCLUSIVE:
        count = replicates_needed(test.procedure, test.settings, finding)
        more = {} if count is None else {NEEDED: count}
        finding = replace(finding, also=finding.also | more)
    return replace(
        answer, finding=weighed(test, finding, control, question.control), against=against
    )


def _words(error: Exception) -> str:
    """Return an error as one line, with its place unless its words are meant for a reader."""
    text = " ".join(str(error).split())
    if isinstance(error, ConfigError | StoreError | ValueError):
        return text
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({Path(place.filename).name}, line {place.lineno})"


@dataclass(frozen=True)
class _Of(Finding):
    """A finding with its answer, kept through joining and correction."""

    answer: Answer = Answer("")

    @property
    def is_empty(self) -> bool:
        return self.verdict == INCONCLUSIVE and not {"TRIVIAL", "VACUOUS"}.isdisjoint(self.tags)


#: A claim that failed still counts in its family: the others must not gain by it.
_UNKNOWN = _Of(np.nan, -np.inf, np.inf, 0, 1.0, INCONCLUSIVE)


def judge(ledgers: Ledgers, found: Iterable[Answer]) -> list[Verdict]:
    """Return the verdicts on all claims in the ledgers' order, a claim's headline first."""
    claims = claims_of(ledgers)
    of_claim: dict[str, list[Answer]] = defaultdict(list)
    for one in found:
        of_claim[one.claim].append(one)
    rows: dict[str, list[Verdict]] = {}
    for ledger in ledgers.values():
        rows |= _tested(ledger, of_claim)
    for key, claim in claims.items():
        if claim.untestable:
            rows[key] = [Verdict(claim, outcome=NOT_TESTABLE, headline=True)]
        elif claim.judged_by:
            judges = [rows[judge] for judge in claim.judged_by]
            readings = claim.readings or ("",)
            rows[key] = _headed([_by_others(claim, judges, reading) for reading in readings])
    for key, claim in claims.items():
        if claim.alias_of:
            rows[key] = [replace(row, claim=claim) for row in rows[claim.alias_of]]
    return [row for key in claims for row in rows[key]]


def _tested(ledger: Ledger, of_claim: Mapping[str, Sequence[Answer]]) -> dict[str, list[Verdict]]:
    rows: dict[str, list[Verdict]] = defaultdict(list)
    for name, family in ledger.families.items():
        claims = [one for one in ledger.claims.values() if one.tests and one.family == name]
        decided = {
            (claim.id, reading): _decided(claim, reading, of_claim[claim.id], family.level)
            for claim in claims
            for reading in claim.readings or ("",)
        }
        if decided and family.correction == "holm":
            decided = within_family(decided, level=family.level)
        for (key, reading), one in decided.items():
            rows[key].append(_under(ledger.claims[key], reading, one, of_claim[key]))
    return {key: _headed(own) for key, own in rows.items()}


def _failure(claim: Claim, found: Sequence[Answer]) -> str:
    if failed := [one for one in found if one.finding is None]:
        first, more = failed[0], f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        if not first.test:
            return first.message
        place = ", ".join(filter(None, (f"test {first.test}", first.reading, first.each)))
        return f"{place}: {first.message}{more}"
    there = {one.test for one in found}
    missing = (test.name for test in claim.tests if test.name not in there)
    return next((f"test {name}: it was not run" for name in missing), "")


def _decided(claim: Claim, reading: str, found: Sequence[Answer], level: float) -> _Of:
    """Return what decides a claim under a reading; empty evidence only where there is no other."""
    if failure := _failure(claim, found):
        return replace(_UNKNOWN, answer=Answer(claim.id, message=failure))
    tests, empty = [], []
    under = [one for one in found if one.reading in ("", reading)]
    for test in claim.tests:
        if test.decides and (not reading or test.under([reading])):
            own = [_Of(**vars(one.finding), answer=one) for one in under if one.test == test.name]
            if not (full := [one for one in own if not one.is_empty]):
                empty += own
            # "always" is about the cases: none lost, most won
            elif claim.combine == "universal":
                tests += full
            else:
                tests.append(_joined(full, "all", level))
    joined = _joined(tests or empty, claim.combine, level)
    in_part = ("IN-PART",) * bool(tests and empty and claim.combine == "all")
    return replace(joined, tags=(*joined.tags, *in_part))


def _joined(found: list[_Of], how: str, level: float) -> _Of:
    """Return the deciding finding of several, with the tags that all cases share."""
    found.sort(key=lambda one: _order(one, one.answer))
    joined = combine(found, how=how, level=level)
    own = [one for one in found if one.verdict == joined.verdict] or found
    shared = set.intersection(*(set(one.tags) for one in own))
    before = {tag for one in found for tag in one.tags}
    # tags set by joining itself stay
    tags = tuple(tag for tag in joined.tags if tag in shared or tag not in before)
    grade = joined.grade  # one finding is enough, or the weakest of all that it needs counts
    if joined.verdict != (REPRODUCED if how == "any" else NOT_REPRODUCED):
        grade = weakest(one.grade for one in found if one.verdict == joined.verdict)
    return replace(joined, tags=tags, grade=grade)


def _order(finding: Finding, answer: Answer) -> tuple[float, str, str]:
    """Sort key that puts the deciding finding first among findings with one verdict."""
    # of claims that hold the nearest to its margin, of others the farthest beyond, in units of
    # its own uncertainty
    values = answer.against.values()
    distance = min((abs(finding.statistic - value) for value in values), default=0.0)
    spread = (finding.high - finding.low) / 2
    if np.isfinite(spread) and spread > 0:
        distance /= spread
    elif finding.verdict == REPRODUCED and not np.isfinite(spread):
        distance = 0.0
    sign = -1.0 if finding.verdict == NOT_REPRODUCED else 1.0
    return sign * distance, answer.each, answer.reading


def _under(claim: Claim, reading: str, finding: _Of, found: Sequence[Answer]) -> Verdict:
    answer = finding.answer
    if answer.message:
        return Verdict(claim, "", reading, outcome=FAILED, message=answer.message)
    decides = {test.name for test in claim.tests if test.decides}
    read = (one for one in found if one.test in decides and one.reading in ("", reading))
    tags = tuple(dict.fromkeys((*_of_record(claim, reading), *finding.tags)))
    grade = finding.grade if finding.verdict in DECIDED else ""
    case = (answer.test, reading, answer.each, finding, answer.against, _data_of(read))
    return Verdict(claim, *case, outcome=finding.verdict, tags=tags, grade=grade)


def _of_record(claim: Claim, reading: str) -> tuple[str, ...]:
    rebuilt = claim.basis != "printed" or reading in claim.conditional
    return ("CONDITIONAL",) * rebuilt + ("IN-PART",) * bool(claim.part)


def _headed(rows: list[Verdict]) -> list[Verdict]:
    """Return the verdicts under a claim's readings, with the joint verdict before them."""
    first, outcomes = rows[0], {row.outcome for row in rows}
    if len(rows) == 1:
        return [replace(first, headline=True)]
    if FAILED in outcomes:
        head = next(row for row in rows if row.outcome == FAILED)
    elif len(outcomes) > 1:
        depends = outcomes >= set(DECIDED)  # only the paper can say which reading it means
        outcome, tags = (DEPENDS, ()) if depends else (INCONCLUSIVE, ("SOME-READINGS",))
        tags += ("CONDITIONAL",) * any("CONDITIONAL" in row.tags for row in rows)
        grade = weakest(row.grade for row in rows) if depends else ""
        data = _data_of(rows)
        head = Verdict(first.claim, data=data, outcome=outcome, tags=tags, grade=grade)
    else:
        found = [row for row in rows if row.finding is not None]
        head = min(found, key=lambda row: _order(row.finding, row.finding.answer), default=first)
        shared = set.intersection(*(set(row.tags) for row in rows))
        tags = tuple(tag for tag in head.tags if tag in shared)
        words = ", ".join(filter(None, [head.each, head.reading.replace("_", " ")]))
        grade = weakest(row.grade for row in rows)
        head = replace(head, tags=tags, data=_data_of(rows), each=words, grade=grade)
    return [replace(head, reading="", headline=True), *rows]


def _data_of(rows: Iterable[Answer | Verdict]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file for row in rows for file in row.data))


def _by_others(claim: Claim, judges: Sequence[Sequence[Verdict]], reading: str) -> Verdict:
    """Return the verdict under a reading on a claim that other claims decide."""
    # verdicts under this reading count, or under none at all; where no judge has it, headlines
    chosen = [judge[0] for judge in judges]
    under = [[row for row in judge if row.reading == reading] for judge in judges]
    if reading and any(under):
        chosen = []
        for own, judge in zip(under, judges, strict=True):
            chosen += own or [judge[0]] * (len(judge) == 1 and not judge[0].reading)
    outcomes = {row.outcome for row in chosen}
    if FAILED in outcomes:
        failed = next(one for one in chosen if one.outcome == FAILED)
        message = f"judged by {failed.claim.id}: {failed.message}"
        return Verdict(claim, "", reading, outcome=FAILED, message=message)
    if outcomes <= {REPRODUCED, DEPENDS}:
        outcome = DEPENDS if DEPENDS in outcomes else REPRODUCED
    else:
        outcome = NOT_REPRODUCED if NOT_REPRODUCED in outcomes else INCONCLUSIVE
    grade = weakest(one.grade for one in chosen if one.outcome == outcome)
    in_part = [tag for one in chosen for tag in one.tags if tag == "IN-PART"]
    tags, data = tuple(dict.fromkeys((*_of_record(claim, reading), *in_part))), _data_of(chosen)
    return Verdict(claim, "", reading, data=data, outcome=outcome, tags=tags, grade=grade)

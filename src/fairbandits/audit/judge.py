"""From findings to verdicts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter

import numpy as np

from fairbandits.audit.claims import Claim, Paper, Papers, claims_of
from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Answer,
    Finding,
    empty_by,
)
from fairbandits.audit.grades import CONSISTENT, weakest
from fairbandits.audit.multiplicity import combine, within_family
from fairbandits.audit.totals import grouped

DECIDED = (REPRODUCED, NOT_REPRODUCED)


@dataclass(frozen=True, kw_only=True)
class Verdict(Answer):
    """Verdict on a claim under a reading, or the joint one, with the finding that decides.

    It has no finding where others judge, or where readings differ.
    """

    claim: Claim
    headline: bool = False  # whether it stands for the claim
    order: tuple[float, str, str] = (0.0, "", "")  # of several the first decides: see `_order`


#: Share of a test's cases that can be identical; of more the rest says too little.
IDENTICAL = 1 / 3
#: A claim that failed still counts in its family: the others must not gain by it.
UNKNOWN = Finding(np.nan, -np.inf, np.inf, 0, 1.0, INCONCLUSIVE)


def judge(papers: Papers, answers: Iterable[Answer]) -> list[Verdict]:
    """Return the verdicts on all claims in the papers' order, a claim's headline first."""
    claims = claims_of(papers)
    of_claim = defaultdict(list, grouped(answers, attrgetter("claim")))
    tested = {}
    for paper in papers.values():
        tested |= _tested(paper, of_claim)

    @cache
    def rows(key: str) -> list[Verdict]:  # no claim rests on itself (`check_references`)
        claim = claims[key]
        if claim.untestable:
            return [Verdict(claim=claim, verdict=NOT_TESTABLE, headline=True)]
        if claim.alias_of:
            return [replace(row, claim=claim) for row in rows(claim.alias_of)]
        if claim.judged_by:
            judges = [rows(judge) for judge in claim.judged_by]
            readings = claim.readings or ("",)
            return _headed([_by_others(claim, judges, reading) for reading in readings])
        premises = [rows(base) for base in claim.rests_on if base in claims]
        return [_with_premises(row, premises) for row in tested[key]]

    return [row for key in claims for row in rows(key)]


def _with_premises(row: Verdict, premises: Sequence[Sequence[Verdict]]) -> Verdict:
    """Return a verdict that is derived, no better than what it is derived from."""
    if not (row.given and row.verdict == REPRODUCED):
        return row
    under = [
        next((base for base in rows if base.reading == row.reading), rows[0]) for rows in premises
    ]
    needed = [base for base in under if base.verdict != NOT_TESTABLE]
    tags = dict.fromkeys(row.tags)
    for base in needed:
        tags |= dict.fromkeys(tag for tag in base.tags if tag in ("CONDITIONAL", "PREMISE"))
        tags |= {"PREMISE": None} if base.verdict != REPRODUCED else {}
    least = CONSISTENT if "PREMISE" in tags else ""
    grade = weakest([row.grade, least, *(base.grade for base in needed)])
    return replace(row, grade=grade, tags=tuple(tags))


def _tested(paper: Paper, of_claim: Mapping[str, Sequence[Answer]]) -> dict[str, list[Verdict]]:
    """Return the verdicts on claims with tests; primary ones are one family, corrected together."""
    claims, rows = paper.claims, defaultdict(list)
    decided = {
        (key, reading): _decided(claim, reading, of_claim[key], paper.level)
        for key, claim in claims.items()
        if claim.of
        for reading in claim.readings or ("",)
    }
    primary = {key: answer for key, answer in decided.items() if claims[key[0]].primary}
    decided |= within_family(primary, level=paper.level)
    for (key, reading), answer in decided.items():
        rows[key].append(_under(claims[key], reading, answer, of_claim[key]))
    return {key: _headed(verdicts) for key, verdicts in rows.items()}


def _decided(claim: Claim, reading: str, answers: Sequence[Answer], level: float) -> Answer:
    """Return what decides a claim under a reading; empty evidence only where there is no other.

    Cases that are empty, and a few that are identical, are set aside: the verdict is in part.
    """
    failed = [answer for answer in answers if answer.verdict == FAILED]
    if failed or not answers:
        first = failed[0] if failed else Answer(claim=claim.id, message="it was not run")
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        where = ", ".join(filter(None, (first.test, first.reading, first.each)))
        message = f"{where}: {first.message}{more}" if first.test else first.message
        return Answer(claim=claim.id, message=message, **vars(UNKNOWN))
    tests, empty, whole = [], [], True
    under = [answer for answer in answers if answer.reading in ("", reading)]
    deciding = (answer for answer in under if answer.decides)
    for cases in grouped(deciding, attrgetter("test")).values():
        same = [case for case in cases if _is_identical(case)]
        aside = same if 0 < len(same) <= IDENTICAL * len(cases) else []
        full = [case for case in cases if not (empty_by(case.verdict, case.tags) or case in aside)]
        whole = whole and len(full) == len(cases)
        if full:
            tests.append(_joined(full, "all", level))
        else:
            empty += cases
    joined = _joined(tests or empty, claim.combine, level)
    in_part = ("IN-PART",) * bool(tests and not whole and claim.combine != "any")
    return replace(joined, tags=(*joined.tags, *in_part))


def _is_identical(answer: Answer) -> bool:
    """Return whether what is compared is the same in all replicates, which is no evidence."""
    compared = answer.procedure == "mean" and "limit" not in answer.also
    return compared and {"CONSTANT", "TIE"} <= {*answer.tags} and not answer.statistic


def _joined(cases: list[Answer], how: str, level: float) -> Answer:
    """Return the deciding finding of several, with the tags that all cases share."""
    cases.sort(key=_order)
    joined = combine(cases, how=how, level=level)
    agreeing = [case for case in cases if case.verdict == joined.verdict] or cases
    shared = set.intersection(*(set(case.tags) for case in agreeing))
    before = {tag for case in cases for tag in case.tags}
    # tags set by joining itself stay
    tags = tuple(tag for tag in joined.tags if tag in shared or tag not in before)
    grade = joined.grade  # one finding is enough, or the weakest of all that it needs counts
    if joined.verdict != (REPRODUCED if how == "any" else NOT_REPRODUCED):
        grade = weakest(case.grade for case in cases if case.verdict == joined.verdict)
    return replace(joined, tags=tags, grade=grade)


def _order(case: Answer) -> tuple[float, str, str]:
    """Sort key that puts the deciding finding first among findings with one verdict."""
    # of claims that hold the nearest to its margin, of others the farthest beyond, in units of
    # its own uncertainty
    distance = min((abs(case.statistic - value) for value in case.against.values()), default=0.0)
    spread = (case.high - case.low) / 2
    if np.isfinite(spread) and spread > 0:
        distance /= spread
    elif case.verdict == REPRODUCED and not np.isfinite(spread):
        distance = 0.0
    sign = -1.0 if case.verdict == NOT_REPRODUCED else 1.0
    return sign * distance, case.each, case.reading


def _under(claim: Claim, reading: str, decided: Answer, answers: Sequence[Answer]) -> Verdict:
    if decided.message:
        return Verdict(claim=claim, reading=reading, message=decided.message)
    read = (answer for answer in answers if answer.decides and answer.reading in ("", reading))
    facts = vars(decided) | {"claim": claim, "reading": reading, "data": _data_of(read)}
    facts["tags"] = tuple(dict.fromkeys((*_of_record(claim, reading), *decided.tags)))
    facts["grade"] = decided.grade if decided.verdict in DECIDED else ""
    return Verdict(**facts, order=_order(decided))


def _of_record(claim: Claim, reading: str) -> tuple[str, ...]:
    rebuilt = claim.basis != "printed" or reading in claim.conditional
    return ("CONDITIONAL",) * rebuilt + ("IN-PART",) * bool(claim.part)


def _headed(rows: list[Verdict]) -> list[Verdict]:
    """Return the verdicts under a claim's readings, with the joint verdict before them."""
    first, outcomes = rows[0], {row.verdict for row in rows}
    if len(rows) == 1:
        return [replace(first, headline=True)]
    if FAILED in outcomes:
        head = next(row for row in rows if row.verdict == FAILED)
    elif len(outcomes) > 1:
        depends = outcomes >= set(DECIDED)  # only the paper can say which reading it means
        outcome, tags = (DEPENDS, ()) if depends else (INCONCLUSIVE, ("SOME-READINGS",))
        tags += ("CONDITIONAL",) * any("CONDITIONAL" in row.tags for row in rows)
        grade = weakest(row.grade for row in rows) if depends else ""
        data = _data_of(rows)
        head = Verdict(claim=first.claim, data=data, verdict=outcome, tags=tags, grade=grade)
    else:
        measured = [row for row in rows if row.n is not None]
        head = min(measured, key=lambda row: row.order, default=first)
        shared = set.intersection(*(set(row.tags) for row in rows))
        tags = tuple(tag for tag in head.tags if tag in shared)
        case = ", ".join(filter(None, [head.each, head.reading.replace("_", " ")]))
        grade = weakest(row.grade for row in rows)
        head = replace(head, tags=tags, data=_data_of(rows), each=case, grade=grade)
    return [replace(head, reading="", headline=True), *rows]


def _data_of(rows: Iterable[Answer]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file for row in rows for file in row.data))


def _by_others(claim: Claim, judges: Sequence[Sequence[Verdict]], reading: str) -> Verdict:
    """Return the verdict under a reading on a claim that other claims decide."""
    # verdicts under this reading count, or under none at all; where no judge has it, headlines
    chosen = [judge[0] for judge in judges]
    under = [[row for row in judge if row.reading == reading] for judge in judges]
    if reading and any(under):
        chosen = []
        for rows, judge in zip(under, judges, strict=True):
            chosen += rows or [judge[0]] * (len(judge) == 1 and not judge[0].reading)
    outcomes = {row.verdict for row in chosen}
    if FAILED in outcomes:
        failed = next(row for row in chosen if row.verdict == FAILED)
        message = f"judged by {failed.claim.id}: {failed.message}"
        return Verdict(claim=claim, reading=reading, message=message)
    if outcomes <= {REPRODUCED, DEPENDS}:
        outcome = DEPENDS if DEPENDS in outcomes else REPRODUCED
    else:
        outcome = NOT_REPRODUCED if NOT_REPRODUCED in outcomes else INCONCLUSIVE
    grade = weakest(row.grade for row in chosen if row.verdict == outcome)
    in_part = [tag for row in chosen for tag in row.tags if tag == "IN-PART"]
    facts = {"claim": claim, "reading": reading, "data": _data_of(chosen), "grade": grade}
    tags = tuple(dict.fromkeys((*_of_record(claim, reading), *in_part)))
    return Verdict(verdict=outcome, tags=tags, **facts)

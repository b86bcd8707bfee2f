"""Asking a claim: from its function and the recorded runs to a finding on each of its cases."""

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fairbandits.audit.claims import OWN, Claim, Paper
from fairbandits.audit.finding import INCONCLUSIVE, Answer, Finding
from fairbandits.audit.grades import NEEDED, replicates_needed, weighed
from fairbandits.audit.measures import use
from fairbandits.audit.procedures import PROCEDURES, judged_against
from fairbandits.audit.tests import Case, Deferred, forget
from fairbandits.library.processes import at

#: Finding on a question without data: nothing meets the condition of the claim.
UNMET = Finding(
    *(np.nan, -np.inf, np.inf, 0, 1.0, INCONCLUSIVE, ("VACUOUS",)), also={"largest inside": np.inf}
)


def asked(claim: Claim, runs: Any) -> Iterator[tuple[Case, str]]:
    """Yield a claim's cases, each with the place in the file that it comes from."""
    forget()
    with at(f"claim {claim.id}"):
        made = claim.of(runs)
        if not inspect.isgenerator(made):
            raise TypeError("a claim yields tests, and this function has no yield")
        try:
            for case in made:
                inner = made
                while inspect.isgenerator(inner.gi_yieldfrom):
                    inner = inner.gi_yieldfrom
                file, line = Path(inner.gi_code.co_filename), inner.gi_frame.f_lineno
                yield case, f"{file.name}, line {line}"
        finally:
            forget()


def answers(
    claim: Claim,
    paper: Paper,
    runs: Any,
    find: Callable[[Case, Mapping[str, Any], Any], Finding] | None = None,
    /,
    **changes: Any,
) -> list[Answer]:
    """Return the finding on each case of a claim, or the reason why there is none.

    `changes` of settings answer what-if questions, for all deciding tests that have the setting.
    """
    runs.read.clear()
    use(paper.slug, paper.measures)  # another file of this paper can have been loaded since
    findings: list[Answer] = []
    tests: dict[str, dict] = {}  # what all cases of a test have, by its name
    seen: set[tuple[str, str, str]] = set()  # test, reading and case
    where = ""
    try:
        for case, where in asked(claim, runs):
            answer = _of_case(claim, paper, case, tests, changes)
            keys = {(case.test, reading, case.each) for reading in case.readings or ("",)}
            if keys & seen:
                raise ValueError(f"two cases {case.each!r} of {case.test!r}")
            seen |= keys
            answer = replace(answer, data=tuple(runs.read))
            try:
                if finding := (find or found_of)(case, answer, runs):
                    against = judged_against(case.procedure, answer.settings, finding)
                    answer = replace(answer, **vars(finding), against=against)
            except Exception as error:  # a case that fails leaves the others alone
                answer = replace(answer, message=in_words(claim, error, where))
            findings += [replace(answer, reading=reading) for reading in case.readings or ("",)]
            where = ""
        deciding = {answer.reading for answer in findings if answer.decides}
        for reading in claim.readings:
            if deciding.isdisjoint({reading, ""}):
                raise ValueError(f"no test decides under reading {reading!r}")
        if not deciding:
            raise ValueError("no test decides: the function yields none, or all are beside")
    except (Exception, SystemExit) as error:
        message = in_words(claim, error, where)
        findings.append(Answer(claim=claim.id, message=message, data=tuple(runs.read)))
    return findings


def _of_case(
    claim: Claim, paper: Paper, case: Any, tests: dict[str, dict], changes: Mapping[str, Any]
) -> Answer:
    """Return the answer of a case without its finding; ValueError if the case is wrong."""
    if not isinstance(case, Case):
        raise TypeError(f"a claim yields tests, got {case!r}")
    for name in case.readings:
        if name not in claim.readings:
            raise ValueError(f"the claim has no reading {name!r}")
    settings = {name: value for name, value in case.settings.items() if value is not None}
    if case.procedure != "exact":
        settings = {"level": paper.level} | settings
    if not case.beside:
        settings |= {name: value for name, value in changes.items() if name in settings}
    needs = claim.primary and paper.slug != OWN
    needs = needs and not (case.beside or case.procedure == "exact")
    if needs and case.of_control is None and not case.uncontrolled:
        raise ValueError(f"{case.test!r} needs a control, or `uncontrolled=` the reason for none")
    said = {name: getattr(case, name) for name in ("test", "phrase", "unit", "procedure")}
    said["decides"] = not case.beside
    if tests.setdefault(case.test, said) != said:
        raise ValueError(f"{case.test!r} is two tests; they need different phrases, or names")
    more = {name: getattr(case, name) for name in ("each", "given", "uncontrolled")}
    return Answer(claim=claim.id, settings=settings, **said, **more)


def in_words(claim: Claim, error: BaseException, where: str = "") -> str:
    """Return an error with its place in the claim's file."""
    file = inspect.getsourcefile(claim.of)
    calls = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if calls:
        where = f"{Path(file).name}, line {calls[-1].lineno}"
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    where = where or f"{Path(file).name}, line {claim.line}"
    return f"{where}: {kind}{' '.join(str(error).split())}"


def found_of(case: Case, answer: Answer, runs: Any) -> Finding:
    """Return the finding on a case, weighed by its control."""
    data = case.data(runs.most) if isinstance(case.data, Deferred) else case.data
    if not data:
        return UNMET
    judged = partial(PROCEDURES[case.procedure], **answer.settings)
    finding = judged(**data)
    control = judged(**case.of_control) if case.of_control else None
    if answer.decides and finding.verdict == INCONCLUSIVE:
        count = replicates_needed(case.procedure, answer.settings, finding)
        finding = replace(finding, also=finding.also | ({} if count is None else {NEEDED: count}))
    return weighed(answer, finding, control, case.of_control)

"""Several findings: of one claim, and of a family of claims (Holm's correction)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np

from fairbandits.audit.finding import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, Finding

#: A finding, alone or with what was asked.
F = TypeVar("F", bound=Finding)
#: A claim and a reading.
Key = tuple[str, str]


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Return adjusted p-values, in the order given (S. Holm, Scand. J. Statist. 6, 1979)."""
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def holm_count(p_values: Sequence[float], level: float) -> int:
    """Return of how many cases a statement is shown with this confidence in all together.

    The p-values are of the statement's falsehood, 1 where the case's verdict is another.
    """
    return int(np.count_nonzero(holm(p_values) <= 1 - level))


def within_family(findings: Mapping[Key, F], *, level: float) -> dict[Key, F]:
    """Return a family's findings after Holm's correction, with adjusted p-values.

    Readings of a claim with the same finding count once. Of two directions one is always right, so
    K claims have K verdicts that could be wrong (J. P. Shaffer, Annals of Statistics 8, 1980).
    """
    # as text, where NaN equals NaN
    tests = {
        key: (key[0], repr((f.statistic, f.low, f.high, f.n, f.p, f.verdict)))
        for key, f in findings.items()
        if f.p is not None
    }
    p_values = {test: findings[key].p for key, test in tests.items()}
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    corrected = dict(findings)
    for key, test in tests.items():
        finding, p = findings[key], float(adjusted[test])
        corrected[key] = replace(finding, p=p) if p <= 1 - level else _undecided(finding, p)
    return corrected


def combine(findings: Sequence[F], *, how: Literal["all", "any"], level: float) -> F:
    """Return the deciding finding of several: of one test's repetitions, or of a claim's tests."""
    together, alone = (NOT_REPRODUCED, REPRODUCED) if how == "any" else (REPRODUCED, NOT_REPRODUCED)
    # a finding without a p-value is not random
    p = np.array([0.0 if finding.p is None else finding.p for finding in findings])
    verdicts = np.array([finding.verdict for finding in findings])
    if (verdicts == together).all():
        return findings[int(p.argmax())]
    adjusted = np.where(verdicts == alone, holm(p), 1.0)
    strongest = int(adjusted.argmin())
    if adjusted[strongest] <= 1 - level:
        p_value = None if findings[strongest].p is None else float(adjusted[strongest])
        return replace(findings[strongest], p=p_value)
    doubtful = int(np.where(verdicts == together, -1.0, p).argmax())
    # no finding decides; its p-value must not look like one that does
    p_value = float(max(p[doubtful], adjusted[verdicts == alone].max(initial=0.0)))
    return _undecided(findings[doubtful], p_value)


def _undecided(finding: F, p: float) -> F:
    """Return a finding as inconclusive, with the tag HOLM if alone it would decide."""
    tags = (*finding.tags, "HOLM") if finding.verdict != INCONCLUSIVE else finding.tags
    return replace(finding, p=p, verdict=INCONCLUSIVE, tags=tags)

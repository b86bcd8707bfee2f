"""Several findings: of one claim, and of a family of claims (Holm's correction)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from fairbandits.audit.finding import (
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Finding,
    confidence,
    numbers,
    one_of,
)


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Return Holm's adjusted p-values, in the order given.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p = numbers("p_values", p_values)
    if p.min() < 0 or p.max() > 1:
        raise ValueError(f"p_values must be in [0, 1], got {p.min()} to {p.max()}")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def within_family(findings: Mapping[str, Finding], *, level: float) -> dict[str, Finding]:
    """Return findings that keep their verdicts after Holm's correction, and say so where not.

    Parameters
    ----------
    findings : mapping of str to Finding
        Of one family; those without a p-value are not of chance, and pass.
    level : float
        Confidence that no verdict of the family is wrong.

    Returns
    -------
    dict of str to Finding
        With the adjusted p-values; a verdict that does not stand becomes inconclusive, with the
        tag HOLM. Intervals stay those of the single claim.

    Notes
    -----
    The p-values are one-sided and of the verdict given: of the two directions one is always
    right, so that a family of K claims has K verdicts that could be wrong, not 2 K (J. P. Shaffer,
    "Control of directional errors with stagewise multiple test procedures", Annals of Statistics
    8 (1980), for independent statistics).
    """
    confidence(level)
    tested = {key: one.p for key, one in findings.items() if one.p is not None}
    if not tested:
        return dict(findings)
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    corrected = dict(findings)
    for key, p in adjusted.items():
        one = findings[key]
        verdict, tags = one.verdict, one.tags
        if p > 1 - level and verdict != INCONCLUSIVE:
            verdict, tags = INCONCLUSIVE, (*tags, "HOLM")
        corrected[key] = replace(one, p=float(p), verdict=verdict, tags=tags)
    return corrected


def combine(findings: Sequence[Finding], *, how: Literal["all", "any"], level: float) -> Finding:
    """Return the finding of a claim that several tests decide, or of a test that is repeated.

    Parameters
    ----------
    findings : sequence of Finding
        Of one test for each instance, arm or policy that it is repeated for, which must ``all``
        agree; or of a claim's deciding tests.
    how : {"all", "any"}
        With ``all`` a claim is reproduced when all findings say so, and not reproduced when one
        does not stand that test, even after Holm's correction for their number. With ``any`` it
        is the other way round.
    level : float
        Confidence of each verdict.

    Returns
    -------
    Finding
        The one that decides: the weakest of those that must all agree, the strongest of those of
        which one is enough. Its p-value is the claim's, its tags are its own.
    """
    one_of("how", how, ("all", "any"))
    confidence(level)
    if not findings:
        raise ValueError("findings must have at least 1 entries, got 0")
    together, alone = (REPRODUCED, NOT_REPRODUCED) if how == "all" else (NOT_REPRODUCED, REPRODUCED)
    # a finding without a p-value is certain
    p = np.array([0.0 if one.p is None else one.p for one in findings])
    verdicts = np.array([one.verdict for one in findings])
    certain = all(one.p is None for one in findings)
    n = min(one.n for one in findings)
    if (verdicts == together).all():
        weakest = int(p.argmax())
        return replace(findings[weakest], n=n)
    adjusted = np.where(verdicts == alone, holm(p), 1.0)
    strongest = int(adjusted.argmin())
    if adjusted[strongest] <= 1 - level:
        p_value = None if certain else float(adjusted[strongest])
        return replace(findings[strongest], p=p_value)
    doubtful = int(np.where(verdicts == together, -1.0, p).argmax())
    # no finding decides; its p-value must not look like one that does
    p_value = float(max(p[doubtful], adjusted[verdicts == alone].max(initial=0.0)))
    tags = findings[doubtful].tags
    if verdicts[doubtful] != INCONCLUSIVE:
        tags = (*tags, "HOLM")
    return replace(findings[doubtful], n=n, p=p_value, verdict=INCONCLUSIVE, tags=tags)

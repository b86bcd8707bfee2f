"""Holm's correction within a family of claims."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fairbandits.audit.finding import INCONCLUSIVE, Finding, confidence, numbers


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

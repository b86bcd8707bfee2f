"""What a file of claims is written with: `from fairbandits.claims import Paper, mean`."""

from fairbandits.audit.arrays import (
    held_out,
    late_weights,
    logspaced,
    numerators,
    ratio,
    root_of_mean,
    window_rate,
)
from fairbandits.audit.claims import Claim, Paper
from fairbandits.audit.loops import arms, cases, reading, readings
from fairbandits.audit.measures import measure
from fairbandits.audit.runs import Runs, paired
from fairbandits.audit.study import Study
from fairbandits.audit.tests import (
    clearly_larger,
    curve,
    enumerated,
    exact,
    falls,
    later,
    mean,
    printed,
    proof,
    proportional,
    rises,
    rounded,
    share,
    slope,
    sublinear,
    trend,
)

__all__ = [
    "Claim",
    "Paper",
    "Runs",
    "Study",
    "arms",
    "cases",
    "clearly_larger",
    "curve",
    "enumerated",
    "exact",
    "falls",
    "held_out",
    "late_weights",
    "later",
    "logspaced",
    "mean",
    "measure",
    "numerators",
    "paired",
    "printed",
    "proof",
    "proportional",
    "ratio",
    "reading",
    "readings",
    "rises",
    "root_of_mean",
    "rounded",
    "share",
    "slope",
    "sublinear",
    "trend",
    "window_rate",
]

"""A picture of the verdicts on the claims that each audited text makes."""

import base64
import io
from collections.abc import Mapping
from itertools import product

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from fairbandits.audit import finding
from fairbandits.audit.totals import Totals
from fairbandits.library.style import PALETTE

#: The order of the bar's parts: from what holds to what cannot be said.
COLOURS = {
    finding.REPRODUCED: PALETTE[2],
    finding.NOT_REPRODUCED: PALETTE[3],
    finding.DEPENDS: PALETTE[8],
    finding.INCONCLUSIVE: "0.65",
    finding.NOT_TESTABLE: "0.88",
    finding.FAILED: "black",
}
#: Verdicts whose parts are the grades of evidence, and how full their colour is.
GRADED = (finding.REPRODUCED, finding.NOT_REPRODUCED)
SHADES = {"exact": 1.0, "measured": 0.75, "consistent": 0.4}
WHAT = "number of claims that the audited text makes"


def verdicts(totals: Mapping[str, Totals]) -> Figure:
    """Return a bar for each paper, split by verdict; `totals` are by title of the paper."""
    figure, axis = plt.subplots(figsize=(7.6, 0.72 * len(totals) + 1.0), layout="constrained")
    at = range(len(totals))
    left = [0] * len(totals)
    for verdict, grade in product(finding.OUTCOMES, (*finding.GRADES, "")):
        widths = [_width(one, verdict, grade) for one in totals.values()]
        if not any(widths):
            continue
        shade = SHADES.get(grade, 1.0)
        look = {"color": (COLOURS[verdict], shade), "height": 0.62}
        label = ", ".join(filter(None, (verdict, grade)))
        bars = axis.barh(at, widths, left=left, label=label, **look)
        dark = verdict in (*GRADED, finding.FAILED) and shade > 0.5
        labels = [str(width) if width > 1 else "" for width in widths]  # two 1s would be an 11
        colour = "white" if dark else "black"
        axis.bar_label(bars, labels, label_type="center", color=colour, fontsize="small")
        left = [before + width for before, width in zip(left, widths, strict=True)]
    printed = (f"{one.printed} of {one.claims} on printed words" for one in totals.values())
    axis.set_yticks(at, ["\n".join(lines) for lines in zip(totals, printed, strict=True)])
    axis.invert_yaxis()
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    axis.set_xlabel(WHAT)
    figure.legend(loc="outside upper center", ncols=4, handlelength=1, columnspacing=1)
    return figure


def encoded(drawing: Figure) -> str:
    """Return a drawing as the content of an image in a page, and close it."""
    image = io.BytesIO()
    drawing.savefig(image, format="svg", metadata={"Date": None})
    plt.close(drawing)  # else the notebook shows it once more
    return base64.b64encode(image.getvalue()).decode("ascii")


def _width(one: Totals, verdict: str, grade: str) -> int:
    """Return how many claims have a verdict by evidence of a grade, or of none."""
    grades = one.grades.get(verdict, {}) if verdict in GRADED else {}
    return grades.get(grade, 0) if grade else one.counted.get(verdict, 0) - sum(grades.values())

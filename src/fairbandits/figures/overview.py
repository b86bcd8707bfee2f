"""How many claims of each paper have which verdict, in one picture."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from fairbandits.audit.finding import (
    DEPENDS,
    FAILED,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    OUTCOMES,
    REPRODUCED,
)
from fairbandits.figures.style import PALETTE

#: From what holds to what cannot be said.
COLOURS = {
    REPRODUCED: PALETTE[2],
    NOT_REPRODUCED: PALETTE[3],
    DEPENDS: PALETTE[8],
    INCONCLUSIVE: "0.65",
    NOT_TESTABLE: "0.88",
    FAILED: "black",
}


def verdicts(counts: Mapping[str, Mapping[str, int]]) -> Figure:
    """Return a bar for each paper, its claims in parts by their verdicts.

    Parameters
    ----------
    counts : mapping
        Title of a paper -> verdict -> number of claims.
    """
    figure, axis = plt.subplots(figsize=(7.6, 0.62 * len(counts) + 1.0), layout="constrained")
    at = range(len(counts))
    left = [0] * len(counts)
    for verdict in OUTCOMES:
        widths = [one.get(verdict, 0) for one in counts.values()]
        if not any(widths):
            continue
        colour = COLOURS[verdict]
        bars = axis.barh(at, widths, left=left, color=colour, height=0.62, label=verdict)
        dark = verdict in (REPRODUCED, NOT_REPRODUCED, FAILED)
        labels = [str(width) if width else "" for width in widths]
        axis.bar_label(
            bars, labels, label_type="center", color="white" if dark else "black", fontsize="small"
        )
        left = [before + width for before, width in zip(left, widths, strict=True)]
    axis.set_yticks(at, list(counts))
    axis.invert_yaxis()
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    axis.set_xlabel("number of claims")
    figure.legend(loc="outside upper center", ncols=len(OUTCOMES), handlelength=1, columnspacing=1)
    return figure


def in_words(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Return the same in words.

    Examples
    --------
    >>> in_words({"BanditQ": {"reproduced": 59, "not reproduced": 3}})
    'Number of claims by verdict. BanditQ: 59 reproduced, 3 not reproduced.'
    """
    papers = [
        f"{title}: {', '.join(f'{count} {verdict}' for verdict, count in one.items() if count)}."
        for title, one in counts.items()
    ]
    return " ".join(["Number of claims by verdict.", *papers])

"""What late feedback costs the papers' policies: a picture of runs made for it."""

from fractions import Fraction

import numpy as np
import pandas as pd
import seaborn.objects as so

import fairbandits as fb
from fairbandits.figures import panels
from fairbandits.library import style
from fairbandits.measures.summary import summarise
from fairbandits.numerals import number
from fairbandits.report.markup import Html, as_figure

#: The instance. The best arm is the last, so that ties before the first reward do not favour it.
MEANS, QUOTA = (0.4, 0.5, 0.6, 0.7, 0.8), Fraction(1, 25)
#: Penalty rate of HT-UCB, above all gaps.
PENALTY = 0.5
DELAYS = (0, 10, 30, 100, 300, 1000)
ROUNDS, REPLICATES = 10_000, 100
QUOTAS = (QUOTA,) * len(MEANS)
RIVALS = {
    "Fair-UCB": fb.FairUCB(QUOTAS),
    "HT-UCB": fb.HTUCB(QUOTAS, PENALTY),
    "BF-UCB": fb.BFUCB((1,) * len(MEANS), QUOTAS),
    "BanditQ": fb.BanditQ(tuple(float(QUOTA) * mean for mean in MEANS)),
}
#: Title of a panel -> what it measures of a result.
MEASURES = {
    "regret beyond the quotas' cost (reward units)": "r_regret",
    "worst shortfall in any round (pulls)": lambda run: run.deficits["deficit_sup"].max(axis=-1),
}


def costs() -> pd.DataFrame:
    """Return each measure by policy and delay: mean, t interval, and number of replicates."""
    runs = [
        fb.compare(
            {label: fb.Delayed(policy, delay) for label, policy in RIVALS.items()},
            fb.Instance(MEANS),
            ROUNDS,
            replicates=REPLICATES,
            metrics=MEASURES,
            quotas=QUOTAS,
            checkpoints=[ROUNDS],
        ).curves
        for delay in DELAYS
    ]
    return pd.concat(
        summarise(
            title, label, np.array(DELAYS), np.hstack([run[title, label] for run in runs]), "delay"
        )
        for title, label in runs[0]
    )


@style.in_style()
def picture() -> Html:
    """Return regret and worst shortfall against the delay."""
    rows = costs()
    point = so.Line(marker="o", pointsize=3)
    plots = [
        style.curves(panels.of(rows, law=title), x="delay", layers=style.MEANS, mean=point).label(
            x="delay (rounds)", y=title
        )
        for title in MEASURES
    ]
    drawing = style.drawn((style.PAGE, 2.8), style.note(rows, style.MEANS), *plots, columns=2)
    left, right = drawing.axes
    for axes, linear in ((left, 100), (right, 1)):
        style.scale([axes], x=DELAYS[1], y=linear)
        axes.set_xticks(DELAYS)
    right.set_ylim(bottom=0)
    arms = ", ".join(map(str, MEANS))
    return as_figure(
        drawing,
        "The papers' policies if each reward arrives so many rounds late. Left: the regret at "
        f"T = {number(ROUNDS)} beyond that of the best policy which keeps the quotas; it is below "
        "0 if a policy earns more by falling short. Right: the largest shortfall of any arm in "
        f"any round. Means of n = {REPLICATES} replicates, with the same rewards for all; bands "
        f"are 95 % t intervals. Arms are Bernoulli with means {arms} and the quota {QUOTA} each. "
        "For BF-UCB each arm is a group; BanditQ is told the targets, quota times mean; HT-UCB "
        f"has the penalty rate {PENALTY}.",
    )

"""The claim of the authors of the policies for guaranteed rates, judged like your own claims.

`fairbandits judge papers/arena/guarantees.py --seed 8326786927459065671` makes the numbers of
docs/guarantees.md, which says where the seed comes from. The paper's text is not available, so the
statements are in general terms.
"""

import fairbandits as fb
from fairbandits.claims import Study, measure, slope
from fairbandits.measures.rates import target_regret
from fairbandits.policies.guarantees import OF_PROGRAM

#: Targets in the proportions of the authors' program, (0.2, 0.1, 0.25), so that the sum of
#: lambda / mu is 1 - gap, to nine digits.
TARGETS = {
    "gap_01": (0.184390244, 0.092195122, 0.230487805),
    "gap_05": (0.102439024, 0.051219512, 0.12804878),
    "gap_09": (0.020487805, 0.010243902, 0.025609756),
}
PROGRAM = {"constant": OF_PROGRAM}

study = Study(
    title="Is the regret of policies with guaranteed rates bounded if the gap is positive?",
    instances={
        # means of the authors' program
        name: (fb.Instance(means=(0.6, 0.7, 0.5)), {"targets": targets})
        for name, targets in TARGETS.items()
    },
    policies={
        "mean": (fb.GuaranteeKLUCB, {"estimate": "mean", **PROGRAM}),
        "upper": (fb.GuaranteeKLUCB, {"estimate": "upper", **PROGRAM}),
        "lower": (fb.GuaranteeKLUCB, {"estimate": "lower", **PROGRAM}),
        "etc": (fb.GuaranteeETC, PROGRAM),
        "anytime": (fb.GuaranteeAnytime, PROGRAM),
    },
    horizon=(1000, 3000, 10_000, 30_000, 100_000, 300_000),
    replicates=50,
    level=0.95,
)


@measure("rt")
def pseudo_regret(rounds, plays, own_means, target):
    """Regret against the best distribution that meets the targets."""
    return target_regret(rounds, plays, own_means, target)


def regret_stays(runs, policy):
    for growing in runs("instances", policy=policy).each("instance"):
        points = growing.over("T", "pseudo_regret")
        yield slope("growth exponent of the pseudo-regret", *points, at_most=0)


@study.claim("bound")
def constant_mean(runs):
    """With means as estimates the regret stays bounded as $T$ grows."""
    yield from regret_stays(runs, "mean")


@study.claim("bound")
def constant_upper(runs):
    """With upper confidence bounds as estimates the regret stays bounded as $T$ grows."""
    yield from regret_stays(runs, "upper")


@study.claim("bound")
def constant_lower(runs):
    """With lower confidence bounds as estimates the regret stays bounded as $T$ grows."""
    yield from regret_stays(runs, "lower")


@study.claim("bound")
def constant_etc(runs):
    """The regret of explore then commit stays bounded as $T$ grows."""
    yield from regret_stays(runs, "etc")


@study.claim("bound")
def constant_anytime(runs):
    """The regret of the anytime version of explore then commit stays bounded as $T$ grows."""
    yield from regret_stays(runs, "anytime")

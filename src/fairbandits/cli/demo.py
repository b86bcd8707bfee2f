"""The command that shows one comparison and needs no file."""

from pathlib import Path

from click import IntRange, echo, option

from fairbandits.cli.options import FILE, command


@command("demo", "demo --out demo.png")
@option("--rounds", type=IntRange(min=100), default=10_000, help="Rounds of each run.")
@option("--replicates", type=IntRange(min=2), default=20, help="Runs of each policy.")
@option("--out", type=FILE, default=Path("fairbandits-demo.png"), help="Picture to draw.")
def demo(rounds, replicates, out):
    """Compare three policies on three arms with quotas: a table, and a picture.

    UCB1 ignores quotas, Fair-UCB keeps them in every round, LFG in the long run.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import fairbandits as fb

    arms = fb.instances.fair_ucb(2)
    policies = [fb.UCB1(), fb.FairUCB(arms.quotas), fb.LFG(arms.quotas, eta=100)]
    comparison = fb.compare(policies, arms, horizon=rounds, replicates=replicates)
    echo(comparison)
    comparison.plot().savefig(out)
    echo(out)

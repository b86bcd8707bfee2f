"""The command that shows one comparison and needs no file."""

from pathlib import Path

from click import IntRange, echo, option

from fairbandits.cli.options import FILE, command


@command("demo", "demo --out demo.png")
@option("--rounds", type=IntRange(min=100), default=10_000, help="Rounds of each run.")
@option("--replicates", type=IntRange(min=2), default=20, help="Runs of each policy.")
@option("--out", type=FILE, default=Path("fairbandits-demo.png"), help="Picture to draw.")
def demo(rounds, replicates, out):
    """Compare three policies on four arms with quotas: a table, and a picture.

    UCB1 knows no quotas, Fair-UCB keeps them in every round, LFG in the long run.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import fairbandits as fb

    quotas = ("1/10", "1/10", "1/10", "1/10")
    policies = {
        "UCB1": fb.UCB1(),
        "Fair-UCB": fb.FairLearn(quotas=quotas),
        "LFG": fb.LFG(quotas=quotas, eta=100),
    }
    instance = fb.Instance(means=(0.9, 0.8, 0.6, 0.4), law="bernoulli", quotas=quotas)
    found = fb.compare(policies, instance, horizon=rounds, n_rep=replicates, seed=1)
    echo(found.summary().to_string())
    axes = found.plot("regret")
    axes.figure.savefig(out, dpi=150, bbox_inches="tight")
    echo(out)

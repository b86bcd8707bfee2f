"""The commands that put the ledgers' questions to the data, and write what they find."""

from dataclasses import replace

from click import ClickException, UsageError, argument, echo, option

from fairbandits.cli.options import CONFIGS, FILE, FOLDER, VERDICT, command, of_a_paper, writing


@command("audit fair_ucb", "audit fair_ucb --only fairucb-thm2-bound")
@of_a_paper
@option("--out", type=FILE, help="Parquet file to write; without it, print the findings.")
def audit(configs, paper, results, seed, salt, only, out):
    """Run the tests of PAPER's ledger on its datasets, and write the findings.

    If a claim cannot be judged, a message says why. At the published scale the command then writes
    nothing; in a smaller run it keeps the claim as failed.
    """
    from fairbandits.audit import run, show
    from fairbandits.audit.records import write_findings

    if only and out:
        raise UsageError("--only is for looking; --out needs all claims")
    config, ledgers = run.load(configs)
    config = replace(config, seed=config.seed if seed is None else seed, salt=salt)
    found, scale, made = run.find(config, ledgers, paper, results, only)
    if out is None:
        if made.exploratory:
            echo(f"{run.exploratory_words(made.seed)}\n")
        echo(show.found(ledgers[paper], found))
        return
    failed = len({one.claim for one in found if one.finding is None})
    for line in run.failures(found):
        echo(line, err=True)
    if failed and scale == "paper":
        raise ClickException(
            f"{failed} claims of {paper} could not be judged; all verdicts stay as they were"
        )
    with writing(out):
        write_findings(out, ledgers[paper], found, scale, made)


@command(
    "verdicts results/audit/banditq.parquet results/audit/fair_ucb.parquet"
    " --joint findings.parquet --out verdicts.parquet"
)
@CONFIGS
@argument("findings", type=FILE, nargs=-1, required=True)
@option("--joint", type=FILE, required=True, help="Parquet file for all FINDINGS.")
@option("--out", type=FILE, required=True, help="Parquet file for the verdicts.")
def verdicts(configs, findings, joint, out):
    """Judge all claims by the FINDINGS of each paper.

    At the published scale a claim that failed is an error, and nothing is written.
    """
    from fairbandits.audit import run

    _, ledgers = run.load(configs)
    with writing(joint, out):
        failed, written = run.write_verdicts(list(findings), ledgers, joint, out)
    for line in failed:
        echo(line, err=True)
    if not written:
        raise ClickException(f"{len(failed)} claims failed; no verdicts are written")


@command("record results/audit/verdicts.parquet results/audit/findings.parquet audit")
@CONFIGS
@argument("verdicts", type=FILE)
@argument("findings", type=FILE)
@argument("out", type=FOLDER)
def record(configs, verdicts, findings, out):
    """Write VERDICTS and FINDINGS as short tables in OUT, both or neither.

    The committed ones are verdicts.csv and findings.csv, in the folder audit/.
    """
    from fairbandits.audit import run

    _, ledgers = run.load(configs)
    with writing(out):
        run.record(verdicts, findings, ledgers, out)


@command("power banditq --verdict inconclusive", "power banditq --only banditq-prop2-violation")
@of_a_paper
@VERDICT
def power(configs, paper, results, seed, salt, only, verdict):
    """List how many replicates decide each test of PAPER with 90 % power, and how many there are.

    Open questions come first. The spread comes from PAPER's datasets, which must exist.
    """
    from fairbandits.audit import run

    config, ledgers = run.load(configs)
    config = replace(config, seed=config.seed if seed is None else seed, salt=salt)
    if only and verdict:
        raise UsageError("give --only or --verdict")
    echo(run.power_words(config, ledgers, paper, results, only, verdict))

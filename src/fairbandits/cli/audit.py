"""The commands of the audit: judging claims, their verdicts and history, and their ledgers."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from click import ClickException, IntRange, UsageError, argument, echo, option

from fairbandits.cli import options
from fairbandits.cli.options import CONFIGS, FILE, FOLDER, command, completing, echo_all, papers
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import checkout, paper_file, read_yaml


@completing
def claims_there() -> list[str]:
    ledgers = (paper_file(paper, "claims") for paper in papers())
    return [one for file in ledgers if file.is_file() for one in read_yaml(file)["claims"]]


@command("audit fair_ucb", "audit fair_ucb --only fairucb-thm2-bound")
@CONFIGS
@argument("paper", shell_complete=completing(papers))
@options.RESULTS
@option("--salt", default="", help="Words that change the seeds.")
@option("--seed", type=IntRange(min=0), help="Root seed; default as configured.")
@option(
    "--most",
    type=(str, IntRange(1)),
    multiple=True,
    help="An argument of words that need no runs, and its largest value; can be repeated.",
)
@option("--only", multiple=True, shell_complete=claims_there, help="Id of a claim; default all.")
@option("--out", type=FILE, help="Parquet file to write; without it, print the findings.")
def audit(configs, paper, results, seed, salt, most, only, out):
    """Run the tests of PAPER's ledger on its datasets, and write the findings.

    If a claim cannot be judged, a message says why. At the published scale the command then writes
    nothing; in a smaller run it keeps the claim as failed.
    """
    from fairbandits.audit import run, show
    from fairbandits.audit.records import write_findings

    if only and out:
        raise UsageError("--only is for looking; --out needs all claims")
    config, ledgers = run.load(configs)
    own = {"seed": config.seed if seed is None else seed, "most": config.most | dict(most)}
    config = replace(config, salt=salt, **own)
    expect_known(paper, ledgers, f"no claims of paper {paper!r}")
    found, scale, made = run.find(config, ledgers[paper], results, only)
    if out is None:
        if made.exploratory:
            echo(f"{run.exploratory_words(made.seed)}\n")
        echo(show.found(ledgers[paper], found))
        return
    echo_all(run.failures(found), err=True)
    failed = len({one.claim for one in found if one.finding is None})
    if failed and scale == "paper":
        raise ClickException(
            f"{failed} claims of {paper} could not be judged; all verdicts stay as they were"
        )
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
    failed, written = run.write_verdicts(list(findings), ledgers, joint, out)
    echo_all(failed, err=True)
    if not written:
        raise ClickException(f"{len(failed)} claims failed; no verdicts are written")


@command("record results/audit/verdicts.parquet results/audit/findings.parquet audit")
@CONFIGS
@argument("verdicts", type=FILE)
@argument("findings", type=FILE)
@argument("out", type=FOLDER)
def record(configs, verdicts, findings, out):
    """Write VERDICTS and FINDINGS as short tables in OUT, both or neither.

    The committed tables are verdicts.csv and findings.csv, in the folder audit/.
    """
    from fairbandits.audit import run

    _, ledgers = run.load(configs)
    run.record(verdicts, findings, ledgers, out)


@command(
    "claims",
    "claims --paper bf_ucb --verdict inconclusive",
    "claims fairucb-thm2-bound",
    "claims banditq-prop2-violation --set margin=0.02",
    "claims --json",
)
@CONFIGS
@argument("claim", required=False, shell_complete=claims_there)
@options.set_option(
    "What if a setting of CLAIM's rule had this value? TEST.SETTING=VALUE changes one test; can"
    " be repeated. Nothing is written."
)
@options.paper_option("Only claims of this paper.")
@option("--verdict", help="Only claims with this verdict, e.g. inconclusive.")
@option("--json", "as_json", is_flag=True, help="As JSON.")
@options.RESULTS
def claims(configs, claim, changes, paper, verdict, as_json, results):
    """List the claims with their verdicts, or explain one CLAIM.

    The verdicts are from the results on disk or, without results, from the committed tables. They
    are refused for a paper whose rules or data have changed since.
    """
    from fairbandits.audit import run

    if claim and (paper or verdict):
        raise UsageError("give CLAIM, or --paper and --verdict")
    if changes:
        if not claim or as_json:
            raise UsageError("--set is for one CLAIM, without --json")
        echo(run.what_if(*run.load(configs), claim, changes, results))
    else:
        echo(run.claims_words(configs, claim, paper, verdict, as_json, results))


@command("check-claims")
@CONFIGS
def check_claims(configs):
    """Check all ledgers, and the glossaries of their papers.

    A message names file, record, key and the allowed values.
    """
    from fairbandits.audit import run
    from fairbandits.settings.records import load_glossary

    for paper, ledger in run.load(configs)[1].items():
        load_glossary(paper, ledger.claims)
        tests = sum(len(claim.tests) for claim in ledger.claims.values())
        echo(f"papers/{paper}/claims.yaml: {len(ledger.claims)} claims, {tests} tests")


@command("vocabulary > docs/words-of-the-ledgers.md")
def vocabulary():
    """Print the names that ledgers can use."""
    from fairbandits.audit.show import vocabulary
    from fairbandits.report.describing import words_of_the_ledgers

    echo(words_of_the_ledgers(vocabulary()), nl=False)


@command(
    'rejudge --paper ht_ucb --salt "any words"',
    'rejudge htucb-thm1-fair --salt "any words"',
    "rejudge --paper banditq --primary --salts 8 --record",
    "rejudge --paper banditq --missing --salts 8 --record",
)
@argument("claims", nargs=-1, shell_complete=claims_there)
@options.paper_option("The paper whose claims are judged again, all without CLAIMS.")
@option("--salt", "words", multiple=True, help="Words that choose the data; can be repeated.")
@option("--salts", type=IntRange(1, 1000), help="Number of salts, named 1, 2, ...")
@option("--primary", is_flag=True, help="Only the primary claims, and their data.")
@option("--missing", is_flag=True, help="As --primary, without claims in audit/agreement.csv.")
@option("--record", is_flag=True, help="Add the outcome of primary claims to audit/agreement.csv.")
@options.CORES
def rejudge(claims, paper, words, salts, primary, missing, record, cores):
    """Judge CLAIMS, or a PAPER, again on other data.

    The command lists which verdicts stay the same. Each salt has its own folder,
    results/rejudge/PAPER/... An interrupted run continues where it stopped.
    """
    from fairbandits.audit import rejudge as again
    from fairbandits.audit.run import load
    from fairbandits.audit.tables import claims_of
    from fairbandits.cli import launch

    if bool(claims) == bool(paper):
        raise UsageError("name either CLAIMS or a --paper to judge again")
    if claims and (primary or missing):
        raise UsageError("--primary and --missing are about a --paper, not about CLAIMS")
    if not words and not salts:
        raise UsageError('--salt "any words" or --salts 8 says which data are drawn')
    root = checkout()
    config, ledgers = load(options.DEFAULT_CONFIG)
    home, of_claim = config.folders["results"], claims_of(ledgers)
    for one in claims:
        expect_known(one, of_claim, f"no claim {one!r}")
    paper = paper or of_claim[claims[0]].paper
    expect_known(paper, ledgers, f"--paper: {paper!r} is unknown")
    if others := [one for one in claims if of_claim[one].paper != paper]:
        raise UsageError(f"CLAIMS must be of one paper; {others[0]} is not of {paper}")
    every = ledgers[paper].claims
    if primary or missing:
        claims = [key for key, one in every.items() if one.primary]
    for salt in [*words, *map(str, range(1, (salts or 0) + 1))]:
        settings = again.settings_of(paper, salt, home)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "rejudge.yaml"
            file.write_text(yaml.safe_dump(settings), encoding="utf-8")
            config, ledgers = load([*options.DEFAULT_CONFIG, file])
            but = again.recorded(paper, salt) if missing else ()
            ledger = again.judged_again(ledgers[paper], claims or every, but)
            results = settings["pathvars"]["results"]
            targets = [f"{results}/{place}" for place in again.data_of(ledger, config)]
            if targets and (code := launch.launch(targets, cores, [file], root, stay=True)):
                raise ClickException(f"the run under the salt {salt!r} ended with {code}")
        found = again.verdicts_on(ledger, config, root / results)
        echo("\n".join(again.summary(salt, found)))
        if record:
            again.record(paper, salt, found)

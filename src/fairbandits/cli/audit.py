"""The commands of the audit: judging claims, their verdicts and history, and their ledgers."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from click import ClickException, IntRange, UsageError, argument, echo, option
from click.exceptions import Exit

from fairbandits.cli import options
from fairbandits.cli.options import CONFIGS, FILE, FOLDER, command, completing, echo_all, papers
from fairbandits.numerals import counted
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import ConfigError, checkout, paper_file


@completing
def claims_there() -> list[str]:
    from fairbandits.audit.claims import ids_in

    files = (paper_file(paper, "claims").with_suffix(".py") for paper in papers())
    return [key for file in files if file.is_file() for key in ids_in(file)]


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
    help="An argument of enumerations, and its largest value; can be repeated.",
)
@option("--only", multiple=True, shell_complete=claims_there, help="Id of a claim; default all.")
@option("--out", type=FILE, help="Parquet file to write; without it, print the findings.")
def audit(configs, paper, results, seed, salt, most, only, out):
    """Ask PAPER's claims on its datasets, and write the findings.

    If a claim cannot be judged, a message says why. At the published scale the command then writes
    nothing; in a smaller run it keeps the claim as failed.
    """
    from fairbandits.audit import rows, run, terminal
    from fairbandits.audit.finding import FAILED

    if only and out:
        raise UsageError("--only is for looking; --out needs all claims")
    config, papers = run.load(configs)
    settings = {"seed": config.seed if seed is None else seed, "most": config.most | dict(most)}
    config = replace(config, salt=salt, **settings)
    expect_known(paper, papers, f"no claims of paper {paper!r}")
    findings, scale, made = run.find(config, papers[paper], results, only)
    alone = {paper: papers[paper]}
    judged = [rows.finding_row(alone, finding, made) for finding in findings]
    if out is None:
        if made.exploratory:
            echo(f"{run.exploratory_words(made.seed)}\n")
        echo(terminal.found(judged))
        return
    echo_all(run.failures(findings), err=True)
    failed = len({finding.claim for finding in findings if finding.verdict == FAILED})
    if failed and scale == "paper":
        raise ClickException(
            f"{counted(failed, 'claim')} of {paper} could not be judged; "
            "all verdicts stay as they were"
        )
    rows.write(out, "findings", judged, alone, scale, made)


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

    _, papers = run.load(configs)
    failed, written = run.write_verdicts(list(findings), papers, joint, out)
    echo_all(failed, err=True)
    if not written:
        raise ClickException(f"{counted(len(failed), 'claim')} failed; no verdicts are written")


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

    _, papers = run.load(configs)
    run.record(verdicts, findings, papers, out)


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
    "What if a setting of CLAIM's tests had this value? Can be repeated. Nothing is written."
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


@command("check-claims", "check-claims --paper banditq")
@CONFIGS
@options.paper_option("Only claims of this paper.")
def check_claims(configs, paper):
    """Ask all claims on a tiny generated run, and check the glossaries of their papers.

    No data are needed. A message names file, line, and what is known.
    """
    from fairbandits.audit import run, tiny
    from fairbandits.settings.records import load_glossary

    config, papers = run.load(configs)
    if paper is not None:
        expect_known(paper, papers, f"no claims of paper {paper!r}")
    wrong = []
    for ledger in (ledger for slug, ledger in papers.items() if paper in (None, slug)):
        load_glossary(ledger.slug, ledger.claims)
        wrong += tiny.problems(ledger, config)
        echo(f"papers/{ledger.slug}/claims.py: {counted(len(ledger.claims), 'claim')}")
    if wrong:
        raise ConfigError("\n".join(wrong))


@command("freeze 1.1.0")
@argument("release")
def freeze(release):
    """Freeze all that draws or judges as RELEASE, before its run: audit/freeze.yaml.

    All seeds follow from its hash, so that other data are drawn. Commit the file, then run.
    Nothing may be uncommitted.
    """
    from fairbandits.audit.freeze import freeze as freeze_release

    digest = freeze_release(release, checkout())
    echo(f"audit/freeze.yaml: release {release}, hash {digest}. Commit it, then `make replicate`.")


@command(
    'rejudge --paper ht_ucb --salt "any words"',
    'rejudge htucb-thm1-fair --salt "any words"',
    "rejudge --paper banditq --release",
)
@argument("claims", nargs=-1, shell_complete=claims_there)
@options.paper_option("The paper whose claims are judged again, all without CLAIMS.")
@option("--salt", "words", multiple=True, help="Words that choose the data; can be repeated.")
@option(
    "--release",
    is_flag=True,
    help="The salts of audit/freeze.yaml, for primary claims, into audit/agreement.csv.",
)
@options.CORES
def rejudge(claims, paper, words, release, cores):
    """Judge CLAIMS, or a PAPER, again on other data.

    The command lists which verdicts stay the same. Each salt has its own folder,
    results/rejudge/PAPER/... An interrupted run continues where it stopped. With --release, what
    audit/agreement.csv has already is left out; a claim that fails is not recorded.
    """
    from fairbandits.audit import rejudge as again
    from fairbandits.audit.claims import claims_of
    from fairbandits.audit.run import LISTING, load
    from fairbandits.audit.tiny import read_by
    from fairbandits.cli import launch
    from fairbandits.settings.config import load_config
    from fairbandits.settings.seeds import latest

    if bool(claims) == bool(paper):
        raise UsageError("name either CLAIMS or a --paper to judge again")
    root = checkout()
    config, papers = load(options.DEFAULT_CONFIG)
    home, of_claim = config.folders["results"], claims_of(papers)
    for claim in claims:
        expect_known(claim, of_claim, f"no claim {claim!r}", LISTING)
    paper = paper or of_claim[claims[0]].paper
    expect_known(paper, papers, f"--paper: {paper!r} is unknown")
    if bool(words) == release or (claims and release):
        raise UsageError('--salt "any words" says which data are drawn; for a --paper --release')
    if others := [claim for claim in claims if of_claim[claim].paper != paper]:
        raise UsageError(f"CLAIMS must be of one paper; {others[0]} is not of {paper}")
    every = papers[paper].claims
    if release:
        claims = [key for key, claim in every.items() if claim.primary]
    failed = set()
    for salt in latest()["salts"] if release else words:
        but = again.recorded(papers[paper], salt) if release else ()
        chosen = again.judged_again(papers[paper], claims or every, but)
        if not chosen.claims:
            echo(f"Under the salt {salt!r} audit/agreement.csv has all verdicts already.")
            continue
        settings = again.settings_of(paper, salt, home)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "rejudge.yaml"
            file.write_text(yaml.safe_dump(settings), encoding="utf-8")
            files = [*options.DEFAULT_CONFIG, file]
            config = load_config(files)
            results = settings["pathvars"]["results"]
            targets = [f"{results}/{path}" for path in read_by(chosen, config)]
            if targets and (code := launch.launch(targets, cores, files, root, stay=True)):
                if code > 128:  # by a signal, as was said
                    raise Exit(code)
                raise ClickException(f"the run under the salt {salt!r} ended with {code}")
        judged = again.verdicts_on(chosen, config, root / results)
        echo("\n".join(again.summary(salt, judged)))
        failed |= {row.claim for row in judged if row.failed}
        if release:
            again.record(salt, judged)
    if failed:
        raise ClickException(f"{counted(len(failed), 'claim')} could not be judged, as said above")

"""The commands about claims: their verdicts, their history, and the check of their ledgers."""

import sys

from click import UsageError, argument, echo, option

from fairbandits.cli.options import (
    CLAIM,
    CONFIGS,
    FILE,
    RESULTS,
    VERDICT,
    command,
    paper_option,
    set_option,
)
from fairbandits.settings.config import load_config


@command(
    "claims",
    "claims --paper fair_ucb --verdict inconclusive",
    "claims fairucb-thm2-bound",
    "claims banditq-prop2-violation --set margin=0.05",
    "claims --paper banditq --criteria",
    "claims --json",
)
@CONFIGS
@CLAIM
@set_option(
    "What if a setting of CLAIM's rule had this value? TEST.SETTING=VALUE changes one test; can"
    " be repeated. Nothing is written."
)
@paper_option("Only claims of this paper.")
@VERDICT
@option("--json", "as_json", is_flag=True, help="As JSON.")
@option("--criteria", is_flag=True, help="Rates of reproduction by several criteria, side by side.")
@RESULTS
@option("--anyway", is_flag=True, help="Show stale verdicts too, marked as such.")
def claims(configs, claim, changes, paper, verdict, as_json, criteria, results, anyway):
    """List the claims with their verdicts, or explain one CLAIM.

    Verdicts are those of the results on disk or, without results, the committed ones. Verdicts of
    a paper are refused if its rules or data have changed since.
    """
    from fairbandits.audit import run, whatif

    if claim and (paper or verdict):
        raise UsageError("give CLAIM, or --paper and --verdict")
    if criteria:
        if claim or verdict or changes or as_json or anyway:
            raise UsageError("--criteria goes with --paper and --results alone")
        echo(run.criteria_words(configs, paper, results))
        return
    if changes:
        if not claim or as_json or anyway:
            raise UsageError("--set is for one CLAIM, without --json and --anyway")
        echo(whatif.answer(*run.load(configs), claim, changes, results))
        return
    echo(run.claims_words(configs, claim, paper, verdict, as_json, results, anyway))


@command("deviations --paper banditq")
@CONFIGS
@paper_option("Only the changes of this paper.")
def deviations(configs, paper):
    """List the changes of the audit since it was first written down, by date."""
    from fairbandits.audit import run

    echo(run.deviations_words(configs, paper))


@command("check-claims", "check-claims papers/banditq/claims.yaml")
@CONFIGS
@argument("files", type=FILE, nargs=-1)
def check_claims(configs, files):
    """Check the ledgers FILES, papers/PAPER/claims.yaml; all by default.

    A message names file, record, key and the allowed values.
    """
    from fairbandits.audit.checking import checked

    wrong = 0
    for line, sound in checked(load_config(configs), files):
        wrong += not sound
        echo(line, err=not sound)
    if wrong:
        sys.exit(1)


@command("vocabulary > docs/words-of-the-ledgers.md")
def vocabulary():
    """Print all names that expressions of a ledger can use, as a Markdown page."""
    from fairbandits.audit.vocabulary import page

    echo(page(), nl=False)

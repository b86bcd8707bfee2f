"""The commands for your own policies: a comparison, the arena, and claims about them."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from click import ClickException, FloatRange, IntRange, UsageError, argument, echo, option

from fairbandits.arena.settings import SLUG
from fairbandits.cli import options
from fairbandits.cli.options import CONFIGS, FILE, FOLDER, command, echo_all
from fairbandits.numerals import counted
from fairbandits.settings.config import FROZEN


@command("demo", "demo --out demo.png")
@option("--rounds", type=IntRange(min=100), default=10_000, help="Rounds of each run.")
@option("--replicates", type=IntRange(min=2), default=20, help="Runs of each policy.")
@option("--out", type=FILE, default=Path("fairbandits-demo.png"), help="Picture to draw.")
def demo(rounds, replicates, out):
    """Compare three policies: a table and a picture.

    Three arms have quotas. UCB1 ignores them, Fair-UCB keeps them in every round, LFG in the long
    run.
    """
    if not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}")
    import fairbandits as fb

    arms = fb.instances.fair_ucb(2)
    policies = [fb.UCB1(), fb.FairUCB(arms.quotas), fb.LFG(arms.quotas, eta=10)]
    comparison = fb.compare(policies, arms, horizon=rounds, replicates=replicates)
    echo(comparison)
    comparison.plot().savefig(out)
    echo(out)


@command(
    "arena my_policies.py:FairGreedy",
    "arena my_policies.py:FairGreedy --contract minimum_pulls --instances fair_ucb_1",
    "arena my_policies.py:FairGreedy --compiled --out my_policies.html",
)
@CONFIGS
@options.RESULTS
@argument("policy", metavar="FILE.py:CLASS")
@option("--contract", "contracts", multiple=True, help="Only this contract; can be repeated.")
@option("--instances", help="Only these instances, separated by commas.")
@option(
    "--compiled", is_flag=True, help="Compile the policy, and run all stored rounds and replicates."
)
@option("--replicates", type=IntRange(min=2), help="Number of replicates.")
@option("--jobs", type=IntRange(min=1), help="Number of processes; default all processors.")
@option("--out", type=FILE, help="HTML page to write; default CLASS.html.")
def arena(configs, results, policy, contracts, instances, compiled, replicates, jobs, out):
    """Run your own policy in the arena.

    It sees the same rewards as the stored policies. The parameters quotas, targets and groups of
    the class receive the values of each instance. The command prints a table and writes one HTML
    page. `fairbandits replicate arena` makes the stored runs.
    """
    from fairbandits.arena import entrant
    from fairbandits.arena.roles import load_arena
    from fairbandits.library.processes import at, tell

    arena = load_arena(options.arena_of(configs, results))
    names = [name for name in (instances or "").split(",") if name]

    def entered() -> entrant.Outcome:
        with at(f"{policy}, while it is imported"):
            loaded = entrant.load_entrant(policy, compiled)
        return entrant.enter(arena, loaded, contracts, names, replicates, jobs, said=tell)

    outcome = _apart(entered, policy, "answer")
    from fairbandits.report import entrant as page  # what draws is for those who get that far

    name = policy.rpartition(":")[2]
    echo_all(page.lines(arena, outcome))
    if outcome.tables:
        out = out or Path(f"{name}.html")
        page.write(arena, outcome, out)
        echo(f"{out}: a page with all of it")
    if outcome.failures:
        raise ClickException(
            f"{name} failed on {counted(len(outcome.failures), 'instance')}; the others are shown"
        )


@command("which --quota 0.05 --horizon unknown", "which --contract minimum_reward --horizon 10000")
@CONFIGS
@option("--contract", default="minimum_pulls", help="Contract to keep; default minimum_pulls.")
@option("--quota", help="What each arm or group must have, such as 0.05 of the pulls.")
@option("--horizon", default="unknown", help="Number of rounds T, or unknown (default).")
def which(configs, contract, quota, horizon):
    """Say which policy keeps a contract at least cost.

    The answer is read from the arena's committed standings, audit/arena.csv; nothing is run.
    """
    from fairbandits.arena import which
    from fairbandits.arena.roles import load_arena

    rounds, owed = which.rounds_of(horizon), quota and which.quota_of(quota)
    arena = load_arena(options.arena_of(configs))
    terms = arena.of(contract)
    echo_all(which.lines(arena, terms, which.committed(arena.config), rounds, owed))


@command("standings --results results results/audit/arena.csv results/arena/arms_1e3/*.parquet")
@CONFIGS
@options.RESULTS
@argument("table", type=FILE)
@argument("data", type=FILE, nargs=-1)
def standings(configs, results, table, data):
    """Write the tables of the arena from its datasets DATA, into RESULTS/arena, and TABLE in text.

    A small run has datasets of one horizon only.
    """
    from fairbandits.arena.standings import write

    config, files = options.arena_of(configs, results), {file.resolve() for file in data}
    there = [exp for exp in config.experiments if (config.results / exp.dataset).resolve() in files]
    write(replace(config, experiments=tuple(there)), config.results / SLUG, table)


@command(
    "judge my_claims.py --check",
    "judge my_claims.py",
    "judge my_claims.py --cores 2 --out build/my_claims",
)
@option("--check", is_flag=True, help="Only check FILE; nothing is frozen or written.")
@option("--out", type=FOLDER, help="Folder to write into; default FILE without .py.")
@options.CORES
@option(
    "--seed",
    type=IntRange(min=0),
    help="Seed to use in place of the files' hash; everything is then exploratory.",
)
@option(
    "--time-limit",
    type=FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End with an error if a replicate, a claim or the import takes longer; default no limit.",
)
@argument("file", type=FILE)
def judge(check, out, cores, seed, time_limit, file):
    """Judge claims about your own policies.

    They are judged like the papers' claims. FILE is Python: a `Study` of instances and policies,
    and a function for each claim (docs/your-own-claims.md). The command first freezes it: the seed
    is a hash of the file and of those beside it that it imports, so another file draws new data.
    The report lists every look at the data.
    """
    from fairbandits.audit import own
    from fairbandits.library.processes import tell

    seed = FROZEN if seed is None else seed
    folder = out or file.with_suffix("")
    if folder == file:
        raise UsageError(f"{file} has no ending, so that --out must name another folder")
    how = {"cores": cores or os.cpu_count() or 1, "progress": sys.stderr.isatty()}
    how |= {"seed": seed, "say": tell, "time_limit": time_limit}

    def judging() -> str:
        if check:
            return own.checked_words(own.check(file, seed))
        return own.judged(file, folder, **how)

    echo(_apart(judging, str(file), "verdict", time_limit))


def _apart(
    work: Callable[[], Any], file: str, lacking: str, time_limit: float | None = None
) -> Any:
    """Return what a function answers in a process that users' code in a file can end as it will.

    What such code prints goes to standard error, so that only answers are on the other.
    """
    from fairbandits.data.whole import keep_all
    from fairbandits.library import processes
    from fairbandits.library.own_code import Ended

    def answer(_: None) -> Any:
        os.dup2(2, 1)
        try:
            return work()
        finally:
            keep_all()

    say = partial(echo, err=True)
    with processes.stopping():
        try:
            (result,) = processes.shared(answer, [None], 1, time_limit=time_limit, say=say)
        except Ended as error:
            raise ClickException(f"{file}: {error}, so that there is no {lacking}") from error
    return result

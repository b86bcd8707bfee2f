"""The commands of the arena: its tables, and a policy of one's own in it."""

from functools import partial
from pathlib import Path

from click import ClickException, IntRange, argument, echo, option

from fairbandits.arena.settings import SLUG, TABLES
from fairbandits.cli.options import CONFIGS, FILE, RESULTS, arena_of, command, completing, writing


def _contracts() -> list[str]:
    from fairbandits.library.contracts import CONTRACTS

    return list(CONTRACTS)


def _instances() -> list[str]:
    return [one.instance for one in arena_of().experiments]


@command(
    "arena my_policies.py:FairGreedy",
    "arena my_policies.py:FairGreedy --contract minimum_pulls --instances fair_ucb_1",
    "arena my_policies.py:FairGreedy --compiled --out my_policies.html",
)
@CONFIGS
@RESULTS
@argument("policy", metavar="FILE.py:CLASS")
@option(
    "--contract",
    "contracts",
    multiple=True,
    shell_complete=completing(_contracts),
    help="Only this contract; can be repeated.",
)
@option(
    "--instances",
    shell_complete=completing(_instances),
    help="Only these instances, separated by commas.",
)
@option("--compiled", is_flag=True, help="Compile the policy; run as much as is stored.")
@option("--replicates", type=IntRange(min=2), help="Number of replicates.")
@option("--jobs", type=IntRange(min=1), help="Number of processes; default all processors.")
@option("--out", type=FILE, help="HTML page to write; default CLASS.html.")
def arena(configs, results, policy, contracts, instances, compiled, replicates, jobs, out):
    """Run your own policy in the arena, beside the stored ones, on the same rewards.

    Parameters of the class named quotas, targets and groups receive those of each instance. The
    command prints a table and writes one HTML page. `fairbandits replicate arena` makes the stored
    runs.
    """
    from fairbandits.arena import entrant, report
    from fairbandits.arena.roles import load_arena

    found = entrant.load_entrant(policy, compiled)
    place = load_arena(arena_of(configs, results))
    names = [one for one in (instances or "").split(",") if one]
    say = partial(echo, err=True)
    outcome = entrant.enter(place, found, contracts, names, replicates, jobs, said=say)
    for line in entrant.lines(place, outcome):
        echo(line)
    if outcome.tables:
        out = out or Path(f"{found.name}.html")
        with writing(out):
            report.write(place, outcome, out)
        echo(f"{out}: a page with all of it")
    if outcome.failures:
        raise ClickException(
            f"{found.name} failed on {len(outcome.failures)} instances; the others are shown"
        )


@command("standings", "standings --results results/smoke")
@CONFIGS
@RESULTS
def standings(configs, results):
    """Write the tables of the arena from its datasets, into RESULTS/arena."""
    from fairbandits.arena.standings import write

    config = arena_of(configs, results)
    out = Path(config.folders["results"]) / SLUG
    with writing(*(out / f"{name}.parquet" for name in TABLES)):
        write(config, out)

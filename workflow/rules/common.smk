"""What the rules share: the plan of the run, and fingerprints of the code."""

from pathlib import Path

from snakemake.exceptions import WorkflowError

from fairbandits.arena.settings import TABLES, arena_code
from fairbandits.cli.workflow import Plan
from fairbandits.data.provenance import audit_code, collect_code, replay_code
from fairbandits.replication.bundles import SHOWN, write_plans
from fairbandits.settings.schemas import ConfigError

try:
    PLAN = Plan(config, Path(workflow.basedir))
except ConfigError as error:
    raise WorkflowError(str(error)) from None

PLAN.expect(workflow.cores or 1)
CONFIG = PLAN.config
#: Figures are drawn as soon as they can be; what they wait for comes before all else.
SOON = 2 * SHOWN
# A job that simulates or collects has the fingerprint of its own runs besides (`Job.code`).
COLLECT_CODE = collect_code()
AUDIT_CODE = audit_code()
REPLAY_CODE = replay_code()
ARENA_CODE = arena_code()

datasets_shown_in = PLAN.datasets_shown_in
params_of_figure = PLAN.params_of_figure
replay_shown_in = PLAN.replay_shown_in


wildcard_constraints:
    paper="[a-z_]+",


def drawn(paper, number, quantity, caption):
    """The outputs of a figure: the image in two formats, and the numbers it shows."""
    svg = report(
        "<figures>/<figure>.svg",
        caption=f"../report/{caption}",
        category=paper,
        labels={"figure": number, "quantity": quantity},
    )
    return {"svg": svg, "png": "<figures>/<figure>.png", "table": "<results>/<figure>.parquet"}


def published_option(wildcards, input):
    """The option that draws the published run beside ours, where it can be replayed."""
    return f"--published {input.published}" if "published" in input.keys() else ""


def name_of_figure(wildcards, output):
    """Paper and figure, as the command takes them."""
    table = Path(output.table)
    return [table.parent.name, table.stem]


def results_folder(wildcards, output):
    """The folder of results, from that of a page."""
    return Path(output[0]).parents[1]


def figures_folder(wildcards):
    """The folder of figures, also for a page without any."""
    return CONFIG.folders["figures"]

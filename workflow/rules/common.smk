"""What the rules share: the plan of the run, and fingerprints of the code."""

import shlex
from pathlib import Path

from snakemake.exceptions import WorkflowError

from fairbandits.arena.settings import TABLES, arena_code
from fairbandits.audit.code import audit_code
from fairbandits.cli.workflow import Plan
from fairbandits.data.provenance import replay_code
from fairbandits.replication.bundles import SHOWN, write_plans
from fairbandits.replication.reading import collect_code
from fairbandits.settings.schemas import ConfigError

try:
    PLAN = Plan(config, HERE)
except ConfigError as error:
    raise WorkflowError(str(error)) from None

PLAN.expect(workflow.cores or 1)
CONFIG = PLAN.config
#: Figures are drawn as soon as they can be; what they wait for comes before all else. In a small
#: run the audit comes first, since the last jobs wait for it, and figures fill what is idle.
SMALL = CONFIG.scale_name == "smoke"
FIGURES_FIRST, AUDIT_FIRST = (0, 2 * SHOWN) if SMALL else (2 * SHOWN, 0)
# A job that simulates or collects has the fingerprint of its own runs besides (`Job.code`).
COLLECT_CODE = collect_code()
AUDIT_CODE = audit_code()


wildcard_constraints:
    paper="[a-z_]+",


def priority_of(job):
    """The priority of a job that simulates or collects."""
    return job.priority % SHOWN if SMALL else job.priority


def published_option(wildcards, input):
    """The option that draws the published run beside ours, where it can be replayed."""
    return f"--published {input.published}" if "published" in input.keys() else ""


def seed_option(wildcards):
    """The option that chooses the seed, if it does not follow from the rules."""
    return f"--seed {CONFIG.seed}" if CONFIG.exploratory else ""


def salt_option(wildcards):
    """The option that says whose words the data follow from, if there are some."""
    return f"--salt {shlex.quote(CONFIG.salt)}" if CONFIG.salt else ""


def most_options(wildcards):
    """The options that limit what enumerations of claims go through."""
    return " ".join(f"--most {name} {most}" for name, most in CONFIG.most.items())


def results_folder(wildcards, output):
    """The folder of results, from that of a page."""
    return Path(output[0]).parents[1]


def figures_folder(wildcards):
    """The folder of figures, also for a page without any."""
    return CONFIG.folders["figures"]


def audit_option(wildcards):
    """The option for the folder of the committed tables, if the run has one."""
    folder = CONFIG.folders.get("audit")
    return f"--audit {shlex.quote(folder)}" if folder else ""

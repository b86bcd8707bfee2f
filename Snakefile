# Entry of the workflow: `snakemake --cores 8` runs everything at the published scale.
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

from fairbandits.cli import launch, run_lock, serving
from fairbandits.data.whole import keep_all
from fairbandits.settings.schemas import ConfigError, read_yaml

min_version("9.27")

# The project's folder; that of the Snakefile that is run is another one where this is a module.
HERE = Path(str(workflow.current_basedir))

# Snakemake keeps the last of several equal keys, and names no file that it cannot read.
try:
    for file in dict.fromkeys(["config/config.yaml", *workflow.configfiles]):
        read_yaml(HERE / file)
except ConfigError as error:
    raise WorkflowError(str(error)) from None


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"


report: "workflow/report/workflow.rst"


include: "workflow/rules/simulate.smk"
include: "workflow/rules/replay.smk"
include: "workflow/rules/figure.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/arena.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        PLAN.images,
        PLAN.drawn,
        PLAN.verdicts,
        PLAN.arena_tables,
        [] if PLAN.variant else PLAN.site,
        "<results>/manifest.sha256",


rule figures:
    input:
        PLAN.images,
        PLAN.drawn,


rule datasets:
    input:
        PLAN.datasets,


rule report:
    input:
        PLAN.site,


# A paper: `snakemake banditq`.
for paper in CONFIG.papers:

    rule:
        name:
            paper
        input:
            PLAN.of_paper(paper),


onstart:
    try:
        if run_lock.take(inside=True):
            launch.tidy(Path.cwd(), CONFIG.folders.values(), locks=False)
    except run_lock.RunLockedError as error:
        raise WorkflowError(str(error)) from None
    PLAN.date_now()
    write_plans(CONFIG, [*PLAN.simulations, *PLAN.collections])
    keep_all()  # what the jobs ask for as well
    serving.start(() if SMALL and workflow.local_exec else serving.RECORDED)


onsuccess:
    print(PLAN.closing_lines())

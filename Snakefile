# Entry of the workflow: `snakemake --cores 8` runs everything at the published scale.
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

from fairbandits.cli import serving
from fairbandits.settings.schemas import ConfigError, read_yaml

min_version("9.27")

# Snakemake keeps the last of several equal keys, and names no file that it cannot read.
try:
    for file in dict.fromkeys(["config/config.yaml", *workflow.configfiles]):
        read_yaml(Path(workflow.basedir, file))
except ConfigError as error:
    raise WorkflowError(str(error)) from None


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"


report: "workflow/report/workflow.rst"


include: "workflow/rules/simulate.smk"
include: "workflow/rules/figure.smk"


for paper in PAPERS:

    include: f"workflow/rules/{paper}.smk"


include: "workflow/rules/audit.smk"
include: "workflow/rules/arena.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        all_figures(),
        all_verdicts(),
        arena_tables(),
        [] if VARIANT else all_pages(),


rule figures:
    input:
        all_figures(),


rule datasets:
    input:
        all_datasets(),


rule report:
    input:
        all_pages(),


onstart:
    write_plans(CONFIG, [*SIMULATIONS, *COLLECTIONS])
    serving.start()


onsuccess:
    print(closing_lines())

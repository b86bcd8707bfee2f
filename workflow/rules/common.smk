"""What the rules share: the checked configuration and the fingerprints of the code."""

import json
from pathlib import Path

from snakemake.exceptions import WorkflowError

from fairbandits.experiments.config import ConfigError, build_config
from fairbandits.provenance import SIMULATION, fingerprint

try:
    CONFIG = build_config(config, "configuration", root=Path(workflow.basedir))
except ConfigError as error:
    raise WorkflowError(str(error)) from None

EXPERIMENTS = {(one.paper, one.name): one for one in CONFIG.experiments}
RUNS = {(run.paper, run.experiment, run.name): run for run in CONFIG.runs}

SIMULATION_CODE = fingerprint(*SIMULATION)
COLLECT_CODE = fingerprint(*SIMULATION, "experiments", "store.py")
FIGURE_CODE = fingerprint("figures", "metrics", "benchmarks", "store.py", "experiments/datasets.py")
REPLAY_CODE = fingerprint(*SIMULATION, "replay", "benchmarks")


wildcard_constraints:
    paper="[a-z_]+",
    experiment="[a-z0-9_]+",
    run="[a-z0-9_]+-[a-z0-9_]+",
    chunk="[0-9]+-[0-9]+",


def all_figures():
    """The figures of all configured papers, as SVG."""
    return [
        f"<figures>/{one.paper}/{figure}.svg"
        for one in CONFIG.experiments
        for figure in one.figures
    ]


def run_block(wildcards):
    """All that decides a run's numbers but the seed, as canonical JSON."""
    run = RUNS[wildcards.paper, wildcards.experiment, wildcards.run]
    return json.dumps(run.block, sort_keys=True)


def chunk_files(wildcards):
    """The chunks of all runs of an experiment."""
    return [
        f"<results>/cache/{run.key}/{chunk}.parquet"
        for run in EXPERIMENTS[wildcards.paper, wildcards.experiment].runs
        for chunk in run.chunks()
    ]


def experiment_facts(wildcards):
    """What the dataset's footer says of its experiment, as JSON in the configured order."""
    return json.dumps(EXPERIMENTS[wildcards.paper, wildcards.experiment].facts())


def published_option(wildcards, input):
    """The option that draws the published run beside ours, where it can be replayed."""
    return f"--published {input.published}" if "published" in input.keys() else ""


def closing_lines():
    """What a finished run says last: how many figures there are, and where the report is."""
    figures = Path(CONFIG.folders["figures"])
    drawn = sum(
        (figures / one.paper / f"{name}.svg").is_file()
        for one in CONFIG.experiments
        for name in one.figures
    )
    lines = [f"{drawn} figures in {figures}"]
    if CONFIG.scale == "smoke":
        lines.append("Smoke run: everything was run at a small scale; its numbers are not results.")
    index = Path(CONFIG.folders["results"]) / "site" / "index.html"
    if index.is_file():
        lines.append(f"Report: {index}")
    return "\n".join(lines)

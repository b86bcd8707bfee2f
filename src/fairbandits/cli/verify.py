"""The commands that compare results with their manifest and lock, and keep a run as one file."""

import os
import secrets
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from click import ClickException, IntRange, argument, echo, option

from fairbandits.cli import options, serving
from fairbandits.cli.options import CONFIGS, FILE, FOLDER, command, echo_all
from fairbandits.numerals import counted
from fairbandits.settings.schemas import ROOT, checkout


@command("verify", "verify --sample 10", "verify --deep", "verify --all")
@CONFIGS
@options.LOCK
@option("--sample", type=IntRange(min=0), default=2, help="Replicates to simulate again.")
@option(
    "--sample-seed",
    type=IntRange(min=0),
    help="Seed that chooses those replicates; by default random.",
)
@option("--deep", is_flag=True, help="Compute figures' curves, the arena and verdicts again.")
@option("--all", "every", is_flag=True, help="List each problem, even many of one kind.")
def verify(configs, lock, sample, sample_seed, deep, every):
    """Check committed files and results, from results.lock down.

    Committed figures and tables must be those of the lock. Every file of a finished run must be as
    its manifest lists, and no other may be there. The runs must have the content that the lock
    records, and all tables must come from the present code, settings and rules. Some replicates
    are simulated again; `--deep` also computes again what figures and tables show.
    """
    # as Snakemake says to each job; passes of SciPy's optimisers depend on it
    os.environ |= {f"{name}_THREADS": "1" for name in serving.THREADS} if deep else {}

    from fairbandits.audit import freeze, run
    from fairbandits.audit.rows import VERDICTS_TABLE
    from fairbandits.audit.staleness import problems_of
    from fairbandits.replication import verify as check
    from fairbandits.replication.lock import LOCK, read_lock
    from fairbandits.report import manifest as manifests
    from fairbandits.report.again import computed_again
    from fairbandits.report.numbers import edited_pages

    config = options.with_arena(configs)
    is_published = config.scale_name == "paper" and not config.exploratory
    lock = lock or (LOCK if is_published else None)
    seed = secrets.randbelow(10**6) if sample_seed is None else sample_seed
    chosen = f"; --sample-seed {seed} chooses the same replicates again" if sample else ""
    known = read_lock(lock) if lock else check.of_results(config)
    problems, lines = manifests.verify(config, known)
    problems += check.verify(config, known, manifests.facts_of(config), sample, seed)
    problems += problems_of(config, known)
    if lock == LOCK:
        problems += edited_pages(run.load(options.DEFAULT_CONFIG)[1], ROOT)
    table = Path(config.folders.get("audit", "")) / VERDICTS_TABLE
    if is_published and table.is_file():
        wrong, facts = freeze.derived(run.load(options.DEFAULT_CONFIG)[1], table.parent)
        problems += wrong
        lines += facts
    if deep:
        asking, papers = run.load(options.DEFAULT_CONFIG)
        same = {name: getattr(config, name) for name in ("seed", "salt", "most", "folders")}
        with TemporaryDirectory() as folder:
            judging, arena = replace(asking, **same), options.arena_of(configs)
            again, summary = computed_again(config, arena, judging, papers, Path(folder))
        problems += again
        lines.append(summary)
    lines += [
        f"{file} was run before all else, and can change what is computed" for file in customising()
    ]
    problems = list(dict.fromkeys(problems))
    echo_all(problems if every else check.summarised(problems), err=True)
    if problems:
        raise ClickException(f"{counted(len(problems), 'problem')}{chosen}")
    if sample and known["runs"]:
        lines.append(f"{counted(sample, 'replicate')} simulated again agree{chosen}")
    echo_all(lines)


def customising() -> list[str]:
    """Return the files that Python ran before this project's, beside those that come with it."""
    modules = (sys.modules.get(name) for name in ("sitecustomize", "usercustomize"))
    files = (getattr(module, "__file__", None) for module in modules)
    return [file for file in files if file and not file.startswith(sysconfig.get_path("stdlib"))]


@command("lock")
@CONFIGS
@option("--out", type=FILE, default=ROOT / "results.lock", help="Lock to write.")
def lock(configs, out):
    """Write results.lock from the results on disk, and their manifest."""
    from fairbandits.replication.verify import write_lock
    from fairbandits.report import manifest as manifests

    config = options.with_arena(configs)
    if not any((config.results / "arena").glob("**/*.parquet")):  # it was not run
        config = options.load_config(configs)
    folders = manifests.folders_of(config)
    committed = manifests.hashes_of(manifests.committed_files(folders))
    write_lock(config, committed, out)
    echo(f"{out}: {counted(len(config.runs), 'run')}, {counted(len(committed), 'committed file')}")
    if (config.results / manifests.MANIFEST).is_file():
        echo(manifests.write_manifest(folders).words)


@command("manifest --results results --figures figures --audit audit")
@option("--results", type=FOLDER, required=True, help="Folder of the results.")
@option("--figures", type=FOLDER, help="Folder of the drawn figures.")
@option("--audit", type=FOLDER, help="Folder of the short tables.")
def manifest(**folders):
    """Write the manifest of a finished run: a hash of each file.

    `sha256sum --check` reads it; its own hash is the root of the run.
    """
    from fairbandits.report.manifest import write_manifest

    echo(write_manifest({name: folder for name, folder in folders.items() if folder}).words)


@command("archive", "archive --agent 'A. Name' --out build/run.zip")
@CONFIGS
@option("--agent", help="Name of the person who ran it, for the record.")
@option("--out", type=FILE, default=Path("build/fairbandits.zip"), help="File to write.")
def archive(configs, agent, out):
    """Write a finished run as one file.

    It holds code, lock, data, figures, verdicts, site, manifest and a record of the run: a Workflow
    Run RO-Crate with the hash of each file.
    """
    from fairbandits.report.archive import write_archive

    written, root = write_archive(options.with_arena(configs), out, checkout(), agent)
    echo(f"{out}: {counted(written, 'file')}, root {root}")


@command("fetch build/fairbandits.zip", "fetch fairbandits.zip --results results/fetched")
@CONFIGS
@options.RESULTS
@options.LOCK
@option("--root", help="Root that the archive must have, of its author; the first digits will do.")
@argument("file", type=FILE)
def fetch(configs, results, lock, root, file):
    """Unpack the results of an archive FILE.

    Data, figures and short tables must agree with results.lock, and everything with the archive's
    manifest, for which only its root vouches. An archive that is damaged, or of other code,
    settings, rules or results, is refused. Nothing of it is run.
    """
    from fairbandits.replication.lock import LOCK, read_lock
    from fairbandits.report.archive import fetch as fetch_results

    config = options.with_arena(configs, results)
    echo_all(fetch_results(file, config, read_lock(lock or LOCK), root))

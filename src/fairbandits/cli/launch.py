"""Start the workflow so that it can be killed at any moment and started again.

Snakemake's lock survives a `kill -9`; ours (`run_lock`) tells whether it is stale.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from fairbandits.audit.code import asking_code, audit_code
from fairbandits.cli import run_lock
from fairbandits.cli.options import with_arena
from fairbandits.data.provenance import git_commit
from fairbandits.lookup import nearest
from fairbandits.settings.config import Config, Experiment
from fairbandits.settings.schemas import ConfigError

#: What the shell of a job is given by Snakemake.
JOB = re.compile(r"set -euo pipefail;\s*fairbandits \w+ ")
#: What a run's server, and the steps that it has forked, are called by.
SERVER = "fairbandits.cli.serving"
#: Names of what is written before it takes its place: `.NAME-` and eight letters, a file or folder.
UNFINISHED = re.compile(r"\..+-[a-z0-9_]{8}(\.[a-z]+)?")
#: What can be asked for by name besides the figures.
TARGETS = ("all", "figures", "datasets", "audit", "arena", "report")


def launch(
    targets: Sequence[str],
    cores: int | None,
    files: Sequence[Path],
    root: Path,
    *,
    dry_run: bool = False,
    stay: bool = False,
    unlock: bool = False,
) -> int:
    """Become snakemake in the project's folder, or `stay`; return 1 if another run is at work.

    With `unlock` only the folder is unlocked, of a run that is not seen from here.
    """
    os.chdir(root)
    provide_home(root)
    settings = ["--configfile", *map(str, files)] if files else []
    arguments = [*targets, *settings, "--cores", str(cores or "all"), "--logger", "fairbandits"]
    if dry_run:
        command = [sys.executable, "-m", "snakemake", *arguments, "--dry-run", "--nolock"]
        return subprocess.run(command, check=False).returncode
    try:
        killed = run_lock.take(unlock)
    except run_lock.RunLockedError as error:
        print(error, file=sys.stderr)
        return 1
    config = with_arena(tuple(files or [root / "config" / "config.yaml"]))
    if killed or unlock:
        tidy(root, config.folders.values())
    if unlock:
        run_lock.release()
        print("Unlocked; the next run takes up where the last one stopped.")
        return 0
    if killed:
        print("An earlier run was killed; taking up where it stopped.", flush=True)
    print("Finding out what is to be made", file=sys.stderr, flush=True)
    remove_stale(config, root)
    git_commit()  # says so where git does not tell it
    command = [sys.executable, "-m", f"{__package__}.stoppable", *arguments]
    run_lock.inheritable()  # the lock stays as long as snakemake lives
    if not stay:
        os.execv(sys.executable, command)
    with subprocess.Popen(command, close_fds=False) as process:
        # the terminal interrupts both; what ends this process alone is handed on
        before = signal.signal(signal.SIGINT, lambda *_: None)
        ended = signal.signal(signal.SIGTERM, lambda number, _: process.send_signal(number))
        code = process.wait()
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, ended)
    run_lock.release()
    return code


def tidy(root: Path, folders: Iterable[str], locks: bool = True) -> None:
    """Take away what a killed run left: its jobs, what they had begun, and Snakemake's `locks`."""
    _end_jobs(root)
    remove_unfinished(map(Path, folders))
    if locks:
        shutil.rmtree(run_lock.LOCKS, ignore_errors=True)


def provide_home(root: Path) -> None:
    """Let others' caches lie in the project's folder where the user's home cannot be written."""
    home = os.path.expanduser("~")
    if not _takes_files(Path(home, ".cache")):
        if (git := Path(home, ".gitconfig")).is_file():
            os.environ.setdefault("GIT_CONFIG_GLOBAL", str(git))
        os.environ["HOME"] = str(root / ".cache" / "home")
        Path(os.environ["HOME"]).mkdir(parents=True, exist_ok=True)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        if not _takes_files(Path(os.environ.get(name) or root)):
            os.environ.pop(name, None)


def _takes_files(folder: Path) -> bool:
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
    return os.access(folder, os.W_OK)


def named_figures(config: Config) -> list[str]:
    """Return the names of the figures as targets, e.g. ``banditq_fig2``."""
    return [f"{paper}_{figure}" for paper, figure in config.figures]


def _figures_of(exp: Experiment) -> set[str]:
    return {f"{exp.paper}_{figure}" for figure in (*exp.figures, *exp.companion_to)}


def check_targets(targets: Sequence[str], config: Config) -> None:
    """Raise ConfigError for the first target that the workflow lacks; files are Snakemake's."""
    papers, figures = config.papers, named_figures(config)
    names = [*TARGETS, *papers, *figures]
    for name in targets:
        is_job = name.startswith(("simulate_", "collect_")) or "/" in name or Path(name).suffix
        if not (is_job or name in names):
            same = " or ".join(figure for figure in figures if figure.endswith(f"_{name}"))
            every = (
                f"{f'; write {same}' if same else ''}; there are {', '.join(TARGETS)}, the papers "
                f"{', '.join(papers)}, and the figures {', '.join(figures)}"
            )
            near = "" if same else nearest(name, names)
            raise ConfigError(f"there is nothing called {name!r} to make{near or every}")


def check_used(changes: Iterable[str], targets: Sequence[str], config: Config) -> None:
    """Raise ConfigError for the first changed setting that no requested figure shows.

    If a target is no figure, every change counts as used.
    """
    if not targets or not set(targets) <= set(named_figures(config)):
        return
    shown = [exp for exp in config.experiments if _figures_of(exp) & {*targets}]
    for name in changes:
        if not any(
            name.removeprefix(f"{exp.paper}.").partition(".")[0] in (exp.name, exp.suite)
            for exp in shown
        ):
            drawn = list(dict.fromkeys(exp.suite or exp.name for exp in shown))
            ways = " or ".join(f"{experiment}.SETTING" for experiment in drawn)
            shows = f"draw{'s' * (len(targets) == 1)} {', '.join(drawn) or 'no experiment'}"
            way = f"; write {ways}" if ways else ""
            raise ConfigError(f"--set {name}: {', '.join(targets)} {shows}{way}")


def targets_of_variant(targets: Sequence[str], config: Config) -> list[str]:
    """Return the targets of a variant: by default all figures that show the change."""
    changed = [experiment for experiment in config.experiments if experiment.changed]
    shown = {name for experiment in changed for name in _figures_of(experiment)}
    showing = [figure for figure in named_figures(config) if figure in shown]
    datasets = [f"{config.folders['results']}/{experiment.dataset}" for experiment in changed]
    whole = {
        paper: [fig for fig in showing if fig.startswith(f"{paper}_fig")] for paper in config.papers
    }
    targets = [name for target in targets for name in whole.get(target) or [target]]
    for target in targets:
        if target in ("all", "audit", "arena", "report"):
            why = f"{target} has what is about the published settings"
            raise ConfigError(f"a variant has figures and datasets only: {why}")
        if target in (*named_figures(config), *config.papers) and target not in showing:
            shows = f"that is shown by {', '.join(showing) or 'no figure'}"
            raise ConfigError(f"{target} shows nothing that is changed; {shows}")
    return list(targets) or showing or datasets


def _end_jobs(root: Path) -> None:
    """End the jobs of a killed run, which would write the same files as the next one."""
    jobs: list[psutil.Process] = []
    kept = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter(["cmdline", "cwd"]):
        cmdline = process.info["cmdline"] or []
        is_job = cmdline[1:2] == ["-c"] and JOB.match(cmdline[-1])
        is_of_run = process.info["cwd"] == str(root) and process.pid not in kept
        if is_of_run and (is_job or SERVER in cmdline):
            with suppress(psutil.NoSuchProcess):  # it has come to its end meanwhile
                jobs += [*process.children(recursive=True), process]
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for job in jobs:
            with suppress(psutil.NoSuchProcess):
                end(job)
        _, jobs = psutil.wait_procs(jobs, timeout=5)


def remove_stale(config: Config, root: Path) -> None:
    """Remove datasets and findings that other code, or another seed, made.

    Snakemake has no records of results that were copied or fetched, and goes by dates. Datasets
    of which it has one are its own matter: to look at all takes seconds.
    """
    # they import Arrow, which no other step here needs
    from fairbandits.data.store import StoreError, read_footer

    files = (config.results / experiment.dataset for experiment in config.experiments)
    for file in [file for file in files if file.is_file() and not _is_recorded(file, root)]:
        if _is_stale(file, config.root_seed):
            file.unlink()
    for slug in config.papers:
        file = config.results / "audit" / f"{slug}.parquet"
        claims = root / "papers" / slug / "claims.py"
        if file.is_file() and claims.is_file():
            made = None
            with suppress(StoreError):
                footer = read_footer(file)
                made = footer["audit_code"], footer.get("rules", {}).get(slug)
            if made != (audit_code(), asking_code(claims)):
                file.unlink()


def _is_recorded(file: Path, root: Path) -> bool:
    """Return whether Snakemake has a record of a file, named by the path as it is in rules."""
    name = urlsafe_b64encode(str(file).encode()).decode()
    return (root / ".snakemake" / "metadata" / name).is_file()


def _is_stale(file: Path, seed: int) -> bool:
    """Return whether a dataset has another seed or is of other code; a damaged one stays."""
    from fairbandits.data.store import StoreError, read_footer
    from fairbandits.replication.datasets import expect, refuse_stale

    try:
        footer = read_footer(file)
    except StoreError:  # it is named where it is read
        return False
    try:
        expect(footer, {"seed": seed}, file)
        refuse_stale(footer, file)
    except StoreError:
        return True
    return False


def remove_unfinished(folders: Iterable[Path]) -> None:
    """Remove what killed processes had begun to write below folders; nothing may be at work."""
    for folder in folders:
        for path in [path for path in folder.rglob(".*") if UNFINISHED.fullmatch(path.name)]:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

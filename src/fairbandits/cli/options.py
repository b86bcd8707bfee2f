"""Common parts of the commands: options, completion in the shell, and some error messages."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click
from click import option

from fairbandits.arena.settings import SLUG, once
from fairbandits.settings.config import Config, load_config
from fairbandits.settings.schemas import ROOT, ConfigError, checkout

DEFAULT_CONFIG = (ROOT / "config" / "config.yaml",)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


def examples(*lines: str) -> str:
    """Return the examples below the help of a command."""
    return "\b\n" + "\n".join(["Examples:", *(f"  fairbandits {line}" for line in lines)])


def command(*lines: str):
    """Make a function a command of its name, with these examples."""
    return click.command(epilog=examples(*lines))


def completing(names):
    """Return what completes a word in the shell from the names that a function gives."""

    def complete(context: click.Context, parameter: click.Parameter, begin: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(begin)]
        except (ConfigError, OSError):
            return []  # the command reports the error

    return complete


def papers() -> list[str]:
    return sorted(file.parent.name for file in ROOT.glob("papers/*/experiments.yaml"))


#: Refuses a checkout that has other code than what runs.
CONFIGS = option(
    "--config",
    "configs",
    type=FILE,
    multiple=True,
    default=DEFAULT_CONFIG,
    callback=lambda context, option, files: checkout() and files,
    help="Configuration file; if repeated, later files override earlier ones.",
)
RESULTS = option(
    "--results", type=FOLDER, help="Folder of the results; default the configured one."
)
CORES = option("--cores", type=click.IntRange(min=1), help="Cores to use; default all.")
LOCK = option(
    "--lock", type=FILE, help="Lock to compare with; default results.lock at the published scale."
)


def paper_option(words: str):
    return option("--paper", shell_complete=completing(papers), help=words)


def set_option(words: str):
    return option("--set", "changes", multiple=True, metavar="SETTING=VALUE", help=words)


def placed(config: Config, results: Path | None) -> Config:
    """Return a configuration whose results are in this folder, if one is given."""
    folder = {"results": str(results)} if results else {}
    return replace(config, folders=config.folders | folder)


def arena_of(configs: tuple[Path, ...] = DEFAULT_CONFIG, results: Path | None = None) -> Config:
    """Return the configuration of the arena."""
    return placed(once(load_config(configs, papers=[SLUG])), results)


def with_arena(configs: tuple[Path, ...], results: Path | None = None) -> Config:
    """Return a configuration with the arena's experiments besides, unless it is a variant's."""
    config = placed(load_config(configs), results)
    if config.scale_name == "variant" or SLUG in config.papers:
        return config
    experiments = *config.experiments, *arena_of(configs, results).experiments
    return replace(config, experiments=experiments)


def echo_all(lines: Iterable[str], err: bool = False) -> None:
    for line in lines:
        click.echo(line, err=err)

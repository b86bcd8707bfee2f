"""The command that runs the workflow, with the published settings or with others."""

import sys
from contextlib import ExitStack
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from click import IntRange, UsageError, argument, option

from fairbandits.cli import launch, options
from fairbandits.cli.options import DEFAULT_CONFIG, FOLDER, command
from fairbandits.settings import variants
from fairbandits.settings.config import build_config, load_config
from fairbandits.settings.schemas import ROOT, checkout, merge, read_yaml


def _targets() -> list[str]:
    return [*launch.TARGETS, *launch.named_figures(load_config(DEFAULT_CONFIG))]


def _scale(name: str, words: str):
    return option(f"--{name}", "scale", flag_value=name, help=words)


@command(
    "replicate",
    "replicate --cores 4 banditq_fig2 banditq_fig7",
    "replicate --preview figures",
    "replicate --dry-run",
    "replicate banditq_fig7 --set oracle_lfg.banditq.V_exponent=0.6 --replicates 20"
    " --out results/v06",
)
@options.CORES
@_scale("smoke", "A small run of everything, in results/smoke.")
@_scale("preview", "Published horizons, few replicates, in results/preview.")
@_scale("large", "Ten times the rounds and replicates, in results/large: a hundred times the work.")
@options.set_option(
    "EXPERIMENT.SETTING or EXPERIMENT.POLICY.PARAMETER, with a value to replace the published one;"
    " can be repeated, and needs --out."
)
@option(
    "--replicates", type=IntRange(2, 10**6), help="Replicates of every experiment; needs --out."
)
@option("--out", type=FOLDER, help="Folder to write into with --set or --replicates.")
@option("--dry-run", is_flag=True, help="Only print what would be made, and how long it takes.")
@argument("targets", nargs=-1, shell_complete=options.completing(_targets))
def replicate(cores, scale, changes, replicates, out, dry_run, targets):
    """Run the workflow, or TARGETS of it.

    TARGETS are e.g. `figures` or `banditq_fig2`; default everything. With --set or --replicates the
    command draws the figures that show the change, or the TARGETS among them, and committed files
    do not change.
    """
    root = checkout()
    files = [*DEFAULT_CONFIG, *([ROOT / "config" / f"{scale}.yaml"] if scale else [])]
    asked = list(targets)
    if bool(changes or replicates) != bool(out):
        raise UsageError(
            "--set and --replicates need --out, a folder of their own such as results/v06, and "
            "--out needs one of them"
        )
    with ExitStack() as stack:
        if out:
            scratch = Path(stack.enter_context(TemporaryDirectory())) if dry_run else None
            variant, asked = _variant(files, changes, replicates, out, asked, scratch)
            files.append(variant)
        elif asked:
            launch.check_targets(asked, load_config(files))
        options = {"cores": cores, "files": files[1:] and files, "root": root}
        sys.exit(launch.launch(asked, **options, dry_run=dry_run))


def _variant(
    files, changes, replicates, out: Path, targets: list[str], scratch: Path | None
) -> tuple[Path, list[str]]:
    """Write a variant's configuration, into its folder or `scratch`; return it and the targets."""
    published = load_config(files)
    home = load_config(DEFAULT_CONFIG).folders["results"]
    folder = variants.folder_of_variant(out, ROOT, home, options.papers())
    settings = variants.settings_of_variant(changes, replicates, folder)
    launch.check_targets(targets, published)
    launch.check_used(settings.get("changes", {}), targets, published)
    config = build_config(reduce(merge, [*map(read_yaml, files), settings]), "command line")
    asked = launch.targets_of_variant(targets, config)
    if set(asked) <= set(launch.named_figures(config)):
        drawn = {one.rpartition("_fig")[0] for one in asked}
        known = dict.fromkeys(one.paper for one in config.experiments)
        settings["papers"] = [paper for paper in known if paper in drawn]
    return variants.write_variant(settings, scratch or ROOT / folder), asked

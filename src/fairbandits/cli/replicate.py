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
    config = load_config(DEFAULT_CONFIG)
    return [*launch.TARGETS, *config.papers, *launch.named_figures(config)]


def _scale(name: str, text: str):
    return option(f"--{name}", is_flag=True, help=text)


@command(
    "replicate",
    "replicate --cores 4 banditq_fig2 banditq_fig7",
    "replicate --preview figures",
    "replicate bf_ucb",
    "replicate --dry-run",
    "replicate banditq_fig7 --set oracle_lfg.banditq.V_exponent=0.6 --replicates 20"
    " --out results/v06",
    "replicate banditq_fig2 --seed 7 --out results/seed7",
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
@option("--seed", type=IntRange(min=0), help="Another seed of all rewards; needs --out.")
@option("--out", type=FOLDER, help="Folder to write into with --set, --replicates or --seed.")
@option("--dry-run", is_flag=True, help="Only print what would be made, and how long it takes.")
@option(
    "--unlock",
    is_flag=True,
    help="Only unlock the folder, of a run elsewhere that you know is gone.",
)
@argument("targets", nargs=-1, shell_complete=options.completing(_targets))
def replicate(cores, changes, replicates, seed, out, dry_run, unlock, targets, **scales):
    """Run the workflow, or TARGETS of it.

    TARGETS are e.g. `figures`, `banditq` (a paper: its figures and findings) or `banditq_fig2`;
    default everything. With --set, --replicates or --seed the command draws the figures that show
    the change, or the TARGETS among them, and committed files do not change.
    """
    root = checkout()
    scale = [name for name, asked in scales.items() if asked]
    if len(scale) > 1:
        raise UsageError(f"--{' and --'.join(scale)} exclude each other; give one of them")
    files = [*DEFAULT_CONFIG, *(ROOT / "config" / f"{name}.yaml" for name in scale)]
    asked = list(targets)
    given = {"changes": changes, "replicates": replicates, "seed": seed}
    given = {name: value for name, value in given.items() if value not in ((), None)}
    if bool(given) != bool(out):
        raise UsageError(
            "--set, --replicates and --seed need --out, a folder of their own such as results/v06, "
            "and --out needs one of them"
        )
    with ExitStack() as stack:
        if out:
            scratch = Path(stack.enter_context(TemporaryDirectory())) if dry_run else None
            variant, asked = _variant(files, given, out, asked, scratch)
            files.append(variant)
        elif asked:
            launch.check_targets(asked, load_config(files))
        options = {"cores": cores, "files": files[1:] and files, "root": root}
        sys.exit(launch.launch(asked, **options, dry_run=dry_run, unlock=unlock))


def _variant(
    files, given: dict, out: Path, targets: list[str], scratch: Path | None
) -> tuple[Path, list[str]]:
    """Write a variant's configuration, into its folder or `scratch`; return it and the targets."""
    published = load_config(files)
    home = load_config(DEFAULT_CONFIG).folders["results"]
    folder = variants.folder_of_variant(out, ROOT, home, options.papers())
    settings = variants.settings_of_variant(folder, **given)
    launch.check_targets(targets, published)
    launch.check_used(settings.get("changes", {}), targets, published)
    config = build_config(reduce(merge, [*map(read_yaml, files), settings]), "command line")
    asked = launch.targets_of_variant(targets, config)
    if set(asked) <= set(launch.named_figures(config)):
        drawn = {target.rpartition("_fig")[0] for target in asked}
        settings["papers"] = [paper for paper in config.papers if paper in drawn]
    return variants.write_variant(settings, scratch or ROOT / folder), asked

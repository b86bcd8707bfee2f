"""Read and check the configuration: files -> experiments -> runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from fairbandits.data.texts import csv_rows
from fairbandits.settings.costs import MOST
from fairbandits.settings.experiments import Experiment, Replay, Run, experiment_of
from fairbandits.settings.models import expect_known, validated
from fairbandits.settings.papers import ExperimentBlock, PaperFile, Suite
from fairbandits.settings.scales import FROZEN, Settings
from fairbandits.settings.schemas import ROOT, ConfigError, merge, paper_file, read_yaml
from fairbandits.settings.seeds import latest, root_seed
from fairbandits.settings.variants import Changes


@dataclass(frozen=True)
class Config:
    """The whole configuration."""

    seed: int | str  # root seed of all runs, or "frozen": see root_seed
    scale_name: str  # "paper" or a key of settings.marks.SCALES
    folders: dict[str, str]  # output folders
    experiments: tuple[Experiment, ...]
    frozen: str = ""  # what the seed follows from: the hash of a release, or of a user's file
    replays: tuple[Replay, ...] = ()
    job_seconds: float = MOST  # target for the longest job; a single replicate can take longer
    salt: str = ""  # words that the seed follows from besides
    most: Mapping[str, int] = field(default_factory=dict)  # of an argument of an enumeration

    @property
    def scale(self) -> str:
        """The scale in verdicts: ``paper``, or ``smoke`` for every other and for fewer cases."""
        return "paper" if self.scale_name == "paper" and not self.most else "smoke"

    @property
    def exploratory(self) -> bool:
        """Whether the seed was chosen, so that runs can be older than the rules that judge them."""
        return self.seed != FROZEN

    @property
    def root_seed(self) -> int:
        """The root seed of all that is drawn, also while claims are judged."""
        return self.seed if self.exploratory else root_seed(self.frozen, self.salt)

    @property
    def papers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(experiment.paper for experiment in self.experiments))

    @property
    def figures(self) -> tuple[tuple[str, str], ...]:
        """Paper and name of each figure; a paper's replays come after its runs."""
        blocks = (*self.experiments, *self.replays)
        drawn = [(block.paper, figure) for block in blocks for figure in block.figures]
        return tuple(figure for paper in self.papers for figure in drawn if figure[0] == paper)

    @property
    def results(self) -> Path:
        return Path(self.folders["results"])

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(run for experiment in self.experiments for run in experiment.runs)

    def experiment(self, paper: str, name: str) -> Experiment:
        known = {f"{block.paper}/{block.name}": block for block in self.experiments}
        expect_known(key := f"{paper}/{name}", known, f"no experiment {key!r}")
        return known[key]

    def named(self, paper: str, name: str) -> tuple[Experiment, ...]:
        """Return the experiment, or all instances of the suite, of this name or ``PAPER/NAME``."""
        other, _, name = name.rpartition("/")
        blocks = [block for block in self.experiments if block.paper == (other or paper)]
        known = [key for block in blocks for key in (block.name, block.suite) if key]
        expect_known(name, known, f"{other or paper} has no experiment {name!r}")
        return tuple(block for block in blocks if name in (block.name, block.suite))

    def shown_in(self, paper: str, figure: str) -> tuple[Experiment, ...]:
        """Return all experiments that a figure shows, its own first."""
        known = {f"{e.paper}_{name}": e for e in self.experiments for name in e.figures}
        expect_known(key := f"{paper}_{figure}", known, f"no figure {key!r}")
        blocks = (block for block in self.experiments if block.paper == paper)
        return known[key], *(block for block in blocks if figure in block.companion_to)


def load_config(files: Sequence[Path], root: Path = ROOT, **others: Any) -> Config:
    """Return the configuration of files, the later over the earlier, and of `others` over all."""
    merged = reduce(merge, (read_yaml(Path(file)) for file in files), {}) | others
    return build_config(merged, " + ".join(map(str, files)), root)


def build_config(content: dict[str, Any], where: str, root: Path = ROOT) -> Config:
    """Return the configuration of merged settings; `where` names them in messages."""
    settings = validated(content, Settings, where)
    changes = Changes(settings.changes or {}, f"{where}: changes")
    papers = [_Paper(slug, settings, where, root) for slug in settings.papers]
    experiments = [block for paper in papers for block in paper.experiments(changes)]
    changes.check_found()
    return Config(
        settings.seed,
        settings.scale,
        {key: folder for key, folder in settings.pathvars if folder},
        tuple(experiments),
        latest(root)["hash"],
        tuple(replay for paper in papers for replay in paper.replays),
        settings.job_seconds,
        settings.salt or "",
        settings.limits.words if settings.limits else {},
    )


class _Paper:
    """The files of a paper, from which its experiments are made and checked."""

    def __init__(self, slug: str, settings: Settings, where: str, root: Path) -> None:
        self.slug, self.settings, self.where, self.root = slug, settings, where, root
        main, audit = (paper_file(slug, part, root) for part in ("experiments", "audit"))
        known = sorted(path.parent.name for path in root.glob("papers/*/experiments.yaml"))
        expect_known(slug, known, f"{where}: papers: {slug!r} is unknown")
        self.file = str(main.relative_to(root))
        self.files: dict[str, PaperFile] = {}
        for path in (main, audit):
            if path.is_file():
                name = str(path.relative_to(root))
                content = self.files[name] = validated(read_yaml(path), PaperFile, name)
                if content.paper != slug:
                    raise ConfigError(f"{name}: paper must be {slug!r}, got {content.paper!r}")

    @property
    def replays(self) -> list[Replay]:
        return [
            Replay(self.slug, name, block.title, tuple(block.figures), block.horizon)
            for content in self.files.values()
            for name, block in content.replays.items()
        ]

    def experiments(self, changes: Changes) -> list[Experiment]:
        """Return the experiments of its files, as changed."""
        made: dict[str, Experiment] = {}
        blocks: dict[str, tuple[str, ExperimentBlock]] = {}
        for file, content in self.files.items():
            for name, (suite, block) in _instances(content.experiments, file).items():
                inside = f"experiments.{name}"
                suites = {other.suite for other in made.values()} - {suite}
                if taken := ({name, suite} - {""}) & (blocks.keys() | suites):
                    raise ConfigError(f"{file}: {inside}: there is another experiment {min(taken)}")
                block, changed = changes.of(self.slug, (name, suite), block)
                at = (f"{self.where}: changes of {name}", "") if changed else (file, inside)
                checked = validated(block, ExperimentBlock, *at)
                where = ": ".join(filter(None, at))
                blocks[name] = where, checked
                common = self.slug, name, checked, self.settings, changed, where, suite
                made[name] = experiment_of(*common, audit=file != self.file)
        _check_streams(blocks)
        if not (self.root / "papers" / self.slug / "claims.py").is_file():
            _check_unjudged(self.slug, self.root)
        self._check_figures(made.values())
        return [*made.values()]

    def _check_figures(self, experiments: Iterable[Experiment]) -> None:
        """Raise ConfigError unless each figure is drawn from one block, companions from another."""
        blocks = {f"experiments.{block.name}": block for block in experiments}
        drawn = sorted({figure for block in blocks.values() for figure in block.figures})
        for key, block in blocks.items():
            for figure in block.companion_to:
                message = f"{figure!r} is drawn from no experiment"
                expect_known(figure, drawn, f"{self.file}: {key}.companion_to: {message}")
        homes: dict[str, str] = {}
        blocks |= {f"replays.{replay.name}": replay for replay in self.replays}
        for key, block in blocks.items():
            for figure in block.figures:
                if (home := homes.setdefault(figure, key)) != key:
                    message = f"{figure!r} is already drawn from {home}"
                    raise ConfigError(f"{self.file}: {key}.figures: {message}")


def _instances(blocks: Mapping[str, dict], where: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the experiments of a file as written, each with its suite, if it is in one."""
    written: dict[str, tuple[str, dict[str, Any]]] = {}
    for key, block in blocks.items():
        if "instances" not in block:
            written[key] = "", block
            continue
        inside = f"experiments.{key}"
        suite = validated({"instances": block["instances"]}, Suite, where, inside)
        shared = {name: value for name, value in block.items() if name != "instances"}
        for name, instance in suite.instances.items():
            at, full = f"{where}: {inside}.instances.{name}", f"{key}_{name}"
            if "instances" in instance:
                raise ConfigError(f"{at}: an instance cannot have instances itself")
            if full in {**written, **blocks}:
                raise ConfigError(f"{at}: there is another experiment {full}")
            if other := shared.get("same_instances_as"):  # a suite: the instance of that name
                instance = {"same_instances_as": f"{other}_{name}"} | instance
            written[full] = key, shared | instance
    return written


def _check_unjudged(paper: str, root: Path) -> None:
    """Raise ConfigError if a paper without claims has committed verdicts, which would be lost."""
    table = root / "audit" / "verdicts.csv"
    for row in csv_rows(table):
        if f" {paper}/" in f" {row.get('data') or ''}":  # a row names its datasets
            raise ConfigError(
                f"papers/{paper}/claims.py does not exist, but {table.relative_to(root)} has a "
                f"verdict on its claim {row['id']}; bring it back, or remove the audit's "
                "committed tables"
            )


def _check_streams(blocks: Mapping[str, tuple[str, ExperimentBlock]]) -> None:
    """Raise ConfigError if an experiment shares the streams of one with other means."""
    for name, (where, block) in blocks.items():
        other = block.same_instances_as or name
        where = f"{where}.same_instances_as"
        expect_known(other, blocks, f"{where}: there is no experiment {other!r}")
        theirs = blocks[other][1]
        for key in ("groups", "means", "drawn_means"):
            if getattr(block, key) != getattr(theirs, key):
                raise ConfigError(f"{where}: {key} must be those of experiments.{other}")

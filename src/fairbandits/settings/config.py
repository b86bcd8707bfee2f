"""Read and check the configuration: files -> experiments -> runs.

The workflow reads it on every start, so neither Numba nor pandas is imported here.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fairbandits.settings.canonical import UNJUDGED_SEED, seed_of_digest
from fairbandits.settings.costs import MOST
from fairbandits.settings.deciding import digests_of
from fairbandits.settings.experiments import Experiment, Replay, Run, experiment_of
from fairbandits.settings.models import validated
from fairbandits.settings.papers import ExperimentBlock, PaperFile, Suite, value_of
from fairbandits.settings.scales import LEDGER, Settings
from fairbandits.settings.schemas import ROOT, ConfigError, meant, merge, paper_file, read_yaml
from fairbandits.settings.variants import Changes


@dataclass(frozen=True)
class Config:
    """The whole configuration."""

    seed: int | str  # root seed of all runs, or "ledger": see seed_of
    scale_name: str  # "paper" or a key of settings.marks.SCALES
    folders: dict[str, str]  # output folders
    experiments: tuple[Experiment, ...]
    rules: Mapping[str, str] = field(default_factory=dict)  # paper -> digest of all that decides
    replays: tuple[Replay, ...] = ()
    job_seconds: float = MOST  # target for the longest job; a single replicate can take longer
    salt: str = ""  # words that all seeds follow from besides; see seed_of

    @property
    def scale(self) -> str:
        """The scale in verdicts: ``paper``, or ``smoke`` for every other."""
        return "paper" if self.scale_name == "paper" else "smoke"

    @property
    def exploratory(self) -> bool:
        """Whether the seed was chosen, so that runs can be older than the rules that judge them."""
        return self.seed != LEDGER

    def seed_of(self, one: Experiment) -> int:
        """Return the root seed of an experiment's runs.

        It is the chosen one or, for ``ledger``, follows from the experiment's digest; what figures
        show keeps its own number. Under a salt all seeds follow from that too.
        """
        if self.exploratory:
            return self.seed
        if isinstance(one.origin, int) and not self.salt:
            return one.origin
        return seed_of_digest(str(one.origin), one.paper, self.salt)

    def seed_of_judging(self, paper: str) -> int:
        """Return the seed of what is drawn while a paper's claims are judged."""
        if self.exploratory:
            return self.seed
        return seed_of_digest(self.rules.get(paper, ""), paper, self.salt)

    def ledger_of(self, one: Experiment) -> str | None:
        """Return the digest that a seed was derived from, None for a number."""
        return one.origin if isinstance(one.origin, str) and not self.exploratory else None

    def experiment_of(self, run: Run) -> Experiment:
        """Return the experiment that a run is of."""
        return self.experiment(run.paper, run.experiment)

    @property
    def figures(self) -> tuple[tuple[str, str], ...]:
        """Paper and name of each figure; a paper's replays come after its runs."""
        papers = dict.fromkeys(one.paper for one in self.experiments)
        return tuple(
            (paper, figure)
            for paper in papers
            for one in (*self.experiments, *self.replays)
            if one.paper == paper
            for figure in one.figures
        )

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs of all experiments."""
        return tuple(run for experiment in self.experiments for run in experiment.runs)

    def run(self, key: str) -> Run:
        """Return the run with this key, or raise ConfigError naming the nearest."""
        return _lookup({run.key: run for run in self.runs}, key, "run")

    def experiment(self, paper: str, name: str) -> Experiment:
        """Return an experiment, or raise ConfigError naming the nearest."""
        known = {f"{one.paper}/{one.name}": one for one in self.experiments}
        return _lookup(known, f"{paper}/{name}", "experiment")

    def named(self, paper: str, name: str) -> tuple[Experiment, ...]:
        """Return the experiment, or all instances of the suite, of this name or ``PAPER/NAME``."""
        other, _, name = name.rpartition("/")
        paper = other or paper
        own = [one for one in self.experiments if one.paper == paper]
        found = tuple(one for one in own if name in (one.name, one.suite))
        if not found:
            known = [key for one in own for key in filter(None, (one.name, one.suite))]
            raise ConfigError(f"{paper} has no experiment {name!r}{meant(name, known)}")
        return found

    def of_figure(self, paper: str, figure: str) -> Experiment:
        """Return the experiment that a figure is drawn from."""
        known = {f"{one.paper}_{name}": one for one in self.experiments for name in one.figures}
        return _lookup(known, f"{paper}_{figure}", "figure")

    def shown_in(self, paper: str, figure: str) -> tuple[Experiment, ...]:
        """Return all experiments that a figure shows, its own first."""
        others = (
            one for one in self.experiments if one.paper == paper and figure in one.companion_to
        )
        return self.of_figure(paper, figure), *others


def load_config(files: Sequence[Path], root: Path = ROOT) -> Config:
    """Return the configuration of these files, later ones overriding earlier ones."""
    merged: dict[str, Any] = {}
    for file in files:
        merged = merge(merged, read_yaml(Path(file)))
    where = " + ".join(map(str, files))
    return build_config(merged, where, root)


def build_config(content: dict[str, Any], where: str, root: Path = ROOT) -> Config:
    """Return the configuration of merged settings; `where` names them in messages."""
    settings = validated(content, Settings, where)
    changes = Changes(settings.changes or {}, f"{where}: changes")
    experiments: list[Experiment] = []
    replays: list[Replay] = []
    rules: dict[str, str] = {}
    for slug in settings.papers:
        file = paper_file(slug, "experiments", root)
        if not file.is_file():
            known = sorted(path.parent.name for path in root.glob("papers/*/experiments.yaml"))
            raise ConfigError(f"{where}: papers: {slug!r} is unknown{meant(slug, known)}")
        pinned = UNJUDGED_SEED
        own: dict[str, Experiment] = {}
        blocks: dict[str, tuple[str, ExperimentBlock]] = {}
        for path in (file, paper_file(slug, "audit", root)):
            if not path.is_file():
                continue
            name = str(path.relative_to(root))
            content = _file_of(path, slug, name)
            if path == file and content.seed is not None:
                pinned = content.seed
            replays += [
                Replay(slug, key, one.title, tuple(one.figures), one.horizon.value)
                for key, one in content.replays.items()
            ]
            for key, (suite, block) in _instances(content.experiments, name).items():
                place = f"{name}: experiments.{key}"
                suites = {one.suite for one in own.values()} - {suite}
                if taken := ({key, suite} - {""}) & (blocks.keys() | suites):
                    raise ConfigError(f"{place}: there is another experiment {min(taken)}")
                block, words = changes.of(slug, (key, suite), block)
                place = f"{where}: changes of {key}" if words else place
                at = (place, "") if words else (name, f"experiments.{key}")
                checked = validated(block, ExperimentBlock, *at)
                blocks[key] = place, checked
                audit = path != file
                own[key] = experiment_of(slug, key, checked, settings, words, place, suite, audit)
        _check_streams(blocks)
        rules[slug], drawn = digests_of(slug, root)
        if not rules[slug]:
            _check_unjudged(slug, f"papers/{slug}/claims.yaml", root)
        experiments += _with_origins(own, pinned, drawn)
        _check_costs(settings.costs, own.values(), slug, where)
        _check_figures(experiments, replays, str(file.relative_to(root)))
    changes.check_found()
    return Config(
        settings.seed,
        settings.scale,
        {key: folder for key, folder in settings.pathvars if folder},
        tuple(experiments),
        {paper: digest for paper, digest in rules.items() if digest},
        tuple(replays),
        settings.job_seconds,
        settings.salt or "",
    )


def _file_of(file: Path, slug: str, where: str) -> PaperFile:
    content = validated(read_yaml(file), PaperFile, where)
    if content.paper != slug:
        raise ConfigError(f"{where}: paper must be {slug!r}, got {content.paper!r}")
    return content


def blocks_of(file: Path, slug: str, where: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the experiments of a file as written, each with its suite, if it is in one."""
    return _instances(_file_of(file, slug, where).experiments, where)


def _instances(blocks: Mapping[str, dict], where: str) -> dict[str, tuple[str, dict[str, Any]]]:
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for key, block in blocks.items():
        if "instances" not in block:
            found[key] = "", block
            continue
        inside = f"experiments.{key}"
        place = f"{where}: {inside}"
        suite = validated({"instances": block["instances"]}, Suite, where, inside)
        shared = {name: value for name, value in block.items() if name != "instances"}
        for name, own in suite.instances.items():
            if "instances" in own:
                raise ConfigError(
                    f"{place}.instances.{name}: an instance cannot have instances itself"
                )
            if f"{key}_{name}" in {**found, **blocks}:
                raise ConfigError(
                    f"{place}.instances.{name}: there is another experiment {key}_{name}"
                )
            found[f"{key}_{name}"] = key, shared | own
    return found


def _with_origins(
    experiments: Mapping[str, Experiment], pinned: int, drawn: Mapping[str, str]
) -> Iterator[Experiment]:
    """Yield a paper's experiments, each with what its seed follows from.

    Those of papers/SLUG/experiments.yaml have their paper's number, and so has all that meets the
    same rewards as one of them.
    """
    for one in experiments.values():
        shared = experiments[one.runs[0].stream.partition("/")[2]]
        known = drawn.get(one.suite or one.name, pinned) if shared.audit else pinned
        yield replace(one, origin=known)


def _check_unjudged(paper: str, where: str, root: Path) -> None:
    """Raise ConfigError if a paper without a ledger has committed verdicts.

    Its runs would get the seed of papers that nothing judges, and its claims would be dropped
    unnoticed.
    """
    table = root / "audit" / "verdicts.csv"
    if not table.is_file():
        return
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            # a row names the datasets that it was made of
            if any(one.startswith(f"{paper}/") for one in (row.get("data") or "").split()):
                raise ConfigError(
                    f"{where} does not exist, but {table.relative_to(root)} has a verdict on its "
                    f"claim {row['id']}; bring it back, or remove the audit's committed tables"
                )


def _check_streams(blocks: Mapping[str, tuple[str, ExperimentBlock]]) -> None:
    """Raise ConfigError if an experiment shares the streams of one with other means."""
    for name, (place, block) in blocks.items():
        other = block.same_instances_as or name
        place = f"{place}.same_instances_as"
        if other not in blocks:
            known = meant(other, list(blocks))
            raise ConfigError(f"{place}: there is no experiment {other!r}{known}")
        theirs = blocks[other][1]
        for key, own, its in (
            ("groups", value_of(block.groups), value_of(theirs.groups)),
            ("means", block.true_means, theirs.true_means),
            ("drawn_means", block.drawn, theirs.drawn),
        ):
            if own != its:
                raise ConfigError(f"{place}: {key} must be those of experiments.{other}")


def _check_costs(
    costs: Mapping[str, float], experiments: Iterable[Experiment], paper: str, where: str
) -> None:
    """Raise ConfigError for a measured cost of a run that this paper does not have."""
    known = [run.key for one in experiments for run in one.runs]
    for key in costs:
        if key.partition("/")[0] == paper and key not in known:
            raise ConfigError(f"{where}: costs: there is no run {key!r}{meant(key, known)}")


def _check_figures(experiments: list[Experiment], replays: list[Replay], where: str) -> None:
    """Raise ConfigError unless each figure is drawn from one block, and companions from another."""
    homes: dict[tuple[str, str], str] = {}
    places = [(f"experiments.{one.name}", one) for one in experiments]
    drawn = {(one.paper, figure) for one in experiments for figure in one.figures}
    for place, one in places:
        for figure in one.companion_to:
            if (one.paper, figure) not in drawn:
                known = sorted(name for paper, name in drawn if paper == one.paper)
                raise ConfigError(
                    f"{where}: {place}.companion_to: {figure!r} is drawn from no "
                    f"experiment{meant(figure, known)}"
                )
    for place, one in [*places, *((f"replays.{one.name}", one) for one in replays)]:
        for figure in one.figures:
            other = homes.setdefault((one.paper, figure), place)
            if other != place:
                raise ConfigError(
                    f"{where}: {place}.figures: {figure!r} is already drawn from {other}"
                )


def _lookup(known: dict[str, Any], key: str, what: str) -> Any:
    if key not in known:
        raise ConfigError(f"no {what} {key!r}{meant(key, list(known))}")
    return known[key]

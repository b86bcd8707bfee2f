"""Read and check the configuration: files -> experiments -> runs.

The workflow reads it on every start, so neither Numba nor pandas is imported here.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, model_validator

from fairbandits.policies.parameters import number, one_of, whole
from fairbandits.settings.canonical import UNJUDGED_SEED, seed_of_digest
from fairbandits.settings.costs import MOST, fitting_chunk, seconds_of_replicate
from fairbandits.settings.deciding import Digests, digests_of
from fairbandits.settings.models import (
    Count,
    Many,
    Model,
    Slug,
    Some,
    Unique,
    Words,
    matching,
    of,
    validated,
)
from fairbandits.settings.papers import (
    ExperimentBlock,
    PaperFile,
    PolicyBlock,
    Suite,
    shared_out,
    value_of,
)
from fairbandits.settings.plugins import home_of
from fairbandits.settings.schemas import ROOT, ConfigError, meant, merge, paper_file, read_yaml
from fairbandits.settings.spec import RunSpec, cells_of_sweep, depends_on_instance
from fairbandits.settings.starting import check_start, source_of
from fairbandits.settings.variants import Changes


@dataclass(frozen=True)
class Run:
    """One policy under one reward law in one experiment, all replicates."""

    paper: str
    experiment: str
    name: str  # policy's name in the experiment, a dash, the law
    spec: RunSpec  # all that decides the numbers, except the seed
    replicates: int
    chunk: int  # replicates per file
    cost: float | None = None  # measured ns a round; None: rule of thumb

    @property
    def key(self) -> str:
        """Path-like identity, e.g. ``banditq/full_information/banditq-uniform02``."""
        return f"{self.paper}/{self.experiment}/{self.name}"

    @property
    def stream(self) -> str:
        """Name of the streams, shared by all policies and laws of the experiment."""
        return self.spec.stream

    def chunks(self) -> list[str]:
        """Return the replicate ranges of the files, ``first-last``, 0-based and inclusive."""
        return [
            f"{first}-{min(first + self.chunk, self.replicates) - 1}"
            for first in range(0, self.replicates, self.chunk)
        ]

    def chunk_file(self, chunk: str) -> str:
        """Return a chunk's path in the folder of results."""
        return f"cache/{self.key}/{chunk}.parquet"


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper, with its runs in the order of the configuration."""

    paper: str
    name: str
    title: str
    figures: tuple[str, ...]  # drawn from this experiment
    companion_to: tuple[str, ...]  # figures of other experiments that also show it
    horizon: int
    replicates: int
    means: tuple[float, ...]  # empty where each replicate draws its own
    targets: tuple[float, ...]  # reward rates owed to the arms; may be empty
    #: owed fractions of pulls; empty if none, or drawn per replicate
    quotas: tuple[float | str, ...]
    laws: tuple[str, ...]
    labels: dict[str, str]
    runs: tuple[Run, ...]
    groups: tuple[int, ...]  # group sizes, in the order of the arms; may be empty
    drawn_means: dict[str, Any]  # arms, low, high, [decimals, fixed] if drawn
    penalties: Any  # see fairbandits.metrics.penalties.penalty_rates
    published_replicates: int | None  # the paper's number; our first replicates are as many
    suite: str  # experiment that this is an instance of, or empty
    audit: bool  # run for the audit only, from papers/SLUG/audit.yaml
    #: of its seed: the number itself, or the digest of what it follows from
    origin: int | str = UNJUDGED_SEED
    scale: str = ""  # key of settings.marks.SCALES; empty at the published one
    changed: tuple[str, ...] = ()  # differences from the published settings, in words

    @property
    def instance(self) -> str:
        """Name within its suite; empty where there is none."""
        return self.name.removeprefix(f"{self.suite}_") if self.suite else ""

    @property
    def dataset(self) -> str:
        """The dataset's path in the folder of results."""
        parts = (self.paper, self.suite, self.instance) if self.suite else (self.paper, self.name)
        return f"{'/'.join(parts)}.parquet"

    def facts(self) -> dict[str, Any]:
        """Return the experiment's part of the dataset's footer, as plain values."""
        optional = {
            "groups": list(self.groups),
            "drawn_means": self.drawn_means,
            "penalties": self.penalties,
            "published_replicates": self.published_replicates,
            "suite": self.suite,
            "instance": self.instance,
            "figures": list(self.figures),
            "companion_to": list(self.companion_to),
            "scale": self.scale,
            "changed": list(self.changed),
        }
        return {
            "paper": self.paper,
            "experiment": self.name,
            "title": self.title,
            "horizon": self.horizon,
            "replicates": self.replicates,
            "means": list(self.means),
            "targets": list(self.targets),
            "quotas": list(self.quotas),
            "labels": self.labels,
            "runs": {run.name: run.spec.to_json() for run in self.runs},
        } | {key: value for key, value in optional.items() if value not in (None, {}, [], "")}


@dataclass(frozen=True)
class Replay:
    """A program released by a paper's authors, re-run once with the same length at every scale."""

    paper: str
    name: str
    title: str
    figures: tuple[str, ...]  # figures drawn from it alone
    horizon: int

    @property
    def table(self) -> str:
        """Path of its table in the folder of results."""
        return f"{self.paper}/{self.name}.parquet"

    def facts(self) -> dict[str, Any]:
        """Return a caption's facts about it, as plain values."""
        return {"paper": self.paper, "title": self.title, "horizon": self.horizon}


#: Value of `seed` for which an experiment's seed follows from the records that read it.
LEDGER = "ledger"
#: Scales, and which settings they need.
NEEDED = {"preview": "limits", "smoke": "limits", "large": "factors"}


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
        known = {f"{one.paper}_{fig}": one for one in self.experiments for fig in one.figures}
        return _lookup(known, f"{paper}_{figure}", "figure")

    def replay_of_figure(self, paper: str, figure: str) -> Replay:
        """Return the replay that a figure is drawn from alone."""
        known = {f"{one.paper}_{fig}": one for one in self.replays for fig in one.figures}
        return _lookup(known, f"{paper}_{figure}", "figure of a replay")

    def shown_in(self, paper: str, figure: str) -> tuple[Experiment, ...]:
        """Return all experiments that a figure shows, its own first."""
        others = (
            one for one in self.experiments if one.paper == paper and figure in one.companion_to
        )
        return self.of_figure(paper, figure), *others


def _seed(value: Any) -> int | str:
    if value != LEDGER and (type(value) is not int or value < 0):
        raise ValueError(f" must be a whole number of at least 0 or {LEDGER!r}, got {value!r}")
    return value


class Recorded(Model):
    """Recorded rounds: how many evenly spaced and log-spaced ones."""

    linear: Many
    log: Many


class Limits(Model):
    """Upper limits; what an experiment has less of stays."""

    needs: ClassVar = {"horizon": ("checkpoints",)}
    horizon: Count | None = None
    replicates: Count | None = None
    chunk: Count | None = None  # replicates of one file
    checkpoints: Recorded | None = None


class AllLimits(Limits):
    """Upper limits of a run at another scale."""

    replay: Count | None = None  # rounds of a released program with many arms
    evidence: Limits | None = None  # of experiments that no figure shows, in place of these


class Factors(Model):
    """What a larger run is multiplied by; the published checkpoints stay beside."""

    horizon: Annotated[Any, of(whole(at_least=1, at_most=1000))] = 1
    replicates: Annotated[Any, of(whole(at_least=1, at_most=1000))] = 1


class Folders(Model):
    """What everything is written to."""

    results: Words  # caches, datasets, notebooks and the site
    figures: Words
    audit: Words | None = None  # the short table of verdicts
    logs: Words
    benchmarks: Words  # time and memory of the jobs


class Settings(Model):
    """What config/*.yaml say together."""

    #: root seed of every stream: "ledger", for each experiment one that follows from what decides
    #: the claims that read it (figures keep theirs); or a number, with which everything that is
    #: made says that it is exploratory
    seed: Annotated[Any, PlainValidator(_seed)]
    #: "paper" is the published one; all others are marked, in folders of their own
    salt: Words | None = None  # other words, other seeds: for judging all claims again
    scale: Annotated[Any, of(one_of("paper", *NEEDED, "variant"))]
    papers: Annotated[list[Slug], Some, Unique]  # each with a file papers/SLUG/experiments.yaml
    limits: AllLimits | None = None
    factors: Factors | None = None
    #: settings in place of the published ones, by their names: see `variants.Changes`
    changes: Annotated[dict[str, Any], Some] | None = None
    replicates: Annotated[Any, of(whole(at_least=2, at_most=1_000_000))] | None = None
    #: most seconds of computing in one process, where it can be cut; another value is another cut
    job_seconds: Annotated[Any, of(number(at_least=0.001, at_most=1_000_000))] = MOST
    #: ns a round of runs for which the rule of thumb is far off; benchmarks/scaling.py --costs
    costs: dict[
        Annotated[Any, matching("[a-z_]+/[^/]+/[^/]+")], Annotated[Any, of(number(above=0))]
    ] = Field(default={})
    pathvars: Folders

    @model_validator(mode="after")
    def _fits(self):
        scale, given = self.scale, self.model_fields_set
        needed = NEEDED.get(scale)
        if needed and needed not in given:
            raise ValueError(f": scale {scale} needs the {needed} of config/{scale}.yaml")
        variant, sizes = (
            sorted({"changes", "replicates"} & given),
            sorted({"limits", "factors"} & given),
        )
        if scale == "variant" and not variant:
            raise ValueError(": scale variant needs changes or replicates")
        if scale != "variant" and variant:
            raise ValueError(f": {variant[0]} needs scale variant, got {scale}")
        if scale == "paper" and sizes:
            other = next(one for one, key in NEEDED.items() if key == sizes[0])
            raise ValueError(f": {sizes[0]} need another scale than paper, such as {other}")
        if len(sizes) > 1:
            raise ValueError(": limits and factors exclude each other; give one of them")
        return self

    def limits_of(self, block: ExperimentBlock) -> Limits:
        """Return the limits of an experiment."""
        limits = self.limits or AllLimits()
        if block.figures or block.companion_to or limits.evidence is None:
            return limits
        own = limits.evidence
        return limits.model_copy(update={key: getattr(own, key) for key in own.model_fields_set})


def load_config(files: Sequence[Path], root: Path = ROOT) -> Config:
    """Return the configuration of these files, later ones overriding earlier ones.

    Raises ConfigError for a missing file, an unknown key, or a value out of its range.
    """
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
                own[key] = _experiment(slug, key, checked, settings, words, place, suite, audit)
        _check_streams(blocks)
        rules[slug], drawn = _digests(slug, root)
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


def _digests(paper: str, root: Path) -> Digests:
    """Return the digests of what decides, empty for a paper without a ledger."""
    found = digests_of(paper, root)
    if not found.paper:
        _check_unjudged(paper, f"papers/{paper}/claims.yaml", root)
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


def _experiment(
    paper: str,
    name: str,
    block: ExperimentBlock,
    settings: Settings,
    changed: list[str],
    place: str,
    suite: str,
    audit: bool,
) -> Experiment:
    """Return an experiment at the scale of the settings."""
    full = {"rounds": block.horizon.value, "replicates": block.replicates.value}
    n_arms = block.n_arms
    limits, factors = settings.limits_of(block), settings.factors or Factors()
    horizon, replicates = full.values()
    horizon = factors.horizon * min(horizon, max(limits.horizon or horizon, n_arms))
    replicates = factors.replicates * min(replicates, limits.replicates or replicates)
    replicates = settings.replicates or replicates
    published = value_of(block.published_replicates)
    checkpoints = block.checkpoints
    if checkpoints.at:
        checkpoints = {"at": _rescaled(checkpoints.at, horizon, factors.horizon)}
    else:
        checkpoints = (limits.checkpoints or checkpoints).model_dump(exclude_unset=True)
    for (what, published_one), now in zip(full.items(), (horizon, replicates), strict=True):
        if now != published_one:
            changed = [*changed, f"{now} {what} in place of {published_one}"]
    penalties, groups = value_of(block.penalties), tuple(value_of(block.groups, ()))
    given = {
        "drawn_means": block.drawn,
        "groups": groups,
        "means": tuple(block.true_means),
        "quotas": block.fractions,
    }
    spec = RunSpec(
        stream=f"{paper}/{block.same_instances_as or name}",
        policy="",
        parameters={},
        law="",
        horizon=horizon,
        checkpoints=checkpoints,
        drawn_quotas=block.drawn_quotas.value.model_dump() if block.drawn_quotas else {},
        penalties=tuple(penalties) if isinstance(penalties, list) else penalties,
        record=None if block.record is None else tuple(block.record),
        **given,
    )
    runs = []
    for label, policy in block.policies.items():
        own = _played(spec, block, policy, factors.horizon, f"{place}.policies.{label}")
        chunk = policy.chunk or block.chunk
        chunk = min(chunk, limits.chunk or chunk)
        for law in block.laws.value:
            spread = value_of(getattr(block.spread, law, None))
            run = Run(
                paper,
                name,
                f"{label}-{law}",
                replace(own, law=law, spread=spread),
                replicates,
                chunk,
            )
            cost = settings.costs.get(run.key)
            seconds = seconds_of_replicate(run.spec, cost)
            most = fitting_chunk(chunk, replicates, seconds, settings.job_seconds)
            runs.append(replace(run, chunk=most, cost=cost))
    return Experiment(
        paper=paper,
        name=name,
        title=block.title,
        figures=tuple(block.figures),
        companion_to=tuple(block.companion_to),
        horizon=horizon,
        replicates=replicates,
        targets=tuple(block.rates),
        laws=tuple(block.laws.value),
        labels={label: policy.label for label, policy in block.policies.items()},
        runs=tuple(runs),
        penalties=penalties,
        published_replicates=published and min(published, replicates),
        suite=suite,
        audit=audit,
        scale="" if settings.scale == "paper" else settings.scale,
        changed=tuple(changed),
        **given,
    )


def _played(
    spec: RunSpec, block: ExperimentBlock, policy: PolicyBlock, factor: int, place: str
) -> RunSpec:
    """Return the specification of a policy's runs, which can be started."""
    n_arms = block.n_arms
    parameters = {key: shared_out(entry.value, n_arms) for key, entry in policy.parameters.items()}
    home = home_of(policy.policy, place)
    drawn = [0] * n_arms if block.drawn_quotas else None
    stand_ins = {
        "means": [0.5] * n_arms,
        "penalties": None if block.penalties is None else 0,
        "reference": [0.5] * n_arms,
        "shadow_means": [0.5] * n_arms,
        "groups": spec.groups or None,
        "targets": [0.0] * n_arms if block.rates or block.shares else None,
        **dict.fromkeys(("quotas", "fractions"), spec.quotas or drawn),
    }
    for cell in cells_of_sweep(policy.swept):
        own = parameters | cell
        check_start(home, own, policy.observers, n_arms, spec.horizon, stand_ins, place)
    horizons = value_of(policy.horizons, [])
    asks, shares = depends_on_instance(parameters, "targets"), tuple(block.shares)
    return replace(
        spec,
        policy=home,
        policy_source=source_of(home, place),
        parameters=parameters,
        horizons=tuple(_rescaled(horizons, spec.horizon, factor) if horizons else ()),
        apart=policy.apart,
        targets=tuple(block.rates) if asks and not shares else (),
        target_shares=shares if asks else (),
        sweep=policy.swept,
        observe=tuple(policy.observers),
    )


def _rescaled(rounds: list, horizon: int, factor: int) -> list:
    """Return the recorded rounds of a run of another length; the horizon stands for all beyond it.

    A run longer by a factor also records each round times that factor.
    """
    wanted = sorted({*rounds, *(factor * one for one in rounds)})
    kept = [one for one in wanted if one < horizon]
    return kept if kept == wanted else [*kept, horizon]


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
    drawn = {(one.paper, figure) for one in experiments for figure in one.figures}
    for one in experiments:
        for figure in one.companion_to:
            if (one.paper, figure) not in drawn:
                known = sorted(name for paper, name in drawn if paper == one.paper)
                raise ConfigError(
                    f"{where}: experiments.{one.name}.companion_to: {figure!r} is drawn from no "
                    f"experiment{meant(figure, known)}"
                )
    homes: dict[tuple[str, str], str] = {}
    places = [(f"experiments.{one.name}", one) for one in experiments]
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

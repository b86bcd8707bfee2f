"""Read and check the configuration: files -> experiments -> runs.

The workflow reads it on every start, so neither Numba nor pandas is imported here.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.settings.canonical import rules_digest, seed_of_rules
from fairbandits.settings.checks import (
    check_apart,
    check_drawn_quotas,
    check_instance,
    check_observer,
    check_policy,
    check_quotas,
    check_range,
    check_rounds,
    check_shares,
    check_streams,
    check_sweep,
    check_targets,
    exact,
    observers_of,
    source_of,
    with_stand_ins,
)
from fairbandits.settings.costs import MOST, fitting_chunk, seconds_of_replicate
from fairbandits.settings.plugins import home_of
from fairbandits.settings.schemas import (
    ROOT,
    ConfigError,
    check,
    meant,
    merge,
    paper_file,
    read_yaml,
)
from fairbandits.settings.spec import (
    RunSpec,
    cells_of_sweep,
    depends_on_instance,
    ranges_of,
    shares_of,
)
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


#: Value of `seed` for which each paper's seed follows from its ledger.
LEDGER = "ledger"


@dataclass(frozen=True)
class Config:
    """The whole configuration."""

    seed: int | str  # root seed of all papers, or "ledger": see seed_of
    scale_name: str  # "paper" or a key of settings.marks.SCALES
    folders: dict[str, str]  # output folders
    experiments: tuple[Experiment, ...]
    rules: Mapping[str, str] = field(default_factory=dict)  # paper -> digest of its ledger
    replays: tuple[Replay, ...] = ()
    job_seconds: float = MOST  # target for the longest job; a single replicate can take longer

    @property
    def scale(self) -> str:
        """The scale in verdicts: ``paper``, or ``smoke`` for every other."""
        return "paper" if self.scale_name == "paper" else "smoke"

    @property
    def exploratory(self) -> bool:
        """Whether the seed was chosen, so that runs can be older than the rules that judge them."""
        return self.seed != LEDGER

    def seed_of(self, paper: str) -> int:
        """Return the root seed of a paper's runs."""
        if self.exploratory:
            return self.seed
        return seed_of_rules(paper, self.rules.get(paper, ""))

    def ledger_of(self, paper: str) -> str | None:
        """Return the digest that a paper's seed was derived from, None for a chosen seed."""
        return None if self.exploratory else self.rules.get(paper)

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


def load_config(files: Sequence[Path], root: Path = ROOT) -> Config:
    """Return the configuration of these files, later ones overriding earlier ones.

    Raises ConfigError for a missing file, an unknown key, or a value out of its range.
    """
    merged: dict[str, Any] = {}
    for file in files:
        merged = merge(merged, read_yaml(Path(file)))
    where = " + ".join(map(str, files))
    return build_config(merged, where, root)


def build_config(settings: dict[str, Any], where: str, root: Path = ROOT) -> Config:
    """Return the configuration of merged settings; `where` names them in messages."""
    seed = settings.get("seed")
    if isinstance(seed, str) and seed != LEDGER:
        raise ConfigError(
            f"{where}: seed: {seed!r} is neither a whole number of at least 0 nor {LEDGER!r}"
        )
    check(settings, "config", where)
    scale = _scale(settings, where)
    changes = Changes(settings.get("changes", {}), f"{where}: changes")
    experiments: list[Experiment] = []
    replays: list[Replay] = []
    for slug in settings["papers"]:
        file = paper_file(slug, "experiments", root)
        if not file.is_file():
            known = sorted(path.parent.name for path in root.glob("papers/*/experiments.yaml"))
            raise ConfigError(f"{where}: papers: {slug!r} is unknown{meant(slug, known)}")
        own: dict[str, Experiment] = {}
        blocks: dict[str, Any] = {}
        places: dict[str, str] = {}
        for path in (file, paper_file(slug, "audit", root)):
            if not path.is_file():
                continue
            name = str(path.relative_to(root))
            replays += _replays(path, slug, name)
            for key, (suite, block) in blocks_of(path, slug, name).items():
                place = places[key] = f"{name}: experiments.{key}"
                suites = {one.suite for one in own.values()} - {suite}
                if taken := ({key, suite} - {""}) & (blocks.keys() | suites):
                    raise ConfigError(f"{place}: there is another experiment {min(taken)}")
                block, words = changes.of(slug, (key, suite), block)
                if words:
                    place = f"{where}: changes of {key}"
                    whole = {**read_yaml(path), "experiments": {key: block}}
                    check(whole, "paper", place)
                blocks[key] = block
                audit = path != file
                own[key] = _experiment(slug, key, block, scale, words, place, suite, audit)
        for key, place in places.items():
            check_streams(key, blocks, place)
        experiments += own.values()
        _check_costs(scale.costs, own.values(), slug, where)
        _check_figures(experiments, replays, str(file.relative_to(root)))
    changes.check_found()
    return Config(
        seed,
        settings["scale"],
        dict(settings["pathvars"]),
        tuple(experiments),
        _rules(settings["papers"], root),
        tuple(replays),
        scale.job_seconds,
    )


class _Scale(NamedTuple):
    """A configuration's changes to the experiments."""

    name: str  # key of settings.marks.SCALES; empty at the published scale
    limits: dict[str, Any]  # upper limits of rounds, replicates, ...
    factors: dict[str, int]  # what these are multiplied by
    replicates: int | None
    job_seconds: float  # target for the longest job
    costs: dict[str, float]  # run -> measured ns a round


#: Keys of a configuration that make a scale.
NEEDED = {"preview": "limits", "smoke": "limits", "large": "factors"}


def _scale(settings: dict[str, Any], where: str) -> _Scale:
    """Return the scale of a configuration, after checking the other settings against it."""
    scale = settings["scale"]
    needed = NEEDED.get(scale)
    if needed and needed not in settings:
        raise ConfigError(f"{where}: scale {scale} needs the {needed} of config/{scale}.yaml")
    variant = sorted({"changes", "replicates"} & settings.keys())
    if scale == "variant" and not variant:
        raise ConfigError(f"{where}: scale variant needs changes or replicates")
    if scale != "variant" and variant:
        raise ConfigError(f"{where}: {variant[0]} needs scale variant, got {scale}")
    sizes = sorted({"limits", "factors"} & settings.keys())
    if scale == "paper" and sizes:
        other = next(one for one, key in NEEDED.items() if key == sizes[0])
        raise ConfigError(f"{where}: {sizes[0]} need another scale than paper, such as {other}")
    if len(sizes) > 1:
        raise ConfigError(f"{where}: limits and factors exclude each other; give one of them")
    return _Scale(
        "" if scale == "paper" else scale,
        settings.get("limits", {}),
        settings.get("factors", {}),
        settings.get("replicates"),
        settings.get("job_seconds", MOST),
        settings.get("costs", {}),
    )


def _replays(file: Path, paper: str, where: str) -> list[Replay]:
    """Return the replays of a file."""
    content = read_yaml(file)
    check(content, "paper", where)
    return [
        Replay(paper, name, block["title"], tuple(block["figures"]), block["horizon"]["value"])
        for name, block in content.get("replays", {}).items()
    ]


def _rules(papers: Sequence[str], root: Path) -> dict[str, str]:
    """Return the digests of the papers' ledgers, for papers that have one."""
    found = {}
    for paper in papers:
        file = paper_file(paper, "claims", root)
        where = str(file.relative_to(root))
        if not file.is_file():
            _check_unjudged(paper, where, root)
            continue
        content = read_yaml(file)
        check(content, "claims", where)
        try:
            found[paper] = rules_digest(content)
        except ValueError as error:
            raise ConfigError(f"{where}: {error}") from None
    return found


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


def blocks_of(file: Path, slug: str, where: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the experiments of a file, each with the suite that it is an instance of."""
    content = read_yaml(file)
    check(content, "paper", where)
    if content["paper"] != slug:
        raise ConfigError(f"{where}: paper must be {slug!r}, got {content['paper']!r}")
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for key, block in content["experiments"].items():
        if "instances" not in block:
            found[key] = "", block
            continue
        for name, own in block["instances"].items():
            place = f"{where}: experiments.{key}.instances.{name}"
            if "instances" in own:
                raise ConfigError(f"{place}: an instance cannot have instances itself")
            merged = {k: v for k, v in block.items() if k != "instances"} | own
            check({**content, "experiments": {key: merged}}, "paper", place)
            if f"{key}_{name}" in {**found, **content["experiments"]}:
                raise ConfigError(f"{place}: there is another experiment {key}_{name}")
            found[f"{key}_{name}"] = key, merged
    return found


def _experiment(
    paper: str,
    name: str,
    block: dict[str, Any],
    scale: _Scale,
    changed: list[str],
    place: str,
    suite: str,
    audit: bool,
) -> Experiment:
    horizon, replicates = block["horizon"]["value"], block["replicates"]["value"]
    published = block.get("published_replicates", {"value": None})["value"]
    checkpoints = _checkpoints(block["checkpoints"], horizon, place)
    if published and published > replicates:
        raise ConfigError(
            f"{place}.published_replicates must be at most replicates ({replicates}), "
            f"got {published}"
        )
    groups = block.get("groups", {"value": []})["value"]
    means, drawn = _means(block, groups, place)
    n_arms = drawn["arms"] if drawn else len(means)
    limits, factors = scale.limits, scale.factors
    if not (block["figures"] or block.get("companion_to")):
        limits = limits | limits.get("evidence", {})
    full = {"rounds": horizon, "replicates": replicates}
    factor = factors.get("horizon", 1)
    horizon = factor * min(horizon, max(limits.get("horizon", horizon), n_arms))
    replicates = min(replicates, limits.get("replicates", replicates))
    replicates = scale.replicates or factors.get("replicates", 1) * replicates
    published = published and min(published, replicates)
    if "at" in checkpoints:
        checkpoints = {"at": _rescaled(checkpoints["at"], horizon, factor)}
    else:
        checkpoints = limits.get("checkpoints", checkpoints)
    for (what, number), now in zip(full.items(), (horizon, replicates), strict=True):
        if now != number:
            changed = [*changed, f"{now} {what} in place of {number}"]
    targets, shares, quotas = (
        block.get(key, {"value": []})["value"] for key in ("targets", "target_shares", "quotas")
    )
    if isinstance(shares, dict):
        shares = [shares["share"]] * shares["arms"]
    quotas = _shared_out(quotas, n_arms, f"{place}.quotas")
    drawn_quotas = block.get("drawn_quotas", {"value": {}})["value"]
    penalties = block.get("penalties", {"value": None})["value"]
    check_instance(n_arms, horizon, place)
    if groups and sum(groups) != n_arms:
        raise ConfigError(
            f"{place}.groups must sum to the number of arms ({n_arms}), got {sum(groups)}"
        )
    for one, other in (("targets", "target_shares"), ("quotas", "drawn_quotas")):
        if one in block and other in block:
            raise ConfigError(f"{place}: {one} and {other} exclude each other; give one of them")
    if targets and drawn:
        raise ConfigError(f"{place}.targets need fixed means; give target_shares of drawn ones")
    if shares:
        check_shares(shares, n_arms, f"{place}.target_shares")
    if shares and means:
        targets = shares_of(shares, means)
    if targets:
        check_targets(means, targets, place)
    if quotas:
        check_quotas(n_arms, quotas, place)
    if drawn_quotas:
        check_drawn_quotas(drawn_quotas, n_arms, f"{place}.drawn_quotas")
    if isinstance(penalties, list) and len(penalties) != n_arms:
        raise ConfigError(
            f"{place}.penalties must have one entry per arm ({n_arms}), got {len(penalties)}"
        )
    spreads = _spreads(block, place)
    given = {
        "penalties": penalties,
        "groups": groups,
        "targets": targets or shares,
        "quotas": quotas or drawn_quotas,
        "fractions": quotas or drawn_quotas,
    }
    runs = []
    for label, policy in block["policies"].items():
        inside = f"{place}.policies.{label}"
        where = f"{inside}.parameters"
        parameters = {
            key: _shared_out(entry["value"], n_arms, f"{where}.{key}")
            for key, entry in policy["parameters"].items()
        }
        sweep = {
            key: _in_steps(entry["value"], f"{inside}.sweep.{key}")
            for key, entry in policy.get("sweep", {}).items()
        }
        check_sweep(sweep, f"{inside}.sweep")
        observe = observers_of(policy.get("observe", []), f"{inside}.observe")
        home = home_of(policy["policy"], inside)
        for cell in cells_of_sweep(sweep):
            known = check_policy(home, parameters | cell, n_arms, given, inside)
            for observer, own in observe:
                own = with_stand_ins(own, n_arms, given, f"{inside}.observe.{observer}")
                check_observer(observer, own, home, known, n_arms, f"{inside}.observe")
        if repeated := sorted(sweep.keys() & parameters.keys()):
            raise ConfigError(f"{where}: {repeated[0]} is also in sweep; give it once")
        horizons = policy.get("horizons", {"value": []})["value"]
        if horizons:
            check_rounds(horizons, n_arms, full["rounds"], f"{inside}.horizons")
            horizons = _rescaled(horizons, horizon, factor)
        apart = policy.get("apart", False)
        check_apart(apart, horizons, block, f"{inside}.apart")
        for law in block["laws"]["value"]:
            asks = depends_on_instance(parameters, "targets")
            spec = RunSpec(
                stream=f"{paper}/{block.get('same_instances_as', name)}",
                policy=home,
                policy_source=source_of(home, inside),
                parameters=parameters,
                law=law,
                spread=spreads.get(law),
                horizon=horizon,
                horizons=tuple(horizons),
                apart=apart,
                checkpoints=checkpoints,
                means=tuple(means),
                drawn_means=drawn,
                groups=tuple(groups),
                quotas=tuple(quotas),
                drawn_quotas=drawn_quotas,
                targets=tuple(targets) if asks and not shares else (),
                target_shares=tuple(shares) if asks else (),
                penalties=tuple(penalties) if isinstance(penalties, list) else penalties,
                sweep=sweep,
                record=tuple(block["record"]) if "record" in block else None,
                observe=tuple(observe),
            )
            chunk = policy.get("chunk", block["chunk"])
            chunk = min(chunk, limits.get("chunk", chunk))
            run = Run(paper, name, f"{label}-{law}", spec, replicates, chunk)
            cost = scale.costs.get(run.key)
            one = seconds_of_replicate(spec, cost)
            chunk = fitting_chunk(chunk, replicates, one, scale.job_seconds)
            runs.append(replace(run, chunk=chunk, cost=cost))
    return Experiment(
        paper,
        name,
        block["title"],
        tuple(block["figures"]),
        tuple(block.get("companion_to", ())),
        horizon,
        replicates,
        tuple(means),
        tuple(targets),
        tuple(quotas),
        tuple(block["laws"]["value"]),
        {label: policy["label"] for label, policy in block["policies"].items()},
        tuple(runs),
        tuple(groups),
        drawn,
        penalties,
        published,
        suite,
        audit,
        scale.name,
        tuple(changed),
    )


def _means(block: dict[str, Any], groups: list[int], place: str) -> tuple[list, dict[str, Any]]:
    """Return the means, or the ranges that they are drawn from; the other is empty."""
    if "drawn_means" not in block:
        means = block["means"]["value"]
        if isinstance(means, dict):
            ((form, numbers),) = means.items()
            means = {"evenly": _evenly, "one_best": _one_best}[form](**numbers)
            check_range(min(means), max(means), block["laws"]["value"], f"{place}.means")
        return means, {}
    if "means" in block:
        raise ConfigError(f"{place}: means and drawn_means exclude each other; give one of them")
    drawn = {key: entry["value"] for key, entry in block["drawn_means"].items()}
    for key in ("low", "high"):
        if isinstance(drawn[key], list) and len(drawn[key]) != len(groups):
            raise ConfigError(
                f"{place}.drawn_means.{key} must be a number, or have one entry per group "
                f"({len(groups)}), got {len(drawn[key])}"
            )
    for arm, mean in drawn.get("fixed", ()):
        if not 1 <= arm <= drawn["arms"]:
            raise ConfigError(
                f"{place}.drawn_means.fixed must name arms in 1..{drawn['arms']}, got {arm}"
            )
        check_range(mean, mean, block["laws"]["value"], f"{place}.drawn_means.fixed")
    ends = ranges_of(drawn, groups)
    for low, high in dict.fromkeys(zip(*ends, strict=True)):
        if low >= high:
            raise ConfigError(f"{place}.drawn_means.low must be below high ({high}), got {low}")
        check_range(low, high, block["laws"]["value"], f"{place}.drawn_means")
    return [], drawn


def _evenly(first: float, last: float, arms: int) -> list[float]:
    """Return evenly spaced means."""
    return [first + (last - first) * k / (arms - 1) for k in range(arms)]


def _one_best(best: float, gap: float, arms: int) -> list[float]:
    """Return means that are all below the first by the same gap."""
    return [best, *[best - gap] * (arms - 1)]


def _spreads(block: dict[str, Any], place: str) -> dict[str, Any]:
    """Return the spread of each law that has one."""
    spreads = {law: entry["value"] for law, entry in block.get("spread", {}).items()}
    for law, spread in spreads.items():
        if law not in block["laws"]["value"]:
            laws = ", ".join(block["laws"]["value"])
            raise ConfigError(
                f"{place}.spread.{law}: the experiment has no such law; it has {laws}"
            )
        value = exact(spread, f"{place}.spread.{law}")
        if value <= 0 or (law == "beta" and value < exact("0.1", place)):
            least = "at least 0.1" if law == "beta" else "above 0"
            raise ConfigError(f"{place}.spread.{law} must be {least}, got {spread}")
    return spreads


def _checkpoints(checkpoints: dict[str, Any], horizon: int, place: str) -> dict[str, Any]:
    """Return the recorded rounds as configured; checks those that are listed."""
    where = f"{place}.checkpoints"
    if "at" in checkpoints:
        if len(checkpoints) > 1:
            raise ConfigError(f"{where}: give either at, or linear and log")
        check_rounds(checkpoints["at"], 1, horizon, f"{where}.at")
        if checkpoints["at"][-1] != horizon:
            raise ConfigError(
                f"{where}.at must end with the horizon ({horizon}), got {checkpoints['at'][-1]}"
            )
    return checkpoints


def _rescaled(rounds: list, horizon: int, factor: int) -> list:
    """Return the recorded rounds of a run of another length; the horizon stands for all beyond it.

    A run longer by a factor also records each round times that factor.
    """
    wanted = sorted({*rounds, *(factor * one for one in rounds)})
    kept = [one for one in wanted if one < horizon]
    return kept if kept == wanted else [*kept, horizon]


def _check_costs(
    costs: Mapping[str, float], experiments: Iterable[Experiment], paper: str, where: str
) -> None:
    """Raise ConfigError for a measured cost of a run that this paper does not have."""
    known = [run.key for one in experiments for run in one.runs]
    for key in costs:
        if key.partition("/")[0] == paper and key not in known:
            raise ConfigError(f"{where}: costs: there is no run {key!r}{meant(key, known)}")


def _shared_out(quotas: Any, n_arms: int, place: str) -> Any:
    """Return quotas given as a part of 1 / k each as a list, anything else unchanged."""
    if not (isinstance(quotas, dict) and list(quotas) == ["of_equal_share"]):
        return quotas
    return [str(exact(quotas["of_equal_share"], place) / n_arms)] * n_arms


def _in_steps(values: Any, place: str) -> Any:
    """Return evenly spaced swept values as a list, anything else unchanged."""
    if not isinstance(values, dict):
        return values
    first, last = (exact(values["evenly"][end], f"{place}.{end}") for end in ("first", "last"))
    if first == last:
        raise ConfigError(f"{place}: first and last must differ, got {first} for both")
    steps = values["evenly"]["steps"]
    found = (first + (last - first) * k / steps for k in range(steps + 1))
    return [int(one) if one.denominator == 1 else float(one) for one in found]


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

"""Experiments and their runs: from checked blocks of a paper's files to what is played."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairbandits.data.provenance import remembered
from fairbandits.data.whole import checksum
from fairbandits.observers import make_observer
from fairbandits.policies import HOMES, make_policy
from fairbandits.policies.own import check_arguments, is_own, source_hash
from fairbandits.rationals import LONGEST
from fairbandits.settings.costs import fitting_chunk, seconds_of_replicate
from fairbandits.settings.models import expect_known
from fairbandits.settings.papers import ExperimentBlock, PolicyBlock, shared_out
from fairbandits.settings.scales import FROZEN, Factors, Settings
from fairbandits.settings.schemas import ConfigError
from fairbandits.settings.spec import RunSpec, cells_of_sweep, filled, listed, of_instance


@dataclass(frozen=True)
class Run:
    """One policy under one reward law in one experiment, all replicates."""

    paper: str
    experiment: str
    name: str  # policy's name in the experiment, a dash, the law
    spec: RunSpec  # all that decides the numbers, except the seed
    replicates: int
    chunk: int  # replicates per file

    @property
    def key(self) -> str:
        """Path-like identity, e.g. ``PAPER/EXPERIMENT/POLICY-LAW``."""
        return f"{self.paper}/{self.experiment}/{self.name}"

    def chunks(self) -> list[str]:
        """Return the replicate ranges of the files, ``first-last``, 0-based and inclusive."""
        return [
            f"{first}-{min(first + self.chunk, self.replicates) - 1}"
            for first in range(0, self.replicates, self.chunk)
        ]

    def chunk_file(self, chunk: str) -> str:
        return f"cache/{self.key}/{chunk}.parquet"


#: Attributes of an experiment in its dataset's footer: those that all have, and those that are left
#: out where they are empty.
ALWAYS = ("title", "horizon", "replicates", "means", "targets", "quotas", "labels")
OPTIONAL = (
    *("groups", "drawn_means", "penalties", "published_replicates", "suite", "instance"),
    *("figures", "companion_to", "scale", "changed"),
)


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
    penalties: Any  # see fairbandits.measures.penalties.penalty_rates
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
        parts = (self.paper, self.suite, self.instance) if self.suite else (self.paper, self.name)
        return f"{'/'.join(parts)}.parquet"

    def facts(self) -> dict[str, Any]:
        """Return the experiment's part of the dataset's footer, as plain values."""
        values = {name: listed(getattr(self, name)) for name in (*ALWAYS, *OPTIONAL)}
        kept = {name: fact for name, fact in values.items() if name in ALWAYS or fact or fact == 0}
        runs = {run.name: run.spec.to_json() for run in self.runs}
        return {"paper": self.paper, "experiment": self.name, **kept, "runs": runs}


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
        return f"{self.paper}/{self.name}.parquet"


def experiment_of(
    paper: str,
    name: str,
    block: ExperimentBlock,
    settings: Settings,
    changed: list[str],
    where: str,
    suite: str,
    audit: bool,
) -> Experiment:
    limits, factors = settings.limits_of(block), settings.factors or Factors()
    most = max(limits.horizon or block.horizon, block.n_arms)
    horizon = factors.horizon * min(block.horizon, most)
    if horizon > LONGEST:
        raise ConfigError(f"{where}: horizon must be at most 2**53, got {horizon}")
    replicates = factors.replicates * min(block.replicates, limits.replicates or block.replicates)
    replicates = settings.replicates or replicates
    sizes = (horizon, "rounds", block.horizon), (replicates, "replicates", block.replicates)
    changes = [f"{now} {what} in place of {full}" for now, what, full in sizes if now != full]
    if settings.scale == "variant" and settings.seed != FROZEN:
        changes.append(f"seed {settings.seed} in place of the published one")
    checkpoints = block.recorded
    if checkpoints.at:
        checkpoints = {"at": _rescaled(checkpoints.at, horizon, factors.horizon)}
    else:
        checkpoints = (limits.checkpoints or checkpoints).model_dump(exclude_unset=True)
    penalties = tuple(block.penalties) if isinstance(block.penalties, list) else block.penalties
    instance = {
        "horizon": horizon,
        "drawn_means": block.drawn,
        "groups": tuple(block.groups or ()),
        "means": tuple(block.means or ()),
        "quotas": block.fractions,
        "penalties": penalties,
    }
    shared = {
        "stream": f"{paper}/{block.same_instances_as or name}",
        "checkpoints": checkpoints,
        "drawn_quotas": dict(block.drawn_quotas or {}),
        "record": None if block.record is None else tuple(block.record),
        **instance,
    }
    runs = []
    for label, policy in block.policies.items():
        at = f"{where}.policies.{label}"
        played = shared | _played(block, policy, horizon, factors.horizon, at)
        chunk = policy.chunk or block.chunk or block.replicates
        chunk = min(chunk, limits.chunk or chunk)
        for law in block.laws:
            spec = RunSpec(**played, law=law, spread=block.spread.get(law))
            seconds = seconds_of_replicate(spec)
            fitting = fitting_chunk(chunk, replicates, seconds, settings.job_seconds)
            runs.append(Run(paper, name, f"{label}-{law}", spec, replicates, fitting))
    published = block.published_replicates
    return Experiment(
        paper=paper,
        name=name,
        title=block.title,
        figures=tuple(block.figures),
        companion_to=tuple(block.companion_to),
        replicates=replicates,
        targets=tuple(block.rates),
        laws=tuple(block.laws),
        labels={label: policy.label for label, policy in block.policies.items()},
        runs=tuple(runs),
        published_replicates=published and min(published, replicates),
        suite=suite,
        audit=audit,
        scale="" if settings.scale == "paper" else settings.scale,
        changed=(*changed, *changes),
        **instance,
    )


def _played(
    block: ExperimentBlock, policy: PolicyBlock, horizon: int, factor: int, where: str
) -> dict[str, Any]:
    """Return a policy's part of the specification of its runs, which can be started."""
    n_arms, shares = block.n_arms, tuple(block.target_shares or ())
    parameters = {key: shared_out(value, n_arms) for key, value in policy.parameters.items()}
    means = [0.5] * n_arms
    quotas = block.fractions or ([0] * n_arms if block.drawn_quotas else None)
    stand_ins = {
        "means": means,
        "penalties": None if block.penalties is None else 0,
        **dict.fromkeys(("reference", "shadow_means"), means),
        "groups": block.groups,
        "targets": [0.0] * n_arms if block.rates or shares else None,
        **dict.fromkeys(("quotas", "fractions"), quotas),
    }
    cells = [parameters | cell for cell in cells_of_sweep(policy.sweep)]
    complete = [_with_stand_ins(cell, stand_ins, f"{where}.parameters") for cell in cells]
    watching = [
        (name, _with_stand_ins(options, stand_ins, f"{where}.observe.{name}"))
        for name, options in policy.observe
    ]
    source = None
    if is_own(policy.policy):
        try:
            for cell in cells:
                check_arguments(policy.policy, cell)
            source = source_hash(policy.policy)
        except ValueError as error:
            raise ConfigError(f"{where}.policy: {error}") from None
    else:
        expect_known(policy.policy, HOMES, f"{where}.policy: {policy.policy!r} is unknown")
        for cell in complete:
            check_start(policy.policy, cell, watching, n_arms, horizon, where)
    asks = any(keys[-1] == "targets" for keys in of_instance(parameters))
    return {
        "policy": policy.policy,
        "policy_source": source,
        "parameters": parameters,
        "horizons": tuple(_rescaled(policy.horizons or [], horizon, factor)),
        "apart": policy.apart,
        "targets": tuple(block.rates) if asks and not shares else (),
        "target_shares": shares if asks else (),
        "sweep": policy.sweep,
        "observe": tuple(policy.observe),
    }


def _rescaled(rounds: Sequence[int], horizon: int, factor: int) -> list:
    """Return the recorded rounds at another horizon, which stands for all beyond it."""
    wanted = sorted({*rounds, *(factor * number for number in rounds)})
    kept = [number for number in wanted if number < horizon]
    return kept if kept == wanted else [*kept, horizon]


def check_start(
    policy: str, parameters: dict, watching: Sequence[tuple], n_arms: int, horizon: int, at: str
) -> None:
    """Raise ConfigError unless a policy with its observers can be started, now or once before."""
    started = remembered("started", "engine", "observers", "policies")
    same = checksum(repr((policy, parameters, watching, n_arms, horizon)).encode()).hex()
    if same in started:
        return
    where = f"{at}.parameters"
    try:
        made = make_policy(policy, parameters, where)
        state = made.start(n_arms, horizon)
        where = f"{at}.observe"
        for name, options in watching:
            make_observer(name, options, where).start(made, state, n_arms, horizon)
    except (TypeError, ValueError) as error:
        text = str(error)
        raise ConfigError(text if text.startswith(where) else f"{where}: {text}") from None
    started[same] = ""


def _with_stand_ins(
    parameters: Mapping[str, Any], stand_ins: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return parameters with values for those of the instance; None: the instance has none."""
    for keys in of_instance(parameters):
        at, key = ".".join((where, *keys)), keys[-1]
        if key not in stand_ins:
            *others, last = stand_ins
            message = f"only {', '.join(others)} and {last} can be those of the instance"
            raise ConfigError(f"{at}: {message}")
        if stand_ins[key] is None:
            missing = "quotas" if key == "fractions" else key
            message = "give them there, or here in place of 'instance'"
            raise ConfigError(f"{at}: the experiment has no {missing}; {message}")
    return filled(parameters, stand_ins)

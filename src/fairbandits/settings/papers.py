"""What papers/SLUG/experiments.yaml and papers/SLUG/audit.yaml can say."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field, PlainValidator, model_validator

from fairbandits.data.dictionary import RECORDED, column_of
from fairbandits.lookup import nearest
from fairbandits.policies.parameters import Check, number, per_arm, whole
from fairbandits.rationals import LONGEST, Quotas, rational
from fairbandits.settings import models as m
from fairbandits.settings.models import Model, require
from fairbandits.settings.spec import ranges_of, shares_of

LAWS = ("uniform02", "uniform02_clipped", "bernoulli", "gaussian", "beta", "deterministic")
#: Rounding error allowed in the load of targets that need every round.
SLACK = 1e-9
PROVENANCES = ("stated", "derived", "released-code", "reconstructed", "chosen")
T = TypeVar("T")


class Sourced(Model, Generic[T]):
    """A value with where it comes from."""

    value: T
    provenance: m.choice(*PROVENANCES)
    source: m.Words  # section, equation, file or reason


def _recorded(name: Any) -> str:
    known = isinstance(name, str) and column_of("dataset", name, {}) is not None
    hint = "" if known else nearest(str(name), RECORDED)
    require(known, "", "be a column of docs/data-dictionary.md", f"{name!r}{hint}")
    return name


def _one_or_several(check: Check, *others: str) -> Any:
    """Return the type of one number for all arms, a list of them, or one of other words."""

    def one(value: Any) -> Any:
        if isinstance(value, str) and others:
            require(value in others, "", f"be a number, or {', '.join(others)}", repr(value))
        else:
            (per_arm(check) if isinstance(value, list) else check)("", value, "")
        return value

    return Annotated[Any, PlainValidator(one)]


def _fixed(value: Any) -> Any:
    is_pair = isinstance(value, list) and len(value) == 2
    require(is_pair, "", "be an arm, from 1, and its mean", repr(value))
    whole()("", value[0], "")
    number()("", value[1], "")
    return value


Figures = Annotated[list[m.Figure], m.Unique]
Numbers = Annotated[list[m.Number], m.Pair]
Ends = _one_or_several(number())
Rates = _one_or_several(number(at_least=0), "half_range")
Rounds = Annotated[list[m.Count], m.Some]


class Evenly(Model):
    """Means from the first to the last arm."""

    first: m.Number
    last: m.Number
    arms: m.Arms

    @property
    def values(self) -> list[float]:
        """Evenly spaced means."""
        first, n = self.first, self.arms - 1
        return [first + (self.last - first) * k / n for k in range(self.arms)]


class OneBest(Model):
    """The mean of the first arm, and how far all others are below it."""

    best: m.of(number(at_least=0, at_most=1))
    gap: m.of(number(at_least=0))
    arms: m.Arms

    @property
    def values(self) -> list[float]:
        """Means that are all below the first by the same gap."""
        return [self.best, *[self.best - self.gap] * (self.arms - 1)]


class Spaced(Model):
    """Means by a rule: one of these."""

    evenly: Evenly | None = None
    one_best: OneBest | None = None

    @model_validator(mode="after")
    def _one_rule(self):
        if len(self.model_fields_set) != 1:
            raise ValueError(" must have either evenly or one_best")
        return self

    @property
    def values(self) -> list[float]:
        """Means of all arms."""
        return (self.evenly or self.one_best).values


class DrawnMeans(Model):
    """Means drawn for each replicate, independent, uniform on [low, high]."""

    arms: Sourced[m.Arms]
    low: Sourced[Ends]  # for all arms or for each group
    high: Sourced[Ends]
    decimals: Sourced[m.Count] | None = None  # means are rounded to so many
    #: arms (from 1) with the same mean in all replicates, and that mean
    fixed: Sourced[Annotated[list[Annotated[Any, PlainValidator(_fixed)]], m.Some]] | None = None


class SameShare(Model):
    """The same part of their means for the first arms; later arms 0."""

    share: m.Exact
    arms: m.Count


class OfEqualShare(Model):
    """The same part of 1/k for all arms."""

    of_equal_share: m.Exact


class DrawnQuotas(Model):
    """Quotas drawn for each replicate, whole numbers over the denominator.

    The largest is below 1/k (kth), from there to below 1/(k - 1) (wider), or beyond that.
    """

    span: m.choice("kth", "wider", "beyond")
    denominator: m.of(whole(at_least=8))


class Spread(Model):
    """Spread of the laws that have one, exact: 0.5, "1/9"."""

    gaussian: Sourced[m.Exact] | None = None  # standard deviation
    beta: Sourced[m.Exact] | None = None  # m of Beta(mu m, (1 - mu) m)


class Checkpoints(Model):
    """Recorded rounds: evenly and log-spaced ones; or the rounds themselves, up to the horizon."""

    linear: m.Many | None = None
    log: m.Many | None = None
    at: Rounds | None = None

    @model_validator(mode="after")
    def _one_form(self):
        if self.model_fields_set not in ({"linear", "log"}, {"at"}):
            raise ValueError(": give either at, or linear and log")
        if self.at:
            _check_rounds(self.at, 1, self.at[-1], ".at")
        return self


class Steps(Model):
    """From the first to the last value, in so many steps of the same size; exact."""

    first: m.Number
    last: m.Number
    steps: m.Count


class InSteps(Model):
    """Swept values in steps."""

    evenly: Steps

    @property
    def values(self) -> list[float]:
        """All swept values."""
        first, last = (
            rational("a swept value", one) for one in (self.evenly.first, self.evenly.last)
        )
        n = self.evenly.steps
        found = (first + (last - first) * k / n for k in range(n + 1))
        return [int(one) if one.denominator == 1 else float(one) for one in found]

    @model_validator(mode="after")
    def _differ(self):
        if self.evenly.first == self.evenly.last:
            raise ValueError(f": first and last must differ, got {self.evenly.first} for both")
        return self


Swept = m.either(Annotated[list[m.Exact], m.Some, m.Unique], InSteps)
Observer = m.either(
    str, Annotated[dict[str, dict[str, Sourced[Any]]], Field(min_length=1, max_length=1)]
)


class PolicyBlock(Model):
    """A policy of an experiment."""

    policy: str  # a registered name, or module:Class
    label: m.Text  # name in figures
    parameters: dict[str, Sourced[Any]]  # those left out have the policy's defaults
    #: observers by name (fairbandits.observers); one with parameters is a key that has them
    observe: Annotated[list[Observer], m.Some] | None = None
    chunk: m.Count | None = None  # replicates of one job, if not the experiment's
    horizons: Sourced[Rounds] | None = None  # run once for each, where the policy depends on it
    #: whether each horizon is recorded at the checkpoints and has rewards of its own; otherwise the
    #: last round of each is recorded, and all meet the same rewards
    apart: bool = False
    #: one hyper-parameter with several values; its name becomes a column
    sweep: Annotated[dict[str, Sourced[Swept]], Field(min_length=1, max_length=1)] | None = None

    @model_validator(mode="after")
    def _once(self):
        if repeated := sorted(self.swept.keys() & self.parameters.keys()):
            raise ValueError(f".parameters: {repeated[0]} is also in sweep; give it once")
        names = [name for name, _ in self.observers]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f".observe: {name!r} is there twice")
        if self.apart and not self.horizons:
            raise ValueError(".apart: there are no horizons; give them beside it")
        return self

    @cached_property
    def observers(self) -> list[list]:
        """Names and parameters of the observers."""
        pairs = (
            [one, {}] if isinstance(one, str) else list(*one.items()) for one in self.observe or ()
        )
        return [[name, {key: given.value for key, given in own.items()}] for name, own in pairs]

    @cached_property
    def swept(self) -> dict[str, list]:
        """Values of each swept parameter."""
        values = {key: entry.value for key, entry in (self.sweep or {}).items()}
        return {key: one.values if isinstance(one, InSteps) else one for key, one in values.items()}


class ReplayBlock(Model):
    """A run of a released program itself."""

    title: m.Text  # one line for captions
    figures: Figures  # drawn from this replay, and from no experiment
    horizon: Sourced[m.Count]  # number of rounds of the released program


class ExperimentBlock(Model):
    """An experiment; or what an instance of one has, with what the experiment gives to all."""

    title: m.Text  # one line for captions
    figures: Figures  # drawn from this experiment
    companion_to: Figures = Field(default=[])  # figures of others that show it beside
    horizon: Sourced[m.of(whole(at_least=1, at_most=LONGEST))]  # rounds T
    replicates: Sourced[m.Many]
    published_replicates: Sourced[m.Count] | None = None  # the paper's; ours begin with as many
    means: Sourced[m.either(Numbers, Spaced)] | None = None  # of each arm
    drawn_means: DrawnMeans | None = None  # in place of means
    groups: Sourced[Annotated[list[m.Count], m.Some]] | None = None  # sizes, in the arms' order
    same_instances_as: str | None = None  # experiment whose instances and rewards it meets again
    #: what is kept of deficits and of what policies and observers report; all if left out
    record: Annotated[list[Annotated[Any, PlainValidator(_recorded)]], m.Unique] | None = None
    targets: Sourced[Numbers] | None = None  # reward rates, 0 if unprotected
    #: in place of targets: what part of its mean each of the first arms is to get
    target_shares: Sourced[m.either(Annotated[list[m.Exact], m.Some], SameShare)] | None = None
    #: required fractions of pulls
    quotas: Sourced[m.either(Annotated[list[m.Exact], m.Pair], OfEqualShare)] | None = None
    drawn_quotas: Sourced[DrawnQuotas] | None = None  # in place of quotas
    #: cost of a pull that an arm lacks: for all arms, or one per arm; half_range is
    #: (max mu - min mu) / 2
    penalties: Sourced[Rates] | None = None
    spread: Spread | None = None
    laws: Sourced[Annotated[list[m.choice(*LAWS)], m.Some, m.Unique]]  # first: primary
    checkpoints: Checkpoints
    chunk: m.Count  # replicates of one file; at most a minute of computing
    policies: Annotated[dict[m.Name, PolicyBlock], m.Some]  # by a name used in file names

    @model_validator(mode="after")
    def _fits(self):
        """Check what concerns several keys: lengths, sums, and what excludes what."""
        if not (self.means or self.drawn_means):
            raise ValueError(": 'means' is a required property")
        for one, other in (
            ("means", "drawn_means"),
            ("targets", "target_shares"),
            ("quotas", "drawn_quotas"),
        ):
            if getattr(self, one) and getattr(self, other):
                raise ValueError(f": {one} and {other} exclude each other; give one of them")
        self._check_sizes()
        self._check_means()
        self._check_targets()
        if self.quotas:
            _check_length("quotas", self.fractions, self.n_arms, "mean")
            self.fractions.check(": quotas", below=1)
        self._check_drawn_quotas()
        if isinstance(penalties := value_of(self.penalties), list):
            _check_length("penalties", penalties, self.n_arms, "arm")
        self._check_spreads()
        self._check_horizons()
        return self

    @cached_property
    def true_means(self) -> list[float]:
        """Mean of each arm; empty where each replicate draws its own."""
        means = value_of(self.means, [])
        return means.values if isinstance(means, Spaced) else means

    @cached_property
    def drawn(self) -> dict[str, Any]:
        """Values of `drawn_means`; empty without."""
        return {key: one.value for key, one in self.drawn_means or () if one}

    @cached_property
    def n_arms(self) -> int:
        """Number of arms."""
        return self.drawn["arms"] if self.drawn_means else len(self.true_means)

    @cached_property
    def shares(self) -> list:
        """Targets as parts of the first arms' means; empty without."""
        given = value_of(self.target_shares, [])
        return [given.share] * given.arms if isinstance(given, SameShare) else given

    @cached_property
    def rates(self) -> list[float]:
        """Target of each arm; empty without, or where means are drawn."""
        fixed = self.shares and self.true_means
        return shares_of(self.shares, self.true_means) if fixed else value_of(self.targets, [])

    @cached_property
    def fractions(self) -> Quotas:
        """Quotas, all of them exact; empty without, or where they are drawn."""
        return Quotas(shared_out(value_of(self.quotas, []), self.n_arms))

    def _check_sizes(self) -> None:
        n_arms, horizon, replicates = self.n_arms, self.horizon.value, self.replicates.value
        least = f"be at least the number of arms ({n_arms})"
        require(horizon >= n_arms, ".horizon", least, horizon)
        last = self.checkpoints.at[-1] if self.checkpoints.at else horizon
        require(last == horizon, ".checkpoints.at", f"end with the horizon ({horizon})", last)
        published, most = value_of(self.published_replicates, 0), f"replicates ({replicates})"
        place = ".published_replicates"
        require(published <= replicates, place, f"be at most {most}", published)
        total = sum(value_of(self.groups, [n_arms]))
        require(total == n_arms, ".groups", f"sum to the number of arms ({n_arms})", total)

    def _check_means(self) -> None:
        laws, n_arms = self.laws.value, self.n_arms
        for k, mean in enumerate(self.true_means):
            _check_range(mean, mean, laws, f".means.value.{k}")
        if not self.drawn_means:
            return
        sizes, drawn, place = value_of(self.groups, []), self.drawn, ".drawn_means"
        per_group = f"be a number, or have one entry per group ({len(sizes)})"
        for key in ("low", "high"):
            n = len(drawn[key]) if isinstance(drawn[key], list) else len(sizes)
            require(n == len(sizes), f"{place}.{key}", per_group, n)
        for arm, mean in drawn.get("fixed", ()):
            require(1 <= arm <= n_arms, f"{place}.fixed", f"name arms in 1..{n_arms}", arm)
            _check_range(mean, mean, laws, f"{place}.fixed")
        for low, high in dict.fromkeys(zip(*ranges_of(drawn, sizes), strict=True)):
            require(low < high, f"{place}.low", f"be below high ({high})", low)
            _check_range(low, high, laws, place)

    def _check_targets(self) -> None:
        if self.targets and self.drawn_means:
            raise ValueError(".targets need fixed means; give target_shares of drawn ones")
        place, n_shares = ".target_shares", len(self.shares)
        most = f"have at most one entry per mean ({self.n_arms})"
        require(n_shares <= self.n_arms, place, most, n_shares)
        shares = [rational("target_shares", one) for one in self.shares]
        fit = min(shares, default=0) >= 0 and sum(shares) <= 1
        require(fit, place, "be at least 0 and sum to at most 1", self.shares)
        if not self.rates:
            return
        _check_length("targets", self.rates, self.n_arms, "mean")
        pairs = list(zip(self.true_means, self.rates, strict=True))
        allowed = "be at least 0, and 0 where the mean is 0"
        for k, (mean, target) in enumerate(pairs, start=1):
            got = f"{target} for arm {k} with mean {mean}"
            require(target == 0 or (target > 0 and mean > 0), ".targets", allowed, got)
        load = sum(target / mean for mean, target in pairs if target)
        place = ".targets cannot be met: sum of target / mean"
        require(load <= 1 + SLACK, place, "be at most 1", f"{load:.4f}")

    def _check_drawn_quotas(self) -> None:
        if not self.drawn_quotas:
            return
        drawn, n_arms = self.drawn_quotas.value, self.n_arms
        least = 2 + (drawn.span != "kth")
        if n_arms < least:
            words = f"needs at least {least} arms, got {n_arms}"
            raise ValueError(f".drawn_quotas.span {drawn.span} {words}")
        least, place = 2 * n_arms**2, ".drawn_quotas.denominator"
        allowed = f"be at least {least} with {n_arms} arms"
        require(drawn.denominator >= least, place, allowed, drawn.denominator)

    def _check_spreads(self) -> None:
        for law, entry in self.spread or ():
            if entry is None:
                continue
            if law not in self.laws.value:
                laws = ", ".join(self.laws.value)
                raise ValueError(f".spread.{law}: the experiment has no such law; it has {laws}")
            value, least = rational("spread", entry.value), "above 0"
            fits = value > 0
            if law == "beta":
                fits, least = value >= Fraction(1, 10), "at least 0.1"
            require(fits, f".spread.{law}", f"be {least}", entry.value)

    def _check_horizons(self) -> None:
        for label, policy in self.policies.items():
            at = f".policies.{label}"
            if policy.horizons:
                rounds, most = policy.horizons.value, self.horizon.value
                _check_rounds(rounds, self.n_arms, most, f"{at}.horizons")
            for excluded, words in (
                (self.checkpoints.at, "checkpoints for any horizon: linear and log, not at"),
                (self.drawn_means, "fixed means; drawn ones belong to the replicate"),
            ):
                if policy.apart and excluded:
                    raise ValueError(f"{at}.apart needs {words}")


class Suite(Model):
    """An experiment on several instances: what each has in place of the experiment's own keys."""

    instances: Annotated[dict[m.Name, dict[str, Any]], m.Some]


class PaperFile(Model):
    """A whole file; its experiments are checked one by one, with what changes them."""

    paper: m.Slug  # the folder's name
    title: m.Text
    #: root seed of the runs that figures show, in experiments.yaml: no change of a claim changes it
    seed: m.of(whole(at_least=0)) | None = None
    experiments: Annotated[dict[m.Name, dict[str, Any]], m.Some]
    replays: dict[m.Name, ReplayBlock] = Field(default={})


def value_of(entry: Sourced | None, default: Any = None) -> Any:
    """Return an entry's value, or a default for none."""
    return default if entry is None else entry.value


def shared_out(quotas: Any, n_arms: int) -> Any:
    """Return quotas given as a part of 1 / k each as a list, anything else unchanged."""
    if isinstance(quotas, dict) and list(quotas) == ["of_equal_share"]:
        quotas = OfEqualShare(**quotas)
    if not isinstance(quotas, OfEqualShare):
        return quotas
    return [str(rational("of_equal_share", quotas.of_equal_share) / n_arms)] * n_arms


def _check_rounds(rounds: Sequence[int], least: int, most: int, place: str) -> None:
    increase = all(one < after for one, after in itertools.pairwise(rounds))
    require(increase, place, "increase", ", ".join(map(str, rounds)))
    allowed = f"be whole numbers in {least}..{most}"
    require(rounds[0] >= least, place, allowed, rounds[0])
    require(rounds[-1] <= most, place, allowed, rounds[-1])


def _check_length(name: str, values: Sequence, n_arms: int, per: str) -> None:
    n = len(values)
    require(n == n_arms, f".{name}", f"have one entry per {per} ({n_arms})", n)


def _check_range(low: float, high: float, laws: list[str], place: str) -> None:
    """Raise ValueError unless all laws can have means from `low` to `high`."""
    got = f"{low}" if low == high else f"{low} to {high}"
    for law in laws:
        if law in ("gaussian", "deterministic"):
            continue
        is_bounded = law in ("bernoulli", "beta")
        allowed = "in [0, 1]" if is_bounded else "at least 0"
        fits = low >= 0 and not (is_bounded and high > 1)
        require(fits, place, f"be {allowed} under law {law}", got)

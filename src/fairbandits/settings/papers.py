"""What papers/SLUG/experiments.yaml and papers/SLUG/audit.yaml can say.

The workflow reads them on every start, so neither Numba nor pandas is imported here.
"""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field, PlainValidator, model_validator

from fairbandits.data.dictionary import RECORDED, column_of
from fairbandits.lookup import nearest
from fairbandits.policies.parameters import Check, number, one_of, per_arm, whole
from fairbandits.rationals import LONGEST, Quotas, rational
from fairbandits.settings.models import (
    Count,
    Exact,
    Many,
    Model,
    Name,
    Number,
    Slug,
    Some,
    Text,
    Unique,
    Words,
    either,
    matching,
    of,
)
from fairbandits.settings.spec import ranges_of, shares_of

LAWS = ("uniform02", "uniform02_clipped", "bernoulli", "gaussian", "beta", "deterministic")
#: Rounding error allowed in the load of targets that need every round.
SLACK = 1e-9
PROVENANCES = ("stated", "derived", "released-code", "reconstructed", "chosen")
T = TypeVar("T")


class Sourced(Model, Generic[T]):
    """A value with where it comes from."""

    value: T
    provenance: Annotated[Any, of(one_of(*PROVENANCES))]
    source: Words  # section, equation, file or reason


def _recorded(name: Any) -> str:
    if not isinstance(name, str) or column_of("dataset", name, {}) is None:
        hint = nearest(str(name), RECORDED)
        raise ValueError(f" must be a column of docs/data-dictionary.md, got {name!r}{hint}")
    return name


def _one_or_several(check: Check, *others: str) -> PlainValidator:
    """Return the check of one number for all arms, or a list of them, or one of other words."""

    def one(value: Any) -> Any:
        if isinstance(value, str) and others and value not in others:
            raise ValueError(f" must be a number, or {', '.join(others)}, got {value!r}")
        if not isinstance(value, str):
            (per_arm(check) if isinstance(value, list) else check)("", value, "")
        return value

    return PlainValidator(one)


def _fixed(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f" must be an arm, from 1, and its mean, got {value!r}")
    whole()("", value[0], "")
    number()("", value[1], "")
    return value


Figures = Annotated[list[Annotated[Any, matching(r"fig[0-9]+[a-z]?")]], Unique]
Numbers = Annotated[list[Number], Field(min_length=2)]
Ends = Annotated[Any, _one_or_several(number())]
Rates = Annotated[Any, _one_or_several(number(at_least=0), "half_range")]
Rounds = Annotated[list[Count], Some]


class Evenly(Model):
    """Means from the first to the last arm."""

    first: Number
    last: Number
    arms: Annotated[Any, of(whole(at_least=2))]

    @property
    def values(self) -> list[float]:
        """Evenly spaced means."""
        first, n = self.first, self.arms - 1
        return [first + (self.last - first) * k / n for k in range(self.arms)]


class OneBest(Model):
    """The mean of the first arm, and how far all others are below it."""

    best: Annotated[Any, of(number(at_least=0, at_most=1))]
    gap: Annotated[Any, of(number(at_least=0))]
    arms: Annotated[Any, of(whole(at_least=2))]

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

    arms: Sourced[Annotated[Any, of(whole(at_least=2))]]
    low: Sourced[Ends]  # for all arms or for each group
    high: Sourced[Ends]
    decimals: Sourced[Count] | None = None  # means are rounded to so many
    #: arms (from 1) with the same mean in all replicates, and that mean
    fixed: Sourced[Annotated[list[Annotated[Any, PlainValidator(_fixed)]], Some]] | None = None


class SameShare(Model):
    """The same part of their means for the first arms; later arms 0."""

    share: Exact
    arms: Count


class OfEqualShare(Model):
    """The same part of 1/k for all arms."""

    of_equal_share: Exact


class DrawnQuotas(Model):
    """Quotas drawn for each replicate, whole numbers over the denominator.

    The largest is below 1/k (kth), from there to below 1/(k - 1) (wider), or beyond that.
    """

    span: Annotated[Any, of(one_of("kth", "wider", "beyond"))]
    denominator: Annotated[Any, of(whole(at_least=8))]


class Spread(Model):
    """Spread of the laws that have one, exact: 0.5, "1/9"."""

    gaussian: Sourced[Exact] | None = None  # standard deviation
    beta: Sourced[Exact] | None = None  # m of Beta(mu m, (1 - mu) m)


class Checkpoints(Model):
    """Recorded rounds: evenly and log-spaced ones; or the rounds themselves, up to the horizon."""

    linear: Many | None = None
    log: Many | None = None
    at: Rounds | None = None

    @model_validator(mode="after")
    def _one_form(self):
        if self.model_fields_set not in ({"linear", "log"}, {"at"}):
            raise ValueError(": give either at, or linear and log")
        if self.at:
            check_rounds(self.at, 1, self.at[-1], ".at")
        return self


class Steps(Model):
    """From the first to the last value, in so many steps of the same size; exact."""

    first: Number
    last: Number
    steps: Count


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


Swept = either(Annotated[list[Exact], Some, Unique], InSteps)
Observer = either(
    str, Annotated[dict[str, dict[str, Sourced[Any]]], Field(min_length=1, max_length=1)]
)


class PolicyBlock(Model):
    """A policy of an experiment."""

    policy: str  # a registered name, or module:Class
    label: Text  # name in figures
    parameters: dict[str, Sourced[Any]]  # those left out have the policy's defaults
    #: observers by name (fairbandits.observers); one with parameters is a key that has them
    observe: Annotated[list[Observer], Some] | None = None
    chunk: Count | None = None  # replicates of one job, if not the experiment's
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

    title: Text  # one line for captions
    figures: Figures  # drawn from this replay, and from no experiment
    horizon: Sourced[Count]  # number of rounds of the released program


class ExperimentBlock(Model):
    """An experiment; or what an instance of one has, with what the experiment gives to all."""

    title: Text  # one line for captions
    figures: Figures  # drawn from this experiment
    companion_to: Figures = Field(default=[])  # figures of others that show it beside
    horizon: Sourced[Annotated[Any, of(whole(at_least=1, at_most=LONGEST))]]  # rounds T
    replicates: Sourced[Many]
    published_replicates: Sourced[Count] | None = None  # the paper's; ours begin with as many
    means: Sourced[either(Numbers, Spaced)] | None = None  # of each arm
    drawn_means: DrawnMeans | None = None  # in place of means
    groups: Sourced[Annotated[list[Count], Some]] | None = None  # sizes, in the arms' order
    same_instances_as: str | None = None  # experiment whose instances and rewards it meets again
    #: what is kept of deficits and of what policies and observers report; all if left out
    record: Annotated[list[Annotated[Any, PlainValidator(_recorded)]], Unique] | None = None
    targets: Sourced[Numbers] | None = None  # reward rates, 0 if unprotected
    #: in place of targets: what part of its mean each of the first arms is to get
    target_shares: Sourced[either(Annotated[list[Exact], Some], SameShare)] | None = None
    #: required fractions of pulls
    quotas: Sourced[either(Annotated[list[Exact], Field(min_length=2)], OfEqualShare)] | None = None
    drawn_quotas: Sourced[DrawnQuotas] | None = None  # in place of quotas
    #: cost of a pull that an arm lacks: for all arms, or one per arm; half_range is
    #: (max mu - min mu) / 2
    penalties: Sourced[Annotated[Any, _one_or_several(number(at_least=0), "half_range")]] | None = (
        None
    )
    spread: Spread | None = None
    laws: Sourced[
        Annotated[list[Annotated[Any, of(one_of(*LAWS))]], Some, Unique]
    ]  # first: primary
    checkpoints: Checkpoints
    chunk: Count  # replicates of one file; at most a minute of computing
    policies: Annotated[dict[Name, PolicyBlock], Some]  # by a name used in file names

    @model_validator(mode="after")
    def _fits(self):
        """Check what concerns several keys: lengths, sums, and what excludes what."""
        if not (self.means or self.drawn_means):
            raise ValueError(": 'means' is a required property")
        n_arms, horizon = self.n_arms, self.horizon.value
        for one, other in (
            ("means", "drawn_means"),
            ("targets", "target_shares"),
            ("quotas", "drawn_quotas"),
        ):
            if getattr(self, one) and getattr(self, other):
                raise ValueError(f": {one} and {other} exclude each other; give one of them")
        if horizon < n_arms:
            raise ValueError(
                f".horizon must be at least the number of arms ({n_arms}), got {horizon}"
            )
        if self.checkpoints.at and self.checkpoints.at[-1] != horizon:
            raise ValueError(
                f".checkpoints.at must end with the horizon ({horizon}), "
                f"got {self.checkpoints.at[-1]}"
            )
        published = value_of(self.published_replicates)
        if published and published > self.replicates.value:
            raise ValueError(
                f".published_replicates must be at most replicates ({self.replicates.value}), "
                f"got {published}"
            )
        sizes, penalties = value_of(self.groups, []), value_of(self.penalties)
        if sizes and sum(sizes) != n_arms:
            raise ValueError(f".groups must sum to the number of arms ({n_arms}), got {sum(sizes)}")
        self._check_means()
        self._check_targets()
        if self.quotas:
            _check_length("quotas", self.fractions, n_arms, "mean")
            self.fractions.check(": quotas", below=1)
        if self.drawn_quotas:
            self._check_drawn_quotas()
        if isinstance(penalties, list):
            _check_length("penalties", penalties, n_arms, "arm")
        self._check_spreads()
        for label, policy in self.policies.items():
            at = f".policies.{label}"
            if policy.horizons:
                check_rounds(policy.horizons.value, n_arms, horizon, f"{at}.horizons")
            if policy.apart and self.checkpoints.at:
                words = "needs checkpoints for any horizon: linear and log, not at"
                raise ValueError(f"{at}.apart {words}")
            if policy.apart and self.drawn_means:
                words = "needs fixed means; drawn ones belong to the replicate"
                raise ValueError(f"{at}.apart {words}")
        return self

    @cached_property
    def true_means(self) -> list[float]:
        """Mean of each arm; empty where each replicate draws its own."""
        if self.means is None:
            return []
        return self.means.value.values if isinstance(self.means.value, Spaced) else self.means.value

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

    def _check_means(self) -> None:
        laws = self.laws.value
        for k, mean in enumerate(self.true_means):
            _check_range(mean, mean, laws, f".means.value.{k}")
        if not self.drawn_means:
            return
        sizes, drawn = value_of(self.groups, []), self.drawn
        for key in ("low", "high"):
            if isinstance(drawn[key], list) and len(drawn[key]) != len(sizes):
                raise ValueError(
                    f".drawn_means.{key} must be a number, or have one entry per group "
                    f"({len(sizes)}), got {len(drawn[key])}"
                )
        for arm, mean in drawn.get("fixed", ()):
            if not 1 <= arm <= self.n_arms:
                raise ValueError(
                    f".drawn_means.fixed must name arms in 1..{self.n_arms}, got {arm}"
                )
            _check_range(mean, mean, laws, ".drawn_means.fixed")
        for low, high in dict.fromkeys(zip(*ranges_of(drawn, sizes), strict=True)):
            if low >= high:
                raise ValueError(f".drawn_means.low must be below high ({high}), got {low}")
            _check_range(low, high, laws, ".drawn_means")

    def _check_targets(self) -> None:
        if self.targets and self.drawn_means:
            raise ValueError(".targets need fixed means; give target_shares of drawn ones")
        if len(self.shares) > self.n_arms:
            raise ValueError(
                f".target_shares must have at most one entry per mean ({self.n_arms}), "
                f"got {len(self.shares)}"
            )
        shares = [rational("target_shares", one) for one in self.shares]
        if min(shares, default=0) < 0 or sum(shares) > 1:
            raise ValueError(
                f".target_shares must be at least 0 and sum to at most 1, got {self.shares}"
            )
        if not self.rates:
            return
        _check_length("targets", self.rates, self.n_arms, "mean")
        pairs = list(zip(self.true_means, self.rates, strict=True))
        for k, (mean, target) in enumerate(pairs, start=1):
            if target < 0 or (target > 0 and mean <= 0):
                raise ValueError(
                    f".targets must be at least 0, and 0 where the mean is 0, got {target} for "
                    f"arm {k} with mean {mean}"
                )
        load = sum(target / mean for mean, target in pairs if target)
        if load > 1 + SLACK:
            raise ValueError(
                f".targets cannot be met: sum of target / mean must be at most 1, got {load:.4f}"
            )

    def _check_drawn_quotas(self) -> None:
        drawn, n_arms = self.drawn_quotas.value, self.n_arms
        least = 2 + (drawn.span != "kth")
        if n_arms < least:
            words = f"needs at least {least} arms, got {n_arms}"
            raise ValueError(f".drawn_quotas.span {drawn.span} {words}")
        if drawn.denominator < 2 * n_arms**2:
            raise ValueError(
                f".drawn_quotas.denominator must be at least {2 * n_arms**2} with {n_arms} arms, "
                f"got {drawn.denominator}"
            )

    def _check_spreads(self) -> None:
        for law, entry in self.spread or ():
            if entry is None:
                continue
            if law not in self.laws.value:
                laws = ", ".join(self.laws.value)
                raise ValueError(f".spread.{law}: the experiment has no such law; it has {laws}")
            value = rational("spread", entry.value)
            if value <= 0 or (law == "beta" and value < Fraction(1, 10)):
                least = "at least 0.1" if law == "beta" else "above 0"
                raise ValueError(f".spread.{law} must be {least}, got {entry.value}")


class Suite(Model):
    """An experiment on several instances: what each has in place of the experiment's own keys."""

    instances: Annotated[dict[Name, dict[str, Any]], Some]


class PaperFile(Model):
    """A whole file; its experiments are checked one by one, with what changes them."""

    paper: Slug  # the folder's name
    title: Text
    #: root seed of the runs that figures show, in experiments.yaml: no change of a claim changes it
    seed: Annotated[Any, of(whole(at_least=0))] | None = None
    experiments: Annotated[dict[Name, dict[str, Any]], Some]
    replays: dict[Name, ReplayBlock] = Field(default={})


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


def check_rounds(rounds: Sequence[int], least: int, most: int, place: str) -> None:
    """Raise ValueError unless rounds increase and are in least..most."""
    if any(one >= after for one, after in itertools.pairwise(rounds)):
        raise ValueError(f"{place} must increase, got {', '.join(map(str, rounds))}")
    if rounds[0] < least or rounds[-1] > most:
        wrong = rounds[0] if rounds[0] < least else rounds[-1]
        raise ValueError(f"{place} must be whole numbers in {least}..{most}, got {wrong}")


def _check_length(name: str, values: Sequence, n_arms: int, per: str) -> None:
    if len(values) != n_arms:
        raise ValueError(f".{name} must have one entry per {per} ({n_arms}), got {len(values)}")


def _check_range(low: float, high: float, laws: list[str], place: str) -> None:
    """Raise ValueError unless all laws can have means from `low` to `high`."""
    for law in laws:
        most = 1 if law in ("bernoulli", "beta") else None
        is_below = law not in ("gaussian", "deterministic") and low < 0
        if is_below or (most is not None and high > most):
            allowed = "in [0, 1]" if most else "at least 0"
            got = f"{low}" if low == high else f"{low} to {high}"
            raise ValueError(f"{place} must be {allowed} under law {law}, got {got}")

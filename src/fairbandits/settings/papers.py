"""What papers/SLUG/experiments.yaml and audit.yaml can say; a checked block has plain values."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, get_type_hints

from pydantic import AfterValidator, Field, PlainValidator, create_model, model_validator

from fairbandits.data.dictionary import RECORDED
from fairbandits.lookup import nearest
from fairbandits.policies.parameters import Check, number, per_arm, that, whole
from fairbandits.rationals import LONGEST, Quotas, rational
from fairbandits.settings import models as m
from fairbandits.settings.models import Model, require
from fairbandits.settings.spec import ranges_of, shares_of

LAWS = ("uniform02", "uniform02_clipped", "bernoulli", "gaussian", "beta", "deterministic")
PROVENANCES = ("stated", "derived", "released-code", "reconstructed", "chosen")


def must(holds: Any, place: str, rule: str, got: Any) -> None:
    """Raise ValueError unless what stands at a place keeps its rule."""
    require(holds, f"{place} must {rule}, got {got}")


def sourced(kind: Any) -> Any:
    """Return the type of a value that says where it comes from; only the value is kept."""
    source = m.Words  # section, equation, file or reason
    origin: Any = {"provenance": m.choice(*PROVENANCES), "source": source}
    block: Any = create_model("Sourced", __base__=Model, value=kind, **origin)
    return Annotated[block, AfterValidator(lambda entry: entry.value)]


def by_rule(rule: Callable[..., list]) -> Any:
    """Return the type of a block of a rule's arguments; what the rule returns is kept."""
    arguments = get_type_hints(rule, include_extras=True)
    arguments.pop("return")
    block: Any = create_model(rule.__name__, __base__=Model, **arguments)
    return Annotated[block, AfterValidator(lambda given: rule(**dict(given)))]


def by_one_rule(**rules: Callable[..., list]) -> Any:
    """Return the type of a block that has one of these rules by its name; its list is kept."""
    kinds = {name: (by_rule(rule), None) for name, rule in rules.items()}
    block: Any = create_model("Rule", __base__=Model, **kinds)

    def only(given: Model) -> list:
        require(len(given.model_fields_set) == 1, f" must have either {' or '.join(rules)}")
        return getattr(given, *given.model_fields_set)

    return Annotated[block, AfterValidator(only)]


def _one_or_several(check: Check, *others: str) -> Any:
    """Return the type of one number for all arms, a list of them, or one of other words."""

    def checked(value: Any) -> Any:
        if isinstance(value, str) and others:
            must(value in others, "", f"be a number, or {', '.join(others)}", repr(value))
        else:
            (per_arm(check) if isinstance(value, list) else check)("", value, "")
        return value

    return Annotated[Any, PlainValidator(checked)]


def _fixed(value: Any) -> Any:
    is_pair = isinstance(value, list) and len(value) == 2
    must(is_pair, "", "be an arm, from 1, and its mean", repr(value))
    whole()("", value[0], "")
    number()("", value[1], "")
    return value


def _evenly(first: m.Number, last: m.Number, arms: m.Arms) -> list[float]:
    """Return means from the first to the last arm."""
    return [first + (last - first) * k / (arms - 1) for k in range(arms)]


def _one_best(
    best: m.of(number(at_least=0, at_most=1)), gap: m.of(number(at_least=0)), arms: m.Arms
) -> list[float]:
    """Return the mean of the first arm, and all others, so far below it."""
    return [best, *[best - gap] * (arms - 1)]


def _same_share(share: m.Exact, arms: m.Count) -> list:
    """Return the same part of their means for the first arms; later arms have 0."""
    return [share] * arms


def _in_steps(
    first: m.Number, last: m.Number, steps: m.of(whole(at_least=1, at_most=10_000))
) -> list[float]:
    """Return values from the first to the last, in so many steps of the same size; exact."""
    start, end = (rational("a swept value", value) for value in (first, last))
    exact = (start + (end - start) * k / steps for k in range(steps + 1))
    return [int(value) if value.denominator == 1 else float(value) for value in exact]


Figures = Annotated[list[m.Figure], m.Unique]
Recorded = m.of(
    that(
        lambda name: isinstance(name, str) and name in RECORDED,
        "be a column of docs/data-dictionary.md",
        lambda name: nearest(str(name), RECORDED),
    )
)
Numbers = Annotated[list[m.Number], m.Pair]
Means = m.either(Numbers, by_one_rule(evenly=_evenly, one_best=_one_best))
Ends = _one_or_several(number())
Rates = _one_or_several(number(at_least=0), "half_range")
Rounds = Annotated[list[m.Count], m.Some]
Shares = m.either(Annotated[list[m.Exact], m.Some], by_rule(_same_share))


class DrawnMeans(Model):
    """Means drawn for each replicate, independent, uniform on [low, high]."""

    arms: sourced(m.Arms)
    low: sourced(Ends)  # for all arms or for each group
    high: sourced(Ends)
    decimals: sourced(m.Count) | None = None  # means are rounded to so many
    #: arms (from 1) with the same mean in all replicates, and that mean
    fixed: sourced(Annotated[list[Annotated[Any, PlainValidator(_fixed)]], m.Some]) | None = None


class OfEqualShare(Model):
    """The same part of 1/k for all arms."""

    of_equal_share: m.Exact


Fractions = m.either(
    Annotated[list[m.Exact], m.Pair], Annotated[OfEqualShare, AfterValidator(dict)]
)


class DrawnQuotas(Model):
    """Quotas drawn for each replicate, whole numbers over the denominator.

    The largest is below 1/k (kth), from there to below 1/(k - 1) (wider), or beyond that.
    """

    span: m.choice("kth", "wider", "beyond")
    denominator: m.of(whole(at_least=8))


class Checkpoints(Model):
    """Recorded rounds: evenly and log-spaced ones; or the rounds themselves, up to the horizon."""

    linear: m.Many | None = None
    log: m.Many | None = None
    at: Rounds | None = None

    @model_validator(mode="after")
    def _one_form(self):
        is_one_form = self.model_fields_set in ({"linear", "log"}, {"at"})
        require(is_one_form, ": give either at, or linear and log")
        if self.at:
            _check_rounds(self.at, 1, self.at[-1], ".at")
        return self


def _pair(observer: Any) -> list:
    return [observer, {}] if isinstance(observer, str) else list(*observer.items())


One = Field(min_length=1, max_length=1)
Swept = Annotated[
    m.either(Annotated[list[m.Exact], m.Some], by_one_rule(evenly=_in_steps)), m.Unique
]
#: By name, or a key that has its parameters; kept as both.
Observer = Annotated[
    m.either(str, Annotated[dict[str, dict[str, sourced(Any)]], One]), AfterValidator(_pair)
]


class PolicyBlock(Model):
    """A policy of an experiment."""

    policy: str  # a registered name, or module:Class
    label: m.Text  # name in figures
    parameters: dict[str, sourced(Any)]  # those left out have the policy's defaults
    observe: Annotated[list[Observer], m.Some] = Field(default=[])  # of fairbandits.observers
    chunk: m.Count | None = None  # replicates of one job, if not the experiment's
    horizons: sourced(Rounds) | None = None  # run once for each, where the policy depends on it
    #: whether each horizon is recorded at the checkpoints and has rewards of its own; otherwise the
    #: last round of each is recorded, and all meet the same rewards
    apart: bool = False
    #: one hyper-parameter with several values; its name becomes a column
    sweep: Annotated[dict[str, sourced(Swept)], One] = Field(default={})

    @model_validator(mode="after")
    def _once(self):
        if repeated := sorted(self.parameters.keys() & self.sweep.keys()):
            raise ValueError(f".parameters: {repeated[0]} is also in sweep; give it once")
        m.expect_unique([name for name, _ in self.observe], ".observe")
        need = ".apart: there are no horizons; give them beside it"
        require(self.horizons or not self.apart, need)
        return self


class ReplayBlock(Model):
    """A run of a released program itself."""

    title: m.Text  # one line for captions
    figures: Figures  # drawn from this replay, and from no experiment
    horizon: sourced(m.Count)  # number of rounds of the released program


class ExperimentBlock(Model):
    """An experiment; or what an instance of one has, with what the experiment gives to all."""

    title: m.Text  # one line for captions
    figures: Figures = Field(default=[])  # drawn from this experiment
    companion_to: Figures = Field(default=[])  # figures of others that show it beside
    horizon: sourced(m.of(whole(at_least=1, at_most=LONGEST)))  # rounds T
    replicates: sourced(m.Many)
    published_replicates: sourced(m.Count) | None = None  # the paper's; ours begin with as many
    means: sourced(Means) | None = None  # of each arm
    drawn_means: DrawnMeans | None = None  # in place of means
    groups: sourced(Annotated[list[m.Count], m.Some]) | None = None  # sizes, in the arms' order
    #: experiment, or of a suite the suite, whose instances and rewards it meets again
    same_instances_as: str | None = None
    #: what is kept of deficits and of what policies and observers report; all if left out
    record: Annotated[list[Recorded], Field(fail_fast=True), m.Unique] | None = None
    targets: sourced(Numbers) | None = None  # reward rates, 0 if unprotected
    #: in place of targets: what part of its mean each of the first arms is to get
    target_shares: sourced(Shares) | None = None
    quotas: sourced(Fractions) | None = None  # required, of pulls
    drawn_quotas: sourced(DrawnQuotas) | None = None  # in place of quotas
    #: cost of a pull that an arm lacks: for all arms, or one per arm; half_range is
    #: (max mu - min mu) / 2
    penalties: sourced(Rates) | None = None
    #: exact, of the laws that have one: sd of gaussian, m of Beta(mu m, (1 - mu) m)
    spread: dict[m.choice("gaussian", "beta"), sourced(m.Exact)] = Field(default={})
    laws: sourced(Annotated[list[m.choice(*LAWS)], m.Some, m.Unique])  # first: primary
    checkpoints: Checkpoints | None = None  # the last round alone if left out
    chunk: m.Count | None = None  # replicates of one file, all if left out; at most a minute
    policies: Annotated[dict[m.Name, PolicyBlock], m.Some]  # by a name used in file names

    @cached_property
    def drawn(self) -> dict[str, Any]:
        """Values of `drawn_means`; empty without."""
        return {key: value for key, value in self.drawn_means or () if value is not None}

    @cached_property
    def recorded(self) -> Checkpoints:
        """Recorded rounds."""
        return self.checkpoints or Checkpoints(at=[self.horizon])

    @cached_property
    def n_arms(self) -> int:
        return self.drawn_means.arms if self.drawn_means else len(self.means)

    @cached_property
    def rates(self) -> list[float]:
        """Target of each arm; empty without, or where means are drawn."""
        fixed = self.target_shares and self.means
        return shares_of(self.target_shares, self.means) if fixed else self.targets or []

    @cached_property
    def fractions(self) -> Quotas:
        """Quotas, all of them exact; empty without, or where they are drawn."""
        return Quotas(shared_out(self.quotas or (), self.n_arms))

    @model_validator(mode="after")
    def _fits(self):
        """Check what concerns several keys: lengths, sums, and what excludes what."""
        require(self.means or self.drawn_means, ": 'means' is a required property")
        for name, other in (
            ("means", "drawn_means"),
            ("targets", "target_shares"),
            ("quotas", "drawn_quotas"),
        ):
            both = getattr(self, name) and getattr(self, other)
            require(not both, f": {name} and {other} exclude each other; give one of them")
        self._check_sizes()
        self._check_means()
        self._check_targets()
        if self.quotas:
            self._check_length("quotas", self.fractions, "mean")
            self.fractions.check(": quotas", below=1)
        if self.drawn_quotas:
            self._check_drawn_quotas(self.drawn_quotas)
        if isinstance(self.penalties, list):
            self._check_length("penalties", self.penalties, "arm")
        self._check_spreads()
        for label, policy in self.policies.items():
            self._check_horizons(policy, f".policies.{label}")
        return self

    def _check_length(self, name: str, values: Sequence, per: str) -> None:
        n_arms, n = self.n_arms, len(values)
        must(n == n_arms, f".{name}", f"have one entry per {per} ({n_arms})", n)

    def _check_sizes(self) -> None:
        arms, horizon = self.n_arms, self.horizon
        must(horizon >= arms, ".horizon", f"be at least the number of arms ({arms})", horizon)
        last = self.recorded.at[-1] if self.recorded.at else horizon
        must(last == horizon, ".checkpoints.at", f"end with the horizon ({horizon})", last)
        published, most = self.published_replicates or 0, f"replicates ({self.replicates})"
        fits = published <= self.replicates
        must(fits, ".published_replicates", f"be at most {most}", published)
        total = sum(self.groups or [arms])
        must(total == arms, ".groups", f"sum to the number of arms ({arms})", total)

    def _check_means(self) -> None:
        for k, mean in enumerate(self.means or ()):
            self._check_range(mean, mean, f".means.value.{k}")
        if not self.drawn_means:
            return
        sizes, drawn, where = self.groups or [], self.drawn, ".drawn_means"
        per_group = f"be a number, or have one entry per group ({len(sizes)})"
        for key in ("low", "high"):
            n = len(drawn[key]) if isinstance(drawn[key], list) else len(sizes)
            must(n == len(sizes), f"{where}.{key}", per_group, n)
        for arm, mean in drawn.get("fixed", ()):
            in_range = f"name arms in 1..{self.n_arms}"
            must(1 <= arm <= self.n_arms, f"{where}.fixed", in_range, arm)
            self._check_range(mean, mean, f"{where}.fixed")
        for low, high in dict.fromkeys(zip(*ranges_of(drawn, sizes), strict=True)):
            must(low < high, f"{where}.low", f"be below high ({high})", low)
            self._check_range(low, high, where)

    def _check_range(self, low: float, high: float, where: str) -> None:
        """Raise ValueError unless all laws can have means from `low` to `high`."""
        got = f"{low}" if low == high else f"{low} to {high}"
        decimals = self.drawn.get("decimals")
        unrounded = low < high and decimals is None  # drawn means, which reach no end
        if low < high and decimals:
            low, high = round(low, decimals), round(high, decimals)
        for law in self.laws:
            if law in ("gaussian", "deterministic"):
                continue
            is_bounded = law in ("bernoulli", "beta")
            is_open = law == "beta" and not unrounded
            allowed = "in (0, 1)" if is_open else "in [0, 1]" if is_bounded else "at least 0"
            fits = low >= 0 and not (is_bounded and high > 1)
            fits = fits and not (is_open and (low == 0 or high == 1))
            must(fits, where, f"be {allowed} under law {law}", got)

    def _check_targets(self) -> None:
        drawn = ".targets need fixed means; give target_shares of drawn ones"
        require(not (self.targets and self.drawn_means), drawn)
        given, where = self.target_shares or [], ".target_shares"
        most = f"have at most one entry per mean ({self.n_arms})"
        must(len(given) <= self.n_arms, where, most, len(given))
        shares = [rational("target_shares", share) for share in given]
        fit = min(shares, default=0) >= 0 and sum(shares) <= 1
        must(fit, where, "be at least 0 and sum to at most 1", given)
        if not self.rates:
            return
        self._check_length("targets", self.rates, "mean")
        load, allowed = 0.0, "be at least 0, and 0 where the mean is 0"
        for k, (mean, target) in enumerate(zip(self.means, self.rates, strict=True), start=1):
            fits = target == 0 or (target > 0 and mean > 0)
            must(fits, ".targets", allowed, f"{target} for arm {k} with mean {mean}")
            load += target / mean if target else 0.0
        where = ".targets cannot be met: sum of target / mean"
        must(load <= 1 + 1e-9, where, "be at most 1", f"{load:.4f}")

    def _check_drawn_quotas(self, drawn: DrawnQuotas) -> None:
        n_arms, least = self.n_arms, 2 if drawn.span == "kth" else 3
        needed = f"needs at least {least} arms, got {n_arms}"
        require(n_arms >= least, f".drawn_quotas.span {drawn.span} {needed}")
        finest, given = 2 * n_arms**2, drawn.denominator
        allowed = f"be at least {finest} with {n_arms} arms"
        must(given >= finest, ".drawn_quotas.denominator", allowed, given)

    def _check_spreads(self) -> None:
        for law, given in self.spread.items():
            has = f"the experiment has no such law; it has {', '.join(self.laws)}"
            require(law in self.laws, f".spread.{law}: {has}")
            value, is_beta = rational("spread", given), law == "beta"
            fits = value >= Fraction(1, 10) if is_beta else value > 0
            must(fits, f".spread.{law}", f"be {'at least 0.1' if is_beta else 'above 0'}", given)

    def _check_horizons(self, policy: PolicyBlock, where: str) -> None:
        if policy.horizons:
            _check_rounds(policy.horizons, self.n_arms, self.horizon, f"{where}.horizons")
        if policy.apart:
            needs = f"{where}.apart needs"
            any_horizon = f"{needs} checkpoints for any horizon: linear and log, not at"
            require(not self.recorded.at, any_horizon)
            fixed = f"{needs} fixed means; drawn ones belong to the replicate"
            require(not self.drawn_means, fixed)


class Suite(Model):
    """An experiment on several instances: what each has in place of the experiment's own keys."""

    instances: Annotated[dict[m.Name, dict[str, Any]], m.Some]


class PaperFile(Model):
    """A whole file; its experiments are checked one by one, with what changes them."""

    paper: m.Slug  # the folder's name
    title: m.Text
    experiments: Annotated[dict[m.Name, dict[str, Any]], m.Some]
    replays: dict[m.Name, ReplayBlock] = Field(default={})


def shared_out(quotas: Any, n_arms: int) -> Any:
    """Return quotas given as a part of 1 / k each as a list, anything else unchanged."""
    if not (isinstance(quotas, dict) and list(quotas) == ["of_equal_share"]):
        return quotas
    return [str(rational("of_equal_share", quotas["of_equal_share"]) / n_arms)] * n_arms


def _check_rounds(rounds: Sequence[int], least: int, most: int, where: str) -> None:
    increase = all(before < after for before, after in itertools.pairwise(rounds))
    must(increase, where, "increase", ", ".join(map(str, rounds)))
    for end in (rounds[0], rounds[-1]):
        must(least <= end <= most, where, f"be whole numbers in {least}..{most}", end)

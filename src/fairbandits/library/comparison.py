"""Compare policies on one instance: `fairbandits.compare`, a table with intervals and a figure."""

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd

from fairbandits import checks
from fairbandits.library import inputs
from fairbandits.library.compiling import Compiled
from fairbandits.library.instance import Instance, RandomInstance
from fairbandits.library.late import name_of
from fairbandits.library.results import Result
from fairbandits.library.running import check, numbers_of, run
from fairbandits.library.simulation import checkpoint_grid, feedback_of
from fairbandits.library.worlds import World
from fairbandits.lookup import nearest
from fairbandits.measures.summary import interval_of, summarise

if TYPE_CHECKING:
    from fairbandits.library.style import Picture

#: Methods of `Result` that are measures: their titles on an axis, and the inputs that they need.
METRICS = {
    "regret": ("regret (reward units)",),
    "violation": ("violation ({})", "quotas or targets"),
    "r_regret": ("regret beyond the quotas (reward units)", "quotas"),
    "target_regret": ("regret beyond the targets (reward units)", "targets"),
    "penalised_regret": ("penalised regret (reward units)", "quotas", "penalties"),
    "unfairness": ("unfairness (pulls)", "quotas"),
    "reward": ("reward",),
}
#: How to provide each input that a measure needs.
EXAMPLES = {
    "quotas": 'quotas=("1/5", "3/10", ...)',
    "targets": "targets=(0.1, 0.2, ...)",
    "penalties": "penalties=0.5",
}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Policies on the same instance and the same rewards.

    Attributes
    ----------
    results : dict of str to Result
        The policies' runs, by label.
    curves : dict of (str, str) to ndarray, shape (n_replicates, n_checkpoints)
        Values by measure and policy.
    titles : dict of str to str
        Names of the measures on an axis.
    """

    results: dict[str, Result]
    curves: dict[tuple[str, str], np.ndarray]
    titles: dict[str, str]
    kinds: ClassVar[tuple[str, ...]] = ("rounds", "tradeoff", "pulls")

    @property
    def rounds(self) -> np.ndarray:
        """1-based rounds of the checkpoints, shape (n_checkpoints,)."""
        return next(iter(self.results.values())).rounds

    @property
    def table(self) -> pd.DataFrame:
        """The measures at the last checkpoint, one row for each measure and policy.

        ``mean`` over ``n`` replicates with its 95 % t interval, ``low`` to ``high``, and
        ``difference``, the mean paired difference to the first policy, with its own interval.
        """
        first, *_ = self.results
        rows = []
        for (metric, policy), curve in self.curves.items():
            paired = curve[:, -1] - self.curves[metric, first][:, -1]
            difference = (np.nan,) * 3 if policy == first else interval_of(paired)
            rows.append((policy, metric, *interval_of(curve[:, -1]), *difference, len(curve)))
        columns = ["policy", "metric", "mean", "low", "high"]
        columns += ["difference", "difference_low", "difference_high", "n"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def frame(self) -> pd.DataFrame:
        """The measures at every checkpoint: policy, metric, round, mean, low, high, n."""
        parts = (
            summarise(metric, policy, self.rounds, curve)
            for (metric, policy), curve in self.curves.items()
        )
        names = {"series": "policy", "law": "metric", "round": "round", "mean": "mean"}
        names |= {"mean_low": "low", "mean_high": "high", "n_replicates": "n"}
        return pd.concat(parts, ignore_index=True)[[*names]].rename(columns=names)

    def plot(self, kind: str = "rounds") -> "Picture":
        """Return a figure; by default the means by round, a panel for each measure.

        No window opens: save the figure with ``savefig``, or show it in a notebook. Names are
        written as they are, and Matplotlib's settings change nothing.

        Parameters
        ----------
        kind : {"rounds", "tradeoff", "pulls"}
            ``"tradeoff"`` shows the price of fairness in one panel: the first measure against the
            second at the last checkpoint, by default regret against violation (0 if negative). A
            policy to the lower left of another is better. ``"pulls"`` shows the share of each arm
            in the pulls so far, with its quota. There is a panel for each policy, with lines for up
            to six arms, and with colours for more.
        """
        from fairbandits.library.pictures import plot

        return plot(self, kind)

    @property
    def caption(self) -> str:
        """A caption of the table: instance, rounds, replicates, and the meaning of its columns."""
        first, result = next(iter(self.results.items()))
        arms = result.instance
        where = getattr(arms, "source", "")  # of a World a method
        if not where or callable(where):
            labels, means = getattr(arms, "labels", ()), getattr(arms, "means", None)
            names = f" ({', '.join(labels)})" if labels else ""
            where = f"{arms.n_arms} arms{names}, {arms.law}"
            if result.means is not None:
                where += ", means drawn for each replicate"
            elif means is not None and not callable(means):
                where += f", means {', '.join(f'{mean:.4g}' for mean in means)}"
        difference = f". Differences are to {first}, on the same rewards" * (len(self.results) > 1)
        return (
            f"{where}\nMeans of n = {result.replicates.size} replicates at round "
            f"T = {result.horizon}; low to high is the 95 % t interval{difference}"
        )

    def save(self, path: str | PathLike) -> None:
        """Write a Parquet file that `load` reads: the results, as `Result.save`, and the measures.

        It has a row per policy, replicate, round and arm, and a column for each measure, whose
        values are those of all arms together.
        """
        from fairbandits.library.saving import save

        more = {field.name: getattr(self, field.name) for field in fields(self)[2:]}
        save(path, type(self).__name__.lower(), self.results, self.curves, more)

    @classmethod
    def load(cls, path: str | PathLike) -> Self:
        """Return a comparison from a file that `save` has written; see `Result.load`."""
        from fairbandits.library.saving import load

        results, curves, more = load(path, cls.__name__.lower(), Result)
        return cls(results, curves, **more)

    def __repr__(self) -> str:
        table = self.table.to_string(index=False, na_rep="", float_format=_short)
        return f"{self.caption}\n{table}"

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, na_rep="", float_format=_short).replace(">-", ">−")
        caption = html.escape(self.caption).replace("\n", "<br>")
        table = table.replace("<thead>", f"<caption>{caption}</caption><thead>", 1)
        encoded = base64.b64encode(self.plot()._repr_png_()).decode()
        return f'{table}<img alt="the measures by round" src="data:image/png;base64,{encoded}">'


def compare(
    policies: Sequence[Any] | Mapping[str, Any],
    instance: Instance | RandomInstance | World,
    horizon: int,
    *,
    replicates: int | Sequence[int],
    metrics: Any = ("regret", "violation"),
    quotas: Sequence | None = None,
    targets: Sequence[float] | None = None,
    penalties: float | Sequence[float] | str | None = None,
    checkpoints: Sequence[int] | None = None,
    seed: int = 0,
    stream: str = "run",
    n_jobs: int = 1,
    progress: bool = False,
) -> Comparison:
    """Run policies on the same instance with the same rewards, and measure them.

    Parameters
    ----------
    policies : sequence of object, or mapping of str to object
        Policies as in `run`, labelled by the keys of a mapping or by their classes. The first one
        is the reference of the paired differences.
    instance : Instance, RandomInstance or World
        Means and reward law. If neither quotas nor targets are given, those of an instance in
        `fairbandits.instances` are used, with its penalties.
    horizon : int
        Number of rounds T.
    replicates : int or sequence of int
        How many replicates, or their numbers; at least 2, for the intervals.
    metrics : sequence of str or callable, or mapping
        Measures: names of methods of `Result` (regret, violation, r_regret, target_regret,
        penalised_regret, unfairness, reward), or functions. A function takes a `Result` and returns
        an array of shape (n_replicates, n_checkpoints). The keys of a mapping are other names.
    quotas, targets : sequence, length n_arms, optional
        Quotas of pulls, exact, or targets of reward per round. They are measured, and no policy
        sees them.
    penalties : float, sequence of float, or "half_range", optional
        Cost of each missing pull, for ``penalised_regret``.
    checkpoints : sequence of int, optional
        Increasing rounds at which to measure; by default about 150 of them.
    seed, stream, n_jobs, progress
        As in `run`; all policies share the rewards pull by pull.

    Raises
    ------
    ValueError
        If a measure is unknown or an input of it is missing, if two policies have the same label,
        or if no policy can meet the targets.

    Examples
    --------
    >>> import fairbandits as fb
    >>> arms = fb.Instance((0.7, 0.5, 0.4))
    >>> quotas = (0.2, 0.3, 0.25)
    >>> rivals = [fb.UCB1(), fb.FairUCB(quotas)]
    >>> compared = fb.compare(rivals, arms, 500, replicates=5, quotas=quotas)
    >>> compared.table[["policy", "metric", "n"]].values.tolist()[:2]
    [['UCB1', 'regret', 5], ['FairUCB', 'regret', 5]]
    """
    labelled = _labelled(policies)
    for policy in labelled.values():
        check(policy, instance)
    horizon = checks.whole("horizon", horizon)
    numbers = numbers_of(replicates)
    if numbers.size < 2:
        message = "replicates must be at least 2, since intervals are over them"
        raise ValueError(f"{message}, got {replicates!r}")
    if quotas is None and targets is None:
        quotas, targets = (getattr(instance, name, None) or None for name in ("quotas", "targets"))
    elif quotas is not None and targets is not None:
        raise ValueError(
            "give quotas or targets, not both: a violation is one of pulls or one of rewards"
        )
    if penalties is None:
        penalties = getattr(instance, "penalties", None)
    n_arms = instance.n_arms
    quotas = None if quotas is None else inputs.quotas(quotas, n_arms)
    targets = None if targets is None else inputs.per_arm("targets", targets, n_arms, 0)
    penalties = None if penalties is None else inputs.penalties(penalties, n_arms)
    given = {"targets": targets, "penalties": penalties}
    wanted = _metrics_of(metrics, given | {"quotas": quotas})
    if targets is not None:
        _check_targets(targets, instance, (seed, stream), numbers.tolist())
    for label, policy in labelled.items():
        # errors of policies that do not fit the instance come before any run
        feedback_of(policy)
        try:
            policy.start(instance.n_arms, horizon)
        except ValueError as error:
            raise ValueError(f"policy {label}: {error}") from error
        if isinstance(policy, Compiled):
            policy.compile(instance, quotas=quotas)
    rounds = checkpoint_grid(horizon, 100, 50) if checkpoints is None else checkpoints
    how = {"seed": seed, "stream": stream, "checkpoints": rounds, "quotas": quotas}
    how |= {"n_jobs": n_jobs, "progress": progress}
    results = {
        label: run(policy, instance, horizon, numbers, **how) for label, policy in labelled.items()
    }
    curves = {
        (name, label): _measured(name, metric, result, given)
        for name, metric in wanted.items()
        for label, result in results.items()
    }
    unit = "pulls" if targets is None else "reward units"
    titles = {
        name: METRICS[name][0].format(unit) if name == metric else name
        for name, metric in wanted.items()
    }
    return Comparison(results, curves, titles)


def _labelled(policies: Any) -> dict[str, Any]:
    labelled: dict[str, Any] = {}
    if isinstance(policies, Mapping):
        labelled |= policies
        if wrong := [label for label in labelled if not inputs.is_text(label)]:
            raise TypeError(f"labels of policies must be text, got {wrong[0]!r}")
    elif isinstance(policies, str) or not isinstance(policies, Iterable):
        message = f"policies must be a list, or a dict by label, got {policies!r}"
        raise TypeError(f"{message}; compare([one, other], ...)")
    else:
        for policy in policies:
            label = policy.__name__ if isinstance(policy, type) else name_of(policy)
            if label in labelled:
                way_out = f'compare({{"{label}": ..., "another {label}": ...}}, ...)'
                raise ValueError(
                    f"two policies have the label {label}; give each its own: {way_out}"
                )
            labelled[label] = policy
    if not labelled:
        raise ValueError("policies must hold at least one policy, got none")
    return labelled


def _check_targets(targets: Sequence[float], instance: Any, address: tuple, numbers: list) -> None:
    """Raise ValueError unless targets can be met in all replicates."""
    drawn = {"": instance}
    if isinstance(instance, RandomInstance):
        drawn = {f" in replicate {r}": instance.draw(*address, r) for r in numbers}
    for where, arms in drawn.items():
        needed = checks.load(arms.true_means, targets)
        if not np.isfinite(needed):
            raise ValueError(f"targets cannot be met{where}: an arm with a target has mean 0")
        if needed > 1 + checks.SLACK:
            raise ValueError(
                f"targets cannot be met{where}: sum of target / mean must be at most 1, got "
                f"{needed:.4f}; divide the targets by {np.ceil(needed * 100) / 100:.2f} or more"
            )


def _metrics_of(metrics: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return measures, methods of `Result` or functions, by their names in the table, checked."""
    if isinstance(metrics, Mapping):
        named = dict(metrics)
        if wrong := [name for name in named if not inputs.is_text(name)]:
            raise TypeError(f"names of metrics must be text, got {wrong[0]!r}")
    elif not isinstance(metrics, Iterable) and not callable(metrics):
        raise TypeError(f"metrics must be a list of names or functions, got {metrics!r}")
    else:
        listed = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
        named = {}
        for metric in listed:
            name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
            if name in named:
                raise ValueError(f"metrics must have each name once, got {name!r} twice")
            named[name] = metric
    if not named:
        raise ValueError(f"metrics must name at least one of {', '.join(METRICS)}, got none")
    for metric in (measure for measure in named.values() if not callable(measure)):
        if not isinstance(metric, str) or metric not in METRICS:
            meant = nearest(str(metric), METRICS) or f"; known are {', '.join(METRICS)}"
            raise ValueError(f"metric {metric!r} is unknown{meant}")
        for need in METRICS[metric][1:]:
            either = need.split(" or ")
            if all(given[name] is None or not np.size(given[name]) for name in either):
                examples = " or ".join(EXAMPLES[name] for name in either)
                others = ", ".join(repr(name) for name, (_, *needs) in METRICS.items() if not needs)
                raise ValueError(
                    f"metric {metric!r} needs {need}: give {examples}, or ask for metrics "
                    f"that need nothing, such as {others}"
                )
    return named


def _measured(name: str, metric: Any, result: Result, given: Mapping[str, Any]) -> np.ndarray:
    """Return a measure of a policy's runs; targets and penalties are `given`."""
    if callable(metric):
        returned = metric(result)
        try:
            if np.ma.is_masked(returned) or np.asarray(returned).dtype.kind not in "biufO":
                raise TypeError
            values = np.array(returned, float)  # a copy: the next can be in the same array
        except (TypeError, ValueError):
            got = inputs.shown(returned)
            raise ValueError(f"metric {name} must return numbers, got {got}") from None
    else:
        needs = " ".join(METRICS[metric][1:])
        arguments = {key: value for key, value in given.items() if key in needs}
        values = getattr(result, metric)(**arguments).astype(float)
    wanted = (result.replicates.size, result.rounds.size)
    if values.shape != wanted:
        raise ValueError(
            f"metric {name} must return an array of shape (n_replicates, n_checkpoints), "
            f"here {wanted}, got {values.shape}; average or sum over arms, not replicates"
        )
    return values


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"

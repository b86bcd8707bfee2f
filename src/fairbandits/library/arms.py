"""`fairbandits.Instance`, `RandomInstance` and `World`: the engine's, with checked, copied inputs.

The engine's classes are part of the code behind all recorded data, which checks leave alone.
"""

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from fairbandits import checks
from fairbandits.library import inputs, instance, worlds


class Instance(instance.Instance):
    """Arms with i.i.d. rewards.

    Parameters
    ----------
    means : sequence of float, length n_arms >= 2
        Mean reward mu_i of each arm: in [0, 1] for ``bernoulli``, in (0, 1) for ``beta``,
        >= 0 for the uniform laws, any finite number otherwise.
    law : {"uniform02", "bernoulli", "beta", "gaussian", "deterministic", "uniform02_clipped"}
        Distribution of the rewards: uniform on [0, 2 mu], Bernoulli(mu),
        Beta(mu m, (1 - mu) m), Normal(mu, sd), always mu, or min(1, uniform on [0, 2 mu]). The
        last has a mean below mu where mu > 1/2 (see `true_means`).
    spread : float, optional
        m >= 0.1 of ``beta`` (default 4) or sd of ``gaussian`` (default 1).

    Examples
    --------
    >>> import fairbandits as fb
    >>> fb.Instance((0.5, 0.8), law="uniform02_clipped").true_means
    array([0.5   , 0.6875])
    """

    if TYPE_CHECKING:

        def __init__(
            self, means: Iterable[float], law: str = "bernoulli", spread: float | None = None
        ) -> None: ...

    def __post_init__(self):
        object.__setattr__(self, "means", inputs.per_arm("means", self.means))
        _check_spread(self)
        super().__post_init__()


class RandomInstance(instance.RandomInstance):
    """An instance whose means are drawn for each replicate, independently and uniformly.

    Arm k (from 1) has the mean low + (high - low) u, where u in (0, 1) is the k-th number of the
    replicate's stream ``instance`` (see `fairbandits.engine.streams`), for any law. A fixed arm
    does not change the other means.

    Parameters
    ----------
    n_arms : int
        Number of arms, at least 2.
    low, high : float or sequence of float, length n_arms
        The means lie strictly between these bounds, which are the same for all arms or one for
        each.
    law, spread
        As in `Instance`.
    decimals : int, optional
        Number of decimals to which means are rounded.
    fixed : sequence of (int, float)
        Arms (from 1) with the same mean in every replicate, and that mean.

    Examples
    --------
    >>> import fairbandits as fb
    >>> arms = fb.RandomInstance(3, law="gaussian", spread=0.2)
    >>> arms.draw(seed=1, stream="mine", replicate=0) == arms.draw(1, "mine", 0)
    True
    """

    def __post_init__(self):
        object.__setattr__(self, "n_arms", checks.whole("n_arms", self.n_arms, at_least=2))
        for name in ("low", "high"):
            ends = inputs.one_or_per_arm(name, getattr(self, name), self.n_arms)
            object.__setattr__(self, name, ends)
        try:
            pairs = [(arm, mean) for arm, mean in self.fixed]
        except (TypeError, ValueError):
            message = f"as ((1, 0.65), ...), got {inputs.shown(self.fixed)}"
            raise ValueError(f"fixed must be pairs of an arm and its mean, {message}") from None
        fixed = [(checks.whole("fixed", arm), inputs.number("fixed", mean)) for arm, mean in pairs]
        if again := inputs.duplicated(arm for arm, _ in fixed):
            raise ValueError(f"fixed must name each arm once, got {again[0]} twice")
        object.__setattr__(self, "fixed", tuple(fixed))
        _check_spread(self)
        super().__post_init__()

    def draw(self, seed: int, stream: str, replicate: int) -> Instance:
        """Return the instance of one replicate, which all policies on the same stream meet."""
        drawn = super().draw(seed, stream, replicate)
        return Instance(drawn.means, drawn.law, drawn.spread)


def _check_spread(made: Any) -> None:
    if made.spread is not None:
        object.__setattr__(made, "spread", inputs.number("spread", made.spread))


@dataclass(frozen=True, repr=False)
class World(worlds.World):
    """Arms whose rewards are computed by a function.

    Parameters
    ----------
    pay : callable
        ``pay(arm, number, coin)`` returns the reward, a finite number, of `arm` (from 0) at its
        `number`-th pull, or in round `number` (both from 1). All chance comes from the `coin`,
        which `fairbandits.unit` turns into a number in [0, 1).
    means : sequence of float, length n_arms >= 2, or callable
        Expected rewards. If they move, a function of the round, and `by` is "round".
    by : {"pull", "round"}
        Whether numbers count pulls or rounds. Under full information they always count rounds.
    law : str
        What pays the rewards, in a few words; `compare` shows it.
    rows : int, optional
        Number of rounds that can be played.
    labels : sequence of str, length n_arms, optional
        Names of the arms.

    Examples
    --------
    >>> import fairbandits as fb
    >>> rare = fb.World(lambda arm, number, coin: 5 * (fb.unit(coin) < 0.1), means=(0.5, 0.5))
    >>> fb.run(fb.Uniform(), rare, 100, 3, checkpoints=[100]).regret().tolist()
    [[0.0], [0.0], [0.0]]
    """

    pay: Callable[[int, int, int], float]
    means: Iterable[float] | Callable[[int], Iterable[float]]
    by: Literal["pull", "round"] = "pull"
    law: str = "rewards of one's own"
    rows: int | None = None
    labels: Iterable[str] = ()

    def __post_init__(self):
        if not callable(self.means):
            object.__setattr__(self, "means", inputs.per_arm("means", self.means))
        super().__post_init__()
        if self.rows is not None:
            checks.whole("rows", self.rows)
        labels = self.labels
        if isinstance(labels, str | Set | Mapping) or not isinstance(labels, Iterable):
            example = "as ('a', 'b'), in the order of the arms"
            raise ValueError(f"labels must be a list, {example}, got {inputs.shown(labels)}")
        object.__setattr__(self, "labels", tuple(map(str, labels)))
        if self.labels:
            checks.length("labels", self.labels, self.n_arms)
        if again := inputs.duplicated(self.labels):
            raise ValueError(f"labels must differ when written, got {again[0]!r} twice")

    @classmethod
    def moving(
        cls,
        means: Callable[[int], Iterable[float]],
        law: str = "bernoulli",
        spread: float | None = None,
    ) -> "World":
        """Return a world whose means are a function of the round, with a law as in `Instance`."""
        return super().moving(lambda t: inputs.per_arm("means", means(t)), law, spread)

    def __repr__(self) -> str:
        names = f" ({', '.join(self.labels)})" if self.labels else ""
        means = "" if self.moves else f", means {', '.join(f'{mean:.4g}' for mean in self.means)}"
        return f"<World of {self.n_arms} arms{names}: {self.law}, by {self.by}{means}>"

    @classmethod
    def from_table(
        cls,
        table: Any | str | PathLike,
        by: Literal["pull", "round"] = "pull",
        *,
        arm: Hashable = None,
        reward: Hashable = None,
    ) -> "World":
        """Return a world that pays the rewards of a table or of a log.

        Rewards are copied. By pull, each pull draws one of the arm's rewards, with replacement, so
        that arms can have unequal numbers of them; by round, row t has the rewards of round t. The
        means of the arms are those of their rewards.

        Parameters
        ----------
        table : array, data frame, mapping of names to columns, or path
            Without `arm` and `reward`, a table with a column for each arm. Data frames of pandas
            and Polars, Arrow tables, paths of CSV (``.csv``, ``.csv.gz``) and Parquet
            (``.parquet``) files are taken.
        by : {"pull", "round"}
            What the numbers of rewards count; a log is paid by pull.
        arm, reward : optional
            Names of the columns of a log, which has a row for each reward. Arms are in the order of
            their names, or of the categories.

        Raises
        ------
        ValueError
            If a column is unknown or holds anything but finite numbers, or an arm has no reward.

        Warns
        -----
        UserWarning
            How many rows or entries without a value were left out; ``law`` says so, too. By round
            none can be missing.

        Examples
        --------
        >>> import fairbandits as fb
        >>> log = {"variation": ["A", "B", "A", "B", "B"], "bought": [0, 1, 1, 0, 0]}
        >>> fb.World.from_table(log, arm="variation", reward="bought")
        <World of 2 arms (A, B): a log of 5 rewards, by pull, means 0.5, 0.3333>
        """
        from fairbandits.library import tables  # with pandas, which no other world needs

        checks.one_of("by", by, ("pull", "round"))
        columns = tables.columns_of(table)
        if arm is None and reward is None:
            content = tables.read_table(columns, complete=by == "round")
        elif arm is None or reward is None:
            raise ValueError("a log needs both arm and reward, the names of its columns")
        elif by == "round":
            raise ValueError("a log has no reward of each arm for each round; leave by='round' out")
        else:
            content = tables.read_log(columns, arm, reward)
        if len(content.rewards) < 2:
            nothing = "one column" if arm is None else "none"
            names = ", ".join(map(repr, content.labels)) or nothing
            message = f"a table must have rewards of at least 2 arms, got {names}"
            raise ValueError(f"{message}{tables.AS_A_LOG if arm is None else ''}")
        if content.left_out:
            warnings.warn(f"{content.left_out} left out", stacklevel=2)
        law = content.law + (f" ({content.left_out} left out)" if content.left_out else "")
        rows = len(content.rewards[0]) if by == "round" else None
        means = tuple(float(paid.mean()) for paid in content.rewards)
        return cls(tables.Paying(content.rewards, by), means, by, law, rows, content.labels)

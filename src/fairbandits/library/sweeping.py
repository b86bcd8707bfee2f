"""A policy with several values of one parameter: `fairbandits.sweep`."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from fairbandits.library.comparison import Comparison, compare
from fairbandits.library.compiling import Compiled
from fairbandits.library.identity import same
from fairbandits.library.instance import Instance, RandomInstance
from fairbandits.library.worlds import World
from fairbandits.lookup import nearest

if TYPE_CHECKING:
    from fairbandits.library.style import Picture

#: Settings of a comparison that a class of policies receives too, if it needs them.
SHARED = ("quotas", "targets", "penalties", "groups")


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Comparison):
    """A comparison of the values of one parameter.

    Attributes
    ----------
    parameter : str
        Name of the parameter.
    values : dict of str to object
        Its values, by the labels of `results` and `curves`.
    """

    parameter: str
    values: dict[str, Any]
    kinds: ClassVar[tuple[str, ...]] = ("parameter", *Comparison.kinds)

    @property
    def table(self) -> pd.DataFrame:
        """As that of `Comparison`, with the parameter's value as first column, named after it."""
        table = super().table
        name = self.parameter
        name = f"parameter {name}" if name in table else name
        table.insert(0, name, [self.values[label] for label in table["policy"]])
        return table.drop(columns="policy")

    def plot(self, kind: str = "parameter") -> "Picture":
        """Return a figure; by default the measures at the last round against the parameter.

        There is a panel for each measure, by default regret and violation. The axis of the
        parameter is logarithmic if its values are nearer to even steps there.

        Parameters
        ----------
        kind : {"parameter", "rounds", "tradeoff", "pulls"}
            The others are those of `Comparison.plot`.
        """
        return super().plot(kind)


def sweep(
    policy: Any,
    parameter: str,
    values: Iterable[Any],
    instance: Instance | RandomInstance | World,
    horizon: int,
    *,
    replicates: int | Iterable[int],
    **others: Any,
) -> Sweep:
    """Run a policy with several values of one parameter, on the same rewards.

    Parameters
    ----------
    policy : object or callable
        A policy as in `run`, which keeps its other parameters. They must be attributes of the same
        names, as in every policy of this package. Or a class, or a function that makes a policy:
        further keywords are its other parameters, and it receives the quotas, targets, penalties
        and groups that it needs and that are known here.
    parameter : str
        The parameter's name.
    values : iterable
        Its values, all different: numbers or anything else that the policy takes.
    instance, horizon, replicates
        As in `compare`.
    **others
        Any other keyword of `compare`, such as ``quotas`` and ``n_jobs``, and parameters of the
        policy.

    Raises
    ------
    TypeError, ValueError
        If the policy has no such parameter or refuses a value, or for the reasons of `compare`.

    Examples
    --------
    >>> import fairbandits as fb
    >>> arms = fb.Instance((0.7, 0.5, 0.4))
    >>> given = {"replicates": 5, "quotas": (0.2, 0.3, 0.25)}
    >>> swept = fb.sweep(fb.LFG(given["quotas"]), "eta", [1, 10, 100], arms, 500, **given)
    >>> swept.table[["eta", "metric", "n"]].values.tolist()[:2]
    [[1, 'regret', 5], [10, 'regret', 5]]
    """
    keywords = inspect.signature(compare).parameters
    settings = {name: value for name, value in others.items() if name in keywords}
    further = {name: value for name, value in others.items() if name not in keywords}
    known = {name: getattr(instance, name, None) for name in SHARED} | settings
    name, make = _maker(policy, parameter, further, known)
    ordered = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping | Set)
    if not (ordered and getattr(values, "ndim", 1)):
        raise TypeError(f"values must be a list, such as [1, 10, 100], got {values!r}")
    made: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    for value in values:
        label = f"{name}, {parameter} = {value}"
        if label in labels or any(same(value, other) for other in labels.values()):
            raise ValueError(f"values must be different, got {value!r} twice")
        try:
            made[label], labels[label] = make(value), value
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name} with {parameter} = {value!r}: {error}") from error
    if not made:
        raise ValueError("values must hold at least one value, got none")
    compared = compare(made, instance, horizon, replicates=replicates, **settings)
    return Sweep(compared.results, compared.curves, compared.titles, parameter, labels)


def _maker(
    policy: Any, parameter: str, further: Mapping[str, Any], known: Mapping[str, Any]
) -> tuple[str, Callable[[Any], Any]]:
    """Return a policy's name, and a function of the parameter's value that makes it."""
    inside = vars(policy)["_policy"] if isinstance(policy, Compiled) else policy
    is_object = hasattr(inside, "feedback") and not isinstance(inside, type)
    maker = type(inside) if is_object else inside
    if not callable(maker):
        raise TypeError(f"policy must be a policy or its class, such as fb.LFG, got {policy!r}")
    name = getattr(maker, "__name__", "policy")
    takes = {
        param.name: param.default
        for param in inspect.signature(maker).parameters.values()
        if param.kind not in (param.VAR_POSITIONAL, param.VAR_KEYWORD)
    }
    for word in (parameter, *further):
        if word not in takes:
            near = nearest(str(word), {*takes, *inspect.signature(compare).parameters} - {word})
            has = f"its parameters are {', '.join(takes)}" if takes else "it has none"
            raise TypeError(f"{name} has no parameter {word!r}{near}; {has}")
    if parameter in further:
        raise TypeError(f"{parameter} takes the values, and not {further[parameter]!r} beside them")
    arguments = dict(further)
    for word, default in takes.items():
        if word == parameter or word in further:
            continue
        if is_object:
            if not hasattr(inside, word):
                message = f"{name} does not keep its parameter {word} as an attribute"
                raise TypeError(f"{message}; give the class: sweep({name}, ..., {word}=...)")
            arguments[word] = getattr(inside, word)
        elif default is inspect.Parameter.empty:
            if word not in SHARED or known.get(word) is None:
                raise TypeError(f"{name} needs {word}; sweep({name}, ..., {word}=...)")
            arguments[word] = known[word]

    def make(value: Any) -> Any:
        made = maker(**arguments | {parameter: value})
        return policy.of(made) if isinstance(policy, Compiled) else made

    return name, make

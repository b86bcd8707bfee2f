"""The best policy under each contract, and a summary of all: counted from the arena's standings."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import pandas as pd

from fairbandits.arena.roles import CONTROL, ORACLE
from fairbandits.arena.standings import KEPT
from fairbandits.numerals import number

#: How strictly a contract must hold, by the column that says whether it does.
STRICTLY = {"kept": "at the end", "kept_always": "in every round"}
#: Words of a policy's setting in tables -> as readers write it.
SYMBOLS = {"eta ": "η = ", "tolerance ": "α = ", "penalties ": "A = ", "V exponent ": "V = T^"}


class Choice(NamedTuple):
    """The policy to use, with its setting, under one contract."""

    kept: str  # a key of `KEPT`: how strictly the contract must hold
    known: bool  # whether this is the choice where T is known
    unknown: bool  # whether it is the choice where T is not known
    horizons: tuple[int, ...]  # at which it is judged
    rows: pd.DataFrame  # its standings on all instances at all horizons
    least: int  # instances and horizons on which it has the least regret of those that keep it
    total: int  # instances

    @property
    def name(self) -> str:
        return self.rows["name"].iloc[0]

    @property
    def label(self) -> str:
        return self.rows["label"].iloc[0]

    @property
    def counts(self) -> dict[int, int]:
        """Number of instances on which it keeps the contract, by horizon."""
        return self.rows.groupby("horizon")[self.kept].sum().to_dict()

    @property
    def keeps(self) -> bool:
        """Whether it keeps the contract on all instances at its horizons."""
        return all(self.counts[horizon] == self.total for horizon in self.horizons)

    @property
    def needs_horizon(self) -> bool:
        """Whether one must know T: it plays by T, or breaks the contract at other horizons."""
        return self.rows["told"].any() or (self.keeps and min(self.counts.values()) < self.total)

    @property
    def judged(self) -> pd.DataFrame:
        """Its standings at its horizons."""
        return self.rows[self.rows["horizon"].isin(self.horizons)]


def rivals(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the standings of policies that do not know the means, with all their settings."""
    return rows[rows["kind"] != ORACLE]


def needs_horizon(rows: pd.DataFrame, kept: str) -> dict[str, str]:
    """Return the policies that keep one contract at all horizons only if T is known, and why.

    They play otherwise when told another T, or none of their settings keeps the contract at every
    horizon, though at each horizon one does.
    """
    rows = rivals(rows)
    labels, told = (rows.groupby("name")[column].first() for column in ("label", "told"))
    kept_on = rows.groupby(["name", "horizon"], sort=False)[kept].sum().unstack()
    keep = kept_on == rows["instance"].nunique()  # by name with setting, and by horizon
    one_setting = keep.all(axis=1).groupby(labels).any()
    at_each = keep.groupby(labels).any().all(axis=1)
    tuned = at_each & ~one_setting
    reasons = dict.fromkeys(tuned.index[tuned], "for its setting")
    return reasons | dict.fromkeys(labels[told], "it plays by T")


def choices(rows: pd.DataFrame) -> Iterator[Choice]:
    """Yield the policy to use under one contract, by what is demanded and known.

    First where T is not known, then where it is: successive horizons with the same choice together.
    """
    horizons = sorted(rows["horizon"].unique())
    for kept in KEPT:
        unknown = choice(rows, kept, horizons, known=False)
        known = [choice(rows, kept, [horizon]) for horizon in horizons]
        if {(chosen.name, chosen.keeps) for chosen in known} == {(unknown.name, unknown.keeps)}:
            yield unknown._replace(known=True)
            continue
        yield unknown
        for _, group in groupby(known, key=lambda chosen: (chosen.name, chosen.keeps)):
            together = [*group]
            at = tuple(chosen.horizons[0] for chosen in together)
            yield together[0]._replace(horizons=at, least=sum(chosen.least for chosen in together))


def choice(rows: pd.DataFrame, kept: str, horizons: Sequence[int], known: bool = True) -> Choice:
    """Return the policy, with its setting, to use under one contract at all of some horizons.

    Of those that keep the contract on all instances it is the one of least mean rank by contract
    regret. If there is none, it is the one of least shortfall of those that keep it most often.
    Where T is not known, policies that play otherwise when told another T are left out.
    """
    everyone = rivals(rows)
    candidates = everyone[everyone["kind"] != CONTROL]
    if not known:
        candidates = candidates[~candidates["told"]]
    here = candidates[candidates["horizon"].isin(horizons)]
    most = here.groupby("name")[kept].transform("sum")
    best, total = here[most == most.max()], rows["instance"].nunique()
    if most.max() == total * len(horizons):
        measure = best.groupby(["instance", "horizon"])["contract_regret"].rank()
    else:
        measure = thousandths(best, KEPT[kept][0])
    name = measure.groupby(best["name"], sort=False).mean().idxmin()
    its_rows = candidates[candidates["name"] == name]
    least = _least(everyone[everyone["horizon"].isin(horizons)], kept)[name]
    return Choice(kept, known, not known, tuple(horizons), its_rows, least, total)


def _least(rows: pd.DataFrame, kept: str) -> Counter[str]:
    """Count the instances and horizons on which each has the least regret of the keepers."""
    keep = rows[rows[kept]]
    least = keep.groupby(["instance", "horizon"])["contract_regret"].idxmin()
    return Counter(keep.loc[least, "name"])


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each of `rivals` under one contract at one horizon.

    It has counts of instances, and means per thousand rounds. `breaking` is Pareto-optimal without
    keeping the contract, `least` the best of all keepers.
    """
    measures = ("contract_regret", "shortfall")
    plain = rivals(rows)
    pareto = plain["dominated_by"] == ""
    per_thousand = {name: thousandths(plain, name) for name in measures}
    plain = plain.assign(pareto=pareto, breaking=pareto & ~plain["kept"], **per_thousand)
    by = plain.groupby("name", sort=False)
    table = by.agg(
        label=("label", "first"),
        kind=("kind", "first"),
        instances=("instance", "size"),
        **{name: (name, "sum") for name in (*KEPT, "pareto", "breaking")},
        **{name: (name, "mean") for name in measures},
    )
    table["least"] = table.index.map(_least(plain, "kept"))
    table["by"] = by["dominated_by"].agg(lambda names: Counter(name for name in names if name))
    table["ignores"] = table["kind"] == CONTROL
    order = {"ignores": True, "kept": False, "kept_always": False}
    order |= {"shortfall": True, "contract_regret": True}
    return table.sort_values([*order], ascending=[*order.values()]).reset_index()


def pareto(row: Any) -> str:
    """Return in words whether a row of standings is Pareto-optimal."""
    if row.dominated_by:
        return f"no: {with_symbols(row.dominated_by)} dominates it"
    return "yes" if row.kept else "yes, but only by breaking the contract"


def with_symbols(name: str) -> str:
    """Return a policy's name with its setting in symbols, as in ``LFG, η = 100``."""
    return re.sub("|".join(SYMBOLS), lambda match: SYMBOLS[match[0]], name)


def thousandths(rows: pd.DataFrame, measure: str) -> pd.Series:
    """Return a measure per thousand rounds, to compare instances and horizons."""
    return 1000 * rows[measure] / rows["horizon"]


def surely_less(pairs: pd.DataFrame) -> Counter[tuple[str, str]]:
    """Count the instances on which one policy has surely less than another, by ordered pair."""
    less, more = pairs[pairs["high"] < 0], pairs[pairs["low"] > 0]
    sure = [*less[["policy", "other"]].to_numpy(), *more[["other", "policy"]].to_numpy()]
    return Counter(map(tuple, sure))


def kept_for(chosen: Choice) -> tuple[str, str]:
    """Return in words the horizons at which a choice keeps its contract on all instances.

    Second comes on how many it does at the others.
    """
    kept = [number(horizon) for horizon, n in chosen.counts.items() if n == chosen.total]
    others = defaultdict(list)
    for horizon, n in chosen.counts.items():
        if n < chosen.total:
            others[n].append(number(horizon))
    some = f"on {{}} of {chosen.total} instances for T = {{}}".format
    rest = "; ".join(some(n, ", ".join(horizons)) for n, horizons in others.items())
    return ("" if rest else "all: ") + (", ".join(kept) or "none"), rest

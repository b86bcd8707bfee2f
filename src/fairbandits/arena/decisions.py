"""The best policy under each contract, and a summary of all: counted from the arena's tables."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from fairbandits.arena.roles import CONTROL, ORACLE, Arena
from fairbandits.arena.standings import KEPT

#: Words of a policy's setting in tables -> as readers write it.
SYMBOLS = {"eta ": "η = ", "tolerance ": "α = ", "penalties ": "A = ", "V exponent ": "V = T^"}


def rivals(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the standings of policies that do not know the means, each with its usual setting."""
    return rows[rows["usual"] & (rows["kind"] != ORACLE)]


def choices(arena: Arena, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the policy to use under a contract, by what is demanded and known.

    In so many rows it keeps the contract, and has the `least` regret of all that keep it.
    """
    everyone = rivals(rows)
    serious = everyone[everyone["kind"] != CONTROL]
    anytime = serious[~serious["policy"].isin(arena.needs_horizon)]
    total = rows["instance"].nunique()
    for kept in KEPT:
        least = _least(everyone, kept)
        known, unknown = (_first(one, kept, total) for one in (serious, anytime))
        by_horizon = {known: "known", unknown: "not known" if unknown != known else "known or not"}
        for label, horizon in by_horizon.items():
            own = serious[serious["label"] == label]
            counts = {"kept": int(own[kept].sum()), "least": least[label], "total": total}
            yield {"always": kept == "kept_always", "horizon": horizon, "rows": own} | counts


def _first(rows: pd.DataFrame, kept: str, total: int) -> str:
    """Return the keeper of least rank by regret; if none keeps all instances, least shortfall."""
    most = rows.groupby("label")[kept].transform("sum")
    rows = rows[most == most.max()]
    measure = "contract_regret_rank" if most.max() == total else KEPT[kept][0]
    return rows.groupby("label", sort=False)[measure].mean().idxmin()


def _least(rows: pd.DataFrame, kept: str) -> Counter[str]:
    """Count the instances on which each policy has the least regret among the keepers."""
    keep = rows[rows[kept]]
    return Counter(keep.loc[keep.groupby("instance")["contract_regret"].idxmin(), "label"])


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each of `rivals`: counts of instances, and means per thousand rounds.

    `breaking` is Pareto-optimal without keeping the contract, `least` the best of all keepers.
    """
    measures = ("contract_regret", "shortfall")
    plain = rivals(rows)
    pareto = plain["dominated_by"] == ""
    per_thousand = {name: thousandths(plain, name) for name in measures}
    plain = plain.assign(pareto=pareto, breaking=pareto & ~plain["kept"], **per_thousand)
    by = plain.groupby("label", sort=False)
    found = by.agg(
        kind=("kind", "first"),
        instances=("instance", "size"),
        **{name: (name, "sum") for name in (*KEPT, "pareto", "breaking")},
        **{name: (name, "mean") for name in measures},
    )
    found["least"] = found.index.map(_least(plain, "kept"))
    names = rows.set_index("name")["label"].to_dict()
    found["by"] = by["dominated_by"].agg(lambda own: Counter(names[name] for name in own if name))
    found["ignores"] = found["kind"] == CONTROL
    order = {"ignores": True, "kept": False, "kept_always": False}
    order |= {"shortfall": True, "contract_regret": True}
    return found.sort_values([*order], ascending=[*order.values()]).reset_index()


def pareto(one: Any) -> str:
    """Return in words whether a row of standings is Pareto-optimal."""
    if one.dominated_by:
        return f"no: {with_symbols(one.dominated_by)} dominates it"
    return "yes" if one.kept else "yes, but only by breaking the contract"


def with_symbols(name: str) -> str:
    """Return a policy's name with its setting in symbols, as in ``LFG, η = 100``."""
    return re.sub("|".join(SYMBOLS), lambda found: SYMBOLS[found[0]], name)


def thousandths(rows: pd.DataFrame, measure: str) -> pd.Series:
    """Return a measure per thousand rounds, to compare instances and horizons."""
    return 1000 * rows[measure] / rows["horizon"]


def surely_less(pairs: pd.DataFrame) -> Counter[tuple[str, str]]:
    """Count the instances on which one policy has surely less than another, by ordered pair."""
    less, more = pairs[pairs["high"] < 0], pairs[pairs["low"] > 0]
    sure = [*less[["policy", "other"]].to_numpy(), *more[["other", "policy"]].to_numpy()]
    return Counter(map(tuple, sure))

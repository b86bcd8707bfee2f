"""What the arena found, in words that its numbers make."""

from collections.abc import Iterator, Mapping

import pandas as pd

from fairbandits.arena.roles import Arena, Terms
from fairbandits.arena.standings import OPTIMUM, ORACLE

#: A violation below this part of the rounds counts as a contract that is nearly kept.
KEPT = 1e-3
#: Whose rivals are asked for by name.
BANDITQ = "BanditQ"


def findings(arena: Arena, tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, str]]:
    """Yield what was found, each with the name of the contract that it is about.

    Parameters
    ----------
    arena : Arena
        The arena.
    tables : mapping of str to DataFrame
        ``standings`` and ``pairs``.
    """
    for terms in arena.terms:
        rows = tables["standings"]
        rows = rows[rows["contract"] == terms.name]
        if len(rows):
            for words in _of_contract(terms, rows, tables["pairs"]):
                yield terms.name, words


def _of_contract(terms: Terms, rows: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[str]:
    instances = list(dict.fromkeys(rows["instance"]))
    yield _price(rows)
    plain = rows[(rows["kind"] != ORACLE) & rows["usual"]]
    everywhere = _on_frontier(plain)
    on_all = [name for name, count in everywhere.items() if count == len(instances)]
    never = [name for name, count in everywhere.items() if count == 0]
    counts = "; ".join(f"{name} on {count}" for name, count in everywhere.items() if count)
    yield (
        f"Not dominated, of those that do not know the means, at their usual settings, on "
        f"how many of {len(instances)} instances: {counts}."
    )
    if on_all:
        yield f"Dominated on no instance: {_listed(on_all)}."
    if never:
        yield f"Dominated on every instance: {_listed(never)}."
    yield from _cheapest(terms, plain, len(instances))
    yield from _oracles(rows)
    if BANDITQ in set(rows["label"]) and terms.name == "minimum_reward":
        yield from _duel(BANDITQ, rows, pairs[pairs["contract"] == terms.name])


def _price(rows: pd.DataFrame) -> str:
    prices = rows.drop_duplicates("instance").set_index("instance")["price"]
    dear, cheap = prices.idxmax(), prices.idxmin()
    return (
        f"The price of the contract, for whoever knows the means, is {prices[cheap]:.3g} of reward "
        f"a round ({_words(cheap)}) to {prices[dear]:.3g} ({_words(dear)})."
    )


def _on_frontier(rows: pd.DataFrame) -> dict[str, int]:
    free = rows["dominated_by"] == ""
    return (
        free.groupby(rows["label"], sort=False)
        .sum()
        .astype(int)
        .sort_values(ascending=False, kind="stable")
        .to_dict()
    )


def _cheapest(terms: Terms, rows: pd.DataFrame, total: int) -> Iterator[str]:
    """Yield who nearly keeps the contract, and who of these has the least regret, how often."""
    keeps = rows[rows["violation_high"] <= KEPT * rows["horizon"]]
    kept_on = keeps.groupby("label", sort=False)["instance"].nunique()
    on_all = [name for name, count in kept_on.items() if count == total]
    yield (
        f"Nearly kept on every instance (what lacks of {terms.unit} at the end is, by the upper "
        f"end of the interval, below {KEPT:g} of the rounds) by: {_listed(on_all) or 'nobody'}."
    )
    if keeps.empty:
        return
    least = keeps.loc[keeps.groupby("instance")["regret"].idxmin()]
    counts = least["label"].value_counts()
    shown = "; ".join(f"{name} on {count}" for name, count in counts.items())
    yield f"Among those that nearly keep it on an instance, the least regret has: {shown}."


def _oracles(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what knowing the means is worth to the same policy, estimated and known quotas."""
    usual = rows[rows["usual"] & (rows["translation"] != OPTIMUM)]
    table = usual.pivot_table(index="instance", columns="translation", values="regret")
    if {"known_quotas", "estimated_quotas"} <= set(table.columns):
        known = usual[usual["policy"] == "fair_ucb"].set_index("instance")["violation"]
        estimated = usual[usual["policy"] == "plug_in"].set_index("instance")["violation"]
        worse = int((estimated > known).sum())
        yield (
            f"Fair-UCB whose quotas are estimated lacks more than with known means on {worse} of "
            f"{len(estimated)} instances; most, {estimated.max():.3g} of reward, on "
            f"{_words(estimated.idxmax())}."
        )


def _duel(name: str, rows: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[str]:
    """Yield how a policy does beside the other ones that do not know the means."""
    beside = []
    others = rows[(rows["kind"] != ORACLE) & rows["usual"]]["label"].unique()
    for other in others:
        both = pairs[pairs["policy"].isin([name, other]) & pairs["other"].isin([name, other])]
        if other == name or both.empty:
            continue
        words = []
        for measure in ("regret", "violation"):
            own = both[both["measure"] == measure]
            sign = own["policy"].eq(name).map({True: 1, False: -1})
            less = ((sign > 0) & (own["high"] < 0)) | ((sign < 0) & (own["low"] > 0))
            more = ((sign > 0) & (own["low"] > 0)) | ((sign < 0) & (own["high"] < 0))
            words.append(f"{less.sum()} and {more.sum()}")
        beside.append(f"{other}, of {own['instance'].nunique()}: {', '.join(words)}")
    if beside:
        yield (
            f"On how many instances {name} has less and more regret, and less and more violation, "
            f"than {'; '.join(beside)}."
        )


def _listed(names: list[str]) -> str:
    return "; ".join(names)


def _words(instance: str) -> str:
    return instance.replace("_", " ")

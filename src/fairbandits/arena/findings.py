"""What the arena found, in words that its numbers make."""

from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from fairbandits.arena.roles import Arena, Terms
from fairbandits.arena.standings import OPTIMUM, ORACLE

#: A violation below this part of the rounds counts as a contract that is nearly kept.
KEPT = 1e-3
#: Whose rivals are asked for by name.
BANDITQ = "BanditQ"
#: The contract that BanditQ and its rivals were made for.
REWARDS = "minimum_reward"


def findings(arena: Arena, tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, str]]:
    """Yield what was found, each with the name of the contract that it is about.

    Parameters
    ----------
    arena : Arena
        The arena.
    tables : mapping of str to DataFrame
        ``standings`` and ``pairs``.
    """
    titles = {one.instance: f"“{one.title}”" for one in arena.config.experiments}
    for terms in arena.terms:
        rows = tables["standings"]
        rows = rows[rows["contract"] == terms.name]
        if len(rows):
            for words in _of_contract(terms, rows, tables["pairs"], titles):
                yield terms.name, words


def _of_contract(
    terms: Terms, rows: pd.DataFrame, pairs: pd.DataFrame, titles: Mapping[str, str]
) -> Iterator[str]:
    instances = list(dict.fromkeys(rows["instance"]))
    yield _price(rows, titles)
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
    yield from _oracles(rows, titles)
    if BANDITQ in set(rows["label"]) and terms.name == REWARDS:
        yield from _duel(BANDITQ, rows, pairs[pairs["contract"] == terms.name])


def _price(rows: pd.DataFrame, titles: Mapping[str, str]) -> str:
    prices = rows.drop_duplicates("instance").set_index("instance")["price"]
    dear, cheap = prices.idxmax(), prices.idxmin()
    return (
        f"The price of the contract, for whoever knows the means, is {prices[cheap]:.3g} of reward "
        f"a round ({titles[cheap]}) to {prices[dear]:.3g} ({titles[dear]})."
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


def _oracles(rows: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield what knowing the means is worth to the same policy, estimated and known quotas."""
    usual = rows[rows["usual"] & (rows["translation"] != OPTIMUM)]
    table = usual.pivot_table(index="instance", columns="translation", values="regret")
    if {"known_quotas", "estimated_quotas"} <= set(table.columns):
        known = usual[usual["policy"] == "fair_ucb"].set_index("instance")["violation"]
        estimated = usual[usual["policy"] == "plug_in"].set_index("instance")["violation"]
        worse = int((estimated > known).sum())
        yield (
            "Fair-UCB whose quotas are estimated lacks more, in the mean, than with known means on "
            f"{worse} of {len(estimated)} instances. Most it lacks on "
            f"{titles[estimated.idxmax()]}: {estimated.max():.3g} of reward."
        )


def beside(name: str, rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return on how many instances a policy has surely less, or more, than each other one.

    Parameters
    ----------
    name : str
        Label of the policy.
    rows, pairs : DataFrame
        ``standings`` and ``pairs`` of one contract.

    Returns
    -------
    DataFrame
        A row for each other policy that does not know the means, at its usual setting: `label`,
        `instances` on which both were run, and `less_regret`, `more_regret`, `less_violation` and
        `more_violation`, the numbers of those where the paired interval says so.
    """
    others = rows[(rows["kind"] != ORACLE) & rows["usual"]]["label"].unique()
    less = {
        measure: surely_less(pairs[pairs["measure"] == measure])
        for measure in ("regret", "violation")
    }
    found = []
    for other in others:
        both = pairs[pairs["policy"].isin([name, other]) & pairs["other"].isin([name, other])]
        if other == name or both.empty:
            continue
        row = {"label": other, "instances": both["instance"].nunique()}
        for measure, counts in less.items():
            row[f"less_{measure}"] = counts[name, other]
            row[f"more_{measure}"] = counts[other, name]
        found.append(row)
    return pd.DataFrame(found)


def surely_less(pairs: pd.DataFrame) -> Counter[tuple[str, str]]:
    """Return on how many instances the first has surely less than the second, either way round.

    Parameters
    ----------
    pairs : DataFrame
        ``pairs`` of one contract and one measure.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for one in pairs.itertuples():
        if one.high < 0:
            counts[one.policy, one.other] += 1
        elif one.low > 0:
            counts[one.other, one.policy] += 1
    return counts


def _duel(name: str, rows: pd.DataFrame, pairs: pd.DataFrame) -> Iterator[str]:
    """Yield how a policy does beside all others that do not know the means."""
    found = beside(name, rows, pairs)
    if len(found):
        total = found.drop(columns="label").sum()
        yield (
            f"{name} beside another policy on an instance, in {total['instances']} pairs: surely "
            f"less regret in {total['less_regret']} and more in {total['more_regret']}; surely "
            f"less violation in {total['less_violation']} and more in {total['more_violation']}."
        )


def _listed(names: list[str]) -> str:
    return "; ".join(names)

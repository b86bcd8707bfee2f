"""The arena's tables: standings under each contract at each horizon, and paired differences."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from fairbandits.arena.roles import OPTIMUM, ORACLE, TOLD, Arena, Terms, load_arena
from fairbandits.arena.settings import TABLES, arena_code
from fairbandits.data.store import replacing, table_hash, write_table
from fairbandits.library import contracts
from fairbandits.measures.summary import interval_of
from fairbandits.numerals import first_digits
from fairbandits.rationals import rational
from fairbandits.replication.datasets import expect_experiment, load_dataset
from fairbandits.replication.recorded import RunData, runs_of
from fairbandits.settings.config import Config, Experiment
from fairbandits.settings.spec import RunSpec, shares_of, swept

#: The committed table, in the folder of the audit: what the choice of a policy rests on.
COMMITTED = "arena.csv"
COMMITTED_COLUMNS = (
    *("contract", "horizon", "instance", "label", "name", "kind", "told", "kept", "kept_always"),
    *("contract_regret", "shortfall", "worst_shortfall", "replicates"),
)
COLUMNS = ["run", "replicate", "round", "arm", "plays", "reward", "mean", "floor_deficit_sup"]
#: Methods of a contract, and columns of the tables.
MEASURES = ("contract_regret", "shortfall", "worst_shortfall")
#: Column that says whether a contract is kept -> the measure that decides it, and its largest upper
#: limit as a part of the rounds, which is smaller where every round counts.
KEPT = {"kept": ("shortfall", 1e-3), "kept_always": ("worst_shortfall", 1e-4)}


@dataclass(frozen=True)
class Score:
    """A policy with one setting on one instance under one contract."""

    policy: str  # its name in the configuration
    label: str  # its name on pages
    setting: str  # the swept parameter with its value, or empty
    usual: bool  # whether that is the first of the sweep
    kind: str  # of its role under the contract
    translation: str
    horizon: int
    values: dict[str, np.ndarray]  # by `MEASURES`, at the last round, each (n_replicates,)

    @property
    def name(self) -> str:
        return f"{self.label}, {self.setting}" if self.setting else self.label


def maker_of(contract: str, spec: RunSpec) -> Callable[[np.ndarray], contracts.Contract]:
    """Return a function from true means to the contract of a suite's run."""
    if contract == "minimum_reward":
        # target_shares are the quotas in all suites of this contract
        return lambda means: contracts.MinimumReward(shares_of(spec.quotas, means.tolist()))
    arguments = (spec.quotas,)
    if contract != "minimum_pulls":
        fractions = (rational("quotas", quota) for quota in spec.quotas)
        owed = [sum(islice(fractions, size), Fraction()) for size in spec.groups]
        arguments = spec.groups, tuple(map(str, owed))
    same = contracts.CONTRACTS[contract](*arguments)
    return lambda means: same


def values_of(make: Callable[[np.ndarray], contracts.Contract], seen: Any) -> dict[str, np.ndarray]:
    """Return a contract's measures at the last round; it can depend on each replicate's means."""
    if seen.true_means.ndim == 1 or make(seen.true_means[0]) is make(seen.true_means[-1]):
        contract = make(seen.true_means)
        return {name: getattr(contract, name)(seen)[:, -1] for name in MEASURES}
    parts = []
    for r, means in enumerate(seen.true_means):
        data = {name: getattr(seen, name)[[r]] for name in ("plays", "rewards")}
        parts.append(values_of(make, SimpleNamespace(rounds=seen.rounds, true_means=means, **data)))
    return {name: np.concatenate([part[name] for part in parts]) for name in MEASURES}


def recorded(arena: Arena, experiment: Experiment) -> tuple[list[RunData], dict[str, Any]]:
    """Return the stored runs of an instance and their footer, or raise StoreError if unusable."""
    file = arena.config.results / experiment.dataset
    swept_names = sorted({name for run in experiment.runs for name in run.spec.sweep})
    table, footer = load_dataset(file, [*COLUMNS, *swept_names])
    expect_experiment(footer, experiment, file)
    return list(runs_of(table, footer)), footer


def scores_of(terms: Terms, runs: list[RunData], labels: Mapping[str, str]) -> Iterator[Score]:
    """Yield the scores of stored runs of one instance under a contract; labels are by policy."""
    for run in runs:
        role = terms.roles[run.policy]
        if not role.translation:
            continue
        usual = run.cell == {name: swept(value) for name, value in run.spec.cells[0].items()}
        settings = (f"{name.replace('_', ' ')} {value:g}" for name, value in run.cell.items())
        facts = run.policy, labels[run.policy], ", ".join(settings), usual
        values = values_of(maker_of(terms.name, run.spec), seen_of(run))
        yield Score(*facts, role.kind, role.translation, int(run.rounds[-1]), values)


def seen_of(run: RunData) -> SimpleNamespace:
    """Return what a contract measures: see `fairbandits.contracts`."""
    values = run.values
    return SimpleNamespace(
        rounds=run.rounds,
        plays=values["plays"],
        rewards=values["reward"],
        true_means=values["mean"][:, 0] if "mean" in values else np.array(run.spec.means),
        deficits=values,
        quotas=run.spec.quotas,
    )


def interval(values: np.ndarray) -> pd.DataFrame:
    """Return mean, low and high of each column over replicates: 95 % t intervals."""
    return pd.DataFrame(dict(zip(("mean", "low", "high"), interval_of(values), strict=True)))


def side_by_side(scores: Sequence[Score], measure: str) -> np.ndarray:
    """Return a measure of several scores, shape (n_replicates, n_scores)."""
    return np.array([score.values[measure] for score in scores], float).T


def standings(scores: Sequence[Score]) -> pd.DataFrame:
    """Return one row for each score of one contract on one instance."""
    facts = ("policy", "label", "setting", "name", "usual", "kind", "translation")
    rows = pd.DataFrame({name: getattr(score, name) for name in facts} for score in scores)
    values = {name: side_by_side(scores, name) for name in MEASURES}
    measured = {name: interval(values[name]) for name in MEASURES}
    usual = np.flatnonzero(rows["usual"])
    for name in ("contract_regret", "shortfall"):  # mean ranks, shared where values are equal
        ranks = pd.DataFrame(values[name][:, usual]).rank(axis=1).to_numpy()
        measured[f"{name}_rank"] = interval(ranks).set_axis(usual).reindex(range(len(rows)))
    for name, limits in measured.items():
        rows[[name, f"{name}_low", f"{name}_high"]] = limits.to_numpy()
    rows["horizon"] = scores[0].horizon
    rows["replicates"] = len(values["shortfall"])
    for name, (measure, part) in KEPT.items():
        rows[name] = rows[f"{measure}_high"] <= part * rows["horizon"]
    rows["dominated_by"] = _dominated_by(values["contract_regret"], values["shortfall"], rows)
    return rows


def _dominated_by(regret: np.ndarray, shortfall: np.ndarray, rows: pd.DataFrame) -> list[str]:
    """Return for each column the dominating one of least regret; empty where there is none.

    It has surely less of one measure, and on average not more of the other. Policies that know the
    means do not dominate those that learn, and the optimum dominates none.
    """
    n = len(rows)
    surely, perhaps = np.zeros((n, n), bool), np.ones((n, n), bool)
    for values in (regret, shortfall):
        limits = interval((values[:, :, None] - values[:, None, :]).reshape(-1, n * n))
        surely |= (limits["low"].to_numpy() > 0).reshape(n, n)
        perhaps &= (limits["mean"].to_numpy() >= 0).reshape(n, n)
    knows = rows["kind"].isin([ORACLE, TOLD]).to_numpy()
    optimum = (rows["translation"] == OPTIMUM).to_numpy()
    better = surely & perhaps & ~optimum & (knows[:, None] | ~knows)
    least = np.where(better, regret.mean(axis=0), np.inf).argmin(axis=1)
    return [rows["name"][least[k]] if better[k].any() else "" for k in range(n)]


def pairs(scores: Sequence[Score]) -> pd.DataFrame:
    """Return the paired differences of every two policies, each with its usual setting."""
    shown = [score for score in scores if score.usual]
    if len(shown) < 2:
        return pd.DataFrame()
    first, second = np.triu_indices(len(shown), 1)
    labels = np.array([score.label for score in shown])
    parts = []
    for name in MEASURES:
        values = side_by_side(shown, name)
        differences = values[:, first] - values[:, second]
        facts = {"policy": labels[first], "other": labels[second], "measure": name}
        limits = interval(differences).rename(columns={"mean": "difference"})
        parts.append(pd.DataFrame(facts).join(limits).assign(wins=(differences < 0).mean(axis=0)))
    return pd.concat(parts, ignore_index=True)


def judged(arena: Arena) -> tuple[dict[str, pd.DataFrame], str]:
    """Return standings and pairs, and the scale of the runs if it is not the usual one."""
    scale, frames = "", {}
    met: dict[Any, list[Pulls]] = {}  # a policy's runs on the same rewards, the shorter first
    for experiment in arena.config.experiments:
        runs, footer = recorded(arena, experiment)
        scale = footer.get("scale", scale)
        for run in runs:
            same = run.spec.stream, run.policy, tuple(run.cell.items())
            met.setdefault(same, []).append(Pulls(run.rounds, run.values["plays"]))
        for terms in (contract for contract in arena.terms if experiment.suite in contract.suites):
            scores = list(scores_of(terms, runs, footer["labels"]))
            rows = standings(scores).assign(**facts_of(terms, runs))
            facts = {"contract": terms.name, "instance": experiment.instance}
            further = pairs(scores).assign(horizon=scores[0].horizon)
            for name, table in (("standings", rows), ("pairs", further)):
                frames.setdefault((name, terms.name), []).append(table.assign(**facts))
    tables = {
        name: pd.concat(
            [part for terms in arena.terms for part in frames[name, terms.name]], ignore_index=True
        )
        for name in TABLES
    }
    told = {policy for (_, policy, _), runs in met.items() if plays_otherwise(runs)}
    tables["standings"]["told"] = tables["standings"]["policy"].isin(told)
    return tables, scale


class Pulls(NamedTuple):
    """Pulls of each arm in a run: plays has shape (n_replicates, n_rounds, n_arms)."""

    rounds: np.ndarray
    plays: np.ndarray


def plays_otherwise(runs: Sequence[Pulls]) -> bool:
    """Return whether the first rounds of a longer run differ from the shorter run before it."""
    for short, long in itertools.pairwise(runs):
        rounds, here, there = np.intersect1d(short.rounds, long.rounds, return_indices=True)
        n = min(len(short.plays), len(long.plays))
        if rounds.size and (short.plays[:n, here] != long.plays[:n, there]).any():
            return True
    return False


def facts_of(terms: Terms, runs: Sequence[Any]) -> dict[str, Any]:
    """Return the mean optimum of a contract over drawn means, and its price for who knows them."""
    make, seen = maker_of(terms.name, runs[0].spec), seen_of(runs[0])
    means = np.atleast_2d(seen.true_means)
    rewards = [make(mu).optimum(mu).reward for mu in means]
    return {
        "optimum": float(np.mean(rewards)),
        "price": float(np.mean(means.max(axis=1) - rewards)),
    }


def write(config: Config, out: Path, committed: Path) -> None:
    """Write the arena's tables into a folder; StoreError if a dataset is missing or stale.

    `committed` is a table in text of what `decisions.choices` reads.
    """
    arena = load_arena(config)
    tables, scale = judged(arena)
    for name in TABLES:
        content = pa.Table.from_pandas(tables[name], preserve_index=False)
        content = content.replace_schema_metadata(None)
        footer = {"kind": "arena", "table": name, "code": arena_code()}
        footer |= {"content": table_hash(content)} | ({"scale": scale} if scale else {})
        write_table(out / f"{name}.parquet", content, footer)
    rows = tables["standings"]
    rows = rows[rows["kind"] != ORACLE][[*COMMITTED_COLUMNS]]
    with replacing(committed) as file:
        rows.to_csv(file, index=False, float_format=first_digits, lineterminator="\n")

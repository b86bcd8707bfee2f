"""Cells of the arena that repeat a paper's experiment, against that paper's own dataset.

Both must be there at the published scale, from `fairbandits replicate`; without them there is
nothing to compare. `test_arena` does the same at a small scale.
"""

from pathlib import Path

import numpy as np
import pytest

from fairbandits.arena import scores, standings
from fairbandits.arena.roles import load_arena
from fairbandits.arena.settings import arena_config
from fairbandits.data.store import StoreError
from fairbandits.replication.datasets import load_dataset
from fairbandits.replication.recorded import runs_of
from fairbandits.settings.config import load_config
from fairbandits.settings.schemas import ROOT, read_yaml

FILE = ROOT / "config" / "config.yaml"
CASES = [
    ("fair_ucb_2", "fair_ucb", "fairness", "fair_ucb", {}, {"tolerance": 0}, 100_000),
    ("fair_ucb_2", "fair_ucb", "fairness", "lfg", {"eta": 100}, {"eta": 100}, 100_000),
    ("fair_ucb_2", "fair_ucb", "fairness", "lfg", {"eta": 1000}, {"eta": 1000}, 100_000),
    ("fair_ucb_1", "fair_ucb", "r_regret", "fair_ucb", {}, {"tolerance": 0}, 100_000),
    ("fair_ucb_1", "fair_ucb", "r_regret", "lfg", {"eta": 100}, {"eta": 100}, 100_000),
    ("ht_ucb_d", "ht_ucb", "paths_1", "ht_ucb", {"penalties": 0.3}, {"penalties": 0.3}, 10_000),
]


def loaded(config, experiment):
    file = Path(config.folders["results"]) / experiment.dataset
    try:
        table, footer = load_dataset(file)
    except StoreError as error:
        pytest.skip(str(error))
    if "scale" in footer:
        pytest.skip(f"{file} is no published-scale run")
    return list(runs_of(table, footer))


def at(runs, policy, cell, horizon, contract):
    """Return contract regret and shortfall of each replicate in a round."""
    (run,) = (one for one in runs if one.policy == policy and one.cell == cell)
    place = np.flatnonzero(run.rounds == horizon)
    values = scores.values_of(lambda means: contract, scores.seen_of(run))
    return {name: values[name][:, place].astype(float) for name in ("contract_regret", "shortfall")}


@pytest.mark.slow
@pytest.mark.parametrize(("instance", "paper", "name", "policy", "theirs", "ours", "round_"), CASES)
def test_they_agree_within_their_intervals(instance, paper, name, policy, theirs, ours, round_):
    arena = load_arena(arena_config(read_yaml(FILE), str(FILE)))
    own = next(one for one in arena.config.experiments if one.instance == instance)
    published = load_config([FILE])
    both = (
        (loaded(arena.config, own), ours),
        (loaded(published, published.experiment(paper, name)), theirs),
    )
    contract = scores.maker_of("minimum_pulls", own.runs[0].spec)(None)
    one, other = (at(runs, policy, cell, round_, contract) for runs, cell in both)
    for measure in one:
        mine, its = (standings.interval(each[measure]) for each in (one, other))
        assert mine["low"][0] <= its["high"][0]
        assert its["low"][0] <= mine["high"][0]

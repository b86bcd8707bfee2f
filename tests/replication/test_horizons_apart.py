"""Horizons apart, shares of the first arms: from configuration to dataset, and refused."""

import numpy as np
import pytest

import shrunk
from fairbandits import BanditQ, Instance, run
from fairbandits.library.simulation import checkpoint_grid
from fairbandits.replication.datasets import collect, load_dataset
from fairbandits.replication.recorded import runs_of
from shrunk import sourced

SEED = 20240930
REPLICATES = 3
HORIZONS = [6300, 6901]
GRID = {"linear": 6, "log": 4}


def experiment_of(name, horizon=HORIZONS[-1], chunk=2):
    limits = {"horizon": horizon, "chunk": chunk, "checkpoints": GRID}
    return shrunk.experiment_of("banditq", name, SEED, **limits)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the experiment, its chunks and its dataset, horizons with a sweep in each."""
    folder = tmp_path_factory.mktemp("apart")
    experiment = experiment_of("trade_off")
    files = shrunk.chunks_of(experiment, folder, SEED)
    out = folder / "banditq" / "trade_off.parquet"
    collect(files, experiment.facts(), SEED, out)
    return experiment, files, out


def test_each_horizon_has_its_rounds_and_its_rewards(made):
    experiment, _, out = made
    found = list(runs_of(*load_dataset(out)))
    assert len(found) == len(HORIZONS) * 3
    for one in found:
        horizon, exponent = int(one.cell["horizon"]), one.cell["V_exponent"]
        alone = run(
            BanditQ(experiment.targets, one.policy, V_exponent=exponent),
            Instance(experiment.means, "uniform02"),
            horizon,
            REPLICATES,
            seed=SEED,
            stream=f"banditq/trade_off/{horizon}",
            checkpoints=checkpoint_grid(horizon, **GRID),
        )
        assert one.rounds.tolist() == alone.rounds.tolist()
        assert np.array_equal(one.values["plays"], alone.plays)
        assert np.array_equal(one.values["reward"], alone.rewards)
    assert len({one.rounds.size for one in found}) > 1  # so that even parts would be wrong


# ----------------------------------------------------------------------------- configurations


CHANGES = {
    "no horizons": (
        lambda all_: all_["pulls_as_targets"]["policies"]["fair_ucb"].update(apart=True),
        "experiments.pulls_as_targets.policies.fair_ucb.apart: there are no horizons; give them "
        "beside it",
    ),
    "listed rounds": (
        lambda all_: all_["trade_off"].update(checkpoints={"at": [2000000]}),
        "experiments.trade_off.policies.full.apart needs checkpoints for any horizon: linear and "
        "log, not at",
    ),
    "drawn means": (
        lambda all_: all_["trade_off"].update(
            means=None,
            drawn_means={"arms": sourced(5), "low": sourced(0.1), "high": sourced(1)},
            targets=None,
            target_shares=sourced(["1/2"]),
        ),
        "experiments.trade_off.policies.full.apart needs fixed means; drawn ones belong to the "
        "replicate",
    ),
    "shares of too many": (
        lambda all_: all_["arms_low"]["instances"]["20"].update(
            target_shares=sourced({"share": "1/30", "arms": 21})
        ),
        "experiments.arms_low_20.target_shares must have at most one entry per mean (20), got 21",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_configuration_is_refused(name, tmp_path):
    change, words = CHANGES[name]
    message = shrunk.refusal_of(tmp_path, "banditq", "audit", change, horizon=40)
    assert words in message

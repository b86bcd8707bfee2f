"""Sweeps and horizons apart: from the configuration to the dataset."""

from dataclasses import replace

import numpy as np

import shrunk
from fairbandits import BanditQ, Instance, run
from fairbandits.library.simulation import checkpoint_grid
from fairbandits.replication.datasets import collect, load_dataset
from fairbandits.replication.recorded import runs_of

SEED = 20240930
REPLICATES = 3
HORIZONS = [6300, 6901]
GRID = {"linear": 6, "log": 4}


def test_each_horizon_has_its_rounds_and_its_rewards(tmp_path):
    """Horizons with a sweep in each."""
    limits = {"horizon": HORIZONS[-1], "chunk": 2, "checkpoints": GRID}
    experiment = shrunk.experiment_of("banditq", "trade_off", SEED, **limits)
    [once] = experiment.runs
    spec = replace(once.spec, sweep={"V_exponent": [0, 0.25, 0.75]})
    experiment = replace(experiment, runs=(replace(once, spec=spec),))
    out = tmp_path / "trade_off.parquet"
    collect(shrunk.chunks_of(experiment, tmp_path, SEED), experiment.facts(), SEED, out)
    found = list(runs_of(*load_dataset(out)))
    assert len(found) == len(HORIZONS) * 3
    for one in found:
        horizon, exponent = int(one.cell["horizon"]), one.cell["V_exponent"]
        alone = run(
            BanditQ(experiment.targets, one.policy, V_exponent=exponent),
            Instance(experiment.means, "uniform02"),
            *(horizon, REPLICATES),
            **{"seed": SEED, "stream": f"banditq/trade_off/{horizon}"},
            checkpoints=checkpoint_grid(horizon, **GRID),
        )
        assert one.rounds.tolist() == alone.rounds.tolist()
        assert np.array_equal(one.values["plays"], alone.plays)
        assert np.array_equal(one.values["reward"], alone.rewards)
    assert len({one.rounds.size for one in found}) > 1  # so that even parts would be wrong

"""Sweeps, quotas and horizons apart: from the configuration to the dataset, and refused."""

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


def test_each_horizon_has_its_rounds_and_its_rewards(tmp_path):
    """Horizons with a sweep in each."""
    limits = {"horizon": HORIZONS[-1], "chunk": 2, "checkpoints": GRID}
    experiment = shrunk.experiment_of("banditq", "trade_off", SEED, **limits)
    out = tmp_path / "trade_off.parquet"
    collect(shrunk.chunks_of(experiment, tmp_path, SEED), experiment.facts(), SEED, out)
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


# ------------------------------------------------------------------------ refused configurations


def fairness(change):
    """Return a change of an experiment of Fair-UCB's figures."""
    return "fair_ucb", "experiments", lambda all_: change(all_["fairness"])


def suite(change):
    """Return a change of the experiments of BanditQ's audit."""
    return "banditq", "audit", change


def parameters(**values):
    given = {key: sourced(value) for key, value in values.items()}
    return fairness(lambda block: block["policies"]["fair_ucb"]["parameters"].update(given))


def swept(**values):
    given = {key: sourced(value) for key, value in values.items()}
    return fairness(lambda block: block["policies"]["lfg"].update(sweep=given))


DRAWN = {
    **{"means": None, "targets": None, "target_shares": sourced(["1/2"])},
    "drawn_means": {"arms": sourced(5), "low": sourced(0.1), "high": sourced(1)},
}
CHANGES = {
    "sum": (
        fairness(lambda block: block.update(quotas=sourced(["1/2", "1/4", "2/5"]))),
        "experiments.fairness: quotas must sum to less than 1, got 23/20",
    ),
    "irrational": (
        fairness(lambda block: block.update(quotas=sourced(["pi/4", 0, 0]))),
        "quotas.value.0 must be a number such as 0.05 or \"1/3\", got 'pi/4'",
    ),
    "length of the policy's": (
        parameters(quotas=["1/2", "1/4"]),
        "policies.fair_ucb.parameters: quotas must have one entry per arm (3), got 2",
    ),
    "learner's parameter": (
        parameters(learner_parameters={"clok": 1}),
        "learner: policy ucb1 has no parameter 'clok'; it takes: scale, clock, ties; did",
    ),
    "swept value": (
        swept(eta=[1, -10]),
        "policies.lfg.parameters: policy lfg: eta must be finite and at least 0, got -10",
    ),
    "swept twice": (
        swept(cap=[1]),
        "policies.lfg.parameters: cap is also in sweep; give it once",
    ),
    "companion": (
        fairness(lambda block: block.update(companion_to=["fig5"])),
        "experiments.fairness.companion_to: 'fig5' is drawn from no experiment; did you mean",
    ),
    "no horizons": (
        suite(lambda all_: all_["pulls_as_targets"]["policies"]["fair_ucb"].update(apart=True)),
        "policies.fair_ucb.apart: there are no horizons; give them beside it",
    ),
    "listed rounds": (
        suite(lambda all_: all_["trade_off"].update(checkpoints={"at": [2000000]})),
        "apart needs checkpoints for any horizon: linear and log, not at",
    ),
    "drawn means": (
        suite(lambda all_: all_["trade_off"].update(DRAWN)),
        "policies.full.apart needs fixed means; drawn ones belong to the replicate",
    ),
    "shares of too many": (
        suite(
            lambda all_: all_["arms_low"]["instances"]["20"].update(
                target_shares=sourced({"share": "1/30", "arms": 21})
            )
        ),
        "experiments.arms_low_20.target_shares must have at most one entry per mean (20), got 21",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_configuration_is_refused(name, tmp_path):
    (paper, part, change), words = CHANGES[name]
    assert words in shrunk.refusal_of(tmp_path, paper, part, change, horizon=120)

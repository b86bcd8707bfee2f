"""Sweeps and quotas: from the configuration to the dataset, in every chunking, and refused."""

import numpy as np
import pytest

import shrunk
from fairbandits import FairLearn, Instance, run
from fairbandits.library.simulation import checkpoint_grid
from fairbandits.replication.simulate import simulate_chunk
from shrunk import sourced

SEED = 20240802
HORIZON = 120


def experiment_of(name, chunk=2):
    return shrunk.experiment_of("fair_ucb", name, SEED, horizon=HORIZON, chunk=chunk)


# ---------------------------------------------------------------------------------- what is run


def test_each_cell_is_the_run_with_that_value():
    experiment = experiment_of("cost_of_fairness")
    spec = experiment.runs[0].spec
    columns = simulate_chunk(spec, SEED, [0, 2])
    tolerances = spec.sweep["tolerance"]
    size = columns["round"].size // len(tolerances)
    for place, tolerance in enumerate(tolerances):
        alone = run(
            FairLearn(**spec.parameters, tolerance=tolerance),
            Instance(spec.means),
            HORIZON,
            [0, 2],
            seed=SEED,
            stream="fair_ucb/cost_of_fairness",
            checkpoints=checkpoint_grid(HORIZON, **spec.checkpoints),
            quotas=experiment.quotas,
        ).columns()
        part = slice(place * size, (place + 1) * size)
        assert (columns["tolerance"][part] == tolerance).all()
        for name, values in alone.items():
            assert np.array_equal(columns[name][part], values), name


# ------------------------------------------------------------------------ refused configurations


def fair(block):
    return block["policies"]["fair_ucb"]


CHANGES = {
    "sum": (
        lambda block: block.update(quotas=sourced(["1/2", "1/4", "2/5"])),
        "experiments.fairness: quotas must sum to less than 1, got 23/20",
    ),
    "irrational": (
        lambda block: block.update(quotas=sourced(["pi/4", 0, 0])),
        "quotas.value.0 must be a number such as 0.05 or \"1/3\", got 'pi/4'",
    ),
    "length of the policy's": (
        lambda block: fair(block)["parameters"].update(quotas=sourced(["1/2", "1/4"])),
        "policies.fair_ucb.parameters: quotas must have one entry per arm (3), got 2",
    ),
    "learner's parameter": (
        lambda block: fair(block)["parameters"].update(learner_parameters=sourced({"clok": 1})),
        "learner: policy ucb1 has no parameter 'clok'; it takes: scale, clock, ties; did",
    ),
    "swept value": (
        lambda block: block["policies"]["lfg"].update(sweep={"eta": sourced([1, -10])}),
        "policies.lfg.parameters: policy lfg: eta must be finite and at least 0, got -10",
    ),
    "swept twice": (
        lambda block: block["policies"]["lfg"].update(sweep={"cap": sourced([1])}),
        "policies.lfg.parameters: cap is also in sweep; give it once",
    ),
    "companion": (
        lambda block: block.update(companion_to=["fig5"]),
        "experiments.fairness.companion_to: 'fig5' is drawn from no experiment; did you mean",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_configuration_is_refused(name, tmp_path):
    change, words = CHANGES[name]
    message = shrunk.refusal_of(
        tmp_path, "fair_ucb", "experiments", lambda all_: change(all_["fairness"]), horizon=HORIZON
    )
    assert words in message

"""Measures of BanditQ: rewards against targets, queues, and the bounds of its theorems."""

import numpy as np

from fairbandits.audit.cells import Cell
from fairbandits.audit.measures import measure, recorded
from fairbandits.metrics import rates
from fairbandits.optima import equilibrium
from fairbandits.optima.static import static_benchmark

recorded(
    queue="queue Q_i(t) of an arm",
    queue_max="largest queue Q_i of an arm so far",
    unit="reward",
)


def plays_of(cell: Cell) -> np.ndarray:
    """Return summed probabilities where they are recorded, else pulls: the same mean, more noise.

    Under full information they are the plays, and the recorded probabilities are 0.
    """
    drawn_from = cell.run.values.get("probability")
    if drawn_from is None or not drawn_from[:, -1].any():
        return cell.column("plays")
    return cell.column("probability")


@measure("plays", "probability", axes="rt", unit="reward")
def pseudo_regret(cell: Cell) -> np.ndarray:
    """Pseudo-regret b* t - sum_i mu_i plays_i(t), b* the best reward that meets the targets."""
    return rates.pseudo_regret(cell.rounds, plays_of(cell), cell.means, cell.targets)


@measure("reward", axes="rta", unit="reward per round")
def rate(cell: Cell) -> np.ndarray:
    """Reward per round R_i(t) / t of an arm."""
    return rates.reward_rates(cell.rounds, cell.column("reward"))


@measure("reward", axes="rta", unit="reward")
def missing(cell: Cell) -> np.ndarray:
    """Missing reward lambda_i t - R_i(t) of an arm; of one without target, minus its reward."""
    return cell.targets * cell.rounds[:, None] - cell.column("reward")


@measure("reward", axes="rta", unit="reward per round")
def shortfall(cell: Cell) -> np.ndarray:
    """Shortfall max(0, lambda_i - R_i(t) / t) of an arm."""
    return np.maximum(cell.targets - rate(cell), 0.0)


@measure(axes="")
def V(cell: Cell) -> float:
    """Weight V of the reward against the queues."""
    if cell.parameters.get("V") is not None:
        return float(cell.parameters["V"])
    return float(cell.horizon ** cell.parameters["V_exponent"])


@measure(axes="", unit="reward per round")
def best_fair_reward(cell: Cell) -> float:
    """Reward b* per round of the best distribution that meets the targets."""
    return static_benchmark(cell.means, cell.targets).reward


@measure(axes="a", unit="reward")
def equilibrium_queue(cell: Cell) -> np.ndarray:
    """Queue V (mu* / mu_i - 1) at which BanditQ settles."""
    return equilibrium.equilibrium_queues(cell.means, cell.targets, float(V(cell)))

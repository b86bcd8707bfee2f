"""Measures of BanditQ: rewards against targets, queues, and the bounds of its theorems."""

import numpy as np

from fairbandits.audit.cells import Cell
from fairbandits.audit.measures import measure, recorded
from fairbandits.measures import rates
from fairbandits.policies import POLICIES
from fairbandits.rationals import rational
from fairbandits.theory import bounds_banditq, equilibrium
from fairbandits.theory.static import static_benchmark

recorded(
    queue="queue Q_i(t) of an arm",
    queue_max="largest queue Q_i of an arm so far",
    unit="reward",
)
recorded(
    squares="sum of Q_i(s)^2 over the rounds up to t",
    eq6_excess="lambda_i t - R_i(t) - Q_i(t) (after Eq. 6), the largest so far",
    eq8_excess="left less right side of Eq. 8, the largest so far",
    eq11_excess="surrogate regret less c sqrt(S) (Eq. 11), the largest so far",
    eq12_excess="left less right side of Eq. 12, the largest so far",
    eq13_excess="left less right side of Eq. 13, the largest so far",
    queue_excess="Q_i(t) - lambda_i t, the largest so far",
    floor_excess="-t less the pseudo-regret, the largest so far",
    gain_sum="sum of an arm's surrogate rewards",
    gain_squares="sum of an arm's squared surrogate rewards",
    gain_max="largest surrogate reward of an arm so far",
    correlation_10="mean autocorrelation of an arm's surrogate reward at lags 1 to 10",
    correlation_100="the same at lags 11 to 100",
    correlation_1000="the same at lags 101 to 1000",
)
recorded(
    surrogate_regret="regret against the surrogate rewards",
    gain_norm="largest norm of the surrogate rewards so far",
    axes="rt",
)


# ------------------------------------------------------------------------ rewards and regrets


@measure("plays", "probability", axes="rta", unit="pulls")
def expected_plays(cell: Cell) -> np.ndarray:
    """Summed probabilities where they are recorded, else pulls: the same mean, more noise."""
    drawn_from = cell.run.values.get("probability")
    # under full information they are the plays, and the recorded probabilities are 0
    if drawn_from is None or not drawn_from[:, -1].any():
        return cell.column("plays")
    return cell.column("probability")


@measure("plays", "probability", axes="rt", unit="reward")
def pseudo_regret(cell: Cell) -> np.ndarray:
    """Pseudo-regret b* t - sum_i mu_i plays_i(t), b* the best reward that meets the targets."""
    return rates.pseudo_regret(cell.rounds, expected_plays(cell), cell.means, cell.targets)


@measure("reward", axes="rt", unit="reward")
def realised_regret(cell: Cell) -> np.ndarray:
    """Regret b* t - sum_i R_i(t) from the rewards, as BanditQ's figures show it."""
    return rates.realised_regret(cell.rounds, cell.column("reward"), cell.means, cell.targets)


@measure("plays_sum", axes="rt", unit="reward")
def average_regret(cell: Cell) -> np.ndarray:
    """Mean over s <= t of the pseudo-regret at s, from the plays summed over rounds."""
    earned = cell.column("plays_sum") @ cell.means
    return best_fair_reward(cell) * (cell.rounds + 1) / 2 - earned / cell.rounds


@measure("plays", axes="rt", unit="reward")
def unscaled_regret(cell: Cell) -> np.ndarray:
    """Regret of the gains over the size of their factor; a negative factor makes them losses."""
    gains = np.sign(float(cell.parameters["gain"])) * cell.means
    return cell.column("plays") @ (gains.max() - gains)


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


@measure(axes="a")
def fraction(cell: Cell) -> np.ndarray:
    """Fraction of pulls that LFG is told to give an arm."""
    return np.array([float(rational("fractions", one)) for one in cell.parameters["fractions"]])


# ---------------------------------------------------------------- weight, benchmark, equilibrium


@measure(axes="")
def V(cell: Cell) -> float:
    """Weight V of the reward against the queues."""
    given = {**cell.parameters, **cell.parameters.get("learner_parameters", {})}
    if given.get("V") is not None:
        return float(given["V"])
    return float(cell.horizon ** given.get("V_exponent", POLICIES["banditq"].V_exponent))


@measure(axes="", unit="reward per round")
def best_fair_reward(cell: Cell) -> float:
    """Reward b* per round of the best distribution that meets the targets."""
    return static_benchmark(cell.means, cell.targets).reward


@measure(axes="a", unit="reward")
def equilibrium_queue(cell: Cell) -> np.ndarray:
    """Queue V (mu* / mu_i - 1) at which BanditQ settles."""
    return equilibrium.equilibrium_queues(cell.means, cell.targets, V(cell))


@measure(axes="", unit="reward")
def equilibrium_regret(cell: Cell) -> float:
    """Regret -V sum (mu* / mu_i - 1)^2 of the settled queues."""
    return equilibrium.equilibrium_regret(cell.means, cell.targets, V(cell))


@measure("plays", "probability", "queue", "idleness", axes="rt", unit="reward")
def identity_regret(cell: Cell) -> np.ndarray:
    """Regret that follows from queues, idleness and exploration, but for noise of mean 0."""
    queue, idleness = cell.column("queue"), cell.column("idleness")
    plays = expected_plays(cell)
    return equilibrium.regret_identity(cell.means, cell.targets, queue, idleness, plays)


# ----------------------------------------------------------------------------- explicit bounds


@measure(axes="t")
def squared_queue_bound(cell: Cell) -> np.ndarray:
    """Explicit bound of Proposition 1 on the mean of Q_i(t)^2."""
    return bounds_banditq.squared_queue(cell.means.size, V(cell), cell.rounds)


@measure(axes="t")
def squared_queue_bound_bandit(cell: Cell) -> np.ndarray:
    """Bound of Eq. 21 on the mean of Q_i(t)^2, with the constants of Theorem 2."""
    return bounds_banditq.squared_queue_bandit(cell.means.size, V(cell), cell.rounds)


@measure(axes="t", unit="reward")
def most_regret(cell: Cell) -> np.ndarray:
    """Largest possible pseudo-regret up to t, that of the worst arm alone."""
    return (best_fair_reward(cell) - cell.means.min()) * cell.rounds


@measure(axes="t", unit="reward")
def most_average_regret(cell: Cell) -> np.ndarray:
    """Largest possible mean over s <= t of the pseudo-regret at s."""
    return (best_fair_reward(cell) - cell.means.min()) * (cell.rounds + 1) / 2


@measure(axes="t", unit="reward")
def regret_bound(cell: Cell) -> np.ndarray:
    """Explicit bound of Proposition 3 on the regret, from Eq. 14."""
    return bounds_banditq.regret(cell.means.size, V(cell), cell.rounds)


@measure("gain_sum", "gain_squares", "gain_max", axes="rt")
def learner_bound(cell: Cell) -> np.ndarray:
    """Bound of Theorem 2 on the regret against the surrogate rewards up to t."""
    sums, squares, top = (cell.column(f"gain_{name}") for name in ("sum", "squares", "max"))
    return bounds_banditq.log_barrier_learner(cell.rounds, sums, squares, top)


# ------------------------------------------------------------- means drawn for each replicate


@measure("mean", axes="ra", unit="reward per round")
def drawn_mu(cell: Cell) -> np.ndarray:
    """True means where each replicate draws its own."""
    return cell.column("mean")[:, -1]


@measure("mean", axes="ra", unit="reward per round")
def drawn_target(cell: Cell) -> np.ndarray:
    """Targets where each replicate draws its own means."""
    return np.array([cell.spec.targets_for(own) for own in drawn_mu(cell).tolist()])


@measure("mean", axes="r", unit="reward per round")
def drawn_best_fair_reward(cell: Cell) -> np.ndarray:
    """Best reward per round that meets the targets, where each replicate draws its own means."""
    pairs = zip(drawn_mu(cell), drawn_target(cell), strict=True)
    return np.array([static_benchmark(*one).reward for one in pairs])

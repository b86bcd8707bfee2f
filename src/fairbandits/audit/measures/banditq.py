"""Words of BanditQ: rewards against targets, queues, theorems, published curves, mathematics."""

import itertools
import math
from functools import cache
from typing import Literal

import numpy as np

from fairbandits.audit.cells import defaults
from fairbandits.audit.finding import one_of
from fairbandits.audit.measures import function, measure
from fairbandits.measures import rates
from fairbandits.theory import bounds, equilibrium, feasibility, simplex_work
from fairbandits.theory.draws import generator
from fairbandits.theory.static import static_benchmark


@measure(None)
def own_means(cell):
    """True means of an instance that all replicates share, shape (n_arms,)."""
    return cell.means


@measure("rta", "pulls", "plays", "probability")
def expected_plays(cell):
    """Summed probabilities if recorded, else pulls, with the same mean and more noise."""
    drawn_from = cell.run.values.get("probability")
    # under full information they are the plays, and the recorded probabilities are 0
    if drawn_from is None or not drawn_from[:, -1].any():
        return cell.column("plays")
    return cell.column("probability")


@measure("rt", "reward")
def pseudo_regret(rounds, expected_plays, own_means, target):
    """Pseudo-regret b* t - sum_i mu_i plays_i(t), b* the best reward that meets the targets."""
    return rates.target_regret(rounds, expected_plays, own_means, target)


measure("rt", "reward", rewards="reward", means="own_means", targets="target")(
    rates.realised_regret
)
measure("rta", "reward per round", name="rate", rewards="reward")(rates.reward_rates)


@measure("rt", "reward")
def average_regret(rounds, plays_sum, own_means, best_fair_reward):
    """Mean over s <= t of the pseudo-regret at s, from the plays summed over rounds."""
    return best_fair_reward * (rounds + 1) / 2 - plays_sum @ own_means / rounds


@measure("rt", "reward")
def unscaled_regret(cell, plays, own_means):
    """Regret of the gains over the size of their factor; a negative factor makes them losses."""
    gains = np.sign(float(cell.parameters["gain"])) * own_means
    return plays @ (gains.max() - gains)


@measure("rta", "reward")
def missing(rounds, reward, target):
    """Missing reward lambda_i t - R_i(t) of an arm; without a target, minus its reward."""
    return target * rounds[:, None] - reward


@measure("rta", "reward per round")
def shortfall(target, rate):
    """Shortfall max(0, lambda_i - R_i(t) / t) of an arm."""
    return np.maximum(target - rate, 0.0)


@measure("")
def V(cell):
    """Weight V of the reward against the queues."""
    given = {**cell.parameters, **cell.parameters.get("learner_parameters", {})}
    if given.get("V") is not None:
        return float(given["V"])
    return float(cell.horizon ** given.get("V_exponent", defaults("banditq")["V_exponent"]))


@measure(None)
def best_fair_reward(own_means, target):
    """Reward b* per round of the best distribution that meets the targets."""
    return static_benchmark(own_means, target).reward


measure("a", "reward", name="equilibrium_queue", means="own_means", targets="target", penalty="V")(
    equilibrium.equilibrium_queues
)
measure("", "reward", means="own_means", targets="target", penalty="V")(
    equilibrium.equilibrium_regret
)


@measure(None)
def n_arms(spec):
    """Number of arms."""
    return spec.n_arms


measure("t")(bounds.squared_queue_bound)
measure("t", "reward")(bounds.regret_bound)
measure("rt")(bounds.learner_bound)


@measure("t", "reward")
def most_regret(rounds, own_means, best_fair_reward):
    """Largest possible pseudo-regret up to t, that of the worst arm alone."""
    return (best_fair_reward - own_means.min()) * rounds


@measure("t", "reward")
def most_average_regret(rounds, own_means, best_fair_reward):
    """Largest possible mean over s <= t of the pseudo-regret at s."""
    return (best_fair_reward - own_means.min()) * (rounds + 1) / 2


def held_out(
    samples: np.ndarray, *, worst: Literal["largest", "smallest"] = "largest"
) -> tuple[int, np.ndarray]:
    """Return the index of the worst column by the first half of the replicates, and its other half.

    `samples` has shape (n_replicates, ..., n_columns); the last horizon of any between decides.
    """
    one_of("worst", worst, ("largest", "smallest"))
    samples = np.asarray(samples)
    if samples.ndim < 2 or len(samples) < 4 or not samples.shape[-1]:
        raise ValueError(
            f"samples must have at least 4 replicates, and columns, got shape {samples.shape}"
        )
    half = len(samples) // 2
    means = samples[:half].mean(axis=0).reshape(-1, samples.shape[-1])[-1]
    column = int(means.argmax() if worst == "largest" else means.argmin())
    return column, samples[half:, ..., column]


@function()
def worst_held_out(x):
    """Value of the arm whose mean is largest at the last round, chosen on other replicates."""
    return held_out(x)[1][..., None]


@function()
def peak_held_out(x):
    """Value of an arm at the round where its mean is largest, chosen on other replicates."""
    return held_out(np.swapaxes(x, 1, 2))[1][:, None]


@function()
def best_reward(targets, *, own_means):
    """Reward per round of the best distribution that gives every arm at least this."""
    return static_benchmark(own_means, targets.ravel()).reward


@function()
def means_of(experiment, arm=0, *, scope):
    """Means of an experiment's arms, or of one of them, as configured, without its runs."""
    return _of_arm(scope, [[_configured(scope, experiment).means]], arm)


@function()
def targets_of(experiment, arm=0, *, scope):
    """Targets of an experiment's arms, or of one of them, as configured, without its runs."""
    return _of_arm(scope, [[_configured(scope, experiment).targets]], arm)


@function()
def horizon_of(experiment, *, scope):
    """Horizon of an experiment as configured."""
    return _configured(scope, experiment).horizon


def _configured(scope, name):
    return scope.evidence.config.experiment(scope.evidence.paper, name)


def _of_arm(scope, values, arm=0):
    """Return the values of a given arm, or of the case's own; the last axis is the arm."""
    values, arm = np.array(values, float), arm or scope.known.get("arm", 0)
    return values[:, :, [arm - 1]] if arm else values


@function()
def published(figure, series, quantity, at=0, *, read_off):
    """Number read off a published figure, at a round or the last one; a series can be an arm."""
    series = series if isinstance(series, str) else f"arm {series}"
    known = read_off["figures"][figure]
    (found,) = (
        one["value"]
        for one in known["values"]
        if (one["series"], one["quantity"]) == (series, quantity)
        and (quantity != "value" or one["round"] == (at or known["horizon"]))
    )
    return float(found)


@function()
def reading_error(figure, *, read_off):
    """Half width of the error of reading a published figure."""
    return float(read_off["figures"][figure]["reading_error"])


@function()
def published_target(arm, *, read_off):
    """Target of an arm, read off the published figures."""
    return float(read_off["drawn_targets"]["value"][f"arm {arm}"])


@function()
def published_at(figure, *, scope, read_off):
    """Numbers read off the curves of a published figure, at given rounds of each."""
    curves = [values for _, values in _points(read_off, figure).values()]
    return _of_arm(scope, np.array(curves).T[None])


@function()
def replayed_at(name, column, figure, *, scope, read_off):
    """Curves of the authors' program run again, at the rounds of `published_at`."""
    recorded, curves = _replay(scope, read_off, name, column, figure)
    for series, (rounds, _) in _points(read_off, figure).items():
        places = np.searchsorted(recorded, rounds)
        if (recorded[places] != rounds).any():
            raise ValueError(f"{name} must be recorded at the rounds {rounds} of {figure}")
        curves[series] = curves[series][places]
    return _of_arm(scope, np.array([*curves.values()]).T[None])


@function()
def replayed(name, column, figure, *, scope, read_off):
    """Curves of the authors' program run again, which ends where a published figure does."""
    _, curves = _replay(scope, read_off, name, column, figure)
    return _of_arm(scope, np.array([*curves.values()]).T[None])


def _replay(scope, read_off, name, column, figure):
    """Return the rounds of a replay, and its curve for each series of a figure."""
    table = scope.evidence.replay(name)
    ends, wanted = table["round"][-1].as_py(), read_off["figures"][figure]["horizon"]
    if ends != wanted:
        raise ValueError(
            f"the replay must end in round {wanted}, as the published run does, got {ends}"
        )
    columns = {
        series: column if series == column else f"{column}_{series.removeprefix('arm ')}"
        for series in _points(read_off, figure)
    }
    curves = {series: table[own].to_numpy() for series, own in columns.items()}
    return table["round"].to_numpy(), curves


def _points(read_off, figure):
    found = {}
    for one in read_off["figures"][figure]["values"]:
        if one["quantity"] == "value":
            rounds, values = found.setdefault(one["series"], ([], []))
            rounds.append(one["round"])
            values.append(one["value"])
    return found


@function("r")
def wrong_steps(proof):
    """1 for each wrong step of a derivation from self-bounding queues, 0 for a right one."""
    from fairbandits.theory.derivations import self_bounding

    return [step() for step in self_bounding.PROOFS[proof]]


@function("r")
def put_back_excess(arms, rounds, power):
    """N^power - T of each number of arms, at most 0 where Eq. 21 put back once gives Eq. 22."""
    return [n**power - rounds for n in arms]


def missed(horizon, target=1 / 8, early=1 / 2):
    """Return what an arm misses of its target under BanditQ with full information and V = sqrt(T).

    It pays 1/2 in the first half and 0 after it; the other arm pays 1.
    """
    weight = math.sqrt(horizon)
    chance, queue, squares, earned = 0.5, 0.0, 0.0, 0.0
    for t in range(1, horizon + 1):
        reward = early if t <= horizon // 2 else 0.0
        earned += reward * chance
        queue = max(0.0, queue + target - reward * chance)
        gain, other = (queue + weight) * reward, weight
        squares += gain * gain + other * other
        chance += (gain - other) / (2 * math.sqrt(2 * squares))
        chance = min(1.0, max(0.0, chance))
    return target * horizon - earned


@function("r")
def outgrown(first, doublings):
    """Whole rewards by which BanditQ's violation on the adversary's sequence outgrows T^(3/4)."""
    found = [missed(first * 2**power) for power in range(doublings + 1)]
    return [math.floor(now - 2**0.75 * half) for half, now in itertools.pairwise(found)]


@cache
def solver():
    """Return the compiled function that writes the solver's root for each row of gaps."""
    from numba import njit

    from fairbandits.policies.simplex import log_barrier_shift

    @njit
    def shifts(gaps, tolerance, out):
        for row in range(gaps.shape[0]):
            out[row] = log_barrier_shift(gaps[row], float(gaps.shape[1]), tolerance)

    return shifts


def errors_of(z, tolerance):
    """Return the errors of the solver's maximisers of sum log q + <q, z>, shape (n_inputs, 2).

    First the spread of 1 / q_i + z_i, which is 0 at the maximum, then the distance of sum q from 1.
    """
    top = z.max(axis=1, keepdims=True)
    shift = np.empty(len(z))
    solver()(top - z, tolerance, shift)
    q = 1.0 / (top - z + shift[:, None])
    condition = 1.0 / q + z
    size = np.maximum(np.abs(z), 1.0 / q).max(axis=1)
    apart = np.abs(condition - condition.mean(axis=1, keepdims=True)).max(axis=1)
    return np.stack([apart / size, np.abs(q.sum(axis=1) - 1.0)], axis=1)


@function()
def solver_errors(number, most_arms, tolerance, low, high, seed):
    """Residual, and distance of the sum from 1, of the log-barrier solver on random inputs."""
    rng, found = generator(seed), []
    for n_arms in np.rint(np.geomspace(2, most_arms, 50)).astype(int):
        scale = 10.0 ** rng.uniform(low, high, (number // 50, 1))
        found.append(errors_of(scale * rng.standard_normal((number // 50, n_arms)), tolerance))
    return np.concatenate(found)


function("ra")(simplex_work.projection_work)
function("ra")(simplex_work.barrier_work)
function("r", varies=True)(simplex_work.solver_advantage)

function()(feasibility.diameter)
function("a")(feasibility.released_benchmark)
function()(feasibility.feasibility_disagreements)
function()(feasibility.released_losses)

"""Measures of BanditQ: rewards against targets, queues, bounds; and what its claims share."""

from functools import cache

import numpy as np

from fairbandits.audit.measures import defaults, measure
from fairbandits.measures import rates
from fairbandits.theory import bounds, equilibrium
from fairbandits.theory.draws import generator
from fairbandits.theory.static import static_benchmark


@measure("rta")
def expected_plays(cell):
    """Summed probabilities if recorded, else pulls, with the same mean and more noise."""
    drawn_from = cell.run.values.get("probability")
    # under full information they are the plays, and the recorded probabilities are 0
    if drawn_from is None or not drawn_from[:, -1].any():
        return cell.column("plays")
    return cell.column("probability")


@measure("rt")
def pseudo_regret(rounds, expected_plays, own_means, target):
    """Pseudo-regret b* t - sum_i mu_i plays_i(t), b* the best reward that meets the targets."""
    return rates.target_regret(rounds, expected_plays, own_means, target)


measure("rt", rewards="reward", means="own_means", targets="target")(rates.realised_regret)
measure("rta", name="rate", rewards="reward")(rates.reward_rates)


@measure("rt")
def average_regret(rounds, plays_sum, own_means, best_fair_reward):
    """Mean over s <= t of the pseudo-regret at s, from the plays summed over rounds."""
    return best_fair_reward * (rounds + 1) / 2 - plays_sum @ own_means / rounds


@measure("rt")
def unscaled_regret(cell, plays, own_means):
    """Regret of the gains over the size of their factor; a negative factor makes them losses."""
    gains = np.sign(float(cell.parameters["gain"])) * own_means
    return plays @ (gains.max() - gains)


@measure("rta")
def missing(rounds, reward, target):
    """Missing reward lambda_i t - R_i(t) of an arm; without a target, minus its reward."""
    return target * rounds[:, None] - reward


@measure("rta")
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


measure("a", name="equilibrium_queue", means="own_means", targets="target", penalty="V")(
    equilibrium.equilibrium_queues
)
measure("", means="own_means", targets="target", penalty="V")(equilibrium.equilibrium_regret)


@measure(None)
def n_arms(spec):
    """Number of arms."""
    return spec.n_arms


measure("t")(bounds.squared_queue_bound)
measure("t")(bounds.regret_bound)
measure("rt")(bounds.learner_bound)


@measure("t")
def most_regret(rounds, own_means, best_fair_reward):
    """Largest possible pseudo-regret up to t, that of the worst arm alone."""
    return (best_fair_reward - own_means.min()) * rounds


@measure("t")
def most_average_regret(rounds, own_means, best_fair_reward):
    """Largest possible mean over s <= t of the pseudo-regret at s."""
    return (best_fair_reward - own_means.min()) * (rounds + 1) / 2


def instance(runs, experiment):
    """Means and targets of an experiment's arms, as configured."""
    configured = runs.configured(experiment)
    return np.array(configured.means, float), np.array(configured.targets, float)


def protected(run):
    """Indices of the arms with a target."""
    return np.flatnonzero(run["target"] > 0)


def most_missed(run):
    """Largest missing reward of an arm with a target, in each replicate."""
    return run.end("missing")[:, protected(run)].max(axis=1)


def held_out(samples):
    """Values of the column whose mean is largest, at last, which other replicates choose.

    `samples` is (replicate, column) or (replicate, round, column); the first half chooses.
    """
    half = len(samples) // 2
    means = samples[:half].mean(axis=0)
    return samples[half:, ..., np.atleast_2d(means)[-1].argmax()]


def published(runs, figure, series, quantity="value", at=None):
    """A number read off a published figure, of a curve at a round or its end, or of all rounds."""
    known = runs.published["figures"][figure]
    at = at or known["horizon"]
    asked = {"series": series, "quantity": quantity}
    asked |= {"round": at} if quantity == "value" else {}
    (value,) = (point["value"] for point in known["values"] if asked.items() <= point.items())
    return float(value)


def reading_error(runs, figure):
    """Half width of the error of reading a published figure."""
    return float(runs.published["figures"][figure]["reading_error"])


def replayed(runs, name, column, figure):
    """Curves of the authors' program run again, at the points read off a figure and everywhere.

    Three arrays (point, series): ours and theirs at these points, and ours in all rounds.
    """
    table, known = runs.replay(name), runs.published["figures"][figure]
    rounds = table["round"].to_numpy()
    if rounds[-1] != known["horizon"]:
        raise ValueError(f"the replay must end in round {known['horizon']}, got {rounds[-1]}")
    points = {}
    for point in known["values"]:
        if point["quantity"] == "value":
            points.setdefault(point["series"], {})[point["round"]] = point["value"]
    ours, whole = [], []
    for series, theirs in points.items():
        curve = column if series == column else f"{column}_{series.removeprefix('arm ')}"
        whole.append(table[curve].to_numpy())
        places = np.searchsorted(rounds, [*theirs])
        if (rounds[places] != [*theirs]).any():
            raise ValueError(f"{name} must be recorded at the rounds {[*theirs]} of {figure}")
        ours.append(whole[-1][places])
    return (
        np.transpose(ours),
        np.transpose([[*curve.values()] for curve in points.values()]),
        np.transpose(whole),
    )


@cache
def solver():
    """The compiled function that writes the root of the log-barrier step for each row of gaps."""
    from numba import njit

    from fairbandits.policies.simplex import log_barrier_shift

    @njit
    def shifts(gaps, tolerance, out):
        for row in range(gaps.shape[0]):
            out[row] = log_barrier_shift(gaps[row], float(gaps.shape[1]), tolerance)

    return shifts


def solver_errors(number, most_arms, tolerance, low, high, seed):
    """Errors of the maximisers of sum log q + <q, z> that the solver finds for random z.

    First the spread of 1 / q_i + z_i, which is 0 at the maximum, then the distance of sum q from 1.
    """
    rng, errors = generator(seed), []
    for n_arms in np.rint(np.geomspace(2, most_arms, 50)).astype(int):
        scale = 10.0 ** rng.uniform(low, high, (number // 50, 1))
        z = scale * rng.standard_normal((number // 50, n_arms))
        top, shift = z.max(axis=1, keepdims=True), np.empty(len(z))
        solver()(top - z, tolerance, shift)
        q = 1.0 / (top - z + shift[:, None])
        condition = 1.0 / q + z
        size = np.maximum(np.abs(z), 1.0 / q).max(axis=1)
        apart = np.abs(condition - condition.mean(axis=1, keepdims=True)).max(axis=1)
        errors += [apart / size, np.abs(q.sum(axis=1) - 1.0)]
    return np.concatenate(errors)

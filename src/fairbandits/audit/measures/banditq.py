"""Words of BanditQ: rewards against targets, queues, theorems, published curves, mathematics."""

import numpy as np

from fairbandits.audit import mathematics
from fairbandits.audit.cells import defaults
from fairbandits.audit.mathematics.chance import generator
from fairbandits.audit.measures import function, measure
from fairbandits.audit.selection import held_out
from fairbandits.measures import rates
from fairbandits.theory import bounds_banditq as bounds
from fairbandits.theory import equilibrium
from fairbandits.theory.static import static_benchmark

# ------------------------------------------------------------------------ rewards and regrets


@measure(None)
def own_means(cell):
    """True means of an instance that all replicates share, shape (n_arms,)."""
    return cell.means


@measure("rta", "pulls", "plays", "probability")
def expected_plays(cell):
    """Summed probabilities where they are recorded, else pulls: the same mean, more noise."""
    drawn_from = cell.run.values.get("probability")
    # under full information they are the plays, and the recorded probabilities are 0
    if drawn_from is None or not drawn_from[:, -1].any():
        return cell.column("plays")
    return cell.column("probability")


@measure("rt", "reward")
def pseudo_regret(rounds, expected_plays, own_means, target):
    """Pseudo-regret b* t - sum_i mu_i plays_i(t), b* the best reward that meets the targets."""
    return rates.target_regret(rounds, expected_plays, own_means, target)


@measure("rt", "reward")
def realised_regret(rounds, reward, own_means, target):
    """Regret b* t - sum_i R_i(t) from the rewards, as BanditQ's figures show it."""
    return rates.realised_regret(rounds, reward, own_means, target)


@measure("rta", "reward per round")
def rate(rounds, reward):
    """Reward per round R_i(t) / t of an arm."""
    return rates.reward_rates(rounds, reward)


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
    """Missing reward lambda_i t - R_i(t) of an arm; of one without target, minus its reward."""
    return target * rounds[:, None] - reward


@measure("rta", "reward per round")
def shortfall(target, rate):
    """Shortfall max(0, lambda_i - R_i(t) / t) of an arm."""
    return np.maximum(target - rate, 0.0)


# ---------------------------------------------------------------- weight, benchmark, equilibrium


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


@measure("a", "reward")
def equilibrium_queue(own_means, target, V):
    """Queue V (mu* / mu_i - 1) at which BanditQ settles."""
    return equilibrium.equilibrium_queues(own_means, target, V)


@measure("", "reward")
def equilibrium_regret(own_means, target, V):
    """Regret -V sum (mu* / mu_i - 1)^2 of the settled queues."""
    return equilibrium.equilibrium_regret(own_means, target, V)


# ----------------------------------------------------------------------------- explicit bounds


@measure(None)
def n_arms(cell):
    """Number of arms."""
    return cell.spec.n_arms


@measure("t")
def squared_queue_bound(n_arms, V, rounds):
    """Explicit bound of Proposition 1 on the mean of Q_i(t)^2."""
    return bounds.squared_queue(n_arms, V, rounds)


@measure("t", "reward")
def regret_bound(n_arms, V, rounds):
    """Explicit bound of Proposition 3 on the regret, from Eq. 14."""
    return bounds.regret(n_arms, V, rounds)


@measure("rt")
def learner_bound(rounds, gain_sum, gain_squares, gain_max):
    """Bound of Theorem 2 on the regret against the surrogate rewards up to t."""
    return bounds.log_barrier_learner(rounds, gain_sum, gain_squares, gain_max)


@measure("t", "reward")
def most_regret(rounds, own_means, best_fair_reward):
    """Largest possible pseudo-regret up to t, that of the worst arm alone."""
    return (best_fair_reward - own_means.min()) * rounds


@measure("t", "reward")
def most_average_regret(rounds, own_means, best_fair_reward):
    """Largest possible mean over s <= t of the pseudo-regret at s."""
    return (best_fair_reward - own_means.min()) * (rounds + 1) / 2


# ------------------------------------------------------------------- chosen on other replicates


@function()
def worst_held_out(x):
    """Value of the arm whose mean is largest at the last round, chosen on other replicates."""
    return held_out(x)[1][..., None]


@function()
def peak_held_out(x):
    """Value of an arm at the round where its mean is largest, chosen on other replicates."""
    return held_out(np.swapaxes(x, 1, 2))[1][:, None]


# ------------------------------------------------------------------------------- as configured


@function()
def best_reward(targets, *, own_means):
    """Reward per round of the best distribution that gives every arm at least this."""
    return static_benchmark(own_means, targets.ravel()).reward


@function()
def means_of(experiment, arm=0, *, scope):
    """Means of an experiment's arms, or of one of them, as configured, without its runs."""
    return _of_arm(scope, np.array(_configured(scope, experiment).means, float)[None, None], arm)


@function()
def targets_of(experiment, arm=0, *, scope):
    """Targets of an experiment's arms, or of one of them, as configured, without its runs."""
    return _of_arm(scope, np.array(_configured(scope, experiment).targets, float)[None, None], arm)


@function()
def shares_of(experiment, arm=0, *, scope):
    """Targets over means of an experiment's arms, or of one of them, as configured."""
    return targets_of(experiment, arm, scope=scope) / means_of(experiment, arm, scope=scope)


@function()
def horizon_of(experiment, *, scope):
    """Horizon of an experiment as configured."""
    return _configured(scope, experiment).horizon


def _configured(scope, name):
    return scope.evidence.config.experiment(scope.evidence.paper, name)


def _of_arm(scope, values, arm=0):
    """Return the values of a given arm, or of the case's own."""
    arm = arm or scope.known.get("arm", 0)
    return values[:, :, [arm - 1]] if arm else values


# -------------------------------------------------------------------- published curves, a replay


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
    curves = _points(read_off, figure).values()
    return _curves(scope, [[one["value"] for one in curve] for curve in curves])


@function()
def replayed_at(name, column, figure, *, scope, read_off):
    """Curves of the authors' program run again, at the rounds of `published_at`."""
    table = _replay(scope, read_off, name, figure)
    recorded = table["round"].to_numpy()
    values = []
    for series, curve in _points(read_off, figure).items():
        rounds = [one["round"] for one in curve]
        places = np.searchsorted(recorded, rounds)
        if (recorded[places] != rounds).any():
            raise ValueError(f"{name} must be recorded at the rounds {rounds} of {figure}")
        values.append(table[_column(column, series)].to_numpy()[places])
    return _curves(scope, values)


@function()
def replayed(name, column, figure, *, scope, read_off):
    """Curves of the authors' program run again, which ends where a published figure does."""
    table = _replay(scope, read_off, name, figure)
    drawn = _points(read_off, figure)
    return _curves(scope, [table[_column(column, series)].to_numpy() for series in drawn])


def _curves(scope, values):
    """Return one run's curves, a list of values for each arm."""
    return _of_arm(scope, np.array(values).T[None])


def _replay(scope, read_off, name, figure):
    table = scope.evidence.replay(name)
    ends = table["round"][-1].as_py()
    wanted = read_off["figures"][figure]["horizon"]
    if ends != wanted:
        raise ValueError(
            f"the replay must end in round {wanted}, as the published run does, got {ends}"
        )
    return table


def _column(column, series):
    """Return the replay's column that a figure's series shows."""
    return column if series == column else f"{column}_{series.removeprefix('arm ')}"


def _points(read_off, figure):
    """Return the numbers read off a figure's curves at rounds, in their order, by series."""
    found = {}
    for one in read_off["figures"][figure]["values"]:
        if one["quantity"] == "value":
            found.setdefault(one["series"], []).append(one)
    return found


# --------------------------------------------------------------------------------- mathematics


@function()
def diameter(means, targets):
    """Largest distance between two distributions that meet the targets."""
    return mathematics.feasibility.diameter(means.ravel(), targets.ravel())


@function("a")
def released_benchmark(means, targets):
    """Benchmark distribution of the released program."""
    found = mathematics.feasibility.released_distribution(means.ravel(), targets.ravel())
    return np.array(found, float)


@function()
def feasibility_disagreements(number, fewest, most, low, high, close, seed):
    """1 where linear programme and sum target / mean disagree on feasibility, of random instances.

    `number` instances have `fewest` to `most` arms and a sum from `low` to `high`; both methods
    must put an instance beyond `close` of the border.
    """
    of = mathematics.feasibility
    made = of.random_instances(generator(seed), number, (fewest, most), (low, high))
    return np.concatenate([of.disagreements(*one, close) for one in made]).astype(int)


@function()
def released_losses(number, fewest, most, low, high, seed):
    """Distance of the released program's reward from the best, of instances with a free best arm.

    The instances are random, like those of `feasibility_disagreements`.
    """
    of = mathematics.feasibility
    made = of.random_instances(generator(seed), number, (fewest, most), (low, high), best=False)
    return np.concatenate([of.released_loss(*one) for one in made])


@function()
def solver_errors(number, most_arms, tolerance, low, high, seed):
    """Residual, and distance of the sum from 1, of the log-barrier solver on random inputs.

    The inputs are normal, with 2 to `most_arms` arms and a scale from 10^low to 10^high; the solver
    stops at `tolerance`.
    """
    rng, sizes = generator(seed), (low, high)
    return mathematics.log_barrier.errors_on_random_inputs(rng, number, most_arms, tolerance, sizes)


@function("ra")
def projection_work(sizes, number, seed):
    """Entries that projections onto the simplex look at, over N log N, for each number N of arms.

    `number` random points take random steps.
    """
    return mathematics.operations.projections(generator(seed), sizes, number) / _n_log_n(sizes)


@function("ra")
def barrier_work(sizes, number, tolerance, low, high, seed):
    """Entries that log-barrier steps look at, over N log N, for each number N of arms.

    The inputs are those of `solver_errors`.
    """
    rng, scales = generator(seed), (low, high)
    found = mathematics.operations.log_barrier_steps(rng, sizes, number, tolerance, scales)
    return found / _n_log_n(sizes)


@function("r", varies=True)
def solver_advantage(n_arms, number, tolerance, low, high, seed):
    """Passes of SciPy's SLSQP over all arms, over those of the special solver, on random inputs."""
    rng, scales = generator(f"{seed}-{n_arms}"), (low, high)
    return mathematics.operations.passes_saved(rng, n_arms, number, tolerance, scales)


def _n_log_n(sizes):
    return np.array(sizes) * np.log(sizes)


@function()
def keeps_quotas(numerators, denominator, rounds, learner):
    """1 if Fair-Learn over a learner keeps these quotas in each round up to one, else 0."""
    of = mathematics.counterexamples
    return int(of.largest_lack(numerators, denominator, 0, of.LEARNERS[learner], rounds) <= 0)


@function("r")
def wrong_steps(proof):
    """1 for each wrong step of a derivation from self-bounding queues, 0 for a right one."""
    return np.array(mathematics.self_bounding.wrong(proof))


@function("r")
def put_back_excess(arms, rounds):
    """N^4 - T of each number of arms, at most 0 where Eq. 21 put back once gives Eq. 22."""
    return mathematics.self_bounding.put_back_excess(arms, rounds)


@function("r")
def outgrown(first, doublings):
    """Whole rewards by which BanditQ's violation on the adversary's sequence outgrows T^(3/4).

    One for each doubling of a first horizon.
    """
    return mathematics.adversary.beyond_rate(first, doublings)

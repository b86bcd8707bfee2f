"""How long a run is expected to take, so that the work can be cut into jobs of like length."""

from fairbandits.policies.own import is_own
from fairbandits.settings.spec import RunSpec

#: Nanoseconds a round, without arms and for each of them. They are rough, and the same on every
#: machine: the cut of the work, and so which jobs run again, depends on nothing but the settings.
COSTS = {
    "banditq, bandit": (15, 4),
    "banditq, full": (5, 2.5),
    "bf_ucb": (20, 0.6),
    "fair_learn": (10, 0.6),
    "fairx_ucb": (100, 2),
    "group_ucb": (8, 0.3),
    "guarantee_anytime": (20, 8),
    "guarantee_baseline": (55, 2),
    "guarantee_etc": (30, 2),
    "guarantee_kl_ucb": (90, 2),
    "guarantee_knapsack": (50, 11),
    "ht_ucb": (10, 1.2),
    "lfg": (8, 1),
    "static": (15, 1),
    "t_fair_learn": (25, 0.2),
    "thompson": (10, 45),
    "ucb1": (10, 0.2),
}
#: Of all others, and of those in plain Python outside the package.
COST, OWN_COST = (50, 5), (20_000, 500)
#: What observers add: one that has to look at much or at next to nothing, and any other.
OBSERVING = {
    "banditq_inequalities": (40, 2),
    "fair_learn_deficits": (10, 3),
    "group_deficits": (1, 0),
    "initial_phase": (0, 0),
    "optional_pulls": (1, 0),
    "surrogate_gains": (40, 3),
}
OBSERVED = (5, 0)
#: Replicates that are played at once: `fairbandits.engine.vectors.LANES`, which needs Numba.
BLOCK = 8
#: Seconds for each replicate of each cell, and for each file.
STARTED, WRITTEN = 0.0004, 0.02
#: Seconds of computing in one process, at most, where it can be cut.
MOST = 60.0


def seconds_of_replicate(spec: RunSpec, cost: float | None = None) -> float:
    """Return what a replicate of a run, all its cells, is expected to take, in seconds.

    Parameters
    ----------
    spec : RunSpec
        The run.
    cost : float, optional
        Nanoseconds a round, as measured; a rule of thumb by default.
    """
    if cost is None:
        feedback = spec.parameters.get("feedback", "bandit")
        other = OWN_COST if is_own(spec.policy) else COST
        start, each = COSTS.get(spec.policy) or COSTS.get(f"{spec.policy}, {feedback}") or other
        watching = [OBSERVING.get(name, OBSERVED) for name, _ in spec.observe]
        start, each = map(sum, zip((start, each), *watching, strict=True))
        cost = start + each * spec.n_arms
    return spec.total_rounds * cost * 1e-9 + len(spec.cells) * STARTED


def fitting_chunk(chunk: int, replicates: int, seconds: float, most: float) -> int:
    """Return how many replicates a file holds: as many as given, or as a job has the time for.

    Where there are several files, they have whole blocks of replicates that are played at once, if
    they have at least one.

    Parameters
    ----------
    chunk, replicates : int
        As configured.
    seconds : float
        What a replicate takes.
    most : float
        Seconds of a job; a single replicate can take longer.
    """
    chunk = max(1, min(chunk, int((most - WRITTEN) / seconds)))
    return chunk if chunk >= replicates else chunk // BLOCK * BLOCK or chunk

"""Expected duration of runs, so that the work can be cut into jobs of similar length."""

from fairbandits.policies.own import is_own
from fairbandits.settings.spec import RunSpec

#: Nanoseconds a round: constant, and per arm; rough, and the same on every machine, so that the cut
#: of the work depends on the settings alone.
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
#: All other policies of the package; policies in plain Python outside it.
COST, OWN_COST = (50, 5), (20_000, 500)
#: Nanoseconds a round that an observer adds: expensive or cheap ones by name, then any other.
OBSERVING = {
    "banditq_inequalities": (40, 2),
    "fair_learn_deficits": (10, 3),
    "group_deficits": (1, 0),
    "initial_phase": (0, 0),
    "optional_pulls": (1, 0),
    "surrogate_gains": (40, 3),
}
OBSERVED = (5, 0)
#: Replicates played at once: `fairbandits.engine.vectors.LANES`, whose import needs Numba.
BLOCK = 8
#: Seconds for each replicate of each cell; for each file.
STARTED, WRITTEN = 0.0004, 0.02
#: Target in seconds for the longest job.
MOST = 60.0


def seconds_of_replicate(spec: RunSpec, cost: float | None = None) -> float:
    """Return the expected seconds of one replicate, from a measured cost or a rule of thumb."""
    if cost is None:
        feedback = spec.parameters.get("feedback", "bandit")
        other = OWN_COST if is_own(spec.policy) else COST
        start, each = COSTS.get(spec.policy) or COSTS.get(f"{spec.policy}, {feedback}") or other
        watching = [OBSERVING.get(name, OBSERVED) for name, _ in spec.observe]
        start, each = map(sum, zip((start, each), *watching, strict=True))
        cost = start + each * spec.n_arms
    return spec.total_rounds * cost * 1e-9 + len(spec.cells) * STARTED


def fitting_chunk(chunk: int, replicates: int, seconds: float, most: float) -> int:
    """Return the replicates per file: at most `chunk`, and no more than fit into `most` seconds."""
    # several files have whole blocks that are played at once, unless not even one block fits
    chunk = max(1, min(chunk, int((most - WRITTEN) / seconds)))
    return chunk if chunk >= replicates else chunk // BLOCK * BLOCK or chunk

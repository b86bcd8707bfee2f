"""Expected duration of runs, so that the work can be cut into jobs of similar length."""

from pathlib import Path

from fairbandits.policies.own import is_own
from fairbandits.settings.schemas import read_yaml
from fairbandits.settings.spec import RunSpec

#: Nanoseconds a round that policies and observers take.
COSTS = read_yaml(Path(__file__).with_suffix(".yaml"))
#: Replicates played at once: `fairbandits.engine.vectors.LANES`, whose import needs Numba.
BLOCK = 8
#: Seconds for each replicate of each cell; for each file.
STARTED, WRITTEN = 0.0004, 0.02
#: Target in seconds for the longest job.
MOST = 60.0


def policy_of(spec: RunSpec) -> str:
    """Return what tells a run's policy from others of another cost: its learner and feedback."""
    parts = (spec.parameters.get(name) for name in ("learner", "feedback"))
    return ", ".join([spec.policy, *(part for part in parts if isinstance(part, str))])


def seconds_of_replicate(spec: RunSpec) -> float:
    """Return the expected seconds of one replicate."""
    policies, observers = COSTS["policies"], COSTS["observers"]
    other = policies["any outside the package" if is_own(spec.policy) else "any other"]
    costs = [policies.get(policy_of(spec), policies.get(spec.policy, other))]
    costs += [observers.get(name, observers["any other"]) for name, _ in spec.observe]
    start, each = map(sum, zip(*costs, strict=True))
    cost = start + each * spec.n_arms
    return spec.total_rounds * cost * 1e-9 + len(spec.cells) * STARTED


def fitting_chunk(chunk: int, replicates: int, seconds: float, most: float) -> int:
    """Return the replicates per file: at most `chunk`, and no more than fit into `most` seconds."""
    # several files have whole blocks that are played at once, unless not even one block fits
    chunk = max(1, min(chunk, int((most - WRITTEN) / seconds)))
    return chunk if chunk >= replicates else chunk // BLOCK * BLOCK or chunk

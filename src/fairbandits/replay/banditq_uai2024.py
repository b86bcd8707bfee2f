"""Replay of the program released with BanditQ (UAI 2024), random numbers and all.

MATLAB's ``rng(100)`` followed by ``rand`` gives the doubles of NumPy's
``RandomState(100).random_sample``. With 1000 arms the means are drawn first. Then the program's
progress bar draws triples for its colour until their sum lies in [1.5, 2.8]. After that each round
takes, under bandit feedback, one number for the arm; and then one for each arm's reward.

The released parameters are those with 1000 arms; the vectors for 5 arms stand in it as comments.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from fairbandits.engine.loops import LOOPS, new_record
from fairbandits.engine.sources import TapeSource
from fairbandits.optima.static import static_benchmark
from fairbandits.policies import BanditQ
from fairbandits.provenance import replay_code
from fairbandits.store import content_hash, write_table

SEED = 100
HORIZONS = {5: 2_000_000, 1000: 3_000_000}
FIVE_MEANS = (0.3352, 0.2031, 0.2411, 0.7816, 0.6177)
#: Where the released optimiser stops.
TOLERANCE = 1e-5
#: Numbers drawn at a time: 80 MB.
BLOCK = 10_000_000


def draw_start(generator: np.random.RandomState, arms: int) -> np.ndarray:
    """Return the means, after all that the program draws before its first round."""
    means = generator.random_sample(arms) if arms != 5 else np.array(FIVE_MEANS)
    while not 1.5 <= generator.random_sample(3).sum() <= 2.8:
        pass
    return means


def replay(
    arms: int,
    feedback: str,
    *,
    rounds: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, np.ndarray]:
    """Run the released program again.

    Parameters
    ----------
    arms : {5, 1000}
        Which of its two instances.
    feedback : {"full", "bandit"}
        Which of its two programs.
    rounds : int, optional
        Stop after this many rounds; V stays that of the whole horizon.
    progress : callable, optional
        Called with the number of rounds done.

    Returns
    -------
    dict of str to ndarray
        ``round`` (2000 evenly spaced ones), ``regret`` (of the reward received, against the
        static benchmark), ``queue_1``, ``queue_2``, ``rate_1``, ``rate_2``.

    Raises
    ------
    ValueError
        If `arms` or `feedback` is not one of those.
    """
    if arms not in HORIZONS:
        raise ValueError(f"arms must be one of {', '.join(map(str, HORIZONS))}, got {arms!r}")
    if feedback not in LOOPS:
        raise ValueError(f"feedback must be one of {', '.join(LOOPS)}, got {feedback!r}")
    horizon = HORIZONS[arms]
    rounds = horizon if rounds is None else rounds
    generator = np.random.RandomState(SEED)
    means = draw_start(generator, arms)
    targets = np.zeros(arms)
    targets[:2] = means[0] / 2, means[1] / 3

    policy = BanditQ(tuple(targets), feedback=feedback, tolerance=TOLERANCE)
    state = policy.start(arms, horizon)
    step = max(1, rounds // 2000)
    checkpoints = np.arange(rounds % step + step, rounds + 1, step)
    record = new_record(feedback, arms, checkpoints, len(policy.probes))

    coins_per_round = 1 if feedback == "bandit" else 0
    block = max(1, BLOCK // (arms + coins_per_round))
    for start in range(0, rounds, block):
        stop = min(start + block, rounds)
        drawn = generator.random_sample((stop - start, coins_per_round + arms))
        # a coin is a 64-bit word whose upper 53 bits are the number drawn
        coins = (drawn[:, :coins_per_round].ravel() * 2.0**53).astype(np.uint64) << np.uint64(11)
        if feedback == "full":
            coins = np.zeros(stop - start, np.uint64)
        uniforms = np.ascontiguousarray(drawn[:, coins_per_round:])
        source = TapeSource(start, uniforms, 2.0 * means, coins)
        LOOPS[feedback](state, source, record, start, stop)
        progress(stop)

    benchmark = static_benchmark(means, targets).reward
    queues = record.probes_at[:, policy.probes.index("queue")]
    return {
        "round": checkpoints,
        "regret": benchmark * checkpoints - record.rewards_at.sum(axis=1),
        "queue_1": queues[:, 0],
        "queue_2": queues[:, 1],
        "rate_1": record.rewards_at[:, 0] / checkpoints,
        "rate_2": record.rewards_at[:, 1] / checkpoints,
    }


def write_replay(arms: int, feedback: str, out: Path, progress: Callable[[int], None]) -> None:
    """Replay and write the Parquet file."""
    columns = replay(arms, feedback, progress=progress)
    footer = {
        "kind": "replay",
        "replay": "banditq-uai2024",
        "arms": arms,
        "feedback": feedback,
        "horizon": HORIZONS[arms],
        "seed_rule": f"numpy.random.RandomState({SEED})",
        "code": replay_code(),
        "content": content_hash(columns)[:16],
    }
    write_table(out, pa.table(columns), footer)

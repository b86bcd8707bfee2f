"""Replay of the program released with BanditQ (UAI 2024), with the same random numbers.

MATLAB's ``rng(100)`` followed by ``rand`` gives the doubles of NumPy's
``RandomState(100).random_sample``. With 1000 arms the means are drawn first. Then the program's
progress bar draws triples for its colour until their sum lies in [1.5, 2.8]. After that each round
takes, under bandit feedback, one number for the arm; and then one for each arm's reward.

The released parameters are those with 1000 arms; the vectors for 5 arms are comments in it.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairbandits.data.provenance import replay_code
from fairbandits.data.store import content_hash, write_table
from fairbandits.engine import kinds
from fairbandits.engine.loops import LOOPS, new_record
from fairbandits.engine.sources import TapeSource
from fairbandits.policies.banditq import BanditQ
from fairbandits.theory.static import static_benchmark

SEED = 100
HORIZONS = {5: 2_000_000, 1000: 3_000_000}
FIVE_MEANS = (0.3352, 0.2031, 0.2411, 0.7816, 0.6177)
#: Where the released optimiser stops.
TOLERANCE = 1e-5
#: Numbers drawn at a time: 80 MB.
BLOCK = 10_000_000


def draw_start(generator: np.random.RandomState, arms: int) -> np.ndarray:
    """Return the means, after everything that the program draws before its first round."""
    means = generator.random_sample(arms) if arms != 5 else np.array(FIVE_MEANS)
    while not 1.5 <= generator.random_sample(3).sum() <= 2.8:
        pass
    return means


def targets_of(means: np.ndarray) -> np.ndarray:
    """Return the targets; only the first two arms have one."""
    targets = np.zeros(means.size)
    targets[:2] = means[0] / 2, means[1] / 3
    return targets


def published_rounds(figures: Mapping[str, Mapping[str, Any]], horizon: int) -> list[int]:
    """Return the rounds at which a horizon's figures in published.yaml were read off."""
    shown = (figure["values"] for figure in figures.values() if figure["horizon"] == horizon)
    return sorted({row["round"] for rows in shown for row in rows if row["quantity"] == "value"})


def replay(
    arms: int,
    feedback: str,
    *,
    rounds: int | None = None,
    also: Iterable[int] = (),
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, np.ndarray]:
    """Return regret, queues and rates of 2000 even rounds and of `also`, ended by `rounds`."""
    also = set(also)
    if also and min(also) < 1:
        raise ValueError(f"also must be rounds of at least 1, got {min(also)}")
    horizon = HORIZONS[arms]
    rounds = horizon if rounds is None else rounds
    generator = np.random.RandomState(SEED)
    means = draw_start(generator, arms)
    targets = targets_of(means)

    policy = BanditQ(tuple(targets), feedback=feedback, tolerance=TOLERANCE)
    state = policy.start(arms, horizon)
    step = max(1, rounds // 2000)
    evenly = np.arange(rounds % step + step, rounds + 1, step)
    checkpoints = np.union1d(evenly, [last for last in also if last <= rounds])
    checkpoints = checkpoints.astype(evenly.dtype)
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
        loop = kinds.chosen(LOOPS[feedback], state, source, record, stop - start, None)
        loop(state, source, record, start, stop)
        progress(stop)

    benchmark = static_benchmark(means, targets).reward
    queues = record.probes_at[:, policy.probes.index("queue")]
    regret = benchmark * checkpoints - record.rewards_at.sum(axis=1)
    columns = {"round": checkpoints, "regret": regret}
    columns |= {f"queue_{k}": queues[:, k - 1] for k in (1, 2)}
    return columns | {f"rate_{k}": record.rewards_at[:, k - 1] / checkpoints for k in (1, 2)}


def write_replay(arms: int, feedback: str, out: Path, **how: Any) -> None:
    """Write the Parquet file of a `replay`."""
    columns = replay(arms, feedback, **how)
    means = draw_start(np.random.RandomState(SEED), arms)
    footer = {"kind": "replay", "replay": "banditq-uai2024", "arms": arms, "feedback": feedback}
    footer |= {
        "horizon": HORIZONS[arms],
        "means": means.tolist(),
        "targets": targets_of(means).tolist(),
        "seed_rule": f"numpy.random.RandomState({SEED})",
        "code": replay_code(),
        "content": content_hash(columns)[:16],
    }
    write_table(out, pa.table(columns), footer)

"""Simulate one chunk: a block of replicates of one run, written as one Parquet file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairbandits.engine.kinds import COMPILING, work
from fairbandits.engine.streams import RULE
from fairbandits.experiments.sweep import (
    arms_of,
    asks,
    cells_of,
    filled,
    ranges_of,
    rounds_of,
    swept,
    targets_of,
)
from fairbandits.instance import Instance, RandomInstance, draw_quotas
from fairbandits.penalties import penalty_rates
from fairbandits.policies import make_policy
from fairbandits.provenance import SIMULATION, fingerprint
from fairbandits.simulation import checkpoint_grid, run
from fairbandits.store import write_table

#: Parameters that are its means under other names.
ARE_MEANS = ("means", "reference", "shadow_means")
#: Parameters that are its quotas.
ARE_QUOTAS = ("quotas", "fractions")
#: Columns that every run keeps.
KEPT = ("replicate", "round", "arm", "plays", "reward", "mean", "quota")


def simulate_chunk(
    block: dict[str, Any], seed: int, replicates: Sequence[int], compiled: bool | None = None
) -> dict[str, np.ndarray]:
    """Return the tidy columns of some replicates, one cell of the block after the other.

    Parameters
    ----------
    block : dict
        The run's block (`fairbandits.experiments.config.Run.block`).
    seed : int
        Root seed.
    replicates : sequence of int
        0-based replicate numbers.
    compiled : bool, optional
        As in `fairbandits.run`.
    """
    parts = []
    for cell in cells_of(block):
        results = list(_results(block, cell, seed, replicates, compiled))
        kept = [
            name
            for name in results[0]
            if "record" not in block or name in (*KEPT, *block["record"])
        ]
        columns = {name: np.concatenate([one[name] for one in results]) for name in kept}
        for name, value in cell.items():
            columns[name] = np.full(columns["round"].size, swept(value))
        parts.append(columns)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _results(
    block: dict[str, Any],
    cell: dict[str, Any],
    seed: int,
    replicates: Sequence[int],
    compiled: bool | None,
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the columns of one cell, one by one where the policy depends on what is drawn."""
    horizon = cell.get("horizon", block["horizon"])
    stream = stream_of(block, horizon)
    parameters = block["parameters"] | {k: v for k, v in cell.items() if k != "horizon"}
    instance = instance_of(block)
    asked = asks(parameters)
    random = isinstance(instance, RandomInstance)
    drawn_quotas = block.get("drawn_quotas")
    apart = drawn_quotas or (asked and random)
    for some in ([one] for one in replicates) if apart else (replicates,):
        quotas = block.get("quotas")
        if drawn_quotas:
            numerators = draw_quotas(
                arms_of(block), **drawn_quotas, seed=seed, stream=stream, replicate=some[0]
            )
            quotas = [f"{one}/{drawn_quotas['denominator']}" for one in numerators]
        own = parameters
        if asked:
            drawn = instance.draw(seed, stream, some[0]) if random else instance
            own = filled(parameters, _known(block, drawn.true_means, quotas))
        columns = run(
            make_policy(block["policy"], own, where=stream, source=block.get("source")),
            instance,
            horizon,
            some,
            seed=seed,
            checkpoints=recorded_rounds(block, horizon),
            stream=stream,
            quotas=quotas,
            compiled=compiled,
        ).columns()
        if drawn_quotas:
            columns["quota"] = np.tile(numerators, columns["round"].size // len(numerators))
        yield columns


def _known(block: dict[str, Any], means: np.ndarray, quotas: Sequence | None) -> dict[str, Any]:
    """Return the parameters that a policy can have from an instance with these means."""
    known: dict[str, Any] = dict.fromkeys(ARE_MEANS, tuple(means.tolist()))
    known |= dict.fromkeys(ARE_QUOTAS, quotas)
    known["groups"] = block.get("groups")
    if "penalties" in block:
        known["penalties"] = tuple(penalty_rates(block["penalties"], means).tolist())
    if "targets" in block or "target_shares" in block:
        known["targets"] = targets_of(block, means.tolist())
    return known


def instance_of(block: dict[str, Any]) -> Instance | RandomInstance:
    """Return the instance of a run's block, fixed or to be drawn."""
    spread = swept(block["spread"]) if "spread" in block else None
    if "drawn_means" in block:
        drawn = block["drawn_means"]
        return RandomInstance(
            *(drawn["arms"], *ranges_of(block)),
            law=block["law"],
            spread=spread,
            decimals=drawn.get("decimals"),
            fixed=drawn.get("fixed", ()),
        )
    return Instance(block["means"], law=block["law"], spread=spread)


def stream_of(block: dict[str, Any], horizon: int) -> str:
    """Return the name of the streams of a run of a block: its own for horizons apart."""
    return f"{block['stream']}/{horizon}" if "apart" in block else block["stream"]


def recorded_rounds(block: dict[str, Any], horizon: int) -> np.ndarray:
    """Return the rounds that a run of a block records.

    One that is run for several horizons records the last round of each, unless they are apart.
    """
    if "horizons" in block and "apart" not in block:
        return np.array([horizon])
    if "at" in block["checkpoints"]:
        return np.array(block["checkpoints"]["at"])
    return checkpoint_grid(horizon, **block["checkpoints"])


def write_chunk(
    block: dict[str, Any],
    seed: int,
    replicates: range,
    out: Path,
    compiled: bool | None = None,
) -> None:
    """Simulate a chunk and write it with its footer."""
    columns = simulate_chunk(block, seed, replicates, compiled)
    footer = {
        "kind": "chunk",
        "block": block,
        "seed": seed,
        "seed_rule": RULE,
        "code": fingerprint(*SIMULATION),
        "replicates": [replicates[0], replicates[-1]],
    }
    write_table(out, pa.table(columns), footer)


def write_chunks(chunks: Sequence[dict[str, Any]], seed: int) -> Iterator[Path]:
    """Write several chunks in one process, each a ``block``, ``replicates`` and ``out``.

    What is to be compiled is known beforehand, from all rounds that are to come.
    """
    rounds: Counter[tuple] = Counter()
    for one in chunks:
        rounds[_kind(one["block"])] += work(
            rounds_of(one["block"]) * len(one["replicates"]), arms_of(one["block"])
        )
    for one in chunks:
        compiled = True if rounds[_kind(one["block"])] > COMPILING else None
        write_chunk(one["block"], seed, one["replicates"], one["out"], compiled)
        yield one["out"]


def _kind(block: dict[str, Any]) -> tuple:
    """Return what tells the loops of a block apart, before there is a policy state."""
    parameters = block["parameters"]
    learner = parameters.get("learner_parameters", {}).get("learner")
    return block["policy"], parameters.get("feedback"), parameters.get("learner"), learner

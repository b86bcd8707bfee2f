"""Simulate one chunk: a block of replicates of one run, written as one Parquet file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairbandits.engine.streams import RULE
from fairbandits.experiments.sweep import cells, swept
from fairbandits.instance import Instance
from fairbandits.policies import make_policy
from fairbandits.provenance import SIMULATION, fingerprint
from fairbandits.simulation import checkpoint_grid, run
from fairbandits.store import write_table


def simulate_chunk(
    block: dict[str, Any], seed: int, replicates: Sequence[int]
) -> dict[str, np.ndarray]:
    """Return the tidy columns of some replicates, one cell of the block's sweep after the other.

    Parameters
    ----------
    block : dict
        The run's block (`fairbandits.experiments.config.Run.block`).
    seed : int
        Root seed.
    replicates : sequence of int
        0-based replicate numbers.
    """
    parts = []
    for cell in cells(block.get("sweep", {})):
        result = run(
            make_policy(block["policy"], block["parameters"] | cell, where=block["stream"]),
            Instance(block["means"], law=block["law"]),
            block["horizon"],
            replicates,
            seed=seed,
            checkpoints=checkpoint_grid(block["horizon"], **block["checkpoints"]),
            stream=block["stream"],
            quotas=block.get("quotas"),
        )
        columns = result.columns()
        for name, value in cell.items():
            columns[name] = np.full(columns["round"].size, swept(value))
        parts.append(columns)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def write_chunk(block: dict[str, Any], seed: int, replicates: range, out: Path) -> None:
    """Simulate a chunk and write it with its footer."""
    columns = simulate_chunk(block, seed, replicates)
    footer = {
        "kind": "chunk",
        "block": block,
        "seed": seed,
        "seed_rule": RULE,
        "code": fingerprint(*SIMULATION),
        "replicates": [replicates[0], replicates[-1]],
    }
    write_table(out, pa.table(columns), footer)

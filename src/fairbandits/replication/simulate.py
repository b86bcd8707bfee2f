"""Simulate one chunk: a block of replicates of one run, written as one Parquet file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairbandits.data.store import replicate_hashes, write_table
from fairbandits.engine.kinds import COMPILING, work
from fairbandits.engine.streams import RULE
from fairbandits.library.instance import Instance, RandomInstance, draw_quotas
from fairbandits.library.simulation import Setting, checkpoint_grid, columns_of, play
from fairbandits.measures.penalties import penalty_rates
from fairbandits.observers import make_observer
from fairbandits.policies import make_policy
from fairbandits.policies.own import ARE_QUOTAS
from fairbandits.replication.code import code_of
from fairbandits.settings.spec import RunSpec, filled, of_instance, shares_of, swept

#: Columns that every run keeps.
KEPT = ("replicate", "round", "arm", "plays", "reward", "mean", "quota")


def simulate_chunk(
    spec: RunSpec, seed: int, replicates: Sequence[int], compiled: bool | None = None
) -> dict[str, np.ndarray]:
    """Return the tidy columns of some replicates (from 0), one cell of the run after the other."""
    parts = []
    for cell in spec.cells:
        columns = _columns(spec, cell, seed, replicates, compiled)
        if spec.record is not None:
            columns = {k: v for k, v in columns.items() if k in (*KEPT, *spec.record)}
        for name, value in cell.items():
            if name in columns:
                raise ValueError(
                    f"{spec.stream}: policy {spec.policy} reports a column {name!r}, which is also "
                    "what is swept; the probe needs another name"
                )
            columns[name] = np.full(columns["round"].size, swept(value))
        parts.append(columns)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _columns(
    spec: RunSpec, cell: dict[str, Any], seed: int, replicates: Sequence[int], compiled: bool | None
) -> dict[str, np.ndarray]:
    """Return one cell's columns, with policies of their own for replicates that need them."""
    horizon = spec.horizon_of(cell)
    stream = spec.stream_of(cell)
    settled = [_settled(spec, cell, seed, replicate) for replicate in replicates]
    settings = []
    for (policy, observe, quotas, _), alike in groupby(settled):
        setting = Setting(
            make_policy(spec.policy, policy, where=stream, source=spec.policy_source),
            [make_observer(*observer, where=stream) for observer in observe.items()],
            quotas,
        )
        settings += [setting] * len(list(alike))
    rounds = recorded_rounds(spec, horizon)
    where = {"seed": seed, "stream": stream, "checkpoints": rounds}
    played = play(settings, instance_of(spec), horizon, replicates, **where, compiled=compiled)
    columns = columns_of(played)
    if spec.drawn_quotas:
        drawn = [np.tile(numerators, rounds.size) for *_, numerators in settled]
        columns["quota"] = np.concatenate(drawn)
    return columns


def _settled(
    spec: RunSpec, cell: dict[str, Any], seed: int, replicate: int
) -> tuple[dict[str, Any], dict[str, Any], Sequence | None, list[int]]:
    """Return parameters of policy and observers in one replicate, its quotas, and those drawn."""
    stream = spec.stream_of(cell)
    parameters, observe = spec.parameters_of(cell), dict(spec.observe)
    quotas, numerators = spec.quotas or None, []
    if spec.drawn_quotas:
        numerators = draw_quotas(
            spec.n_arms, **spec.drawn_quotas, seed=seed, stream=stream, replicate=replicate
        )
        quotas = [f"{number}/{spec.drawn_quotas['denominator']}" for number in numerators]
    if any(of_instance({"policy": parameters, **observe})):
        instance = instance_of(spec)
        if isinstance(instance, RandomInstance):
            instance = instance.draw(seed, stream, replicate)
        known = _from_instance(spec, instance.true_means, quotas)
        parameters, observe = filled(parameters, known), filled(observe, known)
    return parameters, observe, quotas, numerators


def _from_instance(spec: RunSpec, means: np.ndarray, quotas: Sequence | None) -> dict[str, Any]:
    """Return the parameters that an instance with these means gives to a policy."""
    names = ("means", "reference", "shadow_means")
    known: dict[str, Any] = dict.fromkeys(names, tuple(means.tolist()))
    known |= dict.fromkeys(ARE_QUOTAS, quotas)
    known["groups"] = spec.groups
    if spec.penalties is not None:
        known["penalties"] = tuple(penalty_rates(spec.penalties, means).tolist())
    if spec.targets or spec.target_shares:
        known["targets"] = list(spec.targets) or shares_of(spec.target_shares, means.tolist())
    return known


def instance_of(spec: RunSpec) -> Instance | RandomInstance:
    """Return the instance of a run, fixed or random."""
    spread = None if spec.spread is None else swept(spec.spread)
    if spec.drawn_means:
        rest = {"decimals": spec.drawn_means.get("decimals")}
        rest["fixed"] = spec.drawn_means.get("fixed", ())
        return RandomInstance(spec.n_arms, *spec.ranges, law=spec.law, spread=spread, **rest)
    return Instance(spec.means, law=spec.law, spread=spread)


def recorded_rounds(spec: RunSpec, horizon: int) -> np.ndarray:
    """Return the rounds that a run records in a cell: the last of each horizon unless apart."""
    if spec.horizons and not spec.apart:
        return np.array([horizon])
    if "at" in spec.checkpoints:
        return np.array(spec.checkpoints["at"])
    return checkpoint_grid(horizon, **spec.checkpoints)


def write_chunk(
    spec: RunSpec, seed: int, replicates: range, out: Path, compiled: bool | None = None
) -> None:
    columns = simulate_chunk(spec, seed, replicates, compiled)
    footer = {
        "kind": "chunk",
        "run": spec.to_json(),
        "seed": seed,
        "seed_rule": RULE,
        "code": code_of(spec),
        "replicates": [replicates[0], replicates[-1]],
        "hashes": list(replicate_hashes(columns).values()),
    }
    write_table(out, pa.table(columns), footer)


def write_chunks(chunks: Sequence[dict[str, Any]]) -> Iterator[Path]:
    """Write several chunks in one process; all their rounds decide which kernels are compiled."""
    rounds: Counter[tuple] = Counter()
    for chunk in chunks:
        spec = chunk["run"]
        rounds[_kind(spec)] += work(spec.total_rounds * len(chunk["replicates"]), spec.n_arms)
    for chunk in chunks:
        compiled = True if rounds[_kind(chunk["run"])] > COMPILING else None
        write_chunk(chunk["run"], chunk["seed"], chunk["replicates"], chunk["out"], compiled)
        yield chunk["out"]


def _kind(spec: RunSpec) -> tuple:
    """Return a key of a run's compiled loop that needs no policy state."""
    return code_of(spec), spec.parameters.get("feedback")

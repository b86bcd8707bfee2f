"""Results in Parquet files, whole or not at all, with what made them; read without running code."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairbandits.data.store import StoreError, read_footer, read_table, table_hash, write_table
from fairbandits.library.compiling import Compiled
from fairbandits.library.identity import Saved, described
from fairbandits.library.inputs import shown
from fairbandits.library.late import name_of
from fairbandits.library.simulation import DEFICITS
from fairbandits.rationals import exact

#: Begins the names of columns with a comparison's measures.
MEASURE = "measure "
#: Most entries of a parameter that are kept to be read; all are compared.
LONGEST = 1000
#: Kind of a file -> what its footer has besides the results.
KINDS = {"result": (), "comparison": ("titles",), "sweep": ("titles", "parameter", "values")}


def save(
    path: str | PathLike,
    kind: str,
    results: Mapping[str, Any],
    curves: Mapping[tuple[str, str], np.ndarray],
    more: Mapping[str, Any],
) -> None:
    """Write results by label, with the same checkpoints, and what a comparison has besides."""
    tables, about = [], {}
    for label, result in results.items():
        columns = result.columns()
        if kind != "result":
            columns = {"policy": pa.repeat(label, columns["arm"].size)} | columns
        for (name, of), curve in curves.items():
            if of == label:
                columns[MEASURE + name] = np.repeat(curve.reshape(-1), result.plays.shape[-1])
        tables.append(pa.table(columns))
        moves = getattr(result.instance, "moves", False)
        about[label] = {
            "policy": _about(result.policy, "targets"),
            "instance": _about(result.instance, "n_arms", "moves" if moves else "true_means"),
            **{name: getattr(result, name) for name in ("horizon", "seed", "stream", "version")},
            "quotas": None if result.quotas is None else list(map(str, result.quotas)),
            "plays": result.plays.dtype.str,
            "probes": list(result.probes),
            "means": result.means is not None,
        }
    table = pa.concat_tables(tables, promote_options="permissive")
    kept = {name: _plain(more[name]) for name in KINDS[kind]}
    footer = {"kind": kind, "results": about, **kept, "content": table_hash(table)}
    write_table(Path(path), table, footer)


def load(
    path: str | PathLike, kind: str, make: Callable[..., Any]
) -> tuple[dict[str, Any], dict, dict[str, Any]]:
    """Return results by label, curves and the rest of a file that `save` has written.

    `make` makes a result of its fields.

    Raise FileNotFoundError without a file, and `fairbandits.store.StoreError` for a file that is
    damaged, or that holds anything else.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        footer = read_footer(path)
        table = read_table(path) if footer.get("kind") == kind else None
    except StoreError as error:  # without the way out: no file of a user is to be deleted
        raise StoreError(str(error).partition("; ")[0]) from error
    if table is None:
        held = footer.get("kind")
        way_out = f"; write fairbandits.{held.title()}.load(path)" if held in KINDS else ""
        raise StoreError(f"{path} holds a {held!r}, not a {kind!r}{way_out}")
    try:
        results, curves = {}, {}
        for label, about in footer["results"].items():
            rows = table if kind == "result" else table.filter(pc.equal(table["policy"], label))
            result = results[label] = make(**_fields(rows, about))
            for name in (column for column in rows.column_names if column.startswith(MEASURE)):
                values = rows[name].to_numpy().reshape(result.plays.shape)
                curves[name.removeprefix(MEASURE), label] = values[..., 0].copy()
        if not results:
            raise ValueError("it has no results")
        more = {name: footer[name] for name in KINDS[kind]}
        # measures by name, then by policy, as they were
        order = [(name, label) for name in more.get("titles", ()) for label in results]
        return results, {key: curves[key] for key in order}, more
    except (AttributeError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise StoreError(f"{path} is no {kind} of this version: {error}") from error


def _fields(rows: pa.Table, about: Mapping[str, Any]) -> dict[str, Any]:
    columns = {name: rows[name].to_numpy() for name in ("replicate", "round", "arm")}
    numbers = [list(dict.fromkeys(values.tolist())) for values in columns.values()]
    shape = tuple(map(len, numbers))
    grid = np.meshgrid(*numbers, indexing="ij")
    if not rows.num_rows or not all(
        np.array_equal(values, wanted.reshape(-1))
        for values, wanted in zip(columns.values(), grid, strict=True)
    ):
        raise ValueError("its rows must be all arms of all rounds of all replicates, in order")

    def values(name: str) -> np.ndarray:
        return rows[name].to_numpy().reshape(shape)

    quotas = about["quotas"]
    deficits = [] if quotas is None else [name for name in DEFICITS if name in rows.column_names]
    return dict(
        policy=Saved(**about["policy"]),
        instance=Saved(**about["instance"]),
        horizon=int(about["horizon"]),
        seed=int(about["seed"]),
        stream=str(about["stream"]),
        replicates=np.array(numbers[0], np.int64),
        rounds=np.array(numbers[1], np.int64),
        plays=values("plays").astype(about["plays"]),
        rewards=values("reward"),
        probes={name: values(name) for name in about["probes"]},
        deficits={name: values(name) for name in deficits},
        means=values("mean")[:, 0].copy() if about["means"] else None,
        quotas=None if quotas is None else exact("quotas", quotas),
        version=str(about["version"]),
    )


def _about(made: Any, *properties: str) -> dict[str, Any]:
    """Return a policy or an instance as data: its class, its text, its value, its parameters."""
    if isinstance(made, Saved):
        return {key: getattr(made, key) for key in ("name", "text", "value", "attributes")}
    inner = made._policy if isinstance(made, Compiled) else made
    kind, parameters = type(inner), dict(getattr(inner, "__dict__", {}))
    parameters |= {name: getattr(inner, name) for name in properties if hasattr(inner, name)}
    plain = {name: _plain(value) for name, value in parameters.items() if name[:1] != "_"}
    plain = {name: value for name, value in plain.items() if value is not NotImplemented}
    text = shown(inner)
    if kind.__repr__ is object.__repr__:  # it has an address
        listed = ", ".join(f"{name}={shown(value)}" for name, value in plain.items())
        text = f"{kind.__name__}({listed})"
    return {
        "name": name_of(made),
        "text": text if inner is made else f"compiled({text})",
        "value": described(made),
        "attributes": {"class": f"{kind.__module__}:{kind.__qualname__}", **plain},
    }


def _plain(value: Any) -> Any:
    """Return numbers, texts and lists of these as JSON has them; NotImplemented for all else."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, list | tuple):
        entries = [_plain(entry) for entry in value[: LONGEST + 1]]
        whole = len(entries) <= LONGEST and not any(entry is NotImplemented for entry in entries)
        return entries if whole else NotImplemented
    if isinstance(value, dict):
        pairs = ((str(key), raw, _plain(raw)) for key, raw in value.items())
        return {key: shown(raw) if plain is NotImplemented else plain for key, raw, plain in pairs}
    return value if isinstance(value, bool | int | float | str | None) else NotImplemented

"""Tables and logs of rewards, read, checked and copied, for `fairbandits.World.from_table`."""

import os
import warnings
from collections.abc import Hashable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairbandits.engine.streams import unit
from fairbandits.library import inputs
from fairbandits.library.identity import same
from fairbandits.lookup import nearest

#: Names of columns that tell a log from a table with a column for each arm.
OF_A_LOG = {"arm", "arms", "action", "actions", "reward", "rewards"}
MOST_ARMS = 1000
#: What to write for one.
AS_A_LOG = "; of a log write from_table(table, arm=..., reward=...), the names of its columns"
NO_TABLE = "a table is an array with a column for each arm, a data frame, or the path of one; got "


class Rewards(NamedTuple):
    """The rewards of each arm, and what was read."""

    rewards: tuple[np.ndarray, ...]
    labels: tuple[str, ...]  # none for an array
    law: str  # in words
    left_out: str  # what was, in words; empty for nothing


@dataclass(frozen=True, eq=False, repr=False)
class Paying:
    """Pays rewards by pull, drawn with replacement, or by round; equal for equal rewards."""

    rewards: tuple[np.ndarray, ...]
    by: str

    def __call__(self, arm: int, number: int, coin: int) -> float:
        """Return a reward of the arm."""
        rewards = self.rewards[arm]
        return rewards[number - 1 if self.by == "round" else int(unit(coin) * rewards.size)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Paying) and same(vars(self), vars(other))

    def __hash__(self) -> int:
        return hash((self.by, *(paid.size for paid in self.rewards)))


def columns_of(table: Any) -> dict[Hashable, pd.Series]:
    """Return the columns of whatever is a table, by their names; numbers for those of an array."""
    original = table
    if isinstance(table, str | os.PathLike):
        table = _read(Path(table))
    try:
        if isinstance(table, Mapping):
            return {name: _series(values) for name, values in table.items()}
        if hasattr(table, "__arrow_c_stream__") and not isinstance(table, pd.DataFrame):
            table = _of_arrow(table)
        if not isinstance(table, pd.DataFrame):
            named = getattr(getattr(table, "dtype", None), "names", None)  # a structured array
            if not named and len(np.shape(table)) != 2:
                raise ValueError
            table = pd.DataFrame(table)
    except (TypeError, ValueError):  # Arrow's and NumPy's too, for what has other shapes
        raise ValueError(f"{NO_TABLE}{inputs.shown(original)}") from None
    if not table.columns.is_unique:
        again = table.columns[table.columns.duplicated()][0]
        raise ValueError(f"a table must have each column once, got {again!r} twice")
    if not len(table):
        raise ValueError(f"a table must have rows, got shape {table.shape}")
    return {name: table.iloc[:, k] for k, name in enumerate(table.columns)}


def _of_arrow(table: Any) -> pd.DataFrame:
    """Return a table of Polars, Arrow or DuckDB, none of which is imported, as one of pandas."""
    import pyarrow as pa

    frame = pa.table(table).to_pandas()
    for name, column in frame.items():
        # categories of Polars without an order, not all of which need be there
        if isinstance(column.dtype, pd.CategoricalDtype) and not column.dtype.ordered:
            frame[name] = column.astype(column.cat.categories.dtype)
    return frame


def _series(values: Any) -> pd.Series:
    of_pandas = pd.Series | np.ndarray | pd.api.extensions.ExtensionArray
    if isinstance(values, Mapping | Set | str | bytes | bytearray):  # their entries are no column
        raise TypeError
    return pd.Series(values) if isinstance(values, of_pandas) else _of_list(list(values))


def _of_list(values: list) -> pd.Series:
    try:
        return pd.Series(values)
    except OverflowError:  # a whole number beyond the largest float
        return pd.Series(values, dtype=object)


def _read(file: Path) -> pd.DataFrame:
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    kind = Path(file.name.lower().removesuffix(".gz")).suffix
    reader = {".csv": _read_csv, ".parquet": pd.read_parquet}.get(kind)
    if reader is None:
        raise ValueError(f"a table's file must end in .csv, .csv.gz or .parquet, got {file.name}")
    try:
        table = reader(file)
    except (ValueError, OSError, pd.errors.ParserWarning) as error:  # Arrow's are among these
        raise ValueError(f"{file} cannot be read: {str(error).splitlines()[0]}") from error
    return table.drop(columns="Unnamed: 0", errors="ignore")  # the row numbers of pandas


def _read_csv(file: Path) -> pd.DataFrame:
    """Read a table whose first row has the names of the columns, which all rows have."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        table = pd.read_csv(file, index_col=False)
    names = pd.read_csv(file, header=None, nrows=1, dtype=str).iloc[0].dropna()
    if again := inputs.duplicated(names):
        raise ValueError(f"a table must have each column once, got {again[0]!r} twice")
    values = pd.to_numeric(names, errors="coerce").to_numpy()
    if not (np.isnan(values).any() or ((values % 1 == 0).all() and (np.diff(values) > 0).all())):
        raise ValueError(f"its first row must have the names of the columns, got {[*names]}")
    return table


def read_table(columns: Mapping[Hashable, pd.Series], *, complete: bool) -> Rewards:
    """Return the rewards of a table with a column for each arm."""
    for name in columns:
        if str(name).lower() in OF_A_LOG:
            raise ValueError(f"a table has a column for each arm, got {name!r}{AS_A_LOG}")
    of_array = list(columns) == list(range(len(columns)))
    paid = {}
    for name, column in columns.items():
        where = f"column {name + 1 if of_array else repr(name)}"
        try:
            paid[where] = _numbers(column, where)
        except ValueError as error:
            raise ValueError(f"{error}{'' if of_array else AS_A_LOG}") from None
        if complete and (missing := np.flatnonzero(np.isnan(paid[where]))).size:
            raise ValueError(f"rewards must be finite, got nan in row {missing[0] + 1}, {where}")
    sizes = {where: len(column) for where, column in paid.items()}
    if complete and len(set(sizes.values())) > 1:
        raise ValueError(f"by round, columns must be of one length, got {sizes}")
    rewards = _copied(paid)
    labels = () if of_array else tuple(map(str, columns))
    entries = sum(sizes.values())
    lacking = entries - sum(map(len, rewards))
    left_out = f"{lacking} of {entries} entries without a reward" if lacking else ""
    law = f"rewards of a table with {max(sizes.values(), default=0)} rows"
    return Rewards(rewards, labels, law, left_out)


def read_log(columns: Mapping[Hashable, pd.Series], arm: Hashable, reward: Hashable) -> Rewards:
    """Return the rewards of each arm in a log."""
    for role, name in (("arm", arm), ("reward", reward)):
        if not isinstance(name, Hashable) or name not in columns:
            known, named = ", ".join(map(str, columns)), {str(column): column for column in columns}
            meant = nearest(str(name), named)
            if str(name) in named:
                meant = f"; did you mean {named[str(name)]!r}?"
            raise ValueError(f"{role} names no column: {name!r}{meant}; there are {known}")
    if arm == reward:
        raise ValueError(f"arm and reward must be two columns, got {arm!r} for both")
    arms, paid = columns[arm], _numbers(columns[reward], f"column {reward!r}")
    if len(arms) != len(paid):
        raise ValueError(f"a log's columns must be of one length, got {len(arms)} and {len(paid)}")
    try:
        named = pd.Categorical(arms)  # sorted, if they can be
    except TypeError:  # of lists
        message = f"arms must be numbers or texts, got {inputs.shown(arms)}"
        raise ValueError(f"{message} in column {arm!r}") from None
    if len(named.categories) > MOST_ARMS:
        message = f"a log must have at most {MOST_ARMS} arms, got {len(named.categories)}"
        raise ValueError(f"{message} in column {arm!r}")
    names = [*named.categories]
    rewards = _copied({f"arm {name!r}": paid[named.codes == k] for k, name in enumerate(names)})
    # whole numbers beside missing ones are floats
    whole = (int(name) if isinstance(name, float) and name.is_integer() else name for name in names)
    used = sum(map(len, rewards))
    lacking = len(paid) - used
    left_out = f"{lacking} of {len(paid)} rows without arm or reward" if lacking else ""
    return Rewards(rewards, tuple(map(str, whole)), f"a log of {used} rewards", left_out)


def _copied(paid: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the rewards that are there, as arrays that nobody else has and nobody can change."""
    copies = []
    for of, rewards in paid.items():
        copies.append(rewards[~np.isnan(rewards)])
        if not copies[-1].size:
            raise ValueError(f"an arm must have a reward, got none for {of}")
        copies[-1].flags.writeable = False
    return tuple(copies)


def _numbers(column: pd.Series, where: str) -> np.ndarray:
    """Return a column's rewards as floats, nan for what is missing; truth values are 0 and 1."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    kind = pd.api.types
    if kind.is_numeric_dtype(column.dtype) and not kind.is_complex_dtype(column.dtype):
        rewards = column.to_numpy(float, na_value=np.nan)  # truth values and nullable ones, too
    else:
        rewards = np.full(len(column), np.nan)
        for row in np.flatnonzero(~column.isna().to_numpy()):
            value = column.iloc[row]
            is_truth = isinstance(value, bool | np.bool_)
            cell = f" in row {row + 1}, {where}"
            rewards[row] = value if is_truth else inputs.number("rewards", value, cell)
    for row in np.flatnonzero(np.isinf(rewards))[:1]:
        raise ValueError(f"rewards must be finite, got {rewards[row]} in row {row + 1}, {where}")
    return rewards

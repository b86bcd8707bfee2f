"""What is computed of the data is computed again: curves, the arena's tables, the audit's."""

import shutil
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import small
from fairbandits.data.alike import alike
from fairbandits.data.store import read_footer, table_hash, write_table
from fairbandits.report.again import computed_again

TABLE = {
    "name": ["a", '{"b": 0.5, "c": 12, "d": 1e-05}'],
    "n": [1, None],
    "mean": [0.25, float("nan")],
    "seed": ["12345678901234567", "5e123456789012ab"],
}


def test_last_digits_may_differ_and_nothing_else():
    table = pa.table(TABLE)
    last = TABLE | {
        "name": ["a", '{"b": 0.50000000000001, "c": 12, "d": 1.00000000000001e-05}'],
        "mean": [0.2500000000000001, float("nan")],
    }
    assert alike(table, pa.table(last))
    for change in (
        {"mean": [0.250001, float("nan")]},
        {"mean": [0.25, 0.0]},
        {"n": [2, None]},
        {"n": [1, 1]},
        {"n": [1.0, None]},
        {"name": ["a", '{"b": 0.5001, "c": 12, "d": 1e-05}']},
        {"name": ["a", '{"b": 0.5, "c": 12, "d": 2e-05}']},
        {"name": ["a", '{"b": 0.5, "d": 12, "d": 1e-05}']},
        {"name": ["b", '{"b": 0.5, "c": 12, "d": 1e-05}']},
        {"seed": ["12345678901234568", "5e123456789012ab"]},
        {"seed": ["12345678901234567", "5e123456789013ab"]},
    ):
        assert not alike(table, pa.table(TABLE | change))
    assert not alike(table, table.slice(1))
    assert not alike(table, table.drop(["n"]))


def edited(file, column):
    """Write a table with its numbers changed, as it would have been written had this come out."""
    table = pq.read_table(file)
    index = table.column_names.index(column)
    values = pc.multiply(table[column], 1.001)
    table = table.set_column(index, table.schema.field(column), values)
    write_table(file, table, read_footer(file) | {"content": table_hash(table)})


@pytest.mark.slow
def test_an_edited_curve_or_standing_is_named(tmp_path, tmp_path_factory):
    results, there = tmp_path / "results", small.small_arena(tmp_path_factory)
    small.small_paper(tmp_path_factory, "ht_ucb")
    for name in ("ht_ucb", "arena"):
        shutil.copytree(there / name, results / name)
    (results / "audit").mkdir()
    shutil.copy(there / "audit" / "arena.csv", results / "audit")
    config = small.small_config(results)
    few = tuple(block for block in config.experiments if block.paper == "ht_ucb")
    config = replace(config, experiments=few, replays=())
    arena = replace(small.small_arena_config(results), folders={"results": str(results)})
    assert computed_again(config, arena, config, {}, tmp_path / "first")[0] == []
    files = results / "ht_ucb" / "fig1.parquet", results / "arena" / "standings.parquet"
    for file, column in zip(files, ("mean", "contract_regret"), strict=True):
        edited(file, column)
    named, said = computed_again(config, arena, config, {}, tmp_path / "second")
    assert named == [f"{file} has other content than when it is computed again" for file in files]
    assert said.endswith("tables computed again of the data agree")

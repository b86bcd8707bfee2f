"""A figure is drawn from the datasets that it shows and no others, each row once, or not at all."""

from functools import partial

import pyarrow as pa
import pytest

import small
from fairbandits.data.store import StoreError, read_footer, read_table, write_table
from fairbandits.figures.draw import draw

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    make = partial(small.write_results, "banditq")
    return small.once(tmp_path_factory, "banditq", make) / "results" / "banditq"


def refusal(folder, *data):
    """Return why fig1 is not drawn; nothing may be written."""
    files = {kind: folder / f"fig1.{kind}" for kind in ("svg", "png", "table")}
    with pytest.raises(StoreError) as error:
        draw("banditq", "fig1", data, None, **files)
    assert not any(file.exists() for file in files.values())
    return str(error.value)


def test_the_dataset_of_another_figure_is_refused(made, tmp_path):
    right, other = made / "full_information.parquet", made / "bandit_feedback.parquet"
    assert refusal(tmp_path, other) == (
        f"{other} does not belong here: banditq fig1 does not show bandit_feedback first, "
        "which is so shown in fig4, fig5, fig6"
    )
    assert refusal(tmp_path, right, other).startswith(
        f"{other} does not belong here: banditq fig1 does not show bandit_feedback beside another"
    )


def of_no_run(table):
    names = pa.array(["other"] * 5).dictionary_encode().cast(table["run"].type)
    rows = table.slice(0, 5).set_column(table.column_names.index("run"), "run", names)
    return pa.concat_tables([table, rows])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda table: pa.concat_tables([table] * 2), "its rows must be arms 1 to 5 of the same"),
        (of_no_run, "rows of other are of no run that its footer has"),
    ],
)
def test_rows_that_are_not_those_of_the_runs_are_refused(made, tmp_path, change, says):
    right, file = made / "full_information.parquet", tmp_path / "data.parquet"
    write_table(file, change(read_table(right)), read_footer(right))
    assert refusal(tmp_path, file).startswith(f"{file}: {says}")

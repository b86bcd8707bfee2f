"""Draw one registered figure from a dataset."""

import importlib
import pkgutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairbandits import figures
from fairbandits.data.provenance import figure_code
from fairbandits.data.store import StoreError, read_footer, read_table, table_hash, write_table
from fairbandits.library import style
from fairbandits.replication.datasets import expect, expect_all_rows, load_dataset, refuse_stale
from fairbandits.replication.recorded import Dataset
from fairbandits.settings.marks import mark, mark_of_replay
from fairbandits.settings.schemas import meant

#: The function that draws a figure, the columns that it needs, and which rows, if not all of them.
Figure = tuple[Callable, list[str]] | tuple[Callable, list[str], Any]


def _papers() -> dict[str, Mapping[str, Figure]]:
    """Return the figures of all modules in this folder that define some."""
    names = [one.name for one in pkgutil.iter_modules(figures.__path__) if one.name != "draw"]
    modules = {name: importlib.import_module(f"{figures.__name__}.{name}") for name in names}
    return {name: one.FIGURES for name, one in modules.items() if hasattr(one, "FIGURES")}


#: Title characters per inch.
CHARACTERS = 12


#: Paper -> figure -> its function. A paper is a module of `fairbandits.figures`.
PAPERS = _papers()


def draw(
    paper: str,
    figure: str,
    data: Sequence[Path],
    published: Path | None,
    *,
    svg: Path,
    png: Path,
    table: Path,
) -> None:
    """Draw a figure from datasets and write its images, and its curves as a table.

    The first dataset is the figure's own experiment; there is none if it shows a replay alone,
    which `published` is. The Parquet table has one row per law, series and round, or for a replay
    alone per series and round. Raises ValueError without anything to draw, StoreError for an
    unusable dataset.
    """
    if paper not in PAPERS:
        raise ValueError(f"there are no figures of {paper!r}{meant(paper, list(PAPERS))}")
    if figure not in PAPERS[paper]:
        raise ValueError(f"{paper} has no figure {figure!r}{meant(figure, list(PAPERS[paper]))}")
    function, columns, *rows = PAPERS[paper][figure]
    if not data and not published:
        raise ValueError(f"{paper} {figure} needs datasets, or a published run that was replayed")
    _check(paper, figure, data)
    columns = ["run", "round", *columns]
    datasets = [Dataset(*load_dataset(file, columns, *rows)) for file in data]
    replayed = None
    if published:
        footer = read_footer(published)
        expect(footer, {"kind": "replay"}, published)
        replayed = read_table(published).to_pandas()
        replayed.attrs = footer
    style.apply_style()
    drawing, curves = function(datasets, replayed)
    words = mark([one.footer for one in datasets])
    if replayed is not None and not datasets:
        words = mark_of_replay(int(replayed["round"].max()), replayed.attrs)
    if words:
        width = round(CHARACTERS * drawing.get_figwidth())
        drawing.suptitle(textwrap.fill(words, width), fontsize="medium", color="0.3")
    record = {
        "kind": "figure",
        "paper": paper,
        "figure": figure,
        "datasets": [
            {key: footer[key] for key in ("paper", "experiment", "seed", "code")}
            for _, footer in datasets
        ],
        "code": figure_code(paper),
    }
    if replayed is not None:
        record["replay"] = {key: replayed.attrs[key] for key in ("code", "content")}
    content = pa.Table.from_pandas(curves, preserve_index=False)
    write_table(table, content, record | {"content": table_hash(content)})
    style.save(drawing, svg, png)


def _check(paper: str, figure: str, data: Sequence[Path]) -> None:
    """Raise StoreError unless a figure shows these datasets, its own first, with all their rows."""
    seen: dict[str, Path] = {}
    for file in data:
        footer = read_footer(file)
        expect(footer, {"kind": "dataset", "paper": paper}, file)
        refuse_stale(footer, file)
        name, role = footer["experiment"], "companion_to" if seen else "figures"
        if figure not in (shown := footer.get(role, [])):
            what = "beside another" if seen else "first"
            raise StoreError(
                f"{file} does not belong here: {paper} {figure} does not show {name} {what}, "
                f"which is so shown in {', '.join(shown) or 'no figure'}"
            )
        if name in seen:
            raise StoreError(f"{file} does not belong here: {seen[name]} has {name} already")
        seen[name] = file
        expect_all_rows(file)

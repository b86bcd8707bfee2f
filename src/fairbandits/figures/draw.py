"""Draw one registered figure from a dataset."""

import importlib
import textwrap
from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from fairbandits.data.store import StoreError, read_footer, read_table, table_hash, write_table
from fairbandits.figures import PAPERS, figure_code
from fairbandits.library import style
from fairbandits.replication.datasets import expect, expect_all_rows, fresh, load_dataset
from fairbandits.replication.recorded import Dataset
from fairbandits.settings.marks import mark
from fairbandits.settings.models import expect_known


def function_of(paper: str, figure: str) -> Callable:
    """Return the function that draws a figure; it says what it ``reads`` and of which ``rows``."""
    expect_known(paper, PAPERS, f"there are no figures of {paper!r}")
    expect_known(figure, PAPERS[paper], f"{paper} has no figure {figure!r}")
    module = importlib.import_module(f"fairbandits.figures.{paper}")
    return getattr(module, PAPERS[paper][figure].function)


def drawn(function: Callable, data: Sequence[Path], replayed: Any) -> tuple[Figure, Any, list]:
    """Return a figure, its curves, and the footers of its datasets."""
    datasets = [Dataset(*load_dataset(file, function.reads, function.rows)) for file in data]
    sources = {"datasets": datasets, "published": replayed}
    drawing, curves = function(**{name: sources[name] for name in signature(function).parameters})
    return drawing, curves, [dataset.footer for dataset in datasets]


@style.in_style()
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
    """Draw a figure from datasets, its own first, or a replay alone; write images and curves."""
    function = function_of(paper, figure)
    if not data and not published:
        raise ValueError(f"{paper} {figure} needs datasets, or a published run that was replayed")
    _check(paper, figure, data)
    replayed = None
    if published:
        footer = read_footer(published)
        expect(footer, {"kind": "replay"}, published)
        replayed = read_table(published).to_pandas()
        replayed.attrs = footer
    drawing, curves, footers = drawn(function, data, replayed)
    notice = mark(footers)
    if not data and (last := replayed["round"].max()) != footer["horizon"]:
        notice = f"not results: {last} rounds in place of {footer['horizon']}"
    if notice:
        width = round(style.NOTE * drawing.get_figwidth())  # characters
        drawing.legends[0].set_title(textwrap.fill(notice, width))
    declared, origin = PAPERS[paper][figure], ("paper", "experiment", "seed", "code")
    record = {"kind": "figure", "paper": paper, "figure": figure}
    record |= {"quantity": declared.quantity, "unit": declared.unit}
    record |= {"datasets": [{key: footer[key] for key in origin} for footer in footers]}
    record |= {"code": figure_code(paper)}
    if replayed is not None:
        record["replay"] = {key: replayed.attrs[key] for key in ("code", "content")}
    content = pa.Table.from_pandas(curves, preserve_index=False)
    write_table(table, content, record | {"content": table_hash(content)})
    shows = footers or [replayed.attrs | {"title": declared.label.partition(", ")[2]}]
    title = f"Figure {figure.removeprefix('fig')}: {declared.label}"
    style.save(drawing, svg, png, title, declared.caption(shows))


def _check(paper: str, figure: str, data: Sequence[Path]) -> None:
    """Raise StoreError unless a figure shows these datasets, its own first, with all their rows."""
    seen: dict[str, Path] = {}
    for file in data:
        footer = fresh(file, "dataset", paper=paper)
        name, role, what = footer["experiment"], "figures", "first"
        if seen:
            role, what = "companion_to", "beside another"
        if figure not in (shown := footer.get(role, [])):
            raise StoreError(
                f"{file} does not belong here: {paper} {figure} does not show {name} {what}, "
                f"which is so shown in {', '.join(shown) or 'no figure'}"
            )
        if name in seen:
            raise StoreError(f"{file} does not belong here: {seen[name]} has {name} already")
        seen[name] = file
        expect_all_rows(file)

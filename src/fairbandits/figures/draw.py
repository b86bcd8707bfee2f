"""Draw one registered figure from a dataset."""

from pathlib import Path

import pyarrow as pa

from fairbandits.experiments.datasets import load_dataset
from fairbandits.figures import banditq, style
from fairbandits.provenance import fingerprint
from fairbandits.store import read_table, write_table

#: Paper -> figure -> the function that draws it.
PAPERS = {"banditq": banditq.FIGURES}


def draw(
    paper: str,
    figure: str,
    data: Path,
    published: Path | None,
    *,
    svg: Path,
    png: Path,
    table: Path,
) -> None:
    """Draw a figure and write what it shows.

    Parameters
    ----------
    paper, figure : str
        E.g. ``banditq``, ``fig1``.
    data : Path
        Dataset of the experiment.
    published : Path, optional
        Replay of the published run.
    svg, png : Path
        Image files to write.
    table : Path
        Parquet file to write: one row per law, series and round.

    Raises
    ------
    ValueError
        If there is no such figure.
    StoreError
        If the dataset cannot be used.
    """
    known = {
        f"{slug} {name}": drawn for slug, names in PAPERS.items() for name, drawn in names.items()
    }
    if f"{paper} {figure}" not in known:
        raise ValueError(f"figure must be one of {', '.join(known)}, got '{paper} {figure}'")
    dataset, footer = load_dataset(data)
    replayed = read_table(published).to_pandas() if published else None
    style.apply_style()
    drawing, curves = known[f"{paper} {figure}"](dataset, footer, replayed)
    record = {
        "kind": "figure",
        "paper": paper,
        "figure": figure,
        "dataset": {key: footer[key] for key in ("paper", "experiment", "seed", "code")},
        "code": fingerprint("figures", "metrics", "benchmarks"),
    }
    write_table(table, pa.Table.from_pandas(curves, preserve_index=False), record)
    style.save(drawing, svg, png)

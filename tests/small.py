"""A small set of results, and the pages of it, made without the workflow; once per test session."""

import contextlib
from pathlib import Path

import pyarrow as pa

from fairbandits.experiments.config import ROOT, build_config
from fairbandits.experiments.datasets import collect
from fairbandits.experiments.simulate import write_chunk
from fairbandits.figures.draw import draw
from fairbandits.provenance import SIMULATION, fingerprint
from fairbandits.replay.banditq_uai2024 import replay
from fairbandits.site import build, execute
from fairbandits.store import write_table

SEED = 20240725
REPLICATES = 3
HORIZON = 300
PAPERS = ["banditq", "fair_ucb", "ht_ucb", "bf_ucb"]
PAGES = ["index", *PAPERS]
NOTEBOOKS = ROOT / "notebooks"


def small_config(folder: Path):
    """Return the real configuration, cut down as for a smoke run."""
    return build_config(
        {
            "seed": SEED,
            "scale": "smoke",
            "papers": PAPERS,
            "pathvars": dict.fromkeys(("results", "figures", "logs", "benchmarks"), str(folder)),
            "smoke": {
                "horizon": HORIZON,
                "replicates": REPLICATES,
                "chunk": REPLICATES,
                "checkpoints": {"linear": 30, "log": 10},
            },
        },
        "test",
    )


def small_results(factory) -> Path:
    """Return a folder with ``results`` and ``figures``; `factory` is pytest's tmp_path_factory."""
    folder = factory.getbasetemp() / "small"
    if folder.exists():
        return folder
    config = small_config(folder)

    def dataset_of(one):
        return folder / "results" / one.paper / f"{one.name}.parquet"

    for one in config.experiments:
        chunks = []
        for run in one.runs:
            chunks.append(folder / "cache" / run.key / f"{run.chunks()[0]}.parquet")
            write_chunk(run.block, SEED, range(REPLICATES), chunks[-1])
        collect(chunks, one.facts(), SEED, dataset_of(one))
    for one in config.experiments:
        for name in one.figures:
            images = folder / "figures" / one.paper / name
            datasets = [dataset_of(shown) for shown in config.shown_in(one.paper, name)]
            draw(
                *(one.paper, name, datasets, None),
                svg=images.with_suffix(".svg"),
                png=images.with_suffix(".png"),
                table=dataset_of(one).with_name(f"{name}.parquet"),
            )
    code = fingerprint(*SIMULATION, "replay")
    table = pa.table(replay(5, "bandit", rounds=2000))
    write_table(folder / "results" / "banditq" / "replay_5_bandit.parquet", table, {"code": code})
    return folder


def executed_pages(factory) -> list[Path]:
    """Return the executed notebooks of the small results."""
    folder = small_results(factory)
    pages = [folder / "pages" / f"{page}.ipynb" for page in PAGES]
    for page in pages:
        if not page.exists():
            execute_in(folder, page)
    return pages


def execute_in(folder: Path, out: Path) -> None:
    """Execute the notebook of this name as the workflow does, with folders named from `folder`."""
    with contextlib.chdir(folder):
        execute(NOTEBOOKS / out.name, out, {"results": "results", "figures": "figures"})


def built_site(factory) -> Path:
    """Return the folder of the site of the small results."""
    folder = small_results(factory)
    if not (folder / "site").exists():
        build(executed_pages(factory), folder / "figures", folder / "site")
    return folder / "site"

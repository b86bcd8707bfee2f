"""A small set of results, and the pages of it, made without the workflow.

They are made once per test session, whatever process asks first; nobody writes into them later.
"""

import contextlib
import hashlib
import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock, Timeout

import real
import shrunk
from fairbandits.arena import standings
from fairbandits.arena.settings import arena_config
from fairbandits.audit import rows
from fairbandits.audit import run as audit
from fairbandits.audit.claims import Paper, committed
from fairbandits.audit.finding import (
    GRADES,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    Answer,
    Finding,
)
from fairbandits.audit.procedures import judged_against
from fairbandits.figures.draw import draw
from fairbandits.replication.banditq_uai2024 import write_replay
from fairbandits.report.build import build, execute
from fairbandits.settings.config import build_config
from fairbandits.settings.schemas import ROOT, read_yaml

SEED = 20240725
REPLICATES = 3
HORIZON = 300
PAPERS = read_yaml(ROOT / "config" / "config.yaml")["papers"]
LIMITS_OF_THE_ARENA = {"horizon": 200, "replicates": REPLICATES, "chunk": REPLICATES}
LIMITS_OF_THE_ARENA |= {"checkpoints": {"linear": 5, "log": 2}}
#: Pages that are of no paper.
LIBRARY_PAGES = ["library", "your_own_policy"]
PAGES = ["index", "audit", "across", "arena", *LIBRARY_PAGES, *PAPERS]
NOTEBOOKS = ROOT / "notebooks"
#: Marks of tests that build the site: warnings of Sphinx to the authors of its extensions.
OF_SPHINX = [
    pytest.mark.filterwarnings(f"ignore::sphinx.deprecation.RemovedInSphinx{k}Warning")
    for k in (10, 11)
]


@cache
def small_config(folder: Path):
    """Return the real configuration, cut down as for a smoke run."""
    limits = {"horizon": HORIZON, "replicates": REPLICATES, "chunk": REPLICATES}
    limits["checkpoints"] = {"linear": 30, "log": 10}
    return build_config(shrunk.settings(PAPERS, SEED, folder, **limits), "test")


def folder_of(factory) -> Path:
    """Return the folder that all processes of a test session share."""
    base = factory.getbasetemp()
    # a worker's folder is in that of the session; a session started by a test has one of its own
    return (base.parent if base.name.startswith("popen-") else base) / "small"


def once(factory, name: str, make: Callable[[Path], None], wait: float = -1) -> Path:
    """Return the shared folder after `make` was called with it by one process of the session.

    Another process that is making it is waited for, or for so many seconds (`filelock.Timeout`).
    """
    folder = folder_of(factory)
    folder.mkdir(exist_ok=True)
    made = folder / f".{name}"
    with FileLock(folder / f".{name}.lock", timeout=wait):
        if not made.exists():
            make(folder)
            made.touch()
    return folder


def between_them(*makes: Callable[..., Any]) -> list[Any]:
    """Return what these functions do; processes that call this at the same time share the work.

    Each does first what no other is at, by ``wait=0``, and then waits for the others.
    """
    for make in makes:
        with contextlib.suppress(Timeout):
            make(wait=0)
    return [make() for make in makes]


def small_results(factory) -> Path:
    """Return a folder with ``results`` and ``figures``; `factory` is pytest's tmp_path_factory."""
    parts = {"arena": write_arena, "replays": write_replays, "audit": write_audit}
    between_them(
        *(partial(small_paper, factory, paper) for paper in PAPERS),
        *(partial(once, factory, name, make) for name, make in parts.items()),
    )
    return folder_of(factory)


def small_paper(factory, paper: str, wait: float = -1) -> Path:
    """Return a folder with ``results`` and ``figures`` of one paper, if with nothing else."""
    return once(factory, paper, partial(write_results, paper), wait)


def audited(factory) -> Path:
    """Return a folder with ``results/audit`` in it, if with nothing else."""
    return once(factory, "audit", write_audit)


def write_results(paper: str, folder: Path) -> None:
    """Simulate, and draw all figures of a paper but for those of replays alone."""
    config = small_config(folder)

    def dataset_of(one):
        return folder / "results" / one.dataset

    experiments = [one for one in config.experiments if one.paper == paper and not one.audit]
    for one in experiments:
        shrunk.dataset_of(one, folder / "results", SEED)
    for one in experiments:
        for name in one.figures:
            datasets = [dataset_of(each) for each in config.shown_in(one.paper, name)]
            draw_figure(folder, one.paper, name, datasets, None)


def draw_figure(folder: Path, paper: str, name: str, datasets: list[Path], replay: Path | None):
    """Draw a figure of a paper into ``figures``, and its table into ``results``."""
    images, table = folder / "figures" / paper / name, folder / "results" / paper / name
    svg, png = (images.with_suffix(f".{kind}") for kind in ("svg", "png"))
    draw(paper, name, datasets, replay, svg=svg, png=png, table=table.with_suffix(".parquet"))


def small_arena(factory) -> Path:
    """Return a folder of results with the arena in it, if with nothing else."""
    return once(factory, "arena", write_arena) / "results"


def small_arena_config(results: Path):
    settings = shrunk.settings([], SEED, results, **LIMITS_OF_THE_ARENA)
    return arena_config(settings, "test")


def write_arena(folder: Path) -> None:
    """Run the arena with few rounds, and write its tables; one instance has a longer run too."""
    results, limits = folder / "results", LIMITS_OF_THE_ARENA
    config = small_arena_config(results)
    for one in config.experiments:
        shrunk.dataset_of(one, results, config.root_seed)
    standings.write(config, results / "arena", results / "audit" / "arena.csv")
    longer = shrunk.settings(["arena"], SEED, results, **limits | {"horizon": 400})
    one = build_config(longer, "test").experiment("arena", "arms_1e4_fair_ucb_2")
    shrunk.dataset_of(one, results, SEED)


def write_replays(folder: Path) -> None:
    """Write short replays, and draw what is drawn from them alone."""
    for one in small_config(folder).replays:
        arms, feedback = one.name.split("_")[1:]
        table = folder / "results" / one.table
        write_replay(int(arms), feedback, table, rounds=2000 if arms == "5" else 300)
        for name in one.figures:
            draw_figure(folder, one.paper, name, [], table)


def claims() -> list[str]:
    """Return the ids of all claims."""
    return list(real.every())


def kept(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that committed tables have: no claim in them differs between machines."""
    there = committed(real.papers())
    return [row for row in rows if row["claim"] in there]


def write_audit(folder: Path) -> None:
    """Write made-up findings of the real claims, and the verdicts on them, into ``results``."""
    papers = real.papers()
    results = folder / "results" / "audit"
    files = []
    for slug, paper in papers.items():
        files.append(results / f"{slug}.parquet")
        write_findings(files[-1], paper, (one for key in paper.claims for one in made_up(key)))
    joint, verdicts = (results / f"{name}.parquet" for name in ("findings", "verdicts"))
    audit.write_verdicts(files, papers, joint, verdicts)


def write_findings(
    file: Path, paper: Paper, found: Iterable[Answer], scale: str = "smoke", **made: rows.Made
) -> None:
    """Write the findings of one paper, as `fairbandits audit` does; `made` is of what."""
    papers = {paper.slug: paper}
    own = [rows.finding_row(papers, one, *made.values()) for one in found]
    rows.write(file, "findings", own, papers, scale, *made.values())


def made_up(claim: str) -> Iterator[Answer]:
    """Yield made-up findings of two cases of each test and reading of a claim; some fail."""
    seen = Counter()
    for one in real.asked(claim):
        seen[one.test, one.reading] += 1
        if seen[one.test, one.reading] <= 2:
            yield _made_up(one)


def made_up_finding() -> Finding:
    """Return a finding that is of no test in particular."""
    return Finding(0.0, -1.0, 1.0, 3, 0.5, INCONCLUSIVE, (), {})


def _made_up(answer: Answer) -> Answer:
    name = f"{answer.claim} {answer.test} {answer.reading} {answer.each}"
    rng = np.random.default_rng(int.from_bytes(hashlib.blake2b(name.encode()).digest(), "little"))
    kind = rng.integers(0, 80)
    if kind == 0:
        return replace(answer, message="values must have at least 10 entries, got 3")
    also = {"largest inside": 1.0}
    against = judged_against(
        *(answer.procedure, answer.settings),
        Finding(0.0, 0.0, 0.0, 3, None, INCONCLUSIVE, (), also),
    )
    middle = next(iter(against.values()))
    if kind == 1:
        finding = Finding(np.nan, np.nan, np.nan, 3, None, REPRODUCED, ("SIGN",), also)
    else:
        verdict = (REPRODUCED, REPRODUCED, INCONCLUSIVE, NOT_REPRODUCED)[kind % 4]
        at = middle + rng.normal() * 10.0 ** rng.integers(-2, 4)
        ends = (-np.inf, np.inf) if kind == 2 else (at - rng.random(), at + rng.random())
        p = None if answer.procedure == "exact" else 0.5 if verdict == INCONCLUSIVE else 1e-4
        finding = Finding(at, *ends, 3, p, verdict, (), also)
    if finding.verdict != INCONCLUSIVE:
        finding = replace(finding, grade=tuple(GRADES)[kind % 3], control=INCONCLUSIVE)
    return replace(answer, **vars(finding), against=against)


def executed_page(factory, name: str, wait: float = -1) -> Path:
    """Return an executed notebook of the small results."""
    page = small_results(factory) / "pages" / f"{name}.ipynb"
    once(factory, f"page-{name}", lambda folder: execute_in(folder, page), wait)
    return page


def executed_pages(factory) -> list[Path]:
    """Return the executed notebooks of the small results."""
    return between_them(*(partial(executed_page, factory, name) for name in PAGES))


def execute_in(folder: Path, out: Path) -> None:
    """Execute the notebook of this name as the workflow does, with folders named from `folder`."""
    with contextlib.chdir(folder):
        execute(NOTEBOOKS / out.name, out, {"results": "results", "figures": "figures"})


def plain(markup: str) -> str:
    """Return the text of some HTML, with single spaces."""
    return html.unescape(re.sub(r"[ \n]+", " ", re.sub(r"<[^>]+>", " ", markup))).strip()


def built_site(factory) -> Path:
    """Return the folder of the site of the small results."""
    pages = executed_pages(factory)

    def make(folder):
        build(pages, folder / "figures", folder / "site", folder / "results", root=folder)

    return once(factory, "site", make) / "site"

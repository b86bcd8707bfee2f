"""What is computed of a run's datasets, computed again: curves, the arena's tables, the audit's."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fairbandits.arena import standings
from fairbandits.arena.settings import SLUG, TABLES
from fairbandits.audit import rows, run
from fairbandits.audit.claims import Papers
from fairbandits.data.alike import alike
from fairbandits.data.store import StoreError, read_table
from fairbandits.figures import shown_by
from fairbandits.figures.draw import draw
from fairbandits.numerals import counted
from fairbandits.settings.config import Config

#: A file on disk, and where the same was computed again.
Pairs = Iterator[tuple[Path, Path]]


def computed_again(
    config: Config, arena: Config, judging: Config, papers: Papers, folder: Path
) -> tuple[list[str], str]:
    """Compute what is on disk again, into `folder`; return what differs, and how much agrees.

    `judging` has the published settings, at which claims are asked whatever the scale of the data.
    Numbers may differ in their last digits, as they do between processors; texts may not, nor the
    committed short tables, whose numbers have few digits.
    """
    problems, n = [], 0
    curves, tables = _curves(config, folder / "curves"), _standings(arena, folder / "arena")
    for made in (curves, tables, _audited(judging, papers, folder / "audit")):
        try:
            for there, again in made:
                n += 1
                if not _same(there, again):
                    problems.append(f"{there} has other content than when it is computed again")
        except StoreError as error:
            problems.append(str(error))
    return problems, f"{counted(n, 'table')} computed again of the data agree"


def _same(there: Path, again: Path) -> bool:
    if there.suffix == ".csv":
        return there.read_bytes() == again.read_bytes()
    return alike(read_table(there), read_table(again))


def _curves(config: Config, folder: Path) -> Pairs:
    for paper, figure in config.figures:
        there, again = (base / paper / f"{figure}.parquet" for base in (config.results, folder))
        if there.is_file():
            shown, replay = shown_by(config, paper, figure)
            data = [config.results / experiment.dataset for experiment in shown]
            published = config.results / replay.table if replay else None
            images = {end: again.with_suffix(f".{end}") for end in ("svg", "png")}
            draw(paper, figure, data, published, **images, table=again)
            yield there, again


def _standings(config: Config, folder: Path) -> Pairs:
    tables = [f"{name}.parquet" for name in TABLES]
    there = config.results / SLUG
    if all((there / name).is_file() for name in tables):
        ran = [exp for exp in config.experiments if (config.results / exp.dataset).is_file()]
        config = replace(config, experiments=tuple(ran))  # a small run has one horizon only
        standings.write(config, folder, folder / standings.COMMITTED)
        yield from ((there / name, folder / name) for name in tables)
        yield from _short(config, folder, standings.COMMITTED)


def _audited(config: Config, papers: Papers, folder: Path) -> Pairs:
    there = config.results / "audit"
    names = [f"{slug}.parquet" for slug in papers]
    if not papers or not all((there / name).is_file() for name in names):
        return
    for slug, paper in papers.items():
        findings, scale, made = run.find(config, paper)
        judged = [rows.finding_row({slug: paper}, finding, made) for finding in findings]
        rows.write(folder / f"{slug}.parquet", "findings", judged, {slug: paper}, scale, made)
    joint, verdicts = (f"{name}.parquet" for name in ("findings", "verdicts"))
    files = [folder / name for name in names]
    failed, written = run.write_verdicts(files, papers, folder / joint, folder / verdicts)
    if not written:
        raise StoreError("; ".join(failed))
    run.record(folder / verdicts, folder / joint, papers, folder)
    stored = (name for name in (*names, joint, verdicts) if (there / name).is_file())
    yield from ((there / name, folder / name) for name in stored)
    yield from _short(config, folder, rows.VERDICTS_TABLE, rows.FINDINGS_TABLE)


def _short(config: Config, folder: Path, *names: str) -> Pairs:
    """Yield the committed tables of these names that are there."""
    there = Path(config.folders.get("audit", config.results / "audit"))
    yield from ((there / name, folder / name) for name in names if (there / name).is_file())

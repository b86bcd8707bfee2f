"""Pack a finished run into one zip file, and take results out of it with every hash verified."""

import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import Any

from fairbandits.arena.settings import SLUG
from fairbandits.audit.claims import papers_with_claims
from fairbandits.audit.staleness import problems_of
from fairbandits.data.provenance import git
from fairbandits.data.store import StoreError, replacing
from fairbandits.figures import figure_code
from fairbandits.replication.verify import summarised, verify_tables
from fairbandits.report.crate import CRATE, Entry, jobs_of, listed, written
from fairbandits.settings.config import Config

#: Folder of the results in an archive, wherever they are on disk.
RESULTS = "results"
#: Suffixes of files that are compressed already.
COMPRESSED = (".parquet", ".png")


def tables_of(config: Config) -> list[str]:
    """Return the tables that a finished run must have, relative to its folder of results."""
    tables = [one.dataset for one in config.experiments]
    tables += [f"{paper}/{figure}.parquet" for paper, figure in config.figures]
    tables += [one.table for one in config.replays]
    if judged := papers_with_claims(config):
        tables += [f"audit/{name}.parquet" for name in (*judged, "findings", "verdicts")]
    return list(dict.fromkeys(tables))


def write_archive(config: Config, out: Path, root: Path, agent: str | None = None) -> int:
    """Write a finished run, with the tracked files of `root`; return how many files it has."""
    results = config.results
    site, tables = results / "site", [results / table for table in tables_of(config)]
    for file in (*tables, site / "index.html"):
        if not file.is_file():
            raise StoreError(f"{file} does not exist; `fairbandits replicate` makes it")
    members = {place: root / place for place in _tracked(root)}
    pages = [file for file in sorted(site.rglob("*")) if file.is_file()]
    arena = sorted((results / SLUG).rglob("*.parquet"))  # if it was run; its page shows them
    for file in (*tables, *arena, *pages):
        members[f"{RESULTS}/{file.relative_to(results).as_posix()}"] = file
    entries = {}
    with (
        replacing(out) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive,
    ):
        for place, file in members.items():
            how = zipfile.ZIP_STORED if file.suffix in COMPRESSED else zipfile.ZIP_DEFLATED
            archive.write(file, place, how)
            with file.open("rb") as opened:
                digest = file_digest(opened, "sha256").hexdigest()
            entries[place] = Entry(archive.getinfo(place).file_size, digest)
        # Snakemake names files from the project's folder; the results can have another one there
        names = {os.path.relpath(file, root): place for place, file in members.items()}
        jobs = [job.named(names) for job in jobs_of(root, names)]
        archive.writestr(CRATE, written(entries, jobs, config, agent))
    return len(entries)


def _tracked(root: Path) -> list[str]:
    try:
        names = git(root, "ls-files", "-z").split("\0")
    except OSError as error:
        raise StoreError(
            f"{root} is no git checkout, so that its code cannot be told from other files: {error}"
        ) from error
    return [name for name in names if name and (root / name).is_file()]


def fetch(archive: Path, runs: Sequence[tuple[Config, dict[str, Any]]]) -> int:
    """Unpack and verify an archive's results into the first run's folder; return how many files.

    `runs` are configurations with their locks: the archive's, and others that it may hold too.
    Everything is verified in a folder beside it first; on StoreError the folder is as it was.
    """
    config, results = runs[0][0], runs[0][0].results
    wanted = {f"{RESULTS}/{table}" for table in tables_of(config)}
    with _opened(archive) as found:
        entries = _listed(found, archive)
        for place in sorted(wanted - entries.keys()):
            raise StoreError(f"{archive} is of another run: it lacks {place}")
        taken = [place for place in entries if place.startswith(f"{RESULTS}/")]
        for top in dict.fromkeys(place.split("/")[1] for place in taken):
            if (results / top).exists():
                raise StoreError(
                    f"{results / top} is there already; move it away, or name another folder with "
                    "--results"
                )
        results.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=results.parent) as scratch:
            folder = Path(scratch)
            for place, entry in entries.items():
                _unpack(found, place, entry, folder if place in taken else None, archive)
            problems = []
            for one, locked in runs:
                staged = replace(one, folders={RESULTS: str(folder / RESULTS)})
                problems += verify_tables(staged, locked, figure_code) + problems_of(staged, locked)
            if problems:
                # errors say what to delete on disk, which does not apply to an archive
                reasons = [line.partition("; ")[0].replace(f"{folder}/", "") for line in problems]
                raise StoreError("\n".join([f"{archive} is refused:", *summarised(reasons)]))
            _move(folder / RESULTS, results)
    return len(taken)


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(archive) as found:
            yield found
    except FileNotFoundError:
        raise StoreError(f"{archive} does not exist") from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError) as error:
        raise StoreError(f"{archive} is damaged, or no zip archive: {error}") from error


def _listed(found: zipfile.ZipFile, archive: Path) -> dict[str, Entry]:
    """Return the files that the record lists, which must be exactly those in the archive."""
    names = found.namelist()
    if CRATE not in names:
        raise StoreError(f"{archive} is not one of our archives: it has no {CRATE}")
    for name in names:
        if PurePosixPath(name).is_absolute() or ".." in name.split("/") or "\\" in name:
            raise StoreError(f"{archive} has {name!r}, which leads out of the archive")
        if names.count(name) > 1:
            raise StoreError(f"{archive} has {name} more than once")
    entries = listed(found.read(CRATE), archive)
    for name in sorted(set(names) - entries.keys() - {CRATE}):
        raise StoreError(f"{archive} has {name}, which its record does not list")
    for name in sorted(entries.keys() - set(names)):
        raise StoreError(f"{archive} is damaged: it lacks {name}")
    return entries


def _unpack(
    found: zipfile.ZipFile, place: str, entry: Entry, folder: Path | None, archive: Path
) -> None:
    """Check a file's hash, and write the file below `folder` if that is given."""
    try:
        file = Path(found.extract(place, folder)) if folder else None
        with file.open("rb") if file else found.open(place) as opened:
            digest = file_digest(opened, "sha256").hexdigest()
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise StoreError(f"{archive} is damaged: {place} ({error})") from error
    if Entry(found.getinfo(place).file_size, digest) != entry:
        raise StoreError(f"{archive} is damaged: {place} has another hash than its record says")


def _move(staged: Path, results: Path) -> None:
    """Move a folder's content into another, all of it or nothing."""
    now = os.stat(staged).st_mtime
    for file in staged.rglob("*"):  # nothing is older than what it was made from
        os.utime(file, (now, now))
    results.mkdir(exist_ok=True)
    names = sorted(one.name for one in staged.iterdir())
    try:
        for name in names:
            (staged / name).rename(results / name)
    except BaseException:  # an interruption too
        for name in names:
            if not (staged / name).exists():
                (results / name).rename(staged / name)
        raise

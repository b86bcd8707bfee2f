"""Pack a finished run into one zip file, and take results out of it, all verified before use."""

import os
import re
import stat
import tempfile
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from fairbandits.audit.staleness import problems_of
from fairbandits.data.provenance import git
from fairbandits.data.store import StoreError, replacing
from fairbandits.numerals import counted
from fairbandits.replication.verify import summarised, verify_tables
from fairbandits.report import manifest as manifests
from fairbandits.report.crate import CRATE, Entry, jobs_of, listed, written
from fairbandits.report.manifest import MANIFEST, RESULTS, compared, read_manifest, tables_of
from fairbandits.settings.config import Config

#: Suffixes of files that are compressed already.
COMPRESSED = (".parquet", ".png")
#: Limits of an archive: files, bytes of a file, of all files, and of its record.
MOST_FILES, MOST_BYTES, MOST_IN_ALL, MOST_OF_RECORD = 20_000, 2 * 10**9, 2 * 10**10, 10**8
#: Most bytes of a file for each that it has when compressed, if it has more than are read at once.
MOST_PER_BYTE = 200
#: Longest part of a name in bytes, as most systems have it, and longest name; bytes read at once.
LONGEST_PART, LONGEST_NAME, BLOCK = 255, 400, 1 << 20


def write_archive(
    config: Config, out: Path, root: Path, agent: str | None = None
) -> tuple[int, str]:
    """Write a finished run, with the tracked files of `root`; return how many files, and its root.

    The files of the run are those that its manifest lists, as it lists them.
    """
    results = config.results
    for file in (results / name for name in (*tables_of(config), "site/index.html", MANIFEST)):
        if not file.is_file():
            raise StoreError(f"{file} does not exist; `fairbandits replicate` makes it")
    members = {name: root / name for name in _tracked(root)}
    folders, manifest = manifests.folders_of(config), read_manifest(results / MANIFEST)
    if problems := compared(manifest.hashes, folders, results / MANIFEST):
        raise StoreError(f"{problems[0]}; `fairbandits verify` names all that differs")
    members |= {name: manifests.place_of(name, folders) for name in manifest.hashes}
    members[f"{RESULTS}/{MANIFEST}"] = manifest.file
    hashes = manifests.hashes_of(members)
    with (
        replacing(out) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive,
    ):
        for name, file in members.items():
            how = zipfile.ZIP_STORED if file.suffix in COMPRESSED else zipfile.ZIP_DEFLATED
            archive.write(file, name, how)
        entries = {name: Entry(archive.getinfo(name).file_size, hashes[name]) for name in members}
        # Snakemake names files from the project's folder; the results can have another one there
        names = {os.path.relpath(file, root): name for name, file in members.items()}
        jobs = [job.named(names) for job in jobs_of(root, names)]
        archive.writestr(CRATE, written(entries, jobs, config, agent))
    return len(entries), manifest.root


def _tracked(root: Path) -> list[str]:
    try:
        names = git(root, "ls-files", "-z").split("\0")
    except OSError as error:
        raise StoreError(
            f"{root} is no git checkout, so that its code cannot be told from other files: {error}"
        ) from error
    return [name for name in names if name and (root / name).is_file()]


def fetch(
    archive: Path, config: Config, lock: dict[str, Any], root: str | None = None
) -> list[str]:
    """Unpack and verify an archive's results into the folder of results; return what agrees.

    Its root must begin with `root`, if that is given. Everything is verified in a folder beside the
    other first, and nothing is run; on StoreError the folder is as it was.
    """
    if root and not re.fullmatch("[0-9a-f]{16,64}", root):
        raise StoreError(f"--root must be the first 16 digits of a root or more, got {root!r}")
    results, shown = config.results, ("results", "figures", "audit")
    with _opened(archive) as opened:
        entries = _listed(opened, archive)
        tables = {f"{RESULTS}/{table}" for table in tables_of(config)}
        for table in sorted(tables - entries.keys()):
            raise StoreError(f"{archive} is of another run: it lacks {table}")
        taken = [name for name in entries if name.startswith(f"{RESULTS}/")]
        tops = {MANIFEST, *shown, *manifests.SHOWN, *config.papers}  # figures of a small run
        for name in taken:
            is_other = name.endswith(".parquet") and name not in tables
            if name.split("/")[1] not in tops or "/." in name or is_other:
                raise StoreError(f"{archive} has {name}, which is no file of this run")
        for top in dict.fromkeys(name.split("/")[1] for name in taken):
            if (results / top).exists():
                raise StoreError(
                    f"{results / top} is there already; move it away, or name another folder with "
                    "--results"
                )
        results.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=results.parent) as scratch:
            folders = {name: Path(scratch) / name for name in shown}
            for name, entry in entries.items():
                kept = Path(scratch) / name if name.split("/")[0] in shown else None
                _unpack(opened, name, entry, kept, archive)
            if not (folders[RESULTS] / MANIFEST).is_file():
                raise StoreError(f"{archive} is refused: it has no {RESULTS}/{MANIFEST}")
            try:
                manifest = read_manifest(folders[RESULTS] / MANIFEST)
            except StoreError as error:
                reason = str(error).replace(f"{scratch}/", "")
                raise StoreError(f"{archive} is refused: {reason}") from error
            for name in manifest.hashes:
                if name not in entries or name.partition("/")[0] not in shown:
                    raise StoreError(
                        f"{archive} is refused: {MANIFEST} lists {name}, which is not of this run"
                    )
            if root and not manifest.root.startswith(root):
                raise StoreError(f"{archive} is refused: its root is {manifest.root}, not {root}")
            # a small run has its figures and tables in the folder of results
            apart = {RESULTS, *(name.partition("/")[0] for name in manifest.hashes)}
            separate = {name: str(folder) for name, folder in folders.items() if name in apart}
            staged = replace(config, folders=separate)
            # what is tracked besides, such as agreement.csv, is the checkout's
            ours = {name: hash_ for name, hash_ in lock["files"].items() if name in manifest.hashes}
            problems = compared(manifest.hashes, folders, MANIFEST)
            problems += compared(ours, folders, lock["name"])
            others = {*taken} - manifest.hashes.keys() - {f"{RESULTS}/{MANIFEST}"}
            problems += [f"{name} is no file that {MANIFEST} lists" for name in sorted(others)]
            problems += verify_tables(staged, lock, manifests.facts_of(config)) + problems_of(
                staged, lock
            )
            if problems:
                # errors say what to delete on disk, which does not apply to an archive
                reasons = [line.partition("; ")[0].replace(f"{scratch}/", "") for line in problems]
                reasons = list(dict.fromkeys(reasons))
                raise StoreError("\n".join([f"{archive} is refused:", *summarised(reasons)]))
            _move(folders[RESULTS], results)
    agree = len({experiment.dataset for experiment in config.experiments}) + len(ours)
    trust = f"which its root alone vouches for: {manifest.root}"
    advice = "it begins as --root says" if root else "compare it with the author's"
    return [
        f"{results}: {counted(len(taken), 'file')}",
        f"{agree} datasets, figures and short tables agree with {lock['name']}",
        f"{len(manifest.hashes) - agree} other tables, pages and notebooks are as its manifest "
        f"says, {trust}; {advice}",
    ]


@contextmanager
def _guarded(archive: Path, part: str) -> Iterator[None]:
    """Name archive and part in whatever a reader raises; a missing file, a full disk stay."""
    try:
        yield
    except (StoreError, OSError):
        raise
    except Exception as error:  # readers of zip archives have many kinds
        problem = f"{part} ({type(error).__name__}: {error})"
        raise StoreError(f"{archive} is damaged: {problem}") from error


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with _guarded(archive, "it is no zip archive"):
            opened = zipfile.ZipFile(archive)
    except FileNotFoundError:
        raise StoreError(f"{archive} does not exist") from None
    with opened:
        yield opened


def _listed(opened: zipfile.ZipFile, archive: Path) -> dict[str, Entry]:
    """Return the files that the record lists, which must be exactly those in the archive."""
    infos = opened.infolist()
    if len(infos) > MOST_FILES:
        raise StoreError(f"{archive} has {len(infos)} files, more than {MOST_FILES}")
    for info in infos:
        if why := _refusal(info):
            raise StoreError(f"{archive} has {info.orig_filename[:300]!r}, {why}")
    names = {info.filename: info for info in infos}
    # systems can take names for the same that differ in case
    if twice := [
        name for name, n in Counter(info.filename.casefold() for info in infos).items() if n > 1
    ]:
        raise StoreError(f"{archive} has {twice[0]} more than once")
    folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
    if both := folders & names.keys():
        raise StoreError(f"{archive} has {min(both)} as a file and as a folder")
    if (size := sum(info.file_size for info in infos)) > MOST_IN_ALL:
        raise StoreError(f"{archive} holds {size} bytes, more than {MOST_IN_ALL}")
    if CRATE not in names:
        raise StoreError(f"{archive} is not one of our archives: it has no {CRATE}")
    for name in (CRATE, f"{RESULTS}/{MANIFEST}"):
        if name in names and (size := names[name].file_size) > MOST_OF_RECORD:
            raise StoreError(f"{archive}: {name} has {size} bytes, more than {MOST_OF_RECORD}")
    with _guarded(archive, CRATE), opened.open(CRATE) as source:
        # no more is unpacked than its size, which can be a lie
        entries = listed(source.read(names[CRATE].file_size), archive)
    for name in sorted(names.keys() - entries.keys() - {CRATE}):
        raise StoreError(f"{archive} has {name}, which its record does not list")
    for name in sorted(entries.keys() - names.keys()):
        raise StoreError(f"{archive} is damaged: it lacks {name}")
    for name, entry in entries.items():
        if (size := names[name].file_size) != entry.size:
            sizes = f"{size} bytes, its record says {entry.size}"
            raise StoreError(f"{archive} is damaged: {name} has {sizes}")
    return entries


def _refusal(info: zipfile.ZipInfo) -> str:
    """Return why a member cannot be used, empty if it can."""
    name = info.orig_filename
    parts = name.split("/")
    if ".." in parts or "\\" in name or name.startswith("/") or ":" in parts[0]:
        return "which leads out of the archive"
    if any(unicodedata.category(character)[0] == "C" for character in name):
        return "whose name has control characters"
    if {"", "."} & {*parts} or name != unicodedata.normalize("NFC", name):
        return "which is not the usual form of a name of a file"
    if any(len(part.encode()) > LONGEST_PART for part in parts):
        return f"a part of whose name has more than {LONGEST_PART} bytes"
    if len(name.encode()) > LONGEST_NAME:
        return f"whose name has more than {LONGEST_NAME} bytes"
    if info.flag_bits & 1:
        return "which is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"which is compressed in an unknown way, {info.compress_type}"
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "which is no plain file"
    if info.file_size > max(BLOCK, MOST_PER_BYTE * info.compress_size):
        return f"of {info.file_size} bytes, packed into {info.compress_size}"
    if info.file_size > MOST_BYTES:
        return f"of {info.file_size} bytes, more than {MOST_BYTES}"
    return ""


def _unpack(
    opened: zipfile.ZipFile, name: str, entry: Entry, out: Path | None, archive: Path
) -> None:
    """Check a file's hash and size while it is read, and write it to `out` if that is given."""
    digest, size = sha256(), 0
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
    with (
        _guarded(archive, name),
        opened.open(name) as source,
        open(out or os.devnull, "wb") as target,
    ):
        while block := source.read(BLOCK):
            size += len(block)
            if size > entry.size:
                raise StoreError(f"{archive} is damaged: {name} has more than {entry.size} bytes")
            digest.update(block)
            target.write(block)
    if Entry(size, digest.hexdigest()) != entry:
        raise StoreError(f"{archive} is damaged: {name} has another hash than its record says")


def _move(staged: Path, results: Path) -> None:
    """Move a folder's content into another, all of it or nothing."""
    now = os.stat(staged).st_mtime
    for file in staged.rglob("*"):  # nothing is older than what it was made from
        os.utime(file, (now, now))
    results.mkdir(exist_ok=True)
    names = sorted(path.name for path in staged.iterdir())
    try:
        for name in names:
            (staged / name).rename(results / name)
    except BaseException:  # an interruption too
        for name in names:
            if not (staged / name).exists():
                (results / name).rename(staged / name)
        raise

"""The manifest of a finished run: a hash of every file, and one root above them.

It is what ``sha256sum`` prints for the files, in the order of their names, which are those of an
archive: ``results/``, and ``figures/`` and ``audit/`` if these lie elsewhere. The root is the
SHA-256 of the manifest itself. So at the published scale, in the project's folder,
``sha256sum --check results/manifest.sha256`` checks all of it, and
``sha256sum results/manifest.sha256`` prints the root.
"""

import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.arena.settings import SLUG, TABLES, arena_code
from fairbandits.audit.claims import papers_with_claims
from fairbandits.data.provenance import replay_code
from fairbandits.data.store import StoreError, replacing
from fairbandits.figures import figure_code
from fairbandits.numerals import counted
from fairbandits.settings.config import Config
from fairbandits.settings.schemas import ROOT, read_yaml
from fairbandits.settings.seeds import FREEZE
from fairbandits.settings.variants import FILE

MANIFEST = "manifest.sha256"
RESULTS = "results"
#: Folders of results beside those of papers; chunks and logs are no output.
SHOWN = ("audit", "notebooks", "site")
#: What is committed of the folders of figures and of the audit.
COMMITTED = (".csv", ".png", ".svg")
#: What a run keeps in its folders, and no manifest lists.
KEPT = {FREEZE, *(f"{RESULTS}/{name}" for name in (MANIFEST, FILE, "rules.dot"))}
LINE = re.compile(r"([0-9a-f]{64})  ([^\x00-\x1f]+)")
ROOT_DIGITS = 16


class Manifest(NamedTuple):
    """Root and hashes of a finished run."""

    file: Path
    root: str
    hashes: dict[str, str]  # by name

    @property
    def words(self) -> str:
        return f"Root {self.root[:ROOT_DIGITS]} of {counted(len(self.hashes), 'file')}: {self.file}"


def folders_of(config: Config) -> dict[str, Path]:
    names = ("results", "figures", "audit")
    return {name: Path(config.folders[name]) for name in names if name in config.folders}


def committed_files(folders: Mapping[str, Path]) -> dict[str, Path]:
    """Return the images and short tables on disk that a run makes, by name."""
    by_name: dict[str, Path] = {}
    for kind in ("figures", "audit"):
        if kind in folders:
            files = (file for file in _below(folders[kind], kind) if file.suffix in COMMITTED)
            by_name |= {name_of(file, kind, folders): file for file in files}
    return dict(sorted(by_name.items()))


def files_of(folders: Mapping[str, Path]) -> dict[str, Path]:
    """Return all files on disk that a run makes, and others beside them, by name."""
    parts = _parts(folders["results"])
    by_name = {name_of(file, RESULTS, folders): file for part in parts for file in _below(part)}
    return dict(sorted((by_name | committed_files(folders)).items()))


def _parts(results: Path) -> set[Path]:
    """Return the folders of a run's results."""
    papers = (file.parent.name for file in ROOT.glob("papers/*/experiments.yaml"))
    return {results / part for part in (*SHOWN, SLUG, *papers)}


def everything_in(config: Config) -> dict[str, Path]:
    """Return all files in a run's folders, by name, but those of its cache, logs and other runs.

    Another run's folder is one of config/*.yaml, or has a manifest or the settings of a variant.
    """
    folders, results = folders_of(config), config.results
    scales = [read_yaml(file).get("pathvars", {}) for file in ROOT.glob("config/*.yaml")]
    runs = {Path(scale.get("results", results)) for scale in scales}
    runs |= {mark.parent for name in (MANIFEST, FILE) for mark in results.glob(f"*/{name}")}
    skipped = {*runs, results / "cache", Path(config.folders.get("logs", "logs"))}
    skipped -= {*folders.values(), *_parts(results)}
    by_name: dict[str, Path] = {}
    for kind, folder in folders.items():
        for above, below, files in os.walk(folder):
            below[:] = [name for name in below if Path(above, name) not in skipped]
            links = [name for name in below if Path(above, name).is_symlink()]
            paths = (Path(above, name) for name in (*files, *links))
            by_name |= {name_of(path, kind, folders): path for path in paths}
    return dict(sorted(by_name.items()))


def _is_lock(file: Path) -> bool:
    """Return whether a file, which must be empty, is another one's lock."""
    named = file.name.startswith(".") and file.suffix == ".lock"
    return named and file.is_file() and not file.stat().st_size


def name_of(file: Path, kind: str, folders: Mapping[str, Path]) -> str:
    """Return the name of a file in a manifest, in the folder of results or in that of its kind."""
    if file.is_relative_to(folders["results"]):
        kind = RESULTS
    return f"{kind}/{file.relative_to(folders[kind]).as_posix()}"


def place_of(name: str, folders: Mapping[str, Path]) -> Path:
    """Return the file of this name."""
    kind, _, rest = name.partition("/")
    if kind not in folders:
        raise StoreError(f"a manifest has no file {name!r}; it has {', '.join(folders)}")
    return folders[kind] / rest


def _below(folder: Path, kind: str = "") -> Iterator[Path]:
    """Yield the files below a folder, of the audit's own those in it: results can be there."""
    for file in folder.glob("*") if kind == "audit" else folder.rglob("*"):
        unfinished = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if file.is_file() and not unfinished:
            yield file


def hashes_of(files: Mapping[str, Path]) -> dict[str, str]:
    """Return the SHA-256 of files, as `sha256sum` prints it; empty for what is no file."""

    def digest(file: Path) -> str:
        if not file.is_file():  # a pipe or a device would never end
            return ""
        with file.open("rb") as opened:
            return file_digest(opened, "sha256").hexdigest()

    with ThreadPoolExecutor() as pool:
        return dict(zip(files, pool.map(digest, files.values()), strict=True))


def write_manifest(folders: Mapping[str, Path]) -> Manifest:
    """Write the manifest of all files on disk into the folder of results."""
    lines = [f"{digest}  {name}" for name, digest in hashes_of(files_of(folders)).items()]
    for line in lines:
        if not LINE.fullmatch(line):
            raise StoreError(f"{folders['results']} has a file of an odd name: {line[66:]!r}")
    file = folders["results"] / MANIFEST
    with replacing(file) as temporary:
        temporary.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return read_manifest(file)


def read_manifest(file: Path) -> Manifest:
    """Return a manifest; StoreError if it is none, or not as it is written."""
    try:
        content = file.read_bytes()
        lines = content.decode().splitlines()
        if wrong := [n for n, line in enumerate(lines, 1) if not LINE.fullmatch(line)]:
            raise ValueError(f"line {wrong[0]} is no hash and name")
        pairs = [LINE.fullmatch(line).groups() for line in lines]
    except Exception as error:
        raise StoreError(f"{file} cannot be read as a manifest: {error}") from error
    hashes = {name: digest for digest, name in pairs}
    for name in hashes:
        if {"", ".", ".."} & {*name.split("/")}:
            raise StoreError(f"{file} is no manifest: it has {name!r}, which leads elsewhere")
    if list(hashes) != sorted(name for _, name in pairs):
        raise StoreError(f"{file} is no manifest: its names are not sorted, each once")
    return Manifest(file, sha256(content).hexdigest(), hashes)


def compared(hashes: Mapping[str, str], folders: Mapping[str, Path], where: str) -> list[str]:
    """Return a line for each file that is missing, or not the one that `where` lists."""
    files = {name: place_of(name, folders) for name in hashes}
    actual = hashes_of(files)
    return [
        f"{files[name]} {'is not the file' if actual[name] else 'is gone'} that {where} lists"
        for name, digest in hashes.items()
        if actual[name] != digest
    ]


def verify(config: Config, lock: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the problems of files against lock and manifest, and in words what agrees."""
    folders, file = folders_of(config), config.results / MANIFEST
    problems, said = compared(lock["files"], folders, lock["name"]), []
    if lock["files"]:
        said.append(f"{counted(len(lock['files']), 'committed file')} agree with {lock['name']}")
    there, tables = everything_in(config), tables_of(config)
    made = [table for table in tables if (config.results / table).is_file()]
    known = {*lock["files"], *KEPT}
    if file.is_file():
        try:
            manifest = read_manifest(file)
            known |= manifest.hashes.keys()
            problems += compared(manifest.hashes, folders, file)
            said.append(manifest.words)
        except StoreError as error:
            problems.append(str(error))
        ways = (config.results / table for table in tables if table not in made)
        problems += [f"{path} does not exist; `fairbandits replicate` makes it" for path in ways]
    elif made:
        known |= {name for name in there if name.startswith(f"{RESULTS}/")}
        n = f"{len(made)} of {counted(len(tables), 'table')}"
        said.append(f"There is no {file}, since no run has made everything; {n} are there")
    else:
        said.append(f"There are no results in {config.results}; `fairbandits replicate` makes them")
    if lock["files"] or file.is_file():
        known -= {name for name in known if name.endswith(".parquet")} - {
            f"{RESULTS}/{table}" for table in tables
        }
        others = (path for name, path in there.items() if name not in known and not _is_lock(path))
        problems += [f"{path} is no file of this run, and nothing lists it" for path in others]
    runs = sum(len(exp.runs) for exp in config.experiments if exp.dataset in made)
    if runs:
        said.append(f"{counted(runs, 'run')} agree with {lock['name']}")
    return problems, said


def tables_of(config: Config) -> list[str]:
    """Return the tables of a whole run, relative to its folder of results."""
    return [*dict.fromkeys(exp.dataset for exp in config.experiments), *facts_of(config)]


def facts_of(config: Config) -> dict[str, dict[str, Any]]:
    """Return what the footers of a run's tables say, other than datasets', by place."""
    facts: dict[str, dict[str, Any]] = {}
    for paper, figure in config.figures:
        footer = {"kind": "figure", "paper": paper, "figure": figure, "code": figure_code(paper)}
        facts[f"{paper}/{figure}.parquet"] = footer
    for replay in config.replays:
        facts[replay.table] = {"kind": "replay", "code": replay_code()}
    if judged := papers_with_claims(config):
        of = dict.fromkeys((*judged, "findings"), "findings") | {"verdicts": "verdicts"}
        facts |= {f"audit/{name}.parquet": {"kind": kind} for name, kind in of.items()}
    if SLUG in config.papers:
        footer = {"kind": "arena", "code": arena_code()}
        facts |= {f"{SLUG}/{name}.parquet": footer | {"table": name} for name in TABLES}
    return facts

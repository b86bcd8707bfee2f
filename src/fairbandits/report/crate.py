"""The record of a finished run as a Provenance Run Crate, each job an action."""

import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from rocrate.model import File
from rocrate.rocrate import ROCrate

from fairbandits.data.provenance import git_commit
from fairbandits.data.store import StoreError
from fairbandits.report.markup import render_text
from fairbandits.settings.config import Config

CRATE = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
NAME = "fairbandits"
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
LICENSE = "https://spdx.org/licenses/MIT"
#: Folders and files that are a run's inputs; all others are code.
SETTINGS = ("config/", "papers/", "uv.lock", "environment.yml")
#: A run's outputs.
MADE = ("results/", "figures/", "audit/", "results.lock")
FORMATS = {
    ".csv": "text/csv",
    ".css": "text/css",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".png": "image/png",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}


class Entry(NamedTuple):
    """Size in bytes and SHA-256 of a file of the crate."""

    size: int
    sha256: str


def written(
    entries: Mapping[str, Entry], jobs: Sequence["Job"], config: Config, agent: str | None
) -> str:
    """Return the record of a run as JSON-LD; `entries` are its other files by place."""
    if not jobs:
        raise StoreError(
            "there are no records of finished jobs; `fairbandits replicate` makes them"
        )
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(TERMS)
    ids = {path: crate.add(_file(crate, path, entries[path])).id for path in sorted(entries)}
    used = dict.fromkeys(path for job in jobs for path in (*job.reads, *job.makes))
    others = [path for path in used if path not in entries]
    made = {path for job in jobs for path in job.makes}
    alone = [path for path in entries if path.startswith("results/") and path not in made]
    record = render_text(
        "crate.json",
        jobs=jobs,
        config=config,
        agent=agent,
        commit=git_commit(),
        version=metadata.version,
        license=LICENSE,
        ids=ids | {path: f"#left-out/{quote(path)}" for path in others},
        others=others,
        settings=[id_ for path, id_ in ids.items() if path.startswith(SETTINGS)],
        made=[id_ for path, id_ in ids.items() if path.startswith(MADE)],
        alone=len(alone),
    )
    for entity in json.loads(record):
        crate.add_or_update_jsonld(entity)
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def listed(text: bytes, archive: Path) -> dict[str, Entry]:
    """Return the files that a record lists; StoreError if it is damaged or no such record."""
    try:
        graph = {entity["@id"]: entity for entity in json.loads(text)["@graph"]}
        root = graph["./"]
        name = str(root["name"])
        files = [graph[part["@id"]] for part in root["hasPart"]]
        entries = {
            unquote(obj["@id"]): Entry(int(obj["contentSize"]), str(obj["sha256"])) for obj in files
        }
    except Exception as error:  # too deep, too long a number, another form
        raise StoreError(f"{archive}: {CRATE} is damaged, or not ours ({error!r})") from error
    if name.partition(" ")[0] != NAME or WORKFLOW not in entries:
        raise StoreError(f"{archive} is an archive of something else: {name!r}")
    return entries


def _file(crate: ROCrate, path: str, entry: Entry) -> File:
    properties = {"name": path, "contentSize": str(entry.size), "sha256": entry.sha256}
    properties |= {"encodingFormat": FORMATS.get(Path(path).suffix, "text/plain")}
    if path == WORKFLOW:
        properties["@type"] = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
    return File(crate, dest_path=path, properties=properties)


#: Snakemake's records: a file of JSON for each file made, named by its path in base 64.
RECORDS = ".snakemake/metadata"
#: Longer names are split into folders of so many characters.
LONGEST = 255 - 1


class Job(NamedTuple):
    """A job: its rule and command, the files that it read and made, and when it ran."""

    rule: str
    command: str
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    begin: datetime
    end: datetime

    @property
    def step(self) -> str:
        parts = self.command.split()
        return parts[1] if parts[:1] == ["fairbandits"] else self.rule

    def named(self, names: Mapping[str, str]) -> "Job":
        """Return the job with other names for its files, where there are any."""
        reads, makes = ([names.get(old, old) for old in some] for some in (self.reads, self.makes))
        return self._replace(reads=tuple(reads), makes=tuple(makes))


def jobs_of(root: Path, files: Iterable[str]) -> list[Job]:
    """Return the finished jobs that made some files and what these were made from, by begin."""
    jobs: dict[tuple[Any, ...], Job] = {}
    waiting, seen = list(files), set()
    while waiting:
        file = waiting.pop()
        if file in seen or (record := _record(root, file)) is None:
            continue
        seen.add(file)
        rule, command, reads = record["rule"], record["shellcmd"], tuple(record["input"])
        begin, end = (datetime.fromtimestamp(record[at], UTC) for at in ("starttime", "endtime"))
        # each file of a job has a begin of its own, some microseconds after the one before
        job = jobs.get((rule, command, end)) or Job(rule, command or "", reads, (), begin, end)
        makes = tuple(sorted([*job.makes, file]))
        jobs[rule, command, end] = job._replace(makes=makes, begin=min(job.begin, begin))
        waiting += job.reads
    return sorted(jobs.values(), key=lambda job: (job.begin, job.rule, job.makes))


def _record(root: Path, file: str) -> dict[str, Any] | None:
    code = urlsafe_b64encode(os.fsencode(file)).decode()
    *folders, name = (code[k : k + LONGEST] for k in range(0, len(code), LONGEST))
    path = root.joinpath(RECORDS, *(f"@{folder}" for folder in folders), name)
    record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    ended = record.get("endtime") is not None and not record.get("incomplete")
    return record if ended else None

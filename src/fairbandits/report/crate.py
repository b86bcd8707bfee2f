"""The record of a finished run as a Workflow Run RO-Crate: plain JSON-LD, in its own words.

References
----------
RO-Crate 1.1, https://w3id.org/ro/crate/1.1; Workflow RO-Crate 1.0,
https://w3id.org/workflowhub/workflow-ro-crate/1.0; Process Run Crate 0.5 and Workflow Run Crate
0.5, https://w3id.org/ro/wfrun/workflow/0.5.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from fairbandits.data.provenance import git_commit
from fairbandits.data.store import StoreError
from fairbandits.replication.progress import measured
from fairbandits.settings.config import Config

CRATE = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
NAME = "fairbandits"
DEVELOPERS = "The fairbandits developers"
CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    "https://w3id.org/ro/terms/workflow-run/context",
]
LICENSE = "https://spdx.org/licenses/MIT"
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
#: Address -> name and version of what the crate conforms to.
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
#: Folders and files that are a run's inputs; all others are code.
SETTINGS = ("config/", "papers/", "uv.lock", "environment.yml")
#: A run's outputs.
MADE = ("results/", "figures/", "audit/", "results.lock", "arena.lock")
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


def times_of(config: Config) -> tuple[datetime, datetime]:
    """Return the start of a run's first job and the end of its last, from the jobs' records."""
    jobs = [
        (file.stat().st_mtime, seconds)
        for file in Path(config.folders["benchmarks"]).rglob("*.tsv")
        if (seconds := measured(file)) is not None
    ]
    if not jobs:
        raise StoreError(
            f"{config.folders['benchmarks']} has no records of finished jobs; "
            "`fairbandits replicate` makes them"
        )
    first = min(end - seconds for end, seconds in jobs)
    last = max(end for end, _ in jobs)
    return datetime.fromtimestamp(first, UTC), datetime.fromtimestamp(last, UTC)


def written(entries: Mapping[str, Entry], config: Config, agent: str | None) -> str:
    """Return the record of a finished run as JSON-LD.

    `entries` are the crate's files by place, without this record; `agent` names who ran it. Raises
    StoreError if no job left a record.
    """
    begin, end = times_of(config)
    version = metadata.version(NAME)
    files = {place: _id(place) for place in sorted(entries)}
    action: dict[str, Any] = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run of the workflow at the {config.scale_name} scale",
        "description": f"fairbandits replicate, seed {config.seed}, commit {git_commit()}",
        "startTime": begin.isoformat(timespec="seconds"),
        "endTime": end.isoformat(timespec="seconds"),
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "instrument": {"@id": WORKFLOW},
        "object": _ids(files, SETTINGS),
        "result": _ids(files, MADE),
    }
    people: list[dict[str, Any]] = []
    if agent:
        action["agent"] = {"@id": "#agent"}
        people.append({"@id": "#agent", "@type": "Person", "name": agent})
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": [
                {"@id": "https://w3id.org/ro/crate/1.1"},
                {"@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0"},
            ],
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"{NAME} {version}: a finished run",
            "description": "Fair-bandit papers re-run and audited: code, locked environment, "
            "settings, data, figures, verdicts and the report site.",
            "datePublished": end.date().isoformat(),
            "license": {"@id": LICENSE},
            "author": {"@id": "#developers"},
            "conformsTo": [{"@id": one} for one in PROFILES],
            "hasPart": [{"@id": one} for one in files.values()],
            "mainEntity": {"@id": WORKFLOW},
            "mentions": [{"@id": "#run"}],
        },
        *(
            {"@id": place, "@type": "CreativeWork", "name": name, "version": number}
            for place, (name, number) in PROFILES.items()
        ),
        {"@id": LICENSE, "@type": "CreativeWork", "name": "MIT License"},
        {"@id": "#developers", "@type": "Organization", "name": DEVELOPERS},
        {
            "@id": SNAKEMAKE,
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bty350"},
            "url": {"@id": "https://snakemake.readthedocs.io"},
            "version": metadata.version("snakemake"),
        },
        *people,
        action,
        *(_file(place, one, entries[place], version) for place, one in files.items()),
    ]
    return json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False) + "\n"


def listed(text: bytes, archive: Path) -> dict[str, Entry]:
    """Return the files that a record lists; StoreError if it is damaged or no such record."""
    try:
        graph = {one["@id"]: one for one in json.loads(text)["@graph"]}
        root = graph["./"]
        name = str(root["name"])
        files = [graph[one["@id"]] for one in root["hasPart"]]
        entries = {
            unquote(one["@id"]): Entry(int(one["contentSize"]), str(one["sha256"])) for one in files
        }
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{archive}: {CRATE} is damaged, or not ours ({error!r})") from error
    if name.partition(" ")[0] != NAME or WORKFLOW not in entries:
        raise StoreError(f"{archive} is an archive of something else: {name!r}")
    return entries


def _file(place: str, one: str, entry: Entry, version: str) -> dict[str, Any]:
    found: dict[str, Any] = {"@id": one, "@type": "File", "name": place}
    if place == WORKFLOW:
        found |= {
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": f"{NAME}: the workflow",
            "programmingLanguage": {"@id": SNAKEMAKE},
            "creator": {"@id": "#developers"},
            "license": {"@id": LICENSE},
            "version": version,
        }
    elif (suffix := Path(place).suffix) in FORMATS:
        found["encodingFormat"] = FORMATS[suffix]
    return found | {"contentSize": str(entry.size), "sha256": entry.sha256}


def _id(place: str) -> str:
    return quote(place)


def _ids(files: Mapping[str, str], starts: Iterable[str]) -> list[dict[str, str]]:
    return [{"@id": one} for place, one in files.items() if place.startswith(tuple(starts))]

"""The record of a finished run as a Provenance Run Crate (`PROFILES`), each job an action."""

import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from rocrate.model import ContextEntity, File
from rocrate.rocrate import ROCrate

from fairbandits.data.provenance import git_commit
from fairbandits.data.store import StoreError
from fairbandits.settings.config import Config

CRATE = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
NAME = "fairbandits"
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
LICENSE = "https://spdx.org/licenses/MIT"
#: Address -> name and version of what the crate conforms to.
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/provenance/0.5": ("Provenance Run Crate", "0.5"),
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
DONE = "http://schema.org/CompletedActionStatus"


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

    def add(place: str, kind: str | list[str], **more: Any) -> ContextEntity:
        return crate.add(ContextEntity(crate, place, {"@type": kind} | more))

    files = {place: crate.add(_file(crate, place, entries[place])) for place in sorted(entries)}
    workflow = crate.mainEntity = files[WORKFLOW]
    tools, steps = _described(crate, add, files, jobs)

    def of(places: Iterable[str]) -> list[ContextEntity] | ContextEntity:
        entities: list[ContextEntity] = []
        for place in places:
            key = f"#left-out/{quote(place)}"
            said = {"name": place, "description": "Not in the crate; it can be made again."}
            known = files.get(place) or crate.dereference(key)
            entities.append(known or add(key, "CreativeWork", **said))
        return entities[0] if len(entities) == 1 else entities

    who = {"agent": add("#agent", "Person", name=agent)} if agent else {}
    actions, controls = [], []
    for number, job in enumerate(jobs, 1):
        named = {"name": job.rule, "description": job.command, "instrument": tools[job.step]}
        io = {key: of(some) for key, some in (("object", job.reads), ("result", job.makes)) if some}
        action = add(f"#job/{number}", "CreateAction", **named, **_when([job]), **io, **who)
        said = {"name": f"Snakemake runs {job.rule}", "instrument": steps[job.step]}
        said |= {"object": action, "actionStatus": DONE}
        actions.append(action)
        controls.append(add(f"#control/{number}", "ControlAction", **said))
    made = {place for job in jobs for place in job.makes}
    alone = sum(place.startswith("results/") and place not in made for place in files)
    said = {"name": f"Run of the workflow at the {config.scale_name} scale"}
    said["description"] = (
        f"fairbandits replicate, seed {config.seed}, commit {git_commit()}; {len(jobs)} jobs; "
        f"{alone} files of results have no record of their own"
    )
    io = {"object": [one for place, one in files.items() if place.startswith(SETTINGS)]}
    io |= {"result": [one for place, one in files.items() if place.startswith(MADE)]}
    times = _when(jobs, "seconds")
    run = add("#run", "CreateAction", **said, instrument=workflow, **io, **times, **who)
    said = {"instrument": workflow["programmingLanguage"], "object": controls, "result": run}
    whole = add("#engine", "OrganizeAction", name="Run of Snakemake", actionStatus=DONE, **said)
    crate.root_dataset["mentions"] = [run, whole, *actions]
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False) + "\n"


def _when(jobs: Sequence["Job"], precision: str = "milliseconds") -> dict[str, str]:
    return {
        "startTime": min(job.begin for job in jobs).isoformat(timespec=precision),
        "endTime": max(job.end for job in jobs).isoformat(timespec=precision),
        "actionStatus": DONE,
    }


def _described(
    crate: ROCrate, add: Callable[..., ContextEntity], files: Mapping[str, File], jobs: Sequence
) -> tuple[dict[str, ContextEntity], dict[str, ContextEntity]]:
    """Describe the crate and its workflow; return the tool and the step of each kind of job."""
    version = metadata.version(NAME)
    crate.name = f"{NAME} {version}: a finished run"
    crate.description = (
        "Fair-bandit papers re-run and audited: code, locked environment, settings, data, figures, "
        "verdicts and the report site."
    )
    crate.root_dataset["datePublished"] = max(job.end for job in jobs).date().isoformat()
    crate.license = add(LICENSE, "CreativeWork", name="MIT License")
    developers = add("#developers", "Organization", name="The fairbandits developers")
    crate.publisher = crate.root_dataset["author"] = developers
    crate.root_dataset["conformsTo"] = [
        add(place, "CreativeWork", name=name, version=number)
        for place, (name, number) in PROFILES.items()
    ]
    workflow_crate = crate.dereference("https://w3id.org/workflowhub/workflow-ro-crate/1.0")
    crate.metadata["conformsTo"] = [{"@id": "https://w3id.org/ro/crate/1.1"}, workflow_crate]
    tools, steps = {}, {}
    for step in dict.fromkeys(job.step for job in jobs):
        needs = {"softwareVersion": version, "softwareRequirements": files["uv.lock"]}
        tool = add(f"#tool/{step}", "SoftwareApplication", name=f"{NAME} {step}", **needs)
        said = {"name": step, "workExample": tool, "position": str(len(steps) + 1)}
        tools[step], steps[step] = tool, add(f"#step/{step}", "HowToStep", **said)
    engine = add(
        "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
        ["ComputerLanguage", "SoftwareApplication"],
        name="Snakemake",
        identifier="https://doi.org/10.1093/bioinformatics/bty350",
        url="https://snakemake.readthedocs.io",
        softwareVersion=metadata.version("snakemake"),
    )
    workflow = files[WORKFLOW]
    workflow["name"], workflow["programmingLanguage"] = f"{NAME}: the workflow", engine
    workflow["version"], workflow["creator"] = version, developers
    workflow["license"], workflow["hasPart"] = crate.license, list(tools.values())
    workflow["step"] = list(steps.values())
    return tools, steps


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


def _file(crate: ROCrate, place: str, entry: Entry) -> File:
    known = {"name": place, "contentSize": str(entry.size), "sha256": entry.sha256}
    known |= {"encodingFormat": FORMATS.get(Path(place).suffix, "text/plain")}
    if place == WORKFLOW:
        known["@type"] = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
    return File(crate, dest_path=place, properties=known)


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
        words = self.command.split()
        return words[1] if words[:1] == ["fairbandits"] else self.rule

    @property
    def seconds(self) -> float:
        return (self.end - self.begin).total_seconds()

    def named(self, names: Mapping[str, str]) -> "Job":
        """Return the job with other names for its files, where there are any."""
        files = self.reads, self.makes
        reads, makes = (tuple(names.get(one, one) for one in some) for some in files)
        return self._replace(reads=reads, makes=makes)


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
    place = root.joinpath(RECORDS, *(f"@{folder}" for folder in folders), name)
    record = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    ended = record.get("endtime") is not None and not record.get("incomplete")
    return record if ended else None

"""The jobs of a finished run, from the records that Snakemake keeps of each file it made."""

import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

#: Snakemake's records: a file of JSON for each file made, named by its path in base 64.
RECORDS = ".snakemake/metadata"
#: Longer names are split into folders of so many characters.
LONGEST = 255 - 1


@dataclass(frozen=True)
class Job:
    """A job: its rule and command, the files that it read and made, and when it ran."""

    rule: str
    command: str
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    begin: datetime
    end: datetime

    @property
    def step(self) -> str:
        """The command of `fairbandits` that it ran, or its rule."""
        words = self.command.split()
        return words[1] if words[:1] == ["fairbandits"] else self.rule

    def named(self, names: Mapping[str, str]) -> "Job":
        """Return the job with other names for its files, where there are any."""
        reads, makes = (
            tuple(names.get(file, file) for file in files) for files in (self.reads, self.makes)
        )
        return replace(self, reads=reads, makes=makes)


def jobs_of(root: Path, files: Iterable[str]) -> list[Job]:
    """Return the jobs that made some files, and what these were made from, by their begin.

    `files` are named as Snakemake names them, from the project's folder `root`. A file without a
    record, or with one of a job that did not finish, is left out.
    """
    found: dict[tuple[Any, ...], Job] = {}
    waiting, seen = list(files), set()
    while waiting:
        file = waiting.pop()
        record = None if file in seen else _record(root, file)
        seen.add(file)
        if record is None:
            continue
        key = record["rule"], record["shellcmd"], record["starttime"]
        job = found.get(key) or Job(
            record["rule"],
            record["shellcmd"] or "",
            tuple(record["input"]),
            (),
            *(datetime.fromtimestamp(record[when], UTC) for when in ("starttime", "endtime")),
        )
        found[key] = replace(job, makes=(*job.makes, file))
        waiting += job.reads
    jobs = (replace(job, makes=tuple(sorted(job.makes))) for job in found.values())
    return sorted(jobs, key=lambda job: (job.begin, job.rule, job.makes))


def _record(root: Path, file: str) -> dict[str, Any] | None:
    code = urlsafe_b64encode(os.fsencode(file)).decode()
    for place in (_split(code, LONGEST), _split(code, 60)):
        name = root.joinpath(RECORDS, *place)
        if name.is_file():
            record = json.loads(name.read_text(encoding="utf-8"))
            ended = record.get("endtime") is not None and not record.get("incomplete")
            return record if ended else None
    return None


def _split(code: str, length: int) -> list[str]:
    parts = [code[k : k + length] for k in range(0, len(code), length)]
    return [*(f"@{part}" for part in parts[:-1]), parts[-1]]

"""A release freezes what draws or judges before its run, and records what came out of it."""

import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from fairbandits.audit.claims import Papers, claims_of, committed
from fairbandits.audit.finding import CONFIRMATORY, EXPLORATORY
from fairbandits.audit.judge import judge
from fairbandits.audit.rows import FINDINGS_TABLE, NUMBERS, VERDICTS_TABLE, answer_of, read, text_of
from fairbandits.audit.sentences import AGREEMENT, agreement
from fairbandits.audit.totals import Row
from fairbandits.data.provenance import PACKAGE, git
from fairbandits.data.texts import csv_rows, write_csv, write_text
from fairbandits.settings.schemas import ROOT, ConfigError
from fairbandits.settings.seeds import FREEZE, latest

#: Each line of verdicts as it came out of a release's run; lines are only added.
RELEASED = "released.csv"
OF_RELEASED = ("release", "claim", "reading", "content", "labels")
#: Salts under which a release's primary verdicts are repeated.
SALTS = tuple(map(str, range(1, 9)))
#: Rooms of the package that neither draw nor judge.
SHOWING = ("report", "cli", "figures")
VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
#: What makes a finding the same: all but its claim, its place in the code, and its words.
CONTENT = ("verdict", "grade", "tags", "procedure", "settings", *NUMBERS, "against")
OF_FINDING = (*CONTENT, "decides", "given", "control", "tightness")
OF_LINE = (*CONTENT, "data_hash")
LABELS = ("phrase", "reading", "each")


# ------------------------------------------------------------------------------- before a run


def hashes(root: Path = ROOT) -> dict[str, str]:
    """Return the hash of each file that draws or judges, by its path in the project."""
    package = root / "src" / PACKAGE.name
    files = [*(root / "papers").rglob("*"), *package.rglob("*")]
    files += [root / "config" / "config.yaml", root / "uv.lock"]
    shows = tuple(package / room for room in SHOWING)
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(files)
        if file.is_file() and "__pycache__" not in file.parts
        if not any(file.is_relative_to(room) for room in shows)
    }


def joint(of_files: Mapping[str, str]) -> str:
    """Return one hash of the hashes of files."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(of_files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def freeze(release: str, root: Path = ROOT) -> str:
    """Write audit/freeze.yaml, from whose hash all seeds follow; return the hash.

    ConfigError for a work tree with changes, and for a release that was run already.
    """
    if not VERSION.fullmatch(release):
        raise ConfigError(f"a release is named like 1.1.0, got {release!r}")
    if release in (known := {row["release"] for row in csv_rows(root / "audit" / RELEASED)}):
        raise ConfigError(
            f"{release} was run already, as audit/{RELEASED} records ({', '.join(sorted(known))}); "
            "another release draws other data"
        )
    if changed := git(root, "status", "--porcelain").splitlines():
        raise ConfigError(f"commit first: {changed[0][3:]} is not as committed")
    of_files = hashes(root)
    content = {"release": release, "hash": joint(of_files), "salts": [*SALTS], "files": of_files}
    write_text(root / FREEZE, yaml.safe_dump(content, sort_keys=False))
    return content["hash"]


# -------------------------------------------------------------------------------- after a run


def released(
    papers: Papers, verdicts: Iterable[Row], findings: Iterable[Row]
) -> list[dict[str, str]]:
    """Return lines of verdicts with hashes of their content and of their labels.

    The content is a line's own, that of its data, and that of the findings below it: of its claim,
    of those that judge it, and of its premises, as a multiset. So names and words can change.
    """
    claims, of_claim = claims_of(papers), defaultdict(list)
    for row in findings:
        content, label = (
            json.dumps([text_of(row, name) for name in names]) for names in (OF_FINDING, LABELS)
        )
        of_claim[row["claim"]].append((row["reading"], content, label))

    def below(key: str) -> dict[str, None]:  # no claim rests on itself (`check_references`)
        claim, keys = claims[key], {key: None}
        for other in filter(claims.get, (claim.alias_of, *claim.judged_by, *claim.rests_on)):
            keys |= below(other)
        return keys

    def line(verdict: Row) -> dict[str, str]:
        key, readings = verdict["claim"], {"", verdict["reading"]}
        varies = claims[key].varies  # its numbers differ between machines
        cases = [] if varies else [case for name in below(key) for case in of_claim[name]]
        cases = [case for case in cases if verdict["headline"] or case[0] in readings]
        its = [text_of(verdict, name) for name in (("verdict",) if varies else OF_LINE)]
        hashes_of = {
            "content": digest_of([*its, *sorted(content for _, content, _ in cases)]),
            "labels": digest_of(sorted(label + content for _, content, label in cases)),
        }
        return {"claim": key, "reading": verdict["reading"], **hashes_of}

    release = {"release": latest()["release"]}
    return [release | line(verdict) for verdict in verdicts]


def digest_of(texts: Iterable[str], between: str = "\n") -> str:
    return hashlib.sha256(between.join(texts).encode()).hexdigest()[:16]


def record(folder: Path, lines: Iterable[Mapping[str, str]]) -> None:
    """Add the lines of the latest release's run to released.csv, if this is that run."""
    file = folder / RELEASED
    if is_the_run(file):
        write_csv(file, OF_RELEASED, [*csv_rows(file), *lines])


def is_the_run(table: Path) -> bool:
    """Return whether the latest release has no recorded run, and all files are as frozen."""
    release = latest()["release"]
    recorded = release in {row["release"] for row in csv_rows(table)}
    return bool(release) and not recorded and joint(hashes()) == latest()["hash"]


def statuses(lines: Iterable[Mapping[str, str]], table: Path) -> dict[str, str]:
    """Return the status of each claim: confirmatory if all its lines are those of the release."""
    release, first = latest()["release"], is_the_run(table)
    known = {(row["claim"], row["content"]) for row in csv_rows(table) if row["release"] == release}
    status: dict[str, str] = {}
    for line in lines:
        same = first or (line["claim"], line["content"]) in known
        if not same or line["claim"] not in status:
            status[line["claim"]] = CONFIRMATORY if same else EXPLORATORY
    return status


# ------------------------------------------------------------------------------------- checks


def relabelled(lines: Iterable[Mapping[str, str]], table: Path) -> list[str]:
    """Return the claims whose content is that of a release, but not their cases' labels."""
    names = ("claim", "content", "labels")
    known = {tuple(row[name] for name in names) for row in csv_rows(table)}
    same = {row[:2] for row in known}
    now = [tuple(line[name] for name in names) for line in lines]
    return [*dict.fromkeys(row[0] for row in now if row[:2] in same and row not in known)]


def derived(papers: Papers, folder: Path) -> tuple[list[str], list[str]]:
    """Derive the committed verdicts from the committed findings; return problems, and facts."""
    frozen, file = latest(), folder / VERDICTS_TABLE
    rows = read(file, papers, anyway=True).rows
    findings = read(folder / FINDINGS_TABLE, papers, "findings", anyway=True).rows
    for row in findings:  # a short table has no text for an unknown number
        row |= {name: math.nan for name in ("statistic", "low", "high") if row[name] is None}
    kept = committed(papers)
    judged = judge(papers, map(answer_of, findings))
    again = [vars(row) | {"claim": row.claim.id} for row in judged if row.claim.id in kept]
    names = ("claim", "reading", "verdict", "grade", "tags")
    was, now = (
        Counter(tuple(text_of(row, name) for name in names) for row in some)
        for some in (rows, again)
    )
    problems = [
        f"{file}: {key} is {verdict!r}{f' under {reading}' if reading else ''}; its findings in "
        f"{FINDINGS_TABLE} make it another verdict, or another grade"
        for key, reading, verdict, *_ in was - now
    ]
    lacking = {key[:2] for key in now} - {key[:2] for key in was}
    problems += [
        f"{file} lacks the verdict on {claim}{f' under {reading}' if reading else ''}"
        for claim, reading in sorted(lacking)
    ]
    table, lines = ROOT / "audit" / RELEASED, released(papers, rows, findings)
    status = statuses(lines, table)
    problems += [
        f"{file}: {row['claim']} is said to be {row['status']}, and is {status[row['claim']]}"
        for row in rows
        if row["headline"] and row["status"] != status[row["claim"]]
    ]
    facts = [
        f"{claim}: its cases have other labels than in the release's run"
        for claim in relabelled(lines, table)
    ]
    if frozen["release"]:
        if joint(frozen["files"]) != frozen["hash"]:
            problems.append(f"{ROOT / FREEZE}: its hash is not that of its files")
        count = Counter(status.values())
        came_out = f"{count[CONFIRMATORY]} of {count.total()} verdicts are as they came out"
        primary = sum(c.primary for c in claims_of(papers).values()) * len(frozen["salts"])
        repeated = f"{len(agreement(AGREEMENT))} of {primary} repetitions of primary verdicts"
        facts.append(f"{came_out} of release {frozen['release']}")
        facts.append(f"{repeated} are in {AGREEMENT.name}")
    return problems, facts

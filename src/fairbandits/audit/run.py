"""The audit's commands: what is read, in which order, and where it goes."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.audit import show
from fairbandits.audit.evidence import Evidence
from fairbandits.audit.finding import FAILED
from fairbandits.audit.judge import Answer, answers, judge
from fairbandits.audit.ledger import Claim, Ledger, load_ledgers
from fairbandits.audit.records import (
    read_csv,
    read_findings,
    read_verdicts,
    write_joint_findings,
)
from fairbandits.audit.records import write_verdicts as write_verdict_table
from fairbandits.experiments.config import Config, load_config
from fairbandits.experiments.schemas import ROOT, ConfigError, meant

#: The short table of verdicts, in the folder of that name.
TABLE = "verdicts.csv"
#: Width where there is no terminal.
WIDTH = 120


def load(configs: Sequence[Path]) -> tuple[Config, dict[str, Ledger]]:
    """Return the configuration and the ledgers of the papers that have one."""
    config = load_config(configs)
    return config, load_ledgers(config)


def find(
    config: Config,
    ledgers: dict[str, Ledger],
    paper: str,
    results: Path | None = None,
    only: Sequence[str] = (),
) -> tuple[list[Answer], str]:
    """Return what the tests of a paper's claims find, and the scale of its datasets.

    Parameters
    ----------
    config : Config
        The configuration, with the seed that the datasets have.
    ledgers : dict of str to Ledger
        Paper -> ledger.
    paper : str
        The paper.
    results : Path, optional
        Folder of the results; the configured one by default.
    only : sequence of str
        Claims; all by default.

    Raises
    ------
    ConfigError
        If there is no such paper or claim.
    """
    if paper not in ledgers:
        raise ConfigError(f"no claims of paper {paper!r}{meant(paper, list(ledgers))}")
    ledger = ledgers[paper]
    for one in only:
        if one not in ledger.claims:
            raise ConfigError(f"{paper} has no claim {one!r}{meant(one, list(ledger.claims))}")
    evidence = Evidence(config, paper, results or ROOT / config.folders["results"])
    found = list(answers(ledger, evidence, only))
    return found, "smoke" if evidence.small or config.scale == "smoke" else "paper"


def failures(found: Sequence[Answer]) -> Iterator[str]:
    """Yield a line for each claim that failed."""
    seen = set()
    for one in found:
        if one.finding is None and one.claim not in seen:
            seen.add(one.claim)
            words = [word for word in (one.claim, one.test, one.reading, one.each) if word]
            yield f"{', '.join(words)}: {one.message}"


def write_verdicts(
    files: Sequence[Path], ledgers: dict[str, Ledger], joint: Path, out: Path
) -> tuple[list[str], bool]:
    """Judge the claims of all papers by their findings.

    Returns
    -------
    failed : list of str
        A line for each claim that failed.
    written : bool
        Whether the tables were written: at the published scale not if a claim failed, and what was
        written before is taken away, since it is of other findings.
    """
    found, table, scale = read_findings(files, ledgers)
    verdicts = judge(ledgers, found)
    failed = [
        f"{one.claim.id}: {one.message}"
        for one in verdicts
        if one.headline and one.outcome == FAILED
    ]
    if failed and scale == "paper":
        out.unlink(missing_ok=True)
        joint.unlink(missing_ok=True)
        return failed, False
    write_joint_findings(joint, ledgers, table, scale)
    write_verdict_table(out, ledgers, verdicts, scale)
    return failed, True


class Verdicts(NamedTuple):
    """What is known of the claims: verdict rows, the file they come from, and their scale."""

    rows: list[dict[str, Any]]
    source: Path
    scale: str

    @property
    def place(self) -> str:
        """The file as it is called inside the project."""
        inside = self.source.is_relative_to(ROOT)
        return str(self.source.relative_to(ROOT) if inside else self.source)


def latest_verdicts(
    config: Config, ledgers: dict[str, Ledger], results: Path | None = None
) -> Verdicts:
    """Return the verdicts of the results on disk or, where there are none, the committed ones.

    Raises
    ------
    StoreError
        If there are no verdicts, or stale ones.
    """
    source = (results or ROOT / config.folders["results"]) / "audit" / "verdicts.parquet"
    if source.is_file():
        rows, scale = read_verdicts(source, ledgers)
        return Verdicts(rows, source, scale)
    source = ROOT / config.folders.get("audit", "audit") / TABLE
    return Verdicts(read_csv(source, ledgers), source, config.scale)


def claims_words(
    configs: Sequence[Path],
    claim: str | None,
    paper: str | None,
    verdict: str | None,
    as_json: bool,
    results: Path | None,
) -> str:
    """Return a list of claims with their verdicts, or all about one of them.

    Raises
    ------
    ConfigError
        If there is no such claim, paper or verdict; it names the nearest.
    StoreError
        If there are no verdicts, or stale ones.
    """
    config, ledgers = load(configs)
    every = {key: one for ledger in ledgers.values() for key, one in ledger.claims.items()}
    if claim is not None and claim not in every:
        raise ConfigError(f"no claim {claim!r}{meant(claim, list(every))}")
    show.check_choice(list(ledgers), paper, verdict)
    verdicts = latest_verdicts(config, ledgers, results)
    chosen = show.chosen(verdicts.rows, claim, paper, verdict)
    if as_json:
        return show.as_json(chosen, verdicts.rows, ledgers, verdicts.place, verdicts.scale)
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    if claim is None:
        text = show.listing(chosen, width)
        text += f"\n\n{len(chosen)} claims: {show.counted(show.tally(chosen))}"
    else:
        text = _explained(every[claim], ledgers, config, verdicts, width)
    text += f"\n\nFrom {verdicts.place}."
    if verdicts.scale == "smoke":
        text += " Smoke scale: these are not results."
    return text


def deviations_words(configs: Sequence[Path], paper: str | None) -> str:
    """Return what changed in the audit of all papers, or of one.

    Raises
    ------
    ConfigError
        If there is no such paper; it names the nearest.
    """
    _, ledgers = load(configs)
    show.check_choice(list(ledgers), paper, None)
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    chosen = [one for name, one in ledgers.items() if paper in (None, name)]
    return "\n\n".join(show.deviations(one, width) for one in chosen)


def _explained(
    claim: Claim, ledgers: dict[str, Ledger], config: Config, verdicts: Verdicts, width: int
) -> str:
    own = [row for row in verdicts.rows if row["claim"] == claim.id]
    findings = None
    if verdicts.source.suffix == ".parquet":  # the short table does not have them
        file = verdicts.source.with_name("findings.parquet")
        every, _ = read_verdicts(file, ledgers, "findings")
        findings = [row for row in every if row["claim"] == claim.id]
    return show.explanation(claim, ledgers[claim.paper], config, own, findings, width)

"""Check ledgers by themselves: without results, and without the procedures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fairbandits.audit.ledger import Ledger, check_references, load_ledger
from fairbandits.settings.config import Config
from fairbandits.settings.schemas import ROOT, ConfigError, paper_file


def checked(
    config: Config, files: Sequence[Path] = (), root: Path = ROOT
) -> Iterator[tuple[str, bool]]:
    """Yield a line for each ledger, its size or its error, and whether it is sound."""
    ledgers: dict[str, Ledger] = {}
    places: dict[str, Path] = {}
    problem, sound = "", True
    for file in files or _configured(config, root):
        where = file.resolve()
        try:
            ledger = load_ledger(where, config, root)
        except ConfigError as error:
            sound = False
            yield str(error), False
        else:
            ledgers[ledger.paper] = ledger
            inside = where.is_relative_to(root)
            places[ledger.paper] = where.relative_to(root) if inside else file
    if sound:  # beside an unreadable ledger, references to it look like errors
        try:
            check_references(ledgers | _others(ledgers, config, root), root)
        except ConfigError as error:
            problem = str(error)
    for paper, ledger in ledgers.items():
        tests = sum(len(claim.tests) for claim in ledger.claims.values())
        if not problem.startswith(f"papers/{paper}/"):
            yield f"{places[paper]}: {len(ledger.claims)} claims, {tests} tests", True
    if problem:
        yield problem, False


def _configured(config: Config, root: Path) -> list[Path]:
    papers = dict.fromkeys(one.paper for one in config.experiments)
    files = (paper_file(paper, "claims", root) for paper in papers)
    return [file for file in files if file.is_file()]


def _others(ledgers: dict[str, Ledger], config: Config, root: Path) -> dict[str, Ledger]:
    """Return the other configured papers' ledgers, if a claim names one of theirs."""
    named = {
        name
        for ledger in ledgers.values()
        for claim in ledger.claims.values()
        for name in (*claim.judged_by, *claim.rests_on, *filter(None, [claim.alias_of]))
    }
    if named <= {key for ledger in ledgers.values() for key in ledger.claims}:
        return {}
    files = [file for file in _configured(config, root) if file.parent.name not in ledgers]
    return {file.parent.name: load_ledger(file, config, root) for file in files}

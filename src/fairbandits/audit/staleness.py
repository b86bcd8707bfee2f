"""The latest verdicts, and whether they are of the rules, code and data that are there now."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.audit.claims import Papers, load_papers
from fairbandits.audit.rows import (
    FINDINGS_TABLE,
    VERDICTS_TABLE,
    Table,
    hash_of,
    in_short,
    read,
    stale,
)
from fairbandits.audit.totals import Row
from fairbandits.data.provenance import replay_code
from fairbandits.data.store import StoreError, content_of, read_footer
from fairbandits.replication.datasets import locked_content, refuse_stale
from fairbandits.replication.lock import edited
from fairbandits.settings.config import FROZEN, Config
from fairbandits.settings.schemas import ROOT


class Verdicts(NamedTuple):
    """Rows of verdicts, the file that they come from, and the scale of their datasets."""

    rows: list[dict[str, Any]]
    source: Path
    scale: str
    problems: dict[str, list[str]]  # paper -> why its verdicts are stale

    @property
    def place(self) -> str:
        return shown(self.source)

    def findings(self, papers: Papers) -> list[dict[str, Any]] | None:
        """Return the findings that they rest on, from the file beside them; None without it."""
        file = self.source.with_stem("findings")
        return read(file, papers, "findings", anyway=True).rows if file.is_file() else None


def shown(file: Path) -> str:
    return str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file)


def chosen_seed(rows: Iterable[Row]) -> str:
    """Return the seed of verdicts if it does not follow from their rules, else an empty text."""
    seeds = (row.get("seed", "") for row in rows)
    return next((seed for seed in seeds if seed not in ("", FROZEN)), "")


def latest_verdicts(config: Config, papers: Papers, results: Path | None = None) -> Verdicts:
    """Return the verdicts of the results on disk or, where there are none, the committed ones."""
    results = results or ROOT / config.results
    source = results / "audit" / "verdicts.parquet"
    recorded = source.is_file()
    if not recorded:
        source = ROOT / config.folders.get("audit", "audit") / VERDICTS_TABLE
    table = read(source, papers, anyway=True)
    others = [] if recorded else edited(source, source.with_name(FINDINGS_TABLE))
    problems = {}
    for paper in papers:
        part = table._replace(rows=[row for row in table.rows if row["paper"] == paper])
        data = of_other_data(source, part, results)
        problems[paper] = [*others, *stale(source, papers, paper=paper), *data]
    return Verdicts(table.rows, source, table.scale if recorded else config.scale, problems)


def of_other_data(source: Path, verdicts: Table, results: Path) -> Iterator[str]:
    """Yield the datasets on disk that verdicts were not made from, or that other code made."""
    datasets = dict.fromkeys(dataset for row in verdicts.rows for dataset in row["data"])
    content, problems = {}, []
    for dataset in (dataset for dataset in datasets if (results / dataset).is_file()):
        file, known = results / dataset, dataset in verdicts.made.sources
        try:
            footer = read_footer(file)
            content[dataset] = content_of(footer)
            if known and footer["kind"] == "dataset":
                refuse_stale(footer, file)
            elif known and footer["code"] != replay_code():
                problems.append(f"{shown(file)} is stale: code {footer['code']} made it")
        except StoreError as error:
            problems += [f"{shown(source)} is stale: {str(error).partition('; ')[0]}"] * known
    yield from _of_other_content(source, verdicts, content, shown(results))
    yield from problems


def of_other_lock(
    source: Path, verdicts: Table, config: Config, lock: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the datasets whose locked content is not that behind the committed verdicts."""
    locked = {block.dataset: locked_content(block, lock) for block in config.experiments}
    yield from _of_other_content(source, verdicts, locked, "results.lock")


def _of_other_content(
    source: Path, verdicts: Table, content: Mapping[str, str], where: str
) -> Iterator[str]:
    """Yield the datasets that have other content than verdicts were made from."""
    was = {dataset: facts.get("content", "") for dataset, facts in verdicts.made.sources.items()}
    for data, before in {tuple(row["data"]): row["data_hash"] for row in verdicts.rows}.items():
        now = {dataset: content.get(dataset) or was.get(dataset, "") for dataset in data}
        if (hashed := hash_of(now)) not in ("", before):
            others = [dataset for dataset in now if now[dataset] != was.get(dataset, now[dataset])]
            yield (
                f"{shown(source)} is stale: {' '.join(others or in_short(data))} in {where} has "
                "other content than its verdicts were made from (hash "
                f"{before or 'not recorded'}, now {hashed})"
            )


def problems_of(config: Config, lock: Mapping[str, Any]) -> list[str]:
    papers, results = load_papers(config), config.results
    names = ("verdicts", "findings", *papers)
    files = [results / "audit" / f"{name}.parquet" for name in names]
    if "audit" in config.folders:
        files.append(Path(config.folders["audit"]) / VERDICTS_TABLE)
    problems: list[str] = []
    for file in filter(Path.is_file, files if papers else ()):
        kind = "verdicts" if file.stem == "verdicts" else "findings"
        try:
            table = read(file, papers, kind, anyway=True)
            problems += stale(file, papers, kind)
            if file.suffix == ".csv":
                problems += of_other_lock(file, table, config, lock)
            elif kind == "verdicts":
                problems += of_other_data(file, table, results)
        except StoreError as error:
            problems.append(str(error))
    return problems

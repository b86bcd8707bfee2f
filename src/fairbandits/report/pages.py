"""What the pages of papers are made with: checked results in, figures and tables out."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from fairbandits.audit.run import load
from fairbandits.data.store import StoreError, read_footer, read_table
from fairbandits.figures import PAPERS
from fairbandits.numerals import number, significant
from fairbandits.replication.datasets import expect, expect_drawn, expect_experiment, shrunk
from fairbandits.report.markup import Html, data_table, folded, in_symbols, offer, render, table
from fairbandits.settings.config import Config, Experiment, Replay
from fairbandits.settings.marks import SCALES, name_of_scale
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

CONFIG = ROOT / "config" / "config.yaml"
#: Names of settings, of the parameters of policies, and of the values of both.
NAMES = read_yaml(Path(__file__).with_suffix(".yaml"))
SETTINGS = NAMES["settings"]


class NotReady(StoreError):
    """Results that a page needs are missing or stale; Jupyter shows the message alone."""

    @classmethod
    def of(cls, error: StoreError, way_out: str) -> "NotReady":
        """Return the reason of an error with the way out of it that a page's reader has."""
        return cls(f"{str(error).partition('; ')[0]}; {way_out}")

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def span(low: float, high: float, digits: int = 0) -> str:
    return f"{number(low, digits)} to {number(high, digits)}"


def listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


@dataclass(frozen=True)
class Paper:
    """The results of one paper, as configured at the published scale."""

    slug: str  # the paper's name in files
    results: Path
    figures: Path
    config: Config

    @cached_property
    def content(self) -> dict[str, Any]:
        return read_yaml(paper_file(self.slug, "experiments"))

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        return tuple(
            exp for exp in self.config.experiments if exp.paper == self.slug and not exp.audit
        )

    @cached_property
    def replays(self) -> tuple[Replay, ...]:
        return tuple(replay for replay in self.config.replays if replay.paper == self.slug)

    @cached_property
    def footers(self) -> dict[str, dict[str, Any]]:
        return {exp.name: read_footer(self.results / exp.dataset) for exp in self.experiments}

    @property
    def shrunk(self) -> list[Experiment]:
        """The experiments run with other rounds or replicates than configured."""
        return [exp for exp in self.experiments if shrunk(self.footers[exp.name], exp)]

    @property
    def drawn(self) -> list[str]:
        """The figures, those of replays last."""
        return [name for paper, name in self.config.figures if paper == self.slug]

    def shown_in(self, figure: str) -> tuple[Experiment, ...]:
        return self.config.shown_in(self.slug, figure)

    def file(self, name: str) -> Path:
        return self.results / self.slug / f"{name}.parquet"

    def table(self, name: str) -> pd.DataFrame:
        return read_table(self.file(name)).to_pandas()

    def picture(self, figure: str) -> str:
        """Return the SVG of a figure in base 64, so that a notebook shows it by itself."""
        svg = self.figures / self.slug / f"{figure}.svg"
        return base64.b64encode(svg.read_bytes()).decode()


def in_project(folder: str | Path) -> Path:
    """Return a folder as a notebook names it, also where that runs in the project's folder."""
    there = Path(folder)
    if there.parts[:1] == ("..",) and Path.cwd() == ROOT:
        return Path(*there.parts[1:])
    return there


def open_paper(slug: str, results: str | Path, figures: str | Path) -> Paper:
    """Return a paper's results, or raise NotReady for a file that is missing or stale."""
    paper = Paper(slug, in_project(results), in_project(figures), load([CONFIG])[0])
    drawn = paper.figures / slug
    needed = [paper.results / experiment.dataset for experiment in paper.experiments]
    needed += [paper.results / replay.table for replay in paper.replays]
    needed += [paper.file(name) for name in paper.drawn]
    needed += [drawn / f"{name}.{kind}" for name in paper.drawn for kind in ("svg", "png")]
    if missing := [file for file in needed if not file.is_file()]:
        raise NotReady(
            f"{len(missing)} of the {len(needed)} files that this page shows are missing in "
            f"{paper.results.resolve()} and {paper.figures.resolve()}, first {shown(missing[0])}. "
            "Run `make replicate` in the project's folder, or `make smoke` for a small version of "
            "everything in results/smoke."
        )
    try:
        for exp in paper.experiments:
            expect_experiment(paper.footers[exp.name], exp, paper.results / exp.dataset)
        for name in paper.drawn:
            footer = read_footer(file := paper.file(name))
            expect(footer, {"kind": "figure", "paper": slug, "figure": name}, file)
            for dataset in footer["datasets"]:
                expect_drawn(dataset, paper.footers[dataset["experiment"]], file)
    except StoreError as error:
        raise NotReady.of(error, "`make replicate` makes everything anew") from None
    return paper


def open_papers(results: str | Path, figures: str | Path) -> list[Paper]:
    slugs = dict.fromkeys(experiment.paper for experiment in load([CONFIG])[0].experiments)
    return [open_paper(slug, results, figures) for slug in slugs]


def shown(file: Path) -> str:
    """Return a file's path relative to the project or to the folder of results."""
    file = file.resolve()
    return "/".join(file.relative_to(ROOT).parts if file.is_relative_to(ROOT) else file.parts[-3:])


def banner(papers: Sequence[Paper]) -> Html | None:
    """Return the notice above results of another scale; None at the published scale."""
    runs = [(exp, paper.footers[exp.name]) for paper in papers for exp in paper.shrunk]
    if not runs:
        return None
    scale = scale_of(footer for paper in papers for footer in paper.footers.values())
    return other_scale(scale, render("shrunk.html", runs=runs))


def scale_of(footers: Iterable[Mapping[str, Any]]) -> str:
    """Return the scale of datasets; empty at the published scale."""
    return next((footer["scale"] for footer in footers if "scale" in footer), "smoke")


def other_scale(scale: str, more: str) -> Html:
    """Return a notice that explains another scale than the published one."""
    return render("scale.html", name=name_of_scale(scale), says=SCALES[scale], more=more)


def figure(paper: Paper, name: str) -> Html:
    declared = PAPERS[paper.slug][name]
    replays = [replay for replay in paper.replays if name in replay.figures]
    experiments = () if replays else paper.shown_in(name)
    facts = [paper.footers[experiment.name] for experiment in experiments]
    is_shrunk = any(experiment in paper.shrunk for experiment in experiments[:1])
    for replay in replays:
        rounds = int(paper.table(name)["round"].max())
        facts, is_shrunk = [vars(replay) | {"horizon": rounds}], rounds < replay.horizon
    caption = re.sub(r"\d{5,}", lambda digits: number(int(digits[0])), declared.caption(facts))
    blocks = (paper.content["experiments"][experiment.name] for experiment in experiments)
    settings = (setting for block in blocks for setting in _entries(block))
    unknown = [word for word, entry in settings if entry["provenance"] == "reconstructed"]
    notice = name_of_scale(scale_of(paper.footers.values())) if is_shrunk else ""
    return render(
        "figure.html",
        paper=paper,
        name=name,
        shows=declared.label,
        caption=caption,
        unknown=_by_policies(unknown),
        notice=notice,
        data=[source.name for source in (*experiments, *replays)],
        is_small=bool(replays),
    )


def all_settings(paper: Paper) -> Html:
    """Return the settings of a paper's experiments with their sources, folded."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for setting, entry, figures in _settings(paper):
        value = entry["value"]
        texts = list(map(_plain, value if isinstance(value, list) else [value]))
        if len(texts) > 3 and len(set(texts)) == 1:
            texts = [f"{texts[0]} for each of {len(texts)}"]
        provenance = entry["provenance"].replace("-", " ")
        key = (setting, ", ".join(texts), provenance, in_symbols(entry["source"]))
        rows.setdefault(key, []).extend(figures)
    header = ("setting", "value", "provenance", "source")
    lines = [
        {"figures": _numbers(figures), **dict(zip(header, cells, strict=True))}
        for cells, figures in rows.items()
    ]
    summary = f"All {len(lines)} settings, each with its source"
    return folded(summary, data_table(lines, "settings"))


def _settings(paper: Paper) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    for block in paper.content["experiments"].values():
        figures = [*block.get("figures", []), *block.get("companion_to", [])]
        yield from ((name, entry, figures) for name, entry in _entries(block))
        counts = block.get("checkpoints", {"at": [block["horizon"]["value"]]})
        if "at" in counts:
            recorded = ", ".join(map(number, counts["at"]))
        else:
            recorded = f"{number(counts['linear'])} evenly, {number(counts['log'])} log-spaced"
        entry = {"value": recorded, "provenance": "chosen", "source": NAMES["recorded"]}
        yield "recorded rounds", entry, figures
    for block in paper.content.get("replays", {}).values():
        if block["figures"]:
            yield SETTINGS["horizon"], block["horizon"], block["figures"]


def _entries(block: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an experiment's settings with their sources, by their names on a page."""
    for key, label in SETTINGS.items():
        if "value" in block.get(key, {}):
            yield label, block[key]
        else:  # each part has its own source
            for part, entry in block.get(key, {}).items():
                yield f"{label}: {_called(part)}", entry
    for policy in block.get("policies", {}).values():
        horizons = {"horizons": policy["horizons"]} if "horizons" in policy else {}
        for key, entry in (policy["parameters"] | policy.get("sweep", {}) | horizons).items():
            yield f"{policy['label']}: {_called(key)}", entry


def _called(key: str) -> str:
    names = SETTINGS | NAMES["values"] | NAMES["parameters"]
    return names.get(key, key.replace("_", " "))


def reconstructed(paper: str) -> dict[str, set[str]]:
    """Return the settings of each experiment and suite that were never published, by name."""
    files = (paper_file(paper, kind) for kind in ("experiments", "audit"))
    contents = [read_yaml(file)["experiments"] for file in files if file.is_file()]
    return {name: {*_unprinted(block)} for blocks in contents for name, block in blocks.items()}


def _unprinted(block: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the reconstructed settings of an experiment and of its instances."""
    for settings in (block, *block.get("instances", {}).values()):
        for label, entry in _entries(settings):
            owner, colon, setting = label.rpartition(": ")
            if entry["provenance"] == "reconstructed":
                # without what sets versions of a policy apart
                yield f"{owner.partition(',')[0]}{colon}{setting}"


def _plain(value: Any) -> str:
    """Return a value for reading.

    >>> _plain({"of_equal_share": 0.2}), _plain({"clock": "round"})
    ('0.2 / number of arms', 'round in the logarithm: the present round')
    >>> _plain({"evenly": {"first": 1, "last": 0, "steps": 100}})
    '1 to 0 in 100 steps'
    """
    match value:
        case {"of_equal_share": share}:
            return f"{_plain(share)} / number of arms"
        case {"evenly": {"first": first, "last": last, "steps": steps}}:
            return f"{_plain(first)} to {_plain(last)} in {_plain(steps)} steps"
        case dict():
            return ", ".join(f"{_called(key)}: {_plain(part)}" for key, part in value.items())
        case int() | float() | np.integer():
            return significant(value, 6, trimmed=True)
    return NAMES["values"].get(str(value), str(value))


def _numbers(figures: Iterable[str]) -> str:
    """Return figures as numbers, neighbours joined.

    >>> _numbers(["fig1", "fig2", "fig3", "fig7"]), _numbers(["fig3a", "fig3b", "fig1"])
    ('1–3, 7', '1, 3a–b')
    """
    parts = {re.fullmatch(r"fig(\d+)([a-z]?)", name).groups() for name in figures}
    spans: dict[tuple[int, str], tuple[int, str]] = {}  # last part -> first part
    for number_, letter in sorted((int(digits), letter) for digits, letter in parts):
        before = (number_, chr(ord(letter) - 1)) if letter else (number_ - 1, "")
        spans[number_, letter] = spans.pop(before, (number_, letter))
    return ", ".join(
        f"{first}{letter}" + (f"–{end or last}" if (first, letter) != (last, end) else "")
        for (last, end), (first, letter) in spans.items()
    )


def versions(papers: Iterable[Paper]) -> Html:
    """Return packages and commits that made the datasets, from their footers."""
    facts = [
        {"root seed": str(footer["seed"]), "code fingerprint": footer["code"], **footer["packages"]}
        for paper in papers
        for footer in paper.footers.values()
    ]
    return table({"": [[key, ", ".join(sorted({row[key] for row in facts}))] for key in facts[0]]})


def values(
    drawn: pd.DataFrame,
    name: str,
    rows: Sequence[str],
    groups: Sequence[str] = (),
    digits: int = 0,
    *,
    more: Mapping[str, str] = MappingProxyType({}),
    labels: Mapping[str, str] = MappingProxyType({}),
    unit: str = "",
) -> Html:
    """Return rows of a figure's table as a folded table: mean, interval, and range of the runs.

    The columns `rows` name a row, the columns `groups` what it stands under; `labels` has words for
    cells of these. `more` maps further headings to columns. `unit` is that of the mean.
    """

    def said(row: Mapping[str, Any], keys: Sequence[str]) -> str:
        return ", ".join(filter(None, (_in_words(key, row[key], labels) for key in keys)))

    lines = [
        {
            "under": said(row, groups),
            unit and f"in {unit}": said(row, rows),
            "mean": number(row["mean"], digits),
            "95 % interval": span(row["mean_low"], row["mean_high"], digits),
            "95 % of our runs": span(row["run_low"], row["run_high"], digits),
            **{heading: _cell(row[key], digits) for heading, key in more.items()},
            "n": str(row["n_replicates"]),
        }
        for row in drawn.to_dict("records")
    ]
    return frame(pd.DataFrame(lines), name, under=["under"])


def _cell(value: float | str, digits: int) -> str:
    if isinstance(value, str):
        return value
    return "" if value != value else number(value, 0 if isinstance(value, int) else digits)


def _in_words(key: str, value: Any, labels: Mapping[str, str]) -> str:
    if isinstance(value, str):
        return labels.get(value, value)
    if value != value:  # a policy without what the others vary
        return ""
    return f"{NAMES['signs'].get(key, key)}{' = ' * (key in NAMES['signs']) or ' '}{_plain(value)}"


def at_parts(drawn: pd.DataFrame, parts: Sequence[float], by: Sequence[str]) -> pd.DataFrame:
    """Return rows at the rounds nearest to parts of the last one, for each combination in `by`."""
    chosen = []
    for _, group in drawn.groupby(list(by), sort=False, dropna=False):
        rounds = np.sort(group["round"].unique())
        wanted = {rounds[np.abs(rounds - part * rounds[-1]).argmin()] for part in parts}
        chosen.append(group[group["round"].isin(wanted)])
    return pd.concat(chosen)


def frame(shown: pd.DataFrame, name: str, digits: int = 0, under: Sequence[str] = ()) -> Html:
    """Return a table, folded; the cells of the columns `under` are headings above its rows."""
    lines: dict[str, list[list[str]]] = {}
    for row in shown.to_dict("records"):
        heading = ", ".join(row.pop(key) for key in under)
        lines.setdefault(heading, []).append([_cell(value, digits) for value in row.values()])
    header = [column for column in shown.columns if column not in under]
    summary = f"{len(shown)} rows of values: {', '.join(header[1:])}"
    return folded(summary, table(lines, header, name), "fb-numbers")


def _by_policies(labels: Iterable[str]) -> list[str]:
    """Return names of settings, those of the same policies together: ``constant (LFG)``."""
    policies: dict[str, dict[str, None]] = {}
    for policy, _, setting in (label.rpartition(": ") for label in labels):
        policies.setdefault(setting, {})[policy] = None
    together: dict[str, list[str]] = {}
    for setting, users in policies.items():
        together.setdefault("; ".join(filter(None, users)), []).append(setting)
    return [listed(settings) + (f" ({of})" if of else "") for of, settings in together.items()]


offer(listed, shown, span)

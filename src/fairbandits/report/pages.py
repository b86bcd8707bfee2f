"""What all pages are made with: checked results in, HTML out.

A page reads in Jupyter as on the site: figures are embedded, and links carry what
`fairbandits.report.build` needs to make them links of the site.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
from IPython.display import HTML, Markdown

from fairbandits.data.store import StoreError, read_footer, read_table
from fairbandits.figures.draw import PAPERS
from fairbandits.library.style import LAW_TITLES
from fairbandits.replication.datasets import (
    Rows,
    expect,
    expect_experiment,
    load_dataset,
    shrunk,
)
from fairbandits.settings.config import Config, Experiment, Replay, load_config
from fairbandits.settings.marks import SCALES, name_of_scale
from fairbandits.settings.schemas import ROOT, paper_file, read_yaml

CONFIG = ROOT / "config" / "config.yaml"
#: Page names of the settings that every experiment has.
SETTINGS = {
    "horizon": "rounds T",
    "replicates": "replicates",
    "published_replicates": "replicates in the paper",
    "means": "mean rewards μ",
    "groups": "sizes of the groups",
    "drawn_means": "mean rewards μ, drawn",
    "targets": "target rates λ",
    "quotas": "required fractions of pulls r",
    "penalties": "penalty rates A",
    "laws": "reward laws",
    "spread": "spread of rewards",
}
RECORDED = "what is kept of a run; it does not change the run"
IMAGES = ("svg", "png")
#: Pages without a notebook: `fairbandits.report.claims` makes them.
GENERATED = ("claims", "robustness")


class NotReady(StoreError):
    """Results that a page needs are missing or stale; Jupyter shows the message alone."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def number(value: float, digits: int = 0) -> str:
    """Return a number for reading: thousands apart, a true minus sign.

    Examples
    --------
    >>> number(-13982.4)
    '−13\u202f982'
    """
    rounded = round(float(value), digits) + 0.0  # no minus before zero
    return f"{rounded:,.{digits}f}".replace(",", "\u202f").replace("-", "−")


def span(low: float, high: float, digits: int = 0) -> str:
    """Return a range for reading."""
    return f"{number(low, digits)} to {number(high, digits)}"


def listed(words: Sequence[str]) -> str:
    """Return words as a list for reading.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def prose(text: str) -> Markdown:
    """Return Markdown in which percent signs stay with their numbers."""
    return Markdown(text.replace(" %", "\u00a0%"))


@dataclass(frozen=True)
class Paper:
    """The results of one paper."""

    slug: str  # the paper's name in files
    results: Path
    figures: Path
    experiments: tuple[Experiment, ...]  # as configured at the published scale
    footers: dict[str, dict[str, Any]]  # experiment -> footer of its dataset
    replays: tuple[Replay, ...] = ()  # runs of its authors' program

    @cached_property
    def content(self) -> dict[str, Any]:
        """The paper's configuration file."""
        return read_yaml(paper_file(self.slug, "experiments"))

    @cached_property
    def title(self) -> str:
        """The paper's title."""
        return self.content["title"]

    @property
    def shrunk(self) -> list[Experiment]:
        """The experiments run with other rounds or replicates than configured."""
        return [one for one in self.experiments if shrunk(self.footers[one.name], one)]

    @property
    def drawn(self) -> list[tuple[Experiment | Replay, str]]:
        """Each figure, after the experiment or replay that it is drawn from."""
        return [(one, name) for one in (*self.experiments, *self.replays) for name in one.figures]

    def of_figure(self, figure: str) -> Experiment:
        """Return the experiment that a figure shows."""
        return next(one for one in self.experiments if figure in one.figures)

    def replay_of_figure(self, figure: str) -> Replay:
        """Return the replay that a figure shows alone."""
        return next(one for one in self.replays if figure in one.figures)

    def shown_in(self, figure: str) -> tuple[Experiment, ...]:
        """Return all experiments that a figure shows, its own first."""
        others = (one for one in self.experiments if figure in one.companion_to)
        return self.of_figure(figure), *others

    def reconstructed(self, figure: str) -> list[str]:
        """Return the settings of a figure's experiments that were never published."""
        blocks = [self.content["experiments"][one.name] for one in self.shown_in(figure)]
        named = [entry for block in blocks for entry in _entries(block)]
        return list(
            dict.fromkeys(name for name, one in named if one["provenance"] == "reconstructed")
        )

    def dataset(
        self, experiment: str, columns: list[str], *rows: Rows
    ) -> tuple[Any, dict[str, Any]]:
        """Return chosen columns (and rows) of an experiment's dataset, and its footer."""
        return load_dataset(self._file(f"{experiment}.parquet"), columns, *rows)

    def table(self, name: str) -> pd.DataFrame:
        """Return another of the paper's tables, e.g. ``fig1``."""
        return read_table(self._file(f"{name}.parquet")).to_pandas()

    def _file(self, name: str) -> Path:
        return self.results / self.slug / name


def open_paper(slug: str, results: str | Path, figures: str | Path) -> Paper:
    """Return a paper's results, or raise NotReady for a file that is missing or stale."""
    return _open(load_config([CONFIG]), slug, Path(results), Path(figures))


def open_papers(results: str | Path, figures: str | Path) -> list[Paper]:
    """Return the results of all configured papers."""
    config = load_config([CONFIG])
    slugs = dict.fromkeys(one.paper for one in config.experiments)
    return [_open(config, slug, Path(results), Path(figures)) for slug in slugs]


def _open(config: Config, slug: str, results: Path, figures: Path) -> Paper:
    experiments = tuple(one for one in config.experiments if one.paper == slug and not one.audit)
    replays = tuple(one for one in config.replays if one.paper == slug)
    names = [name for one in (*experiments, *replays) for name in one.figures]
    datasets = {one.name: results / slug / f"{one.name}.parquet" for one in experiments}
    needed = [*datasets.values(), *(results / one.table for one in replays)]
    needed += [results / slug / f"{name}.parquet" for name in names]
    needed += [figures / slug / f"{name}.{kind}" for name in names for kind in IMAGES]
    if missing := [file for file in needed if not file.is_file()]:
        raise NotReady(
            f"{len(missing)} of the {len(needed)} files that this page shows are missing, first "
            f"{shown(missing[0])}. Run `make replicate` in the project's folder, or `make smoke` "
            "for a small version of everything in results/smoke."
        )
    footers = {name: read_footer(file) for name, file in datasets.items()}
    try:
        for one in experiments:
            expect_experiment(footers[one.name], one, datasets[one.name])
        for name in names:
            file = results / slug / f"{name}.parquet"
            footer = read_footer(file)
            expect(footer, {"kind": "figure", "paper": slug, "figure": name}, file)
            for drawn in footer["datasets"]:
                _refuse_older(drawn, footers[drawn["experiment"]], file)
    except StoreError as error:
        reason = str(error).partition("; ")[0]
        raise NotReady(f"{reason}; `make replicate` makes everything anew") from None
    return Paper(slug, results, figures, experiments, footers, replays)


def _refuse_older(drawn: dict[str, Any], footer: dict[str, Any], file: Path) -> None:
    """Raise StoreError if a figure was drawn from another dataset than the present one."""
    for key in ("seed", "code"):
        if drawn[key] != footer[key]:
            raise StoreError(
                f"{file} is stale: {drawn['experiment']} had {key} {drawn[key]} when it was drawn, "
                f"now {footer[key]}"
            )


def shown(file: Path) -> str:
    """Return a file's path relative to the project or to the folder of results."""
    file = file.resolve()
    return "/".join(file.relative_to(ROOT).parts if file.is_relative_to(ROOT) else file.parts[-3:])


def banner(papers: Iterable[Paper]) -> HTML | None:
    """Return the notice above results of another scale; None at the published scale."""
    papers, rows = list(papers), []
    for paper in papers:
        for one in paper.shrunk:
            ran = paper.footers[one.name]
            rows.append(
                f"<li>{escape(one.title)}: {number(ran['horizon'])} rounds and "
                f"{ran['replicates']} replicates instead of {number(one.horizon)} and "
                f"{one.replicates}</li>"
            )
    if not rows:
        return None
    scale = scale_of(one for paper in papers for one in paper.footers.values())
    return other_scale(scale, folded("What was run", f"<ul>{''.join(rows)}</ul>").data)


def scale_of(footers: Iterable[Mapping[str, Any]]) -> str:
    """Return the scale of datasets; empty at the published scale."""
    return next((one["scale"] for one in footers if "scale" in one), "smoke")


def other_scale(scale: str, more: str) -> HTML:
    """Return a notice that explains another scale than the published one."""
    return HTML(
        '<div class="fb-smoke" role="alert" style="border: 3px solid #c00; padding: 1em">'
        '<p class="fb-smoke-title" style="font-size: 1.6em">'
        f"<strong>{name_of_scale(scale)}</strong></p><p>{escape(SCALES[scale])}</p>{more}</div>"
    )


def figure(
    paper: Paper,
    name: str,
    title: str,
    marks: str = "",
    panels: str = "",
    *,
    one_run: bool = True,
    curves: str = "",
) -> HTML:
    """Return a figure with a caption of its settings, and links to its files.

    `marks` says what is drawn besides the curves over replicates, `panels` what the panels are
    (reward laws by default), `curves` what points, lines and bands are, if not a thick line and two
    bands; `one_run` is whether one replicate is drawn as a thin line.
    """
    marks = "; ".join(words for words in ("thin line: one replicate" * one_run, marks) if words)
    shown_here = paper.shown_in(name)
    experiment = shown_here[0]
    footers = [paper.footers[one.name] for one in shown_here]
    drawn = paper.table(name)
    n = listed([str(count) for count in dict.fromkeys(one["replicates"] for one in footers)])
    horizons = listed([number(one) for one in dict.fromkeys(one["horizon"] for one in footers)])
    if not panels:
        laws = [LAW_TITLES.get(law, law) for law in drawn["law"].unique()]
        sides = ["Left: ", "right: "] if len(laws) == 2 else [""] * len(laws)
        panels = "; ".join(side + law for side, law in zip(sides, laws, strict=True))
    label = f"Figure {name.removeprefix('fig')}"
    over = f"over {n} replicates of {horizons} rounds"
    bands = (
        f"{escape(curves)}; {over}"
        if curves
        else f"Thick line: mean {over}; narrow band: 95 % t interval of the mean; wide band: range "
        "of 95 % of the replicates"
    )
    words = "; ".join(part for part in (bands, escape(marks)) if part)
    caption = f"<strong>{label}.</strong> {escape(title)}. {escape(panels)}. {words}."
    if unknown := paper.reconstructed(name):
        caption += f" Reconstructed, not printed in the paper: {escape(listed(unknown))}."
    if experiment in paper.shrunk:
        words = name_of_scale(scale_of(footers))
        caption += f" <strong>{words[0].upper()}{words[1:]}.</strong>"
    return _framed(paper, name, title, caption, [one.name for one in shown_here])


def replay_figure(paper: Paper, name: str, title: str, marks: str = "") -> HTML:
    """Return a figure that shows a replay alone, with caption and links.

    `marks` says what is drawn besides the replay and the points read off.
    """
    replay = paper.replay_of_figure(name)
    rounds = int(paper.table(name)["round"].max())
    words = f"Lines: one run of {number(rounds)} rounds; circles: read off the published curves"
    marks = f"; {escape(marks)}" if marks else ""
    label = f"Figure {name.removeprefix('fig')}"
    caption = f"<strong>{label}.</strong> {escape(title)}. {words}{marks}."
    if rounds < replay.horizon:
        words = name_of_scale(scale_of(paper.footers.values()))
        caption += f" <strong>{words[0].upper()}{words[1:]}.</strong>"
    return _framed(paper, name, title, caption, [replay.name], "fb-figure fb-small")


def _framed(
    paper: Paper,
    name: str,
    title: str,
    caption: str,
    datasets: Sequence[str],
    look: str = "fb-figure",
) -> HTML:
    """Return a figure with its caption and links to its files."""
    label = f"Figure {name.removeprefix('fig')}"
    caption = caption.replace(" %", "\u00a0%")
    links = {
        kind: f'data-figure="{paper.slug}/{name}.{kind}" '
        f'href="{paper.figures}/{paper.slug}/{name}.{kind}"'
        for kind in IMAGES
    }
    files = [f"<a {link}>{kind.upper()}</a>" for kind, link in links.items()]
    for what, names in {"data": datasets, "curves": [name]}.items():
        places = [shown(paper.results / paper.slug / f"{file}.parquet") for file in names]
        files.append(f"{what} {', '.join(f'<code>{place}</code>' for place in places)}")
    picture = image(paper, name, f"{label}: {title}; described in the caption and the table below")
    return HTML(
        f'<figure class="{look}" id="{name}"><a class="fb-image" {links["svg"]}>{picture}</a>'
        f'<figcaption>{caption}<span class="fb-files">{" · ".join(files)}</span></figcaption>'
        "</figure>"
    )


def image(paper: Paper, name: str, alt: str) -> str:
    """Return a figure as an image."""
    file = paper.figures / paper.slug / f"{name}.svg"
    data = base64.b64encode(file.read_bytes()).decode()
    return (
        f'<img data-figure="{paper.slug}/{name}.svg" src="data:image/svg+xml;base64,{data}" '
        f'alt="{escape(alt)}" class="dark-light" loading="lazy">'
    )


def quantity(paper: str, name: str) -> str:
    """Return a figure's quantity in a word or two."""
    function, *_ = PAPERS[paper][name]
    return function.__name__.replace("_", " ")


def settings(paper: Paper) -> pd.DataFrame:
    """Return a row per configured number, with its source."""
    rows: dict[tuple[str, ...], list[str]] = {}

    def add(setting: str, entry: dict[str, Any], figures: list[str]) -> None:
        value = entry["value"]
        words = [_plain(one) for one in value] if isinstance(value, list) else [_plain(value)]
        if len(words) > 3 and len(set(words)) == 1:
            words = [f"{words[0]} for each of {len(words)}"]
        provenance = entry["provenance"].replace("-", " ")
        key = (setting, ", ".join(words), provenance, entry["source"].strip())
        rows.setdefault(key, []).extend(figures)

    for block in paper.content["experiments"].values():
        figures = [*block["figures"], *block.get("companion_to", [])]
        for name, entry in _entries(block):
            add(name, entry, figures)
        counts = block["checkpoints"]
        recorded = (
            ", ".join(map(number, counts["at"]))
            if "at" in counts
            else f"{number(counts['linear'])} evenly, {number(counts['log'])} log-spaced"
        )
        checkpoints = {"value": recorded, "provenance": "chosen", "source": RECORDED}
        add("recorded rounds", checkpoints, figures)
    for block in paper.content.get("replays", {}).values():
        if block["figures"]:
            add(SETTINGS["horizon"], block["horizon"], block["figures"])
    named = [(_numbers(figures), *key) for key, figures in rows.items()]
    return pd.DataFrame(named, columns=["figures", "setting", "value", "provenance", "source"])


def _entries(block: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an experiment's settings with their sources, by their names on a page."""
    for key, words in SETTINGS.items():
        if "value" in block.get(key, {}):
            yield words, block[key]
        else:  # each part has its own source
            yield from ((f"{words}: {part}", entry) for part, entry in block.get(key, {}).items())
    for policy in block["policies"].values():
        horizons = {"rounds T": policy["horizons"]} if "horizons" in policy else {}
        for key, entry in (policy["parameters"] | policy.get("sweep", {}) | horizons).items():
            yield f"{policy['label']}: {key}", entry


def reconstructed(paper: str) -> dict[str, set[str]]:
    """Return the settings of each experiment and suite that were never published, by name."""
    found: dict[str, set[str]] = {}
    for kind in ("experiments", "audit"):
        file = paper_file(paper, kind)
        if file.is_file():
            for name, block in read_yaml(file)["experiments"].items():
                found[name] = set(_unprinted(block, ""))
    return found


def _unprinted(block: dict[str, Any], label: str) -> Iterator[str]:
    """Yield the names of the reconstructed settings in a block, at any depth."""
    for key, entry in block.items():
        if not isinstance(entry, dict):
            continue
        if entry.get("provenance") == "reconstructed":
            name = SETTINGS.get(key, key.replace("_", " "))
            owner = label.partition(",")[0]  # without what sets versions of a policy apart
            yield f"{owner}: {name}" if owner else name
        elif "provenance" not in entry:
            own = SETTINGS.get(key, label) if key in SETTINGS else entry.get("label", label)
            yield from _unprinted(entry, own)


def _plain(value: Any) -> str:
    """Return a value for reading.

    Examples
    --------
    >>> _plain({"of_equal_share": 0.2}), _plain({"clock": "round"})
    ('0.2 / k each', 'clock: round')
    >>> _plain({"evenly": {"first": 1, "last": 0, "steps": 100}})
    '1 to 0 in 100 steps'
    """
    if isinstance(value, dict):
        if list(value) == ["of_equal_share"]:
            return f"{_plain(value['of_equal_share'])} / k each"
        if "steps" in value.get("evenly", {}):
            first, last, steps = (
                _plain(value["evenly"][key]) for key in ("first", "last", "steps")
            )
            return f"{first} to {last} in {steps} steps"
        return ", ".join(f"{key}: {_plain(one)}" for key, one in value.items())
    if isinstance(value, int):
        return number(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _numbers(figures: Iterable[str]) -> str:
    """Return figures as numbers, neighbours joined.

    Examples
    --------
    >>> _numbers(["fig1", "fig2", "fig3", "fig7"]), _numbers(["fig3a", "fig3b", "fig1"])
    ('1–3, 7', '1, 3a–b')
    """
    parts = {re.fullmatch(r"fig(\d+)([a-z]?)", name).groups() for name in figures}
    groups: list[list[tuple[int, str]]] = []
    for one in sorted((int(digits), letter) for digits, letter in parts):
        if groups and one in _next_to(groups[-1][-1]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return ", ".join(
        f"{first}{letter}" + (f"–{end or last}" if len(group) > 1 else "")
        for group in groups
        for (first, letter), (last, end) in [(group[0], group[-1])]
    )


def _next_to(figure: tuple[int, str]) -> tuple[tuple[int, str], ...]:
    """Return the figures that may follow a figure: (3, "a") -> (3, "b"); (3, "") -> (4, "")."""
    number_, letter = figure
    return ((number_, chr(ord(letter) + 1)),) if letter else ((number_ + 1, ""),)


def versions(papers: Iterable[Paper]) -> HTML:
    """Return packages and commits that made the datasets, from their footers."""
    footers = [footer for paper in papers for footer in paper.footers.values()]
    facts = {"root seed": "seed", "code fingerprint": "code"}
    rows = {words: {str(footer[key]) for footer in footers} for words, key in facts.items()}
    for name in footers[0]["packages"]:
        rows[name] = {footer["packages"][name] for footer in footers}
    return table({"": [[what, ", ".join(sorted(found))] for what, found in rows.items()]})


@dataclass(frozen=True)
class Cell:
    """A cell of a table to sort and filter."""

    text: str  # what is shown
    value: str | float | None = ""  # sort and filter key if not the text; None: no number
    html: bool = False  # whether the text is HTML

    def __str__(self) -> str:
        return self.text

    @property
    def markup(self) -> str:
        """The cell as HTML."""
        numeric = not isinstance(self.value, str)
        value = self.value
        if numeric:
            value = "" if value is None or value != value else f"{value:.6g}"
            value = value.replace("inf", "Infinity")
        given = f' data-value="{escape(str(value))}"' if numeric or value else ""
        look = ' class="fb-number"' if numeric else ""
        return f"<td{look}{given}>{self.text if self.html else escape(self.text)}</td>"


def data_table(
    header: Sequence[str],
    rows: Iterable[Sequence[Cell | str]],
    name: str,
    *,
    ids: Sequence[str] = (),
    buttons: Mapping[str, Sequence[str]] = MappingProxyType({}),
    selects: Sequence[str] = (),
) -> str:
    """Return a table as HTML that the site's script makes sortable and filterable.

    String cells are text. `ids` are the rows' anchors, `buttons` maps a column to the values that
    its buttons choose, in order; `selects` are columns with a list to choose from.
    """
    chosen = {one: ' data-filter="select"' for one in selects}
    chosen |= {one: f' data-filter="{escape("|".join(buttons[one]))}"' for one in buttons}
    filters = [chosen.get(one, "") for one in header]
    heads = "".join(
        f'<th scope="col"{filter_}>{escape(one)}</th>'
        for one, filter_ in zip(header, filters, strict=True)
    )
    lines = [
        "".join((one if isinstance(one, Cell) else Cell(one)).markup for one in row) for row in rows
    ]
    starts = [f'<tr id="{one}">' for one in ids] or ["<tr>"] * len(lines)
    body = "".join(f"{start}{line}</tr>" for start, line in zip(starts, lines, strict=True))
    return (
        f'<div class="fb-scroll"><table class="fb-data" id="{name}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def all_settings(paper: Paper) -> HTML:
    """Return the settings of a paper's experiments with their sources, folded."""
    frame = settings(paper)
    said = f"All {len(frame)} settings, each with where it comes from"
    return folded(said, searchable(frame, "settings").data)


def folded(summary: str, html: str) -> HTML:
    """Return HTML that unfolds when its summary is clicked."""
    return HTML(f'<details class="fb-wrap"><summary>{escape(summary)}</summary>{html}</details>')


def searchable(frame: pd.DataFrame, name: str, selects: Sequence[str] = ()) -> HTML:
    """Return a frame as `data_table`, without its index."""
    rows = [
        [Cell(str(one), one) if isinstance(one, int) else str(one) for one in row]
        for row in frame.itertuples(index=False)
    ]
    return HTML(data_table(list(frame.columns), rows, name, selects=selects))


def table(groups: dict[str, list[list[str]]], header: Sequence[str] = (), name: str = "") -> HTML:
    """Return a small table; `groups` maps headings ("" for none) to rows of HTML cells."""
    parts = []
    for heading, rows in groups.items():
        if heading:
            parts.append(
                f'<tr class="fb-group"><th colspan="{len(header)}" scope="rowgroup">'
                f"<span>{heading}</span></th></tr>"
            )
        parts += [
            f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{one}</td>" for one in row[1:])}</tr>'
            for row in rows
        ]
    heads = "".join(f'<th scope="col">{word}</th>' for word in header)
    head = f"<thead><tr>{heads}</tr></thead>" if header else ""
    identity = f' id="{name}"' if name else ""
    return HTML(
        f'<div class="fb-scroll"><table class="fb-table"{identity}>{head}'
        f"<tbody>{''.join(parts)}</tbody></table></div>"
    )


def value_table(groups: dict[str, list[list[str]]], header: Sequence[str], name: str) -> HTML:
    """Return a figure's values as a folded `table`."""
    said = f"{sum(map(len, groups.values()))} rows of values: {', '.join(filter(None, header))}"
    shown = table(groups, header, name).data
    return HTML(f"<details><summary>{said}</summary>{shown}</details>")


def badge(words: str, good: bool) -> str:
    """Return words on green or amber."""
    return f'<span class="fb-badge fb-{"good" if good else "off"}">{escape(words)}</span>'


def link(place: str, html: str) -> str:
    """Return a link to another page, or a place on it.

    In Jupyter it leads to the page's notebook or, without one, to the built site.

    Examples
    --------
    >>> link("audit#tally", "all of them")
    '<a data-page="audit#tally" href="audit.ipynb#tally">all of them</a>'
    >>> link("claims", "its claims")
    '<a data-page="claims" href="../results/site/claims.html">its claims</a>'
    """
    page, further = re.split(r"(?=[?#])", place + "#", maxsplit=1)
    generated = page.partition("/")[0] in GENERATED
    href = f"../results/site/{page}.html" if generated else f"{page}.ipynb"
    return f'<a data-page="{place}" href="{href}{further[:-1]}">{html}</a>'


def link_to_claim(claim: str, html: str) -> str:
    """Return a link to a claim's page."""
    return link(f"claims/{claim}", html)

"""What the rules of the workflow are given: jobs, files, fingerprints, and the last words of a run.

Files are named as the rules name them, ``<results>/audit/...``.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fairbandits.arena.settings import TABLES, arena_config
from fairbandits.data.provenance import PACKAGE, fingerprint_of_text
from fairbandits.figures import PAPERS, figure_code, shown_by
from fairbandits.replication.bundles import jobs_of
from fairbandits.replication.progress import PROGRESS, START, measured, needs
from fairbandits.settings.config import build_config
from fairbandits.settings.marks import SCALES, name_of_scale
from fairbandits.settings.models import expect_known
from fairbandits.settings.schemas import EXPONENT, ConfigError, paper_file, parse_yaml, read_yaml

#: More figures than these are counted at the end of a run, and not listed.
FEW = 6
#: Pages that say what the library has, and simulate by themselves. The second one compiles for half
#: a minute: a small run leaves it to the tests of the pages.
LIBRARY_PAGES = ("library", "your_own_policy")
#: Tables of the audit.
AUDITED = ("verdicts", "findings")
#: Files of a paper that pages and claims show.
SHOWN_OF_A_PAPER = ("experiments", "audit", "glossary", "published", "numbers")
#: Files of a paper that ask: its claims, its measures.
ASKING = ("claims.py", "measures.py")


class Plan:
    """What a run of Snakemake's merged configuration makes, and of what."""

    def __init__(self, settings: Mapping[str, Any], root: Path) -> None:
        settings = _with_numbers(settings)
        self.root, self.limits = root, settings.get("limits", {})
        self.config = build_config(settings, "configuration", root=root)
        self._check_place(read_yaml(root / "config" / "config.yaml")["pathvars"])
        # claims are about the published settings, and so are the pages
        self.variant = self.config.scale_name == "variant"
        papers = self.config.papers
        #: Papers with claims.
        self.judged = [
            paper
            for paper in papers
            if not self.variant and self._there(f"papers/{paper}/claims.py")
        ]
        # run as a paper is, and no paper
        arena = None if self.variant else arena_config(settings, "configuration", root=root)
        self.arena = arena
        small = self.config.scale_name == "smoke"
        library = LIBRARY_PAGES[:1] if small else LIBRARY_PAGES
        audited = ["audit", "across"] if self.judged else []
        #: Pages of a notebook each, the first one first.
        self.pages = ["index", *audited, "arena", *library, *papers]
        made = [jobs_of(config) for config in (self.config, arena) if config]
        self.simulations = [job for simulating, _ in made for job in simulating]
        self.collections = [job for _, collecting in made for job in collecting]

        self.datasets = _datasets(self.config.experiments)
        self.arena_datasets = _datasets(arena.experiments) if arena else []
        self.arena_tables = [f"<results>/arena/{name}.parquet" for name in TABLES] if arena else []
        self.arena_tables += ["<audit>/arena.csv"] if arena else []
        places = [f"{paper}/{name}" for paper, name in self.config.figures]
        self.images = [f"<figures>/{path}.{end}" for path in places for end in ("svg", "png")]
        #: Tables of what the figures show.
        self.drawn = [f"<results>/{path}.parquet" for path in places]
        #: The committed tables of the audit, and a page of them; and the verdicts on pages.
        self.verdicts, self.site_verdicts, generated = [], [], []
        if self.judged:
            self.verdicts = [f"<audit>/{name}.csv" for name in AUDITED]
            self.verdicts.append("<results>/audit/verdicts.html")
            self.site_verdicts = [f"<results>/audit/{name}.parquet" for name in AUDITED]
            generated = ["claims", "robustness"]
        #: What becomes pages as it is, with images.
        files = sorted((root / "docs").rglob("*.*"))
        self.documents = [file.relative_to(root).as_posix() for file in files]
        #: Pages of the site; those of single claims come with the table of all.
        pages = (*self.pages, *generated, *(["docs/index"] if files else []))
        self.site = [f"<results>/site/{page}.html" for page in pages]
        shared = ("across", "findings", "arena/experiments", "arena/arena")
        #: What pages say of words, symbols, settings and published numbers.
        self.site_settings = self._there(
            *("config/config.yaml", "audit/agreement.csv"),
            *(f"papers/{name}.yaml" for name in shared),
            *(f"papers/{paper}/{part}.yaml" for paper in papers for part in SHOWN_OF_A_PAPER),
            *(f"papers/{paper}/{part}" for paper in papers for part in ASKING),
        )
        # pages show docstrings: an edit of any file makes them anew, in a minute or two
        files = (path for path in sorted(PACKAGE.rglob("*.*")) if ".py" not in path.suffix)
        assets = [path.relative_to(PACKAGE).as_posix() for path in files]
        self.site_code = fingerprint_of_text("", *assets)

    def _check_place(self, home: Mapping[str, str]) -> None:
        """Raise ConfigError if chosen seeds would write over what was published."""
        config = self.config
        chosen = f"seed={config.seed}" if config.exploratory else f"salt={config.salt!r}"
        over = [name for name, folder in config.folders.items() if home.get(name) == folder]
        if over and (config.exploratory or config.salt):
            raise ConfigError(
                f"{chosen} would write over the published {' and '.join(over)}; `fairbandits "
                "replicate --seed 7 --out results/seed7` writes into a folder of its own"
            )

    def of_paper(self, paper: str) -> list[str]:
        """Return what a paper as a target is: its figures and, with claims, its findings."""
        folders = [f"<figures>/{paper}/", f"<results>/{paper}/"]
        made = [file for file in self.images + self.drawn if file.startswith(tuple(folders))]
        return made + [f"<results>/audit/{paper}.parquet"] * (paper in self.judged)

    def date_now(self) -> None:
        """Date files of the future at now, as after an archive or on a cluster with other clocks.

        Snakemake takes what is made of such a file for older than it is, and deletes it.
        """
        now = time.time()
        for folder in {*self.config.folders.values(), "papers", "notebooks"}:
            for file in Path(folder).rglob("*"):
                if file.is_file() and file.stat().st_mtime > now:
                    os.utime(file, (now, now))

    def expect(self, cores: int) -> None:
        """Tell what shows the progress how long each job takes."""
        PROGRESS.cores, PROGRESS.papers = cores, frozenset(self.config.papers)
        PROGRESS.share = 0.25 if self.config.scale_name == "smoke" else 1.0
        for folder, jobs in (("simulate", self.simulations), ("collect", self.collections)):
            for job in jobs:
                before = measured(self._benchmark(f"{folder}/{job.name}"))
                PROGRESS.expected[job.name] = before or job.seconds + START

    def needs_of(self, name: str, seconds: float) -> dict[str, int]:
        """Return what a job asks of a cluster, by an earlier run if there is its benchmark file."""
        return needs(self._benchmark(name), seconds)

    def rounds_replayed(self, wildcards) -> str:
        """Return the option that ends a replay early; the limit is of rounds with 1000 arms."""
        most = self.limits.get("replay")
        return f"--rounds {most * 1000 // int(wildcards.arms)}" if most else ""

    def _benchmark(self, name: str) -> Path:
        return Path(self.config.folders["benchmarks"], f"{name}.tsv")

    def drawing(self, paper: str, figure: str) -> SimpleNamespace:
        """Return what the rule of a figure says."""
        # no parameter may be a function of the rule's files: Snakemake reruns nothing for it
        known = PAPERS.get(paper, {})
        nothing = f"which nothing draws in src/fairbandits/figures/{paper}.py"
        expect_known(figure, known, f"papers/{paper}/experiments.yaml has {figure}, {nothing}")
        declared, config = known[figure], self.config
        shown, replay = shown_by(config, paper, figure)
        inputs: dict[str, Any] = {"data": _datasets(shown)}
        if replay:
            inputs["published"] = f"<results>/{replay.table}"
        if not shown:
            inputs["read_off"] = f"papers/{paper}/published.yaml"
        title = read_yaml(paper_file(paper, "experiments", self.root))["title"]
        return SimpleNamespace(
            paper=paper,
            figure=figure,
            place=f"{paper}/{figure}",  # of its files, in the folders of figures and of results
            category=title.partition(":")[0],  # in a report
            labels={"figure": figure.removeprefix("fig"), "quantity": declared.label},
            inputs=inputs,
            caption=declared.caption([exp.facts() for exp in shown] or [vars(replay)]),
            code=figure_code(paper),
        )

    def audited_datasets(self, wildcards) -> list[str]:
        """Return a paper's datasets and replays, which its claims can read."""
        experiments = [exp for exp in self.config.experiments if exp.paper == wildcards.paper]
        replays = [replay for replay in self.config.replays if replay.paper == wildcards.paper]
        return [*_datasets(experiments), *(f"<results>/{replay.table}" for replay in replays)]

    def audit_settings(self, wildcards) -> list[str]:
        """Return a paper's claims, and the published numbers that they are laid beside."""
        parts = (*ASKING, "published.yaml")
        return self._there(*(f"papers/{wildcards.paper}/{part}" for part in parts))

    def page_files(self, wildcards) -> list[str]:
        """Return all that a page can show; pages of the library are made before any results."""
        if wildcards.page in LIBRARY_PAGES:
            return self.arena_datasets if wildcards.page == "your_own_policy" else []
        shown = _datasets(exp for exp in self.config.experiments if not exp.audit)
        shown += [f"<results>/{replay.table}" for replay in self.config.replays]
        tables = shown + self.drawn + self.arena_tables
        return [*self.images, *tables, *self.site_verdicts, *self.site_settings]

    def _there(self, *files: str) -> list[str]:
        return [file for file in files if (self.root / file).is_file()]

    def closing_lines(self) -> str:
        """Return what a finished run has made, and where; without our logger, all that is there."""
        made, config = PROGRESS.made, self.config
        figures, results = Path(config.folders["figures"]), config.results
        places = {f"{paper}_{name}": f"{paper}/{name}.svg" for paper, name in config.figures}
        there = made or {rule for rule, path in places.items() if (figures / path).is_file()}
        drawn = [path for rule, path in places.items() if rule in there]
        lines = [f"{len(drawn)} figures in {figures}"] if len(drawn) > FEW else []
        lines = lines or [f"Figure: {figures / path}" for path in drawn]
        lines += self._verdict_lines() if {"audit", "site"} & {*made} or not made else []
        lines += self._arena_lines() if "arena" in made and "site" not in made else []
        if "audit" not in made:
            lines += [self._paper_line(paper) for paper in self.judged if paper in PROGRESS.reached]
        if "manifest" in made:
            from fairbandits.report.manifest import MANIFEST, read_manifest

            lines.append(read_manifest(results / MANIFEST).words)
        index = results / "site" / "index.html"
        lines += [f"Report: {index}"] if "site" in made or (not made and index.is_file()) else []
        lines = lines or [f"Made in {results}"]
        if meaning := SCALES.get(config.scale_name):
            lines.insert(-1, f"{name_of_scale(config.scale_name).capitalize()}. {meaning}")
        return "\n".join(lines)

    def _arena_lines(self) -> list[str]:
        """Return the arena's answer, and where its page is."""
        from fairbandits.arena import which
        from fairbandits.arena.roles import load_arena

        arena = load_arena(self.arena, self.root)
        page = self.config.results / "site" / "arena.html"
        lines = [*which.answer(arena, which.committed(self.arena))]
        return [*lines, f"Page: {page} (`fairbandits replicate report` makes it anew)"]

    def _paper_line(self, paper: str) -> str:
        """Return how many claims of a paper have which verdict by its findings alone."""
        from fairbandits.audit.claims import load_papers
        from fairbandits.audit.judge import judge
        from fairbandits.audit.rows import answer_of, read, verdict_row
        from fairbandits.audit.totals import tally

        papers = load_papers(self.config, self.root)
        results = self.config.results
        findings = read(results / "audit" / f"{paper}.parquet", papers, "findings")
        judged = judge({paper: papers[paper]}, map(answer_of, findings.rows))
        rows = [verdict_row(papers, verdict, findings.made) for verdict in judged]
        total = "no verdict counts here" if self.config.scale_name in SCALES else str(tally(rows))
        return f"{paper}: {total}; `fairbandits audit {paper} --results {results}` lists findings"

    def _verdict_lines(self) -> list[str]:
        """Return how many of the claims that count have which verdict, at the published scale."""
        table = Path(self.config.folders.get("audit", "")) / "verdicts.csv"
        judged = self.config.results / "audit" / "verdicts.parquet"
        if not judged.is_file() or not table.is_file():  # the committed one can be of another run
            return []
        from fairbandits.audit.claims import claims_of, load_papers
        from fairbandits.audit.rows import read
        from fairbandits.audit.totals import tally

        papers = load_papers(self.config, self.root)
        if self.config.scale_name in SCALES:
            n = len(claims_of(papers))
            return [f"Audit: {n} claims were judged; no verdict counts here; {table}"]
        return [f"Audit: {tally(read(judged, papers, anyway=True).rows)}; {table}"]


def _with_numbers(settings: Any, key: str = "") -> Any:
    """Return settings with numbers for what Snakemake reads as a text: 1e3."""
    if isinstance(settings, Mapping):
        return {name: _with_numbers(value, name) for name, value in settings.items()}
    if isinstance(settings, list):
        return [_with_numbers(value) for value in settings]
    is_number = isinstance(settings, str) and key != "salt" and EXPONENT.fullmatch(settings)
    return parse_yaml(settings, key) if is_number else settings


def _datasets(experiments) -> list[str]:
    return [f"<results>/{experiment.dataset}" for experiment in experiments]

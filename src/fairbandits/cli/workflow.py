"""What the rules of the workflow are given: jobs, files, fingerprints, and the last words of a run.

The files of `workflow/rules` say which command makes what of what; what that comes to for a
configuration is worked out here. Files are named as the rules name them, ``<results>/audit/...``.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fairbandits.arena.settings import TABLES, arena_config
from fairbandits.audit.ledger import load_ledgers
from fairbandits.audit.totals import standing, totals
from fairbandits.data.provenance import PACKAGE, READING, figure_code, fingerprint_of_text, used_by
from fairbandits.figures import PAPERS
from fairbandits.replication.bundles import bundles_of, collections, simulations
from fairbandits.replication.progress import EXPECTED, PROGRESS, START, measured, needs
from fairbandits.settings.config import build_config
from fairbandits.settings.marks import SCALES, name_of_scale
from fairbandits.settings.schemas import ConfigError, meant, paper_file, read_yaml

#: More figures than these are counted at the end of a run, and not listed.
FEW = 6
#: Pages that say what the library has, and simulate by themselves. The second one compiles for half
#: a minute: a small run leaves it to the tests of the pages.
LIBRARY_PAGES = ("library", "your_own_policy")
#: How figures are drawn.
IMAGES = ("svg", "png")
#: Tables of the audit.
AUDITED = ("verdicts", "findings")
TEMPLATES = tuple(
    sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.glob("report/html/*"))
)
#: What makes the pages of papers and claims, with its docstrings, since pages show them.
PAGE_PARTS = (
    *("arena", "report", "figures", "measures", "theory", "library/style.py"),
    *("settings/config.py", "settings/papers.py", "settings/schemas.py", "settings/formulas.py"),
    *("audit", *READING, *TEMPLATES),
)
#: What builds the site, besides.
SITE_PARTS = (
    *("report/custom.css", "report/favicon.svg", "report/site.js"),
    *("report/templates/made-by.html", "report/templates/menu.html", "data/store.py"),
)
#: What makes the pages about the library, and what that imports.
LIBRARY_PARTS = (
    *("__init__.py", "library/comparison.py", "library/compiling.py"),
    *("library/instances.py", "observers", "policies", "report/arena.py", "report/library.py"),
    "data/store.py",
)
#: Files of a paper that pages and claims show.
SHOWN_OF_A_PAPER = ("experiments", "audit", "claims", "glossary", "published", "numbers")


class Drawing(NamedTuple):
    """What the rule of a figure says."""

    paper: str
    figure: str
    place: str  # of its files, in the folders of figures and of results
    category: str  # in a report
    labels: dict[str, str]
    inputs: dict[str, Any]
    caption: str
    code: str  # fingerprint of what draws it


class Plan:
    """What a run of Snakemake's merged configuration makes, and of what."""

    def __init__(self, settings: Mapping[str, Any], root: Path) -> None:
        self.root, self.limits = root, settings.get("limits", {})
        self.config = build_config(settings, "configuration", root=root)
        # claims are about the published settings, and so are the pages
        self.variant = self.config.scale_name == "variant"
        self.ledgers = {} if self.variant else load_ledgers(self.config, root=root)
        # run as a paper is, and no paper
        self.arena = None if self.variant else arena_config(settings, "configuration", root=root)
        self.papers = list(dict.fromkeys(one.paper for one in self.config.experiments))
        audited = ["audit", "across"] if self.ledgers else []
        small = self.config.scale_name == "smoke"
        library = LIBRARY_PAGES[:1] if small else LIBRARY_PAGES
        #: Pages of a notebook each, the first one first.
        self.pages = ["index", *audited, "arena", *library, *self.papers]
        bundles = [(one, bundles_of(one)) for one in (self.config, self.arena) if one]
        self.simulations = [job for one in bundles for job in simulations(*one)]
        self.collections = [job for one in bundles for job in collections(*one)]

    def expect(self, cores: int) -> None:
        """Tell what shows the progress how long each job takes."""
        PROGRESS.cores = cores
        for folder, jobs in (("simulate", self.simulations), ("collect", self.collections)):
            for job in jobs:
                before = measured(self._benchmark(f"{folder}/{job.name}"))
                PROGRESS.expected[job.name] = before or job.seconds + START

    def needs_of(self, name: str, seconds: float) -> dict[str, int]:
        """Return what a job asks of a cluster, by an earlier run if there is its benchmark file."""
        return needs(self._benchmark(name), seconds)

    def memory_of_replay(self, wildcards) -> int:
        """Return the megabytes that a replay asks of a cluster."""
        return self._needs_of_replay(wildcards)["mem_mb"]

    def minutes_of_replay(self, wildcards) -> int:
        """Return the minutes that a replay asks of a cluster."""
        return self._needs_of_replay(wildcards)["runtime"]

    def rounds_replayed(self, wildcards) -> str:
        """Return the option that ends a replay early: a whole one of many arms takes minutes.

        The limit is of rounds with a thousand arms; those with fewer arms are cheaper.
        """
        most = self.limits.get("replay")
        return f"--rounds {most * 1000 // int(wildcards.arms)}" if most else ""

    def _needs_of_replay(self, wildcards) -> dict[str, int]:
        name = f"banditq/replay_{wildcards.arms}_{wildcards.feedback}"
        return self.needs_of(name, EXPECTED["replay"])

    def _benchmark(self, name: str) -> Path:
        return Path(self.config.folders["benchmarks"], f"{name}.tsv")

    def datasets(self) -> list[str]:
        """Return the datasets of all configured experiments."""
        return _datasets(self.config.experiments)

    def images(self) -> list[str]:
        """Return the figures as SVG and PNG."""
        figures = self.config.figures
        return [f"<figures>/{paper}/{name}.{end}" for paper, name in figures for end in IMAGES]

    def drawn(self) -> list[str]:
        """Return the tables of what the figures show."""
        return [f"<results>/{paper}/{figure}.parquet" for paper, figure in self.config.figures]

    def drawings(self) -> list[Drawing]:
        """Return what the rule of each figure says."""
        return [self._drawing(paper, figure) for paper, figure in self.config.figures]

    def _drawing(self, paper: str, figure: str) -> Drawing:
        # no parameter may be a function of the rule's files: Snakemake reruns nothing for it
        known = PAPERS.get(paper, {})
        if figure not in known:
            raise ConfigError(
                f"papers/{paper}/experiments.yaml has {figure}, which nothing draws in "
                f"src/fairbandits/figures/{paper}.py{meant(figure, list(known))}"
            )
        declared, config = known[figure], self.config
        replays = [one for one in config.replays if one.paper == paper]
        alone = [one for one in replays if figure in one.figures]
        shown = [] if alone else config.shown_in(paper, figure)
        inputs: dict[str, Any] = {"data": _datasets(shown)}
        for one in alone or [one for one in replays if one.name == declared.beside]:
            inputs["published"] = f"<results>/{one.table}"
        if alone:
            inputs["read_off"] = f"papers/{paper}/published.yaml"
        title = read_yaml(paper_file(paper, "experiments", self.root))["title"]
        return Drawing(
            paper=paper,
            figure=figure,
            place=f"{paper}/{figure}",
            category=title.partition(":")[0],
            labels={"figure": figure.removeprefix("fig"), "quantity": declared.label},
            inputs=inputs,
            caption=declared.caption([one.facts() for one in alone or shown]),
            code=figure_code(paper),
        )

    def verdicts(self) -> list[str]:
        """Return the committed tables of the audit, and a page of them, if there is a ledger."""
        tables = [f"<audit>/{name}.csv" for name in AUDITED]
        return [*tables, "<results>/audit/verdicts.html"] if self.ledgers else []

    def audited_datasets(self, wildcards) -> list[str]:
        """Return the datasets that the claims of a paper read, and replays of its authors' runs."""
        ledger = self.ledgers[wildcards.paper]
        names = dict.fromkeys(name for one in ledger.claims.values() for name in one.experiments)
        read = [one for name in names for one in self.config.named(ledger.paper, name)]
        replays = [one.table for one in self.config.replays if one.paper == ledger.paper]
        return [*dict.fromkeys(_datasets(read)), *(f"<results>/{table}" for table in replays)]

    def audit_settings(self, wildcards) -> list[str]:
        """Return a paper's ledger, and the published numbers that its claims are laid beside."""
        return self._there([wildcards.paper], ("claims", "published"))

    def arena_datasets(self) -> list[str]:
        """Return the runs of the arena, one dataset for each instance."""
        return _datasets(self.arena.experiments) if self.arena else []

    def arena_tables(self) -> list[str]:
        """Return the tables of the arena."""
        return [f"<results>/arena/{name}.parquet" for name in TABLES] if self.arena else []

    def site(self) -> list[str]:
        """Return the pages of the site; those of single claims come with the table of all."""
        generated = ["claims", "robustness"] if self.ledgers else []
        return [f"<results>/site/{page}.html" for page in (*self.pages, *generated)]

    def site_verdicts(self) -> list[str]:
        """Return the verdicts on the pages."""
        return [f"<results>/audit/{name}.parquet" for name in AUDITED] if self.ledgers else []

    def site_settings(self) -> list[str]:
        """Return what pages say of words, symbols, settings and published numbers."""
        shared = ("across", "findings", "arena/experiments", "arena/arena")
        files = ["config/config.yaml", "CITATION.cff", "audit/agreement.csv"]
        files += [f"papers/{name}.yaml" for name in shared]
        files = [file for file in files if (self.root / file).is_file()]
        return files + self._there(self.papers, SHOWN_OF_A_PAPER)

    @property
    def site_code(self) -> str:
        """The fingerprint of the code that builds the site."""
        return fingerprint_of_text(*PAGE_PARTS, *SITE_PARTS)

    def page_code(self, wildcards) -> str:
        """Return the fingerprint of the code that makes a page."""
        of_library = wildcards.page in LIBRARY_PAGES
        parts = used_by(*LIBRARY_PARTS, without=()) + TEMPLATES if of_library else PAGE_PARTS
        return fingerprint_of_text(*parts)

    def page_files(self, wildcards) -> list[str]:
        """Return all that a page can show; those of the library are made before there are results.

        A page that reads less is executed again for nothing, in a second or two.
        """
        if wildcards.page in LIBRARY_PAGES:
            return self.arena_datasets() if wildcards.page == "your_own_policy" else []
        shown = _datasets(one for one in self.config.experiments if not one.audit)
        shown += [f"<results>/{one.table}" for one in self.config.replays]
        tables = shown + self.drawn() + self.arena_tables()
        return [*self.images(), *tables, *self.site_verdicts(), *self.site_settings()]

    def _there(self, papers, parts) -> list[str]:
        """Return those of the papers' files that are there."""
        files = [f"papers/{paper}/{part}.yaml" for paper in papers for part in parts]
        return [file for file in files if (self.root / file).is_file()]

    def closing_lines(self) -> str:
        """Return what a finished run has made, and where; without our logger, all that is there."""
        made, config = PROGRESS.made, self.config
        figures, results = Path(config.folders["figures"]), Path(config.folders["results"])
        places = {f"{paper}_{name}": f"{paper}/{name}.svg" for paper, name in config.figures}
        there = made or {rule for rule, place in places.items() if (figures / place).is_file()}
        drawn = [place for rule, place in places.items() if rule in there]
        lines = [f"{len(drawn)} figures in {figures}"] if len(drawn) > FEW else []
        lines = lines or [f"Figure: {figures / place}" for place in drawn]
        lines += self._verdict_lines() if "audit" in made or not made else []
        index = results / "site" / "index.html"
        lines += [f"Report: {index}"] if "site" in made or (not made and index.is_file()) else []
        lines = lines or [f"Made in {results}"]
        if said := SCALES.get(config.scale_name):
            lines.insert(-1, f"{name_of_scale(config.scale_name).capitalize()}. {said}")
        return "\n".join(lines)

    def _verdict_lines(self) -> list[str]:
        """Return how many of the claims that count have which verdict, and what is left out."""
        table = Path(self.config.folders.get("audit", "")) / "verdicts.csv"
        judged = Path(self.config.folders["results"]) / "audit" / "verdicts.parquet"
        if not judged.is_file() or not table.is_file():  # the committed one can be of another run
            return []
        with table.open(encoding="utf-8", newline="") as file:
            heads: dict[str, dict[str, str]] = {}  # a claim's first row
            for row in csv.DictReader(file):
                heads.setdefault(row["id"], {name: row[name] for name in ("verdict", "grade")})
        none = {"verdict": "", "grade": ""}
        claims = [one for ledger in self.ledgers.values() for one in ledger.claims.values()]
        rows = (standing(one) | heads.get(one.id, none) for one in claims)
        return [f"Audit: {totals(rows)}; {table}"]


def _datasets(experiments) -> list[str]:
    return [f"<results>/{one.dataset}" for one in experiments]

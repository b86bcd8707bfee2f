"""What the rules share: the checked configuration and the fingerprints of the code."""

import csv
from pathlib import Path

from snakemake.exceptions import WorkflowError

from fairbandits.arena.settings import TABLES, arena_code, arena_config
from fairbandits.audit.ledger import load_ledgers
from fairbandits.audit.totals import standing, totals
from fairbandits.replication.bundles import SHOWN, bundles_of, collections, simulations, write_plans
from fairbandits.settings.config import build_config
from fairbandits.settings.marks import SCALES, name_of_scale
from fairbandits.settings.schemas import ConfigError
from fairbandits.replication.progress import EXPECTED, PROGRESS, START, measured, needs
from fairbandits.data.provenance import (
    READING,
    audit_code,
    collect_code,
    figure_code,
    fingerprint_of_text,
    replay_code,
    used_by,
)

try:
    CONFIG = build_config(config, "configuration", root=Path(workflow.basedir))
    # claims are about the published settings, and so are the pages
    VARIANT = CONFIG.scale_name == "variant"
    LEDGERS = {} if VARIANT else load_ledgers(CONFIG, root=Path(workflow.basedir))
    # run as a paper is, and no paper
    ARENA = None if VARIANT else arena_config(config, "configuration", root=Path(workflow.basedir))
except ConfigError as error:
    raise WorkflowError(str(error)) from None

PROGRESS.cores = workflow.cores or 1
#: More figures than these are counted at the end of a run, and not listed.
FEW = 6
#: Figures are drawn as soon as they can be; what they wait for comes before all else.
SOON = 2 * SHOWN
BUNDLES = bundles_of(CONFIG)
SIMULATIONS = simulations(CONFIG, BUNDLES)
COLLECTIONS = collections(CONFIG, BUNDLES)
if ARENA:
    SIMULATIONS += simulations(ARENA, bundles_of(ARENA))
    COLLECTIONS += collections(ARENA, bundles_of(ARENA))

for folder, jobs in (("simulate", SIMULATIONS), ("collect", COLLECTIONS)):
    for job in jobs:
        before = measured(Path(CONFIG.folders["benchmarks"], folder, f"{job.name}.tsv"))
        PROGRESS.expected[job.name] = before or job.seconds + START


def needs_of(name, seconds):
    """What a job asks of a cluster, from the benchmark file of an earlier run if there is one."""
    return needs(Path(CONFIG.folders["benchmarks"], f"{name}.tsv"), seconds)


# A job that simulates or collects has the fingerprint of its own runs besides (`Job.code`).
COLLECT_CODE = collect_code()
AUDIT_CODE = audit_code()
#: What a paper's page and its audit read besides figures and datasets; its own rules make it.
REPLAYS = {one.paper: [] for one in CONFIG.replays}
for one in CONFIG.replays:
    REPLAYS[one.paper].append(f"<results>/{one.table}")
REPLAY_CODE = replay_code()
ARENA_CODE = arena_code()


wildcard_constraints:
    paper="[a-z_]+",


def all_figures():
    """The figures of all configured papers, as SVG and PNG, and what they show.

    The images are committed, so that a fresh clone has them; the tables it has to make.
    """
    return [
        place
        for paper, figure in CONFIG.figures
        for place in (
            f"<figures>/{paper}/{figure}.svg",
            f"<figures>/{paper}/{figure}.png",
            f"<results>/{paper}/{figure}.parquet",
        )
    ]


def all_verdicts():
    """The tables of verdicts and findings, if a configured paper has a ledger."""
    return ["<audit>/verdicts.csv", "<audit>/findings.csv"] if LEDGERS else []


def arena_datasets():
    """The runs of the arena, one dataset for each instance."""
    return [f"<results>/{one.dataset}" for one in ARENA.experiments] if ARENA else []


def arena_tables():
    """The tables of the arena."""
    return [f"<results>/arena/{name}.parquet" for name in TABLES] if ARENA else []


def audited_datasets(wildcards):
    """The datasets that the claims of a paper read, and the replays of its authors' runs."""
    ledger = LEDGERS[wildcards.paper]
    names = dict.fromkeys(name for one in ledger.claims.values() for name in one.experiments)
    read = [one for name in names for one in CONFIG.named(ledger.paper, name)]
    files = dict.fromkeys(f"<results>/{one.dataset}" for one in read)
    return [*files, *REPLAYS.get(wildcards.paper, [])]


def audit_settings(wildcards):
    """A paper's ledger, and the published numbers that its claims are laid beside."""
    files = [f"papers/{wildcards.paper}/claims.yaml", f"papers/{wildcards.paper}/published.yaml"]
    return [file for file in files if Path(workflow.basedir, file).is_file()]


def all_datasets():
    """The datasets of all configured experiments."""
    return [f"<results>/{one.dataset}" for one in CONFIG.experiments]


def datasets_shown_in(paper, figure):
    """The datasets that a figure shows, its own first."""
    return [f"<results>/{one.dataset}" for one in CONFIG.shown_in(paper, figure)]


def params_of_figure(paper, figure):
    """What the datasets are of that a figure shows, and the fingerprint of what draws it.

    Neither may be a function of the rule's files: Snakemake reruns nothing for such a parameter.
    """
    replayed = any(one.paper == paper and figure in one.figures for one in CONFIG.replays)
    shown = [CONFIG.replay_of_figure(paper, figure)] if replayed else CONFIG.shown_in(paper, figure)
    return {"shows": [one.facts() for one in shown], "code": figure_code(paper)}


def replay_shown_in(paper, figure):
    """The replay that a figure is drawn from alone, as the run that was published."""
    return f"<results>/{CONFIG.replay_of_figure(paper, figure).table}"


def memory_of_replay(wildcards):
    """The megabytes that a replay asks of a cluster."""
    return needs_of(_replay(wildcards), EXPECTED["replay"])["mem_mb"]


def minutes_of_replay(wildcards):
    """The minutes that a replay asks of a cluster."""
    return needs_of(_replay(wildcards), EXPECTED["replay"])["runtime"]


def _replay(wildcards):
    return f"banditq/replay_{wildcards.arms}_{wildcards.feedback}"


def rounds_replayed(wildcards):
    """The option that ends a replay early: a whole one of many arms takes minutes."""
    most = config.get("limits", {}).get("replay")
    return f"--rounds {most}" if most and int(wildcards.arms) > 100 else ""


def drawn(paper, number, quantity, caption):
    """The outputs of a figure: the image in two formats, and the numbers it shows."""
    svg = report(
        "<figures>/<figure>.svg",
        caption=f"../report/{caption}",
        category=paper,
        labels={"figure": number, "quantity": quantity},
    )
    return {"svg": svg, "png": "<figures>/<figure>.png", "table": "<results>/<figure>.parquet"}


def published_option(wildcards, input):
    """The option that draws the published run beside ours, where it can be replayed."""
    return f"--published {input.published}" if "published" in input.keys() else ""


def name_of_figure(wildcards, output):
    """Paper and figure, as the command takes them."""
    table = Path(output.table)
    return [table.parent.name, table.stem]


def verdict_lines():
    """How many of the claims that count have which verdict, and what is left out."""
    table = Path(CONFIG.folders.get("audit", "")) / "verdicts.csv"
    judged = Path(CONFIG.folders["results"]) / "audit" / "verdicts.parquet"
    if not judged.is_file() or not table.is_file():  # the committed one can be of another run
        return []
    claims = {key: one for ledger in LEDGERS.values() for key, one in ledger.claims.items()}
    with table.open(encoding="utf-8", newline="") as file:
        headlines = {}  # a claim's first row
        for row in csv.DictReader(file):
            headlines.setdefault(row["id"], row["verdict"])
    rows = (standing(one) | {"verdict": headlines.get(key, "")} for key, one in claims.items())
    return [f"Audit: {totals(rows)}; {table}"]


def closing_lines():
    """What a finished run says last: what it has made, and where that is.

    Without our logger it is not known what was made, and all counts that is there.
    """
    made = PROGRESS.made
    places = {f"{paper}_{name}": f"{paper}/{name}.svg" for paper, name in CONFIG.figures}
    figures = Path(CONFIG.folders["figures"])
    drawn = [
        place
        for rule, place in places.items()
        if rule in made or (not made and (figures / place).is_file())
    ]
    lines = [f"{len(drawn)} figures in {figures}"] if len(drawn) > FEW else []
    lines = lines or [f"Figure: {figures / place}" for place in drawn]
    lines += verdict_lines() if "audit" in made or not made else []
    index = Path(CONFIG.folders["results"]) / "site" / "index.html"
    if "site" in made or (not made and index.is_file()):
        lines.append(f"Report: {index}")
    lines = lines or [f"Made in {CONFIG.folders['results']}"]
    if said := SCALES.get(CONFIG.scale_name):
        lines.insert(-1, f"{name_of_scale(CONFIG.scale_name).capitalize()}. {said}")
    return "\n".join(lines)


# The code that makes the pages of papers and claims, and the code that builds the site from all:
# with its docstrings, since pages show them.
PAGE_PARTS = (
    "arena",
    "report",
    "figures",
    "measures",
    "theory",
    "library/style.py",
    "settings/checks.py",
    "settings/config.py",
    "settings/schemas.py",
    "audit",
    *READING,
)
PAGE_CODE = fingerprint_of_text(*PAGE_PARTS)
SITE_CODE = fingerprint_of_text(
    *PAGE_PARTS,
    "report/custom.css",
    "report/favicon.svg",
    "report/site.js",
    "report/templates/made-by.html",
    "report/templates/menu.html",
    "data/store.py",
)
PAPERS = list(dict.fromkeys(one.paper for one in CONFIG.experiments))
#: They say what the library has, and simulate by themselves.
LIBRARY_PAGES = ["library", "your_own_policy"]
LIBRARY_CODE = fingerprint_of_text(
    *used_by(
        "__init__.py",
        "policies/fair_ucb.py",
        "library/comparison.py",
        "library/compiling.py",
        "library/instances.py",
        "observers",
        "policies",
        "report/arena.py",
        "report/library.py",
        "data/store.py",
        without=(),
    )
)
PAGES = ["index", *(["audit", "across"] if LEDGERS else []), "arena", *LIBRARY_PAGES, *PAPERS]
#: Pages without a notebook; those of the claims come with them.
GENERATED = ["claims", "robustness"] if LEDGERS else []


def all_images(papers=PAPERS):
    """The figures of these papers, as SVG and as PNG."""
    return [
        f"<figures>/{paper}/{figure}.{kind}"
        for paper, figure in CONFIG.figures
        if paper in papers
        for kind in ("svg", "png")
    ]


def all_pages():
    """The pages of the site, the first one first; one that is asked for is made when it is gone.

    Those of the claims come with the table of all claims.
    """
    return [f"<results>/site/{page}.html" for page in (*PAGES, *GENERATED)]


def site_verdicts():
    """The verdicts on the pages of the claims."""
    names = ("verdicts", "findings") if LEDGERS else ()
    return [f"<results>/audit/{name}.parquet" for name in names]


def site_settings():
    """What the pages of the claims say of words, symbols and settings."""
    names = ("claims", "glossary", "experiments", "audit")
    files = [f"papers/{paper}/{name}.yaml" for paper in LEDGERS for name in names]
    return [file for file in files if Path(workflow.basedir, file).is_file()]


def page_papers(wildcards):
    """The papers whose figures and datasets a page shows."""
    pages = {"index": PAPERS, **dict.fromkeys(["audit", "across", "arena", *LIBRARY_PAGES], [])}
    return pages.get(wildcards.page, [wildcards.page])


def page_code(wildcards):
    """The fingerprint of the code that makes a page."""
    return LIBRARY_CODE if wildcards.page in LIBRARY_PAGES else PAGE_CODE


def page_verdicts(wildcards):
    """The verdicts on a page."""
    if not LEDGERS or wildcards.page not in ("index", "audit", "across", *LEDGERS):
        return []
    return [f"<results>/audit/{name}.parquet" for name in ("verdicts", "findings")]


def page_images(wildcards):
    """The figures on a page."""
    return all_images(page_papers(wildcards))


def page_tables(wildcards):
    """The datasets and drawn curves on a page."""
    if wildcards.page in ("arena", "your_own_policy"):
        return arena_tables() if wildcards.page == "arena" else arena_datasets()
    papers = page_papers(wildcards)
    names = [(one.paper, one.name) for one in CONFIG.experiments if not one.audit] + [
        *CONFIG.figures,
        *((one.paper, one.name) for one in CONFIG.replays),
    ]
    found = [f"<results>/{paper}/{name}.parquet" for paper, name in names if paper in papers]
    return found + (arena_tables() if wildcards.page == "index" else [])  # a finding is of it


def results_folder(wildcards, output):
    """The folder of results, from that of a page."""
    return Path(output[0]).parents[1]


def figures_folder(wildcards):
    """The folder of figures, also for a page without any."""
    return CONFIG.folders["figures"]


def page_settings(wildcards):
    """The configuration that a page shows, published numbers beside ours, and what papers share."""
    papers = page_papers(wildcards)
    published = [f"papers/{one}/published.yaml" for one in papers if wildcards.page == one]
    published = [file for file in published if Path(workflow.basedir, file).is_file()]
    across = ["papers/across.yaml"] if wildcards.page == "across" else []
    if wildcards.page == "arena":
        across = [f"papers/arena/{name}.yaml" for name in ("experiments", "arena")]
    kinds = ["experiments", "glossary"] if wildcards.page == "index" else ["experiments"]
    configured = [f"papers/{one}/{kind}.yaml" for one in papers for kind in kinds]
    configured = [file for file in configured if Path(workflow.basedir, file).is_file()]
    if wildcards.page == "index":
        base = Path(workflow.basedir)
        found = [base / "papers" / "findings.yaml", *base.glob("papers/*/numbers.yaml")]
        across = sorted(str(file.relative_to(base)) for file in found)
    return ["config/config.yaml", *configured, *published, *across]

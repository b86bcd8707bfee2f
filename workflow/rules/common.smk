"""What the rules share: the checked configuration and the fingerprints of the code."""

import csv
from pathlib import Path

from snakemake.exceptions import WorkflowError

from fairbandits.audit.ledger import load_ledgers
from fairbandits.audit.totals import in_words, left_out, totals
from fairbandits.experiments.bundles import SHOWN, bundles_of, collections, simulations, write_plans
from fairbandits.experiments.config import build_config
from fairbandits.experiments.schemas import ConfigError
from fairbandits.progress import PROGRESS, START, measured
from fairbandits.provenance import (
    READING,
    audit_code,
    collect_code,
    figure_code,
    fingerprint,
    replay_code,
)

try:
    CONFIG = build_config(config, "configuration", root=Path(workflow.basedir))
    LEDGERS = load_ledgers(CONFIG, root=Path(workflow.basedir))
except ConfigError as error:
    raise WorkflowError(str(error)) from None

#: Figures are drawn as soon as they can be; what they wait for comes before all else.
SOON = 2 * SHOWN
BUNDLES = bundles_of(CONFIG)
SIMULATIONS = simulations(CONFIG, BUNDLES)
COLLECTIONS = collections(CONFIG, BUNDLES)

for folder, jobs in (("simulate", SIMULATIONS), ("collect", COLLECTIONS)):
    for job in jobs:
        before = measured(Path(CONFIG.folders["benchmarks"], folder, f"{job.name}.tsv"))
        PROGRESS.expected[job.name] = before or job.seconds + START

# A job that simulates or collects has the fingerprint of its own runs besides (`Job.code`).
COLLECT_CODE = collect_code()
AUDIT_CODE = audit_code()
#: What a paper's page and its audit read besides figures and datasets; its own rules make it.
REPLAYS = {one.paper: [] for one in CONFIG.replays}
for one in CONFIG.replays:
    REPLAYS[one.paper].append(f"<results>/{one.table}")
REPLAY_CODE = replay_code()


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


def rounds_replayed(wildcards):
    """The option that ends a replay early: a whole one of many arms takes minutes."""
    small = CONFIG.scale == "smoke" and int(wildcards.arms) > 100
    return "--rounds 20000" if small else ""


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
    counted = totals((left_out(claims[key]), verdict) for key, verdict in headlines.items())
    return [f"Audit: {in_words(*counted)}; {table}"]


def closing_lines():
    """What a finished run says last: how many figures there are, and where the report is."""
    figures = Path(CONFIG.folders["figures"])
    drawn = sum((figures / paper / f"{name}.svg").is_file() for paper, name in CONFIG.figures)
    lines = [f"{drawn} figures in {figures}", *verdict_lines()]
    if CONFIG.scale == "smoke":
        lines.append("Smoke run: everything was run at a small scale; its numbers are not results.")
    index = Path(CONFIG.folders["results"]) / "site" / "index.html"
    if index.is_file():
        lines.append(f"Report: {index}")
    return "\n".join(lines)


# The code that makes the pages, and the code that builds the site from them.
PAGE_CODE = fingerprint(
    "site",
    "figures",
    "metrics",
    "optima",
    "experiments/checks.py",
    "experiments/config.py",
    "experiments/schemas.py",
    "audit",
    *READING,
)
SITE_CODE = fingerprint(
    "site/build.py", "site/conf.py", "site/custom.css", "site/favicon.svg", "store.py"
)
PAPERS = list(dict.fromkeys(one.paper for one in CONFIG.experiments))
PAGES = ["index", *(["audit", "across"] if LEDGERS else []), *PAPERS]


def all_images(papers=PAPERS):
    """The figures of these papers, as SVG and as PNG."""
    return [
        f"<figures>/{paper}/{figure}.{kind}"
        for paper, figure in CONFIG.figures
        if paper in papers
        for kind in ("svg", "png")
    ]


def all_pages():
    """The pages of the site, the first one first; one that is asked for is made when it is gone."""
    return [f"<results>/site/{page}.html" for page in PAGES]


def page_papers(wildcards):
    """The papers whose figures and datasets a page shows."""
    return {"index": PAPERS, "audit": [], "across": []}.get(wildcards.page, [wildcards.page])


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
    papers = page_papers(wildcards)
    names = [(one.paper, one.name) for one in CONFIG.experiments if not one.audit] + [
        *CONFIG.figures,
        *((one.paper, one.name) for one in CONFIG.replays),
    ]
    return [f"<results>/{paper}/{name}.parquet" for paper, name in names if paper in papers]


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
    configured = (f"papers/{one}/experiments.yaml" for one in papers)
    return ["config/config.yaml", *configured, *published, *across]

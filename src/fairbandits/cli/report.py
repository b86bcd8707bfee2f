"""The commands that make the report and the project's pages."""

import json
from pathlib import Path

from click import Choice, argument, echo, option

from fairbandits.cli.options import CONFIGS, FILE, FOLDER, RESULTS, command
from fairbandits.data.whole import named
from fairbandits.settings.schemas import ROOT, checkout


@command("describe results/banditq/fig1.parquet", "describe > docs/data-dictionary.md")
@argument("file", type=FILE, required=False)
def describe(file):
    """Describe the columns of the table FILE.

    Print the meaning, unit and range of each column. Without FILE, print the whole data dictionary
    as a Markdown page.
    """
    from fairbandits.report import describing

    echo(describing.page() if file is None else describing.describe(file), nl=False)


@command("notebook notebooks/banditq.ipynb out.ipynb --results results --figures figures")
@argument("source", type=FILE)
@argument("out", type=FILE)
@option("--results", help="Folder of the results.")
@option("--figures", help="Folder of the drawn figures.")
def notebook(source, out, **folders):
    """Execute notebook SOURCE into OUT."""
    from fairbandits.report.build import execute

    execute(source, out, {name: folder for name, folder in folders.items() if folder})


@command("site results/notebooks/index.ipynb --figures figures --out site")
@argument("notebooks", type=FILE, nargs=-1, required=True)
@option("--figures", type=FOLDER, required=True, help="Folder of the drawn figures.")
@option("--out", type=FOLDER, required=True, help="Folder for the site.")
@option("--results", type=FOLDER, help="Folder of the results, for the pages of claims.")
def site(notebooks, figures, out, results):
    """Build the report site from executed NOTEBOOKS."""
    from fairbandits.report.build import build

    with named(out):
        build(list(notebooks), figures, out, results, root=ROOT)


@command("numbers")
@CONFIGS
@RESULTS
def numbers(configs, results):
    """Write the findings and numbers in docs/findings.md and docs/figures.md."""
    from fairbandits.audit.run import load
    from fairbandits.report.numbers import renew

    echo(renew(*load(configs), results, checkout()))


@command("export --format csv")
@CONFIGS
@RESULTS
@option("--format", "form", type=Choice(["csv", "html"]), required=True, help="A table, or a page.")
@option("--out", type=FOLDER, default=Path("build/export"), help="Folder to write into.")
def export(configs, results, form, out):
    """Write the verdicts for other programs."""
    from fairbandits.audit import run
    from fairbandits.report.export import write

    verdicts = json.loads(run.claims_words(configs, None, None, None, True, results))
    echo(write(form, verdicts, out))


@command("article --out build/report.pdf")
@CONFIGS
@option("--out", type=FILE, default=Path("build/report.pdf"), help="PDF to write.")
def article(configs, out):
    """Write the reproduction report as a PDF.

    It is made from the committed tables.
    """
    from fairbandits.audit.run import load
    from fairbandits.report import article

    root = checkout()
    _, ledgers = load(configs)
    with named(out):
        article.write_pdf(article.markdown(ledgers, root), out, root)
    echo(out)

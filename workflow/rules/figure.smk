"""What the figures' rules have in common; each says what it shows, and under which caption."""


def datasets_shown_in(paper, figure):
    """The datasets that a figure shows, its own first."""
    return [f"<results>/{one.dataset}" for one in CONFIG.shown_in(paper, figure)]


def facts_shown_in(paper, figure):
    """What the datasets that a figure shows are of."""
    return [one.facts() for one in CONFIG.shown_in(paper, figure)]


def drawn(paper, number, quantity, caption):
    """What a figure's rule makes: the image in two formats, and the numbers it shows."""
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


# Not run itself: the rules of the figures are made of it.
rule figure:
    input:
        data=[],
    output:
        **drawn("", "", "", caption="workflow.rst"),
    log:
        "<logs>/<figure>.log",
    benchmark:
        "<benchmarks>/<figure>.tsv"
    pathvars:
        figure="none/none",
    priority: SOON
    conda:
        "../../environment.yml"
    threads: 1
    params:
        name=name_of_figure,
        published=published_option,
        shows=[],
        code=FIGURE_CODE,
    shell:
        "fairbandits figure {params.name} {input.data:q} {params.published}"
        " --svg {output.svg:q} --png {output.png:q} --table {output.table:q} > {log:q} 2>&1"

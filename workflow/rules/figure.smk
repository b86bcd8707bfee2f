"""What the figures' rules have in common; each says what it shows, and under which caption."""


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
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    params:
        name=name_of_figure,
        published=published_option,
        shows=[],
        code="",
    shell:
        "fairbandits figure {params.name} {input.data:q} {params.published}"
        " --svg {output.svg:q} --png {output.png:q} --table {output.table:q} > {log:q} 2>&1"

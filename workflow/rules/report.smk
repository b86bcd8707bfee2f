"""Notebooks, executed by papermill, and the site made of them."""


rule notebook:
    input:
        source="notebooks/{paper}.ipynb",
        figures=lambda wildcards: paper_figures(wildcards.paper),
    output:
        "<results>/notebooks/{paper}.ipynb",
    log:
        "<logs>/notebook/{paper}.log",
    benchmark:
        "<benchmarks>/notebook/{paper}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    params:
        results="<results>",
        figures="<figures>",
        code=SITE_CODE,
    shell:
        "fairbandits notebook {input.source:q} {output:q} -p results {params.results:q}"
        " -p figures {params.figures:q} > {log:q} 2>&1"

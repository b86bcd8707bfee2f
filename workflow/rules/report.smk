"""The report: executed notebooks, and the site built of them."""


rule notebook:
    input:
        source="notebooks/{page}.ipynb",
        shown=PLAN.page_files,
    output:
        "<results>/notebooks/{page}.ipynb",
    log:
        "<logs>/notebook/{page}.log",
    benchmark:
        "<benchmarks>/notebook/{page}.tsv"
    wildcard_constraints:
        page="|".join(PLAN.pages),
    localrule: True
    conda:
        "../../environment.yml"
    params:
        results=results_folder,
        figures=figures_folder,
        code=PLAN.site_code,
    shell:
        "fairbandits notebook {input.source:q} {output:q} --results {params.results:q}"
        " --figures {params.figures:q} > {log:q} 2>&1"


rule site:
    input:
        pages=expand("<results>/notebooks/{page}.ipynb", page=PLAN.pages),
        images=PLAN.images,
        verdicts=PLAN.site_verdicts,
        settings=PLAN.site_settings,
        documents=PLAN.documents,
    output:
        PLAN.site,
    log:
        "<logs>/site.log",
    benchmark:
        "<benchmarks>/site.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        figures=figures_folder,
        out=subpath(output[0], parent=True),
        results=subpath(output[0], ancestor=2),
        code=PLAN.site_code,
    shell:
        "fairbandits site {input.pages:q} --figures {params.figures:q} --out {params.out:q}"
        " --results {params.results:q} > {log:q} 2>&1"


rule manifest:
    input:
        PLAN.images,
        PLAN.drawn,
        PLAN.verdicts,
        PLAN.arena_tables,
        [] if PLAN.variant else PLAN.site,
    output:
        "<results>/manifest.sha256",
    log:
        "<logs>/manifest.log",
    benchmark:
        "<benchmarks>/manifest.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        results=subpath(output[0], parent=True),
        figures=figures_folder,
        audit=audit_option,
    shell:
        "fairbandits manifest --results {params.results:q} --figures {params.figures:q}"
        " {params.audit} > {log:q} 2>&1"


rule rulegraph:
    input:
        "Snakefile",
        sorted(map(str, Path("workflow/rules").glob("*.smk"))),
    output:
        "<results>/rules.dot",
    log:
        "<logs>/rulegraph.log",
    benchmark:
        "<benchmarks>/rulegraph.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    shell:
        "(PYTHONHASHSEED=0 snakemake all --rulegraph mermaid-js --nolock | python workflow/rulegraph.py)"
        " > {output:q} 2> {log:q}"

"""The figures: a rule for each, from what is said of it where it is drawn (`fairbandits.figures`)."""

for one in (PLAN.drawing(*figure) for figure in CONFIG.figures):

    rule:
        name:
            f"{one.paper}_{one.figure}"
        input:
            **one.inputs,
        output:
            svg=report(
                f"<figures>/{one.place}.svg",
                caption="../report/figure.rst",
                category=one.category,
                labels=one.labels,
            ),
            png=f"<figures>/{one.place}.png",
            table=f"<results>/{one.place}.parquet",
        log:
            f"<logs>/{one.place}.log",
        benchmark:
            f"<benchmarks>/{one.place}.tsv"
        priority: FIGURES_FIRST
        localrule: True
        conda:
            "../../environment.yml"
        params:
            name=[one.paper, one.figure],
            published=published_option,
            caption=one.caption,
            code=one.code,
        shell:
            "fairbandits figure {params.name} {input.data:q} {params.published}"
            " --svg {output.svg:q} --png {output.png:q} --table {output.table:q} > {log:q} 2>&1"

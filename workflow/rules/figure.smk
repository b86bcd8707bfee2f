"""The figures: a rule for each, from what is said of it where it is drawn (`fairbandits.figures`)."""

for drawing in (PLAN.drawing(*figure) for figure in CONFIG.figures):

    rule:
        name:
            f"{drawing.paper}_{drawing.figure}"
        input:
            **drawing.inputs,
        output:
            svg=report(
                f"<figures>/{drawing.place}.svg",
                caption="../report/figure.rst",
                category=drawing.category,
                labels=drawing.labels,
            ),
            png=f"<figures>/{drawing.place}.png",
            table=f"<results>/{drawing.place}.parquet",
        log:
            f"<logs>/{drawing.place}.log",
        benchmark:
            f"<benchmarks>/{drawing.place}.tsv"
        priority: FIGURES_FIRST
        localrule: True
        conda:
            "../../environment.yml"
        params:
            name=[drawing.paper, drawing.figure],
            published=published_option,
            caption=drawing.caption,
            code=drawing.code,
        shell:
            "fairbandits figure {params.name} {input.data:q} {params.published}"
            " --svg {output.svg:q} --png {output.png:q} --table {output.table:q} > {log:q} 2>&1"

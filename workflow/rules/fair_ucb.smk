"""Fair-Learn and Fair-UCB: one rule per figure."""


rule fair_ucb_fig2:
    input:
        data=[
            "<results>/fair_ucb/cost_of_fairness.parquet",
            "<results>/fair_ucb/cost_of_fairness_other_gaps.parquet",
        ],
    output:
        svg=report(
            "<figures>/fair_ucb/fig2.svg",
            caption="../report/fair_ucb_cost.rst",
            category="Fair-UCB",
            labels={"figure": "2", "quantity": "cost of fairness"},
        ),
        png="<figures>/fair_ucb/fig2.png",
        table="<results>/fair_ucb/fig2.parquet",
    log:
        "<logs>/fair_ucb/fig2.log",
    benchmark:
        "<benchmarks>/fair_ucb/fig2.tsv"
    priority: SOON
    conda:
        "../../environment.yml"
    threads: 1
    params:
        figure="fig2",
        shows=facts_shown_in("fair_ucb", "fig2"),
        code=FIGURE_CODE,
    shell:
        "fairbandits figure fair_ucb {params.figure} {input.data:q}"
        " --svg {output.svg:q} --png {output.png:q} --table {output.table:q} > {log:q} 2>&1"


use rule fair_ucb_fig2 as fair_ucb_fig3 with:
    input:
        data=[
            "<results>/fair_ucb/r_regret.parquet",
            "<results>/fair_ucb/r_regret_other_gaps.parquet",
            "<results>/fair_ucb/r_regret_long.parquet",
            "<results>/fair_ucb/r_regret_long_other_gaps.parquet",
        ],
    output:
        svg=report(
            "<figures>/fair_ucb/fig3.svg",
            caption="../report/fair_ucb_r_regret.rst",
            category="Fair-UCB",
            labels={"figure": "3", "quantity": "r-Regret"},
        ),
        png="<figures>/fair_ucb/fig3.png",
        table="<results>/fair_ucb/fig3.parquet",
    log:
        "<logs>/fair_ucb/fig3.log",
    benchmark:
        "<benchmarks>/fair_ucb/fig3.tsv"
    params:
        figure="fig3",
        shows=facts_shown_in("fair_ucb", "fig3"),
        code=FIGURE_CODE,


use rule fair_ucb_fig2 as fair_ucb_fig4 with:
    input:
        data=[
            "<results>/fair_ucb/fairness.parquet",
            "<results>/fair_ucb/fairness_long.parquet",
        ],
    output:
        svg=report(
            "<figures>/fair_ucb/fig4.svg",
            caption="../report/fair_ucb_fairness.rst",
            category="Fair-UCB",
            labels={"figure": "4", "quantity": "fairness guarantee"},
        ),
        png="<figures>/fair_ucb/fig4.png",
        table="<results>/fair_ucb/fig4.parquet",
    log:
        "<logs>/fair_ucb/fig4.log",
    benchmark:
        "<benchmarks>/fair_ucb/fig4.tsv"
    params:
        figure="fig4",
        shows=facts_shown_in("fair_ucb", "fig4"),
        code=FIGURE_CODE,

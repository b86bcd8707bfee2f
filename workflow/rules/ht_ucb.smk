"""Hard-threshold UCB: one rule per figure."""


rule ht_ucb_fig1:
    input:
        data=[
            "<results>/ht_ucb/non_critical_1.parquet",
            "<results>/ht_ucb/non_critical_2.parquet",
            "<results>/ht_ucb/non_critical_3.parquet",
            "<results>/ht_ucb/critical_1.parquet",
            "<results>/ht_ucb/critical_2.parquet",
            "<results>/ht_ucb/critical_3.parquet",
        ],
    output:
        svg=report(
            "<figures>/ht_ucb/fig1.svg",
            caption="../report/ht_ucb_pulls.rst",
            category="HT-UCB",
            labels={"figure": "1", "quantity": "pulls against inverse gaps"},
        ),
        png="<figures>/ht_ucb/fig1.png",
        table="<results>/ht_ucb/fig1.parquet",
    log:
        "<logs>/ht_ucb/fig1.log",
    benchmark:
        "<benchmarks>/ht_ucb/fig1.tsv"
    priority: SOON
    conda:
        "../../environment.yml"
    threads: 1
    params:
        figure="fig1",
        shows=facts_shown_in("ht_ucb", "fig1"),
        code=FIGURE_CODE,
    shell:
        "fairbandits figure ht_ucb {params.figure} {input.data:q}"
        " --svg {output.svg:q} --png {output.png:q} --table {output.table:q} > {log:q} 2>&1"


use rule ht_ucb_fig1 as ht_ucb_fig2 with:
    input:
        data=[
            "<results>/ht_ucb/regret_5_02.parquet",
            "<results>/ht_ucb/regret_5_04.parquet",
            "<results>/ht_ucb/regret_5_08.parquet",
            "<results>/ht_ucb/regret_20_02.parquet",
            "<results>/ht_ucb/regret_20_04.parquet",
            "<results>/ht_ucb/regret_20_08.parquet",
            "<results>/ht_ucb/regret_long_5_02.parquet",
            "<results>/ht_ucb/regret_long_5_04.parquet",
            "<results>/ht_ucb/regret_long_5_08.parquet",
            "<results>/ht_ucb/regret_long_20_02.parquet",
            "<results>/ht_ucb/regret_long_20_04.parquet",
            "<results>/ht_ucb/regret_long_20_08.parquet",
        ],
    output:
        svg=report(
            "<figures>/ht_ucb/fig2.svg",
            caption="../report/ht_ucb_regret.rst",
            category="HT-UCB",
            labels={"figure": "2", "quantity": "penalised regret"},
        ),
        png="<figures>/ht_ucb/fig2.png",
        table="<results>/ht_ucb/fig2.parquet",
    log:
        "<logs>/ht_ucb/fig2.log",
    benchmark:
        "<benchmarks>/ht_ucb/fig2.tsv"
    params:
        figure="fig2",
        shows=facts_shown_in("ht_ucb", "fig2"),
        code=FIGURE_CODE,


use rule ht_ucb_fig1 as ht_ucb_fig3 with:
    input:
        data=[
            "<results>/ht_ucb/paths_1.parquet",
            "<results>/ht_ucb/paths_2.parquet",
        ],
    output:
        svg=report(
            "<figures>/ht_ucb/fig3.svg",
            caption="../report/ht_ucb_paths.rst",
            category="HT-UCB",
            labels={"figure": "3", "quantity": "unfairness paths"},
        ),
        png="<figures>/ht_ucb/fig3.png",
        table="<results>/ht_ucb/fig3.parquet",
    log:
        "<logs>/ht_ucb/fig3.log",
    benchmark:
        "<benchmarks>/ht_ucb/fig3.tsv"
    params:
        figure="fig3",
        shows=facts_shown_in("ht_ucb", "fig3"),
        code=FIGURE_CODE,


use rule ht_ucb_fig1 as ht_ucb_fig4 with:
    input:
        data=[
            "<results>/ht_ucb/frontier_5_02.parquet",
            "<results>/ht_ucb/frontier_5_05.parquet",
            "<results>/ht_ucb/frontier_20_02.parquet",
            "<results>/ht_ucb/frontier_20_05.parquet",
        ],
    output:
        svg=report(
            "<figures>/ht_ucb/fig4.svg",
            caption="../report/ht_ucb_frontiers.rst",
            category="HT-UCB",
            labels={"figure": "4", "quantity": "reward against unfairness"},
        ),
        png="<figures>/ht_ucb/fig4.png",
        table="<results>/ht_ucb/fig4.parquet",
    log:
        "<logs>/ht_ucb/fig4.log",
    benchmark:
        "<benchmarks>/ht_ucb/fig4.tsv"
    params:
        figure="fig4",
        shows=facts_shown_in("ht_ucb", "fig4"),
        code=FIGURE_CODE,

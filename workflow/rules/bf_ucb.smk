"""BF-UCB: one rule per figure."""


rule bf_ucb_fig1a:
    input:
        data=[
            "<results>/bf_ucb/high.parquet",
        ],
    output:
        svg=report(
            "<figures>/bf_ucb/fig1a.svg",
            caption="../report/bf_ucb_regret.rst",
            category="BF-UCB",
            labels={"figure": "1a", "quantity": "reward regret, high separation"},
        ),
        png="<figures>/bf_ucb/fig1a.png",
        table="<results>/bf_ucb/fig1a.parquet",
    log:
        "<logs>/bf_ucb/fig1a.log",
    benchmark:
        "<benchmarks>/bf_ucb/fig1a.tsv"
    priority: SOON
    conda:
        "../../environment.yml"
    threads: 1
    params:
        figure="fig1a",
        shows=facts_shown_in("bf_ucb", "fig1a"),
        code=FIGURE_CODE,
    shell:
        "fairbandits figure bf_ucb {params.figure} {input.data:q}"
        " --svg {output.svg:q} --png {output.png:q} --table {output.table:q} > {log:q} 2>&1"


use rule bf_ucb_fig1a as bf_ucb_fig1b with:
    input:
        data=[
            "<results>/bf_ucb/low.parquet",
            "<results>/bf_ucb/low_released.parquet",
        ],
    output:
        svg=report(
            "<figures>/bf_ucb/fig1b.svg",
            caption="../report/bf_ucb_regret.rst",
            category="BF-UCB",
            labels={"figure": "1b", "quantity": "reward regret, low separation"},
        ),
        png="<figures>/bf_ucb/fig1b.png",
        table="<results>/bf_ucb/fig1b.parquet",
    log:
        "<logs>/bf_ucb/fig1b.log",
    benchmark:
        "<benchmarks>/bf_ucb/fig1b.tsv"
    params:
        figure="fig1b",
        shows=facts_shown_in("bf_ucb", "fig1b"),
        code=FIGURE_CODE,


use rule bf_ucb_fig1a as bf_ucb_fig2a with:
    input:
        data=[
            "<results>/bf_ucb/high.parquet",
        ],
    output:
        svg=report(
            "<figures>/bf_ucb/fig2a.svg",
            caption="../report/bf_ucb_distance.rst",
            category="BF-UCB",
            labels={"figure": "2a", "quantity": "distance to the fair policy, high separation"},
        ),
        png="<figures>/bf_ucb/fig2a.png",
        table="<results>/bf_ucb/fig2a.parquet",
    log:
        "<logs>/bf_ucb/fig2a.log",
    benchmark:
        "<benchmarks>/bf_ucb/fig2a.tsv"
    params:
        figure="fig2a",
        shows=facts_shown_in("bf_ucb", "fig2a"),
        code=FIGURE_CODE,


use rule bf_ucb_fig1a as bf_ucb_fig2b with:
    input:
        data=[
            "<results>/bf_ucb/low.parquet",
            "<results>/bf_ucb/low_released.parquet",
        ],
    output:
        svg=report(
            "<figures>/bf_ucb/fig2b.svg",
            caption="../report/bf_ucb_distance.rst",
            category="BF-UCB",
            labels={"figure": "2b", "quantity": "distance to the fair policy, low separation"},
        ),
        png="<figures>/bf_ucb/fig2b.png",
        table="<results>/bf_ucb/fig2b.parquet",
    log:
        "<logs>/bf_ucb/fig2b.log",
    benchmark:
        "<benchmarks>/bf_ucb/fig2b.tsv"
    params:
        figure="fig2b",
        shows=facts_shown_in("bf_ucb", "fig2b"),
        code=FIGURE_CODE,


use rule bf_ucb_fig1a as bf_ucb_fig3a with:
    input:
        data=[
            "<results>/bf_ucb/high.parquet",
            "<results>/bf_ucb/high_variants.parquet",
        ],
    output:
        svg=report(
            "<figures>/bf_ucb/fig3a.svg",
            caption="../report/bf_ucb_rewards.rst",
            category="BF-UCB",
            labels={"figure": "3a", "quantity": "rewards over UCB's"},
        ),
        png="<figures>/bf_ucb/fig3a.png",
        table="<results>/bf_ucb/fig3a.parquet",
    log:
        "<logs>/bf_ucb/fig3a.log",
    benchmark:
        "<benchmarks>/bf_ucb/fig3a.tsv"
    params:
        figure="fig3a",
        shows=facts_shown_in("bf_ucb", "fig3a"),
        code=FIGURE_CODE,


use rule bf_ucb_fig1a as bf_ucb_fig3b with:
    input:
        data=[
            "<results>/bf_ucb/high.parquet",
            "<results>/bf_ucb/high_fewer.parquet",
        ],
    output:
        svg=report(
            "<figures>/bf_ucb/fig3b.svg",
            caption="../report/bf_ucb_groups.rst",
            category="BF-UCB",
            labels={"figure": "3b", "quantity": "pulls of the groups"},
        ),
        png="<figures>/bf_ucb/fig3b.png",
        table="<results>/bf_ucb/fig3b.parquet",
    log:
        "<logs>/bf_ucb/fig3b.log",
    benchmark:
        "<benchmarks>/bf_ucb/fig3b.tsv"
    params:
        figure="fig3b",
        shows=facts_shown_in("bf_ucb", "fig3b"),
        code=FIGURE_CODE,


use rule bf_ucb_fig1a as bf_ucb_fig3c with:
    input:
        data=[
            "<results>/bf_ucb/high.parquet",
        ],
    output:
        svg=report(
            "<figures>/bf_ucb/fig3c.svg",
            caption="../report/bf_ucb_arms.rst",
            category="BF-UCB",
            labels={"figure": "3c", "quantity": "pulls of the minority's arms"},
        ),
        png="<figures>/bf_ucb/fig3c.png",
        table="<results>/bf_ucb/fig3c.parquet",
    log:
        "<logs>/bf_ucb/fig3c.log",
    benchmark:
        "<benchmarks>/bf_ucb/fig3c.tsv"
    params:
        figure="fig3c",
        shows=facts_shown_in("bf_ucb", "fig3c"),
        code=FIGURE_CODE,

"""BanditQ: one rule per figure."""


rule banditq_replay:
    output:
        "<results>/banditq/replay_5_bandit.parquet",
    log:
        "<logs>/banditq/replay_5_bandit.log",
    benchmark:
        "<benchmarks>/banditq/replay_5_bandit.tsv"
    priority: SHOWN
    conda:
        "../../environment.yml"
    threads: 1
    params:
        code=REPLAY_CODE,
    shell:
        "fairbandits replay banditq-uai2024 --arms 5 --feedback bandit --out {output:q}"
        " > {log:q} 2>&1"


rule banditq_fig1:
    input:
        data="<results>/banditq/full_information.parquet",
    output:
        svg=report(
            "<figures>/banditq/fig1.svg",
            caption="../report/banditq_rates.rst",
            category="BanditQ",
            labels={"figure": "1", "quantity": "reward rates, full information"},
        ),
        png="<figures>/banditq/fig1.png",
        table="<results>/banditq/fig1.parquet",
    log:
        "<logs>/banditq/fig1.log",
    benchmark:
        "<benchmarks>/banditq/fig1.tsv"
    priority: SOON
    conda:
        "../../environment.yml"
    threads: 1
    params:
        figure="fig1",
        published=published_option,
        shows=facts_shown_in("banditq", "fig1"),
        code=FIGURE_CODE,
    shell:
        "fairbandits figure banditq {params.figure} {input.data:q} {params.published}"
        " --svg {output.svg:q} --png {output.png:q} --table {output.table:q} > {log:q} 2>&1"


use rule banditq_fig1 as banditq_fig2 with:
    input:
        data="<results>/banditq/full_information.parquet",
    output:
        svg=report(
            "<figures>/banditq/fig2.svg",
            caption="../report/banditq_queues.rst",
            category="BanditQ",
            labels={"figure": "2", "quantity": "queue lengths, full information"},
        ),
        png="<figures>/banditq/fig2.png",
        table="<results>/banditq/fig2.parquet",
    log:
        "<logs>/banditq/fig2.log",
    benchmark:
        "<benchmarks>/banditq/fig2.tsv"
    params:
        figure="fig2",
        published=published_option,
        shows=facts_shown_in("banditq", "fig2"),
        code=FIGURE_CODE,


use rule banditq_fig1 as banditq_fig3 with:
    input:
        data="<results>/banditq/full_information.parquet",
    output:
        svg=report(
            "<figures>/banditq/fig3.svg",
            caption="../report/banditq_regret.rst",
            category="BanditQ",
            labels={"figure": "3", "quantity": "regret, full information"},
        ),
        png="<figures>/banditq/fig3.png",
        table="<results>/banditq/fig3.parquet",
    log:
        "<logs>/banditq/fig3.log",
    benchmark:
        "<benchmarks>/banditq/fig3.tsv"
    params:
        figure="fig3",
        published=published_option,
        shows=facts_shown_in("banditq", "fig3"),
        code=FIGURE_CODE,


use rule banditq_fig1 as banditq_fig4 with:
    input:
        data="<results>/banditq/bandit_feedback.parquet",
    output:
        svg=report(
            "<figures>/banditq/fig4.svg",
            caption="../report/banditq_rates.rst",
            category="BanditQ",
            labels={"figure": "4", "quantity": "reward rates, bandit feedback"},
        ),
        png="<figures>/banditq/fig4.png",
        table="<results>/banditq/fig4.parquet",
    log:
        "<logs>/banditq/fig4.log",
    benchmark:
        "<benchmarks>/banditq/fig4.tsv"
    params:
        figure="fig4",
        published=published_option,
        shows=facts_shown_in("banditq", "fig4"),
        code=FIGURE_CODE,


use rule banditq_fig1 as banditq_fig5 with:
    input:
        data="<results>/banditq/bandit_feedback.parquet",
        published="<results>/banditq/replay_5_bandit.parquet",
    output:
        svg=report(
            "<figures>/banditq/fig5.svg",
            caption="../report/banditq_queues.rst",
            category="BanditQ",
            labels={"figure": "5", "quantity": "queue lengths, bandit feedback"},
        ),
        png="<figures>/banditq/fig5.png",
        table="<results>/banditq/fig5.parquet",
    log:
        "<logs>/banditq/fig5.log",
    benchmark:
        "<benchmarks>/banditq/fig5.tsv"
    params:
        figure="fig5",
        published=published_option,
        shows=facts_shown_in("banditq", "fig5"),
        code=FIGURE_CODE,


use rule banditq_fig1 as banditq_fig6 with:
    input:
        data="<results>/banditq/bandit_feedback.parquet",
    output:
        svg=report(
            "<figures>/banditq/fig6.svg",
            caption="../report/banditq_regret.rst",
            category="BanditQ",
            labels={"figure": "6", "quantity": "regret, bandit feedback"},
        ),
        png="<figures>/banditq/fig6.png",
        table="<results>/banditq/fig6.parquet",
    log:
        "<logs>/banditq/fig6.log",
    benchmark:
        "<benchmarks>/banditq/fig6.tsv"
    params:
        figure="fig6",
        published=published_option,
        shows=facts_shown_in("banditq", "fig6"),
        code=FIGURE_CODE,


use rule banditq_fig1 as banditq_fig7 with:
    input:
        data="<results>/banditq/oracle_lfg.parquet",
    output:
        svg=report(
            "<figures>/banditq/fig7.svg",
            caption="../report/banditq_rewards.rst",
            category="BanditQ",
            labels={"figure": "7", "quantity": "cumulative rewards beside oracle LFG"},
        ),
        png="<figures>/banditq/fig7.png",
        table="<results>/banditq/fig7.parquet",
    log:
        "<logs>/banditq/fig7.log",
    benchmark:
        "<benchmarks>/banditq/fig7.tsv"
    params:
        figure="fig7",
        published=published_option,
        shows=facts_shown_in("banditq", "fig7"),
        code=FIGURE_CODE,

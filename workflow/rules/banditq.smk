"""BanditQ: one rule per figure."""

REPLAYS["banditq"] = ["<results>/banditq/replay_5_bandit.parquet"]


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


use rule figure as banditq_fig1 with:
    input:
        data=datasets_shown_in("banditq", "fig1"),
    output:
        **drawn("BanditQ", "1", "reward rates, full information", caption="banditq_rates.rst"),
    pathvars:
        figure="banditq/fig1",
    params:
        shows=facts_shown_in("banditq", "fig1"),


use rule figure as banditq_fig2 with:
    input:
        data=datasets_shown_in("banditq", "fig2"),
    output:
        **drawn("BanditQ", "2", "queue lengths, full information", caption="banditq_queues.rst"),
    pathvars:
        figure="banditq/fig2",
    params:
        shows=facts_shown_in("banditq", "fig2"),


use rule figure as banditq_fig3 with:
    input:
        data=datasets_shown_in("banditq", "fig3"),
    output:
        **drawn("BanditQ", "3", "regret, full information", caption="banditq_regret.rst"),
    pathvars:
        figure="banditq/fig3",
    params:
        shows=facts_shown_in("banditq", "fig3"),


use rule figure as banditq_fig4 with:
    input:
        data=datasets_shown_in("banditq", "fig4"),
    output:
        **drawn("BanditQ", "4", "reward rates, bandit feedback", caption="banditq_rates.rst"),
    pathvars:
        figure="banditq/fig4",
    params:
        shows=facts_shown_in("banditq", "fig4"),


use rule figure as banditq_fig5 with:
    input:
        data=datasets_shown_in("banditq", "fig5"),
        published="<results>/banditq/replay_5_bandit.parquet",
    output:
        **drawn("BanditQ", "5", "queue lengths, bandit feedback", caption="banditq_queues.rst"),
    pathvars:
        figure="banditq/fig5",
    params:
        shows=facts_shown_in("banditq", "fig5"),


use rule figure as banditq_fig6 with:
    input:
        data=datasets_shown_in("banditq", "fig6"),
    output:
        **drawn("BanditQ", "6", "regret, bandit feedback", caption="banditq_regret.rst"),
    pathvars:
        figure="banditq/fig6",
    params:
        shows=facts_shown_in("banditq", "fig6"),


use rule figure as banditq_fig7 with:
    input:
        data=datasets_shown_in("banditq", "fig7"),
    output:
        **drawn(
            "BanditQ", "7", "cumulative rewards beside oracle LFG", caption="banditq_rewards.rst"
        ),
    pathvars:
        figure="banditq/fig7",
    params:
        shows=facts_shown_in("banditq", "fig7"),

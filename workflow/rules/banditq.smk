"""BanditQ: one rule per figure."""


rule banditq_replay:
    input:
        published="papers/banditq/published.yaml",
    output:
        "<results>/banditq/replay_{arms}_{feedback}.parquet",
    log:
        "<logs>/banditq/replay_{arms}_{feedback}.log",
    benchmark:
        "<benchmarks>/banditq/replay_{arms}_{feedback}.tsv"
    wildcard_constraints:
        arms="5|1000",
        feedback="full|bandit",
    priority: SHOWN
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=PLAN.memory_of_replay,
        runtime=PLAN.minutes_of_replay,
    params:
        rounds=PLAN.rounds_replayed,
        code=REPLAY_CODE,
    shell:
        "fairbandits replay banditq-uai2024 --arms {wildcards.arms} --feedback {wildcards.feedback}"
        " {params.rounds} --published {input.published:q} --out {output:q} > {log:q} 2>&1"


use rule figure as banditq_fig1 with:
    input:
        data=datasets_shown_in("banditq", "fig1"),
    output:
        **drawn("BanditQ", "1", "reward rates, full information", caption="banditq_rates.rst"),
    pathvars:
        figure="banditq/fig1",
    params:
        **params_of_figure("banditq", "fig1"),


use rule figure as banditq_fig2 with:
    input:
        data=datasets_shown_in("banditq", "fig2"),
    output:
        **drawn("BanditQ", "2", "queue lengths, full information", caption="banditq_queues.rst"),
    pathvars:
        figure="banditq/fig2",
    params:
        **params_of_figure("banditq", "fig2"),


use rule figure as banditq_fig3 with:
    input:
        data=datasets_shown_in("banditq", "fig3"),
    output:
        **drawn("BanditQ", "3", "regret, full information", caption="banditq_regret.rst"),
    pathvars:
        figure="banditq/fig3",
    params:
        **params_of_figure("banditq", "fig3"),


use rule figure as banditq_fig4 with:
    input:
        data=datasets_shown_in("banditq", "fig4"),
    output:
        **drawn("BanditQ", "4", "reward rates, bandit feedback", caption="banditq_rates.rst"),
    pathvars:
        figure="banditq/fig4",
    params:
        **params_of_figure("banditq", "fig4"),


use rule figure as banditq_fig5 with:
    input:
        data=datasets_shown_in("banditq", "fig5"),
        published="<results>/banditq/replay_5_bandit.parquet",
    output:
        **drawn("BanditQ", "5", "queue lengths, bandit feedback", caption="banditq_queues.rst"),
    pathvars:
        figure="banditq/fig5",
    params:
        **params_of_figure("banditq", "fig5"),


use rule figure as banditq_fig6 with:
    input:
        data=datasets_shown_in("banditq", "fig6"),
    output:
        **drawn("BanditQ", "6", "regret, bandit feedback", caption="banditq_regret.rst"),
    pathvars:
        figure="banditq/fig6",
    params:
        **params_of_figure("banditq", "fig6"),


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
        **params_of_figure("banditq", "fig7"),


use rule figure as banditq_fig8 with:
    input:
        data=[],
        published=replay_shown_in("banditq", "fig8"),
        read_off="papers/banditq/published.yaml",
    output:
        **drawn(
            "BanditQ",
            "8",
            "reward rates, a thousand arms, full information",
            caption="banditq_replayed_rates.rst",
        ),
    pathvars:
        figure="banditq/fig8",
    params:
        **params_of_figure("banditq", "fig8"),


use rule figure as banditq_fig9 with:
    input:
        data=[],
        published=replay_shown_in("banditq", "fig9"),
        read_off="papers/banditq/published.yaml",
    output:
        **drawn(
            "BanditQ",
            "9",
            "queue lengths, a thousand arms, full information",
            caption="banditq_replayed_queues.rst",
        ),
    pathvars:
        figure="banditq/fig9",
    params:
        **params_of_figure("banditq", "fig9"),


use rule figure as banditq_fig10 with:
    input:
        data=[],
        published=replay_shown_in("banditq", "fig10"),
        read_off="papers/banditq/published.yaml",
    output:
        **drawn(
            "BanditQ",
            "10",
            "regret, a thousand arms, full information",
            caption="banditq_replayed_regret.rst",
        ),
    pathvars:
        figure="banditq/fig10",
    params:
        **params_of_figure("banditq", "fig10"),


use rule figure as banditq_fig11 with:
    input:
        data=[],
        published=replay_shown_in("banditq", "fig11"),
        read_off="papers/banditq/published.yaml",
    output:
        **drawn(
            "BanditQ",
            "11",
            "reward rates, a thousand arms, bandit feedback",
            caption="banditq_replayed_rates.rst",
        ),
    pathvars:
        figure="banditq/fig11",
    params:
        **params_of_figure("banditq", "fig11"),


use rule figure as banditq_fig12 with:
    input:
        data=[],
        published=replay_shown_in("banditq", "fig12"),
        read_off="papers/banditq/published.yaml",
    output:
        **drawn(
            "BanditQ",
            "12",
            "queue lengths, a thousand arms, bandit feedback",
            caption="banditq_replayed_queues.rst",
        ),
    pathvars:
        figure="banditq/fig12",
    params:
        **params_of_figure("banditq", "fig12"),


use rule figure as banditq_fig13 with:
    input:
        data=[],
        published=replay_shown_in("banditq", "fig13"),
        read_off="papers/banditq/published.yaml",
    output:
        **drawn(
            "BanditQ",
            "13",
            "regret, a thousand arms, bandit feedback",
            caption="banditq_replayed_regret.rst",
        ),
    pathvars:
        figure="banditq/fig13",
    params:
        **params_of_figure("banditq", "fig13"),

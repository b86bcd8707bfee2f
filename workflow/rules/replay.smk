"""Replays of the programs that the papers' authors released."""


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
    params:
        rounds=PLAN.rounds_replayed,
        code=replay_code(),
    shell:
        "fairbandits replay banditq-uai2024 --arms {wildcards.arms} --feedback {wildcards.feedback}"
        " {params.rounds} --published {input.published:q} --out {output:q} > {log:q} 2>&1"

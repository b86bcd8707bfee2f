"""Simulation: one job per chunk of replicates, then one dataset per experiment."""


rule simulate:
    output:
        "<results>/cache/{paper}/{experiment}/{run}/{chunk}.parquet",
    log:
        "<logs>/simulate/{paper}/{experiment}/{run}/{chunk}.log",
    benchmark:
        "<benchmarks>/simulate/{paper}/{experiment}/{run}/{chunk}.tsv"
    wildcard_constraints:
        experiment="|".join(sorted({one.name for one in SPLIT}) or ["(?!)"]),
    conda:
        "../../environment.yml"
    threads: 1
    params:
        block=run_block,
        seed=CONFIG.seed,
        code=SIMULATION_CODE,
    shell:
        "fairbandits simulate --block {params.block:q} --seed {params.seed}"
        " --replicates {wildcards.chunk} --out {output:q} > {log:q} 2>&1"


for experiment in WHOLE:

    rule:
        name:
            f"simulate_{experiment.paper}_{experiment.name}"
        output:
            chunks_of(experiment),
        log:
            f"<logs>/simulate/{experiment.paper}/{experiment.name}.log",
        benchmark:
            f"<benchmarks>/simulate/{experiment.paper}/{experiment.name}.tsv"
        conda:
            "../../environment.yml"
        threads: 1
        params:
            chunks=simulate_options(experiment),
            seed=CONFIG.seed,
            code=SIMULATION_CODE,
        shell:
            "fairbandits simulate --seed {params.seed} {params.chunks} > {log:q} 2>&1"


rule collect:
    input:
        chunk_files,
    output:
        "<results>/{paper}/{experiment}.parquet",
    log:
        "<logs>/collect/{paper}/{experiment}.log",
    benchmark:
        "<benchmarks>/collect/{paper}/{experiment}.tsv"
    wildcard_constraints:
        experiment="|".join({one.name for one in CONFIG.experiments}),
    conda:
        "../../environment.yml"
    threads: 1
    params:
        facts=experiment_facts,
        seed=CONFIG.seed,
        code=COLLECT_CODE,
    shell:
        "fairbandits collect {input:q} --experiment {params.facts:q} --seed {params.seed}"
        " --out {output:q} > {log:q} 2>&1"

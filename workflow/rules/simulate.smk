"""Simulation: a job for each chunk, or for all of an experiment; then a dataset for each."""


rule simulate:
    output:
        "<results>/cache/{paper}/{experiment}/{run}/{chunk}.parquet",
    log:
        "<logs>/simulate/{paper}/{experiment}/{run}/{chunk}.log",
    benchmark:
        "<benchmarks>/simulate/{paper}/{experiment}/{run}/{chunk}.tsv"
    wildcard_constraints:
        experiment=named(SPLIT),
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


rule simulate_experiment:
    output:
        directory("<results>/cache/{paper}/{experiment}"),
    log:
        "<logs>/simulate/{paper}/{experiment}.log",
    benchmark:
        "<benchmarks>/simulate/{paper}/{experiment}.tsv"
    wildcard_constraints:
        experiment=named(WHOLE),
    conda:
        "../../environment.yml"
    threads: 1
    params:
        chunks=all_chunks,
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
        experiment=named(CONFIG.experiments),
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

"""Simulation: a job for each chunk, or for all of an experiment or suite; then the datasets."""


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
        experiment=named(SINGLE),
    conda:
        "../../environment.yml"
    threads: 1
    params:
        experiment=experiment_facts,
        seed=CONFIG.seed,
        code=COLLECT_CODE,
    shell:
        "fairbandits collect {input:q} --seed {params.seed} {params.experiment} > {log:q} 2>&1"


rule collect_suite:
    input:
        chunk_files,
    output:
        directory("<results>/{paper}/{experiment}"),
    log:
        "<logs>/collect/{paper}/{experiment}.log",
    benchmark:
        "<benchmarks>/collect/{paper}/{experiment}.tsv"
    wildcard_constraints:
        experiment=named(SUITES),
    conda:
        "../../environment.yml"
    threads: 1
    params:
        experiments=experiment_facts,
        seed=CONFIG.seed,
        code=COLLECT_CODE,
    shell:
        "fairbandits collect {input:q} --seed {params.seed} {params.experiments} > {log:q} 2>&1"

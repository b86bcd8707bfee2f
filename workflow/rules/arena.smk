"""The arena: who stands where under each contract on each instance, and who beats whom."""


rule arena:
    input:
        data=PLAN.arena_datasets,
        settings="papers/arena/arena.yaml",
    output:
        tables=expand("<results>/arena/{table}.parquet", table=TABLES),
        committed="<audit>/arena.csv",
    log:
        "<logs>/arena/standings.log",
    benchmark:
        "<benchmarks>/arena/standings.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        results=subpath(output[0], ancestor=2),
        code=arena_code(),
    shell:
        "fairbandits standings --results {params.results:q} {output.committed:q} {input.data:q}"
        " > {log:q} 2>&1"

"""Simulation: a job for each bundle of short experiments, several for a long one; then the datasets."""

for job in PLAN.simulations:

    rule:
        name:
            job.name
        output:
            [f"<results>/{file}" for file in job.outputs],
        log:
            f"<logs>/simulate/{job.name}.log",
        benchmark:
            f"<benchmarks>/simulate/{job.name}.tsv"
        priority: priority_of(job)
        conda:
            "../../environment.yml"
        resources:
            **PLAN.needs_of(f"simulate/{job.name}", job.seconds),
        params:
            plan=f"{CONFIG.folders['results']}/{job.plan}",
            code=job.code,
        shell:
            "fairbandits simulate {params.plan:q} > {log:q} 2>&1"


for job in PLAN.collections:

    rule:
        name:
            job.name
        input:
            [f"<results>/{file}" for file in job.inputs],
        output:
            [f"<results>/{file}" for file in job.outputs],
        log:
            f"<logs>/collect/{job.name}.log",
        benchmark:
            f"<benchmarks>/collect/{job.name}.tsv"
        priority: priority_of(job)
        localrule: True
        conda:
            "../../environment.yml"
        params:
            plan=f"{CONFIG.folders['results']}/{job.plan}",
            code=f"{job.code} {COLLECT_CODE}",
        shell:
            "fairbandits collect {params.plan:q} > {log:q} 2>&1"

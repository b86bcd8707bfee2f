"""The audit: what each paper's tests find, the verdicts on all claims, and the short tables of both."""


# A mistake in a claim stops a run at once, not after its data are there.
rule check_claims:
    input:
        PLAN.audit_settings,
    output:
        touch("<results>/audit/{paper}.checked"),
    log:
        "<logs>/audit/{paper}_checked.log",
    benchmark:
        "<benchmarks>/audit/{paper}_checked.tsv"
    wildcard_constraints:
        paper="|".join(PLAN.judged) or "(?!)",
    priority: 4 * SHOWN
    localrule: True
    conda:
        "../../environment.yml"
    params:
        code=AUDIT_CODE,
    shell:
        "fairbandits check-claims --paper {wildcards.paper} > {log:q} 2>&1"


# It fails where a claim cannot be judged: Snakemake takes the tables of verdicts, which the next
# rules write, away only after that.
rule audit_paper:
    input:
        data=PLAN.audited_datasets,
        settings=PLAN.audit_settings,
        checked=[] if SMALL else "<results>/audit/{paper}.checked",
    output:
        "<results>/audit/{paper}.parquet",
    log:
        "<logs>/audit/{paper}.log",
    benchmark:
        "<benchmarks>/audit/{paper}.tsv"
    wildcard_constraints:
        paper="|".join(PLAN.judged) or "(?!)",
    priority: AUDIT_FIRST
    localrule: True
    conda:
        "../../environment.yml"
    params:
        results=subpath(output[0], ancestor=2),
        seed=seed_option,
        salt=salt_option,
        most=most_options,
        code=AUDIT_CODE,
    shell:
        "fairbandits audit {wildcards.paper} --results {params.results:q}"
        " {params.seed} {params.salt} {params.most} --out {output:q} > {log:q} 2>&1"


rule verdicts:
    input:
        expand("<results>/audit/{paper}.parquet", paper=PLAN.judged),
    output:
        joint="<results>/audit/findings.parquet",
        verdicts="<results>/audit/verdicts.parquet",
    log:
        "<logs>/audit/verdicts.log",
    benchmark:
        "<benchmarks>/audit/verdicts.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        code=AUDIT_CODE,
    shell:
        "fairbandits verdicts {input:q} --joint {output.joint:q} --out {output.verdicts:q}"
        " > {log:q} 2>&1"


# a rule of its own, so that snakemake takes the committed tables away only when there are new ones
rule audit:
    input:
        verdicts="<results>/audit/verdicts.parquet",
        findings="<results>/audit/findings.parquet",
    output:
        verdicts=report(
            "<audit>/verdicts.csv",
            caption="../report/audit.rst",
            category="Audit",
            labels={"quantity": "verdicts on all claims"},
        ),
        findings=report(
            "<audit>/findings.csv",
            caption="../report/audit.rst",
            category="Audit",
            labels={"quantity": "all findings behind them"},
        ),
    log:
        "<logs>/audit/audit.log",
    benchmark:
        "<benchmarks>/audit/audit.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        folder=subpath(output.verdicts, parent=True),
        code=AUDIT_CODE,
    shell:
        "fairbandits record {input.verdicts:q} {input.findings:q} {params.folder:q} > {log:q} 2>&1"


rule claims:
    input:
        verdicts="<results>/audit/verdicts.parquet",
    output:
        report(
            "<results>/audit/verdicts.html",
            caption="../report/audit.rst",
            category="Audit",
            labels={"quantity": "each claim in words, with its verdict"},
        ),
    log:
        "<logs>/audit/claims.log",
    benchmark:
        "<benchmarks>/audit/claims.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        results=subpath(output[0], ancestor=2),
        folder=subpath(output[0], parent=True),
        code=PLAN.site_code,
    shell:
        "fairbandits export --format html --results {params.results:q} --out {params.folder:q}"
        " > {log:q} 2>&1"

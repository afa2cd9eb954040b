# The compiled kernels that the jobs of every sweep read (see `compiled` in common.smk).


rule compile_kernels:
    input:
        code=code("compile_kernels.py"),
        module="workflow/localizer/{module}.py",
        imported=lambda wildcards: code(f"../localizer/{wildcards.module}.py"),
    output:
        result("kernels/{module}.txt"),
    log:
        result("logs/compile_kernels/{module}.log"),
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        **needs(),
    script:
        "../scripts/compile_kernels.py"

# The compiled kernels that the jobs of every sweep read (see `compiled` in common.smk).


rule compile_kernels:
    input:
        code=code("compile_kernels.py"),
        module=lambda wildcards: os.path.relpath(
            WORKFLOW / "scripts" / kernel_module(wildcards)
        ),
        imported=lambda wildcards: code(kernel_module(wildcards)),
    output:
        result("kernels/{module}.txt"),
    log:
        result("logs/compile_kernels/{module}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    script:
        "../scripts/compile_kernels.py"

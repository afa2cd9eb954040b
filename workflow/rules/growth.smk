# How time and memory grow with the size of the work: the report's appendix. Timings are never
# the same twice, so everything stands below benchmarks/.
GROWTH = config["growth"]


rule growth:
    input:
        code=code("growth.py"),
        compiled=compiled("growth.py"),
    output:
        points=result("benchmarks/growth.csv"),
        table=shown(
            "benchmarks/growth_exponents.csv",
            "Appendix",
            "Exponents of time and memory",
        ),
    log:
        result("logs/growth.log"),
    conda:
        "../../envs/analysis.yaml"
    # more than there are means all of them, so that no other job disturbs the clock
    threads: 64
    resources:
        **needs(gb=2, minutes=20),
    params:
        sizes={name: GROWTH[name] for name in ("N", "m", "R", "D")},
        group_size=GROWTH["group_size"],
        repeats=GROWTH["repeats"],
    script:
        "../scripts/growth.py"


rule supp_growth:
    input:
        code=code("draw_growth.py"),
        points=rules.growth.output.points,
    output:
        shown("benchmarks/growth.png", "Appendix", "Growth of time and memory"),
        result("benchmarks/growth.pdf"),
    log:
        result("logs/supp_growth.log"),
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/draw_growth.py"

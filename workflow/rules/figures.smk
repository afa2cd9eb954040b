# The figures, one rule each: `snakemake fig05` draws Fig. 5 by the function of its name in
# localizer/figures.
CHAPTERS = {
    "experiment1": "Experiment I",
    "experiment2": "Experiment II",
    "experiment3": "Experiment III",
}

# whose figures show LHC Olympics events
OF_THE_EDITION = ("experiment3", "comparison", "nuisances_lhco")

for module, figures in FIGURES.items():
    for file, this in figures.items():

        rule:
            name:
                figure_rule(file)
            input:
                **this.tables,
                code=code("draw.py") + code(f"../localizer/figures/{module}.py"),
                module=shipped(f"workflow/localizer/figures/{module}.py"),
                edition=rules.lhco_edition.output if module in OF_THE_EDITION else [],
            output:
                figure(file, this.chapter or CHAPTERS[module], this.title, this.tables),
            log:
                result(f"logs/{figure_rule(file)}.log"),
            localrule: True
            conda:
                "../../envs/analysis.yaml"
            params:
                **this.options,
            script:
                "../scripts/draw.py"

"""Draw the rules of the workflow: its stages at a glance, and every rule."""

from stage import Stage, files, graph

with Stage(snakemake, record=False):
    defined = graph.definitions(snakemake.input.sources)
    rules = graph.without(snakemake.params.graph, ["all"])
    # every sweep needs the kernels; that is no news to a newcomer
    stages = graph.overview(graph.without(rules, ["compile_kernels"]), defined)
    files.write_text(
        graph.svg(*stages, title="The stages of the workflow"), snakemake.output.stages
    )
    files.write_text(
        graph.svg(graph.detailed(rules, defined), rules, title="The rules of the workflow"),
        snakemake.output.rules,
    )

"""Where the published values lie among the draws, and how far the draws scatter."""

import _packages
import pandas as pd
from localizer.experiments import experiment3, witness_draws
from localizer.verdicts import board, findings3
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    found = {}
    for name, floors in (("surrogates", p.floors), ("seeds", ())):
        tables = map(pd.read_csv, snakemake.input[name])
        heads = map(files.read_npz, snakemake.input[f"heads_of_{name}"])
        draws = witness_draws.Draws.joined(list(map(witness_draws.Draws.read, tables, heads)))
        found[name] = witness_draws.judged(draws, sic_floor=p.sic_floor, floors=floors)
        files.write_csv(found[name], snakemake.output[name])
    table = pd.read_csv(snakemake.input.published, dtype=str)
    published = {row.id: row for row in board.read_published(table)}
    columns = findings3.column_ids(found["surrogates"].columns, published)
    values = {column: published[name].value for column, name in columns.items()}
    summary = witness_draws.rank_summary(found["surrogates"], found["seeds"], values)
    files.write_csv(experiment3.with_edition(summary, edition), snakemake.output.table)

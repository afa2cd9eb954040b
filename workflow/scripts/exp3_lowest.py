"""Further runs at the lowest exposure, of which the sweep has one: q_rho beside its prediction."""

import _packages
import pandas as pd
from localizer.estimators import batch_sums, batches, pair_forms, sweeps
from localizer.theory import scaling
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    numbers = files.read_json(snakemake.input.numbers)
    target = files.read_npz(snakemake.input.targets)[p.target]
    pairs = pair_forms.RoundedPairs(files.read_npz(snakemake.input.compressed)["z"])
    predicted = scaling.PairMoments(**numbers["moments"]).q("pair", m=p.m, R=p.R)
    rows = []
    for run in stage.track(range(p.runs)):
        # the batches after those of the sweep
        start = p.after + run * p.R
        sums = batches.run(
            pairs,
            m=p.m,
            groups=batches.group_range(start + p.R, start=start, group_size=p.group_size),
            group_size=p.group_size,
            streams=sweeps.group_streams(p.seed, p.m),
            replacement=p.replacement,
        )
        rows.append({"run": run, "q": scaling.q_rho(batch_sums.scores(sums).pair, target)})
    table = pd.DataFrame(rows).assign(
        exposure=p.R * p.m**2, q_predicted=(1 + predicted) / numbers["rho_limit"] ** 2 - 1
    )
    files.write_csv(table, snakemake.output[0])

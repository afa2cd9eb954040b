"""The scores at every checkpoint of one batch size, beside what the laws predict."""

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.base.vocabulary import BATCH_ESTIMATORS
from localizer.estimators import batch_sums, sweeps
from localizer.experiments import convergence, experiment3
from localizer.theory import scaling
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    numbers = files.read_json(snakemake.input.numbers)
    saved = files.read_npz(snakemake.input.targets)
    target, labels = saved[p.target], saved["labels"]
    expected = convergence.Expectation(
        files.read_npz(snakemake.input.compressed)["z"],
        target,
        labels,
        stream(p.seed, "experiment3", "expected", p.m),
        draws=8,
    )
    moments = scaling.PairMoments(**numbers["moments"])
    pieces = {}
    for path in snakemake.input.parts:
        pieces |= sweeps.pieces_from_arrays(files.read_npz(path))
    direct = experiment3.performance(target, labels, sic_floor=p.sic_floor)
    rows = []
    for R, sums in stage.track(sweeps.checkpoints(pieces, p.R).items()):
        found = convergence.score_rows(
            sums,
            target=target,
            labels=labels,
            moments=moments,
            rho_limit=numbers["rho_limit"],
            sic_floor=p.sic_floor,
        )
        for row in found:
            point = experiment3.Point(row["estimator"], p.m, R)
            witness = {"auc_witness": direct["auc"], "sic_witness": direct["sic"]}
            rows.append({**row, **expected(point, sic_floor=p.sic_floor), **witness})
    files.write_csv(pd.DataFrame(rows), snakemake.output.table)
    last = batch_sums.scores(sums)
    scores = {estimator: getattr(last, estimator) for estimator in BATCH_ESTIMATORS}
    files.write_npz(scores, snakemake.output.scores)

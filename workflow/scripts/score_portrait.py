"""Find where the most responsible events lie: in each feature, and in pairs of features."""

from itertools import combinations

import _packages
import pandas as pd
from localizer.own import top_events
from stage import Stage, files

#: pairs among the features in which the responsible events stand out most
PLANES_OF = 3

with Stage(snakemake):
    problem = files.read_npz(snakemake.input.problem)
    sample, reference = problem["sample"], problem["reference"]
    names = files.read_json(snakemake.input.about)["features"]
    scores = pd.read_parquet(snakemake.input.scores)
    events = pd.read_parquet(snakemake.input.events)

    listed = top_events.responsible(scores, top=snakemake.params.top)
    top = sample[listed.index]
    distances = top_events.features_by_distance(names, reference, top)
    # what tells most stands first, also where there are many columns
    features = events.loc[listed.index, distances["feature"]]
    files.write_csv(pd.concat([listed, features], axis=1), snakemake.output.top)
    files.write_csv(distances, snakemake.output.features)
    histograms = top_events.histograms(names, reference=reference, sample=sample, top=top)
    files.write_csv(histograms, snakemake.output.histograms)

    chosen = distances["feature"][:PLANES_OF]
    planes = list(combinations(chosen, 2)) or [(chosen[0], chosen[0])]
    fields = [
        top_events.field(events[x], events[y], scores["witness"]).assign(x=x, y=y)
        for x, y in planes
    ]
    files.write_csv(pd.concat(fields, ignore_index=True), snakemake.output.fields)

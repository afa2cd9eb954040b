"""Score some events of some toys by one statistic; processor times go to a file of their own."""

import time

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.estimators import batch_statistic, statistics
from localizer.experiments import other_statistics
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    name = snakemake.wildcards.statistic
    model = GaussianBenchmark(**p.model)
    background = other_statistics.reference(p.seed, model=model, events=p.reference)
    statistic = statistics.by_name(name, bandwidths=[model.h], **p.options).prepare(background)
    target_of = other_statistics.exact_target(name, background, [model.h])
    tables, times = [], []
    for number, m in stage.track([(toy, m) for toy in p.toys for m in p.m]):
        sample = other_statistics.toy(p.seed, number, model=model, N=p.N)
        if m == p.m[0]:
            check = stream(p.seed, "statistics", "check")
            batch_statistic.check(statistic, sample.x, m=m, rng=check)
            target = target_of(sample.x)
        R = other_statistics.contexts(m, occurrences=p.occurrences)
        began = time.process_time()
        table = other_statistics.score_table(
            p.seed,
            number,
            sample,
            statistic,
            target,
            model=model,
            m=m,
            R=R,
            signal=p.signal,
            background=p.background,
            replacement=p.replacement,
        )
        seconds = time.process_time() - began
        times.append({"statistic": name, "toy": number, "m": m, "contexts": R, "seconds": seconds})
        times[-1]["milliseconds_per_event"] = 1000 * seconds / len(table)
        tables.append(table)
    files.write_csv(pd.concat(tables, ignore_index=True), snakemake.output.scores)
    files.write_csv(pd.DataFrame(times), snakemake.output.times)

"""Let one competitor score every realization of some problems; costs go to a file of their own."""

import _packages
import pandas as pd
from localizer.comparison import objective, problems
from stage import Stage, files, measure

name = snakemake.wildcards.competitor
# before the stage begins: it gives one thread to the libraries that are loaded
competitor = objective.competitor(name)

with Stage(snakemake) as stage:
    p = snakemake.params
    pool = problems.Pool.of(files.read_npz(snakemake.input.samples))
    jobs = [
        (problem, mock) for problem in p.problems for mock in range(p.problems[problem]["mocks"])
    ]
    judged, costs, warm = [], [], set()
    for problem, mock in stage.track(jobs):
        one = p.problems[problem]
        made = problems.realization(one["kind"], p.seed, mock, pool, one["sizes"])
        features = made.sample.shape[1]
        if features not in warm:
            # what is compiled or loaded at the first call is no cost of a score
            objective.scores(competitor, objective.excerpt(made), objective.generator(0, "", 0, ""))
            warm.add(features)
        rng = objective.generator(p.seed, problem, mock, name)
        with measure.measured() as cost:
            found = objective.scores(competitor, made, rng)
        row = {"problem": problem, "mock": mock, "competitor": name, "label": competitor.LABEL}
        sizes = {
            "fraction": one["sizes"].get("fraction"),
            "background": int((~made.labels).sum()),
            "signal": int(made.labels.sum()),
            "reference": len(made.reference),
        }
        quality = objective.judged(found, made.labels, floors=p.sic_floors)
        judged.append({**row, **sizes, **quality})
        costs.append({**row, "seconds": cost.seconds, "memory_mib": cost.memory_mib})
    files.write_csv(pd.DataFrame(judged), snakemake.output.scores)
    files.write_csv(pd.DataFrame(costs), snakemake.output.costs)

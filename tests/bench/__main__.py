"""All benchmarks, one after the other: tables on the terminal, and as csv where asked.

The first table compares with peers, the second tells how time and memory grow with the sizes, the
third what the heavy parts of a run cost, and how far they are from what the machine can do.

``make bench`` runs this in an environment of its own (envs/bench.lock), which holds the peers
as well. Every ratio is measured side by side in this one run; run it on an idle machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import bench_batches
import bench_score
import bench_witness
import growth
import pandas as pd
import parts as heavy_parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", type=Path, help="where the table is written")
    arguments = parser.parse_args()
    parts = []
    for study in (
        bench_witness.fourier_loo,
        bench_witness.bank_sums,
        bench_witness.exact_scores,
        bench_witness.lhco_scores,
        bench_batches.experiment2,
        bench_batches.experiment3,
        bench_batches.compression,
        bench_score.million,
    ):
        print(f"{study.__module__}.{study.__name__} ...", flush=True)
        parts.append(pd.DataFrame(study()))
    table = pd.concat(parts, ignore_index=True)
    print(
        table.to_string(index=False, float_format=lambda x: f"{x:.4g}", na_rep="", max_colwidth=60)
    )
    print("growth.study ...", flush=True)
    exponents = growth.study()
    print(exponents.to_string(index=False, float_format=lambda x: f"{x:.4g}"))
    print("parts.study ...", flush=True)
    rates, costs = heavy_parts.study()
    print({name: round(rate, 1) for name, rate in rates.items()})
    print(costs.to_string(index=False, float_format=lambda x: f"{x:.3g}", na_rep=""))
    if arguments.csv:
        arguments.csv.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(arguments.csv, index=False)
        exponents.to_csv(arguments.csv.with_name("growth.csv"), index=False)
        costs.to_csv(arguments.csv.with_name("parts.csv"), index=False)


if __name__ == "__main__":
    main()

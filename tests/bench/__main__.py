"""All benchmarks, one after the other: tables on the terminal, and as csv where asked.

The first table compares with peers, the second tells how time and memory grow with the sizes.

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", type=Path, help="where the table is written")
    arguments = parser.parse_args()
    parts = []
    for study in (
        bench_witness.fourier_loo,
        bench_witness.bank_sums,
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
    if arguments.csv:
        arguments.csv.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(arguments.csv, index=False)
        exponents.to_csv(arguments.csv.with_name("growth.csv"), index=False)


if __name__ == "__main__":
    main()

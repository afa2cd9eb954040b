"""Golden verdicts: what the scoreboard reads in a full run, and the verdicts that it gave.

``tests/golden`` holds, for each edition of the LHC Olympics sample, the tables behind the
verdicts (``paper.tar.xz`` for Experiments I and II and the theory, ``<edition>.tar.xz`` for
Experiment III) and the scoreboard as plain text, so that a changed verdict is a line of a diff.

    make verdicts [RUN=results/paper]    compare the verdicts of a run with the golden ones
    make golden [RUN=results/paper]      make the run's own the golden ones
"""

import argparse
import io
import json
import lzma
import re
import sys
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LONG = re.compile(rb"-?\d+\.\d{12,}(?:e[-+]\d+)?")
COLUMNS = ["id", "kind", "measure", "reproduced", "reproduced_error", "n", "value", "verdict"]
#: the rules that read the tables below and judge them
RULES = ("exp1_findings", "exp2_findings", "exp3_findings", "scoreboard")
#: their inputs, below results/<run>; what a rule misses here stops the test
INPUTS = {
    "paper": (
        "experiment1/efficiency.csv",
        "experiment1/generic_exact.csv",
        "experiment1/m_scan.csv",
        "experiment1/m_scan_points.csv",
        "experiment1/null_probe.csv",
        "experiment1/resampled.csv",
        "experiment1/resampling_scaling.csv",
        "experiment1/residual_field.csv",
        "experiment1/self_influence.csv",
        "experiment1/toys.csv",
        "experiment2/context.csv",
        "experiment2/context.json",
        "experiment2/recovery_runs.csv",
        "experiment2/recovery_targets.csv",
        "experiment2/toys.csv",
        "tables/exp2_n_scan.csv",
        "theory/findings.json",
    ),
    "experiment3": (
        "experiment3/bandwidths.csv",
        "experiment3/lowest.csv",
        "experiment3/numbers.json",
        "experiment3/repeated_fits.csv",
        "experiment3/scaling.json",
        "experiment3/seeds.csv",
        "experiment3/surrogates.csv",
        "experiment3/sweep.csv",
        "tables/exp3_scaling.csv",
        "tables/exp3_witness.csv",
        "tables/lhco_samples.csv",
    ),
}


def edition_of(run):
    """Return the edition of the LHC Olympics sample that a run was made from."""
    path = run / "lhco/edition.json"
    if not path.exists():
        sys.exit(f"{run} is no finished run: it has no lhco/edition.json")
    return json.loads(path.read_text())["name"]


def pack(run, names, archive):
    """Write the named files of a run into one archive, the same bytes for the same files.

    The draws, by far the largest table, keep twelve digits, far beyond the tolerance.
    """
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name in sorted(names):
            entry = tarfile.TarInfo(name)
            data = (run / name).read_bytes()
            if name == "experiment3/surrogates.csv":
                data = LONG.sub(lambda found: b"%.12g" % float(found[0]), data)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    archive.write_bytes(lzma.compress(content.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def unpack(edition, run):
    """Put the golden tables of an edition where a run has them."""
    for name in ("paper", edition):
        with tarfile.open(GOLDEN / f"{name}.tar.xz") as tar:
            tar.extractall(run, filter="data")


def read(path):
    """Return what is compared of a scoreboard, by id."""
    return pd.read_csv(path, dtype={"value": str})[COLUMNS].set_index("id")


def differences(golden, scores, *, tolerance=1e-6):
    """Return one line for each verdict that differs, and one for each number that does."""
    verdicts, numbers = [], []
    for name in dict.fromkeys([*golden.index, *scores.index]):
        if name not in golden.index or name not in scores.index:
            verdicts.append(f"{name}: only in the {'run' if name in scores.index else 'golden'}")
            continue
        before, after = golden.loc[name], scores.loc[name]
        if any(before[key] != after[key] for key in ("kind", "verdict")):
            verdicts.append(
                f"{name}: {before['kind']} {before['verdict']} before ({before['value']}), "
                f"now {after['kind']} {after['verdict']} ({after['value']})"
            )
        for key in ("measure", "reproduced", "reproduced_error", "n", "value"):
            if not _same(before[key], after[key], tolerance):
                numbers.append(f"{name}: {key} was {before[key]}, now {after[key]}")
    return verdicts, numbers


def _same(one, other, tolerance):
    if pd.isna(one) or pd.isna(other):
        return pd.isna(one) and pd.isna(other)
    try:
        return bool(np.isclose(float(one), float(other), rtol=tolerance, atol=1e-15))
    except ValueError:
        return one == other


def main(words=None):
    """Compare a run with the golden verdicts, or renew them."""
    parser = argparse.ArgumentParser(description="Compare a run with the golden verdicts.")
    parser.add_argument("run", type=Path, nargs="?", default=Path("results/paper"))
    parser.add_argument("--renew", action="store_true", help="make this run the golden one")
    asked = parser.parse_args(words)
    edition = edition_of(asked.run)
    golden = GOLDEN / f"{edition}.csv"
    if asked.renew:
        for name in ("paper", edition):
            inputs = INPUTS["paper" if name == "paper" else "experiment3"]
            pack(asked.run, inputs, GOLDEN / f"{name}.tar.xz")
        read(asked.run / "scoreboard.csv").to_csv(golden)
        print(f"Golden verdicts of edition {edition} renewed; read `git diff tests/golden`.")
        return 0
    if not golden.exists():
        print(f"There are no golden verdicts for edition {edition}.")
        return 2
    verdicts, numbers = differences(read(golden), read(asked.run / "scoreboard.csv"))
    print(*numbers, *(f"CHANGED VERDICT {line}" for line in verdicts), sep="\n")
    print(f"{asked.run}, edition {edition}: {len(verdicts)} verdicts differ from the golden ones.")
    return 1 if verdicts else 0


if __name__ == "__main__":
    sys.exit(main())

"""The bank of features, the direct witness, and the features that the batches see."""

from dataclasses import asdict

import _packages
from localizer.base import metrics
from localizer.base.randomness import stream
from localizer.experiments import experiment3
from localizer.kernels.compression import centred_moments
from localizer.theory import scaling
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    d_med = files.read_json(snakemake.input.scale)["value"]
    arrays = files.read_npz(snakemake.input.coordinates)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    features = experiment3.draw_bank(
        d_med,
        p.bandwidths,
        stream(p.seed, "experiment3", "features", 0),
        features_per_bandwidth=p.features_per_bandwidth,
        rff_form=p.rff_form,
    )
    witness = experiment3.DirectWitness.of(features, sample.mixed, sample.reference)
    targets = witness.targets(sample.mixed)
    x, labels = sample.evaluation
    files.write_npz({"witness": witness(x), "labels": labels}, snakemake.output.evaluation)
    stage.say("moments and eigenvectors of the centred features")
    moments = centred_moments(sample.mixed, features, witness.mean_background)
    compression, choice = experiment3.choose_rank(moments, tolerance=p.noise_lost)
    stage.say(f"rank {choice.rank} loses {choice.noise_lost:.2g} of the resampling noise")
    z = features.transform(sample.mixed, centre=witness.mean_background, basis=compression.basis)
    of_pairs = scaling.moments_of_features(z, replacement=p.replacement)
    limit = experiment3.limit_of_batches(z, replacement=p.replacement)
    numbers = {
        "edition": edition,
        "d_med": d_med,
        "dimension": features.D,
        "reference_events": len(sample.reference),
        "moments": asdict(of_pairs),
        "C": of_pairs.C,
        "rho_limit": metrics.correlation(limit, targets[p.target]),
        "compression": asdict(choice),
    }
    files.write_npz({"z": z}, snakemake.output.compressed)
    files.write_npz({**targets, "labels": sample.labels}, snakemake.output.targets)
    files.write_npz(
        {
            "frequencies": features.frequencies,
            "offsets": features.offsets,
            "mean_background": witness.mean_background,
            "basis": compression.basis,
        },
        snakemake.output.features,
    )
    files.write_json(numbers, snakemake.output.numbers)

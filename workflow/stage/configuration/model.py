"""The keys of the configuration: their types, ranges, meaning, and where the paper gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from localizer.lhco import addresses
from pydantic import AfterValidator, Field, field_validator
from pydantic_core import PydanticCustomError

from stage.configuration.comparison import Comparison
from stage.configuration.kinds import (
    DISTINCT,
    EVEN,
    ORDERED,
    AtLeastTen,
    AtLeastTwo,
    Bandwidths,
    BatchScan,
    BatchSize,
    BatchSizes,
    Checkpoints,
    Coordinate,
    Count,
    Floor,
    Floors,
    Fraction,
    GroupSize,
    Point,
    Positive,
    RunName,
    Section,
    Share,
    SummedBatch,
    SummedBatches,
    Toys,
    key,
    must,
)
from stage.configuration.own import Score


def _mirror(text: str) -> str:
    """Refuse what cannot name a mirror; whether it is there is seen when it is used."""
    folder = addresses.mirror_folder(text) if text else None
    if folder is not None and not folder.is_absolute() and ".." in folder.parts:
        raise ValueError("a directory outside the project must be given by its full path")
    return text


class Lhco(Section):
    """The LHC Olympics events."""

    source: Literal["auto", "full", "subset", "surrogate", "zenodo"] = key(
        "edition of the LHC Olympics sample: `auto`, `full`, `subset`, `surrogate`, `zenodo`",
        "exp-lhco",
    )
    mirror: Annotated[str, Field(max_length=4000), AfterValidator(_mirror)] = key(
        "directory or address that holds the files; the variable `LHCO_MIRROR` overrides it"
    )
    learned: Annotated[str, Field(max_length=4000), AfterValidator(_folder)] = key(
        "directory with samples of a learned background, npy files with the four features of "
        "each event in TeV; if empty, that part of the study of nuisances is left out"
    )


def _folder(text: str) -> str:
    """Refuse a folder that is not there."""
    folder = Path(text)
    if text and not folder.is_absolute() and ".." in folder.parts:
        raise ValueError("a directory outside the project must be given by its full path")
    if text and not any(folder.glob("*.npy")):
        raise ValueError("there is no such directory with npy files")
    return text


# --- Experiment I ------------------------------------------------------------------


class Model1(Section):
    """B = N(0, I), S = N(mean, sigma_s^2 I), P = (1 - epsilon) B + epsilon S."""

    mean: Point = key("location of the signal, two features", "exp-known-signal")
    sigma_s: Positive = key("standard deviation of the signal", "exp-known-signal")
    epsilon: Fraction = key("signal fraction", "exp-known-signal")
    h: Positive = key("bandwidth of the Gaussian kernel", "exp-known-signal")


class Resampling(Section):
    """Explicit resampling of forced events (Fig. 1)."""

    m: BatchSize = key(
        "batch size of the explicit resampling",
        "fig. exp1-resampled-analytic; chosen: that of the class separation",
    )
    contexts: Annotated[
        list[AtLeastTwo], Field(min_length=2, max_length=100), DISTINCT, ORDERED
    ] = key("numbers of contexts R, prefixes of one run", "chosen: two and a half decades")
    signal_probes: Count = key("forced signal events", "chosen")
    background_probes: Count = key("forced background events", "chosen")


class NullProbe(Section):
    """An extreme event in pure background contexts."""

    x: Point = key("the extreme event", "exp-known-signal")
    m: BatchSize = key("its batch size", "chosen: that of the class separation")
    contexts: AtLeastTwo = key("its contexts, all companions from B", "exp-known-signal")
    replicas: AtLeastTwo = key(
        "repetitions of the whole test, whose scatter checks its printed error", "chosen"
    )


class MScan(Section):
    """Batch size and the near-degenerate regime (Fig. 3)."""

    m: BatchScan = key("batch sizes of the scan", "fig. exp1-mscan")
    contexts: AtLeastTwo = key("contexts of each probe", "fig. exp1-mscan")
    signal_probes: AtLeastTwo = key("forced signal events", "chosen")
    background_probes: AtLeastTwo = key("forced background events", "chosen")


class Efficiency(Section):
    """Raw, addition, replacement and pair estimators (Fig. 4)."""

    m: BatchScan = key("batch sizes of the comparison of estimators", "fig. exp1-marginal-pair")
    contexts: AtLeastTwo = key(
        "contexts of each probe, the same for every estimator", "fig. exp1-marginal-pair"
    )
    signal_probes: AtLeastTwo = key("forced signal events", "chosen")
    background_probes: AtLeastTwo = key("forced background events", "chosen")


class Generic(Section):
    """The first-order regime of eq. variance-reduction-factor."""

    epsilon: Annotated[
        list[Annotated[float, Field(gt=0, le=1)]], Field(min_length=1, max_length=100), DISTINCT
    ] = key("signal fractions of the study of the first-order regime", "beyond the paper")
    m: BatchSizes = key("batch sizes of its Monte Carlo", "beyond the paper")
    contexts: AtLeastTwo = key("contexts of each probe", "beyond the paper")
    signal_probes: AtLeastTwo = key("forced signal events", "beyond the paper")
    background_probes: AtLeastTwo = key("forced background events", "beyond the paper")
    m_max: BatchSize = key("largest batch size of its exact curves", "beyond the paper")


class SelfInfluence(Section):
    """The exact null of sec. direct-estimation."""

    toys: Toys = key("background-only toys of the self-influence test", "direct-estimation; chosen")


class Experiment1(Section):
    """Controlled validation with a known signal."""

    model: Model1
    N: AtLeastTwo = key(
        "events in a pseudoexperiment, round(epsilon N) of them signal", "exp-known-signal"
    )
    m: BatchSize = key("batch size of the class-separation test", "eq. exp1-deltag")
    toys: Toys = key(
        "pseudoexperiments; all of them get the exact leave-one-out witness", "exp-known-signal"
    )
    toys_per_job: Count = key("how many of them one job makes", "chosen")
    loo_toys_published: Count = key(
        "toys in which the author computed the leave-one-out witness", "exp-known-signal"
    )
    resampling: Resampling
    null_probe: NullProbe
    m_scan: MScan
    efficiency: Efficiency
    generic: Generic
    self_influence: SelfInfluence


# --- Experiment II -----------------------------------------------------------------


class Model2(Section):
    """A signal at a hidden location, without a trace in any single event."""

    d: Annotated[int, must("it must be 2", lambda d: d == 2)] = key(
        "features; the fast exact witness needs two", "exp-zero-info"
    )
    sigma_s: Fraction = key(
        "standard deviation of the signal about its hidden location", "exp-zero-info"
    )
    epsilon: Fraction = key("signal fraction", "exp-zero-info")
    h: Positive = key("bandwidth of the Gaussian kernel", "exp-zero-info")


class NScan(Section):
    """Growth with the ensemble (Fig. 5)."""

    N: Annotated[list[Count], Field(min_length=2, max_length=100), DISTINCT] = key(
        "ensemble sizes", "fig. exp2-Nscan"
    )
    toys: Toys = key("paired toys at each size", "chosen")
    published_toys: Count = key(
        "the author's number of paired toys, inferred from the printed errors", "chosen"
    )
    context_toys: Toys = key(
        "toys for which the contextual posterior and its information are computed",
        "beyond the paper",
    )
    toys_per_job: Count = key("how many of them one job makes", "chosen")


class Recovery(Section):
    """Recovery by random batches (Fig. 6)."""

    N: AtLeastTwo = key("events of the recovery study", "fig. exp2-marginal-recovery")
    mu_norm: Positive = key("length of the hidden location", "exp-zero-info")
    m: SummedBatch = key("batch size", "exp-zero-info")
    R: Checkpoints = key("numbers of batches, prefixes of one run", "exp-zero-info")
    # the targets and predictions are those without
    replacement: Annotated[bool, must("it must be false", lambda twice: not twice)] = key(
        "whether a batch may contain an event twice", "exp-zero-info: no"
    )
    group_size: GroupSize = key(
        "batches that share one stream of random numbers; it affects the results", "chosen"
    )
    kernel_tolerance: Annotated[float, Field(ge=1e-12, le=0.01)] = key(
        "largest error of an entry of the factorised pair kernel; its features have 16 bits",
        "chosen",
    )
    target_toys: Toys = key("toys with exact targets and predicted correlation", "chosen")
    batch_toys: Toys = key("of these, toys with the full batch run", "chosen")
    target_toys_per_job: Count = key("how many target toys one job makes", "chosen")
    batch_toys_per_job: Count = key("how many batch toys one job makes", "chosen")


class Experiment2(Section):
    """Zero isolated-event information."""

    model: Model2
    N: AtLeastTwo = key("events in a pseudoexperiment", "exp-zero-info")
    toys: Toys = key("pseudoexperiments of each construction", "exp-zero-info")
    loo_toys_published: Count = key(
        "toys in which the author computed the leave-one-out witness", "exp-zero-info"
    )
    n_scan: NScan
    recovery: Recovery


# --- Experiment III ----------------------------------------------------------------


class MScan3(Section):
    """Convergence with the batch size (Fig. 7)."""

    m: SummedBatches = key("batch sizes", "fig. exp3-vs-m")
    group_size: Annotated[list[GroupSize], Field(min_length=1, max_length=100)] = key(
        "for each of them, batches that share one stream of random numbers; it affects the results",
        "chosen: by speed",
    )
    R: Count = key("batches of each", "fig. exp3-vs-m")


class RScan(Section):
    """Convergence with the batches (Fig. 8)."""

    m: SummedBatch = key("batch size of the convergence with R", "fig. exp3-highm")
    group_size: GroupSize = key("batches that share one stream of random numbers", "chosen")
    R: Annotated[list[Count], Field(min_length=2, max_length=100), DISTINCT, ORDERED] = key(
        "numbers of batches, prefixes of one run; also the checkpoints of every m",
        "fig. exp3-highm",
    )


class Scatter(Section):
    """How far AUC, SIC and C scatter."""

    surrogates: AtLeastTwo = key(
        "surrogate mixed samples of the paper's size, each with its own draw of features",
        "beyond the paper",
    )
    references: Count = key(
        "references of the paper's size for each of them; times `surrogates` at least 400 draws",
        "beyond the paper",
    )
    surrogates_per_job: Count = key("how many of them one job makes", "chosen")
    predicted: Count = key(
        "in edition `subset`: references predicted on the real mixed sample, for each of "
        "`surrogates` in the place of a surrogate sample",
        "beyond the paper",
    )
    predicted_per_map: Count = key(
        "how many of them share one draw of features; a rank asks for 400 independent draws",
        "beyond the paper",
    )
    floors: Floors = key(
        "further floors of SIC, besides `sic_floor`, at which the published SIC is ranked; the "
        "paper does not state its floor",
        "chosen",
    )
    seeds: AtLeastTwo = key("draws of features on the sample of this run", "beyond the paper")
    seeds_per_job: Count = key("how many of them one job makes", "chosen")
    parts: Annotated[int, Field(ge=2, le=100)] = key(
        "disjoint references of equal size, from all independent background", "beyond the paper"
    )
    gaussians: Toys = key("Gaussian references of that size, for comparison", "beyond the paper")


class Experiment3(Section):
    """LHC Olympics benchmark and estimator scaling."""

    max_events: Annotated[int, Field(ge=200, le=10**9)] = key(
        "maximum number of events used from each sample, evenly thinned; a number above the size "
        "of every sample uses all events",
        "chosen",
    )
    bandwidths: Bandwidths = key("bandwidths of the bank in units of d_med", "exp-lhco")
    features_per_bandwidth: Annotated[AtLeastTwo, EVEN] = key(
        "random Fourier features of each bandwidth, an even number", "exp-lhco"
    )
    bandwidth_scan: Bandwidths = key("single bandwidths of the scan", "exp-lhco")
    bandwidth_draws: AtLeastTwo = key(
        "draws of features at each of them, for the error of the scan", "chosen"
    )
    m_scan: MScan3
    r_scan: RScan
    occurrences_per_job: Annotated[int, Field(ge=1, le=10**12)] = key(
        "largest number of occurrences (batches times m) in one job; does not affect the results",
        "chosen",
    )
    replacement: bool = key("whether a batch may contain an event twice", "exp-lhco: yes")
    fit_minimum: Positive = key("smallest R m^2 in the power-law fit", "exp-lhco")
    lowest_runs: Toys = key(
        "further runs at the smallest m and R, where the deviation from the power law is largest",
        "beyond the paper",
    )
    fit_draws: Toys = key(
        "simulated repetitions of the fit, for the spread of alpha and of the scatter",
        "beyond the paper",
    )
    noise_lost: Fraction = key(
        "largest fraction of the variance of the resampling noise, that is of C, that the "
        "compression of the features may lose; it does not change the limit to which batches "
        "drawn with replacement converge",
        "chosen: far below the error of any point",
    )
    rff_form: Literal["offset", "paired"] = key(
        "`offset`: cos(w x + b); `paired`: cos and sin", "chosen"
    )
    copula: Literal["uniform", "normal"] = key(
        "copula coordinates: `uniform`, or `normal` scores", "chosen"
    )
    target: Literal["self_inclusive", "loo"] = key(
        "the witness that rho refers to: `self_inclusive` or `loo`", "chosen"
    )
    sic_floor: Floor = key("background events that a SIC threshold must keep", "chosen")
    sic_floors: Checkpoints = key("floors at which the maximum SIC is shown", "beyond the paper")
    scatter: Scatter


# --- beyond the paper --------------------------------------------------------------

Statistic: TypeAlias = Literal["mmd", "energy", "ks", "ad", "classifier"]


class Classifier(Section):
    """A regularised discriminant."""

    degree: Annotated[int, Field(ge=1, le=2)] = key(
        "a discriminant that is linear in the features (1), or in their squares and products too "
        "(2)",
        "chosen",
    )
    ridge: Positive = key("its penalty, on standardised features", "chosen")


class Map(Section):
    """Maps of what each statistic localizes."""

    N: AtLeastTwo = key("events of the large sample from which the maps are made", "chosen")
    half_width: Positive = key("half the side of the square that the maps show", "chosen")
    cells: Annotated[int, Field(ge=2, le=1000)] = key("points along it", "chosen")
    contexts: AtLeastTwo = key("contexts of the maps, shared by all points", "chosen")


class Statistics(Section):
    """What statistics other than MMD localize on the benchmark of Experiment I."""

    names: Annotated[list[Statistic], Field(min_length=1), DISTINCT] = key(
        "some of `mmd`, `energy` (distance), `ks` (Kolmogorov-Smirnov), `ad` (Anderson-Darling), "
        "`classifier`",
        "marginal-principle",
    )
    features: Literal["mean", "max"] = key(
        "`ks` and `ad` of a batch: `mean` over the features (every feature counts in every "
        "batch), or `max`",
        "chosen",
    )
    classifier: Classifier
    reference: AtLeastTwo = key(
        "background events that represent B, the same for all statistics", "chosen"
    )
    toys: Toys = key("pseudoexperiments", "chosen")
    toys_per_job: Count = key(
        "how many of them one job makes; does not affect the results", "chosen"
    )
    signal_events: Count = key("signal events scored in each toy", "chosen")
    background_events: Count = key("background events scored in each toy", "chosen")
    m: BatchSizes = key("batch sizes; the maps and ROC curves are at the largest", "chosen")
    occurrences: Count = key(
        "contexts of an event times m: the same number of companions at every m", "chosen"
    )
    replacement: bool = key(
        "whether the companions in a context may repeat", "practical-estimators; chosen: no"
    )
    map: Map


class Scaled(Section):
    """What is done to the features of the LHC Olympics events."""

    mass: Annotated[float, Field(gt=-0.5, lt=0.5)] = key("relative change of both masses", "chosen")
    tau21: Annotated[float, Field(gt=-0.5, lt=0.5)] = key("change of both tau21", "chosen")


class NullPValues(Section):
    """P-values of samples without signal, on the Gaussian benchmark."""

    thetas: Annotated[list[Share], Field(min_length=1, max_length=20), DISTINCT, ORDERED] = key(
        "fractions of the sample that follow the variation", "chosen"
    )
    shift: Positive = key("shift of the variation", "chosen")
    N: AtLeastTen = key("events of sample and reference", "chosen")
    toys: Toys = key("pseudoexperiments at each theta", "chosen")


class Nuisances(Section):
    """A wrong reference, profiled over nuisances."""

    amounts: Annotated[list[Coordinate], Field(min_length=1, max_length=100), DISTINCT, ORDERED] = (
        key("how wrong the reference is, in units of `wrong`", "chosen")
    )
    wrong: Scaled
    step: Scaled
    features_per_bandwidth: Annotated[int, Field(ge=4, le=10**5), EVEN] = key(
        "random features of each bandwidth, an even number", "chosen"
    )
    test_events: AtLeastTen = key("events of sample and reference behind a p-value", "chosen")
    draws: AtLeastTen = key("draws of the multiplier bootstrap behind a p-value", "chosen")
    p_values: NullPValues


class Configuration(Section):
    """All of it."""

    run: RunName = key("name of the run; results go to `results/<run>/`")
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = key(
        "the seed of every random number", "chosen"
    )
    lhco: Lhco
    experiment1: Experiment1
    experiment2: Experiment2
    experiment3: Experiment3
    statistics: Statistics
    comparison: Comparison
    nuisances: Nuisances
    score: Score | None = None

    @field_validator("score", mode="before")
    @classmethod
    def _no_empty_section(cls, value: object) -> object:
        if value is None:
            raise PydanticCustomError("model_type", "")
        return value

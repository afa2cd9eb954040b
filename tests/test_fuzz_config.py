"""Broken input of every kind: refused in one sentence, or the workflow can be built on it.

The mutations are drawn from keyed streams, so that a failure names the number that repeats it.
"""

import ast
import copy
import io
import math
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import yaml
from localizer import scoreboard
from localizer.lhco import raw, registry, samples
from localizer.lhco.samples import SUBSET
from localizer.randomness import stream
from real_workflow import copy_of_the_sources
from stage import cost, settings

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
MUTATIONS = 500

SCALARS = [
    *(None, True, False, 0, -1, 1, 2, 3, 7, 20.0, 0.5, -0.5, 1e-300, 1e300, -0.0),
    *(10**9, 10**9 + 1, 10**400, -(10**400), 2**31, 2**63, 65536, 65537, 999_983, 1_000_000),
    *(math.nan, math.inf, -math.inf, "", "x", "3", "1e3", "nan", "NaN", ".5", "paper\n", "../up"),
    *("/etc", "a/b", "..", "-n", "a b", "{m}", "$(id)", "; ls", "ß", "日本", "\x00", "\ud800"),
    *("a" * 300, "http://example.org", "ftp://example.org", "https://", "http://[", "../../data"),
]


def leaves(tree, path=()):
    for key, value in tree.items():
        yield (*path, key), value
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))


PLACES = list(leaves(SHIPPED))


def parent_of(config, path):
    for name in path[:-1]:
        config = config[name]
    return config


def scalar(rng):
    return copy.deepcopy(SCALARS[rng.integers(len(SCALARS))])


def drop(rng, section, key):  # noqa: ARG001
    del section[key]


def replace(rng, section, key):
    section[key] = scalar(rng)


def scale(rng, section, key):
    """Make every number larger or smaller by the same power, as a slip of the pen does."""
    factor = [0, -1, 0.5, 2, 10, 1000, 10**6, 1e-3, 1e-9][rng.integers(9)]

    def scaled(value):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        whole = isinstance(value, int) and rng.integers(4)
        return int(value * factor) if whole else value * factor

    value = section[key]
    if isinstance(value, list):
        section[key] = [scaled(each) for each in value]
    elif isinstance(value, dict):
        section[key] = {name: scaled(each) for name, each in value.items()}
    else:
        section[key] = scaled(value)


def nudge(rng, section, key):
    """Change a number by a factor of a few: most often sound, or at odds with another key."""
    value = section[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        section[key] = copy.deepcopy(value)
    else:
        section[key] = type(value)(value * rng.uniform(0.2, 5))


def length(rng, section, key):
    """Give a list another length, or make a list of what is none."""
    values = section[key] if isinstance(section[key], list) else [section[key]]
    section[key] = [
        [],
        values[:1],
        values[:-1],
        values + values,
        values[::-1],
        [*values, scalar(rng)],
        [values],
        list(range(3, 3 + int(rng.integers(1000)))),
    ][rng.integers(8)]


def unknown(rng, section, key):
    """Add a key that nobody knows, or write one wrongly."""
    text = str(key)
    cut = int(rng.integers(len(text)))
    name = [
        text[:cut] + text[cut + 1 :],
        text.upper(),
        text[::-1] + "_",
        *("x", "ß", "a.b", " ", "", "line\nbreak", "{m}", "k" * 200),
        *(1, None, True, 2.5),
    ][rng.integers(15)]
    if rng.integers(2):
        section[name] = scalar(rng)
    else:
        section[name] = section.pop(key)


def flatten(rng, section, key):
    """Put a scalar where a section is, or a section where a scalar is."""
    section[key] = scalar(rng) if isinstance(section[key], dict) else {key: section[key]}


MUTATORS = (drop, replace, replace, replace, scale, scale, nudge, nudge, length, unknown, flatten)


def mutation(number):
    """Return the configuration with the mutation of this number, and where it was made."""
    rng = stream(9, "fuzz", "config", number)
    config = copy.deepcopy(SHIPPED)
    path, _ = PLACES[rng.integers(len(PLACES))]
    MUTATORS[rng.integers(len(MUTATORS))](rng, parent_of(config, path), path[-1])
    return config, ".".join(path)


@cache
def judged(number):
    """Return a mutation, where it was made and what is said against it; several tests ask."""
    config, path = mutation(number)
    return config, path, settings.problems(config)


# What the rule files derive from a configuration before their first rule, as it stands there.
COMMON = (ROOT / "workflow" / "rules" / "common.smk").read_text()


def helpers():
    """Return the functions of common.smk that cut work into jobs."""
    source = COMMON[COMMON.index("def jobs_of") : COMMON.index("def listed")]
    found = {}
    exec(compile(ast.parse(source), "common.smk", "exec"), found)
    return found


class Anything:
    """Stands for the outputs of other rules."""

    def __getattr__(self, name):
        return self

    def __getitem__(self, key):
        return self


def derived(config):
    """Run what stands above the first rule of each experiment's rule file."""
    found = {**helpers(), "config": config, "rules": Anything()}
    for name in ("experiment1", "experiment2", "experiment3", "statistics", "score"):
        text = (ROOT / "workflow" / "rules" / f"{name}.smk").read_text()
        above = text[: text.index("\nrule ")]
        exec(compile(above, f"{name}.smk", "exec"), found)
    return found


def number_of_jobs(found):
    one_level = (
        *("EXPERIMENT1_TOYS", "NULL_TOYS", "TARGET_TOYS", "BATCH_TOYS"),
        *("SURROGATES", "SEEDS", "STATISTICS_PARTS", "CALIBRATION"),
    )
    two_levels = ("EXPERIMENT2_TOYS", "SWEEP_JOBS")
    return sum(len(found[name]) for name in one_level) + sum(
        len(jobs) for name in two_levels for jobs in found[name].values()
    )


def names_the_place(sentence, path):
    """Tell whether a sentence names the key, a section around it or an entry in it."""
    parts = path.split(".")
    prefixes = [".".join(parts[: n + 1]) for n in range(len(parts))]
    return any(prefix in sentence for prefix in prefixes[max(0, len(parts) - 2) :])


@pytest.mark.parametrize("first", range(0, MUTATIONS, 50))
def test_a_mutation_is_refused_in_words_or_builds(first):
    for number in range(first, first + 50):
        config, path, said = judged(number)
        if said:
            assert any(names_the_place(sentence, path) for sentence in said), (number, path, said)
            for sentence in said:
                assert "\n" not in sentence, (number, sentence)
                assert sentence.endswith((".", "?")), (number, sentence)
                assert len(sentence) < 700, (number, sentence)
        else:
            assert_whole_and_finite(config, SHIPPED, number)
            jobs = number_of_jobs(derived(config))
            assert jobs <= settings.LARGEST_DAG, (number, path, jobs)
            for work in cost.estimate(config).values():
                for value in (work.seconds, work.memory, work.disk):
                    assert math.isfinite(value), number
                    assert value >= 0, number
            assert "\n" not in cost.warning(config)


def assert_whole_and_finite(value, shipped, number):
    """Hold that what was a whole number still is one, and that no number is NaN or infinite."""
    if isinstance(shipped, dict):
        assert value.keys() == shipped.keys(), number
        for key in shipped:
            assert_whole_and_finite(value[key], shipped[key], number)
    elif isinstance(shipped, list):
        for each in value:
            assert_whole_and_finite(each, shipped[0], number)
    elif isinstance(shipped, float):
        assert isinstance(value, int | float), number
        assert math.isfinite(value), number
    else:
        assert type(value) is type(shipped), number


def test_the_mutations_are_of_both_kinds():
    """Neither half of the test above is empty."""
    refused = sum(bool(judged(number)[2]) for number in range(MUTATIONS))
    assert MUTATIONS // 10 < refused < MUTATIONS - MUTATIONS // 10


def chosen_for_a_real_run():
    """Return ten mutations that are refused and ten that are sound, by number."""
    refused, sound = [], []
    for number in range(MUTATIONS):
        kind = refused if judged(number)[2] else sound
        kind.append(number)
    step = {"refused": len(refused) // 10, "sound": len(sound) // 10}
    return [*refused[:: step["refused"]][:10], *sound[:: step["sound"]][:10]]


@pytest.mark.slow
def test_twenty_mutations_through_the_real_workflow(tmp_path):
    """A sound one gives a plan, a refused one its sentence, and neither a traceback."""
    project = copy_of_the_sources(tmp_path / "project")
    numbers = chosen_for_a_real_run()
    assert len(numbers) == 20
    for number in numbers:
        config, path, _ = judged(number)
        text = yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
        (project.root / "config" / "config.yaml").write_text(text, encoding="utf-8")
        # what YAML makes of it is what counts
        said = settings.problems(yaml.safe_load(text))
        done = project.snakemake("--dry-run", "--quiet", "rules", check=False, LHCO_MIRROR="")
        assert "Traceback" not in done.stdout, (number, path, done.stdout[-3000:])
        if said:
            assert done.returncode == 1, (number, path)
            assert said[0] in done.stdout, (number, path, done.stdout[-3000:])
        else:
            assert done.returncode == 0, (number, path, done.stdout[-3000:])
            assert "Job stats:" in done.stdout or "would be executed" in done.stdout, number


# What a configuration costs


# Processor seconds of the rules in one full run (edition subset), and MiB at the peak.
RECORDED = {
    "exp1_forced": (176.0, 247),
    "exp1_generic": (21.5, 252),
    "exp1_null_probe": (13.6, 234),
    "exp1_self_influence_part": (30.4, 204),
    "exp1_toys_part": (15.0, 204),
    "exp2_context_part": (91.0, 248),
    "exp2_recovery_runs_part": (136.8, 268),
    "exp2_recovery_targets_part": (89.1, 216),
    "exp2_toys_part": (100.6, 244),
    "exp3_bandwidths": (7.9, 262),
    "exp3_batches_part": (382.4, 324),
    "exp3_exact_part": (21.8, 259),
    "exp3_features": (23.1, 544),
    "exp3_scatter_part": (195.8, 537),
    "exp3_seeds_part": (48.2, 438),
    "exp3_sweep": (16.2, 282),
}


def test_the_cost_model_meets_the_recorded_run():
    found = cost.estimate(SHIPPED, SUBSET)
    for rule, (seconds, peak) in RECORDED.items():
        assert 0.5 < found[rule].seconds / seconds < 2, rule
        assert 0.5 < found[rule].memory / 2**20 / peak < 2, rule
    recorded = sum(seconds for seconds, _ in RECORDED.values())
    assert 0.8 < sum(found[rule].seconds for rule in RECORDED) / recorded < 1.25
    # so many MiB of results lay on disk
    assert 0.5 < cost.total(found.values()).disk / 199 / 2**20 < 2


def test_the_cost_model_counts_the_jobs_that_the_rules_make():
    counted = cost.jobs(SHIPPED)
    made = number_of_jobs(derived(SHIPPED))
    assert made <= sum(counted.values()) <= 2 * made


def test_a_modest_configuration_is_not_warned_about():
    assert cost.warning(SHIPPED) == ""


@pytest.mark.parametrize(
    ("section", "key", "value", "says"),
    [
        (("experiment1", "m_scan"), "contexts", 10**8, "most of it for exp1_forced"),
        (("experiment2", "recovery"), "N", 10**8, "GiB of memory in one job"),
        (("experiment3",), "features_per_bandwidth", 10**6, "most of it for exp3_features"),
    ],
)
def test_an_absurd_configuration_gets_its_estimate(section, key, value, says):
    config = copy.deepcopy(SHIPPED)
    parent_of(config, (*section, key))[key] = value
    told = cost.warning(config)
    assert told.startswith("This configuration is estimated to need ")
    assert says in told


@pytest.mark.parametrize(
    ("rule", "path", "power"),
    [
        ("exp3_batches_part", ("experiment3", "occurrences_per_job"), 0),
        ("exp2_recovery_runs_part", ("experiment2", "recovery", "m"), 1),
        ("exp1_toys_part", ("experiment1", "toys"), 1),
        ("exp1_null_probe", ("experiment1", "null_probe", "contexts"), 1),
        ("exp3_features", ("experiment3", "features_per_bandwidth"), 3),
    ],
)
def test_the_cost_grows_as_the_work_does(rule, path, power):
    """From a hundred times to two hundred times the shipped size the start no longer counts."""

    def seconds(factor):
        config = copy.deepcopy(SHIPPED)
        parent_of(config, path)[path[-1]] *= factor
        return cost.estimate(config)[rule].seconds

    assert math.log2(seconds(200) / seconds(100)) == pytest.approx(power, abs=0.2)


# The registry, the published table and the data files


def mangled(text, rng):
    """Return a text with one slip: a character, a field, a line or a piece of it."""
    at = int(rng.integers(len(text)))
    junk = ["", ",", '"', "\n", "\r", "\x00", "ß", "..", "\ud800", "9" * 5000, "x" * 200_000]
    lines = text.split("\n")
    line = int(rng.integers(len(lines)))
    kind = int(rng.integers(4))
    if kind == 0:
        return text[:at] + junk[rng.integers(len(junk))] + text[at + 1 :]
    if kind == 1:
        return text[:at]
    if kind == 2:
        return "\n".join([*lines[:line], *lines[line + 1 :]])
    fields = lines[line].split(",")
    value = str(scalar(rng)) if (many := rng.integers(3)) else ""
    fields[rng.integers(len(fields))] = value if many < 2 else junk[rng.integers(len(junk))]
    return "\n".join([*lines[:line], ",".join(fields), *lines[line + 1 :]])


def assert_told(error, name, number):
    """Hold that an error is one sentence that a user can read, and names what is wrong."""
    sentence = str(error).strip()
    assert name in sentence, number
    assert "\n" not in sentence, (number, sentence)
    assert len(sentence) < 1000, (number, sentence[:1000])


REGISTRY = (ROOT / "resources" / "lhco" / "registry.csv").read_text()


def test_a_mangled_registry_is_refused_by_line_or_read():
    refused = 0
    for number in range(300):
        text = mangled(REGISTRY, stream(9, "fuzz", "registry", number))
        try:
            files = registry.parse(text)
        except ValueError as error:
            refused += 1
            assert_told(error, "registry", number)
        else:
            for file in files:
                assert file.address.startswith("https://"), number
                assert not Path(file.path).is_absolute(), number
                assert ".." not in Path(file.path).parts, number
    assert 30 < refused < 300


def test_a_registry_that_is_no_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        registry.read(tmp_path)


PUBLISHED = (ROOT / "resources" / "published.csv").read_text()


def test_a_mangled_published_table_is_refused_or_read():
    refused = 0
    for number in range(150):
        text = mangled(PUBLISHED, stream(9, "fuzz", "published", number))
        try:
            rows = scoreboard.read_published(pd.read_csv(io.StringIO(text), dtype=str))
        except ValueError as error:
            refused += 1
            assert_told(error, "", number)
        else:
            for row in rows:
                assert row.kind == "statement" or math.isfinite(row.number), number
                assert not row.value or row.rounding > 0, number
                assert row.toys is None or row.toys > 0, number
    assert 5 < refused < 150


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("toys", "²"), ("toys", "0"), ("toys", "9" * 5000), ("error", "-0.1"), ("error", "0")),
        *(("value", "1e999"), ("value", "1e-999"), ("value", "1e999999999"), ("value", "1_000")),
    ],
)
def test_a_published_number_that_no_paper_prints_is_refused(column, value):
    table = pd.read_csv(io.StringIO(PUBLISHED), dtype=str)
    table.loc[3, column] = value
    with pytest.raises(ValueError, match=rf"published, line 5 .*: {column} is "):
        scoreboard.read_published(table)


def table_of(rng, rows=40):
    mass = rng.uniform(3.31, 3.69, rows)
    return np.column_stack([mass, rng.uniform(0, 1, (rows, 4)), np.arange(rows) % 2])


def npy(array, *, pickled=False):
    content = io.BytesIO()
    np.lib.format.write_array(content, array, allow_pickle=pickled)
    return content.getvalue()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda t: npy(np.where(t == t[3, 2], np.nan, t)), "1 of its values are NaN or infinite"),
        (lambda t: npy(np.where(t == t[3, 2], np.inf, t)), "1 of its values are NaN or infinite"),
        (lambda t: npy(t[:, :5]), "must have the 6 columns"),
        (lambda t: npy(t.ravel()), "must have the 6 columns"),
        (lambda t: npy(t.astype(np.float32)), "must hold float64 numbers, it holds float32"),
        (lambda t: npy(t.astype("S8")), "must hold float64 numbers"),
        (lambda t: npy(t.astype(">f8")), "must hold float64 numbers"),
        (lambda t: npy(t.astype(object), pickled=True), "is not a plain .npy file"),
        (lambda t: npy(t)[:-8], "is not a plain .npy file"),
        (lambda t: npy(t)[:40], "is not a plain .npy file"),
        (lambda _: b"", "is not a plain .npy file"),
        (lambda t: npy(t).replace(b"(40, 6)", b"(9**9, 6)"), "is not a plain .npy file"),
        (lambda t: npy(t).replace(b"(40, 6), ", b"(10**99,)"), "is not a plain .npy file"),
        (lambda t: npy(np.where(t == 1, 2, t)), "must be 0 .background. or 1 .signal."),
    ],
)
def test_a_spoilt_table_is_refused(tmp_path, spoil, says):
    path = tmp_path / "events.npy"
    path.write_bytes(spoil(table_of(stream(9, "fuzz", "table"))))
    with pytest.raises(ValueError, match=says) as caught:
        samples.read_table(path)
    assert str(path) in str(caught.value)


def test_an_npy_header_that_promises_too_much_is_refused(tmp_path):
    content = npy(table_of(stream(9, "fuzz", "table")))
    header = b"'shape': (40, 6), }"
    promise = b"'shape': (99999999999, 6), }"
    # the header is padded with blanks, which makes room for more digits
    longer = content.replace(header + b" " * (len(promise) - len(header)), promise)
    assert len(longer) == len(content)
    (tmp_path / "events.npy").write_bytes(longer)
    with pytest.raises(ValueError, match=r"is not a plain \.npy file"):
        samples.read_table(tmp_path / "events.npy")


def test_an_npy_file_with_changed_bytes_is_refused_or_read(tmp_path):
    whole = npy(table_of(stream(9, "fuzz", "table")))
    path = tmp_path / "events.npy"
    refused = 0
    for number in range(300):
        rng = stream(9, "fuzz", "npy", number)
        content = bytearray(whole)
        # most changes in the header, where a byte means most
        content[rng.integers(140 if number % 3 else len(content))] = int(rng.integers(256))
        path.write_bytes(bytes(content[: len(content) if number % 5 else rng.integers(400)]))
        try:
            table = samples.read_table(path)
        except ValueError as error:
            refused += 1
            assert_told(error, str(path), number)
        else:
            assert np.isfinite(table).all(), number
    assert 50 < refused < 300


@pytest.fixture(scope="module")
def features_file(tmp_path_factory):
    frame = pd.DataFrame({name: np.arange(50.0) for name in (*raw.COLUMNS, "label")})
    path = tmp_path_factory.mktemp("h5") / "features.h5"
    frame.to_hdf(path, key="df", format="fixed")
    return path


def test_a_truncated_h5_file_is_refused(features_file, tmp_path):
    whole = features_file.read_bytes()
    assert len(raw.read_features(features_file, labelled=True)["label"]) == 50
    path = tmp_path / "cut.h5"
    for number in range(40):
        rng = stream(9, "fuzz", "h5", number)
        path.write_bytes(whole[: rng.integers(len(whole) - 1)])
        with pytest.raises(ValueError, match="is not a complete HDF5 file"):
            raw.read_features(path, labelled=True)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda f: f.create_group("second"), "it must hold one table, it holds 2"),
        (lambda f: f.__delitem__("df/block0_items"), "is not a table that pandas has written"),
        (lambda f: f["df"].attrs.__delitem__("nblocks"), "is not a table that pandas has written"),
        (lambda f: f["df"].attrs.create("nblocks", "many"), "is not a table that pandas"),
        (lambda f: f["df"].attrs.modify("nblocks", 7), "is not a table that pandas has written"),
        (
            lambda f: f["df/block0_items"].__setitem__(0, b"\xff"),
            "is not a table that pandas has written",
        ),
    ],
)
def test_a_spoilt_h5_table_is_refused(features_file, tmp_path, spoil, says):
    path = tmp_path / "spoilt.h5"
    path.write_bytes(features_file.read_bytes())
    with h5py.File(path, "r+") as file:
        spoil(file)
    with pytest.raises(ValueError, match=says):
        raw.read_features(path, labelled=True)

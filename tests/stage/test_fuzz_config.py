"""Broken input of every kind: refused in one sentence, or the workflow can be built on it.

The mutations are drawn from keyed streams, so that a failure names the number that repeats it.
"""

import copy
import io
import itertools
import math
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import yaml
from localizer.base.randomness import stream
from localizer.lhco import raw, registry, samples
from localizer.verdicts import board
from real_workflow import copy_of_the_sources
from stage.configuration import check, jobs

ROOT = Path(__file__).resolve().parents[2]
SHIPPED, _ = check.resolved(
    {
        **yaml.safe_load((ROOT / "config" / "config.yaml").read_text()),
        "score": {"sample": "results/a.csv", "reference": "results/b.csv"},
    }
)
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
    return config, path, check.problems(config)


def number_of_jobs(config):
    plan = check.resolved(config)[1]
    cuts = [
        *(plan.toys1, plan.null_toys, *plan.toys2.values(), plan.target_toys, plan.batch_toys),
        *(*plan.sweeps.values(), plan.surrogates, plan.seeds, *plan.statistics.values()),
        plan.calibration,
    ]
    for cut in cuts:
        assert 1 <= len(cut.parts) <= len(cut)
    return sum(len(cut.parts) for cut in cuts)


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
            whole = check.resolved(config)[0]
            if "score" not in config:  # the paper needs no tables of a user's
                assert not {"sample", "reference"} & whole["score"].keys()
                tables = ("sample", "reference")
                whole["score"] |= {name: SHIPPED["score"][name] for name in tables}
            assert_whole_and_finite(whole, SHIPPED, number)
            assert number_of_jobs(config) <= jobs.LARGEST_DAG, (number, path)


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
        said = check.problems(yaml.safe_load(text))
        done = project.snakemake("--dry-run", "--quiet", "rules", check=False, LHCO_MIRROR="")
        assert "Traceback" not in done.stdout, (number, path, done.stdout[-3000:])
        if said:
            assert done.returncode == 1, (number, path)
            assert said[0] in done.stdout, (number, path, done.stdout[-3000:])
        else:
            assert done.returncode == 0, (number, path, done.stdout[-3000:])
            assert "Job stats:" in done.stdout or "would be executed" in done.stdout, number


# How the work is cut


def test_the_jobs_that_are_counted_are_those_that_are_made():
    counted = sum(check.resolved(SHIPPED)[1].counts().values())
    made = number_of_jobs(SHIPPED)
    assert made <= counted <= 2 * made


@pytest.mark.parametrize(("total", "size"), [(1, 1), (10, 3), (9, 3), (5, 100)])
def test_a_cut_has_every_number_once(total, size):
    parts = jobs.Cut("key", total, size).parts
    assert [number for part in parts.values() for number in part] == list(range(total))
    assert all(int(name) == part[0] and len(part) <= size for name, part in parts.items())


@pytest.mark.parametrize(
    ("R", "group", "most"),
    [([10, 20, 60], 2, 16), ([100], 5, 1), ([4, 8], 4, 1000), ([30], 10, 25)],
)
def test_a_sweep_goes_on_where_its_last_job_ended(R, group, most):
    sweep = jobs.Sweep(R, group, most)
    pieces = list(sweep.parts.values())
    assert pieces[0][0] == 0
    assert pieces[-1][-1] == R[-1]
    for job, following in itertools.pairwise(pieces):
        assert job[-1] == following[0]
    ends = [end for job in pieces for end in job[1:]]
    assert ends == sorted(set(ends))
    assert set(R) <= set(ends)
    assert all(end % group == 0 for end in ends)
    assert all(job[-1] - job[0] <= max(group, most) for job in pieces)
    assert all(int(name) == job[0] for name, job in sweep.parts.items())


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
            rows = board.read_published(pd.read_csv(io.StringIO(text), dtype=str))
        except ValueError as error:
            refused += 1
            assert_told(error, "", number)
        else:
            for row in rows:
                assert row.claim or math.isfinite(row.number), number
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
        board.read_published(table)


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

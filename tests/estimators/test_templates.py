"""Mean embeddings of templates and their inner products, against loops and explicit features."""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.estimators import templates
from localizer.estimators.templates import Template
from localizer.kernels.bank import GaussianBank
from localizer.kernels.features import fourier_features

BANK = GaussianBank((0.7, 1.4))


def draw(*key, n=40, d=2):
    return stream(31, "test_templates", *key).normal(size=(n, d))


def mixed_problem():
    """Return the reference shifted, the same reweighted, and another sample with weights."""
    y = draw("reference", n=30)
    weights = stream(31, "weights").uniform(-0.2, 1.0, size=30)
    return templates.problem(
        Template(draw("sample")),
        Template(y, weights=np.abs(weights) + 0.1),
        [
            Template(np.add(y, [0.3, 0.0]), same_events=True),
            Template(y, weights=weights, same_events=True),
            Template(draw("other", n=25)),
        ],
    )


def by_loops(one, other, *, same):
    """Return the mean of k over pairs of two templates, without pairs of the same event."""
    total = weight = 0.0
    for i, x in enumerate(one.events):
        for j, y in enumerate(other.events):
            if same and i == j:
                continue
            w = one.omega[i] * other.omega[j]
            total += w * BANK([x], [y]).item()
            weight += w
    return total / weight


def test_products_without_the_pairs_of_an_event_with_itself():
    problem = mixed_problem()
    together = [{0}, {1, 2, 3}, {4}]
    found = templates.exact(problem, BANK)
    for k, one in enumerate(problem):
        for m, other in enumerate(problem):
            same = any({k, m} <= group for group in together)
            expected = by_loops(one, other, same=same)
            assert found.gram[k, m] - found.own[k, m] == pytest.approx(expected, abs=1e-12)
            assert found.gram[k, m] == pytest.approx(
                one.omega @ BANK(one.events, other.events) @ other.omega, abs=1e-12
            )


def test_values_at_the_events():
    problem = mixed_problem()
    found = templates.exact(problem, BANK)
    for template, at in zip(problem, found.at, strict=True):
        p, b_0, *b = (BANK(template.events, t.events) @ t.omega for t in problem)
        expected = np.stack([b_0, p - b_0, *(one - b_0 for one in b)], axis=1)
        np.testing.assert_allclose(at, expected, atol=1e-12)


def test_features_are_the_kernel_of_their_own_products():
    """By features the same holds with z(x).z(y) for k(x, y)."""
    problem = mixed_problem()
    features = fourier_features(BANK, 2, stream(31, "features"), n_per_bandwidth=20, form="offset")
    z = [features.transform(t.events, dtype=np.float64) for t in problem]
    means = np.array([t.omega @ rows for t, rows in zip(problem, z, strict=True)])
    found = templates.by_features(problem, features)
    np.testing.assert_allclose(found.means, means, atol=1e-6)
    np.testing.assert_allclose(found.gram, means @ means.T, atol=1e-6)
    np.testing.assert_allclose(found.itself, np.sum(z[0] ** 2, axis=1), atol=1e-5)
    # a template with itself, and one with the same events
    for k, m in ((0, 0), (1, 3), (2, 2), (4, 4)):
        weight = problem[k].omega[:, None] * problem[m].omega
        np.fill_diagonal(weight, 0)
        expected = np.sum(weight * (z[k] @ z[m].T)) / weight.sum()
        assert found.gram[k, m] - found.own[k, m] == pytest.approx(expected, abs=1e-6)
    assert found.own[0, 1] == found.own[1, 4] == 0
    np.testing.assert_allclose(found.at[2][:, 2], z[2] @ (means[2] - means[1]), atol=1e-6)


def test_many_chunks_are_one(monkeypatch):
    problem = mixed_problem()
    features = fourier_features(BANK, 2, stream(31, "features"), n_per_bandwidth=20, form="paired")
    whole = templates.by_features(problem, features)
    monkeypatch.setattr(templates, "CHUNK", 7)
    cut = templates.by_features(problem, features)
    np.testing.assert_allclose(whole.gram, cut.gram, atol=1e-6)
    np.testing.assert_allclose(whole.own, cut.own, atol=1e-6)
    for one, other in zip(whole.at, cut.at, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_what_is_refused():
    y = draw("reference", n=30)
    with pytest.raises(ValueError, match="variation 1 must hold the reference's 30 events"):
        templates.problem(Template(y), Template(y), [Template(y[:-1], same_events=True)])
    with pytest.raises(ValueError, match="variation 1 must have 2 features, it has 1"):
        templates.problem(Template(y), Template(y), [Template(y[:, :1])])
    with pytest.raises(ValueError, match="must be left to variations"):
        templates.problem(Template(y, same_events=True), Template(y))
    with pytest.raises(ValueError, match="weights must have a positive sum"):
        Template(y, weights=-np.ones(30))
    with pytest.raises(ValueError, match="more than one effective event"):
        Template(y, weights=np.eye(30)[0])

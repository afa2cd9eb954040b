"""What the two-sample statistics compute of many batches at once, compiled.

Each function takes batches of shape (R, m, k) and returns one number for each; a batch's
number does not depend on which other batches are computed beside it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from localizer.checks import Array
from localizer.contexts import _exp_minus

_MOST_STEPS = 100


def kernel_pairs(batches: Array, bandwidths: tuple[float, ...]) -> Array:
    """Return the mean over the pairs i < j of a batch of the Gaussian bank's k(x_i, x_j).

    The bank is :class:`localizer.kernels.GaussianBank`; its values are right to 1e-14.
    """
    scales = np.array([0.5 / (h * h) for h in bandwidths])
    return np.asarray(_kernel_pairs(batches, scales))


def distance_pairs(batches: Array) -> Array:
    """Return the mean over the pairs i < j of a batch of |x_i - x_j|."""
    return np.asarray(_distance_pairs(batches))


def logistic_gain(batches: Array, reference: Array, *, ridge: float) -> Array:
    """Return log 2 minus the least penalised loss of a logistic classifier, batch by batch.

    The loss of f(x) = theta.x is the mean of log(1 + e^-f) over the batch and of
    log(1 + e^f) over the reference, each class with weight one half, plus
    ridge |theta|^2 / 2 without the first feature, which must be the constant 1. Newton's
    method, to 1e-13; NaN where that does not converge.
    """
    return np.asarray(_logistic_gain(batches, reference, ridge))


@njit(cache=True, nogil=True, fastmath=True)
def _kernel_pairs(batches, scales):  # type: ignore[no-untyped-def]
    contexts, m, d = batches.shape
    means = np.empty(contexts)
    z = np.empty((d, m))
    square = np.empty(m)
    for r in range(contexts):
        for c in range(d):
            for j in range(m):
                z[c, j] = batches[r, j, c]
        total = 0.0
        for i in range(1, m):
            square[:i] = 0.0
            for c in range(d):
                at = z[c, i]
                for j in range(i):
                    gap = at - z[c, j]
                    square[j] += gap * gap
            for scale in scales:
                row = 0.0
                for j in range(i):
                    row += _exp_minus(scale * square[j])
                total += row
        means[r] = total / (0.5 * m * (m - 1) * scales.size)
    return means


@njit(cache=True, nogil=True, fastmath=True)
def _distance_pairs(batches):  # type: ignore[no-untyped-def]
    contexts, m, d = batches.shape
    means = np.empty(contexts)
    z = np.empty((d, m))
    square = np.empty(m)
    for r in range(contexts):
        for c in range(d):
            for j in range(m):
                z[c, j] = batches[r, j, c]
        total = 0.0
        for i in range(1, m):
            square[:i] = 0.0
            for c in range(d):
                at = z[c, i]
                for j in range(i):
                    gap = at - z[c, j]
                    square[j] += gap * gap
            row = 0.0
            for j in range(i):
                row += math.sqrt(square[j])
            total += row
        means[r] = total / (0.5 * m * (m - 1))
    return means


# Inlined, so that one compiled function holds all the arithmetic (see localizer.contexts).
@njit(inline="always")
def _add_class(events, sign, theta, gradient, hessian):  # type: ignore[no-untyped-def]
    """Add one class's half of the loss to gradient and Hessian; return its loss."""
    n, p = events.shape
    weight = 0.5 / n
    loss = 0.0
    for i in range(n):
        f = 0.0
        for a in range(p):
            f += theta[a] * events[i, a]
        f *= sign
        e = math.exp(-abs(f))
        loss += math.log1p(e) + max(-f, 0.0)
        # the probability of the wrong class
        wrong = (e if f > 0 else 1.0) / (1 + e)
        slope = -weight * sign * wrong
        curvature = weight * e / ((1 + e) * (1 + e))
        for a in range(p):
            gradient[a] += slope * events[i, a]
            bend = curvature * events[i, a]
            for b in range(a + 1):
                hessian[a, b] += bend * events[i, b]
    return weight * loss


@njit(inline="always")
def _solve(matrix, vector, p):  # type: ignore[no-untyped-def]
    """Solve for a positive definite matrix by Cholesky, in place; only its lower half is read."""
    for a in range(p):
        for b in range(a):
            for c in range(b):
                matrix[a, b] -= matrix[a, c] * matrix[b, c]
            matrix[a, b] /= matrix[b, b]
        for c in range(a):
            matrix[a, a] -= matrix[a, c] * matrix[a, c]
        matrix[a, a] = math.sqrt(matrix[a, a])
    for a in range(p):
        for c in range(a):
            vector[a] -= matrix[a, c] * vector[c]
        vector[a] /= matrix[a, a]
    for a in range(p - 1, -1, -1):
        for c in range(a + 1, p):
            vector[a] -= matrix[c, a] * vector[c]
        vector[a] /= matrix[a, a]


@njit(cache=True, nogil=True)
def _logistic_gain(batches, reference, ridge):  # type: ignore[no-untyped-def]
    contexts, _, p = batches.shape
    gains = np.full(contexts, np.nan)
    theta, trial = np.empty(p), np.empty(p)
    gradient, step, hessian = np.empty(p), np.empty(p), np.empty((p, p))
    for r in range(contexts):
        trial[:] = 0.0
        best = np.inf
        step[:] = 0.0
        theta[:] = 0.0
        for _ in range(_MOST_STEPS):
            gradient[:] = 0.0
            hessian[:] = 0.0
            loss = _add_class(batches[r], 1.0, trial, gradient, hessian)
            loss += _add_class(reference, -1.0, trial, gradient, hessian)
            for a in range(1, p):
                loss += 0.5 * ridge * trial[a] * trial[a]
                gradient[a] += ridge * trial[a]
                hessian[a, a] += ridge
            if loss > best + 1e-14:
                # too far: half the way
                for a in range(p):
                    step[a] *= 0.5
                    trial[a] = theta[a] - step[a]
                continue
            best = loss
            theta[:] = trial
            step[:] = gradient
            _solve(hessian, step, p)
            decrement = 0.0
            for a in range(p):
                decrement += step[a] * gradient[a]
            if decrement < 1e-13:
                # the loss that is left to gain is half the decrement
                gains[r] = math.log(2.0) - (best - 0.5 * decrement)
                break
            for a in range(p):
                trial[a] = theta[a] - step[a]
    return gains


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    batches = np.linspace(-1.0, 1.0, 12).reshape(2, 3, 2)
    kernel_pairs(batches, (1.0,))
    distance_pairs(batches)
    constant = np.ones((2, 3, 1))
    logistic_gain(np.concatenate([constant, batches], axis=2), np.ones((1, 3)), ridge=1.0)

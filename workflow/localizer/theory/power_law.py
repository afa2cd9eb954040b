"""The fit of a power law in logarithms, eq. q-rho-scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array


@dataclass(frozen=True)
class PowerLaw:
    """A fit of q = C exposure^-alpha in logarithms, with exposure = R m^2.

    Attributes
    ----------
    alpha, log_constant
        The exponent, and the natural logarithm of the constant.
    covariance
        The covariance of (log_constant, alpha), zero for an alpha that was fixed.
    scatter
        The root mean square of the residuals in log q.
    points
        The number of points.
    """

    alpha: float
    log_constant: float
    covariance: Array
    scatter: float
    points: int

    @property
    def C(self) -> float:
        """The constant."""
        return float(np.exp(self.log_constant))

    @property
    def alpha_error(self) -> float:
        """The standard error of alpha."""
        return float(np.sqrt(self.covariance[1, 1]))

    @property
    def log_constant_error(self) -> float:
        """The standard error of log C, which is the relative error of C."""
        return float(np.sqrt(self.covariance[0, 0]))


def fit_power_law(
    exposure: npt.ArrayLike,
    q: npt.ArrayLike,
    *,
    alpha: float | None = None,
    covariance: npt.ArrayLike | None = None,
) -> PowerLaw:
    """Fit log q = log C - alpha log(exposure), eq. q-rho-scaling.

    Parameters
    ----------
    exposure
        R m^2 of each point.
    q
        q_rho of each point.
    alpha
        Fix the exponent, for example to the predicted 1.
    covariance
        The covariance of log q over the points (a diagonal matrix holds plain weights), from
        which the errors follow. Without it all points weigh the same, and the errors follow
        from the scatter as if the points were independent.

    Examples
    --------
    >>> law = fit_power_law([1e9, 1e10, 1e11], [6.8, 0.68, 0.068])
    >>> round(law.alpha, 6), round(law.C / 1e9, 6)
    (1.0, 6.8)
    """
    x = _logarithms(exposure, "exposure")
    y = _logarithms(q, "q", size=x.size)
    free = 2 if alpha is None else 1
    if x.size < free + (covariance is None):
        raise ValueError(f"q must have at least {free + (covariance is None)} points to be fitted")
    if alpha is None and np.ptp(x) == 0:
        raise ValueError("exposure must take two values at least, or alpha be fixed")
    design = np.column_stack([np.ones_like(x), -x])
    offset = np.zeros_like(x) if alpha is None else alpha * design[:, 1]
    whiten = np.eye(x.size)
    if covariance is not None:
        matrix = checks.points(covariance, "covariance", d=x.size)
        try:
            whiten = np.linalg.inv(np.linalg.cholesky(matrix))
        except np.linalg.LinAlgError:
            raise ValueError("covariance must be a positive definite matrix") from None
    columns = whiten @ design[:, :free]
    solution = np.linalg.lstsq(columns, whiten @ (y - offset), rcond=None)[0]
    residual = y - offset - design[:, :free] @ solution
    of_solution = np.linalg.inv(columns.T @ columns)
    if covariance is None:
        of_solution *= residual @ residual / (x.size - free)
    full = np.zeros((2, 2))
    full[:free, :free] = of_solution
    return PowerLaw(
        alpha=float(solution[1]) if alpha is None else float(alpha),
        log_constant=float(solution[0]),
        covariance=full,
        scatter=float(np.sqrt(np.mean(residual**2))),
        points=x.size,
    )


def _logarithms(values: npt.ArrayLike, name: str, *, size: int | None = None) -> Array:
    array = checks.vector(values, name, size=size)
    if array.min() <= 0:
        raise ValueError(f"{name} must be positive everywhere, its smallest value is {array.min()}")
    return np.log(array)

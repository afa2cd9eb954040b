"""Localizing global discrepancies: which events of a sample drive its departure from a reference.

Pure functions of arrays, in subpackages that import one way (docs/architecture.md); each docstring
cites the label of the equation of the paper that it implements. The functions for users are here:

>>> from functools import partial
>>> import localizer
>>> streams = partial(localizer.stream, 1)
>>> reference = streams("reference").normal(size=(300, 2))
>>> sample = streams("sample").normal(size=(200, 2))
>>> sample[:20] = [1.5, 1.5] + 0.1 * sample[:20]
>>> result = localizer.score(sample, reference, calibration={"draws": 99})
>>> result.p_value, round(localizer.auc(result.scores["loo"], [1] * 20 + [0] * 180), 2)
(0.02, 0.99)
"""

from importlib import import_module

# By name, as text: a rule depends on the modules that its script imports, and an import of these
# would make every rule depend on all of them.
_FACE = {
    "base.metrics": ("auc", "max_sic", "ranking"),
    "base.randomness": ("stream",),
    "base.version": ("__version__",),
    "kernels.bank": ("EmpiricalBackground", "GaussianBank", "NormalBackground", "kernel_sums"),
    "kernels.features": ("FourierFeatures", "fourier_features"),
    "estimators.witness": ("empirical_witness", "loo_witness", "rff_loo", "rff_witness"),
    "estimators.forced": ("forced_scores", "mmd_scores"),
    "estimators.localize": ("localize",),
    "own.batch_estimates": ("batch_estimates",),
    "own.crossfit": ("cross_fit",),
    "own.face": ("score",),
    "own.recipe": ("Recipe",),
    "own.result": ("Result",),
    "own.score": ("score_events",),
}
_MODULE = {name: module for module, names in _FACE.items() for name in names}

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> object:
    """Load what is asked for, and the module that holds it, when it is first asked for."""
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

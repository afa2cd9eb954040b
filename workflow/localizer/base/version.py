"""The version of the package. It is defined only here; pyproject.toml reads it."""

__version__ = "1.0.0"

"""The version of the package. It is defined only here; pyproject.toml reads it."""

__version__ = "0.1.0"

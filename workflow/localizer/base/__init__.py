"""Checks of arguments, random streams, metrics of rankings, the copula transform."""

"""Localizing global discrepancies: which events of a sample drive its departure from a reference.

Pure functions of arrays. Nothing here knows about Snakemake or about files; the
modules are named after what they hold, and each docstring cites the label of the
equation of the paper that it implements. Nothing is imported here on purpose:
a rule depends on the modules that it imports and on no others.
"""

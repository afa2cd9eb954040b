"""The configuration: one typed model, and what follows from it.

:mod:`~stage.configuration.model` and :mod:`~stage.configuration.own` hold the keys,
:mod:`~stage.configuration.jobs` how the work is cut, :mod:`~stage.configuration.check` the
sentences for mistakes, :mod:`~stage.configuration.pages` the generated schema and tables.
"""

"""The LHC Olympics sample of Experiment III: from files to events (sec. exp-lhco).

:mod:`~localizer.lhco.registry` lists the files, :mod:`~localizer.lhco.addresses` says
where to ask for them, :mod:`~localizer.lhco.download` gets and :mod:`~localizer.lhco.verify`
checks them, :mod:`~localizer.lhco.editions` decides which edition of the sample is available,
:mod:`~localizer.lhco.raw` turns the published features into the four auxiliary variables
and :mod:`~localizer.lhco.samples` holds the result. This is the one part of the package that
handles files; what it returns are arrays.
"""

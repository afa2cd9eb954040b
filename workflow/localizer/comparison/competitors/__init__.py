"""The competitors: each module of this folder has a ``LABEL`` and a function ``score``."""

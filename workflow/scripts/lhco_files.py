"""Get and verify the files of the edition; one that it does not use is left empty."""

import os
from pathlib import Path

import _packages
from localizer.lhco import download, registry
from localizer.lhco.editions import Edition
from stage import Stage, files, provenance

with Stage(snakemake) as stage:
    path = Path(snakemake.input.registry)
    edition = Edition.from_dict(files.read_json(snakemake.input.edition))
    wanted = {found.path for found in edition.files}
    mirror = download.chosen_mirror(snakemake.params.mirror, os.environ)
    got = {}
    for file in registry.read(path):
        if file.path in wanted:
            try:
                here = download.fetch(file, path.parent, mirror=mirror, progress=stage.transfer())
            except download.FetchError as error:
                raise download.FetchError(f"{error} {edition.refresh}") from None
            got[str(here)] = provenance.sha256(here)
            stage.say(f"{here}: sha256 {got[str(here)]}")
    folder = Path(snakemake.output.digests).with_name("events")
    for name in snakemake.params.paths:
        if name in wanted:
            files.copy(path.parent / name, folder / name)
        else:
            files.write_text("", folder / name)
    files.write_json(got, snakemake.output.digests)

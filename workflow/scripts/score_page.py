"""Render the page on a user's own data."""

from pathlib import Path

import _packages
from localizer.own import calibration
from stage import Stage, files, listing, report

with Stage(snakemake, record=False):
    definitions = listing.definitions(snakemake.input.sources)
    used = {item["rule"] for item in snakemake.params.content}
    about = files.read_json(snakemake.input.about)
    found = files.read_json(snakemake.input.found)
    page = report.page(
        Path(snakemake.input.template),
        at=Path(snakemake.output[0]),
        items=snakemake.params.content,
        rules={name: where for name, where in definitions.items() if name in used},
        run=snakemake.params.run,
        foreign=about["features"],
        about=about,
        found=found,
        words=calibration.COLUMNS,
        p_largest=calibration.stated(found["p_largest"], found["draws"]),
        departs=calibration.DEPARTS,
        hint=calibration.HINT,
    )
    files.write_text(page, snakemake.output[0])

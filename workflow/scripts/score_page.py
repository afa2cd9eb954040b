"""Render the page on a user's own data."""

from pathlib import Path

import _packages
import pandas as pd
from localizer.figures import explorer
from localizer.own import calibration, top_events
from stage import Stage, files, listing, report

with Stage(snakemake, record=False):
    definitions = listing.definitions(snakemake.input.sources)
    used = {item["rule"] for item in snakemake.params.content}
    about = files.read_json(snakemake.input.about)
    found = files.read_json(snakemake.input.found)
    profiled = snakemake.input.get("profiled")
    wrong = files.read_json(profiled) if profiled else {"answer": "", "said": []}
    # an event or a feature may be called NA or 1
    names = {"dtype": dict.fromkeys(("event", "feature"), str), "keep_default_na": False}
    shown = explorer.explorer(
        pd.read_csv(snakemake.input.drawn, **names, na_values=[""]),
        pd.read_csv(snakemake.input.ranking),
        features=pd.read_csv(snakemake.input.by_distance, **names)["feature"],
        words=calibration.COLUMNS,
        score=calibration.SCORES[found["ranking"]],
    )
    page = report.page(
        Path(snakemake.input.template),
        parts=[Path(snakemake.input.explorer).parent],
        at=Path(snakemake.output[0]),
        items=snakemake.params.content,
        rules={name: where for name, where in definitions.items() if name in used},
        run=snakemake.params.run,
        foreign=about["features"],
        about=about,
        found=found,
        words=calibration.COLUMNS,
        said=calibration.said(found),
        wrong=wrong,
        departs=calibration.DEPARTS,
        hint=calibration.HINT,
        explorer=shown,
        explorer_top=top_events.DRAWN_TOP,
    )
    files.write_text(page, snakemake.output[0])

"""The figures of a user's own data: what the table holds is drawn, whatever the names are."""

import io

import numpy as np
import pandas as pd
from localizer.figures import score
from localizer.own import top_events


def test_the_ranking_is_drawn_from_its_table():
    table = pd.DataFrame({"rank": [1, 2, 3], "score": [0.9, 0.5, 0.4], "error": [0.1, 0.2, 0.1]})
    table = table.assign(low=0.0, median=0.1, high=0.2)
    with score.ranking(table) as figure:
        drawn = [line.get_xydata().tolist() for line in figure.axes[0].lines]
    assert table[["rank", "score"]].to_numpy().tolist() in drawn
    assert table[["rank", "median"]].to_numpy().tolist() in drawn


def test_names_are_no_formulas():
    """A name with two dollars would be taken for one, and often for a wrong one."""
    rng = np.random.default_rng(3)
    names = ["price_$_low_$", "100 $"]
    sample, reference = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    top = sample[:10]
    histograms = top_events.histograms(names, reference=reference, sample=sample, top=top)
    with score.features(histograms, names) as figure:
        figure.savefig(io.BytesIO())
        assert [axes.get_xlabel() for axes in figure.axes[:2]] == [r"price_\$_low_\$", r"100 \$"]
    fields = top_events.field(sample[:, 0], sample[:, 1], rng.normal(size=60))
    fields = fields.assign(x=names[0], y=names[1])
    with score.pairs(fields, pd.DataFrame(top, columns=names)) as figure:
        figure.savefig(io.BytesIO())

"""What a finding comes to by the claim of its row in resources/published.csv."""

import pandas as pd
from localizer.verdicts import board, registry

PUBLISHED = {
    row.id: row for row in board.read_published(pd.read_csv("resources/published.csv", dtype=str))
}


def holds(finding):
    """Whether the claim of the finding's row is true of it."""
    judged = board.judge(PUBLISHED[finding.id], finding)
    assert judged["measure"] == "computed"
    return judged["value"]


def by_claim(experiment):
    """Return the ids of an experiment's rows that are judged by a claim."""
    return {row.id for row in PUBLISHED.values() if row.experiment == experiment and row.claim}


class Found(dict):
    """Findings by id, of the functions of some modules, each made when it is asked for."""

    def __init__(self, *modules, **given):
        self.makers, self.given = registry.makers(*modules), given

    def __missing__(self, name):
        self[name] = registry.find(name, self.makers[name], self.given)
        return self[name]

"""Published against reproduced, number by number, with a verdict that is computed.

A :class:`Published` row is what the paper prints; a :class:`Finding` is what this
project found for it; :func:`judge` compares the two by the rule of the row's kind:

``exact``
    A closed form: the published digits are met, or they are not.
``ensemble``, ``fit``
    A mean over toys or a fitted number: the pull, agreed below 3, in tension up to 5.
``realization``
    One toy, one draw of features, one reference sample of the author's: its two-sided
    rank among draws of our own, or a pull where there are fewer than 400 of these.
``statement``
    A claim in words: computed true or false by the row's ``claim``, a number against a threshold.
    Too close to the threshold to tell, it is ``borderline``.
``identity``
    What only a coding error can fail: both sides are computed, and counted apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

KINDS = ("exact", "ensemble", "fit", "realization", "statement", "identity")
COLUMNS = (
    *("id", "experiment", "where", "quantity", "kind"),
    *("published", "published_error", "published_error_from"),
    *("reproduced", "reproduced_error", "n", "measure", "value", "verdict", "note"),
)
VERDICTS = ("agrees", "borderline", "tension", "disagrees", "not comparable")

#: with fewer draws than this a rank says little, and a pull is given instead
RANKED = 400
AGREES, DISAGREES = 3.0, 5.0
RARE = 0.01
BEYOND_THREE_SIGMA = 0.0027
#: an exact number this close to its threshold, in tolerances, is borderline
BORDER = 0.1

_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_CONDITION = re.compile(
    rf"(?P<name>[a-z]\w*) (?:(?P<side>[<>]) (?P<edge>{_NUMBER})"
    rf"|= (?P<middle>{_NUMBER}) \+- (?P<tolerance>{_NUMBER}))",
    re.ASCII,
)


@dataclass(frozen=True)
class Condition:
    """One number of a claim and where it must lie: ``name < 1``, ``name > 1``, ``name = 1 +- 0.1``.

    Attributes
    ----------
    name
        What the number is called.
    low, high
        It must lie between these; one may be infinite.
    """

    name: str
    low: float
    high: float

    @classmethod
    def of(cls, text: str) -> Condition:
        """Return the condition that a text describes."""
        found = _CONDITION.fullmatch(text)
        low, high = math.nan, math.nan
        if found and found["side"]:
            edge = float(found["edge"])
            low, high = (-math.inf, edge) if found["side"] == "<" else (edge, math.inf)
        elif found:
            middle, tolerance = float(found["middle"]), float(found["tolerance"])
            low, high = middle - tolerance, middle + tolerance
        if found is None or not low < high:
            raise ValueError(f"{text[:80]!r} is no condition")
        return cls(found["name"], low, high)

    def holds(self, number: float) -> bool:
        """Whether a number lies within."""
        return self.low < number < self.high

    def is_close(self, number: float, error: float | None) -> bool:
        """Whether the number is within one standard error of the threshold.

        An exact number is close within a tenth of the tolerance, if there is one.
        """
        width = (self.high - self.low) / 2
        margin = error or (BORDER * width if math.isfinite(width) else 0.0)
        return min(abs(number - self.low), abs(number - self.high)) < margin


@dataclass(frozen=True)
class Published:
    """One row of resources/published.csv.

    Attributes
    ----------
    id, experiment, where, quantity
        A name, the experiment (I, II, III or -), the place in the paper, and words.
    kind
        One of :data:`KINDS`.
    value, error
        As printed, digits kept; a statement has no value.
    toys
        The author's number of toys, where it is stated or inferred and no error is printed.
    claim
        Of a statement or an identity: its conditions, joined by ``;``. The first is on the
        finding's value, the others on the numbers that the finding gives beside it.
    """

    id: str
    experiment: str
    where: str
    quantity: str
    kind: str
    value: str
    error: str
    toys: int | None
    claim: str = ""

    @property
    def conditions(self) -> list[Condition]:
        """The conditions of the claim."""
        return [Condition.of(text) for text in self.claim.split("; ")]

    @property
    def number(self) -> float:
        """The published value."""
        return float(self.value)

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0 ** int(Decimal(self.value).as_tuple().exponent)


@dataclass(frozen=True)
class Finding:
    """What this project found for a published row (or, beyond the paper, for none).

    Attributes
    ----------
    id
        The published row's name, set by :mod:`localizer.verdicts.registry`.
    value
        The number; of a statement, the number that it rests on.
    error
        Its standard error, 0 for a closed form.
    n
        Over how many toys or draws.
    spread
        The standard deviation of one toy, from which the author's error can be inferred.
    toys
        The author's number of toys, where the configuration and not the paper says it.
    draws
        Our own realizations of what the author had one of.
    also
        Of a statement: its further numbers and their errors (None if exact), by name.
    carried
        What a law makes of our value under the author's conditions, and its error. It stands
        beside the value and is not counted.
    note
        What a reader should know.
    not_comparable
        Why the two cannot be compared, if they cannot.
    """

    id: str = ""
    value: float | None = None
    error: float | None = None
    n: int | None = None
    spread: float | None = None
    toys: int | None = None
    draws: Sequence[float] = field(default_factory=tuple)
    also: Mapping[str, tuple[float, float | None]] = field(default_factory=dict)
    carried: tuple[float, float] | None = None
    note: str = ""
    not_comparable: str = ""

    def __post_init__(self) -> None:
        for name in ("value", "error", "spread"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"{name} must be finite, it is {number}")
        for name, (number, _) in self.also.items():
            if not math.isfinite(number):
                raise ValueError(f"{name} must be finite, it is {number}")
        if not np.isfinite(np.asarray(self.draws, dtype=float)).all():
            raise ValueError("draws must be finite")

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a json file."""
        return {**asdict(self), "draws": [float(draw) for draw in self.draws]}


def ensemble(values: Iterable[float], *, note: str = "") -> Finding:
    """Return the finding of a mean over toys, with its standard error and spread."""
    array = np.asarray(list(values), dtype=float)
    if array.size < 2:
        raise ValueError(f"a mean needs at least 2 toys, it has {array.size}")
    spread = float(array.std(ddof=1))
    error = spread / math.sqrt(array.size)
    return Finding("", float(array.mean()), error, int(array.size), spread, note=note)


def in_errors(values: Iterable[float]) -> float:
    """Return a mean over its standard error."""
    array = np.asarray(list(values), dtype=float)
    return float(array.mean() / (array.std(ddof=1) / math.sqrt(array.size)))


def realization(draws: Iterable[float], *, note: str = "") -> Finding:
    """Return the finding of one realization: our draws of it, their mean and spread."""
    array = np.asarray(list(draws), dtype=float)
    spread = float(array.std(ddof=1))
    return Finding(
        "", float(array.mean()), spread, int(array.size), spread, draws=array.tolist(), note=note
    )


def statement(
    value: float,
    *,
    error: float | None = None,
    note: str = "",
    **also: float | tuple[float, float | None],
) -> Finding:
    """Return the finding of a claim: the number that it rests on, and further ones by name.

    A further number may come with its error; without one it is exact.
    """
    pairs = {
        key: (float(number[0]), number[1]) if isinstance(number, tuple) else (float(number), None)
        for key, number in also.items()
    }
    return Finding("", float(value), error, also=pairs, note=note)


def pulled(value: float, *, note: str = "", **also: float) -> Finding:
    """Return the finding of a claim about distances in standard errors: their error is 1."""
    return statement(
        value, error=1.0, note=note, **{key: (number, 1.0) for key, number in also.items()}
    )


def read_published(table: pd.DataFrame) -> list[Published]:
    """Return the rows of resources/published.csv, read as text; bad rows are refused."""
    expected = [*(name for name in Published.__dataclass_fields__)]
    if list(table.columns) != expected:
        raise ValueError(f"published: the columns must be {', '.join(expected)}")
    rows: list[Published] = []
    for line, record in enumerate(table.fillna("").to_dict("records"), start=2):
        text = {str(key): str(value).strip() for key, value in record.items()}
        rows.append(_published(text, f"published, line {line} ({text['id'][:80] or 'no id'})"))
    names = [row.id for row in rows]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"published: the id {twice[0]} stands twice")
    return rows


def _published(text: Mapping[str, str], where: str) -> Published:
    if not text["id"]:
        raise ValueError(f"{where}: id must not be empty")

    def wrong(name: str, must: str) -> ValueError:
        return ValueError(f"{where}: {name} is {text[name][:80]!r}; it must be {must}")

    if text["kind"] not in KINDS:
        raise wrong("kind", f"one of {', '.join(KINDS)}")
    judged_by_claim = text["kind"] in ("statement", "identity")
    for name in ("value", "error"):
        if (text[name] or (name == "value" and not judged_by_claim)) and not _is_number(text[name]):
            raise wrong(name, "a number as printed")
    if judged_by_claim and not text["value"]:
        try:
            for condition in text["claim"].split("; "):
                Condition.of(condition)
        except ValueError as error:
            raise wrong("claim", "conditions as `name < 1` or `name = 1 +- 0.1`") from error
    elif text["claim"]:
        raise wrong("claim", "empty where there is a number to compare")
    if text["error"] and not float(text["error"]) > 0:
        raise wrong("error", "positive")
    if text["toys"] and not re.fullmatch("[1-9][0-9]{0,8}", text["toys"]):
        raise wrong("toys", "a whole number of at least 1")
    return Published(**{**text, "toys": int(text["toys"]) if text["toys"] else None})  # type: ignore[arg-type]


def _is_number(text: str) -> bool:
    # printed digits, and none that a float could not hold
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text, re.ASCII):
        return False
    return math.isfinite(float(text)) and (float(text) != 0 or not Decimal(text))


def board(
    published: Sequence[Published], findings: Sequence[Finding], *, not_comparable: str = ""
) -> pd.DataFrame:
    """Return the scoreboard: one row for each published row.

    Parameters
    ----------
    published, findings
        What the paper prints and what was found. A published row without a finding is
        ``not comparable`` and says so.
    not_comparable
        A reason that holds for every row (smoke sizes).
    """
    by_name = {finding.id: finding for finding in findings}
    if len(by_name) != len(findings):
        raise ValueError("findings: an id stands twice")
    rows = []
    for row in published:
        missing = Finding(row.id, not_comparable="not computed in this run")
        finding = by_name.get(row.id, missing)
        if not_comparable and not finding.not_comparable:
            finding = Finding(**{**asdict(finding), "not_comparable": not_comparable})
        rows.append(judge(row, finding))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def judge(row: Published, finding: Finding) -> dict[str, Any]:
    """Return one row of the scoreboard."""
    error, source = published_error(row, finding)
    judged: dict[str, Any] = {
        **{name: getattr(row, name) for name in ("id", "experiment", "where", "quantity", "kind")},
        "published": row.value,
        "published_error": error,
        "published_error_from": source,
        "reproduced": finding.value,
        "reproduced_error": finding.error,
        "n": finding.n,
        "note": finding.note,
    }
    if finding.not_comparable:
        said, measure, value, verdict = finding.not_comparable, "", None, "not comparable"
        if finding.carried:
            measure, value = "carried over: pull", _pull(row, *finding.carried, error)
    else:
        said = row.claim and f"true if {row.claim}"
        measure, value, verdict = _compare(row, finding, error)
        if measure == "pull" and row.kind == "realization":
            said = f"a pull, because there are only {finding.n} independent draws"
    note = "; ".join(filter(None, (said, finding.note)))
    return {**judged, "measure": measure, "value": value, "verdict": verdict, "note": note}


def published_error(row: Published, finding: Finding) -> tuple[float | None, str]:
    """Return the error of the published value and where it comes from."""
    if not row.value:
        return None, ""
    if row.error:
        return float(row.error), "printed"
    toys = finding.toys or row.toys
    if toys and finding.spread is not None:
        inferred = finding.spread / math.sqrt(toys)
        if inferred > row.rounding:
            return inferred, "inferred"
    return row.rounding, "rounding"


def _compare(row: Published, finding: Finding, error: float | None) -> tuple[str, Any, str]:
    """Return measure, value and verdict by the rule of the row's kind."""
    if finding.value is None:
        raise ValueError(f"finding {row.id}: it has no value")
    if row.claim:
        return _stated(row, finding)
    difference = finding.value - row.number
    if row.kind in ("exact", "identity"):
        # the last bit of slack is for the decimal's own representation
        met = abs(difference) <= row.rounding * (1 + 1e-9)
        relative = difference / abs(row.number) if row.number else difference
        return "relative difference", relative, "agrees" if met else "disagrees"
    if row.kind == "realization" and len(finding.draws) >= RANKED:
        return _ranked(row, finding)
    ours = finding.error or 0.0
    if row.kind == "realization":
        ours *= math.sqrt(1 + 1 / max(finding.n or 1, 1))
        error = row.rounding
    pull = _pull(row, finding.value, ours, error)
    return "pull", pull, _by_pull(pull)


def _pull(row: Published, value: float, ours: float, error: float | None) -> float:
    return (value - row.number) / math.hypot(ours, error or 0.0)


def _stated(row: Published, finding: Finding) -> tuple[str, bool, str]:
    """Return whether a claim holds: every condition, the first on the finding's own value."""
    first, *rest = row.conditions
    if {condition.name for condition in rest} != set(finding.also):
        raise ValueError(
            f"finding {row.id}: its numbers are {', '.join(finding.also) or 'none'} beside the "
            f"first, and its claim is {row.claim!r}"
        )
    assert finding.value is not None
    numbers = [(first, finding.value, finding.error)]
    numbers += [(condition, *finding.also[condition.name]) for condition in rest]
    fails = [each for each in numbers if not each[0].holds(each[1])]
    verdict = "disagrees" if fails else "agrees"
    # none fails clearly, and one is too close to tell
    clear = [each for each in fails if not each[0].is_close(*each[1:])]
    if row.kind == "statement" and not clear and any(c.is_close(x, e) for c, x, e in numbers):
        verdict = "borderline"
    return "computed", not fails, verdict


def _ranked(row: Published, finding: Finding) -> tuple[str, float, str]:
    """Return the two-sided rank of the published value among our draws."""
    draws = np.asarray(finding.draws)
    n = draws.size
    # a published digit stands for an interval; a draw inside it counts half
    below = float(np.sum(draws < row.number - row.rounding))
    inside = float(np.sum(np.abs(draws - row.number) <= row.rounding))
    k = below + inside / 2
    p = min(1.0, 2 * min(k + 1, n - k + 1) / (n + 1))
    if p >= RARE:
        return "rank p", p, "agrees"
    pull = (float(draws.mean()) - row.number) / float(draws.std(ddof=1))
    return "rank p", p, "tension" if abs(pull) < DISAGREES else "disagrees"


def _by_pull(pull: float) -> str:
    if abs(pull) < AGREES:
        return "agrees"
    return "tension" if abs(pull) <= DISAGREES else "disagrees"


def tally(scores: pd.DataFrame) -> dict[str, Any]:
    """Return how many rows have each verdict, and how many tensions chance alone predicts.

    Identities are counted apart, as those that hold and those that fail.
    """
    identity = scores["kind"] == "identity"
    judged, apart = scores[~identity], scores[identity]
    counts = {verdict: int((judged["verdict"] == verdict).sum()) for verdict in VERDICTS}
    compared = judged[judged["verdict"] != "not comparable"]
    pulls = int((compared["measure"] == "pull").sum())
    ranks = int((compared["measure"] == "rank p").sum())
    return {
        **counts,
        "identities": int((apart["verdict"] == "agrees").sum()),
        "identities_failed": int((apart["verdict"] == "disagrees").sum()),
        "tensions_by_chance": BEYOND_THREE_SIGMA * pulls + RARE * ranks,
    }


def largest_deviations(scores: pd.DataFrame, count: int = 10) -> pd.DataFrame:
    """Return the rows that deviate most, disagreements first, then by pull or rank."""
    order = {"disagrees": 0, "tension": 1, "borderline": 2, "agrees": 3}
    held = (scores["kind"] == "identity") & (scores["verdict"] == "agrees")
    compared = scores[scores["verdict"].isin(order) & ~held].copy()
    compared["_verdict"] = compared["verdict"].map(order)
    compared["_size"] = [sigmas(row) for _, row in compared.iterrows()]
    ordered = compared.sort_values(["_verdict", "_size"], ascending=[True, False], kind="stable")
    return ordered.head(count).drop(columns=["_verdict", "_size"])


def sigmas(row: Mapping[str, Any] | pd.Series[Any]) -> float:
    """Return a deviation in standard deviations, whatever its measure."""
    if row["measure"] == "pull":
        return abs(float(row["value"]))
    if row["measure"] == "rank p":
        return float(-ndtri(float(row["value"]) / 2))
    return 0.0


def shown(value: Any) -> str:
    """Return a reproduced value for a table: true or false, or five significant digits."""
    return str(value).lower() if isinstance(value, bool | np.bool_) else f"{float(value):.5g}"


def summary(scores: pd.DataFrame, *, not_comparable: str = "") -> str:
    """Return the tally and the ten largest deviations as the text that ends a run.

    ``not_comparable`` says why nothing of this run can be held against the paper, if so.
    """
    if not_comparable:
        return f"Scoreboard: {not_comparable}. {len(scores)} rows are computed, none is judged."
    counts = tally(scores)
    chance = counts.pop("tensions_by_chance")
    held, failed = counts.pop("identities"), counts.pop("identities_failed")
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    lines = [f"Scoreboard: {said} (chance alone predicts {chance:.1f} tensions)."]
    if held or failed:
        lines.append(f"Counted apart: {held + failed} identities, {failed} of which fail.")
    largest = largest_deviations(scores)
    if len(largest):
        lines.append("The largest deviations:")
    for _, row in largest.iterrows():
        ours = "" if pd.isna(row["reproduced"]) else f"reproduced {row['reproduced']:.6g}, "
        theirs = f"published {row['published']}, " if row["published"] else ""
        lines.append(
            f"  {row['verdict']:<10} {row['id']:<26} {theirs}{ours}"
            f"{row['measure']} {shown(row['value'])}"
        )
    return "\n".join(lines)

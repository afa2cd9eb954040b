"""The names of the estimators, which tables, laws and figures share (sec. practical-estimators)."""

from __future__ import annotations

from typing import Literal, TypeAlias

BatchEstimator: TypeAlias = Literal["raw", "marginal", "pair"]

BATCH_ESTIMATORS: tuple[BatchEstimator, ...] = ("raw", "marginal", "pair")
"""The scores that global batches leave."""

MATCHED_ESTIMATORS = ("raw", "addition", "replacement")
"""The scores of an event forced into contexts, for any statistic."""

FORCED_ESTIMATORS = (*MATCHED_ESTIMATORS, "pair")
"""The same for MMD, which has terms that contain the event."""

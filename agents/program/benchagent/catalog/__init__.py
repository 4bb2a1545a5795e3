"""What can be benchmarked: one registry of DBMSs, one of workloads, one of metrics.

Shared by server and agent; imports nothing else of ours. Engines and workloads are found by entry points
(`benchagent.plugins`).
"""

from benchagent.catalog.metrics import (
    ANY,
    ERROR_SHARE,
    EXTREMES,
    FAILED,
    LATENCIES,
    METRICS,
    NO_RESULT,
    ONCE_A_CELL,
    PERCENTILES,
    SECONDS_EACH,
    THROUGHPUTS,
    plausible_range,
    refusal,
    threshold_of,
    too_many_failed,
)
from benchagent.catalog.model import (
    DURABILITY_WORDS,
    DbmsEntry,
    Durability,
    FactorDef,
    FactorKind,
    MetricDef,
    Role,
    WorkloadEntry,
    number_in,
)
from benchagent.catalog.questions import QUESTIONS
from benchagent.catalog.registry import BACKUP_METHODS, DBMSS, ENGINE_METHODS, EXTERNAL_METHODS
from benchagent.catalog.values import (
    COUNTED,
    FACTORS,
    OWN_STORAGE,
    PLACES,
    WORKLOADS,
    amount,
    factor_label,
    factor_phrase,
    factor_role,
    factor_span,
    factor_unit,
    factor_words,
    headline_metrics,
)

__all__ = [
    "ANY", "BACKUP_METHODS", "COUNTED", "DBMSS", "DURABILITY_WORDS", "ENGINE_METHODS", "ERROR_SHARE",
    "EXTERNAL_METHODS", "EXTREMES", "FACTORS", "FAILED", "LATENCIES", "METRICS", "NO_RESULT", "ONCE_A_CELL",
    "OWN_STORAGE", "PERCENTILES", "PLACES", "QUESTIONS", "SECONDS_EACH", "THROUGHPUTS", "WORKLOADS", "DbmsEntry",
    "Durability", "FactorDef", "FactorKind", "MetricDef", "Role", "WorkloadEntry", "amount", "factor_label",
    "factor_phrase", "factor_role", "factor_span", "factor_unit", "factor_words", "headline_metrics", "number_in",
    "plausible_range", "refusal", "threshold_of", "too_many_failed",
]  # fmt: skip

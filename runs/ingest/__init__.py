"""The one door for results: the upload API, agents and the literature import all enter here.

Every function is all or nothing (one transaction) and can be called again with the same input.
"""

from __future__ import annotations

from runs.ingest.hardware import device_named, upsert_hardware
from runs.ingest.live import append_samples, factor_row, finish_run, record_state, scheduled_run
from runs.ingest.names import (
    UnknownName,
    resolve_config,
    resolve_dbms_version,
    resolve_metric_rows,
    resolve_metrics,
    resolve_workload,
    version_of,
)

__all__ = [
    "UnknownName",
    "append_samples",
    "device_named",
    "factor_row",
    "finish_run",
    "record_state",
    "resolve_config",
    "resolve_dbms_version",
    "resolve_metric_rows",
    "resolve_metrics",
    "resolve_workload",
    "scheduled_run",
    "upsert_hardware",
    "version_of",
]

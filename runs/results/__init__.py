"""The one door for results: the upload API, agents and the literature import all enter here.

Every function is all or nothing (one transaction) and can be called again with the same input.
"""

from __future__ import annotations

from runs.results.live import (
    Observed,
    append_samples,
    end_waiting,
    finish_run,
    note_observer,
    record_state,
    scheduled_run,
)
from runs.results.names import present_slug, resolve_metric_rows, resolve_workload
from runs.results.published import PublishedRun, store_published
from runs.results.upload import UploadOutcome, store_uploads

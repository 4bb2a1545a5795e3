"""One folder per workload; `catalog.WORKLOADS` has what is offered by entry points. Each has a `WORKLOAD`."""

from __future__ import annotations

from importlib import import_module

from benchagent.catalog import WORKLOADS
from benchagent.dbms.base import JobError
from benchagent.plugins import LACKING
from benchagent.workloads.base import Workload


def workload(slug: str, version: str) -> Workload:
    """Raises `JobError` when this agent does not know the workload in that version."""
    if slug not in WORKLOADS:
        raise JobError(f"this agent knows no workload called {slug!r}: {LACKING}")
    entry = WORKLOADS[slug]
    if entry.version != version:
        raise JobError(f"this agent has version {entry.version} of workload {slug}, the job asks for {version}")
    known: Workload = import_module(entry.module).WORKLOAD
    return known

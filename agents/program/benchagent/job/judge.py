"""Which checks a run has to pass, and which only make it suspicious."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import psutil

from benchagent import histogram
from benchagent.job import checks
from benchagent.machine.fingerprint import SyncRate, cannot_have_waited
from benchagent.protocol import Check

log = logging.getLogger(__name__)


def integrity(summary: Mapping[str, Any], seconds: Sequence[Mapping[str, Any]]) -> list[Check]:
    """Of what the load generator reported; `seconds` are the lines it wrote. One that is not ok fails the run."""
    counted = {**summary, "histogram_count": _histogram_count(summary)}
    return [
        checks.terminals_alive(counted),
        checks.something_measured(counted),
        checks.errors_within_limit(counted),
        checks.percentiles_ordered(counted),
        checks.counts_agree(counted, seconds),
    ]


def suspicions(
    summary: Mapping[str, Any],
    *,
    terminals: int,
    closed_loop: bool,
    generator_cores: Sequence[float] | None,
    sync_rate: SyncRate | None,
    reading: frozenset[str] = frozenset(),
) -> list[Check]:
    """`generator_cores`: CPU of the load generator by second, None where it holds the DBMS.

    `sync_rate`: of the device with the log, None where commits do not claim to wait for it. `reading`: names of the
    transactions that change nothing.
    """
    if summary["tps"] is None:  # it ended in its warm-up, which fails it anyway
        return []
    judged = [checks.little_law(summary, terminals) if closed_loop else checks.rate_kept(summary)]
    if summary["retried"]:
        judged.append(checks.terminals_not_stuck(summary))
    if generator_cores:
        judged.append(checks.client_bound(fmean(generator_cores), psutil.cpu_count() or 1))
    tps = writing_tps(summary, reading)
    if sync_rate is not None and tps:
        ok = not cannot_have_waited(tps, terminals, sync_rate)
        judged.append(checks.waited_for_disk(tps, terminals, sync_rate.fdatasync_per_s, ok=ok))
    return judged


def writing_tps(summary: Mapping[str, Any], reading: frozenset[str]) -> float:
    """Of the measured transactions that wait for the disk: neither those that only read nor those rolled back."""
    if not summary["transactions"] or summary["tps"] is None:
        return 0.0
    kinds = summary.get("per_type", {}).items()
    idle: int = sum(kind["transactions"] if name in reading else kind["rolled_back"] for name, kind in kinds)
    tps: float = summary["tps"] * (1 - idle / summary["transactions"])
    return tps


def _histogram_count(summary: Mapping[str, Any]) -> int | None:
    try:
        return histogram.total_count(summary["histogram"])
    except ValueError as error:
        log.warning("%s", error)
        return None

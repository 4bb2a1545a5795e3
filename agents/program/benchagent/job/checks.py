"""Which checks a run has to pass, and which only make it suspicious: numbers in, findings out.

Nothing here knows a DBMS or a workload.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import psutil

from benchagent import histogram
from benchagent.catalog import ERROR_SHARE, Durability
from benchagent.catalog.durability import Observation, of_observation
from benchagent.job.result import error_share
from benchagent.protocol import Check

log = logging.getLogger(__name__)
LITTLE_TOLERANCE = 0.05
CLIENT_BOUND_SHARE = 0.25
# Kinds of conflicts whose words are told.
RETRIED_SHOWN = 3
# So large a share of the transactions due at a fixed rate may not have been started.
UNSTARTED_SHARE = 0.01


def integrity(summary: Mapping[str, Any], seconds: Sequence[Mapping[str, Any]]) -> list[Check]:
    """Checks of what the load generator reported; `seconds` are its lines. One that is not ok fails the run."""
    counted = {**summary, "histogram_count": _histogram_count(summary)}
    return [
        terminals_alive(counted),
        something_measured(counted),
        errors_within_limit(counted),
        percentiles_ordered(counted),
        counts_agree(counted, seconds),
    ]


def suspicions(
    summary: Mapping[str, Any],
    *,
    terminals: int,
    closed_loop: bool,
    generator_cores: Sequence[float] | None,
    observation: Observation | None,
    reading: frozenset[str] = frozenset(),
) -> list[Check]:
    """`generator_cores`: CPU of the load generator by second, None where it holds the DBMS.

    `observation`: of commits and syncs, None where commits do not claim to wait for a disk. `reading`: names of the
    transactions that change nothing.
    """
    if summary["tps"] is None:  # it ended in its warm-up, which fails it anyway
        return []
    judged = [little_law(summary, terminals) if closed_loop else rate_kept(summary)]
    if summary["retried"]:
        judged.append(terminals_not_stuck(summary))
    if generator_cores:
        judged.append(client_bound(fmean(generator_cores), psutil.cpu_count() or 1))
    tps = writing_tps(summary, reading)
    if observation is not None and observation.syncs_per_s is not None and tps:
        judged.append(waited_for_disk(tps, terminals, observation))
    return judged


def writing_tps(summary: Mapping[str, Any], reading: frozenset[str]) -> float:
    """The rate of the measured transactions that wait for the disk: not of those that only read or were rolled back."""
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


def little_law(summary: Mapping[str, Any], terminals: int) -> Check:
    """In a closed loop without think time, terminals = throughput × mean latency (Little's law)."""
    busy = summary["tps"] * (summary["mean_us"] or 0) / 1e6
    off = abs(busy - terminals) / terminals
    detail = f"TPS × mean latency = {busy:.3f} for {terminals} terminals ({100 * off:.1f} % off)"
    if off > LITTLE_TOLERANCE:  # usually one terminal waited through most of the window
        counts = summary["per_terminal"]
        detail += f"; transactions per terminal {min(counts)} … {max(counts)}"
    return {"name": "little_law", "ok": off <= LITTLE_TOLERANCE, "detail": detail}


def percentiles_ordered(summary: Mapping[str, Any]) -> Check:
    values = [summary[name] for name in ("p50_us", "p95_us", "p99_us", "max_us")]
    listed = " ≤ ".join(f"{value}" for value in values)
    ok = all(value is not None for value in values) and values == sorted(values)
    return {"name": "percentiles_ordered", "ok": ok, "detail": f"p50 ≤ p95 ≤ p99 ≤ max: {listed} µs"}


def counts_agree(summary: Mapping[str, Any], seconds: Sequence[Mapping[str, Any]]) -> Check:
    """Transactions = sum of the measured seconds = sum of the terminals = histogram, exactly.

    At a fixed rate the histogram also holds what was due and never begun, as waiting until the end.
    """
    listed = sum(second["n"] for second in seconds if not second["warm_up"])
    total = summary["transactions"]
    recorded = summary.get("histogram_count", total)
    terminals = sum(summary["per_terminal"])
    waiting = summary.get("waiting", 0)
    ok = total == listed == recorded - waiting == terminals if recorded is not None else False
    never = f" ({waiting} of them never begun)" if waiting else ""
    detail = (
        f"transactions {total}, in the seconds {listed}, in the histogram {recorded}{never}, "
        f"of the terminals {terminals}"
    )
    return {"name": "counts_agree", "ok": ok, "detail": detail}


def terminals_alive(summary: Mapping[str, Any]) -> Check:
    dead = summary["dead_terminals"]
    if not dead:
        return {"name": "terminals_alive", "ok": True, "detail": "every terminal ran to the end"}
    detail = f"{len(dead)} terminals died; terminal {dead[0]['terminal']}: {_sql_error(dead[0])}"
    return {"name": "terminals_alive", "ok": False, "detail": detail}


def _sql_error(problem: Mapping[str, Any]) -> str:
    return f"{problem['error']} (SQLSTATE {problem.get('sqlstate')}, code {problem.get('code')})"


def terminals_not_stuck(summary: Mapping[str, Any]) -> Check:
    """A terminal whose transaction met conflicts until the window ended has no error and no transaction to tell of."""
    retried = summary["retried"]
    kinds = "; ".join(f"{kind['count']} × {_sql_error(kind)}" for kind in retried[:RETRIED_SHOWN])
    detail = f"{sum(kind['count'] for kind in retried)} conflicts were tried again: {kinds}"
    stuck = [str(terminal) for terminal, count in enumerate(summary["per_terminal"]) if not count]
    if stuck:
        detail += f"; no transaction in the measured window by terminal {', '.join(stuck)}"
    return {"name": "terminals_not_stuck", "ok": not stuck, "detail": detail}


def something_measured(summary: Mapping[str, Any]) -> Check:
    ok = summary["transactions"] > 0
    detail = f"{summary['transactions']} transactions in the measured window"
    return {"name": "something_measured", "ok": ok, "detail": detail}


def client_bound(generator_cores: float, machine_cores: int) -> Check:
    """Client and server share the machine: what the load generator takes, the server lacks."""
    share = generator_cores / machine_cores
    limit = f"{100 * CLIENT_BOUND_SHARE:.0f} %"
    detail = f"the load generator used {100 * share:.0f} % of {machine_cores} cores (limit {limit})"
    if share > CLIENT_BOUND_SHARE:
        detail += ": the result may be client-bound"
    return {"name": "client_bound", "ok": share <= CLIENT_BOUND_SHARE, "detail": detail}


def rate_kept(summary: Mapping[str, Any]) -> Check:
    """At a fixed rate, what is due has to be begun: else the run was as fast as it went, with a growing backlog."""
    due, unstarted = summary["slots"], summary["unstarted"]
    detail = f"{unstarted} of {due} transactions due at {summary['rate_per_s']:g}/s were never begun"
    return {"name": "rate_kept", "ok": unstarted <= UNSTARTED_SHARE * due, "detail": detail}


def errors_within_limit(summary: Mapping[str, Any]) -> Check:
    errors, share = summary["errors"], error_share(summary)
    detail = f"{errors} failed transactions, {100 * share:.2f} % of all (limit {100 * ERROR_SHARE:.0f} %)"
    return {"name": "errors_within_limit", "ok": share <= ERROR_SHARE, "detail": detail}


def waited_for_disk(tps: float, terminals: int, observation: Observation) -> Check:
    """A commit that waits for the disk cannot end faster than the device syncs, but for commits that share a sync.

    `tps`: of the transactions that have something to wait for. Where flushes were counted they decide: a device that
    something else kept busy when it was measured is faster than it seemed.
    """
    seen = of_observation(observation)
    if seen.durability is Durability.DBMS_CRASH:
        return {"name": "waited_for_disk", "ok": False, "detail": seen.reason}
    syncs_per_s = observation.syncs_per_s or 0.0
    limit = terminals * syncs_per_s
    ok = tps <= limit or observation.has_flushes is True
    known_by = f" ({observation.syncs_known_by})" if observation.syncs_known_by else ""
    device = f"{syncs_per_s:.0f} syncs/s of the device{known_by}"
    detail = f"{tps:.0f} TPS that write, {terminals} terminals × {device} = {limit:.0f}"
    if not ok:
        detail += ": cannot have waited for this disk"
    elif tps > limit:
        detail += ", which was busy then: flushes enough were counted in the run"
    return {"name": "waited_for_disk", "ok": ok, "detail": detail}

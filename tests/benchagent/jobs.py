"""Real jobs for tests, and what is in their results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchagent.catalog import DBMSS
from benchagent.dbms.postgresql.discovery import installations
from benchagent.java import JavaToolchain
from benchagent.job.job import Job
from benchagent.link.spool import Spool
from benchagent.machine.devices import device_of
from benchagent.machine.fingerprint import TRIES
from benchagent.machine.process import Abort
from benchagent.paths import AgentDirs
from benchagent.protocol import Claimed, FinishItem

from tests.benchagent.fake_server import job_spec
from tests.benchagent.small import RATE_PER_S

FAST_SYNCS_PER_S, SYNC_RATES = 1e6, "sync_rates.json"
MakeJob = Callable[..., Job]
# Where nothing else is asked for; at a rate, for whom speed is no question.
FACTORS: dict[str, dict[str, int | str]] = {
    "tpcb": {"scale_factor": 1, "terminals": 2, "warm_up_s": 1, "duration_s": 2, "rate_per_s": RATE_PER_S},
    "script": {"terminals": 2, "warm_up_s": 0, "duration_s": 1, "rate_per_s": RATE_PER_S},
    "backup": {"dataset_mb": 10},
    "inserts_selects": {
        "rows_per_table": 100, "terminals": 2, "warm_up_s": 0, "duration_s": 1, "rate_per_s": RATE_PER_S,
    },
}  # fmt: skip


def maker(dirs: AgentDirs, spool: Spool, toolchain: JavaToolchain) -> MakeJob:
    """Jobs of one agent; each has a run id of its own when one is given."""

    def make(
        dbms: str,
        *,
        workload: str = "tpcb",
        run_id: str = "",
        settings: dict[str, str] | None = None,
        version: str = "",
        **factors: int | str,
    ) -> Job:
        groups = [group.version for group in toolchain.engine_groups() if group.dbms == dbms and group.default]
        spec = job_spec(
            run_id or f"run-{dbms}",
            workload=workload,
            dbms=dbms,
            dbms_version=version or (next(iter(installations())) if dbms == "postgresql" else groups[0]),
            settings=list((settings if settings is not None else dict(DBMSS[dbms].settings)).items()),
            factors={**FACTORS[workload], **factors},
        )
        claimed: Claimed = {"job": spec, "job_token": "x", "lease_s": 600}
        spool.add_job(claimed, time.time())
        return Job(spec, dirs=dirs, toolchain=toolchain, spool=spool, abort=Abort())

    return make


def write_sync_rate(dirs: AgentDirs, per_s: float, *storages: Path, busy: str = "") -> None:
    """As if the disks of these folders, and that of the agent, had been measured before: it takes seconds for each."""
    a_try = {"fdatasync_per_s": per_s, "patterns_per_s": {}, "tool": "a test", "at": time.time(), "busy": busy}
    (dirs.root / SYNC_RATES).write_text(
        json.dumps({device_of(path): [a_try] * TRIES for path in (dirs.jobs, *storages)})
    )


def values(item: FinishItem) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in item["result"]["metrics"]}


def told(item: FinishItem) -> dict[str, Any]:
    """The statistics of a result."""
    return dict(item["result"].get("statistics", {}))


def checks(item: FinishItem) -> dict[str, bool]:
    return {check["name"]: check["ok"] for check in item["result"]["checks"]}


def series(batches: list[dict[str, Any]], metric: str) -> list[float | None]:
    chunks = [item for batch in batches for item in batch["items"] if item.get("metric") == metric]
    return [value for chunk in chunks for value in chunk["values"]]


def log_of(batches: list[dict[str, Any]]) -> str:
    return "".join(item["text"] for batch in batches for item in batch["items"] if item["kind"] == "log")

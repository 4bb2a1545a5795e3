"""Small makers of the things that tests of runs need."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from benchagent.protocol import HardwareFacts, JobResult, SamplesItem

from runs import machines, results
from runs.models import HardwareProfile, Run
from runs.results import UploadOutcome

FACTORS: dict[str, int | float | str] = {"scale_factor": 4, "terminals": 4, "warm_up_s": 10, "duration_s": 5}
SQLITE_SETTINGS = [("journal_mode", "WAL"), ("synchronous", "FULL")]


def hardware_facts(**changes: Any) -> HardwareFacts:
    facts: dict[str, Any] = {
        "hostname": "bench-1",
        "os": "Debian 12",
        "kernel": "6.1.0",
        "cpu_model": "Two quiet cores",
        "cpu_cores": 2,
        "cpu_threads": 2,
        "ram_bytes": 8 * 1024**3,
        "motherboard": None,
        "virtualisation": "kvm",
        "storage": [
            {
                "name": "vda", "medium": "ssd", "model": None, "bus": "virtio", "capacity_bytes": 10**11,
                "file_system": "ext4", "mount_point": "/", "mount_options": "rw", "scheduler": "none",
                "write_cache": "write back", "raid": None, "emulated": True,
            }
        ],
    }  # fmt: skip
    return facts | changes


def store_upload(**given: Any) -> UploadOutcome:
    """Store one document (`document`, and what `store_uploads` takes). Fails where it is refused."""
    (outcome,) = results.store_uploads(documents=[given.pop("document")], **given)
    assert not outcome.errors, outcome.errors
    return outcome


def machine(**changes: Any) -> HardwareProfile:
    return machines.upsert_hardware(facts=hardware_facts(**changes), name="Bench One")


def scheduled(**changes: Any) -> Run:
    values: dict[str, Any] = {
        "workload": "tpcb", "dbms": "sqlite", "dbms_version": "3.45.1", "settings": SQLITE_SETTINGS, "factors": FACTORS,
        "repeat": 1, "experiment": None, "order_index": 1, "hardware": None,
    } | changes  # fmt: skip
    parts = ("workload", "dbms", "dbms_version", "settings", "factors", "repeat", "connection")
    spec: Any = {"run_id": str(uuid4()), **{name: values.pop(name) for name in parts if name in values}}
    return results.scheduled_run(spec, **values)


def samples(metric: str, chunk: int, t0_s: float, values: list[float | None], interval_s: float = 1.0) -> SamplesItem:
    return {
        "kind": "samples",
        "metric": metric,
        "chunk": chunk,
        "t0_s": t0_s,
        "interval_s": interval_s,
        "values": values,
    }


def job_result(**changes: Any) -> JobResult:
    result: dict[str, Any] = {
        "metrics": [
            {"name": "tps", "value": 123.5, "phase": "run"},
            {"name": "latency_p99_ms", "value": 40.25, "phase": "run"},
            {"name": "load_s", "value": 3.5, "phase": "load"},
        ],
        "durability": {"durability": "power_loss", "reason": "synchronous = FULL"},
        "effective_settings": [("synchronous", "2"), ("admin_password", "hunter2")],
        "ignored_settings": [],
        "storage": [
            {"role": "data", "device": "vda", "path": "/data"},
            {"role": "log", "device": "vda", "path": "/data"},
        ],
        "product": "SQLite 3.45.1",
        "driver": {"version": "0.1.0"},
        "dataset": {"seed": 42},
        "command_lines": ["java -cp x Main --password=hunter2"],
        "checks": [{"name": "balances", "ok": True, "detail": "0 = 0"}],
        "warnings": [],
        "per_terminal": [31, 31, 31, 30],
        "histogram": None,
    }
    return result | changes


UPLOAD_ID = "7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a11"


def document(**changes: Any) -> dict[str, Any]:
    """A valid upload document of two repeats."""
    values: dict[str, Any] = {
        "schema_version": 1,
        "id": UPLOAD_ID,
        "workload": {"slug": "pgbench-tpcb", "name": "pgbench, TPC-B-like", "version": "1", "kind": "tpcb"},
        "dbms": {"name": "PostgreSQL", "version": "15.8"},
        "hardware": {"name": "My server", "os": "Debian 12", "cpu_model": "Xeon", "ram_bytes": 17179869184},
        "config": [
            {"name": "shared_buffers", "value": "4GB"},
            {"name": "shared_buffers", "value": "8GB", "comment": "the last one counts"},
            {"name": "ssl_passphrase_password", "value": "hunter2"},
            {"name": "skip_name_resolve", "value": None, "section": "mysqld"},
        ],
        "factors": {"scale_factor": 10, "terminals": {"value": 4, "unit": "connections"}, "disk": "nvme"},
        "measured_on": "2026-05-04",
        "durability": "power_loss",
        "repeats": [
            {
                "metrics": [
                    {"name": "tps", "value": 100.5, "unit": "1/s"},
                    {"name": "cache_hit", "value": 0.5, "unit": "", "better": "higher"},
                ],
                "series": [{"name": "tps", "t0_s": 0, "interval_s": 1, "values": [1, None, 3.5]}],
            },
            {"metrics": {"tps": 102, "load_s": {"value": 3, "unit": "s", "phase": "load"}}},
        ],
    }
    return values | changes

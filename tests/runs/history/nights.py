"""Nightly results of a made-up machine, and the worker that files them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from runs import results
from runs.history import filing
from runs.models import Benchmark, User

NOISE = 0.01
DISK = {"name": "nvme0", "medium": "nvme", "model": "PM9A3"}


def night(number: int, *, of: int = 22, level: float = 1.0, noise: float = NOISE, **changes: Any) -> dict[str, Any]:
    """Batch `number` of so many, the last of them measured yesterday. What scatters is never far off by chance."""
    at = timezone.now().replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=of - number)
    centre, spread = math.log(1000 * level) + noise / 2 * math.sin(2.4 * number), noise * (1 + math.sin(5 * number) / 3)
    tested = {"commit": f"{number:040x}"} | changes.pop("tested", {})
    values = [math.exp(centre + spread * off) for off in (-1, 0.1, 0.9)]
    document: dict[str, Any] = {
        "schema_version": 1, "id": str(uuid4()),
        "workload": {"slug": "oltp", "name": "OLTP", "version": "1", "kind": ""},
        "dbms": {"name": "PostgreSQL", "version": "18.1"},
        "hardware": {"name": "alpha", "kernel": "6.1", "cpu_model": "EPYC", "storage": [DISK]},
        "storage": [{"role": "data", "device": "nvme0"}], "factors": {"scale_factor": 100, "terminals": 16},
        "started_at": at.isoformat(), "tested": tested, "repeats": [{"metrics": {"tps": value}} for value in values],
    }  # fmt: skip
    return document | changes


def nights(numbers: Iterable[int], **changes: Any) -> list[dict[str, Any]]:
    return [night(number, **changes) for number in numbers]


def with_latency(document: dict[str, Any], level: float = 1.0) -> dict[str, Any]:
    """A night that states a p99 latency beside its rate."""
    for at, repeat in enumerate(document["repeats"]):
        repeat["metrics"]["latency_p99_ms"] = level * (20 + 0.1 * at)
    return document


def file(documents: Sequence[dict[str, Any]], owner: User | None, *, at_once: int = 100) -> None:
    """Send them, so many at once, and have the worker file each delivery."""
    for begin in range(0, len(documents), at_once):
        for outcome in results.store_uploads(documents=documents[begin : begin + at_once], owner=owner):
            assert not outcome.errors, outcome.errors
        while filing.keep_up():  # it stops after some seconds, which a busy machine needs for one delivery
            pass


def measured(benchmark: Benchmark) -> list[datetime]:
    return [row.measured_at for row in benchmark.series.in_order()]

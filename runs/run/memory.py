"""The memory that the data of a run may fit into: its limit or its machine's RAM, and the buffer pool of the engine."""

from __future__ import annotations

from benchagent.configfiles.units import Kind

from runs.models import Run
from runs.run.facets import settings_of_run

# As a memory limit is given: 1 MB is 1,000,000 bytes.
MB = 1_000_000


def limit_bytes(run: Run) -> float | None:
    limit_mb = run.factor("memory_limit_mb")
    return limit_mb * MB if isinstance(limit_mb, int | float) and limit_mb > 0 else None


def memory_bytes(run: Run) -> float | None:
    """Its limit, else the RAM; None of a server of others, where the machine that is described need not be it."""
    machine = run.hardware.ram_bytes if run.hardware and not run.context.get("connection") else None
    return limit_bytes(run) or machine


def buffer_bytes(run: Run) -> float | None:
    """The buffer pool in force, where it is told in bytes."""
    settings = settings_of_run(run)
    pool = settings.means("buffer_pool") if settings else None
    if pool is None or pool.kind != Kind.BYTES or not isinstance(pool.value, int | float) or pool.value <= 0:
        return None
    return float(pool.value)

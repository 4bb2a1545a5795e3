"""Runs that were measured before storages and observations counted lose the class that they cannot have had.

What their rows tell is enough for: storages in memory or without barriers, a journal of SQLite whose removal is not
synced, pages that MySQL cannot mend, and more commits to one flush of the log than terminals could wait for.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

POWER_LOSS, DBMS_CRASH = "power_loss", "dbms_crash"
IN_MEMORY = ("tmpfs", "ramfs")
WITHOUT_BARRIERS = {"nobarrier", "barrier=0", "barrier=none", "barrier=off"}
TOLERANCE = 1.5


def of_storage(device: Any) -> str:
    if device.file_system in IN_MEMORY or device.medium == "ram":
        return f"{device.name} is in the machine's memory: its files are gone with power or a restart"
    if WITHOUT_BARRIERS & set(device.mount_options.split(",")) and device.write_cache != "write through":
        return f"{device.name} is mounted without barriers: no sync empties its disk's write cache"
    return ""


def of_settings(slug: str, settings: dict[str, str]) -> str:
    journal, level = (settings.get(name, "").upper() for name in ("journal_mode", "synchronous"))
    if slug == "sqlite" and journal == "DELETE" and level == "FULL":
        return "each commit syncs the database, but not the folder from which it removes the journal"
    if settings.get("innodb_doublewrite", "").upper() == "DETECT_ONLY":
        return "innodb_doublewrite=DETECT_ONLY: a page torn by a crash of the machine cannot be repaired"
    return ""


def observed(run: Any, shared: float | None, settings: dict[str, str]) -> str:
    factors = {factor.name: factor.number for factor in run.factors.all()}
    terminals, window_s = factors.get("terminals"), factors.get("duration_s")
    by_writing = settings.get("wal_sync_method", "").startswith("open")
    if shared is None or not terminals or not window_s or by_writing:
        return ""
    if settings.get("innodb_flush_method", "").upper().startswith("O_DSYNC"):
        return ""
    if shared * (1 - 1 / window_s) <= TOLERANCE * terminals:
        return ""
    words = run.statistics.get("conditions", {}).get("commits_per_flush", f"{shared:,.0f} commits by each flush")
    return f"{words}, of {terminals:.0f} terminals: most commits did not wait for one"


def judge(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("runs", "Run").objects
    measured = runs.filter(provenance="measured", durability=POWER_LOSS)
    rows = measured.select_related("dbms_version__dbms").prefetch_related("factors", "storage__device")
    shares = dict(
        apps.get_model("runs", "Measurement")
        .objects.filter(metric__name="commits_per_flush", phase="run", run__in=measured)
        .values_list("run", "value")
    )
    for run in rows.iterator(chunk_size=500):
        settings = {str(name).lower(): str(value) for name, value in run.effective_settings}
        held = [of_storage(use.device) for use in run.storage.all() if use.role in ("data", "log")]
        weak = next(filter(None, (of_settings(run.dbms_version.dbms.slug, settings), *held)), "")
        against = run.durability_doubt or observed(run, shares.get(run.pk), settings)
        if weak or against:
            reason = weak or f"promised: {run.durability_reason}"
            runs.filter(pk=run.pk).update(
                durability=DBMS_CRASH if weak else POWER_LOSS, durability_reason=reason, durability_doubt=against
            )


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_every_run_has_a_batch")]
    operations = [migrations.RunPython(judge, migrations.RunPython.noop)]

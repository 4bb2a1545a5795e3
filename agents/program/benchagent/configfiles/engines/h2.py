"""H2's settings in the database URL, after its documentation ("SQL Grammar", SET commands)."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.settings import Engine, Meaning, Promise, Settings, one
from benchagent.configfiles.units import KIB, MIB, Kind, Quantity, count, size, text, time, time_words

SPECS = {
    "WRITE_DELAY": time("500", 0.001),
    "CACHE_SIZE": size(None, KIB),
    "LOCK_TIMEOUT": time(None, 0.001),
    "DEFAULT_LOCK_TIMEOUT": time(None, 0.001),
    "LOCK_MODE": count(),
    "MAX_LOG_SIZE": size(None, MIB),
    "MAX_MEMORY_ROWS": count(),
    "MAX_OPERATION_MEMORY": size(None),
    "COMPRESS": text(),
    "ACCESS_MODE_DATA": text(),
    "FILE_LOCK": text(),
    "AUTO_SERVER": text(),
    "AUTO_COMPACT_FILL_RATE": count("90"),
    "ANALYZE_AUTO": count("2000"),
    "RETENTION_TIME": time("45000", 0.001),
    # The agent's own: a database in a file or in memory.
    "STORAGE": text("file"),
}


def _commit(settings: Settings) -> Quantity | None:
    delay = settings.value("WRITE_DELAY")
    if isinstance(delay, bool) or not isinstance(delay, int | float):
        return None
    later = f"written every {time_words(delay)}, not synced"
    words = ("written", "written at each commit, not synced") if not delay else ("later", later)
    return Quantity(Kind.TEXT, *words, settings.words("WRITE_DELAY"))


MEANINGS = {
    "buffer_pool": one("CACHE_SIZE"),
    "commit_flush": Meaning(("WRITE_DELAY",), _commit),
    "lock_timeout": Meaning(("LOCK_TIMEOUT", "DEFAULT_LOCK_TIMEOUT")),
    "temp_memory": one("MAX_OPERATION_MEMORY"),
    "log_capacity": one("MAX_LOG_SIZE"),
    "garbage_collection": one("AUTO_COMPACT_FILL_RATE", "percent; 0 is off"),
    "data_storage": one("STORAGE"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    if settings.low("STORAGE") == "memory":
        return Promise(Durability.MEMORY, "the database is in memory: nothing outlives the process")
    delay = settings.text("WRITE_DELAY")
    if delay is None:
        return Promise(None, settings.words("WRITE_DELAY"))
    if delay == "0":
        return Promise(
            Durability.DBMS_CRASH, "WRITE_DELAY=0: each commit is written, but H2 does not sync it to the disk"
        )
    default = "" if settings.is_set("WRITE_DELAY") else ", the default"
    return Promise(
        Durability.BOUNDED_LOSS,
        f"WRITE_DELAY={delay} ms{default}: H2 writes commits in the background and does not sync each of them",
    )


ENGINE = Engine(
    slug="h2",
    source="H2 documentation, “SQL Grammar”, SET commands",
    specs=SPECS,
    meanings=MEANINGS,
    durability=durability,
    canonical=lambda name: name.strip().upper(),
)

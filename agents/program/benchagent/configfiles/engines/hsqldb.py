"""HSQLDB's settings as SET commands and as properties, after its guide ("Properties", "Deployment")."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.settings import Engine, Given, Meaning, Promise, Settings, isolation, one, survives
from benchagent.configfiles.units import KIB, MIB, Kind, Quantity, count, flag, size, text, time, time_words

WRITE_DELAY = "hsqldb.write_delay_millis"
DEFAULT_DELAY_MS = 500

SPECS = {
    WRITE_DELAY: time(str(DEFAULT_DELAY_MS), 0.001),
    "hsqldb.cache_size": size("10000", KIB),
    "hsqldb.cache_rows": count("50000"),
    "hsqldb.log_size": size("50", MIB),
    "hsqldb.log_data": flag("true"),
    "hsqldb.tx": text("LOCKS"),
    "hsqldb.tx_level": text("READ_COMMITTED"),
    "hsqldb.nio_data_file": flag("true"),
    "hsqldb.default_table_type": text("memory"),
    "hsqldb.result_max_memory_rows": count("0"),
    # The agent's own: a database in files or in memory.
    "storage": text("file"),
}
_COMMANDS = {
    "WRITE DELAY": WRITE_DELAY,
    "CACHE SIZE": "hsqldb.cache_size",
    "CACHE ROWS": "hsqldb.cache_rows",
    "LOG SIZE": "hsqldb.log_size",
    "LOG": "hsqldb.log_data",
    "NIO": "hsqldb.nio_data_file",
    "TRANSACTION CONTROL": "hsqldb.tx",
    "DEFAULT ISOLATION LEVEL": "hsqldb.tx_level",
    "DEFAULT TABLE TYPE": "hsqldb.default_table_type",
}


def canonical(name: str) -> str:
    words = " ".join(name.upper().split()).removeprefix("SET ").removeprefix("FILES ").removeprefix("DATABASE ")
    return _COMMANDS.get(words, name.strip().lower())


def translate(given: Given) -> Given:
    """WRITE DELAY takes TRUE, FALSE, a number of seconds or of MILLIS; the property counts ms."""
    if canonical(given.name) != WRITE_DELAY or given.name.lower() == WRITE_DELAY or given.value is None:
        return given
    words = given.value.upper().split()
    if not words:
        return given
    if words[0] in ("TRUE", "FALSE"):
        return Given(given.name, "0" if words[0] == "FALSE" else str(DEFAULT_DELAY_MS), given.section)
    if not words[0].isdecimal():
        return given
    factor = 1 if words[1:] == ["MILLIS"] else 1000
    return Given(given.name, str(int(words[0]) * factor), given.section)


def _commit(settings: Settings) -> Quantity | None:
    delay = settings.value(WRITE_DELAY)
    if isinstance(delay, bool) or not isinstance(delay, int | float):
        return None
    later = f"written and synced every {time_words(delay)}"
    words = ("later", later) if delay else ("each", "synced at each commit")
    return Quantity(Kind.TEXT, *words, settings.words(WRITE_DELAY))


MEANINGS = {
    "buffer_pool": one("hsqldb.cache_size"),
    "commit_flush": Meaning((WRITE_DELAY,), _commit),
    "log_capacity": one("hsqldb.log_size"),
    "isolation": isolation("hsqldb.tx_level"),
    "concurrency_control": one("hsqldb.tx"),
    "data_storage": one("storage"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    if settings.low("storage") == "memory":
        return Promise(Durability.MEMORY, "the database is in memory: nothing outlives the process")
    if settings.value("hsqldb.log_data") is False:
        return Promise(Durability.NONE, "hsqldb.log_data=false: no log is written")
    delay = settings.text(WRITE_DELAY)
    if delay is None:
        return Promise(None, settings.words(WRITE_DELAY))
    if delay == "0":
        return survives("WRITE DELAY is off: each commit is synced", write_cache)
    default = "" if settings.is_set(WRITE_DELAY) else ", the default"
    reason = f"WRITE DELAY is {delay} ms{default}: commits of that time may be lost in any crash"
    return Promise(Durability.BOUNDED_LOSS, reason)


ENGINE = Engine(
    slug="hsqldb",
    source="HyperSQL User Guide, “Properties” and “SET FILES” commands",
    specs=SPECS,
    meanings=MEANINGS,
    durability=durability,
    canonical=canonical,
    translate=translate,
)

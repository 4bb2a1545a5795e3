"""HSQLDB's settings as SET commands and as properties, after its guide ("Properties", "Deployment")."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import IN_MEMORY, at_commit, isolation, read_engine
from benchagent.configfiles.settings import Given, Promise, Settings
from benchagent.configfiles.units import time_words

WRITE_DELAY = "hsqldb.write_delay_millis"
DEFAULT_DELAY_MS = 500

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


def _commit(settings: Settings) -> str | tuple[str, str] | None:
    delay = settings.number(WRITE_DELAY)
    if delay is None:
        return None
    return ("later", f"written and synced every {time_words(delay)}") if delay else "each"


def durability(settings: Settings) -> Promise:
    if settings.low("storage") == "memory":
        return IN_MEMORY
    if settings.value("hsqldb.log_data") is False:
        return Promise(Durability.NONE, "hsqldb.log_data=false: no log is written")
    delay = settings.text(WRITE_DELAY)
    if delay is None:
        return Promise(None, settings.words(WRITE_DELAY))
    if delay == "0":
        return Promise(Durability.POWER_LOSS, "WRITE DELAY is off: each commit is synced")
    default = "" if settings.is_set(WRITE_DELAY) else ", the default"
    reason = f"WRITE DELAY is {delay} ms{default}: commits of that time may be lost in any crash"
    return Promise(Durability.BOUNDED_LOSS, reason)


READERS = {"commit_flush": at_commit(_commit), "isolation": isolation}
ENGINE = read_engine("hsqldb", durability, READERS, canonical=canonical, translate=translate)

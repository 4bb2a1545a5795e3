"""Apache Derby inside the load generator's JVM; settings are a derby.properties file in its system home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
from benchagent.dbms.base import (
    Connection,
    Dialect,
    Instance,
    ProvisionRequest,
    QueryRows,
    Retryable,
    checked_settings,
    first_value,
)
from benchagent.dbms.embedded import EmbeddedAdapter, folders
from benchagent.storage import write_cache_words

DATABASE = "bench"
DEADLOCK = "40001"
LOCK_TIMEOUTS = ("40XL1", "40XL2")
DURABILITY = "derby.system.durability"
# From 10.16 on the driver class moved to another jar and is found as a service.
FIRST_WITHOUT_DRIVER_CLASS = (10, 16)
DRIVER_CLASS = "org.apache.derby.jdbc.EmbeddedDriver"
LOCKED = ("derby.system.home", "derby.stream.error.file")


def version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


class DerbyInstance(Instance):
    retryable = Retryable(sqlstates=(DEADLOCK, *LOCK_TIMEOUTS))
    dialect = Dialect(after_load=("CALL SYSCS_UTIL.SYSCS_CHECKPOINT_DATABASE()",))
    close_url = f"jdbc:derby:{DATABASE};shutdown=true"

    def __init__(
        self, home: Path, class_path: Sequence[Path], settings: Sequence[tuple[str, str]], version: str
    ) -> None:
        old = version_numbers(version) < FIRST_WITHOUT_DRIVER_CLASS
        connection = Connection(f"jdbc:derby:{DATABASE};create=true", DRIVER_CLASS if old else None)
        super().__init__(connection=connection, class_path=class_path, data_path=home / DATABASE, driver_dir=home)
        self.ignored_settings = [f"{name}: set by the agent" for name, _ in settings if name in LOCKED]
        self._settings = [pair for pair in settings if pair[0] not in LOCKED]
        # The working directory of the JVM is Derby's system home, where this file is read from.
        lines = [f"{name}={_escaped(value)}\n" for name, value in self._settings]
        (home / "derby.properties").write_text("".join(lines), encoding="latin-1", errors="backslashreplace")

    def effective_queries(self) -> Mapping[str, str]:
        return {"boot": "VALUES SYSCS_UTIL.SYSCS_GET_DATABASE_PROPERTY('derby.storage.pageSize')"}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        """The properties file as read at boot; durability from what the engine itself wrote into its log."""
        found = {name: value for name, value in self._settings if name != DURABILITY}
        found[DURABILITY] = "test" if "derby.system.durability=test" in self._log() else "default"
        page_size = first_value(rows.get("boot"))
        if page_size:
            found.setdefault("derby.storage.pageSize", page_size)
        return list(found.items())

    def _log(self) -> str:
        try:
            return (self.driver_dir / "derby.log").read_text(errors="replace")
        except OSError:
            return ""

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective("derby", effective, write_cache_words(self.data_path))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")


class DerbyAdapter(EmbeddedAdapter):
    slug = "derby"

    def provision(self, request: ProvisionRequest) -> DerbyInstance:
        settings = checked_settings(request.settings)
        return DerbyInstance(folders(request)[0], self.class_path(request), settings, request.version)


ADAPTER = DerbyAdapter()

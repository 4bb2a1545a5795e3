"""H2 (MVStore) inside the load generator's JVM; settings are parameters of the database URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
from benchagent.dbms.base import (
    Connection,
    Dialect,
    Instance,
    JobError,
    ProvisionRequest,
    QueryRows,
    Retryable,
    checked_settings,
)
from benchagent.dbms.embedded import EmbeddedAdapter, folders

LOCK_TIMEOUT = 50200
CONCURRENT_UPDATE = 90131
DEADLOCK = "40001"


class H2Instance(Instance):
    retryable = Retryable(sqlstates=(DEADLOCK,), codes=(LOCK_TIMEOUT, CONCURRENT_UPDATE))
    dialect = Dialect(after_load=("CHECKPOINT SYNC",))
    close_sql = ("SHUTDOWN",)

    def __init__(
        self, data_path: Path, driver_dir: Path, class_path: Sequence[Path], settings: Sequence[tuple[str, str]]
    ) -> None:
        if ";" in str(data_path):
            raise JobError("H2 cannot open a database below a folder whose name holds a semicolon")
        parameters = "".join(f";{name}={value}" for name, value in settings)
        connection = Connection(f"jdbc:h2:file:{data_path / 'bench'}{parameters}", None, {"user": "sa", "password": ""})
        super().__init__(connection=connection, class_path=class_path, data_path=data_path, driver_dir=driver_dir)

    def effective_queries(self) -> Mapping[str, str]:
        return {"settings": "SELECT SETTING_NAME, SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS"}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        # info.* and property.* describe the store's state and the JVM, not how H2 is set.
        named = {str(row[0]): str(row[1]) for row in rows.get("settings", [])}
        return sorted((name, value) for name, value in named.items() if not name.startswith(("info.", "property.")))

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective("h2", effective)


class H2Adapter(EmbeddedAdapter):
    slug = "h2"

    def provision(self, request: ProvisionRequest) -> H2Instance:
        settings = checked_settings(request.settings, forbidden="\n\r\0;")
        return H2Instance(*folders(request), self.class_path(request), settings)


ADAPTER = H2Adapter()

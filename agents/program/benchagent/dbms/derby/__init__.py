"""Apache Derby inside the load generator's JVM; settings are a derby.properties file in its system home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
from benchagent.configfiles.engines.derby import ENGINE
from benchagent.dbms.base import (
    Connection,
    Instance,
    JobError,
    ProvisionRequest,
    Retryable,
    Settings,
    checked_settings,
)
from benchagent.dbms.buffers import buffer_in_force
from benchagent.dbms.derby.backup import DATABASE, BackupProcedure
from benchagent.dbms.derby.ranges import CACHE, DEFAULT_PAGE_SIZE, PAGE_SIZE, RANGES, taken
from benchagent.dbms.derby.statistics import OWN_SCHEMA, DerbyStatistics, smallest_page
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.embedded import EmbeddedAdapter, driver_folder, heap_mb, in_url, not_in_force
from benchagent.dbms.statistics import QueryRows
from benchagent.machine.devices import write_cache_words

DEADLOCK = "40001"
LOCK_TIMEOUTS = ("40XL1", "40XL2")
DURABILITY = "derby.system.durability"
INDEX_STATISTICS = "derby.storage.indexStats.auto"
DRIVER_CLASS = "org.apache.derby.jdbc.EmbeddedDriver"
# From 10.16 on the driver class moved to another jar and is found as a service.
FIRST_WITHOUT_DRIVER_CLASS = (10, 16)
FIRST_WITH_FETCH_FIRST = (10, 5)
FIRST_WITH_UPDATE_STATISTICS = (10, 5)
FIRST_WITH_AUTOMATIC_STATISTICS = (10, 8)
LOCKED = ("derby.system.home", "derby.stream.error.file", "derby.storage.tempDirectory")
LOG_DEVICE = "logDevice="


def version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def dialect_of(version: str, schema: str = OWN_SCHEMA) -> Dialect:
    numbers = version_numbers(version)
    statistics = f"CALL SYSCS_UTIL.SYSCS_UPDATE_STATISTICS('{schema.upper()}', UPPER('{{table}}'), NULL)"
    return Dialect(
        timestamp_literal="TIMESTAMP('{text}')",
        select_values="VALUES ({expressions})",
        # The lock of a row that was read for update would be given back with the next row.
        for_update=" FOR UPDATE WITH RS",
        # 10.3 and 10.4 have no word for it: the driver's limit of rows has to do.
        first=Dialect.first if numbers >= FIRST_WITH_FETCH_FIRST else "SELECT {select}",
        after_load_each=(statistics,) if numbers >= FIRST_WITH_UPDATE_STATISTICS else (),
        after_load=("CALL SYSCS_UTIL.SYSCS_CHECKPOINT_DATABASE()",),
    )


class DerbyInstance(Instance):
    retryable = Retryable(sqlstates=(DEADLOCK, *LOCK_TIMEOUTS))
    statistics = DerbyStatistics()
    log_names = ("log",)

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        self._database = request.placement.data / DATABASE
        url = f"jdbc:derby:{in_url(self._database)}"
        driver = DRIVER_CLASS if version_numbers(request.version) < FIRST_WITHOUT_DRIVER_CLASS else None
        log_device = f";{LOG_DEVICE}{in_url(request.placement.log)}" if request.placement.log_apart else ""
        super().__init__(
            connection=Connection(f"{url};create=true{log_device}", driver),
            class_path=class_path,
            data_path=request.placement.data,
            driver_dir=driver_folder(request),
        )
        self.dialect = dialect_of(request.version)
        self.close_url = f"{url};shutdown=true"
        self._log_path = request.placement.log if request.placement.log_apart else request.placement.data
        self._settings = [pair for pair in given if pair[0] not in LOCKED]
        self._effective: list[tuple[str, str]] = []
        self.heap_mb = heap_mb(self._cache_bytes())
        self.ignored_settings = [f"{name}: set by the agent" for name, _ in given if name in LOCKED]
        self.ignored_settings += [
            f"{name}: not a property that is known of Derby, which passes over what it does not know"
            for name, _ in self._settings
            if not ENGINE.knows(name)
        ]
        # The working directory of the JVM is Derby's system home, where this file is read from.
        kept = [*self._settings, ("derby.storage.tempDirectory", str(request.placement.temp))]
        lines = [f"{name}={_escaped(value)}\n" for name, value in kept]
        path = self.driver_dir / "derby.properties"
        path.write_text("".join(lines), encoding="latin-1", errors="backslashreplace")

    def effective_queries(self) -> Mapping[str, str]:
        return {"space": self.statistics.space}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        """The page size from the tables that were made with it, durability from what the engine wrote into its own log.
        Of the others Derby tells nothing: what it makes of the value in the properties file."""
        found = {name: taken(name, value) for name, value in self._settings if name != DURABILITY}
        found[DURABILITY] = "test" if f"{DURABILITY}=test" in self.log_tail() else "default"
        size = smallest_page(rows)
        if size:
            found[PAGE_SIZE] = str(size)
        self._effective = list(found.items())
        self.ignored_settings += self._not_in_force(found)
        return self._effective

    def _not_in_force(self, found: Mapping[str, str]) -> list[str]:
        """The page size by itself: a cache of as many pages as were given is in force whatever they are like."""
        sizes = [pair for pair in self._settings if pair[0] == PAGE_SIZE]
        others = [pair for pair in self._settings if pair[0] != PAGE_SIZE]
        others += [(PAGE_SIZE, found[PAGE_SIZE])] if PAGE_SIZE in found else []
        return [words for given in (sizes, others) for words in not_in_force("derby", given, list(found.items()))]

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective("derby", effective, write_cache_words(self._log_path))

    def buffer_bytes(self) -> int | None:
        """With pages as large as those of the tables: the cache counts pages, whatever their size."""
        return buffer_in_force("derby", self._effective)

    def log_tail(self) -> str:
        try:
            return (self.driver_dir / "derby.log").read_text(errors="replace")
        except OSError:
            return ""

    def backup_methods(self) -> Sequence[BackupProcedure]:
        return (BackupProcedure(),)

    def _cache_bytes(self) -> int:
        given = {name: taken(name, value) for name, value in self._settings}
        pages = given.get(CACHE, RANGES[CACHE].otherwise)
        return int(pages or 0) * int(given.get(PAGE_SIZE, DEFAULT_PAGE_SIZE))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")


def move_log(database: Path, log: Path) -> None:
    """A copy of a database remembers where the log of the original was: make it the folder of its own."""
    path = database / "service.properties"
    try:
        # Java writes the file in this encoding, with `:` and `=` of a value escaped.
        lines = path.read_text(encoding="latin-1").splitlines(keepends=True)
    except OSError as error:
        raise JobError(f"the copy of the database cannot be opened: {error}") from error
    kept = [line for line in lines if not line.startswith(LOG_DEVICE)]
    place = next((number for number, line in enumerate(lines) if line.startswith(LOG_DEVICE)), len(kept))
    escaped = str(log).replace("\\", "\\\\").replace(":", "\\:").replace("=", "\\=").replace(" ", "\\ ")
    kept.insert(place, f"{LOG_DEVICE}{escaped}\n")
    path.write_text("".join(kept), encoding="latin-1", errors="backslashreplace")


class DerbyAdapter(EmbeddedAdapter):
    slug = "derby"

    def provision(self, request: ProvisionRequest) -> DerbyInstance:
        settings = checked_settings(request.settings)
        if request.restored and request.placement.log_apart:
            move_log(request.placement.data / DATABASE, request.placement.log)
        return DerbyInstance(request, self.class_path(request), settings)

    def knob(self, name: str, value: str, version: str) -> Settings:
        if name == "group_commit":
            raise JobError(
                "Derby has no setting for group commit: commits that wait at the same time share one write of the log"
            )
        if version_numbers(version) < FIRST_WITH_AUTOMATIC_STATISTICS:
            raise JobError(f"Derby {version} has no background maintenance: it came with 10.8, for index statistics")
        return [(INDEX_STATISTICS, "true" if value == "on" else "false")]


ADAPTER = DerbyAdapter()

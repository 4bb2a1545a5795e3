"""Apache Derby inside the load generator's JVM; settings are a derby.properties file in its system home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.configfiles.engines.derby import ENGINE
from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands
from benchagent.dbms.base import Connection, JobError, ProvisionRequest, Retryable, Settings
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.derby.counters import OWN_SCHEMA, DerbyCounters, smallest_page
from benchagent.dbms.derby.ranges import CACHE, DEFAULT_PAGE_SIZE, PAGE_SIZE, RANGES, taken
from benchagent.dbms.dialect import Dialect, sql_text
from benchagent.dbms.embedded import EmbeddedAdapter, EmbeddedInstance, heap_mb, in_url, not_in_force

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
DATABASE = "bench"


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


class DerbyInstance(EmbeddedInstance):
    slug = "derby"
    retryable = Retryable(sqlstates=(DEADLOCK, *LOCK_TIMEOUTS))
    engine_counters = DerbyCounters()
    log_names = ("log",)

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        self._database = request.folders.data / DATABASE
        url = f"jdbc:derby:{in_url(self._database)}"
        driver = DRIVER_CLASS if version_numbers(request.version) < FIRST_WITHOUT_DRIVER_CLASS else None
        log_device = f";{LOG_DEVICE}{in_url(request.folders.log)}" if request.folders.log_apart else ""
        connection = Connection(f"{url};create=true{log_device}", driver)
        kept = [pair for pair in given if pair[0] not in LOCKED]
        log_path = request.folders.log if request.folders.log_apart else request.folders.data
        super().__init__(request, class_path, connection, kept, log_path)
        self.dialect = dialect_of(request.version)
        self.close_url = f"{url};shutdown=true"
        numbers = {name: taken(name, value) for name, value in kept}
        pages = int(numbers.get(CACHE, RANGES[CACHE].otherwise) or 0)
        self.heap_mb = heap_mb(pages * int(numbers.get(PAGE_SIZE, DEFAULT_PAGE_SIZE)))
        self.ignored_settings = [f"{name}: set by the agent" for name, _ in given if name in LOCKED]
        self.ignored_settings += [
            f"{name}: not a property that is known of Derby, which passes over what it does not know"
            for name, _ in kept
            if not ENGINE.knows(name)
        ]
        # The working directory of the JVM is Derby's system home, where this file is read from.
        all_lines = [*kept, ("derby.storage.tempDirectory", str(request.folders.temp))]
        lines = ["{}={}\n".format(name, value.replace("\\", "\\\\")) for name, value in all_lines]
        path = self.generator_dir / "derby.properties"
        path.write_text("".join(lines), encoding="latin-1", errors="backslashreplace")

    def effective_queries(self) -> Mapping[str, str]:
        return {"space": self.engine_counters.space}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        """The page size from the tables that were made with it, durability from what the engine wrote into its own log.
        Of the others Derby tells nothing: what it makes of the value in the properties file."""
        in_force = {name: taken(name, value) for name, value in self._settings if name != DURABILITY}
        in_force[DURABILITY] = "test" if f"{DURABILITY}=test" in self.log_tail() else "default"
        size = smallest_page(rows)
        if size:
            in_force[PAGE_SIZE] = str(size)
        self._effective = list(in_force.items())
        self.ignored_settings += self._not_in_force(in_force)
        return self._effective

    def _not_in_force(self, in_force: Mapping[str, str]) -> list[str]:
        """The page size by itself: a cache of as many pages as were given is in force whatever they are like."""
        sizes = [pair for pair in self._settings if pair[0] == PAGE_SIZE]
        others = [pair for pair in self._settings if pair[0] != PAGE_SIZE]
        others += [(PAGE_SIZE, in_force[PAGE_SIZE])] if PAGE_SIZE in in_force else []
        return [words for given in (sizes, others) for words in not_in_force("derby", given, list(in_force.items()))]

    def log_tail(self) -> str:
        try:
            return (self.generator_dir / "derby.log").read_text(errors="replace")
        except OSError:
            return ""

    def backup_methods(self) -> Sequence[BackupProcedure]:
        return (BackupProcedure(),)


def move_log(database: Path, log: Path) -> None:
    """A copy of a database remembers where the log of the original was: make it the folder of its own."""
    path = database / "service.properties"
    try:
        # Java writes the file in this encoding, with `:` and `=` of a value escaped.
        lines = path.read_text(encoding="latin-1").splitlines(keepends=True)
    except OSError as error:
        raise JobError(f"the copy of the database cannot be opened: {error}") from error
    kept = [line for line in lines if not line.startswith(LOG_DEVICE)]
    position = next((number for number, line in enumerate(lines) if line.startswith(LOG_DEVICE)), len(kept))
    escaped = str(log).replace("\\", "\\\\").replace(":", "\\:").replace("=", "\\=").replace(" ", "\\ ")
    kept.insert(position, f"{LOG_DEVICE}{escaped}\n")
    path.write_text("".join(kept), encoding="latin-1", errors="backslashreplace")


class BackupProcedure(BackupMethod):
    slug = "backup_database"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [SqlCommands([f"CALL SYSCS_UTIL.SYSCS_BACKUP_DATABASE({sql_text(target)})"])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        """Derby restores while it connects: it copies the backup and replays its log."""
        made = f"{self.restored_url(source, scratch)};createFrom={in_url(source / DATABASE)}"
        return [SqlCommands(["VALUES 1"], made)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:derby:{in_url(scratch / 'restored')}"


class DerbyAdapter(EmbeddedAdapter):
    def provision(self, request: ProvisionRequest) -> EmbeddedInstance:
        if request.restored and request.folders.log_apart:
            move_log(request.folders.data / DATABASE, request.folders.log)
        return super().provision(request)

    def knob(self, name: str, value: str, version: str) -> Settings:
        if name == "group_commit":
            raise JobError(
                "Derby has no setting for group commit: commits that wait at the same time share one write of the log"
            )
        if version_numbers(version) < FIRST_WITH_AUTOMATIC_STATISTICS:
            raise JobError(f"Derby {version} has no background maintenance: it came with 10.8, for index statistics")
        return [(INDEX_STATISTICS, "true" if value == "on" else "false")]


ADAPTER = DerbyAdapter("derby", DerbyInstance, forbidden="\n\r\0")

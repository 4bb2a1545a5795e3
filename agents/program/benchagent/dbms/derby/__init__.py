"""Apache Derby inside the load generator's JVM; settings are a derby.properties file in its system home.

Derby tells nothing of most numbers there, and takes another one in silence. What it makes of them is after its source:
BaseDataFileFactory, FileContainer, LogToFile, RawStoreFactory, Property. What it does tell: sizes from
SYSCS_DIAG.SPACE_TABLE, waits from its lock table, plans of executed statements.
"""

# ruff: noqa: S608 - constants only, and names of tables of our own
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchagent.configfiles.engines.derby import ENGINE
from benchagent.configfiles.settings import Facts
from benchagent.configfiles.units import MIB
from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands
from benchagent.dbms.base import Connection, Guest, JobError, ProvisionRequest, Retryable, Settings
from benchagent.dbms.counters import (
    COUNTERS,
    EFFORT,
    Age,
    EngineCounters,
    IndexFacts,
    QueryRows,
    TableFacts,
    with_index_bytes,
)
from benchagent.dbms.dialect import Dialect, sql_text
from benchagent.dbms.embedded import EmbeddedAdapter, EmbeddedInstance, heap_mb, in_url, not_in_force
from benchagent.paths import text_of, without_links

NO_COUNTERS = "Derby counts nothing of the kind where SQL could ask for it"
# In which a database's tables are made unless another one is named.
OWN_SCHEMA = "APP"
IN_SCHEMA = "(SELECT SCHEMAID FROM SYS.SYSSCHEMAS WHERE SCHEMANAME = '{schema}')"
OF_TABLES = "AND T.TABLENAME IN ({tables})"
# Conglomerates behind tables: the heap has the table's own name in `ISINDEX` = 0.
SPACE_OF = (
    "SELECT T.TABLENAME, S.CONGLOMERATENAME, S.ISINDEX, S.NUMALLOCATEDPAGES, S.NUMFREEPAGES, S.PAGESIZE "
    "FROM SYS.SYSTABLES T, TABLE (SYSCS_DIAG.SPACE_TABLE('{schema}', T.TABLENAME)) AS S "
    f"WHERE T.TABLETYPE = 'T' AND T.SCHEMAID = {IN_SCHEMA}"
)
# Kept for indexes only, and from 10.9 on not for a unique one of one column.
CARDINALITY = (
    "SELECT T.TABLENAME, C.CONGLOMERATENAME, S.STATISTICS, S.COLCOUNT, "
    "{{fn TIMESTAMPDIFF(SQL_TSI_SECOND, S.CREATIONTIMESTAMP, CURRENT_TIMESTAMP)}} "
    "FROM SYS.SYSSTATISTICS S JOIN SYS.SYSTABLES T ON T.TABLEID = S.TABLEID "
    "JOIN SYS.SYSCONGLOMERATES C ON C.CONGLOMERATEID = S.REFERENCEID "
    f"WHERE T.TABLETYPE = 'T' AND T.SCHEMAID = {IN_SCHEMA} {OF_TABLES}"
)
CONSTRAINTS = (
    "SELECT C.CONGLOMERATENAME, N.CONSTRAINTNAME FROM SYS.SYSCONSTRAINTS N "
    "JOIN SYS.SYSKEYS K ON K.CONSTRAINTID = N.CONSTRAINTID "
    "JOIN SYS.SYSCONGLOMERATES C ON C.CONGLOMERATEID = K.CONGLOMERATEID "
    f"WHERE N.SCHEMAID = {IN_SCHEMA}"
)
WAITING = "SELECT TYPE, COUNT(*) FROM SYSCS_DIAG.LOCK_TABLE WHERE STATE = 'WAIT' GROUP BY TYPE"
ROWS = re.compile(r"numunique=\s*(\d+)\s+numrows=\s*(\d+)")
PLAN_MARK = "Statement Execution Plan Text:"


class DerbyCounters(EngineCounters):
    origins = {
        "tables": "`SYSCS_DIAG.SPACE_TABLE`; rows from `SYS.SYSSTATISTICS`, where an index of the table is there",
        "indexes": "`SYSCS_DIAG.SPACE_TABLE`, keys from `SYS.SYSSTATISTICS` (from 10.9 not of unique ones); no depth",
        "plans": "`SYSCS_GET_RUNTIMESTATISTICS`: the statement is executed",
        "waits": "`SYSCS_DIAG.LOCK_TABLE` each second: locks waited for, by type",
        "maintenance": "`SYS.SYSSTATISTICS`, time of creation",
    }
    none = dict.fromkeys((*COUNTERS, *EFFORT), NO_COUNTERS)
    waiting = {"locks": WAITING}
    spelt = staticmethod(str.upper)
    schema_sql = {"space": f"{SPACE_OF} {OF_TABLES}", "cardinality": CARDINALITY, "constraints": CONSTRAINTS}
    maintenance_sql = {"cardinality": CARDINALITY}
    # The statement is executed: Derby explains what it did.
    plan_sql = (
        "CALL SYSCS_UTIL.SYSCS_SET_RUNTIMESTATISTICS(1)",
        "{sql}",
        "VALUES SYSCS_UTIL.SYSCS_GET_RUNTIMESTATISTICS()",
        "CALL SYSCS_UTIL.SYSCS_SET_RUNTIMESTATISTICS(0)",
    )

    def __init__(self, schema: str = OWN_SCHEMA) -> None:
        self.schema = schema.upper()
        self.space = SPACE_OF.format(schema=self.schema)

    def waits(self, rows: QueryRows) -> dict[str, float]:
        return {f"{str(kind).strip().lower()} lock": float(count) for kind, count in rows.get("locks", [])}

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        row_counts = {table: numbers[1] for table, _, numbers, _ in _cardinality(rows)}
        tables = [
            TableFacts(table.lower(), rows=row_counts.get(table), pages=pages, size_bytes=pages * page_size)
            for table, _, is_index, pages, page_size in _space(rows)
            if not is_index
        ]
        return with_index_bytes(tables, self.indexes(rows))

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        # The statistics of all columns together come last.
        key_counts = {index: numbers for _, index, numbers, _ in _cardinality(rows)}
        names = {str(row[0]): str(row[1]) for row in rows.get("constraints", [])}
        listed = []
        for table, index, is_index, pages, page_size in _space(rows):
            if is_index:
                unique, keys = key_counts.get(index, (None, None))
                name, size_bytes = names.get(index, index).lower(), pages * page_size
                listed.append(IndexFacts(name, table.lower(), keys=keys, unique_keys=unique, size_bytes=size_bytes))
        return listed

    def maintenance(self, rows: QueryRows) -> list[Age]:
        ages = [float(row[4]) for row in rows.get("cardinality", [])]
        if not ages:
            return [Age("statistics", None, "no index has any; a unique index of one column needs none")]
        return [Age("statistics", max(ages), f"of the {len(ages)} that indexes have, the oldest")]

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        texts = [str(row[0]) for row in rows if row and PLAN_MARK in str(row[0])]
        return texts[-1].partition(PLAN_MARK)[2].strip() if texts else ""


def smallest_page(rows: QueryRows) -> int | None:
    """Bytes: the page size that tables are made with, from the rows of `DerbyCounters.space`; None without tables.

    Tables with long columns have larger pages of their own.
    """
    return min((page_size for _, _, is_index, _, page_size in _space(rows) if not is_index), default=None)


def _space(rows: QueryRows) -> list[tuple[str, str, bool, int, int]]:
    """Table, heap or index of it, whether it is an index, pages, bytes of a page."""
    return [
        (str(table), str(name), bool(int(is_index)), int(pages) + int(free), int(page_size))
        for table, name, is_index, pages, free, page_size in rows.get("space", [])
    ]


def _cardinality(rows: QueryRows) -> list[tuple[str, str, tuple[int, int], int]]:
    """Table, index, (unique keys, rows), number of leading columns; in the order of the latter."""
    listed = []
    for table, index, text, columns, _ in rows.get("cardinality", []):
        match = ROWS.search(str(text))
        if match:
            listed.append((str(table), str(index), (int(match[1]), int(match[2])), int(columns)))
    return sorted(listed, key=lambda entry: entry[3])


PAGE_SIZE, CACHE = "derby.storage.pageSize", "derby.storage.pageCacheSize"
DEFAULT_PAGE_SIZE, DEFAULT_CACHE_PAGES = 4096, 1000
PAGE_SIZES = (4096, 8192, 16384, 32768)
LARGEST = 2**31 - 1
NUMBER = re.compile(r"[+-]?\d+\Z")


# Least, most, and what is taken for a number outside; None: the nearest one inside.
RANGES: dict[str, tuple[int, int, int | None]] = {
    CACHE: (40, LARGEST, DEFAULT_CACHE_PAGES),
    "derby.storage.pageReservedSpace": (0, 100, 20),
    "derby.storage.logBufferSize": (8192, 128 * MIB, 32768),
    "derby.storage.logSwitchInterval": (100_000, 128 * MIB, None),
    "derby.storage.checkpointInterval": (100_000, 128 * MIB, None),
    "derby.locks.escalationThreshold": (100, LARGEST, 5000),
}


def value_in_force(name: str, value: str) -> str:
    """The value that Derby goes by, where a property with this value was set."""
    number = int(value) if NUMBER.match(value) else None
    if name == PAGE_SIZE:
        return value if number in PAGE_SIZES else str(DEFAULT_PAGE_SIZE)
    if name not in RANGES:
        return value
    least, most, otherwise = RANGES[name]
    if number is None:  # as good as none; where there is no other one, Derby does not start
        return value if otherwise is None else str(otherwise)
    if otherwise is None or least <= number <= most:
        return str(min(max(number, least), most))
    return str(otherwise)


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
LOCKED = ENGINE.set_by_agent
# Where rights are asked for, who has made the database owns it and alone reaches files; the guest has the usual schema.
OWNER = "BENCH_OWNER"
AUTHORIZATION = ("derby.database.sqlAuthorization", "true")
# Who has a schema may make routines of it, out of any public method of Java. No SQL is made of SQL here.
REFUSED = {
    r"\bEXTERNAL\b": "runs Java",
    r"\b(ERROR_LOG_READER|STATEMENT_DURATION|XMLPARSE)\b|\borg\s*\.": "reads files",
}
DOORS = {
    r"derby\.(authentication|connection|user|database|security|subSubProtocol)\b": "decides who may do what",
    r"derby\.(service|module|jdbc|language\.sequence\.preallocator|stream\.error\.(method|field))\b": "runs Java",
    r"derby\.(drda|replication)\b": "opens a port",
    r"derby\.stream\.error\.(style|rollingFile)\b": "writes files into any folder",
}
LOG_DEVICE = "logDevice="
DATABASE = "bench"


def dialect_of(version: str, schema: str = OWN_SCHEMA) -> Dialect:
    numbers = Facts(version=version).version_numbers
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
    effective_queries = {"space": engine_counters.space}
    log_names = ("log",)

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        self._database = request.folders.data / DATABASE
        url = f"jdbc:derby:{in_url(self._database)}"
        is_service = Facts(version=request.version).version_numbers >= FIRST_WITHOUT_DRIVER_CLASS
        driver = None if is_service else DRIVER_CLASS
        log_device = f";{LOG_DEVICE}{in_url(request.folders.log)}" if request.folders.log_apart else ""
        connection = Connection(f"{url};create=true{log_device}", driver)
        kept = [pair for pair in given if pair[0] not in LOCKED]
        super().__init__(request, class_path, connection, kept)
        self.dialect = dialect_of(request.version)
        self.close_url = f"{url};shutdown=true"
        numbers = {name: value_in_force(name, value) for name, value in kept}
        pages = int(numbers.get(CACHE, DEFAULT_CACHE_PAGES))
        self.heap_mb = heap_mb(pages * int(numbers.get(PAGE_SIZE, DEFAULT_PAGE_SIZE)))
        self.ignored_settings = [f"{name}: set by the agent" for name, _ in given if name in LOCKED]
        self.ignored_settings += [
            f"{name}: not a property that is known of Derby, which passes over what it does not know"
            for name, _ in kept
            if not ENGINE.knows(name)
        ]
        self._lines = [*kept, ("derby.storage.tempDirectory", str(request.folders.temp))]
        self._guest: Guest | None = None
        self._children = request.children
        self._write_properties()

    def _write_properties(self) -> None:
        """The working directory of the JVM is Derby's system home, where this file is read from."""
        lines = ["{}={}\n".format(name, value.replace("\\", "\\\\")) for name, value in self._lines]
        path = self.generator_dir / "derby.properties"
        with open(path, "w", encoding="latin-1", errors="backslashreplace", opener=without_links) as file:
            file.writelines(lines)
        self._children.own(path)

    def guest(self) -> Guest:
        """Rights are asked for from then on. Only one who can start a JVM here could give another name."""
        if self._guest is None:
            self._lines.append(AUTHORIZATION)
            self._write_properties()
            owner, guest = (replace(self.connection, properties={"user": user}) for user in (OWNER, OWN_SCHEMA))
            self._guest = Guest(guest, owner, refused=REFUSED)
        return self._guest

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        """The page size from the tables that were made with it, durability from what the engine wrote into its own log.
        Of the others Derby tells nothing: what it makes of the value in the properties file."""
        known = [pair for pair in self._settings if pair[0] != DURABILITY and ENGINE.knows(pair[0])]
        in_force = {name: value_in_force(name, value) for name, value in known}
        in_force[DURABILITY] = "test" if f"{DURABILITY}=test" in self.log_tail() else "default"
        size = smallest_page(rows)
        if size:
            in_force[PAGE_SIZE] = str(size)
        self._effective = list(in_force.items())
        # The page size by itself: a cache of as many pages as were given is in force whatever they are like.
        sizes = [pair for pair in self._settings if pair[0] == PAGE_SIZE]
        others = [pair for pair in self._settings if pair[0] != PAGE_SIZE]
        others += [pair for pair in self._effective if pair[0] == PAGE_SIZE]
        for given in (sizes, others):
            self.ignored_settings += not_in_force("derby", given, self._effective)
        return self._effective

    def log_tail(self) -> str:
        try:
            return text_of(self.generator_dir / "derby.log", errors="replace")
        except OSError:
            return ""

    def backup_methods(self) -> Sequence[BackupProcedure]:
        return (BackupProcedure(),)


def move_log(database: Path, log: Path) -> None:
    """A copy of a database remembers where the log of the original was: make it the folder of its own."""
    path = database / "service.properties"
    try:
        # Java writes the file in this encoding, with `:` and `=` of a value escaped.
        with open(path, encoding="latin-1", opener=without_links) as file:
            lines = file.readlines()
    except OSError as error:
        raise JobError(f"the copy of the database cannot be opened: {error}") from error
    kept = [line for line in lines if not line.startswith(LOG_DEVICE)]
    position = next((number for number, line in enumerate(lines) if line.startswith(LOG_DEVICE)), len(kept))
    escaped = str(log).replace("\\", "\\\\").replace(":", "\\:").replace("=", "\\=").replace(" ", "\\ ")
    kept.insert(position, f"{LOG_DEVICE}{escaped}\n")
    with open(path, "w", encoding="latin-1", errors="backslashreplace", opener=without_links) as file:
        file.writelines(kept)


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
        if Facts(version=version).version_numbers < FIRST_WITH_AUTOMATIC_STATISTICS:
            raise JobError(f"Derby {version} has no background maintenance: it came with 10.8, for index statistics")
        return [(INDEX_STATISTICS, "true" if value == "on" else "false")]


ADAPTER = DerbyAdapter("derby", DerbyInstance, forbidden="\n\r\0", doors=DOORS)

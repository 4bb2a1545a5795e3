"""What an engine tells about itself, under names that are the same for every engine.

An adapter gives SQL by name, run by the load generator on a connection of its own, and which columns are which of the
standard names. For each part of `PARTS`, `sources` says where it comes from, or `none` why the engine has it not;
tests compare both with what runs delivered and with the table in the documentation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from benchagent.dbms.dialect import sql_text

QueryRows = Mapping[str, list[list[Any]]]
Facts = TypeVar("Facts")


class Answer(list[list[Any]]):
    """Rows that know the names of their columns, for commands whose columns differ from one version to the next."""

    def __init__(self, rows: Sequence[list[Any]], columns: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self.columns = tuple(columns)


def by_column(rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Each row of an `Answer` by its columns' names in small letters; empty where the names are not known."""
    names = [str(column).lower() for column in getattr(rows, "columns", ())]
    return [dict(zip(names, row, strict=True)) for row in rows] if names else []


# Counters, read at the begin and at the end of the measured window. The value of a run is the difference.
COUNTERS: dict[str, str] = {
    "buffer_hits": "pages found in the buffer pool",
    "buffer_reads": "pages read into the buffer pool",
    "checkpoints": "checkpoints that ended (or log switches, where the engine counts those)",
    "log_bytes": "bytes of transaction log written",
    "log_flushes": "times the log was forced to disk",
    "log_writes": "writes to the log",
    "data_reads": "pages read from data files",
    "data_writes": "pages written to data files",
    "commits": "transactions committed",
    "rollbacks": "transactions rolled back",
    "lock_waits": "waits for a lock",
    "lock_wait_ms": "time waited for locks",
    "deadlocks": "deadlocks found",
    "temp_bytes": "bytes of temporary files written",
}
# Parts beside the counters; each is delivered or has a reason in `EngineCounters.none`.
TABLES, INDEXES, PLANS, WAITS, MAINTENANCE = "tables", "indexes", "plans", "waits", "maintenance"
QUERY_READS, QUERY_FETCHES = "query_reads", "query_fetches"
EFFORT: dict[str, str] = {
    QUERY_READS: "pages read from the disk by one query",
    QUERY_FETCHES: "pages that one query asked the buffer pool for",
}
PARTS: dict[str, str] = {
    **COUNTERS,
    TABLES: "rows, row length, pages and bytes of each table",
    INDEXES: "depth, keys, key length and bytes of each index",
    PLANS: "execution plans",
    WAITS: "wait events, or their nearest kin",
    MAINTENANCE: "age of statistics, vacuum and purge",
    **EFFORT,
}
CHECKPOINTS = "checkpoints"
PAGE_REQUESTS = "page_requests"
DEEP_INDEX = 3
NAMES_SHOWN = 5


@dataclass(frozen=True)
class Counted:
    """A query of one row. `columns`: the counters in it in their order, with words on where each comes from.

    `PAGE_REQUESTS` may be among them, without words: less the reads they are the hits.
    """

    sql: str
    columns: Mapping[str, str]


class _Facts:
    def as_dict(self) -> dict[str, Any]:
        """Without what the engine does not tell."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class TableFacts(_Facts):
    """None: the engine does not tell. `size_bytes` is without indexes."""

    table: str
    rows: int | None = None
    row_bytes: float | None = None
    pages: int | None = None
    size_bytes: int | None = None
    index_bytes: int | None = None
    fill_percent: float | None = None
    engine: str | None = None
    # Records that were touched since the database was opened: what an engine counts that tells no sizes.
    sequential_reads: int | None = None
    index_reads: int | None = None
    inserts: int | None = None
    updates: int | None = None
    deletes: int | None = None


@dataclass(frozen=True)
class IndexFacts(_Facts):
    index: str
    table: str
    depth: int | None = None
    keys: int | None = None
    key_bytes: float | None = None
    unique_keys: int | None = None
    size_bytes: int | None = None


@dataclass(frozen=True)
class Age:
    """Upkeep of the data, as old as it was when the run began: `age_s` None means never, or that no time is told."""

    what: str
    age_s: float | None
    detail: str = ""


def oldest(what: str, tables: Sequence[Sequence[Any]], column: int) -> Age:
    """The age of the table that was left longest, from rows of (name, …, seconds since, …); never if one never was."""
    never = [str(row[0]).strip().lower() for row in tables if row[column] is None]
    if never:
        more = f" and {len(never) - NAMES_SHOWN} more" if len(never) > NAMES_SHOWN else ""
        return Age(what, None, f"never: {', '.join(never[:NAMES_SHOWN])}{more}")
    left = max(tables, key=lambda row: float(row[column]))
    return Age(what, max(0.0, float(left[column])), f"longest ago: {str(left[0]).strip().lower()}")


def rows_of(kind: Callable[..., Facts], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Facts]:
    """From rows of a data dictionary; `columns` are fields of the kind. Negative numbers and NULL are not known."""
    made = []
    for row in rows:
        fields: dict[str, Any] = {}
        for column, value in zip(columns, row, strict=True):
            if column in ("table", "index"):
                fields[column] = str(value).strip().lower()
            elif column == "engine" and value is not None:
                fields[column] = str(value)
            elif value is not None and float(value) >= 0:
                fields[column] = float(value) if column in ("row_bytes", "key_bytes") else round(float(value))
        made.append(kind(**fields))
    return made


def with_index_bytes(tables: Sequence[TableFacts], indexes: Sequence[IndexFacts]) -> list[TableFacts]:
    """For an engine that tells sizes of indexes one by one; 0 where a table has none."""
    size_bytes = Counter[str]()
    for index in indexes:
        size_bytes[index.table] += index.size_bytes or 0
    return [replace(table, index_bytes=size_bytes[table.table]) for table in tables]


def quoted_names(tables: Sequence[str], spelt: Callable[[str], str] = str) -> str:
    """Names as texts of SQL, ``'a', 'b'``; `spelt` as `str.upper`. Never empty."""
    return ", ".join(sql_text(spelt(name)) for name in tables) or "''"


class EngineCounters:
    """The defaults tell nothing; an adapter overrides what its engine has and explains the rest in `none`."""

    # Part -> view, command or tool that it comes from, in this version, beside those of `counted`.
    origins: Mapping[str, str] = {}
    # Part -> why this engine (in this version) has none.
    none: Mapping[str, str] = {}
    # What `checkpoints` counts, one and several of it.
    checkpoint_nouns: tuple[str, str] = ("checkpoint", "checkpoints")
    # Counters by the name of their query.
    counted: Mapping[str, Counted] = {}
    # Counter -> the one that counts the same in this engine.
    same_as: Mapping[str, str] = {}
    # Queries for (event, sessions in it), run each second; keep them cheap. What is cumulative belongs into
    # `counter_queries` instead.
    waiting: Mapping[str, str] = {}
    # For each metric a query of one number whose growth each second is told. It may cost next to nothing.
    growing: Mapping[str, str] = {}
    # What a session read so far, run before and after a statement on its own session: (pages from disk), or (pages from
    # disk, pages touched).
    effort_sql: Mapping[str, str] = {}
    # SQL of `schema_queries` and `maintenance_queries`: ``{tables}`` for their names as `spelt`, ``{schema}``.
    schema_sql: Mapping[str, str] = {}
    maintenance_sql: Mapping[str, str] = {}
    spelt: Callable[[str], str] = staticmethod(str)
    schema = ""
    # Statements that show the plan of ``{sql}``; the rows of all of them are the plan.
    plan_sql: Sequence[str] = ()
    # What the queries `tables` and `indexes` of `schema_queries` answer, where they are no more than that.
    table_columns: Sequence[str] = ("table", "rows", "row_bytes", "pages", "size_bytes")
    index_columns: Sequence[str] = ("index", "table", "depth", "keys", "unique_keys", "size_bytes")

    @property
    def sources(self) -> dict[str, str]:
        """Part -> where it comes from, in this version."""
        columns = {name: words for counted in self.counted.values() for name, words in counted.columns.items() if words}
        return {part: words for part, words in {**columns, **self.origins}.items() if part not in self.none}

    def counter_queries(self) -> Mapping[str, str]:
        return {query: counted.sql for query, counted in self.counted.items()}

    def counters(self, rows: QueryRows) -> dict[str, float]:
        """Standard name -> value so far, from the rows of `counter_queries`."""
        values: dict[str, float] = {}
        for query, counted in self.counted.items():
            for row in rows.get(query, []):
                named = zip(counted.columns, row, strict=True)
                values |= {name: float(value) for name, value in named if value is not None}
        if PAGE_REQUESTS in values and "buffer_reads" in values:
            values["buffer_hits"] = values[PAGE_REQUESTS] - values["buffer_reads"]
        values |= {name: values[other] for name, other in self.same_as.items() if other in values}
        return {name: value for name, value in values.items() if name in COUNTERS and name not in self.none}

    def waited_s(self, rows: QueryRows) -> dict[str, float]:
        """Event -> seconds that sessions have waited in it so far, from the rows of `counter_queries`.

        For an engine that adds them up; any other has `waiting`.
        """
        return {}

    def waits(self, rows: QueryRows) -> dict[str, float]:
        """Event -> sessions in it, at that second."""
        answers = [row for query in self.waiting for row in rows.get(query, [])]
        return {str(event).strip(): float(sessions) for event, sessions in answers if float(sessions)}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        """For `tables` and `indexes`, after the load and after the run."""
        return self._about(tables, self.schema_sql)

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        return rows_of(TableFacts, self.table_columns, rows.get("tables", []))

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        return rows_of(IndexFacts, self.index_columns, rows.get("indexes", []))

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        """Run just before the warm-up."""
        return self._about(tables, self.maintenance_sql)

    def _about(self, tables: Sequence[str], queries: Mapping[str, str]) -> Mapping[str, str]:
        names = quoted_names(tables, self.spelt)
        return {query: sql.format(tables=names, schema=self.schema) for query, sql in queries.items()}

    def maintenance(self, rows: QueryRows) -> list[Age]:
        """From (table, seconds since its statistics were gathered), NULL where they never were."""
        analyzed = rows.get("analyzed", [])
        return [oldest("statistics", analyzed, 1)] if analyzed else []

    def plan_queries(self, sql: str) -> Sequence[str]:
        return [statement.format(sql=sql) for statement in self.plan_sql]

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        """The plan as text, from the rows of `plan_queries`."""
        return "\n".join(" ".join(str(value) for value in row if value is not None) for row in rows)

    def effort(self, rows: QueryRows) -> dict[str, float]:
        """``reads`` (pages from disk) and ``fetches`` (pages touched) so far."""
        answers = [zip(("reads", "fetches"), row, strict=False) for row in rows.get("effort", [])]
        return {name: float(value) for row in answers for name, value in row}


def differences(begin: Mapping[str, float], end: Mapping[str, float]) -> dict[str, float]:
    """Increase of every counter that both have; one that fell (the engine was restarted) is left out."""
    return {name: end[name] - begin[name] for name in end if name in begin and end[name] >= begin[name]}


def checkpoint_words(source: EngineCounters, counters: Mapping[str, float], during: str = "") -> str:
    """How many checkpoints fell into the measured window, or why that is not known. `during`: another span in words."""
    if CHECKPOINTS in source.none:
        return f"the engine does not count checkpoints: {source.none[CHECKPOINTS]}"
    span = during or "in the measured window"
    singular, plural = source.checkpoint_nouns
    if CHECKPOINTS not in counters:
        return f"the number of {plural} {span} is not known: their counter could not be read"
    number = round(counters[CHECKPOINTS])
    if not number:
        return f"no {singular} {during or 'in the window'}"
    return f"{number} {singular if number == 1 else plural} {span}"


def hit_percent(counters: Mapping[str, float]) -> float | None:
    """Share of page requests that found the page in the buffer pool."""
    hits, reads = counters.get("buffer_hits"), counters.get("buffer_reads")
    if hits is None or reads is None or hits + reads <= 0:
        return None
    return 100 * hits / (hits + reads)

"""What the DBMS told about itself in one run (`Run.statistics`), as tables for its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.formatting import byte_size
from runs.tables import Column, Table, TableCell

DEEP_INDEX = 3
NOT_TOLD, TOO_DEEP = "the DBMS does not report it", f"deeper than {DEEP_INDEX} levels"
NEVER, UPKEEP = "never", "Statistics, vacuum, purge"
# Name as in benchagent's standard counters: (label, unit).
COUNTERS: Mapping[str, tuple[str, str]] = {
    "buffer_hits": ("Pages found in the buffer", "pages"),
    "buffer_reads": ("Pages read into the buffer", "pages"),
    "data_reads": ("Reads of data files", "reads"),
    "data_writes": ("Writes of data files", "writes"),
    "log_bytes": ("Log written", "bytes"),
    "log_writes": ("Writes of the log", "writes"),
    "log_flushes": ("Log forced to disk", "times"),
    "checkpoints": ("Checkpoints or log switches", ""),
    "commits": ("Commits", ""),
    "rollbacks": ("Rollbacks", ""),
    "lock_waits": ("Waits for locks", ""),
    "lock_wait_ms": ("Time waited for locks", "ms"),
    "deadlocks": ("Deadlocks", ""),
    "temp_bytes": ("Temporary files written", "bytes"),
}
EFFORT: Mapping[str, str] = {"query_reads": "Reads of a query", "query_fetches": "Fetches of a query"}
PARTS: Mapping[str, str] = {
    **{name: label for name, (label, _unit) in COUNTERS.items()},
    "tables": "Tables",
    "indexes": "Indexes",
    "plans": "Plans",
    "waits": "Waits",
    "maintenance": "Upkeep",
    **EFFORT,
}
CONDITIONS: Mapping[str, str] = {
    "caches": "Caches",
    "caches_count": "Caches before the count",
    "limits": "Limits",
    "checkpoints": "Checkpoints",
    "commits_per_flush": "Commits per log flush",
    "server_sampling": "CPU and memory of the server",
    "key_range": "Keys of the SELECTs",
    "backup_storage": "Backup on",
    "backup_disks": "Bytes of the backup's disks",
    "backup_way": "Way of the backup",
    "verified": "Backup verified",
    "emulated_disks": "Emulated disks",
    "heap": "Heap of the engine's process",
}
# (name, label, unit); the first names the row. Only columns of which at least one row has a value are shown.
TABLE_COLUMNS = (
    ("table", "Table", "text"), ("rows", "Rows", ""), ("row_bytes", "Row length", "B"), ("pages", "Pages", ""),
    ("size_bytes", "Size", "bytes"), ("index_bytes", "Indexes", "bytes"), ("fill_percent", "Fill", "%"),
    ("engine", "Engine", "text"), ("sequential_reads", "Read in sequence", ""), ("index_reads", "Read by index", ""),
    ("inserts", "Inserts", ""), ("updates", "Updates", ""), ("deletes", "Deletes", ""),
)  # fmt: skip
INDEX_COLUMNS = (
    ("index", "Index", "text"), ("table", "Table", "text"), ("depth", "Depth", ""), ("keys", "Keys", ""),
    ("key_bytes", "Key length", "B"), ("unique_keys", "Unique keys", ""), ("size_bytes", "Size", "bytes"),
)  # fmt: skip
QUERY_COLUMNS = (
    ("state", "Execution", "text"), ("elapsed_s", "Elapsed", "s"), ("row_count", "Rows", ""), ("count", "Count", ""),
    ("reads", "Reads", ""), ("fetches", "Fetches", ""), ("why", "Not executed", "text"),
)  # fmt: skip
WARM_UP_COLUMNS = (
    ("name", "Table", "text"), ("t", "Ended at", "s"), ("elapsed_s", "Elapsed", "s"),
    ("bytes", "Memory of the DBMS", "bytes"), ("error", "Not executed", "text"),
)  # fmt: skip
TYPE_COLUMNS = (
    ("type", "Transaction", "text"), ("transactions", "Executed", ""), ("rolled_back", "Rolled back by design", ""),
    ("retries", "Retries", ""), ("errors", "Errors", ""), ("p50_us", "p50", "µs"), ("p95_us", "p95", "µs"),
    ("p99_us", "p99", "µs"), ("max_us", "Maximum", "µs"),
)  # fmt: skip

_COLUMNS = (*TABLE_COLUMNS, *INDEX_COLUMNS, *QUERY_COLUMNS, *WARM_UP_COLUMNS, *TYPE_COLUMNS)
_NUMBERS = {name for name, _, unit in _COLUMNS if unit != "text"}
# What names counters and says words of them: why the engine does not tell one, how it was measured.
_WORDS = ("none", "conditions")


def numbers_hold(value: Any, name: str = "") -> bool:
    """Whether what pages show as a number is one; `name` of what holds it."""
    if name in _WORDS:
        return isinstance(value, dict)
    if name in _NUMBERS or name.endswith(("_s", "_us", "_ms", "_bytes", "_percent")):
        return value is None or isinstance(value, int | float)
    if isinstance(value, dict):
        return all(numbers_hold(inner, key) for key, inner in value.items())
    return all(map(numbers_hold, value)) if isinstance(value, list) else True


class EngineReport:
    """`none`: what the engine does not tell, and why; `effort_gaps`: that of it which the queries lack."""

    def __init__(self, statistics: dict[str, Any]) -> None:
        counters = statistics.get("counters", {})
        self.counters = [(label, counters[name], unit) for name, (label, unit) in COUNTERS.items() if name in counters]
        conditions = statistics.get("conditions", {}).items()
        self.conditions = [(CONDITIONS.get(name, name), str(words)) for name, words in conditions]
        self.types = _types(statistics.get("transaction_types", {}))
        self.waits = list(statistics.get("waits", {}).items())
        self.upkeep = _upkeep(statistics)
        self.warm_up = _table(_warm_up(statistics), WARM_UP_COLUMNS)
        self.tables = _table(statistics.get("tables", []), TABLE_COLUMNS)
        self.indexes = _table(statistics.get("indexes", []), INDEX_COLUMNS)
        self.queries = _queries(statistics.get("queries", []))
        self.consistency = list(statistics.get("consistency", []))
        self.none = [(PARTS.get(name, name), str(reason)) for name, reason in statistics.get("none", {}).items()]
        self.effort_gaps = [(label, reason) for label, reason in self.none if label in EFFORT.values()]

    @property
    def any(self) -> bool:
        return any(
            (self.counters, self.types, self.waits, self.upkeep, self.warm_up, self.tables, self.indexes, self.queries)
        )


@dataclass(frozen=True)
class Upkeep:
    """`age_s` None: `words` say whether it never was, or nobody tells when."""

    what: str
    age_s: float | None
    words: str = ""
    detail: str = ""


@dataclass(frozen=True)
class QueryPlan:
    """SQL with its plan; `executions`: what was executed with it, empty where all of a query were."""

    sql: str
    plan: str
    executions: str


@dataclass(frozen=True)
class Query:
    """Its statements, which differ in their parameters, and a row for each execution."""

    name: str
    statements: list[QueryPlan]
    executions: Table | None


def _upkeep(statistics: Mapping[str, Any]) -> list[Upkeep]:
    """The upkeep of the engine, or why a run has none; empty before the run of a session has ended."""
    ages = statistics.get("maintenance", [])
    if ages:
        return [_age(str(age.get("what", "")), age.get("age_s"), str(age.get("detail") or "")) for age in ages]
    reason = statistics.get("none", {}).get("maintenance")
    if reason:
        return [Upkeep(UPKEEP, None, "the engine does not report it", str(reason))]
    return [Upkeep(UPKEEP, None, "not recorded in this run")] if statistics.get("transaction_types") else []


def _age(what: str, age_s: float | None, detail: str) -> Upkeep:
    """Without an age an adapter says "never", or why no time is told."""
    if age_s is not None:
        return Upkeep(what, age_s, detail=detail)
    if not detail or detail.startswith(NEVER):
        return Upkeep(what, None, NEVER, detail.removeprefix(NEVER).lstrip(": "))
    return Upkeep(what, None, "no time is told", detail)


def _warm_up(statistics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The queries before the run, with the memory that the DBMS had at the end of each."""
    warm_up = statistics.get("warm_up_queries") or {}
    memory = warm_up.get("memory", [])
    return [
        {**query, "name": str(query.get("name", "")).partition(":")[2], "bytes": _memory_at(memory, query.get("t"))}
        for query in warm_up.get("queries", [])
    ]


def _memory_at(memory: Sequence[Mapping[str, Any]], at: float | None) -> float | None:
    """The memory at the first sample from `at` on, else at the last one. None for a query without an end."""
    if at is None:
        return None
    later = [sample["bytes"] for sample in memory if sample["t"] >= at]
    return later[0] if later else memory[-1]["bytes"] if memory else None


def _types(types: Mapping[str, Mapping[str, Any]]) -> Table | None:
    """The table of the types of a mix: a single type says nothing that the run does not."""
    if len(types) < 2:
        return None
    return _table([{"type": name, **figures} for name, figures in types.items()], TYPE_COLUMNS)


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[tuple[str, str, str]]) -> Table | None:
    (head, label, _), *others = columns
    used = [column for column in others if any(row.get(column[0]) is not None for row in rows)]
    if not rows or not used:
        return None
    return Table(
        [
            Column(label, numeric=False),
            *(Column(label, "" if unit in ("text", "bytes") else unit, unit != "text") for _name, label, unit in used),
        ],
        [
            [TableCell(text=str(row.get(head, ""))), *(_cell(row.get(name), name, unit) for name, _label, unit in used)]
            for row in rows
        ],
    )


def _cell(value: Any, name: str, unit: str) -> TableCell:
    """What an agent sends where a number belongs, and is none, is shown as the text that it is."""
    if value is None:
        return TableCell(hint="" if unit == "text" else NOT_TOLD)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return TableCell(text=str(value))
    deep = name == "depth" and value > DEEP_INDEX
    return TableCell(value, byte_size(value) if unit == "bytes" else "", hint=TOO_DEEP if deep else "")


def _queries(answers: Sequence[Mapping[str, Any]]) -> list[Query]:
    """The queries in the order of their statements; what could not be executed says why in place of figures."""
    queries = []
    for number in dict.fromkeys(str(answer.get("query")) for answer in answers):
        own = [answer for answer in answers if str(answer.get("query")) == number]
        rows = [{**answer, "why": answer.get("missing") or answer.get("error")} for answer in own]
        queries.append(Query(f"Query {number}", _statements(own), _table(rows, QUERY_COLUMNS)))
    return queries


def _statements(answers: Sequence[Mapping[str, Any]]) -> list[QueryPlan]:
    """Each SQL once, with the first plan that is told of it."""
    by_sql: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        if answer.get("sql"):
            by_sql.setdefault(str(answer["sql"]), []).append(answer)
    return [
        QueryPlan(
            sql,
            plan=next((str(answer["plan"]) for answer in own if answer.get("plan")), ""),
            executions=", ".join(str(answer.get("state", "")) for answer in own) if len(by_sql) > 1 else "",
        )
        for sql, own in by_sql.items()
    ]

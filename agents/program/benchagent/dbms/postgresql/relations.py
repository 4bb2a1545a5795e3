"""Tables, indexes and their upkeep as the catalogue and the planner's statistics know them, without any extension."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from collections.abc import Sequence

from benchagent.dbms.counters import Age, QueryRows, oldest, quoted_names
from benchagent.dbms.postgresql.discovery import Version

TABLE_COLUMNS = ("table", "rows", "row_bytes", "pages", "size_bytes", "index_bytes")
INDEX_COLUMNS = ("index", "table", "depth", "keys", "key_bytes", "unique_keys", "size_bytes")
# The first page of a B-tree says on which level its root is, 0 being the leaves: a four byte number, lowest byte first,
# after the page's header (24 bytes), a magic number, a version and the root's page number.
LEVEL_OFFSET = 36
CHECKPOINT_TIME_SINCE = (9, 6)

# Without the header of a row (24 bytes) and its pointer (4): what the columns hold, in the mean of a sample.
_ROW_BYTES = (
    "(SELECT sum(s.avg_width * (1 - s.null_frac)) FROM pg_stats s"
    " WHERE s.schemaname = n.nspname AND s.tablename = c.relname)"
)
# Counted by the sessions themselves since the last ANALYZE; nought for a table with pages means that they were lost.
_ROWS = (
    "CASE WHEN pg_relation_size(c.oid) = 0 OR pg_stat_get_live_tuples(c.oid) > 0"
    " THEN pg_stat_get_live_tuples(c.oid) END"
)
_TABLES = f"""SELECT c.relname, {_ROWS}, {_ROW_BYTES},
 pg_relation_size(c.oid) / current_setting('block_size')::bigint, pg_table_size(c.oid), pg_indexes_size(c.oid)
 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid) AND lower(c.relname) IN ({{names}})
 ORDER BY c.relname"""

_LEVEL = (
    "CASE WHEN m.amname = 'btree' THEN"
    f" get_byte(pg_read_binary_file(pg_relation_filepath(i.oid), {LEVEL_OFFSET}, 1), 0) + 1 END"
)
# Of columns of the table; an expression has no statistics under a name of its own.
_KEY_STATS = (
    "FROM pg_stats s JOIN pg_attribute a ON a.attname = s.attname AND a.attrelid = c.oid"
    " WHERE s.schemaname = n.nspname AND s.tablename = c.relname AND a.attnum = ANY (x.indkey::int2[])"
)
_DISTINCT = "CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples ELSE s.n_distinct END"
_INDEXES = f"""SELECT i.relname, c.relname, {{level}}, CASE WHEN i.relpages > 1 THEN i.reltuples END,
 (SELECT sum(s.avg_width) {_KEY_STATS}),
 CASE WHEN c.relpages = 0 THEN NULL WHEN x.indisunique THEN i.reltuples
  WHEN x.indnatts = 1 THEN (SELECT {_DISTINCT} {_KEY_STATS}) END,
 pg_relation_size(i.oid)
 FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
 JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am m ON m.oid = i.relam
 WHERE i.relkind = 'i' AND pg_table_is_visible(c.oid) AND lower(c.relname) IN ({{names}})
 ORDER BY c.relname, i.relname"""
_UPKEEP = (
    "SELECT relname, extract(epoch FROM now() - greatest(last_analyze, last_autoanalyze)),"
    " extract(epoch FROM now() - greatest(last_vacuum, last_autovacuum)), n_dead_tup FROM pg_stat_user_tables"
    " WHERE pg_table_is_visible(relid) AND lower(relname) IN ({names}) ORDER BY relname"
)


def schema_queries(tables: Sequence[str], *, with_depth: bool) -> dict[str, str]:
    """`with_depth` reads the first page of each index, as it is on disk: true after a checkpoint."""
    names = quoted_names(tables, str.lower)
    indexes = _INDEXES.format(names=names, level=_LEVEL if with_depth else "NULL")
    return {"tables": _TABLES.format(names=names), "indexes": indexes}


def upkeep_queries(tables: Sequence[str], version: Version) -> dict[str, str]:
    queries = {"upkeep": _UPKEEP.format(names=quoted_names(tables, str.lower))}
    if version >= CHECKPOINT_TIME_SINCE:
        queries["checkpoint"] = "SELECT extract(epoch FROM now() - checkpoint_time) FROM pg_control_checkpoint()"
    return queries


def ages(rows: QueryRows) -> list[Age]:
    """Of the table that was left longest; never where there is one that never was."""
    tables, listed = rows.get("upkeep", []), []
    if tables:
        dead = sum(int(row[3] or 0) for row in tables)
        vacuum = oldest("vacuum", tables, 2)
        listed.append(oldest("statistics (ANALYZE)", tables, 1))
        listed.append(Age(vacuum.what, vacuum.age_s, f"{vacuum.detail}; {dead} dead rows in all tables"))
    if rows.get("checkpoint"):
        seconds = rows["checkpoint"][0][0]
        age_s = None if seconds is None else max(0.0, float(seconds))
        listed.append(Age("checkpoint", age_s, "begin of the last one that was completed"))
    return listed

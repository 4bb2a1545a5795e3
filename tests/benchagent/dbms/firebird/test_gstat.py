from __future__ import annotations

from benchagent.dbms.firebird import gstat

PRINTED = """
Database header page information:
\tPage size\t\t8192
\tODS version\t\t12.0

Analyzing database pages ...
T (128)
    Primary pointer page: 181, Index root page: 182
    Average record length: 440.36, total records: 100000
    Pointer pages: 4, data page slots: 5944
    Data pages: 5944, average fill: 94%
    Fill distribution:
\t 0 - 19% = 4

    Index T_C (1)
\tRoot page: 198, depth: 4, leaf buckets: 88, nodes: 100000
\tAverage node length: 4.83, total dup: 99000, max dup: 100
\tAverage key length: 2.01, compression ratio: 1.43

EMPTY (129)
    Primary pointer page: 190, Index root page: 191
    Average record length: 0.00, total records: 0
"""
OLD = """
Analyzing database pages ...
EMPLOYEE (131)
    Primary pointer page: 165, Index root page: 166
    Average record length: 69.00, total records: 42
    Data pages: 4, data page slots: 4, average fill: 63%

    Index NAMEX (1)
\tDepth: 1, leaf buckets: 1, nodes: 42
\tAverage data length: 15.00, total dup: 0, max dup: 0
"""


def test_it_reads_tables_and_indexes():
    page = gstat.page_size(PRINTED)
    first, empty = gstat.blocks(PRINTED)
    table = gstat.table_facts(first, page)
    assert (table.table, table.rows, table.row_bytes, table.pages) == ("T", 100_000, 440.36, 5944)
    assert (table.size_bytes, table.index_bytes, table.fill_percent) == (5948 * 8192, 88 * 8192, 94)
    index = gstat.index_facts(first, first.indexes[0], page)
    assert (index.index, index.table, index.depth, index.keys) == ("T_C", "T", 4, 100_000)
    assert (index.unique_keys, index.key_bytes, index.size_bytes) == (1_000, 2.01, 88 * 8192)
    assert gstat.table_facts(empty, page).rows == 0


def test_it_reads_the_wording_of_older_versions_and_states_nothing_that_is_not_printed():
    (first,) = gstat.blocks(OLD)
    table = gstat.table_facts(first, gstat.page_size(OLD))
    assert (table.rows, table.pages, table.size_bytes, table.fill_percent) == (42, 4, None, 63)
    index = gstat.index_facts(first, first.indexes[0], None)
    assert (index.depth, index.keys, index.key_bytes, index.size_bytes) == (1, 42, 15, None)


def test_it_finds_nothing_in_what_is_no_analysis():
    assert gstat.blocks("Wrong ODS version, expected 12, encountered 13") == []

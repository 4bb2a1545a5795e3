"""Which transactions have no disk to wait for, by what they are made of."""

from __future__ import annotations

import pytest
from benchagent import workloads
from benchagent.catalog import WORKLOADS
from benchagent.dbms.dialect import Dialect
from benchagent.workloads.tpcc import transactions

SCRIPT = """
[setup]
CREATE TABLE t (a INTEGER);
[transaction look]
SELECT a FROM t;
[transaction both]
SELECT a FROM t;
INSERT INTO t VALUES (1);
"""


@pytest.mark.parametrize(
    ("slug", "given", "expected"),
    [
        ("tpcb", {}, set()),
        ("inserts_selects", {"load": "insert"}, set()),
        ("inserts_selects", {"load": "select_narrow"}, {"select"}),
        ("script", {"script_text": SCRIPT}, {"look"}),
    ],
)
def test_it_names_the_transactions_that_only_read(slug: str, given: dict[str, int | float | str], expected: set[str]):
    workload = workloads.workload(slug, WORKLOADS[slug].version)
    assert workload.reading(workload.factors(given)) == expected


def test_of_tpcc_those_whose_sql_only_selects():
    workload = workloads.workload("tpcc", WORKLOADS["tpcc"].version)
    programs = transactions.programs(Dialect(), {})
    selecting = {one["name"] for one in programs if all(sql.startswith("SELECT") for sql in one["sql"].values())}
    assert workload.reading(workload.factors({})) == selecting

from __future__ import annotations

from tests.benchagent.workloads.tpcc.java_sql import PATH, rendered


def test_it_gives_the_unit_tests_of_the_load_generator_the_statements_of_the_workload(repository):
    assert (repository / PATH).read_text() == rendered(), "write it anew: see tests/…/tpcc/java_sql.py"

from __future__ import annotations

from typing import Any

import pytest
from benchagent.dbms import counters

from runs.charts.run import memory_figure
from runs.models import Run
from runs.run import engine_report

TOLD: dict[str, Any] = {
    "counters": {"log_bytes": 4096.0, "checkpoints": 0.0, "of_tomorrow": 1.0},
    "waits": {"IO/WALSync": 1.5},
    "conditions": {"checkpoints": "no checkpoint in the window"},
    "maintenance": [{"what": "statistics of accounts", "age_s": 12.0, "detail": ""}],
    "tables": [{"table": "stock", "rows": 100_000, "size_bytes": 30_000_000}, {"table": "history", "rows": 0}],
    "indexes": [
        {"index": "stock_pk", "table": "stock", "depth": 3},
        {"index": "ol_pk", "table": "order_line", "depth": 4},
    ],
    "transaction_types": {"payment": {"transactions": 43, "errors": 0}, "new_order": {"transactions": 45, "errors": 1}},
    "queries": [
        {"query": 1, "state": "cold", "sql": "SELECT 1", "plan": "NATURAL", "elapsed_s": 0.5, "row_count": 1},
        {"query": 1, "state": "other parameters", "missing": "there is one warehouse"},
    ],
    "none": {"log_flushes": "it has no log", "query_reads": "it counts no reads"},
    "consistency": [
        {"condition": "5", "when": "after the load", "violations": 0},
        {"condition": "6", "when": "after the load", "violations": 0, "only_in": "warehouse 3 of 5 only"},
    ],
}  # fmt: skip


def told(**changes: Any) -> engine_report.EngineReport:
    return engine_report.EngineReport({**TOLD, **changes})


def test_it_knows_every_standard_statistic_of_the_agent():
    assert set(engine_report.COUNTERS) == set(counters.COUNTERS)
    assert set(engine_report.PARTS) == set(counters.PARTS)
    assert engine_report.DEEP_INDEX == counters.DEEP_INDEX


def test_it_shows_counters_with_words_and_leaves_out_unknown_ones():
    assert told().counters == [("Log written", 4096.0, "bytes"), ("Checkpoints or log switches", 0.0, "")]
    assert told().none == [("Log forced to disk", "it has no log"), ("Reads of a query", "it counts no reads")]


def test_it_marks_indexes_of_more_than_three_levels():
    table = told().indexes
    assert [column.label for column in table.columns] == ["Index", "Table", "Depth"]
    assert [row[2].hint for row in table.rows] == ["", "deeper than 3 levels"]


def test_it_has_no_column_that_nobody_fills_and_a_gap_where_one_row_has_nothing():
    table = told().tables
    assert [column.heading for column in table.columns] == ["Table", "Rows", "Size"]
    assert [(cell.value, cell.hint) for cell in table.rows[1][1:]] == [(0, ""), (None, "the DBMS does not report it")]


def test_it_lists_types_of_a_mix_only():
    table = told().types
    assert [row[0].text for row in table.rows] == ["payment", "new_order"]
    assert told(transaction_types={"tpcb": {"transactions": 1}}).types is None


def test_it_says_why_a_query_was_not_executed():
    (query,) = told().queries
    assert (query.name, query.statements) == ("Query 1", [engine_report.QueryPlan("SELECT 1", "NATURAL", "")])
    assert [row[0].text for row in query.executions.rows] == ["cold", "other parameters"]
    assert query.executions.rows[1][-1].text == "there is one warehouse"


def test_it_says_beside_the_queries_what_the_engine_does_not_tell_of_them():
    assert told().effort_gaps == [("Reads of a query", "it counts no reads")]


def test_a_query_with_other_parameters_has_its_own_sql_and_plan():
    other = {"query": 1, "state": "other", "sql": "SELECT 2", "plan": "INDEX", "elapsed_s": 0.1}
    warm = {"query": 1, "state": "warm", "sql": "SELECT 1", "plan": "NATURAL", "elapsed_s": 0.2}
    (query,) = told(queries=[*TOLD["queries"], warm, other]).queries
    assert query.statements == [
        engine_report.QueryPlan("SELECT 1", "NATURAL", "cold, warm"),
        engine_report.QueryPlan("SELECT 2", "INDEX", "other"),
    ]


def test_what_is_no_number_is_shown_as_text():
    table = told(tables=[{"table": "x", "rows": "<b>many</b>"}]).tables
    assert (table.rows[0][1].value, table.rows[0][1].text) == (None, "<b>many</b>")


@pytest.mark.parametrize(
    ("age_s", "detail", "words", "rest"),
    [
        (None, "", "never", ""),
        (None, "never: stock", "never", "stock"),
        (None, "it is not recorded; gap 7", "no time is told", "it is not recorded; gap 7"),
        (7.0, "longest ago: stock", "", "longest ago: stock"),
    ],
)  # fmt: skip
def test_it_tells_never_from_not_told(age_s, detail, words, rest):
    (age,) = told(maintenance=[{"what": "vacuum", "age_s": age_s, "detail": detail}]).upkeep
    assert (age.age_s, age.words, age.detail) == (age_s, words, rest)


def test_without_upkeep_it_says_why():
    (gap,) = told(maintenance=[], none={"maintenance": "it keeps none"}).upkeep
    assert (gap.words, gap.detail) == ("the engine does not report it", "it keeps none")
    (gap,) = told(maintenance=[]).upkeep
    assert gap.words == "not recorded in this run"
    assert told(maintenance=[], transaction_types={}).upkeep == []


WARM_UP = {
    "memory": [{"t": 0.0, "bytes": 1 << 20}, {"t": 0.1, "bytes": 2 << 20}, {"t": 0.2, "bytes": 3 << 20}],
    "queries": [
        {"name": "warm-up:order_line", "t": 0.05, "elapsed_s": 0.01},
        {"name": "warm-up:stock", "t": 0.15, "elapsed_s": 0.09},
        {"name": "warm-up:orders", "error": "no such table"},
    ],
}


def test_it_shows_the_warm_up_queries_with_the_memory_at_their_end():
    table = told(warm_up_queries=WARM_UP).warm_up
    assert [(row[0].text, row[3].value) for row in table.rows] == [
        ("order_line", 2 << 20), ("stock", 3 << 20), ("orders", None),
    ]  # fmt: skip
    assert table.rows[2][4].text == "no such table"


@pytest.mark.django_db
def test_the_page_shows_the_curve_of_the_memory(client, world):
    run = Run.objects.get(pk=world.things["public"]["run"])
    figure = memory_figure(Run(statistics={"warm_up_queries": WARM_UP}, dbms_version=run.dbms_version))
    assert figure.spec["type"] == "lines"
    assert figure.spec["series"][0]["points"] == [(0.0, 1.0), (0.1, 2.0), (0.2, 3.0)]
    assert [(band["from"], band["to"]) for band in figure.spec["bands"]] == [(0.04, 0.15)]
    Run.objects.filter(pk=run.pk).update(statistics={"warm_up_queries": WARM_UP})
    page = client.get(run.get_absolute_url()).content.decode()
    assert 'id="heating"' in page
    assert "order_line" in page


@pytest.mark.django_db
def test_the_page_shows_them(client, world):
    run = Run.objects.get(pk=world.things["public"]["run"])
    Run.objects.filter(pk=run.pk).update(statistics=TOLD)
    page = client.get(run.get_absolute_url()).content.decode()
    words = (
        "no checkpoint in the window", "IO/WALSync", "there is one warehouse", "deeper than 3 levels", "NATURAL",
        "not reported: it counts no reads", "6, after the load, warehouse 3 of 5 only",
    )  # fmt: skip
    assert [one for one in words if one not in page] == []
    assert "5, after the load<" in page.replace("</li>", "<"), "that was asked of all"


def test_a_run_without_statistics_has_nothing_to_show():
    assert not engine_report.EngineReport({}).any

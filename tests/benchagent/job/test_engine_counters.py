"""From rows to the statistics of a run, for an engine that is made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from benchagent.dbms.counters import (
    Age,
    EngineCounters,
    IndexFacts,
    QueryRows,
    TableFacts,
    checkpoint_words,
    hit_percent,
)
from benchagent.job.engine_counters import commits_per_flush, of_session
from benchagent.workloads.base import SessionResult

NAMES = ("buffer_hits", "checkpoints", "log_bytes", "lock_waits")
SUMMARY = {"per_type": {"tpcb": {"transactions": 10, "errors": 1}}}


class MadeUp(EngineCounters):
    none = {"deadlocks": "it has no locks"}
    waiting = {"now": "SELECT waits"}

    def counter_queries(self) -> Mapping[str, str]:
        return {"all": "SELECT counters"}

    def counters(self, rows: QueryRows) -> dict[str, float]:
        return {name: float(value) for name, value in zip(NAMES, rows["all"][0], strict=True) if value is not None}

    def waits(self, rows: QueryRows) -> dict[str, float]:
        return {event: float(number) for event, number in rows["now"]}

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {"ages": "SELECT ages"}

    def maintenance(self, rows: QueryRows) -> list[Age]:
        return [Age(what, age) for what, age in rows["ages"]]

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        return [TableFacts(name, rows=number) for name, number in rows["tables"]]

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        return [IndexFacts("pk", "accounts", depth=4)]


def session(begin: list[Any], end: list[Any], **more: Any) -> SessionResult:
    rows = {"begin:counters:all": [begin], "end:counters:all": [end], **more}
    return SessionResult(rows=rows, summary=SUMMARY)


def test_a_counter_of_the_run_is_its_increase_over_the_measured_window():
    found = of_session(MadeUp(), session([100, 3, 5000, 0], [180, 5, 9000, 0]), {})
    assert found["counters"] == {"buffer_hits": 80, "checkpoints": 2, "log_bytes": 4000, "lock_waits": 0}


def test_a_counter_that_fell_or_is_not_there_at_both_ends_is_left_out():
    found = of_session(MadeUp(), session([100, 3, 5000, None], [80, 3, None, 7]), {})
    assert found["counters"] == {"checkpoints": 0}
    begun_only = SessionResult(rows={"begin:counters:all": [[1, 2, 3, 4]]}, summary=SUMMARY)
    assert "counters" not in of_session(MadeUp(), begun_only, {})


def test_waits_are_means_over_the_seconds_that_were_sampled_the_most_frequent_first():
    sampled = {"waits:now": [[["lock", 2], ["io", 1]], [["lock", 4]], [], [["io", 1]]]}
    found = of_session(MadeUp(), session([0] * 4, [0] * 4), sampled)
    assert list(found["waits"].items()) == [("lock", 1.5), ("io", 0.5)]


class AddsUpWaits(MadeUp):
    def waited_s(self, rows: QueryRows) -> dict[str, float]:
        return dict(rows["events"])


def test_waits_that_the_engine_adds_up_are_means_over_the_window_too():
    events = {"begin:counters:events": [["lock", 5.0], ["idle", 7.0]]}
    # The last one was waited for in the window for the first time.
    events["end:counters:events"] = [["lock", 6.0], ["idle", 7.0], ["io", 3.0]]
    run = session([0] * 4, [0] * 4, **events)
    run.summary = {**SUMMARY, "duration_s": 2.0}
    assert list(of_session(AddsUpWaits(), run, {})["waits"].items()) == [("io", 1.5), ("lock", 0.5)]


def test_it_tells_how_old_upkeep_was_and_that_something_never_happened():
    found = of_session(
        MadeUp(), session([0] * 4, [0] * 4, **{"maintenance:ages": [["vacuum", 12.5], ["purge", None]]}), {}
    )
    assert found["maintenance"] == [
        {"what": "vacuum", "age_s": 12.5, "detail": ""},
        {"what": "purge", "age_s": None, "detail": ""},
    ]


def test_it_keeps_tables_indexes_types_and_what_the_engine_does_not_tell():
    found = of_session(MadeUp(), session([0] * 4, [0] * 4, **{"schema:tables": [["accounts", 7]]}), {})
    assert found["tables"] == [{"table": "accounts", "rows": 7}]
    assert found["indexes"] == [{"index": "pk", "table": "accounts", "depth": 4}]
    assert found["transaction_types"] == SUMMARY["per_type"]
    assert found["none"] == {"deadlocks": "it has no locks"}


def test_a_session_without_a_run_says_nothing_of_one():
    assert of_session(MadeUp(), SessionResult(), {"waits:now": [[]]}) == {}


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        ({"checkpoints": 3.0}, "3 checkpoints in the measured window"),
        ({"checkpoints": 1.0}, "1 checkpoint in the measured window"),
        ({"checkpoints": 0.0}, "no checkpoint in the window"),
        ({}, "the number of checkpoints in the measured window is not known: their counter could not be read"),
    ],
)
def test_it_says_how_many_checkpoints_fell_into_the_window(counted: dict[str, float], words: str):
    assert checkpoint_words(MadeUp(), counted) == words


def test_log_switches_are_not_called_checkpoints():
    source = MadeUp()
    source.checkpoint_nouns = ("log switch", "log switches")
    said = [checkpoint_words(source, {"checkpoints": number}) for number in (0.0, 1.0, 2.0)]
    assert said == [
        "no log switch in the window",
        "1 log switch in the measured window",
        "2 log switches in the measured window",
    ]


def test_it_says_why_an_engine_does_not_count_checkpoints():
    source = EngineCounters()
    source.none = {"checkpoints": "it writes pages at once"}
    assert checkpoint_words(source, {}) == "the engine does not count checkpoints: it writes pages at once"


@pytest.mark.parametrize(
    ("counters", "percent"),
    [
        ({"buffer_hits": 90, "buffer_reads": 10}, 90),
        ({"buffer_hits": 0, "buffer_reads": 0}, None),
        ({"buffer_hits": 5}, None),
    ],
)
def test_the_hit_ratio_is_that_of_the_pages_asked_for(counters, percent):
    assert hit_percent(counters) == percent


class Flushing(MadeUp):
    origins = {"log_flushes": "counter `flushes`"}


@pytest.mark.parametrize(
    ("reading", "flushes", "found"),
    [
        (set(), 25.0, (3.6, "90 commits by 25 flushes of the log (counter `flushes`)")),
        ({"look"}, 25.0, (2.0, "50 commits by 25 flushes of the log (counter `flushes`)")),
        ({"look", "buy"}, 25.0, None),
        (set(), 0.0, None),
        (set(), None, None),
    ],
)
def test_commits_per_flush_are_of_what_was_committed(reading: set[str], flushes: float | None, found: Any):
    """Neither of what the workload rolls back nor of transactions that have nothing to flush."""
    types = {"buy": {"transactions": 60, "rolled_back": 10}, "look": {"transactions": 40, "rolled_back": 0}}
    summary = {"tps": 50.0, "transactions": 100, "duration_s": 2.0, "per_type": types}
    counters = {} if flushes is None else {"log_flushes": flushes}
    told = commits_per_flush(Flushing(), summary, counters, frozenset(reading))
    assert told == (found if found is None else (pytest.approx(found[0]), found[1]))

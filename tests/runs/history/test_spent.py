from __future__ import annotations

import pytest

from runs.history import spent
from runs.history.causes import _changes_by_engine, _kind, _told_apart
from runs.history.spent import Quantity, Spending
from runs.models import Run
from runs.run.circumstances import changes

LATENCY = Quantity("latency_mean_ms", "Mean latency", "ms")
CPU = Quantity("server_cpu_ms", "CPU of the DBMS, per transaction", "ms", Spending.CPU, is_time=True)
LOCK = Quantity("wait:Lock: tuple", "Waiting: Lock: tuple", "ms", Spending.LOCK, is_time=True)
SYNC = Quantity("wait:IO: WALSync", "Waiting: IO: WALSync", "ms", Spending.FLUSHES, is_time=True)
FLUSHES = Quantity("log_flushes", "Log forced to disk, per transaction", "times", Spending.FLUSHES)
OTHERS = Quantity("others_cpu_cores", "CPU of others", "cores", Spending.OTHERS)
OWN = Quantity("server_cpu_cores", "CPU of the DBMS", "cores")
BEGIN = Quantity("begin_ms", "Waiting to begin, per transaction", "ms", Spending.LOCK, is_time=True)


def side(**means: float) -> dict[Quantity, list[float]]:
    """Of four batches that scatter by 1 %."""
    named = {
        "latency": LATENCY, "cpu": CPU, "lock": LOCK, "sync": SYNC, "flushes": FLUSHES, "others": OTHERS, "own": OWN,
        "begin": BEGIN,
    }  # fmt: skip
    return {named[name]: [mean * (1 + 0.01 * off) for off in (-1, 0.3, 0, 0.7)] for name, mean in means.items()}


def found(before: dict[str, float], after: dict[str, float]) -> list[spent.Spent]:
    return spent.compare(side(**before), side(**after))


def test_what_added_most_to_a_transaction_comes_first():
    before, after = {"latency": 1, "cpu": 0.5, "sync": 0.2}, {"latency": 3, "cpu": 0.7, "sync": 0.2, "lock": 1.8}
    told = found(before, after)
    assert [each.quantity for each in told if each.part] == [LOCK, CPU]
    assert told[0].part == pytest.approx(0.9, abs=0.03)
    assert spent.spending(told, is_slower=True) == Spending.LOCK


@pytest.mark.parametrize(("flushes", "spending"), [(1.0, Spending.DISK), (2.0, Spending.FLUSHES)])
def test_flushes_that_take_longer_are_the_disk_and_more_of_them_are_not(flushes, spending):
    told = found({"latency": 2, "sync": 1, "flushes": 1}, {"latency": 3, "sync": 2, "flushes": flushes})
    assert spent.spending(told, is_slower=True) == spending


def test_what_others_do_on_the_machine_is_the_machine_unless_the_system_changed():
    told = found({"latency": 1, "cpu": 0.5, "others": 0.1}, {"latency": 2, "cpu": 0.6, "others": 1.5})
    assert _kind([], told, is_machine=False, is_slower=True) == "machine"
    for kind in ("setting", "dataset"):
        assert _kind([(kind, "")], told, is_machine=False, is_slower=True) == kind
    assert _kind([], told, is_machine=False, is_slower=False) != "machine"


def test_a_time_of_a_transaction_matters_from_where_on_every_time_does():
    """Was: from 3 % on where the catalogue does not name it, and 5 % of all others."""
    assert found({"latency": 1, "cpu": 0.5}, {"latency": 1.04, "cpu": 0.52}) == []
    assert [each.quantity for each in found({"latency": 1, "cpu": 0.5}, {"latency": 1, "cpu": 0.53})] == [CPU]


def test_what_one_side_does_not_tell_is_not_known():
    assert found({"latency": 1, "cpu": 0.5}, {"latency": 1, "cpu": 0.5, "flushes": 4, "others": 2, "lock": 0.4}) == []


def test_what_moved_some_nights_later_is_no_circumstance_of_a_step():
    """Was: the mean of four nights as before and six that another commit had slowed."""
    nights = [1 + 0.01 * off for off in (-1, 0.3, 0, 0.7, -0.2, 0.5, -0.6, 0.1, 0.9, -0.7)]
    later = [each * (1.25 if at >= 4 else 1.0) for at, each in enumerate(nights)]
    cpu = {CPU: nights}, {CPU: [1.5 * each for each in nights]}
    p99 = Quantity("latency_p99_ms", "p99 latency", "ms")
    told = spent.compare({p99: nights, **cpu[0]}, {p99: later, **cpu[1]})
    assert [each.quantity for each in told] == [CPU]
    # Before it, too.
    told = spent.compare({p99: later, **cpu[0]}, {p99: [1.25 * each for each in nights], **cpu[1]})
    assert [each.quantity for each in told] == [CPU]


def test_what_scatters_is_no_change():
    assert found({"latency": 1, "cpu": 0.5}, {"latency": 1.004, "cpu": 0.502}) == []


def test_indexes_plans_and_upkeep_that_differ_are_named():
    plan = "Index Scan using pk  (cost=0.29..8.31 rows=1)"
    before = Run(statistics={
        "indexes": [{"index": "pk"}, {"index": "name"}], "maintenance": [{"what": "vacuum", "age_s": 3.0}],
        "queries": [{"query": 1, "sql": "SELECT 1", "plan": plan}, {"query": 2, "sql": "SELECT 2", "plan": plan}],
    })  # fmt: skip
    after = Run(statistics={
        "indexes": [{"index": "pk"}], "maintenance": [{"what": "vacuum", "age_s": None}],
        "queries": [
            {"query": 1, "sql": "SELECT 1", "plan": plan.replace("8.31", "9.99")},
            {"query": 2, "sql": "SELECT 2", "plan": "Seq Scan (cost=0)"},
        ],
    })  # fmt: skip
    assert [kind for kind, _ in _changes_by_engine(before, after)] == ["index", "plan", "statistics"]
    assert list(_changes_by_engine(before, before)) == []


def test_a_setting_that_was_not_given_before_is_a_difference_and_a_fact_that_was_not_told_is_none():
    before, after = (
        {"setting:jit": "off", "machine:Kernel": "6.1"},
        {"setting:commit_delay": "3168", "machine:RAM": "8"},
    )
    assert changes(before, after) == [
        ("setting", "commit_delay not given → 3168"), ("setting", "jit off → not given"),
    ]  # fmt: skip


def test_who_has_more_to_compute_and_waits_for_it_has_more_to_compute():
    ready = Quantity("cpu_wait_ms", "Active, no CPU and no wait told", "ms", Spending.WAITING_FOR_CPU, is_time=True)
    before = side(latency=1, cpu=0.2) | {ready: [0.5, 0.51, 0.49, 0.5]}
    more = side(latency=3, cpu=0.8) | {ready: [1.9, 1.91, 1.92, 1.9]}
    less = side(latency=3, cpu=0.2) | {ready: [2.5, 2.51, 2.49, 2.5]}
    assert spent.spending(spent.compare(before, more), is_slower=True) == Spending.CPU
    assert spent.spending(spent.compare(before, less), is_slower=True) == Spending.WAITING_FOR_CPU


def test_commits_are_shown_as_far_as_tells_them_apart():
    assert _told_apart("0123456789abcdef", "fedcba9876543210") == ("0123456789", "fedcba9876")
    assert _told_apart("0" * 12 + "a1", "0" * 12 + "b2") == ("0" * 12 + "a", "0" * 12 + "b")
    assert _told_apart("", "0" * 40) == ("not stated", "0" * 10)


def test_what_others_take_because_the_system_left_it_is_no_cause():
    before = {"latency": 1, "lock": 0.1, "own": 1.0, "others": 0.9}
    told = found(before, {"latency": 5, "lock": 4, "own": 0.2, "others": 1.75})
    assert spent.spending(told, is_slower=True) == Spending.LOCK
    told = found(before, {"latency": 5, "lock": 4, "own": 0.9, "others": 1.75})
    assert spent.spending(told, is_slower=True) == Spending.OTHERS


def test_what_others_take_on_a_machine_that_was_quiet_is_the_cause():
    """Seen: six busy processes beside PostgreSQL, which held both cores before, and "likeliest: client"."""
    told = found({"latency": 1, "own": 1.8, "others": 0.1}, {"latency": 1.5, "own": 1.2, "others": 0.8})
    assert spent.spending(told, is_slower=True) == Spending.OTHERS


def test_a_lock_of_which_the_engine_tells_nothing_is_seen_where_transactions_begin():
    told = found({"latency": 1, "begin": 0.01, "cpu": 0.2}, {"latency": 4, "begin": 2.9, "cpu": 0.2})
    assert spent.spending(told, is_slower=True) == Spending.LOCK


def test_rows_that_take_more_room_are_another_data_set_and_more_rows_are_not():
    def tables(size: int, rows: int) -> Run:
        small = {"table": "tellers", "rows": 10, "size_bytes": 90 * size}
        return Run(statistics={"tables": [{"table": "accounts", "rows": rows, "size_bytes": 1000 * size}, small]})

    assert list(_changes_by_engine(tables(10, 100), tables(40, 400))) == []
    (told,) = _changes_by_engine(tables(10, 100), tables(40, 100))
    assert told == ("dataset", "Table accounts 100 → 400 bytes a row")

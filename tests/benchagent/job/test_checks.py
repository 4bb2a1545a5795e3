from __future__ import annotations

from typing import Any

import pytest
from benchagent.job import checks


def summary(**changes: Any) -> dict[str, Any]:
    """4 terminals, 1,000 TPS for 2 s, 4 ms mean: exactly what a closed loop gives."""
    good = {
        "transactions": 2000,
        "tps": 1000.0,
        "mean_us": 4000.0,
        "p50_us": 3900,
        "p95_us": 5000,
        "p99_us": 6000,
        "max_us": 9000,
        "per_terminal": [500, 500, 500, 500],
        "dead_terminals": [],
        "retried": [],
        "errors": 0,
        "warm_up_transactions": 700,
        "tail_transactions": 4,
        "histogram_count": 2000,
    }
    return {**good, **changes}


SECONDS = [{"warm_up": True, "n": 700}, {"warm_up": False, "n": 900}, {"warm_up": False, "n": 1100}]


@pytest.mark.parametrize(("tps", "ok"), [(1000, True), (1049, True), (1051, False), (951, True), (949, False)])
def test_it_expects_terminals_to_be_throughput_times_latency_within_five_percent(tps, ok):
    assert checks.little_law(summary(tps=float(tps)), 4)["ok"] is ok


@pytest.mark.parametrize(
    "changes", [{"p50_us": 5001}, {"p95_us": 6001}, {"p99_us": 9001}, {"max_us": None}, {"p50_us": None}]
)
def test_it_expects_percentiles_in_order(changes):
    assert checks.percentiles_ordered(summary())["ok"]
    assert not checks.percentiles_ordered(summary(**changes))["ok"]


@pytest.mark.parametrize(
    "changes", [{"transactions": 2001}, {"histogram_count": 1999}, {"histogram_count": None}, {"per_terminal": [2001]}]
)
def test_it_expects_every_count_to_be_the_same(changes):
    assert checks.counts_agree(summary(), SECONDS)["ok"]
    assert not checks.counts_agree(summary(**changes), SECONDS)["ok"]
    assert not checks.counts_agree(summary(), SECONDS[:2])["ok"]


def test_it_names_a_dead_terminal_with_its_error():
    dead = {"terminal": 2, "error": "database is locked", "sqlstate": None, "code": 5}
    assert checks.terminals_alive(summary())["ok"]
    check = checks.terminals_alive(summary(dead_terminals=[dead]))
    assert not check["ok"]
    assert "terminal 2: database is locked (SQLSTATE None, code 5)" in check["detail"]


def test_it_names_the_terminals_that_met_conflicts_until_the_end():
    deadlock = {"count": 3, "error": "deadlock found", "sqlstate": "40001", "code": 1213}
    timeout = {"count": 9, "error": "lock wait timeout", "sqlstate": "41000", "code": 1205}
    check = checks.terminals_not_stuck(summary(retried=[timeout, deadlock]))
    words = "12 conflicts were tried again: 9 × lock wait timeout (SQLSTATE 41000, code 1205); 3 × deadlock found ("
    assert check["ok"] and check["detail"].startswith(words)
    check = checks.terminals_not_stuck(summary(retried=[timeout], per_terminal=[0, 1000, 1000, 0]))
    assert not check["ok"]
    assert check["detail"].endswith("; no transaction in the measured window by terminal 0, 3")


def test_it_calls_a_run_client_bound_over_a_quarter_of_the_cores():
    assert checks.client_bound(2.0, 8)["ok"]
    check = checks.client_bound(2.1, 8)
    assert not check["ok"]
    assert "may be client-bound" in check["detail"]


def test_it_wants_something_measured():
    assert not checks.something_measured(summary(transactions=0))["ok"]


@pytest.mark.parametrize(("errors", "ok"), [(0, True), (27, True), (28, False)])
def test_it_fails_a_run_in_which_more_than_one_percent_failed(errors, ok):
    """Of 2,704 transactions that ended from warm-up to tail, and the errors themselves."""
    check = checks.errors_within_limit(summary(errors=errors))
    assert check["ok"] is ok
    assert check["detail"].startswith(f"{errors} failed transactions, ")
    assert check["detail"].endswith("% of all (limit 1 %)")


def test_it_does_not_divide_by_nothing():
    empty = summary(transactions=0, warm_up_transactions=0, tail_transactions=0)
    assert checks.errors_within_limit(empty)["ok"]
    assert not checks.errors_within_limit({**empty, "errors": 1})["ok"]

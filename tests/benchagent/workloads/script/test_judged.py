from __future__ import annotations

from typing import Any

import pytest
from benchagent.workloads.base import SessionResult
from benchagent.workloads.script import judged
from benchagent.workloads.script.model import Expectation, Question

SUMMARY = {"committed": 70, "per_type": {"buy": {"committed": 50}, "look": {"committed": 20}}}


def found(before: Any, after: Any) -> SessionResult:
    rows = {"before:q": [[before]], "after:q": [[after]]}
    return SessionResult(summary=SUMMARY, rows=rows, queries={}, phases={}, progress=())


@pytest.mark.parametrize(
    ("answer", "expected", "ok"),
    [
        (5, "5", True),
        (5, "5.00", True),
        (5, "6", False),
        (0.30000000000000004, "0.3", False),
        ("open", "open", True),
        ("open", "closed", False),
        (None, "null", True),
        (None, "0", False),
        (0, "null", False),
        ("NaN", "0", False),
        ("Infinity", "1", False),
    ],
)
def test_a_value_has_to_be_the_same(answer, expected, ok):
    check = judged(Question("q", "SELECT 1", Expectation(value=expected)), found(None, answer))
    assert (check["name"], check["ok"]) == ("script_q", ok)
    assert f"{answer}, expected {expected}" in check["detail"]


@pytest.mark.parametrize(
    ("expected", "before", "after", "ok"),
    [
        (Expectation(committed="buy"), 10, 60, True),
        (Expectation(committed="buy"), 10, 61, False),
        (Expectation(committed="never"), 10, 10, True),
        (Expectation(committed=""), None, 70, True),
        (Expectation(), 7, "7.0", True),
        (Expectation(), "x", "x", False),
    ],
)
def test_growth_is_what_the_load_generator_committed(expected, before, after, ok):
    assert judged(Question("q", "SELECT 1", expected), found(before, after))["ok"] is ok

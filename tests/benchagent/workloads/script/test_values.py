from __future__ import annotations

import pytest
from benchagent.workloads.script.values import ValueProblem, column, variable


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("random(1, 100)", {"kind": "uniform", "min": 1, "max": 100}),
        ("RANDOM( -5 ,5 )", {"kind": "uniform", "min": -5, "max": 5}),
        ("nurand(255, 7, 1, 3000)", {"kind": "nurand", "a": 255, "c": 7, "min": 1, "max": 3000}),
        ("text(5)", {"kind": "text", "min_length": 5, "max_length": 5}),
        ("text(1, 9, 'x,)''')", {"kind": "text", "min_length": 1, "max_length": 9, "alphabet": "x,)'"}),
        ("decimal(0.01, 9.99, 2)", {"kind": "decimal", "min": "0.01", "max": "9.99", "scale": 2}),
        ("choice('a', 2, 2.5, null, true)", {"kind": "choice", "values": ["a", 2, 2.5, None, True]}),
        ("constant(null)", {"kind": "constant", "value": None}),
    ],
)
def test_variables_and_columns_are_drawn_alike(text, drawn):
    assert variable(text) == drawn
    assert column(text) == drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("now()", {"kind": "timestamp"}),
        ("now", {"kind": "timestamp"}),
        ("terminal()", {"kind": "terminal"}),
        ("sequence(1000)", {"kind": "sequence", "start": 1000}),
    ],
)
def test_variables_have_kinds_of_their_own(text, drawn):
    assert variable(text) == drawn


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("sequence", {"kind": "sequence", "start": 1, "step": 1}),
        ("sequence(5, 3)", {"kind": "sequence", "start": 5, "step": 3}),
        ("group(10)", {"kind": "group", "size": 10, "start": 1}),
        ("fill(84)", {"kind": "text", "length": 84, "fill": " "}),
        ("numbered('c-', 6)", {"kind": "numbered_text", "prefix": "c-", "width": 6, "start": 1}),
        ("time('2026-01-31 00:00:00', 0.5)", {"kind": "timestamp", "start": "2026-01-31 00:00:00", "step_s": 0.5}),
        ("random(1, 5) null 0.1", {"kind": "uniform", "min": 1, "max": 5, "null_share": 0.1}),
    ],
)
def test_columns_have_kinds_of_their_own(text, drawn):
    assert column(text) == drawn


@pytest.mark.parametrize(
    "text",
    [
        "random(1)",
        "random(2, 1)",
        "random(1, 9223372036854775807)",
        "random(1.5, 2)",
        "random('1', 2)",
        "random(true, 2)",
        "random(1, 2",
        "random 1, 2",
        "random(1, 2,)",
        "random(1 2)",
        "random(1, 2) extra",
        "text(-1)",
        "text(100001)",
        "text(3, 2)",
        "text(3, 4, '')",
        "nurand(-1, 0, 1, 2)",
        "decimal(0.001, 1, 2)",
        "decimal(1, 0, 2)",
        "decimal(0, 1, 19)",
        "decimal(0, 9999999999999999999, 2)",
        "choice()",
        "constant('open)",
        "group(0)",
        "fill(3, 'xy')",
        "numbered(3)",
        "time('yesterday', 1)",
        "time('2026-01-31 00:00:00', -1)",
        "random(1, 2) null 2",
        "null 0.5",
        "()",
    ],
)
def test_it_refuses_what_makes_no_value(text):
    with pytest.raises(ValueProblem):
        column(text)

from __future__ import annotations

import pytest

from runs.publications.checks.formula import FormulaError, evaluate, written


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("407.97 / 494.73 − 1", 407.97 / 494.73 - 1),
        ("2 × (3 + 4) ^ 2", 98),
        ("−8", -8),
        ("median(465, 511, 546, 469, 508)", 508),
        ("mean(1, 2) + min(3, 4) + max(3, 4) + sum(1, 1) + count(9, 9, 9)", 13.5),
        ("stdev(1, 2, 3)", 1),
    ],
)
def test_it_computes_what_it_says(formula, value):
    assert evaluate(formula) == pytest.approx(value, rel=1e-12)


def test_it_takes_names_and_lists():
    values = {"after": 3.0, "before": 4.0, "repeats": [1.0, 2.0, 9.0]}
    assert evaluate("after / before − 1", values) == -0.25
    assert evaluate("median(repeats) × before", values) == 8
    assert written("after / before − 1", values) == "3 / 4 − 1"
    assert written("median(repeats)", values) == "median(1, 2, 9)"
    assert evaluate(written("median(repeats)", values)) == 2


@pytest.mark.parametrize(
    "formula",
    ["1 / 0", "median()", "min()", "x + 1", "__import__('os')", "(1).real", "1 +", "", "True", "exp(1)", "'a'"],
)
def test_it_refuses_everything_else(formula):
    with pytest.raises(FormulaError):
        evaluate(formula)


def test_a_list_is_no_number():
    with pytest.raises(FormulaError, match="repeats is a list"):
        evaluate("repeats + 1", {"repeats": [1.0]})

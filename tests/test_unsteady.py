"""A test that fails beside others and passes alone is green once, and then red."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def legs(repository: Path) -> ModuleType:
    scripts = str(repository / "scripts")
    sys.path.insert(0, scripts)
    try:
        spec = importlib.util.spec_from_file_location("legs_of_tests", repository / "scripts" / "test_legs.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(scripts)
    return module


def test_a_test_is_unsteady_once_and_then_a_failure(legs: ModuleType, tmp_path: Path):
    known = tmp_path / "unsteady.txt"
    known.write_text("# The list.\ntests.a::test_x[1 2]  # 2026-01-01: a race\n")
    first = legs.Outcome("agent", passed=8, failed=2, failures=("tests.a::test_x[1 2]", "tests.a::test_y"))
    judged = legs.judged(first, known)
    assert (judged.passed, judged.failed) == (9, 1)
    assert (judged.unsteady, judged.unsteady_again) == (("tests.a::test_y",), ("tests.a::test_x[1 2]",))
    second = legs.judged(legs.Outcome("agent", passed=9, failed=1, failures=("tests.a::test_y",)), known)
    assert (second.passed, second.failed, second.unsteady_again) == (9, 1, ("tests.a::test_y",))


def test_what_failed_is_known_by_the_report_of_pytest(legs: ModuleType, tmp_path: Path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite tests="3" failures="1" errors="1" skipped="0">'
        '<testcase classname="tests.a" name="test_good"/>'
        '<testcase classname="tests.a" name="test_bad[x y]"><failure/></testcase>'
        '<testcase classname="tests.b" name="test_worse"><error/></testcase></testsuite></testsuites>'
    )
    outcome = legs.counted("agent", report, 1)
    assert (outcome.passed, outcome.failed) == (1, 2)
    assert outcome.failures == ("tests.a::test_bad[x y]", "tests.b::test_worse")

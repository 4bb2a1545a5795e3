"""A few of the requests that `make bench-fuzz` makes by the thousand."""

from __future__ import annotations

import pytest

from benchmarks.bench_fuzz import fuzzer_of

# On one database: `make bench-fuzz ARGS=--postgresql` asks the other.
pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
CASES = 60


def test_no_odd_request_is_an_error_of_the_server_or_told_a_secret(world):
    fuzzer, asked = fuzzer_of(world, seed=3)
    outcomes = [asked.ask(fuzzer.case(number)) for number in range(CASES)]
    assert [f"{outcome.case}: {outcome.wrong}" for outcome in outcomes if outcome.wrong] == []
    assert {outcome.status // 100 for outcome in outcomes} >= {2, 3, 4}

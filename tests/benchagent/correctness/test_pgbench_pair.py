"""A pair of pgbench and the load generator on one server: both commit what they say, at rates that can be compared.

How close they are is what `make bench-driver` tells, with longer windows and more pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from benchagent.dbms.postgresql.discovery import installations
from benchagent.java import JavaToolchain

from benchmarks.clients import Server, postgresql
from benchmarks.pairs import Measurement
from tests.benchagent.small import start_sooner

pytestmark = [pytest.mark.engines, pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine")]
PAIRS, SCALE, WINDOW_S, WARM_UP_S = 3, 4, 2, 1


@pytest.fixture
def postgres(toolchain: JavaToolchain, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    start_sooner(monkeypatch)  # a second of warm-up is too short for the optimizing compiler
    with postgresql(toolchain, SCALE) as made:
        yield made


def test_both_commit_what_they_say_at_rates_that_can_be_compared(postgres: Server):
    """What else the machine does may hit one of a pair and spare the other: then there is another pair."""
    ratios: list[float] = []
    while not ratios or (len(ratios) < PAIRS and not alike(ratios[-1])):
        theirs, ours = measured(postgres, postgres.pgbench), measured(postgres, postgres.agent)
        ratios.append(ours.tps / theirs.tps)
    assert alike(ratios[-1]), ratios


def alike(ratio: float) -> bool:
    return 0.25 < ratio < 4


def measured(server: Server, client: Callable[[int, int], Measurement]) -> Measurement:
    server.prepare("on")
    found = client(WINDOW_S, WARM_UP_S)
    assert server.history_rows() == found.transactions > found.tps * WINDOW_S
    assert 0 < found.p50_ms <= found.p95_ms <= found.p99_ms
    return found

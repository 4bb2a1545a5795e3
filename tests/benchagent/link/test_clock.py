from __future__ import annotations

import time

import pytest
from benchagent.link.client import EXCHANGES, Client, Clock

from tests.benchagent.fake_server import FakeServer


def exchanged(clock: Clock, there_s: float, back_s: float, ahead_s: float, thinking_s: float = 0.0) -> None:
    """One exchange with a server whose clock is ahead of this machine's."""
    sent_at = 1000.0
    received = sent_at + there_s + ahead_s
    clock.add(sent_at, there_s + thinking_s + back_s, received, received + thinking_s)


def test_it_finds_a_skewed_clock_whatever_the_server_takes_for_its_answer():
    clock = Clock()
    exchanged(clock, 0.004, 0.004, 7.5, thinking_s=2.0)
    assert clock.best() == pytest.approx({"offset_s": 7.5, "uncertainty_s": 0.004})


@pytest.mark.parametrize(("there_s", "back_s"), [(0.001, 0.080), (0.080, 0.001), (0.030, 0.030)])
@pytest.mark.parametrize("ahead_s", [-3600.0, -0.012, 0.012])
def test_the_true_offset_is_within_the_uncertainty(there_s: float, back_s: float, ahead_s: float):
    clock = Clock()
    exchanged(clock, there_s, back_s, ahead_s)
    found = clock.best()
    assert abs(found["offset_s"] - ahead_s) <= found["uncertainty_s"] + 1e-9


def test_the_shortest_way_counts_until_it_is_old():
    clock = Clock()
    assert clock.best() is None
    exchanged(clock, 0.001, 0.001, 5.0)
    exchanged(clock, 0.300, 0.001, 5.0)
    assert clock.best() == pytest.approx({"offset_s": 5.0, "uncertainty_s": 0.001})
    for _ in range(EXCHANGES):
        exchanged(clock, 0.010, 0.010, 6.0)
    assert clock.best() == pytest.approx({"offset_s": 6.0, "uncertainty_s": 0.010})


def test_an_exchange_during_which_the_servers_clock_was_set_says_nothing():
    clock = Clock()
    clock.add(1000.0, 0.01, 1000.0, 1060.0)
    assert clock.best() is None


def test_the_client_learns_it_from_the_answers(server: FakeServer):
    server.clock_ahead_s = 12.5
    client = Client(server.url, "agent-token", Clock(lambda: time.time() - 3.0))
    client.poll({"protocol": 1, "agent_version": "0"})
    found = client.clock.best()
    assert abs(found["offset_s"] - 15.5) <= found["uncertainty_s"] < 1

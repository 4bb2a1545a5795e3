from __future__ import annotations

import os
import threading
from typing import Any

import pytest
from benchagent.link.client import Client
from benchagent.link.sender import PRIORITY, Heartbeat

from tests.benchagent.fake_server import FakeServer, job_spec, wait_until


def claimed(job_token: str, lease_s: float = 600) -> Any:
    return {"job": job_spec(), "job_token": job_token, "lease_s": lease_s}


@pytest.fixture
def cancels() -> list[tuple[str, str, str]]:
    return []


@pytest.fixture
def heartbeat(client: Client, cancels):
    made: list[Heartbeat] = []

    def begin(lease_s: float = 600, poll_s: float = 0.05) -> Heartbeat:
        beat = Heartbeat(client, claimed("token-run-1", lease_s), lambda *words: cancels.append(words), poll_s)
        made.append(beat)
        beat.start()
        return beat

    yield begin
    for beat in made:
        beat.stop()
        beat.join(60)


def test_it_renews_at_a_third_of_the_lease(heartbeat, server: FakeServer):
    heartbeat(lease_s=0.3, poll_s=60)
    wait_until(lambda: len(server.heartbeats) >= 3)


def test_it_learns_of_a_cancel_long_before_that(heartbeat, server: FakeServer, cancels):
    heartbeat(lease_s=600)
    wait_until(lambda: server.heartbeats)
    assert cancels == []
    server.cancelled.add("run-1")
    wait_until(lambda: cancels)
    assert cancels[0][:2] == ("run-1", "cancelled")


def test_it_goes_on_after_an_outage(heartbeat, server: FakeServer, cancels):
    server.stop()
    heartbeat()
    server.start_again()
    wait_until(lambda: server.heartbeats)
    assert cancels == []


def test_it_ends_a_run_that_the_server_no_longer_knows(client: Client, cancels, server: FakeServer):
    beat = Heartbeat(client, claimed("revoked"), lambda *words: cancels.append(words))
    beat.start()
    wait_until(lambda: cancels)
    beat.stop()
    assert "no longer knows this run" in cancels[0][2]


def test_it_has_a_high_priority_where_permitted(heartbeat, server: FakeServer):
    if os.geteuid() != 0:
        pytest.skip("only root may raise a priority")
    beat = heartbeat()
    wait_until(lambda: server.heartbeats)
    assert beat.native_id is not None
    assert os.getpriority(os.PRIO_PROCESS, beat.native_id) == PRIORITY
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) != PRIORITY

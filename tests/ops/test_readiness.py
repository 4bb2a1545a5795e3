"""`/readyz` with parts that stand still. SIGSTOP is the cruel case: sockets stay open and nobody answers."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from tests.ops.site import Site, wait_until
from tests.whole import whole

pytestmark = pytest.mark.ops


@pytest.fixture(scope="module")
def site(new_site) -> Site:
    """Its STATE has a path that is longer than the address of a socket may be."""
    site = new_site("a long path with spaces, ü and 50 % " + "x" * 60)
    site.up()
    command = next(line for line in site.processes().values() if "valkey" in line or "redis" in line)
    site.broker_socket = Path(re.search(r"--unixsocket (\S+)", command)[1])
    return site


class Answers:
    """Asks `/readyz` again and again and remembers how long the slowest answer took."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.slowest_s = 0.0
        self.body: dict = {}

    def status(self) -> int:
        started = time.monotonic()
        status, self.body = self.site.ready()
        self.slowest_s = max(self.slowest_s, time.monotonic() - started)
        return status


@pytest.mark.parametrize("part", ["worker", *whole("beat", "broker")])
def test_it_names_the_part_that_stands_still_and_recovers(site, part):
    pid, answers = site.child(part), Answers(site)
    assert wait_until(lambda: answers.status() == 200, 60, every_s=0.5), answers.body
    os.kill(pid, signal.SIGSTOP)
    try:
        # Another part may be late with its sign of life for once.
        named = lambda: answers.status() == 503 and answers.body["failing"] == [part]  # noqa: E731
        assert wait_until(named, 60, every_s=0.5), answers.body
        assert answers.body["parts"][part] != "ok"
        assert site.get("/healthz")[0] == 200
    finally:
        os.kill(pid, signal.SIGCONT)
    assert wait_until(lambda: answers.status() == 200, 60, every_s=0.5), answers.body
    assert site.child(part) == pid
    assert answers.slowest_s < 9


def test_it_keeps_the_broker_socket_short_for_any_state(site):
    assert len(str(site.broker_socket)) < 100
    assert wait_until(lambda: site.ready()[0] == 200, 60, every_s=0.5)


def test_it_stops_in_time_although_a_part_stands_still(site):
    for part in ("worker", "broker"):
        os.kill(site.child(part), signal.SIGSTOP)
    os.kill(site.supervisor, signal.SIGTERM)
    assert site.left() == {}
    assert not site.broker_socket.parent.exists()

"""kill -9 in the middle of a measured PostgreSQL run: nothing is left, and what was measured is kept."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.ops.site import GONE_WITHIN_S, Site, naming, share_cache, wait_until
from tests.whole import whole

pytestmark = [pytest.mark.ops, pytest.mark.engines]

SECONDS_BEFORE = 3
LOST_WITHIN_S = 60


class Operator:
    """Schedules and looks over REST, with a token from `make token`."""

    def __init__(self, site: Site) -> None:
        self.site = site
        token = site.run("token", "NAME=crash", "SCOPES=read,schedule").stdout.strip()
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def schedule(self, version: str) -> str:
        """A run of two minutes; returns its id as soon as the agent has reported its engines."""
        factors = {"scale_factor": 1, "terminals": 2, "warm_up_s": 1, "duration_s": 120}
        plan = {"workload": "tpcb", "engines": [{"dbms": "postgresql", "version": version}], "factors": factors}
        answers: list[tuple[int, Any]] = []

        def accepted() -> bool:
            answers.append(self.post("/api/v1/experiments/", plan))
            return answers[-1][0] == 201

        assert wait_until(accepted, 60, every_s=1), answers[-1]
        return answers[-1][1]["runs"][0]["id"]

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        connection = HTTPConnection("127.0.0.1", self.site.port, timeout=60)
        try:
            connection.request("POST", path, json.dumps(body), self.headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def look(self, path: str) -> Any:
        status, body = self.site.get(path)
        assert status == 200, body
        return json.loads(body)

    def run(self, run_id: str) -> Any:
        return self.look(f"/api/v1/runs/{run_id}/")

    def seconds(self, run_id: str) -> list[float | None]:
        """Throughput second by second, as far as the server knows it."""
        found = self.look(f"/api/v1/runs/{run_id}/series/?metric=tps")["series"]
        return found[0]["values"] if found else []


@pytest.fixture(scope="module")
def site(new_site) -> Site:
    site = new_site()
    share_cache(site.state)
    site.up()
    return site


@pytest.fixture(scope="module")
def version(tmp_path_factory) -> str:
    """The first PostgreSQL that the agent names on this machine."""
    command = [sys.executable, "-m", "benchagent", "engines", "--state", str(tmp_path_factory.mktemp("agent"))]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^PostgreSQL (\S+) ", said, re.M)
    assert found, f"this test needs PostgreSQL; the agent found: {said}"
    return found[1]


def kill_agent(site: Site) -> None:
    os.kill(site.child("agent"), signal.SIGKILL)


def kill_supervisor(site: Site) -> None:
    os.kill(site.supervisor, signal.SIGKILL)


def kill_make(site: Site) -> None:
    """The supervisor is sent SIGTERM then, as by who stops it."""
    site.make.kill()


def of_the_run(site: Site) -> dict[int, str]:
    """Load generator and DBMS."""
    return {pid: line for pid, line in naming(site.state / "agent" / "jobs").items() if "benchagent run" not in line}


@pytest.mark.parametrize("kill", [*whole(kill_agent), kill_supervisor, *whole(kill_make)])
def test_it_leaves_nothing_of_a_measured_run_and_keeps_its_seconds(site, version, kill):
    operator = Operator(site)
    run_id = operator.schedule(version)
    assert wait_until(lambda: len(operator.seconds(run_id)) >= SECONDS_BEFORE, 60, every_s=0.5), operator.run(run_id)
    children = of_the_run(site)
    assert any("java" in line for line in children.values())
    assert any("postgres" in line for line in children.values())
    before = operator.seconds(run_id)

    kill(site)

    if kill is kill_agent:
        assert wait_until(lambda: not set(children) & set(of_the_run(site)), GONE_WITHIN_S)
    else:
        assert site.left() == {}
        site.make.wait(30)
        site.up()
    assert wait_until(lambda: operator.run(run_id)["status"] == "lost", LOST_WITHIN_S, every_s=0.5)
    after = operator.seconds(run_id)
    assert after[: len(before)] == before
    assert len(after) >= len(before) >= SECONDS_BEFORE
    assert wait_until(lambda: list((site.state / "agent" / "jobs").iterdir()) == [], 30)
    assert operator.look("/api/v1/runs/?status=measuring")["count"] == 0

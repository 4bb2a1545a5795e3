"""Whoever may schedule runs SQL on the site's own machine: its data and the agent's secrets stay out of reach."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchagent.java.jars import engine_groups

from tests.attack.conftest import Site, token
from tests.e2e.conftest import wait_for
from tests.e2e.steps import ended

pytestmark = pytest.mark.attack
FACTORS = {"terminals": 1, "warm_up_s": 0, "duration_s": 1}
LOOK = "\n[transaction look]\nSELECT 1;\n"


def sqlite_takes_over(site: Site) -> str:
    database = site.state / "db.sqlite3"
    return f"[setup]\nATTACH DATABASE '{database}' AS site;\nUPDATE site.runs_user SET role = 'admin';{LOOK}"


def h2_reads(path: Path) -> str:
    said = f"CREATE TABLE told AS SELECT CAST(FILE_READ('{path}', 'UTF-8') AS INTEGER) AS said;"
    return f"[setup]\n{said}{LOOK}"


def h2_writes(path: Path) -> str:
    return f"[setup]\nCREATE TABLE told AS SELECT FILE_WRITE('x', '{path}') AS bytes;{LOOK}"


def tell(site: Site, dbms: str, script: str) -> str:
    """What a run of the script ends with: its message, its log, everything that its page tells."""
    version = next(group.version for group in engine_groups() if group.dbms == dbms and group.default)
    plan = {
        "workload": "script",
        "engines": [{"dbms": dbms, "version": version}],
        "factors": {**FACTORS, "script_text": script},
        "repeats": 1,
    }
    answer = wait_for(f"the agent offers {dbms}", lambda: accepted(site, plan), timeout_s=120)
    run = ended(site, answer["runs"][0]["id"], timeout_s=180)
    assert run["status"] == "failed", run
    page = site.send("GET", f"/runs/{run['id']}/").text
    return str(run) + page


def accepted(site: Site, plan: dict[str, Any]) -> Any:
    """By somebody who may run scripts: that is a right of its own."""
    assert site.send("POST", "/api/v1/experiments/", plan).status_code == 403
    entitled = replace(site, token=token(site, "read,schedule,script"))
    answer = entitled.send("POST", "/api/v1/experiments/", plan)
    return answer.json() if answer.status_code == 201 else None


def test_a_script_reaches_neither_the_site_nor_the_agents_secrets(site: Site, tries: Callable[[int], None]):
    agent = site.state / "agent"
    (agent / "connections.json").write_text('{"password": "canary-of-the-agent"}')
    (agent / "connections.json").chmod(0o600)
    new = agent / "written-by-a-job"
    with sqlite3.connect(site.state / "db.sqlite3") as database:
        before = database.execute("SELECT username, role FROM runs_user ORDER BY 1").fetchall()
    attempts = [
        ("sqlite", sqlite_takes_over(site)),
        ("h2", h2_reads(agent / "connections.json")),
        ("h2", h2_reads(site.state / "secret_key")),
        ("h2", h2_writes(new)),
    ]
    for dbms, script in attempts:
        told = tell(site, dbms, script)
        assert "canary-of-the-agent" not in told
        assert (site.state / "secret_key").read_text().strip() not in told
    tries(len(attempts))
    assert not new.exists()
    with sqlite3.connect(site.state / "db.sqlite3") as database:
        assert database.execute("SELECT username, role FROM runs_user ORDER BY 1").fetchall() == before

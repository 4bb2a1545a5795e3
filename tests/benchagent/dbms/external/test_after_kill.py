"""kill -9 of the agent while a job measures on a server of others."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from benchagent.dbms.external.server import MARKER
from benchagent.dbms.postgresql.external import RELATIONS
from benchagent.java import JavaToolchain
from benchagent.job.worker import Worker
from benchagent.link.spool import Spool
from benchagent.paths import AgentDirs

from tests.benchagent.dbms.external.conftest import NAME, SCHEMA, Servers, connect_to
from tests.benchagent.fake_server import job_spec
from tests.benchagent.small import RATE_PER_S

pytestmark = pytest.mark.engines
SCRIPT = """
[setup]
CREATE TABLE counters (id SERIAL, v INTEGER);
CREATE VIEW seen AS SELECT v FROM counters;
[load counters 100]
v = constant(0)
[transaction count]
UPDATE counters SET v = v + 1;
"""
# The job kills its own process at its first second.
AGENT = """
import json, os, signal, sys
from pathlib import Path
from benchagent.dbms.external import space
from benchagent.dbms.external.instance import ExternalInstance
from benchagent.java import JavaToolchain
from benchagent.job.job import Job
from benchagent.paths import AgentDirs
from benchagent.link.spool import Spool

seen = ExternalInstance.seen
def killed(instance, event):
    if event["event"] == "second":
        os.kill(os.getpid(), signal.SIGKILL)
    return seen(instance, event)
ExternalInstance.seen = killed
space.SMALLEST_SHARE = space.SMALLEST_BYTES = 0
dirs, spec = AgentDirs(Path(sys.argv[1])), json.loads(sys.argv[3])
spool = Spool(dirs.spool)
spool.add_job({"job": spec, "job_token": "x", "lease_s": 600}, 0.0)
print(Job(spec, dirs=dirs, toolchain=JavaToolchain(Path(sys.argv[2])), spool=spool).run())
"""


def test_it_drops_at_its_next_start_what_a_killed_agent_has_left(
    servers: Servers, registered: AgentDirs, toolchain: JavaToolchain
):
    trial = servers("postgresql")
    connect_to(trial, registered)
    factors = {"terminals": 1, "warm_up_s": 0, "duration_s": 60, "rate_per_s": RATE_PER_S, "script_text": SCRIPT}
    spec = job_spec("run-killed", dbms="postgresql", workload="script", factors=factors, connection=NAME)
    arguments = [str(registered.root), str(toolchain.folder), json.dumps(spec)]
    killed = subprocess.run([sys.executable, "-c", AGENT, *arguments], check=False, capture_output=True, text=True)
    assert killed.returncode == -9, killed.stdout + killed.stderr
    relations = RELATIONS.format(schema=SCHEMA) + " ORDER BY 1"
    notes = f"SELECT made FROM {SCHEMA}.{MARKER} WHERE made IS NOT NULL ORDER BY 1"
    assert trial.query(relations, notes) == [[[MARKER], ["counters"], ["seen"]], [["counters"], ["view:seen"]]]

    Worker(registered, toolchain, server="http://127.0.0.1:1", name="again")._recover()
    assert trial.query(relations, notes) == [[[MARKER]], []]
    assert Spool(registered.spool).unfinished() == []

"""Servers of others: private ones of the tests, filled with tables that nobody may touch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchagent.dbms.external.connections import Connections, ServerConnection
from benchagent.dbms.firebird.discovery import homes
from benchagent.dbms.mysql import discovery
from benchagent.java import JavaToolchain
from benchagent.job.job import Job
from benchagent.link import identity
from benchagent.link.identity import Identity
from benchagent.link.spool import Spool
from benchagent.machine.process import Abort
from benchagent.paths import AgentDirs
from benchagent.protocol import Claimed

from tests.benchagent.dbms.conftest import trials
from tests.benchagent.dbms.mysql.family import installed_engines
from tests.benchagent.dbms.postgresql.conftest import NEWEST, engines_dir, make_postgresql
from tests.benchagent.dbms.trial import Trial
from tests.benchagent.fake_server import job_spec
from tests.benchagent.small import RATE_PER_S, make_backups_smaller, make_smaller

__all__ = ["engines_dir", "make_postgresql"]

AGENT_ID = "4f6f5c0e-0000-4000-8000-000000000001"
SCHEMA, NAME = "bench_own", "their-server"
MYSQL, FIREBIRD = "8.0.31", "3.0"
ENGINES = (f"mysql-{MYSQL}", "mariadb-10.11", f"firebird-{FIREBIRD}")
WINDOW = {"terminals": 2, "warm_up_s": 0, "duration_s": 1, "rate_per_s": RATE_PER_S}
OPTIONS = {"postgresql": "?sslmode=disable", "mysql": "?useSSL=false", "mariadb": "?sslMode=disable", "firebird": ""}
RunOn = Callable[..., dict[str, Any]]
Servers = Callable[[str], Trial]


@pytest.fixture(scope="module")
def servers(toolchain: JavaToolchain, engines_dir: Path, repository: Path) -> Iterator[Servers]:
    """`servers("mariadb")`: the one server of that kind, which all tests of a module share."""
    installed_engines(repository, *ENGINES)
    versions = {
        "postgresql": NEWEST,
        "mysql": MYSQL,
        "mariadb": next(iter(discovery.installations("mariadb", engines_dir))),
        "firebird": next(version for version in homes(engines_dir) if version.startswith(FIREBIRD)),
    }
    made: dict[str, Trial] = {}
    with trials(toolchain) as make:

        def server(dbms: str) -> Trial:
            if dbms not in made:
                made[dbms] = make(dbms, versions[dbms], {}, engines_dir=engines_dir)
            return made[dbms]

        yield server


def connect_to(trial: Trial, dirs: AgentDirs, *, schema: str = SCHEMA, name: str = NAME) -> ServerConnection:
    """Name a trial's server in the agent's file, as its user would have done."""
    given = trial.instance.connection
    login = given.properties
    url = given.url if trial.slug in ("postgresql", "firebird") else given.url.rpartition("/")[0] + "/"
    url += OPTIONS[trial.slug]
    made = ServerConnection(name, trial.slug, url, login["user"], login["password"], schema, trial.version)
    Connections(dirs.root).add(made)
    return made


@pytest.fixture
def registered(dirs: AgentDirs) -> AgentDirs:
    identity.save(dirs.identity, Identity(AGENT_ID, "token", "http://127.0.0.1:1"))
    return dirs


@pytest.fixture
def with_tools(registered: AgentDirs, engines_dir: Path) -> AgentDirs:
    """The agent's machine has engines, and with them the tools of the servers."""
    registered.engines.rmdir()
    registered.engines.symlink_to(engines_dir)
    return registered


@pytest.fixture
def run_on(registered: AgentDirs, spool: Spool, toolchain: JavaToolchain, monkeypatch: pytest.MonkeyPatch) -> RunOn:
    """`run_on("postgresql", "tpcc", warehouses=1)`: what a job on the connection ended with, and its whole log."""
    make_smaller(monkeypatch)
    make_backups_smaller(monkeypatch)
    # The disk of a machine for tests may be fuller than that; both limits have tests of their own.
    monkeypatch.setattr("benchagent.dbms.external.space.SMALLEST_SHARE", 0.0)
    monkeypatch.setattr("benchagent.dbms.external.space.SMALLEST_BYTES", 0)

    def run(
        dbms: str, workload: str, *, dbms_version: str = "", settings: list[Any] | None = None,
        abort: Abort | None = None, **factors: Any,
    ) -> dict[str, Any]:  # fmt: skip
        run_id = f"run-{dbms}-{workload}-{time.monotonic_ns()}"
        window = {} if workload == "backup" else WINDOW
        small = {"warehouse_rows": "hundredth"} if workload == "tpcc" else {}
        given = {**window, **small, **factors}
        asked_for = {"dbms": dbms, "dbms_version": dbms_version, "connection": NAME}
        spec = job_spec(run_id, workload=workload, settings=settings or [], factors=given, **asked_for)
        claimed: Claimed = {"job": spec, "job_token": "x", "lease_s": 600}
        spool.add_job(claimed, time.time())
        item = Job(spec, dirs=registered, toolchain=toolchain, spool=spool, abort=abort or Abort()).run()
        return {**item, "everything": _everything(registered.spool)}

    return run


def _everything(spool: Path) -> str:
    """All that the agent has written down to be sent."""
    files = [spool, *spool.parent.glob(f"{spool.name}-*")]
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)

"""Every engine that can be had here, installed into the tests' cache, and whole jobs with one agent's folders."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.dbms.base import EngineContext
from benchagent.java import JavaToolchain
from benchagent.job.job import Job
from benchagent.link.spool import Spool
from benchagent.machine.process import Abort
from benchagent.paths import AgentDirs
from benchagent.protocol import FinishItem

from tests.benchagent.dbms.mysql.family import installed_engines
from tests.benchagent.fake_server import job_spec
from tests.benchagent.jobs import FAST_SYNCS_PER_S, write_sync_rate
from tests.benchagent.small import make_backups_smaller, make_smaller

EMBEDDED = tuple(slug for slug, entry in DBMSS.items() if entry.embedded)
# Of servers: what is installed for the tests, and how the version that is used begins.
SERVERS = {
    "postgresql": ("postgresql-18", "18"),
    "mysql": ("mysql-5.5.34", "5.5"),
    "mariadb": ("mariadb-10.11", "10.11"),
    "firebird": ("firebird-3.0", "3.0"),
}
ENGINES = (*EMBEDDED, *SERVERS)
# What the settings of a scheduled run are worth.
PROMISED = dict.fromkeys(ENGINES, "power_loss") | {"h2": "bounded_loss"}


class LiveAgent:
    def __init__(self, dirs: AgentDirs, toolchain: JavaToolchain) -> None:
        self.dirs, self._toolchain = dirs, toolchain
        self._spool = Spool(dirs.spool)
        self._number = 0

    def run(
        self, slug: str, workload: str, *, version: str = "", in_memory: bool = False, **factors: int | str
    ) -> FinishItem:
        settings = {**dict(DBMSS[slug].settings), **({"storage": "memory"} if in_memory else {})}
        spec = job_spec(
            self._next_id(slug),
            workload=workload,
            workload_version=WORKLOADS[workload].version,
            dbms=slug,
            dbms_version=version or self._version(slug),
            settings=list(settings.items()),
            factors=factors,
        )
        self._spool.add_job({"job": spec, "job_token": "x", "lease_s": 600}, time.time())
        return Job(spec, dirs=self.dirs, toolchain=self._toolchain, spool=self._spool, abort=Abort()).run()

    def close(self) -> None:
        self._spool.close()

    def _next_id(self, slug: str) -> str:
        self._number += 1
        return f"run-{self._number}-{slug}"

    @cache  # noqa: B019 - an agent lives as long as the tests of one module
    def _version(self, slug: str) -> str:
        """Each group of jars of an embedded engine is offered; those that are optional are not available."""
        context = EngineContext(self._toolchain, frozenset(), self.dirs.jobs, self.dirs.engines)
        begin = SERVERS[slug][1] if slug in SERVERS else ""
        found = [facts for facts in dbms.adapter(slug).discover(context) if facts["version"].startswith(begin)]
        return next(facts["version"] for facts in found if facts["available"])


@contextmanager
def live_agent(repository: Path, toolchain: JavaToolchain, *names: str) -> Iterator[LiveAgent]:
    """`names`: of the engines that are installed. Its folder can be reached by every user, as servers run as users
    of their own, and that of its engines through a symbolic link, as where a larger disk is mounted elsewhere."""
    engines = installed_engines(repository, *(names or [name for name, _ in SERVERS.values()]))
    folder = Path(tempfile.mkdtemp(prefix="benchagent-live-"))
    folder.chmod(0o755)
    dirs = AgentDirs(folder / "agent")
    dirs.root.mkdir(mode=0o755)
    dirs.engines.symlink_to(engines)
    dirs.create()
    write_sync_rate(dirs, FAST_SYNCS_PER_S)
    agent = LiveAgent(dirs, toolchain)
    try:
        with pytest.MonkeyPatch.context() as patch:
            make_smaller(patch)
            make_backups_smaller(patch)
            yield agent
    finally:
        agent.close()
        shutil.rmtree(folder)

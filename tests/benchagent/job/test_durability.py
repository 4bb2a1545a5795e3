"""What the three statements say of real runs: each case of the table that this machine can have, and whole jobs.

One server of each engine is made; a storage or a setting that it must be started with gets a copy of its files, what
can be set at run time is set there. The load of a case is one session of a job's own bench, as short as can tell.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchagent.catalog import Durability
from benchagent.catalog.durability import Statement, judge, of_storage
from benchagent.java import JavaToolchain
from benchagent.job.bench import JobBench
from benchagent.job.result import Description
from benchagent.link.spool import Spool
from benchagent.machine.devices import mounts
from benchagent.machine.fingerprint import measure
from benchagent.machine.limits import JobCgroup
from benchagent.machine.process import Abort, Children
from benchagent.machine.storages import Storages
from benchagent.paths import AgentDirs
from benchagent.workloads import steps
from benchagent.workloads.script import WORKLOAD as SCRIPTED
from benchagent.workloads.script import as_guest, prepare_steps, program_of
from benchagent.workloads.script.parse import parse

from tests.benchagent import live_storages
from tests.benchagent.dbms.mysql.family import installed_engines
from tests.benchagent.dbms.trial import Trial
from tests.benchagent.durability_table import CASES, NOT_WAITED, SERVER_5_5, SERVER_8_0, TOO_FAST, Case, Live
from tests.benchagent.fake_server import job_spec
from tests.benchagent.jobs import FAST_SYNCS_PER_S, MakeJob, write_sync_rate
from tests.benchagent.live import EMBEDDED
from tests.benchagent.live_storages import SHM
from tests.benchagent.preload import eater, without_syncs
from tests.benchagent.small import make_smaller

pytestmark = pytest.mark.engines
# Of servers: what is installed for the tests and its version.
SERVERS = {
    ("postgresql", ""): ("postgresql-18", "18.6"),
    ("mysql", SERVER_5_5): ("mysql-5.5.34", SERVER_5_5),
    ("mysql", SERVER_8_0): ("mysql-8.0.31", SERVER_8_0),
    ("mariadb", ""): ("mariadb-10.11", "10.11.19"),
    ("firebird", ""): ("firebird-3.0", "3.0.11"),
}
# What makes servers small and quick to copy; of nothing that a commit waits for.
LEAN = {
    "postgresql": {"shared_buffers": "16MB", "max_wal_size": "32MB", "min_wal_size": "32MB"},
    "mysql": {"innodb_buffer_pool_size": "32M"},
    "mariadb": {"innodb_buffer_pool_size": "32M"},
}
SET = {"postgresql": "ALTER SYSTEM SET {} = {}", "mysql": "SET GLOBAL {} = {}"}
AT_START = ("innodb_flush_method",)
SCRIPT = """
[setup]
{table};
{setup}
[load counter 100]
id = sequence
n = constant(0)
[transaction count]
\\set id random(1, 100)
{first}
UPDATE counter SET n = n + 1 WHERE id = :id;
"""
# Commits that wait for nothing have to outnumber those of the second by which an engine may count late.
WAITED_FOR = {"rate_per_s": 100, "duration_s": 1}
NOT_WAITED_FOR = {"rate_per_s": 400, "duration_s": 2}
ALL = bool(os.environ.get("BENCHSITE_ALL_ENGINES"))
LIVE = [case for case in CASES if isinstance(case.live, Live) and (ALL or not case.live.asked_for)]


class Servers:
    """What the cases run on, made when it is first asked for, and what each run has told."""

    def __init__(self, root: Path, repository: Path, toolchain: JavaToolchain) -> None:
        self._storages = live_storages.Storages()
        self._toolchain = toolchain
        self._engines_dir = installed_engines(repository, *(name for name, _ in SERVERS.values()))
        self._spool = Spool(root / "spool")
        self._made: dict[Any, Trial] = {}
        self._told: dict[Any, dict[str, Any]] = {}

    def told(self, case: Case, live: Live) -> dict[str, Any]:
        """Two cases that differ only in what is not of this machine are one run."""
        load = NOT_WAITED_FOR if case.seen in (NOT_WAITED, TOO_FAST) else WAITED_FOR
        key = (case.dbms, str(case.settings), str(replace(live, words="")), case.script, str(load))
        if key not in self._told:
            self._told[key] = self._run(case, live, load)
        return self._told[key]

    def close(self) -> None:
        for trial in self._made.values():
            trial.close()
        self._spool.close()
        self._storages.close()

    def _run(self, case: Case, live: Live, load: Mapping[str, int]) -> dict[str, Any]:
        settings = case.settings if live.settings is None else live.settings
        at_run_time = {} if case.dbms not in SET else {n: v for n, v in settings.items() if n not in AT_START}
        at_start = {name: value for name, value in settings.items() if name not in at_run_time}
        trial = self._trial(case.dbms, live, at_start)
        if live.on:
            self._storages.dress(live.on)
        first = f"{live.first or case.script};" if live.first or case.script else ""
        text = SCRIPT.format(
            table=live.table, setup=first if live.in_setup else "", first="" if live.in_setup else first
        )
        factors = SCRIPTED.factors({"terminals": 4, "warm_up_s": 0, "script_text": text, **load})
        described = Description(embedded=case.dbms in EMBEDDED)
        if live.on:
            described.storage(trial.folders, backup=False)
        if case.seen is TOO_FAST:
            described.saw(syncs_per_s=measure(trial.folders.log).fdatasync_per_s)
        bench = JobBench(
            spec=job_spec(f"run-{len(self._told)}", dbms=case.dbms, workload="script"), job_dir=trial.root / "job",
            folders=trial.folders, toolchain=self._toolchain, spool=self._spool, children=trial.children,
            abort=Abort(), server_cgroup=JobCgroup("test"), generator_cgroup=JobCgroup("test"),
            embedded=case.dbms in EMBEDDED, described=described,
            on_state=lambda state: None, log=trial.lines.append, on_news=lambda: None, data_loaded=lambda: None,
            instance=trial.instance, factors=factors, tables=["counter"], reading=frozenset(), sql=text,
            data_missing=True,
        )  # fmt: skip
        quick = replace(trial.instance.dialect, after_load_each=(), after_load=())
        script = parse(text)
        run = steps.run(factors, bench.seed, [program_of(transaction) for transaction in script.transactions])
        with pytest.MonkeyPatch.context() as patch, preloaded(live):
            if case.dbms in SET:
                patch.setattr(trial.instance, "setup_sql", run_time_sql(case.dbms, at_run_time), raising=False)
            if live.as_owner:
                patch.setattr(trial.instance, "guest", lambda: None)
            if live.swallowed == "seccomp":
                spawn = trial.children.spawn
                patch.setattr(trial.children, "confinement", None)
                patch.setattr(trial.children, "spawn", lambda argv, **more: spawn(without_syncs(argv), **more))
            bench.session(as_guest([*prepare_steps(script, quick, bench.seed), run]))
        return dict(described.result["durability"] or {})

    def _trial(self, dbms: str, live: Live, at_start: Mapping[str, str]) -> Trial:
        """Of a server that is set at run time a copy of one that was made for all of them."""
        on = self._storages.known(live.on or "disk")
        version = live.version or (SERVER_5_5 if dbms == "mysql" else "")
        copied = dbms in (*SET, "mariadb")
        key = (dbms, version, on, live.log_on, str(at_start), live.swallowed, None if copied else live)
        if key not in self._made:
            template = self._template(dbms, version, bool(live.log_on)) if copied else None
            with preloaded(live):
                self._made[key] = self._new(dbms, version, live.on or "disk", live.log_on, at_start, template)
        return self._made[key]

    def _template(self, dbms: str, version: str, log_apart: bool) -> Trial:
        key = ("template", dbms, version, log_apart)
        if key not in self._made:
            trial = self._new(dbms, version, "disk", "disk" if log_apart else "", {}, None)
            session = trial.events([{"op": "execute", "phase": "x", "statements": ["SELECT 1"], "guest": True}])
            assert session.error is None, session.error
            trial.instance.shut_down()
            self._made[key] = trial
        return self._made[key]

    def _new(
        self, dbms: str, version: str, on: str, log_on: str, settings: Mapping[str, str], template: Trial | None
    ) -> Trial:
        of_server = SERVERS.get((dbms, version), ("", ""))[1]
        groups = [group.version for group in self._toolchain.engine_groups() if group.dbms == dbms and group.default]
        return Trial(
            self._storages.folder(on), self._toolchain, dbms, of_server or groups[0],
            {**LEAN.get(dbms, {}), **settings}, log_apart=bool(log_on), engines_dir=self._engines_dir,
            roots={"log": self._storages.folder(log_on)} if log_on else {}, restored_from=template,
        )  # fmt: skip


@contextmanager
def preloaded(live: Live) -> Iterator[None]:
    """For what is started meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        if live.swallowed == "preload":
            clean, more = Children.environment, {"LD_PRELOAD": str(eater())}
            patch.setattr(Children, "environment", lambda self, **own: clean(self, **{**more, **own}))
        yield


def run_time_sql(dbms: str, settings: Mapping[str, str]) -> list[str]:
    """What an earlier case has left is taken back first."""
    values = [
        SET[dbms].format(name, f"'{value}'" if not value.isdigit() else value) for name, value in settings.items()
    ]
    if dbms == "postgresql":
        clean = ["DROP TABLE IF EXISTS public.counter", "ALTER SYSTEM RESET ALL", "ALTER ROLE bench_guest RESET ALL"]
        return [*clean, *values, "SELECT pg_reload_conf()"]
    return ["DROP TABLE IF EXISTS counter", "SET GLOBAL innodb_flush_log_at_trx_commit = 1", *values]


@pytest.fixture(scope="module")
def servers(repository: Path, toolchain: JavaToolchain) -> Iterator[Servers]:
    folder = Path(tempfile.mkdtemp(prefix="benchagent-live-"))
    made = Servers(folder, repository, toolchain)
    with pytest.MonkeyPatch.context() as patch:
        make_smaller(patch)
        yield made
    made.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize("case", LIVE, ids=lambda case: case.name)
def test_a_real_run_gets_the_class_of_the_table(case: Case, servers: Servers):
    live = case.live
    assert isinstance(live, Live)
    told = servers.told(case, live)
    promised, storage, observed = (Statement.of_row(told[name]) for name in ("promised", "storage", "observed"))
    found = judge(promised, storage, observed)
    assert told["durability"] == found.durability == case.durability, found
    assert (live.words or case.words) in f"{found.reason}; {found.contradiction or found.storage.reason}", found
    assert bool(found.contradiction) is case.against, found
    if live.on not in ("", "disk"):
        assert storage.durability is of_storage({"data": case.layers, "log": case.log or case.layers}).durability
    if case.seen is NOT_WAITED:
        assert observed.durability is Durability.DBMS_CRASH, observed


@pytest.fixture
def in_memory(dirs: AgentDirs) -> Iterator[str]:
    if not any(mount.mount_point == str(SHM) and mount.file_system == "tmpfs" for mount in mounts()):
        pytest.skip("no tmpfs at /dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="benchagent-test-memory-", dir=SHM))
    folder.chmod(0o755)
    Storages(dirs).add("memory", folder)
    write_sync_rate(dirs, FAST_SYNCS_PER_S, folder)
    yield "memory"
    shutil.rmtree(folder)


def test_a_whole_job_on_tmpfs_promises_what_its_storage_cannot_hold(make_job: MakeJob, in_memory: str):
    item = make_job("sqlite", data_storage=in_memory, duration_s=1).run()
    assert item["outcome"] == "finished", item["message"]
    told = item["result"]["durability"] or {}
    assert [told[name]["durability"] for name in ("promised", "storage")] == ["power_loss", "dbms_crash"]
    assert told["durability"] == "dbms_crash"
    assert "tmpfs is in the machine's memory" in told["reason"]

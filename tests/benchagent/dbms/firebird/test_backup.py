"""Every method backs up and restores; what is not local is refused; a cancelled backup writes no more."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from benchagent.dbms.backup import BackupMethod, ToolCommand
from benchagent.dbms.base import Connection, JobError
from benchagent.dbms.counters import TableFacts
from benchagent.dbms.firebird import backup, gstat
from benchagent.dbms.firebird.backup import RESTORED, GbakLocal, GbakServices
from benchagent.dbms.firebird.discovery import homes
from benchagent.java import JavaToolchain
from benchagent.job.job import Job
from benchagent.link.spool import Spool
from benchagent.machine.process import leftovers
from benchagent.paths import AgentDirs
from benchagent.protocol import FinishItem

from tests.benchagent.dbms.firebird.conftest import MakeFirebird, with_rows
from tests.benchagent.dbms.trial import Trial
from tests.benchagent.fake_server import wait_until
from tests.benchagent.jobs import maker, values
from tests.benchagent.small import make_backups_smaller, make_smaller
from tests.whole import whole

pytestmark = pytest.mark.engines
COUNT = "SELECT COUNT(*), SUM(id) FROM wide"
FEW, MANY = 2_000, 30_000
SLUGS = ["gbak_services", "gbak_services_same", "gbak_tcp", "gbak_local", "nbackup"]
# No finished backup of so many rows is smaller: each holds 296 characters of its own.
WHOLE_BYTES = MANY * 296
# Into the slow target a backup of them takes ten seconds at least; into a file it takes a twentieth of one.
SLOW_BYTES, SLOW_S = 16_384, 0.02
# More than one write of the server and a full pipe.
MORE_BYTES = 400_000
TOO_EARLY = "the backup was over before it was cancelled"


def popen(trial: Trial, command: ToolCommand, **more: Any) -> subprocess.Popen[str]:
    return trial.popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def perform(trial: Trial, actions: Any) -> list[str]:
    """Run tools to their end; whom they were seen connected to."""
    trace: list[str] = []
    for action in actions:
        tool = popen(trial, action)
        while tool.poll() is None:
            trace += backup.connections_seen(tool.pid)
            time.sleep(0.005)
        assert tool.returncode == 0, tool.communicate()[0]
    return trace


def method_of(trial: Trial, slug: str) -> BackupMethod:
    return next(method for method in trial.instance.backup_methods() if method.slug == slug)


def restored(trial: Trial, method: BackupMethod, backup: Path) -> list[int]:
    """The answer to `COUNT` of the database made of the backup."""
    scratch = trial.folders.data / method.slug
    scratch.mkdir()
    scratch.chmod(0o777)
    perform(trial, method.restore(backup, scratch))
    server = trial.instance.server
    answer = server.run_sql(f"SET HEADING OFF;\n{COUNT};\n", server.remote(scratch / RESTORED))
    return [int(word) for word in answer.split()]


def counted(trial: Trial) -> int:
    return int(trial.instance.server.query(COUNT).split()[0])


def closed(trial: Trial) -> None:
    """Until SuperServer has let go of the database."""
    deadline = time.monotonic() + 60
    while trial.instance.server.holds_open(trial.instance.server.database) and time.monotonic() < deadline:
        time.sleep(0.05)


def test_every_method_backs_up_and_restores_by_the_way_it_claims(make_firebird: MakeFirebird):
    # So many that each tool lasts long enough to be seen connected on a busy machine.
    sums = [MANY, MANY * (MANY - 1) // 2]
    trial = with_rows(make_firebird("3.0", {"page_size": "16384"}), MANY)
    assert [method.slug for method in trial.instance.backup_methods()] == SLUGS
    closed(trial)
    for method in trial.instance.backup_methods():
        target = trial.folders.backup / f"{method.slug}.bak"
        verbose = {"verbose": "on"} if method.options else {}
        method.check(verbose)
        trace = perform(trial, method.backup(target, verbose))
        assert method.honest(trace) == "", trace
        assert target.stat().st_size > MANY * 200
        if verbose:
            assert "writing data for table" in target.with_name(f"{target.name}.log").read_text()
        assert restored(trial, method, target) == sums
    url = method.restored_url(target, trial.folders.data / method.slug)
    connection = Connection(url, None, trial.instance.connection.properties)
    assert trial.query(COUNT, connection=connection) == [[sums]]


def test_a_local_backup_beside_an_open_database_works_in_super_classic(make_firebird: MakeFirebird):
    trial = with_rows(make_firebird("3.0", {"ServerMode": "SuperClassic"}), FEW)
    method, target = method_of(trial, "gbak_local"), trial.folders.backup / "a.bak"
    with held_open(trial):
        method.check({})
        trace = perform(trial, method.backup(target, {}))
    assert backup.tcp_targets(trace) == []
    assert target.stat().st_size > FEW * 200


def test_a_local_backup_beside_an_open_database_is_refused_in_super(make_firebird: MakeFirebird, monkeypatch):
    trial = with_rows(make_firebird(), 10)
    monkeypatch.setattr("benchagent.dbms.firebird.backup.CLOSED_WITHIN_S", 0.5)
    with held_open(trial), pytest.raises(JobError, match="while SuperServer has the database open"):
        method_of(trial, "gbak_local").check({})


def test_a_local_backup_that_goes_over_tcp_is_detected_and_refused(make_firebird: MakeFirebird):
    """With the usual providers gbak turns to the server, without a word, when that has the database open."""
    trial = with_rows(make_firebird(), FEW)
    server = trial.instance.server
    trap = GbakLocal(server, "SuperClassic")
    trap.embedded = False
    # Into a pipe that is emptied slowly: a connection of a few milliseconds would be over between two looks.
    with held_open(trial), SlowTarget(trial.folders.backup / "a.bak") as slow:
        with pytest.raises(JobError, match=rf"went over TCP, to .*:{server.port}"):
            trap.check({})
        trace = perform(trial, trap.backup(slow.path, {}))
    assert slow.read > 0
    assert f"127.0.0.1:{server.port}" in backup.tcp_targets(trace)
    assert "went over TCP" in trap.honest(trace)


def test_a_backup_over_tcp_that_opens_no_connection_is_none(make_firebird: MakeFirebird):
    """The first look may come too early and the last one too late: what nobody saw is said, and not refused."""
    trial = make_firebird()
    connected = f"tcp 127.0.0.1:{trial.instance.server.port}"
    for slug in ("gbak_tcp", "gbak_services"):
        method = method_of(trial, slug)
        assert "no connection" in method.honest(['connect(3, {sa_family=AF_UNIX, sun_path="/x"}, 110) = 0'])
        assert "no connection" in method.honest([backup.LOOK] * 3)
        assert method.honest([backup.LOOK, connected]) == ""
        assert method.way([backup.LOOK, connected]) == connected.replace("tcp", "TCP to")
        for unseen in ([], [backup.LOOK] * 2):
            assert method.honest(unseen) == ""
            assert method.way(unseen).startswith("way not observed")


def test_a_local_backup_says_who_has_looked_at_its_way(make_firebird: MakeFirebird, monkeypatch: pytest.MonkeyPatch):
    trial = with_rows(make_firebird(), 10)
    closed(trial)
    method = method_of(trial, "gbak_local")
    method.check({})
    assert method.way([]).startswith("without TCP: traced in a rehearsal")
    monkeypatch.setattr(backup, "STRACE", "no-such-tool")
    unaided = method_of(trial, "gbak_local")
    unaided.check({})
    assert unaided.way([]).startswith("way not observed")
    assert unaided.way([backup.LOOK] * 3).startswith("without TCP: none was seen")


@pytest.mark.parametrize("mode", ["Super", *whole("SuperClassic")])
def test_a_cancelled_services_backup_writes_no_more(make_firebird: MakeFirebird, mode: str):
    trial = with_rows(make_firebird("3.0", {"ServerMode": mode, "forced_writes": "off"}), MANY)
    method, target = method_of(trial, "gbak_services"), trial.folders.backup / "a.bak"
    with SlowTarget(target) as slow:
        kill_under_way(trial, method, slow)
        assert slow.grows(), "killing gbak alone was to end nothing"
        cancel_under_way(method, slow)
    assert counted(trial) == MANY


def test_a_cancelled_backup_in_classic_and_over_tcp_writes_no_more(make_firebird: MakeFirebird):
    trial = with_rows(make_firebird("3.0", {"ServerMode": "Classic", "forced_writes": "off"}), MANY)
    for slug in ("gbak_services", "gbak_tcp"):
        method, target = method_of(trial, slug), trial.folders.backup / f"{slug}.bak"
        with SlowTarget(target) as slow:
            kill_under_way(trial, method, slow)
            cancel_under_way(method, slow)


def test_a_server_that_cannot_end_a_backup_is_started_anew(make_firebird: MakeFirebird, monkeypatch):
    trial = with_rows(make_firebird("3.0", {"forced_writes": "off"}), MANY)
    method, target = method_of(trial, "gbak_services"), trial.folders.backup / "a.bak"
    monkeypatch.setattr("benchagent.dbms.firebird.backup.CANCEL_TIMEOUT_S", -1.0)
    with SlowTarget(target) as slow:
        kill_under_way(trial, method, slow)
        assert slow.grows(), "killing gbak alone was to end nothing"
        before = trial.instance.server_pids()
        cancel_under_way(method, slow)
        assert trial.instance.server_pids() != before
    assert counted(trial) == MANY


def test_a_cancelled_nbackup_leaves_the_database_as_it_was(make_firebird: MakeFirebird):
    trial = with_rows(make_firebird(), FEW)
    method, server = method_of(trial, "nbackup"), trial.instance.server
    server.query("ALTER DATABASE BEGIN BACKUP")
    assert Path(f"{server.database}.delta").exists()
    method.cancel()
    assert not Path(f"{server.database}.delta").exists()
    assert counted(trial) == FEW


def test_it_tells_the_structure_on_disk_of_a_database(make_firebird: MakeFirebird):
    assert re.search(r"ODS version\s+12\.0", make_firebird().instance.engine_counters.run_gstat())


class held_open:
    """A connection to the database for the length of a block."""

    def __init__(self, trial: Trial) -> None:
        server = trial.instance.server
        command = [str(server.home.bin_dir / "isql-fb"), "-q", server.remote(server.database)]
        environment = {**os.environ, **server.tool_environment()}
        user = trial.children.user.popen() if trial.children.user else {}
        self._isql = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **user
        )

    def __enter__(self) -> None:
        assert self._isql.stdin and self._isql.stdout
        self._isql.stdin.write("SELECT 'here' FROM RDB$DATABASE;\n")
        self._isql.stdin.flush()
        while "here" not in self._isql.stdout.readline():
            pass

    def __exit__(self, *_: object) -> None:
        self._isql.communicate("QUIT;\n")


class SlowTarget:
    """A pipe for a backup to be written to, emptied slowly: until all is read, whoever writes has to wait."""

    def __init__(self, path: Path) -> None:
        self.path, self.read = path, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._empty)

    def _empty(self) -> None:
        while not self._over.wait(SLOW_S):
            self.read += len(self._take(SLOW_BYTES))

    def _take(self, count: int) -> bytes:
        with contextlib.suppress(BlockingIOError):
            return os.read(self._handle, count)
        return b""

    def grows(self) -> bool:
        """Wait until more has come than was on its way."""
        goal, deadline = self.read + MORE_BYTES, time.monotonic() + 60
        while self.read < goal and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.read >= goal

    def has_writer(self) -> bool:
        """Whether anybody has it open who may still write."""
        poll = select.poll()
        poll.register(self._handle, 0)
        return not poll.poll(0)

    def __enter__(self) -> SlowTarget:
        os.mkfifo(self.path)
        self.path.chmod(0o666)
        self._handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        os.close(self._handle)


def kill_under_way(trial: Trial, method: BackupMethod, target: SlowTarget) -> None:
    """Start a backup and kill gbak when it has written something."""
    (command,) = method.backup(target.path, {})
    gbak = popen(trial, command)  # type: ignore[arg-type]
    while gbak.poll() is None and target.read < 100_000:
        time.sleep(0.02)
    assert gbak.poll() is None, f"{TOO_EARLY}: {gbak.communicate()[0]}"
    gbak.kill()
    gbak.wait()


def cancel_under_way(method: BackupMethod, target: SlowTarget) -> None:
    """Cancel a backup that is not over, neither before nor when that takes effect; nobody writes any more."""
    assert target.read < WHOLE_BYTES, TOO_EARLY
    method.cancel()
    wait_until(lambda: not target.has_writer())
    assert target.read < WHOLE_BYTES, TOO_EARLY


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def slow_targets(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[SlowTarget]]:
    """Of each backup by the server: made before it begins."""
    usual, made = GbakServices.backup, []

    def into_a_pipe(method: GbakServices, target: Path, options: Any) -> Any:
        made.append(SlowTarget(target).__enter__())
        return usual(method, target, options)

    monkeypatch.setattr(GbakServices, "backup", into_a_pipe)
    yield made
    for target in made:
        target.__exit__()


@pytest.fixture
def slow_job(
    dirs: AgentDirs,
    engines_dir: Path,
    spool: Spool,
    toolchain: JavaToolchain,
    monkeypatch: pytest.MonkeyPatch,
    slow_targets: list[SlowTarget],
) -> Job:
    """It backs up by the Services API, into a slow target."""
    make_smaller(monkeypatch)
    make_backups_smaller(monkeypatch)
    dirs.engines.rmdir()
    dirs.engines.symlink_to(engines_dir)
    make_job = maker(dirs, spool, toolchain)
    (version,) = (known for known in homes(engines_dir) if known.startswith("3.0"))
    return make_job("firebird", workload="backup", version=version, settings={}, method="gbak_services", dataset_mb=50)


def test_a_cancelled_job_ends_its_services_backup(slow_job: Job, dirs: AgentDirs, slow_targets: list[SlowTarget]):
    """The server writes the backup, so it is gone as well when the request to cancel has been followed."""
    job = slow_job
    result: list[FinishItem] = []
    thread = threading.Thread(target=lambda: result.append(job.run()))
    thread.start()
    while thread.is_alive() and not (slow_targets and slow_targets[0].read > 100_000):
        time.sleep(0.02)
    assert thread.is_alive() and job.instance, result
    (target,), servers = slow_targets, list(job.instance.server_pids())
    assert target.has_writer(), TOO_EARLY
    job.abort.request("cancelled", "no longer wanted")
    assert servers and not any(map(alive, servers))
    # Its files close with the last thread of a killed process.
    wait_until(lambda: not target.has_writer())
    thread.join(60)
    assert (result[0]["outcome"], result[0]["message"]) == ("cancelled", "no longer wanted")
    assert "backup_s" not in values(result[0]), TOO_EARLY
    assert leftovers(job.job_dir) == [] and list(dirs.jobs.iterdir()) == []


def test_a_services_backup_that_takes_too_long_is_ended_on_the_server(
    slow_job: Job, monkeypatch: pytest.MonkeyPatch, slow_targets: list[SlowTarget]
):
    """Before the server is stopped with the job, which would end it as well."""
    begin, cancel = GbakServices.backup, GbakServices.cancel
    seen: list[str] = []

    def begun(method: GbakServices, target: Path, options: Any) -> Any:
        monkeypatch.setattr("benchagent.workloads.backup.TIMEOUT_S", 3.0)  # not of what came before
        return begin(method, target, options)

    def ended(method: GbakServices) -> None:
        (target,), servers = slow_targets, list(slow_job.instance.server_pids())
        seen.append("written on without gbak" if target.has_writer() else TOO_EARLY)
        cancel(method)
        wait_until(lambda: not target.has_writer())
        seen.append("nobody writes" if servers and all(map(alive, servers)) else "the server is gone")

    monkeypatch.setattr(GbakServices, "backup", begun)
    monkeypatch.setattr(GbakServices, "cancel", ended)
    item = slow_job.run()
    assert (item["outcome"], item["message"]) == ("failed", "backup did not end within 3 s")
    assert seen == ["written on without gbak", "nobody writes"]
    assert "backup_s" not in values(item)


def test_one_backup_and_restore_makes_the_data_dense(make_firebird: MakeFirebird):
    trial = with_rows(make_firebird(), FEW)
    server = trial.instance.server
    server.query("DELETE FROM wide WHERE MOD(id, 3) <> 0; COMMIT")
    loose = wide(trial)
    closed(trial)
    perform(trial, trial.instance.make_dense())
    dense = wide(trial)
    assert dense.pages < 0.5 * loose.pages
    assert dense.rows == counted(trial) == len(range(0, FEW, 3))


def wide(trial: Trial) -> TableFacts:
    """Of the one table of the trial, as gstat tells it."""
    (table,) = gstat.blocks(trial.instance.engine_counters.run_gstat())
    return gstat.table_facts(table, None)

"""Every way to back up: done, restored, counted; with the server's own tools or those of a newer installation."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from benchagent.dbms.backup import BackupMethod, ToolCommand
from benchagent.dbms.base import JobError
from benchagent.dbms.postgresql import PostgresqlInstance

from tests.benchagent.dbms.postgresql.conftest import NEWEST, OLDEST, SLIM, MakePostgresql
from tests.benchagent.dbms.trial import Trial

pytestmark = pytest.mark.engines
ROWS = 5_000
TABLE = f"CREATE TABLE t AS SELECT i AS id, repeat('x', 100) AS filler FROM generate_series(1, {ROWS}) i"
READY = {"wal_level": "hot_standby", "max_wal_senders": "2"}


def with_rows(trial: Trial) -> Trial:
    session = trial.events([{"op": "execute", "phase": "create", "statements": [TABLE]}])
    assert session.error is None, session.error
    return trial


def methods(trial: Trial) -> dict[str, BackupMethod]:
    return {method.slug: method for method in trial.instance.backup_methods()}


def restored_rows(trial: Trial, method: BackupMethod, target: Path) -> Any:
    scratch = trial.folders.backup / f"{method.slug}-scratch"
    scratch.mkdir()
    trial.own(scratch)
    trial.act(method.restore(target, scratch))
    close = method.open_restored(target, scratch)
    try:
        url = method.restored_url(target, scratch)
        assert url != trial.instance.connection.url
        (rows,) = trial.query(
            "SELECT count(*) FROM t", connection=dataclasses.replace(trial.instance.connection, url=url)
        )
    finally:
        close()
        trial.act(method.discard(target, scratch))
    return rows


def command(method: BackupMethod, target: Path, **options: str) -> list[str]:
    (action,) = method.backup(target, options)
    assert isinstance(action, ToolCommand)
    return [str(part) for part in action.argv]


@pytest.mark.parametrize(
    ("version", "settings", "apart"), [(NEWEST, {}, {"log_apart": True, "temp_apart": True}), (OLDEST, READY, {})]
)
def test_it_backs_up_and_restores_in_every_way(version, settings, apart, make_postgresql: MakePostgresql):
    trial = with_rows(make_postgresql(version, settings, **apart))
    found = methods(trial)
    assert list(found) == ["pg_dump_plain", "pg_dump_custom", "pg_dump_directory", "pg_basebackup"]
    password = trial.instance.connection.properties["password"]
    for slug, method in found.items():
        method.check({"verbose": "on"})
        target = trial.folders.backup / slug
        assert not any(password in part for part in command(method, target))
        trial.act(method.backup(target, {"verbose": "on"}))
        assert restored_rows(trial, method, target) == [[ROWS]], slug
    assert trial.query("SELECT count(*) FROM t", "SELECT datname FROM pg_database WHERE datname = 'restored'") == [
        [[ROWS]],
        [],
    ]
    check_parallel_jobs(found["pg_dump_directory"], parallel=version == NEWEST)


def check_parallel_jobs(method: BackupMethod, *, parallel: bool) -> None:
    method.check({"jobs": "1"})
    asked = command(method, Path("/backup"), jobs="3", verbose="on")
    assert asked[asked.index("-f") :] == ["-f", "/backup", "-v", *(["-j", "3"] if parallel else []), "postgres"]
    assert ("-j" in command(method, Path("/backup"), verbose="off")) is parallel
    if not parallel:
        with pytest.raises(JobError, match="no parallel jobs"):
            method.check({"jobs": "2"})


def test_it_takes_the_tools_of_a_newer_installation_and_says_what_a_base_backup_needs(make_postgresql: MakePostgresql):
    trial = with_rows(make_postgresql(SLIM))
    found = methods(trial)
    target = trial.folders.backup / "dump"
    tool = Path(command(found["pg_dump_custom"], target)[0])
    assert not tool.is_relative_to(trial.request.engines_dir / f"postgresql-{SLIM}")
    trial.act(found["pg_dump_custom"].backup(target, {}))
    assert target.stat().st_size > 0
    with pytest.raises(JobError, match=r"9\.6\.24 runs with minimal and 0"):
        found["pg_basebackup"].check({})


def test_it_ends_what_the_server_still_does_for_a_backup(make_postgresql: MakePostgresql):
    """A session that was there before the backup goes on."""
    trial = make_postgresql(NEWEST)
    method: Any = methods(trial)["pg_dump_plain"]
    sleeping = [_sleeper(trial, method)]
    _wait_for_sessions(trial, 1)
    method.backup(Path("/backup"), {})
    sleeping.append(_sleeper(trial, method))
    _wait_for_sessions(trial, 2)
    try:
        method.cancel()
        assert len(_sessions(trial)) == 1
        assert sleeping[1].wait(60) != 0
        assert sleeping[0].poll() is None
    finally:
        for tool in sleeping:
            tool.kill()


def _sleeper(trial: Trial, method: Any) -> Any:
    """A tool at work."""
    tool = method._client.command("psql", "-X", "-d", "postgres", "-c", "SELECT pg_sleep(600)")
    return trial.popen(tool, stderr=subprocess.DEVNULL)


def _sessions(trial: Trial) -> list[str]:
    instance = trial.instance
    assert isinstance(instance, PostgresqlInstance)
    (postmaster,) = instance.server_pids()
    titles = []
    for child in psutil.Process(postmaster).children():
        with contextlib.suppress(psutil.Error):  # it has ended since
            titles.append(" ".join(child.cmdline()))
    return [title for title in titles if "127.0.0.1(" in title and "SELECT" in title]


def _wait_for_sessions(trial: Trial, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(_sessions(trial)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)

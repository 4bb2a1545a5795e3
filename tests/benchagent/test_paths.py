"""Files that a job's processes may have replaced: the agent, which may be root, follows no link that they have left."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchagent.dbms.base import JobError
from benchagent.dbms.derby import DerbyInstance, move_log
from benchagent.dbms.mysql import server as mysql
from benchagent.dbms.postgresql import server as postgresql
from benchagent.machine.process import Children
from benchagent.paths import end_of, straight, text_of, without_links

SECRET = "a password of the agent"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "elsewhere" / "connections.json"
    file.parent.mkdir()
    file.write_text(SECRET)
    return file


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    folder.mkdir()
    return folder


def link(job: Path, secret: Path) -> Path:
    (job / "log").symlink_to(secret)
    return job / "log"


def link_on_the_way(job: Path, secret: Path) -> Path:
    (job / "folder").symlink_to(secret.parent)
    return job / "folder" / secret.name


def pipe(job: Path, secret: Path) -> Path:
    os.mkfifo(job / "log")
    return job / "log"


def folder(job: Path, secret: Path) -> Path:
    (job / "log").mkdir()
    return job / "log"


@pytest.mark.parametrize("mode", ["r", "a", "w", "r+"])
@pytest.mark.parametrize("replaced", [link, link_on_the_way, pipe, folder])
def test_nothing_is_read_or_changed_through_what_took_the_place_of_a_file(
    job: Path, secret: Path, replaced: Callable[[Path, Path], Path], mode: str
):
    path = replaced(job, secret)
    handles = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError), open(path, mode, opener=without_links):
        pass
    assert len(list(Path("/proc/self/fd").iterdir())) == handles
    assert secret.read_text() == SECRET


def test_a_file_is_made_written_anew_and_read(job: Path):
    for text in ("longer than the next", "next"):
        with open(job / "file", "w", opener=without_links) as file:
            file.write(text)
    assert text_of(job / "file") == "next"
    assert (job / "file").stat().st_mode & 0o777 == 0o600
    with (job / "file").open("rb") as file:
        assert end_of(file, 3) == "ext"
        assert end_of(file, 100) == "next"


def test_a_folder_is_changed_only_where_no_link_leads_to_it(job: Path, secret: Path):
    assert straight(job) == job
    with pytest.raises(OSError, match="through a link"):
        straight(link_on_the_way(job, secret).parent)


@pytest.fixture
def request_of(job: Path) -> Any:
    return SimpleNamespace(job_dir=job, children=Children(job), folders=SimpleNamespace(log_apart=True))


def postgresql_server(request: Any, job: Path) -> postgresql.Server:
    installation: Any = SimpleNamespace(version="18.1", environment={})
    (job / "cluster").mkdir()
    return postgresql.Server(request, installation, postgresql.Folders(job, log=job / "wal", temp=job / "temp"))


def mysql_server(request: Any, job: Path) -> mysql.Server:
    installation: Any = SimpleNamespace(product=SimpleNamespace(name="MySQL 8.0"), environment={})
    folders = mysql.Folders(job, job / "log", job / "temp", job / "backup", job / "work")
    for made in (job / "log", job / "work"):
        made.mkdir()
    return mysql.Server(request, installation, folders)


def test_kept_data_of_postgresql_hand_out_no_file_as_their_password(request_of: Any, job: Path, secret: Path):
    server = postgresql_server(request_of, job)
    server.folders.password_file.symlink_to(secret)
    with pytest.raises(OSError, match="symbolic link"):
        server.open_copy([])
    assert server.password == ""


@pytest.mark.parametrize("name", ["..", "../../elsewhere", "/etc", "a\nb"])
def test_kept_data_of_postgresql_name_no_folder_beyond_their_own(request_of: Any, job: Path, secret: Path, name: str):
    server = postgresql_server(request_of, job)
    server.folders.temp_name_file.write_text(name)
    with pytest.raises(OSError, match="no name of a folder"):
        server.start()


def test_kept_data_of_postgresql_move_nothing_of_others(request_of: Any, job: Path, secret: Path):
    server = postgresql_server(request_of, job)
    (server.folders.data / "pg_tblspc").symlink_to(secret.parent)
    with pytest.raises(OSError, match="through a link"):
        server.start()
    assert secret.read_text() == SECRET


def test_kept_data_of_mysql_hand_out_no_file_as_their_password(request_of: Any, job: Path, secret: Path):
    server = mysql_server(request_of, job)
    server.folders.password_file.symlink_to(secret)
    with pytest.raises(JobError, match="cannot be opened"):
        server.open_copy()
    (server.folders.work / mysql.OPTION_FILE).symlink_to(secret)
    with pytest.raises(OSError, match="symbolic link"):
        server.write_client_options()


@pytest.mark.parametrize("replaced", ["data", "log/redo"])
def test_kept_data_of_mysql_move_nothing_of_others(request_of: Any, job: Path, secret: Path, replaced: str):
    server = mysql_server(request_of, job)
    logs = secret.parent if replaced == "data" else job / "data"
    logs.mkdir(exist_ok=True)
    (logs / "ib_logfile0").write_text("log")
    (job / replaced).symlink_to(secret.parent)
    with pytest.raises(OSError, match="through a link"):
        server.start()
    assert (logs / "ib_logfile0").exists()


def test_kept_data_of_derby_are_changed_through_no_link(job: Path, secret: Path):
    (job / "service.properties").symlink_to(secret)
    with pytest.raises(JobError, match="cannot be opened"):
        move_log(job, job / "log")
    assert secret.read_text() == SECRET


def test_the_log_of_derby_shows_no_other_file(job: Path, secret: Path):
    instance = DerbyInstance.__new__(DerbyInstance)
    instance.generator_dir = job
    (job / "derby.log").symlink_to(secret)
    assert instance.log_tail() == ""

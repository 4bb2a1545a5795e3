"""Backup of a site that is being written to, and its return after everything was destroyed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests

from benchsite.backup import OTHERS, finish
from benchsite.state import State
from scripts.private import private_postgresql
from tests.ops.site import REPOSITORY, Site, wait_until
from tests.ops.uploads import Uploader
from tests.whole import whole

pytestmark = pytest.mark.ops
AT_LEAST = 10
IDENTITY = "agent/identity.json"
# A large file that a worker has still to read.
WAITING = f"imports/waiting/{uuid.uuid4()}/0"


def manage(site: Site, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    environment = site.base | {"STATE": str(site.state)}
    return subprocess.run(
        command, cwd=REPOSITORY, env=environment, check=False, capture_output=True, text=True, timeout=300
    )


def rows(file: Path) -> dict[str, list[Any]]:
    """Table -> its rows, in whatever order they were read, with the order of keys that a database may change."""
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.startswith("rows/")]
        lines = {name: archive.read(name).decode().splitlines() for name in names}
    return {name: sorted(json.dumps(json.loads(line), sort_keys=True) for line in of) for name, of in lines.items()}


def readable(site: Site, run_id: str, ask: requests.Session) -> str:
    """Digest of the file of a run, as it is given out."""
    run = ask.get(f"http://127.0.0.1:{site.port}/api/v1/runs/{run_id}/", timeout=60).json()
    (artefact,) = run["artefacts"]
    answer = ask.get(artefact["url"], timeout=60)
    assert answer.status_code == 200, answer.text
    return hashlib.sha256(answer.content).hexdigest()


@pytest.fixture(scope="module")
def destroyed(new_site, tmp_path_factory) -> Iterator[tuple[Site, Path, Uploader, dict[str, str]]]:
    """A site that lost everything but its backup, made while results came in; and what it had acknowledged before."""
    site, file = new_site(), tmp_path_factory.mktemp("backup") / "site.zip"
    site.up()
    ask = requests.Session()
    ask.headers["Authorization"] = f"Bearer {site.run('token', 'NAME=load', 'SCOPES=read,upload').stdout.strip()}"
    uploader = Uploader(ask, f"http://127.0.0.1:{site.port}")
    uploader.start()
    assert wait_until(lambda: len(uploader.acknowledged) >= AT_LEAST, 60)
    assert wait_until((site.state / "agent" / "identity.json").exists, 60)
    waiting = site.state / "artefacts" / WAITING
    waiting.parent.mkdir(parents=True)
    waiting.write_bytes(b"as it was sent")
    before = dict(uploader.acknowledged)
    done = site.run("backup", f"FILE={file}")
    assert done.returncode == 0, done.stderr
    site.said_of_backup = done.stdout
    during = len(uploader.acknowledged)
    assert wait_until(lambda: len(uploader.acknowledged) > during, 60), "uploads went on"
    site.identity = (site.state / "agent" / "identity.json").read_text()
    os.kill(site.supervisor, signal.SIGKILL)
    uploader.stopped.set()
    uploader.join()
    assert site.left() == {}
    shutil.rmtree(site.state)
    yield site, file, uploader, before


def test_a_backup_is_private_and_says_what_is_in_it(destroyed):
    site, file, _, before = destroyed
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "mode 0600" in site.said_of_backup
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
    assert {"secret_key", "agent/identity.json", "agent/spool.sqlite3", "backup.json"} <= names
    assert f"{file}: " in site.said_of_backup
    assert len([name for name in names if name.startswith("artefacts/")]) >= len(before)


def test_nothing_acknowledged_before_the_backup_is_missing_after_the_restore(destroyed):
    site, file, uploader, before = destroyed
    done = site.run("restore", f"FILE={file}")
    assert done.returncode == 0, done.stderr
    assert (site.state / "artefacts" / WAITING).read_bytes() == b"as it was sent"
    assert "password" not in site.up()
    for run_id, digest in before.items():
        assert readable(site, run_id, uploader.ask) == digest
    with zipfile.ZipFile(file) as archive:
        about = json.loads(archive.read("backup.json"))
    _, body = site.get("/api/v1/runs/?workload=tpcb&page_size=1")
    assert json.loads(body)["count"] == about["rows"]["runs.Upload"]
    # It is the same agent, with the token that it had.
    assert (site.state / "agent" / "identity.json").read_text() == site.identity
    assert wait_until(lambda: "registered" not in (site.state / "logs" / "agent.log").read_text(), 5)
    taken = len(uploader.acknowledged)
    uploader.upload()
    assert len(uploader.acknowledged) == taken + 1


def test_it_restores_over_no_site_that_is_there_nor_one_that_runs(destroyed):
    site, file, _, _ = destroyed
    if site.make is None or site.make.poll() is not None:
        pytest.skip("the site was not restored")
    done = site.run("restore", f"FILE={file}")
    assert "nothing was restored: already running" in done.stderr
    os.kill(site.supervisor, signal.SIGTERM)
    assert site.left() == {}
    done = site.run("restore", f"FILE={file}")
    assert "1 account would be lost; say --replace" in done.stderr
    done = site.run("restore", f"FILE={file}", "ARGS=--replace")
    assert done.returncode == 0, done.stderr
    assert [*site.state.glob("*.re*"), *site.state.glob("restore.*")] == []
    assert "is there already" in site.run("backup", f"FILE={file}").stderr


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    with private_postgresql() as url:
        yield url


@pytest.fixture(scope="module")
def restored(destroyed, postgresql, new_site, tmp_path_factory) -> tuple[dict[str, Site], Path]:
    """From SQLite to PostgreSQL and back: a site on each database, and a folder with a backup of each."""
    _, file, _, _ = destroyed
    there, here, folder = new_site(DATABASE_URL=postgresql), new_site(), tmp_path_factory.mktemp("restored")
    # One that is used already.
    assert manage(there, "migrate", "--verbosity=0").returncode == 0
    assert manage(there, "login").returncode == 0
    assert "1 account" in manage(there, "restore", str(file)).stderr
    for site, source, name in ((there, file, "there.zip"), (here, folder / "there.zip", "here.zip")):
        done = manage(site, "restore", str(source), "--replace")
        assert done.returncode == 0, done.stderr
        done = manage(site, "backup", str(folder / name))
        assert done.returncode == 0, done.stderr
        assert "not on the disk" not in done.stderr
    return {"postgresql": there, "sqlite": here}, folder


def test_every_row_comes_back_from_sqlite_to_postgresql_and_the_other_way_round(destroyed, restored, postgresql):
    _, file, _, _ = destroyed
    there, folder = restored[0]["postgresql"], restored[1]
    first, second, third = rows(file), rows(folder / "there.zip"), rows(folder / "here.zip")
    assert {name: len(of) for name, of in first.items()} == {name: len(of) for name, of in second.items()}
    assert second == first
    assert third == first
    # New rows do not meet the numbers of old ones.
    assert manage(there, "token", "--name", "new", "--scopes", "read", "--user", "operator").returncode == 0
    with psycopg.connect(postgresql) as connection:
        done = manage(there, "restore", str(file), "--replace")
        assert "1 others are connected to the database" in done.stderr, done.stderr
        assert connection.execute("SELECT count(*) FROM runs_user").fetchone() == (1,)


def changed(source: Path, target: Path, change: Callable[[dict[str, Any]], None], without: str = "") -> Path:
    """A copy of a backup that says something else of itself, without one of its members."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "backup.json":
                about = json.loads(content)
                change(about)
                content = json.dumps(about).encode()
            if name != without:
                new.writestr(name, content)
    return target


def test_a_backup_of_a_newer_version_is_refused_in_words(destroyed, new_site, tmp_path):
    def tomorrow(about: dict[str, Any]) -> None:
        about["migrations"].append(["runs", "9999_of_tomorrow"])
        about["version"] = "99.0"

    done = manage(new_site(), "restore", str(changed(destroyed[1], tmp_path / "newer.zip", tomorrow)))
    assert "the backup was made by Benchsite 99.0, which is newer than this one" in done.stderr
    assert "runs.9999_of_tomorrow" in done.stderr


def test_a_backup_of_an_older_version_gets_the_tables_of_this_one(destroyed, new_site, tmp_path):
    def yesterday(about: dict[str, Any]) -> None:
        earlier = ["runs", "0001_squashed_0021_lists_from_one_index"]
        about["migrations"] = [key for key in about["migrations"] if key[0] != "agents" or key[1] < "0003"] + [earlier]
        # Tables of agents that have come since, and those with columns that have.
        about["rows"] = {name: rows for name, rows in about["rows"].items() if not name.startswith("agents.")}

    site = new_site()
    older = changed(destroyed[1], tmp_path / "older.zip", yesterday)
    done = manage(site, "restore", str(older))
    assert done.returncode == 0, done.stderr
    assert manage(site, "migrate", "--check").returncode == 0
    assert manage(site, "backup", str(tmp_path / "again.zip")).returncode == 0
    name = "rows/runs.Run.jsonl"
    assert rows(tmp_path / "again.zip")[name] == rows(destroyed[1])[name]


def test_a_backup_that_is_not_whole_restores_nothing(destroyed, new_site, tmp_path):
    site, file = new_site(), destroyed[1]
    whole = file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        info = next(info for info in archive.infolist() if info.filename.startswith("artefacts/"))
    at = info.header_offset + len(info.filename) + 100
    for name, content in (
        ("cut.zip", whole[: len(whole) // 2]),
        ("flipped.zip", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]),
        ("empty.zip", b""),
    ):
        (tmp_path / name).write_bytes(content)
        done = manage(site, "restore", str(tmp_path / name))
        assert f"{name} is no backup of Benchsite, or not a whole one" in done.stderr, done.stderr
    assert [path for path in site.state.rglob("artefacts*/**/*") if path.is_file()] == []
    assert (site.state / "secret_key").read_text() != zipfile.ZipFile(file).read("secret_key").decode()


def test_a_backup_writes_no_file_outside_its_folder(destroyed, new_site, tmp_path):
    site, evil = new_site(), tmp_path / "evil.zip"
    shutil.copy(destroyed[1], evil)
    with zipfile.ZipFile(evil, "a") as archive:
        archive.writestr("artefacts/../../outside", b"x")
    done = manage(site, "restore", str(evil))
    assert "holds a file for a folder that is not its own" in done.stderr
    assert not list(site.state.parent.rglob("outside"))


# `restore FILE` that ends itself by SIGKILL before it calls this method of Path on a file of this name, or after. In
# SQLite its tables are copied, not made by the migrations once more.
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
when, method, name, file, tables = sys.argv[1:]
migrate = MigrationExecutor.migrate
def copied(self, targets, **more):
    if connection.vendor != "sqlite" or "plan" in more:
        return migrate(self, targets, **more)
    connection.close()
    shutil.copy(tables, connection.settings_dict["NAME"])
    return self.loader.project_state(targets)
MigrationExecutor.migrate = copied
usual = getattr(Path, method)
def killing(self, *more, **options):
    if self.name == name and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    usual(self, *more, **options)
    if self.name == name:
        os.kill(os.getpid(), signal.SIGKILL)
setattr(Path, method, killing)
os.environ["DJANGO_SETTINGS_MODULE"] = "benchsite.settings"
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "restore", file, "--replace"])
"""


def killed(site: Site, when: str, method: str, name: str, file: Path) -> None:
    assert site.prepared is not None
    environment = site.base | {"STATE": str(site.state)}
    command = [sys.executable, "-c", KILLED, when, method, name, str(file), str(site.prepared / "tables.sqlite3")]
    assert subprocess.run(command, cwd=REPOSITORY, env=environment, check=False).returncode == -signal.SIGKILL
    if url := site.environment.get("DATABASE_URL"):
        with psycopg.connect(url) as database:
            # PostgreSQL needs a moment to see that its client was killed.
            for _ in range(600):
                (others,) = database.execute(OTHERS).fetchone()
                if not others:
                    return
                database.execute("SELECT pg_sleep(0.05), pg_stat_clear_snapshot()")
        raise AssertionError("the killed program is still connected to the database")


def tokens(site: Site, sql: str = "SELECT name FROM runs_apitoken ORDER BY name") -> list[str]:
    url = site.environment.get("DATABASE_URL")
    with psycopg.connect(url) if url else sqlite3.connect(site.state / "db.sqlite3") as database:
        answer = database.execute(sql)
        return [name for (name,) in answer] if answer.description else []


def look(site: Site) -> tuple[list[str], dict[str, str]]:
    """What tells the old site from the new one: names of its tokens, files."""
    return tokens(site), digests(site.state, [site.state / name for name in ("artefacts", "secret_key", IDENTITY)])


def digests(state: Path, folders: list[Path]) -> dict[str, str]:
    files = [path for folder in folders for path in (folder.rglob("*") if folder.is_dir() else [folder])]
    return {
        str(path.relative_to(state)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()
    }


@pytest.fixture(scope="module")
def others(restored) -> dict[str, Site]:
    """A site on each database that is not what the backup holds: its tokens, a file, its key and its agent differ."""
    for site in restored[0].values():
        tokens(site, "UPDATE runs_apitoken SET name = 'old'")
        (site.state / "artefacts" / "old").write_bytes(b"old")
        (site.state / "secret_key").write_text("old")
        (site.state / IDENTITY).write_text("{}")
    return restored[0]


@pytest.mark.parametrize(
    ("database", "when", "method", "name", "is_new"),
    [
        ("sqlite", "before", "rename", "restore.draft", False),
        *whole(
            ("postgresql", "after", "rename", "restore.draft", False), ("sqlite", "after", "rename", "db.sqlite3", True)
        ),
        ("postgresql", "before", "chmod", "agent", True),
    ],
)
def test_a_restore_that_is_killed_leaves_the_old_site_or_the_whole_new_one(
    destroyed, others: dict[str, Site], database: str, when: str, method: str, name: str, is_new: bool
):
    """The last case of each database: from then on it is another one."""
    site, file = others[database], destroyed[1]
    old = look(site)
    assert set(old[0]) == {"old"}
    killed(site, when, method, name, file)
    if database == "sqlite":
        finish(State(site.state))
    else:
        assert "would be lost; say --replace" in manage(site, "restore", str(file)).stderr
    names, files = look(site)
    assert [path.name for path in site.state.glob("restore.*")] == []
    if not is_new:
        assert (names, files) == old
        return
    with zipfile.ZipFile(file) as archive:
        kept = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    assert names == ["load"]
    assert files == {path: kept[path] for path in kept if path.startswith("artefacts/") or path in files}
    assert {"secret_key", IDENTITY} <= files.keys()


def test_whatever_step_of_putting_it_into_place_is_killed_the_next_start_goes_on(destroyed, new_site, tmp_path):
    file, site = destroyed[1], new_site()
    killed(site, "after", "rename", "restore.draft", file)
    assert (site.state / "restore.whole" / "db.sqlite3").exists()
    (site.state / "agent").mkdir()
    (site.state / "agent" / "identity.json").write_text("old")
    whole = digests(site.state / "restore.whole", [site.state / "restore.whole"])
    for number in range(100):
        state = State(tmp_path / str(number))
        shutil.copytree(site.state, state.path)
        pid = os.fork()
        if pid == 0:
            end_after(number)
            finish(state)
            os._exit(0)
        ended = os.waitpid(pid, 0)[1]
        finish(state)
        assert digests(state.path, [state.path / name for name in ("artefacts", *WHOLE_FILES)]) == whole
        assert list(state.path.glob("*re[sp]*")) == []
        if ended == 0:
            break
    assert number >= 10


WHOLE_FILES = ("db.sqlite3", "secret_key", "agent")


def end_after(number: int) -> None:
    """This process, killed before the step of that number."""
    steps = iter(range(number))

    def step(usual: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **more: Any) -> Any:
            if next(steps, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return usual(*given, **more)

        return counted

    for owner, name in ((Path, "rename"), (Path, "unlink"), (shutil, "rmtree")):
        setattr(owner, name, step(getattr(owner, name)))

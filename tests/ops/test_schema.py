"""A version on tables that another one made."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from benchsite import embedded
from benchsite.programs import CELERY, CannotStart
from benchsite.state import State
from tests.whole import whole

pytestmark = pytest.mark.django_db
WEB = [sys.executable, "manage.py", "web", "--listen", "127.0.0.1:0"]
WORKER = [*CELERY, "worker", "--pool", "threads"]


@pytest.fixture
def newer():
    MigrationRecorder(connection).record_applied("runs", "9999_of_the_future")


def test_it_does_not_migrate_them(newer):
    with pytest.raises(CommandError, match=r"newer version of Benchsite: it has runs\.9999_of_the_future"):
        call_command("migrate", verbosity=0)


def test_make_up_does_not_start_on_them(newer):
    with pytest.raises(CannotStart, match="Start the newer version, or restore a backup"):
        embedded.migrate(settings.STATE, print)


@pytest.mark.parametrize("more", [[], [("runs", "0001_squashed_0021_lists_from_one_index")]], ids=str)
def test_it_migrates_its_own(more):
    """Also what earlier versions took together, which later ones take together with more."""
    for key in more:
        MigrationRecorder(connection).record_applied(*key)
    call_command("migrate", verbosity=0)
    embedded.migrate(settings.STATE, print)


@pytest.mark.any_database  # the tables are a file's
def test_an_emptied_database_is_no_new_site(tmp_path: Path, monkeypatch):
    state = State(tmp_path)
    monkeypatch.setattr(embedded.connection, "vendor", "sqlite")
    state.database.touch()
    (tmp_path / embedded.STAMP).touch()
    with pytest.raises(CannotStart, match=r"db\.sqlite3 is empty although this STATE was in use"):
        embedded.migrate(state, print)
    assert not state.database.stat().st_size
    (tmp_path / embedded.STAMP).unlink()
    embedded.migrate(state, print)


@pytest.mark.any_database  # it is none
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgres://me:s3cret@[::1/x"), ("DISK_RESERVE_MB", "-5"),
        *whole(
            ("DATABASE_URL", "nonsense"), ("DATABASE_URL", "mysql://me:s3cret@db/x"), ("DATABASE_URL", "me:s3cret@db"),
            ("CELERY_BROKER_URL", "amqp://x"), ("LOG_LEVEL", "LOUD"),
        ),
    ],
)  # fmt: skip
def test_a_wrong_value_of_the_environment_is_one_line_that_names_it(tmp_path: Path, name, value):
    environment = {**os.environ, "STATE": str(tmp_path), name: value}
    done = subprocess.run(
        [sys.executable, "manage.py", "up"], env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{name} must be ") and "s3cret" not in line


@pytest.mark.any_database  # the tables are a file's
@pytest.mark.parametrize(
    ("command", "applied", "words"),
    [
        (WEB, "9999_of_the_future", "newer version of Benchsite: it has runs.9999"),
        (WORKER, "0001_initial", "manage.py migrate"),
    ],
    ids=["web", "worker"],
)
def test_web_and_worker_alone_end_on_tables_of_another_version(tmp_path: Path, command, applied, words):
    with sqlite3.connect(tmp_path / "db.sqlite3") as database:
        database.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app, name, applied)")
        database.execute("INSERT INTO django_migrations VALUES (1, 'runs', ?, '2030-01-01')", [applied])
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment |= {"STATE": str(tmp_path), "CELERY_SKIP_CHECKS": "1"}
    done = subprocess.run(
        command, env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1, done.stderr
    assert words in done.stderr

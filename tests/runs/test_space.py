"""What is refused while the disk has less room than its reserve, and what is not."""

from __future__ import annotations

import errno
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import OperationalError, connection

from benchsite.errors import server_error
from benchsite.middleware import ADDING_ROUTES
from runs import space
from tests.access.rows import TABLE, Row
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db
ADDING = [row for row in TABLE if row.method in ("POST", "PATCH") and row.route in ADDING_ROUTES]
OTHERS = ("/runs/", "/login/", "/publications/", "/agents/")


@pytest.fixture
def short(settings) -> None:
    """The reserve is larger than any disk."""
    settings.DISK_RESERVE_MB = 10**12


def test_every_route_that_adds_is_one():
    assert {row.route for row in ADDING} == ADDING_ROUTES


@pytest.mark.parametrize("row", ADDING, ids=str)
def test_what_adds_is_refused_in_words(short, client, row: Row):
    answer = client.generic(row.method, re.sub(r"\{[^}]+\}", str(uuid.uuid4()), row.path))
    assert answer.status_code == 507
    assert answer.headers["Retry-After"] == "60"
    words = answer.json()["detail"] if row.kind == "api" else answer.content.decode()
    assert "The disk of this server is almost full" in words


@pytest.mark.parametrize("path", OTHERS)
def test_every_page_says_so_and_is_read(short, client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert " MB are kept in reserve" in answer.content.decode()


def test_what_ends_or_corrects_something_goes_on(short, client, contributor):
    client.force_login(contributor)
    assert client.post(f"/imports/{uuid.uuid4()}/forget/").status_code == 404
    assert client.post("/logout/").status_code == 302


@pytest.mark.parametrize("path", OTHERS)
def test_with_room_nothing_is_said(client, path):
    assert "almost full" not in client.get(path).content.decode()


class Torn(ContentFile):
    """A file of which the disk takes one piece."""

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        yield b"the beginning"
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_that_does_not_fit_is_not_there_at_all():
    name = f"results/{uuid.uuid4()}.gz"
    with pytest.raises(OSError, match="No space left"):
        default_storage.save(name, Torn(b""))
    assert not default_storage.exists(name)


def test_a_file_and_the_names_that_lead_to_it_are_on_the_disk_before_its_row(monkeypatch):
    """What is synchronised is asked of the system."""
    seen: list[str] = []
    monkeypatch.setattr("benchsite.storage.os.fsync", lambda handle: seen.append(path_of(handle)))
    folder = f"results/{uuid.uuid4()}"
    default_storage.save(f"{folder}/x.gz", File(ContentFile(b"x")))
    above = default_storage.path("results")
    assert seen[:3] == [default_storage.path(f"{folder}/x.gz"), default_storage.path(folder), above]


def path_of(handle: int) -> str:
    return str(Path(f"/proc/self/fd/{handle}").readlink())


def test_a_commit_waits_for_the_disk():
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            assert cursor.execute("PRAGMA synchronous").fetchone() == (2,), "FULL"
            assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        else:
            cursor.execute("SHOW synchronous_commit")
            assert cursor.fetchone() == ("on",)


@pytest.mark.parametrize(("path", "kind"), [("/login/", "text/html"), ("/api/v1/results/", "application/json")])
def test_a_full_disk_is_named_wherever_it_is_met(rf, path, kind):
    try:
        raise OperationalError("database or disk is full")
    except OperationalError:
        answer = server_error(rf.post(path))
    assert answer.status_code == 507
    assert answer.headers["Content-Type"].startswith(kind)
    assert "disk of this server" in answer.content.decode()


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (OperationalError("database or disk is full"), True),
        (OperationalError("could not extend file: No space left on device"), True),
        (OperationalError("database is locked"), False),
        (OSError(errno.EACCES, "Permission denied"), False),
        (ValueError("the disk is full"), False),
    ],
)
def test_it_knows_a_full_disk_by_its_words(error, full):
    assert space.is_full(error) is full
    outer = RuntimeError("outer")
    outer.__cause__ = error
    assert space.is_full(outer) is full


@pytest.mark.any_database  # of SQLite alone
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL counts by itself")
def test_sqlite_knows_how_many_rows_an_index_has_once_it_has_counted():
    make_run("SQLite 3.53", 1)
    space.count_for_sqlite()
    with connection.cursor() as cursor:
        cursor.execute("SELECT idx FROM sqlite_stat1 WHERE tbl = 'runs_run'")
        assert ("run_newest",) in cursor.fetchall()

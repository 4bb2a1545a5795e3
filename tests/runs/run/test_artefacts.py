"""Files kept beside results."""

from __future__ import annotations

import gzip
import os
import sqlite3
import uuid
from datetime import timedelta

import psycopg
import pytest
from benchagent.importers import source
from django.db import DataError, OperationalError, transaction
from django.utils import timezone

from runs.models import Artefact, FileImport
from runs.run import artefacts
from tests.runs.builders import document, store_upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_folder")]


@pytest.fixture
def run(db):
    return store_upload(document=document(), token=None).runs[0]


def test_it_gives_back_what_it_was_given(run):
    text = "progress: 1.0 s, 100.5 tps\r\nµs\n".encode()
    kept = artefacts.keep(name="pgbench.log", content=text, media_type="text/plain", run=run)
    found = Artefact.objects.get(id=kept.id)
    assert artefacts.content(found) == text
    assert (found.run, found.name, found.size_bytes, len(found.sha256)) == (run, "pgbench.log", len(text), 64)
    assert found.file.name.endswith(f"{kept.id}.gz")


def test_an_upload_may_hold_a_long_file(db):
    text = "progress: 1.0 s, 100.5 tps\n" * 5000
    body = document(artefacts=[{"name": "long.log", "text": text}])
    assert store_upload(document=body, token=None).status == "created"
    assert artefacts.content(Artefact.objects.get()).decode() == text


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_it_keeps_no_secret(run, encoding):
    kept = artefacts.keep(name="x.log", content="é mysql-password=hunter2 --threads=4\n".encode(encoding), run=run)
    assert artefacts.content(kept).decode(encoding) == "é mysql-password=[redacted] --threads=4\n"


def test_it_keeps_no_secret_of_a_packed_file(run):
    packed = gzip.compress(b"password=hunter2\n")
    kept = artefacts.keep(name="run.log.gz", content=packed, run=run)
    assert (kept.name, artefacts.content(kept)) == ("run.log", b"password=[redacted]\n")


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01password=hunter2", b"\x1f\x8bnot gzip", gzip.compress(b"x" * 99, mtime=0)[:-3]]
)
def test_other_bytes_stay_as_they_are(run, content):
    kept = artefacts.keep(name="x.bin", content=content, run=run)
    assert artefacts.content(kept) == content


@pytest.mark.parametrize("size", [300, 700, 5000])
def test_a_file_that_is_kept_in_pieces_loses_the_same_secrets(db, tmp_path, monkeypatch, size):
    lines = [f"{number} 17 900 0 1763700000 17\n" for number in range(40)]
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "aBcD\n" * 60 + "-----END RSA PRIVATE KEY-----\n"
    text = "".join([*lines, "password = hunter2\n", *lines, key, *lines, "--password=hunter3 é", *lines])
    monkeypatch.setattr(artefacts, "MAX_BLOCK_BYTES", size)
    monkeypatch.setattr(artefacts, "OVERLAP_BYTES", 400)
    path = tmp_path / "waiting"
    path.write_bytes(text.encode())
    monkeypatch.setattr(source, "STREAMED_BYTES", 10)
    monkeypatch.setattr(source, "PIECE_BYTES", 100)
    kept = artefacts.prepared_from(path, name="a.log")
    assert artefacts.content(kept) == artefacts.without_secrets(text.encode())
    assert kept.size_bytes == len(artefacts.content(kept)) and b"aBcD" not in artefacts.content(kept)


def test_a_large_file_of_utf_16_loses_its_secrets(db, tmp_path, monkeypatch):
    lines = "17 900 0 1763700000 17\n" * 40
    path = tmp_path / "waiting"
    path.write_bytes(f"{lines}password = hunter2\n{lines}".encode("utf-16"))
    monkeypatch.setattr(artefacts, "MAX_BLOCK_BYTES", 300)
    for module, name in ((artefacts, "OVERLAP_BYTES"), (source, "STREAMED_BYTES"), (source, "PIECE_BYTES")):
        monkeypatch.setattr(module, name, 100)
    kept = artefacts.prepared_from(path, name="a.log")
    assert artefacts.content(kept).decode() == f"{lines}password = [redacted]\n{lines}"


def test_it_refuses_a_bomb(run, monkeypatch):
    monkeypatch.setattr(artefacts, "MAX_ARTEFACT_BYTES", 1000)
    with pytest.raises(artefacts.TooLarge, match=r"x\.gz"):
        artefacts.keep(name="x.gz", content=gzip.compress(b"0" * 1001), run=run)
    assert Artefact.objects.count() == 0


@pytest.mark.parametrize(
    ("name", "kept"), [("../../etc/passwd", "passwd"), ("C:\\logs\\a.log", "a.log"), ("..", ".."), ("", "unnamed")]
)
def test_a_name_is_no_path(run, name, kept):
    artefact = artefacts.keep(name=name, content=b"x", run=run)
    assert artefact.name == kept
    assert artefact.file.name.startswith("results/")


def test_it_takes_the_file_away_when_the_row_is_refused(run, tmp_path):
    before = Artefact.objects.count()
    with pytest.raises((OverflowError, DataError)), transaction.atomic():
        artefacts.keep(name="x", content=b"x", run=run, position=10**30)
    assert Artefact.objects.count() == before
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_file_whose_request_was_killed_is_taken_away_later(run, tmp_path):
    """What a kill -9 between a file and its row leaves; what is named, is being read or is new stays."""
    kept = artefacts.keep(name="a.log", content=b"kept", run=run)
    waiting = FileImport.objects.create(digest="d", parser_version=1, state="reading")
    folder, strange = tmp_path / "imports" / "waiting", uuid.uuid4()
    for name in (waiting.pk, strange):
        (folder / str(name)).mkdir(parents=True)
        (folder / str(name) / "0").write_bytes(b"as it was sent")
    left = artefacts.prepared(name="b.log", content=b"left").file.name
    before = timezone.now()
    assert artefacts.forget_ownerless(before - timedelta(days=1)) == 0
    assert artefacts.forget_ownerless(before + timedelta(seconds=1)) == 2
    assert left not in files(tmp_path)
    assert files(tmp_path) == sorted([kept.file.name, f"imports/waiting/{waiting.pk}/0"])
    assert not (folder / str(strange)).exists()


@pytest.mark.parametrize(("cause", "stays"), [(psycopg.OperationalError("lost"), True), (sqlite3.Error("full"), False)])
def test_a_file_stays_where_the_connection_broke_and_its_row_may_be_there(run, tmp_path, monkeypatch, cause, stays):
    """A server that was killed between its commit and its answer: the row is there, the same upload is answered 200."""

    def broken(*given, **more):
        raise OperationalError("the connection is lost") from cause

    monkeypatch.setattr(Artefact, "save", broken)
    with pytest.raises(OperationalError):
        artefacts.keep(name="a.log", content=b"kept", run=run)
    monkeypatch.setattr("runs.results.upload._Rows.write", broken)
    body = document(id=str(uuid.uuid4()), artefacts=[{"name": "b.log", "text": "kept"}])
    with pytest.raises(OperationalError):
        store_upload(document=body, token=None)
    assert len(files(tmp_path)) == (2 if stays else 0)


def test_no_file_is_taken_that_is_older_than_the_database(run, tmp_path):
    """A site that was started on the wrong database has nothing to say about the files of the right one."""
    left = artefacts.prepared(name="b.log", content=b"of another database").file.name
    os.utime(tmp_path / left, (1_600_000_000, 1_600_000_000))
    assert artefacts.forget_ownerless(timezone.now()) == 0
    assert files(tmp_path) == [left]

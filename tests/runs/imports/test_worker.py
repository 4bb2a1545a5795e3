"""Large imports: left to a worker, read once, taken up again, given up in words; never half of one."""

from __future__ import annotations

import gzip
import io
import queue
import signal
import subprocess
import tracemalloc
from datetime import timedelta
from unittest import mock

import pytest
from benchagent.importers import SourceFile, source
from benchagent.importers.source import Lines
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from benchmarks.bench_imports import pgbench_log
from runs import imports
from runs.imports import reading, sent, steps, worker
from runs.models import Artefact, FileImport, Run
from runs.run import artefacts
from tests.runs.imports.test_imports import PGBENCH, SECRET, SUBJECT, TABLE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(reading, "LARGE_BYTES", 10)
    monkeypatch.setattr(reading, "TELL_EVERY_S", 600)
    yield
    for taken in FileImport.objects.all():
        sent.clear_away(taken.pk)


def taken_of(owner, *contents: bytes, ending: str = "txt") -> FileImport:
    files = [imports.Sent(f"run-{number}.{ending}", io.BytesIO(content)) for number, content in enumerate(contents, 1)]
    return imports.receive(files=files, owner=owner)[0]


def read_by_worker(taken: FileImport) -> None:
    """As `read_waiting` does, without a process of its own."""
    mine = worker.claimed(taken)
    worker.read_now(str(taken.pk), mine.get().attempts)
    taken.refresh_from_db()


def test_it_leaves_large_files_to_a_worker(contributor):
    taken = taken_of(contributor, SECRET + PGBENCH)

    assert taken.state == "reading" and not taken.artefacts.exists()
    with pytest.raises(imports.StillRead):
        imports.store(taken, subject=SUBJECT, owner=contributor)
    read_by_worker(taken)
    assert taken.state == "draft" and taken.items[0]["tool"] == "pgbench" and not sent.is_laid_aside(taken.pk)
    assert b"hunter2" not in artefacts.content(taken.artefacts.get())


def test_it_stores_what_was_read_without_reading_it_again(contributor):
    taken = taken_of(contributor, PGBENCH)
    read_by_worker(taken)
    with mock.patch.object(reading, "inspect", side_effect=AssertionError("read in a request")):
        runs, stored = imports.store(taken, subject=SUBJECT, owner=contributor)

    assert stored and [run.measurements.get(metric__name="tps").value for run in runs] == [800.0]
    assert FileImport.objects.get().state == "stored"


@pytest.mark.any_database  # files are kept beside it
def test_it_keeps_and_reads_a_large_log_in_little_memory(contributor):
    # Few lines, each long and not packed: what takes time while memory is counted are the numbers in them.
    log = pgbench_log(25_000).replace(b"\n", b" " * 300 + b"\n")
    for content, name in ((log, "pgbench_log.1"), (gzip.compress(log, 0), "pgbench_log.1.gz")):
        taken = imports.receive(files=[imports.Sent(name, io.BytesIO(content))], owner=contributor)[0]
        tracemalloc.start()
        read_by_worker(taken)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

        assert taken.state == "draft" and taken.items[0]["series"][0]["points"] > 10
        kept = taken.artefacts.get()
        assert (kept.name, kept.size_bytes) == ("pgbench_log.1", len(log))
        assert artefacts.content(kept) == log
        assert peak < len(log)


def test_small_imports_are_read_beside_a_large_one(contributor, monkeypatch):
    small, large = taken_of(contributor, PGBENCH), taken_of(contributor, PGBENCH + b" ")
    FileImport.objects.filter(pk=large.pk).update(progress={"size_bytes": 10**9})
    worker.claimed(FileImport.objects.get(pk=large.pk))
    started = []
    monkeypatch.setattr(worker.threading, "Thread", lambda **made: mock.Mock(start=lambda: started.append(made)))
    try:
        for _ in range(3):
            worker.wake()
    finally:
        worker._reading.release()
        worker._reading_beside.release()
    assert [made["args"][1:] for made in started] == [[], [sent.MAX_TOTAL_BYTES]]
    assert list(worker.waiting(sent.MAX_TOTAL_BYTES)) == [small]


def test_it_answers_202_and_tells_how_far_it_is(client, bearer):
    answer = client.post("/api/v1/imports/", {"file": SimpleUploadedFile("a.txt", PGBENCH)}, headers=bearer("upload"))

    body = answer.json()
    assert (answer.status_code, body["state"]) == (202, "reading")
    assert body["progress"] == {"files": ["a.txt"], "size_bytes": len(PGBENCH)}
    told = client.get(answer["Location"], headers=bearer("upload")).json()
    assert told["state"] == "reading"
    stored = client.post(f"{answer['Location']}store/", {}, content_type="application/json", headers=bearer("upload"))
    assert stored.status_code == 409 and "still being read" in stored.json()["detail"]


class Row:
    """In place of the import's."""

    def __init__(self) -> None:
        self.told = queue.Queue()

    def update(self, *, progress):
        self.told.put(dict(progress))
        return 1


def test_it_tells_how_far_a_file_is_read_while_it_is(monkeypatch):
    monkeypatch.setattr(reading, "TELL_EVERY_S", 0.01)
    monkeypatch.setattr(source, "PIECE_BYTES", 99)
    before, file, row = SourceFile("a.log", b"before"), SourceFile("b.log", b"x\n" * 1000), Row()
    lines = iter(Lines(file))
    for _ in range(520):  # ten pieces of fifty lines, and some of the next
        next(lines)
    progress = reading._Progress(FileImport(progress={"size_bytes": 2006}), row, "read")
    progress.began -= 10
    with reading._telling(progress, [before, file]):
        told = row.told.get(timeout=60)
    assert (told["step"], told["file"], told["read_bytes"]) == ("read", "b.log", 1006)
    assert told["bytes_per_s"] in range(20, 101) and told["left_s"] in range(10, 50)


def test_its_page_asks_until_the_files_are_read(client, contributor):
    taken = taken_of(contributor, PGBENCH)
    client.force_login(contributor)
    page, htmx = f"/imports/{taken.pk}/", {"HX-Request": "true"}

    assert b"Waiting for a worker" in client.get(page).content
    part = client.get(page, headers=htmx)
    assert b"import-progress" in part.content and b"<html" not in part.content
    read_by_worker(taken)
    assert client.get(page, headers=htmx)["HX-Refresh"] == "true"
    assert b"What was understood" in client.get(page).content


def test_it_takes_turns_between_persons(contributor, operator):
    first, second = taken_of(contributor, PGBENCH), taken_of(contributor, PGBENCH + b" ")
    third = taken_of(operator, PGBENCH)
    order = []

    def read(taken, mine):
        order.append(taken.pk)
        worker.read_now(str(taken.pk), mine.get().attempts)

    with mock.patch.object(worker, "watch", read):
        worker.read_waiting()
    assert order == [first.pk, third.pk, second.pk]


def test_a_sixth_import_is_told_to_come_later(client, bearer, operator):
    for number in range(steps.MAX_WAITING):
        taken_of(operator, PGBENCH + b" " * number)
    sixth = {"file": SimpleUploadedFile("a.txt", PGBENCH + b"more")}
    answer = client.post("/api/v1/imports/", sixth, headers=bearer("upload"))
    assert (answer.status_code, int(answer["Retry-After"]) > 0) == (429, True)


def test_what_waits_of_one_person_is_bounded_in_bytes(contributor, operator, settings, monkeypatch):
    settings.IMPORT_STREAMED_MB = 0
    monkeypatch.setattr(steps, "MAX_TOTAL_BYTES", 2 * steps.MB)
    first = taken_of(contributor, PGBENCH + b" " * 2 * steps.MB)
    with pytest.raises(imports.BadFiles, match=r"2 MB of yours are still being read, .* at most 2 MB of a person wait"):
        taken_of(contributor, PGBENCH)
    taken_of(operator, PGBENCH)
    read_by_worker(first)
    assert taken_of(contributor, PGBENCH).state == "reading"


def test_what_came_at_the_same_moment_is_bounded_too(contributor, monkeypatch):
    def laid_aside() -> set[str]:
        return set(default_storage.listdir("/".join(sent.WAITING))[0])

    taken_of(contributor, PGBENCH + b"first")
    counted, asked, before = steps._check_room, [], laid_aside()

    def others_come_first(taken, owner):
        counted(taken, owner)
        if not asked:
            asked.append(owner)
            for number in range(steps.MAX_WAITING - 1):
                taken_of(contributor, PGBENCH + b" " * number)

    monkeypatch.setattr(steps, "_check_room", others_come_first)
    with pytest.raises(imports.BadFiles, match="5 of your imports"):
        taken_of(contributor, PGBENCH + b"more")
    assert FileImport.objects.count() == steps.MAX_WAITING
    assert len(laid_aside() - before) == steps.MAX_WAITING - 1


def test_it_takes_up_what_a_killed_worker_left(contributor):
    taken = taken_of(contributor, PGBENCH, PGBENCH)
    killed = worker.claimed(taken)
    reading._keep(taken, killed)  # and no further
    assert not worker.waiting().exists()

    killed.update(seen_at=timezone.now() - timedelta(minutes=1))
    read_by_worker(FileImport.objects.get())
    taken.refresh_from_db()
    assert (taken.state, taken.attempts, taken.artefacts.count()) == ("draft", 2, 2)


def test_who_was_silent_for_long_changes_nothing_any_more(contributor):
    taken = taken_of(contributor, PGBENCH)
    worker.claimed(taken).update(seen_at=timezone.now() - timedelta(minutes=1))
    assert worker.claimed(FileImport.objects.get()) is not None

    worker.read_now(str(taken.pk), 1)
    taken.refresh_from_db()
    assert taken.state == "reading" and taken.items == []


def test_it_gives_up_what_was_interrupted_again_and_again(contributor):
    taken = taken_of(contributor, PGBENCH)
    FileImport.objects.update(attempts=worker.ATTEMPTS, progress={"files": ["a"], "file": "run-1.txt"})
    worker.read_waiting()

    taken.refresh_from_db()
    assert taken.state == "failed" and "interrupted 3 times, at run-1.txt" in taken.problem
    assert not sent.is_laid_aside(taken.pk) and not Artefact.objects.exists()
    # The same files may be tried anew.
    assert taken_of(contributor, PGBENCH).state == "reading"


def test_a_draft_thrown_away_while_it_is_read_leaves_nothing(contributor):
    taken = taken_of(contributor, PGBENCH)
    mine = worker.claimed(taken)
    with mock.patch.object(reading, "_read", side_effect=lambda *_: imports.forget(FileImport.objects.get()) or []):
        worker.read_now(str(taken.pk), mine.get().attempts)

    assert not FileImport.objects.exists() and not Artefact.objects.exists()
    assert not sent.is_laid_aside(taken.pk)


def test_it_ends_a_reader_whose_import_is_gone(contributor, monkeypatch):
    monkeypatch.setattr(worker, "EVERY_S", 0.05)
    taken = taken_of(contributor, PGBENCH)
    mine = worker.claimed(taken)
    child = subprocess.Popen(["sleep", "60"])
    imports.forget(FileImport.objects.get())
    with mock.patch.object(subprocess, "Popen", return_value=child):
        worker.watch(taken, mine)

    assert child.returncode == -signal.SIGKILL


def test_it_ends_a_reader_that_takes_too_long_and_says_so(contributor, monkeypatch):
    monkeypatch.setattr(worker, "EVERY_S", 0.05)
    monkeypatch.setattr(worker, "MAX_S", 0)
    taken = taken_of(contributor, PGBENCH)
    mine = worker.claimed(taken)
    mine.update(progress=taken.progress | {"file": "run-1.txt"})
    with mock.patch.object(subprocess, "Popen", return_value=subprocess.Popen(["sleep", "60"])):
        worker.watch(taken, mine)

    taken.refresh_from_db()
    assert taken.state == "failed" and "5 minutes of processor time" in taken.problem and "run-1.txt" in taken.problem


def test_it_says_that_memory_did_not_suffice(contributor):
    taken = taken_of(contributor, PGBENCH)
    with mock.patch.object(reading, "_read", side_effect=MemoryError):
        read_by_worker(taken)

    assert taken.state == "failed" and "2 GB of memory" in taken.problem
    with pytest.raises(imports.NotReady):
        imports.store(taken, subject=SUBJECT, owner=contributor)


def test_it_replaces_the_runs_of_a_stored_import(contributor):
    taken = taken_of(contributor, PGBENCH)
    read_by_worker(taken)
    old = imports.store(taken, subject=SUBJECT, owner=contributor)[0][0]

    assert imports.read_again(taken) == [] and taken.state == "reading"
    assert list(Run.objects.present()) == [old]
    read_by_worker(taken)
    assert taken.state == "stored" and old not in Run.objects.present() and Run.objects.present().count() == 1


def test_it_changes_nothing_of_a_stored_import_that_is_not_read_again(contributor):
    taken = taken_of(contributor, PGBENCH)
    read_by_worker(taken)
    old = imports.store(taken, subject=SUBJECT, owner=contributor)[0][0]
    FileImport.objects.update(subject={**taken.subject, "factors": {"x" * 99: 1}})
    imports.read_again(taken)
    read_by_worker(taken)

    assert taken.state == "stored" and "factors" in taken.problem and list(Run.objects.present()) == [old]


def test_it_reads_a_large_table_anew_by_other_columns(contributor):
    taken = taken_of(contributor, TABLE, ending="csv")
    read_by_worker(taken)
    columns = [
        {"heading": "n", "role": "factor", "name": "terminals"},
        {"heading": "thrpt", "role": "metric", "name": "tps", "unit": "TPS"},
        {"heading": "lat", "role": "ignore"},
    ]
    imports.keep_subject(taken, {"mapping": {"run-1.csv": {"rows": "runs", "columns": columns}}})
    assert taken.state == "reading"
    read_by_worker(taken)

    assert [item["metrics"][0]["value"] for item in taken.items] == [100.5, 190.25, 350.125]


def test_a_sweep_wakes_one_reader(contributor, monkeypatch):
    taken_of(contributor, PGBENCH)
    started = []
    monkeypatch.setattr(worker.threading, "Thread", lambda **made: mock.Mock(start=lambda: started.append(made)))
    try:
        worker.wake()
        worker.wake()
        assert len(started) == 1
    finally:
        worker._reading.release()


def test_files_wait_under_names_of_ours(contributor):
    taken = imports.receive(files=[imports.Sent("../../../etc/passwd", io.BytesIO(PGBENCH))], owner=contributor)[0]

    assert default_storage.listdir(f"imports/waiting/{taken.pk}") == ([], ["0"])
    assert sent.laid_aside(taken.pk, 0).read_bytes() == PGBENCH


def test_what_was_said_of_columns_is_remembered_for_large_tables_too(contributor):
    rows = "".join(f"{n},{n}.5\n" for n in range(2, 12))
    first = taken_of(contributor, f"n,thrpt\n{rows}".encode(), ending="csv")
    read_by_worker(first)
    assert first.items[0]["status"] == "not_understood"
    columns = [
        {"heading": "n", "role": "factor", "name": "terminals"},
        {"heading": "thrpt", "role": "metric", "name": "tps", "unit": "TPS"},
    ]
    imports.keep_subject(first, {"mapping": {"run-1.csv": {"columns": columns}}})

    second = taken_of(contributor, f"n,thrpt\n{rows.replace('.5', '.75')}".encode(), ending="csv")
    read_by_worker(second)
    assert [item["metrics"][0]["value"] for item in second.items][:2] == [2.75, 3.75]
    assert [*second.subject["mapping"]] == ["run-1.csv"]

"""Files of tools: kept without secrets, previewed, completed, stored all or nothing, read again."""

from __future__ import annotations

import gzip
import io
import re
from datetime import date
from pathlib import Path

import pytest
from benchagent.importers.report import missing_details
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from runs import imports, results
from runs.compare.compare import compare
from runs.imports import forms, reading, tools, worker
from runs.imports.documents import repeated
from runs.models import Artefact, Batch, Config, FileImport, HardwareProfile, Metric, Run, Upload, Workload
from runs.run import artefacts
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[2] / "benchagent" / "importers" / "data"
PGBENCH = b"""pgbench (16.4)
starting vacuum...end.
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: prepared
number of clients: 4
number of threads: 2
maximum number of tries: 1
duration: 60 s
number of transactions actually processed: 48000
number of failed transactions: 0 (0.000%)
latency average = 5.000 ms
initial connection time = 8.213 ms
tps = 800.000000 (without initial connection time)
"""
SECOND = PGBENCH.replace(b"48000", b"49200").replace(b"800.000000", b"820.000000").replace(b"5.000 ms", b"4.878 ms")
THIRD, FOURTH = (SECOND.replace(b"820", digits) for digits in (b"823", b"826"))
ABORTED = PGBENCH.replace(
    b"starting vacuum...end.", b"pgbench: error: client 2 aborted in command 5 (SQL) of script 0"
) + (b"pgbench: error: Run was aborted; the above results are incomplete.\n")
SECRET = b"+ PGPASSWORD=hunter2 pgbench -c 4 postgresql://bench:hunter2@db1/bench\n"
SUBJECT = {"hardware": {"name": "bench 7"}, "dbms": {"name": "PostgreSQL", "version": "16.4"}}


def file(name: str, content: bytes) -> imports.Sent:
    return imports.Sent(name, io.BytesIO(content))


def files(*contents: bytes) -> list[imports.Sent]:
    return [file(f"run-{number}.txt", content) for number, content in enumerate(contents, 1)]


def test_it_stores_the_repeats_of_a_cell_as_runs(contributor):
    taken, created = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    runs, stored = imports.store(taken, subject=SUBJECT, owner=contributor)

    assert created and stored
    assert [run.repeat for run in runs] == [1, 2]
    assert len({run.cell_key for run in runs}) == 1
    assert [run.measurements.get(metric__name="tps").value for run in runs] == [800.0, 820.0]
    assert [run.measurements.get(metric__name="latency_mean_ms").value for run in runs] == [5.0, 4.878]
    assert runs[0].workload.slug == "tpcb"
    assert runs[0].owner == contributor
    assert str(runs[0].dbms_version) == "PostgreSQL 16.4"
    assert runs[0].factor("terminals") == 4


def test_its_page_compares_all_of_its_runs(client, contributor):
    """Seen: "Compare 3000 runs", which compared the first hundred."""
    taken, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    runs, _ = imports.store(taken, subject=SUBJECT, owner=contributor)
    client.force_login(contributor)
    (address,) = re.findall(r'href="(/compare/\?[^"]*)"', client.get(f"/imports/{taken.pk}/").content.decode())
    compared = client.get(address).context["comparison"]
    assert {run.pk for run in compared.all_runs} == {run.pk for run in runs}


def test_a_driver_that_does_not_speak_to_the_dbms_that_is_said_is_told(contributor):
    """Seen: a report of sysbench with --db-driver=mysql stored as PostgreSQL 15.5 without a word."""
    report = (DATA / "sysbench" / "v10_read_write.txt").read_bytes()
    called = b"$ sysbench --db-driver=mysql oltp_read_write run\n" + report
    taken, _ = imports.receive(files=files(called), owner=contributor)
    for name, is_told in (("PostgreSQL", True), ("MariaDB", False), ("My own", False)):
        taken.subject = SUBJECT | {"dbms": {"name": name, "version": "1"}}
        told = [words for words in imports.warnings_of(taken, contributor) if "driver mysql" in words]
        assert bool(told) == is_told, told

    imports.store(taken, subject=SUBJECT, owner=contributor)

    taken.refresh_from_db()
    assert any("driver mysql" in words for words in imports.warnings_of(taken, contributor))


def test_the_list_of_imports_has_pages(client, contributor):
    """Seen: a draft gone from the list after twenty other imports, and no way to it."""
    client.force_login(contributor)
    draft, *_ = [FileImport.objects.create(owner=contributor, parser_version=1, digest=str(at)) for at in range(21)]

    first, second = (client.get(f"/imports/?page={number}").content.decode() for number in (1, 2))

    assert f"/imports/{draft.pk}/" not in first and f"/imports/{draft.pk}/" in second
    assert "Page 2 of 2, 21 imports" in second


def test_the_list_of_imports_tells_what_each_holds(client, contributor):
    """Seen: fifteen rows "hdb_w100_vu128_r1.txt and 12 more", without a machine, a system or a number of runs."""
    taken, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    imports.store(taken, subject=SUBJECT, owner=contributor)
    FileImport.objects.create(owner=contributor, parser_version=1, digest="draft")
    client.force_login(contributor)

    held = {row.pk: words for row, words in client.get("/imports/").context["rows"]}

    machine = Run.objects.first().hardware.name
    assert held.pop(taken.pk) == f"2 runs · {machine} · PostgreSQL 16.4" and [*held.values()] == [""]


def test_a_table_of_more_rows_than_a_form_has_fields_is_stored_with_one_tick(
    client, contributor, monkeypatch, settings
):  # fmt: skip
    """Seen: a table of 3,000 rows could be previewed, and "Store" was answered that the request cannot be read."""
    # A tick, a DBMS, its version and an expected failure of each, and the fields of the form.
    assert 4 * forms.MOST_TICKED < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    monkeypatch.setattr(forms, "MOST_TICKED", 20)
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 60
    rows = "".join(f"PostgreSQL,17.2,tpcb,Csv box,{n % 7 + 1},{1000 + n / 1000}\n" for n in range(100))
    table = b"dbms,version,workload,machine,terminals,tps\n" + rows.encode()
    taken, _ = imports.receive(files=[file("big.csv", table)], owner=contributor)
    client.force_login(contributor)
    page = client.get(f"/imports/{taken.pk}/")
    assert (len(page.context["items"]), page.context["rest"]) == (20, [("complete", 80)])
    ticked = re.findall(r'name="keep" value="(\d+)"', page.content.decode())
    said = {"keep": ticked[1:], "keep_rest": "1", "visibility": "public", "new_hardware": "bench 7"}
    answer = client.post(f"/imports/{taken.pk}/", said)
    assert (answer.status_code, Run.objects.filter(batch=taken.pk).count()) == (302, 99)


def test_of_what_has_no_tick_of_its_own_nothing_is_stored_unless_that_is_said(client, contributor, monkeypatch):
    monkeypatch.setattr(forms, "MOST_TICKED", 1)
    taken, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    client.force_login(contributor)
    client.post(f"/imports/{taken.pk}/", {"keep": "0", "visibility": "public", "new_hardware": "bench 7"})
    assert Run.objects.count() == 1


def test_its_runs_are_a_batch_with_what_was_said_of_it(contributor):
    taken, _ = imports.receive(files=sweep(800, 810, 820), owner=contributor)
    said = {"label": "before", "tags": ["ssd"], "tested": {"build": "7"}}
    runs, _ = imports.store(taken, subject=SUBJECT | said, owner=contributor)
    (together,) = Batch.objects.all()
    assert (together.pk, together.label, together.tags, together.tested) == (taken.pk, "before", "ssd", {"build": "7"})
    again = imports.read_again(FileImport.objects.get())
    assert {run.batch_id for run in (*runs, *again)} == {together.pk}
    assert Batch.objects.get().label == "before"


def test_it_takes_the_same_files_once(contributor, operator):
    first, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    again, created = imports.receive(files=files(PGBENCH), owner=contributor)
    other, _ = imports.receive(files=files(PGBENCH), owner=operator)

    assert again == first and not created
    assert other != first


def test_its_page_offers_to_change_what_is_said_of_files_that_come_again(client, contributor):
    """Was: the page showed the files as stored, and neither that nothing had changed nor where another label goes."""
    client.force_login(contributor)
    taken, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    imports.store(taken, subject=SUBJECT | {"label": "before", "tested": {"commit": "f00ba7"}}, owner=contributor)
    page = client.post("/imports/", {"file": SimpleUploadedFile("run-1.txt", PGBENCH)}, follow=True).content.decode()
    told = page.partition("data-described")[2]
    assert 'class="messages"' in page and "before" in told and "f00ba7" in told and f"/batches/{taken.pk}/edit/" in page


def test_a_run_links_the_file_that_it_was_read_from_for_its_owner_alone(client, contributor, operator):
    """Was: raw output was linked on the page of the import, which nothing that a reader meets leads to."""
    taken, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    first, _ = imports.store(taken, subject=SUBJECT, owner=contributor)[0]
    for person, expected in ((contributor, ["run-1.txt"]), (operator, []), (None, [])):
        client.force_login(person) if person else client.logout()
        sent = client.get(f"/api/v1/runs/{first.pk}/").json()["artefacts"]
        assert [each["name"] for each in sent] == expected
        assert ("<h3>Files</h3>" in client.get(f"/runs/{first.pk}/").content.decode()) == bool(expected)
    client.force_login(contributor)
    (raw,) = client.get(f"/api/v1/runs/{first.pk}/").json()["artefacts"]
    assert b"".join(client.get(raw["url"]).streaming_content) == PGBENCH


def test_its_page_says_which_of_its_runs_are_copies(client, contributor):
    client.force_login(contributor)
    for name, content in (("first.txt", PGBENCH), ("again.txt.gz", gzip.compress(PGBENCH))):
        taken, _ = imports.receive(files=[file(name, content)], owner=contributor)
        said = {"new_hardware": "bench 7", "visibility": "public", "keep": "0"}
        page = client.post(f"/imports/{taken.pk}/", said, follow=True).content.decode()
        assert ("which is a copy" in page) == ("a copy of a result" in page) == (name != "first.txt")


@pytest.mark.parametrize(("said", "field"), [
    ({"hardware": "lab-3", "new_hardware": "bench 7"}, "new_hardware"),
    ({"new_hardware": "bench 7", "config": "tuned", "config_text": "fsync = off"}, "config_text"),
])  # fmt: skip
def test_what_is_said_twice_is_asked_and_not_chosen_in_silence(client, contributor, said, field):
    """Was: the machine that was chosen was dropped for the one that was typed, a configuration too."""
    client.force_login(contributor)
    HardwareProfile.objects.create(slug="lab-3", name="Lab 3")
    Config.objects.create(slug="tuned", name="tuned")
    taken, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    answer = client.post(f"/imports/{taken.pk}/", said | {"visibility": "public", "keep": "0"})
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert said[field] in answer.content.decode() and not Run.objects.exists()


def test_what_was_said_of_an_import_that_lacks_something_fills_the_form_that_completes_it(client, operator, bearer):
    """Was: benchctl leads there, and the machine and day that it was told had to be typed again."""
    HardwareProfile.objects.create(slug="lab-3", name="Lab 3")
    taken, _ = imports.receive(files=files(PGBENCH.replace(b" (16.4)", b"")), owner=operator)
    subject = {"hardware": "lab-3", "measured_on": "2026-05-04", "label": "before"}
    path, headers = f"/api/v1/imports/{taken.pk}/store/", bearer("upload")
    answer = client.post(path, {"subject": subject}, "application/json", headers=headers)
    assert (answer.status_code, list(answer.json())) == (400, ["dbms.name", "dbms.version"])
    client.force_login(operator)
    form = client.get(f"/imports/{taken.pk}/").context["form"]
    assert [str(form[name].value()) for name in subject] == [*subject.values()]


def test_a_day_that_is_said_counts_where_the_file_tells_none(contributor):
    """Was: "incomplete", as the day that was said is not that of started_at."""
    table = b"started_at,terminals,tps\n2026-05-01T10:00:00Z,8,100\n,16,150\n"
    taken, _ = imports.receive(files=[file("sweep.csv", table)], owner=contributor)
    imports.store(
        taken,
        subject=SUBJECT | {"workload": {"slug": "own", "name": "Own"}, "measured_on": "2026-05-04"},
        owner=contributor,
    )
    days = {run.factor("terminals"): (run.measured_at or run.created_at).date() for run in Run.objects.all()}
    assert days == {8: date(2026, 5, 1), 16: date(2026, 5, 4)}


def test_it_stores_once_however_often_it_is_asked(contributor):
    taken, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    imports.store(taken, subject=SUBJECT, owner=contributor)
    runs, stored = imports.store(FileImport.objects.get(), subject=SUBJECT, owner=contributor)

    assert not stored and len(runs) == 1 == Run.objects.count()


def test_it_keeps_no_secret_anywhere(contributor):
    taken, _ = imports.receive(files=files(SECRET + PGBENCH), owner=contributor)
    imports.store(taken, subject=SUBJECT, owner=contributor)

    kept = artefacts.content(Artefact.objects.get())
    assert b"hunter2" not in kept and b"tps = 800" in kept
    assert "hunter2" not in str(list(FileImport.objects.values())) + str(list(Upload.objects.values()))
    assert "hunter2" not in str(list(Run.objects.values()))


def test_it_says_what_is_missing_and_stores_nothing(contributor):
    taken, _ = imports.receive(files=files(PGBENCH), owner=contributor)

    with pytest.raises(imports.NotReady) as caught:
        imports.store(taken, subject={}, owner=contributor)

    assert set(caught.value.detail) >= {"hardware"}
    assert Run.objects.count() == Upload.objects.count() == 0
    taken.refresh_from_db()
    assert taken.stored_at is None


def test_it_stores_nothing_when_one_document_is_refused(contributor):
    taken, _ = imports.receive(files=files(PGBENCH, ABORTED), owner=contributor)

    with pytest.raises(ValidationError) as caught:
        imports.store(taken, subject=SUBJECT | {"factors": {"x" * 99: 1}}, owner=contributor)

    assert "factors" in str(caught.value.detail)
    assert Run.objects.count() == Upload.objects.count() == 0


def sweep(*tps: float) -> list[imports.Sent]:
    """A report for each number of clients, so that each becomes a cell of its own."""
    return files(
        *(
            PGBENCH.replace(b"clients: 4", b"clients: %d" % clients)
            .replace(b"48000", b"%d" % (60 * value))
            .replace(b"800.000000", b"%.6f" % value)
            .replace(b"5.000 ms", b"%.3f ms" % (1000 * clients / value))
            for clients, value in enumerate(tps, 2)
        )
    )


def test_it_stores_an_aborted_run_as_failed(contributor):
    """Was: cancelled, as if a person had ended it, of a run whose client lost its connection."""
    taken, _ = imports.receive(files=files(ABORTED), owner=contributor)
    runs, _ = imports.store(taken, subject=SUBJECT, owner=contributor)

    assert [run.state for run in runs] == ["failed"]
    assert runs[0].message.endswith("client 2 aborted in command 5 (SQL) of script 0")
    assert not Run.objects.with_values().exists()


MISSING_KEYS = b"""YCSB Client 0.17.0
[OVERALL], RunTime(ms), 1000
[OVERALL], Throughput(ops/sec), 100.0
[READ], Operations, 100
[READ], AverageLatency(us), 900.5
[READ], Return=OK, 45
[READ], Return=NOT_FOUND, 55
"""


@pytest.mark.parametrize(("said", "state"), [({}, "failed"), ({"failures_expected": [0]}, "finished")])
def test_a_person_says_that_failed_operations_belong_to_the_workload(contributor, said, state):
    taken, _ = imports.receive(files=files(MISSING_KEYS), owner=contributor)
    subject = SUBJECT | {"dbms": {"name": "MongoDB", "version": "8.0"}}
    ((run,), _) = imports.store(taken, subject=subject | said, owner=contributor)
    assert run.state == state
    assert any("whoever sent it" in words for words in run.warnings) is bool(said)


def test_more_operations_a_second_are_better_as_a_tool_writes_them(contributor):
    """Seen: "Operations of all types has no better side", of two systems that YCSB had measured."""
    taken, _ = imports.receive(files=files(MISSING_KEYS), owner=contributor)
    subject = SUBJECT | {"dbms": {"name": "MongoDB", "version": "8.0"}, "failures_expected": [0]}
    ((run,), _) = imports.store(taken, subject=subject, owner=contributor)
    metric = run.measurements.get(metric__name="ops_per_s").metric
    assert (metric.unit, metric.better) == ("operations/s", "higher")


def test_the_form_offers_that_answer_where_only_the_share_fails_a_run(client, contributor):
    client.force_login(contributor)
    taken, _ = imports.receive(files=files(MISSING_KEYS), owner=contributor)
    page = client.get(f"/imports/{taken.pk}/").content.decode()
    assert 'name="expected" value="0"' in page
    taken, _ = imports.receive(files=files(ABORTED), owner=contributor)
    assert 'name="expected"' not in client.get(f"/imports/{taken.pk}/").content.decode()


def test_it_leaves_out_what_is_not_wanted(contributor):
    taken, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    runs, _ = imports.store(taken, subject=SUBJECT | {"leave_out": [0]}, owner=contributor)

    assert [run.measurements.get(metric__name="tps").value for run in runs] == [820.0]


def test_it_replaces_runs_when_the_files_are_read_again(contributor):
    taken, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    old = imports.store(taken, subject=SUBJECT, owner=contributor)[0][0]
    new = imports.read_again(taken)[0]

    assert new.id != old.id
    assert new.batch_id == old.batch_id == taken.pk, "what was measured together stays together"
    assert list(Run.objects.present()) == [new]
    assert Run.objects.filter(pk=old.pk).exclude(deleted_at=None).exists()


def test_of_files_whose_runs_are_deleted_it_says_so_and_leads_to_restoring_them(client, contributor, bearer):
    taken, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    (run,), _ = imports.store(taken, subject=SUBJECT, owner=contributor)
    client.force_login(contributor)
    assert "data-deleted" not in client.get(f"/imports/{taken.id}/").content.decode()
    results.editing.delete(run, by=contributor)
    again, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    assert [run.pk for run in imports.deleted_runs_of(again)] == [run.pk]
    assert run.get_absolute_url() in client.get(f"/imports/{again.id}/").content.decode().partition("data-deleted")[2]
    (answered,) = client.get(f"/api/v1/imports/{again.id}/").json()["runs"]
    assert answered["restore_url"].endswith(f"/api/v1/runs/{run.pk}/restore/")


def test_of_files_of_which_one_run_is_deleted_it_says_so(client, contributor, bearer):
    """Seen: "there already 5" of six files, and `benchctl upload --restore` left the sixth deleted."""
    taken, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    runs, _ = imports.store(taken, subject=SUBJECT, owner=contributor)
    results.editing.delete(runs[0], by=contributor)

    again, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)

    client.force_login(contributor)
    assert "1 of its runs is deleted" in client.get(f"/imports/{again.id}/").content.decode()
    told = client.get(f"/api/v1/imports/{again.id}/").json()["runs"]
    assert {run["id"]: "restore_url" in run for run in told} == {
        str(runs[0].pk): True,
        **{str(run.pk): False for run in runs[1:]},
    }
    page = client.post(f"/imports/{again.id}/restore/", follow=True).content.decode()
    assert "1 run brought back" in page and Run.objects.present().count() == len(runs)


def test_each_file_takes_a_version_of_its_own(client, contributor):
    without = PGBENCH.replace(b"pgbench (16.4)\n", b"")
    taken, _ = imports.receive(files=files(without, without.replace(b"800.", b"810.")), owner=contributor)
    client.force_login(contributor)
    page = client.get(f"/imports/{taken.id}/").content.decode()
    assert [f'name="version-{index}"' in page for index in (0, 1)] == [True, True]
    said = {"keep": ["0", "1"], "new_hardware": "lab 9", "dbms_name": "PostgreSQL", "visibility": "public"}
    lacking = client.post(f"/imports/{taken.id}/", said | {"version-0": "16.1"})
    assert lacking.status_code == 422
    assert "run-2.txt" in lacking.content.decode().partition("Nothing was stored")[2].partition("</div>")[0]
    assert client.post(f"/imports/{taken.id}/", said | {"version-0": "16.1", "version-1": "17.2"}).status_code == 302
    runs = imports.runs_of(taken)
    assert sorted(run.dbms_version.version for run in runs) == ["16.1", "17.2"]
    assert len({run.upload_id for run in runs}) == 2, "no repeats of each other"


def test_it_keeps_files_that_nobody_understands(contributor):
    taken, _ = imports.receive(files=[file("notes.txt", b"nothing to see\n")], owner=contributor)

    assert [item["status"] for item in taken.items] == ["not_understood"]
    assert artefacts.content(taken.artefacts.get()) == b"nothing to see\n"


@pytest.mark.parametrize("sent", [[], [("empty", b"")]])
def test_it_refuses_nothing_at_all(contributor, sent):
    with pytest.raises(imports.BadFiles):
        imports.receive(files=[file(*each) for each in sent], owner=contributor)

    assert FileImport.objects.count() == 0


TABLE = b"n,thrpt,lat\n1,100.5,9900\n2,190.25,10500\n4,350.125,11400\n"
COLUMNS = {
    "csv0-rows": "runs",
    "csv0-0-role": "factor", "csv0-0-name": "terminals",
    "csv0-1-role": "metric", "csv0-1-name": "tps", "csv0-1-unit": "TPS",
    "csv0-2-role": "metric", "csv0-2-name": "latency_avg_ms", "csv0-2-unit": "ms", "csv0-2-scale": "0.001",
}  # fmt: skip


def test_it_reads_a_table_by_what_a_person_says_of_its_columns(client, contributor):
    taken, _ = imports.receive(files=[file("sweep.csv", TABLE)], owner=contributor)
    assert [item["status"] for item in taken.items] == ["not_understood"]
    client.force_login(contributor)
    page = client.get(f"/imports/{taken.id}/").content.decode()
    assert "Columns of sweep.csv" in page and "190.25" in page

    client.post(f"/imports/{taken.id}/columns/", COLUMNS)
    taken.refresh_from_db()
    subject = SUBJECT | {"workload": {"slug": "sweep", "name": "Sweep"}}
    runs, _ = imports.store(taken, subject=subject, owner=contributor)

    assert [run.factor("terminals") for run in runs] == [1, 2, 4]
    assert [run.measurements.get(metric__name="tps").value for run in runs] == [100.5, 190.25, 350.125]
    assert [run.measurements.get(metric__name="latency_mean_ms").value for run in runs] == [9.9, 10.5, 11.4]


def test_a_person_says_what_a_factor_of_a_table_is_to_a_comparison(client, contributor):
    """Seen: columns of a table were questions for good, with no ratio between two of their values; and what was said of
    a column was refused for cells of several repeats.
    """
    table = b"n,cache,thrpt\n1,cold,100.5\n1,cold,100.6\n1,warm,190.25\n"
    taken, _ = imports.receive(files=[file("sweep.csv", table)], owner=contributor)
    client.force_login(contributor)
    columns = {
        "csv0-rows": "runs", "csv0-0-role": "factor", "csv0-0-name": "streams", "csv0-0-compared": "question",
        "csv0-1-role": "factor", "csv0-1-name": "cache", "csv0-1-compared": "condition", "csv0-2-role": "metric",
        "csv0-2-name": "tps", "csv0-2-unit": "TPS", "csv0-2-compared": "condition",
    }  # fmt: skip

    client.post(f"/imports/{taken.id}/columns/", columns)
    taken.refresh_from_db()
    page = client.get(f"/imports/{taken.id}/").content.decode()
    subject = SUBJECT | {"workload": {"slug": "sweep", "name": "Sweep"}, "mapping": taken.subject["mapping"]}
    runs, _ = imports.store(taken, subject=subject, owner=contributor)

    assert '<option value="condition" selected>' in page
    assert {factor.name: factor.role for factor in runs[0].factors.all()} == {
        "streams": "question", "cache": "condition"
    }  # fmt: skip
    (against,) = [group.against for group in compare(list(Run.objects.for_lists())).groups if group.against]
    assert max(against.ratio.value, 1 / against.ratio.value) == pytest.approx(190.25 / 100.55, rel=1e-4)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("csv0-1-role", "nonsense", "thrpt"),
        ("csv0-1-name", "", "thrpt"),
        ("csv0-2-scale", "many", "lat"),
        ("csv0-0-compared", "nonsense", "n"),
    ],
)
def test_it_names_the_column_that_is_wrong_and_keeps_what_was_typed(client, contributor, field, value, words):
    taken, _ = imports.receive(files=[file("sweep.csv", TABLE)], owner=contributor)
    client.force_login(contributor)

    answer = client.post(f"/imports/{taken.id}/columns/", COLUMNS | {"csv0-0-name": "sessions", field: value})
    page = answer.content.decode()

    assert (answer.status_code, f"column {words}" in page) == (422, True)
    assert 'value="sessions"' in page and ('value="many"' in page) == (value == "many")
    taken.refresh_from_db()
    assert "mapping" not in taken.subject


@pytest.mark.parametrize(("name", "missing"), [("MySQL", {}), ("", {}), ("PostgreSQL", {"dbms.version"})])
def test_it_gives_a_version_only_to_the_dbms_that_it_was_said_of(name, missing):
    item = {
        "index": 0, "status": "complete", "part_of": None, "metrics": [{"name": "tps"}], "series": [],
        "subject": {"workload": "x", "dbms": "mysql", "dbms_version": None},
    }  # fmt: skip

    found = missing_details([item], {"hardware": "lab", "dbms": {"name": name, "version": "8.0"}})

    assert set(found) == set(missing)


def test_it_leaves_settings_without_a_result_alone(contributor):
    settings = b'{"shared_buffers": "128MB", "fsync": "on", "server_version": "16.4", "max_connections": "100"}'
    taken, _ = imports.receive(files=[*files(PGBENCH), file("params.json", settings)], owner=contributor)
    runs, _ = imports.store(taken, subject=SUBJECT, owner=contributor)

    assert len(runs) == 1


@pytest.mark.parametrize("subject", ["x", 3, ["hardware"]])
def test_it_refuses_a_subject_that_is_no_object(client, bearer, operator, subject):
    taken, _ = imports.receive(files=files(PGBENCH), owner=operator)
    response = client.post(
        f"/api/v1/imports/{taken.id}/store/", {"subject": subject}, content_type="application/json",
        headers=bearer("upload"),
    )  # fmt: skip
    assert (response.status_code, response.json()) == (400, {"subject": ["An object is required."]})


@pytest.mark.parametrize("before", ["draft", "stored"])
def test_what_is_read_at_once_in_vain_leaves_all_as_it_was(contributor, monkeypatch, before):
    taken, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    if before == "stored":
        imports.store(taken, subject=SUBJECT, owner=contributor)
    row = FileImport.objects.values("state", "subject", "items", "reports").get()
    monkeypatch.setattr(reading, "MAX_REPORTS", 1)
    with pytest.raises(imports.BadFiles, match="2 runs"):
        imports.read_again(FileImport.objects.get())
    with pytest.raises(imports.BadFiles, match="2 runs"):
        imports.receive(files=files(SECOND, PGBENCH + b" "), owner=contributor)

    assert FileImport.objects.values("state", "subject", "items", "reports").get() == row
    assert Run.objects.present().count() == (2 if before == "stored" else 0)
    assert default_storage.exists(row["reports"]) and Artefact.objects.count() == 2


def test_a_small_import_whose_web_process_was_killed_is_taken_up_by_a_worker(contributor, monkeypatch):
    monkeypatch.setattr(reading, "read_now", lambda taken, mine: None)
    taken, _ = imports.receive(files=files(SECRET + PGBENCH), owner=contributor)
    assert taken.state == "reading" and not worker.waiting().exists()
    monkeypatch.undo()
    FileImport.objects.update(seen_at=timezone.now() - 2 * worker.SILENT_FOR)
    worker.read_now(str(taken.pk), worker.claimed(worker.waiting().get()).get().attempts)

    taken.refresh_from_db()
    assert (taken.state, taken.artefacts.count(), len(taken.items)) == ("draft", 1, 1)


def test_a_small_import_of_an_older_program_is_stored_too(contributor):
    taken, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    taken.reports.delete()
    runs, _ = imports.store(FileImport.objects.get(), subject=SUBJECT, owner=contributor)
    assert [run.primary_value for run in runs] == [800.0]


def test_its_page_says_first_what_counts(client, contributor):
    """Zero counts, series and files that are counted in others do not bury the result."""
    data = Path(__file__).parents[2] / "benchagent" / "importers" / "data" / "pgbench"
    names = ("v15_aggregated_stdout.txt", "v15_aggregated.4242", "v15_aggregated.4242.1")
    taken, _ = imports.receive(files=[file(name, (data / name).read_bytes()) for name in names], owner=contributor)
    client.force_login(contributor)
    html = client.get(f"/imports/{taken.pk}/").content.decode()
    before, behind = html.split("<summary>", 1)
    assert "Throughput <strong>" in before and "Latency avg <strong>" in before
    assert "Failed transactions" not in before and "Failed transactions: 0" in behind
    assert "2 files counted in others" in behind and "counted in v15_aggregated_stdout.txt" in behind


@pytest.mark.parametrize("mapped", [True, False])
def test_metrics_of_the_catalogue_in_a_table_need_no_unit(contributor, mapped):
    taken, _ = imports.receive(
        files=[file("b.csv", b"run,backup_s,restore_s\n1,30.1,60.2\n2,30.3,61.1\n")], owner=contributor
    )
    columns = [{"heading": name, "role": "metric", "name": name} for name in ("backup_s", "restore_s")]
    mapping = {"b.csv": {"columns": columns}} if mapped else {}
    subject = SUBJECT | {"workload": {"slug": "nightly", "name": "Nightly backup"}, "mapping": mapping}
    runs, _ = imports.store(taken, subject=subject, owner=contributor)
    told = {(row.metric.name, row.metric.unit, row.metric.better) for row in runs[0].measurements.all()}
    assert len(runs) == 2 and told == {("backup_s", "s", "lower"), ("restore_s", "s", "lower")}


def test_each_file_takes_a_dbms_of_its_own(client, contributor):
    """Seen: of a drop of three tools all were stored under the one name of the form, as "MySQL Valkey 8.0"."""
    csv = b"terminals,tps\n1,%d.5\n4,190.25\n"
    sent = [file(name, csv % number) for number, name in enumerate(("a.csv", "b.csv", "c.csv"), 100)]
    taken, _ = imports.receive(files=sent, owner=contributor)
    client.force_login(contributor)
    page = client.get(f"/imports/{taken.id}/").content.decode()
    assert [f'name="name-{index}"' in page for index in (0, 1, 2, 4)] == [True, False, True, True], "once a file"
    said = {
        "keep": [*"012345"], "new_hardware": "lab 9", "dbms_name": "MySQL", "dbms_version": "8.0", "workload": "Mix",
        "visibility": "public", "name-2": "Valkey", "version-2": "8.1", "name-4": " Redis ",
    }  # fmt: skip
    lacking = client.post(f"/imports/{taken.id}/", said)
    assert lacking.status_code == 422 and 'value="Redis"' in lacking.content.decode(), "MySQL's version is not its own"
    (words,) = client.post(f"/imports/{taken.id}/", said | {"dbms_version": ""}).context["form"].errors["dbms_version"]
    assert not words.startswith("dbms.version"), "the field has a name"
    assert client.post(f"/imports/{taken.id}/", said | {"version-4": "7.2"}).status_code == 302
    names = {run.dbms_version.name for run in imports.runs_of(taken)}
    assert names == {"MySQL 8.0", "Valkey 8.1", "Redis 7.2"}


@pytest.mark.parametrize("heading", ["machine", "host", "kernel", "config"])
def test_what_a_column_says_of_the_machine_or_its_configuration_is_a_condition(client, contributor, heading):
    """Seen: "Groups that differ in this have no order: Machine", of a table of several machines."""
    rows = [f"{name},{tps + at}.5" for name, tps in (("alpha", 1000), ("beta", 1300)) for at in range(3)]
    content = f"{heading},tps\n" + "\n".join(rows) + "\n"
    taken, _ = imports.receive(files=[file("m.csv", content.encode())], owner=contributor)
    imports.store(taken, subject=SUBJECT | {"workload": {"slug": "mix", "name": "Mix"}}, owner=contributor)
    told = client.get(f"/api/v1/answers/?batch={taken.pk}").json()
    assert told["sure"] and told["words"].startswith("beta has the highest throughput, 1,30")


@pytest.mark.parametrize(
    ("count", "status", "words"),
    [(101, 302, ""), (501, 422, "At most 500 files at once; these are 501."), (1001, 400, "more than 1,000 files")],
)
def test_a_drop_takes_as_many_files_as_it_says(client, contributor, count, status, words):
    """Seen: "This request cannot be read", of more than 100 files."""
    client.force_login(contributor)
    sent = [SimpleUploadedFile(f"{number}.txt", b"%d\n" % number) for number in range(count)]
    answer = client.post("/imports/", {"file": sent})
    assert answer.status_code == status and words in answer.content.decode()


FAST = PGBENCH.replace(b"800.000000", b"45600.000000").replace(b"48000", b"2736000").replace(b"5.000 ms", b"0.088 ms")


def test_repeats_that_lie_many_times_apart_are_said_before_and_after_they_are_stored(client, contributor, bearer):
    """Seen: files of two settings became repeats of one cell, 57 times apart, without a word but on the page."""
    taken, _ = imports.receive(files=files(PGBENCH, SECOND, FAST), owner=contributor)
    (words,) = imports.warnings_of(taken, contributor)
    assert words.startswith("3 repeats of one cell go from 800 to 45,600 tps, 57-fold")
    client.force_login(contributor)
    html = client.get(f"/imports/{taken.pk}/").content.decode()
    assert words in html and "3 entries" in html
    imports.store(taken, subject=SUBJECT, owner=contributor)
    assert imports.warnings_of(taken, contributor) == [words]
    calm, _ = imports.receive(files=files(PGBENCH, SECOND), owner=contributor)
    assert imports.warnings_of(calm, contributor) == []


def test_a_person_says_what_only_one_of_several_alike_files_has(client, contributor):
    taken, _ = imports.receive(files=files(PGBENCH, SECOND, FAST), owner=contributor)
    client.force_login(contributor)
    said = {"keep": ["0", "1", "2"], "new_hardware": "lab 9", "visibility": "public", "apart-2": "fsync=off, nodes=3"}
    assert client.post(f"/imports/{taken.pk}/", said).status_code == 302
    runs = imports.runs_of(taken)
    assert sorted((run.factor("fsync"), run.factor("nodes")) for run in runs if run.factor("nodes")) == [("off", 3)]
    assert len({run.cell_key for run in runs}) == 2
    taken.refresh_from_db()
    assert imports.warnings_of(taken, contributor) == []


def test_files_of_one_name_are_told_apart(client, contributor):
    """Seen: of two folders each file is called the same, and both shared one field for their version."""
    without = PGBENCH.replace(b"pgbench (16.4)\n", b"")
    sent = [file("result.txt", without), file("result.txt", without.replace(b"800.", b"810."))]
    taken, _ = imports.receive(files=sent, owner=contributor)
    assert [item["file"] for item in taken.items] == ["result.txt", "2-result.txt"]
    client.force_login(contributor)
    said = {"keep": ["0", "1"], "new_hardware": "lab 9", "visibility": "public", "dbms_name": "PostgreSQL"}
    said["version-0"] = "16.1"
    assert client.post(f"/imports/{taken.id}/", said | {"version-1": "17.2"}).status_code == 302
    assert sorted(run.dbms_version.version for run in imports.runs_of(taken)) == ["16.1", "17.2"]


def test_of_entries_of_two_tools_it_says_that_one_form_speaks_of_all(contributor):
    sysbench = (DATA / "sysbench" / "v10_fileio_rndrw.txt").read_bytes()
    taken, _ = imports.receive(files=[file("a.txt", PGBENCH), file("b.txt", sysbench)], owner=contributor)
    (words,) = imports.warnings_of(taken, contributor)
    assert words.startswith("The entries are of pgbench, sysbench:")
    assert imports.warnings_of(imports.receive(files=files(PGBENCH), owner=contributor)[0], contributor) == []


@pytest.mark.parametrize("name", ["v10_cpu.txt", "v10_fileio_rndrw.txt", "v04_memory.txt"])
def test_what_runs_without_a_dbms_needs_none(contributor, name):
    """Seen: of sysbench's CPU test the DBMS and its version were asked for."""
    taken, _ = imports.receive(files=[file(name, (DATA / "sysbench" / name).read_bytes())], owner=contributor)
    (run, *_), _ = imports.store(taken, subject={"hardware": {"name": "bench 7"}}, owner=contributor)
    assert run.dbms_version.dbms.name == "sysbench"


def test_what_nobody_understood_is_read_anew_when_it_is_sent_again(contributor):
    """Seen: its plug-in came, and the file stayed as it was, until somebody pressed "Read again"."""
    content = b"minibench 1.0\n12.5 a second\n"
    taken, _ = imports.receive(files=[file("own.txt", content)], owner=contributor)
    assert taken.items[0]["status"] == "not_understood"
    text = "tool: minibench\nlines:\n  - minibench {version:token}\n  - '{tps:num} a second'\nmetrics: [tps]\n"
    tools.keep(owner=contributor, text=text, example=content.decode())
    again, is_new = imports.receive(files=[file("own.txt", content)], owner=contributor)
    assert (again.pk, is_new, again.items[0]["status"]) == (taken.pk, False, "complete")


def test_a_preview_says_what_will_be_stored_as_invalid(client, contributor):
    """Seen: "2 of 2 entries can be stored", and after "Store" the run was invalid."""
    sysbench = (DATA / "sysbench" / "v10_read_write.txt").read_bytes()
    said = SUBJECT | {"workload": {"slug": "oltp"}}
    taken, _ = imports.receive(files=[file("short.log", sysbench), *files(PGBENCH)], owner=contributor)
    assert imports.warnings_of(taken, contributor)[1:] == []
    imports.keep_subject(taken, said | {"files": {"short.log": {"factors": {"duration_s": 300}}}})

    (words,) = imports.warnings_of(taken, contributor)[1:]
    client.force_login(contributor)
    html = client.get(f"/imports/{taken.pk}/").content.decode()
    runs, _ = imports.store(taken, subject={}, owner=contributor)

    (invalid,) = [run for run in runs if run.invalid_at]
    assert words == f"short.log {invalid.invalid_reason}. It can be stored, as invalid: it counts nowhere"
    assert "a throughput over 6 s of a window of 300 s" in invalid.invalid_reason
    assert words in html
    (stored,) = imports.warnings_of(taken, contributor)
    assert "counts nowhere: marked invalid" in stored and invalid.invalid_reason in stored


def test_files_that_count_nowhere_are_named(contributor):
    """Seen: "repeat 1 counts nowhere" of one of 24 files, and of an aborted one beside it not a word."""
    cut = file("cut.txt", PGBENCH[: PGBENCH.index(b"duration")])
    sent = [file("good.txt", PGBENCH), file("aborted.txt", ABORTED), cut]
    table = b"terminals,tps,latency_p95_ms,latency_p99_ms\n8,100,1,2\n16,101,9,3\n"
    taken, _ = imports.receive(files=[*sent, file("rows.csv", table)], owner=contributor)
    imports.store(taken, subject=SUBJECT | {"workload": {"slug": "oltp"}}, owner=contributor)
    taken.refresh_from_db()

    told = [words for words in imports.warnings_of(taken, contributor) if "nowhere" in words]

    assert len(told) == 3
    for name, why in (
        ("aborted.txt counts", "failed: line 2: "), ("cut.txt counts", "failed: "),
        ("1 of 2 results of rows.csv counts", "marked invalid"),
    ):  # fmt: skip
        assert any(words.startswith(f"{name} nowhere: {why}") for words in told), told


def test_what_was_said_is_kept_where_a_disk_is_new_and_its_page_takes_the_disk(client, contributor):
    """Seen: the refusal of `benchctl upload --storage data=hdd0` led to a page that asked for machine, DBMS and version
    again, and on which no new disk could be said.
    """
    make_run("SQLite 3.53", 1, on=HardwareProfile.objects.create(slug="box", name="Box", fingerprint="box"))
    known = HardwareProfile.objects.get(slug="box").add_device(name="nvme0", medium="nvme")
    taken, _ = imports.receive(files=files(PGBENCH), owner=contributor)
    storage = [{"role": "data", "device": "hdd0"}, {"role": "log", "device": "nvme0"}]
    said = SUBJECT | {"hardware": "box", "storage": storage, "label": "night"}
    with pytest.raises(ValidationError, match="This machine has no device hdd0"):
        imports.store(taken, subject=said, owner=contributor)

    client.force_login(contributor)
    form = client.get(f"/imports/{taken.pk}/").context["form"]
    initial = {name: form[name].value() for name in form.fields}
    assert not client.get(f"/imports/{taken.pk}/").context["needs"]
    shown = {name: initial[name] for name in ("hardware", "dbms_version", "label", "storage_data", "new_disk")}
    assert shown == {
        "hardware": "box", "dbms_version": "16.4", "label": "night", "storage_data": "+new", "new_disk": "hdd0",
    }  # fmt: skip
    assert initial["storage_log"] == known.slug
    posted = {name: value for name, value in initial.items() if value} | {"new_disk_medium": "hdd", "keep": "0"}
    nameless = client.post(f"/imports/{taken.pk}/", posted | {"new_disk": ""})
    assert "Say what the new disk is called." in nameless.content.decode()
    unused = client.post(f"/imports/{taken.pk}/", posted | {"storage_data": known.slug})
    assert "Choose “the new disk” for data, log or backup, or leave this empty." in unused.content.decode()
    assert client.post(f"/imports/{taken.pk}/", posted).status_code == 302
    used = {use.role: use.device for use in Run.objects.get(batch=taken.pk).storage.all()}
    assert (used["data"].name, used["data"].medium, used["log"]) == ("hdd0", "hdd", known)


def test_each_file_has_its_own_day_and_days_are_no_repeats_of_each_other(client, contributor):
    """Was: one day of all files of an import."""
    own = {"run-1.txt": {"measured_on": "2024-05-01"}, "run-2.txt": {"measured_on": "2024-05-02"}}
    taken, _ = imports.receive(files=files(PGBENCH, SECOND, THIRD, FOURTH), owner=contributor)
    client.force_login(contributor)
    page = client.get(f"/imports/{taken.id}/").content.decode()
    assert page.count('type="date" name="day-') == 4
    assert "4 of 4 results do not say when they were measured" in page
    form = {"new_hardware": "bench 7", "dbms_name": "PostgreSQL", "dbms_version": "16.4", "visibility": "public"}
    days = {f"day-{number}": said["measured_on"] for number, said in enumerate(own.values())}
    said = {**form, **days, "measured_on": "2024-05-03", "keep": ["0", "1", "2", "3"]}
    assert client.post(f"/imports/{taken.id}/", said).status_code == 302
    found = sorted(Run.objects.values_list("measured_on", "repeat"))
    assert [(str(day), repeat) for day, repeat in found] == [
        ("2024-05-01", 1), ("2024-05-02", 1), ("2024-05-03", 1), ("2024-05-03", 2)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("second", "alike"), [("2024-03-30T23:10:00Z", 1), ("2024-03-31T10:00:00Z", 0), ("2024-03-31", 0)]
)
def test_rows_of_two_days_are_not_called_repeats_of_each_other(contributor, second, alike):
    table = f"started_at,tps\n2024-03-30T10:00:00Z,900.5\n{second},901.5\n".encode()
    taken, _ = imports.receive(files=[file("zones.csv", table)], owner=contributor)
    assert len(repeated(taken.items, {})) == alike


def test_a_backup_has_a_time_of_which_less_is_better(client, contributor):
    """Was: `elapsed_s` of the phase, which has no better side: nobody could ask which version backs up faster."""
    content = (DATA / "gbak" / "backup_stats_z.txt").read_bytes()
    Metric.objects.create(name="elapsed_s", unit="s", better="none")
    Workload.objects.create(
        slug="gbak-backup", name="gbak backup", version="1", kind="gbak", primary_metric="elapsed_s"
    )
    taken, _ = imports.receive(files=files(content), owner=contributor)
    (run,) = imports.store(taken, subject={"hardware": {"name": "bench 7"}}, owner=contributor)[0]
    assert (run.workload.primary_metric, Run.objects.get(pk=run.pk).primary_value) == ("backup_s", 0.158)
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["metrics"]["backup_s"] == 0.158


def test_all_that_an_import_stored_is_deleted_and_brought_back_at_once(client, contributor, operator):
    """Was: one upload a cell, each with a page of its own."""
    other = PGBENCH.replace(b"clients: 4", b"clients: 8").replace(b"5.000 ms", b"10.000 ms")
    taken, _ = imports.receive(files=files(PGBENCH, SECOND, other), owner=contributor)
    earlier, _ = imports.store(taken, subject=SUBJECT, owner=contributor)
    runs = imports.read_again(taken)
    client.force_login(contributor)
    page = client.post(f"/imports/{taken.id}/delete/", follow=True).content.decode()
    assert "3 runs deleted" in page and "Its runs are deleted" in page
    assert not Run.objects.present().exists()
    page = client.post(f"/imports/{taken.id}/restore/", follow=True).content.decode()
    assert "3 runs brought back" in page and "Delete all runs" in page
    assert {*Run.objects.with_values().values_list("pk", flat=True)} == {run.pk for run in runs}
    assert not {run.pk for run in earlier} & {run.pk for run in runs}
    client.force_login(operator)
    assert client.post(f"/imports/{taken.id}/delete/").status_code == 404
    assert Run.objects.present().count() == 3


def test_an_empty_file_does_not_keep_the_others_out(contributor):
    """Was: "Empty: empty.log", and none of sixteen files was taken."""
    with pytest.raises(imports.BadFiles, match=r"Empty: empty\.log"):
        imports.receive(files=[file("empty.log", b"")], owner=contributor)
    taken, _ = imports.receive(files=[file("empty.log", b""), *files(PGBENCH)], owner=contributor)
    assert {item["file"]: item["status"] for item in taken.items} == {
        "empty.log": "not_understood", "run-1.txt": "complete"
    }  # fmt: skip
    assert "empty" in taken.items[0]["reason"]
    assert len(imports.store(taken, subject=SUBJECT, owner=contributor)[0]) == 1
    assert len(imports.read_again(taken)) == 1


def test_a_table_stands_beside_what_is_known_by_the_names_that_it_writes(contributor):
    """Was: a second DBMS "apache-derby", a second workload "wl-tpcb v1", and one machine for all rows."""
    workload = Workload.objects.create(slug="wl-tpcb", name="TPC-B test", version="2")
    known = make_run("Apache Derby 10.6", 875, of=workload)
    table = b"workload,dbms,version,hardware,terminals,tps\nwl-tpcb,Apache Derby,10.6,gen24,4,1760\n"
    taken, _ = imports.receive(files=[file("own.csv", table)], owner=contributor)
    imports.store(taken, subject={}, owner=contributor)
    run = Run.objects.exclude(pk=known.pk).get()
    assert (run.workload, run.dbms_version) == (known.workload, known.dbms_version)
    assert run.hardware.name == "gen24" and "hardware" not in {factor.name for factor in run.factors.all()}

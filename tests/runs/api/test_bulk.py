"""POST /api/v1/results/ with many documents, packed bodies, and everything a result can carry."""

from __future__ import annotations

import gzip
import json
import os
import uuid
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.api.uploads import CORRECTED
from runs.models import Config, DbmsVersion, HardwareProfile, Measurement, Run, StorageDevice, Upload, Workload
from runs.publications.importer import import_own
from runs.results import upload
from runs.run import artefacts, series
from tests.runs.builders import document

pytestmark = pytest.mark.django_db
URL = "/api/v1/results/"
# 5,000 lognormal values of 1 to 3,600,000,000 with 2 significant digits, encoded by HdrHistogram's own library.
HISTOGRAM = (
    "HISTFAAAAt14nC2Ui43cOAyG1zSHy1EYgtA6hm8QLA64Cg4pIDWkp3SQFlLT1XEl5KNmZ2xZEsmfb379+evt5eX278vzJx/frZf/fv1++f7/8+JNNhH5"
    "3OvW311kt97vfd51F5VtPbrrre+54iSqLNZU/lBhhqbNh7hqS0BvqigcprZwYPTNdEmx34YYUtvSuGyRlvUmLpua+tr6eJzjEtzWeXNtJHPTV+5QIQsE"
    "+6W0Bc36I2OUI+k6YN18uLvxk+WAFS+kZnTtu4DDAs1DdWB0QIQKUzvVakLbMP4iw5sLsDCshsc33RL8dI0BpESaHTnCs8I9AmyLUTExx3vjIzM3TxQi"
    "MSYvG4Bh1baFkxtHHBm2bAcWDDxH0lrONGGVkGzP5nUec8T06X/DUFkoGukVUSfBGFMzHu+VZ9TI4VWVGpqj5mjfkc1DWaNQvmldNSoP18oh3mBRpYen"
    "nO2ChpUZsNYe2bB6B7Ee53kC3DonCMeZ9X484lF1BFY9Ji4eZ6XnPACe12UPq4mZk5iVH2Me0zMuzZrzxCKv1octPPi28hSBv2zBIWE+LeO8HlfM6/3i"
    "MM7Tr+M6Z5wjK+fI44GOzFJg8ivarmh/7MpxkIcjnCAM7PMiDPg8+2vG3SjrDFKaZNPJEsrUVlJcO/5EgAhpziikh82MmVhLnJM4nyec7X6MaWywbnbc"
    "OvBdfYhQVSS2DjIEMPlErRBgiS5hinA1nXhvqD9ku+qoWvLHkeJ0l3FwhQuuuFdOfKjHrv6guQIzKXQSha4M7y6hhrvTBl5R2Q3MsmORdT8Cm3C472o7"
    "ooqzFPvoCWBcdnc/W3fT1c9th3Y/tEmKZVSV+i6r6zZbLby6pxt5b+ufjW14uMvH2KDZehTBttvHfFqjZ39OkVfGzab37kRvtlYOz6vc1kC6yQ0o8OD9"
    "Inf9pHdZpJ21n+25INDDg9En9z5+koa8Q1zjTv5i90O+yT/yxvpZ/gB2Uy58"
)


def many(count: int, **changes: Any) -> list[dict[str, Any]]:
    return [document(id=str(uuid.UUID(int=number)), **changes) for number in range(1, count + 1)]


@pytest.mark.parametrize("wrap", [lambda documents: documents, lambda documents: {"results": documents}])
def test_it_answers_each_of_many(post, wrap):
    documents = many(3)
    documents[1]["repeats"][1] = {"metrics": {"tps": "fast"}}
    response = post(wrap(documents))
    assert response.status_code == 200
    answers = response.json()["results"]
    assert [(one["status"], one["http"]) for one in answers] == [("created", 201), ("invalid", 400), ("created", 201)]
    assert answers[1]["errors"] == {"repeats[1].metrics.tps.value": ["A finite number is required."]}
    assert answers[1]["id"] == str(uuid.UUID(int=2))
    assert [run["repeat"] for run in answers[0]["runs"]] == [1, 2]
    assert answers[0]["runs"][0]["url"].startswith("http://testserver/runs/")
    assert (Upload.objects.count(), Run.objects.count(), Workload.objects.count()) == (2, 4, 1)


def test_many_are_stored_as_one_is(post):
    single, bulk = many(2)
    post(single)
    post([bulk])
    runs = [list(upload.runs.order_by("repeat")) for upload in Upload.objects.order_by("id")]
    for one, other in zip(*runs, strict=True):
        for name in ("cell_key", "state", "owner", "visibility", "config", "hardware", "measured_on", "durability"):
            assert getattr(one, name) == getattr(other, name), name
    run = runs[0][0]
    before = run.cell_key
    run.set_cell_key()
    assert run.cell_key == before, "as it is computed from the database"


def test_it_answers_what_is_there_and_what_has_another_body(post):
    post(many(1)[0])
    documents = [*many(2), document(id=str(uuid.UUID(int=1)), note="other"), *many(2)]
    answers = post(documents).json()["results"]
    assert [one["status"] for one in answers] == ["same", "created", "conflict", "same", "same"]
    assert answers[2]["errors"] == {"id": [f"The id {uuid.UUID(int=1)} belongs to another body. {CORRECTED}"]}
    assert [run["id"] for run in answers[0]["runs"]] == [
        str(run.id) for run in Run.objects.filter(upload=uuid.UUID(int=1))
    ]


def test_many_are_stored_in_transactions_between_which_others_can_write(post, monkeypatch):
    written: list[int] = []
    write = upload._Rows.write
    monkeypatch.setattr(upload, "RUNS_AT_ONCE", 4)
    monkeypatch.setattr(upload._Rows, "write", lambda rows: (written.append(len(rows.runs)), write(rows)))
    answers = post(many(5)).json()["results"]
    assert [one["status"] for one in answers] == ["created"] * 5
    assert written == [4, 4, 2]
    assert len({run.created_at for run in Run.objects.all()}) == 1, "portions are told apart by their time"


def test_files_and_samples_are_got_ready_before_others_cannot_write(post, monkeypatch):
    """Forty logs of 600 kB held SQLite's write lock for 1.3 s of processor time, a million samples for 0.8 s."""
    outside, inside = [], []
    for room, name in ((artefacts, "prepared"), (series, "packed"), (upload, "is_suspicious")):
        done = getattr(room, name)

        def asked(*given, _done=done, _name=name, **more):
            (inside if connection.savepoint_ids else outside).append(_name)
            return _done(*given, **more)

        monkeypatch.setattr(room, name, asked)
    body = document(artefacts=[{"name": "a.log", "text": "ready"}])
    body["repeats"][0]["series"] = [{"name": "tps", "values": [1, 2]}]
    assert post(body).status_code == 201
    assert (set(outside), inside) == ({"prepared", "packed", "is_suspicious"}, [])


def test_what_is_refused_leaves_nothing_behind(post):
    good, bad = many(2)
    bad["artefacts"] = [{"name": "bad.log", "text": "goes with it"}]
    folder = default_storage.path("results")
    before = sum(len(names) for *_, names in os.walk(folder))
    bad["workload"] = {"slug": "brand-new", "name": "x"}
    bad["dbms"] = {"name": "Never heard of", "version": "1"}
    bad["hardware"] = "nobody-knows"
    answers = post([bad, good]).json()["results"]
    assert [one["status"] for one in answers] == ["invalid", "created"]
    assert list(answers[0]["errors"]) == ["hardware"]
    assert sum(len(names) for *_, names in os.walk(folder)) == before
    assert not Workload.objects.filter(slug="brand-new").exists()
    assert not DbmsVersion.objects.filter(dbms__name="Never heard of").exists()


def test_a_later_document_may_name_what_an_earlier_one_brings(post):
    documents = many(2)
    documents[1]["hardware"] = "my-server"
    documents[1]["workload"] = "pgbench-tpcb"
    assert {one["status"] for one in post(documents).json()["results"]} == {"created"}
    assert HardwareProfile.objects.count() == 1


def test_two_documents_cannot_claim_one_run(post):
    run_id = str(uuid.uuid4())
    repeats = [{"id": run_id, "metrics": {"tps": 1}}]
    answers = post(many(2, repeats=repeats)).json()["results"]
    assert [one["status"] for one in answers] == ["created", "invalid"]
    assert answers[1]["errors"] == {"repeats[0].id": ["Another run has this id."]}


@pytest.mark.parametrize("item", [None, 5, "text", [], {}])
def test_what_is_no_document_is_answered_and_hinders_no_other(post, item):
    answers = post([item, *many(1)]).json()["results"]
    assert [one["status"] for one in answers] == ["invalid", "created"]
    assert answers[0]["errors"]


def test_it_bounds_the_number_of_results_and_repeats(post):
    response = post([{}] * 1001)
    assert (response.status_code, response.json()) == (
        400, {"results": ["At most 1,000 results are allowed in one request."]}
    )  # fmt: skip
    response = post(many(11, repeats=[{"metrics": {"tps": 1}}] * 1000))
    assert (response.status_code, list(response.json())) == (400, ["results"])
    assert Run.objects.count() == 0


def test_the_number_of_statements_does_not_grow_with_the_documents(post):
    post(many(1)[0])
    counts = []
    for count in (5, upload.RUNS_AT_ONCE // 2):
        documents = [{**document(), "id": str(uuid.uuid4())} for _ in range(count)]
        with CaptureQueriesContext(connection) as queries:
            assert {one["status"] for one in post(documents).json()["results"]} == {"created"}
        counts.append(len(queries))
    # SQLite takes fewer variables in a statement than PostgreSQL, so that its rows come in more parts.
    # Of each of these there is a copy already: what it may be one of is read, and whether drivers speak to their DBMSs.
    assert counts[0] <= 26
    assert counts[1] <= counts[0] + 8


def test_it_takes_a_packed_body(post):
    packed = gzip.compress(json.dumps(document()).encode())
    assert post(packed, **{"Content-Encoding": "gzip"}).status_code == 201
    two_members = gzip.compress(b"[") + gzip.compress(b"]")
    assert post(two_members, **{"Content-Encoding": "gzip"}).status_code == 400
    assert Run.objects.count() == 2


@pytest.mark.parametrize(
    "body", [b"", b"not gzip", gzip.compress(b"{}", mtime=0)[:-4], gzip.compress(b"{}", mtime=0) + b"more"]
)
def test_it_answers_400_to_what_is_not_packed_well(post, body):
    assert post(body, **{"Content-Encoding": "gzip"}).status_code == 400


def test_it_does_not_unpack_a_bomb(post, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100_000
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 100_000
    assert post(bomb, **{"Content-Encoding": "gzip"}).status_code == 413


def test_it_refuses_another_encoding(post):
    assert post(b"x", **{"Content-Encoding": "br"}).status_code == 415


@pytest.mark.any_database  # its samples are bytes; shorter series are stored on both
def test_it_takes_a_series_of_a_million_samples(post):
    values = [100.0 + number % 7 for number in range(999_999)] + [None]
    body = document(repeats=[{"series": [{"name": "tps", "values": values}]}])
    assert post(body).status_code == 201
    assert series.read(Run.objects.get(), "tps").values == values
    assert post(body).status_code == 200
    assert Upload.objects.get().document["repeats"][0]["series"][0]["values"] == 1_000_000
    values.append(1.0)
    body = document(id=str(uuid.uuid4()), repeats=[{"series": [{"name": "tps", "values": values}]}])
    assert list(post(body).json()) == ["repeats[0].series[0].values"]


def repeat_with_histogram(**metrics: float) -> dict[str, Any]:
    return {"metrics": {"tps": 500, **metrics}, "histogram": HISTOGRAM}


def test_a_histogram_holds_what_was_due_and_never_begun_as_well(post):
    """Seen: a bundle of a run at a fixed rate was refused: "It holds 95 values, transactions is 94"."""
    waited = repeat_with_histogram(transactions=4998, unstarted=2)
    assert post(document(repeats=[waited])).status_code == 201


def test_it_computes_what_a_histogram_tells_and_says_so(post):
    post(document(repeats=[repeat_with_histogram(transactions=5000, latency_p95_ms=90)]))
    run = Run.objects.get()
    found = {row.metric.name: (row.value, row.provenance) for row in run.measurements.select_related("metric")}
    assert run.latency_histogram == HISTOGRAM
    assert found["latency_p95_ms"] == (90, "uploaded"), "what the sender states is not replaced"
    assert found["latency_p50_ms"] == (3.023, "computed")
    assert found["latency_p99_ms"] == (87.551, "computed")
    assert found["latency_max_ms"] == (395.263, "computed")


def test_a_histogram_may_say_its_unit(post):
    post(document(repeats=[{"metrics": {"tps": 1}, "histogram": {"encoded": HISTOGRAM, "unit": "ns"}}]))
    assert Measurement.objects.get(metric__name="latency_p50_ms").value == pytest.approx(0.003023)


@pytest.mark.parametrize(
    ("repeat", "field"),
    [
        (repeat_with_histogram(transactions=4999), "repeats[0].histogram"),
        (repeat_with_histogram(transactions=4997, unstarted=2), "repeats[0].histogram"),
        (repeat_with_histogram(transactions=5001, unstarted=2), "repeats[0].histogram"),
        ({"metrics": {"tps": 1}, "histogram": "no histogram"}, "repeats[0].histogram"),
        ({"metrics": {"tps": 1}, "histogram": HISTOGRAM[:-40]}, "repeats[0].histogram"),
        ({"metrics": {"tps": 1}, "histogram": ""}, "repeats[0].histogram"),
        ({"metrics": {"tps": 1}, "histogram": {"encoded": HISTOGRAM, "unit": "h"}}, "repeats[0].histogram.unit"),
        ({"metrics": {"tps": 1}, "histogram": {"encoded": HISTOGRAM, "unit": {}}}, "repeats[0].histogram.unit"),
    ],
)
def test_it_refuses_a_histogram_that_contradicts_or_cannot_be_read(post, repeat, field):
    response = post(document(repeats=[repeat]))
    assert (response.status_code, list(response.json())) == (400, [field]), response.json()


DISKS = [
    {
        "name": "nvme0",
        "medium": "nvme",
        "capacity_bytes": 10**12,
        "raid": "1",
        "controller_cache": "1 GB",
        "emulated": False,
    },
    {"name": "sda", "medium": "hdd", "file_system": "ext4", "scheduler": "mq-deadline", "write_cache": "off"},
]


def with_disks(**changes: Any) -> dict[str, Any]:
    machine = {**document()["hardware"], "storage": DISKS}
    uses = [
        {"role": "data", "device": "nvme0", "path": "/pg"},
        {"role": "log", "device": {"name": "sdb", "medium": "ssd"}},
    ]
    return document(**({"hardware": machine, "storage": uses} | changes))


def test_it_stores_which_device_held_what(post):
    assert post(with_disks()).status_code == 201
    run = Run.objects.get(repeat=1)
    assert [(use.role, use.device.name, use.device.medium, use.path) for use in run.storage.all()] == [
        ("data", "nvme0", "nvme", "/pg"),
        ("log", "sdb", "ssd", ""),
    ]
    assert StorageDevice.objects.get(name="nvme0").controller_cache == "1 GB"
    assert StorageDevice.objects.count() == 3
    before = run.cell_key
    run.set_cell_key()
    assert run.cell_key == before
    again = with_disks(
        id=str(uuid.uuid4()), hardware="my-server", storage=[{"role": "data", "device": "my-server-sda"}]
    )
    assert post(again).status_code == 201
    assert Run.objects.get(upload=again["id"], repeat=1).cell_key != before
    assert StorageDevice.objects.count() == 3


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"storage": [{"role": "data", "device": "floppy"}]}, "storage[0].device"),
        ({"storage": [{"role": "data", "device": {"name": "sda", "medium": "ssd"}}]}, "storage[0].device.medium"),
        ({"storage": [{"role": "swap", "device": "sda"}]}, "storage[0].role"),
        ({"storage": [{"role": "log", "device": "sda"}] * 2}, "storage"),
        ({"storage": [{"role": "log"}]}, "storage[0].device"),
        ({"storage": [{"role": "log", "device": {"medium": "ssd"}}]}, "storage[0].device.name"),
        ({"hardware": {"name": "x", "storage": [DISKS[0], DISKS[0]]}, "storage": []}, "hardware.storage"),
    ],
)
def test_it_names_what_is_wrong_with_storage(post, change, field):
    post(with_disks())
    response = post(with_disks(**({"id": str(uuid.uuid4()), "hardware": "my-server"} | change)))
    assert (response.status_code, list(response.json())) == (400, [field]), response.json()


def test_context_breaks_a_series_and_info_does_not(post):
    plain, with_info, other_context = many(3)
    plain["context"] = other_context["context"] = {"kernel": "6.1"}
    with_info |= {"context": {"kernel": "6.1"}, "info": {"ticket": 7}}
    other_context["context"] = {"kernel": "6.2"}
    post([plain, with_info, other_context])
    first, second, third = (Run.objects.get(upload=uuid.UUID(int=number), repeat=1) for number in (1, 2, 3))
    assert first.cell_key == second.cell_key != third.cell_key
    assert (second.info, third.context) == ({"ticket": 7}, {"kernel": "6.2"})


@pytest.mark.parametrize(
    ("outcome", "state"), [("finished", "finished"), ("failed", "failed"), ("aborted", "cancelled")]
)
def test_it_stores_how_a_run_ended(post, outcome, state):
    repeats = [{"metrics": {"tps": 1}}] if outcome == "finished" else [{}]
    assert post(document(outcome=outcome, message="disk full", repeats=repeats)).status_code == 201
    run = Run.objects.get()
    assert (run.state, run.message) == (state, "disk full")


def test_it_keeps_what_a_result_carries_without_its_secrets(post):
    body = document(
        command_lines=["pgbench --password=hunter2 -c 4"],
        warnings=["clock stepped"],
        driver={"name": "pgbench", "version": "15.8", "dsn": "postgresql://bench:hunter2@db/x"},
        dataset={"seed": 42},
        effective_settings={"shared_buffers": "8GB", "ssl_passphrase": "hunter2", "flag": None},
        info={"log": "PGPASSWORD=hunter2 pgbench"},
        note="--password hunter2",
        visibility="unlisted",
        started_at="2026-05-04T12:00:00+02:00",
        finished_at="2026-05-04T10:30:00Z",
        repeats=[
            {
                "metrics": [{"name": "tps", "value": 855.4, "as_printed": "855.400"}],
                "started_at": "2026-05-04T10:15:00Z",
            }
        ],
    )
    assert post(body).status_code == 201
    run = Run.objects.get()
    assert run.command_lines == ["pgbench --password=[redacted] -c 4"]
    assert (run.warnings, run.dataset, run.visibility) == (["clock stepped"], {"seed": 42}, "unlisted")
    assert run.effective_settings == [["shared_buffers", "8GB"], ["ssl_passphrase", "[redacted]"], ["flag", ""]]
    assert run.driver["name"] == "pgbench"
    assert run.measurements.get().as_printed == "855.400"
    assert run.started_at.isoformat() == "2026-05-04T10:15:00+00:00"
    everything = json.dumps([Upload.objects.get().document, run.driver, run.info, run.note])
    assert "hunter2" not in everything


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://bench:hunter2@db/x", "diset tpcc mysql_pass hunter2", "<password>hunter2</password>",
        '{"api_key": "hunter2"}', "gbak -pas hunter2 -b x", "mysql -u root -phunter2", "token: hunter2",
        "PGPASSWORD=hunter2", "derby.user.sa=hunter2", "client_secret = hunter2", "pwd=hunter2",
    ],
)  # fmt: skip
def test_no_form_of_a_secret_is_kept(post, text):
    carried = {"note": text, "command_lines": [text], "info": {"text": text}, "message": text, "warnings": [text]}
    assert post(document(config=[], **carried)).status_code == 201
    run = Run.objects.get(repeat=1)
    assert "hunter2" not in json.dumps(
        [run.upload.document, run.note, run.message, run.info, run.command_lines, run.warnings]
    )


def test_a_machine_of_somebody_s_private_runs_is_not_found_by_its_slug(client, post, contributor):
    post(document(visibility="private"))
    client.force_login(contributor)
    for machine in ("my-server", {"name": "x", "slug": "my-server", "cpu_model": "Other"}):
        body = document(id=str(uuid.uuid4()), hardware=machine)
        response = client.post(URL, json.dumps(body), content_type="application/json")
        assert "Xeon" not in response.content.decode()
    assert Run.objects.filter(owner=contributor).values("hardware").distinct().count() == 1
    hidden = Run.objects.exclude(owner=contributor).values("hardware")
    assert not Run.objects.filter(owner=contributor, hardware__in=hidden).exists()


def test_an_upload_under_another_name_of_a_version_joins_it(post, publish):
    publish()
    cubrid = DbmsVersion.objects.get(slug="cubrid-2008-r3-0")
    names = [("CUBRID", "8.3.0"), ("cubrid", "2008 R3.0"), ("CUBRID 2008", "R3.0")]
    for number, (name, version) in enumerate(names, 1):
        post(document(id=str(uuid.UUID(int=number)), dbms={"name": name, "version": version}))
    assert set(Run.objects.filter(provenance="uploaded").values_list("dbms_version", flat=True)) == {cubrid.pk}


def test_the_import_joins_a_version_that_was_uploaded_under_its_other_name(post):
    post(document(dbms={"name": "CUBRID", "version": "8.3.0"}))
    import_own()
    assert set(DbmsVersion.objects.filter(dbms__slug="cubrid").values_list("version", flat=True)) == {"8.3.0"}
    assert DbmsVersion.objects.get(dbms__slug="cubrid").aliases == ["2008 R3.0", "R3.0"]


def test_equal_configurations_are_one_row(post):
    post(many(3))
    assert Config.objects.count() == 1
    slug = Config.objects.get().slug
    assert post(document(id=str(uuid.uuid4()), config=slug)).status_code == 201
    assert post(document(id=str(uuid.uuid4()), config="nobody-knows")).json() == {
        "config": ["No configuration nobody-knows. A list of settings, or files, add one."]
    }


def test_a_configuration_may_come_as_its_files(post):
    text = "# tuned\nshared_buffers = 4GB\nshared_buffers = 8GB  # the last one counts\nwork_mem = 64MB\n"
    config = {"files": [{"name": "postgresql.conf", "text": text}]}
    assert post(many(2, config=config)).json()["results"][1]["status"] == "created"
    found = Config.objects.get()
    assert [file.text for file in found.files.all()] == [text]
    assert [row.name for row in found.parameters.all()] == ["shared_buffers", "shared_buffers", "work_mem"]
    wrong = {"files": [{"name": "x", "text": "this is no configuration at all, is it?"}]}
    body = document(
        id=str(uuid.uuid4()), config=wrong, dbms={"name": "Own", "version": "1"}, workload={"slug": "brand-new"}
    )
    response = post(body)
    assert (response.status_code, list(response.json())) == (400, ["config.files[0].format"])
    assert not Workload.objects.filter(slug="brand-new").exists()


def test_who_sends_owns(post, operator, settings):
    settings.DEFAULT_VISIBILITY = "private"
    post(document())
    run = Run.objects.get(repeat=1)
    assert (run.owner, run.upload.owner) == (operator, operator)
    assert (run.visibility, run.upload.visibility) == ("private", "private")


def test_a_page_of_documents_needs_no_more_than_a_transaction_when_stored_again(post):
    documents = many(20)
    post(documents)
    with CaptureQueriesContext(connection) as queries:
        assert {one["status"] for one in post(documents).json()["results"]} == {"same"}
    assert len(queries) <= 6

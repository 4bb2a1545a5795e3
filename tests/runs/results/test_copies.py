"""A result that comes again is a copy, however it is dressed: shown, and counted nowhere."""

from __future__ import annotations

import gzip
import json
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from runs.models import Run, User
from runs.results import checking, editing, store_uploads
from tests.runs.builders import document, store_upload

pytestmark = pytest.mark.django_db
SERIES = [1_000.0 + at * 37 % 101 for at in range(40)]
FIGURES = {"tps": 1_003.25, "latency_mean_ms": 3.981, "latency_p95_ms": 7.125, "latency_max_ms": 31.25}
MORE = {"latency_p50_ms": 3.512, "latency_p99_ms": 9.375, "latency_p999_ms": 17.875}
# Of 64,321 transactions of 8 terminals in a minute.
DERIVED = {"tps": 1_072.017, "latency_mean_ms": 7.463, "transactions": 64_321}
DRESSED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "new ids": ({"metrics": {"tps": 1_003.2}}, {"metrics": {"tps": 1_003.2}}, {}),
    "another label and commit": (
        {"metrics": {"tps": 1_003.2}}, {"metrics": {"tps": 1_003.2}}, {"label": "mine", "tested": {"commit": "f00"}},
    ),
    "equal series": (
        {"metrics": {"tps": 1_003.2}, "series": [{"name": "tps", "values": SERIES}]},
        {"metrics": {"tps": 1_019}, "series": [{"name": "tps", "values": SERIES}]},
        {"dbms": {"name": "PostgreSQL", "version": "18.0"}},
    ),
    "figures that follow from one count, of the same machine": (
        {"metrics": DERIVED}, {"metrics": DERIVED}, {"measured_on": "2026-06-04"},
    ),
    "as many figures as two places do not share": (
        {"metrics": FIGURES | DERIVED | MORE}, {"metrics": FIGURES | DERIVED | MORE},
        {"hardware": {"name": "Another", "cpu_model": "Other"}, "measured_on": "2026-06-04"},
    ),
    "three figures": (
        {"metrics": FIGURES}, {"metrics": FIGURES | {"latency_max_ms": 44.44}}, {"factors": {"disk": "other"}},
    ),
}  # fmt: skip
HONEST: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "one equal figure": ({"metrics": FIGURES}, {"metrics": {"tps": 1_003.25, "latency_p95_ms": 7.25}}, {}),
    "coarse figures": ({"metrics": {"tps": 120}}, {"metrics": {"tps": 120}}, {}),
    "equal sizes": (
        {"metrics": {"tps": 1_003.2, "db_size_bytes": 123_457, "load_bytes": 23_457, "log_bytes": 33_457}},
        {"metrics": {"tps": 1_013.2, "db_size_bytes": 123_457, "load_bytes": 23_457, "log_bytes": 33_457}}, {},
    ),
    "a steady series": (
        {"metrics": {"tps": 50.5}, "series": [{"name": "tps", "values": [50.0, 51.0] * 20}]},
        {"metrics": {"tps": 50.6}, "series": [{"name": "tps", "values": [50.0, 51.0] * 20}]}, {},
    ),
    "another configuration": (
        {"metrics": {"tps": 1_003.2}}, {"metrics": {"tps": 1_003.2}},
        {"config": [{"name": "wal_compression", "value": "on"}]},
    ),
    "figures that follow from one count, of another machine and day": (
        {"metrics": DERIVED}, {"metrics": DERIVED},
        {"hardware": {"name": "Another", "cpu_model": "Other"}, "measured_on": "2026-06-04"},
    ),
    "another time": (
        {"metrics": {"tps": 1_003.2}}, {"metrics": {"tps": 1_003.2}},
        {"measured_on": None, "started_at": "2026-05-04T09:00:00Z"},
    ),
}  # fmt: skip


def sent(*repeats: dict[str, Any], owner: User, **changes: Any) -> list[Run]:
    made = document(id=str(uuid4()), repeats=[*repeats], **({"visibility": "public"} | changes))
    made = {name: value for name, value in made.items() if value is not None}
    return [Run.objects.get(pk=run.pk) for run in store_upload(document=made, owner=owner).runs]


@pytest.mark.parametrize("case", DRESSED)
def test_the_second_is_a_copy_and_never_pooled(case: str, operator: User, contributor: User, client: Client):
    repeat, again, changes = DRESSED[case]
    (first,) = sent(repeat, owner=operator)
    (second,) = sent(again, owner=contributor, **changes)
    assert second.copy_of == first and first.copy_of is None
    assert first.counts and not second.counts and second.primary_value is None
    answer = client.get("/api/v1/compare/", {"run": [first.pk, second.pk], "group": "all"}).json()
    assert [value for group in answer["groups"] for value in group["values"]] == [first.primary_value]
    page = client.get(second.get_absolute_url()).content.decode()
    assert "data-invalid" in page and first.get_absolute_url() in page
    assert not editing.validate(second, by=contributor)


@pytest.mark.parametrize("case", HONEST)
def test_what_two_measurements_may_share_is_no_copy(case: str, operator: User):
    repeat, again, changes = HONEST[case]
    runs = sent(repeat, owner=operator) + sent(again, owner=operator, **changes)
    assert [run.copy_of_id for run in runs] == [None, None] and all(run.counts for run in runs)


def _rates(*values: float) -> list[dict[str, Any]]:
    return [{"metrics": {"tps": value}} for value in values]


@pytest.mark.parametrize(("again", "copies"), [
    ((1_012, 1_025, 1_031), 0), ((1_012, 1_012, 1_012), 0), ((1_017, 1_012), 2), ((1_012, 1_017, 1_023, 1_040), 3),
])  # fmt: skip
def test_one_equal_rate_of_several_is_chance(again: tuple[float, ...], copies: int, operator: User):
    """Was: each of three honest repeats with a rate that one of an earlier upload had, too, was taken for a copy."""
    sent(*_rates(1_012, 1_017, 1_023), owner=operator)
    runs = sent(*_rates(*again), owner=operator)
    assert [run.copy_of_id is not None for run in runs].count(True) == copies
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(copy_of=None, invalid_at=None, invalid_reason="")
    call_command("judge")
    assert Run.objects.exclude(copy_of=None).count() == copies


def test_repeats_of_one_document_are_no_copies(operator: User):
    assert all(run.counts for run in sent({"metrics": FIGURES}, {"metrics": FIGURES}, owner=operator))


def test_two_documents_of_one_request_are(operator: User):
    made = [document(id=str(uuid4()), repeats=[{"metrics": FIGURES}]) for _ in range(3)]
    outcomes = store_uploads(documents=made, owner=operator)
    runs = [Run.objects.get(pk=outcome.runs[0].pk) for outcome in outcomes]
    assert [run.counts for run in runs] == [True, False, False]
    assert {run.copy_of_id for run in runs[1:]} == {runs[0].pk}


def test_nobody_learns_of_what_they_may_not_see(operator: User, contributor: User):
    hidden = [sent({"metrics": FIGURES}, owner=operator, visibility=seen)[0] for seen in ("private", "unlisted")]
    (theirs,) = sent({"metrics": FIGURES}, owner=contributor)
    assert theirs.counts and theirs.copy_of_id is None
    assert hidden[1].copy_of == hidden[0]


def test_when_the_first_is_deleted_its_copy_counts(operator: User):
    first, second, third = (sent({"metrics": FIGURES}, owner=operator)[0] for _ in range(3))
    editing.delete(first, by=operator)
    second.refresh_from_db(), third.refresh_from_db()
    assert second.counts and second.primary_value == FIGURES["tps"]
    assert third.copy_of == second and not third.counts
    editing.restore(Run.objects.get(pk=first.pk), by=operator)
    for run in (first, second, third):
        run.refresh_from_db()
    assert first.counts and first.copy_of is None and first.primary_value == FIGURES["tps"]
    assert [(run.copy_of, run.counts) for run in (second, third)] == [(first, False)] * 2
    assert second.invalid_reason.startswith("a copy of a result that was there before: ")


def test_when_several_are_brought_back_the_first_of_all_counts(operator: User):
    first, second, third = (sent({"metrics": FIGURES}, owner=operator)[0] for _ in range(3))
    editing.delete(first, by=operator)
    second.refresh_from_db()
    editing.delete(second, by=operator)
    assert [run.pk for run in Run.objects.with_values()] == [third.pk]
    for run in (first, second):
        editing.restore(Run.objects.get(pk=run.pk), by=operator)
    assert [run.pk for run in Run.objects.with_values()] == [first.pk]
    assert set(Run.objects.filter(copy_of=first).values_list("pk", flat=True)) == {second.pk, third.pk}


def test_repeats_of_one_figure_each_are_brought_back_one_by_one(operator: User):
    """Was: the restored night was no result any more, and its copy, with a day and no time, counted in its place."""
    repeats = [{"metrics": {"tps": 1_003.2 + number}} for number in range(5)]
    night, again = (sent(*repeats, owner=operator) for _ in range(2))
    assert {run.copy_of for run in again} == {*night}
    for run in night:
        editing.delete(run, by=operator)
    assert {run.pk for run in Run.objects.with_values()} == {run.pk for run in again}
    for run in night:
        editing.restore(Run.objects.get(pk=run.pk), by=operator)
    assert {run.pk for run in Run.objects.with_values()} == {run.pk for run in night}


def test_what_came_again_while_it_was_deleted_counts(operator: User):
    (first,) = sent({"metrics": FIGURES}, owner=operator)
    editing.delete(first, by=operator)
    (second,) = sent({"metrics": FIGURES}, owner=operator)
    editing.restore(Run.objects.get(pk=first.pk), by=operator)
    first.refresh_from_db(), second.refresh_from_db()
    assert second.counts and first.copy_of == second
    assert first.invalid_reason.startswith("a copy of a result that was sent while this one was deleted: ")


def test_when_the_upload_of_the_first_is_deleted_its_copy_counts(operator: User, client: Client):
    """Was: who deleted the upload on its page, and not the run, left a copy of nothing: the result counted nowhere."""
    first, second, third = (sent({"metrics": FIGURES}, owner=operator)[0] for _ in range(3))
    client.force_login(operator)
    client.post(f"/uploads/{first.upload_id}/delete/")
    assert [run.pk for run in Run.objects.with_values()] == [second.pk]
    client.post(f"/uploads/{first.upload_id}/restore/")
    assert [run.pk for run in Run.objects.with_values()] == [first.pk]
    assert set(Run.objects.exclude(copy_of=None).values_list("pk", "copy_of")) == {
        (second.pk, first.pk), (third.pk, first.pk)
    }  # fmt: skip


def test_a_copy_that_is_brought_back_counts_where_its_original_is_gone(operator: User, client: Client):
    first, second = (sent({"metrics": FIGURES}, owner=operator)[0] for _ in range(2))
    client.force_login(operator)
    for run in (second, first):
        client.post(f"/runs/{run.pk}/delete/")
    client.post(f"/runs/{second.pk}/restore/")
    assert [run.pk for run in Run.objects.with_values()] == [second.pk]


@pytest.mark.parametrize("is_sent_first", [True, False])
def test_what_has_no_day_does_not_come_back_in_place_of_what_has_one(
    is_sent_first: bool, operator: User, client: Client
):
    """Was: where it was sent before the first was deleted, the correction with a day became its copy again."""
    (first,) = sent({"metrics": FIGURES}, owner=operator, measured_on=None)
    client.force_login(operator)
    if not is_sent_first:
        client.post(f"/uploads/{first.upload_id}/delete/")
    (second,) = sent({"metrics": FIGURES}, owner=operator)
    if is_sent_first:
        client.post(f"/uploads/{first.upload_id}/delete/")
    client.post(f"/uploads/{first.upload_id}/restore/")
    for _ in range(2):
        first.refresh_from_db(), second.refresh_from_db()
        assert second.counts and second.copy_of is None
        assert first.copy_of == second and "tells when it was measured" in first.invalid_reason
        assert checking.judge_stored() == {}


BATCH = str(uuid4())
CORRECTIONS: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "of its day": ({}, {}, True),
    "of its batch": ({"batch": BATCH}, {"batch": BATCH, "measured_on": "2026-05-06"}, True),
    "of its start": ({"measured_on": None, "started_at": "2026-05-04T09:00:00Z"},) * 2 + (True,),
    "of another night": ({}, {"measured_on": "2026-05-05"}, False),
    "of another start of that day": (
        {"measured_on": None, "started_at": "2026-05-04T09:00:00Z"},
        {"measured_on": None, "started_at": "2026-05-04T11:00:00Z"}, False,
    ),
    "of another cell": ({}, {"factors": {"terminals": 32}}, False),
}  # fmt: skip


@pytest.mark.parametrize("case", CORRECTIONS)
def test_what_is_brought_back_after_its_correction_is_no_further_repeat(case: str, operator: User, client: Client):
    """Was: it was pooled with its correction as one more repeat."""
    of_first, of_second, is_correction = CORRECTIONS[case]
    first, beside = sent({"metrics": {"tps": 1_003.2}}, {"metrics": {"tps": 1_019.7}}, owner=operator, **of_first)
    client.force_login(operator)
    client.post(f"/runs/{first.pk}/delete/")
    (second,) = sent({"metrics": {"tps": 1_013.9}}, owner=operator, **of_second)
    client.post(f"/runs/{first.pk}/restore/")
    first.refresh_from_db(), second.refresh_from_db()
    assert second.counts and first.counts is not is_correction
    assert (first.invalid_reason == editing.CORRECTED) is is_correction
    client.post(f"/runs/{first.pk}/validate/")
    first.refresh_from_db()
    assert first.counts and beside.counts


def test_what_is_brought_back_before_anything_else_came_counts(operator: User, client: Client):
    first, _ = sent({"metrics": {"tps": 1_003.2}}, {"metrics": {"tps": 1_019.7}}, owner=operator)
    client.force_login(operator)
    for what in ("delete", "restore"):
        client.post(f"/runs/{first.pk}/{what}/")
    sent({"metrics": {"tps": 1_013.9}}, owner=operator)
    first.refresh_from_db()
    assert first.counts


@pytest.mark.parametrize("is_deleted", [False, True])
def test_when_the_first_is_purged_its_copy_counts(
    is_deleted: bool, operator: User, administrator: User, client: Client
):
    """Was: a copy of nothing, which stayed invalid, and which judging did not find."""
    first, second, third = (sent({"metrics": FIGURES}, owner=operator)[0] for _ in range(3))
    client.force_login(administrator)
    if is_deleted:
        for run in (second, third):
            client.post(f"/runs/{run.pk}/delete/")
    client.post(f"/purge/upload/{first.upload_id}/", {"reason": "wrong machine"})
    if is_deleted:
        for run in (third, second):
            client.post(f"/runs/{run.pk}/restore/")
    (counted,) = Run.objects.with_values()
    assert Run.objects.get(copy_of=counted, invalid_at__isnull=False).pk in {second.pk, third.pk} - {counted.pk}


def test_judge_finds_copies_among_what_is_stored(operator: User):
    first, second = (sent({"metrics": FIGURES}, owner=operator)[0] for _ in range(2))
    Run.objects.filter(pk=second.pk).update(copy_of=None, invalid_at=None, invalid_reason="", primary_value=1_003.25)
    call_command("judge")
    first.refresh_from_db(), second.refresh_from_db()
    assert first.counts and second.copy_of == first and second.primary_value is None


def test_judge_takes_no_result_for_a_copy_of_its_own_copy(operator: User):
    """Was: of two documents of one request, which came at one time, the first became a copy of itself: none counted."""
    ids = ("f0000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000000")
    made = [document(id=str(uuid4()), repeats=[{"metrics": FIGURES, "id": pk}]) for pk in ids]
    store_uploads(documents=made, owner=operator)
    for _ in range(2):
        assert [str(pk) for pk in Run.objects.filter(invalid_at=None).values_list("pk", flat=True)] == [ids[0]]
        assert checking.judge_stored() == {}


def test_judge_gives_back_what_an_older_rule_took_for_a_copy(operator: User):
    """One equal rate of three made a copy before c67b71b6, and judging left it at that."""
    first, *_ = sent(*_rates(1_012, 1_017, 1_023), owner=operator)
    honest, *_ = sent(*_rates(1_012, 1_025, 1_031), owner=operator)
    true_copy, *_ = sent(*_rates(1_012, 1_017, 1_023), owner=operator)
    honest.copy_of = first
    honest.mark_by_rules("a copy of a result that was there before: all that it says is equal")
    honest.save()
    assert checking.judge_stored() == {checking.NO_COPY: 1}
    honest.refresh_from_db(), true_copy.refresh_from_db()
    assert honest.counts and honest.primary_value == 1_012 and honest.copy_of is None
    assert true_copy.copy_of == first and not true_copy.counts


PGBENCH = """pgbench (PostgreSQL) 15.8
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: prepared
number of clients: 4
number of threads: 2
duration: 60 s
number of transactions actually processed: {done}
latency average = {latency} ms
initial connection time = 12.345 ms
tps = {tps} (without initial connection time)
"""


def imported(client: Client, headers: dict[str, str], files: dict[str, bytes], **subject: Any) -> dict[str, Any]:
    sent_files = [SimpleUploadedFile(name, content) for name, content in files.items()]
    taken = client.post("/api/v1/imports/", {"file": sent_files}, headers=headers).json()
    dbms = {"name": "PostgreSQL", "version": "15.8"}
    subject = {"hardware": {"name": "Lab"}, "dbms": dbms, "measured_on": "2026-05-04"} | subject
    answer = client.post(
        f"/api/v1/imports/{taken['id']}/store/", {"subject": subject}, content_type="application/json", headers=headers
    )
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_file_is_known_however_it_is_packed(client: Client, bearer: Any):
    headers = bearer("upload", "read")
    text = PGBENCH.format(done=60_187, latency="3.988", tps="1003.123456")
    other = PGBENCH.format(done=61_187, latency="3.922", tps="1019.654321")
    first = imported(client, headers, {"a.log": text.encode()})
    forms = {
        "same.log": text.encode(), "packed.log.gz": gzip.compress(text.encode()),
        "dos.log": text.replace("\n", "\r\n").encode(), "blank.log": f"{text}\n\n".encode(),
        "other.log": other.encode(),
    }  # fmt: skip
    answer = imported(client, headers, forms)
    assert sorted("copy_of" in run for run in answer["runs"]) == [False, True, True, True, True]
    assert {run["copy_of"] for run in answer["runs"] if "copy_of" in run} == {first["runs"][0]["url"]}
    assert Run.objects.with_values().count() == 2


def test_files_of_one_import_are_copies_of_each_other(client: Client, bearer: Any):
    text = PGBENCH.format(done=60_187, latency="3.988", tps="1003.123456").encode()
    answer = imported(client, bearer("upload", "read"), {"a.log": text, "b.log": text, "c.log": gzip.compress(text)})
    assert sorted("copy_of" in run for run in answer["runs"]) == [False, True, True]
    assert Run.objects.with_values().count() == 1


def test_the_same_files_with_another_label_change_nothing_and_tell_what_is_stored(client: Client, bearer: Any):
    headers, text = bearer("upload", "read"), PGBENCH.format(done=60_187, latency="3.988", tps="1003.123456").encode()
    imported(client, headers, {"a.log": text}, label="before", tested={"commit": "f00"})
    again = {"file": SimpleUploadedFile("a.log", text), "subject": '{"label": "after"}'}
    answer = client.post("/api/v1/imports/", again, headers=headers).json()
    assert answer["described"] == {"label": "before", "tags": [], "tested": {"commit": "f00"}}
    assert Run.objects.get().effective_label == "before"
    path = f"/api/v1/batches/{answer['id']}/"
    client.patch(path, {"label": "after"}, content_type="application/json", headers=headers)
    assert Run.objects.get().effective_label == "after"


def test_files_that_are_read_again_are_no_copies_of_themselves(client: Client, bearer: Any):
    headers, text = bearer("upload", "read"), PGBENCH.format(done=60_187, latency="3.988", tps="1003.123456").encode()
    answer = imported(client, headers, {"a.log": text})
    answer = client.post(f"/api/v1/imports/{answer['id']}/read-again/", headers=headers).json()
    assert [run for run in answer["runs"] if "copy_of" not in run] == answer["runs"]
    assert Run.objects.with_values().count() == 1


def test_a_result_that_came_twice_counts_once_where_the_first_is_read_again(client: Client, bearer: Any):
    """Was: what was read anew became a copy of what it replaced, by way of the copy: neither counted."""
    headers, text = bearer("upload", "read"), PGBENCH.format(done=60_187, latency="3.988", tps="1003.123456").encode()
    first = imported(client, headers, {"a.log": text})
    imported(client, headers, {"a.log.gz": gzip.compress(text)})
    answer = client.post(f"/api/v1/imports/{first['id']}/read-again/", headers=headers).json()
    (counted,) = Run.objects.with_values()
    assert [run["id"] for run in answer["runs"]] == [str(counted.pk)]
    assert Run.objects.present().exclude(pk=counted.pk).get().copy_of == counted


def test_a_copy_beside_its_original_is_called_one_where_it_is_not_ranked(operator: User, client: Client):
    """Seen: "Not ranked: PostgreSQL 16.4 · 2026-11-29 · 16:05:21 #2 (marked invalid)"."""
    for version, tps in (("16.4", 1_003.2), ("17.2", 1_201.3)):
        repeats = [{"metrics": {"tps": tps + at}} for at in (0, 1.1, 2.3)]
        for _ in range(2):
            sent(*repeats, owner=operator, dbms={"name": "PostgreSQL", "version": version}, tags=["both"])
    assert Run.objects.filter(copy_of=None).count() == 6 == Run.objects.exclude(copy_of=None).count()
    told = client.get("/api/v1/answers/?tag=both").json()
    assert told["words"].startswith("PostgreSQL 17.2")
    assert "marked invalid" not in json.dumps(told)
    assert told["counts"]["selected"] == 12

"""What is deleted is gone for every reader, on every route; what is purged is gone for good, names and files too."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from runs.compare import reports
from runs.models import Artefact, Change, Config, Dbms, Experiment, HardwareProfile, Report, Run, Upload, Workload
from runs.results import editing, purge
from tests.access.rows import TABLE, Row
from tests.access.rules import PEOPLE
from tests.access.world import MARKS
from tests.test_access_table import ask
from tests.whole import whole

pytestmark = pytest.mark.django_db

MARK = MARKS["public"]
BY_NAME = {who.name: who for who in PEOPLE}
OPERATOR = BY_NAME["operator"]
OTHERS = [BY_NAME[name] for name in ("anonymous", "contributor", "owner's token, upload")]
# The description of the API knows no data.
READING = [row for row in TABLE if row.method == "GET" and row.kind != "agent" and row.route != "api-schema"]
MORE = [
    Row("api-runs", "GET", "read", "/api/v1/runs/?status=finished&ordering=-value&page_size=500", kind="api"),
    Row("api-runs", "GET", "read", "/api/v1/runs/?format=csv", kind="api"),
    Row("compare", "GET", "read", "/compare/?run={run}"),
    Row("compare", "GET", "read", "/compare/?cell={cell}&format=json"),
    Row("compare-csv", "GET", "read", "/compare.csv?run={run}"),
    Row("compare-csv", "GET", "read", "/compare.csv?status=finished"),
    Row("api-compare", "GET", "read", "/api/v1/compare/?run={run}", kind="api"),
    Row("embed-compare", "GET", "read", "/embed/compare/?cell={cell}"),
    Row("embed-compare", "GET", "read", "/embed/compare/?status=finished"),
    Row("runs", "GET", "read", "/runs/?factor.openfield_knob=7"),
    Row("config-diff", "GET", "read", "/configs/diff/?config={config}"),
    Row("hardware-diff", "GET", "read", "/hardware/diff/?machine={hardware}"),
]


def upload_of(world) -> Upload:
    return Upload.objects.get(pk=world.things["public"]["upload"])


def delete(world, upload: Upload) -> None:
    client = world.client(BY_NAME["owner"])
    assert client.post(f"/uploads/{upload.pk}/delete/").status_code == 302


def secrets_of(world) -> list[str]:
    """Words of the upload that stand nowhere else, the address asked for apart."""
    return [f"{MARK} {word}".lower() for word in ("load", "machine", "note", "config")] + [
        f"{MARK}DB".lower(), f"{MARK}_rate".lower(), f"{MARK}_setting".lower(), f"{MARK}.txt".lower(),
        f"# {MARK}".lower(),
    ]  # fmt: skip


@pytest.mark.any_database  # every route is asked on both by tests/test_access_table.py; what is deleted is a column
@pytest.mark.parametrize("by_all", [False, *whole(True)])
def test_no_route_shows_strangers_anything_of_a_deleted_upload(world, by_all):
    """Each is asked by an operator, who sees most, or by who is not told what may be brought back; by everybody in
    `make proofs`.
    """
    left = []
    with transaction.atomic():
        delete(world, upload_of(world))
        for row in (*READING, *MORE):
            if row.action in ("people", "account"):
                continue
            asking = OTHERS if row.route in ("run", "upload", "deleted") else [OPERATOR, *OTHERS]
            for who in asking if by_all else asking[:1]:
                answer = ask(world, row, who, "public")
                # A page that is not there repeats its address: the way back after a login.
                shown = "" if answer.status_code == 404 else answer.body.decode(errors="replace").lower()
                left += [f"{who.name} reads {word} on {row.path}" for word in secrets_of(world) if word in shown]
        transaction.set_rollback(True)
    assert not left, "\n".join(left)


@pytest.mark.parametrize("name", ["owner", "operator", "administrator", "anonymous"])
def test_it_is_gone_for_its_owner_and_for_administrators_too(world, name):
    with transaction.atomic():
        delete(world, upload_of(world))
        for path, status in (
            ("/uploads/{upload}/", 410), ("/runs/{run}/", 410), ("/runs/{run}/series.csv", 404),
            ("/api/v1/artefacts/{artefact}/", 404), ("/api/v1/runs/{run}/", 404), ("/api/v1/runs/{run}/series/", 404),
            ("/embed/runs/{run}/", 404), ("/compare/?run={run}&format=json", 200),
        ):  # fmt: skip
            answer = ask(world, Row("", "GET", "read", path), BY_NAME[name], "public")
            assert answer.status_code == status, path
            shown = answer.body.decode().lower()
            assert f"{MARK} note".lower() not in shown, path
            assert f"{MARK}_rate".lower() not in shown, path
        transaction.set_rollback(True)


def test_it_comes_back_whole(world):
    with transaction.atomic():
        upload = upload_of(world)
        delete(world, upload)
        owner = world.client(BY_NAME["owner"])
        assert "Nobody: deleted" in owner.get("/uploads/").content.decode()
        assert owner.post(f"/uploads/{upload.pk}/restore/").status_code == 302
        assert "Nobody: deleted" not in owner.get("/uploads/").content.decode()
        for path in ("/uploads/{upload}/", "/api/v1/artefacts/{artefact}/", "/configs/{config}/", "/runs/{run}/"):
            assert ask(world, Row("", "GET", "read", path), BY_NAME["anonymous"], "public").status_code == 200
        transaction.set_rollback(True)


def test_the_document_leaves_out_the_numbers_of_a_deleted_run(world):
    with transaction.atomic():
        upload = upload_of(world)
        page = Row("upload", "GET", "read", "/uploads/{upload}/")
        assert '"value": 101' in ask(world, page, BY_NAME["anonymous"], "public").body.decode().replace("&quot;", '"')
        editing.delete(upload.runs.get(repeat=2), by=None)
        shown = ask(world, page, BY_NAME["anonymous"], "public").body.decode().replace("&quot;", '"')
        assert '"value": 100' in shown
        assert '"value": 101' not in shown
        transaction.set_rollback(True)


def test_the_words_that_were_edited_go_with_the_run(world):
    with transaction.atomic():
        run = Run.objects.get(pk=world.things["public"]["run"])
        editing.edit(run, editing.RunEdit(note="wholly secret"), by=None)
        editing.delete(run, by=None)
        path = f"/api/v1/runs/{run.pk}/changes/"
        assert world.client(BY_NAME["anonymous"]).get(path).status_code == 404
        assert world.client(BY_NAME["contributor"]).get(path).status_code == 404
        assert world.client(BY_NAME["owner"]).get(path).status_code == 200
        transaction.set_rollback(True)


def test_a_deleted_run_of_an_experiment_has_no_job_to_be_seen_cancelled_or_repeated(world):
    with transaction.atomic():
        run = Run.objects.get(pk=world.things["public"]["job_run"])
        assert world.client(BY_NAME["anonymous"]).get(f"/runs/{run.pk}/job/").status_code == 200
        Run.objects.filter(pk=run.pk).update(state="cancelled")
        editing.delete(run, by=None)
        assert world.client(BY_NAME["anonymous"]).get(f"/runs/{run.pk}/job/").status_code == 404
        for what in ("cancel", "repeat"):
            assert world.client(BY_NAME["operator"]).post(f"/runs/{run.pk}/{what}/").status_code == 404
        transaction.set_rollback(True)


@pytest.mark.any_database  # as above; what a purge takes is asked on both below and by tests/runs/results/test_purge.py
def test_a_purged_upload_leaves_only_its_record(world):
    with transaction.atomic():
        upload, administrator = upload_of(world), world.people["administrator"]
        name = str(Artefact.objects.get(upload=upload).file.name)
        runs = [str(pk) for pk in upload.runs.values_list("pk", flat=True)]
        editing.edit(upload.runs.get(repeat=1), editing.RunEdit(note="wholly secret"), by=administrator)
        client = world.client(BY_NAME["administrator"])
        assert "2 runs and 1 file " in client.get(f"/purge/upload/{upload.pk}/").content.decode()
        assert Upload.objects.filter(pk=upload.pk).exists(), "looking purges nothing"
        page = client.post(f"/purge/upload/{upload.pk}/", {"reason": "a customer's"}, follow=True).content.decode()
        assert all(words in page for words in (str(upload.pk), "the-administrator", "a customer&#x27;s"))
        assert not Upload.objects.filter(pk=upload.pk).exists()
        assert not Run.objects.filter(pk__in=runs).exists()
        assert not Artefact.objects.filter(file=name).exists()
        for model in (Config, HardwareProfile, Workload, Dbms):
            assert not model.objects.filter(name__icontains=MARK).exists(), model
        (note,) = Change.objects.filter(target_id__in=[*runs, str(upload.pk)])
        assert (note.field, note.by, note.old["runs"], note.old["files"]) == ("purged", administrator, 2, 1)
        for row in (*READING, *MORE):
            if row.action == "purge":
                continue
            answer = ask(world, row, BY_NAME["administrator"], "public")
            shown = "" if answer.status_code == 404 else answer.body.decode(errors="replace").lower()
            assert not [word for word in (*secrets_of(world), "wholly secret") if word in shown], row.path
        transaction.set_rollback(True)


def test_one_run_is_purged_out_of_the_document_and_the_last_takes_the_upload(world):
    with transaction.atomic():
        upload, administrator = upload_of(world), world.people["administrator"]
        purge.purge(upload.runs.get(repeat=1), by=administrator)
        upload.refresh_from_db()
        assert upload.document["repeats"][0] == {}
        assert upload.document["repeats"][1] != {}
        assert HardwareProfile.objects.filter(name__icontains=MARK).exists(), "the other run uses it"
        note = purge.purge(upload.runs.get(), by=administrator)
        assert note.target_type == "upload"
        assert not Upload.objects.filter(pk=upload.pk).exists()
        transaction.set_rollback(True)


def test_what_has_not_ended_or_is_published_is_not_purged(world):
    with transaction.atomic():
        experiment = Experiment.objects.get(slug=world.things["public"]["experiment"])
        with pytest.raises(purge.CannotPurge, match="has not ended"):
            purge.purge(experiment, by=world.people["administrator"])
        Run.objects.filter(experiment=experiment).update(state="cancelled")
        assert purge.purge(experiment, by=world.people["administrator"]).old["runs"] == 2
        assert not Experiment.objects.filter(pk=experiment.pk).exists()
        transaction.set_rollback(True)


def test_the_command_purges_a_deleted_report_in_the_name_of_an_administrator_only(world):
    with transaction.atomic():
        slug = world.things["public"]["report"]
        reports.delete(Report.objects.get(slug=slug))
        out = io.StringIO()
        for by in ("the-operator", "nobody"):
            with pytest.raises(CommandError, match="no active administrator"):
                call_command("purge", "report", slug, by=by, stdout=out)
        with pytest.raises(CommandError, match="there is no upload"):
            call_command("purge", "upload", "x", by="the-administrator", stdout=out)
        call_command("purge", "report", slug, by="the-administrator", reason="asked to", stdout=out)
        assert out.getvalue().startswith("purged report ")
        assert not Report.objects.filter(slug=slug).exists()
        assert [note.reason for note in purge.purges()] == ["asked to"]
        transaction.set_rollback(True)

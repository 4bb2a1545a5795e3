"""One click decides who sees an experiment, an upload or a report, with all its runs; who clicked is kept."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from runs.access.rules import change_visibility
from runs.compare import reports
from runs.models import Change, Experiment, Run, Upload
from tests.runs.builders import document, scheduled, store_upload
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def upload(contributor) -> Upload:
    body = document(id=str(uuid.uuid4()))
    store_upload(document=body, token=None, owner=contributor)
    return Upload.objects.get()


@pytest.fixture
def experiment(operator) -> Experiment:
    return Experiment.objects.create(slug="e", name="E", created_by=operator, visibility="unlisted")


def test_a_change_reaches_all_runs_also_deleted_ones_and_is_kept(upload, contributor):
    upload.runs.filter(repeat=1).update(deleted_at="2026-01-01T00:00:00Z")
    assert change_visibility(target=upload, visibility="private", by=contributor)
    assert set(Run.objects.values_list("visibility", flat=True)) == {"private"}
    assert Upload.objects.get().visibility == "private"
    noted = Change.objects.get()
    assert (noted.target_type, noted.old, noted.new, noted.by) == ("upload", "public", "private", contributor)


def test_a_click_on_what_it_is_already_changes_and_notes_nothing(upload):
    assert not change_visibility(target=upload, visibility="public", by=None)
    assert not Change.objects.exists()


def test_a_word_that_is_no_visibility_is_refused(upload):
    with pytest.raises(ValueError, match="must be one of public, unlisted, private"):
        change_visibility(target=upload, visibility="secret", by=None)


def test_a_scheduled_run_belongs_to_who_started_its_experiment_and_is_seen_like_it(experiment, operator):
    run = scheduled(experiment=experiment)
    assert (run.owner, run.visibility) == (operator, "unlisted")


@pytest.mark.parametrize("default", ["public", "unlisted", "private"])
def test_the_setting_decides_for_what_nobody_decided(settings, default, contributor):
    settings.DEFAULT_VISIBILITY = default
    assert scheduled().visibility == default
    store_upload(document=document(), token=None, owner=contributor)
    assert Upload.objects.get().visibility == default
    assert set(Upload.objects.get().runs.values_list("visibility", flat=True)) == {default}


def test_the_control_works_as_a_plain_form(client, upload, contributor):
    client.force_login(contributor)
    html = client.get(f"/uploads/{upload.pk}/").content.decode()
    action = f"/visibility/upload/{upload.pk}/"
    assert f'<form method="post" action="{action}"' in html
    referer = f"http://testserver/uploads/{upload.pk}/"
    page = client.post(action, {"visibility": "private"}, headers={"Referer": referer}, follow=True)
    assert page.redirect_chain == [(f"/uploads/{upload.pk}/", 302)]
    assert "Now private." in page.content.decode()


def test_htmx_gets_the_control_as_it_is_now(client, upload, contributor):
    client.force_login(contributor)
    form = {"visibility": "unlisted", "on_run": str(upload.runs.first().pk)}
    html = client.post(f"/visibility/upload/{upload.pk}/", form, headers={"HX-Request": "true"}).content.decode()
    assert html.strip().startswith('<div class="visibility"')
    assert 'value="unlisted" title="in no list; whoever has the address sees it" aria-pressed="true"' in html
    assert "Decided by its upload" in html


def test_an_operator_who_hides_somebody_elses_upload_is_led_away_from_it(client, upload, operator):
    client.force_login(operator)
    referer = {"Referer": f"http://testserver/uploads/{upload.pk}/"}
    response = client.post(f"/visibility/upload/{upload.pk}/", {"visibility": "private"}, headers=referer)
    assert (response.status_code, response["Location"]) == (302, "/runs/")


@pytest.mark.parametrize(
    "path", ["upload/{upload}", "upload/no-such", "experiment/no-such", "report/no-such", "machine/x", "run/{run}"]
)
def test_what_is_not_there_answers_404(client, upload, contributor, path):
    """A run of an upload has no visibility of its own."""
    client.force_login(contributor)
    where = path.format(upload=uuid.uuid4(), run=upload.runs.first().pk)
    assert client.post(f"/visibility/{where}/", {"visibility": "private"}).status_code == 404


def test_a_visibility_that_does_not_exist_answers_400(client, upload, contributor):
    client.force_login(contributor)
    assert client.post(f"/visibility/upload/{upload.pk}/", {"visibility": "secret"}).status_code == 400


def test_a_run_that_belongs_to_nothing_decides_for_itself(client, contributor):
    run = make_run("SQLite 3.53", 1, owner=contributor)
    client.force_login(contributor)
    assert f'action="/visibility/run/{run.pk}/"' in client.get(f"/runs/{run.pk}/").content.decode()
    client.post(f"/visibility/run/{run.pk}/", {"visibility": "private"})
    assert Run.objects.get().visibility == "private"
    assert "visibility: “public” → “private”" in client.get(f"/runs/{run.pk}/").content.decode()


def test_the_page_of_a_run_says_what_decides_and_offers_strangers_nothing(client, upload):
    html = client.get(f"/runs/{upload.runs.first().pk}/").content.decode()
    assert f'<a href="/uploads/{upload.pk}/">' in html
    assert "/visibility/" not in html


def test_hiding_a_report_leaves_its_runs_alone(contributor):
    run = make_run("SQLite 3.53", 1, owner=contributor)
    made = reports.create(title="r", note="", query=f"run={run.pk}", visibility="public", owner=contributor)
    change_visibility(target=made, visibility="private", by=contributor)
    assert Run.objects.get().visibility == "public"


def test_an_upload_shows_its_runs_its_document_and_is_deleted_and_brought_back_whole(client, upload, contributor):
    client.force_login(contributor)
    html = client.get(f"/uploads/{upload.pk}/").content.decode()
    assert html.count('class="run-name"') == 2
    assert "hunter2" not in html
    assert "skip_name_resolve" in html
    gone = client.post(f"/uploads/{upload.pk}/delete/", follow=True).content.decode()
    assert "This upload was deleted" in gone
    assert "2 runs, taken out" in gone
    assert Run.objects.present().count() == 0
    client.post(f"/uploads/{upload.pk}/restore/")
    assert Run.objects.present().count() == 2
    noted = Change.objects.order_by("id").values_list("field", "new", "by__username")
    assert list(noted) == [("runs deleted", 2, contributor.username), ("runs brought back", 2, contributor.username)]


def test_the_list_shows_ones_own_uploads_only(client, upload, contributor, operator):
    client.force_login(contributor)
    html = client.get("/uploads/").content.decode()
    assert f"/uploads/{upload.pk}/" in html
    assert "PostgreSQL 15.8 · pgbench, TPC-B-like" in html
    Run.objects.filter(upload=upload).update(label="night 17", started_at=datetime(2026, 5, 4, 1, tzinfo=UTC))
    html = client.get("/uploads/").content.decode()
    assert "night 17" in html and 'datetime="2026-05-04T01:00:00Z"' in html
    uploads = [Upload.objects.create(digest=f"{day}", schema_version=1, owner=contributor) for day in (1, 3, 2)]
    Upload.objects.update(received_at=datetime(2026, 6, 1, tzinfo=UTC))
    for day, sent in zip((1, 3, 2), uploads, strict=True):
        make_run("PostgreSQL 18", 1.0, upload=sent, started_at=datetime(2026, 5, 10 + day, tzinfo=UTC))
    listed = [row.digest for row in client.get("/uploads/").context["page"]]
    assert listed[:3] == ["3", "2", "1"], "of one request: they stood in the order of their ids"
    client.force_login(operator)
    assert "Nothing uploaded yet" in client.get("/uploads/").content.decode()

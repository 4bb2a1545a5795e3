"""Whoever guesses the slug of a workload or DBMS of somebody's private runs learns nothing of it."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from runs import results
from runs.access.rules import change_visibility
from runs.models import Config, Dbms, Experiment, Report, Run, Upload, Workload
from runs.results import subjects, upload
from tests.runs.builders import document

pytestmark = pytest.mark.django_db

HIDDEN = {
    "workload": {"slug": "acme", "name": "Takeover of Acme", "version": "1", "kind": ""},
    "dbms": {"slug": "secretdb", "name": "SecretDB of Acme", "version": "1"},
    "visibility": "private",
}


def sent(owner, **more):
    (outcome,) = results.store_uploads(documents=[document(id=str(uuid.uuid4()), **more)], owner=owner)
    return Upload.objects.get(pk=outcome.id) if not outcome.errors else outcome.errors


@pytest.fixture
def private(contributor):
    return sent(contributor, **HIDDEN)


def test_the_same_private_body_tells_another_person_nothing(contributor, operator, client, bearer):
    body = document(id=str(uuid.uuid4()), visibility="private")
    kept = results.store_uploads(documents=[body], owner=contributor)[0]
    (again,) = results.store_uploads(documents=[body], owner=operator)
    assert (again.status, again.runs, len(kept.runs)) == ("conflict", [], 2)
    assert results.store_uploads(documents=[body], owner=contributor)[0].status == "same"
    answer = client.post("/api/v1/results/", body, content_type="application/json", headers=bearer("upload"))
    assert answer.status_code == 409 and str(kept.runs[0].id) not in answer.content.decode()


def test_of_two_at_once_the_later_hears_of_the_id_and_not_of_a_batch(contributor, operator, monkeypatch):
    body = document(id=str(uuid.uuid4()), visibility="private")
    look = upload._answer_stored

    def late(items, owner):
        """The other's document comes between the first look and the write."""
        monkeypatch.setattr(upload, "_answer_stored", look)
        results.store_uploads(documents=[body], owner=contributor)

    monkeypatch.setattr(upload, "_answer_stored", late)
    (outcome,) = results.store_uploads(documents=[body], owner=operator)
    assert (outcome.status, outcome.errors) == ("conflict", {})


def test_a_batch_of_somebody_else_stays_one(contributor, operator):
    batch = str(uuid.uuid4())
    results.store_uploads(documents=[document(id=str(uuid.uuid4()), batch=batch)], owner=contributor)
    for given in ({"id": batch}, {"id": str(uuid.uuid4()), "batch": batch}):
        (outcome,) = results.store_uploads(documents=[document(**given)], owner=operator)
        assert list(outcome.errors) == ["batch"]


def test_a_hidden_name_takes_no_slug_that_another_may_want(contributor, operator):
    names = {"dbms": {"name": "Acme DB", "version": "1"}, "hardware": {"name": "Acme machine"}}
    hidden = sent(contributor, **names, visibility="private").runs.first()
    shown = sent(operator, **names, visibility="public").runs.first()
    assert (shown.dbms_version.dbms.slug, shown.hardware.slug) == ("acme-db", "acme-machine")
    assert hidden.dbms_version.dbms != shown.dbms_version.dbms and hidden.hardware != shown.hardware
    again = sent(contributor, **names, visibility="private").runs.first()
    assert (again.dbms_version, again.hardware) == (hidden.dbms_version, hidden.hardware), "they find their own"
    for model in (Experiment, Report):
        model.objects.create(slug=model.free_slug("Acme", is_hidden=True), name="Acme", visibility="private")
        assert model.free_slug("Acme") == "acme"


def test_one_person_brings_so_many_versions_a_day(contributor, operator, monkeypatch):
    monkeypatch.setattr(subjects, "MAX_VERSIONS_A_DAY", 2)
    of = lambda version: {"dbms": {"name": "Acme DB", "version": version}}  # noqa: E731
    assert sent(contributor, **of("1")) and sent(contributor, **of("2"))
    assert list(sent(contributor, **of("3"))) == ["dbms.version"]
    assert sent(contributor, **of("2")).runs.exists() and sent(operator, **of("3")).runs.exists()
    assert sent(contributor, **of("3")).runs.exists(), "it is there by now"
    Run.objects.update(created_at=timezone.now() - timedelta(days=2))
    two = [document(id=str(uuid.uuid4()), **of(version)) for version in ("4", "5", "6")]
    assert [bool(outcome.errors) for outcome in results.store_uploads(documents=two, owner=contributor)] == [0, 0, 1]


def test_a_slug_alone_is_that_of_nothing(private, operator, contributor):
    hidden, made_up = sent(operator, workload="acme"), sent(operator, workload="nothing")
    assert list(hidden) == ["workload"]
    assert str(hidden).replace("acme", "nothing") == str(made_up)
    assert sent(contributor, workload="acme").runs.first().workload.name == "Takeover of Acme"


@pytest.mark.parametrize("given", [{"slug": "acme", "version": "1", "name": "Mine", "kind": ""}])
def test_a_described_workload_is_ones_own_however_often_it_is_sent(private, operator, given):
    for _ in range(2):
        assert sent(operator, workload=given).runs.first().workload.name == "Mine"
    assert Workload.objects.filter(name="Mine").count() == 1


def test_who_says_the_same_of_it_shares_it(private, operator):
    theirs = sent(operator, workload=HIDDEN["workload"], dbms=HIDDEN["dbms"]).runs.first()
    assert theirs.workload == private.runs.first().workload
    assert theirs.dbms_version == private.runs.first().dbms_version


@pytest.mark.parametrize(
    "dbms", [{"name": "secretdb", "version": "1"}, {"slug": "secretdb", "name": "X", "version": "1"}]
)
def test_a_dbms_is_found_by_no_hidden_name(private, operator, dbms):
    for _ in range(2):
        assert sent(operator, dbms=dbms).runs.first().dbms_version.dbms.name == dbms["name"]
    assert Dbms.objects.filter(name=dbms["name"]).count() == 1


def test_the_catalogues_are_known_to_all_also_where_only_private_runs_use_them(contributor, operator):
    first = sent(contributor, dbms={"name": "PostgreSQL", "version": "16.1"}, visibility="private")
    second = sent(operator, dbms={"name": "postgresql", "version": "16.1"})
    assert first.runs.first().dbms_version == second.runs.first().dbms_version


def test_what_is_public_is_shared_by_its_slug(private, operator):
    change_visibility(target=private, visibility="public", by=None)
    shown = sent(operator, workload="acme", dbms={"name": "secretdb", "version": "1"}).runs.first()
    assert (shown.workload.name, shown.dbms_version.dbms.name) == ("Takeover of Acme", "SecretDB of Acme")


SETTINGS = [{"name": "shared_buffers", "value": "7GB"}]


def test_equal_settings_do_not_lead_to_the_words_of_somebodys_hidden_configuration(contributor, operator, client):
    hidden = sent(contributor, config=SETTINGS, visibility="private").runs.first().config
    assert sent(operator, config=SETTINGS).runs.first().config == hidden, "its made name says what the settings say"
    for run in Run.objects.filter(owner=operator):
        run.delete()
    Config.objects.filter(pk=hidden.pk).update(name="Takeover of Acme", created_by=contributor)
    assert sent(operator, config=SETTINGS).runs.first().config.name.startswith("PostgreSQL: shared_buffers=7GB")
    client.force_login(operator)
    body = {"dbms": "postgresql", "parameters": [{"name": "shared_buffers", "value": "7GB"}]}
    answer = client.post("/api/v1/configs/", body, content_type="application/json")
    assert answer.status_code in (200, 201)
    assert "Acme" not in answer.content.decode()


def test_a_configuration_for_a_hidden_dbms_is_refused_like_one_for_none(private, operator, client):
    client.force_login(operator)
    words = []
    for slug in ("secretdb", "nodb"):
        body = {"dbms": slug, "parameters": [{"name": "a", "value": "1"}]}
        answer = client.post("/api/v1/configs/", body, content_type="application/json")
        assert answer.status_code == 400
        words.append(answer.content.decode().replace(slug, "nodb"))
    assert words[0] == words[1]


def test_an_equal_machine_of_somebody_else_that_is_hidden_is_not_shared(contributor, operator):
    machine = sent(contributor, visibility="private").runs.first().hardware
    machine.change(note="in the cellar of Acme")
    assert sent(operator).runs.first().hardware.note == ""
    assert sent(contributor, visibility="private").runs.first().hardware == machine

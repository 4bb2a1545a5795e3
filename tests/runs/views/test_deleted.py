"""One list of what was deleted, with the way back; an experiment goes and comes back as a whole."""

from __future__ import annotations

import pytest
from django.utils import timezone

from runs.models import Change, Experiment, Report, Run
from runs.models.runs import STAGED_AT
from runs.results import editing
from tests.runs.cells import machine, make_run
from tests.runs.pages import page

pytestmark = pytest.mark.django_db


def listed(client) -> list[tuple[str, str, str]]:
    return [(row.kind, row.words, row.undo_url) for row in client.get("/deleted/").context["page"]]


@pytest.fixture
def experiment(operator) -> Experiment:
    made = Experiment.objects.create(slug="sweep", name="Sweep", created_by=operator)
    for repeat in (1, 2):
        make_run("H2 2.4", 100 + repeat, experiment=made, repeat=repeat)
    return made


def test_what_was_deleted_is_listed_newest_first_and_comes_back(client, operator, experiment):
    """Was: a deleted run was found by its address only."""
    alone, stays = make_run("Derby 10.6", 50), make_run("Derby 10.6", 51)
    report = Report.objects.create(slug="r", name="Which is faster", query="", owner=operator)
    first = experiment.runs.get(repeat=1)
    client.force_login(operator)
    assert listed(client) == []
    for path in (f"/runs/{alone.pk}/delete/", f"/runs/{first.pk}/delete/", "/reports/r/delete/"):
        client.post(path)
    Run.objects.filter(pk=stays.pk).update(deleted_at=STAGED_AT)
    assert [(kind, undo) for kind, _, undo in listed(client)] == [
        ("report", "/reports/r/restore/"), ("run", f"/runs/{first.pk}/restore/"),
        ("run", f"/runs/{alone.pk}/restore/"),
    ]  # fmt: skip
    client.post("/experiments/sweep/delete/")
    assert listed(client)[0] == ("experiment", "Sweep, 2 runs", "/experiments/sweep/restore/")
    for _, _, undo in listed(client):
        client.post(undo)
    assert listed(client) == []
    assert Run.objects.present().count() == 3
    assert report in Report.objects.present()
    assert 'href="/deleted/"' in page(client, "/runs/")


def test_a_deleted_run_is_told_from_its_like(client, operator):
    """Seen: "PostgreSQL 17.2, Size sweep, repeat 3", and of 54 cells nobody knew which one it was."""
    run = make_run(
        "PostgreSQL 17.2", 1234.5, on=machine("db-alpha"), factors={"size_gb": 64}, measured_on="2026-10-28", repeat=3
    )
    editing.delete(run, by=operator)
    client.force_login(operator)
    ((_, words, _),) = listed(client)
    for told in ("PostgreSQL 17.2", "db-alpha", "64 GB", "2026-10-28", "repeat 3", "1,23"):
        assert told in words, words
    assert words in client.get(run.get_absolute_url()).content.decode()


def test_contributors_are_shown_their_own_and_readers_nothing(client, operator, contributor, viewer):
    for owner in (operator, contributor):
        editing.delete(make_run("H2 2.4", 100, owner=owner), by=owner)
    client.force_login(contributor)
    assert len(listed(client)) == 1
    client.force_login(operator)
    assert len(listed(client)) == 2
    client.force_login(viewer)
    assert client.get("/deleted/").status_code == 403


def test_an_experiment_is_deleted_and_brought_back_as_a_whole(client, operator, experiment):
    """Was: purging it, for good, was all that there was; a page without runs had no way back."""
    client.force_login(operator)
    assert 'action="/experiments/sweep/delete/"' in page(client, "/experiments/sweep/")
    gone = client.post("/experiments/sweep/delete/", follow=True).content.decode()
    assert "2 runs were deleted." in gone and 'action="/experiments/sweep/restore/"' in gone
    assert Run.objects.present().count() == 0
    assert client.get("/api/v1/experiments/sweep/").json()["states"] == {}
    client.post("/experiments/sweep/restore/")
    assert Run.objects.present().count() == 2
    assert [change.field for change in Change.objects.order_by("at")] == ["runs deleted", "runs brought back"]


def test_an_experiment_that_goes_on_is_cancelled_first(client, operator, experiment):
    make_run("H2 2.4", None, experiment=experiment, repeat=3, state="queued")
    client.force_login(operator)
    assert "Cancel it first" in client.post("/experiments/sweep/delete/", follow=True).content.decode()
    assert Run.objects.present().count() == 3
    Run.objects.filter(state="queued").update(state="cancelled", finished_at=timezone.now())
    client.post("/experiments/sweep/delete/")
    assert Run.objects.present().count() == 0

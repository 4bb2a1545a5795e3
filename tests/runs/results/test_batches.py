"""What people say of batches and runs: given with an upload, edited later with history, found again by filters."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest
from django.http import QueryDict
from django.utils import timezone
from rest_framework.test import APIClient

from runs.listing.filters import RunFilter
from runs.models import Batch, Change, Run
from runs.results import editing, store_uploads
from runs.views.batches import DescribeForm
from tests.runs.builders import document, store_upload
from tests.runs.cells import batch, make_run

pytestmark = pytest.mark.django_db

SAID = {"label": "nightly 17", "tags": ["Tuned", "ssd", "tuned"], "tested": {"commit": "1a2b3c4d", "branch": "main"}}


def sent(owner, **changes: object) -> list[Run]:
    return store_upload(document=document(id=str(uuid4()), **changes), owner=owner).runs


def test_an_upload_says_what_its_batch_is_called_and_what_was_tested(contributor):
    run = sent(contributor, **SAID)[0]
    together = Batch.objects.get()
    assert (together.label, together.tags, together.owner) == ("nightly 17", "ssd tuned", contributor)
    assert (run.label, run.tags, run.tested) == ("", "", {}), "what the batch says is kept once"
    effective = (run.effective_label, run.effective_tags, run.effective_tested)
    assert effective == ("nightly 17", ["ssd", "tuned"], SAID["tested"])


def test_documents_that_name_a_batch_are_measured_together(contributor):
    together = str(uuid4())
    runs = [run for commit in ("aaaa", "bbbb") for run in sent(contributor, batch=together, tested={"commit": commit})]
    assert {str(run.batch_id) for run in runs} == {together}
    assert {run.effective_tested["commit"] for run in runs} == {"aaaa", "bbbb"}


def test_the_page_of_a_batch_tells_what_its_documents_say_and_what_was_deleted(client, contributor, monkeypatch):
    """Was: "Label none", "Tags none" and "Nothing has been changed" of a large batch, and a date for its name."""
    monkeypatch.setattr("runs.views.batches.MOST_COMPARED", 1)
    together = str(uuid4())
    run, *_ = [run for _ in range(2) for run in sent(contributor, batch=together, **SAID)]
    Run.objects.filter(pk=run.pk).update(deleted_at=timezone.now())
    client.force_login(contributor)
    html = client.get(f"/batches/{together}/").content.decode()
    assert "<h1>nightly 17</h1>" in html
    assert "<dt>Tags</dt><dd>ssd, tuned</dd>" in html
    assert "1 of its runs was deleted." in html
    assert "Nothing has been changed" not in html


def test_the_page_of_a_batch_names_the_labels_of_its_documents(client, contributor):
    together = str(uuid4())
    runs = [run for label in ("a", "b") for run in sent(contributor, batch=together, label=label)]
    client.force_login(contributor)
    assert "<dt>Label</dt><dd>a, b</dd>" in client.get(f"/batches/{runs[0].batch_id}/").content.decode()


def test_nobody_joins_somebody_elses_batch(contributor, operator):
    run = sent(contributor)[0]
    (outcome,) = store_uploads(documents=[document(id=str(uuid4()), batch=str(run.batch_id))], owner=operator)
    assert outcome.status == "invalid" and list(outcome.errors) == ["batch"]


@pytest.mark.parametrize("tags", [["two words"], ["a,b"], ["x" * 41]])
def test_a_tag_is_a_word(tags, contributor):
    (outcome,) = store_uploads(documents=[document(tags=tags)], owner=contributor)
    assert outcome.status == "invalid" and "a tag is a word" in str(outcome.errors)


def test_a_batch_is_edited_with_history(contributor):
    together = sent(contributor, **SAID)[0].batch
    editing.edit(together, editing.BatchEdit(label="before", tested={"build": "7"}, reason="typo"), by=contributor)
    together.refresh_from_db()
    assert (together.label, together.tested, together.tags) == ("before", {"build": "7"}, "ssd tuned")
    changes = {change.field: (change.old, change.new, change.reason) for change in Change.objects.all()}
    assert changes["label"] == ("nightly 17", "before", "typo")
    assert changes["tested"] == (SAID["tested"], {"build": "7"}, "typo")


def test_the_api_tells_and_edits_it(contributor):
    client = APIClient()
    run = sent(contributor, **SAID)[0]
    url = f"/api/v1/batches/{run.batch_id}/"
    assert client.patch(url, {"label": "x"}, format="json").status_code in (401, 403)
    client.force_login(contributor)
    answer = client.patch(url, {"label": "after", "note": "new kernel"}, format="json").json()
    assert (answer["label"], answer["note"], answer["tags"]) == ("after", "new kernel", ["ssd", "tuned"])
    assert answer["runs"] == Run.objects.count()
    assert [change["field"] for change in answer["changes"]] == ["note", "label"]
    told = client.get(f"/api/v1/runs/{run.pk}/").json()
    assert (told["batch"], told["label"], told["tested"]) == (str(run.batch_id), "after", SAID["tested"])
    assert client.patch(f"/api/v1/runs/{run.pk}/", {"label": "cold"}, format="json").json()["label"] == "cold"


def as_shown(client, path: str) -> dict[str, str]:
    """What a browser sends of a form that nobody has changed."""
    values = {name: client.get(path).context["form"].initial.get(name, "") for name in DescribeForm.base_fields}
    return values | {f"initial-{name}": value for name, value in values.items()}


def test_what_is_said_in_two_windows_stays(client, contributor):
    run = sent(contributor, **SAID)[0]
    client.force_login(contributor)
    path = f"/batches/{run.batch_id}/edit/"
    shown = as_shown(client, path)
    client.post(path, shown | {"label": "tuned", "commit": ""})
    client.post(path, shown | {"note": "a disk was changed", "build": "7"})
    together = Batch.objects.get()
    assert (together.label, together.note, together.tags) == ("tuned", "a disk was changed", "ssd tuned")
    assert "commit" not in together.tested and together.tested["build"] == "7"


def test_its_page_edits_it(client, contributor):
    run = sent(contributor, **SAID)[0]
    client.force_login(contributor)
    page = client.get(f"/batches/{run.batch_id}/edit/").content.decode()
    assert 'value="nightly 17"' in page and 'value="ssd tuned"' in page and 'value="1a2b3c4d"' in page
    wrong = client.post(f"/batches/{run.batch_id}/edit/", {"tags": "a,b"})
    assert wrong.status_code == 422 and "a tag is a word" in wrong.content.decode()
    path = f"/batches/{run.batch_id}/edit/"
    shown = as_shown(client, path)
    client.post(path, shown | {"label": "tuned", "tags": "hdd", "build": "7", "commit": "", "branch": ""})
    together = Batch.objects.get()
    assert (together.label, together.tags, together.tested) == ("tuned", "hdd", {"build": "7"})
    assert "nightly 17" in client.get(f"/batches/{run.batch_id}/").content.decode(), "what was said before"
    client.post(f"/runs/{run.pk}/describe/", {"label": "cold"})
    assert Run.objects.get(pk=run.pk).label == "cold"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"label": "night"}, {1, 2}), ({"label": "cold"}, {3}), ({"tag": "ssd"}, {1, 2, 3}), ({"tag": "sd"}, set()),
        ({"tag": "ssd tuned"}, {2}), ({"commit": "1a2b"}, {1, 3}), ({"commit": "ffff"}, {2}),
        ({"branch": "main"}, {1, 2, 3}), ({"batch": str(UUID(int=9))}, {4}), ({"q": "night"}, {1, 2, 3}),
    ],
)  # fmt: skip
def test_filters_find_what_is_said_of_a_run_or_else_of_its_batch(asked, expected):
    night = batch(label="night", tags="ssd", tested={"commit": "1a2b3c4d", "branch": "main"})
    made = [
        make_run("SQLite 3", 1, batch=night),
        make_run("SQLite 3", 2, batch=night, tags="tuned", tested={"commit": "ffff"}),
        make_run("SQLite 3", 3, batch=night, label="cold"),
        make_run("SQLite 3", 4, batch=batch(UUID(int=9))),
    ]
    number = {run.pk: at for at, run in enumerate(made, 1)}
    assert {number[run.pk] for run in RunFilter(QueryDict(urlencode(asked)), queryset=Run.objects.all()).qs} == expected


def test_lists_and_exports_tell_it(client):
    make_run("SQLite 3", 1, batch=batch(label="night", tags="ssd", tested={"commit": "1a2b3c4d5e6f"}))
    page = client.get("/runs/").content.decode()
    assert "night · 1a2b3c4d5e" in page and 'href="/runs/?tag=ssd"' in page and ">#ssd</a>" in page
    head, line = b"".join(client.get("/api/v1/runs/?format=csv").streaming_content).decode().splitlines()
    told = dict(zip(head.split(","), line.split(","), strict=False))
    assert (told["label"], told["tags"], told["commit"]) == ("night", "ssd", "1a2b3c4d5e6f")


def test_a_comparison_says_what_is_pooled(client):
    for number in (1, 2):
        for value in (100, 101, 102):
            make_run("SQLite 3", value + number, batch=batch(UUID(int=number), label=f"night {number}"))
    apart = client.get("/api/v1/compare/?status=finished").json()
    assert (apart["grouping"], apart["pooled_words"]) == ("batch", "")
    assert [(group["label"], group["n"], len(group["batches"])) for group in apart["groups"]] == [
        ("night 1", 3, 1), ("night 2", 3, 1)
    ]  # fmt: skip
    pooled = client.get("/api/v1/compare/?status=finished&group=all").json()
    said = "Pooled on request: all runs, whenever measured, up to 2 batches in a group."
    assert (pooled["grouping"], pooled["pooled_words"], pooled["groups"][0]["n"]) == ("all", said, 6)
    page = client.get("/compare/?status=finished&group=all").content.decode()
    assert f"{said}</p>" in page and 'value="all" selected' in page
    assert client.get("/api/v1/compare/?status=finished&group=week").status_code == 400
    assert ",all," in client.get("/compare.csv?status=finished&group=all").content.decode()


def test_the_page_of_a_batch_shows_the_numbers_of_its_cells(client):
    """Seen: a page with a label and tags, and not one number."""
    for value in (100, 101, 102):
        make_run("SQLite 3", value, durability="power_loss")
        make_run("Derby 10", value * 2, durability="power_loss")
    shown = make_run("Derby 10", None, state="failed").batch

    page = client.get(f"/batches/{shown.pk}/").content.decode()

    assert "throughput, 202 TPS" in page
    assert page.count('data-run="') == 7
    assert 'id="ranked"' in page

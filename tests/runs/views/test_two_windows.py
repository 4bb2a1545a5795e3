"""What two windows change of one row: the second takes back nothing of the first."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from runs import configs
from runs.compare import reports
from runs.configs.creating import Content
from runs.configs.reading import FileText
from runs.machines import profiles
from tests.runs.cells import make_repeats

pytestmark = pytest.mark.django_db


def shown(client, path: str) -> QueryDict:
    """What a browser sends of a form that nobody has changed."""
    sent = QueryDict(mutable=True)
    for bound in client.get(path).context["form"]:
        value = bound.field.prepare_value(bound.value()) if hasattr(bound.field, "prepare_value") else bound.value()
        values = [str(each) for each in (value if isinstance(value, list) else [value]) if each is not None]
        sent.setlist(bound.html_initial_name, values)
        sent.setlist(bound.html_name, [each for each in values if each != "False"])
    return sent


def saved_report(by):
    runs = make_repeats("SQLite 3.53", (400, 410))
    query = "&".join(f"run={run.pk}" for run in runs)
    row = reports.create(title="Asked", note="", query=query, visibility="public", owner=by)
    return row, f"/reports/{row.slug}/edit/", ("title", "name", "Answered"), ("note", "note", "in the cold")


def machine(by):
    row = profiles.create_profile(facts={"name": "Lab 3", "ram_bytes": 16 * 1024**3}, by=by)
    return row, f"/hardware/{row.slug}/edit/", ("name", "name", "Lab 4"), ("note", "note", "in the cold")


def disk(by):
    profile, *_ = machine(by)
    row = profiles.add_device(profile, facts={"name": "sda", "capacity_bytes": 10**12}, by=by)
    return row, f"/hardware/{profile.slug}/disks/{row.slug}/", ("name", "name", "sdb"), ("medium", "medium", "SSD")


def configuration(by):
    content = Content(files=[FileText("my.cnf", "[mysqld]\ninnodb_buffer_pool_size=1G\n")], dbms="mysql")
    row = configs.create_config(content, by=by)
    return row, f"/configs/{row.slug}/correct/", ("name", "name", "Buffer"), ("note", "note", "in the cold")


@pytest.mark.parametrize("make", [saved_report, machine, disk, configuration])
def test_what_is_said_in_two_windows_stays(client, contributor, make):
    """Was: the window that was saved last silently took back what the first had changed."""
    row, path, *edits = make(contributor)
    client.force_login(contributor)
    windows = [shown(client, path) for _ in edits]
    for sent, (field, _, value) in zip(windows, edits, strict=True):
        sent[field] = value
        assert client.post(path, sent.urlencode(), content_type="application/x-www-form-urlencoded").status_code == 302
    row.refresh_from_db()
    assert [getattr(row, name) for _, name, _ in edits] == [value for *_, value in edits]

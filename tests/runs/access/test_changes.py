"""What was changed, by whom, from what to what."""

from __future__ import annotations

import datetime
import uuid

import pytest

from runs.access import changes
from runs.models import Change
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db


def test_it_keeps_who_when_and_the_old_value(contributor):
    run, other = make_run("SQLite 3.53", 1), make_run("SQLite 3.53", 2)
    changes.record(target=run, field="note", old="", new="first", by=contributor)
    changes.record(target=run, field="note", old="first", new="second", by=None, reason="typing error")
    changes.record(target=other, field="note", old="", new="x", by=contributor)
    found = list(changes.history(run))
    assert [(change.field, change.old, change.new, change.by, change.reason) for change in found] == [
        ("note", "first", "second", None, "typing error"),
        ("note", "", "first", contributor, ""),
    ]
    assert found[0].at >= found[1].at


def test_what_stays_the_same_is_no_change(contributor):
    run = make_run("SQLite 3.53", 1)
    day = datetime.date(2026, 5, 4)
    assert changes.record(target=run, field="measured_on", old=day, new="2026-05-04", by=contributor) is None
    assert Change.objects.count() == 0


def test_it_keeps_values_as_json_holds_them(contributor):
    run = make_run("SQLite 3.53", 1)
    when = datetime.datetime(2026, 5, 4, 12, tzinfo=datetime.UTC)
    new = {"at": when, "id": uuid.UUID(int=1), "more": (1, 2.5, True, None), "run": run}
    changes.record(target=run, field="info", old=None, new=new, by=contributor)
    assert changes.history(run)[0].new == {
        "at": "2026-05-04T12:00:00+00:00",
        "id": str(uuid.UUID(int=1)),
        "more": [1, 2.5, True, None],
        "run": str(run),
    }

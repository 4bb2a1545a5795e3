"""Large imports: stored in several transactions that commit, seen whole or not at all."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from runs import imports, results
from runs.imports import storing
from runs.models import FileImport, HardwareProfile, Run, Upload
from runs.results import staged
from tests.runs.imports.test_imports import SUBJECT, sweep

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two_at_once(monkeypatch):
    """An import of more than two runs counts as large, and is stored two documents at a time."""
    monkeypatch.setattr(storing, "RUNS_AT_ONCE", 2)
    monkeypatch.setattr(storing, "MAX_RESULTS", 2)


def test_a_large_one_is_stored_in_transactions_and_appears_in_one(contributor, two_at_once, monkeypatch):
    seen: list[tuple[int, int, bool]] = []
    store_uploads = results.store_uploads

    def watched(**given):
        seen.append((Run.objects.count(), Run.objects.present().count(), connection.in_atomic_block))
        return store_uploads(**given)

    monkeypatch.setattr(results, "store_uploads", watched)
    taken, _ = imports.receive(files=sweep(800, 810, 820, 830, 840), owner=contributor)
    runs, stored = imports.store(taken, subject=SUBJECT, owner=contributor)

    assert seen == [(0, 0, False), (2, 0, False), (4, 0, False)]
    assert stored and [run.primary_value for run in runs] == [800, 810, 820, 830, 840]
    assert Run.objects.present().count() == 5


def test_of_a_large_one_that_fails_nothing_stays(contributor, two_at_once, monkeypatch):
    store_uploads, calls = results.store_uploads, []

    def fails_at_last(**given):
        calls.append(given)
        if len(calls) == 3:
            raise ValidationError({"factors": ["no"]})
        return store_uploads(**given)

    monkeypatch.setattr(results, "store_uploads", fails_at_last)
    taken, _ = imports.receive(files=sweep(800, 810, 820, 830, 840), owner=contributor)
    with pytest.raises(ValidationError):
        imports.store(taken, subject=SUBJECT, owner=contributor)

    assert Run.objects.count() == Upload.objects.count() == HardwareProfile.objects.count() == 0
    taken.refresh_from_db()
    assert taken.stored_at is None and taken.state == "draft"


def test_what_a_killed_process_left_of_a_large_one_is_never_shown_and_goes(contributor, two_at_once, monkeypatch):
    monkeypatch.setattr(staged, "undo", lambda ids: None)
    monkeypatch.setattr(staged, "show", lambda runs: 1 / 0)
    taken, _ = imports.receive(files=sweep(800.123, 810.123, 820.123), owner=contributor)
    with pytest.raises(ZeroDivisionError):
        imports.store(taken, subject=SUBJECT, owner=contributor)
    monkeypatch.undo()
    assert Run.objects.count() == 3 and Run.objects.present().count() == 0

    staged.undo_left(before=timezone.now() - timedelta(hours=1))
    assert Run.objects.count() == 3
    runs, _ = imports.store(FileImport.objects.get(), subject=SUBJECT, owner=contributor)
    staged.undo_left(before=timezone.now())
    assert set(Run.objects.all()) == set(runs) == set(Run.objects.with_values())


def test_a_large_one_that_is_read_again_is_replaced_at_once(contributor, two_at_once):
    taken, _ = imports.receive(files=sweep(800, 810, 820), owner=contributor)
    old, _ = imports.store(taken, subject=SUBJECT, owner=contributor)
    new = imports.read_again(FileImport.objects.get())

    assert set(Run.objects.present()) == set(new) and not {run.pk for run in old} & {run.pk for run in new}
    assert set(Run.objects.filter(upload__file_import=taken)) == {*old, *new}

"""An older version on tables that a newer one made."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from benchsite import embedded
from benchsite.programs import CannotStart

pytestmark = pytest.mark.django_db


@pytest.fixture
def newer():
    MigrationRecorder(connection).record_applied("runs", "9999_of_the_future")


def test_it_does_not_migrate_them(newer):
    with pytest.raises(CommandError, match=r"newer version of Benchsite: it has runs\.9999_of_the_future"):
        call_command("migrate", verbosity=0)


def test_make_up_does_not_start_on_them(newer):
    with pytest.raises(CannotStart, match="Start the newer version, or restore a backup"):
        embedded.migrate(settings.STATE, print)


def test_it_migrates_its_own():
    call_command("migrate", verbosity=0)

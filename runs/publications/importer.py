"""Bring the repository to what a publication's folder says. Can be run at any time; writes only what differs."""

from __future__ import annotations

import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db import DataError, IntegrityError, transaction
from django.db.models import ProtectedError

from runs.models import Publication
from runs.publications.checks.model import stored
from runs.publications.checks.rows import compute_checks
from runs.publications.folder import Folder, FolderError, own
from runs.publications.material import Material
from runs.publications.page import export
from runs.publications.page.page import page
from runs.publications.results import sync_results
from runs.publications.statements import sync_statements
from runs.publications.subjects import sync_subjects
from runs.publications.sync import Sync


@dataclass(frozen=True)
class Report:
    """(kind of row, verb) -> how many; nothing in it when everything was as it should be."""

    changes: Counter[tuple[str, str]]

    @property
    def rows_changed(self) -> int:
        return sum(self.changes.values())

    def lines(self) -> list[str]:
        return [f"{count} {kind} {verb}" for (kind, verb), count in sorted(self.changes.items())]


def import_own(*, keep_deleted: bool = False) -> Report:
    """The publications that come with the program. All or nothing."""
    return import_folders(*own().values(), keep_deleted=keep_deleted)


def import_given(*folders: Folder, keep_deleted: bool = False) -> Report:
    """Somebody's publications: also tried out, so that what no rule foresees is refused too. Raises FolderError."""
    try:
        with transaction.atomic():
            report = import_folders(*folders, keep_deleted=keep_deleted)
            for folder in folders:
                shown = page(Publication.objects.get(slug=folder.slug), AnonymousUser())
                export.text(shown.material)
    except FolderError:
        raise
    except (DataError, IntegrityError) as error:
        raise FolderError([f"results.json: cannot be stored: {error}"]) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        where = traceback.extract_tb(error.__traceback__)[-1].name.strip("_<>").replace("_", " ")
        raise FolderError([f"its page cannot be shown ({where}): {type(error).__name__}: {error}"]) from error
    return report


@transaction.atomic
def remove(publication: Publication) -> None:
    """With its runs and statements, and with those of its configurations, machines and workloads that nobody uses."""
    its_own = [*publication.configs.all(), *publication.hardware.all(), *publication.workloads.all()]
    publication.delete()
    for row in its_own:
        with suppress(ProtectedError), transaction.atomic():
            row.delete()


def import_folders(*folders: Folder, keep_deleted: bool = False) -> Report:
    """All or nothing. Restores whatever was changed, also deleted runs unless `keep_deleted`. Raises FolderError."""
    sync = Sync()
    with transaction.atomic():
        for folder in folders:
            subjects = sync_subjects(sync, folder)
            sync_results(sync, folder.results, subjects, keep_deleted=keep_deleted)
            sync_statements(sync, folder.results, subjects)
            checks = compute_checks(folder.checks, Material.of(subjects.publication))
            sync.correct(subjects.publication, {"checks": stored(checks)})
    return Report(sync.changes)

"""From what was read to runs: all of an import is stored or nothing."""

from __future__ import annotations

import uuid
from typing import Any

from benchagent.importers import PARSER_VERSION
from benchagent.importers.needs import becomes_a_run, lacks
from django.db import transaction
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from runs import results
from runs.imports.documents import document, repeats_of
from runs.imports.intake import Reports, items_of, kept_files, read
from runs.imports.subject import checked
from runs.models import ApiToken, FileImport, Run, User, delete_softly
from runs.results.document import MAX_REPEATS, MAX_RUNS
from runs.run import artefacts

# However many repeats each has, no request of the one door is too large.
AT_ONCE = MAX_RUNS // MAX_REPEATS


class NotReady(ValidationError):
    """Something must be said first; the errors name the fields."""


def store(
    taken: FileImport, *, subject: dict[str, Any], owner: User, token: ApiToken | None = None
) -> tuple[list[Run], bool]:
    """Store an import as runs. -> (runs, whether they are new); one that is stored already stays as it is.

    Raises NotReady or ValidationError, naming the fields; then nothing is stored.
    """
    if taken.stored_at is not None:
        return runs_of(taken), False
    subject = checked(subject, before=taken.subject)
    return _store(taken, read(kept_files(taken), subject.get("mapping", {})), subject, owner, token)


def _store(
    taken: FileImport, reports: Reports, subject: dict[str, Any], owner: User, token: ApiToken | None
) -> tuple[list[Run], bool]:
    items = items_of(reports)
    if lacking := lacks(items, subject):
        raise NotReady(lacking)
    now = timezone.now()
    kept = [
        (file.name, report) for (file, report), item in zip(reports, items, strict=True) if becomes_a_run(item, subject)
    ]
    documents = [
        document(repeats, subject, upload_id=uuid.uuid5(taken.id, f"{now.isoformat()}:{number}"))
        for number, repeats in enumerate(repeats_of(kept))
    ]
    with transaction.atomic():
        # A second press of the button finds it stored.
        if not FileImport.objects.filter(pk=taken.pk, stored_at=None).update(stored_at=now):
            return runs_of(taken), False
        taken.subject, taken.items = subject, items
        taken.parser_version, taken.stored_at = PARSER_VERSION, now
        taken.save(update_fields=["subject", "items", "parser_version"])
        runs = []
        for start in range(0, len(documents), AT_ONCE):
            some = documents[start : start + AT_ONCE]
            for outcome in results.store_uploads(documents=some, token=token, owner=owner, file_import=taken):
                if outcome.errors:
                    raise ValidationError(outcome.errors)
                runs += outcome.runs
    return runs, True


def say(taken: FileImport, subject: dict[str, Any]) -> None:
    """Keep what a person said about a draft; a new mapping of columns is applied at once. Raises ValidationError."""
    mapping = taken.subject.get("mapping", {})
    taken.subject = checked(subject, before=taken.subject)
    if taken.subject.get("mapping", {}) != mapping:
        taken.items = items_of(read(kept_files(taken), taken.subject["mapping"]))
    taken.save(update_fields=["subject", "items"])


def runs_of(taken: FileImport) -> list[Run]:
    return list(Run.objects.present().filter(upload__file_import=taken).order_by("created_at", "repeat", "id"))


def read_again(taken: FileImport, *, owner: User, token: ApiToken | None = None) -> list[Run]:
    """Read the kept files with today's importers. A stored import's runs are replaced; the old ones can be restored."""
    was_stored, old = taken.stored_at is not None, runs_of(taken)
    reports = read(kept_files(taken), taken.subject.get("mapping", {}))
    with transaction.atomic():
        taken.items = items_of(reports)
        taken.parser_version, taken.stored_at = PARSER_VERSION, None
        taken.save(update_fields=["items", "parser_version", "stored_at"])
        if not was_stored:
            return []
        for run in old:
            delete_softly(run)
        return _store(taken, reports, checked(taken.subject), owner, token)[0]


def forget(taken: FileImport) -> None:
    """A draft with its files. Raises ValueError for an import that was stored: its files are evidence."""
    if taken.stored_at is not None:
        raise ValueError("this import was stored")
    files = list(taken.artefacts.all())
    taken.delete()
    artefacts.discard(files)

"""The steps of an import: files are taken, completed by a person, stored as runs, read again, or forgotten.

Secrets are taken out of what is kept. All of an import is stored or nothing.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from typing import Any

from benchagent.importers import PARSER_VERSION, NotUnderstood, Report, SourceFile, as_json, inspect, plain_csv
from benchagent.importers.report import becomes_a_run, lacks, not_understood
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from runs import results
from runs.imports.documents import checked, document, repeats_of
from runs.models import ApiToken, Artefact, FileImport, Run, User, delete_softly
from runs.models.visible import sees_all
from runs.results.document import MAX_REPEATS, MAX_RUNS
from runs.run import artefacts

MAX_FILES = 500
MAX_TOTAL_BYTES = 128 * 1024 * 1024
# However many repeats each has, no request of the one door is too large.
AT_ONCE = MAX_RUNS // MAX_REPEATS
Reports = list[tuple[SourceFile, Report]]


class BadFiles(ValueError):
    """Files that are not taken; the text says why."""


def take(*, files: Sequence[SourceFile], owner: User) -> tuple[FileImport, bool]:
    """Keep and read these files. -> (import, whether it is new): the same files of the same person are one import.

    Raises BadFiles when there is nothing in them or too much.
    """
    if not files:
        raise BadFiles("No file was sent.")
    if len(files) > MAX_FILES:
        raise BadFiles(f"At most {MAX_FILES} files at once; these are {len(files)}.")
    if sum(len(file.data) for file in files) > MAX_TOTAL_BYTES:
        raise BadFiles(f"At most {MAX_TOTAL_BYTES // 1024**2} MB at once. gzip makes logs about ten times smaller.")
    if empty := [file.name for file in files if not file.data]:
        raise BadFiles(f"Empty: {', '.join(empty[:5])}.")
    # Of names and contents, in whatever order they came.
    marks = sorted([file.name, hashlib.sha256(file.data).hexdigest()] for file in files)
    digest = hashlib.sha256(json.dumps(marks).encode()).hexdigest()
    known = FileImport.objects.filter(owner=owner, digest=digest).first()
    if known is not None:
        return known, False
    kept: list[Artefact] = []
    try:
        with transaction.atomic():
            taken = FileImport.objects.create(owner=owner, digest=digest, parser_version=PARSER_VERSION)
            for position, file in enumerate(files):
                kept.append(
                    artefacts.keep(name=file.name, content=file.data, file_import=taken, position=position)
                )  # fmt: skip
            taken.items = items_of(read(kept_files(taken), {}))
            taken.save(update_fields=["items"])
    except artefacts.TooLarge as error:
        artefacts.discard(kept)
        raise BadFiles(f"{error}.") from error
    except IntegrityError:
        # The same files came twice at the same moment.
        artefacts.discard(kept)
        return FileImport.objects.get(owner=owner, digest=digest), False
    return taken, True


def imports_of(person: User) -> QuerySet[FileImport]:
    """An import is its owner's; administrators see all. Others learn nothing of it, not even that it is there."""
    return FileImport.objects.all() if sees_all(person) else FileImport.objects.filter(owner=person)


def kept_files(taken: FileImport) -> list[SourceFile]:
    return [SourceFile(kept.name, artefacts.content(kept)) for kept in taken.artefacts.order_by("position")]


def read(files: Sequence[SourceFile], mapping: dict[str, Any]) -> Reports:
    """Every run of every file. `mapping`: which column is what, by the name of a CSV file."""
    reports: Reports = []
    for file, proposed in inspect(files):
        runs: Sequence[Report] = proposed
        if file.name in mapping:
            try:
                runs = plain_csv.read_mapped(file, plain_csv.Mapping.from_json(mapping[file.name]))
            except NotUnderstood as error:
                runs = [not_understood(f"not understood: {error}", tool=plain_csv.TOOL)]
        reports += [(file, run) for run in runs]
    return reports


def items_of(reports: Reports) -> list[dict[str, Any]]:
    """What a preview shows, one entry a run of a file; `index` names it."""
    return [{"index": index, **as_json(file, report)} for index, (file, report) in enumerate(reports)]


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

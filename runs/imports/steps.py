"""The steps of an import: files are taken, completed by a person, stored as runs, read again, or forgotten.

Files that came are laid aside, and an import is a row that says so; from there on there is one way (`reading`), which
is gone at once with small files and by a worker with large ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchagent.importers import PARSER_VERSION, Status
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import APIException, ValidationError

from runs import space
from runs.imports import reading, storing
from runs.imports.documents import checked, remarks
from runs.imports.parts import note_used
from runs.imports.sent import (
    MAX_TOTAL_BYTES,
    MB,
    BadFiles,
    Sent,
    TooManyWait,
    clear_away,
    lay_aside,
    measured,
)
from runs.imports.storing import NotReady, runs_of
from runs.models import ApiToken, Batch, FileImport, Run, Upload, User
from runs.models.choices import ImportState
from runs.models.visible import Reader, sees_all
from runs.results.remarks import warnings_of_import
from runs.run import artefacts

# Large imports of one person at a time; what they hold: the largest log, and files of a usual size beside it.
MAX_WAITING = 5


class StillRead(APIException):
    """What a worker reads at this moment cannot be stored yet."""

    status_code = 409
    default_detail = "The files are still being read. Store them when that is done."
    default_code = "still_read"


def receive(*, files: Sequence[Sent], owner: User) -> tuple[FileImport, bool]:
    """Keep and read these files. -> (import, whether it is new): the same files of the same person are one import.

    Small files are read at once; large ones wait for a worker. Raises BadFiles when there is nothing in them or too
    much; then nothing is kept.
    """
    sent = measured(files)
    same = FileImport.objects.filter(owner=owner, digest=sent.digest)
    for failed in same.filter(state=ImportState.FAILED):
        forget(failed)
    taken = same.first()
    is_new = taken is None
    if taken is None:
        row = reading.waiting_row([file.name for file in files], sent.size_bytes, owner)
        taken = FileImport(owner=owner, digest=sent.digest, parser_version=PARSER_VERSION, **row)
        try:
            _wait(taken, files, owner)
        except IntegrityError:  # the same files came twice at the same moment
            taken, is_new = same.get(), False
    unread = [item for item in taken.items if item["status"] == Status.NOT_UNDERSTOOD]
    if unread and not is_new and taken.state == ImportState.DRAFT:
        reading.begin(taken)  # by a plug-in, a description or a program that has come since
    if is_new and taken.attempts:
        new = taken
        reading.read_at_once(new, lambda: forget(new))
    note_used(files)
    return taken, is_new


def _wait(taken: FileImport, files: Sequence[Sent], owner: User) -> None:
    """Lay the files aside, and say so in a row."""
    if not taken.attempts:
        _check_room(taken, owner)
    lay_aside(taken.id, files)
    try:
        with transaction.atomic():
            if not taken.attempts:
                # Those that came at the same moment are counted one after another.
                User.objects.select_for_update().get(pk=owner.pk)
                _check_room(taken, owner)
            taken.save(force_insert=True)
    except Exception as error:
        if not artefacts.may_be_stored(error):
            clear_away(taken.id)
        raise


def _check_room(taken: FileImport, owner: User) -> None:
    """Raises BadFiles where too much of this person waits already, or of the disk is taken."""
    size_bytes = taken.progress["size_bytes"]
    waiting = FileImport.objects.filter(owner=owner, state=ImportState.READING).values_list("progress", flat=True)
    sizes_bytes = [progress.get("size_bytes", 0) for progress in waiting]
    if len(sizes_bytes) >= MAX_WAITING:
        raise TooManyWait(
            f"{len(sizes_bytes)} of your imports are still being read. Send more when one of them is done."
        )
    most_mb = settings.IMPORT_STREAMED_MB + MAX_TOTAL_BYTES // MB
    if sizes_bytes and sum(sizes_bytes) + size_bytes > most_mb * MB:
        raise TooManyWait(
            f"{sum(sizes_bytes) / MB:,.0f} MB of yours are still being read, and these are {size_bytes / MB:,.0f} MB; "
            f"at most {most_mb:,} MB of a person wait, counted unpacked. Send them when what waits is done."
        )
    if words := space.shortage(size_bytes):
        raise BadFiles(words)


def imports_of(person: User) -> QuerySet[FileImport]:
    """An import is its owner's; administrators see all. Others learn nothing of it, not even that it is there."""
    return FileImport.objects.all() if sees_all(person) else FileImport.objects.filter(owner=person)


def store(
    taken: FileImport, *, subject: dict[str, Any], owner: User, token: ApiToken | None = None
) -> tuple[list[Run], bool]:
    """Store an import as runs. -> (runs, whether they are new); one that is stored already stays as it is.

    Raises NotReady or ValidationError, naming the fields, or StillRead where a worker has to read the files first, or
    anew by other columns; then nothing is stored.
    """
    if taken.state == ImportState.READING:
        raise StillRead
    if taken.state == ImportState.FAILED:
        raise NotReady({"items": [taken.problem]})
    if taken.stored_at is not None:
        return runs_of(taken), False
    subject = checked(subject, before=taken.subject)
    # Small files of an older program have no reports beside them.
    if not taken.reports or subject.get("mapping", {}) != taken.subject.get("mapping", {}):
        try:
            reading.begin(taken, subject=subject)
        except BadFiles as error:
            raise NotReady({"mapping": [str(error)]}) from error
        if taken.state == ImportState.READING:
            raise StillRead
    held = FileImport.objects.filter(pk=taken.pk, stored_at=None)
    try:
        return storing.store(taken, reading.reports_of(taken), subject, owner=owner, token=token, held=held)
    except ValidationError as error:
        # Whoever completes it finds what was said, but for what was refused; a disk that is new is described there.
        wrong = {re.split(r"[.\[]", path)[0] for path in map(str, error.detail)} - {"storage"}
        is_lacking = isinstance(error, NotReady)
        kept = subject if is_lacking else {name: said for name, said in subject.items() if name not in wrong}
        held.update(subject=kept)
        taken.subject = kept
        raise


def keep_subject(taken: FileImport, subject: dict[str, Any]) -> None:
    """Keep what a person said about a draft. A new mapping of columns is applied at once; to large files by a worker.

    Raises ValidationError, and BadFiles where the files hold too much by these columns.
    """
    mapping, subject = taken.subject.get("mapping", {}), checked(subject, before=taken.subject)
    # Whoever reads at this moment looks at the columns once more at the end.
    if subject.get("mapping", {}) != mapping and taken.state != ImportState.READING:
        reading.begin(taken, subject=subject)
        return
    FileImport.objects.filter(pk=taken.pk).update(subject=subject)
    taken.subject = subject


def described(taken: FileImport) -> dict[str, Any]:
    """What is said of it now, which may have been edited since; nothing of a draft."""
    batch = Batch.objects.filter(pk=taken.pk).first()
    return {"label": batch.label, "tags": batch.tag_list, "tested": batch.tested} if batch else {}


def warnings_of(taken: FileImport, reader: Reader) -> list[str]:
    """What a person is told of the repeats and the machine of an import, before and after it is stored; before it also
    of what contradicts itself, which its runs say afterwards.
    """
    if taken.stored_at is None:
        reports = reading.reports_of(taken) if taken.state == ImportState.DRAFT and taken.reports else []
        return remarks(taken.items, taken.subject) + storing.disagreements(taken, reports)
    return warnings_of_import(runs_of(taken), reader)


def deleted_runs_of(taken: FileImport) -> list[Run]:
    """Those of the runs that it stored last which were deleted."""
    gone = Run.objects.filter(upload__in=uploads_of(taken)).exclude(deleted_at=None)
    return list(gone.order_by("created_at", "repeat", "id"))


def uploads_of(taken: FileImport) -> QuerySet[Upload]:
    """One a cell that was stored; none of those that were replaced when the files were read again."""
    return Upload.objects.filter(file_import=taken, received_at__gte=taken.stored_at or timezone.now())


def read_again(taken: FileImport) -> list[Run]:
    """Read the kept files with today's importers. A stored import's runs are replaced; the old ones can be restored.

    Where a worker reads them the import's `state` says so, and its runs are replaced when that is done.
    """
    if taken.state != ImportState.READING:
        reading.begin(taken)
    return [] if taken.state == ImportState.READING else runs_of(taken)


def forget(taken: FileImport) -> None:
    """A draft with its files, also one that is being read. Raises ValueError for an import that was stored: its files
    are evidence.
    """
    if taken.stored_at is not None:
        raise ValueError("this import was stored")
    files, reports = list(taken.artefacts.all()), taken.reports
    import_id = taken.pk
    taken.delete()
    artefacts.discard(files)
    clear_away(import_id)
    if reports:
        reports.delete(save=False)

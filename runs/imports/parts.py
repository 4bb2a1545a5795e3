"""Files that come in parts: larger ones than a request may carry, resumed where the connection broke (tus 1.0).

Who sends them has a quota. A part is acknowledged when it is on the disk and the row counts it.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import IO
from uuid import UUID

from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from runs import space
from runs.imports.sent import MAX_FILES, MAX_TOTAL_BYTES, MB, BadFiles, Sent
from runs.models import FileInParts, User
from runs.models.base import clean
from runs.models.visible import sees_all
from runs.run import artefacts

# After the last part; once it is used, for a sender whose answer was lost.
KEPT_FOR, USED_KEPT_FOR = timedelta(days=1), timedelta(minutes=10)
PIECE_BYTES = 1024 * 1024


class PartRefused(Exception):
    """A part that is not taken; the text says why, `status` is that of tus."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def quota_bytes() -> int:
    """What one person's unused files in parts may hold: the largest log, and files of a usual size beside it."""
    return int(settings.IMPORT_STREAMED_MB) * MB + MAX_TOTAL_BYTES


def files_of(person: User) -> QuerySet[FileInParts]:
    """A file is its owner's; administrators see all."""
    kept = FileInParts.objects.filter(expires_at__gt=timezone.now())
    return kept if sees_all(person) else kept.filter(owner=person)


def begin(*, owner: User, name: str, size_bytes: int, mark: str) -> FileInParts:
    """Raises PartRefused where its owner's quota or the disk has no room for it."""
    most_bytes = quota_bytes()
    if size_bytes > most_bytes:
        raise PartRefused(413, f"A file has at most {most_bytes // MB:,} MB.")
    if words := space.shortage(size_bytes):
        raise PartRefused(507, words)
    begun = FileInParts(
        owner=owner, name=clean(name, 255), size_bytes=size_bytes, mark=clean(mark, 200),
        expires_at=timezone.now() + KEPT_FOR,
    )  # fmt: skip
    begun.file.save(str(begun.pk), ContentFile(b""), save=False)
    try:
        with transaction.atomic():
            # Those that come at the same moment are counted one after another.
            User.objects.select_for_update().get(pk=owner.pk)
            _check_quota(owner, size_bytes)
            begun.save(force_insert=True)
    except Exception as error:
        if not artefacts.may_be_stored(error):
            begun.file.delete(save=False)
        raise
    return begun


def _check_quota(owner: User, size_bytes: int) -> None:
    waiting = FileInParts.objects.filter(owner=owner, used_at=None, expires_at__gt=timezone.now())
    held_bytes = waiting.aggregate(sum=Sum("size_bytes"))["sum"] or 0
    if held_bytes + size_bytes > quota_bytes() or waiting.count() >= MAX_FILES:
        raise PartRefused(
            403, f"Your files that are sent in parts have {held_bytes / MB:,.0f} MB already; they may have "
            f"{quota_bytes() // MB:,} MB and be {MAX_FILES} at once. Use them, or delete them (DELETE).",
        )  # fmt: skip


def append(kept: FileInParts, *, offset: int, content: IO[bytes], sha256: str = "") -> int:
    """Write a part, whose checksum in base64 is this if there is one. -> bytes received in all.

    Raises PartRefused; FileInParts.DoesNotExist or FileNotFoundError where it was deleted meanwhile.
    """
    with _locked(kept) as file:
        kept.refresh_from_db()
        if offset != kept.received_bytes:
            raise PartRefused(409, f"{kept.received_bytes} bytes of this file are here; this part begins at {offset}.")
        digest = hashlib.sha256()
        file.seek(offset)
        while piece := content.read(PIECE_BYTES):
            offset += len(piece)
            if offset > kept.size_bytes:
                raise PartRefused(413, f"This part is longer than what is left of {kept.size_bytes} bytes.")
            digest.update(piece)
            file.write(piece)
        if sha256 and sha256 != base64.b64encode(digest.digest()).decode():
            raise PartRefused(460, "This part is not what was sent: its checksum differs.")
        file.flush()
        os.fsync(file.fileno())
        news = {"received_bytes": offset, "expires_at": timezone.now() + KEPT_FOR}
        if not FileInParts.objects.filter(pk=kept.pk).update(**news):
            raise FileInParts.DoesNotExist
    return offset


@contextmanager
def _locked(kept: FileInParts) -> Iterator[IO[bytes]]:
    """The file, which one process at a time writes; a killed one holds nothing."""
    with Path(kept.file.path).open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PartRefused(423, "Another part of this file is being written. Ask how far it is (HEAD).") from None
        yield file


def sent_files(owner: User, named: Sequence[str]) -> list[Sent]:
    """Files of this person that are whole, by their ids or addresses. Raises BadFiles."""
    files = []
    for text in named:
        kept = None
        with suppress(ValueError):
            kept = files_of(owner).filter(pk=UUID(text.rstrip("/").rpartition("/")[2])).first()
        if kept is None:
            raise BadFiles(f"No file of yours was sent in parts as {text[:100]}, or it has expired.")
        if kept.received_bytes < kept.size_bytes:
            raise BadFiles(f"{kept.name}: {kept.received_bytes} of {kept.size_bytes} bytes are here. Send the rest.")
        try:
            files.append(Sent(kept.name, kept.file.open("rb"), kept))
        except FileNotFoundError:
            raise BadFiles(f"{kept.name} is not on the disk of this server any more. Send it again.") from None
    return files


def note_used(files: Sequence[Sent]) -> None:
    """What was made of them is stored. They stay for a while: who did not hear of it says the same again."""
    now = timezone.now()
    ids = [file.in_parts.pk for file in files if file.in_parts]
    FileInParts.objects.filter(pk__in=ids).update(used_at=now, expires_at=now + USED_KEPT_FOR)


def forget(kept: FileInParts) -> None:
    kept.delete()
    kept.file.delete(save=False)


def forget_expired() -> None:
    for kept in FileInParts.objects.filter(expires_at__lte=timezone.now()):
        forget(kept)

"""Files kept beside results: secrets taken out, gzip on disk, found again by their row."""

from __future__ import annotations

import codecs
import gzip
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePosixPath

from benchagent.importers.source import GZIP_MAGIC, NotUnderstood, unpacked_pieces
from benchagent.redaction import redact_text
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Min, Q
from django.utils import timezone

from runs.models import Artefact, FileImport, Run, Upload
from runs.models.base import clean
from runs.models.choices import ImportState

MAX_ARTEFACT_BYTES = 64 * 1024 * 1024
# Where large files lie until a worker has read them, by import (runs.imports.sent).
WAITING = ("imports", "waiting")
_PACKED_NAMES = (".gz", ".gzip")


class TooLarge(ValueError):
    """A file that is larger, perhaps only once it is unpacked, than what is kept."""


def keep(
    *,
    name: str,
    content: bytes,
    media_type: str = "",
    run: Run | None = None,
    upload: Upload | None = None,
    file_import: FileImport | None = None,
    position: int = 0,
) -> Artefact:
    """Store a file. Text loses its secrets; a gzip file is unpacked first, so that its text does too.

    The file is written before its row: a row always has its file. Call `discard` where the transaction fails later.
    Raises TooLarge beyond `MAX_ARTEFACT_BYTES`.
    """
    artefact = prepared(name=name, content=content, media_type=media_type, position=position)
    artefact.run, artefact.upload, artefact.file_import = run, upload, file_import
    try:
        artefact.save(force_insert=True)
    except Exception as error:
        discard_after(error, [artefact])
        raise
    return artefact


def prepared(*, name: str, content: bytes, media_type: str = "", position: int = 0) -> Artefact:
    """The unsaved row of a file that is on disk already: for many at once. Raises TooLarge."""
    name, content = check_size(name, content)
    kept = without_secrets(content)
    artefact = Artefact(
        name=clean(PurePosixPath(name.replace("\\", "/")).name or "unnamed", 255),
        media_type=clean(media_type, 100),
        position=position,
        size_bytes=len(kept),
        sha256=hashlib.sha256(kept).hexdigest(),
        created_at=timezone.now(),
    )
    artefact.file.save(f"{artefact.id}.gz", ContentFile(gzip.compress(kept, 6, mtime=0)), save=False)
    return artefact


def check_size(name: str, content: bytes) -> tuple[str, bytes]:
    """Name and content as they are kept, unpacked. Raises TooLarge."""
    name, content = _unpacked(name, content)
    if len(content) > MAX_ARTEFACT_BYTES:
        raise TooLarge(f"{name} is larger than {MAX_ARTEFACT_BYTES // 1024**2} MB")
    return name, content


def content(artefact: Artefact, most_bytes: int = -1) -> bytes:
    """The file as it was given, or its beginning, but for its secrets. Raises FileNotFoundError where the disk has lost
    it.
    """
    with artefact.file.open("rb") as packed, gzip.GzipFile(fileobj=packed) as file:
        return file.read(most_bytes)


def artefacts_of(run: Run) -> list[Artefact]:
    """The files of a run and of the upload that it came with."""
    if run.upload_id is None:
        return list(run.artefacts.all())
    return list(Artefact.objects.filter(Q(run=run) | Q(upload=run.upload_id)))


def discard(artefacts: Iterable[Artefact]) -> None:
    """Take away the files of rows that were not stored after all."""
    for artefact in artefacts:
        if artefact.file.name:
            artefact.file.delete(save=False)


def discard_after(error: Exception, artefacts: Iterable[Artefact]) -> None:
    """Take away the files of rows that this error kept from being stored."""
    if not may_be_stored(error):
        discard(artefacts)


def may_be_stored(error: Exception) -> bool:
    """Whether the connection broke, perhaps while the commit was answered: the rows may be there, and need their files.

    Where they are not, `forget_ownerless` takes the files. A lost connection has no SQLSTATE; 57P is a server that
    stops.
    """
    state = getattr(error.__cause__, "sqlstate", "")
    return isinstance(error, OperationalError | InterfaceError) and (state is None or state.startswith(("08", "57P")))


def forget_ownerless(before: datetime) -> int:
    """Take away files that were written before then and that no row names: their request was killed. -> how many.

    Files are written before their rows, so `before` lies further back than any request or reader of imports lasts. What
    is older than the database is not its own: somebody has started the site on another one.
    """
    root, gone = Path(default_storage.path("")), 0
    made_at = MigrationRecorder(connection).migration_qs.aggregate(first=Min("applied"))["first"]
    between = made_at.timestamp(), before.timestamp()
    written = [path for path in root.rglob("*") if path.is_file() and between[0] < path.stat().st_mtime < between[1]]
    # Read after the folder: what is named by now was perhaps not when it was listed.
    named = {*Artefact.objects.values_list("file", flat=True), *FileImport.objects.values_list("reports", flat=True)}
    waiting = set(map(str, FileImport.objects.filter(state=ImportState.READING).values_list("pk", flat=True)))
    for path in written:
        name = path.relative_to(root)
        if str(name) not in named and not (name.parts[:2] == WAITING and name.parts[2] in waiting):
            path.unlink(missing_ok=True)
            gone += 1
            with suppress(OSError):  # others are in it
                path.parent.rmdir()
    return gone


def without_secrets(content: bytes) -> bytes:
    """Text in UTF-8, UTF-16 or any one-byte encoding with its secrets replaced; other bytes stay as they are."""
    marked = ["utf-16"] if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else []
    # Latin-1 takes every byte and gives it back.
    for encoding in (*marked, *(() if b"\x00" in content else ("utf-8", "latin-1"))):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        redacted = redact_text(text)
        return content if redacted == text else redacted.encode(encoding)
    return content


def _unpacked(name: str, content: bytes) -> tuple[str, bytes]:
    """A gzip file's content and its name without the ending; what only begins like one stays as it is."""
    if not content.startswith(GZIP_MAGIC):
        return name, content
    unpacked = bytearray()
    try:
        for piece in unpacked_pieces([content]):
            unpacked += piece
            if len(unpacked) > MAX_ARTEFACT_BYTES:
                raise TooLarge(f"{name} is larger than {MAX_ARTEFACT_BYTES // 1024**2} MB once it is unpacked")
    except NotUnderstood:
        return name, content
    for ending in _PACKED_NAMES:
        name = name.removesuffix(ending)
    return name, bytes(unpacked)

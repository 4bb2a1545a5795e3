"""Files kept beside results: secrets taken out, gzip on disk, found again by their row."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePosixPath

from benchagent.importers.source import GZIP_MAGIC, STREAMED_BYTES, NotUnderstood, SourceFile, unpacked_pieces
from benchagent.redaction import redact_text
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Min, Q
from django.utils import timezone

from runs.models import Artefact, FileImport, FileInParts, Run, Upload, User
from runs.models.base import clean
from runs.models.choices import ImportState
from runs.models.visible import Reader, sees_all

MAX_ARTEFACT_BYTES = 64 * 1024 * 1024
# Where large files lie until a worker has read them, by import (runs.imports.sent).
WAITING = ("imports", "waiting")
_PACKED_NAMES = (".gz", ".gzip")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Lines of these alone hold no secret.
_FIGURES = b"0123456789 ,.+-\t\r\n"
MAX_BLOCK_BYTES = 1024 * 1024
# What stands on several lines is not longer.
OVERLAP_BYTES = 32 * 1024


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
        name=_kept_name(name),
        media_type=clean(media_type, 100),
        position=position,
        size_bytes=len(kept),
        sha256=hashlib.sha256(kept).hexdigest(),
        created_at=timezone.now(),
    )
    artefact.file.save(f"{artefact.id}.gz", ContentFile(gzip.compress(kept, 6, mtime=0)), save=False)
    return artefact


def prepared_from(
    path: Path, *, name: str, position: int = 0, tell: Callable[[int], None] = lambda _: None
) -> Artefact:
    """As `prepared`, of a file on the disk, of which no more than a few MB are held. `tell`: told how much is kept."""
    file = SourceFile.of(name, path)
    if file.size_bytes <= MAX_BLOCK_BYTES:
        return prepared(name=name, content=file.data, position=position)
    try:
        # Secrets are found in UTF-8.
        pieces_of = file.utf_8_pieces if next(file.pieces(), b"").startswith(_WIDE) else file.pieces
        for _ in pieces_of():
            pass
        pieces, name = pieces_of(), _unpacked_name(name) if file.is_packed else name
    except NotUnderstood:  # it only begins like an archive
        pieces = file.packed_pieces()
    artefact = Artefact(name=_kept_name(name), position=position, created_at=timezone.now())
    rewrite(artefact, pieces, path.with_name(f"{path.name}.gz"), tell)
    return artefact


class Written(File):  # type: ignore[type-arg]  # Django's takes none when it runs
    """A file that may be moved into the storage."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def rewrite(
    artefact: Artefact, pieces: Iterable[bytes], at: Path, tell: Callable[[int], None] = lambda _: None
) -> None:
    """Give an artefact, which is not saved, this content without its secrets; it is written at `at` before it moves."""
    digest, size_bytes = hashlib.sha256(), 0
    with at.open("wb+") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, mtime=0) as packed:
            for block in _blocks_without_secrets(pieces):
                digest.update(block)
                size_bytes += len(block)
                packed.write(block)
                tell(size_bytes)
        file.flush()
        artefact.size_bytes, artefact.sha256 = size_bytes, digest.hexdigest()
        artefact.file.save(f"{uuid.uuid4()}.gz", Written(file), save=False)


def _blocks_without_secrets(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, a few MB at a time; the end of each block is looked at once more with what follows."""
    rest = bytearray()
    for piece in itertools.chain(pieces, [None]):
        rest += piece or b""
        if piece is not None and len(rest) < MAX_BLOCK_BYTES:
            continue
        end = len(rest) if piece is None else rest.rfind(b"\n") + 1
        if not end and len(rest) < MAX_ARTEFACT_BYTES:
            continue
        kept = without_secrets(bytes(rest[: end or len(rest)]))
        done = len(kept) if piece is None else kept.rfind(b"\n", 0, max(len(kept) - OVERLAP_BYTES, 0)) + 1
        yield kept[:done]
        rest = bytearray(kept[done:]) + (rest[end:] if end else b"")


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


def file_of(run: Run) -> str:
    """The name of the file of an import that it was read from; empty where it was not."""
    files = run.info.get("files")
    return str(files[run.repeat - 1]) if isinstance(files, list) and len(files) >= run.repeat else ""


def artefacts_of(run: Run, reader: Reader) -> list[Artefact]:
    """The files of a run and of the upload that it came with; those that it was read from are their owner's alone."""
    if run.upload_id is None:
        return list(run.artefacts.all())
    shown = Q(run=run) | Q(upload=run.upload_id)
    if isinstance(reader, User):
        read_from = Q(file_import__uploads=run.upload_id, name=file_of(run))
        shown |= read_from if sees_all(reader) else read_from & Q(file_import__owner=reader)
    return list(Artefact.objects.filter(shown).distinct())


def source_of(artefact: Artefact) -> SourceFile:
    """The file as importers read it; a large one is not held in memory."""
    if artefact.size_bytes <= STREAMED_BYTES:
        return SourceFile(artefact.name, content(artefact))
    return SourceFile.of(artefact.name, Path(artefact.file.path))


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
    kept = (Artefact, "file"), (FileImport, "reports"), (FileInParts, "file")
    named = {name for model, field in kept for name in model._default_manager.values_list(field, flat=True)}
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
    if not content.translate(None, _FIGURES):
        return content
    marked = ["utf-16"] if content.startswith(_WIDE) else []
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
    return _unpacked_name(name), bytes(unpacked)


def _unpacked_name(name: str) -> str:
    for ending in _PACKED_NAMES:
        name = name.removesuffix(ending)
    return name


def _kept_name(name: str) -> str:
    return clean(PurePosixPath(name.replace("\\", "/")).name or "unnamed", 255)

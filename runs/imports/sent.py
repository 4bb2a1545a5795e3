"""Files as they are sent: measured piece by piece before anything is kept, and laid aside where they are large.

What counts is what they hold unpacked: a small archive may hold much.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from benchagent.importers import SourceFile, streaming_from
from benchagent.importers.source import GZIP_MAGIC, PIECE_BYTES, NotUnderstood, unpacked_pieces
from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage

from runs.models import FileInParts
from runs.run.artefacts import MAX_ARTEFACT_BYTES, WAITING

MAX_FILES = 500
MAX_TOTAL_BYTES = 128 * 1024 * 1024
MB = 1024**2
# No log of measurements packs better (gzip -9 makes of pgbench's a fifth).
MAX_RATIO = 50


class BadFiles(ValueError):
    """Files that are not taken; the text says why."""


class TooManyWait(BadFiles):
    """More of this person's files wait to be read than may; later they are taken."""


@dataclass(frozen=True)
class Sent:
    """A file that can be read and rewound: no more of it is held in memory than a piece. It may have come in parts."""

    name: str
    content: IO[bytes]
    in_parts: FileInParts | None = None


@dataclass(frozen=True)
class Measured:
    """`digest`: SHA-256 over names and contents, in whatever order they came. `size_bytes`: of all, unpacked."""

    digest: str
    size_bytes: int


def measured(files: Sequence[Sent]) -> Measured:
    """Raises BadFiles when there is nothing in the files or too much."""
    if not files:
        raise BadFiles("No file was sent.")
    if len(files) > MAX_FILES:
        raise BadFiles(f"At most {MAX_FILES} files at once; these are {len(files)}.")
    marks, empty, total, streamed = [], [], 0, 0
    for file in files:
        content = _Content(file.content)
        for size_bytes in content.sizes():
            if size_bytes <= MAX_ARTEFACT_BYTES and max(total, streamed) + size_bytes <= MAX_TOTAL_BYTES:
                continue
            if content.is_streamed:
                _check_streamed(file.name, content, size_bytes, streamed + size_bytes)
            elif size_bytes > MAX_ARTEFACT_BYTES:
                unpacked = " once it is unpacked" if content.is_packed else ""
                raise BadFiles(f"{file.name} is larger than {MAX_ARTEFACT_BYTES // MB} MB{unpacked}. Send parts of it.")
            elif total + size_bytes > MAX_TOTAL_BYTES:
                raise BadFiles(
                    f"At most {MAX_TOTAL_BYTES // MB} MB at once, counted unpacked. Send fewer files at once."
                )
        if content.is_packed_twice:
            raise BadFiles(f"{file.name} is packed twice. Unpack it once.")
        if content.is_streamed:
            streamed += content.size_bytes
        else:
            total += content.size_bytes
        empty += [] if content.sent_bytes else [file.name]
        marks.append([file.name, content.digest.hexdigest()])
    if len(empty) == len(files):  # one among others is said to be no result, as it is
        raise BadFiles(f"Empty: {', '.join(empty[:5])}.")
    return Measured(hashlib.sha256(json.dumps(sorted(marks)).encode()).hexdigest(), total + streamed)


def _check_streamed(name: str, content: _Content, size_bytes: int, streamed_bytes: int) -> None:
    most_mb: int = settings.IMPORT_STREAMED_MB
    if streamed_bytes > most_mb * MB:
        raise BadFiles(f"At most {most_mb:,} MB of logs at once, counted unpacked. Send fewer files at once.")
    if size_bytes > max(MAX_ARTEFACT_BYTES, MAX_RATIO * content.sent_bytes):
        raise BadFiles(f"{name} is packed more than {MAX_RATIO} times, as no log is. Send it as the tool wrote it.")


class _Content:
    """Reads a file once. `size_bytes`: unpacked where it is gzip, else as sent, as a broken archive is kept."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.digest, self.sent_bytes, self.size_bytes = file, hashlib.sha256(), 0, 0
        self.is_packed = self.is_packed_twice = False
        # How it begins, unpacked where it is gzip.
        self._head = b""

    @cached_property
    def is_streamed(self) -> bool:
        """Whether it begins as a log that an importer reads as a stream; to be asked once it is read so far."""
        return streaming_from(SourceFile("", self._head[: self._head.rfind(b"\n") + 1])) is not None

    def sizes(self) -> Iterator[int]:
        """The size so far, after each piece. Whoever has seen enough stops asking."""
        pieces, unpacked_bytes = self._pieces(), 0
        self.is_packed = self._file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        self._file.seek(0)
        try:
            for piece in unpacked_pieces(pieces) if self.is_packed else ():
                self.is_packed_twice |= not unpacked_bytes and piece.startswith(GZIP_MAGIC)
                unpacked_bytes += len(piece)
                self._head += piece[: PIECE_BYTES - len(self._head)]
                yield unpacked_bytes
            self.size_bytes = unpacked_bytes
        except NotUnderstood:
            self.is_packed = self.is_packed_twice = False
        for _ in pieces:
            yield self.sent_bytes
        if not self.is_packed:
            self.size_bytes = self.sent_bytes

    def _pieces(self) -> Iterator[bytes]:
        self._file.seek(0)
        while piece := self._file.read(PIECE_BYTES):
            self.sent_bytes += len(piece)
            self.digest.update(piece)
            if not self.is_packed:
                self._head += piece[: PIECE_BYTES - len(self._head)]
            yield piece


# Files wait here, as they came, until the secrets are taken out of them.


def lay_aside(import_id: uuid.UUID, files: Sequence[Sent]) -> None:
    try:
        for position, file in enumerate(files):
            if file.in_parts:
                # A second name of it: the first stays until its sender has heard of the import.
                path = laid_aside(import_id, position)
                path.parent.mkdir(parents=True, exist_ok=True)
                os.link(file.in_parts.file.path, path)
            else:
                file.content.seek(0)
                # What lies on the disk is moved, not copied.
                content = file.content if hasattr(file.content, "temporary_file_path") else File(file.content)
                default_storage.save(_waiting(import_id, position), content)
    except Exception:
        clear_away(import_id)
        raise


def laid_aside(import_id: uuid.UUID, position: int) -> Path:
    return Path(default_storage.path(_waiting(import_id, position)))


def is_laid_aside(import_id: uuid.UUID) -> bool:
    return default_storage.exists(_waiting(import_id))


def clear_away(import_id: uuid.UUID) -> None:
    if not is_laid_aside(import_id):
        return
    for name in default_storage.listdir(_waiting(import_id))[1]:
        default_storage.delete(f"{_waiting(import_id)}/{name}")
    default_storage.delete(_waiting(import_id))


def _waiting(import_id: uuid.UUID, *position: Any) -> str:
    return "/".join([*WAITING, str(import_id), *map(str, position)])

"""How an import is read: its files lose their secrets and are kept, then read; what they say is kept beside the row.

Small files are read at once, by whoever sent them; large ones by `runs.imports.worker`, in the same steps. The row is
the truth: `attempts` tells the present reader from one that was given up. Nothing is read within a transaction.
"""

from __future__ import annotations

import gzip
import itertools
import json
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchagent.importers import NotUnderstood, Report, SourceFile, inspect, plain_csv
from benchagent.importers.report import MAX_REPORTS, not_understood
from django.core.files.base import ContentFile
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from pydantic import TypeAdapter

from runs.imports.columns import mapping_of
from runs.imports.sent import MB, BadFiles, clear_away, is_laid_aside, laid_aside
from runs.imports.storing import HeldRow, Reports, replace
from runs.imports.tools import tools_of
from runs.models import Artefact, FileImport, ToolDescription, User
from runs.models.choices import ImportState
from runs.run import artefacts

# Reading takes a third of a second a MB, up to two of what no tool writes, and keeps Python's one lock: a request may
# take so much of it.
LARGE_BYTES = MB // 2
# A tool that somebody described may be made to take twelve seconds a MB.
AS_LARGE_PER_TOOL = 10
# Imports of a person that are looked through for tables with the same headings.
LOOKED_THROUGH = 50
MAX_NAME = 255
MAX_REPORTS_BYTES = 64 * MB
TELL_EVERY_S = 1.0
_KEPT_REPORTS = TypeAdapter(list[tuple[str, Report]])


def is_large(size_bytes: int, owner: User | None) -> bool:
    described = ToolDescription.objects.filter(owner=owner).count() if owner else 0
    return size_bytes * (1 + AS_LARGE_PER_TOOL * described) > LARGE_BYTES


def waiting_row(names: Sequence[str], size_bytes: int, owner: User | None) -> dict[str, Any]:
    """Columns of an import that is to be read: a small one is in the hands of who asks for it, a large one waits."""
    at_once = not is_large(size_bytes, owner)
    progress = {"files": list(names), "size_bytes": size_bytes}
    seen_at = timezone.now() if at_once else None
    return {"state": ImportState.READING, "progress": progress, "attempts": int(at_once), "seen_at": seen_at}


def begin(taken: FileImport, **changes: Any) -> None:
    """Have the kept files read, with other changes of its fields; as long as a worker has them its state says so.

    Raises BadFiles or ValidationError where small ones cannot be; then everything is as it was.
    """
    kept = list(taken.artefacts.order_by("position"))
    row = waiting_row([file.name for file in kept], sum(file.size_bytes for file in kept), taken.owner)
    before = {"state": taken.state, "problem": taken.problem, "subject": taken.subject, "progress": {}}
    others = FileImport.objects.filter(pk=taken.pk).exclude(state=ImportState.READING)
    is_ours = others.update(problem="", **row | changes)
    taken.refresh_from_db()
    if is_ours and taken.attempts:
        read_at_once(taken, lambda: held_row(taken).update(**before))


def read_at_once(taken: FileImport, undo: Callable[[], object]) -> None:
    """A small one, by whoever asks for it. Raises BadFiles or ValidationError once all is undone."""
    try:
        with suppress(FileImport.DoesNotExist):  # somebody else has it by now
            read_now(taken, held_row(taken))
    except DatabaseError:  # a worker takes it up
        raise
    except Exception:
        undo()
        raise
    taken.refresh_from_db()


def held_row(taken: FileImport) -> HeldRow:
    return FileImport.objects.filter(pk=taken.pk, attempts=taken.attempts, state=ImportState.READING)


def read_now(taken: FileImport, held: HeldRow) -> None:
    """All steps. Raises BadFiles, ValidationError; FileImport.DoesNotExist where it is not ours any more."""
    _keep(taken, held)
    reports, before = _read(taken, held), taken.reports.name
    text = json.dumps([(file.name, report) for file, report in reports], default=vars).encode()
    if len(text) > MAX_REPORTS_BYTES:
        raise BadFiles("The files hold more samples than are stored at once. Send fewer, or parts of them.")
    # Beside the row, which is not saved: `reports` names the file.
    taken.reports.save(f"{uuid.uuid4()}.json.gz", ContentFile(gzip.compress(text, 6)), save=False)
    try:
        replace(taken, reports, held=held)
    except Exception as error:
        if not artefacts.may_be_stored(error):
            taken.reports.delete(save=False)
        raise
    if before:
        taken.reports.storage.delete(before)


def _keep(taken: FileImport, held: HeldRow) -> None:
    """What was laid aside becomes artefacts without secrets, all of them or none."""
    if is_laid_aside(taken.pk) and not taken.artefacts.exists():
        progress, done_bytes, kept = _Progress(taken, held, "keep"), 0, list[Artefact]()
        try:
            for position, name in enumerate(taken.progress["files"]):
                progress.tell(name, done_bytes)
                tell = partial(progress.tell, name, done_bytes)
                path = laid_aside(taken.pk, position)
                kept.append(artefacts.prepared_from(path, name=name, position=position, tell=tell))
                kept[-1].file_import = taken
                kept[-1].name = _distinct(kept[-1].name, {other.name for other in kept[:-1]})
                done_bytes += kept[-1].size_bytes
            with transaction.atomic():
                if not held.update(seen_at=timezone.now()):
                    raise FileImport.DoesNotExist
                Artefact.objects.bulk_create(kept)
        except Exception as error:
            artefacts.discard_after(error, kept)
            raise
    clear_away(taken.pk)


def _distinct(name: str, others: Collection[str]) -> str:
    """What is said of a file is said by its name: a second one, of another folder, is `2-NAME`."""
    numbered = (f"{number}-{name}"[:MAX_NAME] for number in itertools.count(2))
    return name if name not in others else next(free for free in numbered if free not in others)


def _read(taken: FileImport, held: HeldRow) -> Reports:
    """Read the files by the columns as they are given at the end."""
    files, begun = [artefacts.source_of(kept) for kept in taken.artefacts.order_by("position")], list[SourceFile]()
    if not taken.subject and taken.stored_at is None and (columns := _known_columns(taken.owner, files)):
        held.filter(subject={}).update(subject=columns)
        taken.subject = held.values_list("subject", flat=True).get()
    progress = _Progress(taken, held, "read")

    def begin_file(file: SourceFile) -> None:
        begun.append(file)
        progress.tell(file.name, _read_bytes(begun))

    while True:
        mapping = taken.subject.get("mapping", {})
        begun.clear()
        with _telling(progress, begun):
            reports = _reports(files, mapping, begin_file, taken.owner)
        taken.subject = held.values_list("subject", flat=True).get()
        if taken.subject.get("mapping", {}) == mapping:
            return reports


def _known_columns(owner: User | None, files: Sequence[SourceFile]) -> dict[str, Any]:
    """What the columns of these tables are by what their owner said last of others with the same headings."""
    headings: dict[str, tuple[str, ...]] = {}
    for file in files:
        with suppress(NotUnderstood):
            if table := plain_csv.table_of(file.head):
                headings[file.name] = table.headings
    if not headings or owner is None:
        return {}
    earlier = FileImport.objects.filter(owner=owner, subject__has_key="mapping").order_by("-created_at")
    by_headings: dict[tuple[str, ...], Any] = {}
    for subject in earlier.values_list("subject", flat=True)[:LOOKED_THROUGH]:
        for mapping in subject["mapping"].values():
            by_headings.setdefault(tuple(column["heading"] for column in mapping["columns"]), mapping)
    mapping = {name: by_headings[row] for name, row in headings.items() if row in by_headings}
    return {"mapping": mapping} if mapping else {}


def _reports(
    files: Sequence[SourceFile], mapping: dict[str, Any], begin_file: Callable[[SourceFile], None], owner: User | None
) -> Reports:
    """Every run of every file. `mapping`: which column is what, by the name of a CSV file."""
    reports: Reports = []
    for file, proposed in inspect(files, begin_file, tools_of(owner)):
        runs: Sequence[Report] = proposed
        if file.name in mapping:
            try:
                runs = plain_csv.read_mapped(file, mapping_of(mapping[file.name]))
            except NotUnderstood as error:
                runs = [not_understood(error, tool=plain_csv.TOOL)]
        reports += [(file, run) for run in runs]
    if len(reports) > MAX_REPORTS:
        raise BadFiles(f"The files hold {len(reports):,} runs; at most {MAX_REPORTS:,} are read at once. Send parts.")
    return reports


def reports_of(taken: FileImport) -> Reports:
    """What its files said when they were read last."""
    with taken.reports.open("rb") as packed:
        pairs = _KEPT_REPORTS.validate_json(gzip.decompress(packed.read()))
    return [(SourceFile(name, b""), report) for name, report in pairs]


# How far it is


def _read_bytes(begun: Sequence[SourceFile]) -> int:
    """Unpacked, of the lines that are read; of files without lines as they are kept, once another is begun."""
    done = sum(max(file.read_bytes, file.size_bytes) for file in begun[:-1])
    return done + (begun[-1].read_bytes if begun else 0)


@dataclass
class _Progress:
    """How far the files are kept without their secrets (`keep`), then read (`read`): told once a second at most."""

    taken: FileImport
    held: HeldRow
    step: str
    began: float = field(default_factory=time.monotonic)
    told_at: float = field(default_factory=time.monotonic)

    def tell(self, file: str, before_bytes: int, of_file_bytes: int = 0) -> None:
        """Raises FileImport.DoesNotExist where it is not ours any more."""
        self.taken.progress["file"] = file
        now, done_bytes = time.monotonic(), before_bytes + of_file_bytes
        if now - self.told_at < TELL_EVERY_S:
            return
        self.told_at, bytes_per_s = now, done_bytes / (now - self.began)
        left_bytes = self.taken.progress.get("size_bytes", 0) - done_bytes
        self.taken.progress |= {
            "step": self.step, "read_bytes": done_bytes, "bytes_per_s": round(bytes_per_s),
            "left_s": round(left_bytes / bytes_per_s) if bytes_per_s > 1 and left_bytes >= 0 else None,
        }  # fmt: skip
        if not self.held.update(progress=self.taken.progress):
            raise FileImport.DoesNotExist


@contextmanager
def _telling(progress: _Progress, begun: list[SourceFile]) -> Iterator[None]:
    """Every second, from another thread, how far the file is read that was begun last."""
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(TELL_EVERY_S):
            with suppress(DatabaseError, FileImport.DoesNotExist):  # who reads notices it, too
                if begun:
                    progress.tell(begun[-1].name, _read_bytes(begun))
        connection.close()

    threading.Thread(target=tell, name="progress", daemon=True).start()
    try:
        yield
    finally:
        ended.set()

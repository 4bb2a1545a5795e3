"""The steps of an import: files are taken, completed by a person, stored as runs, read again, or forgotten.

Secrets are taken out of what is kept. All of an import is stored or nothing. Nothing is read within a transaction, and
large files not in a request either: `runs.imports.worker` reads them.
"""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from benchagent.importers import PARSER_VERSION, NotUnderstood, Report, SourceFile, as_json, inspect, plain_csv
from benchagent.importers.report import MAX_REPORTS, becomes_a_run, lacks, not_understood
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone
from pydantic import TypeAdapter
from rest_framework.exceptions import APIException, ValidationError

from runs import results, space
from runs.imports.documents import checked, document, repeats_of, with_failures_expected
from runs.imports.parts import note_used
from runs.imports.sent import (
    MAX_TOTAL_BYTES,
    MB,
    BadFiles,
    Measured,
    Sent,
    TooManyWait,
    clear_away,
    lay_aside,
    measured,
)
from runs.imports.tools import tools_of
from runs.models import ApiToken, Artefact, Batch, FileImport, Run, ToolDescription, Upload, User
from runs.models.choices import ImportState
from runs.models.visible import sees_all
from runs.results import staged
from runs.results.document import MAX_RESULTS, MAX_RUNS
from runs.results.upload import RUNS_AT_ONCE
from runs.run import artefacts

# Reading takes a third of a second a MB, up to two of what no tool writes, and keeps Python's one lock: a request may
# take so much of it.
LARGE_BYTES = MB // 2
# A tool that somebody described may be made to take twelve seconds a MB.
AS_LARGE_PER_TOOL = 10
# Large imports of one person at a time; what they hold: the largest log, and files of a usual size beside it.
MAX_WAITING = 5
# Imports of a person that are looked through for tables with the same headings.
REMEMBERED = 50
MAX_REPORTS_BYTES = 64 * MB
Reports = list[tuple[SourceFile, Report]]
# The row of an import as long as it is ours to change.
Mine = QuerySet[FileImport]
_KEPT_REPORTS = TypeAdapter(list[tuple[str, Report]])


class StillRead(APIException):
    """What a worker reads at this moment cannot be stored yet."""

    status_code = 409
    default_detail = "The files are still being read. Store them when that is done."
    default_code = "still_read"


def take(*, files: Sequence[Sent], owner: User) -> tuple[FileImport, bool]:
    """Keep and read these files. -> (import, whether it is new): the same files of the same person are one import.

    Small files are read at once, before the database is asked to keep anything; large ones wait for a worker.
    Raises BadFiles when there is nothing in them or too much.
    """
    sent = measured(files)
    taken, is_new = _taken(files, sent, owner)
    note_used(files)
    return taken, is_new


def _taken(files: Sequence[Sent], sent: Measured, owner: User) -> tuple[FileImport, bool]:
    earlier = FileImport.objects.filter(owner=owner, digest=sent.digest).first()
    if earlier is not None and earlier.state != ImportState.FAILED:
        return earlier, False
    if earlier is not None:
        forget(earlier)
    taken = FileImport(owner=owner, digest=sent.digest, parser_version=PARSER_VERSION)
    try:
        if _are_large(sent.size_bytes, owner):
            _leave_to_worker(taken, files, sent.size_bytes, owner)
        else:
            _take_small(taken, files)
    except IntegrityError:
        # The same files came twice at the same moment.
        return FileImport.objects.get(owner=owner, digest=sent.digest), False
    return taken, True


def _take_small(taken: FileImport, files: Sequence[Sent]) -> None:
    kept: list[Artefact] = []
    try:
        for position, file in enumerate(files):
            file.content.seek(0)
            kept.append(artefacts.prepared(name=file.name, content=file.content.read(), position=position))
        files_read = [SourceFile(each.name, artefacts.content(each)) for each in kept]
        taken.subject = remembered(taken.owner, files_read)
        taken.items = items_of(read(files_read, taken.subject.get("mapping", {}), owner=taken.owner))
        with transaction.atomic():
            taken.save(force_insert=True)
            for each in kept:
                each.file_import = taken
            Artefact.objects.bulk_create(kept)
    except Exception as error:
        artefacts.discard_after(error, kept)
        raise


def remembered(owner: User | None, files: Sequence[SourceFile]) -> dict[str, Any]:
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
    for subject in earlier.values_list("subject", flat=True)[:REMEMBERED]:
        for mapping in subject["mapping"].values():
            by_headings.setdefault(tuple(column["heading"] for column in mapping["columns"]), mapping)
    mapping = {name: by_headings[row] for name, row in headings.items() if row in by_headings}
    return {"mapping": mapping} if mapping else {}


def _leave_to_worker(taken: FileImport, files: Sequence[Sent], size_bytes: int, owner: User) -> None:
    _check_waiting(owner, size_bytes)
    if words := space.shortage(size_bytes):
        raise BadFiles(words)
    taken.state = ImportState.READING
    taken.progress = {"files": [file.name for file in files], "size_bytes": size_bytes}
    lay_aside(taken.id, files)
    try:
        with transaction.atomic():
            # Those that came at the same moment are counted one after another.
            User.objects.select_for_update().get(pk=owner.pk)
            _check_waiting(owner, size_bytes)
            taken.save(force_insert=True)
    except Exception as error:
        if not artefacts.may_be_stored(error):
            clear_away(taken.id)
        raise


def _check_waiting(owner: User, size_bytes: int) -> None:
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


def imports_of(person: User) -> QuerySet[FileImport]:
    """An import is its owner's; administrators see all. Others learn nothing of it, not even that it is there."""
    return FileImport.objects.all() if sees_all(person) else FileImport.objects.filter(owner=person)


def kept_files(taken: FileImport) -> list[SourceFile]:
    return [artefacts.source_of(kept) for kept in taken.artefacts.order_by("position")]


def read(
    files: Sequence[SourceFile],
    mapping: dict[str, Any],
    begin: Callable[[SourceFile], None] = lambda file: None,
    *,
    owner: User | None,
) -> Reports:
    """Every run of every file. `mapping`: which column is what, by the name of a CSV file. `begin`: told each file.

    `owner`: whose described tools are asked first.

    Raises BadFiles when there are too many.
    """
    reports: Reports = []
    for file, proposed in inspect(files, begin, tools_of(owner)):
        runs: Sequence[Report] = proposed
        if file.name in mapping:
            try:
                runs = plain_csv.read_mapped(file, plain_csv.Mapping.from_json(mapping[file.name]))
            except NotUnderstood as error:
                runs = [not_understood(error, tool=plain_csv.TOOL)]
        reports += [(file, run) for run in runs]
    if len(reports) > MAX_REPORTS:
        raise BadFiles(f"The files hold {len(reports):,} runs; at most {MAX_REPORTS:,} are read at once. Send parts.")
    return reports


def is_large(taken: FileImport) -> bool:
    size_bytes = taken.artefacts.aggregate(sum=Sum("size_bytes"))["sum"] or 0
    return _are_large(int(size_bytes), taken.owner)


def _are_large(size_bytes: int, owner: User | None) -> bool:
    described = ToolDescription.objects.filter(owner=owner).count() if owner else 0
    return size_bytes * (1 + AS_LARGE_PER_TOOL * described) > LARGE_BYTES


def begin_reading(taken: FileImport, **changes: Any) -> None:
    """Leave an import whose files are kept to a worker, with other changes of its fields."""
    files = list(taken.artefacts.order_by("position"))
    progress = {"files": [file.name for file in files], "size_bytes": sum(file.size_bytes for file in files)}
    news = {"state": ImportState.READING, "problem": "", "progress": progress, "attempts": 0, "seen_at": None} | changes
    FileImport.objects.filter(pk=taken.pk).exclude(state=ImportState.READING).update(**news)
    taken.refresh_from_db()


def keep_reports(taken: FileImport, reports: Reports) -> None:
    """Beside the row, which is not saved: `reports` names the file. Raises BadFiles when it is too large."""
    pairs = [(file.name, report) for file, report in reports]
    text = json.dumps(pairs, default=vars).encode()
    if len(text) > MAX_REPORTS_BYTES:
        raise BadFiles("The files hold more samples than are stored at once. Send fewer, or parts of them.")
    taken.reports.save(f"{uuid.uuid4()}.json.gz", ContentFile(gzip.compress(text, 6)), save=False)


def _reports(taken: FileImport, subject: dict[str, Any]) -> Reports:
    """What the files hold. Raises StillRead where a worker has to say it, or to say it anew by other columns."""
    mapping = subject.get("mapping", {})
    if not is_large(taken):
        return read(kept_files(taken), mapping, owner=taken.owner)
    if not taken.reports or mapping != taken.subject.get("mapping", {}):
        begin_reading(taken, subject=subject)
        raise StillRead
    with taken.reports.open("rb") as packed:
        pairs = _KEPT_REPORTS.validate_json(gzip.decompress(packed.read()))
    return [(SourceFile(name, b""), report) for name, report in pairs]


def items_of(reports: Reports) -> list[dict[str, Any]]:
    """What a preview shows, one entry a run of a file; `index` names it."""
    return [{"index": index, **as_json(file, report)} for index, (file, report) in enumerate(reports)]


class NotReady(ValidationError):
    """Something must be said first; the errors name the fields."""


def store(
    taken: FileImport, *, subject: dict[str, Any], owner: User, token: ApiToken | None = None
) -> tuple[list[Run], bool]:
    """Store an import as runs. -> (runs, whether they are new); one that is stored already stays as it is.

    Raises NotReady or ValidationError, naming the fields, or StillRead; then nothing is stored.
    """
    if taken.state == ImportState.READING:
        raise StillRead
    if taken.state == ImportState.FAILED:
        raise NotReady({"items": [taken.problem]})
    if taken.stored_at is not None:
        return runs_of(taken), False
    subject = checked(subject, before=taken.subject)
    mine = FileImport.objects.filter(pk=taken.pk, stored_at=None)
    return _store(taken, _reports(taken, subject), subject, owner=owner, token=token, mine=mine)


def _store(
    taken: FileImport,
    reports: Reports,
    subject: dict[str, Any],
    *,
    owner: User | None,
    token: ApiToken | None,
    mine: Mine,
) -> tuple[list[Run], bool]:
    items = items_of(reports)
    if lacking := lacks(items, subject):
        raise NotReady(lacking)
    now = timezone.now()
    expected = {*subject.get("failures_expected", [])}
    kept = [
        (file.name, with_failures_expected(report) if item["index"] in expected else report)
        for (file, report), item in zip(reports, items, strict=True)
        if becomes_a_run(item, subject)
    ]
    repeats = repeats_of(kept, subject)
    ids = [uuid.uuid5(taken.id, f"{now.isoformat()}:{number}") for number in range(len(repeats))]
    documents = [document(of_cell, subject, upload_id=id) for of_cell, id in zip(repeats, ids, strict=True)]
    taken.subject, taken.items, taken.parser_version, taken.stored_at = subject, items, PARSER_VERSION, now
    taken.state, taken.problem = ImportState.STORED, ""
    runs: list[Run] = []
    with staged.all_or_nothing(ids, is_large=len(kept) > RUNS_AT_ONCE):
        for some in _requests(documents):
            for outcome in results.store_uploads(
                documents=some, token=token, owner=owner, file_import=taken, is_staged=True
            ):
                if outcome.errors:
                    raise ValidationError(outcome.errors)
                runs += outcome.runs
        with transaction.atomic():
            # A second press of the button finds it stored.
            is_new = mine.update(stored_at=now, state=taken.state, problem="", progress={}) == 1
            if is_new:
                taken.save(update_fields=["subject", "items", "parser_version", "reports"])
                Run.objects.present().filter(upload__file_import=taken).update(deleted_at=now)
                staged.show(runs)
    return (runs, True) if is_new else (runs_of(taken), False)


def _requests(documents: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """As many of them at a time as the one door takes."""
    some: list[dict[str, Any]] = []
    runs = 0
    for each in documents:
        if some and (len(some) == MAX_RESULTS or runs + len(each["repeats"]) > MAX_RUNS):
            yield some
            some, runs = [], 0
        some.append(each)
        runs += len(each["repeats"])
    yield some


def say(taken: FileImport, subject: dict[str, Any]) -> None:
    """Keep what a person said about a draft. A new mapping of columns is applied at once; to large files by a worker.

    Raises ValidationError, and BadFiles where the files hold too much by these columns.
    """
    mapping, subject = taken.subject.get("mapping", {}), checked(subject, before=taken.subject)
    changes: dict[str, Any] = {"subject": subject}
    # Whoever reads at this moment looks at the columns once more at the end.
    if subject.get("mapping", {}) != mapping and taken.state != ImportState.READING:
        if is_large(taken):
            begin_reading(taken, **changes)
            return
        changes["items"] = items_of(read(kept_files(taken), subject["mapping"], owner=taken.owner))
    FileImport.objects.filter(pk=taken.pk).update(**changes)
    taken.subject, taken.items = subject, changes.get("items", taken.items)


def runs_of(taken: FileImport) -> list[Run]:
    return list(Run.objects.present().filter(upload__file_import=taken).order_by("created_at", "repeat", "id"))


def described(taken: FileImport) -> dict[str, Any]:
    """What is said of it now, which may have been edited since; nothing of a draft."""
    batch = Batch.objects.filter(pk=taken.pk).first()
    return {"label": batch.label, "tags": batch.tag_list, "tested": batch.tested} if batch else {}


def deleted_runs_of(taken: FileImport) -> list[Run]:
    """Where all runs of the import were deleted, the last ones: those before were replaced by them."""
    if taken.stored_at is None or runs_of(taken):
        return []
    last = Upload.objects.filter(file_import=taken, received_at__gte=taken.stored_at)
    return list(Run.objects.filter(upload__in=last).order_by("created_at", "repeat", "id"))


def read_again(taken: FileImport, *, owner: User, token: ApiToken | None = None) -> list[Run]:
    """Read the kept files with today's importers. A stored import's runs are replaced; the old ones can be restored.

    Where a worker reads them the import's `state` says so, and its runs are replaced when that is done.
    """
    if taken.state == ImportState.READING:
        return []
    if is_large(taken):
        begin_reading(taken)
        return []
    mine = FileImport.objects.filter(pk=taken.pk, state=taken.state, stored_at=taken.stored_at)
    reports = read(kept_files(taken), taken.subject.get("mapping", {}), owner=taken.owner)
    try:
        return replace(taken, reports, mine=mine, owner=owner, token=token)
    except FileImport.DoesNotExist:  # somebody else was faster
        return runs_of(taken)


def replace(
    taken: FileImport, reports: Reports, *, mine: Mine, owner: User | None, token: ApiToken | None = None
) -> list[Run]:
    """What was read before by what is read now, and of a stored import its runs.

    Raises FileImport.DoesNotExist where it is not `mine` any more.
    """
    if taken.stored_at is not None:
        runs, is_new = _store(taken, reports, checked(taken.subject), owner=owner, token=token, mine=mine)
        if not is_new:
            raise FileImport.DoesNotExist
        return runs
    taken.items, taken.parser_version = items_of(reports), PARSER_VERSION
    taken.state, taken.problem = ImportState.DRAFT, ""
    with transaction.atomic():
        if not mine.update(state=taken.state, problem="", progress={}):
            raise FileImport.DoesNotExist
        taken.save(update_fields=["items", "parser_version", "reports"])
    return []


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

"""What was read becomes runs: documents of the upload schema, through the one door, all of them or none."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from benchagent.importers import PARSER_VERSION, Report, SourceFile, as_json
from benchagent.importers.report import becomes_a_run, missing_details
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from runs import results
from runs.formatting import few_listed
from runs.imports.documents import Repeats, checked, document, repeats_of, with_failures_expected
from runs.models import ApiToken, FileImport, Run, User
from runs.models.choices import ImportState
from runs.results import copies, staged, upload
from runs.results.document import MAX_RESULTS, MAX_RUNS
from runs.results.upload import RUNS_AT_ONCE

Reports = list[tuple[SourceFile, Report]]
# The row of an import as long as it is ours to change.
HeldRow = QuerySet[FileImport]


class NotReady(ValidationError):
    """Something must be said first; the errors name the fields."""


def store(
    taken: FileImport,
    reports: Reports,
    subject: dict[str, Any],
    *,
    owner: User | None,
    token: ApiToken | None = None,
    held: HeldRow,
) -> tuple[list[Run], bool]:
    """-> (runs, whether they are new). Raises NotReady or ValidationError; then nothing is stored."""
    items = items_of(reports)
    if lacking := missing_details(items, subject):
        raise NotReady(lacking)
    now = timezone.now()
    cells = _cells(reports, items, subject)
    ids = [uuid.uuid5(taken.id, f"{now.isoformat()}:{number}") for number in range(len(cells))]
    documents = [document(of_cell, subject, upload_id=id) for of_cell, id in zip(cells, ids, strict=True)]
    taken.subject, taken.items, taken.parser_version, taken.stored_at = subject, items, PARSER_VERSION, now
    taken.state, taken.problem = ImportState.STORED, ""
    runs: list[Run] = []
    with staged.all_or_nothing(ids, is_large=sum(map(len, cells)) > RUNS_AT_ONCE):
        for some in _requests(documents):
            for outcome in results.store_uploads(
                documents=some, token=token, owner=owner, file_import=taken, is_staged=True
            ):
                if outcome.errors:
                    raise ValidationError(outcome.errors)
                runs += outcome.runs
        with transaction.atomic():
            # A second press of the button finds it stored.
            is_new = held.update(stored_at=now, state=taken.state, problem="", progress={}) == 1
            if is_new:
                taken.save(update_fields=["subject", "items", "parser_version", "reports"])
                Run.objects.present().filter(upload__file_import=taken).update(deleted_at=now)
                staged.show(runs)
                copies.hand_over(Run.objects.filter(upload__file_import=taken, deleted_at=now))
    return (runs, True) if is_new else (runs_of(taken), False)


def _cells(reports: Reports, items: Sequence[dict[str, Any]], subject: dict[str, Any]) -> list[Repeats]:
    expected = {*subject.get("failures_expected", [])}
    kept = [
        (file.name, with_failures_expected(report) if item["index"] in expected else report)
        for (file, report), item in zip(reports, items, strict=True)
        if becomes_a_run(item, subject)
    ]
    return repeats_of(kept, subject)


def disagreements(taken: FileImport, reports: Reports) -> list[str]:
    """Which files of a draft hold what contradicts itself, and how: it is understood, and will count nowhere. Of what
    is not a draft as it was read nothing is said.
    """
    if len(reports) != len(taken.items):
        return []
    files: dict[str, dict[str, None]] = {}
    for of_cell in _cells(reports, taken.items, taken.subject):
        made = document(of_cell, taken.subject, upload_id=taken.id)
        if made["outcome"] == "finished":
            for (file, _), why in zip(of_cell, upload.disagreements(made), strict=False):
                files.setdefault(why, {})[file] = None
    files.pop("", None)
    return [f"{few_listed([*of])} {why}. It can be stored, as invalid: it counts nowhere" for why, of in files.items()]


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


def replace(taken: FileImport, reports: Reports, *, held: HeldRow) -> None:
    """What was read before by what is read now, and of a stored import its runs.

    Raises FileImport.DoesNotExist where it is not `held` any more.
    """
    if taken.stored_at is not None:
        if not store(taken, reports, checked(taken.subject), owner=taken.owner, held=held)[1]:
            raise FileImport.DoesNotExist
        return
    taken.items, taken.parser_version = items_of(reports), PARSER_VERSION
    taken.state, taken.problem = ImportState.DRAFT, ""
    with transaction.atomic():
        if not held.update(state=taken.state, problem="", progress={}):
            raise FileImport.DoesNotExist
        taken.save(update_fields=["items", "parser_version", "reports"])


def items_of(reports: Reports) -> list[dict[str, Any]]:
    """What a preview shows, one entry a run of a file; `index` names it."""
    return [{"index": index, **as_json(file, report)} for index, (file, report) in enumerate(reports)]


def runs_of(taken: FileImport) -> list[Run]:
    return list(Run.objects.present().filter(upload__file_import=taken).order_by("created_at", "repeat", "id"))

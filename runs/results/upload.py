"""Results that somebody else measured: many documents in, each stored whole or not at all, an answer for each.

Names are resolved once for all documents and rows are written many at a time: the cost of a document is that of
reading it and of its rows.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import uuid
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from rest_framework.exceptions import ValidationError

from runs.incoming.reading import read
from runs.models import ApiToken, FileImport, Run, Upload, User
from runs.results import rows
from runs.results.document import MAX_RESULTS, MAX_RUNS, UPLOAD, UploadDocument
from runs.results.subjects import Known

ATTEMPTS = 3
# Longer series enter the digest as their bytes: writing a million numbers as text takes a second.
LONG_SERIES = 10_000
NEVER_LONG = 10**9


@dataclass
class UploadOutcome:
    """What became of a document. `status`: created, same (it is there already), conflict (another body) or invalid.

    `id` is the document's, None where it has none. `errors`: path of each wrong field -> what is wrong with it.
    """

    status: str = ""
    id: uuid.UUID | None = None
    runs: list[Run] = field(default_factory=list)
    errors: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Item:
    """A document on its way: it waits while its outcome has no status. `data` is what was read of it, if it was."""

    document: Any
    outcome: UploadOutcome = field(default_factory=UploadOutcome)
    data: UploadDocument = field(init=False)
    digest: str = ""


def store_upload(
    *,
    document: Any,
    token: ApiToken | None = None,
    owner: User | None = None,
    file_import: FileImport | None = None,
) -> UploadOutcome:
    """Store a result document. The same id with the same body is stored once. `owner` is the token's where not given.

    Raises rest_framework's ValidationError, which names the field, for anything that is not a valid document.
    """
    outcome = store_uploads(documents=[document], token=token, owner=owner, file_import=file_import)[0]
    if outcome.status == "invalid":
        raise ValidationError(outcome.errors)
    return outcome


def store_uploads(
    *,
    documents: Sequence[Any],
    token: ApiToken | None = None,
    owner: User | None = None,
    file_import: FileImport | None = None,
) -> list[UploadOutcome]:
    """Store many documents, each whole or not at all; the answers are in their order.

    Raises ValidationError naming `results` when there are more than one request may carry.
    """
    if len(documents) > MAX_RESULTS:
        raise ValidationError({"results": [f"At most {MAX_RESULTS:,} results are allowed in one request."]})
    items = [_read(document) for document in documents]
    if sum(len(item.data.repeats) for item in items if not item.outcome.status) > MAX_RUNS:
        raise ValidationError({"results": [f"At most {MAX_RUNS:,} repeats are allowed in one request."]})
    owner = owner or (token.owner if token else None)
    failures = 0
    while waiting := [item for item in items if not item.outcome.status]:
        _answer_stored(waiting)
        batch = [item for item in waiting if not item.outcome.status]
        batch = list({item.data.id: item for item in reversed(batch)}.values())[::-1]
        try:
            _store(batch if failures < ATTEMPTS else batch[:1], rows.Rows(token, owner, file_import))
        except IntegrityError:
            # Somebody made the same name, or stored the same id, at the same moment: now it can be found.
            failures += 1
            if failures > ATTEMPTS + len(items):
                raise
    return [item.outcome for item in items]


def _read(document: Any) -> _Item:
    item = _Item(document)
    if not isinstance(document, dict):
        item.outcome = UploadOutcome("invalid", errors={"detail": "A JSON object is required."})
        return item
    with contextlib.suppress(ValueError):
        item.outcome.id = uuid.UUID(document["id"]) if isinstance(document.get("id"), str) else None
    try:
        item.data = read(UPLOAD, document)
    except ValidationError as error:
        item.outcome = UploadOutcome("invalid", item.outcome.id, errors=_by_field(error))
    else:
        item.digest = digest_of(document)
    return item


def digest_of(document: dict[str, Any], *, long_series: int = LONG_SERIES) -> str:
    """SHA-256 of a document that was read, whatever the order of its keys."""
    repeats = [
        {
            **repeat,
            "series": [
                {**row, "values": _digest_of_values(row["values"])} if len(row["values"]) > long_series else row
                for row in repeat["series"]
            ],
        }
        if "series" in repeat
        else repeat
        for repeat in document["repeats"]
    ]
    return hashlib.sha256(json.dumps({**document, "repeats": repeats}, sort_keys=True).encode()).hexdigest()


def _digest_of_values(values: list[float | None]) -> str:
    numbers = array("d", [math.nan if value is None else value for value in values])
    return hashlib.sha256(numbers.tobytes()).hexdigest()


def _answer_stored(items: Sequence[_Item]) -> None:
    """Documents whose id is there already: the same body, or another."""
    uploads = Upload.objects.defer("document").in_bulk([item.data.id for item in items])
    if not uploads:
        return
    runs: dict[uuid.UUID | None, list[Run]] = {}
    for run in Run.objects.filter(upload__in=uploads).only("id", "upload_id", "repeat").order_by("repeat"):
        runs.setdefault(run.upload_id, []).append(run)
    for item in items:
        if (upload := uploads.get(item.data.id)) is not None:
            # Before, long series did not enter the digest as bytes.
            same = upload.digest == item.digest or upload.digest == digest_of(item.document, long_series=NEVER_LONG)
            item.outcome = UploadOutcome("same" if same else "conflict", upload.id, runs.get(upload.id, []))


def _by_field(error: ValidationError) -> dict[str, Any]:
    return error.detail if isinstance(error.detail, dict) else {"detail": " ".join(map(str, error.detail))}


def _store(items: Sequence[_Item], written: rows.Rows) -> None:
    """All of these in one transaction; those that contradict what is stored are answered and left out."""
    if not items:
        return
    answers: list[tuple[_Item, UploadOutcome]] = []
    try:
        with transaction.atomic():
            known = Known([item.data for item in items], written.owner)
            for item in items:
                try:
                    known.check(item.data)
                    made = written.add(item.data, item.document, item.digest, known)
                except ValidationError as error:
                    answers.append((item, UploadOutcome("invalid", item.data.id, errors=_by_field(error))))
                else:
                    answers.append((item, UploadOutcome("created", item.data.id, made)))
            written.write()
    except Exception:
        written.discard_files()
        raise
    for item, outcome in answers:
        item.outcome = outcome

"""Results that somebody else measured: many documents in, each stored whole or not at all, an answer for each.

Names are resolved once for all documents and rows are written many at a time: the cost of a document is that of
reading it and of its rows.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from rest_framework.exceptions import ValidationError

from runs.incoming.reading import read
from runs.models import ApiToken, FileImport, Run, Upload, User
from runs.results import rows, subjects
from runs.results.document import MAX_RESULTS, MAX_RUNS, UPLOAD, UploadDocument
from runs.results.known import Known

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
    """A document on its way. `data` is what was read of it, not set when that failed."""

    document: Any
    outcome: UploadOutcome = field(default_factory=UploadOutcome)
    data: UploadDocument = field(init=False)
    digest: str = ""

    @property
    def waits(self) -> bool:
        return not self.outcome.status


@dataclass(frozen=True)
class Origin:
    """Who sends documents, and out of which files they were made."""

    token: ApiToken | None = None
    owner: User | None = None
    file_import: FileImport | None = None


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
    items = [_Item(document) for document in documents]
    _read(items)
    if sum(len(item.data.repeats) for item in items if item.waits) > MAX_RUNS:
        raise ValidationError({"results": [f"At most {MAX_RUNS:,} repeats are allowed in one request."]})
    origin = Origin(token, owner or (token.owner if token else None), file_import)
    failures = 0
    while waiting := [item for item in items if item.waits]:
        _answer_stored(waiting)
        batch = list({item.data.id: item for item in reversed(waiting) if item.waits}.values())[::-1]
        try:
            _store(batch if failures < ATTEMPTS else batch[:1], origin)
        except IntegrityError:
            # Somebody made the same name, or stored the same id, at the same moment: now it can be found.
            failures += 1
            if failures > ATTEMPTS + len(items):
                raise
    return [item.outcome for item in items]


def _read(items: Iterable[_Item]) -> None:
    for item in items:
        if not isinstance(item.document, dict):
            item.outcome = UploadOutcome("invalid", errors={"detail": "A JSON object is required."})
            continue
        item.outcome.id = _id_of(item.document)
        try:
            item.data = read(UPLOAD, item.document)
        except ValidationError as error:
            item.outcome = UploadOutcome("invalid", item.outcome.id, errors=_by_field(error))
        else:
            item.digest = digest_of(item.document)


def _id_of(document: dict[str, Any]) -> uuid.UUID | None:
    try:
        return uuid.UUID(document["id"]) if isinstance(document.get("id"), str) else None
    except ValueError:
        return None


def digest_of(document: dict[str, Any], *, long_series: int = LONG_SERIES) -> str:
    """SHA-256 of the document, whatever the order of its keys."""
    text = json.dumps(_shortened(document, long_series), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _shortened(document: dict[str, Any], long_series: int) -> dict[str, Any]:
    repeats = document.get("repeats")
    if not isinstance(repeats, list):
        return document
    short = [_shortened_repeat(repeat, long_series) for repeat in repeats]
    return document if short == repeats else {**document, "repeats": short}


def _shortened_repeat(repeat: Any, long_series: int) -> Any:
    series = repeat.get("series") if isinstance(repeat, dict) else None
    if not isinstance(series, list) or not any(_is_long(one, long_series) for one in series):
        return repeat
    return {
        **repeat,
        "series": [
            {**one, "values": rows.digest_of_values(one["values"])} if _is_long(one, long_series) else one
            for one in series
        ],
    }


def _is_long(series: Any, long_series: int) -> bool:
    values = series.get("values") if isinstance(series, dict) else None
    return isinstance(values, list) and len(values) > long_series


def _answer_stored(items: Sequence[_Item]) -> None:
    """Documents whose id is there already: the same body, or another."""
    uploads = Upload.objects.defer("document").in_bulk([item.data.id for item in items])
    if not uploads:
        return
    runs: dict[uuid.UUID | None, list[Run]] = {}
    for run in Run.objects.filter(upload__in=uploads).only("id", "upload_id", "repeat").order_by("repeat"):
        runs.setdefault(run.upload_id, []).append(run)
    for item in items:
        upload = uploads.get(item.data.id)
        if upload is not None:
            same = upload.digest in (item.digest, _first_digest(item, upload))
            item.outcome = UploadOutcome("same" if same else "conflict", upload.id, runs.get(upload.id, []))


def _first_digest(item: _Item, upload: Upload) -> str:
    """The digest as it was before long series entered it as bytes."""
    return item.digest if upload.digest == item.digest else digest_of(item.document, long_series=NEVER_LONG)


def _by_field(error: ValidationError) -> dict[str, Any]:
    return error.detail if isinstance(error.detail, dict) else {"detail": " ".join(map(str, error.detail))}


def _store(items: Sequence[_Item], origin: Origin) -> None:
    """All of these in one transaction; those that contradict what is stored are answered and left out."""
    if not items:
        return
    written = rows.Rows(origin.token, origin.owner, origin.file_import)
    answers: list[tuple[_Item, UploadOutcome]] = []
    try:
        with transaction.atomic():
            known = Known([item.data for item in items], origin.owner)
            for item in items:
                try:
                    subjects.check(item.data, known)
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

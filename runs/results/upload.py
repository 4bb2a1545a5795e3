"""Results that somebody else measured: many documents in, each stored whole or not at all, an answer for each.

Names are resolved once for all documents and rows are written many at a time: the cost of a document is that of
reading it and of its rows.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import math
import time
import uuid
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from benchagent.catalog import METRICS, too_many_failed
from benchagent.configfiles.meaning import unread_values
from benchagent.configfiles.settings import Given
from benchagent.protocol import Check
from benchagent.redaction import is_suspicious, redact_json, redact_text, redact_value
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import TypeAdapter
from pydantic import ValidationError as Refused
from rest_framework.exceptions import ValidationError

from runs.incoming.reading import read
from runs.models import (
    ApiToken,
    Artefact,
    Batch,
    FileImport,
    Measurement,
    Run,
    RunFactor,
    RunStorage,
    SeriesChunk,
    Upload,
    User,
    cell_key,
)
from runs.models.choices import Provenance, RunState
from runs.models.runs import STAGED_AT
from runs.models.visible import may_open
from runs.results import copies
from runs.results.document import (
    MAX_RESULTS,
    MAX_RUNS,
    OUTCOMES,
    SCHEMA_VERSION,
    Factors,
    Repeat,
    UploadArtefact,
    UploadDocument,
    UploadRepeat,
)
from runs.results.names import OPPOSITE
from runs.results.rows import insert, pause_for_writers
from runs.results.subjects import Resolver, Subjects
from runs.run import agreement, artefacts, durability, quality, series
from runs.run.latency import percentiles_ms

# What the sender says of its own, in a form of its own.
FREE = ("driver", "dataset", "context", "info")
ATTEMPTS = 3
# A transaction stores so many runs: less than a tenth of a second, in which nobody else can write to SQLite.
RUNS_AT_ONCE = 25
# Longer series enter the digest as their bytes: writing a million numbers as text takes a second.
LONG_SERIES = 10_000
SQL_ENDING = ".sql"
_FACTORS: TypeAdapter[Factors] = TypeAdapter(Factors)
_REPEATS: TypeAdapter[list[UploadRepeat]] = TypeAdapter(list[Repeat])
OF_HISTOGRAM = "computed from the histogram of latencies"


def without_secrets(data: UploadDocument) -> UploadDocument:
    """The read document with the secrets taken out of every text; configurations see to theirs themselves."""
    lines = {name: [redact_text(line) for line in getattr(data, name)] for name in ("command_lines", "warnings")}
    texts = {name: redact_text(getattr(data, name)) for name in ("note", "message")}
    free = {name: redact_json(getattr(data, name)) for name in FREE}
    factors = {
        name: {**factor, "value": redact_text(factor["value"])} if isinstance(factor["value"], str) else factor
        for name, factor in data.factors.items()
    }
    return data.model_copy(update={**lines, **texts, **free, "factors": factors})


@dataclass
class UploadOutcome:
    """What became of a document. `status`: created, same (it is there already), deleted (it was there, and runs of it
    were deleted), conflict (another body) or invalid.

    `id` is the document's, None where it has none. `errors`: path of each wrong field -> what is wrong with it.
    """

    status: str = ""
    id: uuid.UUID | None = None
    runs: list[Run] = field(default_factory=list)
    errors: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Item:
    """A document on its way: it waits while its outcome has no status. `position`: in its request. `data` is what was
    read of it, if it was.

    What `get_ready` makes: `clean`, the same without secrets, `kept`, what is kept of the document, `files`, which are
    on the disk, and `packed`, by repeat the columns of each series.
    """

    document: Any
    position: int
    outcome: UploadOutcome = field(default_factory=UploadOutcome)
    data: UploadDocument = field(init=False)
    digest: str = ""
    clean: UploadDocument = field(init=False)
    kept: dict[str, Any] = field(init=False)
    files: list[Artefact] = field(default_factory=list)
    packed: list[list[dict[str, Any]]] = field(default_factory=list)

    def get_ready(self) -> None:
        """What takes long, before the transaction in which nobody else can write to SQLite. Raises ValidationError."""
        data, kept = self.data, _without_bulk(self.document)
        contents = [_content(index, given) for index, given in enumerate(data.artefacts)]
        is_clean = not is_suspicious(repr(kept))
        self.clean, self.kept = (data, kept) if is_clean else (without_secrets(data), redact_json(kept))
        self.packed = [[series.packed(given.values) for given in repeat["series"]] for repeat in data.repeats]
        self.files = []
        for position, (given, content) in enumerate(zip(data.artefacts, contents, strict=True), 1):
            self.files.append(
                artefacts.prepared(name=given.name, content=content, media_type=given.media_type, position=position)
            )

    def refuse(self, error: ValidationError) -> None:
        errors = error.detail if isinstance(error.detail, dict) else {"detail": " ".join(map(str, error.detail))}
        self.outcome = UploadOutcome("invalid", self.outcome.id, errors=errors)


def store_uploads(
    *,
    documents: Sequence[Any],
    token: ApiToken | None = None,
    owner: User | None = None,
    file_import: FileImport | None = None,
    is_staged: bool = False,
) -> list[UploadOutcome]:
    """Store many documents, each whole or not at all; the answers are in their order. The same id with the same body is
    stored once. `owner` is the token's where not given. `is_staged`: to be shown later (`runs.results.staged`).

    Raises ValidationError naming `results` when there are more than one request may carry.
    """
    if len(documents) > MAX_RESULTS:
        raise ValidationError({"results": [f"At most {MAX_RESULTS:,} results are allowed in one request."]})
    items = [_read(document, position) for position, document in enumerate(documents)]
    if sum(len(item.data.repeats) for item in items if not item.outcome.status) > MAX_RUNS:
        raise ValidationError({"results": [f"At most {MAX_RUNS:,} repeats are allowed in one request."]})
    owner = owner or (token.owner if token else None)
    failures, received = 0, timezone.now()
    while waiting := [item for item in items if not item.outcome.status]:
        _answer_stored(waiting, owner)
        batch = [item for item in waiting if not item.outcome.status]
        batch = list({item.data.id: item for item in reversed(batch)}.values())[::-1]
        # As many as one transaction takes; alone where names were taken again and again.
        runs = accumulate(len(item.data.repeats) for item in batch)
        at_once = max(1, sum(count <= RUNS_AT_ONCE for count in runs)) if failures < ATTEMPTS else 1
        begun = time.monotonic()
        try:
            _store(batch[:at_once], _Rows(token, owner, file_import, is_staged, received))
        except IntegrityError:
            # Somebody made the same name, or stored the same id, at the same moment: now it can be found.
            failures += 1
            if failures > ATTEMPTS + len(items):
                raise
        if len(batch) > RUNS_AT_ONCE or is_staged:
            pause_for_writers(time.monotonic() - begun)
    return [item.outcome for item in items]


def _read(document: Any, position: int) -> _Item:
    item = _Item(document, position)
    if not isinstance(document, dict):
        item.outcome = UploadOutcome("invalid", errors={"detail": "A JSON object is required."})
        return item
    with contextlib.suppress(ValueError):
        item.outcome.id = uuid.UUID(document["id"]) if isinstance(document.get("id"), str) else None
    try:
        item.data = read(UploadDocument, document)
    except ValidationError as error:
        item.refuse(error)
    else:
        item.digest = digest_of(document)
    return item


def digest_of(document: dict[str, Any]) -> str:
    """SHA-256 of a document that was read, whatever the order of its keys."""
    repeats = [dict(repeat) for repeat in document["repeats"]]
    for repeat in repeats:
        if "series" in repeat:
            repeat["series"] = [dict(row) for row in repeat["series"]]
            for row in repeat["series"]:
                if len(row["values"]) > LONG_SERIES:
                    numbers = array("d", [math.nan if value is None else value for value in row["values"]])
                    row["values"] = hashlib.sha256(numbers.tobytes()).hexdigest()
    return hashlib.sha256(json.dumps({**document, "repeats": repeats}, sort_keys=True).encode()).hexdigest()


def _answer_stored(items: Sequence[_Item], owner: User | None) -> None:
    """Documents whose id is there already: the same body, or another. Of one that `owner` may not see only that."""
    uploads = Upload.objects.defer("document").in_bulk([item.data.id for item in items])
    if not uploads:
        return
    runs: dict[uuid.UUID | None, list[Run]] = {}
    columns = ("id", "upload_id", "repeat", "deleted_at", "batch", "copy_of")
    for run in Run.objects.filter(upload__in=uploads).only(*columns).order_by("repeat"):
        runs.setdefault(run.upload_id, []).append(run)
    for item in items:
        if (upload := uploads.get(item.data.id)) is not None:
            stored = runs.get(upload.id, [])
            # What a request stores in portions is not deleted, but not shown yet.
            is_deleted = any(run.deleted_at not in (None, STAGED_AT) for run in stored)
            if upload.digest != item.digest or not may_open(owner or AnonymousUser(), upload):
                item.outcome = UploadOutcome("conflict", upload.id)
            else:
                item.outcome = UploadOutcome("deleted" if is_deleted else "same", upload.id, stored)


def _store(items: Sequence[_Item], rows: _Rows) -> None:
    """All of these in one transaction; those that contradict what is stored are answered and left out."""
    if not items:
        return
    ready: list[_Item] = []
    made: list[tuple[_Item, list[Run]]] = []
    refused: list[tuple[_Item, ValidationError]] = []
    try:
        for item in items:
            try:
                item.get_ready()
                ready.append(item)
            except ValidationError as error:
                refused.append((item, error))
        with transaction.atomic():
            resolver = Resolver([item.data for item in ready], rows.owner)
            rows.batches = Batch.objects.in_bulk({rows.batch_id(item.data) for item in ready})
            for item in ready:
                try:
                    rows.check_batch(item.data)
                    subjects = resolver.subjects_of(item.data)  # from here on rows are made
                except ValidationError as error:
                    refused.append((item, error))
                else:
                    made.append((item, rows.add(item, subjects, rows.batch_of(item), resolver)))
            rows.mark_copies()
            rows.write()
    except Exception as error:
        artefacts.discard_after(error, [file for item in items for file in item.files])
        raise
    for item, why in refused:
        artefacts.discard(item.files)
        item.refuse(why)
    for item, runs in made:
        item.outcome = UploadOutcome("created", item.data.id, runs)


def _content(index: int, given: UploadArtefact) -> bytes:
    """The content of an artefact, not larger than what is kept. Raises ValidationError."""
    try:
        content = base64.b64decode(given.base64 or "", validate=True) if given.text is None else given.text.encode()
        artefacts.check_size(given.name, content)
    except binascii.Error as error:
        raise ValidationError({f"artefacts[{index}].base64": [f"Not base64: {error}"]}) from error
    except artefacts.TooLarge as error:
        name = "base64" if given.text is None else "text"
        raise ValidationError({f"artefacts[{index}].{name}": [f"{error}."]}) from error
    return content


@dataclass
class _Rows:
    """Everything that documents become. `add` gathers, `write` stores, in a handful of statements.

    `now`: when their request came. A long one is stored in portions, which are not told apart by it.
    """

    token: ApiToken | None
    owner: User | None
    file_import: FileImport | None
    is_staged: bool
    now: datetime
    # The batches by id: those that are stored already, and the new ones.
    batches: dict[uuid.UUID, Batch] = field(default_factory=dict)
    new_batches: list[Batch] = field(default_factory=list)
    uploads: list[Upload] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    factors: list[RunFactor] = field(default_factory=list)
    storage: list[RunStorage] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    chunks: list[SeriesChunk] = field(default_factory=list)
    artefacts: list[Artefact] = field(default_factory=list)

    def batch_id(self, data: UploadDocument) -> uuid.UUID:
        return self.file_import.pk if self.file_import else data.batch or data.id

    def check_batch(self, data: UploadDocument) -> None:
        """Raises ValidationError for one of somebody else."""
        batch = self.batches.get(self.batch_id(data))
        if batch is None or self.file_import or batch.owner_id == (self.owner and self.owner.pk):
            return
        if data.batch is None and Upload.objects.filter(pk=data.id).exists():
            raise IntegrityError("somebody stored the same id at the same moment")
        raise ValidationError({"batch": ["This batch is somebody else's. Leave it out, or make a new one."]})

    def batch_of(self, item: _Item) -> Batch:
        """Of one that the document names nothing is said: each of its documents says it of its own runs."""
        data = item.data
        pk = self.batch_id(data)
        if (batch := self.batches.get(pk)) is None:
            described = {} if data.batch else data.columns()
            if self.file_import:  # what files name of their own is said of their runs
                described["tested"] = self.file_import.subject.get("tested", {})
            # Batches of one day count in the order in which they were sent.
            created_at = self.now + timedelta(microseconds=item.position)
            batch = self.batches[pk] = Batch(pk=pk, owner=self.owner, created_at=created_at, **described)
            self.new_batches.append(batch)
        return batch

    def add(self, item: _Item, subjects: Subjects, batch: Batch, resolver: Resolver) -> list[Run]:
        """The runs of a document."""
        data = item.clean
        upload = Upload(
            id=data.id, digest=item.digest, schema_version=SCHEMA_VERSION, token=self.token, owner=self.owner,
            visibility=data.visibility or settings.DEFAULT_VISIBILITY, file_import=self.file_import,
            received_at=self.now, document=item.kept,
        )  # fmt: skip
        self.uploads.append(upload)
        for artefact in item.files:
            artefact.upload = upload
        self.artefacts += item.files
        columns = self._columns(data, subjects, batch, upload)
        runs = []
        for number, (repeat, packed) in enumerate(zip(data.repeats, item.packed, strict=True), 1):
            run = Run(id=repeat["id"], repeat=number, **columns)
            if "started_at" in repeat:
                run.set_start(repeat["started_at"])
            run.set_measured_at()
            self.factors += [
                RunFactor.of(run, name, given["value"], given["unit"], given["role"])
                for name, given in data.factors.items()
            ]
            self.storage += [
                RunStorage(run=run, role=role, device=device, path=path)
                for role, (device, path) in subjects.storage.items()
            ]
            first = len(self.measurements)
            self._add_numbers(run, repeat, packed, resolver)
            _judge(run, data, repeat, self.measurements[first:])
            runs.append(run)
        self.runs += runs
        return runs

    def _columns(self, data: UploadDocument, subjects: Subjects, batch: Batch, upload: Upload) -> dict[str, Any]:
        """What all runs of a document have in common."""
        columns: dict[str, Any] = {
            "batch": batch,
            "upload": upload,
            "workload": subjects.workload,
            "dbms_version": subjects.dbms_version,
            "hardware": subjects.hardware,
            "config": subjects.config,
            "owner": self.owner,
            "visibility": upload.visibility,
            "state": OUTCOMES[data.outcome],
            "state_changed_at": self.now,
            "created_at": self.now,
            "deleted_at": STAGED_AT if self.is_staged else None,
            "provenance": Provenance.UPLOADED,
            "message": data.message,
            "note": data.note,
            "effective_settings": [[name, redact_value(name, value)] for name, value in data.effective_settings],
            **{name: getattr(data, name) for name in ("measured_on", "started_at", "finished_at")},
            **{name: getattr(data, name) for name in (*FREE, "command_lines", "warnings")},
        }
        own = data.columns()
        if self.file_import:
            said = self.file_import.subject.get("tested", {})
            columns["tested"] = {name: value for name, value in own["tested"].items() if said.get(name) != value}
        else:  # what the batch does not say
            columns["label"] = own["label"] if own["label"] != batch.label else ""
            columns["tags"] = " ".join(sorted({*own["tags"].split()} - {*batch.tag_list}))
            tested = own["tested"].items()
            columns["tested"] = {name: value for name, value in tested if batch.tested.get(name) != value}
        devices = {role: device for role, (device, _) in subjects.storage.items()}
        alike = Run(**columns)
        if isinstance(data.config, list):  # which are not read a second time
            given = [Given(row["name"], row["value"], row.get("section", "")) for row in data.config]
        else:
            given = alike.config.given if alike.config else []
        columns["warnings"] = [*columns["warnings"], *unread_values(alike.dbms_version.dbms.slug, given)]
        judged = durability.of_sent(alike, data.durability or "", devices, _sql(data), given)
        if judged.durability is not None:
            columns |= durability.columns_of(judged) | {"statistics": {durability.KEY: durability.kept(judged)}}
        factors = {name: given["value"] for name, given in data.factors.items()}
        return columns | {"cell_key": cell_key(alike, storage=devices, factors=factors)}

    def _add_numbers(
        self, run: Run, repeat: UploadRepeat, packed: Sequence[Mapping[str, Any]], resolver: Resolver
    ) -> None:
        coarse = agreement.too_coarse({row["name"]: row["value"] for row in repeat["metrics"] if row["phase"] == "run"})
        run.warnings = [*run.warnings, *(f"left out: {why}" for why in coarse.values())]
        values: list[tuple[str, float]] = []
        directions: dict[tuple[str, str], str | None] = {}
        for entry in repeat["metrics"]:
            if entry["phase"] == "run" and entry["name"] in coarse:
                continue
            metric = resolver.metric(entry["name"], entry["unit"], entry.get("better"))
            directions[entry["name"], entry["unit"]] = entry.get("better")
            if metric.name != entry["name"]:
                other = f"of {entry['name']} {OPPOSITE[metric.better]} is better in results that were stored before"
                run.warnings = [*run.warnings, f"{other}: this one is kept apart as {metric.name}"]
            if (metric.name, entry["phase"]) == (run.workload.primary_metric, "run"):
                values.append((entry["unit"], entry["value"]))
            self.measurements.append(
                Measurement(
                    run=run, metric=metric, phase=entry["phase"], value=entry["value"],
                    as_printed=entry.get("as_printed", ""), provenance=Provenance.UPLOADED,
                )
            )  # fmt: skip
        # The same as `runs.run.number.refresh_primary` finds.
        run.primary_value = min(values)[1] if values else None
        for given, columns in zip(repeat["series"], packed, strict=True):
            metric = resolver.metric(given.name, given.unit, directions.get((given.name, given.unit)))
            self.chunks.append(
                SeriesChunk(run=run, metric=metric, chunk=0, t0_s=given.t0_s, interval_s=given.interval_s, **columns)
            )
        if "latency_map" in repeat:
            run.statistics = {**run.statistics, "latency_map": repeat["latency_map"]}
        run.per_terminal = repeat.get("per_terminal", [])
        computed: dict[str, tuple[float, str]] = {}
        if "histogram" in repeat:
            run.latency_histogram = repeat["histogram"].encoded
            computed |= {name: (ms, OF_HISTOGRAM) for name, ms in percentiles_ms(repeat["histogram"]).items()}
        computed |= {name: (value, quality.OF_TERMINALS) for name, value in quality.fairness(run.per_terminal).items()}
        # Only those of the catalogue's metrics are computed that the sender does not state.
        stated = {entry["name"] for entry in repeat["metrics"] if entry["phase"] == "run"}
        self.measurements += [
            Measurement(
                run=run, metric=resolver.metric(name, METRICS[name].unit, None), value=value,
                provenance=Provenance.COMPUTED, note=note,
            )
            for name, (value, note) in computed.items()
            if name not in stated
        ]  # fmt: skip

    def mark_copies(self) -> None:
        """What is there already, or came twice among these."""
        factors: dict[uuid.UUID, dict[str, Any]] = {run.pk: {} for run in self.runs}
        contents = {run.pk: copies.Content(run, copies.source_of(run), factors[run.pk]) for run in self.runs}
        for factor in self.factors:
            factors[factor.run_id][factor.name] = factor.value
        for row in self.measurements:
            if row.provenance != Provenance.COMPUTED:
                contents[row.run_id].rows.append(row)
        for chunk in self.chunks:
            contents[chunk.run_id].chunks.append(chunk)
        copies.mark_copies([*contents.values()], owner=self.owner, file_import=self.file_import)

    def write(self) -> None:
        """In the order of their references."""
        known = self.batches.keys() - {batch.pk for batch in self.new_batches}
        if known:
            Batch.objects.filter(pk__in=known).update(is_filed=False)
        for rows in (
            self.new_batches, self.uploads, self.runs, self.factors, self.storage, self.measurements, self.chunks,
            self.artefacts,
        ):  # fmt: skip
            insert(rows)


def _sql(data: UploadDocument) -> str:
    """What its scripts hold, as factors and as files."""
    factors = [factor["value"] for factor in data.factors.values() if isinstance(factor["value"], str)]
    files = [file.text for file in data.artefacts if file.text and file.name.lower().endswith(SQL_ENDING)]
    return "\n".join([*factors, *files])


def _judge(run: Run, data: UploadDocument, repeat: UploadRepeat, numbers: Sequence[Measurement]) -> None:
    """What its own numbers say against a run that has finished: too many failed transactions fail it."""
    if run.state != RunState.FINISHED:
        return
    metrics = {row.metric.name: row.value for row in numbers if row.phase == "run"}
    facts = _facts(data.factors, repeat, metrics, run.workload.slug, quality.threads_of(run, metrics))
    if why := too_many_failed(agreement.counted(facts)):
        run.state, run.message = RunState.FAILED, run.message or why
    checks = quality.judged(facts)
    run.warnings = [*run.warnings, *quality.warnings(checks)]
    if against := _disagreement(facts, repeat, agreement.dates_apart(run)):
        checks.append(against)
        run.mark_by_rules(against["detail"])
    run.checks = [*map(dict, checks)]


def _facts(
    sent: Factors, repeat: UploadRepeat, metrics: Mapping[str, float], workload: str = "", threads: int = 0
) -> quality.RunFacts:
    factors = {name: given["value"] for name, given in sent.items()}
    events = {
        given.name: series.Series(
            given.name, given.unit, given.t0_s, given.interval_s,
            [None if math.isnan(value) else value for value in given.values],
        )
        for given in repeat["series"]
        if given.name in quality.EVENTS
    }  # fmt: skip
    return quality.RunFacts(workload, factors, metrics, events, cpu_threads=threads)


def _disagreement(facts: quality.RunFacts, repeat: UploadRepeat, dates: Sequence[str] = ()) -> Check | None:
    of_histogram = percentiles_ms(repeat["histogram"]) if "histogram" in repeat else {}
    return agreement.numbers_agree(facts, of_histogram, dates)


def disagreements(document: Mapping[str, Any]) -> list[str]:
    """Of each repeat of a document how its numbers contradict each other, by which it is marked once it is stored;
    empty where they do not. The document may lack its subjects; where it will be refused nothing is said.
    """
    try:
        factors = _FACTORS.validate_python(document["factors"])
        repeats = _REPEATS.validate_python(document["repeats"])
    except Refused:
        return []
    found = []
    for repeat in repeats:
        metrics = {row["name"]: row["value"] for row in repeat["metrics"] if row["phase"] == "run"}
        coarse = agreement.too_coarse(metrics)
        kept = {name: value for name, value in metrics.items() if name not in coarse}
        against = _disagreement(_facts(factors, repeat, kept), repeat)
        found.append(against["detail"] if against else "")
    return found


def _without_bulk(document: dict[str, Any]) -> dict[str, Any]:
    """The document as it is kept, but for its secrets: without samples and files, which are kept elsewhere."""
    kept = {**document, "repeats": [dict(repeat) for repeat in document["repeats"]]}
    for repeat in kept["repeats"]:
        if "series" in repeat:
            repeat["series"] = [{**row, "values": len(row["values"])} for row in repeat["series"]]
        if "histogram" in repeat:
            repeat["histogram"] = len(str(repeat["histogram"]))
    if "artefacts" in kept:
        kept["artefacts"] = [
            {key: len(value) if key in ("text", "base64") else value for key, value in artefact.items()}
            for artefact in kept["artefacts"]
        ]
    return kept

"""The rows of uploaded documents, gathered and written many at a time."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection, models
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from runs.access.visibility import default_visibility
from runs.models import (
    ApiToken,
    Artefact,
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
from runs.models.choices import Provenance
from runs.models.text import clean, redact, redact_line
from runs.results.document import OUTCOMES, SCHEMA_VERSION, UploadDocument, UploadRepeat
from runs.results.subjects import Known, Subjects, run_ids
from runs.run import artefacts, series

# What every pattern of `benchagent.redaction` needs; text without it has nothing to take out.
_SUSPICIOUS = re.compile(r"pas|pwd|pw\b|secret|token|key|credential|derby|://|-p", re.IGNORECASE)
# Percentile -> metric of the catalogue, in ms.
_FROM_HISTOGRAM = {50: "latency_p50_ms", 95: "latency_p95_ms", 99: "latency_p99_ms", 100: "latency_max_ms"}
FactorValue = int | float | str
BATCH = 500
_FREE = ("driver", "dataset", "context", "info")


def factor_row(run: Run, name: str, value: FactorValue, unit: str = "") -> RunFactor:
    """An unsaved factor: a number where it is one, else text."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return RunFactor(run=run, name=name, number=float(value), unit=unit)
    return RunFactor(run=run, name=name, text=clean(value, 300), unit=unit)


class Rows:
    """Everything that documents become. `add` gathers, `write` stores, in a handful of statements."""

    def __init__(self, token: ApiToken | None, owner: User | None, file_import: FileImport | None) -> None:
        self.owner = owner
        self._token, self._file_import = token, file_import
        self._now = timezone.now()
        self._uploads: list[Upload] = []
        self._runs: list[Run] = []
        self._factors: list[RunFactor] = []
        self._storage: list[RunStorage] = []
        self._measurements: list[Measurement] = []
        self._chunks: list[SeriesChunk] = []
        self._artefacts: list[Artefact] = []

    def add(self, data: UploadDocument, document: dict[str, Any], digest: str, known: Known) -> list[Run]:
        """The runs of a document that `known.check` has passed; nothing is written but new names.

        Raises ValidationError for an artefact that cannot be kept, before anything is made.
        """
        files = _files(data)
        kept = _without_bulk(document)
        if _SUSPICIOUS.search(repr(kept)):
            data, kept = _without_secrets(data), _redacted(kept)
        subjects = known.resolve(data)
        upload = Upload(
            id=data.id, digest=digest, schema_version=SCHEMA_VERSION, token=self._token, owner=self.owner,
            visibility=data.visibility or default_visibility(), file_import=self._file_import,
            received_at=self._now, document=kept,
        )  # fmt: skip
        self._uploads.append(upload)
        for position, (name, media_type, content) in enumerate(files, 1):
            artefact = artefacts.prepared(name=name, content=content, media_type=media_type, position=position)
            artefact.upload = upload
            self._artefacts.append(artefact)
        columns = self._columns(data, subjects, upload)
        made = []
        for number, (run_id, repeat) in enumerate(zip(run_ids(data), data.repeats, strict=True), 1):
            run = Run(id=run_id, repeat=number, **columns)
            if "started_at" in repeat:
                run.started_at = repeat["started_at"]
            self._factors += [
                factor_row(run, name, given["value"], given["unit"]) for name, given in data.factors.items()
            ]
            self._storage += [
                RunStorage(run=run, role=role, device=device, path=path)
                for role, (device, path) in subjects.storage.items()
            ]
            self._add_numbers(run, repeat, known)
            known.taken.add(run_id)
            made.append(run)
        self._runs += made
        return made

    def write(self) -> None:
        """In the order of their references."""
        for rows in (
            self._uploads, self._runs, self._factors, self._storage, self._measurements, self._chunks, self._artefacts,
        ):  # fmt: skip
            insert(rows)

    def discard_files(self) -> None:
        artefacts.discard(self._artefacts)

    def _columns(self, data: UploadDocument, subjects: Subjects, upload: Upload) -> dict[str, Any]:
        columns = {
            "upload": upload,
            "workload": subjects.workload,
            "dbms_version": subjects.dbms_version,
            "hardware": subjects.hardware,
            "config": subjects.config,
            "owner": self.owner,
            "visibility": upload.visibility,
            "state": OUTCOMES[data.outcome],
            "state_changed_at": self._now,
            "created_at": self._now,
            "provenance": Provenance.UPLOADED,
            "message": data.message,
            "note": data.note,
            "durability": data.durability or "",
            "effective_settings": [[name, redact(name, value)] for name, value in data.effective_settings],
            **{name: getattr(data, name) for name in ("measured_on", "started_at", "finished_at")},
            **{name: getattr(data, name) for name in (*_FREE, "command_lines", "warnings")},
        }
        devices = {role: device for role, (device, _) in subjects.storage.items()}
        factors = {name: given["value"] for name, given in data.factors.items()}
        return columns | {"cell_key": cell_key(Run(**columns), storage=devices, factors=factors)}

    def _add_numbers(self, run: Run, repeat: UploadRepeat, known: Known) -> None:
        for entry in repeat["metrics"]:
            self._measurements.append(
                Measurement(
                    run=run, metric=known.metric(entry["name"], entry["unit"], entry.get("better")),
                    phase=entry["phase"], value=entry["value"], as_printed=entry.get("as_printed", ""),
                    provenance=Provenance.UPLOADED,
                )
            )  # fmt: skip
        for given in repeat["series"]:
            self._chunks.append(
                series.new_chunk(
                    run=run, metric=known.metric(given.name, given.unit, None), chunk=0, t0_s=given.t0_s,
                    interval_s=given.interval_s, values=given.values,
                )
            )  # fmt: skip
        if "histogram" in repeat:
            self._add_histogram(run, repeat, known)
        # The same as `runs.run.primary.refresh` finds.
        primary = (run.workload.primary_metric, "run")
        values = [
            (entry["unit"], entry["value"]) for entry in repeat["metrics"] if (entry["name"], entry["phase"]) == primary
        ]
        run.primary_value = min(values)[1] if values else None

    def _add_histogram(self, run: Run, repeat: UploadRepeat, known: Known) -> None:
        """The histogram itself, and the percentiles that the sender does not state: computed, and said to be."""
        latencies = repeat["histogram"]
        run.latency_histogram = latencies.encoded
        if not latencies.count:
            return
        stated = {entry["name"] for entry in repeat["metrics"] if entry["phase"] == "run"}
        values = latencies.percentiles_us(list(_FROM_HISTOGRAM))
        self._measurements += [
            Measurement(
                run=run, metric=known.metric(name, "ms", None), value=value / 1000, provenance=Provenance.COMPUTED,
                note="computed from the histogram of latencies",
            )
            for name, value in zip(_FROM_HISTOGRAM.values(), values, strict=True)
            if name not in stated
        ]  # fmt: skip


def _files(data: UploadDocument) -> list[tuple[str, str, bytes]]:
    """(name, media type, content) of the artefacts. Raises ValidationError."""
    files = []
    for index, given in enumerate(data.artefacts):
        try:
            content = base64.b64decode(given.base64 or "", validate=True) if given.text is None else given.text.encode()
            artefacts.check_size(given.name, content)
        except binascii.Error as error:
            raise ValidationError({f"artefacts[{index}].base64": [f"Not base64: {error}"]}) from error
        except artefacts.TooLarge as error:
            field = "base64" if given.text is None else "text"
            raise ValidationError({f"artefacts[{index}].{field}": [f"{error}."]}) from error
        files.append((given.name, given.media_type, content))
    return files


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


def _redacted(kept: dict[str, Any]) -> dict[str, Any]:
    """A document as it is kept, without its secrets."""
    redacted = dict(redact_tree(kept))
    config = redacted.get("config")
    if isinstance(config, list):
        values = [setting["value"] for setting in config]
        redacted["config"] = [
            {**setting, "value": redact(str(setting["name"]), value if value is None else str(value))}
            for setting, value in zip(config, values, strict=True)
        ]
    return redacted


def _without_secrets(data: UploadDocument) -> UploadDocument:
    """The read document with the secrets taken out of every text; configurations see to theirs themselves."""
    lines = {name: [redact_line(line) for line in getattr(data, name)] for name in ("command_lines", "warnings")}
    texts = {name: redact_line(getattr(data, name)) for name in ("note", "message")}
    free = {name: redact_tree(getattr(data, name)) for name in _FREE}
    factors = {
        name: {**factor, "value": redact_line(factor["value"])} if isinstance(factor["value"], str) else factor
        for name, factor in data.factors.items()
    }
    return data.model_copy(update={**lines, **texts, **free, "factors": factors})


def redact_tree(value: Any) -> Any:
    """A copy without secrets: neither under a key that names one, nor within a text."""
    if isinstance(value, dict):
        return {
            key: redact(key, redact_line(inner)) if isinstance(inner, str) else redact_tree(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [redact_tree(inner) for inner in value]
    return redact_line(value) if isinstance(value, str) else value


def insert(rows: Sequence[models.Model]) -> None:
    """Write unsaved rows of one model; their references must be there. Database errors are Django's, as everywhere.

    COPY where the database is PostgreSQL: it costs a third of what `bulk_create` does, as no SQL is put together and
    no value is quoted one by one.
    """
    if not rows:
        return
    model = type(rows[0])
    if connection.vendor == "postgresql":
        _copy(model, rows)
    else:
        model._default_manager.bulk_create(rows, batch_size=BATCH)


def _copy(model: type[models.Model], rows: Sequence[models.Model]) -> None:
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(field.column)) for field in fields)
    statement = f"COPY {quote(model._meta.db_table)} ({names}) FROM STDIN"
    getters = [(field.attname, _preparation(field)) for field in fields]
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            values = row.__dict__
            copy.write_row([prepare(values[name]) if prepare else values[name] for name, prepare in getters])


def _preparation(field: models.Field[Any, Any]) -> Callable[[Any], Any] | None:
    """What makes a value of this field into one that the database driver writes; None where it is one already."""
    if isinstance(field, models.JSONField):
        return json.dumps
    if isinstance(field, models.CharField | models.TextField | models.FileField):
        return _text
    return None


def _text(value: Any) -> str | None:
    """Members of enumerations and file names as text."""
    return value if value is None or type(value) is str else str(value)

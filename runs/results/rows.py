"""The rows of uploaded documents, gathered and written many at a time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from array import array
from typing import Any

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
from runs.models.text import redact, redact_line
from runs.results import subjects
from runs.results.document import OUTCOMES, SCHEMA_VERSION, UploadDocument, UploadRepeat
from runs.results.insert import insert
from runs.results.known import Known, run_ids
from runs.results.live import factor_row
from runs.run import artefacts, series

# What every pattern of `benchagent.redaction` needs; text without it has nothing to take out.
_SUSPICIOUS = re.compile(r"pas|pwd|pw\b|secret|token|key|credential|derby|://|-p", re.IGNORECASE)
# Percentile -> metric of the catalogue, in ms.
_FROM_HISTOGRAM = {50: "latency_p50_ms", 95: "latency_p95_ms", 99: "latency_p99_ms", 100: "latency_max_ms"}
_FREE = ("driver", "dataset", "context", "info")


class Rows:
    """Everything that documents become. `add` gathers, `write` stores, in a handful of statements."""

    def __init__(self, token: ApiToken | None, owner: User | None, file_import: FileImport | None) -> None:
        self._token, self._owner, self._file_import = token, owner, file_import
        self._now = timezone.now()
        self._uploads: list[Upload] = []
        self._runs: list[Run] = []
        self._factors: list[RunFactor] = []
        self._storage: list[RunStorage] = []
        self._measurements: list[Measurement] = []
        self._chunks: list[SeriesChunk] = []
        self._artefacts: list[Artefact] = []

    def add(self, data: UploadDocument, document: dict[str, Any], digest: str, known: Known) -> list[Run]:
        """The runs of a document that `subjects.check` has passed; nothing is written but new names.

        Raises ValidationError for an artefact that cannot be kept, before anything is made.
        """
        files = _files(data)
        secrets = bool(_SUSPICIOUS.search(repr(_without_bulk(document))))
        data = _without_secrets(data) if secrets else data
        found = subjects.resolve(data, known, by=self._owner)
        upload = Upload(
            id=data.id, digest=digest, schema_version=SCHEMA_VERSION, token=self._token, owner=self._owner,
            visibility=data.visibility or default_visibility(), file_import=self._file_import,
            received_at=self._now, document=_kept(document, secrets=secrets),
        )  # fmt: skip
        self._uploads.append(upload)
        self._add_files(upload, files)
        columns = self._columns(data, found, upload)
        made = []
        for number, (run_id, repeat) in enumerate(zip(run_ids(data), data.repeats, strict=True), 1):
            run = Run(id=run_id, repeat=number, **columns)
            if "started_at" in repeat:
                run.started_at = repeat["started_at"]
            self._add_repeat(run, repeat, data, found, known)
            run.primary_value = _primary(repeat, found.workload.primary_metric)
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

    def _columns(self, data: UploadDocument, found: subjects.Subjects, upload: Upload) -> dict[str, Any]:
        columns = {
            "upload": upload,
            "workload": found.workload,
            "dbms_version": found.dbms_version,
            "hardware": found.hardware,
            "config": found.config,
            "owner": self._owner,
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
        devices = {role: device for role, (device, _) in found.storage.items()}
        factors = {name: one["value"] for name, one in data.factors.items()}
        return columns | {"cell_key": cell_key(Run(**columns), storage=devices, factors=factors)}

    def _add_repeat(
        self, run: Run, repeat: UploadRepeat, data: UploadDocument, found: subjects.Subjects, known: Known
    ) -> None:
        self._factors += [factor_row(run, name, one["value"], one["unit"]) for name, one in data.factors.items()]
        self._storage += [
            RunStorage(run=run, role=role, device=device, path=path) for role, (device, path) in found.storage.items()
        ]
        for entry in repeat["metrics"]:
            self._measurements.append(
                Measurement(
                    run=run, metric=known.metric(entry["name"], entry["unit"], entry.get("better")),
                    phase=entry["phase"], value=entry["value"], as_printed=entry.get("as_printed", ""),
                    provenance=Provenance.UPLOADED,
                )
            )  # fmt: skip
        for one in repeat["series"]:
            self._chunks.append(
                series.new_chunk(
                    run=run, metric=known.metric(one.name, one.unit, None), chunk=0, t0_s=one.t0_s,
                    interval_s=one.interval_s, values=one.values,
                )
            )  # fmt: skip
        if "histogram" in repeat:
            self._add_histogram(run, repeat, known)

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

    def _add_files(self, upload: Upload, files: list[tuple[str, str, bytes]]) -> None:
        for position, (name, media_type, content) in enumerate(files, 1):
            artefact = artefacts.prepared(name=name, content=content, media_type=media_type, position=position)
            artefact.upload = upload
            self._artefacts.append(artefact)


def _primary(repeat: UploadRepeat, name: str) -> float | None:
    """The same as `runs.run.primary.refresh` finds."""
    found = sorted(
        (one["unit"], one["value"]) for one in repeat["metrics"] if (one["name"], one["phase"]) == (name, "run")
    )
    return found[0][1] if found else None


def _files(data: UploadDocument) -> list[tuple[str, str, bytes]]:
    """(name, media type, content) of the artefacts. Raises ValidationError."""
    found = []
    for index, one in enumerate(data.artefacts):
        try:
            content = base64.b64decode(one.base64 or "", validate=True) if one.text is None else one.text.encode()
            artefacts.check_size(one.name, content)
        except binascii.Error as error:
            raise ValidationError({f"artefacts[{index}].base64": [f"Not base64: {error}"]}) from error
        except artefacts.TooLarge as error:
            field = "base64" if one.text is None else "text"
            raise ValidationError({f"artefacts[{index}].{field}": [f"{error}."]}) from error
        found.append((one.name, one.media_type, content))
    return found


def digest_of_values(values: list[Any]) -> str:
    """SHA-256 of a long series. What is no number is refused elsewhere."""
    try:
        numbers = array("d", [float("nan") if value is None else value for value in values])
    except (TypeError, OverflowError):
        return hashlib.sha256(repr(values).encode()).hexdigest()
    return hashlib.sha256(numbers.tobytes()).hexdigest()


def _without_bulk(document: dict[str, Any]) -> dict[str, Any]:
    """The document as it is kept, but for its secrets: without samples and files, which are kept elsewhere."""
    kept = {**document, "repeats": [_repeat_without_bulk(repeat) for repeat in document["repeats"]]}
    if "artefacts" in kept:
        kept["artefacts"] = [
            {key: len(value) if key in ("text", "base64") else value for key, value in one.items()}
            for one in kept["artefacts"]
        ]
    return kept


def _repeat_without_bulk(repeat: dict[str, Any]) -> dict[str, Any]:
    kept = dict(repeat)
    if "series" in kept:
        kept["series"] = [{**one, "values": len(one["values"])} for one in kept["series"]]
    if "histogram" in kept:
        kept["histogram"] = len(str(kept["histogram"]))
    return kept


def _kept(document: dict[str, Any], *, secrets: bool) -> dict[str, Any]:
    kept = _without_bulk(document)
    if not secrets:
        return kept
    kept = dict(redact_tree(kept))
    config = kept.get("config")
    if isinstance(config, list):
        kept["config"] = [{**one, "value": _redacted_setting(one)} for one in config]
    return kept


def _redacted_setting(setting: dict[str, Any]) -> Any:
    value = setting["value"]
    return redact(str(setting["name"]), value if value is None else str(value))


def _without_secrets(data: UploadDocument) -> UploadDocument:
    """The read document with the secrets taken out of every text; configurations see to theirs themselves."""
    lines = {name: [redact_line(line) for line in getattr(data, name)] for name in ("command_lines", "warnings")}
    texts = {name: redact_line(getattr(data, name)) for name in ("note", "message")}
    free = {name: redact_tree(getattr(data, name)) for name in _FREE}
    factors = {
        name: {**one, "value": redact_line(one["value"])} if isinstance(one["value"], str) else one
        for name, one in data.factors.items()
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

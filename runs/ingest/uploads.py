"""Results that somebody else measured: one document in, all of it stored or nothing."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from rest_framework.exceptions import ValidationError

from runs import series
from runs.choices import Provenance, RunState
from runs.ingest import subjects
from runs.ingest.document import SCHEMA_VERSION, ResultDocument
from runs.ingest.live import factor_row
from runs.ingest.names import canonical_unit, resolve_metric_rows
from runs.ingest.sanity import problems
from runs.ingest.text import redact
from runs.models import ApiToken, Config, Measurement, Metric, Run, RunFactor, SeriesChunk, Upload

ATTEMPTS = 3
MetricRows = dict[tuple[str, str], Metric]


@dataclass(frozen=True)
class UploadOutcome:
    """What became of a document. `status`: created, same (it is there already) or conflict (another body)."""

    status: str
    upload: Upload
    runs: list[Run]


def store_upload(*, document: Any, token: ApiToken | None) -> UploadOutcome:
    """Store a result document. The same id with the same body is stored once.

    Raises rest_framework's ValidationError, which names the field, for anything that is not a valid document.
    """
    if not isinstance(document, dict):
        raise ValidationError("A JSON object is required.")
    wrong = problems(document)
    if wrong:
        raise ValidationError(wrong)
    digest = digest_of(document)
    known = _known(document, digest)
    if known is not None:
        return known
    serializer = ResultDocument(data=document)
    serializer.is_valid(raise_exception=True)
    for _ in range(ATTEMPTS - 1):
        try:
            return _store(dict(serializer.validated_data), document, digest, token)
        except IntegrityError:
            # Somebody made the same name, or stored the same id, at the same moment: now it can be found.
            known = _known(document, digest)
            if known is not None:
                return known
    return _store(dict(serializer.validated_data), document, digest, token)


def digest_of(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _known(document: dict[str, Any], digest: str) -> UploadOutcome | None:
    try:
        upload_id = uuid.UUID(str(document.get("id")))
    except ValueError:
        return None
    upload = Upload.objects.filter(id=upload_id).first()
    if upload is None:
        return None
    runs = list(upload.runs.order_by("repeat"))
    return UploadOutcome("same" if upload.digest == digest else "conflict", upload, runs)


@transaction.atomic
def _store(data: dict[str, Any], document: dict[str, Any], digest: str, token: ApiToken | None) -> UploadOutcome:
    upload = Upload.objects.create(
        id=data["id"], digest=digest, schema_version=SCHEMA_VERSION, token=token, document=_redacted(document)
    )
    ids = _run_ids(data)
    metrics = _metric_rows(data)
    common = _common_columns(data)
    runs = [Run(id=run_id, upload=upload, repeat=number, **common) for number, run_id in enumerate(ids, 1)]
    Run.objects.bulk_create(runs)
    RunFactor.objects.bulk_create(
        factor_row(run, name, factor["value"], factor["unit"])
        for run in runs
        for name, factor in data["factors"].items()
    )
    for run, repeat in zip(runs, data["repeats"], strict=True):
        _store_repeat(run, repeat, metrics)
        run.set_cell_key()
    Run.objects.bulk_update(runs, ["cell_key"])
    return UploadOutcome("created", upload, runs)


def _common_columns(data: dict[str, Any]) -> dict[str, Any]:
    dbms_version = subjects.dbms_version(data["dbms"])
    return {
        "workload": subjects.workload(data["workload"], primary_metric=_first_metric(data)),
        "dbms_version": dbms_version,
        "hardware": subjects.hardware(data["hardware"]),
        "config": _config(data, dbms_version.dbms.slug, dbms_version.dbms.name),
        "state": RunState.FINISHED,
        "provenance": Provenance.UPLOADED,
        "measured_on": data.get("measured_on"),
        "started_at": data.get("started_at"),
        "durability": data.get("durability", ""),
        "note": data["note"],
    }


def _run_ids(data: dict[str, Any]) -> list[uuid.UUID]:
    """The client's ids, or ones that follow from the document's id. Raises ValidationError for a taken one."""
    ids = [repeat.get("id") or uuid.uuid5(data["id"], str(number)) for number, repeat in enumerate(data["repeats"], 1)]
    taken = set(Run.objects.filter(id__in=ids).values_list("id", flat=True))
    if taken:
        raise ValidationError(
            {
                f"repeats[{index}].id": ["Another run has this id."]
                for index, run_id in enumerate(ids)
                if run_id in taken
            }
        )
    return ids


def _metric_rows(data: dict[str, Any]) -> MetricRows:
    wanted: dict[tuple[str, str], str | None] = {}
    for repeat in data["repeats"]:
        for entry in [*repeat["metrics"], *repeat["series"]]:
            entry["unit"] = canonical_unit(entry["name"], entry["unit"])
            wanted.setdefault((entry["name"], entry["unit"]), None)
            if "better" in entry:
                wanted[entry["name"], entry["unit"]] = entry["better"]
    return resolve_metric_rows(wanted)


def _first_metric(data: dict[str, Any]) -> str:
    entries = [entry["name"] for repeat in data["repeats"] for entry in [*repeat["metrics"], *repeat["series"]]]
    return "tps" if "tps" in entries else str(entries[0])[:80]


def _config(data: dict[str, Any], dbms_slug: str, dbms_name: str) -> Config | None:
    return subjects.config(dbms_slug, dbms_name, data["config"]) if data.get("config") else None


def _store_repeat(run: Run, repeat: dict[str, Any], metrics: MetricRows) -> None:
    values = {(entry["name"], entry["unit"], entry["phase"]): entry["value"] for entry in repeat["metrics"]}
    Measurement.objects.bulk_create(
        Measurement(
            run=run, metric=metrics[name, unit], phase=phase, value=value, provenance=Provenance.UPLOADED
        )
        for (name, unit, phase), value in values.items()
    )  # fmt: skip
    chosen = {(entry["name"], entry["unit"]): entry for entry in repeat["series"]}
    SeriesChunk.objects.bulk_create(
        series.new_chunk(
            run=run, metric=metrics[key], chunk=0, t0_s=entry["t0_s"], interval_s=entry["interval_s"],
            values=entry["values"],
        )
        for key, entry in chosen.items()
    )  # fmt: skip


def _redacted(document: dict[str, Any]) -> dict[str, Any]:
    """The document as it is kept: without secrets, and without the samples, which are in the chunks."""
    kept: dict[str, Any] = redact_tree(document)
    for setting in kept.get("config") or []:
        setting["value"] = redact(str(setting["name"]), setting["value"])
    for repeat in kept["repeats"]:
        for entry in repeat.get("series") or []:
            entry["values"] = len(entry["values"])
    return kept


def redact_tree(value: Any) -> Any:
    """A copy in which no key that names a secret keeps its text."""
    if isinstance(value, dict):
        return {
            key: redact(key, inner) if isinstance(inner, str) else redact_tree(inner) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [redact_tree(inner) for inner in value]
    return value

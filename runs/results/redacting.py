"""What was stored before the rules of `benchagent.redaction` knew a secret loses it now: rows, kept files, reports."""

from __future__ import annotations

import gzip
import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchagent.redaction import redact_json
from django.apps import apps
from django.core.files.base import ContentFile
from django.db import models

from runs.models import Artefact, FileImport
from runs.run import artefacts

# Numbers as text, and what an agent is to run yet.
LEFT_ALONE = {("run", "latency_histogram"), ("job", "spec"), ("apitoken", "scopes")}


def redact_stored(*, is_trial: bool = False) -> Counter[str]:
    """Take secrets out of all that is stored. -> how many of each kind held one. `is_trial`: only count."""
    cleaned: Counter[str] = Counter()
    for app in ("runs", "agents"):
        for model in apps.get_app_config(app).get_models():
            names = [field.name for field in _texts(model)]
            for row in model._default_manager.only("pk", *names).iterator(chunk_size=200) if names else ():
                old = {name: getattr(row, name) for name in names}
                if news := {name: value for name, value in redact_json(old).items() if value != old[name]}:
                    cleaned[str(model._meta.verbose_name_plural)] += 1
                    if not is_trial:
                        model._default_manager.filter(pk=row.pk).update(**news)
    cleaned["kept files"] = sum(_redact_file(kept, is_trial=is_trial) for kept in Artefact.objects.iterator())
    imports = FileImport.objects.exclude(reports="").iterator()
    cleaned["what was read of files"] = sum(_redact_reports(kept, is_trial=is_trial) for kept in imports)
    return +cleaned


def _texts(model: type[models.Model]) -> Iterator[models.Field[Any, Any]]:
    for field in model._meta.concrete_fields:
        is_text = isinstance(field, models.TextField | models.JSONField)
        if is_text and (model._meta.model_name, field.name) not in LEFT_ALONE:
            yield field
    if any(field.name == "value" and isinstance(field, models.TextField) for field in model._meta.concrete_fields):
        yield model._meta.get_field("name")  # type: ignore[misc]


def _redact_file(kept: Artefact, *, is_trial: bool) -> bool:
    if kept.size_bytes > artefacts.MAX_ARTEFACT_BYTES:
        return _redact_large(kept, is_trial=is_trial)
    old = artefacts.content(kept)
    content = artefacts.without_secrets(old)
    if content == old:
        return False
    if not is_trial:
        before = str(kept.file.name)
        kept.size_bytes, kept.sha256 = len(content), hashlib.sha256(content).hexdigest()
        kept.file.save(f"{uuid.uuid4()}.gz", ContentFile(gzip.compress(content, 6, mtime=0)), save=False)
        kept.save(update_fields=["size_bytes", "sha256", "file"])
        kept.file.storage.delete(before)
    return True


def _redact_large(kept: Artefact, *, is_trial: bool) -> bool:
    """It is written anew to see whether it changes."""
    before, digest = str(kept.file.name), kept.sha256
    path = Path(kept.file.path)
    artefacts.rewrite(kept, artefacts.source_of(kept).pieces(), path.with_name(f"{uuid.uuid4()}.gz"))
    is_news = kept.sha256 != digest
    if is_news and not is_trial:
        kept.save(update_fields=["size_bytes", "sha256", "file"])
    kept.file.storage.delete(before if is_news and not is_trial else str(kept.file.name))
    return is_news


def _redact_reports(kept: FileImport, *, is_trial: bool) -> bool:
    with kept.reports.open("rb") as packed:
        old = json.loads(gzip.decompress(packed.read()))
    news = redact_json(old)
    if news == old:
        return False
    if not is_trial:
        before = str(kept.reports.name)
        kept.reports.save(
            f"{uuid.uuid4()}.json.gz", ContentFile(gzip.compress(json.dumps(news).encode(), 6)), save=False
        )
        kept.save(update_fields=["reports"])
        kept.reports.storage.delete(before)
    return True

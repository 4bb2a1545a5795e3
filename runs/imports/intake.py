"""Files in: secrets taken out, content kept, read by the importers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from benchagent.importers import PARSER_VERSION, NotUnderstood, Report, SourceFile, as_json, inspect, plain_csv
from benchagent.importers.report import not_understood
from django.db import IntegrityError, transaction

from runs.models import Artefact, FileImport, User
from runs.run import artefacts

MAX_FILES = 500
MAX_TOTAL_BYTES = 128 * 1024 * 1024


class BadFiles(ValueError):
    """Files that are not taken; the text says why."""


def take(*, files: Sequence[SourceFile], owner: User) -> tuple[FileImport, bool]:
    """Keep and read these files. -> (import, whether it is new): the same files of the same person are one import.

    Raises BadFiles when there is nothing in them or too much.
    """
    _refuse(files)
    digest = digest_of(files)
    known = FileImport.objects.filter(owner=owner, digest=digest).first()
    if known is not None:
        return known, False
    kept: list[Artefact] = []
    try:
        with transaction.atomic():
            taken = FileImport.objects.create(owner=owner, digest=digest, parser_version=PARSER_VERSION)
            for position, file in enumerate(files):
                kept.append(
                    artefacts.keep(name=file.name, content=file.data, file_import=taken, position=position)
                )  # fmt: skip
            taken.items = items_of(read(kept_files(taken), {}))
            taken.save(update_fields=["items"])
    except artefacts.TooLarge as error:
        artefacts.discard(kept)
        raise BadFiles(f"{error}.") from error
    except IntegrityError:
        # The same files came twice at the same moment.
        artefacts.discard(kept)
        return FileImport.objects.get(owner=owner, digest=digest), False
    return taken, True


def _refuse(files: Sequence[SourceFile]) -> None:
    if not files:
        raise BadFiles("No file was sent.")
    if len(files) > MAX_FILES:
        raise BadFiles(f"At most {MAX_FILES} files at once; these are {len(files)}.")
    if sum(len(file.data) for file in files) > MAX_TOTAL_BYTES:
        raise BadFiles(f"At most {MAX_TOTAL_BYTES // 1024**2} MB at once. gzip makes logs about ten times smaller.")
    if empty := [file.name for file in files if not file.data]:
        raise BadFiles(f"Empty: {', '.join(empty[:5])}.")


def digest_of(files: Sequence[SourceFile]) -> str:
    """Of names and contents, in whatever order they came."""
    marks = sorted([file.name, hashlib.sha256(file.data).hexdigest()] for file in files)
    return hashlib.sha256(json.dumps(marks).encode()).hexdigest()


def kept_files(taken: FileImport) -> list[SourceFile]:
    return [SourceFile(kept.name, artefacts.content(kept)) for kept in taken.artefacts.order_by("position")]


Reports = list[tuple[SourceFile, Report]]


def read(files: Sequence[SourceFile], mapping: dict[str, Any]) -> Reports:
    """Every run of every file. `mapping`: which column is what, by the name of a CSV file."""
    reports: Reports = []
    for file, proposed in inspect(files):
        runs: Sequence[Report] = proposed
        if file.name in mapping:
            try:
                runs = plain_csv.read_mapped(file, plain_csv.Mapping.from_json(mapping[file.name]))
            except NotUnderstood as error:
                runs = [not_understood(f"not understood: {error}", tool=plain_csv.TOOL)]
        reports += [(file, run) for run in runs]
    return reports


def items_of(reports: Reports) -> list[dict[str, Any]]:
    """What a preview shows, one entry a run of a file; `index` names it."""
    return [{"index": index, **as_json(file, report)} for index, (file, report) in enumerate(reports)]

"""An experiment as one file: plan, settings, results, raw files, machine facts, checksums (docs/reference/bundle.md).

What is taken in goes through `store_uploads`, as any upload does: read, redacted, whole or not at all. Ids of a bundle
are never used: those of what is stored follow from who brings it and what it holds, so that the same bundle brought
twice is there once, and a bundle can name nothing that is somebody else's.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import threading
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

from benchagent import __version__
from benchagent.protocol import Check, EngineReport
from benchagent.redaction import redact_json
from django.db import transaction
from django.utils import timezone
from pydantic import ValidationError

from runs.incoming.reading import messages, parse_json, unstorable
from runs.incoming.typed import reader_of
from runs.incoming.values import Moment, contradiction
from runs.machines.facts import DEVICE_FIELDS, MACHINE_FIELDS
from runs.models import Experiment, Run, User
from runs.models.base import clean
from runs.models.choices import ENDED_STATES, Provenance, RunState, Visibility
from runs.models.visible import Reader
from runs.results.brought_plan import BadPlan, read_plan
from runs.results.document import MAX_FILES, MAX_REPEATS
from runs.results.staged import all_or_nothing, show
from runs.results.upload import store_uploads
from runs.run import artefacts, engine_report, series

FORMAT, VERSION = "benchsite-bundle", 1
MANIFEST = "manifest.json"
# Unpacked. A bundle is held in memory, and its files a second time as what an upload sends.
MAX_TOTAL_BYTES, MAX_ENTRIES, MAX_RUNS = 64 * 1024 * 1024, 2_000, 2_000
MAX_MANIFEST_BYTES = 1024 * 1024
# What is larger than so much and packs better holds no results.
BOMB_BYTES, MAX_RATIO = 8 * 1024 * 1024, 50
_RESULT = re.compile(r"results/\d{4}\.json")
_NAME = re.compile(_RESULT.pattern + r"|files/\d{4}/\d{3}-[^/\\\0]{1,200}")
# What the notes of a bundle say of a run in the place where uploads keep what is theirs.
_INFO = "bundle"
# Columns of a run that an upload has of all repeats together, or not at all.
_OF_REPEAT = ("repeat", "order_index", "finished_at", "dataset", "command_lines")


class BadBundle(ValueError):
    """The file is no bundle, or not whole; the text says so. Nothing of it was stored."""


class Busy(BadBundle):
    """Another bundle is being made or read."""


_at_work = threading.Lock()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """In each process: a bundle takes memory and seconds of processor time. Raises Busy."""
    if not _at_work.acquire(blocking=False):
        raise Busy("Another bundle is being made or read at this moment. Try again in a few seconds.")
    try:
        yield
    finally:
        _at_work.release()


# Out


@one_at_a_time()
def export(experiment: Experiment, user: Reader, *, address: str) -> bytes:
    """The runs that have ended, of those that this person may open, with their files. `address`: where it comes from.

    Raises BadBundle where there is none, or more than a bundle may hold.
    """
    rows = experiment.runs.present().filter(state__in=ENDED_STATES, publication=None).readable_by(user).for_lists()
    runs = list(rows.order_by("order_index", "repeat", "id"))
    if not runs:
        raise BadBundle("No run of this experiment has ended, so there is nothing to take along.")
    if len(runs) > MAX_RUNS:
        raise BadBundle(f"This experiment has more than {MAX_RUNS:,} runs: take them along by the API.")
    # What one document says of all its repeats.
    cells: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        conditions = json.dumps([run.driver, run.effective_settings, run.durability], sort_keys=True)
        cells.setdefault((run.cell_key or str(run.id), _outcome(run), conditions), []).append(run)
    parts: dict[str, bytes] = {}
    left_bytes = MAX_TOTAL_BYTES
    for number, cell in enumerate(cells.values(), 1):
        # Secrets are out of what is stored; what was stored before a rule learned to know them is not.
        parts[f"results/{number:04}.json"] = json.dumps(redact_json(_document(cell)), sort_keys=True).encode()
        kept = [(at, file) for at, run in enumerate(cell, 1) for file in run.artefacts.all()][:MAX_FILES]
        for at, (repeat, file) in enumerate(kept, 1):
            name = f"files/{number:04}/{at:03}-repeat-{repeat}-{file.name}"[:200]
            left_bytes -= file.size_bytes
            if left_bytes >= 0:
                parts[name] = artefacts.without_secrets(artefacts.content(file))
        left_bytes -= len(parts[f"results/{number:04}.json"])
        if left_bytes < 0:
            raise BadBundle(f"It is larger than {MAX_TOTAL_BYTES // 1024**2} MB: take its runs along by the API.")
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "program": __version__,
        "exported_at": timezone.now().isoformat(timespec="seconds"),
        "source": address,
        "experiment": {
            "id": str(experiment.pk),
            "name": experiment.name,
            "note": experiment.note,
            "demonstration": experiment.demonstration,
            "plan": redact_json(experiment.plan),
        },
        "files": [
            {"path": path, "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for path, content in parts.items()
        ],
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in {MANIFEST: json.dumps(manifest, indent=1).encode(), **parts}.items():
            archive.writestr(path, content)
    return packed.getvalue()


def _outcome(run: Run) -> str:
    if run.invalid_at is not None:
        return "failed"
    return {RunState.FINISHED: "finished", RunState.CANCELLED: "aborted"}.get(RunState(run.state), "failed")


def _document(cell: list[Run]) -> dict[str, Any]:
    """The upload document of a cell, without ids."""
    run, day = cell[0], cell[0].measured_on
    # Once a day could be stored that contradicts the start; nobody takes it any more.
    if contradiction(day, [each.started_at for each in cell]):
        day = None
    # An upload names its machine.
    hardware: dict[str, Any] = {"name": "Machine not stated"}
    if run.hardware:
        hardware = _facts(run.hardware, MACHINE_FIELDS) | {
            "storage": [_facts(device, DEVICE_FIELDS) for device in run.hardware.storage.all()]
        }
    workload = {"slug": run.workload.slug, "name": run.workload.name, "version": run.workload.version}
    document = {
        "schema_version": 1,
        "workload": workload | ({"kind": run.workload.kind} if run.workload.kind else {}),
        "dbms": {"name": run.dbms_version.dbms.name, "version": run.dbms_version.version},
        "hardware": hardware,
        "storage": [{"role": use.role, "device": use.device.name, "path": use.path} for use in run.storage.all()],
        "config": _settings(run),
        "effective_settings": run.effective_settings,
        "factors": {
            factor.name: {"value": factor.value}
            | ({"unit": factor.unit} if factor.unit else {})
            | ({"role": factor.role} if factor.role else {})
            for factor in run.factors.all()
        },
        "durability": run.durability or None,
        "measured_on": day.isoformat() if day else None,
        "outcome": _outcome(run),
        "message": run.invalid_words if run.invalid_at else run.message,
        "label": run.effective_label,
        "tags": run.effective_tags,
        "tested": run.effective_tested,
        "repeats": [_repeat(each) for each in cell[:MAX_REPEATS]],
        **{name: getattr(run, name) for name in ("note", "driver", "dataset", "command_lines", "context", "info")},
    }  # fmt: skip
    return {name: value for name, value in document.items() if value not in (None, "", [], {})}


def _facts(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(row, name, None)) not in (None, "", False)}


def _settings(run: Run) -> list[dict[str, Any]]:
    rows = run.config.parameters.order_by("position") if run.config else ()
    return [{"name": row.name, "value": row.value} | ({"section": row.section} if row.section else {}) for row in rows]


def _repeat(run: Run) -> dict[str, Any]:
    metrics = [
        {"name": row.metric.name, "value": row.value, "unit": row.metric.unit, "phase": row.phase}
        | ({"better": row.metric.better} if row.metric.better else {})
        | ({"as_printed": row.as_printed} if row.as_printed else {})
        for row in run.measurements.all()
        if row.provenance != Provenance.COMPUTED
    ]
    rows = [
        {name: getattr(sampled, name) for name in ("name", "unit", "t0_s", "interval_s", "values")}
        for sampled in series.read_all(run)
    ]
    repeat = {
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        **{name: getattr(run, name) for name in ("repeat", "order_index", "dataset", "command_lines")},
        "metrics": metrics,
        "series": rows,
        "histogram": run.latency_histogram,
        "per_terminal": run.per_terminal,
        "statistics": {name: run.statistics[name] for name in EngineReport.__annotations__ if name in run.statistics},
        "checks": run.checks,
        "warnings": run.warnings,
    }
    return {name: value for name, value in repeat.items() if value not in (None, "", [], {})}


# In


class Beside(TypedDict, total=False):
    """What an agent told of a repeat beside its result; no upload has it of each repeat."""

    repeat: int
    order_index: int
    finished_at: Moment
    dataset: dict[str, Any]
    command_lines: list[str]
    statistics: EngineReport
    checks: list[Check]
    warnings: list[str]


@one_at_a_time()
def take_in(content: bytes, *, owner: User, visibility: str = "") -> tuple[Experiment, bool]:
    """The experiment of a bundle, and whether it is new here. All of it is stored or nothing. Raises BadBundle."""
    manifest, parts = _unpacked(content)
    about = _about(manifest)
    try:
        plan = read_plan(about["plan"])
    except BadPlan as error:
        raise BadBundle(f"manifest.json: experiment.plan.{error}") from error
    key = hashlib.sha256(b"".join(sorted(hashlib.sha256(part).digest() for part in parts.values()))).hexdigest()
    experiment_id = uuid.uuid5(owner.pk, f"{about['id']}:{key}")
    if (earlier := Experiment.objects.filter(pk=experiment_id).first()) is not None:
        return earlier, False
    seen = visibility if visibility in Visibility.values else Visibility.PRIVATE.value
    documents, besides, paths = [], [], sorted(filter(_RESULT.fullmatch, parts))
    for path in paths:
        document, beside = _incoming(path, parts, about, str(experiment_id))
        documents.append(document | {"visibility": seen})
        besides.append(beside)
    ids = [uuid.UUID(document["id"]) for document in documents]
    runs_count = sum(len(document["repeats"]) for document in documents)
    if runs_count > MAX_RUNS:
        raise BadBundle(f"It holds more than {MAX_RUNS:,} runs.")
    with all_or_nothing(ids, is_large=True):
        outcomes = store_uploads(documents=documents, owner=owner, is_staged=True)
        for path, outcome, beside in zip(paths, outcomes, besides, strict=True):
            if outcome.status not in ("created", "same", "deleted"):
                raise BadBundle(f"{path} is not taken: {outcome.errors or outcome.status}")
            # What was there already has been told.
            for run, extra in zip(outcome.runs, beside, strict=True) if outcome.status == "created" else ():
                _tell(run, extra)
        runs = [run for outcome in outcomes for run in outcome.runs]
        with transaction.atomic():
            name = clean(str(about["name"]) or "Experiment", 200)
            # It was started where it was measured.
            began = [run.started_at for run in runs if run.started_at]
            experiment = Experiment.objects.create(
                pk=experiment_id, slug=Experiment.free_slug(name, is_hidden=seen != Visibility.PUBLIC), name=name,
                created_by=owner, visibility=seen, created_at=min([timezone.now(), *began]),
                demonstration=about["demonstration"] is True, plan=plan, brought=True,
                note=clean(f"From {about['source']}, exported {about['exported_at']}. {about['note']}", 10_000),
            )  # fmt: skip
            Run.objects.filter(pk__in=[run.pk for run in runs]).update(
                experiment=experiment, demonstration=experiment.demonstration
            )
            Run.objects.bulk_update(runs, ["statistics", "checks", "warnings", *_OF_REPEAT])
            show(runs)
    return experiment, True


def _tell(run: Run, beside: Beside) -> None:
    """What was checked where it was measured goes beside what is judged here. Raises BadBundle."""
    here = {check["name"] for check in run.checks}
    for name in _OF_REPEAT:
        setattr(run, name, beside.get(name, getattr(run, name)))
    if run.started_at and run.finished_at and run.finished_at < run.started_at:
        raise BadBundle("A run of it ends before it begins.")
    run.statistics = {**run.statistics, **beside.get("statistics", {})}
    run.checks = [*run.checks, *(dict(check) for check in beside.get("checks", []) if check["name"] not in here)]
    run.warnings = list(dict.fromkeys([*run.warnings, *beside.get("warnings", [])]))
    try:
        # The page of the run reads them so: what it cannot read is refused here.
        engine_report.EngineReport(run.statistics)
        is_known = engine_report.numbers_hold(beside.get("statistics"))
    except (TypeError, ValueError, AttributeError, LookupError):
        is_known = False
    if not is_known:
        raise BadBundle("It holds statistics of an engine in no known form.")


def _unpacked(content: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest, and by path the files that it names, checked. Nothing is written to the disk. Raises BadBundle."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            entries = file.infolist()
            if len(entries) > MAX_ENTRIES:
                raise BadBundle(f"It has more than {MAX_ENTRIES:,} entries.")
            names = [entry.filename for entry in entries]
            if len(set(names)) < len(names) or MANIFEST not in names:
                raise BadBundle("It is no bundle of a Benchsite: it has no manifest.json, or a name twice.")
            manifest = parse_json(_content(file, MANIFEST, MAX_MANIFEST_BYTES))
            _check_storable(MANIFEST, manifest)
            listed = _listed(manifest)
            if unknown := sorted(set(names) - {MANIFEST} - set(listed)):
                raise BadBundle(f"Its manifest does not name {unknown[0][:100]!r}.")
            parts: dict[str, bytes] = {}
            left = min(MAX_TOTAL_BYTES, max(BOMB_BYTES, MAX_RATIO * len(content)))
            for path, sha256 in listed.items():
                if path not in names:
                    raise BadBundle(f"{path} is missing.")
                parts[path] = _content(file, path, left)
                left -= len(parts[path])
                if hashlib.sha256(parts[path]).hexdigest() != sha256:
                    raise BadBundle(f"{path} is not what it was: its checksum differs.")
    except BadBundle:
        raise
    # zipfile raises NotImplementedError for a compression that it does not know, RuntimeError for an encrypted file.
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError) as error:
        raise BadBundle(f"It cannot be read as a bundle: {error}") from error
    return manifest, parts


def _content(file: zipfile.ZipFile, path: str, most: int) -> bytes:
    """What is declared of its size is not believed: reading ends beyond what is allowed."""
    with file.open(path) as packed:
        content = packed.read(most + 1)
    if len(content) > most:
        raise BadBundle(
            f"It is larger than {MAX_TOTAL_BYTES // 1024**2} MB once it is unpacked, or more than {MAX_RATIO} times as "
            "large as it is packed."
        )
    return content


def _check_storable(path: str, document: Any) -> None:
    """Raises BadBundle, whose text can be shown: what cannot be stored cannot be sent either."""
    for where, words in unstorable(document).items():
        raise BadBundle(f"{path}: {where} {words[0]}")


def _listed(manifest: Any) -> dict[str, str]:
    """Path -> SHA-256 of the manifest. Raises BadBundle."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadBundle("It is no bundle of a Benchsite.")
    if manifest.get("version") != VERSION:
        raise BadBundle(f"It is of version {manifest.get('version')!r}; this Benchsite reads version {VERSION}.")
    files = manifest.get("files")
    listed: dict[str, str] = {}
    for entry in files if isinstance(files, list) else []:
        path, sha256 = (entry.get("path"), entry.get("sha256")) if isinstance(entry, dict) else (None, None)
        if not (isinstance(path, str) and isinstance(sha256, str) and _NAME.fullmatch(path)):
            raise BadBundle(f"Its manifest names {str(path)[:100]!r}, which no bundle holds.")
        listed[path] = sha256
    if not any(map(_RESULT.fullmatch, listed)):
        raise BadBundle("It holds no result.")
    return listed


def _about(manifest: dict[str, Any]) -> dict[str, Any]:
    given = manifest.get("experiment")
    about = given if isinstance(given, dict) else {}
    texts = {name: clean(str(about.get(name) or ""), 2_000) for name in ("id", "name", "note")}
    origin = {
        name: clean(str(manifest.get(name) or "not stated"), 500) for name in ("source", "exported_at", "program")
    }
    return {**texts, **origin, "plan": about.get("plan"), "demonstration": about.get("demonstration")}


def _incoming(
    path: str, parts: dict[str, bytes], about: dict[str, Any], experiment: str
) -> tuple[dict[str, Any], list[Beside]]:
    """The document as it is stored here: under ids of ours, with its files, and where it comes from.

    And what its repeats tell beside, which is redacted here. Raises BadBundle.
    """
    try:
        document = parse_json(parts[path])
    except ValueError as error:
        raise BadBundle(f"{path} is not JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("repeats"), list):
        raise BadBundle(f"{path} is no result.")
    number = path.removeprefix("results/").removesuffix(".json")
    files = sorted(name for name in parts if name.startswith(f"files/{number}/"))
    given_info = document.get("info")
    info: dict[str, Any] = given_info if isinstance(given_info, dict) else {}
    besides: list[Beside] = []
    repeats = []
    for repeat in document["repeats"]:
        given = repeat if isinstance(repeat, dict) else {}
        beside = redact_json({name: given[name] for name in Beside.__annotations__ if name in given})
        _check_storable(path, beside)
        try:
            besides.append(reader_of(Beside).validate_python(beside))
        except ValidationError as error:
            where, words = next(iter(messages(error, reader_of(Beside)).items()))
            raise BadBundle(f"{path}: {where}: {words[0]}") from error
        repeats.append({name: given[name] for name in given if name not in ("id", *beside)} if given else repeat)
    return document | {
        "id": str(uuid.uuid5(uuid.UUID(experiment), path)),
        "batch": experiment,
        "repeats": repeats,
        "info": info | {_INFO: {name: about[name] for name in ("source", "exported_at", "program", "name")}},
        "artefacts": [
            {"name": name.rsplit("/", 1)[1], "base64": base64.b64encode(parts[name]).decode()} for name in files
        ],
    }, besides

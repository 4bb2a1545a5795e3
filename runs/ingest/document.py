"""The upload document, version 1: what POST /api/v1/results/ takes. Later versions only add.

This is the one declaration: `DOCUMENT.read` checks a document; the OpenAPI description (`components`) and the published
docs/api/upload-v1.schema.json (`json_schema`) are made of it. Every object refuses keys that it does not know, by name;
`context` and `info` are free for the sender's own.
"""

from __future__ import annotations

import json
from typing import Any

from benchagent.catalog import METRICS
from benchagent.configfiles import FORMATS

from runs.choices import DURABILITY_CHOICES, Better, RunState, StorageRole, Visibility
from runs.ingest.names import canonical_unit
from runs.ingest.shapes import (
    REFERENCE,
    Choice,
    Day,
    Either,
    Field,
    Flag,
    Free,
    Ident,
    Listed,
    Mapped,
    Moment,
    Number,
    Object,
    Raw,
    Shape,
    Slug,
    Text,
    Whole,
    Wrong,
)
from runs.ingest.values import (
    EncodedHistogram,
    Factor,
    Metrics,
    SeriesValues,
    SettingPairs,
    SettingValue,
    refuse_doubles,
)

SCHEMA_VERSION = 1
MAX_RESULTS = 1000
MAX_RUNS = 10_000
MAX_REPEATS = 1000
MAX_METRICS = 500
MAX_SERIES = 200
MAX_SETTINGS = 5000
MAX_FACTORS = 100
MAX_DEVICES = 100
MAX_FILES = 50
MAX_FILE_CHARACTERS = 1_000_000
MAX_ARTEFACT_CHARACTERS = 32 * 1024 * 1024
MAX_LINES = 1000
BIG = 2**63 - 1
# What the run is afterwards; `aborted` is somebody's decision, as a cancelled run is.
OUTCOMES = {"finished": RunState.FINISHED, "failed": RunState.FAILED, "aborted": RunState.CANCELLED}
TRANSACTIONS = "transactions"


def _known(shape: Slug) -> Shape:
    """A slug of something that is there already. -> {"slug": …, "known": True}"""
    return _KnownSlug(shape)


class _KnownSlug:
    def __init__(self, shape: Slug) -> None:
        self.shape = shape

    def read(self, value: Any) -> dict[str, Any]:
        return {"slug": self.shape.read(value), "known": True}

    def schema(self, components: dict[str, Any]) -> dict[str, Any]:
        return self.shape.schema(components) | {"description": "slug of a known one"}


def _text(most: int) -> Field:
    """Optional and may be blank."""
    return Field(Text(most, least=0))


def _empty() -> str:
    return ""


def _with_unit(metric: dict[str, Any]) -> None:
    """A metric of the catalogue has its unit, in its spelling; any other must say its own (empty for a plain count)."""
    known = METRICS.get(metric["name"])
    if known is None:
        if "unit" not in metric:
            raise Wrong(("unit", f"Required: {metric['name']} is not in the catalogue."))
    else:
        metric["unit"] = canonical_unit(metric["name"], metric["unit"]) if "unit" in metric else known.unit


WORKLOAD = Object(
    "UploadWorkload",
    {
        "slug": Field(Slug(100), required=True),
        "name": Field(Text(200)),
        "version": Field(Text(40), default=lambda: "1"),
        "kind": Field(Text(60, least=0), default=_empty),
    },
)
DBMS = Object(
    "UploadDbms",
    {
        "name": Field(Text(200), required=True),
        "version": Field(Text(120), required=True),
        "architecture": Field(Text(60, least=0), default=_empty),
        "slug": Field(Slug(100)),
    },
)
DEVICE_FACTS: dict[str, Field] = {
    "medium": _text(60),
    "model": _text(200),
    "bus": _text(60),
    "capacity_bytes": Field(Whole(1, BIG)),
    "raid": _text(60),
    "controller_cache": _text(120),
    "file_system": _text(60),
    "mount_point": _text(500),
    "mount_options": _text(500),
    "scheduler": _text(60),
    "write_cache": _text(60),
    "emulated": Field(Flag()),
    "note": _text(10_000),
}
DEVICE = Object(
    "UploadDevice",
    {"name": Field(Text(200), required=True), **DEVICE_FACTS},
    help="A storage device of the machine, found by its name or added.",
)


def _device_names(devices: list[dict[str, Any]]) -> None:
    refuse_doubles(devices, ("name",))


HARDWARE_FACTS: dict[str, Field] = {
    "os": _text(200),
    "kernel": _text(200),
    "cpu_model": _text(200),
    "cpu_cores": Field(Whole(1, 1_000_000)),
    "cpu_threads": Field(Whole(1, 1_000_000)),
    "ram_bytes": Field(Whole(1, BIG)),
    "motherboard": _text(200),
    "virtualisation": _text(100),
    "note": _text(10_000),
}
HARDWARE = Object(
    "UploadHardware",
    {
        "name": Field(Text(200), required=True),
        "slug": Field(Slug(100)),
        **HARDWARE_FACTS,
        "storage": Field(Listed(DEVICE, MAX_DEVICES, "devices", check=_device_names)),
    },
)
HARDWARE_OR_SLUG = Either(
    {str: _known(Slug(120)), dict: HARDWARE}, "The slug of a known machine, or an object, is required."
)
USE = Object(
    "UploadStorage",
    {
        "role": Field(Choice(tuple(StorageRole.values)), required=True),
        "device": Field(
            Either({str: Text(200), dict: DEVICE}, "A device's name or slug, or an object, is required."),
            required=True,
            help="Name or slug of a device of this machine, or an object that describes it.",
        ),
        "path": _text(500),
    },
    help="Which device held data, log, temporary files or backup in these runs.",
)


def _roles_once(uses: list[dict[str, Any]]) -> None:
    if len({use["role"] for use in uses}) < len(uses):
        raise Wrong(("", "A role stands there twice."))


SETTING = Object(
    "UploadSetting",
    {
        "name": Field(Text(200), required=True),
        "value": Field(SettingValue(), required=True),
        "section": Field(Text(120, least=0), default=_empty),
        "comment": Field(Text(10_000, least=0), default=_empty),
    },
)
CONFIG_FILE = Object(
    "UploadConfigFile",
    {
        "name": Field(Text(200), required=True),
        "text": Field(Raw(MAX_FILE_CHARACTERS), required=True, help="The file as it is; secrets are taken out."),
        "format": Field(Choice(tuple(FORMATS)), help="Recognised by its content unless said."),
    },
)
CONFIG_FILES = Object(
    "UploadConfigFiles",
    {"files": Field(Listed(CONFIG_FILE, MAX_FILES, "files", least=1), required=True)},
)
CONFIG = Either(
    {list: Listed(SETTING, MAX_SETTINGS, "settings"), dict: CONFIG_FILES, str: _known(Slug(120))},
    "A list of settings, an object with files, or the slug of a known configuration is required.",
)
METRIC = Object(
    "UploadMetric",
    {
        "name": Field(Text(120), required=True),
        "value": Field(Number(), required=True),
        "unit": Field(Text(40, least=0), help="Required for what the catalogue does not have."),
        "better": Field(Choice(tuple(Better.values))),
        "phase": Field(Text(20), default=lambda: "run"),
        "as_printed": Field(Text(60, least=0), help="The number as the tool printed it."),
    },
    check=_with_unit,
)
SERIES = Object(
    "UploadSeries",
    {
        "name": Field(Text(120), required=True),
        "unit": Field(Text(40, least=0), help="Required for what the catalogue does not have."),
        "t0_s": Field(Number(-1e9, 1e9, " seconds"), default=lambda: 0.0, help="Start, from the start of the warm-up."),
        "interval_s": Field(Number(1e-3, 1e6, " seconds"), default=lambda: 1.0),
        "values": Field(SeriesValues(), required=True, help="Samples in order; null is a gap."),
    },
    check=_with_unit,
)


def _series_once(rows: list[dict[str, Any]]) -> None:
    refuse_doubles(rows, ("name", "unit"))


def _counts_agree(repeat: dict[str, Any]) -> None:
    """A histogram that holds more or fewer values than there were transactions belongs to another run."""
    latencies = repeat.get("histogram")
    if latencies is None:
        return
    for metric in repeat["metrics"]:
        if metric["name"] == TRANSACTIONS and metric["phase"] == "run" and metric["value"] != latencies.count:
            raise Wrong(("histogram", f"It holds {latencies.count:,} values, transactions is {metric['value']:,.0f}."))


REPEAT = Object(
    "UploadRepeat",
    {
        "id": Field(Ident(), help="Made by the client; without it the run's id follows from the document's."),
        "started_at": Field(Moment()),
        "metrics": Field(Metrics(METRIC, MAX_METRICS), default=list),
        "series": Field(Listed(SERIES, MAX_SERIES, "series", check=_series_once), default=list),
        "histogram": Field(EncodedHistogram()),
    },
    check=_counts_agree,
)


def _ids_once(repeats: list[dict[str, Any]]) -> None:
    given = [repeat["id"] for repeat in repeats if "id" in repeat]
    if len(set(given)) != len(given):
        raise Wrong(("", "Two repeats have the same id."))


def _one_content(artefact: dict[str, Any]) -> None:
    if ("text" in artefact) == ("base64" in artefact):
        raise Wrong(("text", "Either text or base64 is required, not both."))


ARTEFACT = Object(
    "UploadArtefact",
    {
        "name": Field(Text(255), required=True),
        "media_type": Field(Text(100, least=0), default=_empty),
        "text": Field(Raw(MAX_ARTEFACT_CHARACTERS)),
        "base64": Field(Raw(MAX_ARTEFACT_CHARACTERS)),
    },
    check=_one_content,
    help="A file kept beside the runs, as `text` or as `base64`; secrets in text are taken out.",
)


def _has_numbers(document: dict[str, Any]) -> None:
    """What did not end well may have none."""
    if document["outcome"] != "finished":
        return
    empty = [index for index, one in enumerate(document["repeats"]) if not one["metrics"] and not one["series"]]
    if empty:
        raise Wrong(
            *((f"repeats[{index}].metrics", "A repeat needs at least one metric or series.") for index in empty)
        )


class _SchemaVersion:
    def read(self, value: Any) -> int:
        if type(value) is not int or value != SCHEMA_VERSION:
            raise Wrong(("", f"This server speaks version {SCHEMA_VERSION}."))
        return value

    def schema(self, components: dict[str, Any]) -> dict[str, Any]:
        return {"const": SCHEMA_VERSION}


_LINES = Listed(Text(10_000, least=0), MAX_LINES, "lines")

DOCUMENT = Object(
    "UploadDocument",
    {
        "schema_version": Field(_SchemaVersion(), required=True),
        "id": Field(Ident(), required=True, help="Made by the client: the same id with the same body is stored once."),
        "workload": Field(
            Either({str: _known(Slug(120)), dict: WORKLOAD}, "The slug of a workload, or an object, is required."),
            required=True,
        ),
        "dbms": Field(DBMS, required=True),
        "hardware": Field(HARDWARE_OR_SLUG, required=True),
        "storage": Field(Listed(USE, len(StorageRole.values), "storages", check=_roles_once)),
        "config": Field(CONFIG, help="Settings in order, duplicates kept; or the files; or a slug."),
        "factors": Field(Mapped(Factor(), MAX_FACTORS, "factor", 80), default=dict),
        "measured_on": Field(Day()),
        "started_at": Field(Moment()),
        "finished_at": Field(Moment()),
        "outcome": Field(Choice(tuple(OUTCOMES)), default=lambda: "finished"),
        "message": Field(Text(10_000, least=0), default=_empty, help="Why it failed or was aborted."),
        "durability": Field(Choice(tuple(value for value, _ in DURABILITY_CHOICES))),
        "visibility": Field(Choice(tuple(Visibility.values))),
        "note": Field(Text(10_000, least=0), default=_empty),
        "driver": Field(Free(), help="What generated the load: name, version, …"),
        "dataset": Field(Free(), help="Generator, its version, seed, sizes."),
        "command_lines": Field(_LINES, help="Secrets are taken out."),
        "warnings": Field(_LINES),
        "effective_settings": Field(SettingPairs(), help="Settings as read back from the DBMS."),
        "context": Field(Free(), help="Facts that break a series when they change: part of the cell."),
        "info": Field(Free(), help="Facts that do not."),
        "artefacts": Field(Listed(ARTEFACT, MAX_FILES, "files"), default=list),
        "repeats": Field(
            Listed(REPEAT, MAX_REPEATS, "repeats", least=1, check=_ids_once),
            required=True,
        ),
    },
    check=_has_numbers,
    help="One cell's result: everything its repeats have in common, and the repeats.",
)
ONE_OR_MANY = "UploadRequest"


def components() -> dict[str, Any]:
    """Name -> JSON Schema of every object of the document, and of what a request may hold."""
    found: dict[str, Any] = {}
    one = DOCUMENT.schema(found)
    many = {"type": "array", "items": one, "minItems": 1, "maxItems": MAX_RESULTS}
    found["UploadBatch"] = {
        "type": "object",
        "required": ["results"],
        "properties": {"results": many},
        "additionalProperties": False,
    }
    found[ONE_OR_MANY] = {"oneOf": [one, many, {"$ref": f"{REFERENCE}UploadBatch"}]}
    return dict(sorted(found.items()))


def json_schema() -> dict[str, Any]:
    """The published schema: JSON Schema 2020-12, whole in itself."""
    text = json.dumps(components()).replace(REFERENCE, "#/$defs/")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Benchsite upload, version {SCHEMA_VERSION}",
        "description": "Body of POST /api/v1/results/: one result, a list of results, or an object that holds a list.",
        "$ref": f"#/$defs/{ONE_OR_MANY}",
        "$defs": json.loads(text),
    }

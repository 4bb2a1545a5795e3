"""The upload document, version 1: what POST /api/v1/results/ takes. Later versions only add.

These models are the one declaration: they check a document, are the result that is handed on, and describe
themselves, in OpenAPI (`components`) and as the published docs/reference/upload-v1.schema.json (`json_schema`).
Every object refuses keys that it does not know, by name; `context` and `info` are free for the sender's own.
Repeats, metrics, factors and settings, of which a request holds thousands, become plain dicts: quicker made than
models, and less for the garbage collector to look at.
"""

from __future__ import annotations

import json
import re
import uuid
from array import array
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from operator import attrgetter, itemgetter
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from benchagent.catalog import METRICS, SECONDS_EACH, FactorKind, factor_role, factor_unit, refusal
from benchagent.catalog.values import FACTORS
from benchagent.configfiles import FORMATS
from benchagent.latency_map import MOST_BUCKETS, MOST_INTERVALS
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    WrapValidator,
    model_validator,
    with_config,
)
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

from runs.incoming.reading import Description
from runs.incoming.values import (
    LIST,
    OBJECT,
    STRICT,
    TEXT,
    Day,
    EncodedHistogram,
    Factor,
    FactorValue,
    Finite,
    Given,
    Labels,
    Moment,
    Name,
    NewSlug,
    OneOf,
    Path,
    Prose,
    ReadAs,
    Samples,
    SettingPairs,
    SettingValue,
    Slug,
    Start,
    Strict,
    Text,
    Word,
    by_type,
    contradiction,
    finite,
    wrong,
)
from runs.machines.facts import NewDevice, NewMachine
from runs.models.choices import DURABILITY_CHOICES, Better, RunState, StorageRole, Visibility
from runs.results.names import OPPOSITE, plain_version
from runs.run.series import without_gaps

T = TypeVar("T")
SCHEMA_VERSION = 1
MAX_RESULTS = 1000
MAX_RUNS = 10_000
MAX_REPEATS = 1000
MAX_TERMINALS = 10_000
MAX_METRICS = 500
MAX_SERIES = 200
MAX_SETTINGS = 5000
MAX_FACTORS = 100
MAX_DEVICES = 100
MAX_FILES = 50
# How the warning begins that a time is taken as UTC.
NO_ZONE = "No zone is given"
MAX_FILE_CHARACTERS = 1_000_000
MAX_ARTEFACT_CHARACTERS = 32 * 1024 * 1024
MAX_LINES = 1000
# What the run is afterwards; `aborted` is somebody's decision, as a cancelled run is.
OUTCOMES = {"finished": RunState.FINISHED, "failed": RunState.FAILED, "aborted": RunState.CANCELLED}
TRANSACTIONS = "transactions"
# Unit of the catalogue -> how sources write it too.
_SAME_UNIT = {
    "TPS": ("1/s", "tx/s", "transactions/s"), "operations/s": ("1/s", "ops/s"), "new orders/min": ("tpmc",),
    "deadlocks": ("errors",),
}  # fmt: skip
# Units that are parts of each other: of sizes in bytes, of times in seconds. GB is 1000³ bytes here, GiB 1024³.
EACH: tuple[dict[str, float], ...] = (
    {f"{letter}{i}B": base**power for i, base in (("", 1000), ("i", 1024)) for power, letter in enumerate("KMGT", 1)}
    | {"kB": 1000, "bytes": 1},
    {**SECONDS_EACH},
)
RATE = re.compile(r"TPS|IOPS|[a-z]/s")
SCALES = {"k": 1_000, "K": 1_000, "M": 1_000_000}
REFERENCE = "#/components/schemas/"
REFERENCE_TEMPLATE = f"{REFERENCE}{{model}}"

KnownSlug = Annotated[Slug, Field(description="slug of a known one"), Tag(TEXT)]
Unit = Annotated[str, Text(40, least=0), Field(description="Required for what the catalogue does not have.")]
# Kept exactly as it is, blanks and line ends included.
Content = Annotated[str, Field(max_length=MAX_ARTEFACT_CHARACTERS)]
Lines = Annotated[list[Prose], Field(max_length=MAX_LINES)]


def _roles_hold(factors: dict[str, FactorValue]) -> dict[str, FactorValue]:
    """A declared role may be stricter than that of a known name, never weaker."""
    problems = [
        ((name, "role"), f"{name} is a {known} here, and cannot be declared a {declared}.")
        for name, factor in factors.items()
        if (declared := factor["role"]) and (known := factor_role(name, declared)) != declared
    ]
    if problems:
        raise wrong(*problems)
    return factors


def _named_once(given: Any) -> Any:
    """Factors by their names without the blanks around them: "terminals " is no other factor than "terminals"."""
    if not isinstance(given, dict):
        return given
    names = [str(name).strip() for name in given]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise wrong(((twice,), "It stands there twice: blanks around a name tell nothing apart."))
    return dict(zip(names, given.values(), strict=True))


def _numbers_read(factors: dict[str, FactorValue]) -> dict[str, FactorValue]:
    """A number of the catalogue's that is sent as text is that number: "4" terminals are no others than 4."""
    for name, factor in factors.items():
        if isinstance(factor["value"], str) and name in FACTORS and FACTORS[name].kind == FactorKind.NUMBER:
            with suppress(ValueError):
                number = finite(float(factor["value"]))
                factor["value"] = factor["value"] if number is None else number
    return factors


def _in_its_unit(factors: dict[str, FactorValue]) -> dict[str, FactorValue]:
    """A size or time in another unit than that of the factor (the catalogue's, or as its name ends) is converted."""
    for name, factor in factors.items():
        own, value = factor_unit(name), factor["value"]
        given = next((each for each in EACH if factor["unit"] in each and own in each), None)
        if given and factor["unit"] != own and not isinstance(value, str):
            factor["value"], factor["unit"] = float(f"{value * given[factor['unit']] / given[own]:.12g}"), own
    return factors


def _none_negative(factors: dict[str, FactorValue]) -> dict[str, FactorValue]:
    """Numbers of the catalogue are counts, sizes, times: others may run more than is offered here, nobody below 0."""
    problems = [
        ((name,), f"Must be 0 or more, not {value:g}.")
        for name, factor in factors.items()
        if name in FACTORS and not isinstance(value := factor["value"], str) and value < 0
    ]
    if problems:
        raise wrong(*problems)
    return factors


Factors = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=80)], Factor],
    Field(max_length=MAX_FACTORS),
    BeforeValidator(_named_once),
    AfterValidator(_numbers_read),
    AfterValidator(_in_its_unit),
    AfterValidator(_none_negative),
    AfterValidator(_roles_hold),
]
Durability = Annotated[str, OneOf(tuple(value for value, _ in DURABILITY_CHOICES))]
WhoMaySee = Annotated[str, OneOf(tuple(Visibility.values))]


def _once(mark_of: Callable[[Any], Any], words: str = "") -> AfterValidator:
    """Refuses rows of which two have the same mark: their name, or a tuple that begins with it. None is no mark."""

    def check(rows: list[T]) -> list[T]:
        marks = [mark for mark in map(mark_of, rows) if mark is not None]
        if len(set(marks)) < len(marks):
            twice = next(mark for index, mark in enumerate(marks) if mark in marks[:index])
            raise wrong(("", words or f"{twice if isinstance(twice, str) else twice[0]} stands there twice."))
        return rows

    return AfterValidator(check)


class UploadWorkload(Strict):
    slug: NewSlug
    name: Given[Name] = None
    version: Annotated[str, Text(40)] = "1"
    kind: Word = ""


WorkloadOrSlug = Annotated[
    KnownSlug | Annotated[UploadWorkload, Tag(OBJECT)], by_type("The slug of a workload, or an object, is required.")
]


class UploadDbms(Strict):
    name: Name
    version: Annotated[str, Text(120)]
    architecture: Word = ""
    slug: Given[NewSlug] = None

    @model_validator(mode="after")
    def _plain(self) -> UploadDbms:
        """The document as it is kept has the version as it was given."""
        self.version = plain_version(self.name, self.version)
        return self


class UploadDevice(NewDevice):
    """A storage device of the machine, found by its name or added."""


class UploadHardware(NewMachine):
    """`machine_id` tells the machine itself, whatever its kernel, memory or name: its benchmarks go on."""

    slug: Given[NewSlug] = None
    machine_id: Annotated[str, Text(120, least=0), Field(description="As in /etc/machine-id.")] = ""
    storage: Annotated[list[UploadDevice], Field(max_length=MAX_DEVICES), _once(attrgetter("name"))] = []


HardwareOrSlug = Annotated[
    KnownSlug | Annotated[UploadHardware, Tag(OBJECT)],
    by_type("The slug of a known machine, or an object, is required."),
]


class UploadStorage(Strict):
    """Which device held data, log, temporary files or backup in these runs."""

    role: Annotated[str, OneOf(tuple(StorageRole.values))]
    device: Annotated[
        Annotated[Name, Tag(TEXT)] | Annotated[UploadDevice, Tag(OBJECT)],
        by_type("A device's name or slug, or an object, is required."),
        Field(description="Name or slug of a device of this machine, or an object that describes it."),
    ]
    path: Path = ""


@with_config(STRICT)
class UploadSetting(TypedDict):
    name: Name
    value: SettingValue
    section: NotRequired[Annotated[str, Text(120, least=0)]]
    comment: NotRequired[Prose]


class UploadConfigFile(Strict):
    name: Name
    text: Annotated[str, Field(max_length=MAX_FILE_CHARACTERS, description="The file as it is; secrets are taken out.")]
    format: Annotated[
        Given[Annotated[str, OneOf(tuple(FORMATS))]], Field(description="Recognised by its content unless said.")
    ] = None


class UploadConfigFiles(Strict):
    files: Annotated[list[UploadConfigFile], Field(min_length=1, max_length=MAX_FILES)]

    @model_validator(mode="before")
    @classmethod
    def _are_files(cls, value: Any) -> Any:
        if isinstance(value, dict) and "files" not in value:
            raise wrong(("files", "Required, or give the settings as a list: [{name, value}]."))
        return value


Config = Annotated[
    Annotated[list[UploadSetting], Field(max_length=MAX_SETTINGS), Tag(LIST)]
    | Annotated[UploadConfigFiles, Tag(OBJECT)]
    | KnownSlug,
    by_type("A list of settings, an object with files, or the slug of a known configuration is required."),
    Field(description="Settings in order, duplicates kept; or the files; or a slug."),
]


# The catalogue's word for what tools call the average.
CATALOGUE_NAMES = {"latency_avg_ms": "latency_mean_ms"}


def unit_of(name: str, given: str | None) -> str:
    """What the catalogue has gets its unit, in its spelling; any other must say its own (empty for a plain count)."""
    entry = METRICS.get(name)
    if entry is None:
        if given is None:
            known = f", which calls it {CATALOGUE_NAMES[name]}" if name in CATALOGUE_NAMES else ""
            raise wrong(("unit", f"Required: {name} is not in the catalogue{known}."))
        return given
    if given is None or given.casefold() in (entry.unit.casefold(), *_SAME_UNIT.get(entry.unit, ())):
        return entry.unit
    if {entry.unit, given} & SECONDS_EACH.keys():  # of latency_p99_ms no seconds, of tps no time at all
        raise wrong(("unit", f"{name} is in {entry.unit}, not in {given}: convert the value, or name it otherwise."))
    return given


def scale_of(name: str, given: str | None) -> int:
    """By what values in this unit are multiplied: kTPS are thousands of a rate of the catalogue."""
    entry = METRICS.get(name)
    is_rate = entry is not None and RATE.search(entry.unit) is not None
    if entry is None or given is None or not is_rate or given[:1] not in SCALES:
        return 1
    plain = given[1:].strip().casefold()
    return SCALES[given[:1]] if plain in (entry.unit.casefold(), *_SAME_UNIT.get(entry.unit, ())) else 1


@with_config(STRICT)
class UploadMetric(TypedDict):
    name: Annotated[str, Text(120)]
    value: Finite
    unit: NotRequired[Unit]
    better: NotRequired[Annotated[str, OneOf(tuple(Better.values))]]
    phase: NotRequired[Annotated[str, Text(20)]]
    as_printed: NotRequired[Annotated[str, Text(60, least=0), Field(description="The number as the tool printed it.")]]


def _completed(metric: UploadMetric) -> UploadMetric:
    if (scale := scale_of(metric["name"], metric.get("unit"))) > 1:
        metric.setdefault("as_printed", f"{metric['value']:g} {metric['unit']}")
        metric["value"], metric["unit"] = metric["value"] * scale, metric["unit"][1:].strip()
    metric["unit"] = unit_of(metric["name"], metric.get("unit"))
    entry = METRICS.get(metric["name"])
    if entry and entry.unit == metric["unit"] and metric.get("better", "") == OPPOSITE.get(entry.better):
        raise wrong(("better", f"Of {entry.name} {entry.better} is better. Leave it out, or name it otherwise."))
    if why := refusal(metric["name"], metric["value"], metric["unit"]):
        raise wrong(("value", f"{why}."))
    metric.setdefault("phase", "run")
    return metric


Metric = Annotated[UploadMetric, AfterValidator(_completed)]


class _NameAbove:
    """Describes an entry of the object form: a number, or a metric that need not repeat its name."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        named = dict(handler.resolve_ref_schema(handler(schema)))
        named["required"] = [name for name in named["required"] if name != "name"]
        return {"oneOf": [{"type": "number"}, named]}


def _by_name(entries: Any, read: Callable[[Any], dict[str, UploadMetric]]) -> list[UploadMetric]:
    """The metrics of the object form; an entry may repeat the name that its key says, and no other."""
    named = {
        name: {"name": name, **entry} if isinstance(entry, dict) else {"name": name, "value": entry}
        for name, entry in entries.items()
    }
    metrics = read(named)
    problems = [
        ((key, "name"), f"Its key says {key}.") for key, metric in metrics.items() if metric["name"] != key.strip()
    ]
    if problems:
        raise wrong(*problems)
    return list(metrics.values())


_METRICS_BY_NAME = Annotated[
    dict[str, Annotated[Metric, _NameAbove()]], Field(max_length=MAX_METRICS), WrapValidator(_by_name)
]
Metrics = Annotated[
    list[UploadMetric],
    ReadAs(
        Annotated[
            Annotated[list[Metric], Field(max_length=MAX_METRICS), Tag(LIST)]
            | Annotated[_METRICS_BY_NAME, Tag(OBJECT)],
            by_type("A list of metrics or an object is required."),
            _once(itemgetter("name", "unit", "phase")),
        ]
    ),
]


class UploadSeries(Strict):
    name: Annotated[str, Text(120)]
    unit: Unit = ""
    t0_s: Annotated[
        Finite,
        Field(
            ge=-1e9,
            le=1e9,
            description="Start, from the start of the warm-up; of samples of just the window from its own.",
        ),
    ] = 0.0
    interval_s: Annotated[Finite, Field(ge=1e-3, le=1e6)] = 1.0
    values: Annotated[Samples, Field(description="Samples in order; null is a gap.")]

    @model_validator(mode="after")
    def _with_unit(self) -> UploadSeries:
        if (scale := scale_of(self.name, self.unit)) > 1:
            self.unit = self.unit[1:].strip()
            self.values = array("d", [value * scale for value in self.values])
        self.unit = unit_of(self.name, self.unit if "unit" in self.model_fields_set else None)
        numbers = without_gaps(self.values)
        for extreme in (min(numbers), max(numbers)) if numbers else ():
            if why := refusal(self.name, extreme, self.unit):
                raise wrong((("values", list(self.values).index(extreme)), f"{why}."))
        return self


Ident = Annotated[uuid.UUID, Field(strict=False)]


PerTerminal = Annotated[
    list[Annotated[int, Field(ge=0, le=10**12)]],
    Field(min_length=1, max_length=MAX_TERMINALS, description="Transactions of each terminal in the measured window."),
]


def _by_bucket(flat: list[int]) -> list[int]:
    buckets = flat[::2]
    if len(flat) % 2 or buckets != sorted(set(buckets)) or max(buckets, default=0) >= MOST_BUCKETS:
        raise wrong(("", f"Pairs of a bucket, rising and below {MOST_BUCKETS}, and a number of transactions."))
    return flat


@with_config(STRICT)
class UploadLatencyMap(TypedDict):
    interval_s: Annotated[int, Field(ge=1, le=10**7)]
    counts: Annotated[
        list[
            Annotated[
                list[Annotated[int, Field(ge=0, le=10**12)]],
                Field(max_length=2 * MOST_BUCKETS),
                AfterValidator(_by_bucket),
            ]
        ],
        Field(
            max_length=MOST_INTERVALS,
            description="Of each interval: bucket, transactions, bucket, transactions …; bucket k holds what took from "
            "2^(k/2) to less than 2^((k+1)/2) microseconds.",
        ),
    ]


@with_config(STRICT)
class UploadRepeat(TypedDict):
    id: NotRequired[
        Annotated[Ident, Field(description="Made by the client; without it the run's id follows from the document's.")]
    ]
    started_at: NotRequired[Start]
    metrics: NotRequired[Metrics]
    series: NotRequired[Annotated[list[UploadSeries], Field(max_length=MAX_SERIES), _once(attrgetter("name", "unit"))]]
    histogram: NotRequired[EncodedHistogram]
    latency_map: NotRequired[UploadLatencyMap]
    per_terminal: NotRequired[PerTerminal]


def _counts_agree(repeat: UploadRepeat) -> UploadRepeat:
    """What holds more or fewer transactions than there were belongs to another run.

    At a fixed rate a histogram also holds what was due and never begun, as waiting until the end.
    """
    metrics = repeat.setdefault("metrics", [])
    repeat.setdefault("series", [])
    counts = {entry["name"]: entry["value"] for entry in metrics if entry["phase"] == "run"}
    done = counts.get(TRANSACTIONS)
    of_terminals = sum(repeat.get("per_terminal", ()))
    if "per_terminal" in repeat and done not in (None, of_terminals):
        raise wrong(("per_terminal", f"The terminals made {of_terminals:,} together, transactions is {done:,.0f}."))
    if "histogram" not in repeat:
        return repeat
    count = repeat["histogram"].count
    if count and (why := refusal("latency_max_ms", repeat["histogram"].percentiles_us([100])[0] / 1000)):
        raise wrong(("histogram", f"{why}."))
    if done is not None and not done <= count <= done + counts.get("unstarted", 0):
        raise wrong(("histogram", f"It holds {count:,} values, transactions is {done:,.0f}."))
    return repeat


Repeat = Annotated[UploadRepeat, AfterValidator(_counts_agree)]


class UploadArtefact(Strict):
    """A file kept beside the runs, as `text` or as `base64`; secrets in text are taken out."""

    name: Annotated[str, Text(255)]
    media_type: Annotated[str, Text(100, least=0)] = ""
    text: Given[Content] = None
    base64: Given[Content] = None

    @model_validator(mode="after")
    def _one_content(self) -> UploadArtefact:
        if (self.text is None) == (self.base64 is None):
            raise wrong(("text", "Either text or base64 is required, not both."))
        return self


def _spoken_version(value: Any) -> Any:
    if type(value) is not int or value != SCHEMA_VERSION:
        raise wrong(("", f"This server speaks version {SCHEMA_VERSION}."))
    return value


class UploadDocument(Labels):
    """One cell's result: everything its repeats have in common, and the repeats."""

    schema_version: Annotated[Literal[1], BeforeValidator(_spoken_version)]
    id: Annotated[Ident, Field(description="Made by the client: the same id with the same body is stored once.")]
    batch: Annotated[
        Given[Ident],
        Field(description="Made by the client: documents with the same one were measured together. Else each alone."),
    ] = None
    workload: WorkloadOrSlug
    dbms: UploadDbms
    hardware: HardwareOrSlug
    storage: Annotated[
        list[UploadStorage],
        Field(max_length=len(StorageRole.values)),
        _once(attrgetter("role"), "A role stands there twice."),
    ] = []
    config: Given[Config] = None
    factors: Factors = {}
    measured_on: Given[Day] = None
    started_at: Annotated[Given[Start], Field(description="A date stays a date; without a zone it is UTC.")] = None
    finished_at: Given[Moment] = None
    outcome: Annotated[str, OneOf(tuple(OUTCOMES))] = "finished"
    message: Annotated[Prose, Field(description="Why it failed or was aborted.")] = ""
    durability: Given[Durability] = None
    visibility: Given[WhoMaySee] = None
    note: Prose = ""
    driver: Annotated[dict[str, Any], Field(description="What generated the load: name, version, …")] = {}
    dataset: Annotated[dict[str, Any], Field(description="Generator, its version, seed, sizes.")] = {}
    command_lines: Annotated[Lines, Field(description="Secrets are taken out.")] = []
    warnings: Lines = []
    effective_settings: Annotated[SettingPairs, Field(description="Settings as read back from the DBMS.")] = []
    context: Annotated[
        dict[str, Any], Field(description="Facts that break a series when they change: part of the cell.")
    ] = {}
    info: Annotated[dict[str, Any], Field(description="Facts that do not.")] = {}
    artefacts: Annotated[list[UploadArtefact], Field(max_length=MAX_FILES)] = []
    repeats: Annotated[
        list[Repeat],
        Field(min_length=1, max_length=MAX_REPEATS),
        _once(lambda repeat: repeat.get("id"), "Two repeats have the same id."),
    ]

    @model_validator(mode="after")
    def _whole(self) -> UploadDocument:
        """Every repeat gets an id, and has numbers unless it did not end well; nothing ends before it begins."""
        self._settle_times()
        if isinstance(self.started_at, datetime) and self.finished_at and self.finished_at < self.started_at:
            raise wrong(("finished_at", "It is before started_at."))
        for number, repeat in enumerate(self.repeats, 1):
            repeat.setdefault("id", uuid.uuid5(self.id, str(number)))
        empty = [index for index, repeat in enumerate(self.repeats) if not repeat["metrics"] and not repeat["series"]]
        if empty and self.outcome == "finished":
            problem = "A repeat needs at least one metric or series."
            raise wrong(*((("repeats", index, "metrics"), problem) for index in empty))
        return self

    def _settle_times(self) -> None:
        """What has no zone becomes UTC, with a warning that says it; a start without a time becomes the day."""
        without_zone = [name for name in ("started_at", "finished_at") if _has_no_zone(getattr(self, name))]
        for name in without_zone:
            setattr(self, name, getattr(self, name).replace(tzinfo=UTC))
        for index, repeat in enumerate(self.repeats):
            if isinstance(start := repeat.get("started_at"), datetime) and _has_no_zone(start):
                repeat["started_at"] = start.replace(tzinfo=UTC)
                without_zone.append(f"repeats[{index}].started_at")
        if without_zone:
            self.warnings = [*self.warnings, f"{NO_ZONE}: {', '.join(without_zone[:5])} is taken as UTC."]
        starts = [self.started_at, *(repeat.get("started_at") for repeat in self.repeats)]
        if why := contradiction(self.measured_on, [*starts, self.finished_at]):
            raise wrong(("measured_on", why))
        if not isinstance(self.started_at, datetime) and self.started_at is not None:
            self.measured_on, self.started_at = self.started_at, None


def _has_no_zone(moment: object) -> bool:
    return isinstance(moment, datetime) and moment.tzinfo is None


ONE_OR_MANY = "UploadRequest"


def components() -> dict[str, Any]:
    """Name -> JSON Schema of every object of the document, and of what a request may hold."""
    described = UploadDocument.model_json_schema(ref_template=REFERENCE_TEMPLATE, schema_generator=Description)
    schemas = {**described.pop("$defs"), UploadDocument.__name__: described}
    single = {"$ref": f"{REFERENCE}{UploadDocument.__name__}"}
    many = {"type": "array", "items": single, "minItems": 1, "maxItems": MAX_RESULTS}
    schemas["UploadBatch"] = {
        "type": "object",
        "required": ["results"],
        "properties": {"results": many},
        "additionalProperties": False,
    }
    schemas[ONE_OR_MANY] = {"oneOf": [single, many, {"$ref": f"{REFERENCE}UploadBatch"}]}
    return dict(sorted(schemas.items()))


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

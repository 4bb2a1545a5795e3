"""What an importer takes and gives. Pure: no server, no account, no database, nothing written.

An importer recognises its tool by content and prefers "not understood" to a wrong number: whatever it cannot be sure
of (a line cut in the middle, figures that contradict each other, an unknown wording) it does not report.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, Protocol, TypeVar

Scalar = str | int | float | bool
Made = TypeVar("Made")
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
GZIP_MAGIC = b"\x1f\x8b"


class Status(StrEnum):
    COMPLETE = "complete"
    # Stopped before its end: by a person, a lost connection, a cut file.
    ABORTED = "aborted"
    # Ran and says itself that it failed, or never began.
    FAILED = "failed"
    NOT_UNDERSTOOD = "not_understood"


class NotUnderstood(ValueError):
    """Raised by an importer that claimed a file and then cannot trust it; the text says what and where."""


@dataclass(frozen=True)
class Metric:
    """One number. `name` and `unit` follow the catalogue's words: tps/TPS, latency_avg_ms/ms, …"""

    name: str
    unit: str
    value: float
    phase: str = "run"
    better: str | None = None


# Unit, and which direction is better, of the names that importers give; also as the end of a longer name.
_UNITS = {
    "tps": ("TPS", "higher"), "tps_with_connections": ("TPS", "higher"), "qps": ("queries/s", "higher"),
    "tpm": ("TPM", "higher"), "tpmc": ("tpmC", "higher"), "nopm": ("NOPM", "higher"), "qphh": ("QphH", "higher"),
    "ops_per_s": ("ops/s", "higher"), "requests_per_s": ("requests/s", "higher"),
    "goodput_per_s": ("requests/s", "higher"), "read_write_requests_per_s": ("requests/s", "higher"),
    "read_queries_per_s": ("queries/s", "higher"), "write_queries_per_s": ("queries/s", "higher"),
    "fsync_per_s": ("fsyncs/s", "higher"), "errors_per_s": ("errors/s", "lower"),
    "deadlocks_per_s": ("errors/s", "lower"), "reconnects_per_s": ("reconnects/s", "lower"),
    "iops": ("IOPS", "higher"), "mb_per_s": ("MB/s", "higher"), "ms": ("ms", "lower"), "s": ("s", "lower"),
    "elapsed_s": ("s", "none"), "efficiency_pct": ("%", "none"), "transactions": ("transactions", "none"),
    "failed_transactions": ("transactions", "lower"), "retried_transactions": ("transactions", "lower"),
    "skipped_transactions": ("transactions", "lower"), "late_transactions": ("transactions", "lower"),
    "serialization_failures": ("transactions", "lower"), "deadlock_failures": ("transactions", "lower"),
    "failures": ("errors", "lower"), "errors": ("errors", "lower"), "deadlocks": ("errors", "lower"),
    "retries": ("retries", "lower"), "reconnects": ("reconnects", "lower"), "queries": ("queries", "none"),
    "events": ("events", "none"), "unfinished": ("events", "lower"), "queue_length": ("events", "none"),
    "concurrency": ("events", "none"), "operations": ("operations", "none"), "fsyncs": ("operations", "none"),
    "rows": ("rows", "none"), "size_bytes": ("bytes", "none"), "backup_size_bytes": ("bytes", "lower"),
    "page_reads": ("pages", "lower"), "page_writes": ("pages", "lower"),
}  # fmt: skip


@cache
def unit_of(name: str) -> tuple[str, str]:
    """Unit and better direction of a metric or series: of its name, else of the end of it that is known."""
    rest = name
    while rest not in _UNITS:
        _, more, rest = rest.partition("_")
        if not more:
            raise KeyError(f"no unit is known of {name}")
    return _UNITS[rest]


def measured(name: str, value: float, phase: str = "run", *, better: str = "", unit: str = "") -> Metric:
    """A metric with the unit and the direction that its name has."""
    known = unit_of(name)
    return Metric(name, unit or known[0], value, phase, better or known[1])


@dataclass(frozen=True)
class Series:
    """Evenly spaced samples; None is a gap. `t0_s`: where the first interval begins."""

    name: str
    unit: str
    interval_s: float
    values: tuple[float | None, ...]
    t0_s: float = 0.0

    @property
    def points(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Subject:
    """What the file itself says of the DBMS, the workload and the machine; empty where it says nothing."""

    workload: str = ""
    workload_name: str = ""
    dbms: str = ""
    dbms_version: str = ""
    hardware: dict[str, Scalar] = field(default_factory=dict)
    storage: tuple[dict[str, Scalar], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Report:
    """One run as a file tells it.

    `parameters` are what the tool was told (scale_factor, terminals, duration_s, …); they become factors.
    `part_of` names the file whose report includes this one's content (per-thread logs are summed there).
    `histogram` is HdrHistogram V2, compressed, base64; empty where there is none.
    """

    tool: str
    status: Status
    tool_version: str = ""
    parameters: dict[str, Scalar] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    series: tuple[Series, ...] = ()
    warnings: tuple[str, ...] = ()
    # Why it is aborted, failed or not understood.
    reason: str = ""
    subject: Subject = Subject()
    started_at: str = ""
    command_lines: tuple[str, ...] = ()
    histogram: str = ""
    part_of: str = ""

    def metric(self, name: str) -> float | None:
        return next((metric.value for metric in self.metrics if metric.name == name), None)


@dataclass(frozen=True)
class SourceFile:
    """A file as it came. `name` is never used to recognise a tool, only to say what belongs together."""

    name: str
    data: bytes
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, what: str, make: Callable[[], Made]) -> Made:
        """What is worked out of the content, once for all who ask for it."""
        if what not in self._made:
            self._made[what] = make()
        made: Made = self._made[what]
        return made

    @cached_property
    def unpacked(self) -> bytes:
        """The content, unzipped where it is gzip. Raises NotUnderstood for a broken or too large archive."""
        if not self.data.startswith(GZIP_MAGIC):
            return self.data
        try:
            stream = zlib.decompressobj(wbits=31)
            data = stream.decompress(self.data, MAX_UNPACKED_BYTES)
        except zlib.error as error:
            raise NotUnderstood(f"broken gzip: {error}") from error
        if not stream.eof:
            raise NotUnderstood("the gzip file is cut, or larger than 256 MB unpacked")
        rest = stream.unused_data.strip(b"\x00")
        if rest:
            try:
                data += gzip.decompress(rest)
            except (OSError, EOFError, zlib.error) as error:
                raise NotUnderstood(f"something follows the gzip data: {error}") from error
        return data

    @cached_property
    def text(self) -> str:
        r"""The content as text with `\n` line ends. Raises NotUnderstood for what is not text."""
        data = self.unpacked
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            try:
                text = data.decode("utf-16")
            except UnicodeDecodeError as error:
                raise NotUnderstood("not text: broken UTF-16") from error
        else:
            if b"\x00" in data:
                raise NotUnderstood("not text: it contains NUL bytes")
            text = _decoded(data)
        if any(character < " " and character not in "\t\n\r\f\x1b\b" for character in set(text)):
            raise NotUnderstood("not text: it contains control characters")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """Lines without their ends."""
        return self.text.removesuffix("\n").split("\n") if self.text else []

    @property
    def last_line_is_whole(self) -> bool:
        """False when the text does not end with a line end: its last line may be cut, and so may its last number."""
        return self.text.endswith("\n")


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


class Importer(Protocol):
    """One module under `benchagent.importers`, listed in `MODULES`."""

    TOOL: str

    def claims(self, file: SourceFile) -> bool:
        """Whether the content is this tool's. Cheap, by marks that no other tool prints. May raise NotUnderstood."""

    def read(self, file: SourceFile) -> Sequence[Report]:
        """Every run of the file, in order. Raises NotUnderstood rather than guess."""

    def combine(self, read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
        """Put together what belongs together (logs of the threads of one run, the files of one run).

        Gives back the same files in the same order. Files of one run: the first holds the whole, the others' reports
        have `part_of` and no numbers of their own, so that nothing counts twice.
        """


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def number(text: str) -> float:
    """A plain decimal number with a point. Raises NotUnderstood for anything else: a comma may mean two things."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise NotUnderstood(f"not a plain number: {text[:40]!r}")
    value = float(text)
    if not math.isfinite(value):
        raise NotUnderstood(f"not a finite number: {text[:40]!r}")
    return value


def whole(text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise NotUnderstood(f"not a whole number: {text[:40]!r}")
    return int(text)


def agree(left: float, right: float, *, relative: float, absolute: float = 0.0) -> bool:
    """Whether two ways to the same figure say the same, within the rounding of what was printed."""
    return math.isclose(left, right, rel_tol=relative, abs_tol=absolute)


def not_understood(reason: str, *, tool: str = "", warnings: Sequence[str] = ()) -> Report:
    return Report(tool=tool, status=Status.NOT_UNDERSTOOD, reason=reason, warnings=tuple(warnings))


def as_they_are(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    """`combine` of a tool whose files stand alone."""
    return [(file, list(reports)) for file, reports in read]


def as_part_of(report: Report, file: SourceFile) -> Report:
    """The report of a file whose numbers are in another's."""
    return replace(report, metrics=(), series=(), histogram="", part_of=file.name)


def as_json(file: SourceFile, report: Report) -> dict[str, Any]:
    """One entry of `benchctl inspect --json`."""
    return {
        "file": file.name,
        "tool": report.tool or None,
        "tool_version": report.tool_version or None,
        "status": report.status.value,
        "reason": report.reason or None,
        "parameters": report.parameters,
        "metrics": [
            {"name": metric.name, "unit": metric.unit, "value": metric.value, "phase": metric.phase}
            for metric in report.metrics
        ],
        "series": [
            {
                "name": one.name, "unit": one.unit, "interval": one.interval_s, "t0_s": one.t0_s, "points": one.points,
            }
            for one in report.series
        ],
        "warnings": [*report.warnings],
        "subject": {
            "workload": report.subject.workload or None,
            "dbms": report.subject.dbms or None,
            "dbms_version": report.subject.dbms_version or None,
            "hardware": report.subject.hardware,
            "settings": len(report.subject.settings),
        },
        "started_at": report.started_at or None,
        "histogram": bool(report.histogram),
        "part_of": report.part_of or None,
    }  # fmt: skip

"""What the lines of one run of sysbench say."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field

from benchagent.importers.lines import Line, without_comment
from benchagent.importers.source import NotUnderstood, agree
from benchagent.importers.sysbench.tables import (
    DAMAGED_OPTION,
    EXTRACT,
    OPENING,
    OPTIONS,
    PROGRESS,
    REPORT,
    STEPS,
    TESTS,
)
from benchagent.importers.tables import Figures, damage_of

MIB_IN_MB = 1.048576
_STAMP = re.compile(r"\[ *(?P<time>\d+)s *\] (?P<rest>.*)")
# The hooks of Percona's sysbench-tpcc: time, threads, tps, qps, reads, writes, others, latency, errors, reconnects.
_CSV = re.compile(r"(\d+),(\d+)" + r",(\d+\.\d\d)" * 8)
_HISTOGRAM_ROW = re.compile(r"(\d+\.\d{3}) \|\** +(\d+)")
_CHECKPOINT = re.compile(r"\[ *(?P<time>\d+)s *\] Checkpoint report:")


def milliseconds(text: str) -> float | None:
    """0.4 prints seconds, 0.5 milliseconds with their unit, 1.0 milliseconds under a heading that says so."""
    if not text:
        return None
    scale = 1000 if text.endswith("s") and not text.endswith("ms") else 1
    return round(float(text.rstrip("ms")) * scale, 6)


@dataclass(frozen=True)
class Sample:
    """One intermediate report. `rank`: of the latency's percentile, None where the line does not say it."""

    line: int
    time_s: int
    values: dict[str, float]
    rank: int | None = None
    # How many threads the line says were running; None where it does not.
    threads: int | None = None


def _sample(number: int, time_s: int, told: dict[str, str]) -> Sample:
    """Raises NotUnderstood where the kinds of queries do not add up."""
    rank, threads = told.pop("rank", None), told.pop("threads", None)
    figures = {name: float(text) for name, text in told.items()}
    parts = [figures.pop(name) for name in ("reads", "writes", "others") if name in figures]
    if parts and not agree(sum(parts), figures["qps"], relative=0, absolute=0.031):
        raise NotUnderstood(f"reads, writes and others are not the {figures['qps']} queries a second")
    values = {
        name.replace("_mib_", "_mb_"): round(value * MIB_IN_MB, 4) if "_mib_" in name else value
        for name, value in figures.items()
        if name != "latency"
    }
    if "latency" in figures and rank != "0":
        values["latency"] = figures["latency"]
    return Sample(number, time_s, values, int(rank) if rank else None, int(threads) if threads else None)


def _from_json(number: int, text: str) -> Sample:
    try:
        said = json.loads(text)
        queries = said["qps"]
        told = {
            "tps": said["tps"], "qps": queries["total"], "reads": queries["reads"], "writes": queries["writes"],
            "others": queries["other"], "latency": said["latency"], "errors_per_s": said["errors"],
            "reconnects_per_s": said["reconnects"], "threads": int(said["threads"]),
        }  # fmt: skip
        return _sample(number, int(said["time"]), {name: str(value) for name, value in told.items()})
    except (ValueError, KeyError, TypeError) as error:
        raise NotUnderstood(f"not a report of sysbench's JSON hook: {error}") from error


@dataclass
class Block(Figures):
    """One report: of a checkpoint, or the last one. `checkpoint_s` is None for the last."""

    checkpoint_s: int | None = None
    # Some lines of a report only, without its beginning.
    extract: bool = False

    @property
    def ended(self) -> bool:
        # 1.1 prints no fairness of threads for fileio.
        return "fair_time" in self or ("file_fsync" in self and "sum" in self)

    def ms(self, key: str) -> float | None:
        return milliseconds(self.text(key))


@dataclass
class Run:
    """One call of sysbench: of a test, or of its preparation or cleanup."""

    line: int
    version: str = ""
    options: dict[str, str] = field(default_factory=dict)
    # "Running the test with following options", "Threads started!"
    announced: bool = False
    started: bool = False
    samples: list[Sample] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    histogram: list[tuple[float, int]] | None = None
    steps: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    command_lines: list[str] = field(default_factory=list)
    cut: bool = False
    # Whether the file holds lines that were taken out of reports.
    extracts: bool = False
    bad_progress: str = ""
    # Whether other text stands behind the report, so that what is missing was left out and not cut off.
    followed: bool = False
    never_began: bool = False
    _in_histogram: bool = False
    _checkpoint_s: int | None = None
    _json: list[str] | None = None
    _json_line: int = 0

    @property
    def ended(self) -> bool:
        return bool(self.blocks) and self.blocks[-1].checkpoint_s is None and self.blocks[-1].ended

    @property
    def has_foreign_samples(self) -> bool:
        """A line of more threads than the run has, or of more than the line before it: they only end."""
        running = [sample.threads for sample in self.samples if sample.threads is not None]
        told = int(self.options.get("threads") or 0)
        return bool(told and max(running, default=0) > told) or any(a < b for a, b in itertools.pairwise(running))

    def is_over(self, line: Line) -> bool:
        """Whether the line, which no heading announces, can only be of a next run."""
        block = self.blocks[-1] if self.blocks else None
        if block is None or block.checkpoint_s is not None or self._checkpoint_s is not None or self._json is not None:
            return False
        if _STAMP.fullmatch(line.text) or _CSV.fullmatch(line.text) or line.text.startswith("Number of threads: "):
            return self.ended
        match = REPORT.match(line)
        if match is None or match.cut:
            return False
        if block.extract:
            return match.key in OPENING or (match.rank <= block.rank and block.rows.get(match.key) != match.values)
        told = block.ended or "events" in block or "memory_bytes" in block
        return match.key in OPENING and match.rank < block.rank and told

    def take_option(self, line: Line) -> bool:
        """Whether the line is of the options or of a preparation. Raises NotUnderstood where two lines differ."""
        if self.blocks or self.samples:
            return False
        if line.whole:
            line = line._replace(text=without_comment(line.text))
        if test := TESTS.match(line):
            self.options.setdefault("test", test.key)
        if option := OPTIONS.match(line):
            if option.cut:
                self.cut = True
            else:
                self._set(line, option.key, option.values.get("value", "."))
            return True
        if line.whole and DAMAGED_OPTION.match(line.text):
            raise NotUnderstood(f"{damage_of(line.text, 'sysbench')}: {line.text[:60]!r}")
        if step := STEPS.match(line):
            self.steps.append(step.key)
            self.cut = self.cut or step.cut
            names = {"rows": "table_size_rows", "bytes": "written_bytes", "load_s": "load_s", "mib_per_s": "load_mib_s"}
            for name, value in step.values.items():
                self._set(line, names[name], value)
            return True
        self.cut = self.cut or bool(self.steps and not line.whole and line.text)
        return False

    def _set(self, line: Line, name: str, value: str) -> None:
        if self.options.setdefault(name, value) != value:
            raise NotUnderstood(f"says {line.text[:60]!r}, an earlier line something else")

    def take(self, line: Line) -> bool:
        """Whether the line is one of the run's reports."""
        if checkpoint := _CHECKPOINT.fullmatch(line.text):
            if self.blocks and not self.blocks[-1].ended:
                raise NotUnderstood("a checkpoint within a report")
            self._checkpoint_s = int(checkpoint["time"])
            return True
        return self._take_json(line) or self._take_sample(line) or self._take_histogram(line) or self._take_figure(line)

    def _take_sample(self, line: Line) -> bool:
        stamped = re.match(r"\[ *\d+s *\]", line.text)
        if not stamped and not (re.match(r"\d+,\d+,\d", line.text) and line.text.count(",") >= 9):
            return False
        # The last figure of the CSV has two decimals: cut behind them it is the same number.
        if stamped and not line.whole:
            self.cut = True
            return True
        commented = line.text.count("  ") or "#" in line.text
        stamp = _STAMP.fullmatch(without_comment(line.text) if commented else line.text) if stamped else None
        match = next(filter(None, (row.fullmatch(stamp["rest"]) for row in PROGRESS)), None) if stamp else None
        csv = None if stamped else _CSV.fullmatch(line.text)
        try:
            if stamp and match:
                told = {name: text for name, text in match.groupdict().items() if text is not None}
                self.samples.append(_sample(line.number, int(stamp["time"]), told))
            elif csv:
                names = ("threads", "tps", "qps", "reads", "writes", "others", "latency", "errors_per_s",
                         "reconnects_per_s")  # fmt: skip
                told = dict(zip(names, csv.groups()[1:], strict=True))
                self.samples.append(_sample(line.number, int(csv[1]), told))
            elif not stamped and not line.whole:
                self.cut = True
            elif stamp or not stamped:
                raise NotUnderstood(f"{damage_of(line.text, 'sysbench')}: {line.text[:80]!r}")
        except NotUnderstood as error:
            self.bad_progress = self.bad_progress or f"line {line.number}: {error}"
        return True

    def _take_json(self, line: Line) -> bool:
        """The objects of the JSON hook, one a report, each over several lines."""
        if self._json is None and line.text == "{" and self.started and not self.blocks:
            self._json, self._json_line = [], line.number
        if self._json is None:
            return line.text in ("[", "]", ",") and self.started
        # The hook's closing bracket comes when sysbench ends, so the report may follow on the same line.
        last, report, _ = line.text.partition("SQL statistics:")
        self._json.append(last)
        if report:
            self._take_figure(Line(line.number, report))
        text = "\n".join(self._json)
        if text.count("{") == text.count("}"):
            self.samples.append(_from_json(self._json_line, text.rstrip(",\n ")))
            self._json = None
        elif len(self._json) > 20:
            raise NotUnderstood("an object of the JSON hook does not end")
        return True

    def _take_histogram(self, line: Line) -> bool:
        if line.text.startswith("Latency histogram (values are in milliseconds)"):
            if self.histogram:
                raise NotUnderstood("a second histogram")
            self.histogram, self._in_histogram = [], True
            return True
        if not self._in_histogram or self.histogram is None:
            return False
        if line.text.startswith("value  ---"):
            return True
        row = _HISTOGRAM_ROW.fullmatch(line.text)
        if row and line.whole:
            self.histogram.append((float(row[1]), int(row[2])))
            return True
        self._in_histogram = not line.text
        return False

    def _take_figure(self, line: Line) -> bool:
        if line.text == "Throughput:":
            return True
        match = REPORT.match(line)
        if match is None:
            self.followed = self.followed or bool(self.blocks and line.text and line.whole)
            return False
        if match.cut:
            self.cut = True
            return True
        block = self.blocks[-1] if self.blocks else None
        if block is None or (match.key in OPENING and (block.ended or self._checkpoint_s is not None)):
            if match.key not in OPENING and not (self.extracts and match.key in EXTRACT):
                raise NotUnderstood(f"a report without its beginning: {line.text[:60]!r}")
            block = Block(line.number, checkpoint_s=self._checkpoint_s, extract=match.key not in OPENING)
            self._checkpoint_s = None
            self.blocks.append(block)
        block.add(line, match)
        return True

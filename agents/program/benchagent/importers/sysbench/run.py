"""What the lines of one run of sysbench say, before it is judged."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from benchagent.importers.base import NotUnderstood
from benchagent.importers.dressing import Line
from benchagent.importers.sysbench import progress
from benchagent.importers.sysbench.lines import EXTRACT, OPENING, RANK, Found, matched, why
from benchagent.importers.sysbench.progress import Sample

_HISTOGRAM_ROW = re.compile(r"(\d+\.\d{3}) \|\** +(\d+)")
_CHECKPOINT = re.compile(r"\[ *(?P<time>\d+)s *\] Checkpoint report:")


@dataclass
class Block:
    """One report: of a checkpoint, or the last one. `checkpoint_s` is None for the last."""

    line: int
    checkpoint_s: int | None = None
    figures: dict[str, Found] = field(default_factory=dict)
    rank: int = -1
    # Some lines of a report only, without its beginning.
    extract: bool = False

    @property
    def ended(self) -> bool:
        # 1.1 prints no fairness of threads for fileio.
        return "fair_time" in self.figures or ("file_fsync" in self.figures and "sum" in self.figures)

    def value(self, key: str, place: int = 0) -> str | None:
        found = self.figures.get(key)
        return found.values[place] if found else None

    def number(self, key: str, place: int = 0) -> float:
        return float(self.value(key, place) or 0)

    def add(self, line: Line, found: Found) -> None:
        known = self.figures.get(found.key)
        if known and known.values == found.values:
            return
        if known:
            raise NotUnderstood(f"line {line.number}: says {line.text[:60]!r}, an earlier line something else")
        if RANK[found.key] < self.rank:
            raise NotUnderstood(f"line {line.number}: out of order: {line.text[:60]!r}")
        self.rank = RANK[found.key]
        self.figures[found.key] = found


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
    extracts: bool = False
    # Why the run cannot be read; its further lines are passed over.
    spoiled: str = ""
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
        return bool(told and any(one > told for one in running)) or any(a < b for a, b in itertools.pairwise(running))

    def is_over(self, line: Line) -> bool:
        """Whether the line, which no heading announces, can only be of a next run."""
        block = self.blocks[-1] if self.blocks else None
        if block is None or block.checkpoint_s is not None or self._checkpoint_s is not None or self._json is not None:
            return False
        sample = progress.STAMP.fullmatch(line.text) or progress.CSV.fullmatch(line.text)
        if sample or line.text.startswith("Number of threads: "):
            return self.ended
        found = matched(line)
        if found is None or found.key == "cut":
            return False
        if block.extract:
            known = block.figures.get(found.key)
            return found.key in OPENING or (
                RANK[found.key] <= block.rank and (not known or known.values != found.values)
            )
        told = block.ended or "events" in block.figures or "memory_bytes" in block.figures
        return found.key in OPENING and RANK[found.key] < block.rank and told

    def take(self, line: Line) -> bool:
        """Whether the line is one of the run's reports."""
        if checkpoint := _CHECKPOINT.fullmatch(line.text):
            if self.blocks and not self.blocks[-1].ended:
                raise NotUnderstood(f"line {line.number}: a checkpoint within a report")
            self._checkpoint_s = int(checkpoint["time"])
            return True
        return self._take_json(line) or self._take_sample(line) or self._take_histogram(line) or self._take_figure(line)

    def _take_sample(self, line: Line) -> bool:
        stamp = re.match(r"\[ *\d+s *\]", line.text)
        if not stamp and not (re.match(r"\d+,\d+,\d", line.text) and line.text.count(",") >= 9):
            return False
        try:
            sample = progress.stamped(line) if stamp and line.whole else None if stamp else progress.csv(line)
        except NotUnderstood as error:
            self.bad_progress = self.bad_progress or str(error)
            return True
        if sample:
            # The last figure of the CSV has two decimals: cut behind them it is the same number.
            self.samples.append(sample)
        elif not line.whole:
            self.cut = True
        elif not stamp:
            self.bad_progress = self.bad_progress or f"line {line.number}: {why('')}: {line.text[:80]!r}"
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
            self.samples.append(progress.from_json(self._json_line, text.rstrip(",\n ")))
            self._json = None
        elif len(self._json) > 20:
            raise NotUnderstood(f"line {self._json_line}: an object of the JSON hook does not end")
        return True

    def _take_histogram(self, line: Line) -> bool:
        if line.text.startswith("Latency histogram (values are in milliseconds)"):
            if self.histogram is not None and self.histogram:
                raise NotUnderstood(f"line {line.number}: a second histogram")
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
        found = matched(line)
        if found is None:
            self.followed = self.followed or bool(self.blocks and line.text and line.whole)
            return False
        if found.key == "cut":
            self.cut = True
            return True
        block = self.blocks[-1] if self.blocks else None
        if block is None or (found.key in OPENING and (block.ended or self._checkpoint_s is not None)):
            if found.key not in OPENING and not (self.extracts and found.key in EXTRACT):
                raise NotUnderstood(f"line {line.number}: a report without its beginning: {line.text[:60]!r}")
            block = Block(line.number, self._checkpoint_s, extract=found.key not in OPENING)
            self._checkpoint_s = None
            self.blocks.append(block)
        block.add(line, found)
        return True

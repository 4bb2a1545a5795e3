"""What the lines of one run of sysbench say, and whether they contradict each other."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from benchagent.importers.series import Samples
from benchagent.importers.source import Line, NotUnderstood, without_comment
from benchagent.importers.sysbench.tables import BEFORE, DAMAGED, EXTRACT, OPENING, PROGRESS, REPORT
from benchagent.importers.tables import Figures, Match, Told, damage_of

_STAMP = re.compile(r"\[ *(?P<time>\d+)s *\](?: +(?P<rest>.+))?")
# The hooks of Percona's sysbench-tpcc: the time, and these.
_CSV = re.compile(r"(\d+),(\d+)" + r",(\d+\.\d\d)" * 8)
_HOOK_NAMES = ("threads", "tps", "qps", "reads", "writes", "others", "latency", "errors_per_s", "reconnects_per_s")
_LIKE_CSV = re.compile(r"\d+,\d+,\d(?:[^,]*,){7}")
_HISTOGRAM_ROW = re.compile(r"(\d+\.\d{3}) \|\** +(\d+)")
# Headings that tell nothing.
_NO_FIGURES = ("Throughput:", "Latency histogram (values are in milliseconds)", "value  ---")
# What an intermediate report says besides its figures: the rank of the latency's percentile, and how many threads were
# running; None where the line does not say it.
BESIDE = ("rank", "threads")


def _converted(figures: dict[str, Any]) -> dict[str, float | None]:
    """The figures of a sample. Raises NotUnderstood where the kinds of queries do not add up."""
    rank, threads, latency = (figures.pop(name, None) for name in (*BESIDE, "latency"))
    parts = [figures.pop(name) for name in ("reads", "writes", "others") if name in figures]
    if parts and not math.isclose(sum(parts), figures["qps"], rel_tol=0, abs_tol=0.031):
        raise NotUnderstood(f"reads, writes and others are not the {figures['qps']} queries a second")
    if latency is not None and rank != 0:
        figures["latency"] = latency
    return figures | {"rank": rank, "threads": threads}


@dataclass
class Block(Figures):
    """One report: of a checkpoint, or the last one. `checkpoint_s` is None for the last."""

    checkpoint_s: int | None = None
    # Some lines of a report only, without its beginning.
    extract: bool = False

    @property
    def only_statements(self) -> bool:
        """Whether its script began no transaction, of which sysbench 0.5 counted then none."""
        return bool(self.values.get("events") and self.values.get("read_write_requests")) and not self.values.get("tps")

    @property
    def ended(self) -> bool:
        # 1.1 prints no fairness of threads for fileio.
        return "fair_time" in self.rows or ("file_fsync" in self.rows and "sum" in self.rows)


@dataclass
class Run(Told):
    """One call of sysbench: of a test, or of its preparation or cleanup."""

    version: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    # "Running the test with following options", "Threads started!"
    announced: bool = False
    started: bool = False
    samples: Samples = field(default_factory=Samples)
    # The lines of queues between them.
    queues: Samples = field(default_factory=Samples)
    blocks: list[Block] = field(default_factory=list)
    histogram: list[tuple[float, int]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    cut: bool = False
    # Whether the file holds lines that were taken out of reports.
    extracts: bool = False
    bad_progress: str = ""
    # Whether other text stands behind the report, so that what is missing was left out and not cut off.
    followed: bool = False
    never_began: bool = False
    _checkpoint_s: int | None = None

    def another(self) -> Run:
        return Run(extracts=self.extracts)

    @property
    def has_begun(self) -> bool:
        return bool(self.options or self.steps or self.problems or self.ran or self.refusal)

    @property
    def shows(self) -> bool:
        """Whether more than a command line stands there of it."""
        return bool(self.version or self.announced) or self.has_begun

    @property
    def ran(self) -> bool:
        return bool(self.started or self.samples or self.blocks)

    @property
    def ended(self) -> bool:
        return bool(self.blocks) and self.blocks[-1].checkpoint_s is None and self.blocks[-1].ended

    @property
    def has_foreign_samples(self) -> bool:
        """A line of more threads than the run has, or of more than the line before it: they only end."""
        running = [threads for threads in self.samples.column("threads") or () if threads is not None]
        are_more = 0 < self.options.get("terminals", 0) < max(running, default=0)
        return are_more or running != sorted(running, reverse=True)

    def leave_out_progress(self, why: str) -> None:
        self.samples, self.queues = Samples(), Samples()
        self.warnings.append(f"the progress is left out: {why}")

    def is_over(self, line: Line) -> bool:
        """Whether the line, which no heading announces, can only be of a next run."""
        block = self.blocks[-1] if self.blocks else None
        if block is None or block.checkpoint_s is not None or self._checkpoint_s is not None:
            return False
        if _STAMP.fullmatch(line.text) or _CSV.fullmatch(line.text) or line.text.startswith("Number of threads: "):
            return self.ended
        match = REPORT.match(line)
        if match is None or match.cut:
            return False
        if block.extract:
            return match.key in OPENING or (match.rank <= block.rank and block.rows.get(match.key) != match.values)
        has_figures = block.ended or not {"events", "memory_bytes"}.isdisjoint(block.rows)
        return match.key in OPENING and match.rank < block.rank and has_figures

    def add_option(self, line: Line) -> bool:
        """Whether the line is of the options or of a preparation. Raises NotUnderstood where two lines differ."""
        if self.blocks or self.samples:
            return False
        if line.whole:
            line = line._replace(text=without_comment(line.text))
        match = BEFORE.match(line)
        if match is None:
            if line.whole and DAMAGED.match(line.text):
                raise NotUnderstood(f"{damage_of(line.text, 'sysbench')}: {line.text[:60]!r}")
            self.cut = self.cut or bool(self.steps and not line.whole and line.text)
            return False
        kind, _, name = match.key.partition(" ")
        if kind == "test":
            self.options.setdefault("test", name)
        self.steps += [name] if kind == "step" else []
        if any(self.options.setdefault(option, value) != value for option, value in match.values.items()):
            raise NotUnderstood(f"says {line.text[:60]!r}, an earlier line something else")
        self.cut = self.cut or match.cut
        return True

    def add(self, line: Line) -> None:
        """A line of the run's reports, or of something else."""
        # Behind what a hook wrote as JSON, whose last bracket comes when sysbench ends.
        line = line._replace(text=line.text.removeprefix("]"))
        stamp, csv = _STAMP.fullmatch(line.text), _CSV.fullmatch(line.text)
        if stamp and stamp["rest"] == "Checkpoint report:":
            if self.blocks and not self.blocks[-1].ended:
                raise NotUnderstood("a checkpoint within a report")
            self._checkpoint_s = int(stamp["time"])
        elif stamp or csv or _LIKE_CSV.match(line.text):
            # The last figure of the CSV has two decimals: cut behind them it is the same number.
            if line.whole or csv:
                self._add_sample(line, stamp, csv)
            self.cut = self.cut or not (line.whole or csv)
        elif line.whole and (row := _HISTOGRAM_ROW.fullmatch(line.text)):
            self.histogram.append((float(row[1]), int(row[2])))
        elif match := REPORT.match(line):
            self._add_figure(line, match)
        elif self.blocks and line.text and line.whole and not line.text.startswith(_NO_FIGURES):
            self.followed = True

    def _add_sample(self, line: Line, stamp: re.Match[str] | None, csv: re.Match[str] | None) -> None:
        match = PROGRESS.match(Line(line.number, stamp["rest"] or "")) if stamp else None
        try:
            if stamp and match:
                samples = self.queues if match.key == "queue" else self.samples
                samples.add(line.number, int(stamp["time"]), _converted(match.values))
            elif csv:
                time_s, *others = map(float, csv.groups())
                self.samples.add(line.number, time_s, _converted(dict(zip(_HOOK_NAMES, others, strict=True))))
            elif not stamp or stamp["rest"]:
                raise NotUnderstood(f"{damage_of(line.text, 'sysbench')}: {line.text[:80]!r}")
        except NotUnderstood as error:
            self.bad_progress = self.bad_progress or f"line {line.number}: {error}"

    def _add_figure(self, line: Line, match: Match) -> None:
        self.cut = self.cut or match.cut
        if match.cut:
            return
        block, opens = self.blocks[-1] if self.blocks else None, match.key in OPENING
        if block is None or (opens and (block.ended or self._checkpoint_s is not None)):
            if not opens and not (self.extracts and match.key in EXTRACT):
                raise NotUnderstood(f"a report without its beginning: {line.text[:60]!r}")
            block = Block(line.number, checkpoint_s=self._checkpoint_s, extract=not opens)
            self._checkpoint_s = None
            self.blocks.append(block)
        block.add(line, match)


# Figures that sysbench prints twice, or that follow from others: where they contradict each other, none is trusted.

# Where one of them stands, all of them do.
_TOGETHER = (
    ("reads_s", "writes_s", "fsyncs_s", "read_mib_s", "written_mib_s"),
    ("file_read", "file_write", "file_fsync"),
)
# Rows with a count and the rate that follows from it: the names of both.
_COUNTED = {
    "transactions": ("transactions", "tps"), "queries": ("queries_again", "qps"),
    **{key: (key, f"{key}_per_s") for key in ("read_write_requests", "errors", "reconnects", "deadlocks")},
    "memory_operations": ("operations", "ops_per_s"), "cpu_eps": ("events", "ops_per_s"),
    "eps": ("events", "eps"), "file_requests_s": ("events", "ops_per_s"),
}  # fmt: skip


def check(run: Run, block: Block, since_s: float) -> None:
    """Raises NotUnderstood where a report contradicts itself. `since_s`: when the checkpoint before it was."""
    _nothing_missing(block)
    if "total" in block.rows:
        _queries(block)
    if "total_time" in block.rows:
        _rates(run, block, block.values["elapsed_s"] - since_s)
    elif "transactions" in block.rows and "queries" in block.rows:
        # Without the total time: transactions and queries were counted in the same one.
        done, tps, queries, qps = (block.values[name] for name in ("transactions", "tps", "queries_again", "qps"))
        if abs(done * qps - queries * tps) > 0.006 * (done + queries) + 0.001 * queries * tps:
            raise NotUnderstood(f"{tps} transactions and {qps} queries a second contradict their counts")
    if "max" in block.rows:
        _latency(run, block)


def _nothing_missing(block: Block) -> None:
    if block.extract:
        return
    keys = set(block.rows)
    needed = ["read", "write", "other", "total", "transactions"] if keys & {"#sql", "read", "total"} else []
    if not keys & {"file_read", "file_write", "file_fsync"}:
        needed += ["total_time", "events", "fair_events", "fair_time"]
    if block.values.get("events") != 0:
        needed += ["min", "avg", "max", "percentile", *(("sum",) if keys & {"sum", "queries"} else ())]
    needed += [key for together in _TOGETHER if keys & set(together) for key in together]
    if missing := [key for key in needed if key not in keys and REPORT.rank[key] < block.rank]:
        raise NotUnderstood(f"the report lacks {', '.join(missing)}")


def _queries(block: Block) -> None:
    rows, values = block.rows, block.values
    kinds = [values.get(f"{kind}_queries", 0) for kind in ("read", "write", "other")]
    if {"read", "write", "other"} <= set(rows) and sum(kinds) != values["queries"]:
        raise NotUnderstood("reads, writes and others do not add up to the total")
    if "queries" in rows and values["queries_again"] != values["queries"]:
        raise NotUnderstood(f"{values['queries_again']} queries, in total {values['queries']}")
    if "read_write_requests" in rows and values["read_write_requests"] != kinds[0] + kinds[1]:
        raise NotUnderstood("reads and writes do not add up to the read/write requests")
    if "other_operations" in rows and values["other_again"] != kinds[2]:
        raise NotUnderstood("two counts of other operations")


def _rates(run: Run, block: Block, elapsed_s: float) -> None:
    """Counts divided by time are the rates; the count of events is that of the transactions."""
    rows, values = block.rows, block.values
    events = values.get("events", 0)
    for key, (counted, rated) in _COUNTED.items():
        if key not in rows:
            continue
        count, rate = values.get(counted, 0), values[rated]
        # The clock of the rate stops a little after that of the total time.
        low, high = count / (elapsed_s * 1.02 + 0.05) - 0.006, count / max(elapsed_s * 0.98 - 0.01, 1e-5) + 0.006
        if not low <= rate <= high:
            raise NotUnderstood(f"{count:.0f} {key} in {elapsed_s:.4f} s are not {rate} a second")
    if "file_operations" in rows:
        every = values["every_operation"]
        if sum(values[f"{kind}_operations"] for kind in ("read", "write", "other")) != every:
            raise NotUnderstood(f"reads, writes and others do not add up to {every:.0f} operations")
    is_counted_twice = run.version.startswith("1.") and {"transactions", "events"} <= rows.keys()
    if is_counted_twice and events != values["transactions"] and not block.only_statements:
        raise NotUnderstood(f"{events:.0f} events, {values['transactions']} transactions")
    if "reads_s" in rows and "fsyncs_s" in rows and "events" in rows:
        done = values["read_iops"] + values.get("write_iops", 0)
        # Every thread calls fsync on every file once more when its events are done.
        fair = values.get("fair_events", 0)
        threads = run.options.get("terminals") or (round(events / fair) if fair else 1)
        ending = 200 + run.options.get("files", 128) * threads
        rates = (done, done + values["fsync_per_s"])
        if not any(math.isclose(rate * elapsed_s, events, rel_tol=0.03, abs_tol=ending) for rate in rates):
            raise NotUnderstood(f"the file operations a second do not make {events:.0f} events")


def _latency(run: Run, block: Block) -> None:
    values, events = block.values, block.values.get("events", 0)
    least, average, most = (values.get(f"latency_{key}_ms") for key in ("min", "avg", "max"))
    percentile = values.get("percentile_ms")
    if least is None or average is None or most is None or values.get("events") == 0:
        return
    if not least - 0.011 <= average <= most + 0.011:
        raise NotUnderstood(f"an average latency of {average} ms is not between {least} and {most} ms")
    # The percentile is of a bucket, up to 2 % off; that of 0.4 is a guess.
    is_exact = percentile is not None and run.version.startswith("1.")
    if is_exact and not least * 0.9 - 0.02 <= (percentile or 0.0) <= most * 1.1 + 0.02:
        raise NotUnderstood(f"a percentile of {percentile} ms is not between {least} and {most} ms")
    total = values.get("latency_sum_ms", values.get("execution_s", math.nan) * 1000)
    rounding = 0.0051 if "sum" in block.rows or run.version.startswith("0.5") else 0.051
    # A forced shutdown counts the time of the unfinished events too.
    timed = events + values.get("unfinished", 0)
    if timed and abs((total or 0.0) / timed - average) > rounding + 0.02 * average:
        raise NotUnderstood(f"{total} ms over {events:.0f} events are not {average} ms on average")
    threads, fair = run.options.get("terminals", 0), values.get("fair_events")
    if threads and fair is not None and not math.isclose(fair * threads, events, rel_tol=0.02, abs_tol=threads):
        raise NotUnderstood(f"{fair} events by each of {threads} threads are not {events:.0f}")

"""`make bench-importers`: MB a second of processor time, and the peak of memory, of each importer on a large file.

    make bench-importers ARGS="--mb 100 --only pgbench_log"
    make bench-importers ARGS="--files DIR"

With `--files` it says instead what becomes of somebody's files, by tool: runs, what was refused and
why, and what an importer fell over. Whether a figure is right only a person with the file can say.

The files are made here: a real sample of the tool whose lines of samples are repeated, or lines as
the tool writes them. What is small by its nature (a report, a JSON document) is read one time after
the other. Each is read in a process of its own; the memory is what that process needed beyond one
that reads nothing. All take some two minutes.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path

from benchagent.importers import SourceFile, Status, inspect
from benchagent.importers.report import ReadFile

MB = 10**6
DATA = Path(__file__).parent.parent / "tests" / "benchagent" / "importers" / "data"
Lines = Iterator[str]


def pgbench_log() -> Lines:
    chance, numbers, at = random.Random(1), [0] * 8, 1_763_700_000.0
    while True:
        client = chance.randrange(8)
        at += chance.random() * 0.002
        yield f"{client} {numbers[client]} {chance.randrange(500, 9000)} 0 {int(at)} {int(at % 1 * 1e6)}\n"
        numbers[client] += 1


def fio_log() -> Lines:
    chance, at = random.Random(1), 0
    while True:
        at += 10
        yield f"{at}, {chance.randrange(100, 9000)}, 0, 8192\n"


def benchbase_raw() -> Lines:
    chance, at = random.Random(1), 1_763_700_000.0
    yield (
        "Transaction Type Index,Transaction Name,Start Time (microseconds),Latency (microseconds),"
        "Worker Id (start number),Phase Id (index in config file)\n"
    )
    while True:
        at += 0.001 + chance.random() * 0.01
        yield f"1,NewOrder,{at:.6f},{chance.randrange(500, 90000)},{chance.randrange(8)},0\n"


def ycsb_raw() -> Lines:
    chance, at_ms = random.Random(1), 1_763_700_000_123
    yield "READ latency raw data: op, timestamp(ms), latency(us)\n"
    while True:
        at_ms += chance.randrange(2)
        yield f"READ,{at_ms},{chance.randrange(100, 9000)}\n"


def jmeter_jtl() -> Lines:
    chance, at_ms = random.Random(1), 1_763_700_000_123
    yield "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads\n"
    while True:
        at_ms += chance.randrange(4)
        yield f"{at_ms},{chance.randrange(1, 900)},select,200,OK,Thread Group 1-1,true,1200,8,8\n"


def csv_samples() -> Lines:
    chance, at = random.Random(1), 0
    yield "time_s,tps,latency_p95_ms\n"
    while True:
        at += 1
        yield f"{at},{chance.randrange(500, 9000)},{chance.random() * 10:.3f}\n"


def hammerdb_counter() -> Lines:
    at = 1_763_700_000
    yield "Hammerdb Transaction Counter Log @ Fri Nov 21 04:40:00 UTC 2025\n+-+-+\n"
    while True:
        at += 10
        stamp = time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime(at))
        yield f"{random.randrange(90000, 99000)} PostgreSQL tpm @ {stamp}\n"


def repeated(name: str, line: str, number: str) -> Callable[[], Lines]:
    """The sample with its line of an interval as often as there is room, counted on."""

    def lines() -> Lines:
        text = (DATA / name).read_text().splitlines(keepends=True)
        first = next(at for at, each in enumerate(text) if re.match(line, each))
        yield from text[:first]
        for at in count(1):
            yield re.sub(number, rf"\g<1>{at}\g<2>", text[first], count=1)

    return lines


def again(name: str) -> Callable[[], Lines]:
    """The sample one time after the other."""

    def lines() -> Lines:
        text = (DATA / name).read_text()
        while True:
            yield text

    return lines


FILES: dict[str, tuple[str, Callable[[], Lines]]] = {
    "pgbench_log": ("pgbench_log.4242", pgbench_log),
    "pgbench_progress": (
        "out.txt",
        repeated("pgbench/v15_tpcb_progress_statements.txt", "progress", r"(: )\d+(\.\d s)"),
    ),
    "pgbench_runs": ("out.txt", again("pgbench/v15_tpcb_progress_statements.txt")),
    "sysbench_progress": ("out.txt", repeated("sysbench/v10_read_write.txt", r"\[ 3s \]", r"(\[ )\d+(s \])")),
    "hammerdb_counter": ("hdbtcount.log", hammerdb_counter),
    "gotpc": ("out.txt", again("gotpc/plain.txt")),
    "benchbase_raw": ("tpcc.raw.csv", benchbase_raw),
    "ycsb_status": ("out.txt", again("ycsb/run_0_17_jdbc.txt")),
    "fio_log": ("x_bw.1.log", fio_log),
    "fio_normal": ("out.txt", again("fio/fio2_normal.txt")),
    "gbak": ("out.txt", again("gbak/backup_verbose.txt")),
    "ycsb_raw": ("out.txt", ycsb_raw),
    "jmeter_jtl": ("results.jtl", jmeter_jtl),
    "csv": ("samples.csv", csv_samples),
}

# Tools whose files stay small.
SMALL = {
    "fio_json": "fio/fio2.json", "hammerdb_run": "hammerdb/run_v4_mariadb.txt",
    "benchbase_log": "benchbase/console.log", "go_ycsb": "ycsb/go_ycsb.txt",
    "redis_benchmark": "redisbench/v7_report.txt", "memtier_json": "memtier/out.json",
    "memtier_text": "memtier/two_runs.txt", "mysqlslap": "mysqlslap/concurrency.txt",
    "tpcc_mysql": "tpccmysql/percona.txt", "benchmarksql": "benchmarksql/v5.txt",
    "clickbench": "clickbench/duckdb.json", "dbt3": "dbt3/report.rst", "query_times": "querytimes/duckdb_tpch.txt",
    "phoronix": "phoronix/composite.xml", "jmeter_xml": "jmeter/run.xml", "jmeter_report": "jmeter/statistics.json",
    "nosqlbench": "nosqlbench/scenario.log", "cassandra_stress": "described/cassandra-stress.txt",
    "k6_json": "described/k6_summary_export.json", "locust_json": "described/locust.json",
    "dbt2": "described/dbt2.txt", "py_tpcc": "described/py-tpcc.txt", "ycsb_cpp": "described/ycsb-cpp.txt",
}  # fmt: skip
SMALL_S = 1.0


def write(lines: Lines, size: int, path: Path) -> None:
    done = 0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line)
            done += len(line)
            if done >= size:
                return


def read_one(path: Path, least_s: float) -> None:
    """One time, and again until so much processor time is spent."""
    inspect([SourceFile("", b"a line of nothing\n")])  # the importers are loaded
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, spent, times = time.process_time(), 0.0, 0
    while not times or spent < least_s:
        ((_, reports),) = inspect([SourceFile.of(path.name, path)])
        spent, times = time.process_time() - began, times + 1
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    states = "/".join(sorted({report.status.value for report in reports}))
    speed = times * path.stat().st_size / MB / spent
    print(f"{speed:8.1f} MB/s {peak:8.0f} MB {len(reports):6d} {states} {reports[0].reason[:60]}")


def measure(name: str, path: Path, least_s: float = 0.0) -> None:
    command = [sys.executable, "-m", "benchmarks.bench_importers", "--read", str(path), "--least-s", str(least_s)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    print(f"{name:18} {told.stdout.strip() or told.stderr.strip()[-200:]}", flush=True)


@dataclass
class Told:
    """What became of the files of one tool."""

    files: int = 0
    parts: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    fell: list[str] = field(default_factory=list)


def what_becomes_of(folder: Path) -> dict[str, Told]:
    """By tool, the files of one folder read together, as their logs and reports belong together."""
    told: dict[str, Told] = defaultdict(Told)
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    for _, group in groupby(paths, key=lambda path: path.parent):
        files = [SourceFile.of(str(path.relative_to(folder)), path) for path in group]
        try:
            read = inspect(files)
        except Exception:  # whatever an importer raises is what is looked for; each file by itself says which
            read = [each for file in files for each in alone(file, told)]
        for file, reports in read:
            of_tool = told[reports[0].tool or "none"]
            of_tool.files += 1
            of_tool.parts += all(report.part_of for report in reports)
            for report in reports:
                if report.status is Status.NOT_UNDERSTOOD:
                    of_tool.refused.append(f"{file.name}: {report.reason}")
                elif not report.part_of:
                    of_tool.runs[report.status.value] += 1
    return told


def alone(file: SourceFile, told: dict[str, Told]) -> list[ReadFile]:
    try:
        return inspect([file])
    except Exception as error:
        told["none"].files += 1
        told["none"].fell.append(f"{file.name}: {error!r}")
        return []


def tell(told: dict[str, Told]) -> None:
    columns = (Status.COMPLETE, Status.ABORTED, Status.FAILED)
    heads = ["tool", "files", "parts", *(status.value for status in columns), "refused", "fell"]
    print("".join(f"{head:<18}" if head == "tool" else f"{head:>10}" for head in heads))
    for tool, of_tool in sorted(told.items()):
        numbers = [of_tool.files, of_tool.parts, *(of_tool.runs[status.value] for status in columns)]
        numbers += [len(of_tool.refused), len(of_tool.fell)]
        print(f"{tool:<18}" + "".join(f"{number:>10}" for number in numbers))
    for title in ("refused", "fell"):
        for line in (line for of_tool in told.values() for line in getattr(of_tool, title)):
            print(f"{title}: {line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--files", type=Path, help="a folder whose files are read instead, and what became of them")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--least-s", type=float, default=0.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read_one(Path(options.read), options.least_s)
        return
    if options.files:
        tell(what_becomes_of(options.files))
        return
    print(f"{'importer':18} {'speed':>13} {'peak memory':>11} reports, of {options.mb} MB")
    with tempfile.TemporaryDirectory() as folder:
        for name, (file, lines) in FILES.items():
            if options.only in name:
                path = Path(folder) / file
                write(lines(), options.mb * MB, path)
                measure(name, path)
                path.unlink()
    print("small files, one time after the other")
    for name, sample in SMALL.items():
        if options.only in name:
            measure(name, DATA / sample, SMALL_S)


if __name__ == "__main__":
    main()

"""One PostgreSQL server as the agent provisions it, with pgbench's tables; its clients: pgbench, the load generator."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchagent.dbms.postgresql.discovery import installations
from benchagent.dbms.probes import Step
from benchagent.java import JavaToolchain
from benchagent.job.bench import JobBench
from benchagent.job.result import Description
from benchagent.link.client import Client
from benchagent.link.sender import Heartbeat, Sender
from benchagent.link.spool import Spool
from benchagent.machine.limits import JobCgroup
from benchagent.machine.process import Abort
from benchagent.protocol import Claimed, JobSpec
from benchagent.workloads.base import Factors
from benchagent.workloads.tpcb import WORKLOAD as TPCB
from benchagent.workloads.tpcb import run_step as tpcb_step

from benchmarks.pairs import PERCENTILES, ClientFailed, Measurement, finished, of_summary
from tests.benchagent.dbms.trial import Trial

ROOT = Path(__file__).resolve().parent.parent
CONNECTIONS = 4
TABLES = ("accounts", "tellers", "branches", "history")
PREFIX = "pgbench_"
LEASE_S = 600
# For what is left in the spool after a session.
DELIVERED_WITHIN_S = 20.0
# Checkpoints and autovacuum would hit one client and spare the other: both are done before each measurement.
SETTINGS = {
    "fsync": "on",
    "shared_buffers": "1GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
}
PROCESSED = re.compile(r"transactions actually processed: (\d+)")
# A log that is written to the disk of the server would delay its commits.
MEMORY = Path("/dev/shm")
PROC = Path("/proc")
# The thread of the load generator that asks the server each second (Sampled.java).
THREAD = "sampled"
POLL_S = 0.2


class Server:
    def __init__(self, folder: Path, toolchain: JavaToolchain, scale: int) -> None:
        self.scale = scale
        self.version, installation = next(
            (version, each) for version, each in installations().items() if each.has("pgbench") and each.has("psql")
        )
        self._programs = installation.bin_dir
        self.trial = Trial(folder, toolchain, "postgresql", self.version, SETTINGS)
        address, _, database = self.trial.instance.connection.url.partition("//")[2].partition("/")
        host, port = address.split(":")
        properties = self.trial.instance.connection.properties
        self._reached = ["-h", host, "-p", port, "-U", properties["user"]]
        self._database = database
        self._environment = {"PGPASSWORD": properties["password"]}
        self._spool = Spool(folder / "spool.sqlite3")
        self._runs = 0
        # Of the latest session of `accounted_agent`.
        self.taken: Taken | None = None

    def close(self) -> None:
        self._spool.close()
        self.trial.close()

    def _command(self, program: str, *more: str) -> list[str]:
        return [str(self._programs / program), *self._reached, *more, self._database]

    def create_tables(self) -> None:
        self._finished(self._command("pgbench", "-i", "-q", "-s", str(self.scale)))

    def prepare(self, synchronous_commit: str) -> None:
        """Before each measurement: the commit mode, no dead rows, an empty history, nothing left to write."""
        statements = (
            f"ALTER SYSTEM SET synchronous_commit = {synchronous_commit}",
            "SELECT pg_reload_conf()",
            f"TRUNCATE {PREFIX}history",
            f"VACUUM {', '.join(PREFIX + table for table in TABLES)}",
            "CHECKPOINT",
        )
        commands = [part for statement in statements for part in ("-c", statement)]
        self._finished(self._command("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *commands))

    def history_rows(self) -> int:
        """One for each transaction since the preparation."""
        sql = f"SELECT COUNT(*) FROM {PREFIX}history"
        return int(self._finished(self._command("psql", "-XAtq", "-c", sql)))

    def _finished(self, command: list[str]) -> str:
        return subprocess.run(command, env=self._environment, check=True, capture_output=True, text=True).stdout

    # The clients

    def pgbench(self, seconds: int, warm_up: int) -> Measurement:
        shape = ("-n", "-M", "prepared", "-c", str(CONNECTIONS), "-j", "2")
        return run_pgbench(self._command("pgbench", *shape), self._environment, seconds, warm_up)

    def agent(self, seconds: int, warm_up: int) -> Measurement:
        """The session of an agent's job: with its samples, its own queries, and what it sends, each second."""
        bench, step = self._job(seconds, warm_up)
        with self._sending():
            return of_summary(bench.session([step]).summary)

    def accounted_agent(self, seconds: int, warm_up: int) -> Measurement:
        """The same; `taken` tells the CPU of its watching afterwards."""
        bench, step = self._job(seconds, warm_up)
        accounts = CpuAccounts(lambda: _process_of(bench), self._asked_by_agent, warm_up + seconds - 3)
        accounts.start()
        with self._sending():
            measured = of_summary(bench.session([step]).summary)
        accounts.join(1)
        self.taken = accounts.taken
        return measured

    @contextmanager
    def _sending(self) -> Iterator[None]:
        """Heartbeats, and batches of what the spool holds, to a server that only takes them."""
        with receiver() as url:
            client = Client(url)
            sender = Sender(client, self._spool, _ignore)
            heart = Heartbeat(client, self._claimed, _ignore)
            sender.start()
            heart.start()
            try:
                yield
                if not sender.flush(DELIVERED_WITHIN_S):
                    raise ClientFailed("what the agent measured was not delivered")
            finally:
                heart.stop()
                sender.stop()
                heart.join()
                sender.join()

    def _job(self, seconds: int, warm_up: int) -> tuple[JobBench, Step]:
        factors = self._factors(seconds, warm_up)
        self._runs += 1
        spec: JobSpec = {
            "run_id": self._run_id(),
            "workload": "tpcb",
            "workload_version": "1",
            "dbms": "postgresql",
            "dbms_version": self.version,
            "settings": [],
            "factors": {},
            "seed": 42,
        }
        self._claimed: Claimed = {"job": spec, "job_token": _token(spec["run_id"]), "lease_s": LEASE_S}
        self._spool.add_job(self._claimed, time.time())
        bench = JobBench(
            spec=spec,
            job_dir=self.trial.request.job_dir,
            folders=self.trial.folders,
            toolchain=self.trial.toolchain,
            spool=self._spool,
            children=self.trial.children,
            abort=Abort(),
            server_cgroup=JobCgroup(spec["run_id"]),
            generator_cgroup=JobCgroup(spec["run_id"]),
            embedded=False,
            described=Description(embedded=False),
            on_state=_ignore,
            log=_ignore,
            on_news=_ignore,
            data_loaded=_ignore,
            instance=self.trial.instance,
            factors=factors,
            tables=[PREFIX + table for table in TABLES],
            reading=TPCB.reading(factors),
            data_missing=False,
        )
        return bench, _step(factors)

    def _asked_by_agent(self) -> int | None:
        """Process of the backend that the agent asks each second."""
        sql = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%wait_event_type%' AND pid <> pg_backend_pid()"
        pids = self._finished(self._command("psql", "-XAtq", "-c", sql)).split()
        return int(pids[0]) if pids else None

    def bare(self, seconds: int, warm_up: int) -> Measurement:
        """The load generator alone: nobody samples, nothing is asked beside the transactions."""
        session = self.trial.events([_step(self._factors(seconds, warm_up))])
        if session.error:
            raise ClientFailed(f"the load generator failed: {session.error}")
        return of_summary(session.summary)

    def _factors(self, seconds: int, warm_up: int) -> Factors:
        window = {"warm_up_s": warm_up, "duration_s": seconds}
        return TPCB.factors({"scale_factor": self.scale, "terminals": CONNECTIONS, **window})

    def _run_id(self) -> str:
        """Of the latest job."""
        return f"run-{self._runs}"


@contextmanager
def postgresql(toolchain: JavaToolchain, scale: int) -> Iterator[Server]:
    """Gone afterwards. `scale`: branches, of 100,000 accounts each."""
    toolchain.prepare([group for group in toolchain.engine_groups() if group.dbms == "postgresql"], print)
    with tempfile.TemporaryDirectory(prefix="benchsite-pair-") as made:
        folder = Path(made)
        folder.chmod(0o755)  # the server runs as a user of its own
        server = Server(folder / "trial", toolchain, scale)
        try:
            server.create_tables()
            yield server
        finally:
            server.close()


@contextmanager
def receiver() -> Iterator[str]:
    """Address of a server that only takes what an agent sends, in a process of its own: its CPU is not the agent's."""
    command = [sys.executable, "-m", "tests.benchagent.fake_server"]
    child = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    with child:  # closes its input, which ends it
        assert child.stdout is not None
        yield child.stdout.readline().strip()


def _step(factors: Factors) -> Step:
    """The agent's TPC-B on pgbench's tables."""
    step: dict[str, Any] = dict(tpcb_step(factors, 42))
    for statement in step["transactions"][0]["statements"]:
        statement["sql"] = re.sub(rf"\b({'|'.join(TABLES)})\b", rf"{PREFIX}\1", statement["sql"])
    return step


def _token(run_id: str) -> str:
    """As the receiver expects it."""
    return f"token-{run_id}"


def _process_of(bench: JobBench) -> int | None:
    """None until the load generator is started."""
    with suppress(RuntimeError):
        return bench.generator.pid if bench.generator else None
    return None


def _ignore(*_: Any) -> None: ...


# What pgbench's log of transactions says of a window


def run_pgbench(command: Sequence[str], environment: Mapping[str, str], seconds: int, warm_up: int) -> Measurement:
    """Its built-in TPC-B script; `command` is pgbench with its connections.

    One second more, so that the last measured one is never cut off.
    """
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="benchsite-pgbench-", dir=folder) as logs:
        length = ["-T", str(warm_up + seconds + 1), "-l", f"--log-prefix={logs}/log"]
        text, cpu_s = finished([*command, *length], {**os.environ, **environment})
        processed = PROCESSED.search(text)
        if processed is None:
            raise ClientFailed(f"pgbench told no result: {text}")
        lines = (line for path in Path(logs).iterdir() for line in path.read_text().splitlines())
        latencies = sorted(in_window(lines, warm_up, seconds))
    p50, p95, p99 = (percentile(latencies, percent) / 1000 for percent in PERCENTILES)
    # What a transaction costs it hardly changes after the start: the whole run's stands for the window's.
    transactions = int(processed[1])
    return Measurement(len(latencies) / seconds, p50, p95, p99, cpu_s * 1e6 / transactions, transactions)


def in_window(lines: Iterable[str], warm_up: int, seconds: int) -> list[int]:
    """Latencies in µs of the transactions that ended in the window, which is counted from the first one's begin.

    A line: client, number, latency in µs, script, end as seconds and µs since 1970.
    """
    ended = []
    for line in lines:
        fields = line.split()
        ended.append((int(fields[4]) * 1_000_000 + int(fields[5]), int(fields[2])))
    begin = min(end - latency for end, latency in ended) + warm_up * 1_000_000
    return [latency for end, latency in ended if begin <= end < begin + seconds * 1_000_000]


def percentile(values: Sequence[int], percent: float) -> int:
    """Of sorted values: the smallest that so many percent do not exceed, as HdrHistogram defines it."""
    return values[max(0, math.ceil(percent / 100 * len(values)) - 1)]


# CPU that the watching of a run takes, read from the kernel's accounts in nanoseconds


@dataclass(frozen=True)
class Taken:
    """CPU in ms for each second of the run: the agent's process, the asking thread, the backend that answers it."""

    agent: float
    thread: float
    backend: float

    @property
    def total(self) -> float:
        return self.agent + self.thread + self.backend


class CpuAccounts(threading.Thread):
    """Reads the accounts once asking has begun, and again `for_s` later."""

    def __init__(
        self, generator_pid: Callable[[], int | None], backend_pid: Callable[[], int | None], for_s: float
    ) -> None:
        super().__init__(name="accounts", daemon=True)
        self._generator_pid, self._backend_pid, self._for_s = generator_pid, backend_pid, for_s
        self.taken: Taken | None = None

    def run(self) -> None:
        thread, backend = self._wait_for_both()
        begun, before = time.monotonic(), self._read(thread, backend)
        time.sleep(self._for_s)
        took_s, after = time.monotonic() - begun, self._read(thread, backend)
        self.taken = Taken(*(1000 * (late - early) / took_s for late, early in zip(after, before, strict=True)))

    def _wait_for_both(self) -> tuple[Path, Path]:
        while True:
            generator = self._generator_pid()
            tasks = (PROC / str(generator) / "task").glob("*") if generator else ()
            thread = next((task for task in tasks if (task / "comm").read_text().strip() == THREAD), None)
            backend = thread and self._backend_pid()
            if thread and backend:
                return thread, PROC / str(backend)
            time.sleep(POLL_S)

    @staticmethod
    def _read(thread: Path, backend: Path) -> tuple[float, float, float]:
        return time.process_time(), _cpu_s(thread), _cpu_s(backend)


def _cpu_s(task: Path) -> float:
    """Time on a CPU (Documentation/scheduler/sched-stats of the kernel)."""
    return int((task / "schedstat").read_text().split()[0]) / 1e9

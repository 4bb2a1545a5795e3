"""One PostgreSQL server as the agent provisions it, with pgbench's tables, and the load generator as a client."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchagent.dbms.postgresql.discovery import installations
from benchagent.dbms.questions import Step
from benchagent.java import JavaToolchain
from benchagent.job.bench import JobBench, Surroundings
from benchagent.job.description import Description
from benchagent.link.client import Client
from benchagent.link.lease import Heartbeat
from benchagent.link.sender import Sender
from benchagent.link.spool import Spool
from benchagent.machine.limits import Cage
from benchagent.machine.process import Abort
from benchagent.protocol import JobSpec
from benchagent.workloads.base import Factors
from benchagent.workloads.tpcb import WORKLOAD as TPCB
from benchagent.workloads.tpcb import _run as tpcb_step

from benchmarks.pairs import ClientFailed, Measurement, of_summary
from benchmarks.pgbench import run as run_pgbench
from benchmarks.receiving import receiver
from benchmarks.watching import CpuAccounts, Taken
from tests.benchagent.dbms.trial import Trial

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
            client, run_id = Client(url), self._run_id()
            sender = Sender(client, self._spool, _ignore)
            heart = Heartbeat(client, run_id=run_id, job_token=_token(run_id), lease_s=LEASE_S, on_cancel=_ignore)
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
        tables = [PREFIX + table for table in TABLES]
        bench = JobBench(
            self._surroundings(),
            self.trial.instance,
            factors,
            tables=tables,
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

    def _surroundings(self) -> Surroundings:
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
        self._spool.add_job({"job": spec, "job_token": _token(spec["run_id"]), "lease_s": LEASE_S}, time.time())
        return Surroundings(
            spec=spec,
            job_dir=self.trial.request.job_dir,
            folders=self.trial.folders,
            toolchain=self.trial.toolchain,
            spool=self._spool,
            children=self.trial.children,
            abort=Abort(),
            server_cage=Cage(spec["run_id"]),
            generator_cage=Cage(spec["run_id"]),
            embedded=False,
            described=Description(embedded=False),
            on_state=_ignore,
            on_log=_ignore,
            on_news=_ignore,
            on_loaded=_ignore,
        )


@contextmanager
def postgresql(folder: Path, toolchain: JavaToolchain, scale: int) -> Iterator[Server]:
    """Gone afterwards."""
    folder.chmod(0o755)  # the server runs as a user of its own
    server = Server(folder / "trial", toolchain, scale)
    try:
        server.create_tables()
        yield server
    finally:
        server.close()


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

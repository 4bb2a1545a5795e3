"""The two clients that the driver benchmark compares, and the server that both of them load."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchagent import workloads
from benchagent.catalog import WORKLOADS
from benchagent.dbms.base import Dialect
from benchagent.dbms.postgresql.adapter import DRIVER_PROPERTIES
from benchagent.java import JavaToolchain, LoadGenerator

from scripts.private_postgresql import SERVICE_USER, PrivatePostgreSQL

SCALE = 10
CONNECTIONS = 4
TABLES = ("accounts", "tellers", "branches", "history")
PROGRESS = re.compile(r"^progress: ([\d.]+) s, ([\d.]+) tps", re.MULTILINE)
PROCESSED = re.compile(r"transactions actually processed: (\d+)")


class ClientFailed(Exception):
    """A client gave no result; its own words."""


@dataclass(frozen=True)
class Measurement:
    """Of the seconds after the warm-up; `cpu_ms_per_1000` is the client's CPU time in ms per 1000 transactions."""

    tps: float
    cpu_ms_per_1000: float


class Server:
    """pgbench's tables on a private server."""

    def __init__(self, private: PrivatePostgreSQL) -> None:
        self._private = private

    def command(self, program: str) -> list[str]:
        address = ["-h", "127.0.0.1", "-p", str(self._private.port), "-U", SERVICE_USER]
        return [str(self._private.binaries / program), *address]

    @property
    def jdbc_url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self._private.port}/postgres"

    def sql(self, *statements: str) -> str:
        commands = [part for statement in statements for part in ("-c", statement)]
        command = [*self.command("psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", *commands, "postgres"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def version(self) -> str:
        return f"PostgreSQL {self.sql('SHOW server_version')}"

    def create_tables(self) -> None:
        subprocess.run(
            [*self.command("pgbench"), "-i", "-q", "-s", str(SCALE), "postgres"], check=True, capture_output=True
        )

    def prepare(self, synchronous_commit: str) -> None:
        """Before each run: the commit mode, no dead rows, an empty history, nothing left to write."""
        tables = ", ".join(f"pgbench_{table}" for table in TABLES)
        self.sql(
            f"ALTER SYSTEM SET synchronous_commit = {synchronous_commit}",
            "SELECT pg_reload_conf()",
            "TRUNCATE pgbench_history",
            f"VACUUM {tables}",
            "CHECKPOINT",
        )


def pgbench(server: Server, seconds: int, warm_up: int) -> Measurement:
    # One second more, so that the report of the last measured second is never cut off.
    length = ["-T", str(warm_up + seconds + 1), "-P", "1"]
    command = [
        *server.command("pgbench"),
        "-n",
        "-M",
        "prepared",
        "-c",
        str(CONNECTIONS),
        "-j",
        "2",
        *length,
        "postgres",
    ]
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    processed = PROCESSED.search(text)
    measured = [float(tps) for at, tps in PROGRESS.findall(text) if warm_up < round(float(at)) <= warm_up + seconds]
    if child.returncode != 0 or processed is None or len(measured) != seconds:
        raise ClientFailed(f"pgbench ended with {child.returncode}: {text}")
    # Its cost per transaction hardly changes after the start, so the whole run's stands for the measured seconds'.
    return Measurement(sum(measured) / seconds, (usage.ru_utime + usage.ru_stime) * 1e6 / int(processed[1]))


def loadgen(server: Server, toolchain: JavaToolchain, seconds: int, warm_up: int, scratch: Path) -> Measurement:
    """The load generator as the agent starts it."""
    group = next(group for group in toolchain.engine_groups() if group.dbms == "postgresql" and group.default)
    generator = LoadGenerator(toolchain, toolchain.class_path(group), cwd=scratch)
    generator.start(job(server, seconds, warm_up))
    events = list(generator.events())
    status = generator.abort()
    summary = next((event for event in events if event["event"] == "summary"), None)
    if status != 0 or summary is None or summary["dead_terminals"]:
        raise ClientFailed(f"the load generator ended with {status}: {events[-1:]} {generator.stderr_tail}")
    return Measurement(summary["tps"], summary["cpu_s"] * 1e6 / summary["transactions"])


def job(server: Server, seconds: int, warm_up: int) -> dict[str, Any]:
    """The agent's TPC-B transaction on pgbench's tables."""
    tpcb = workloads.workload("tpcb", WORKLOADS["tpcb"].version)
    factors = {"scale_factor": SCALE, "terminals": CONNECTIONS, "warm_up_s": warm_up, "duration_s": seconds}
    run = tpcb.steps(Dialect(), factors, 42).run
    for statement in run["transactions"][0]["statements"]:
        statement["sql"] = re.sub(rf"\b({'|'.join(TABLES)})\b", r"pgbench_\1", statement["sql"])
    properties = {"user": SERVICE_USER, **DRIVER_PROPERTIES}
    return {
        "version": 1,
        "connection": {"url": server.jdbc_url, "driver_class": None, "properties": properties},
        "retryable": {"sqlstates": ["40001", "40P01"]},
        "steps": [run],
    }

"""What others wait while large files are imported: results of two senders, batches of a running job, a page.

Starts web, worker, beat and broker as `make up` does, on a throw-away SQLite (or, with `--postgresql`, on a private
PostgreSQL), and asks them all the time from four clients: alone, then while imports are read and stored. Run by
`make bench-imports [ARGS="--postgresql --only small_gzip"]`. `--only worst` (as root): 100 MB are imported, 200 clients
send a byte now and then, and after a while the disk of STATE is full.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from benchagent.dbms.private_server import free_port
from benchagent.protocol import API_ROOT, PROTOCOL_VERSION

from benchmarks.bench_uploads import document
from benchsite import programs
from benchsite.state import State
from scripts.private import PLAIN, manage, private_postgresql, running

MB = 1024**2
EVERY_S = 0.2
# Long enough for a p95 of some 200 answers.
ALONE_S = 45.0
SLOW_CLIENTS = 200
WORST, DISK_BYTES = "worst", 2048 * MB
# A user, a token, and a job of an agent that is not there: this program plays it.
SETUP = """
from agents import machines
from agents.models import EnrolmentCode
from agents.plans import schedule
from runs.models import ApiToken, User
from tests.agents.conftest import plan_of, registration
user = User.objects.create_user(username="bench", role="operator")
_, agent = machines.register(message=registration("bench1", ("sqlite:3.50.1",), code=EnrolmentCode.issue()))
schedule.start(plan_of(), user=user)
print(ApiToken.issue(owner=user, name="bench", scopes=["read", "upload"])[1], agent)
"""
SUBJECT = {"hardware": {"name": "Bench"}, "dbms": {"name": "PostgreSQL", "version": "16.4"}, "workload": {"slug": "b"}}


@dataclass
class Client:
    """Asks the same thing all the time; `spent_s` are the times of the answers, `refused` those that were none."""

    name: str
    ask: Callable[[], requests.Response | None]
    spent_s: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(EVERY_S):
            begun = time.perf_counter()
            try:
                answer = self.ask()
                if answer is not None and answer.status_code >= 400:
                    self.refused.append(f"{answer.status_code}")
            except (requests.RequestException, OSError) as error:
                self.refused.append(type(error).__name__)
            self.spent_s.append(time.perf_counter() - begun)

    def line(self) -> str:
        ordered = sorted(self.spent_s)
        p50, p95 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.95))
        refused = f", {len(self.refused)} refused: {', '.join(sorted(set(self.refused)))}" if self.refused else ""
        return (
            f"  {self.name:<22}{len(ordered):>6} asked{1000 * p50:>9,.0f}{1000 * p95:>9,.0f}"
            f"{1000 * ordered[-1]:>9,.0f} ms{refused}"
        )


class Site:
    """Its clients, and the imports that are sent to it."""

    def __init__(self, base: str, secret: str, agent: str, folder: Path) -> None:
        self.base, self.secret, self._agent, self._seq = base, secret, agent, 0
        self._control = folder / "control"
        self._generators = [random.Random(seed) for seed in range(2)]
        self._sessions = [requests.Session() for _ in range(4)]
        self._run, self._job = self._claimed()

    def clients(self) -> list[Client]:
        return [
            Client("results, first sender", lambda: self._send_result(0)),
            Client("results, second sender", lambda: self._send_result(1)),
            Client("batches of a job", self._send_batch),
            Client("page of runs", lambda: self._sessions[3].get(f"{self.base}/runs/", timeout=120)),
            Client("the disk: 4 kB, fsync", self._write),
        ]

    def _write(self) -> None:
        """The control: what the disk of STATE takes to keep the least that a commit can be, without Benchsite."""
        with self._control.open("wb", buffering=0) as file:
            file.write(bytes(4096))
            os.fsync(file.fileno())

    def _send_result(self, sender: int) -> requests.Response:
        return self._sessions[sender].post(
            f"{self.base}/api/v1/results/", json=document(self._generators[sender]), headers=self.bearer, timeout=120
        )

    def _send_batch(self) -> requests.Response:
        self._seq += 1
        samples = {
            "kind": "samples", "metric": "tps", "chunk": self._seq, "t0_s": float(self._seq), "interval_s": 1.0,
            "values": [800.0],
        }  # fmt: skip
        return self._post(f"/jobs/{self._run}/batch/", self._job, {"seq": self._seq, "items": [samples]})

    def _claimed(self) -> tuple[str, str]:
        """Run and token of the job, once the worker has dispatched it."""
        poll = {"protocol": PROTOCOL_VERSION, "agent_version": "0.1.0"}
        while not (run_id := self._post("/poll/", self._agent, poll).json()["job"]):
            time.sleep(1)
        return run_id, self._post(f"/jobs/{run_id}/claim/", self._agent, {}).json()["job_token"]

    def _post(self, path: str, token: str, body: dict[str, Any]) -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return self._sessions[2].post(self.base + API_ROOT + path, json=body, headers=headers, timeout=120)

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}

    def import_files(self, files: list[tuple[str, bytes]]) -> str:
        """Send, wait until they are read, store. -> what became of it and when."""
        begun = time.perf_counter()
        url, parts = f"{self.base}/api/v1/imports/", [("file", file) for file in files]
        try:
            answer = requests.post(url, files=parts, headers=self.bearer, timeout=1200)
            told, spent_s = answer.json() if answer.content[:1] == b"{" else {}, [time.perf_counter() - begun]
            while told.get("state") == "reading":
                time.sleep(0.5)
                told = requests.get(f"{url}{told['id']}/", headers=self.bearer, timeout=60).json()
            spent_s.append(time.perf_counter() - begun)
            stored = None
            if told.get("state") == "draft":
                store = f"{url}{told['id']}/store/"
                stored = requests.post(store, json={"subject": SUBJECT}, headers=self.bearer, timeout=1200)
            spent_s.append(time.perf_counter() - begun)
        except requests.RequestException as error:
            return f"{type(error).__name__} after {time.perf_counter() - begun:.1f} s"
        words = f"{answer.status_code} after {spent_s[0]:.1f} s, {told.get('state', answer.text[:100])} after "
        return words + f"{spent_s[1]:.1f} s" + (f", {stored.status_code} after {spent_s[2]:.1f} s" if stored else "")


def pgbench_log(transactions: int) -> bytes:
    """As `pgbench -l` writes it, 35 bytes a transaction."""
    generator = random.Random(16)
    lines, numbers, at = [], [0, 0, 0, 0], 1_760_000_000_000_000
    for _ in range(transactions):
        client = generator.randrange(4)
        at += generator.randrange(100, 900)
        numbers[client] += 1
        second, micros = divmod(at, 1_000_000)
        lines.append(f"{client} {numbers[client]} {generator.randrange(900, 9000)} 0 {second} {micros:06d}")
    return ("\n".join(lines) + "\n").encode()


def repeated(megabytes: int, number: int) -> bytes:
    """What packs a thousand times: lines of progress as many as fit, each file another."""
    line = b"progress: 1.0 s, 800.0 tps, lat 5.000 ms stddev 0.100, 0 failed\n"
    return b"pgbench (16.4)\n" + b"%d\n" % number + line * (megabytes * MB // len(line))


def cases() -> dict[str, Callable[[], list[list[tuple[str, bytes]]]]]:
    """Name -> imports, which are sent one after another; each is a list of files."""
    return {
        "honest_log": lambda: [[("pgbench_log.1", pgbench_log(1_700_000))]],
        "small_gzip": lambda: [[(f"{each}.gz", gzip.compress(repeated(63, each))) for each in range(2)]],
        "many_gzips": lambda: [
            [(f"{start + each}.gz", gzip.compress(repeated(63, start + each))) for each in range(2)]
            for start in range(0, 20, 2)
        ],
        "table_of_runs": lambda: [
            [("sweep.csv", b"terminals,tps\n" + b"".join(b"%d,%d.5\n" % (row, 800 + row) for row in range(5000)))]
        ],
    }


@contextmanager
def slow_clients(address: programs.Address) -> Iterator[None]:
    """So many connections that never finish what they ask; each that is closed is opened anew."""
    stop = threading.Event()

    def flood() -> None:
        sockets: list[socket.socket] = []
        while not stop.wait(0.5):
            while len(sockets) < SLOW_CLIENTS:
                sockets.append(socket.create_connection((address.host, address.port), timeout=10))
                sockets[-1].sendall(b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\nu")
            for each in list(sockets):
                try:
                    each.sendall(b"x")
                except OSError:
                    sockets.remove(each)
        for each in sockets:
            each.close()

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """All room of its file system taken."""
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(MB))
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def disk() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="benchsite-") as folder:
        yield Path(folder)


@contextmanager
def disk_of(size_bytes: int) -> Iterator[Path]:
    """A folder on a file system of its own, in memory."""
    with tempfile.TemporaryDirectory(prefix="benchsite-") as folder:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0711", "benchsite-small", folder]
        subprocess.run(command, check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def worst(site: Site, address: programs.Address, folder: Path) -> None:
    """What the clients wait during an import of 100 MB under slow clients, with room on the disk and without."""
    sent = [(name, pgbench_log(1_500_000)) for name in ("pgbench_log.2", "pgbench_log.2.1")]
    became: list[str] = []
    importing = threading.Thread(target=lambda: became.append(site.import_files(sent)))
    with slow_clients(address):
        importing.start()
        report(
            f"{sum(len(content) for _, content in sent) / MB:,.0f} MB imported, {SLOW_CLIENTS} slow clients",
            *asked_during(site, alone),
        )
        with full(folder):
            report("the same, and the disk is full", *asked_during(site, alone))
        report("the same, and there is room again", *asked_during(site, alone))
        importing.join()
    print("the import:", *became)


def asked_during(site: Site, work: Callable[[], list[str]]) -> tuple[list[Client], list[str]]:
    clients, stop = site.clients(), threading.Event()
    threads = [threading.Thread(target=client.run, args=[stop]) for client in clients]
    for thread in threads:
        thread.start()
    try:
        told = work()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return clients, told


def report(what: str, clients: list[Client], told: list[str]) -> None:
    print(what, *(f"    {words}" for words in told), *(client.line() for client in clients), sep="\n", flush=True)


def alone() -> list[str]:
    time.sleep(ALONE_S)
    return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--only", choices=[*cases(), WORST], action="append")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(disk_of(DISK_BYTES) if WORST in (arguments.only or ()) else disk())
        url = stack.enter_context(private_postgresql(fsync="on")) if arguments.postgresql else ""
        state, address = State(folder), programs.Address("127.0.0.1", free_port())
        state.tmp.mkdir()
        environment = programs.environment(state, address) | PLAIN | {"LOG_LEVEL": "WARNING", "FIRST_RUN": "0"}
        environment |= {"DATABASE_URL": url} if url else {}
        manage(environment, "migrate", "--verbosity=0")
        secret, agent = manage(environment, "shell", "--no-imports", "-c", SETUP).split()[-2:]
        stack.enter_context(running(environment, state, address))
        site = Site(address.local_url, secret, agent, state.path)
        print(f"{'PostgreSQL' if url else 'SQLite'}{'':>38}p50      p95      max")
        report("alone", *asked_during(site, alone))
        for name in arguments.only or cases():
            if name == WORST:
                worst(site, address, state.path)
                continue
            imports = cases()[name]()
            clients, told = asked_during(site, lambda sent=imports: [site.import_files(files) for files in sent])  # type: ignore[misc]
            sizes = [sum(len(content) for _, content in files) for files in imports]
            report(f"{name}: {sum(sizes) / 1000:,.0f} kB sent", clients, told)


if __name__ == "__main__":
    main()

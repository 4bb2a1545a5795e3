"""`make bench-stream`: a pgbench log of 1 GB through a running site: time, MB/s, and the peak memory of every part.

    make bench-stream ARGS="--mb 1024 --gzip"

pgbench itself writes the log's beginning, on a private PostgreSQL; it is repeated with the clients' numbers and the
clock going on. `benchctl inspect` reads it, `benchctl upload` sends it to web, worker and broker as `make up` starts
them; meanwhile a page is asked for, and a small import is sent. Peaks are the kernel's (VmHWM), of each process by
itself.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO

import psutil
import requests
from benchagent.dbms.private_server import free_port

from benchmarks.bench_imports import MB, SETUP
from benchsite import programs
from benchsite.state import State
from scripts.private import PLAIN, manage, private_postgresql, running

REAL_S = 5
SMALL = b"pgbench (16.4)\ntransaction type: <builtin: TPC-B (sort of)>\n"
PAGE, IMPORT = "page of runs meanwhile, the slowest, s", "import of 1 MB meanwhile, read after s"
PARTS = {"read_import": "reader", "celery": "worker", "manage.py web": "web", "benchctl": "benchctl"}


def real_log(folder: Path) -> list[str]:
    """The lines of `pgbench -l`, one thread, some seconds long."""
    with private_postgresql() as url:
        pgbench = shutil.which("pgbench") or "pgbench"
        subprocess.run([pgbench, "-i", "-q", "-s", "5", url], check=True, capture_output=True)
        command = [pgbench, "-c", "4", "-j", "1", "-T", str(REAL_S), "-l", f"--log-prefix={folder}/real", "-S", url]
        subprocess.run(command, check=True, capture_output=True)
    (log,) = folder.glob("real.*")
    return log.read_text().splitlines()


def going_on(lines: list[str]) -> Iterator[str]:
    """The log as if pgbench had gone on: numbers and clock of each repetition follow those of the one before."""
    rows = [line.split() for line in lines]
    first, last = (int(row[4]) * 1_000_000 + int(row[5]) for row in (rows[0], rows[-1]))
    counts = Counter(client for client, *_ in rows)
    shift_us = 0
    before = dict.fromkeys(counts, 0)
    while True:
        for client, number, latency, script, second, micros in rows:
            at = int(second) * 1_000_000 + int(micros) + shift_us
            yield f"{client} {int(number) + before[client]} {latency} {script} {at // 1_000_000} {at % 1_000_000}\n"
        shift_us += last - first + 1000
        before = {client: number + counts[client] for client, number in before.items()}


def write(lines: Iterator[str], size: int, file: IO[bytes]) -> int:
    done = 0
    while done < size:
        block = "".join(islice(lines, 20_000)).encode()
        file.write(block)
        done += len(block)
    return done


class Peaks(threading.Thread):
    """The most memory that any process of each part has had, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.mb: dict[str, float] = {}
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.2):
            for child in psutil.Process().children(recursive=True):
                try:
                    command = " ".join(child.cmdline())
                    status = Path(f"/proc/{child.pid}/status").read_text()
                except (psutil.Error, OSError):
                    continue
                part = next((name for word, name in PARTS.items() if word in command), "")
                lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
                if part and lines:
                    self.mb[part] = max(self.mb.get(part, 0.0), int(lines[0].split()[1]) / 1000)


def ask(url: str, secret: str, peaks: Peaks, told: dict[str, float]) -> None:
    """A page again and again; as soon as the large file is read, a small import, until it is read itself."""
    bearer = {"Authorization": f"Bearer {secret}"}
    while not peaks.ended.wait(0.5):
        begun = time.perf_counter()
        requests.get(f"{url}/runs/", timeout=120)
        told[PAGE] = max(told.get(PAGE, 0.0), time.perf_counter() - begun)
        if "reader" in peaks.mb and IMPORT not in told:
            begun = time.perf_counter()
            content = SMALL + b"progress: 1.0 s, 800.0 tps, lat 5.000 ms stddev 0.100\n" * 20_000
            answer = requests.post(
                f"{url}/api/v1/imports/", files={"file": content}, headers=bearer, timeout=120
            ).json()
            while answer.get("state") == "reading" and not peaks.ended.wait(0.2):
                answer = requests.get(f"{url}/api/v1/imports/{answer['id']}/", headers=bearer, timeout=60).json()
            told[IMPORT] = time.perf_counter() - begun


def benchctl(address: programs.Address, secret: str, folder: Path, *words: str) -> None:
    """Its words as they come, but of its progress only every tenth."""
    environment = os.environ | {"BENCHCTL_SERVER": address.local_url, "BENCHCTL_TOKEN": secret, "HOME": str(folder)}
    began, command = time.perf_counter(), [str(Path(sys.executable).with_name("benchctl")), *words]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert child.stdout is not None
    for number, line in enumerate(child.stdout):
        if number % 10 == 0 or "the server" not in line:
            print("   ", line.rstrip().rpartition("\r")[2], flush=True)
    if child.wait():
        raise SystemExit("benchctl failed")
    print(f"benchctl {words[0]}: {time.perf_counter() - began:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--gzip", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchsite-")))
        lines = real_log(folder)
        path = folder / ("pgbench_log.4242" + (".gz" if options.gzip else ""))
        with gzip.open(path, "wb", 1) if options.gzip else path.open("wb") as file:
            size = write(going_on(lines), options.mb * MB, file)  # type: ignore[arg-type]
        print(f"{size / 1e6:,.0f} MB of {len(lines):,} real lines gone on, {path.stat().st_size / 1e6:,.0f} MB to send")
        (folder / "state").mkdir()
        state, address = State(folder / "state"), programs.Address("127.0.0.1", free_port())
        state.tmp.mkdir()
        environment = programs.environment(state, address) | PLAIN | {"LOG_LEVEL": "WARNING", "FIRST_RUN": "0"}
        manage(environment, "migrate", "--verbosity=0")
        secret, _ = manage(environment, "shell", "--no-imports", "-c", SETUP).split()[-2:]
        stack.enter_context(running(environment, state, address))
        peaks, told = Peaks(), dict[str, float]()
        asking = threading.Thread(target=ask, args=[address.local_url, secret, peaks, told])
        peaks.start()
        asking.start()
        try:
            benchctl(address, secret, folder, "inspect", str(path))
            said = ["--hardware", "Bench", "--dbms", "PostgreSQL 15.14", "--workload", "tpcb-like"]
            benchctl(address, secret, folder, "upload", str(path), *said)
        finally:
            peaks.ended.set()
            asking.join()
        print(*(f"{what}: {seconds:.1f}" for what, seconds in told.items()), sep="\n")
        print(*(f"peak memory of {part}: {mb:,.0f} MB" for part, mb in sorted(peaks.mb.items())), sep="\n")


if __name__ == "__main__":
    main()

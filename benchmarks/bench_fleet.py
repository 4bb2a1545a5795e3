"""A fleet of simulated agents: real HTTP and the real protocol against a whole site on PostgreSQL and its broker.

Registers so many agents, lets them poll at the tempo that the server sets, and starts experiments that run on many of
them: polls a second, CPU of the server per poll, memory, and how long it takes from the form to the claim. Run by
`make bench-fleet [ARGS="--agents 50,500 --seconds 60"]`; ends with 1 where a run was claimed twice or never.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psutil
import requests
from benchagent.protocol import API_ROOT, PROTOCOL_VERSION

from benchmarks.bench_kills import running
from tests.ops.site import Site

VERSION = "3.50.1"
FACTORS = {"scale_factor": 1, "terminals": 1, "warm_up_s": 0, "duration_s": 1}
CLIENTS = 16
# A run is asked for on so many machines at once, this often.
RUNS_EACH, EVERY_S = 10, 4.0
CLAIMED_WITHIN_S = 120
HARDWARE = {
    "hostname": "", "os": "Debian 12", "kernel": "6.1", "cpu_model": "Example 3000", "cpu_cores": 2, "cpu_threads": 4,
    "ram_bytes": 8 * 2**30, "motherboard": None, "virtualisation": None, "storage": [],
}  # fmt: skip
RESULT = {
    "metrics": [{"name": "tps", "value": 812.5, "phase": "run"}],
    "durability": {"durability": "power_loss", "reason": "synchronous = FULL"}, "effective_settings": [],
    "ignored_settings": [], "storage": [], "product": "SQLite 3.50.1", "driver": {"name": "simulated", "version": "1"},
    "dataset": {"seed": 1, "rows": 100_000}, "command_lines": [], "checks": [], "warnings": [], "per_terminal": [],
    "histogram": None,
}  # fmt: skip
STATES = ("loading", "warming_up", "measuring", "collecting")


class Fleet:
    """Agents that poll when they are told to, and finish at once what they are given."""

    def __init__(self, site: Site) -> None:
        self.port, self.base = site.port, f"http://127.0.0.1:{site.port}"
        made = site.run("token", "NAME=fleet", "SCOPES=read,schedule,agent")
        self.headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
        self.tokens: dict[str, str] = {}
        self.polls, self.claims, self.answers = 0, Counter[str](), Counter[int]()
        self.claimed_at: dict[str, float] = {}
        self.asked_at: dict[str, float] = {}
        self._local, self._due, self._condition = threading.local(), list[tuple[float, str]](), threading.Condition()
        self._stop = threading.Event()

    def register(self, count: int) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(self._register, range(len(self.tokens), count)))

    def _register(self, number: int) -> None:
        code = requests.post(f"{self.base}/api/v1/agents/enrolment-codes/", headers=self.headers, timeout=120).json()
        name = f"m{number:04}"
        message = {
            "protocol": PROTOCOL_VERSION, "agent_version": "0.1.0", "name": name, "code": code["code"],
            "confinement": {"confined": True, "words": "simulated"}, "hardware": HARDWARE | {"hostname": name},
            "engines": [{"dbms": "sqlite", "version": VERSION, "available": True, "reason": "", "path": "/x"}],
        }  # fmt: skip
        answer = requests.post(f"{self.base}{API_ROOT}/register/", json=message, timeout=120)
        self.tokens[name] = answer.json()["token"]

    def start(self) -> list[threading.Thread]:
        now = time.monotonic()
        self._due = [(now + random.uniform(0, 2), name) for name in self.tokens]
        heapq.heapify(self._due)
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        return threads

    def stop(self, threads: list[threading.Thread]) -> None:
        self._stop.set()
        for thread in threads:
            thread.join(60)
        self._stop.clear()

    def _work(self) -> None:
        while not self._stop.is_set():
            with self._condition:
                due_at, name = heapq.heappop(self._due) if self._due else (math.inf, "")
            if not name or self._stop.wait(max(0.0, min(due_at - time.monotonic(), 5))):
                time.sleep(0.02)
                continue
            answer = self._ask(name, "/poll/", {"protocol": PROTOCOL_VERSION, "agent_version": "0.1.0"})
            self.polls += 1
            if answer and answer.get("job"):
                self._run(name, answer["job"])
            with self._condition:
                wait_s = 0.0 if answer and answer.get("job") else (answer or {}).get("poll_after_s", 2.0)
                heapq.heappush(self._due, (time.monotonic() + wait_s, name))

    def _run(self, name: str, run_id: str) -> None:
        claimed = self._ask(name, f"/jobs/{run_id}/claim/", {})
        if claimed is None:
            return
        self.claims[run_id] += 1
        self.claimed_at[run_id] = time.monotonic()
        at = time.time()
        states: list[dict[str, Any]] = [
            {"kind": "state", "state": state, "at": at}
            for state in ("loading", "warming_up", "measuring", "collecting")
        ]
        end = {"kind": "finish", "outcome": "finished", "message": "", "at": at, "result": RESULT}
        self._ask(name, f"/jobs/{run_id}/batch/", {"seq": 1, "items": [*states, end]}, claimed["job_token"])

    def _ask(self, name: str, path: str, body: dict[str, Any], token: str = "") -> dict[str, Any] | None:
        headers = {"Authorization": f"Bearer {token or self.tokens[name]}", "Content-Type": "application/json"}
        try:
            connection: HTTPConnection = self._local.__dict__.setdefault(
                "connection", HTTPConnection("127.0.0.1", self.port, timeout=60)
            )
            connection.request("POST", API_ROOT + path, json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
        except OSError:
            self._local.__dict__.pop("connection", None)
            self.answers[0] += 1
            return None
        self.answers[answer.status] += 1
        return json.loads(content) if answer.status == 200 else None

    def ask_for_runs(self, rng: random.Random) -> None:
        plan = {
            "workload": "tpcb", "engines": [{"dbms": "sqlite", "version": VERSION}], "factors": FACTORS, "each": True,
            "machines": rng.sample(sorted(self.tokens), min(RUNS_EACH, len(self.tokens))),
        }  # fmt: skip
        asked_at = time.monotonic()
        answer = requests.post(f"{self.base}/api/v1/experiments/", json=plan, headers=self.headers, timeout=120)
        for run in answer.json()["runs"]:
            self.asked_at[run["id"]] = asked_at


def measured(site: Site, fleet: Fleet, seconds: float, rng: random.Random) -> dict[str, float]:
    """Of a fleet that polls: without work, then with runs asked for all the time."""
    threads = fleet.start()
    time.sleep(12)  # until the tempo is that of so many
    web = [psutil.Process(site.child("web"))]
    web += web[0].children()
    before, polls, begun = sum(map(cpu_s, web)), fleet.polls, time.monotonic()
    time.sleep(seconds / 2)
    cpu, asked, lasted = sum(map(cpu_s, web)) - before, fleet.polls - polls, time.monotonic() - begun
    fleet.asked_at.clear()
    until = time.monotonic() + seconds / 2
    while time.monotonic() < until:
        fleet.ask_for_runs(rng)
        time.sleep(EVERY_S)
    deadline = time.monotonic() + CLAIMED_WITHIN_S
    while time.monotonic() < deadline and not fleet.asked_at.keys() <= fleet.claimed_at.keys():
        time.sleep(0.5)
    memory = sum(psutil.Process(site.child(name)).memory_info().rss for name in ("web", "worker", "beat", "broker"))
    memory += sum(process.memory_info().rss for process in web[1:])
    fleet.stop(threads)
    took = sorted(fleet.claimed_at[run] - at for run, at in fleet.asked_at.items() if run in fleet.claimed_at)
    return {
        "agents": len(fleet.tokens), "polls/s": asked / lasted, "CPU ms/poll": 1000 * cpu / max(1, asked),
        "claim p50 s": took[len(took) // 2], "claim p95 s": took[int(0.95 * (len(took) - 1))], "runs": len(took),
        "MB": memory / 1e6, "lost": len(fleet.asked_at) - len(took),
        "doubled": sum(count > 1 for count in fleet.claims.values()),
    }  # fmt: skip


def cpu_s(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", default="50,500")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng, rows = random.Random(given.seed), []
    with tempfile.TemporaryDirectory(prefix="benchsite-fleet-") as name, running(Path(name), True) as (site, _):
        fleet = Fleet(site)
        for count in map(int, given.agents.split(",")):
            fleet.register(count)
            rows.append(measured(site, fleet, given.seconds, rng))
            print(
                f"{', '.join(f'{key} {value:.4g}' for key, value in rows[-1].items())}; load {os.getloadavg()[0]:.0f}"
            )
        print(f"answers: {dict(fleet.answers)}")
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        for key in ("CPU ms/poll", "claim p95 s", "MB"):
            exponent = math.log(last[key] / first[key]) / math.log(last["agents"] / first["agents"])
            print(f"exponent of {key}: {exponent:.2f}")
    return int(any(row["lost"] or row["doubled"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())

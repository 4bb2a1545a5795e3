"""Six agents, one experiment, and everything is killed: is all measured that was asked for, and nothing twice?

Starts a whole site by `make up` (`--postgresql`: on a private PostgreSQL), and six agents with folders and machine ids
of their own, each behind a proxy that delays requests, sends them twice, loses the request or its answer, and is cut
off for a while. Three of them measure one experiment of 2 engines x 2 configurations x 2 scale factors x 3 repeats on
each, the others share a second one. Meanwhile web, worker, beat, broker, database, agents and DBMSs are killed, by a
seed. Then what has failed is asked for again, as a person would, until all is there. Run by
`make bench-lab [ARGS="--seed 1 --kills 60 --postgresql"]`; ends with 1 when anything was lost, doubled, left behind or
says what is not so. With `--clocks libfaketime.so.1` the clocks of
all agents' programs are wrong by hours and are set again and again; what they start has this machine's clock. (Build it
without FAKE_PTHREAD, FAKE_SLEEP and FAKE_TIMERS: a child that is forked can inherit a lock of the first and wait for
it for ever, and Debian's 0.9.10 breaks `time.sleep`.)
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import requests

from benchmarks.bench_kills import CHECK, Postgres, report_wrong, running
from tests.ops.site import REPOSITORY, Site, naming, share_cache, wait_until

AGENTS, LAB = 6, 3
SERVICES = ("web", "worker", "beat", "broker")
REPEATS, WINDOW_S = 3, 2
FACTORS = {"scale_factor": [1, 2], "terminals": 2, "warm_up_s": 1, "duration_s": WINDOW_S}
SWEPT = {"postgresql": {"synchronous_commit": ["on", "off"]}, "sqlite": {"synchronous": ["FULL", "OFF"]}}
# Shares of the requests to which that happens, and the longest delay.
LOST, ANSWER_LOST, TWICE, DELAYED, DELAY_S = 0.02, 0.02, 0.05, 0.1, 2.0
CUT_OFF_S = (5, 40)
WRONG_BY_H = 30
READY_WITHIN_S, ENDED_WITHIN_S, TIMEOUT_S, ROUNDS = 600, 1800, 60, 12
ENDED = ("finished", "failed", "lost", "cancelled")

# Reads ids of experiments, prints of each of their runs what tells whether it is what it says.
RUNS = """
import json
from runs.models import Run
from runs.run.series import of_runs
told = []
runs = Run.objects.present().filter(experiment__slug__in={slugs!r})
for run in runs.select_related("experiment", "job__agent", "job__requested_agent"):
    samples = of_runs([run], {{"tps"}})[run.pk].get("tps")
    told.append({{
        "id": str(run.pk), "experiment": run.experiment.slug, "state": run.state, "words": run.message,
        "times": [at and at.timestamp() for at in (run.created_at, run.started_at, run.finished_at)],
        "agent": run.job.agent.slug if run.job.agent else "", "cell": run.job.cell, "repeat": run.repeat,
        "tps": list(run.measurements.filter(metric__name="tps").values_list("value", flat=True)),
        "seconds": len(samples.values) if samples else 0,
    }})
print("runs " + json.dumps(told))
"""


class Network(ThreadingHTTPServer):
    """Between one agent and the server: what it does to a request is drawn from its seed."""

    daemon_threads = True

    def __init__(self, target: int, seed: str) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.target, self.rng, self.lock = f"http://127.0.0.1:{target}", random.Random(seed), threading.Lock()
        self.did, self.is_calm, self.cut_until = Counter[str](), False, 0.0

    def drawn(self) -> tuple[str, float]:
        """What happens to the next request, and for how long it is held."""
        with self.lock:
            at, delay_s = self.rng.random(), self.rng.uniform(0, DELAY_S)
            kinds = (("lost", LOST), ("answer lost", ANSWER_LOST), ("twice", TWICE), ("delayed", DELAYED))
            what = "passed"
            if not self.is_calm:
                for name, share in kinds:
                    if 0 <= at < share:
                        what = name
                    at -= share
            if time.monotonic() < self.cut_until:
                what = "cut off"
            self.did[what] += 1
            return what, delay_s if what == "delayed" else 0.0

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whose caller was killed is no news."""


class Passing(BaseHTTPRequestHandler):
    server: Network

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        what, delay_s = self.server.drawn()
        time.sleep(delay_s)
        answers = []
        with suppress(requests.RequestException):
            for _ in range({"cut off": 0, "lost": 0, "twice": 2}.get(what, 1)):
                headers = {name: value for name, value in self.headers.items() if name != "Connection"}
                asked = requests.request(
                    self.command, self.server.target + self.path, data=body, headers=headers, timeout=TIMEOUT_S
                )
                answers.append(asked)
        if not answers or what == "answer lost":
            return
        self.send_response(answers[-1].status_code)
        kept = {name: value for name, value in answers[-1].headers.items() if name in ("Content-Type", "Retry-After")}
        for name, value in {**kept, "Content-Length": str(len(answers[-1].content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answers[-1].content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass

    def log_message(self, format: str, *args: Any) -> None:
        """The proof has a log of its own."""


class Machine:
    """An agent's program with its folder, machine id and network."""

    def __init__(self, folder: Path, number: int, site: Site, seed: int, *, code: str, clocks: str) -> None:
        self.name, self.folder = f"lab{number}", folder / f"lab{number}"
        self.folder.mkdir(mode=0o711)
        share_cache(self.folder)
        (self.folder / "code").write_text(code)
        self.network = Network(site.port, f"{seed} {number}")
        threading.Thread(target=self.network.serve_forever, daemon=True).start()
        self.environment = site.base | {"BENCHAGENT_MACHINE_ID": f"lab {number} of {seed}"}
        self.clock, self.clock_rng = self.folder / "clock", random.Random(f"clock {seed} {number}")
        if clocks:
            self.set_clock()
            self.environment |= {
                "LD_PRELOAD": clocks, "FAKETIME_TIMESTAMP_FILE": str(self.clock), "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }  # fmt: skip
        self.log = (self.folder / "log").open("ab")
        self.start()

    @property
    def jobs(self) -> Path:
        return self.folder / "agent" / "jobs"

    def set_clock(self) -> None:
        self.clock.write_text(f"{self.clock_rng.uniform(-WRONG_BY_H, WRONG_BY_H):+.4f}h\n")

    def start(self) -> None:
        command = [
            sys.executable, "-m", "benchagent", "run", "--server", f"http://127.0.0.1:{self.network.server_port}",
            "--state", str(self.folder / "agent"), "--name", self.name, "--code-file", str(self.folder / "code"),
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=self.log, stderr=self.log, start_new_session=True
        )

    def stop(self) -> None:
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(60)
        self.network.shutdown()
        self.network.server_close()
        self.log.close()


class Lab:
    def __init__(self, site: Site, folder: Path, seed: int, clocks: str) -> None:
        self.site, self.folder, self.begun_at = site, folder, time.time()
        made = site.run("token", "NAME=lab", "SCOPES=read,schedule,agent")
        self.headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
        self.errors: list[str] = []
        codes = [self.ask("POST", "/api/v1/agents/enrolment-codes/")["code"] for _ in range(AGENTS)]
        self.machines = [
            Machine(folder, number, site, seed, code=code, clocks=clocks) for number, code in enumerate(codes)
        ]
        self.acknowledged: dict[str, int] = {}

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """Until the site has answered for good; what changes something has one key, and is done once."""
        headers = self.headers | {"Idempotency-Key": str(uuid4())}
        while True:
            with suppress(requests.RequestException):
                url = f"http://127.0.0.1:{self.site.port}{path}"
                answer = requests.request(method, url, headers=headers, timeout=TIMEOUT_S, **more)
                if answer.status_code < 500:
                    if not answer.ok:
                        self.errors.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
                    return answer.json()
                if not (answer.status_code == 503 and "Retry-After" in answer.headers):
                    self.errors.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
            time.sleep(0.3)

    def engines(self) -> list[dict[str, str]]:
        """Of PostgreSQL and SQLite the version that all agents have; they may still be looking."""

        def offered() -> list[dict[str, str]]:
            there = {
                agent["name"]: {(each["dbms"], each["version"]) for each in agent["engines"] if each["available"]}
                for agent in self.ask("GET", "/api/v1/agents/")["results"]
            }
            ours = [there.get(machine.name, set()) for machine in self.machines]
            newest = dict(sorted(set.intersection(*ours)))
            return [{"dbms": name, "version": newest[name]} for name in SWEPT if name in newest]

        found: list[dict[str, str]] = wait_until(lambda: len(offered()) == len(SWEPT) and offered(), READY_WITHIN_S, 1)
        if not found:
            raise SystemExit(f"the agents offer {offered()}, of {', '.join(SWEPT)}")
        return found

    def plan(self) -> None:
        plan = {"workload": "tpcb", "engines": self.engines(), "factors": FACTORS, "swept": SWEPT, "repeats": REPEATS}
        slugs = {agent["name"]: agent["slug"] for agent in self.ask("GET", "/api/v1/agents/")["results"]}
        named = [slugs[machine.name] for machine in self.machines]
        for name, machines, each in (("lab", named[:LAB], True), ("spare", named[LAB:], False)):
            where = {"name": name, "machines": machines, "each": each}
            made = self.ask("POST", "/api/v1/experiments/", json=plan | where)
            self.acknowledged[made["slug"]] = len(made["runs"])
            print(f"{name}: {len(made['runs'])} runs asked for", flush=True)

    def runs(self) -> list[dict[str, Any]]:
        code = RUNS.format(slugs=list(self.acknowledged))
        return json.loads(self.inside(code).removeprefix("runs "))  # type: ignore[no-any-return]

    def inside(self, code: str) -> str:
        """The last line that the site's own code prints."""
        command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
        environment = self.site.base | {"STATE": str(self.site.state)}
        done = subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.splitlines()[-1]

    def under_way(self) -> int:
        return sum(run["state"] not in ENDED for run in self.runs())

    def finish(self) -> int:
        """Whatever has failed is asked for again, until nothing has. -> how many runs that took."""
        asked = 0
        for _ in range(ROUNDS):
            wait_until(lambda: not self.under_way(), ENDED_WITHIN_S, 3)
            missing = [slug for slug in self.acknowledged if any(self.missing(slug))]
            if not missing:
                break
            for slug in missing:
                again = self.ask("POST", f"/api/v1/experiments/{slug}/repeat-runs/", json={})["results"]
                asked += len(again)
                self.acknowledged[slug] += len(again)
        return asked

    def missing(self, slug: str) -> Iterator[str]:
        """Cells with fewer finished runs than repeats were asked for."""
        runs = [run for run in self.runs() if run["experiment"] == slug]
        finished = Counter(run["cell"] for run in runs if run["state"] == "finished")
        return (cell for cell in {run["cell"] for run in runs} if finished[cell] < REPEATS)


class Killer:
    def __init__(self, lab: Lab, postgres: Postgres | None, seed: int) -> None:
        self.lab, self.postgres, self.rng, self.kills = lab, postgres, random.Random(seed), Counter[str]()
        self.clocks_set = 0

    def run(self, kills: int, until: float) -> None:
        while self.kills.total() < kills and time.monotonic() < until:
            time.sleep(self.rng.uniform(0.5, 6))
            alive = {name: pids for name, pids in self.parts().items() if pids}
            name = min(sorted(alive), key=lambda part: self.kills[part] + 3 * self.rng.random())
            self.kill(name, self.rng.choice(sorted(alive[name])))
            machine = self.rng.choice(self.lab.machines)
            if self.rng.random() < 0.2:
                machine.network.cut_until = time.monotonic() + self.rng.uniform(*CUT_OFF_S)
            if machine.clock.exists():
                machine.set_clock()
                self.clocks_set += 1

    def parts(self) -> dict[str, list[int]]:
        parts: dict[str, list[int]] = {}
        for name in SERVICES:
            with suppress(OSError, IndexError, psutil.Error):
                process = psutil.Process(self.lab.site.child(name))
                parts[name] = [process.pid, *(child.pid for child in process.children() if name == "web")]
        parts["agent"] = [each.process.pid for each in self.lab.machines if each.process.poll() is None]
        of_jobs = [naming(machine.jobs) for machine in self.lab.machines]
        parts["DBMS"] = [pid for lines in of_jobs for pid, line in lines.items() if "/postgres " in line]
        parts["load generator"] = [pid for lines in of_jobs for pid, line in lines.items() if "java" in line]
        if self.postgres:
            parts["PostgreSQL"] = [self.postgres.server.pid]
        return parts

    def kill(self, name: str, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.kills[name] += 1
            print(f"{self.kills.total():>4}  {name} ({pid})", flush=True)
        if name == "PostgreSQL" and self.postgres:
            self.postgres.server.wait()
            self.postgres.start()
        for machine in self.lab.machines:
            if machine.process.pid == pid:
                machine.process.wait()
                threading.Timer(self.rng.uniform(1, 10), machine.start).start()


def wrong_of(lab: Lab) -> list[tuple[str, str]]:
    """(lost, doubled, wrong state, wrong time or orphan, what), of all that was asked for."""
    wrong, runs = [], lab.runs()
    for slug, asked in lab.acknowledged.items():
        here = sum(run["experiment"] == slug for run in runs)
        if here != asked:
            wrong.append(("lost" if here < asked else "doubled", f"{slug}: {here} runs, {asked} asked for"))
        wrong += [("lost", f"{slug}: {cell} has no {REPEATS} finished runs") for cell in lab.missing(slug)]
    named = {machine.name: number for number, machine in enumerate(lab.machines)}
    for run in runs:
        is_lab = run["experiment"].startswith("lab")
        if run["state"] == "finished" and (len(run["tps"]) != 1 or (named[run["agent"]] < LAB) != is_lab):
            wrong.append(("wrong state", f"{run}"))
        if run["state"] not in ENDED or (run["state"] != "finished" and not run["words"]):
            wrong.append(("wrong state", f"{run}"))
        times = [lab.begun_at, *(at for at in run["times"] if at), time.time()]
        if times != sorted(times) or (run["state"] == "finished" and None in run["times"]):
            wrong.append(("wrong time", f"{times} of {run}"))
        # The warm-up is sampled too, and a last second that is not whole.
        if run["seconds"] > 1 + WINDOW_S + 1:
            wrong.append(("doubled", f"samples of {run}"))
        if run["state"] == "finished" and run["seconds"] < WINDOW_S:
            wrong.append(("lost", f"samples of {run}"))
    told: dict[str, Any] = {"results": {}, "imports": {}, "files": {}, "experiments": ["lab", "spare"]}
    file = lab.folder / "acknowledged.json"
    file.write_text(json.dumps(told))
    _, found = json.loads(lab.inside(CHECK.format(file=str(file))).removeprefix("checked "))
    wrong += [(kind, words) for kind, words in found]
    for machine in lab.machines:
        wait_until(lambda: not naming(machine.jobs) and not any(machine.jobs.iterdir()), 60)  # noqa: B023
        wrong += [("orphan", f"process {line}") for line in naming(machine.jobs).values()]
        wrong += [("orphan", f"folder {path}") for path in machine.jobs.iterdir()]
    return wrong


@contextmanager
def started(folder: Path, seed: int, postgresql: bool, clocks: str) -> Iterator[tuple[Lab, Postgres | None]]:
    with ExitStack() as stack:
        site, postgres = stack.enter_context(running(folder, postgresql, EXCLUSIVE_MACHINES="0"))
        lab = Lab(site, folder, seed, clocks)
        for machine in lab.machines:
            stack.callback(machine.stop)
        yield lab, postgres


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=20, help="kill no more after so many")
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--clocks", default="", metavar="LIBRARY", help="libfaketime: agents' clocks are wrong")
    options = parser.parse_args()
    begun, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="benchsite-lab-"))
    with started(folder, options.seed, options.postgresql, options.clocks) as (lab, postgres):
        lab.plan()
        killer = Killer(lab, postgres, options.seed)
        killer.run(options.kills, begun + 60 * options.minutes)
        for machine in lab.machines:
            machine.network.is_calm, machine.network.cut_until = True, 0.0
        wait_until(lambda: all(machine.process.poll() is None for machine in lab.machines), 30)
        again = lab.finish()
        wrong = wrong_of(lab)
        states = Counter(run["state"] for run in lab.runs())
        did = sum((machine.network.did for machine in lab.machines), Counter[str]())
    if not (wrong or lab.errors):
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{'PostgreSQL' if postgres else 'SQLite'}, seed {options.seed}, {time.monotonic() - begun:.0f} s")
    print(f"  killed: {', '.join(f'{count} {name}' for name, count in killer.kills.most_common())}")
    print(f"  clocks set: {killer.clocks_set} times")
    print(f"  requests: {', '.join(f'{count} {name}' for name, count in did.most_common())}")
    print(f"  acknowledged: {sum(lab.acknowledged.values())} runs, {again} of them again for what had failed")
    print(f"  states: {', '.join(f'{count} {state}' for state, count in states.most_common())}")
    return report_wrong(wrong, lab.errors, ("lost", "doubled", "wrong state", "wrong time", "orphan"))


if __name__ == "__main__":
    sys.exit(main())

"""kill -9 of any part at any moment, while results and files come in and runs are measured: what is lost, and left?

Starts a whole site by `make up`, on SQLite or on a private PostgreSQL, sends it results, files (in parts too) and runs,
and kills by chance, by a seed: web, worker, beat, broker, PostgreSQL, one of its backends, supervisor, agent, the
reader of a large import, load generator and DBMS of a run. In the end it asks for all that was acknowledged, and looks
for what nobody owns. Run by `make bench-kills [ARGS="--seed 1 --kills 200 --postgresql"]`; ends with 1 when anything
was lost, doubled or left behind, or answered 500.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import requests
from benchagent.dbms.private_server import free_port

from benchmarks.bench_imports import pgbench_log
from benchmarks.bench_uploads import document
from scripts.private import SERVICE_USER, find_binaries, works
from tests.ops.site import REPOSITORY, Site, naming, share_cache, wait_until

CHILDREN = ("web", "worker", "beat", "broker", "agent")
SUBJECT = {"hardware": {"name": "Kills"}, "dbms": {"name": "PostgreSQL", "version": "16.4"}, "workload": {"slug": "k"}}
FACTORS = {"scale_factor": 1, "terminals": 2, "warm_up_s": 1, "duration_s": 6, "rate_per_s": 50}
UNDER_WAY = "&".join(
    f"status={state}"
    for state in ("queued", "assigned", "preparing", "loading", "warming_up", "measuring", "collecting")
)
READY_WITHIN_S = 600
QUIET_WITHIN_S = 900
TIMEOUT_S = 60
# An agent that is killed more often never gets as far as a load generator and a DBMS that could be.
AGENT_LIVES_S = 40
# Of each sender between two things that it sends.
PAUSE_S = 0.4
LARGE_EVERY = 6
# Small and with pauses, so that most kills meet a file of which parts are missing.
PART_BYTES, BETWEEN_PARTS_S = 25_000, 0.1
# So many of the kills wait until something more was acknowledged; the others meet a site that is only starting.
PATIENT, PATIENCE_S = 0.7, 30

# Reads what was acknowledged as JSON, prints what is lost, doubled or without owner: [(kind, words)].
CHECK = """
import hashlib, json
from collections import Counter
from pathlib import Path
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone
from runs.models import Artefact, Experiment, FileImport, FileInParts, Run, Upload
from runs.models.choices import ENDED_STATES
from runs.run import artefacts
told, wrong = json.loads(Path({file!r}).read_text()), []
for upload_id, (tps, digest) in told["results"].items():
    runs = Run.objects.present().filter(upload=upload_id)
    if runs.count() != 1:
        wrong.append(("doubled" if runs.count() else "lost", f"result {{upload_id}}: {{runs.count()}} runs"))
        continue
    values = list(runs.get().measurements.filter(metric__name="tps").values_list("value", flat=True))
    here = [each for each in artefacts.artefacts_of(runs.get()) if each.file.storage.exists(each.file.name)]
    kept = [hashlib.sha256(artefacts.content(each)).hexdigest() for each in here]
    if values != [tps] or kept != [digest]:
        wrong.append(("lost", f"result {{upload_id}}: {{values}} instead of {{tps}}, files {{len(kept)}}"))
for import_id, stored in told["imports"].items():
    if not FileImport.objects.filter(pk=import_id).exists():
        wrong.append(("lost", f"import {{import_id}}"))
    runs = Run.objects.present().filter(upload__file_import=import_id).count()
    if runs != stored:
        wrong.append(("lost" if runs < stored else "doubled", f"import {{import_id}}: {{runs}} runs, not {{stored}}"))
for import_id, digest in told["files"].items():
    kept = list(Artefact.objects.filter(file_import=import_id).values_list("sha256", flat=True))
    if kept not in ([digest], []) or (not kept and told["imports"][import_id]):
        wrong.append(("lost", f"import {{import_id}}: not the file that came in parts"))
names = Counter(Experiment.objects.values_list("name", flat=True))
for name in told["experiments"]:
    if names[name] != 1:
        wrong.append(("doubled" if names[name] else "lost", f"experiment {{name}}: {{names[name]}}"))
orphan = lambda words: wrong.append(("orphan", words))
for upload in Upload.objects.filter(runs=None):
    orphan(f"upload {{upload.pk}} without a run")
for run in Run.objects.filter(upload__isnull=False, measurements=None, series=None):
    orphan(f"half-stored run {{run.pk}}")
for run in Run.objects.exclude(state__in=ENDED_STATES).exclude(state="value_missing"):
    orphan(f"run {{run.pk}} stays {{run.state}}")
for taken in FileImport.objects.filter(state="reading"):
    orphan(f"import {{taken.pk}} is read for ever")
root = Path(default_storage.path(""))
taken_away = artefacts.forget_ownerless(timezone.now())
named = {{*Artefact.objects.values_list("file", flat=True)}}
named |= {{*FileImport.objects.values_list("reports", flat=True)}} - {{""}}
named |= {{*FileInParts.objects.values_list("file", flat=True)}}
files = {{str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}}
for name in named - files:
    wrong.append(("lost", f"file {{name}}"))
for name in files - named:
    orphan(f"file {{name}}")
if connection.vendor == "sqlite":
    with connection.cursor() as cursor:
        for pragma in ("integrity_check", "foreign_key_check"):
            cursor.execute(f"PRAGMA {{pragma}}")
            for row in cursor.fetchall():
                row[0] == "ok" or orphan(f"{{pragma}}: {{row}}")
print("checked " + json.dumps([taken_away, wrong]))
"""


class Postgres:
    """The site's database: a commit waits for the disk, and it comes up again after every kill."""

    def __init__(self, folder: Path) -> None:
        binaries = find_binaries()
        if binaries is None:
            raise FileNotFoundError("no PostgreSQL server is installed")
        self._binaries, self._folder, self._port = binaries, folder, free_port()
        self._user = SERVICE_USER if os.geteuid() == 0 else None
        folder.mkdir(mode=0o700)
        if self._user:
            shutil.chown(folder, self._user)
        initdb = [str(binaries / "initdb"), "-D", f"{folder}/data", "-U", SERVICE_USER, "-A", "trust", "-E", "UTF8"]
        subprocess.run([*initdb, "--locale=C"], user=self._user, cwd="/", check=True, stdout=subprocess.DEVNULL)
        self.url = f"postgres://{SERVICE_USER}@127.0.0.1:{self._port}/postgres"
        self.start()

    def start(self) -> None:
        """Until it takes connections; a start beside what a killed one left is tried again."""
        options = {"port": self._port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self._folder}
        command = [str(self._binaries / "postgres"), "-D", f"{self._folder}/data"]
        for name, value in (options | {"max_connections": 200}).items():
            command += ["-c", f"{name}={value}"]
        ready = [str(self._binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self._port)]
        while True:
            self.server = subprocess.Popen(
                command, user=self._user, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            wait_until(lambda: works(*ready), 60)
            if self.server.poll() is None:
                return
            time.sleep(0.5)

    def backends(self) -> list[int]:
        """Of clients, not of the server itself."""
        with suppress(psutil.Error):
            children = psutil.Process(self.server.pid).children()
            return [child.pid for child in children if "127.0.0.1(" in " ".join(child.cmdline())]
        return []

    def stop(self) -> None:
        self.server.send_signal(signal.SIGINT)
        self.server.wait(60)


@dataclass
class Acknowledged:
    """What the site said that it has. `results`: id -> (tps, digest of its file); `imports`: id -> runs stored."""

    results: dict[str, tuple[float, str]] = field(default_factory=dict)
    imports: dict[str, int] = field(default_factory=dict)
    # Of imports whose file came in parts: its digest; and how many parts were acknowledged in all.
    files: dict[str, str] = field(default_factory=dict)
    parts: int = 0
    experiments: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    # Throughput second by second, as it was once given out.
    seconds: dict[str, list[float | None]] = field(default_factory=dict)

    def total(self) -> int:
        return len(self.results) + sum(self.imports.values()) + self.parts

    def counted(self) -> str:
        samples = sum(map(len, self.seconds.values()))
        return (
            f"{len(self.results)} results, {len(self.imports)} imports ({sum(self.imports.values())} runs stored), "
            f"{len(self.files)} of them in {self.parts} parts, "
            f"{len(self.runs)} runs measured or to be, {samples} of their seconds"
        )


class Load:
    """Who sends and reads all the time, and says everything again until it is acknowledged."""

    def __init__(self, site: Site, seed: int, version: str) -> None:
        self.base, self.version = f"http://127.0.0.1:{site.port}", version
        made = site.run("token", "NAME=kills", "SCOPES=read,upload,schedule")
        self.token = made.stdout.strip()
        if not self.token:
            raise SystemExit(f"no token was made: {made.stderr}")
        self.acknowledged, self.answers = Acknowledged(), Counter[str]()
        self.errors: list[str] = []
        # Ids of files that are being sent in parts.
        self.sending: set[str] = set()
        self._stop = threading.Event()
        # Ids of different seeds differ, those of one sender and one seed never do.
        self._generators = [random.Random(f"{seed} {number}") for number in range(5)]
        jobs = (
            lambda: self._result(0), lambda: self._result(1), self._import, lambda: self._in_parts(3),
            lambda: self._in_parts(4), self._schedule, self._look,
        )  # fmt: skip
        self._threads = [threading.Thread(target=self._again, args=[job], daemon=True) for job in jobs]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(QUIET_WITHIN_S)

    def _again(self, job: Callable[[], None]) -> None:
        while not self._stop.is_set():
            job()
            self._stop.wait(PAUSE_S)

    def ask(self, method: str, path: str, **more: Any) -> requests.Response | None:
        """None where nobody answered. A 500, and a 503 that does not say when to ask again, are noted."""
        headers = more.pop("headers", {}) | (
            {"Authorization": f"Bearer {self.token}"} if path.startswith("/api") else {}
        )
        try:
            answer = requests.request(
                method, self.base + path, timeout=TIMEOUT_S, **more | {"headers": headers | more.get("headers", {})}
            )
        except requests.RequestException as error:
            self.answers[type(error).__name__] += 1
            return None
        self.answers[str(answer.status_code)] += 1
        if answer.status_code >= 500 and not (answer.status_code == 503 and "Retry-After" in answer.headers):
            self.errors.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer

    def insist(self, method: str, path: str, **more: Any) -> requests.Response:
        """Until the site has answered for good."""
        while True:
            answer = self.ask(method, path, **more)
            if answer is not None and answer.status_code < 500:
                if answer.status_code >= 400:
                    self.errors.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
                return answer
            time.sleep(0.3)

    def _result(self, sender: int) -> None:
        generator = self._generators[sender]
        body, content = document(generator, samples=20), generator.randbytes(5_000)
        body["artefacts"] = [{"name": "raw.bin", "base64": base64.b64encode(content).decode()}]
        answer = self.insist("POST", "/api/v1/results/", json=body)
        if answer.ok:
            tps = body["repeats"][0]["metrics"]["tps"]
            self.acknowledged.results[body["id"]] = tps, hashlib.sha256(content).hexdigest()

    def _import(self) -> None:
        """Take, wait until it is read, store."""
        number = self._generators[2].randrange(10**9)
        large = number % LARGE_EVERY == 0
        content = pgbench_log(40_000 + number % 10_000) if large else pgbench_text(8_000 + number % 1_000)
        files = {"file": ("pgbench_log.1" if large else "pgbench.txt", content)}
        self._read_and_stored(self.insist("POST", "/api/v1/imports/", files=files).json())

    def _in_parts(self, sender: int) -> None:
        """What was acknowledged of a file is there, whatever is killed before the next part."""
        content = pgbench_log(15_000 + self._generators[sender].randrange(20_000))
        length = {"Upload-Length": str(len(content)), "Upload-Metadata": "filename cGdiZW5jaF9sb2cuMg=="}
        parts_id = self.insist("POST", "/api/v1/parts/", headers=length).json()["id"]
        self.sending.add(parts_id)
        self._send(parts_id, content)
        taken = self.insist("POST", "/api/v1/imports/", files={"parts": (None, parts_id)}).json()
        self.sending.remove(parts_id)
        if taken.get("id") not in (None, *self.acknowledged.imports):
            self.acknowledged.files[taken["id"]] = hashlib.sha256(content).hexdigest()
            self._read_and_stored(taken)

    def _send(self, parts_id: str, content: bytes) -> None:
        offset, path = 0, f"/api/v1/parts/{parts_id}/"
        while offset < len(content):
            part = content[offset : offset + PART_BYTES]
            told = {
                "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream",
                "Upload-Checksum": f"sha256 {base64.b64encode(hashlib.sha256(part).digest()).decode()}",
            }  # fmt: skip
            answer = self.ask("PATCH", path, data=part, headers=told)
            if answer is not None and answer.status_code == 204:
                offset += len(part)
                self.acknowledged.parts += 1
                self._stop.wait(BETWEEN_PARTS_S)
                continue
            kept = self.insist("GET", path).json().get("received_bytes", -1)
            if kept not in (offset, offset + len(part)):
                self.errors.append(f"lost: {kept} bytes of a file of which {offset} were acknowledged")
            offset = max(kept, offset)
            self._stop.wait(PAUSE_S)

    def _read_and_stored(self, told: dict[str, Any]) -> None:
        if "id" not in told or told["id"] in self.acknowledged.imports:
            return
        self.acknowledged.imports[told["id"]] = 0
        path = f"/api/v1/imports/{told['id']}/"
        while told.get("state") == "reading":
            time.sleep(0.5)
            told = self.insist("GET", path).json()
        if told.get("state") == "failed" and "was interrupted" in told["problem"]:
            return  # its reader was killed again and again, and the site says so
        stored = self.insist("POST", f"{path}store/", json={"subject": SUBJECT})
        if stored.ok:
            self.acknowledged.imports[told["id"]] = len(stored.json()["runs"])

    def _schedule(self) -> None:
        """Two runs at a time; a plan that nobody answered is not sent again, it may have been taken."""
        under_way = self.under_way()
        for run in under_way or ():
            self._note_seconds(run["id"])
        if under_way is not None and len(under_way) < 2:
            name = f"kills {time.monotonic_ns()}"
            engines = [{"dbms": "postgresql", "version": self.version}]
            plan = {"workload": "tpcb", "engines": engines, "factors": FACTORS, "name": name}
            answer = self.ask("POST", "/api/v1/experiments/", json=plan)
            if answer is not None and answer.status_code == 201:
                self.acknowledged.experiments.append(name)
                self.acknowledged.runs += [run["id"] for run in answer.json()["runs"]]
            elif answer is not None and answer.status_code < 500:
                # Until the agent has told its engines.
                print(f"no run was planned: {answer.text[:300]}", flush=True)
        self._stop.wait(1)

    def under_way(self) -> list[Any] | None:
        """Runs that have not ended; None where nobody tells."""
        answer = self.ask("GET", f"/api/v1/runs/?page_size=500&{UNDER_WAY}")
        return answer.json()["results"] if answer is not None and answer.ok else None

    def _note_seconds(self, run_id: str) -> None:
        answer = self.ask("GET", f"/api/v1/runs/{run_id}/series/?metric=tps")
        if answer is not None and answer.ok and answer.json()["series"]:
            self.acknowledged.seconds[run_id] = answer.json()["series"][0]["values"]

    def _look(self) -> None:
        for path in ("/", "/runs/", "/agents/", "/schedule/", "/api/v1/runs/"):
            self.ask("GET", path)
            self._stop.wait(0.3)


def pgbench_text(transactions: int) -> bytes:
    """Four clients for ten seconds."""
    return f"""pgbench (16.4)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 4
number of threads: 1
maximum number of tries: 1
duration: 10 s
number of transactions actually processed: {transactions}
number of failed transactions: 0 (0.000%)
latency average = {40_000 / transactions:.3f} ms
initial connection time = 5.000 ms
tps = {transactions / 10:.6f} (without initial connection time)
""".encode()


class Killer:
    def __init__(self, site: Site, postgres: Postgres | None, load: Load, seed: int) -> None:
        self.site, self.postgres, self.load, self.rng = site, postgres, load, random.Random(seed)
        self.kills: Counter[str] = Counter()
        # Of the kills those that met a file of which parts were there and parts were missing.
        self.beside_parts = 0
        # What still ran after its supervisor was killed.
        self.left: list[str] = []
        self._agent_since = time.monotonic()

    def run(self, kills: int, until: float) -> None:
        while self.kills.total() < kills and time.monotonic() < until:
            spared = ("agent", "supervisor") if time.monotonic() - self._agent_since < AGENT_LIVES_S else ()
            alive = {part: pids for part, pids in self.parts().items() if pids and part not in spared}
            # Those that were killed least are the likeliest; who is hardly ever there has its turn when it is. After
            # the supervisor all is started anew: half as often.
            turns = {
                name: self.kills[name] * (1 + (name == "supervisor")) + self.rng.random() * 4 for name in sorted(alive)
            }
            if turns:
                part = min(turns, key=lambda name: turns[name])
                before = self.load.acknowledged.total()
                self.kill(part, self.rng.choice(sorted(alive[part])))
                if self.rng.random() < PATIENT:
                    wait_until(lambda: self.load.acknowledged.total() > before, PATIENCE_S)  # noqa: B023
            time.sleep(self.rng.uniform(0.2, 2.5))

    def parts(self) -> dict[str, list[int]]:
        parts: dict[str, list[int]] = {}
        for name in CHILDREN:
            with suppress(OSError, IndexError, psutil.Error):
                process = psutil.Process(self.site.child(name))
                # Of web the one that starts the others, or one of these.
                parts[name] = [process.pid, *(child.pid for child in process.children() if name == "web")]
        with suppress(OSError, ValueError):
            parts["supervisor"] = [self.site.supervisor]
        of_runs = naming(self.site.state / "agent" / "jobs")
        parts["load generator"] = [pid for pid, line in of_runs.items() if "java" in line]
        parts["DBMS"] = [pid for pid, line in of_runs.items() if "/postgres " in line]
        parts["reader of an import"] = [pid for pid, line in self.site.processes().items() if "read_import" in line]
        if self.postgres:
            parts["PostgreSQL"], parts["its backend"] = [self.postgres.server.pid], self.postgres.backends()
        return parts

    def kill(self, part: str, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.kills[part] += 1
            self.beside_parts += bool(self.load.sending)
            print(f"{self.kills.total():>4}  {part} ({pid})", flush=True)
        if part == "PostgreSQL" and self.postgres:
            self.postgres.server.wait()
            time.sleep(self.rng.uniform(0, 3))
            self.postgres.start()
        elif part == "supervisor":
            self.left += self.site.left(60).values()
            assert self.site.make is not None
            self.site.make.wait(60)
            start(self.site)
        if part in ("agent", "supervisor"):
            self._agent_since = time.monotonic()


def start(site: Site) -> None:
    while True:
        site.start()
        site.wait(READY_WITHIN_S)
        if "ready after" in site.said:
            return
        print(f"did not start: {site.said[-500:]}", flush=True)
        site.stop()


def verdict(site: Site, load: Load, killer: Killer, folder: Path) -> list[tuple[str, str]]:
    """(lost, doubled or orphan, what), once everything has come to rest."""
    wrong = [("orphan", f"process {line}") for line in killer.left]
    deadline = time.monotonic() + QUIET_WITHIN_S
    while load.under_way() != [] and time.monotonic() < deadline:
        time.sleep(2)
    for run_id, before in load.acknowledged.seconds.items():
        series = load.insist("GET", f"/api/v1/runs/{run_id}/series/?metric=tps").json().get("series")
        after = series[0]["values"] if series else []
        if after[: len(before)] != before:
            wrong.append(("lost", f"seconds of {run_id}: {len(before)} were there, {after} are"))
    states = Counter(
        load.insist("GET", f"/api/v1/runs/{run_id}/").json().get("status", "gone") for run_id in load.acknowledged.runs
    )
    print(f"runs of the agent: {', '.join(f'{count} {state}' for state, count in sorted(states.items()))}")
    jobs = site.state / "agent" / "jobs"
    wait_until(lambda: not list(jobs.iterdir()), 60)
    wrong += [("orphan", f"folder {path}") for path in jobs.iterdir()]
    running = wait_until(lambda: not naming(jobs), 30) or naming(jobs)
    wrong += [("orphan", f"process {line}") for line in (running.values() if isinstance(running, dict) else ())]
    told = {"results": load.acknowledged.results, "imports": load.acknowledged.imports}
    told |= {"files": load.acknowledged.files}
    file = folder / "acknowledged.json"
    file.write_text(json.dumps(told | {"experiments": load.acknowledged.experiments}))
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", CHECK.format(file=str(file))]
    environment = site.base | {"STATE": str(site.state)}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("checked "))
    taken_away, told = json.loads(line.removeprefix("checked "))
    print(f"files of killed requests that housekeeping took away: {taken_away}")
    wrong += [(kind, words) for kind, words in told]
    site.stop()
    return wrong + [("orphan", f"process {line}") for line in site.left().values()]


@contextmanager
def running(folder: Path, postgresql: bool, **more: str) -> Iterator[tuple[Site, Postgres | None]]:
    """`more`: of the site's environment."""
    # PostgreSQL's service user must be able to pass through.
    folder.chmod(0o711)
    with ExitStack() as stack:
        postgres = None
        environment = {"RATE_LIMITS": "0"} | more
        if postgresql:
            postgres = Postgres(folder / "postgresql")
            stack.callback(postgres.stop)
            environment["DATABASE_URL"] = postgres.url
        (folder / "home").mkdir()
        site = Site(folder / "state", folder / "home", **environment)
        share_cache(site.state)
        stack.callback(site.stop)
        start(site)
        yield site, postgres


def first_version(site: Site) -> str:
    """Of PostgreSQL, as the agent names it; the machine has to have one."""
    command = [sys.executable, "-m", "benchagent", "engines", "--state", str(site.home / "agent")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"^PostgreSQL (\S+) ", said, re.M)
    if match is None:
        raise SystemExit(f"the agent has no PostgreSQL to run: {said}")
    return match[1]


def report_wrong(wrong: Sequence[tuple[str, str]], errors: Sequence[str], kinds: Sequence[str]) -> int:
    """Prints what was wrong, by its kind. -> the exit status."""
    for kind in kinds:
        print(f"  {kind}: {sum(each == kind for each, _ in wrong)}")
    print(f"  answers that should not be: {len(errors)}")
    print(*(f"    {kind}: {words}" for kind, words in wrong), *(f"    {words}" for words in errors[:30]), sep="\n")
    return 1 if wrong or errors else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=120, help="kill no more after so many")
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the site's folder, as when something is wrong")
    arguments = parser.parse_args()
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="benchsite-kills-"))
    with running(folder, arguments.postgresql) as (site, postgres):
        load = Load(site, arguments.seed, first_version(site))
        killer = Killer(site, postgres, load, arguments.seed)
        load.start()
        killer.run(arguments.kills, begun + 60 * arguments.minutes)
        load.stop()
        wrong = verdict(site, load, killer, folder)
    if not (arguments.keep or wrong or load.errors):
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{'PostgreSQL' if postgres else 'SQLite'}, seed {arguments.seed}, {time.monotonic() - begun:.0f} s")
    print(*(f"  {part:<22}{count:>5} kills" for part, count in killer.kills.most_common()), sep="\n")
    print(f"  kills while a file came in parts: {killer.beside_parts}")
    print(f"  acknowledged: {load.acknowledged.counted()}")
    print(f"  answers: {', '.join(f'{count} {name}' for name, count in load.answers.most_common())}")
    return report_wrong(wrong, load.errors, ("lost", "doubled", "orphan"))


if __name__ == "__main__":
    sys.exit(main())

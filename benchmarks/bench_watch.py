"""Benchmarks watched live: is a change found, confirmed by itself, explained, grouped and mailed?

A whole site measures an experiment on this machine again and again on PostgreSQL. Its commits wait for an emulated disk
of so many writes a second (root only): what a virtual machine's processors give varies by 9 % from batch to batch, its
rate by less than 1 %. From the eighth batch on each commit is delayed by more than it waits, which costs 15 % or more.
What is suspected is measured again after a minute and waited for; before the change it is said which one the benchmarks
can see at all. Then another experiment, whose commits do not wait for a disk, and from its eighth batch on the machine
has other work.
`make bench-watch [ARGS="--part load --seconds 10"]`; ends with 1 when anything that it expects was not seen.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import requests
from aiosmtpd.controller import Controller
from benchagent.dbms.private_server import free_port

from tests.ops.site import REPOSITORY, Site, share_cache, wait_until

BATCHES, CHANGED_AT = 14, 8
AGAIN_AFTER_S, TIMEOUT_S, READY_WITHIN_S, BATCH_WITHIN_S, FOUND_WITHIN_S = 60, 60, 600, 1200, 480
# What was measured is read within so long.
FILED_WITHIN_S = 60
ADDRESS = "dba@bench.example"
STEADY = ("storage", "emulate", "steady", "--size-mb", "1500", "--write-iops", "600")
ON_STEADY = {"data_storage": "steady", "log_storage": "steady"}
# One terminal waits for its core to wake, which other work spares it; four need both cores. Three benchmarks can be
# nearly all of a machine.
SWEPT: dict[str, dict[str, Any]] = {
    "setting": {"scale_factor": [1, 2], "terminals": 1, **ON_STEADY},
    "load": {"scale_factor": [3, 4, 5], "terminals": 4},
}
WARM_UP = {"scale_factor": [7, 8], "terminals": 2}
# Commits are delayed as soon as there is a delay, also those of one terminal.
USUAL = {"setting": ["commit_siblings", "0"], "load": ["synchronous_commit", "off"]}
# In microseconds. A commit writes twice, so that it waits 3,333 anyhow: a delay that is shorter costs nothing.
SLOWER = ["commit_delay", "3900"]
OPEN = ("queued", "assigned", "preparing", "loading", "warming_up", "measuring", "collecting")
# An agent that may measure again, and a rule that mails.
SET_UP = """
from agents.models import Agent
from runs.models import TellingRule, User
Agent.objects.update(measures_again=True, again_after_s={after_s}, again_daily_s=86_400)
TellingRule.objects.create(owner=User.objects.filter(is_active=True).earliest("pk"), name="proof", way="mail",
    target={address!r}, site_url="http://bench.example", worse_only=True)
"""


class Mailbox:
    """The bodies of the mails that a real SMTP server was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        mail = message_from_bytes(envelope.content, policy=policy.default)
        self.texts += [part.get_content() for part in mail.walk() if part.get_content_type() == "text/plain"]
        return "250 OK"


class Watching:
    """A site that is asked to measure, and what it says of it."""

    def __init__(self, site: Site, seconds: float, repeats: int) -> None:
        self.base, self.seconds, self.repeats = f"http://127.0.0.1:{site.port}", seconds, repeats
        self.token = site.run("token", "NAME=watch", "SCOPES=read,upload,schedule").stdout.strip()

    def ask(self, method: str, path: str, **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = requests.request(method, self.base + path, headers=headers, timeout=TIMEOUT_S, **more)
        if not answer.ok:
            raise SystemExit(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json()

    def postgresql(self) -> list[dict[str, str]]:
        """Its first version that the agent has; it may still be looking."""

        def offered() -> list[dict[str, str]]:
            told = [engine for agent in self.ask("GET", "/api/v1/agents/")["results"] for engine in agent["engines"]]
            there = [each for each in told if each["available"] and not each["connection"]]
            return [
                {"dbms": each["dbms"], "version": each["version"]} for each in there if each["dbms"] == "postgresql"
            ]

        found: list[dict[str, str]] = wait_until(offered, READY_WITHIN_S, 1)
        if not found:
            raise SystemExit("the agent offers no PostgreSQL")
        return found[:1]

    def measure(self, name: str, engines: Any, swept: Mapping[str, Any], settings: Mapping[str, Any]) -> list[float]:
        """One batch, to its end. -> what each run brought."""
        factors = {**swept, "warm_up_s": 1, "duration_s": self.seconds}
        plan = {"workload": "tpcb", "engines": engines, "factors": factors, "repeats": self.repeats, "name": name}
        made = self.ask("POST", "/api/v1/experiments/", json=plan | {"settings": settings})
        ids = [run["id"] for run in made["runs"]]

        def runs() -> list[Any]:
            return [self.ask("GET", f"/api/v1/runs/{each}/") for each in ids]

        wait_until(lambda: all(run["status"] not in OPEN for run in runs()), BATCH_WITHIN_S, 1)
        values = [each["value"] for run in runs() for each in run["measurements"] if each["name"] == "tps"]
        print(f"  {name}: {' '.join(f'{value:.0f}' for value in values)} transactions a second", flush=True)
        return values

    def batches(self) -> int:
        return len(self.ask("GET", "/api/v1/batches/", params={"page_size": 200})["results"])

    def least_seen(self) -> str:
        """The changes that the benchmarks of so many batches can see, as their pages say."""
        rows = self.ask("GET", "/api/v1/benchmarks/")["results"]
        told = [self.ask("GET", f"/api/v1/benchmarks/{row['id']}/")["least_seen"] for row in rows]
        return " and ".join(f"{share:.0%}" for share in told if share)

    def alerts(self, *states: str) -> list[Any]:
        found: list[Any] = self.ask("GET", "/api/v1/alerts/", params={"state": states})["results"]
        return found


def _work() -> None:
    """Other work on the machine, until it or the bench ends: as a service has it, in a session of its own, so that the
    scheduler gives it as much as each process of the job, and not all of this together as much as one.
    """
    os.setsid()
    bench = os.getppid()
    while os.getppid() == bench:
        sum(range(100_000))


@contextmanager
def load() -> Iterator[None]:
    workers = [multiprocessing.Process(target=_work, daemon=True) for _ in range(3 * (os.cpu_count() or 1))]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def experiment(site: Watching, part: str) -> list[Any]:
    """So many batches, and the alerts that were confirmed by the end."""
    engines = site.postgresql()
    swept = SWEPT[part]
    known = {alert["id"] for alert in site.alerts("new", "confirmed", "acknowledged", "noise")}
    settings = {"postgresql": [USUAL[part]]}

    def confirmed() -> list[Any]:
        return [alert for alert in site.alerts("confirmed") if alert["id"] not in known]

    def pending() -> bool:
        """Whether something waits to be measured again."""
        rows = [alert for alert in site.alerts("new", "confirmed") if alert["id"] not in known]
        return any(change["state"] == "suspected" for alert in rows for change in alert["changes"])

    # The first minutes of a machine may be a quarter faster than all that follow: of another size, they are nobody's.
    site.measure("warm-up", engines, WARM_UP, settings)
    for number in range(1, CHANGED_AT):
        site.measure(f"{part} {number}", engines, swept, settings)
    print(f"  seen from {site.least_seen()} on in three further batches", flush=True)
    if part == "setting":
        settings["postgresql"].append(SLOWER)
    with load() if part == "load" else nullcontext():
        for number in range(CHANGED_AT, BATCHES + 1):
            site.measure(f"{part} {number}", engines, swept, settings)
            begun = time.monotonic()
            # One batch may lie within what the others scatter: the next is asked then.
            if wait_until(lambda: confirmed() or pending(), FILED_WITHIN_S, 1):
                wait_until(lambda: not pending(), FOUND_WITHIN_S, 2)
            found = len(confirmed())
            print(f"  {time.monotonic() - begun:.0f} s after batch {number}: {found} alerts confirmed", flush=True)
    return [site.ask("GET", f"/api/v1/alerts/{alert['id']}/") for alert in confirmed()]


def expected(part: str, alerts: Sequence[Any], measured_again: int, mails: Sequence[str]) -> dict[str, bool]:
    """What has to be seen, and whether it was."""
    worse = [alert for alert in alerts if any(change["change"]["verdict"] == "worse" for change in alert["changes"])]
    first: Any = worse[0] if worse else {"changes": [], "caused_by": [], "is_machine": None, "kind": "", "id": "-"}
    moved = {change["benchmark"] for change in first["changes"] if change["state"] == "confirmed"}
    causes = [f"{each['kind']}: {each['words']}" for each in first["caused_by"]]
    seen = {
        "found and confirmed": bool(worse), "measured again by itself": measured_again > 0,
        "one alert for all": len(worse) == 1 and len(moved) > 1,
    }  # fmt: skip
    if part == "setting":
        seen["explained by the setting first"] = bool(causes) and SLOWER[0] in causes[0] and not first["is_machine"]
    else:
        seen["called machine"] = first["is_machine"] is True or first["kind"] == "machine"
    told = wait_until(lambda: [text for text in mails if first["id"] in text], 300, 2)
    return seen | {"mailed": bool(told)}


def report(part: str, alerts: Sequence[Any], seen: Mapping[str, bool]) -> None:
    for alert in alerts:
        print(f"  {alert['title']}; machine: {alert['is_machine']}, likeliest: {alert['kind']}")
        print(*(f"    {change['state']}: {change['words']}" for change in alert["changes"]), sep="\n")
        print(*(f"    cause: {each['kind']} {each['words']}" for each in alert["caused_by"]), sep="\n")
        # What began with the change is no multiple of what was not there.
        moved = [(each["label"], each["change"]["value"]) for each in alert["counters"]]
        counters = ", ".join(f"{label} {value:+.0%}" for label, value in moved if value is not None)
        print(f"    where: {counters}")
    print(f"{part}:", ", ".join(f"{what}: {'yes' if was else 'NO'}" for what, was in seen.items()), flush=True)


@contextmanager
def running(folder: Path) -> Iterator[tuple[Site, Mailbox]]:
    # PostgreSQL's service user must be able to pass through.
    folder.chmod(0o711)
    (folder / "home").mkdir()
    box, port = Mailbox(), free_port()
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    site = Site(
        folder / "state", folder / "home", RATE_LIMITS="0", EMAIL_HOST="127.0.0.1", EMAIL_PORT=str(port)
    )  # fmt: skip
    share_cache(site.state)
    agent = site.state / "agent"
    emulate = [sys.executable, "-m", "benchagent", *STEADY, "--file", str(agent / "steady.img"), "--state", str(agent)]
    try:
        subprocess.run(emulate, check=True)
        site.start()
        site.wait(READY_WITHIN_S)
        if "ready after" not in site.said:
            raise SystemExit(f"it did not start: {site.said}")
        yield site, box
    finally:
        site.stop()
        controller.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("setting", "load"), action="append", help="both unless said otherwise")
    parser.add_argument("--seconds", type=float, default=5, help="of the window of each run")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    missing = 0
    with tempfile.TemporaryDirectory(prefix="benchsite-watch-") as name, running(Path(name)) as (site, box):
        watching = Watching(site, options.seconds, options.repeats)
        watching.postgresql()
        code = SET_UP.format(after_s=AGAIN_AFTER_S, address=ADDRESS)
        command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
        subprocess.run(command, cwd=REPOSITORY, env=site.base | {"STATE": str(site.state)}, check=True)
        for part in options.part or ("setting", "load"):
            print(f"{part}, {BATCHES} batches of {options.repeats} repeats of {options.seconds:g} s", flush=True)
            before = watching.batches()
            alerts = experiment(watching, part)
            # Beside those that it asked for and the warm-up.
            measured_again = watching.batches() - before - BATCHES - 1
            seen = expected(part, alerts, measured_again, box.texts)
            report(part, alerts, seen)
            missing += not all(seen.values())
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

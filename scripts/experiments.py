"""`make experiments`: everything that the experiments of the four articles need, then the experiments themselves.

    make experiments [QUICK=1] [ARGS="tpcb-2010 --part engines"]

Installs the engines into the local agent's folder, makes slow disks where that is permitted (as root), starts what
`make up` starts unless it is running, schedules the experiments and waits. The results stay in STATE, where `make up`
shows them. With `--dry-run` nothing is installed or made: it says what would be.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STATE = Path(os.environ.get("STATE") or ROOT / "var").resolve()
AGENT_STATE = STATE / "agent"
LOG = STATE / "experiments.log"
MANAGE = [sys.executable, str(ROOT / "manage.py")]
AGENT = [sys.executable, "-m", "benchagent"]
ENGINES = ("firebird-3.0", "mysql-5.5.34", "mariadb-10.11", "derby-10.3.2.1", "derby-10.6.2.1", "postgresql-15")
# Disks of the articles' time, by the names of the storages that are made of them.
EMULATED = {
    # What a drive of 7,200 rpm reads and writes in sequence, and how often it seeks. Not its synced writes: the 495
    # operations a second of the 2015 article need some thousands, as behind a cache that keeps them.
    "slow": ("--size-mb", "14000", "--read-mb-per-s", "80", "--read-iops", "150", "--write-mb-per-s", "80",
             "--write-iops", "3000"),
    # A disk beside the database's that is as far from being what a backup waits for as in the 2007 article: there disks
    # gave six times what gbak took.
    "second": ("--size-mb", "4000", "--read-mb-per-s", "500", "--write-mb-per-s", "500"),
}  # fmt: skip
READY_WITHIN_S = 180.0


def print_line(text: str) -> None:
    print(f"=== {text}", flush=True)


def agent(*arguments: str) -> list[str]:
    return [*AGENT, *arguments, "--state", str(AGENT_STATE)]


def install_engines(*, dry: bool) -> None:
    """What cannot be installed here becomes a gap of the experiments, with the reason. `dry`: it is only told."""
    missing = {engine["name"] for engine in engines()["can_be_added"]} if dry else set()
    for name in ENGINES:
        if name in missing:
            print_line(f"would be installed: {name}")
        elif not dry and subprocess.run(agent("engines", "install", name), check=False).returncode:
            print_line(f"{name} is not there: its cells will stay gaps")


def make_slow_disks(*, dry: bool) -> None:
    """Emulated hard disks as further storages; only root can make them. `dry`: what would be made is told."""
    there = storages()
    for name, rates in EMULATED.items():
        file = str(AGENT_STATE / f"{name}-disk.img")
        if name in there:
            used = "would be used as it is" if dry else "used as it is, whatever its rates are"
            print_line(f"{used}: storage {there[name]}")
        elif dry:
            print_line(f"would be made, as root only: storage {name} ({' '.join(rates)})")
        elif subprocess.run(agent("storage", "emulate", name, "--file", file, *rates), check=False).returncode:
            print_line(f"no storage {name}: its cells will stay gaps")


def expected() -> list[str]:
    """For the command: what the agent has to have reported before cells are made of it."""
    here = [
        f"{engine['dbms']}:{engine['version']}"
        for engine in engines()["found"]
        if engine["available"]
        and not engine.get("connection")
        and f"{engine['dbms']}-{engine['version']}".startswith(ENGINES)
    ]
    made = [name for name in storages() if name in EMULATED]
    return [*(f"--expect-engine={key}" for key in here), *(f"--expect-storage={name}" for name in made)]


def engines() -> dict[str, list[dict[str, Any]]]:
    """As `benchagent engines list` tells: `found`, `installed`, `can_be_added`."""
    listing: dict[str, list[dict[str, Any]]] = json.loads(asked("engines", "list", "--json"))
    return listing


def storages() -> dict[str, str]:
    """What `benchagent storage list` says of the storages, by name."""
    return {line.split()[0]: line for line in asked("storage", "list").splitlines() if line.strip()}


def asked(*question: str) -> str:
    return subprocess.run(agent(*question), stdout=subprocess.PIPE, text=True, check=True).stdout


@contextmanager
def running() -> Iterator[None]:
    """`make up` in the background, unless somebody has started it with this STATE."""
    if is_up():
        yield
        return
    print_line("starting as `make up` does")
    with LOG.open("w") as log:
        environment = {**os.environ, "STATE": str(STATE), "FIRST_RUN": "0"}
        stack = subprocess.Popen([*MANAGE, "up"], cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_until_up(stack)
        yield
    finally:
        stack.terminate()
        stack.wait()


def is_up() -> bool:
    """Whether the site is up, by the lock that `make up` holds."""
    lock = STATE / "up.lock"
    if not lock.exists():
        return False
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def wait_until_up(stack: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        if stack.poll() is not None:
            sys.exit(f"make up has ended: see {LOG}")
        if "ready after" in LOG.read_text(errors="replace"):
            return
        time.sleep(1)
    sys.exit(f"make up is not ready after {READY_WITHIN_S:.0f} s: see {LOG}")


def main() -> int:
    arguments = sys.argv[1:] + (["--quick"] if os.environ.get("QUICK") == "1" else [])
    AGENT_STATE.mkdir(parents=True, exist_ok=True)
    # The others are the command's.
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--dry-run", action="store_true")
    dry = bool(parser.parse_known_args(arguments)[0].dry_run)
    install_engines(dry=dry)
    make_slow_disks(dry=dry)
    command = [*MANAGE, "experiments", *arguments, *expected()]
    begun = time.monotonic()
    with running():
        environment = {**os.environ, "STATE": str(STATE)}
        status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    print_line(f"took {(time.monotonic() - begun) / 60:.1f} minutes")
    return status


if __name__ == "__main__":
    sys.exit(main())

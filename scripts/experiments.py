"""`make experiments`: everything that the experiments of the four articles need, then the experiments themselves.

    make experiments [QUICK=1] [ARGS="tpcb-2010 --part engines"]

Installs the engines into the local agent's folder, makes a slow disk where that is permitted (as root), starts what
`make up` starts unless it is running, schedules the experiments and waits. The results stay in STATE, where `make up`
shows them.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATE = Path(os.environ.get("STATE") or ROOT / "var").resolve()
AGENT_STATE = STATE / "agent"
LOG = STATE / "experiments.log"
MANAGE = [sys.executable, str(ROOT / "manage.py")]
AGENT = [sys.executable, "-m", "benchagent"]
ENGINES = ("firebird-3.0", "mysql-5.5.34", "mariadb-10.11", "derby-10.3.2.1", "derby-10.6.2.1", "postgresql-15")
# Disks of the articles' time, by the names of the storages that are made of them.
EMULATED = {
    # What a drive of 7,200 rpm reads, writes and seeks. Its write cache takes small writes: the 495 operations a second
    # of the 2015 article on such drives need some thousands of synced pages a second.
    "slow": ("--size-mb", "14000", "--read-mb-per-s", "80", "--read-iops", "150", "--write-mb-per-s", "80",
             "--write-iops", "3000"),
    # A disk beside the database's that is as far from being what a backup waits for as in the 2007 article: there disks
    # gave six times what gbak took.
    "second": ("--size-mb", "4000", "--read-mb-per-s", "500", "--write-mb-per-s", "500"),
}  # fmt: skip
READY_WITHIN_S = 180.0


def say(text: str) -> None:
    print(f"=== {text}", flush=True)


def install_engines() -> None:
    """What cannot be installed here becomes a gap of the experiments, with the reason."""
    for name in ENGINES:
        if subprocess.run([*AGENT, "engines", "install", name, "--state", str(AGENT_STATE)], check=False).returncode:
            say(f"{name} is not there: its cells will stay gaps")


def make_slow_disks() -> None:
    """Emulated hard disks as further storages; only root can make them."""
    listed = subprocess.run(
        [*AGENT, "storage", "list", "--state", str(AGENT_STATE)], capture_output=True, text=True, check=False
    )
    for name, rates in EMULATED.items():
        if name in listed.stdout.split():
            continue
        file = AGENT_STATE / f"{name}-disk.img"
        command = [*AGENT, "storage", "emulate", name, "--file", str(file), *rates, "--state", str(AGENT_STATE)]
        if subprocess.run(command, check=False).returncode:
            say(f"no storage {name}: its cells will stay gaps")


@contextmanager
def running() -> Iterator[None]:
    """`make up` in the background, unless somebody has started it with this STATE."""
    if is_up():
        yield
        return
    say("starting as `make up` does")
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
    """By the lock that `make up` holds."""
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
    install_engines()
    make_slow_disks()
    begun = time.monotonic()
    with running():
        environment = {**os.environ, "STATE": str(STATE)}
        status = subprocess.run([*MANAGE, "experiments", *arguments], cwd=ROOT, env=environment, check=False).returncode
    say(f"took {(time.monotonic() - begun) / 60:.1f} minutes")
    return status


if __name__ == "__main__":
    sys.exit(main())

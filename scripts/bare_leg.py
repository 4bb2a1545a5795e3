"""The leg `bare`: `make up` on a machine with Python and nothing else. With --bundle the leg `bundle`: the same from
a file of `make bundle`, in a network namespace with nothing but loopback.

Everything else is hidden (see hidden.py), HOME is empty, the checkout is a fresh clone of HEAD. Each check prints one
line; the last line counts them. Where nothing can be hidden it says what it skipped and why.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import hidden  # noqa: E402
from steps import Steps  # noqa: E402

from tests.ops.site import GONE_WITHIN_S, Site, slowness, wait_until  # noqa: E402

READY_WITHIN_S = 300
FIRST_RUN_WITHIN_S = 300
BUNDLE = "bundle.tar"
NO_NETWORK = ["unshare", "--net"]
# From <linux/sockios.h> and <net/if.h>.
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", action="store_true", help="without a network")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    leg = "bundle" if options.bundle else "bare"
    if options.inside:
        return (WithoutNetwork if options.bundle else Checks)(leg, options.inside).run()
    why = hidden.impossible()
    if (
        not why
        and options.bundle
        and subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode
    ):
        why = "this machine allows no network namespace"
    if why:
        print(f"{leg}: skipped, {why}")
        print(f"{leg}: 0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory(prefix=f"benchsite-{leg}-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        scratch.chmod(0o711)
        clone = ["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(scratch / "checkout")]
        subprocess.run(clone, check=True)
        # Python's own interpreter: the one of .venv would make `python3` in the clone depend on this checkout.
        python = os.path.realpath(sys.executable)
        script = str(scratch / "checkout" / "scripts" / "bare_leg.py")
        command = [python, hidden.__file__, python, script, "--inside", str(scratch)]
        if options.bundle:
            make_bundle(scratch)
            command = [*NO_NETWORK, *command, "--bundle"]
        return subprocess.run(command, check=False).returncode


def make_bundle(scratch: Path) -> None:
    """With the jars that the tests have."""
    state = scratch / "elsewhere"
    (state / "tmp").mkdir(parents=True)
    if cache := os.environ.get("BENCHSITE_TEST_CACHE"):
        (state / "agent").mkdir()
        (state / "agent" / "cache").symlink_to(cache)
    environment = os.environ | {"STATE": str(state), "TO": str(scratch / BUNDLE)}
    subprocess.run([sys.executable, ROOT / "scripts" / "bundle.py"], env=environment, check=True)


class Checks(Steps):
    """What a newcomer sees, in order."""

    def __init__(self, leg: str, scratch: Path, **environment: str) -> None:
        self.leg = leg
        self.checkout, self.state, self.home = scratch / "checkout", scratch / "state", scratch / "home"
        self.site = Site(self.state, self.home, FIRST_RUN="1", **environment)
        self.javas: set[str] = set()
        self.started = 0.0

    def steps(self) -> Sequence[Callable[[], str]]:
        return (
            self.nothing_else_is_here,
            self.it_gets_ready,
            self.it_shows_progress,
            self.the_literature_is_there,
            self.the_first_run_finishes,
            self.java_came_with_python,
            self.it_stops_and_leaves_nothing,
            self.it_starts_warm_within_10_s,
            self.it_stops_and_leaves_nothing,
            self.home_is_empty,
            self.the_checkout_is_clean,
        )

    def run(self) -> int:
        self.home.mkdir()
        try:
            self.go(self.steps())
        finally:
            self.site.stop()
        return self.count()

    # Steps

    def nothing_else_is_here(self) -> str:
        return ", ".join(program for program in hidden.PROGRAMS if shutil.which(program))

    def it_gets_ready(self) -> str:
        self.up()
        wrong = "" if self.ready_line() else self.site.said
        status = None if wrong else self.site.get("/readyz")[0]
        print(f"        {self.ready_line()}", flush=True)
        return wrong or ("" if status == 200 else f"/readyz answers {status}")

    def it_shows_progress(self) -> str:
        address = f"http://127.0.0.1:{self.site.port}/"
        wanted = ("making", "installing pip", "installing requirements.txt", "packages", "password", address)
        missing = [words for words in wanted if words not in self.site.said]
        return f"not said: {missing}\n{self.site.said}" if missing else ""

    def the_literature_is_there(self) -> str:
        count = self.api("/api/v1/runs/?page_size=1")["count"]
        return "" if count >= 58 else f"{count} runs"

    def the_first_run_finishes(self) -> str:
        runs = wait_until(self.finished_runs, FIRST_RUN_WITHIN_S, every_s=0.5)
        if not runs:
            return "no run was finished: " + json.dumps(self.api("/api/v1/runs/?provenance=measured"))[:2000]
        run, tps = runs[0], runs[0]["metrics"].get("tps", 0)
        took_s = time.monotonic() - self.started
        print(f"        {run['dbms']['name']}: {tps:.0f} TPS, {took_s:.0f} s after make up", flush=True)
        return "" if run["demonstration"] and tps > 0 else json.dumps(run)

    def finished_runs(self) -> list[Any]:
        for pid in self.site.processes():
            with suppress(OSError):
                program = str(Path(f"/proc/{pid}/exe").readlink())
                self.javas |= {program} if program.endswith("/java") else set()
        runs: list[Any] = self.api("/api/v1/runs/?provenance=measured&status=finished")["results"]
        return runs

    def java_came_with_python(self) -> str:
        """Every Java seen so far is the one out of the virtual environment; the embedded engines are all planned."""
        engines = {
            entry["dbms"]["slug"].split("-")[0] for entry in self.api("/api/v1/runs/?provenance=measured")["results"]
        }
        ours = bool(self.javas) and all(path.startswith(str(self.checkout)) for path in self.javas)
        return "" if ours and engines == {"sqlite", "derby", "hsqldb", "h2"} else f"{self.javas}, {engines}"

    def it_stops_and_leaves_nothing(self) -> str:
        os.kill(self.site.supervisor, signal.SIGTERM)
        return "\n".join(self.site.left(GONE_WITHIN_S).values())

    def it_starts_warm_within_10_s(self) -> str:
        """The quickest of three starts: the others may have met a busy machine."""
        for tries_left in (2, 1, 0):
            self.up()
            slow = slowness()
            print(f"        {self.ready_line()} (work takes {slow:.1f} times its CPU time)", flush=True)
            took = self.ready_line().split()[2:3]
            if not took or "password" in self.site.said:
                break
            if float(took[0]) <= 10 * slow:
                return ""
            if tries_left and (wrong := self.it_stops_and_leaves_nothing()):
                return wrong
        return self.site.said

    def home_is_empty(self) -> str:
        return "\n".join(str(path) for path in self.home.rglob("*"))

    def the_checkout_is_clean(self) -> str:
        command = ["git", "status", "--porcelain", "--ignored"]
        done = subprocess.run(command, cwd=self.checkout, capture_output=True, text=True, check=True)
        expected = ("!! .venv/", "__pycache__/")
        return "\n".join(line for line in done.stdout.splitlines() if not line.endswith(expected))

    # Tools

    def up(self) -> None:
        self.started = time.monotonic()
        self.site.start()
        self.site.wait(READY_WITHIN_S)

    def ready_line(self) -> str:
        return next((line for line in self.site.said.splitlines() if line.startswith("ready after")), "")

    def api(self, path: str) -> Any:
        status, body = self.site.get(path)
        if status != 200:
            raise ValueError(f"{path} answers {status}: {body[:500]}")
        return json.loads(body)

    def log_ends(self) -> str:
        logs = sorted((self.state / "logs").glob("*.log"))
        return "\n".join(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in logs)


class WithoutNetwork(Checks):
    """Only where it differs: how the first start comes to its packages and jars."""

    def __init__(self, leg: str, scratch: Path) -> None:
        super().__init__(leg, scratch, BUNDLE=str(scratch / BUNDLE))

    def steps(self) -> Sequence[Callable[[], str]]:
        return (
            self.nothing_else_is_here,
            self.nobody_else_is_reached,
            self.it_gets_ready,
            self.it_shows_progress,
            self.the_first_run_finishes,
            self.java_came_with_python,
            self.it_stops_and_leaves_nothing,
            self.home_is_empty,
            self.the_checkout_is_clean,
        )

    def nobody_else_is_reached(self) -> str:
        with socket.socket() as any_socket:
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
        others = [name for _, name in socket.if_nameindex() if name != "lo"]
        with suppress(OSError), socket.create_connection(("192.0.2.1", 80), timeout=5):
            others.append("a network")
        return ", ".join(others)


if __name__ == "__main__":
    sys.exit(main())

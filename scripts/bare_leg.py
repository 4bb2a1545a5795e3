"""The leg `bare`: `make up` on a machine with Python and nothing else.

Everything else is hidden (see hidden.py), HOME is empty, the checkout is a fresh clone of HEAD. Each check prints one
line; the last line counts them. Where nothing can be hidden it says what it skipped and why.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import hidden  # noqa: E402

from tests.ops.site import free_port, get, naming, slowness, wait_until  # noqa: E402

READY_WITHIN_S = 300
FIRST_RUN_WITHIN_S = 300
GONE_WITHIN_S = 30


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    inside = parser.parse_args().inside
    if inside:
        return Checks(inside).run()
    why = hidden.impossible()
    if why:
        print(f"bare: skipped, {why}")
        print("bare: 0 passed, 0 failed, 1 skipped")
        return 0
    with scratch_folder() as scratch:
        clone = ["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(scratch / "checkout")]
        subprocess.run(clone, check=True)
        # Python's own interpreter: the one of .venv would make `python3` in the clone depend on this checkout.
        python = os.path.realpath(sys.executable)
        script = str(scratch / "checkout" / "scripts" / "bare_leg.py")
        command = [python, hidden.__file__, python, script, "--inside", str(scratch)]
        return subprocess.run(command, check=False).returncode


@contextmanager
def scratch_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="benchsite-bare-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


class Checks:
    """What a newcomer sees, in order; a failed step ends it."""

    def __init__(self, scratch: Path) -> None:
        self.checkout, self.state, self.home = scratch / "checkout", scratch / "state", scratch / "home"
        self.output = scratch / "up.out"
        self.port = free_port()
        self.passed = self.failed = 0
        self.javas: set[str] = set()
        self.make: subprocess.Popen[bytes] | None = None
        self.started = 0.0

    def run(self) -> int:
        steps = (
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
        self.home.mkdir()
        try:
            for step in steps:
                if not self.check(step):
                    break
        finally:
            self.clean_up()
        print(f"bare: {self.passed} passed, {self.failed} failed, 0 skipped", flush=True)
        return 1 if self.failed else 0

    def check(self, step: Callable[[], str]) -> bool:
        started = time.monotonic()
        try:
            wrong = step()
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        name = step.__name__.replace("_", " ")
        print(f"{'FAILED' if wrong else 'passed'}  {name} ({time.monotonic() - started:.1f} s)", flush=True)
        if wrong:
            self.failed += 1
            print(wrong, self.log_ends(), sep="\n", flush=True)
        else:
            self.passed += 1
        return not wrong

    # Steps: each returns what is wrong, empty when nothing is.

    def nothing_else_is_here(self) -> str:
        return ", ".join(program for program in hidden.PROGRAMS if shutil.which(program))

    def it_gets_ready(self) -> str:
        self.up()
        wait_until(lambda: "ready after" in self.said() or self.ended(), READY_WITHIN_S)
        wrong = "" if "ready after" in self.said() else self.said()
        status = None if wrong else self.get("/readyz")[0]
        print(f"        {self.ready_line()}", flush=True)
        return wrong or ("" if status == 200 else f"/readyz answers {status}")

    def it_shows_progress(self) -> str:
        wanted = ("making", "installing requirements.txt", "packages", "password", f"http://127.0.0.1:{self.port}/")
        missing = [words for words in wanted if words not in self.said()]
        return f"not said: {missing}\n{self.said()}" if missing else ""

    def the_literature_is_there(self) -> str:
        count = self.api("/api/v1/runs/?page_size=1")["count"]
        return "" if count >= 58 else f"{count} runs"

    def the_first_run_finishes(self) -> str:
        runs = wait_until(self.finished_runs, FIRST_RUN_WITHIN_S, every_s=0.5)
        if not runs:
            return "no run was finished: " + json.dumps(self.api("/api/v1/runs/?provenance=measured"))[:2000]
        run, tps = runs[0], runs[0]["metrics"].get("tps", 0)
        print(f"        {run['dbms']['name']}: {tps:.0f} TPS, {self.since_start():.0f} s after make up", flush=True)
        return "" if run["demonstration"] and tps > 0 else json.dumps(run)

    def finished_runs(self) -> list[Any]:
        self.javas |= {path for path in self.programs_running() if path.endswith("/java")}
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
        os.kill(int((self.state / "up.pid").read_text()), signal.SIGTERM)
        wait_until(lambda: not self.left(), GONE_WITHIN_S)
        return "\n".join(self.left())

    def it_starts_warm_within_10_s(self) -> str:
        """The quickest of three starts: the others may have met a busy machine."""
        for tries_left in (2, 1, 0):
            self.up()
            wait_until(lambda: "ready after" in self.said() or self.ended(), READY_WITHIN_S)
            slow = slowness()
            print(f"        {self.ready_line()} (work takes {slow:.1f} times its CPU time)", flush=True)
            took = self.ready_line().split()[2:3]
            if not took or "password" in self.said():
                break
            if float(took[0]) <= 10 * slow:
                return ""
            if tries_left and (wrong := self.it_stops_and_leaves_nothing()):
                return wrong
        return self.said()

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
        unwanted = ("MAKEFLAGS", "MAKELEVEL", "FIRST_RUN", "JAVA_HOME", "DATABASE_URL", "CELERY_BROKER_URL")
        kept = {name: value for name, value in os.environ.items() if name not in unwanted}
        command = ["make", "up", f"PYTHON={sys.executable}", f"PORT={self.port}", f"STATE={self.state}"]
        with self.output.open("w") as output:
            self.make = subprocess.Popen(
                command,
                cwd=self.checkout,
                env=kept | {"HOME": str(self.home)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def since_start(self) -> float:
        return time.monotonic() - self.started

    def ended(self) -> bool:
        return self.make is not None and self.make.poll() is not None

    def said(self) -> str:
        return self.output.read_text()

    def ready_line(self) -> str:
        return next((line for line in self.said().splitlines() if line.startswith("ready after")), "")

    def get(self, path: str) -> tuple[int, str]:
        return get(self.port, path)

    def api(self, path: str) -> Any:
        status, body = self.get(path)
        if status != 200:
            raise ValueError(f"{path} answers {status}: {body[:500]}")
        return json.loads(body)

    def left(self) -> list[str]:
        return list(naming(self.state).values())

    def programs_running(self) -> list[str]:
        paths = []
        for pid in naming(self.state):
            with suppress(OSError):
                paths.append(str(Path(f"/proc/{pid}/exe").readlink()))
        return paths

    def log_ends(self) -> str:
        logs = sorted((self.state / "logs").glob("*.log"))
        return "\n".join(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in logs)

    def clean_up(self) -> None:
        for pid in naming(self.state):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())

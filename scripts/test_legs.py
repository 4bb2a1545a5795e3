"""`make test`: run every leg, print one line per leg at the end, fail if any failed.

    sqlite: 210 passed, 0 failed, 0 skipped

Needs Python alone; what a leg needs beyond that is installed on a Debian machine with root. Elsewhere the leg says
what it skipped and why. With CI=true a skip is a failure.

What failed is tried once more when nothing else runs. What passes then is unsteady: its leg is green once, and its name
is added to `tests/unsteady.txt`, to be committed with the mend. A test that is named there already and is unsteady
again is a failure. More than three failures in a leg are no accident and are not tried again.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import hidden
from private import find_binaries, private_postgresql, works

ROOT = Path(__file__).resolve().parent.parent
# Each test that failed beside other legs and passed alone: its name, then when and what was mended.
UNSTEADY = ROOT / "tests" / "unsteady.txt"
PYTHON = sys.executable
# The load generator's jars and classes are fetched once and shared by all legs.
CACHE = Path(os.environ.get("BENCHSITE_TEST_CACHE") or ROOT / "var" / "test-cache")
# What a leg needs beside Python: programs, and libraries by their file; the Debian package where its name is another.
NEEDED = {
    "js": ("node",),
    "postgresql": ("postgres",),
    "server": ("curl",),
    "sqlite": ("curl",),
    "agent": ("postgres", "libeatmydata.so.1"),
    "jobs": ("postgres", "libeatmydata.so.1"),
    "durability": ("postgres", "libeatmydata.so.1"),
    "whole": ("postgres", "strace", "libeatmydata.so.1", "caddy", "chromium-headless-shell", "libatomic.so.1"),
    "engines": ("postgres", "strace"),
    "foreign": ("postgres",),
    "ops": ("postgres", "caddy"),
    "attack": ("postgres", "caddy"),
    "containers": ("dockerd", "docker-compose", "mmdebstrap"),
    # The shell is Chromium without windows: the whole browser draws some for each test, which costs three times the
    # CPU. The library is of the Node.js that Playwright brings.
    "browser": ("chromium-headless-shell", "libatomic.so.1", "postgres"),
}
DEBIAN_PACKAGES = {
    "node": "nodejs",
    "postgres": "postgresql",
    "libatomic.so.1": "libatomic1",
    "libeatmydata.so.1": "libeatmydata1",
    "dockerd": "docker.io",
}
SHOWN_OF_A_GREEN_LEG = 20
MOST_UNSTEADY = 3
COST = re.compile(r"took \d+ s, (\d+) s of CPU")
LAST_LINE = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")
FAILURE = re.compile(r"^failed: (.+)$", re.MULTILINE)


@dataclass
class Outcome:
    leg: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    why: str = ""
    seconds: float = 0.0
    cpu_s: int = 0
    failures: tuple[str, ...] = ()  # names of tests
    unsteady: tuple[str, ...] = ()  # of those that passed: they failed beside other legs
    unsteady_again: tuple[str, ...] = ()  # of those that failed: they passed alone and had been unsteady before

    def line(self) -> str:
        reason = f" ({self.why})" if self.why else ""
        if self.unsteady:
            reason += f"; UNSTEADY (failed beside the other legs, passed alone): {', '.join(self.unsteady)}"
        if self.unsteady_again:
            reason += f"; UNSTEADY AGAIN (named in tests/unsteady.txt): {', '.join(self.unsteady_again)}"
        return f"{self.leg}: {self.passed} passed, {self.failed} failed, {self.skipped} skipped{reason}"


def print_line(text: str) -> None:
    print(f"\n=== {text}", flush=True)


def run(command: list[str], env: dict[str, str] | None = None) -> int:
    return subprocess.run(command, cwd=ROOT, env=os.environ | (env or {}), check=False).returncode


def pytest(leg: str, arguments: list[str], env: dict[str, str] | None = None, *, before: Sequence[str] = ()) -> Outcome:
    """One pytest process with a fresh STATE, started by the command `before`; counts come from its JUnit report."""
    with tempfile.TemporaryDirectory(prefix=f"benchsite-{leg}-") as scratch:
        # A service user may have to pass through to the data directory of a DBMS under test.
        Path(scratch).chmod(0o711)
        report = Path(scratch) / "report.xml"
        environment = {"STATE": f"{scratch}/state", "BENCHSITE_TEST_CACHE": str(CACHE)} | (env or {})
        # pytest keeps there which tests failed.
        kept = f"cache_dir={os.environ.get('BENCHSITE_TEST_RUN') or scratch}/{leg}"
        slowest = [f"--durations={number}"] if (number := os.environ.get("BENCHSITE_SLOWEST")) else []
        command = [*before, PYTHON, "-m", "pytest", "-q", f"--junitxml={report}", "-o", kept, *slowest, *arguments]
        return counted(leg, report, run(command, environment))


def counted(leg: str, report: Path, code: int) -> Outcome:
    if not report.exists():
        return Outcome(leg, failed=1, why=f"pytest ended with {code} and no report")
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    skipped = int(suite.get("skipped", 0))
    passed = int(suite.get("tests", 0)) - failed - skipped
    if code not in (0, 1) and failed == 0:
        failed = 1
    tests = list(suite.iter("testcase"))
    failures = [test for test in tests if test.find("failure") is not None or test.find("error") is not None]
    names = tuple(f"{test.get('classname')}::{test.get('name')}" for test in failures)
    reasons = {skip.get("message", "") for skip in ElementTree.parse(report).getroot().iter("skipped")}
    return Outcome(leg, passed, failed, skipped, "; ".join(sorted(reasons)), failures=names)


def by_last_line(leg: str, command: list[str]) -> Outcome:
    """A leg that prints its own `N passed, N failed, N skipped` as its last such line."""
    environment = os.environ | {"BENCHSITE_TEST_CACHE": str(CACHE)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    counts = None
    for line in process.stdout or ():
        print(line, end="", flush=True)
        counts = LAST_LINE.search(line) or counts
    code = process.wait()
    if counts is None:
        return Outcome(leg, failed=1, why=f"ended with {code} and no count")
    passed, failed, skipped = map(int, counts.groups())
    return Outcome(leg, passed, failed or (1 if code else 0), skipped)


def present(needed: str) -> bool:
    if needed == "postgres":
        return find_binaries() is not None
    if needed in ("dockerd", "mmdebstrap"):
        return shutil.which(needed) is not None or works("docker", "info")
    if needed == "docker-compose":
        return shutil.which(needed) is not None or works("docker", "compose", "version")
    if ".so." not in needed:
        instead = "chromium" if needed == "chromium-headless-shell" and not may_install() else needed
        return bool(shutil.which(needed) or shutil.which(instead))
    try:
        ctypes.CDLL(needed)
    except OSError:
        return False
    return True


def may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def lacking(leg: str) -> str:
    """Why it cannot run; empty when all that it needs is there or could be installed.

    One leg at a time: apt-get allows one, and what is half installed would look as if it were there. Whoever needs
    nothing does not wait for that.
    """
    if leg not in NEEDED:
        return ""
    handle = os.open(Path(__file__).parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        missing = [needed for needed in NEEDED[leg] if not present(needed)]
        return installed(missing) if missing else ""
    finally:
        os.close(handle)


def installed(missing: Sequence[str]) -> str:
    """Why they could not be; empty when they are."""
    packages = [DEBIAN_PACKAGES.get(needed, needed) for needed in missing]
    if not may_install():
        return f"{' and '.join(missing)} not installed; on Debian: apt-get install {' '.join(packages)}"
    print_line(f"installing {' '.join(packages)}, for {', '.join(missing)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    shared = os.environ.get("BENCHSITE_TEST_RUN")
    listed = Path(shared) / "listed" if shared else None
    if listed is None or not listed.exists():  # once for all legs
        run(["apt-get", "-qq", "update"], quiet)
    if listed is not None:
        listed.touch()
    command = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends"]
    return f"apt-get could not install {' '.join(packages)}" if run([*command, *packages], quiet) else ""


# `make test` runs a small fixed seed of each long proof; the leg `whole` runs the rest.
NOT_WHOLE = "not java and not whole"
OF_THE_SERVER = f"not attack and not browser and not ops and {NOT_WHOLE}"
ON_EACH_DATABASE = f"{OF_THE_SERVER} and not engines and not any_database"
SERVER_TESTS = ["tests", "--ignore=tests/benchagent", "-m"]
RUN_ONCE = f"{OF_THE_SERVER} and (engines or any_database)"
# Worlds whose truth is known, asked page by page: a leg of its own, since the server's takes longest of all.
TRUTH_TESTS = "tests/benchmarks"
# Whole jobs on real DBMSs, and what they measure against what is known.
JOB_TESTS = [f"tests/benchagent/{name}" for name in ("correctness", "job", "workloads", "test_matrix.py")]
# Real DBMSs of many versions, which the agent installs for itself.
ENGINE_TESTS = "tests/benchagent/dbms"
FOREIGN_TESTS = "tests/benchagent/dbms/external"
ALONE_TESTS = "tests/benchagent/engines/test_alone.py"
# What pytest is asked for, by leg.
TESTS = {
    # What is the same whatever database the server has runs once: tests/conftest.py tells which that is.
    "server": [*SERVER_TESTS, RUN_ONCE, f"--ignore={TRUTH_TESTS}"],
    "truth": [TRUTH_TESTS, "-m", RUN_ONCE],
    "sqlite": [*SERVER_TESTS, ON_EACH_DATABASE],
    "postgresql": [*SERVER_TESTS, ON_EACH_DATABASE],
    "agent": [
        "tests/benchagent", "-m", NOT_WHOLE,
        *(f"--ignore={path}" for path in (*JOB_TESTS, ENGINE_TESTS, ALONE_TESTS)),
    ],
    "jobs": [*JOB_TESTS, "-m", NOT_WHOLE],
    "engines": [ENGINE_TESTS, f"--ignore={FOREIGN_TESTS}", "-m", NOT_WHOLE],
    # Servers that the agent did not start: a leg of its own, since together the engines take longest of all.
    "foreign": [FOREIGN_TESTS, "-m", NOT_WHOLE],
    # Engines that the agent installs, without what the machine has of them.
    "alone": [ALONE_TESTS],
    "browser": ["tests/e2e", "-m", f"browser and {NOT_WHOLE}"],
    "ops": ["tests/ops", "-m", f"ops and {NOT_WHOLE}"],
    # Whoever wants in, wants more than they may, or wants it all to stop.
    "attack": ["tests/attack", "-m", "attack"],
}  # fmt: skip
# Legs that count for themselves.
PROGRAMS = {
    "java": ["-m", "benchagent.java.junit", "--cache", str(CACHE)],
    "js": ["scripts/js_tests.py"],
    "bare": ["scripts/bare_leg.py"],
}
LEGS = ("check", *PROGRAMS, *TESTS)
# Only when asked for: `bare` installs the same as `bundle`, from elsewhere; `containers` builds an image; `durability`
# runs every case of its table that can be had, of which `jobs` runs a sample; `whole` all of what holds a small seed.
PROGRAMS |= {"bundle": ["scripts/bare_leg.py", "--bundle"], "containers": ["scripts/containers_leg.py"]}
TESTS["durability"] = ["tests/benchagent/job/test_durability.py"]
TESTS["whole"] = ["tests", "-m", "whole"]
ASKED_FOR = ("bundle", "containers", "durability", "whole")
ALL_LEGS = (*LEGS, *ASKED_FOR)


def outcome_of(leg: str, *, again: bool) -> Outcome:
    if leg == "check":
        return Outcome(leg, passed=1) if run(["make", "check"]) == 0 else Outcome(leg, failed=1)
    if leg in PROGRAMS:
        return by_last_line(leg, [PYTHON, *PROGRAMS[leg]])
    tests = [*TESTS[leg], *(["--last-failed", "--last-failed-no-failures=none"] if again else [])]
    if leg == "postgresql":
        with private_postgresql() as url:
            return pytest(leg, tests, {"DATABASE_URL": url})
    if leg == "alone":
        why = hidden.impossible()
        return Outcome(leg, skipped=1, why=why) if why else pytest(leg, tests, before=[PYTHON, hidden.__file__])
    if leg == "durability":
        return pytest(leg, tests, {"BENCHSITE_ALL_ENGINES": "1"})
    return pytest(leg, tests)


# Four lanes at a time on two cores: much of the time goes into waiting for servers and clocks. One that has ended takes
# what is left, the longest first: short ones at the end let the lanes end together, and of the three longest legs,
# `server`, `postgresql` and `sqlite`, none is after all others. The longest that start whole systems and look at the
# clock stay in one lane, so that they do not disturb each other. While two lanes wait for what is installed, the others
# have a leg that needs nothing of it; what `js` installs is there before `alone` and `bare` hide what is there.
LANES = (("engines",), ("java", "jobs"), ("browser", "ops"), ("server",))
LEFT = ("postgresql", "sqlite", "agent", "truth", "foreign", "attack", "js", "bare", "alone", "check", *ASKED_FOR)


def run_here(name: str, *, again: bool) -> int:
    """Run one leg here, or what of it failed; its outcome is the last line."""
    started = time.monotonic()
    why = lacking(name)
    outcome = Outcome(name, skipped=1, why=why) if why else outcome_of(name, again=again)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu_s = sum(each.ru_utime + each.ru_stime for each in used)
    for failure in outcome.failures:
        print(f"failed: {failure}")
    print(f"{name} took {time.monotonic() - started:.0f} s, {cpu_s:.0f} s of CPU")
    print(outcome.line(), flush=True)
    return 1 if outcome.failed else 0


def apart(name: str, *more: str) -> Outcome:
    """Run one leg in a process of its own and show what it printed when it has ended."""
    started = time.monotonic()
    command = [PYTHON, __file__, "--one", name, *more]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    lines = done.stdout.strip().splitlines() or [""]
    counts = LAST_LINE.search(lines[-1])
    passed, failed, skipped = map(int, counts.groups()) if counts else (0, 1, 0)
    why = lines[-1].partition(" (")[2].rstrip(")") if counts else f"ended with {done.returncode} and no count"
    # The slowest tests of a leg, asked for with --slowest, are among its last lines.
    most = SHOWN_OF_A_GREEN_LEG + int(os.environ.get("BENCHSITE_SLOWEST", "0"))
    shown = lines if failed else lines[-most:]
    print_line("\n".join([f"leg {name}", *shown]))
    cost = next(filter(None, map(COST.search, reversed(lines))), None)
    return Outcome(
        name, passed, failed, skipped, why, time.monotonic() - started, int(cost[1]) if cost else 0,
        failures=tuple(FAILURE.findall(done.stdout)),
    )  # fmt: skip


def once_more(first: Outcome) -> Outcome:
    """What failed of a leg, without other legs beside it."""
    print_line(f"{first.leg}: {first.failed} failed beside other legs; once more alone")
    second = apart(first.leg, "--again")
    if second.failed or not second.passed:
        return first
    return judged(first, UNSTEADY)


def judged(passed_alone: Outcome, known: Path) -> Outcome:
    """Red where a test was unsteady before; the names of others are added to the list `known`."""
    names = passed_alone.failures or (passed_alone.leg,)
    before = {line.partition("  # ")[0] for line in known.read_text().splitlines()}
    again = tuple(name for name in names if name in before)
    new = tuple(name for name in names if name not in again)
    with known.open("a") as file:
        file.writelines(f"{name}  # {time.strftime('%Y-%m-%d')}: not mended yet\n" for name in new)
    steady = passed_alone.failed - len(again)
    return replace(
        passed_alone, passed=passed_alone.passed + steady, failed=len(again), unsteady=new, unsteady_again=again
    )


def in_lane(lane: Sequence[str], left: deque[str]) -> Iterator[Outcome]:
    """Its own legs, then what is left; each runs when it is asked for."""
    own = deque(lane)
    while True:
        try:
            name = own.popleft() if own else left.popleft()
        except IndexError:  # another lane took the last
            return
        yield apart(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("legs", nargs="*", help=f"default: all of {', '.join(LEGS)}; also: {', '.join(ASKED_FOR)}")
    parser.add_argument("--one", choices=ALL_LEGS, help="run this leg here, output as it comes")
    parser.add_argument("--again", action="store_true", help="of that leg of pytest, only what failed")
    parser.add_argument("--slowest", type=int, metavar="N", help="print the N slowest tests of each leg of pytest")
    options = parser.parse_args()
    if options.slowest:
        os.environ["BENCHSITE_SLOWEST"] = str(options.slowest)
    # Without compiled files each of the thousands of processes that tests start would compile what it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if options.one:
        return run_here(options.one, again=options.again)
    chosen = options.legs or list(LEGS)
    with tempfile.TemporaryDirectory(prefix="benchsite-run-") as shared:
        # What the first leg that needs it makes for all (tests/conftest.py).
        os.environ["BENCHSITE_TEST_RUN"] = shared
        return run_legs(chosen)


def run_legs(chosen: Sequence[str]) -> int:
    lanes = [[name for name in lane if name in chosen] for lane in LANES]
    left = deque(name for name in LEFT if name in chosen)
    print_line(
        f"at the same time: {' | '.join(', '.join(lane) or '-' for lane in lanes)}; then {', '.join(left) or '-'}"
    )
    with ThreadPoolExecutor(max_workers=len(LANES)) as pool:
        outcomes = [outcome for done in pool.map(lambda lane: list(in_lane(lane, left)), lanes) for outcome in done]
    outcomes = [once_more(outcome) if 0 < outcome.failed <= MOST_UNSTEADY else outcome for outcome in outcomes]
    costs = (f"{outcome.leg} {outcome.seconds:.0f} ({outcome.cpu_s})" for outcome in outcomes)
    print_line(f"seconds per leg (of CPU, without what outlived its parent): {', '.join(costs)}")
    for outcome in outcomes:
        print(outcome.line())
    in_ci = os.environ.get("CI") == "true"
    return 1 if any(outcome.failed or (in_ci and outcome.skipped) for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())

"""The supervisor with small real programs."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
import pytest

from benchsite import supervisor as supervision
from benchsite.supervisor import Program, Supervisor, kill_leftovers, trim
from tests.ops.site import wait_until

pytestmark = pytest.mark.ops

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def python(name: str, code: str, *, stage: int = 1, stop_within_s: float = 2.0) -> Program:
    return Program(name, [sys.executable, "-c", code], stage, stop_within_s)


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def supervisor(tmp_path, lines):
    made = Supervisor(tmp_path / "logs", tmp_path / "run", dict(os.environ), lines.append)
    yield made
    made.stop()


def test_it_writes_output_to_a_log_and_a_record(supervisor, tmp_path):
    supervisor.start(python("one", "print('hello', flush=True); import time; time.sleep(60)"))
    log = tmp_path / "logs" / "one.log"
    assert wait_until(lambda: log.read_text() == "hello\n", 60)
    pid = int((tmp_path / "run" / "one.pid").read_text().split()[0])
    assert psutil.Process(pid).ppid() == os.getpid()
    assert os.getsid(pid) == pid


def test_it_starts_a_crashed_program_again_with_growing_pauses(supervisor, lines):
    supervisor.start(python("brief", "raise SystemExit(3)"))

    def look() -> bool:
        supervisor.look_after()
        return len(lines) == 3

    assert wait_until(look, 30)
    said = [line.split("; see")[0] for line in lines]
    assert said == [f"brief ended (3); starts again in {pause} s" for pause in ("0.5", "1", "2")]


def test_it_stops_the_highest_stage_first(supervisor, tmp_path):
    code = "import signal, sys, time; out = open({path!r}, 'a', buffering=1)\n" \
        "signal.signal(signal.SIGTERM, lambda *_: (out.write({name!r}), sys.exit()))\n" \
        "print('up', flush=True); time.sleep(60)"  # fmt: skip
    for stage, name in ((1, "a"), (3, "c"), (2, "b")):
        supervisor.start(python(name, code.format(path=str(tmp_path / "order"), name=name), stage=stage))
    for name in "abc":
        assert wait_until((tmp_path / "logs" / f"{name}.log").read_text, 60)
    supervisor.stop()
    assert (tmp_path / "order").read_text() == "cba"
    assert list((tmp_path / "run").iterdir()) == []


def test_it_kills_what_does_not_stop_in_time_and_what_it_left_behind(supervisor, tmp_path):
    parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}]); {STUBBORN}"
    supervisor.start(python("stubborn", parent, stop_within_s=0.5))
    log = tmp_path / "logs" / "stubborn.log"
    assert wait_until(lambda: log.read_text() == "up\nup\n", 60)
    pid = int((tmp_path / "run" / "stubborn.pid").read_text().split()[0])
    family = [psutil.Process(pid), *psutil.Process(pid).children()]
    assert len(family) == 2
    started = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - started < 20
    assert psutil.wait_procs(family, timeout=60)[1] == []


def test_it_keeps_one_older_part_of_a_long_log(tmp_path, monkeypatch):
    monkeypatch.setattr(supervision, "LOG_LIMIT_BYTES", 10)
    log = tmp_path / "web.log"
    log.write_text("short")
    trim(log)
    assert log.read_text() == "short"
    with log.open("a") as writer:
        writer.write(" and long")
        writer.flush()
        trim(log)
        writer.write("new")
    assert log.read_text() == "new"
    assert (tmp_path / "web.1.log").read_text() == "short and long"


def test_it_kills_recorded_leftovers_but_no_stranger_with_their_number(tmp_path):
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    left, stranger = (subprocess.Popen(sleeping, start_new_session=True) for _ in range(2))
    try:
        (tmp_path / "web.pid").write_text(f"{left.pid} {psutil.Process(left.pid).create_time()}")
        (tmp_path / "beat.pid").write_text(f"{stranger.pid} {psutil.Process(stranger.pid).create_time() - 100}")
        (tmp_path / "torn.pid").write_text("12")
        assert kill_leftovers(tmp_path) == ["web"]
        assert not psutil.pid_exists(left.pid)
        assert stranger.poll() is None
        assert list(tmp_path.iterdir()) == []
    finally:
        for process in (left, stranger):
            process.kill()
            process.wait()

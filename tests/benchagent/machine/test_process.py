from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from benchagent.machine import process
from benchagent.machine.limits import JobCgroup
from benchagent.machine.process import Aborted, Children, ProcessFailed

from tests.benchagent.fake_server import wait_until

SLEEP = "import time; time.sleep(600)"


@pytest.fixture
def job_dir(tmp_path: Path):
    folder = tmp_path / "job"
    (folder / "tmp").mkdir(parents=True)
    yield folder
    process.kill_leftovers(folder)


@pytest.fixture
def children(job_dir: Path) -> Children:
    return Children(job_dir)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_it_takes_a_child_along_also_after_a_change_of_user(tmp_path: Path):
    """The death signal is set after the change of the user, which would have cleared it."""
    if os.geteuid() != 0:
        pytest.skip("only root can change the user")
    uid = pwd.getpwnam("nobody").pw_uid
    code = (
        "import sys, time\nfrom benchagent.machine import process\n"
        f"child = process.spawn(['/bin/sleep', '600'], user={uid}, cwd='/')\n"
        "print(child.pid, flush=True)\ntime.sleep(600)\n"
    )
    agent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    child = int(agent.stdout.readline())
    assert psutil.Process(child).uids().real == uid
    agent.kill()
    agent.wait()
    wait_until(lambda: gone(child))


def test_it_lets_a_child_outlive_the_thread_that_asked_for_it(children: Children):
    """The death signal comes when the parent *thread* ends, so a lasting one has to fork."""
    started: list[subprocess.Popen[str]] = []
    thread = threading.Thread(target=lambda: started.append(children.spawn(["/bin/sleep", "600"])))
    thread.start()
    thread.join()
    time.sleep(0.3)
    assert started[0].poll() is None


def test_it_stops_the_whole_family_also_one_that_ignores_the_signal(children: Children, monkeypatch):
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.3)
    code = (
        "import signal, subprocess, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEP!r}])\nprint(child.pid, flush=True)\ntime.sleep(600)\n"
    )
    parent = children.spawn([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    grandchild = int(parent.stdout.readline())
    process.stop(parent)
    assert parent.returncode == -signal.SIGKILL
    assert gone(grandchild)


def test_it_asks_to_end_who_still_runs_though_others_ended_after_they_were_listed(children: Children):
    ended, running = (children.spawn([sys.executable, "-c", SLEEP]) for _ in range(2))
    listed = [psutil.Process(ended.pid), psutil.Process(running.pid)]
    ended.kill()
    ended.wait()
    assert process.ask_to_end(listed) == listed[1:]
    assert running.wait(60) == -signal.SIGTERM


def test_it_finds_leftovers_by_record_by_mark_and_by_folder(job_dir: Path, children: Children):
    recorded = children.spawn(["/bin/sleep", "600"], cwd="/", env={"PATH": "/bin"})
    marked = subprocess.Popen(["/bin/sleep", "600"], env={process.JOB_DIR_VARIABLE: str(job_dir)})
    inside = subprocess.Popen(["/bin/sleep", "600"], cwd=job_dir, env={})
    stranger = subprocess.Popen(["/bin/sleep", "600"], cwd=job_dir.parent, env={})
    try:
        assert {found.pid for found in process.leftovers(job_dir)} == {recorded.pid, marked.pid, inside.pid}
        process.kill_leftovers(job_dir)
        assert [child.wait(60) for child in (recorded, marked, inside)] == [-signal.SIGKILL] * 3
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_it_does_not_kill_another_process_that_got_the_number(job_dir: Path):
    stranger = subprocess.Popen(["/bin/sleep", "600"])
    (job_dir / process.RECORD_NAME).write_text(f'{{"pid": {stranger.pid}, "started": 1.0, "name": "x"}}\nrubbish\n')
    assert process.leftovers(job_dir) == []
    stranger.kill()
    stranger.wait()


def test_it_leaves_a_persons_shell_in_the_folder_alone(job_dir: Path):
    master, slave = os.openpty()
    attach = "import fcntl, sys, termios, time; fcntl.ioctl(0, termios.TIOCSCTTY, 0); print(1, flush=True);"
    shell = subprocess.Popen(
        [sys.executable, "-c", f"{attach} time.sleep(600)"],
        stdin=slave,
        stdout=subprocess.PIPE,
        cwd=job_dir,
        start_new_session=True,
    )
    shell.stdout.readline()
    try:
        assert process.leftovers(job_dir) == []
    finally:
        shell.kill()
        shell.wait()
        os.close(master)
        os.close(slave)


def test_it_gives_a_commands_output_or_its_end_with_the_error(children: Children):
    assert children.run(["/bin/echo", "hello"], timeout_s=30) == "hello\n"
    with pytest.raises(ProcessFailed, match="ended with 3: why"):
        children.run(["/bin/sh", "-c", "echo why; exit 3"], timeout_s=30)
    with pytest.raises(ProcessFailed, match="did not end within"):
        children.run(["/bin/sleep", "600"], timeout_s=0.2)


def test_it_starts_nothing_after_kill_all(children: Children):
    running = children.spawn(["/bin/sleep", "600"])
    children.kill_all()
    assert running.wait(60) == -signal.SIGKILL
    with pytest.raises(Aborted):
        children.spawn(["/bin/sleep", "600"])


def test_it_shows_children_nothing_of_the_agents_own_environment(children: Children, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_AGENT", "x")
    assert "SECRET" not in children.run(["/usr/bin/env"], timeout_s=30)


@pytest.fixture
def stuck():
    """A cgroup that the kernel lets nobody enter: a write to its door never ends."""
    reader, door = os.pipe()
    os.set_blocking(door, False)
    while True:
        try:
            os.write(door, bytes(65536))
        except BlockingIOError:
            break
    os.set_blocking(door, True)
    cgroup = JobCgroup("stuck")
    cgroup.doors.append(door)
    yield cgroup
    os.close(reader)
    cgroup.close()


def test_it_ends_a_child_that_hangs_before_its_program_begins(children: Children, job_dir: Path, stuck: JobCgroup):
    def begin() -> None:
        with suppress(ProcessFailed):  # where it was killed before it had heard what to become
            children.spawn(["/bin/sleep", "600"], cgroup=stuck)

    beginning = threading.Thread(target=begin)
    beginning.start()
    wait_until(lambda: len(process.leftovers(job_dir)) == 1)
    children.kill_all()
    beginning.join(60)
    assert not beginning.is_alive()
    assert process.leftovers(job_dir) == []


def test_it_gives_up_on_a_child_whose_program_does_not_begin_in_time(stuck: JobCgroup, monkeypatch):
    monkeypatch.setattr(process, "START_TIMEOUT_S", 0.5)
    with pytest.raises(ProcessFailed, match="timed out"):
        process.spawn(["/bin/sleep", "600"], cgroup=stuck)


def test_it_says_why_a_program_cannot_be_started(children: Children):
    with pytest.raises(ProcessFailed, match="No such file"):
        children.spawn(["/no/such/program"])


def test_it_starts_programs_with_no_signal_ignored(children: Children):
    status = children.run(["/bin/cat", "/proc/self/status"], timeout_s=30)
    ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
    # Signals 32 and 33 are the C library's own: below `make` they are ignored, and no program may change them.
    assert not ignored & ~(0b11 << 31)

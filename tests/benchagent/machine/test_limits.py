"""Cages: real control groups, and made-up trees for the version that this machine does not have."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from benchagent.dbms.base import JobError
from benchagent.machine import emulation, limits, process
from benchagent.machine.limits import (
    CgroupError,
    Hierarchy,
    Limits,
    Throttle,
    groups_named,
    hierarchy,
    remove_leftover_cgroups,
)
from benchagent.machine.process import Aborted, Children, ProcessFailed

from tests.benchagent.machine.test_process import gone
from tests.benchagent.storages import an_emulation, needs_cgroups, needs_emulation

MIB = 1 << 20
RUN_ID = f"test-{os.getpid()}"
# Writes a file, reads it again, and says how much of it is in the page cache.
FILL = (
    "import pathlib, sys\nsys.path.insert(0, {path!r})\nfrom benchagent.machine.caches import resident_bytes\n"
    "file = pathlib.Path(sys.argv[1])\n"
    "with file.open('wb') as out:\n    for _ in range(64): out.write(bytes(1 << 20))\n"
    "file.read_bytes()[:1]\nprint(resident_bytes([file]))\n"
)


@pytest.fixture
def children(tmp_path: Path):
    (tmp_path / "job" / "tmp").mkdir(parents=True)
    made = Children(tmp_path / "job")
    yield made
    process.kill_leftovers(tmp_path / "job")


def fill() -> str:
    return FILL.format(path=str(Path(limits.__file__).parents[2]))


@needs_cgroups
def test_it_counts_the_page_cache_within_the_limit(children: Children, tmp_path: Path):
    """A file of 64 MiB, read and written within 32 MiB, is not kept in memory."""
    with Limits(memory_bytes=32 * MIB).cgroup(RUN_ID) as cgroup:
        # Held line by line: the file is larger than what may be used.
        code = fill().replace("file.read_bytes()[:1]", "[None for block in iter(file.open('rb').readline, b'')]")
        code = code.replace("bytes(1 << 20)", "(b'x' * 1023 + b'\\n') * 1024")
        resident = int(children.run([sys.executable, "-c", code, str(tmp_path / "file")], timeout_s=60, cgroup=cgroup))
        assert resident < 32 * MIB
        assert 16 * MIB < (cgroup.memory_peak_bytes or 0) <= 32 * MIB
        assert cgroup.oom_kills == 0
    assert cgroup.memory_peak_bytes
    assert list(groups_named(RUN_ID)) == []


@needs_cgroups
def test_it_counts_what_the_kernel_kills(children: Children):
    code = "x = bytearray(64 << 20)\nfor at in range(0, len(x), 4096): x[at] = 1"
    with (
        Limits(memory_bytes=32 * MIB).cgroup(RUN_ID) as cgroup,
        pytest.raises(ProcessFailed, match=f"ended with -{signal.SIGKILL.value}"),
    ):
        children.run([sys.executable, "-c", code], timeout_s=60, cgroup=cgroup)
    assert cgroup.oom_kills == 1


@needs_cgroups
def test_it_takes_in_a_child_of_another_user_and_its_children(children: Children):
    uid = pwd.getpwnam("nobody").pw_uid
    argv = ["/bin/sh", "-c", "sleep 600 & echo started; wait"]
    with Limits(memory_bytes=64 * MIB, cpus=1).cgroup(RUN_ID) as cgroup:
        child = children.spawn(argv, cgroup=cgroup, user=uid, cwd="/", stdout=subprocess.PIPE, text=True)
        child.stdout.readline()
        members = [process.pid for process in process.family(child.pid)]
        inside = next(groups_named(RUN_ID)) / "cgroup.procs"
        assert sorted(map(int, inside.read_text().split())) == sorted(members)
        assert [psutil.Process(pid).cpu_affinity() for pid in members] == [[cgroup.cpus[0]]] * 2
    assert child.wait(60) == -signal.SIGKILL  # nothing runs on without its limits
    assert all(gone(pid) for pid in members[1:])


def test_it_gives_as_many_cpus_as_asked_for(children: Children):
    with Limits(cpus=1).cgroup(RUN_ID) as cgroup:
        output = children.run(
            [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"], timeout_s=60, cgroup=cgroup
        )
    assert output.strip() == str(set(cgroup.cpus))
    assert (cgroup.words, cgroup.memory_peak_bytes, cgroup.oom_kills) == (f"CPU {cgroup.cpus[0]}", None, None)
    assert len(os.sched_getaffinity(0)) >= 1


def test_it_limits_nothing_where_nothing_was_asked_for(children: Children):
    with Limits().cgroup(RUN_ID) as cgroup:
        assert children.run(["/bin/echo", "x"], timeout_s=60, cgroup=cgroup) == "x\n"
    assert cgroup.words == ""


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Limits(cpus=10_000), "10000 CPUs are not possible: the agent may use"),
        (Limits(cpus=0), "0 CPUs are not possible"),
        (Limits(memory_bytes=MIB), "memory limit of 1 MiB is not possible"),
        (Limits(memory_bytes=1 << 60), "between 16 MiB and the machine's"),
    ],
)
def test_it_refuses_a_limit_that_is_none(asked: Limits, words: str):
    with pytest.raises(JobError, match=words), asked.cgroup(RUN_ID):
        pytest.fail("never silently unlimited")


def test_it_says_what_is_missing_where_it_may_not_make_a_group(monkeypatch, tmp_path: Path):
    closed = Hierarchy("memory", 1, tmp_path, tmp_path / "not" / "there")
    monkeypatch.setattr(limits, "hierarchy", lambda controller: closed)
    with (
        pytest.raises(JobError, match="the agent needs root's rights there"),
        Limits(memory_bytes=64 * MIB).cgroup(RUN_ID),
    ):
        pytest.fail("never silently unlimited")


@needs_cgroups
def test_it_starts_no_child_that_the_kernel_keeps_out(children: Children):
    with Limits(memory_bytes=64 * MIB).cgroup(RUN_ID) as cgroup:
        pass  # closed: what was opened for entering is not there any more
    cgroup.doors.append(os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(ProcessFailed, match="could not be started within its limits"):
        children.spawn(["/bin/sleep", "600"], cgroup=cgroup)
    os.close(cgroup.doors.pop())
    children.kill_all()
    with pytest.raises(Aborted):
        children.spawn(["/bin/true"], cgroup=None)


@needs_cgroups
def test_it_keeps_to_the_memory_of_a_group_around_it(monkeypatch):
    """A smaller limit outside would be the real one."""
    where = hierarchy("memory")
    if where.version == 2:
        pytest.skip("version 2 allows no group below the agent's own")
    with Limits(memory_bytes=64 * MIB).cgroup(f"{RUN_ID}-outer"):
        outer = next(groups_named(f"{RUN_ID}-outer"))
        monkeypatch.setattr(limits, "hierarchy", lambda controller: Hierarchy("memory", 1, where.root, outer))
        with pytest.raises(JobError, match="limited to 64 MiB"), Limits(memory_bytes=128 * MIB).cgroup(RUN_ID):
            pytest.fail("never silently another limit")
    assert list(groups_named(RUN_ID)) == []


@needs_cgroups
def test_it_removes_what_a_killed_agent_has_left():
    code = (
        f"import os, signal\nfrom benchagent.machine import process\nfrom benchagent.machine.limits import Limits\n"
        f"with Limits(memory_bytes=64 << 20).cgroup('{RUN_ID}') as cgroup:\n"
        "    child = process.spawn(['/bin/sleep', '60'], death_signal=0, cgroup=cgroup, stdout=-3)\n"
        "    print(child.pid, flush=True)\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.PIPE, text=True, timeout=60)
    assert killed.returncode == -9
    child = psutil.Process(int(killed.stdout))
    assert child.is_running()
    assert remove_leftover_cgroups(RUN_ID) == 1
    assert gone(child.pid)
    assert list(groups_named(RUN_ID)) == []
    assert remove_leftover_cgroups(RUN_ID) == 0


@needs_emulation
def test_it_knows_whether_an_emulated_disk_is_throttled(tmp_path: Path):
    if hierarchy("blkio").version == 2:
        pytest.skip("version 2 throttles in the cgroup itself")
    made = an_emulation(tmp_path, write_mb_per_s=16)
    emulation.create(made)
    number = emulation.device_number(emulation.set_up(made, tmp_path / "mounted"))
    try:
        with Limits(throttles=[Throttle(number, write_bytes_per_s=16_000_000)]).cgroup(RUN_ID) as cgroup:
            assert cgroup.words == "the rates of emulated disks"
            rates = hierarchy("blkio").root / "blkio.throttle.write_bps_device"
            with pytest.raises(ZeroDivisionError), cgroup.at_full_speed():
                assert number not in rates.read_text()
                1 / 0  # noqa: B018
            assert f"{number} 16000000" in rates.read_text()
        with (
            pytest.raises(JobError, match="is not throttled"),
            Limits(throttles=[Throttle(number, write_bytes_per_s=17_000_000)]).cgroup(RUN_ID),
        ):
            pytest.fail("never silently unthrottled")
    finally:
        emulation.take_down(made)


# Version 2, on a made-up tree: files instead of the kernel's


@pytest.fixture
def version_2(tmp_path: Path, monkeypatch) -> Path:
    root = tmp_path / "cgroup"
    (root / "system" / "agent").mkdir(parents=True)
    (root / "cgroup.controllers").write_text("cpu io memory")
    for group in (root, root / "system"):
        (group / "cgroup.subtree_control").write_text("cpu")
    (tmp_path / "own").write_text("0::/system/agent\n")
    mountinfo = f"30 1 0:26 / {root} rw - cgroup2 cgroup2 rw\n"
    (tmp_path / "mountinfo").write_text(mountinfo)
    monkeypatch.setattr(limits, "MEMBERSHIP", tmp_path / "own")
    monkeypatch.setattr(limits, "mounts", lambda: limits_mounts(tmp_path / "mountinfo"))
    # The kernel fills a new group with its files.
    made = Path.mkdir

    def mkdir(self: Path, *arguments: int, **options: bool) -> None:
        is_new = not self.exists()
        made(self, *arguments, **options)
        if is_new and self.name.startswith(limits.PREFIX):
            for name, text in {"cgroup.procs": "", "memory.swap.max": "max", "memory.peak": "77"}.items():
                (self / name).write_text(text)
            (self / "memory.events").write_text("low 0\noom 2\noom_kill 1\n")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(limits, "remove_group", lambda group: True)
    return root


def limits_mounts(file: Path):
    from benchagent.machine.devices import mounts

    return mounts(file)


def test_it_speaks_version_2(version_2: Path):
    throttle = Throttle("7:3", read_bytes_per_s=1000, write_iops=5)
    with Limits(memory_bytes=64 * MIB, throttles=[throttle]).cgroup("run") as cgroup:
        for door in cgroup.doors:
            os.write(door, b"0")
        assert (cgroup.memory_peak_bytes, cgroup.oom_kills) == (77, 1)
        with cgroup.at_full_speed():
            lifted = (version_2 / "system" / "benchagent-run" / "io.max").read_text()
        assert lifted == "7:3 rbps=max wbps=max riops=max wiops=max"
    group = version_2 / "system" / "benchagent-run"
    written = {file.name: file.read_text() for file in group.iterdir()}
    assert written["memory.max"] == str(64 * MIB)
    assert written["memory.swap.max"] == "0"
    assert written["io.max"] == "7:3 rbps=1000 wbps=max riops=max wiops=5"
    assert written["cgroup.procs"] == "0"
    assert (version_2 / "cgroup.subtree_control").read_text() == "+io"


def test_it_says_that_this_kernel_has_no_such_controller(version_2: Path):
    (version_2 / "cgroup.controllers").write_text("cpu")
    with pytest.raises(CgroupError, match="no control group hierarchy with the controller memory"):
        hierarchy("memory")

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchagent.machine import sampling
from benchagent.machine.devices import device_of
from benchagent.machine.sampling import DISK_SERIES, DiskCounters, ProcessTable, Sampler, disk_counters, read_stat
from benchagent.protocol import DISK_SHARES

from tests.benchagent.fake_server import wait_until

# Burns CPU in a child that ends, then goes on itself.
FAMILY = """
import subprocess, sys, time
burn = "import time\\nend = time.process_time() + {s}\\nwhile time.process_time() < end: pass"
subprocess.run([sys.executable, "-c", burn.format(s=0.4)])
exec(burn.format(s=0.2))
print("done", flush=True)
time.sleep(600)
"""


@pytest.fixture
def family():
    child = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE)
    yield child
    child.kill()
    child.wait()


def used(pid: int) -> float | None:
    table = ProcessTable()
    table.look()
    return table.cpu_seconds([pid])


def test_it_includes_children_that_have_ended_in_the_cpu_of_a_tree(family):
    table = ProcessTable()
    table.look()
    now = before = 0.0
    while family.poll() is None and now < 0.6:
        now = table.cpu_seconds([family.pid]) or 0.0
        assert now >= before - 0.011  # one clock tick
        before = now
        time.sleep(0.02)
    family.stdout.readline()
    assert 0.6 <= (used(family.pid) or 0) < 1.5


def test_it_knows_nothing_of_a_tree_that_is_gone(family):
    table = ProcessTable()
    family.kill()
    family.wait()
    table.look()
    assert table.cpu_seconds([family.pid]) is None
    assert table.memory_bytes([family.pid]) is None


def test_it_finds_new_and_reparented_descendants_without_reading_everything_again(monkeypatch):
    """A process is read once; who came since is seen at the next look."""
    table = ProcessTable()
    table.look()
    read: list[int] = []
    monkeypatch.setattr(sampling, "read_stat", lambda pid: read.append(pid) or read_stat(pid))
    code = "import os, time\nif os.fork() == 0:\n    os.fork()\nprint(1, flush=True)\ntime.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None
    for _ in range(3):
        child.stdout.readline()
    table.look()
    members = table.tree([child.pid])
    assert (len(members), members[0]) == (3, child.pid)
    assert os.getpid() not in read  # known from the first look
    subprocess.run(["kill", "-9", "--", f"-{child.pid}"], check=True)
    child.wait()


def test_it_counts_shared_memory_once(tmp_path):
    code = (
        "import mmap, os, sys, time\nsize = 64 << 20\nshared = mmap.mmap(-1, size)\n"
        "for at in range(0, size, 4096): shared[at] = 1\n"
        "for _ in range(3):\n    if os.fork() == 0:\n"
        "        for at in range(0, size, 4096): shared[at]\n        time.sleep(600)\n"
        "time.sleep(1)\nprint(1, flush=True)\ntime.sleep(600)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    child.stdout.readline()
    table = ProcessTable()
    table.look()
    found = table.memory_bytes([child.pid])
    subprocess.run(["kill", "-9", "--", f"-{child.pid}"], check=True)
    child.wait()
    assert found is not None
    assert 64 << 20 < found < 130 << 20  # four processes share one buffer


def test_it_sees_a_written_file_on_its_device(tmp_path: Path):
    device = device_of(tmp_path)
    before = disk_counters(device)
    with (tmp_path / "file").open("wb") as file:
        file.write(os.urandom(8 << 20))
        file.flush()
        os.fsync(file.fileno())
    after = disk_counters(device)
    rates = after.rates_since(before, 2.0)
    assert after.written_bytes - before.written_bytes >= 8 << 20
    assert rates["disk_write_mb_per_s"] == (after.written_bytes - before.written_bytes) / 2e6
    assert rates["disk_write_iops"] > 0
    assert 0 <= rates["disk_util_percent"] <= 100


def test_it_has_the_series_of_each_group_and_of_no_device_that_is_none(family):
    sampler = Sampler({"driver": [family.pid]}, {"data": "no-such-device"})
    assert set(sampler.sample()) == {"machine_cpu_percent", "driver_rss_bytes"}


def test_it_measures_server_and_tool_apart():
    """The server burns CPU, the tool sleeps."""
    server = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    tool = subprocess.Popen(["/bin/sleep", "600"])
    sampler = Sampler({"server": lambda: [server.pid], "tool": [tool.pid]}, {})
    values: dict[str, float | None] = {}

    def seen() -> bool:
        time.sleep(0.3)
        values.update(sampler.sample())
        return (values["server_cpu_cores"] or 0) > 0.1 and values["tool_cpu_cores"] == 0

    try:
        wait_until(seen)
    finally:
        for child in (server, tool):
            child.kill()
            child.wait()
    assert (values["server_rss_bytes"] or 0) > (values["tool_rss_bytes"] or 0) > 0


def test_it_divides_by_the_time_of_whoever_has_timed_it(monkeypatch: pytest.MonkeyPatch):
    """1.5 s of CPU and 60 MB in 3 s, whatever time has passed between the looks."""
    looks = iter([(10.0, 0), (11.5, 60_000_000)])
    now: list[tuple[float, int]] = []

    def cpu_seconds(table: object, roots: object) -> float:
        now.append(next(looks))
        return now[-1][0]

    monkeypatch.setattr(ProcessTable, "cpu_seconds", cpu_seconds)
    counters = lambda device: DiskCounters(0, now[-1][1] if now else 0, 0, 0, 0)  # noqa: E731
    monkeypatch.setattr("benchagent.machine.sampling.disk_counters", counters)
    values = Sampler({"server": [1]}, {"data": "disk"}).sample(elapsed_s=3.0)
    assert (values["server_cpu_cores"], values["disk_read_mb_per_s"]) == (0.5, 20.0)


def test_it_names_a_device_once_and_another_one_by_its_role(tmp_path: Path):
    """A second device is any with a line of its own in the kernel's statistics."""
    device = device_of(tmp_path)
    same = Sampler({}, {"data": device, "log": device, "temp": device, "backup": device}).sample()
    assert {name for name in same if "disk" in name} == {*DISK_SERIES["data"], *DISK_SHARES}
    second = next(name for name in sorted(os.listdir("/sys/class/block")) if name != device)  # noqa: PTH208
    sampler = Sampler({}, {"data": device, "log": second, "backup": second})
    time.sleep(0.05)  # a tick of the kernel's clock, in which CPU is counted, is 10 ms
    other = sampler.sample()
    assert {name for name in other if "disk" in name} == {
        *DISK_SERIES["data"],
        *(f"log_{rate}" for rate in DISK_SERIES["log"]),
        *(f"backup_{rate}" for rate in DISK_SERIES["backup"]),
        *DISK_SHARES,
    }
    # An agent that is not root may not read what others write.
    assert None not in [value for name, value in other.items() if name not in DISK_SHARES or not os.geteuid()]


def test_it_leaves_a_gap_where_the_server_is_gone_or_was_started_anew(family):
    tool = subprocess.Popen(["/bin/sleep", "600"])
    running = [family.pid]
    sampler = Sampler({"server": lambda: running}, {})
    assert sampler.sample()["server_cpu_cores"] is not None
    running[0] = tool.pid
    assert sampler.sample()["server_cpu_cores"] is None
    assert sampler.sample()["server_cpu_cores"] == 0
    tool.kill()
    tool.wait()
    values = sampler.sample()
    assert (values["server_cpu_cores"], values["server_rss_bytes"]) == (None, None)


def test_it_costs_less_than_a_hundredth_of_a_core_with_forty_backends():
    code = "import os, time\nfor _ in range(40):\n    if os.fork() == 0: break\nprint(1, flush=True)\ntime.sleep(600)"
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert server.stdout is not None
    for _ in range(41):
        server.stdout.readline()
    sampler = Sampler({"server": lambda: [server.pid], "driver": [server.pid]}, {"data": device_of(Path("/"))})

    def cost_s() -> float:
        before = time.thread_time()
        for _ in range(30):
            sampler.sample()
        return (time.thread_time() - before) / 30

    # Whoever else uses the caches of the CPU can only make it dearer.
    cheap = any(cost_s() < 0.01 for _ in range(10))
    subprocess.run(["kill", "-9", "--", f"-{server.pid}"], check=True)
    server.wait()
    assert cheap


# Writes so many bytes to the disk, says its number in a file beside them, and stays.
WRITER = """
import os, sys, time
with open(sys.argv[1], "wb") as file:
    file.write(os.urandom(int(sys.argv[2])))
    file.flush()
    os.fsync(file.fileno())
with open(sys.argv[1] + ".pid", "w") as file:
    file.write(str(os.getpid()))
time.sleep(600)
"""


def test_what_a_run_wrote_is_told_apart_from_what_others_wrote(tmp_path: Path):
    """By process, as the kernel counts it: of a disk to which both write. One is no descendant of this process."""
    (tmp_path / "writer.py").write_text(WRITER)
    names = {name: tmp_path / f"{name}.pid" for name in ("own", "other")}
    command = f"exec {sys.executable} {tmp_path}/writer.py {tmp_path}/"
    # On a machine with few processes one that may not be read, as an init of a sandbox, is too large a share of them.
    crowd = "for each in $(seq 30); do sleep 30 > /dev/null 2>&1 & done"
    subprocess.run(["/bin/sh", "-c", crowd], check=True)
    table = ProcessTable()
    table.look()
    before = table.written_bytes([])
    own = subprocess.Popen(["/bin/sh", "-c", f"{command}own {8 << 20}"])
    subprocess.run(["/bin/sh", "-c", f"({command}other {64 << 20}) > /dev/null 2>&1 &"], check=True)
    wait_until(lambda: all(path.exists() and path.read_text() for path in names.values()))
    table.look()
    after = table.written_bytes([own.pid])
    os.kill(int(names["other"].read_text()), signal.SIGKILL)
    own.kill()
    own.wait()
    shares = [
        now - was if now is not None and was is not None else None for was, now in zip(before, after, strict=True)
    ]
    assert shares[0] is not None and 8 << 20 <= shares[0] < 32 << 20
    # Not to be had where this user may not read what others write. What ends meanwhile takes along what it had written.
    assert os.geteuid() or (shares[1] is not None and shares[1] >= 32 << 20)

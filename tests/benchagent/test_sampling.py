from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchagent.sampling import Sampler, cpu_seconds, disk_bytes, memory_bytes
from benchagent.storage import device_of

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


def test_it_includes_children_that_have_ended_in_the_cpu_of_a_tree(family):
    before = 0.0
    while not (line := family.poll()) and time.monotonic():
        now = cpu_seconds([family.pid]) or 0.0
        assert now >= before - 0.011  # one clock tick
        before = now
        if now >= 0.6:
            break
        time.sleep(0.02)
    assert line is None
    family.stdout.readline()
    assert 0.6 <= (cpu_seconds([family.pid]) or 0) < 1.5


def test_it_knows_nothing_of_a_tree_that_is_gone(family):
    family.kill()
    family.wait()
    assert cpu_seconds([family.pid]) is None
    assert memory_bytes([family.pid]) is None


def test_it_counts_shared_memory_once(tmp_path):
    code = (
        "import mmap, os, sys, time\nsize = 64 << 20\nshared = mmap.mmap(-1, size)\n"
        "for at in range(0, size, 4096): shared[at] = 1\n"
        "for _ in range(3):\n    if os.fork() == 0:\n"
        "        for at in range(0, size, 4096): shared[at]\n        time.sleep(600)\n"
        "time.sleep(1)\nprint(1, flush=True)\ntime.sleep(600)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None
    child.stdout.readline()
    found = memory_bytes([child.pid])
    subprocess.run(["kill", "-9", "--", f"-{child.pid}"], check=True)
    child.wait()
    assert found is not None
    assert 64 << 20 < found < 130 << 20  # four processes share one buffer


def test_it_sees_a_written_file_on_its_device(tmp_path: Path):
    device = device_of(tmp_path)
    before = disk_bytes(device)
    if before is None:
        pytest.skip("the temporary folder is not on a block device")
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * (8 << 20))
        file.flush()
        subprocess.run(["sync", str(tmp_path / "file")], check=True)
    after = disk_bytes(device)
    assert after is not None
    assert after[1] - before[1] >= 8 << 20


def test_it_has_no_server_series_for_an_embedded_engine(family):
    sampler = Sampler(driver_pid=family.pid, server_pids=list, device="no-such-device")
    assert set(sampler.sample()) == {"machine_cpu_percent", "driver_rss_bytes"}


def test_it_leaves_a_gap_where_the_server_is_gone(family):
    sampler = Sampler(driver_pid=family.pid, server_pids=lambda: [family.pid], device="no-such-device")
    assert sampler.sample()["server_cpu_cores"] is not None
    family.kill()
    family.wait()
    values = sampler.sample()
    assert (values["server_cpu_cores"], values["server_rss_bytes"]) == (None, None)

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil
from benchagent.machine.devices import hardware_facts
from benchagent.protocol import HardwareFacts


def test_it_knows_this_machine(tmp_path):
    facts = hardware_facts(tmp_path)
    # A container may be told no machine id, and what it is made of.
    assert facts.keys() | {"machine_id", "made_of"} == HardwareFacts.__annotations__.keys()
    assert facts["kernel"] == f"Linux {platform.release()}"
    assert facts["cpu_threads"] == os.cpu_count()
    assert facts["ram_bytes"] == psutil.virtual_memory().total
    with Path("/proc/cpuinfo").open() as file:
        assert facts["cpu_model"] is None or facts["cpu_model"].split()[0] in file.read()
    assert facts["storage"]

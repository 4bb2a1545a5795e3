from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchagent.machine.preloaded import defines_syncs, swallowing

from tests.benchagent.fake_server import wait_until
from tests.benchagent.preload import eater


@pytest.fixture
def library() -> Path:
    return eater()


def test_it_finds_a_library_that_takes_the_place_of_the_syncs(library: Path):
    command = [shutil.which("sleep") or "sleep", "60"]
    children = [subprocess.Popen(command, env=env) for env in ({"LD_PRELOAD": str(library)}, {})]
    try:
        pids = [child.pid for child in children]
        wait_until(lambda: bool(swallowing(pids[:1])))
        assert swallowing(pids) == [f"{library.name} in sleep"]
        assert swallowing(pids[1:]) == []
    finally:
        for child in children:
            child.kill()
            child.wait()


def test_libraries_that_only_use_the_syncs_are_none(tmp_path: Path, library: Path):
    used = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if ".so" in line]
    assert not any(defines_syncs(path) for path in used if "/libc" not in path and "/ld-" not in path)
    assert defines_syncs(str(library))
    (tmp_path / "text.so").write_text("no library")
    assert not defines_syncs(str(tmp_path / "text.so")) and not defines_syncs(str(tmp_path / "missing.so"))
    assert swallowing([2**22 + 1]) == [] and sys.platform == "linux"

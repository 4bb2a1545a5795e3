from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from benchagent.machine.preloaded import fake_sync_libraries

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
        wait_until(lambda: bool(fake_sync_libraries(pids[:1])))
        assert fake_sync_libraries(pids) == [f"{library.name} in sleep"]
        assert fake_sync_libraries(pids[1:]) == []
    finally:
        for child in children:
            child.kill()
            child.wait()


def test_libraries_that_only_use_the_syncs_are_none_nor_is_a_process_that_has_ended():
    assert fake_sync_libraries([os.getpid(), 2**22 + 1]) == []

"""Emulated disks and control groups for tests: real ones, where this machine lets us have them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from benchagent.machine import emulation
from benchagent.machine.emulation import Emulation
from benchagent.machine.limits import CgroupError, hierarchy, make_group, remove_group

SIZE_BYTES = 64_000_000

needs_emulation = pytest.mark.skipif(bool(emulation.missing()), reason=emulation.missing() or "possible here")


def why_no_cgroups() -> str:
    try:
        remove_group(make_group(hierarchy("memory"), "test-probe"))
    except CgroupError as error:
        return str(error)
    return ""


needs_cgroups = pytest.mark.skipif(bool(why_no_cgroups()), reason=why_no_cgroups() or "possible here")


def an_emulation(folder: Path, **rates: float) -> Emulation:
    return Emulation(file=folder / "disk.img", size_bytes=SIZE_BYTES, **rates)


def took_s(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def end(pid: int) -> None:
    with suppress(psutil.NoSuchProcess):
        psutil.Process(pid).kill()

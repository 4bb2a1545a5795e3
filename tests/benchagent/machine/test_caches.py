from __future__ import annotations

import mmap
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from benchagent.machine import caches
from benchagent.machine.caches import TOLERATED_BYTES, drop_page_cache, resident_bytes, write_back

SIZE_BYTES = 5 << 20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a file that was just written: all of it is in the page cache, and none of it on the disk."""
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "table").write_bytes(os.urandom(SIZE_BYTES))
    (folder / "empty").touch()
    (folder / "link").symlink_to("/etc/passwd")
    return folder


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path: Path) -> Path:
    """The rest of the machine is not to be disturbed."""
    stand_in = tmp_path / "drop_caches"
    stand_in.touch()
    monkeypatch.setattr(caches, "DROP_CACHES", stand_in)
    return stand_in


def test_it_brings_to_the_disk_what_was_written(data: Path):
    """Pages that were not could not be dropped."""
    assert write_back(data) > 0
    with (data / "inner" / "table").open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    assert resident_bytes([data]) <= TOLERATED_BYTES
    with pytest.raises(FileNotFoundError):
        write_back(data / "missing")


def test_it_drops_written_files_without_touching_the_rest_of_the_machine(data: Path, machine: Path):
    assert resident_bytes([data]) == SIZE_BYTES
    words = drop_page_cache([data])
    assert words == "the files' pages were dropped from the page cache (5.2 MB were in it, 0.0 MB are left)"
    assert resident_bytes([data]) == 0
    assert machine.read_text() == ""


def test_it_agrees_with_the_systems_own_tool(data: Path):
    if shutil.which("fincore") is None:
        pytest.skip("fincore is not installed")
    table = data / "inner" / "table"
    drop_page_cache([data])
    with table.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no reading ahead
        os.pread(file.fileno(), 100_000, 1_000_000)
    output = subprocess.run(
        ["fincore", "--bytes", "--noheadings", "--output", "RES", table], capture_output=True, check=True
    )
    assert 100_000 <= int(output.stdout) < SIZE_BYTES
    assert resident_bytes([table]) == int(output.stdout)


def test_it_drops_all_of_the_machine_when_pages_stay_and_says_when_that_is_not_enough(data: Path, machine: Path):
    """Pages that a process has mapped are not dropped."""
    with (data / "inner" / "table").open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[at] for at in range(0, SIZE_BYTES, mmap.PAGESIZE)) > 0
        words = drop_page_cache([data])
        assert (resident_bytes([data]) or 0) > SIZE_BYTES / 2
    assert machine.read_text() == "3"
    assert words.startswith("not controlled: the files' pages could not be dropped")


def test_it_says_that_it_may_not_drop_all_of_the_machine(data: Path, monkeypatch):
    monkeypatch.setattr(caches, "DROP_CACHES", Path("/proc/version"))
    monkeypatch.setattr("os.posix_fadvise", lambda *_: None)
    assert drop_page_cache([data]).startswith("not controlled: ")
    assert resident_bytes([data]) == SIZE_BYTES


def test_it_is_content_where_there_is_nothing(tmp_path: Path):
    assert drop_page_cache([tmp_path / "nowhere"]).startswith("the files' pages were dropped")
    assert resident_bytes([]) == 0

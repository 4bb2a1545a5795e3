from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from benchagent.dbms.base import JobError
from benchagent.machine import emulation, fingerprint
from benchagent.machine.devices import Mount
from benchagent.machine.fingerprint import PATTERNS, SyncRate, SyncRates, measure
from benchagent.machine.limits import Cage, Throttle, hierarchy

from tests.benchagent.storages import an_emulation, needs_emulation

KNOWN = SyncRate(1000.0, {"append 4 KiB, fdatasync": 1000.0}, "test", time.time())


def test_it_measures_all_patterns_and_leaves_nothing(tmp_path: Path):
    rate = measure(tmp_path)
    assert set(rate.patterns_per_s) == set(PATTERNS)
    assert rate.fdatasync_per_s == max(rate.patterns_per_s.values())
    assert min(rate.patterns_per_s.values()) > 0
    assert abs(rate.at - time.time()) < 60
    assert list(tmp_path.iterdir()) == []


@needs_emulation
def test_it_finds_the_rate_of_an_emulated_disk(tmp_path: Path):
    """A write and a flush are two of its operations: about 60 a second, and more at first."""
    if hierarchy("blkio").version == 2:
        pytest.skip("version 2 throttles in a cage only")
    made = an_emulation(tmp_path, write_iops=120)
    emulation.create(made)
    emulation.set_up(made, tmp_path / "mounted")
    try:
        rate = measure(tmp_path / "mounted")
    finally:
        emulation.take_down(made)
    assert 0 < rate.patterns_per_s["overwrite 4 KiB, fdatasync"] < 130
    assert rate.fdatasync_per_s < 130


def test_it_says_why_a_rate_cannot_be_measured(tmp_path: Path):
    with pytest.raises(JobError, match="cannot be measured: FileNotFoundError"):
        measure(tmp_path / "nowhere")


def test_it_measures_a_device_once_a_day(tmp_path: Path, monkeypatch):
    measured: list[Path] = []

    def fake(folder: Path, cage: None = None) -> SyncRate:
        measured.append(folder)
        return KNOWN

    monkeypatch.setattr(fingerprint, "measure", fake)
    rates = SyncRates(tmp_path / "rates.json")
    assert rates.of("sda", tmp_path) == rates.of("sda", tmp_path) == KNOWN
    rates.of("sdb", tmp_path)
    assert len(measured) == 2
    old = {**asdict(KNOWN), "at": time.time() - fingerprint.VALID_S - 1}
    (tmp_path / "rates.json").write_text(json.dumps({"sda": old}))
    rates.of("sda", tmp_path)
    (tmp_path / "rates.json").write_text("rubbish")
    rates.of("sda", tmp_path)
    assert len(measured) == 4


def test_an_emulated_disk_is_another_one_with_another_file_or_other_rates(tmp_path: Path, monkeypatch):
    measured: list[Path] = []
    monkeypatch.setattr(fingerprint, "measure", lambda folder, cage: measured.append(folder) or KNOWN)
    files = {"loop0": Path("/disks/slow.img")}
    monkeypatch.setattr(fingerprint, "backing_file", files.get)
    rates, cage = SyncRates(tmp_path / "rates.json"), Cage("run")
    cage.throttles = [Throttle("7:0", write_iops=120)]
    for _ in range(2):
        rates.of("loop0", tmp_path, cage)
    assert len(measured) == 1
    files["loop0"] = Path("/disks/other.img")
    rates.of("loop0", tmp_path, cage)
    cage.throttles = [Throttle("7:0", write_iops=240)]
    rates.of("loop0", tmp_path, cage)
    assert len(measured) == 3


def test_a_mount_without_barriers_has_a_rate_of_its_own(tmp_path: Path, monkeypatch):
    measured: list[Path] = []
    monkeypatch.setattr(fingerprint, "measure", lambda folder, cage: measured.append(folder) or KNOWN)
    rates = SyncRates(tmp_path / "rates.json")
    for options in ("rw", "rw,nobarrier", "rw", "rw,nobarrier"):
        mount = Mount("8:1", "/", "/data", options, "xfs", "/dev/sda1")
        monkeypatch.setattr(fingerprint, "mount_of", lambda path, mount=mount: mount)
        rates.of("sda1", tmp_path)
    assert len(measured) == 2

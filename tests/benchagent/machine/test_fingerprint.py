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
from benchagent.machine.limits import JobCgroup, Throttle, hierarchy
from benchagent.machine.sampling import DiskCounters

from tests.benchagent.storages import an_emulation, needs_emulation

KNOWN = SyncRate(1000.0, {"append 4 KiB, fdatasync": 1000.0}, "test", time.time(), "")


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
        pytest.skip("version 2 throttles in a cgroup only")
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


def rated(per_s: float, at: float | None = None, busy: str = "") -> SyncRate:
    return SyncRate(per_s, {}, "test", time.time() if at is None else at, busy)


def test_the_best_of_three_tries_of_a_day_counts(tmp_path: Path, monkeypatch):
    """Was: measured once a day, under load: 2,469/s of a disk that does 9,500 to 11,400."""
    rates_per_s = iter([2469.0, 11_405.0, 9_521.0, 1.0])
    monkeypatch.setattr(fingerprint, "measure", lambda folder, cgroup: rated(next(rates_per_s)))
    rates = SyncRates(tmp_path / "rates.json")

    assert [rates.of("sda", tmp_path).fdatasync_per_s for _ in range(5)] == [2469.0, *[11_405.0] * 4]
    assert next(rates_per_s) == 1.0
    assert "3 of them quiet, 2,469 to 11,405" in rates.of("sda", tmp_path).words


def test_an_agent_that_started_under_load_tries_until_three_were_quiet(tmp_path: Path, monkeypatch):
    """Was: three tries under load counted for a day."""
    tries = iter([rated(333.0, busy="others")] * 12 + [rated(7_982.0), rated(9_521.0), rated(11_405.0), rated(1.0)])
    monkeypatch.setattr(fingerprint, "measure", lambda folder, cgroup: next(tries))
    rates = SyncRates(tmp_path / "rates.json")

    loaded = [rates.of("sda", tmp_path) for _ in range(12)][-1]
    assert (loaded.fdatasync_per_s, loaded.quiet, len(loaded.tries)) == (333.0, 0, fingerprint.MOST_KEPT)
    quiet = [rates.of("sda", tmp_path) for _ in range(5)][-1]
    assert (quiet.fdatasync_per_s, quiet.quiet, len(quiet.tries)) == (11_405.0, 3, fingerprint.MOST_KEPT)
    assert next(tries).fdatasync_per_s == 1.0


@pytest.mark.parametrize(
    ("cpu_s", "operations", "found"),
    [
        (0.05, 10, ""),
        (0.5, 10, "50 % of the CPU went to others"),
        (0.05, 210, "the disk did 420 reads and writes a second for others"),
    ],
)
def test_a_try_is_quiet_where_neither_cpu_nor_disk_had_else_to_do(
    tmp_path: Path, monkeypatch, cpu_s: float, operations: int, found: str
):
    times = iter([(10.0, 100.0), (10.0 + cpu_s, 101.0)])
    counters = iter([DiskCounters(5, 0, 50, 0, 0), DiskCounters(5, 0, 50 + operations, 0, 0)])
    monkeypatch.setattr(fingerprint, "machine_cpu_s", lambda: next(times))
    monkeypatch.setattr(fingerprint, "disk_counters", lambda device: next(counters))
    monkeypatch.setattr(fingerprint.time, "sleep", lambda seconds: None)
    assert fingerprint.busy(tmp_path) == found


def test_tries_older_than_a_day_count_no_more(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(fingerprint, "measure", lambda folder, cgroup: rated(500.0))
    old = asdict(rated(9000.0, time.time() - fingerprint.VALID_S - 1))
    file = tmp_path / "rates.json"

    for kept in ({"sda": old}, {"sda": [old] * 3}, "rubbish"):
        file.write_text(kept if isinstance(kept, str) else json.dumps(kept))
        assert SyncRates(file).of("sda", tmp_path).fdatasync_per_s == 500.0
    # As an earlier version of the agent kept it.
    file.write_text(json.dumps({"sda": {**asdict(rated(800.0)), "busy": ""}}))
    assert SyncRates(file).of("sda", tmp_path).fdatasync_per_s == 800.0
    unwatched = [{name: value for name, value in asdict(rated(900.0)).items() if name != "busy"}] * 3
    file.write_text(json.dumps({"sda": unwatched}))
    best = SyncRates(file).of("sda", tmp_path)
    assert (best.fdatasync_per_s, best.quiet, len(best.tries)) == (900.0, 1, 4)


def test_a_device_may_be_measured_once_more(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(fingerprint, "measure", lambda folder, cgroup: rated(10_000.0))
    file = tmp_path / "rates.json"
    file.write_text(json.dumps({"sda": [asdict(rated(2469.0))] * 3}))
    rates = SyncRates(file)

    assert rates.of("sda", tmp_path).fdatasync_per_s == 2469.0
    assert rates.again("sda", tmp_path).fdatasync_per_s == 10_000.0
    assert rates.of("sda", tmp_path).fdatasync_per_s == 10_000.0


def test_an_emulated_disk_is_another_one_with_another_file_or_other_rates(tmp_path: Path, monkeypatch):
    measured: list[Path] = []
    monkeypatch.setattr(fingerprint, "measure", lambda folder, cgroup: measured.append(folder) or KNOWN)
    files = {"loop0": Path("/disks/slow.img")}
    monkeypatch.setattr(fingerprint, "backing_file", files.get)
    rates, cgroup = SyncRates(tmp_path / "rates.json"), JobCgroup("run")
    cgroup.throttles = [Throttle("7:0", write_iops=120)]
    for _ in range(4):
        rates.of("loop0", tmp_path, cgroup)
    assert len(measured) == 3
    files["loop0"] = Path("/disks/other.img")
    rates.of("loop0", tmp_path, cgroup)
    cgroup.throttles = [Throttle("7:0", write_iops=240)]
    rates.of("loop0", tmp_path, cgroup)
    assert len(measured) == 5


def test_a_mount_without_barriers_has_a_rate_of_its_own(tmp_path: Path, monkeypatch):
    measured: list[Path] = []
    monkeypatch.setattr(fingerprint, "measure", lambda folder, cgroup: measured.append(folder) or KNOWN)
    rates = SyncRates(tmp_path / "rates.json")
    for options in ("rw", "rw,nobarrier") * 4:
        mount = Mount("8:1", "/", "/data", options, "xfs", "/dev/sda1")
        monkeypatch.setattr(fingerprint, "mount_of", lambda path, mount=mount: mount)
        rates.of("sda1", tmp_path)
    assert len(measured) == 2 * fingerprint.TRIES

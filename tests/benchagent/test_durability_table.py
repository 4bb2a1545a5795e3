"""What ranks: configurations × storages × what was observed, each with the class that is right and why.

`pytest -s` prints the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from benchagent.catalog import Durability
from benchagent.catalog.durability import (
    Observation,
    Statement,
    StorageLayer,
    judge,
    of_observation,
    of_storage,
    weakest,
)
from benchagent.configfiles.meaning import durability, in_sessions
from benchagent.configfiles.settings import Facts, Given

POWER, DBMS, BOUNDED, NONE, MEMORY = Durability
SSD = StorageLayer("nvme0n1p2", "ext4", "rw,relatime", "ssd", "write back")
SAFE_CACHE = StorageLayer("sda1", "xfs", "rw,noatime", "hdd", "write through")
VIRTUAL = StorageLayer("vda1", "ext4", "rw", "virtual", "write back")
NO_BARRIERS = StorageLayer("sda1", "xfs", "rw,nobarrier", "hdd", "write back")
OLD_NO_BARRIERS = StorageLayer("sda1", "ext4", "rw,barrier=0", "hdd", "")
SAFE_NO_BARRIERS = StorageLayer("sda1", "ext4", "rw,barrier=0", "hdd", "write through")
TMPFS = StorageLayer("tmpfs", "tmpfs", "rw,size=8g", "ram")
RAM_DISK = StorageLayer("ram0", "ext4", "rw", "ram", "write through", emulated=True)
ZRAM = StorageLayer("zram0", "ext4", "rw", "ram", "write through", emulated=True)
LOOP = StorageLayer("loop3", "ext4", "rw", "ssd", "write back", emulated=True)
OVERLAY = StorageLayer("overlay", "overlay", "rw,lowerdir=/a,upperdir=/b")
VOLATILE_OVERLAY = StorageLayer("overlay", "overlay", "rw,lowerdir=/a,upperdir=/b,volatile")
NFS = StorageLayer("nfs4 filer:/export", "nfs4", "rw,sync,hard")
CIFS = StorageLayer("cifs //filer/share", "cifs", "rw")
HOST_FOLDER = StorageLayer("9p", "9p", "rw,trans=virtio")
FUSE = StorageLayer("fuse.sshfs", "fuse.sshfs", "rw")
GLUSTER = StorageLayer("fuse.glusterfs filer:/v", "fuse.glusterfs", "rw")
ZFS = StorageLayer("zfs", "zfs", "rw,xattr")
UNKNOWN_CACHE = StorageLayer("sdb1", "ext4", "rw", "hdd", "")
WAITED = Observation(60_000, 60, 4, 22_000, "the engine", syncs_per_s=800)
NOT_WAITED = Observation(60_126, 5, 4, 20, "pg_stat_io", syncs_per_s=800)
TOO_FAST = Observation(60_000, 60, 4, syncs_per_s=200)
EATEN = Observation(60_000, 60, 4, 60_000, "the engine", swallowing=("libeatmydata.so in postgres",))
SHORT = Observation(1_000, 1, 4, 3, "the engine")
NOTHING = Observation()
FULL = {"journal_mode": "DELETE", "synchronous": "FULL"}
DIRECT = {"innodb_flush_method": "O_DIRECT_NO_FSYNC"}
APART = Facts(log_apart=True)


@dataclass(frozen=True)
class Case:
    """`durability` ranks, because of what has `words` in its reason. `against`: the run is ranked with no other."""

    dbms: str
    settings: dict[str, str]
    durability: Durability | None
    words: str
    layers: tuple[StorageLayer, ...] = (SSD,)
    log: tuple[StorageLayer, ...] = ()
    seen: Observation = WAITED
    script: str = ""
    facts: Facts | None = None
    against: bool = False


CASES = (
    # Sound settings on every kind of storage.
    Case("postgresql", {}, POWER, "fsync not set: default on"),
    Case("postgresql", {}, POWER, "each commit is synced", (SAFE_CACHE,)),
    Case("postgresql", {}, POWER, "each commit is synced", (VIRTUAL,)),
    Case("postgresql", {}, POWER, "each commit is synced", (LOOP, SSD)),
    Case("postgresql", {}, POWER, "each commit is synced", (OVERLAY, SSD)),
    Case("postgresql", {}, DBMS, "loop3, a file on tmpfs", (LOOP, TMPFS)),
    Case("derby", {}, DBMS, "tmpfs is in the machine's memory", (TMPFS,), seen=NOTHING),
    Case("derby", {}, DBMS, "ram0 (ext4) is in the machine's memory", (RAM_DISK,), seen=NOTHING),
    Case("sqlite", {"journal_mode": "WAL"}, DBMS, "zram0 (ext4) is in the machine's memory", (ZRAM,), seen=NOTHING),
    Case("mysql", {}, DBMS, "mounted nobarrier", (NO_BARRIERS,)),
    Case("mysql", {}, DBMS, "which is not known", (OLD_NO_BARRIERS,)),
    Case("mysql", {}, POWER, "each commit is synced", (SAFE_NO_BARRIERS,)),
    Case("postgresql", {}, DBMS, "mounted volatile", (VOLATILE_OVERLAY, SSD)),
    Case("postgresql", {}, DBMS, "log: tmpfs is in", (SSD,), (TMPFS,)),
    Case("postgresql", {}, DBMS, "data: tmpfs is in", (TMPFS,), (SSD,)),
    # Of a storage that does not tell the promise stands, and the page says that it is not known.
    Case("postgresql", {}, POWER, "each commit is synced", (OVERLAY,)),
    Case("postgresql", {}, POWER, "each commit is synced", (NFS,)),
    Case("postgresql", {}, POWER, "each commit is synced", (UNKNOWN_CACHE,)),
    Case("postgresql", {}, POWER, "each commit is synced", ()),
    # Settings that promise less.
    Case("postgresql", {"fsync": "off"}, NONE, "fsync=off", seen=NOT_WAITED),
    Case("postgresql", {"synchronous_commit": "off"}, BOUNDED, "wal_writer_delay", seen=NOT_WAITED),
    Case("postgresql", {"full_page_writes": "off"}, DBMS, "torn"),
    Case("postgresql", {"unlogged_tables": "1 of 4"}, NONE, "UNLOGGED", seen=NOT_WAITED),
    Case("postgresql", {"fsync": "off"}, NONE, "fsync=off", (TMPFS,)),
    Case("postgresql", {}, BOUNDED, "the script sets", script="SET LOCAL synchronous_commit = off", seen=NOT_WAITED),
    Case("postgresql", {}, BOUNDED, "=off", script="SELECT set_config('synchronous_commit', 'off', true)"),
    Case("postgresql", {}, BOUNDED, "synchronous_commit=off", script="ALTER ROLE x SET synchronous_commit TO 'off'"),
    Case("postgresql", {}, POWER, "each commit is synced", script="-- SET synchronous_commit = off\nSELECT 1"),
    Case("mysql", {"innodb_flush_log_at_trx_commit": "2"}, DBMS, "about once a second", seen=NOT_WAITED),
    Case("mysql", {"innodb_flush_log_at_trx_commit": "0"}, BOUNDED, "every 1 s", seen=NOT_WAITED),
    Case("mysql", {"innodb_doublewrite": "DETECT_ONLY"}, DBMS, "torn"),
    Case("mysql", {"innodb_doublewrite": "DETECT_AND_RECOVER"}, POWER, "each commit is synced"),
    Case("mysql", DIRECT, POWER, "each commit is synced"),
    Case("mysql", DIRECT, DBMS, "O_DIRECT_NO_FSYNC with the log on a device of its own", facts=APART),
    Case("mysql", {"table_engines": "InnoDB (3), MyISAM (1)"}, NONE, "1 with MyISAM"),
    Case("mariadb", {"table_engines": "Aria (4)"}, NONE, "4 with Aria"),
    Case("mysql", {"table_engines": "InnoDB (3), ROCKSDB (1)"}, None, "1 with ROCKSDB"),
    Case("mysql", {}, DBMS, "innodb_flush_log_at_trx_commit=2", script="SET GLOBAL innodb_flush_log_at_trx_commit = 2"),
    Case("sqlite", FULL, DBMS, "not the folder from which it removes the journal", seen=NOTHING),
    Case("sqlite", {**FULL, "synchronous": "NORMAL"}, DBMS, "not the folder", seen=NOTHING),
    Case("sqlite", {**FULL, "synchronous": "EXTRA"}, POWER, "and the folder from which", seen=NOTHING),
    Case("sqlite", {"journal_mode": "TRUNCATE", "synchronous": "FULL"}, POWER, "journal that it empties", seen=NOTHING),
    Case("sqlite", {"journal_mode": "PERSIST", "synchronous": "NORMAL"}, DBMS, "not the journal that", seen=NOTHING),
    Case("sqlite", {"journal_mode": "WAL", "synchronous": "NORMAL"}, DBMS, "at checkpoints only", seen=NOTHING),
    Case("sqlite", {"journal_mode": "WAL"}, DBMS, "the script sets", script="PRAGMA synchronous = OFF", seen=NOTHING),
    Case("derby", {"derby.system.durability": "test"}, NONE, "does not sync", seen=NOTHING),
    Case("h2", {"write_delay": "0"}, DBMS, "does not sync", seen=NOTHING),
    Case("h2", {"storage": "memory"}, MEMORY, "nothing outlives the process", (TMPFS,), seen=NOTHING),
    Case("hsqldb", {"FILES WRITE DELAY": "FALSE"}, BOUNDED, "500 ms", script="SET FILES WRITE DELAY 500 MILLIS"),
    Case("firebird", {"ForcedWrites": "0"}, DBMS, "off, pages stay in the cache", seen=NOTHING),
    Case("oracle", {"commit_wait": "nowait"}, BOUNDED, "does not wait", seen=NOTHING),
    # What was observed against what is promised.
    Case("postgresql", {}, DBMS, "60,126 commits by 20 flushes of 4 terminals", seen=NOT_WAITED, against=True),
    Case("postgresql", {}, DBMS, "60,126 commits by 20 flushes", (TMPFS,), seen=NOT_WAITED, against=True),
    Case("sqlite", {"journal_mode": "WAL"}, DBMS, "cannot have waited for this disk", seen=TOO_FAST, against=True),
    Case("postgresql", {}, DBMS, "libeatmydata.so in postgres", seen=EATEN, against=True),
    Case("postgresql", {}, POWER, "each commit is synced", seen=SHORT),
)  # fmt: skip


def judged(case: Case):
    every = []
    for settings, of in in_sessions(case.dbms, case.settings, case.script):
        promise = durability(case.dbms, [Given(*pair) for pair in settings.items()], case.facts)
        every.append(Statement(promise.durability, f"{of}{promise.reason}"))
    storage = of_storage({"data": case.layers, "log": case.log or case.layers})
    return judge(weakest(every) or every[0], storage, of_observation(case.seen))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.dbms} {case.durability}")
def test_the_weakest_of_what_is_promised_held_and_observed_ranks(case: Case):
    found = judged(case)
    assert found.durability is case.durability, found
    # Where two say the same, the first of them says why: what is promised, then the storage.
    assert case.words in f"{found.reason}; {found.contradiction or found.storage.reason}", found
    assert bool(found.contradiction) is case.against, found


def test_the_table_prints_itself():
    assert len(CASES) >= 40
    for case in CASES:
        found = judged(case)
        asked = ", ".join(f"{name}={value}" for name, value in case.settings.items()) or "defaults"
        held = ", ".join(f"{layer.device} {layer.mount_options}" for layer in (*case.log, *case.layers)) or "not stated"
        more = f"; script: {case.script}" if case.script else ""
        mark = " CONTRADICTED" if found.contradiction else ""
        print(f"| {case.dbms} {asked}{more} | {held} | {found.durability or 'not known'}{mark} | {found.reason} |")


@pytest.mark.parametrize(
    ("layers", "expected", "words"),
    [
        ((NFS,), None, "whether its server has a commit on a disk is not known from here"),
        ((CIFS,), None, "not known from here"),
        ((GLUSTER,), None, "not known from here"),
        ((HOST_FOLDER,), None, "what becomes of a sync there is not known from here"),
        ((FUSE,), None, "not known from here"),
        ((OVERLAY,), None, "which disk is beneath it is not told"),
        ((OVERLAY, UNKNOWN_CACHE), None, "nothing is known of its write cache"),
        ((ZFS,), None, "property sync"),
        ((VIRTUAL,), POWER, "as far as its host obeys"),
        ((SAFE_NO_BARRIERS,), POWER, "mounted barrier=0, but reports no volatile write cache"),
        ((LOOP, SSD), POWER, "loop3, a file on nvme0n1p2 (ext4) has a write cache that each sync empties"),
        ((LOOP, NFS), None, "loop3, a file on nfs4 filer:/export"),
    ],
)
def test_a_storage_says_what_it_can_hold_and_what_is_not_known_of_it(layers, expected, words):
    found = of_storage({"data": layers, "log": layers, "temp": (TMPFS,)})
    assert found.durability is expected
    assert found.reason.startswith("log and data: ")
    assert words in found.reason


def test_log_and_data_on_two_storages_are_told_apart():
    found = of_storage({"data": (SSD,), "log": (NFS,)})
    assert found == Statement(
        None,
        "log: nfs4 filer:/export: whether its server has a commit on a disk is not known from here; "
        "data: nvme0n1p2 (ext4) has a write cache that each sync empties",
    )


@pytest.mark.parametrize(
    ("seen", "expected", "words"),
    [
        (WAITED, POWER, "60,000 commits by 22,000 flushes of 4 terminals (the engine)"),
        (Observation(1000, 10, 4, syncs_per_s=800), None, "100 TPS that write, 4 terminals × 800 syncs/s"),
        (Observation(1000, 10, 1), None, "nobody counted syncs, and the device's rate is not known"),
        (
            Observation(4000, 10, 4, device_flushes=900),
            None,
            "900 flushes of 4 terminals (the log's disk, whoever asked for them)",
        ),
        (
            Observation(4000, 10, 4, device_flushes=200),
            DBMS,
            "asked for them): most commits did not wait for one",
        ),
        (Observation(0, 10, 4, 3, "the engine"), None, "no commits that write were counted"),
        (Observation(4 * 1000, 10, 4, 1000, "the engine"), POWER, "each commit can have waited"),
        (Observation(4 * 1000, 10, 4, 500, "the engine"), DBMS, "most commits did not wait for one"),
    ],
)
def test_what_was_observed(seen, expected, words):
    found = of_observation(seen)
    assert found.durability is expected, found
    assert words in found.reason


def test_a_statement_comes_back_as_it_was_sent():
    for statement in (Statement(POWER, "why"), Statement(None, "not known")):
        assert Statement.of_row(statement.row) == statement
    with pytest.raises(ValueError, match="forever"):
        Statement.of_row({"durability": "forever"})

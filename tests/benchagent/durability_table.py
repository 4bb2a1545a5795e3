"""What ranks: configurations × storages × what was observed, each with the class that is right and why.

`Case.live` says how a case is made on this machine, or why it cannot be: test_durability_table judges them all by their
facts, job/test_durability runs those that are live on real engines and real storages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchagent.catalog import Durability
from benchagent.catalog.durability import Observation, StorageLayer
from benchagent.configfiles.settings import Facts

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
NEW_VOLATILE_OVERLAY = StorageLayer("overlay", "overlay", "rw,lowerdir=/a,upperdir=/b,uuid=on,fsync=volatile")
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
EATEN = Observation(60_000, 60, 4, 60_000, "the engine", fake_sync_libraries=("libeatmydata.so in postgres",))
EATEN_IN_JAVA = replace(EATEN, fake_sync_libraries=("libeatmydata.so in java",))
FLUSHED = Observation(6_000, 60, 4, device_flushes=3_000)
SHORT = Observation(1_000, 1, 4, 3, "the engine")
NOTHING = Observation()
FULL = {"journal_mode": "DELETE", "synchronous": "FULL"}
DIRECT = {"innodb_flush_method": "O_DIRECT_NO_FSYNC"}
APART = Facts(log_apart=True)


TABLE = "CREATE TABLE counter (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)"
# No reader of scripts finds what is put together while they run.
HIDDEN = "SELECT set_config('synchronous_' || 'commit', 'off', true)"
SERVER_5_5, SERVER_8_0 = "5.5.34", "8.0.31"


@dataclass(frozen=True)
class Live:
    """What a real run needs beside the facts of its case; what is not said here is as in the case.

    `on`: storage of job/live_storages; empty: that of a server which the agent did not start. `first`: begins each
    transaction, `in_setup`: once, before them. `as_owner`: with rights that the agent gives no script. `swallowed`: by
    a library ("preload") or by the kernel ("seccomp"), which no look at the process shows. `asked_for`: what the agent
    does here is what it does for another case too, so that BENCHSITE_ALL_ENGINES=1 (leg `durability`) asks for it.
    """

    on: str = "disk"
    log_on: str = ""
    words: str = ""
    settings: Mapping[str, str] | None = None
    table: str = TABLE
    first: str = ""
    in_setup: bool = False
    as_owner: bool = False
    swallowed: str = ""
    version: str = ""
    asked_for: bool = False


@dataclass(frozen=True)
class Case:
    """`durability` ranks, because of what has `words` in its reason. `against`: the run is ranked with no other.

    `live`: as which real run, or why there is none.
    """

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
    live: Live | str = field(default_factory=Live)

    @property
    def name(self) -> str:
        asked = ", ".join(f"{name}={value}" for name, value in self.settings.items()) or "defaults"
        held = ", ".join(f"{layer.device} {layer.mount_options}" for layer in (*self.log, *self.layers))
        more = f"; script: {self.script}" if self.script else ""
        return f"{self.dbms} {asked}{more} on {held or 'what is not stated'}"


FLUSHES = "flushes of 4 terminals"
EACH_CACHE_IS_TOLD = "each disk that can be made here tells of its write cache"
NO_NFS = "the kernels that this project is tested on mount no NFS"
REPEATED = Live(asked_for=True)
IN_8_0 = Live(version=SERVER_8_0, asked_for=True)
IN_ZRAM = Live("zram", words="(ext4) is in the machine's memory")

CASES = (
    # Sound settings on every kind of storage.
    Case("postgresql", {}, POWER, "fsync not set: default on", live=Live(words="fsync=on, synchronous_commit=on")),
    Case("postgresql", {}, POWER, "each commit is synced", (SAFE_CACHE,), live=Live("loop, write through")),
    Case("postgresql", {}, POWER, "each commit is synced", (VIRTUAL,), live=REPEATED),
    Case("postgresql", {}, POWER, "each commit is synced", (LOOP, SSD), live=Live("loop", asked_for=True)),
    Case("postgresql", {}, POWER, "each commit is synced", (OVERLAY, SSD), live=Live("overlay", asked_for=True)),
    Case("postgresql", {}, DBMS, "loop3, a file on tmpfs", (LOOP, TMPFS),
        live=Live("loop on tmpfs", words=", a file on tmpfs", asked_for=True)),
    Case("derby", {}, DBMS, "tmpfs is in the machine's memory", (TMPFS,), seen=NOTHING, live=Live("tmpfs")),
    Case("derby", {}, DBMS, "ram0 (ext4) is in the machine's memory", (RAM_DISK,), seen=NOTHING,
        live=replace(IN_ZRAM, asked_for=True)),
    Case("sqlite", {"journal_mode": "WAL"}, DBMS, "zram0 (ext4) is in the machine's memory", (ZRAM,), seen=NOTHING,
        live=IN_ZRAM),
    Case("mysql", {}, DBMS, "mounted nobarrier", (NO_BARRIERS,), live=Live("loop, no barriers")),
    Case("mysql", {}, DBMS, "which is not known", (OLD_NO_BARRIERS,), live=EACH_CACHE_IS_TOLD),
    Case("mysql", {}, POWER, "each commit is synced", (SAFE_NO_BARRIERS,),
        live=Live("loop, write through, no barriers", asked_for=True)),
    Case("postgresql", {}, DBMS, "mounted volatile", (VOLATILE_OVERLAY, SSD), live=Live("overlay, volatile")),
    Case("postgresql", {}, DBMS, "log: tmpfs is in", (SSD,), (TMPFS,), live=Live(log_on="tmpfs")),
    Case("postgresql", {}, DBMS, "data: tmpfs is in", (TMPFS,), (SSD,),
        live=Live("tmpfs", log_on="disk", asked_for=True)),
    # Of a storage that does not tell the promise stands, and the page says that it is not known.
    Case("postgresql", {}, POWER, "each commit is synced", (OVERLAY,), live=Live("overlay, untold", asked_for=True)),
    Case("postgresql", {}, POWER, "each commit is synced", (NFS,), live=NO_NFS),
    Case("postgresql", {}, POWER, "each commit is synced", (UNKNOWN_CACHE,), live=EACH_CACHE_IS_TOLD),
    Case("postgresql", {}, POWER, "each commit is synced", (), live=Live("")),
    # Settings that promise less.
    Case("postgresql", {"fsync": "off"}, NONE, "fsync=off", seen=NOT_WAITED, live=REPEATED),
    Case("postgresql", {"synchronous_commit": "off"}, BOUNDED, "wal_writer_delay", seen=NOT_WAITED),
    Case("postgresql", {"full_page_writes": "off"}, DBMS, "torn", live=REPEATED),
    Case("postgresql", {"unlogged_tables": "1 of 4"}, NONE, "UNLOGGED", seen=NOT_WAITED,
        live=Live(settings={}, table=TABLE.replace("CREATE", "CREATE UNLOGGED"))),
    Case("postgresql", {"fsync": "off"}, NONE, "fsync=off", (TMPFS,), seen=NOT_WAITED,
        live=Live("tmpfs", asked_for=True)),
    Case("postgresql", {}, BOUNDED, "the script sets", script="SET LOCAL synchronous_commit = off", seen=NOT_WAITED),
    Case("postgresql", {}, BOUNDED, "=off", script="SELECT set_config('synchronous_commit', 'off', true)",
        seen=NOT_WAITED, live=REPEATED),
    Case("postgresql", {}, BOUNDED, "synchronous_commit=off", script="ALTER ROLE x SET synchronous_commit TO 'off'",
        live=Live(first="ALTER ROLE CURRENT_USER SET synchronous_commit TO 'off'", in_setup=True, asked_for=True)),
    Case("postgresql", {}, POWER, "each commit is synced", script="-- SET synchronous_commit = off\nSELECT 1",
        live=REPEATED),
    Case("mysql", {"innodb_flush_log_at_trx_commit": "2"}, DBMS, "about once a second", seen=NOT_WAITED),
    Case("mysql", {"innodb_flush_log_at_trx_commit": "0"}, BOUNDED, "every 1 s", seen=NOT_WAITED, live=REPEATED),
    Case("mysql", {"innodb_doublewrite": "DETECT_ONLY"}, DBMS, "torn", live=IN_8_0),
    Case("mysql", {"innodb_doublewrite": "DETECT_AND_RECOVER"}, POWER, "each commit is synced", live=IN_8_0),
    Case("mysql", DIRECT, POWER, "each commit is synced", live=IN_8_0),
    Case("mysql", DIRECT, DBMS, "O_DIRECT_NO_FSYNC with the log on a device of its own", facts=APART,
        live=replace(IN_8_0, log_on="tmpfs")),
    Case("mysql", {"table_engines": "InnoDB (3), MyISAM (1)"}, NONE, "1 with MyISAM",
        live=Live(settings={}, table=f"{TABLE} ENGINE = MyISAM")),
    Case("mariadb", {"table_engines": "Aria (4)"}, NONE, "4 with Aria",
        live=Live(settings={}, table=f"{TABLE} ENGINE = Aria", words="1 with Aria")),
    Case("mysql", {"table_engines": "InnoDB (3), ROCKSDB (1)"}, None, "1 with ROCKSDB",
        live="no server that the agent installs has RocksDB"),
    Case("mysql", {}, DBMS, "innodb_flush_log_at_trx_commit=2",
        script="SET GLOBAL innodb_flush_log_at_trx_commit = 2", seen=NOT_WAITED,
        live=Live(as_owner=True, asked_for=True)),
    Case("sqlite", FULL, DBMS, "not the folder from which it removes the journal", seen=NOTHING),
    Case("sqlite", {**FULL, "synchronous": "NORMAL"}, DBMS, "not the folder", seen=NOTHING, live=REPEATED),
    Case("sqlite", {**FULL, "synchronous": "EXTRA"}, POWER, "and the folder from which", seen=NOTHING),
    Case("sqlite", {"journal_mode": "TRUNCATE", "synchronous": "FULL"}, POWER, "journal that it empties", seen=NOTHING,
        live=REPEATED),
    Case("sqlite", {"journal_mode": "PERSIST", "synchronous": "NORMAL"}, DBMS, "not the journal that", seen=NOTHING,
        live=REPEATED),
    Case("sqlite", {"journal_mode": "WAL", "synchronous": "NORMAL"}, DBMS, "at checkpoints only", seen=NOTHING),
    Case("sqlite", {"journal_mode": "WAL"}, DBMS, "the script sets", script="PRAGMA synchronous = OFF", seen=NOTHING,
        live=Live(in_setup=True)),
    Case("derby", {"derby.system.durability": "test"}, NONE, "does not sync", seen=NOTHING, live=REPEATED),
    Case("h2", {"write_delay": "0"}, DBMS, "does not sync", seen=NOTHING),
    Case("h2", {"storage": "memory"}, MEMORY, "nothing outlives the process", (TMPFS,), seen=NOTHING,
        live=Live("tmpfs")),
    Case("hsqldb", {"FILES WRITE DELAY": "FALSE"}, BOUNDED, "500 ms",
        script="SET FILES WRITE DELAY 500 MILLIS", seen=NOTHING, live=Live(in_setup=True, as_owner=True)),
    Case("firebird", {"ForcedWrites": "0"}, DBMS, "off, pages stay in the cache", seen=NOTHING),
    Case("oracle", {"commit_wait": "nowait"}, BOUNDED, "does not wait", seen=NOTHING,
        live="no package registry has Oracle"),
    # What was observed against what is promised.
    Case("postgresql", {}, DBMS, "60,126 commits by 20 flushes of 4 terminals", seen=NOT_WAITED, against=True,
        live=Live(first=HIDDEN, words=FLUSHES)),
    Case("postgresql", {}, DBMS, "60,126 commits by 20 flushes", (TMPFS,), seen=NOT_WAITED, against=True,
        live=Live("tmpfs", first=HIDDEN, words=FLUSHES, asked_for=True)),
    Case("sqlite", {"journal_mode": "WAL"}, DBMS, "cannot have waited for this disk", seen=TOO_FAST, against=True,
        live=Live("slow loop, write through", swallowed="seccomp")),
    Case("postgresql", {}, DBMS, "libeatmydata.so in postgres", seen=EATEN, against=True,
        live=Live(swallowed="preload", words="in postgres: takes the place of the system's sync")),
    Case("sqlite", {"journal_mode": "WAL"}, DBMS, "libeatmydata.so in java", seen=EATEN_IN_JAVA, against=True,
        live=Live(swallowed="preload", words="in java: takes the place of the system's sync")),
    Case("postgresql", {}, POWER, "each commit is synced", seen=SHORT, live=REPEATED),
    Case("sqlite", {"journal_mode": "WAL"}, POWER, "journal_mode=WAL", seen=FLUSHED),
)  # fmt: skip

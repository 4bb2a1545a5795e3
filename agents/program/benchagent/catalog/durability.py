"""What a commit is worth: what is promised, what the storage can hold, what was observed. The weakest of them counts.

Facts in, class and reason out: the agent judges its runs by it, the server what others send.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchagent.catalog.model import Durability

ORDER = {durability: rank for rank, durability in enumerate(Durability)}
NOT_STATED = "not stated"
# Whose files are in the machine's memory, on another machine, or in the hands of a program that this one cannot see.
IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")
OF_A_FILE_SERVER = (
    "nfs", "nfs3", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ceph", "lustre", "glusterfs", "gpfs", "afs",
    "beegfs", "orangefs",
)  # fmt: skip
OF_A_HOST = ("9p", "virtiofs", "vboxsf", "vmhgfs", "prl_fs", "drvfs", "fakeowner", "grpcfuse")
WITHOUT_BARRIERS = ("nobarrier", "barrier=0", "barrier=none", "barrier=off")
# How people state a cache that keeps what it holds.
PROTECTED = ("power-loss protected", "power loss protected")
# What a virtual disk adds to whatever it is said to hold.
HOST = ", as far as its host obeys"
# How older and newer kernels (6.18) write the option of an overlay that is never synced.
VOLATILE = ("volatile", "fsync=volatile")
# The engines count late, by up to a second: what is committed in so long has no flush to go with it, and beyond that
# the two ends of a window need not fit exactly.
LATE_S, FLUSH_TOLERANCE = 1.0, 1.5


@dataclass(frozen=True)
class Statement:
    """What one source says of a commit, and why. None: it does not tell."""

    durability: Durability | None
    reason: str

    @property
    def row(self) -> dict[str, str]:
        """As it travels and is stored; empty is not known."""
        return {"durability": self.durability or "", "reason": self.reason}

    @classmethod
    def of_row(cls, row: Any) -> Statement:
        """Raises ValueError for what no statement says."""
        if not isinstance(row, Mapping):
            raise ValueError(f"a statement is an object with durability and reason, not {row!r}")
        return cls(Durability(row["durability"]) if row.get("durability") else None, str(row.get("reason", "")))


@dataclass(frozen=True)
class Judgement:
    """`durability` ranks: the weakest, with the `reason` of who says it. `contradiction`: what was observed against
    what is promised; such a run is ranked with no other."""

    promised: Statement
    storage: Statement
    observed: Statement
    durability: Durability | None
    reason: str
    contradiction: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether all three tell."""
        return all(statement.durability for statement in (self.promised, self.storage, self.observed))


def weakest(statements: Iterable[Statement]) -> Statement | None:
    """The first of the weakest that tell; None where none does."""
    ranked = [(ORDER[statement.durability], statement) for statement in statements if statement.durability]
    return max(ranked, key=lambda pair: pair[0])[1] if ranked else None


def judge(promised: Statement, storage: Statement, observed: Statement) -> Judgement:
    """Without a promise there is no class: what a disk could hold says nothing of what is written to it."""
    counts = weakest((promised, storage, observed)) if promised.durability else None
    against = ""
    if promised.durability and observed.durability and ORDER[observed.durability] > ORDER[promised.durability]:
        against = f"promised: {promised.reason}; observed: {observed.reason}"
    decided = counts or promised
    of_host = HOST if decided.durability is Durability.POWER_LOSS and HOST in storage.reason else ""
    return Judgement(promised, storage, observed, decided.durability, f"{decided.reason}{of_host}", against)


@dataclass(frozen=True)
class StorageLayer:
    """One layer of what holds files: a file system on a device, or the one with the file beneath an emulated disk.

    `write_cache`: as the kernel says, "write back" or "write through", or as people say, "power-loss protected"; empty
    where nobody tells.
    """

    device: str
    file_system: str = ""
    mount_options: str = ""
    medium: str = ""
    write_cache: str = ""
    emulated: bool = False

    @property
    def options(self) -> list[str]:
        return [option.strip().lower() for option in self.mount_options.split(",")]

    @property
    def passes_over_syncs(self) -> bool:
        return self.file_system.lower() == "overlay" and not set(VOLATILE).isdisjoint(self.options)


def of_layer(layer: StorageLayer) -> Statement:
    """What one layer can hold of what was synced: the first line that fits."""
    kind = layer.file_system.lower()
    family = kind.removeprefix("fuse.")
    without = next((option for option in WITHOUT_BARRIERS if option in layer.options), "")
    write_cache = layer.write_cache.lower()
    # Why what is on its way to the disk is safe without a sync.
    safe = "has a write cache that is protected against power loss" if write_cache in PROTECTED else ""
    safe = "reports no volatile write cache" if write_cache == "write through" else safe
    host = HOST if layer.medium == "virtual" else ""
    cache = "is volatile" if layer.write_cache else "is not known"
    lines: tuple[tuple[bool, Durability | None, str], ...] = (
        (
            kind in IN_MEMORY or (layer.medium == "ram" and family not in OF_A_FILE_SERVER),
            Durability.DBMS_CRASH, " is in the machine's memory: its files are gone with power or a restart",
        ),
        (
            layer.passes_over_syncs,
            Durability.DBMS_CRASH, " is mounted volatile: syncs are passed over",
        ),
        (kind == "overlay", None, ": which disk is beneath it is not told"),
        (family in OF_A_FILE_SERVER, None, ": whether its server has a commit on a disk is not known from here"),
        (family in OF_A_HOST or kind.startswith("fuse"), None, ": what becomes of a sync there is not known from here"),
        (kind == "zfs", None, ": whether its dataset obeys syncs (property sync) is not told"),
        (
            write_cache not in ("", "write back", "write through", *PROTECTED),
            None, f": what becomes of a commit in its write cache (“{layer.write_cache}”) is not told",
        ),
        (
            bool(without) and not safe,
            Durability.DBMS_CRASH, f" is mounted {without}: no sync empties its disk's write cache, which {cache}",
        ),
        (bool(without), Durability.POWER_LOSS, f" is mounted {without}, but {safe}{host}"),
        (bool(safe), Durability.POWER_LOSS, f" {safe}{host}"),
        (write_cache == "write back", Durability.POWER_LOSS, f" has a write cache that each sync empties{host}"),
        (True, None, ": nothing is known of its write cache"),
    )  # fmt: skip
    on = f"{layer.device} ({layer.file_system})" if kind and kind not in layer.device.lower() else layer.device
    return next(Statement(durability, f"{on}{words}") for applies, durability, words in lines if applies)


def of_storage(layers: Mapping[str, Sequence[StorageLayer]]) -> Statement:
    """A commit is as safe as the worse of the storages of log and data. `layers` are by role."""
    roles_by_reason: dict[str, list[str]] = {}
    every = []
    for role in ("log", "data"):
        if layers.get(role):
            every.append(statement := of_layers(layers[role]))
            roles_by_reason.setdefault(statement.reason, []).append(role)
    words = "; ".join(f"{' and '.join(roles)}: {reason}" for reason, roles in roles_by_reason.items())
    return Statement(_safe(every), words or NOT_STATED)


def of_layers(layers: Sequence[StorageLayer]) -> Statement:
    """From the file system down. An overlay hands on to the one beneath it."""
    counted = [
        layer for layer in layers if layer is layers[-1] or layer.file_system != "overlay" or layer.passes_over_syncs
    ]
    every = [of_layer(layer) for layer in counted]
    safe = _safe(every)
    deciding = next(position for position in reversed(range(len(every))) if every[position].durability is safe)
    above = "".join(f"{layer.device}, a file on " for layer in counted[:deciding])
    return Statement(safe, f"{above}{every[deciding].reason}")


def _safe(statements: Sequence[Statement]) -> Durability | None:
    """The weakest; where one does not tell and none is known to be weak, nothing is known."""
    worst = weakest(statements)
    unknown = any(statement.durability is None for statement in statements)
    safe = worst.durability if worst else None
    return None if unknown and safe is Durability.POWER_LOSS else safe


@dataclass(frozen=True)
class Observation:
    """The measured window. `commits` are those that write, `flushes` those of the log, counted by `counted_by`; None
    where nobody counted.

    `device_flushes`: of the log's disk, whoever asked for them, over the window at least. `syncs_per_s`: what the disk
    was measured to do, one after the other, and `syncs_known_by` how often and when. `fake_sync_libraries`: loaded
    libraries that stand between the DBMS and the system's syncs.
    """

    commits: float = 0
    duration_s: float = 0
    terminals: int = 0
    flushes: float | None = None
    counted_by: str = ""
    device_flushes: float | None = None
    syncs_per_s: float | None = None
    syncs_known_by: str = ""
    fake_sync_libraries: Sequence[str] = ()

    @property
    def tps(self) -> float:
        return self.commits / self.duration_s if self.duration_s else 0.0

    @property
    def has_flushes(self) -> bool | None:
        """Whether there were flushes enough for the commits to have waited: by the engine's own count, which nothing
        overrules, else by that of the device. None where nobody counted.
        """
        flushes = self.device_flushes if self.flushes is None else self.flushes
        if flushes is None:
            return None
        return self.commits - self.tps * LATE_S <= FLUSH_TOLERANCE * self.terminals * (flushes + 1)

    @property
    def is_too_fast(self) -> bool:
        """For its disk, as far as that is known: said of nothing whose flushes were counted."""
        if self.has_flushes is not None or self.syncs_per_s is None:
            return False
        return self.tps > self.terminals * self.syncs_per_s


def of_observation(observed: Observation) -> Statement:
    """Each terminal has one commit to wait for, so that one flush can serve as many commits as there are terminals."""
    if observed.fake_sync_libraries:
        libraries = ", ".join(observed.fake_sync_libraries)
        return Statement(Durability.DBMS_CRASH, f"{libraries}: takes the place of the system's sync")
    if not observed.commits or not observed.terminals:
        return Statement(None, "no commits that write were counted")
    facts, terminals = [], f"{observed.terminals} terminal{'' if observed.terminals == 1 else 's'}"
    of_engine = observed.flushes is not None
    flushes = observed.flushes if of_engine else observed.device_flushes
    if flushes is not None:
        counted_by = observed.counted_by if of_engine else "the log's disk, whoever asked for them"
        facts.append(f"{observed.commits:,.0f} commits by {flushes:,.0f} flushes of {terminals} ({counted_by})")
        if not observed.has_flushes:
            return Statement(Durability.DBMS_CRASH, f"{facts[0]}: most commits did not wait for one")
    if observed.syncs_per_s is not None and observed.tps:
        most = observed.terminals * observed.syncs_per_s
        known_by = f" ({observed.syncs_known_by})" if observed.syncs_known_by else ""
        device = f"{terminals} × {observed.syncs_per_s:,.0f} syncs/s of the device{known_by} = {most:,.0f}"
        facts.append(f"{observed.tps:,.0f} TPS that write, {device}")
        if observed.is_too_fast:
            return Statement(Durability.DBMS_CRASH, f"{facts[-1]}: cannot have waited for this disk")
    if not facts:
        return Statement(None, "nobody counted syncs, and the device's rate is not known")
    end = ": each commit can have waited" if of_engine else "; nobody counted the syncs of the log alone"
    return Statement(Durability.POWER_LOSS if of_engine else None, f"{'; '.join(facts)}{end}")

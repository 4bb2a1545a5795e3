"""Which cells of the experiments in `agents.articles` answer which published figure of their article.

It travels in the plan of an experiment, so that pages of results need no knowledge of agents and guess nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from runs.reproduction import Match

NO_SERVER = "no server of it could be had here"
ONE_ENGINE_GONE = "its binaries are in no registry and no server of it could be had here"
# Sizes of the 2015 article in GB, on a machine with 16 GB, by the warehouses that are as large in proportion to the
# memory limit of the re-run; the largest stands for 1,814 GB.
SIZES: Mapping[int, float] = {10: 10.8, 12: 13.0, 14: 15.5, 16: 17.3, 19: 19.9, 23: 24.2, 28: 30.3}
SMALLEST, SMALLEST_GB, ARTICLE_RAM_GB = 8, 9.04, 16
LARGEST = 121
# How many warehouses are as large as the memory limit.
MEMORY = 15


def of(publication: str, part: str, *, other_storage: str = "") -> tuple[Match, ...]:
    """Matches of one part; empty of a part that the article has no figure for.

    `other_storage`: name of the machine's second storage; empty where it has one.
    """
    if publication == "gbak-backup-2007":
        return _gbak() if part.startswith("methods-") else ()
    if publication == "tpcb-2010":
        return {"engines": _tpcb, "group-commit": _commit_groups}.get(part, tuple)()
    if publication == "firebird-terabyte-2015":
        return _sizes(part, other_storage)
    if publication == "cubrid-mysql-ssd-2011":
        return _loads(part, other_storage)
    return ()


# gbak-backup-2007


def _gbak() -> tuple[Match, ...]:
    there = "published for Firebird 1.5.3"
    return (
        _method("local protocol against localhost (TCP)", "gbak_local", "gbak_tcp", "gbak-a", there),
        _method("Services API against localhost (TCP)", "gbak_services", "gbak_tcp", "gbak-b", there),
        _method("Services API, backup on the database's disk against another", "gbak_services_same", "gbak_services",
                "gbak-c", there),
        _method("Services API against localhost (TCP), all servers", "gbak_services", "gbak_tcp", "gbak-d",
                "published for five servers together"),
        _method("Services API against local protocol, all servers", "gbak_services", "gbak_local", "gbak-d",
                "published for five servers together"),
        Match(
            "count(*) of the largest table: rate of the disk", "count_disk_read_mb_per_s", ours={"method": "gbak_tcp"},
            theirs={"workload": "wl-gbak-count"}, their_metric="disk_transfer_rate",
            differs="the largest table has 1.9 GB there and the same share of a smaller data set here",
        ),
        Match("Firebird 2.1 against 1.5", claim="gbak-e", gap="neither can be had: 3.0 is the oldest in a registry"),
        Match("InterBase: local protocol against localhost (TCP)", claim="gbak-f", gap=ONE_ENGINE_GONE),
        Match("InterBase: one disk against two", claim="gbak-g", gap=ONE_ENGINE_GONE),
        Match("Yaffil against the others", claim="gbak-h", gap=ONE_ENGINE_GONE),
    )  # fmt: skip


def _method(label: str, ours: str, base: str, claim: str, differs: str) -> Match:
    return Match(
        label, "backup_s", ours={"method": ours}, base={"method": base}, claim=claim, differs=differs
    )  # fmt: skip


# tpcb-2010

PLAIN = {"commit_group": ""}
TPCB_ENGINES = (
    ("PostgreSQL", {"dbms": "postgresql"}, "pg-8.3"),
    ("MySQL", {"dbms": "mysql"}, "mysql-5.0"),
    ("Derby 10.3", {"dbms": "derby", "version": "10.3"}, "derby-10.3"),
    ("Derby 10.6", {"dbms": "derby", "version": "10.6"}, "derby-10.6"),
)
TPCB_GONE = (("DB2 9.7", "db2-9.7"), ("Oracle 10R2", "oracle-10r2"))


def _tpcb() -> tuple[Match, ...]:
    window = "windows of 10 s here, 120 s there"
    absolute = [
        Match(
            f"TPS of {name}", "tps", ours=ours, theirs={"version": theirs, **PLAIN}, their_metric="tps", differs=window
        )
        for name, ours, theirs in TPCB_ENGINES
    ]  # fmt: skip
    postgresql, base = {"dbms": "postgresql"}, {"version": "pg-8.3", **PLAIN}
    relative = [
        Match(
            f"{name} against PostgreSQL", "tps", ours=ours, base=postgresql, theirs={"version": theirs, **PLAIN},
            their_base=base, their_metric="tps",
        )
        for name, ours, theirs in TPCB_ENGINES[1:]
    ]  # fmt: skip
    gone = [
        Match(
            f"{name} against PostgreSQL", theirs={"version": theirs, **PLAIN}, their_base=base, their_metric="tps",
            gap=NO_SERVER,
        )
        for name, theirs in TPCB_GONE
    ]  # fmt: skip
    return (*absolute, *relative, *gone)


def _commit_groups() -> tuple[Match, ...]:
    measured = [
        Match(
            f"PostgreSQL, commit group {group} against off", "tps", ours={"dbms": "postgresql", "group_commit": group},
            base={"dbms": "postgresql", "group_commit": "off"}, claim="tpcb-f", percent=True,
            differs="published without saying which groups",
        )
        for group in ("2", "3")
    ]  # fmt: skip
    db2 = [
        Match(f"DB2 9.7, commit group {group} against none", claim=claim, gap=NO_SERVER)
        for group, claim in ((2, "tpcb-d"), (3, "tpcb-e"))
    ]
    return (*measured, *db2)


# firebird-terabyte-2015


def _sizes(part: str, other: str) -> tuple[Match, ...]:
    if part == "sizes":
        losses = [one for place in _places(other) for one in _losses(place, other)]
        return (*losses, *_disks((SMALLEST, *SIZES), other))
    return _disks((LARGEST,), other) if part == "big" else ()


def _places(other: str) -> tuple[str, ...]:
    return (other, "") if other else ("",)


def _losses(place: str, other: str) -> list[Match]:
    """Operations a second by size, against the smallest size on the same storage.

    The printed series is that of hard disks: it is set beside the slow storage, where the machine has one.
    """
    printed = place == other
    return [
        Match(
            f"Size {warehouses / MEMORY:.2f} × memory against {SMALLEST / MEMORY:.2f} ×, "
            f"{_on(place, other)}",
            "ops_per_s", ours={"warehouses": warehouses, "data_storage": place},
            base={"warehouses": SMALLEST, "data_storage": place},
            theirs={"disk": "SATA RAID1", "size_gb": size} if printed else {},
            their_base={"disk": "SATA RAID1", "size_gb": SMALLEST_GB} if printed else {},
            their_metric="performance" if printed else "", percent=True,
            differs=_there(size) if printed else "the series on the SSD was in a picture that is lost",
        )
        for warehouses, size in SIZES.items()
    ]  # fmt: skip


def _there(size: float) -> str:
    return f"there {size / ARTICLE_RAM_GB:.2f} × against {SMALLEST_GB / ARTICLE_RAM_GB:.2f} × the memory, SATA RAID1"


def _on(place: str, other: str) -> str:
    if not other:
        return "the only storage"
    return f"storage {place}" if place else "the agent's own storage"


def _disks(sizes: tuple[int, ...], other: str) -> tuple[Match, ...]:
    if not other:
        return (Match("Fast against slow storage", claim="firebird-d", gap="the machine has one storage"),)
    rates = [
        Match(
            f"Fast against slow storage, size {warehouses / MEMORY:.2f} × memory", "ops_per_s",
            ours={"warehouses": warehouses, "data_storage": ""},
            base={"warehouses": warehouses, "data_storage": other}, claim="firebird-d",
            differs="there SSD against SATA RAID1, at a size that is not said",
        )
        for warehouses in sizes
    ]  # fmt: skip
    load = Match(
        f"Load, fast against slow storage, size {sizes[0] / MEMORY:.2f} × memory", "load_s",
        ours={"warehouses": sizes[0], "data_storage": ""}, base={"warehouses": sizes[0], "data_storage": other},
        claim="firebird-c", differs="there SSD against SATA RAID1",
    )  # fmt: skip
    return (*rates, load)


# cubrid-mysql-ssd-2011

ENGINE_NAMES = {"mysql": "MySQL", "postgresql": "PostgreSQL"}
TWO_SERVERS = "there an SSD server against an HDD server, not the same machine"
LOADS = {
    "select_narrow": ("SELECT, CPU-bound", "select-cpu"),
    "select_wide": ("SELECT, I/O-bound", "select-io"),
}


def _loads(part: str, other: str) -> tuple[Match, ...]:
    kind, _, tuning = part.partition("-")
    if not other:
        return (Match("Fast against slow storage", claim="cubrid-insert-mysql", gap="the machine has one storage"),)
    engines = ("mysql",) if tuning == "printed" else ("mysql", "postgresql")
    cells = _insert_cells() if kind == "insert" else _select_cells()
    disks = [
        _two_disks(engine, label, claim, other, cell, tuned=tuning == "tuned")
        for engine in engines
        for label, claim, cell in cells
    ]
    bound = [] if kind == "insert" else [_bound(engine, place, other) for engine in engines for place in ("", other)]
    gone = [
        Match(f"CUBRID, {label.partition(' into')[0]}: SSD against HDD", claim=f"cubrid-{claim}-cubrid", gap=NO_SERVER)
        for label, claim, _ in (cells[:1] if kind == "insert" else cells)
    ]
    return (*disks, *bound, *gone)


Loads = list[tuple[str, str, Mapping[str, str]]]


def _insert_cells() -> Loads:
    return [(f"INSERT into {one} tables", "insert", {"preloaded": one}) for one in ("full", "empty")]


def _select_cells() -> Loads:
    return [(label, name, {"load": load}) for load, (label, name) in LOADS.items()]


def _bound(engine: str, place: str, other: str) -> Match:
    return Match(
        f"{ENGINE_NAMES[engine]}, SELECT: CPU-bound against I/O-bound, {_on(place, other)}", "tps",
        ours={"dbms": engine, "load": "select_narrow", "data_storage": place},
        base={"dbms": engine, "load": "select_wide", "data_storage": place}, claim="cubrid-cpu-vs-io",
    )  # fmt: skip


def _two_disks(engine: str, label: str, claim: str, other: str, cell: Mapping[str, str], *, tuned: bool) -> Match:
    return Match(
        f"{ENGINE_NAMES[engine]}, {label}: fast against slow storage", "tps",
        ours={"dbms": engine, **cell, "data_storage": ""}, base={"dbms": engine, **cell, "data_storage": other},
        claim=f"cubrid-{claim}-mysql" if engine == "mysql" else "",
        differs=("tuned here, the printed my.cnf there; " if tuned else "") + TWO_SERVERS if engine == "mysql" else "",
    )  # fmt: skip

"""The Firebird article of 2015: throughput over the size of the database, on two storages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agents.machines import SecondStorage
from agents.plans.matrix import FactorValue
from agents.reruns import parts
from agents.reruns.parts import ArticleExperiment, Part, Wanted
from runs.models.shapes import Match

# Sizes of the 2015 article in GB, on a machine with 16 GB, by the warehouses that are as large in proportion to the
# memory limit of the re-run; the largest stands for 1,814 GB.
SIZES: Mapping[int, float] = {10: 10.8, 12: 13.0, 14: 15.5, 16: 17.3, 19: 19.9, 23: 24.2, 28: 30.3}
SMALLEST, SMALLEST_GB, ARTICLE_RAM_GB = 8, 9.04, 16
# What the 30 GB of the article stand for, and what its 1.77 TB: more than eight times the memory limit.
MIDDLE, LARGEST = 28, 125
# How many warehouses are nominally as large as the memory limit.
MEMORY = 15
# A small warehouse takes 10.6 MB in Firebird, so the memory limit is that of `MEMORY`.
LIMIT_MB = 160
FACTORS: dict[str, FactorValue] = {
    "terminals": 20, "warehouse_rows": "tenth", "memory_limit_mb": LIMIT_MB, "data_origin": "restored",
    # A window of 10 s is too short for a slow disk to fill the caches first, as the article's hours did.
    "loader_profile": "even", "cache_state": "preread", **parts.WINDOW,
}  # fmt: skip
# The article's 10,000 pages were 1 % of its memory: most of it held the file system's cache. 256 pages are 2 %.
SETTINGS = (("DefaultDbCachePages", "256"), ("page_size", "16384"))
# In SuperClassic each connection has a cache of its own: 256 pages for each of 20 would be half the memory limit.
CLASSIC_SETTINGS = (("DefaultDbCachePages", "64"), ("page_size", "16384"))
# The article put its six queries to the largest database only.
QUERIES = ("warehouses", LARGEST, {"queries": "yes"})
# The smallest is loaded on each storage, which the article compares; of the others the second gets a copy.
LOADED = ("warehouses", SMALLEST, {"data_origin": "fresh"})


def _sizes(other: SecondStorage | None) -> list[Match]:
    losses = [
        _loss(warehouses, gb, storage, other) for storage in parts.storages(other) for warehouses, gb in SIZES.items()
    ]
    slow = parts.storages(other)[0]
    claimed = replace(
        _against(MIDDLE, SMALLEST, slow, other), claim="firebird-a", percent=True,
        differs="there 30 GB against 9 GB, SATA RAID1",
    )  # fmt: skip
    # The claim says how many times as fast the smaller one is.
    largest = replace(
        _against(MIDDLE, LARGEST, slow, other), claim="firebird-b",
        differs="there 30 GB against 1.77 TB on 16 GB of memory, SATA RAID1",
    )  # fmt: skip
    return [*losses, replace(claimed, label=f"{claimed.label}, as claimed"), largest, *_two_storages(other)]


def _size(warehouses: int) -> str:
    return f"{warehouses / MEMORY:.2f} ×"


def _against(warehouses: int, base: int, storage: str, other: SecondStorage | None) -> Match:
    """Operations a second of one size against another on the same storage."""
    return Match(
        f"Size {_size(warehouses)} nominal memory against {_size(base)}, {parts.on(storage, other)}", "ops_per_s",
        ours={"warehouses": warehouses, "data_storage": storage},
        base={"warehouses": base, "data_storage": storage},
    )  # fmt: skip


def _loss(warehouses: int, size_gb: float, storage: str, other: SecondStorage | None) -> Match:
    """The printed series is that of hard disks: it is set beside the second storage, where the machine has one."""
    here = replace(_against(warehouses, SMALLEST, storage, other), percent=True)
    if storage != parts.storages(other)[0]:
        return replace(here, differs="the series on the SSD was in a picture that is lost")
    there = f"{size_gb / ARTICLE_RAM_GB:.2f} × against {SMALLEST_GB / ARTICLE_RAM_GB:.2f} × the memory"
    return replace(
        here, theirs={"disk": "SATA RAID1", "size_gb": size_gb},
        their_base={"disk": "SATA RAID1", "size_gb": SMALLEST_GB}, their_metric="performance",
        differs=f"there {there}, SATA RAID1",
    )  # fmt: skip


def _two_storages(other: SecondStorage | None) -> list[Match]:
    """The load of the smallest size (elsewhere the second storage gets a copy), then the work on each size."""
    load = f"Load, size {_size(SMALLEST)} nominal memory"
    if other is None:
        return [
            Match(load, claim="firebird-c", gap=parts.ONE_STORAGE),
            Match("Two storages", claim="firebird-d", gap=parts.ONE_STORAGE),
        ]

    def match(label: str, metric: str, warehouses: int, claim: str, when: str = "") -> Match:
        return Match(
            f"{label}, {parts.two_storages(other)}", metric, ours={"warehouses": warehouses, "data_storage": ""},
            base={"warehouses": warehouses, "data_storage": other.name}, claim=claim,
            differs=parts.with_nature(f"there SSD against SATA RAID1{when}", other),
        )  # fmt: skip

    return [
        match(load, "load_s", SMALLEST, "firebird-c"),
        *(
            match(f"Size {_size(size)} nominal memory", "ops_per_s", size, "firebird-d", ", at a size that is not said")
            for size in (SMALLEST, *SIZES, LARGEST)
        ),
    ]


FIREBIRD_3 = Wanted("firebird", "3.0")
PARTS = (
    Part(
        "sizes", "from half to eight times the memory limit, SuperServer", "tpcc", (FIREBIRD_3,), FACTORS, 1,
        sweep={"warehouses": (SMALLEST, *SIZES, LARGEST)}, overrides=(QUERIES, LOADED),
        settings={"firebird": (("ServerMode", "Super"), *SETTINGS)}, storage_factors=("data_storage",),
        second=parts.SLOW, figure="perf7_performance_with_1800Gb_Firebird_database", gaps=parts.gaps("fb-2.5.2"),
        matches=_sizes,
    ),
    Part(
        "superclassic", "SuperClassic", "tpcc", (FIREBIRD_3,), FACTORS, 1, sweep={"warehouses": (SMALLEST, 23)},
        settings={"firebird": (("ServerMode", "SuperClassic"), *CLASSIC_SETTINGS)},
    ),
)  # fmt: skip
EXPERIMENT = ArticleExperiment("firebird-terabyte-2015", "Firebird by size", PARTS)

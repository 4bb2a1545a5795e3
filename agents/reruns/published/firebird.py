"""Cells of the Firebird article of 2015: throughput over the size of the database, on two storages."""

from __future__ import annotations

from collections.abc import Mapping

from agents.machines.second_storage import SecondStorage
from agents.reruns.published.common import ONE_STORAGE, on, places, two_storages, with_nature
from runs.publications.matching import Match

# Sizes of the 2015 article in GB, on a machine with 16 GB, by the warehouses that are as large in proportion to the
# memory limit of the re-run; the largest stands for 1,814 GB.
SIZES: Mapping[int, float] = {10: 10.8, 12: 13.0, 14: 15.5, 16: 17.3, 19: 19.9, 23: 24.2, 28: 30.3}
SMALLEST, SMALLEST_GB, ARTICLE_RAM_GB = 8, 9.04, 16
# What the 30 GB of the article stand for, and what its 1.77 TB: more than eight times the memory limit.
MIDDLE, LARGEST = 28, 125
# How many warehouses are nominally as large as the memory limit.
MEMORY = 15


def matches(part: str, other: SecondStorage | None) -> tuple[Match, ...]:
    if part != "sizes":
        return ()
    losses = [one for place in places(other) for one in _losses(place, other)]
    return (*losses, _claimed_loss(other), _largest(other), _load(other), *_disks((SMALLEST, *SIZES, LARGEST), other))


def _size(warehouses: int) -> str:
    return f"{warehouses / MEMORY:.2f} ×"


def _losses(place: str, other: SecondStorage | None) -> list[Match]:
    """Operations a second by size, against the smallest size on the same storage.

    The printed series is that of hard disks: it is set beside the second storage, where the machine has one.
    """
    printed = place == places(other)[0]
    return [
        Match(
            f"Size {_size(warehouses)} nominal memory against {_size(SMALLEST)}, {on(place, other)}",
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


def _claimed_loss(other: SecondStorage | None) -> Match:
    place = places(other)[0]
    return Match(
        f"Size {_size(MIDDLE)} nominal memory against {_size(SMALLEST)}, {on(place, other)}, as claimed", "ops_per_s",
        ours={"warehouses": MIDDLE, "data_storage": place}, base={"warehouses": SMALLEST, "data_storage": place},
        claim="firebird-a", percent=True, differs="there 30 GB against 9 GB, SATA RAID1",
    )  # fmt: skip


def _largest(other: SecondStorage | None) -> Match:
    """The claim says how many times as fast the smaller one is."""
    place = places(other)[0]
    return Match(
        f"Size {_size(MIDDLE)} nominal memory against {_size(LARGEST)}, {on(place, other)}", "ops_per_s",
        ours={"warehouses": MIDDLE, "data_storage": place}, base={"warehouses": LARGEST, "data_storage": place},
        claim="firebird-b", differs="there 30 GB against 1.77 TB on 16 GB of memory, SATA RAID1",
    )  # fmt: skip


def _disks(sizes: tuple[int, ...], other: SecondStorage | None) -> tuple[Match, ...]:
    if other is None:
        return (Match("Two storages", claim="firebird-d", gap=ONE_STORAGE),)
    return tuple(
        Match(
            f"Size {_size(warehouses)} nominal memory, {two_storages(other)}", "ops_per_s",
            ours={"warehouses": warehouses, "data_storage": ""},
            base={"warehouses": warehouses, "data_storage": other.name}, claim="firebird-d",
            differs=with_nature("there SSD against SATA RAID1, at a size that is not said", other),
        )
        for warehouses in sizes
    )  # fmt: skip


def _load(other: SecondStorage | None) -> Match:
    """Elsewhere the second storage gets a copy of what was loaded on the first."""
    label, claim = f"Load, size {_size(SMALLEST)} nominal memory", "firebird-c"
    if other is None:
        return Match(label, claim=claim, gap=ONE_STORAGE)
    return Match(
        f"{label}, {two_storages(other)}", "load_s",
        ours={"warehouses": SMALLEST, "data_storage": ""}, base={"warehouses": SMALLEST, "data_storage": other.name},
        claim=claim, differs=with_nature("there SSD against SATA RAID1", other),
    )  # fmt: skip

"""Settings of Firebird, InterBase and Yaffil, after the comments of firebird.conf and Firebird's release notes.

Forced writing, a property of the database (`gfix -write sync`, shown by `gstat -h`), decides what a commit promises.
"""

from __future__ import annotations

from dataclasses import replace

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import UNDOCUMENTED, at_commit, read_engine, yes_or_no
from benchagent.configfiles.settings import Promise, Settings
from benchagent.configfiles.units import GIB, KIB, MIB, Quantity, Suffixes


def _direct(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    """The file system's cache is passed by where the page cache has more pages than the threshold."""
    cache, threshold = (_pages(settings, name) for name in ("defaultdbcachepages", "filesystemcachethreshold"))
    if not settings.is_set("filesystemcachethreshold") or cache is None or threshold is None:
        return None
    reason = f"{settings.words('defaultdbcachepages')}, {settings.words('filesystemcachethreshold')}"
    return yes_or_no(cache >= threshold, reason)


def _pages(settings: Settings, name: str) -> int | None:
    value = (settings.text(name) or "").strip().lower()
    factor = {"k": KIB, "m": MIB, "g": GIB}.get(value[-1:], 1)
    digits = value.rstrip("kmg")
    return int(digits) * factor if digits.isdecimal() else None


def _commit(settings: Settings) -> str | None:
    forced = settings.value("forcedwrites")
    forced = forced if isinstance(forced, bool) else settings.facts.forced_writes
    return None if forced is None else "each" if forced else "written"


def durability(settings: Settings) -> Promise:
    forced = settings.value("forcedwrites")
    source = settings.words("forcedwrites")
    if not isinstance(forced, bool):
        forced, source = settings.facts.forced_writes, "forced writes of the database"
    if forced is None:
        return Promise(
            None, "forced writes decide, a property of the database (gstat -h), not of this file; it is not stated"
        )
    if forced:
        return Promise(Durability.POWER_LOSS, f"{source}: on, each page of a commit is written through")
    limits = [settings.words(name) for name in ("maxunflushedwrites", "maxunflushedwritetime") if settings.is_set(name)]
    words = f" ({', '.join(limits)})" if limits else ""
    return Promise(
        Durability.DBMS_CRASH,
        f"{source}: off, pages stay in the cache of the operating system{words}; a crash of the machine may lose "
        "commits and damage the database",
    )


FIREBIRD = read_engine(
    "firebird", durability, {"commit_flush": at_commit(_commit), "direct_io": _direct},
    Suffixes(sizes={"k": KIB, "m": MIB, "g": GIB}, times={}), duplicates=UNDOCUMENTED,
)  # fmt: skip
INTERBASE = replace(FIREBIRD, slug="interbase", source="as Firebird, from which it differs little here")
YAFFIL = replace(INTERBASE, slug="yaffil")
canonical = FIREBIRD.canonical

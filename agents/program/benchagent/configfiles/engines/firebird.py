"""Settings of Firebird, InterBase and Yaffil, after the comments of firebird.conf and Firebird's release notes.

DefaultDbCachePages counts pages of the database, whose size is set when it is created; so does forced writing
(`gfix -write sync`, shown by `gstat -h`), which decides what a commit promises.
"""

from __future__ import annotations

from dataclasses import replace

from benchagent.catalog import Durability
from benchagent.configfiles.settings import Engine, Meaning, Promise, Settings, commit_flush, one, survives, yes_or_no
from benchagent.configfiles.units import (
    GIB,
    KIB,
    MIB,
    Quantity,
    Suffixes,
    changed,
    count,
    flag,
    pages,
    size,
    text,
    time,
)

_SPECS = {
    "DefaultDbCachePages": pages(),
    "PageSize": size(),
    "FileSystemCacheThreshold": pages(changed(None, ("2.5", "64K"))),
    "TempCacheLimit": size(),
    "TempBlockSize": size("1M"),
    "TempDirectories": text(),
    "MaxUnflushedWrites": count("-1", minus_1="disabled"),
    "MaxUnflushedWriteTime": time("-1", minus_1="disabled"),
    "ForcedWrites": flag(),
    "DeadlockTimeout": time("10"),
    "LockMemSize": size(),
    "LockHashSlots": count(),
    "LockAcquireSpins": count("0"),
    "GCPolicy": text(),
    "ServerMode": text(changed(None, ("3", "Super"))),
    "DatabaseGrowthIncrement": size(changed(None, ("2.1", "128M"))),
    "MaxParallelWorkers": count(changed(None, ("5", "1"))),
    "ParallelWorkers": count(changed(None, ("5", "1"))),
    "StatementTimeout": time(),
    "SweepInterval": count(),
    "PageBuffers": pages(),
    "ReserveSpace": flag(),
    "CharacterSet": text(),
    "ConnectionTimeout": time("180"),
    "TcpRemoteBufferSize": size("8192"),
    "EventMemSize": size(),
    "UseFileSystemCache": flag(),
    "CpuAffinityMask": count(),
    "DatabaseAccess": text(),
    "WireCrypt": text(),
    "WireCompression": flag(),
    "TipCacheBlockSize": size(),
    "InlineSortThreshold": size(),
    "SortMemBlockSize": size(),
    "SortMemUpperLimit": size(),
    "ReadConsistency": flag(),
    "SnapshotsMemSize": size(),
}
SPECS = {name.lower(): spec for name, spec in _SPECS.items()}
_MORE = """remoteserviceport remoteservicename remoteauxport remotebindaddress remoteaccess externalfileaccess udfaccess
authserver authclient authentication usermanager providers securitydatabase ipcname rootdirectory bugcheckabort
guardianoption processprioritylevel tcpnonagle dummypacketinterval audittraceconfigfile maxusertracelogsize
allowencryptedsecuritydatabase legacyhash oldsetclauses relaxedaliaschecking redirection filesystemcachesize
remotefileopenability cleargttatretaining traceplugin wirecryptplugin keyholderplugin remotepipename
legacydatabasefileid completebooleanevaluation oldparameterordering oldcolumnnaming createinternalwindow
lockgrantorder lockrequirespins prioritizethreadsswitch priorityboost locksemcount locksignal maxidentifierbytelength
datatypecompatibility defaultprofilerplugin useshell outputredirectionfile defaulttimezone odsversion engineversion
sqldialect"""
# Words that articles use for the same things.
_SPOKEN = {
    "page buffers": "defaultdbcachepages",
    "cache size": "defaultdbcachepages",
    "database_cache_pages": "defaultdbcachepages",
    "page size": "pagesize",
    "page_size": "pagesize",
    "forced writes": "forcedwrites",
    "forced_writes": "forcedwrites",
    "force write": "forcedwrites",
    "sweep_interval": "sweepinterval",
    "sweep interval": "sweepinterval",
    "page_buffers": "pagebuffers",
    "reserve_space": "reservespace",
    "character_set": "characterset",
    "ods_version": "odsversion",
    "engine_version": "engineversion",
    "sql_dialect": "sqldialect",
}


def canonical(name: str) -> str:
    found = name.strip().lower()
    return _SPOKEN.get(found, found)


def _direct(settings: Settings) -> Quantity | None:
    """The file system's cache is passed by where the page cache has more pages than the threshold."""
    cache, threshold = settings.text("defaultdbcachepages"), settings.text("filesystemcachethreshold")
    if not settings.is_set("filesystemcachethreshold") or cache is None or threshold is None:
        return None
    counted = [_pages(settings, name) for name in ("defaultdbcachepages", "filesystemcachethreshold")]
    if counted[0] is None or counted[1] is None:
        return None
    used = counted[0] >= counted[1]
    reason = f"{settings.words('defaultdbcachepages')}, {settings.words('filesystemcachethreshold')}"
    return yes_or_no(used, reason)


def _pages(settings: Settings, name: str) -> int | None:
    value = (settings.text(name) or "").strip().lower()
    factor = {"k": KIB, "m": MIB, "g": GIB}.get(value[-1:], 1)
    digits = value.rstrip("kmg")
    return int(digits) * factor if digits.isdecimal() else None


def _commit(settings: Settings) -> str | None:
    forced = settings.value("forcedwrites")
    forced = forced if isinstance(forced, bool) else settings.facts.forced_writes
    return None if forced is None else "each" if forced else "written"


MEANINGS = {
    "buffer_pool": Meaning(
        ("pagebuffers", "defaultdbcachepages"), None, "of a database (SuperServer) or a connection (Classic)"
    ),
    "page_size": one("pagesize", "a property of the database"),
    "sort_memory": one("tempcachelimit", "all sorts of a server together"),
    "temp_memory": one("tempblocksize"),
    "commit_flush": commit_flush(("forcedwrites",), _commit, "a property of the database: gstat -h"),
    "deadlock_check": one("deadlocktimeout"),
    "garbage_collection": one("gcpolicy"),
    "direct_io": Meaning(("filesystemcachethreshold", "defaultdbcachepages"), _direct),
    "process_model": one("servermode"),
    "parallel_workers": one("parallelworkers"),
    "temp_storage": one("tempdirectories"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    forced = settings.value("forcedwrites")
    source = settings.words("forcedwrites")
    if not isinstance(forced, bool):
        forced, source = settings.facts.forced_writes, "forced writes of the database"
    if forced is None:
        return Promise(
            None, "forced writes decide, a property of the database (gstat -h), not of this file; it is not stated"
        )
    if forced:
        return survives(f"{source}: on, each page of a commit is written through", write_cache)
    limits = [settings.words(name) for name in ("maxunflushedwrites", "maxunflushedwritetime") if settings.is_set(name)]
    words = f" ({', '.join(limits)})" if limits else ""
    return Promise(
        Durability.DBMS_CRASH,
        f"{source}: off, pages stay in the cache of the operating system{words}; a crash of the machine may lose "
        "commits and damage the database",
    )


FIREBIRD = Engine(
    slug="firebird",
    source="comments of firebird.conf; Firebird release notes; gfix and gstat manuals",
    specs=SPECS,
    suffixes=Suffixes(sizes={"k": KIB, "m": MIB, "g": GIB}, times={}),
    meanings=MEANINGS,
    durability=durability,
    canonical=canonical,
    more_names=frozenset(_MORE.split()),
    spelling={name.lower(): name for name in _SPECS},
    duplicates="which one holds is not documented; the last is read here",
)
INTERBASE = replace(FIREBIRD, slug="interbase", source="as Firebird, from which it differs little here")
YAFFIL = replace(INTERBASE, slug="yaffil")

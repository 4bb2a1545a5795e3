"""DB2's database configuration parameters (`db2 get db cfg`), after its "Configuration parameters summary".

LOGBUFSZ, LOGFILSIZ, SORTHEAP and LOCKLIST count pages of 4 KB whatever the page size of a table space.
"""

from __future__ import annotations

from benchagent.configfiles.settings import Engine, Meaning, Promise, Settings, commit_flush, one, product, survives
from benchagent.configfiles.units import KIB, count, pages, size, text, time

PAGE = 4 * KIB
SPECS = {
    "buffpage": pages(),
    "pagesize": size(),
    "database_memory": size(None, PAGE),
    "self_tuning_mem": text(),
    "logbufsz": size(None, PAGE),
    "logfilsiz": size(None, PAGE),
    "logprimary": count(),
    "logsecond": count(),
    "newlogpath": text(),
    "mincommit": count("1"),
    "softmax": count(),
    "page_age_trgt_mcr": time(),
    "sortheap": size(None, PAGE),
    "sheapthres_shr": size(None, PAGE),
    "util_heap_sz": size(None, PAGE),
    "locklist": size(None, PAGE),
    "locktimeout": time("-1", 1, minus_1="no limit"),
    "dlchktime": time("10000", 0.001),
    "maxappls": count(),
    "chngpgs_thresh": count(),
    "num_iocleaners": count(),
    "num_ioservers": count(),
    "cur_commit": text(),
    "autoconfigure": text(),
}
_SPOKEN = {
    "commit group": "mincommit",
    "stmm (self tuning memory manager)": "self_tuning_mem",
    "stmm": "self_tuning_mem",
}


def canonical(name: str) -> str:
    found = name.strip().lower()
    return _SPOKEN.get(found, found)


MEANINGS = {
    "buffer_pool": one("buffpage", "of buffer pools without a size of their own"),
    "page_size": one("pagesize"),
    "commit_flush": commit_flush((), lambda settings: "each"),
    "log_buffer": one("logbufsz"),
    "sort_memory": one("sortheap"),
    "maintenance_memory": one("util_heap_sz"),
    "group_commit": one("mincommit", "commits that are written together"),
    "log_capacity": Meaning(("logfilsiz", "logprimary"), product("logfilsiz", "logprimary")),
    "max_connections": one("maxappls"),
    "lock_timeout": one("locktimeout"),
    "deadlock_check": one("dlchktime"),
    "background_writer": one("num_iocleaners"),
    "log_storage": one("newlogpath"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    """DB2 has no setting that lets a commit return before its log is on disk."""
    if not settings.names and not settings.facts.complete:
        return Promise(None, "no setting is stated")
    group = f"; {settings.words('mincommit')}: commits may wait for each other" if settings.is_set("mincommit") else ""
    return survives(f"DB2 always writes the log to disk before a commit returns{group}", write_cache)


ENGINE = Engine(
    slug="db2",
    source="DB2 for Linux, UNIX and Windows, “Configuration parameters summary”",
    specs=SPECS,
    meanings=MEANINGS,
    durability=durability,
    canonical=canonical,
)
